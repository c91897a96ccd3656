package repl

import (
	"cmp"
	"context"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"precision/compare/advice"
	"precision/compare/recording"
	"precision/compare/report/steps"
	"precision/graph"
	"precision/graph/read"
	"precision/internal/each"
	"precision/internal/must"
	"precision/internal/plainfile"
	"precision/internal/whole"
)

// adviseCmd is the command advise: it turns a verdict into what to try next, with
// lines to paste and files.
type adviseCmd struct {
	file, graph, out, step string
	budget                 int64
	limit                  int
}

var adviseCommand = &command{
	name:  "advise",
	words: paths,
	takes: 1,
	make:  func(s *session) action { return &adviseCmd{limit: s.set.Limit, step: s.set.Capture.Step} },
}

func (a *adviseCmd) define(o *options) {
	o.text(&a.file, "f", "file", paths)
	o.text(&a.graph, "g", "graph", paths)
	o.text(&a.out, "o", "output", paths)
	o.text(&a.step, "s", "step")
	o.size(&a.budget, "m", "max")
	o.count(&a.limit, "l", "limit")
}

func (a *adviseCmd) run(ctx context.Context, s *session, words []string) int {
	if len(words) > 1 || len(words) == 1 && a.file != "" {
		return s.tooMany("advise", words)
	}
	if len(words) == 1 {
		a.file = words[0]
	}
	path, ok := s.resultPath(a.file)
	if !ok {
		return exitNothing
	}
	tables, err := s.readVerdicts(path)
	switch {
	case len(tables) == 0 && err == nil:
		return s.Lack("vcs.empty", path)
	case len(tables) == 0:
		return exitError
	}
	code := exitOK
	if err != nil {
		code = exitError
	}
	for i, t := range tables {
		given := a.advice(ctx, s, t)
		var wrote []string
		if a.out != "" {
			folder := a.out
			if i > 0 {
				folder += "_" + strconv.Itoa(i)
			}
			wrote = writeAdvice(folder, given)
		}
		s.PrintWhole(s.tableHead(t))
		s.PrintWhole(steps.Text{Lang: s.Lang, Most: a.limit, Paint: s.Screen.Paint, Hang: s.Screen.Hang, Result: path}.Say(t.Judged, given, wrote, a.budget))
	}
	return code
}

// advice is what to do about a result, for advise and for kit.
func (a *adviseCmd) advice(ctx context.Context, s *session, t *judged) *advice.Advice {
	m := &t.Table.Meta
	o := advice.Options{Budget: a.budget, Step: a.step}
	if m.Recorded {
		o.Recordings, o.Golden = recording.Places(m.Left.Dir), recording.Places(m.Right.Dir)
		if o.Step == s.set.Capture.Step {
			o.Step = "" // the recording tells; the setting is of graphs
		}
	}
	o.Graph = a.index(ctx, m.Graph)
	return advice.For(t.Judged, o)
}

// index is the graph that was named, or that of the result if it is still there.
func (a *adviseCmd) index(ctx context.Context, saved string) *graph.Index {
	path := cmp.Or(a.graph, saved)
	if a.graph == "" && !plainfile.IsFile(path) {
		return nil
	}
	return must.Get(graph.NewIndex(must.Get(read.Open(ctx, path))))
}

// writeAdvice writes the files; one that is there already gets a number.
func writeAdvice(folder string, a *advice.Advice) []string {
	return each.Of(a.Files, func(f advice.File) string {
		return must.Get(whole.FillNew(filepath.Join(folder, f.Name), 0o600, func(w io.Writer) error { _, err := io.WriteString(w, f.Text); return err }))
	})
}

// units of sizes, the larger ones in front of what they end with.
var units = []struct {
	name  string
	bytes float64
}{{"TIB", 1 << 40}, {"GIB", 1 << 30}, {"MIB", 1 << 20}, {"KIB", 1 << 10}, {"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3},
	{"T", 1 << 40}, {"G", 1 << 30}, {"M", 1 << 20}, {"K", 1 << 10}, {"B", 1}}

// parseSize reads a number of bytes, as 4GiB; empty is 0.
func parseSize(text string) (int64, bool) {
	if text == "" {
		return 0, true
	}
	number, factor := strings.ToUpper(strings.TrimSpace(text)), 1.0
	for _, u := range units {
		if rest, ok := strings.CutSuffix(number, u.name); ok {
			number, factor = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	return int64(v * factor), err == nil && v > 0 && v*factor < math.MaxInt64
}
