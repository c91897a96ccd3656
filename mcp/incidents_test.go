package mcp

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"precision/testdata/workshop/computed"
	"precision/testdata/workshop/dumptest"
	"precision/testdata/workshop/jobtest"
)

// client is an assistant that is connected to a server of some folders.
type client struct {
	*sdk.ClientSession
	t       *testing.T
	schemas map[string]*jsonschema.Resolved
}

// connect starts a server and a client in memory.
func connect(t *testing.T, o Options, opts *sdk.ClientOptions) *client {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	here, there := sdk.NewInMemoryTransports()
	served := make(chan error, 1)
	go func() { served <- s.Run(t.Context(), there) }()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, opts).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		<-served
	})
	c := &client{session, t, map[string]*jsonschema.Resolved{}}
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools.Tools {
		text, err := json.Marshal(tool.OutputSchema)
		var schema jsonschema.Schema
		if err == nil {
			err = json.Unmarshal(text, &schema)
		}
		if err == nil {
			c.schemas[tool.Name], err = schema.Resolve(nil)
		}
		if err != nil {
			t.Fatalf("%s: %v", tool.Name, err)
		}
	}
	return c
}

type args = map[string]any

// try calls a tool. What comes back must be within bounds and as its schema says; it is returned as JSON, with an
// error's text where it is one.
func (c *client) try(tool string, in args) (answer, fault string) {
	c.t.Helper()
	res, err := c.CallTool(c.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: in})
	if err != nil {
		return "", err.Error()
	}
	whole, err := json.Marshal(res)
	if err != nil {
		c.t.Fatal(err)
	}
	if len(whole) > mostBytes {
		c.t.Errorf("%s %v: %d bytes, at most %d", tool, in, len(whole), mostBytes)
	}
	if res.IsError {
		return "", res.Content[0].(*sdk.TextContent).Text
	}
	text, err := json.Marshal(res.StructuredContent)
	var value any
	if err == nil {
		err = json.Unmarshal(text, &value)
	}
	if err == nil {
		err = c.schemas[tool].Validate(value)
	}
	if err != nil {
		c.t.Errorf("%s %v: %v in %s", tool, in, err, text)
	}
	return string(text), ""
}

// call calls a tool that must answer, and reads the answer.
func (c *client) call(tool string, in args, into any) string {
	c.t.Helper()
	answer, fault := c.try(tool, in)
	if fault != "" {
		c.t.Fatalf("%s %v: %s", tool, in, fault)
	}
	if into != nil {
		if err := json.Unmarshal([]byte(answer), into); err != nil {
			c.t.Fatal(err)
		}
	}
	return answer
}

// step is a call of an assistant, and what it must learn from it.
type step struct {
	tool  string
	in    args
	facts []string
}

// made are a folder of what was recorded, and the options of the server.
type made func(t *testing.T) (dir string, o Options)

func folder(dir string) made {
	return func(*testing.T) (string, Options) { return dir, Options{Folders: []string{dir}} }
}

func network(o computed.Options) made {
	return func(t *testing.T) (string, Options) {
		dir := t.TempDir()
		n, err := computed.New(o)
		if err == nil {
			_, err = n.Write(dir)
		}
		if err != nil {
			t.Fatal(err)
		}
		return dir, Options{Folders: []string{dir}}
	}
}

// brokenJob is a job in which one rank has its own input in place of a sum.
func brokenJob(t *testing.T) (string, Options) {
	dir := t.TempDir()
	var mul []float32
	if err := (jobtest.Job{Ranks: 4, Steps: 2, Size: 16, Break: func(_, rank int, op string, out []float32) {
		if op == jobtest.Mul && rank == 3 {
			mul = append([]float32{}, out...)
		} else if op == jobtest.Reduce && rank == 3 {
			copy(out, mul)
		}
	}}).Write(dir); err != nil {
		t.Fatal(err)
	}
	return dir, Options{Folders: []string{dir}, Out: filepath.Join(dir, "out")}
}

