// Package mcp is the face for assistants: a server of the Model Context Protocol. Its tools ask package run and the
// result model, as the commands do, and answer with the same facts as data, in bounded pieces.
package mcp

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"precision/compare/result"
	"precision/internal/clean"
	"precision/internal/msg"
	"precision/internal/must"
	"precision/internal/whole"
	"precision/run"
	"precision/run/explain"
)

// Skill says to an assistant how to find a cause with these tools.
//
//go:embed SKILL.md
var Skill string

// instructions go to every client.
const instructions = `Finds where a network on Ascend NPUs first computes something else than its reference. compare two recordings, or verdict on a saved table; ` +
	`then why on a root; then advise. A verdict of inconclusive names the premise that does not hold: settle that first. Paths are below the folders given at start. ` +
	`Lists continue with next_cursor. The resource precision://skill has the whole path in five calls.`

// Options of a server.
type Options struct {
	// Folders are what may be read, Out is where results may be written; without it nothing is.
	Folders []string
	Out     string
	Version string
	// Build tells builds apart that have one version, for the journals of jobs.
	Build func() string
}

// Server answers.
type Server struct {
	Options
	f      *folders
	tables *tables
	sdk    *sdk.Server

	mu        sync.Mutex
	resources map[string]bool
}

// New makes a server.
func New(o Options) (_ *Server, err error) {
	defer must.Catch(&err)
	must.Not(len(o.Folders) == 0, "needs at least one folder that may be read")
	given := o.Folders
	if o.Out != "" {
		out := must.Get(whole.OpenFolder(o.Out))
		out.Close()
		given = append(given[:len(given):len(given)], o.Out)
	}
	f := openFolders(given)
	if o.Out != "" {
		o.Out = f.real[len(f.real)-1]
	}
	s := &Server{Options: o, f: f, tables: &tables{f: f, loading: map[string]*sync.Mutex{}}, resources: map[string]bool{}}
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: "precision", Title: "precision", Version: o.Version}, &sdk.ServerOptions{Instructions: instructions, Capabilities: &sdk.ServerCapabilities{}})
	s.addTools()
	s.addResources()
	return s, nil
}

// Run serves a client until it leaves or the context ends.
func (s *Server) Run(ctx context.Context, t sdk.Transport) error { return s.sdk.Run(ctx, t) }

// numberSchema is that of [result.Number].
var numberSchema = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[result.Number](): {Types: []string{"number", "string"}, Pattern: "^(NaN|-?Infinity)$"},
}

// add adds a tool. Its answer is bounded; the errors that end its work (package must) are those of the program, in English.
func add[In, Out any](s *Server, name, about string, writes bool, do func(ctx context.Context, req *sdk.CallToolRequest, in In) Out) {
	out, err := jsonschema.For[Out](&jsonschema.ForOptions{TypeSchemas: numberSchema})
	if err != nil {
		panic(err)
	}
	local, keeps := false, false
	hints := &sdk.ToolAnnotations{ReadOnlyHint: !writes, IdempotentHint: !writes, OpenWorldHint: &local, DestructiveHint: &keeps}
	sdk.AddTool(s.sdk, &sdk.Tool{Name: name, Description: about, OutputSchema: out, Annotations: hints},
		func(ctx context.Context, req *sdk.CallToolRequest, in In) (*sdk.CallToolResult, Out, error) {
			answer, err := plain(func() Out { return do(ctx, req, in) })
			switch {
			case err != nil && ctx.Err() != nil:
				return nil, answer, errors.New(clean.Text(explain.Error(msg.English, ctx.Err())))
			case err != nil:
				return nil, answer, err
			}
			result, err := bounded(answer)
			return result, answer, err
		})
}

// bounded is the result with the answer as text, for clients that show models nothing else, unless both are too much.
func bounded(answer any) (*sdk.CallToolResult, error) {
	const frame = 300 // what the protocol writes around them
	text, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	again, _ := json.Marshal(string(text)) // of a text, which cannot fail
	switch {
	case len(text)+frame > mostBytes:
		return nil, errLong
	case len(text)+len(again)+frame > mostBytes:
		text = []byte("The answer is in structuredContent.")
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(text)}}}, nil
}

var errLong = errors.New("the answer would be too long, as names are; ask about one operator or tensor")

// progress tells the client how a run goes on, if it asked for that.
func progress(ctx context.Context, req *sdk.CallToolRequest) run.Listener {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func(run.Event) {}
	}
	stage, stages := "", 0
	return run.Forward(func(e run.Event) {
		if e.Action != run.Progress {
			return
		}
		if e.Stage != stage { // progress must grow, also where another stage begins anew
			stage, stages = e.Stage, stages+1
		}
		share := 0.0
		if e.Total > 0 {
			share = 0.999 * float64(e.Done) / float64(e.Total)
		}
		req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: float64(stages-1) + share,
			Message: fmt.Sprintf("%s: %d of %d", e.Stage, e.Done, e.Total)})
	})
}