// logs are those of two trainings of which one diverges.
func logs(t *testing.T) (string, Options) {
	dir := t.TempDir()
	var a, b strings.Builder
	for i := range 100 {
		v := 1 + 4*math.Exp(-float64(i)/20)
		fmt.Fprintf(&a, "step %d, loss %.4f\n", i, v)
		if i > 30 {
			v *= 1.5
		}
		fmt.Fprintf(&b, "step %d, loss %.4f\n", i, v)
	}
	for name, text := range map[string]string{"gpu.log": a.String(), "npu.log": b.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, Options{Folders: []string{dir}}
}

func recordings(t *testing.T) (string, Options) {
	dir := dumptest.Unpack(t, "../cmd/precision/testdata/next.tar.gz")
	return dir, Options{Folders: []string{dir}}
}

// root stands for the first root, origin or finding that an answer before named.
const root = "ROOT"

// incidents are what happened, and the calls that find it.
var incidents = []struct {
	name  string
	data  made
	steps []step
}{
	{"dumps of GE: channels that were not written", folder("../testdata/sample"), []step{
		{"compare", args{"left": "npu", "right": "golden"}, []string{`"verdict":"bad"`, `"operator":"block2/conv"`, "channels 16 to 23 not written", `"certainty":"certain"`}},
		{"why", args{"operator": root}, []string{`"verdict":"good"`, `"state":"bad"`, "16 to 23"}},
		{"advise", args{}, []string{"a tail is not written", "acl.json"}},
	}},
	{"dumps of GE without golden data", folder("../testdata/sample"), []step{
		{"check", args{"path": "npu", "graph": "ge_proto_00000001_graph_1_Build.txt"}, []string{`"verdict":"bad"`, `"operator":"block2/conv"`, `"wrong":1`}},
		{"why", args{"operator": root}, []string{`"pattern":"unwritten"`, "16:24"}},
	}},
	{"a kernel that scales", network(computed.Options{Arch: "lstm", Seed: 3, Fault: "scale"}), []step{
		{"compare", args{"left": "npu", "right": "golden", "graph": "graph.txt", "check": true}, []string{`"verdict":"bad"`, `"kind":"wrong"`, "1.5"}},
		{"why", args{"operator": root}, []string{`"verdict":"wrong"`, "1.5"}},
	}},
	{"NaN on the device", network(computed.Options{Arch: "detection", Seed: 2, Fault: "nan"}), []step{
		{"compare", args{"left": "npu", "right": "golden", "graph": "graph.txt"}, []string{`"verdict":"bad"`, "NaN"}},
		{"tensor", args{"tensor": root}, []string{`"nan":1`, `"left":"NaN"`}},
		{"advise", args{}, []string{`"nan"`, "overflow"}},
	}},
	{"the framework has another weight", network(computed.Options{Arch: "lstm", Seed: 5, Migration: "weight"}), []step{
		{"compare", args{"left": "npu", "right": "golden", "graph": "graph.txt", "check": true}, []string{`"kind":"differs"`, "the framework computed something else"}},
		{"why", args{"operator": root}, []string{`"verdict":"explained"`, `"golden":"differs"`}},
	}},
	{"statistics of msprobe: an epsilon in a module", recordings, []step{
		{"compare", args{"left": "first/left", "right": "first/golden"}, []string{"Module.model.layers.1.input_layernorm.LlamaRMSNorm.forward.0"}},
		{"why", args{"operator": root}, []string{`"max":`, "LlamaRMSNorm"}},
		{"advise", args{}, []string{"msprobe", "config.json", "LlamaRMSNorm"}},
	}},
	{"tensors of msprobe: the operation in that module", recordings, []step{
		{"compare", args{"left": "second/left", "right": "second/golden"}, []string{`"verdict":"bad"`}},
		{"why", args{"operator": root}, []string{`"inputs"`}},
	}},
	{"an argument of a call, and its line", folder("../examples/msprobe-recording"), []step{
		{"compare", args{"left": "npu", "right": "gpu"}, []string{"Functional.batch_norm.0.forward", "input.3: 0.5 instead of 1e-05"}},
		{"why", args{"operator": root}, []string{"train.py:19"}},
	}},
	{"a job: one rank has its own input for a sum", brokenJob, []step{
		{"compare", args{"left": "npu", "right": "golden", "graph": ".", "all": true}, []string{`"kind":"job"`, jobtest.Reduce, "rank 3 has its own input", "step0_rank3"}},
		{"why", args{"table": "PART", "operator": jobtest.Reduce}, []string{`"state":"bad"`}},
	}},
	{"the runs were fed other data", network(computed.Options{Arch: "lstm", Seed: 4, Premise: "data"}), []step{
		{"compare", args{"left": "npu", "right": "golden", "graph": "graph.txt"}, []string{`"verdict":"inconclusive"`, `"kind":"inputs"`, `"broken":true`}},
	}},
	{"two trainings part", logs, []step{
		{"preflight", args{"a": "gpu.log", "b": "npu.log"}, []string{`"differs":true`, "diverges at step 31"}},
	}},
	{"nothing is wrong", network(computed.Options{Arch: "lstm", Seed: 6}), []step{
		{"compare", args{"left": "npu", "right": "golden", "graph": "graph.txt"}, []string{`"verdict":"good"`, `"total":0`}},
	}},
}

// culprit sees that the first root of a network that was computed is what was broken there.
func culprit(t *testing.T, dir string, v *Verdict) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "answer.json"))
	if err != nil {
		return // another incident
	}
	var answer computed.Answer
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatal(err)
	}
	switch broken := len(answer.Faults) > 0 && answer.Class != "premise"; {
	case !broken && len(v.Roots) > 0:
		t.Errorf("%s is accused where no operator is wrong", v.Roots[0].Operator)
	case broken && (len(v.Roots) == 0 || v.Roots[0].Operator != answer.Faults[0].Op):
		t.Errorf("roots %v, expected %s", v.Roots, answer.Faults[0].Op)
	}
}

// mostCalls is what SKILL.md promises.
const mostCalls = 5

// An assistant that goes the way of SKILL.md finds the cause, in five calls and with the facts of each in bounds.
// With -v the transcript is that of docs/mcp.md: which calls, how large the answers are, what they say.
func TestIncidents(t *testing.T) {
	for _, incident := range incidents {
		t.Run(incident.name, func(t *testing.T) {
			dir, o := incident.data(t)
			c := connect(t, o, nil)
			if len(incident.steps) > mostCalls {
				t.Fatalf("%d calls", len(incident.steps))
			}
			var first Verdict
			for _, step := range incident.steps {
				in := args{}
				for k, v := range step.in {
					switch v {
					case root:
						switch {
						case len(first.Roots) > 0:
							v = first.Roots[0].Operator
						case len(first.Findings) > 0:
							v = first.Findings[0].Operator
						}
					case "PART":
						for _, p := range first.Parts {
							if p.Rank == 3 {
								v = p.Table
								break
							}
						}
					}
					in[k] = v
				}
				answer := c.call(step.tool, in, nil)
				if first.Table == "" {
					json.Unmarshal([]byte(answer), &first)
					culprit(t, dir, &first)
				}
				t.Logf("%s %v: %d bytes", step.tool, in, len(answer))
				for _, fact := range step.facts {
					if !strings.Contains(answer, fact) {
						t.Errorf("%s %v does not tell %q:\n%s", step.tool, in, fact, answer)
					}
				}
			}
		})
	}
}
