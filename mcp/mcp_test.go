package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"precision/compare/report"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/testdata/workshop/madeup"
)

const sample = "../testdata/sample"

// save writes a table as compare does.
func save(t *testing.T, path string, table *result.Table) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := report.WriteJSON(file, verdict.Judge(table, verdict.Options{})); err != nil {
		t.Fatal(err)
	}
}

// What does not fit is refused in words that say what to do, and the server goes on.
func TestRefused(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	save(t, filepath.Join(dir, "t.json"), madeup.Network{Ops: 40, Broken: 20}.Table())
	save(t, filepath.Join(outside, "t.json"), madeup.Network{Ops: 4}.Table())
	for name, text := range map[string]string{
		"newer.json": `{"schema":"precision/verdict/3","verdict":"good"}`, "check.json": `{"schema":"precision/check/1"}`, "other.json": `{"a":1}`, "cut.json": `{"schema":"precision/verdict/2",`,
		"empty.csv": "", "job.json": `{"schema":"precision/job/2"}`, "part/job.json": `{"schema":"precision/job/1","parts":[]`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if runtime.GOOS != "windows" {
		for name, to := range map[string]string{"link": outside, "link.json": filepath.Join(outside, "t.json"), "part/deep": outside} {
			if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	c := connect(t, Options{Folders: []string{dir}}, nil)
	for _, x := range []struct {
		tool  string
		in    args
		fault string
	}{
		{"verdict", nil, "no table yet"},
		{"verdict", args{"table": outside + "/t.json"}, "outside the folders"},
		{"verdict", args{"table": "../" + filepath.Base(outside) + "/t.json"}, "outside the folders"},
		{"verdict", args{"table": "/etc/passwd"}, "outside the folders"},
		{"verdict", args{"table": "/etc/there-is-no-such-file"}, "outside the folders"},
		{"verdict", args{"table": "none.json"}, "no such file"},
		{"verdict", args{"table": "a\x00b"}, "not a path"},
		{"verdict", args{"table": "."}, "schema"}, // its job.json
		{"verdict", args{"table": "part"}, "part"},
		{"verdict", args{"table": "newer.json"}, `expected "precision/verdict/2"`},
		{"verdict", args{"table": "check.json"}, "call check on the recording"},
		{"verdict", args{"table": "job.json"}, `expected "precision/job/1"`},
		{"verdict", args{"table": "other.json"}, "schema"},
		{"verdict", args{"table": "cut.json"}, "cut.json"},
		{"verdict", args{"table": "empty.csv"}, "empty.csv"},
		{"verdict", args{"table": "compare-7"}, "no such file"},
		{"verdict", args{"table": 7}, "table"},
		{"verdict", args{"tables": "t.json"}, "tables"},
		{"verdict", args{"table": "t.json", "cursor": "abc"}, "unknown cursor"},
		{"operators", args{"table": "t.json", "cursor": cursorOf(1, 3)}, "stale cursor"},
		{"operators", args{"table": "t.json", "state": "broken"}, "expected one of"},
		{"operators", args{"table": "t.json", "sort": "beauty"}, "sort"},
		{"operators", args{"table": "t.json", "limit": -1}, "limit"},
		{"why", args{"table": "t.json", "operator": "nobody"}, "no operator"},
		{"why", args{"table": "t.json", "operator": "dense_1"}, "operators have"},
		{"why", args{"table": "t.json"}, "operator"},
		{"tensor", args{"table": "t.json"}, "needs the name of a tensor"},
		{"tensor", args{"table": "t.json", "tensor": "dense_20/MatMul:output:7"}, "no tensor"},
		{"tensor", args{"path": "t.json"}, "t.json"},
		{"tensor", args{"path": "t.json", "values": 1000}, "values"},
		{"graph", args{"table": "t.json", "operator": "dense_20/MatMul", "depth": 99}, "depth"},
		{"graph", args{"path": "t.json", "operator": "a"}, "graph"},
		{"compare", args{"left": ".", "right": outside}, "outside the folders"},
		{"compare", args{"left": "none", "right": "."}, "no such file"},
		{"compare", args{"left": "t.json", "right": "t.json", "profile": "/etc/passwd"}, "built-in are"},
		{"check", args{"path": outside}, "outside the folders"},
		{"preflight", args{"a": "t.json", "b": outside + "/t.json"}, "outside the folders"},
		{"advise", args{"table": "t.json", "graph": outside + "/t.json"}, "outside the folders"},
		{"nothing", nil, "nothing"},
	} {
		if _, fault := c.try(x.tool, x.in); !strings.Contains(fault, x.fault) || fault == "" || len(fault) > 4*mostText+100 {
			t.Errorf("%s %v: %q, expected %q", x.tool, x.in, fault, x.fault)
		}
	}
	if runtime.GOOS != "windows" {
		for _, x := range []struct {
			tool string
			in   args
		}{
			{"verdict", args{"table": "link.json"}}, {"verdict", args{"table": "link/t.json"}}, {"compare", args{"left": "link", "right": "."}},
			{"compare", args{"left": "part", "right": "part"}}, // a link lies below it
		} {
			if _, fault := c.try(x.tool, x.in); !strings.Contains(fault, "outside the folders") {
				t.Errorf("%s %v: %q", x.tool, x.in, fault)
			}
		}
	}
	c.call("verdict", args{"table": "t.json"}, nil)
	for _, o := range []Options{{}, {Folders: []string{filepath.Join(dir, "none")}}, {Folders: []string{filepath.Join(dir, "t.json")}}} {
		if _, err := New(o); err == nil {
			t.Errorf("a server of %v started", o)
		}
	}
}

// Pages of a list are that list: nothing is left out or told twice, and a cursor of a table that has changed is refused.
func TestPages(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "t.json")
	const ops = 700
	save(t, path, madeup.Network{Ops: ops, Broken: 300}.Table())
	c := connect(t, Options{Folders: []string{dir}}, nil)
	for _, in := range []args{{}, {"sort": "distance"}, {"limit": 7}, {"state": "inherited"}, {"name": "layer_1"}} {
		var seen []string
		pages, total := 0, 0
		in["table"] = "t.json"
		delete(in, "cursor")
		for {
			var out Operators
			c.call("operators", in, &out)
			for _, op := range out.Operators {
				seen = append(seen, op.Name)
			}
			if pages, total = pages+1, out.Total; out.Next == "" || pages > ops {
				break
			}
			in["cursor"] = out.Next
		}
		if slices.Sort(seen); len(seen) != total || len(slices.Compact(seen)) != total || total == 0 {
			t.Errorf("%v: %d operators in %d pages, expected %d, each once", in, len(seen), pages, total)
		}
	}
	var out Operators
	c.call("operators", args{"table": "t.json"}, &out)
	if _, fault := c.try("operators", args{"table": "t.json", "sort": "name", "cursor": out.Next}); !strings.Contains(fault, "stale cursor") {
		t.Errorf("a cursor of another list: %q", fault)
	}
	save(t, path, madeup.Network{Ops: ops + 1, Broken: 300}.Table())
	if _, fault := c.try("operators", args{"table": "t.json", "cursor": out.Next}); !strings.Contains(fault, "stale cursor") {
		t.Errorf("a cursor of a table that has changed: %q", fault)
	}
	if c.call("operators", nil, &out); out.Total != ops+1 {
		t.Errorf("%d operators of the table that took its place, expected %d", out.Total, ops+1)
	}
}

// Names that do harm, and long ones, break no bound and no schema.
func TestHostile(t *testing.T) {
	dir := t.TempDir()
	table := madeup.Network{Ops: 60, Broken: 20, Hostile: true}.Table()
	table.Ops[3].Name += strings.Repeat("x", 50_000)
	for i := range table.Rows {
		if r := &table.Rows[i]; r.Op+strings.Repeat("x", 50_000) == table.Ops[3].Name {
			r.Op = table.Ops[3].Name
		}
		if r := &table.Rows[i]; r.Metrics != nil && i%3 == 0 {
			r.Metrics.Facts.Worst.X, r.Metrics.Facts.Worst.Y, r.Metrics.Facts.X.Hi = math.NaN(), math.Inf(-1), math.Inf(1)
		}
	}
	save(t, filepath.Join(dir, "t.json"), table)
	c := connect(t, Options{Folders: []string{dir}}, nil)
	c.call("verdict", args{"table": "t.json"}, nil)
	c.call("advise", nil, nil)
	var out Operators
	c.call("operators", nil, &out)
	for _, op := range out.Operators {
		for _, tool := range []struct {
			name string
			in   args
		}{{"why", args{"operator": op.Name}}, {"graph", args{"operator": op.Name, "depth": 8}}, {"tensor", args{"tensor": op.Name}}} {
			if _, fault := c.try(tool.name, tool.in); fault != "" && !strings.Contains(fault, "no operator") && !strings.Contains(fault, "in their names") {
				t.Errorf("%s %q: %s", tool.name, clip(op.Name, 80), fault)
			}
		}
	}
}

// A server without -out writes nothing; with it results are there to be asked about again.
func TestWrites(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(sample)); err != nil {
		t.Fatal(err)
	}
	files := func() (n int) {
		filepath.WalkDir(dir, func(string, os.DirEntry, error) error { n++; return nil })
		return n
	}
	before := files()
	c := connect(t, Options{Folders: []string{dir}}, nil)
	c.call("compare", args{"left": "npu", "right": "golden", "check": true}, nil)
	c.call("check", args{"path": "npu", "graph": "ge_proto_00000001_graph_1_Build.txt"}, nil)
	if _, fault := c.try("compare", args{"left": "npu", "right": "golden", "all": true}); !strings.Contains(fault, "-out") {
		t.Errorf("a job without -out: %q", fault)
	}
	if now := files(); now != before {
		t.Errorf("%d files, %d before", now, before)
	}
	out := filepath.Join(t.TempDir(), "new")
	c = connect(t, Options{Folders: []string{dir}, Out: out}, nil)
	var v Verdict
	c.call("compare", args{"left": "npu", "right": "golden"}, &v)
	if len(v.Files) != 2 || !strings.HasPrefix(v.Files[1], out) {
		t.Fatalf("wrote %v", v.Files)
	}
	var again Verdict
	c.call("verdict", args{"table": v.Files[1]}, &again)
	if again.Verdict != v.Verdict || len(again.Roots) != 1 || again.Roots[0].Operator != v.Roots[0].Operator {
		t.Errorf("the saved table says %+v, expected %+v", again, v)
	}
	if now := files(); now != before {
		t.Errorf("%d files beside -out, %d before", now, before)
	}
}

// A table whose recordings lie outside is asked about, but they are not opened.
func TestTableOfOutside(t *testing.T) {
	dir := t.TempDir()
	table := madeup.Network{Ops: 12, Broken: 5}.Table()
	abs, err := filepath.Abs(sample)
	if err != nil {
		t.Fatal(err)
	}
	table.Meta.Left.Dir, table.Meta.Right.Dir, table.Meta.Graph = abs+"/npu", abs+"/golden", ""
	save(t, filepath.Join(dir, "t.json"), table)
	c := connect(t, Options{Folders: []string{dir}}, nil)
	var out TensorLook
	if c.call("tensor", args{"table": "t.json", "tensor": "dense_7/MatMul"}, &out); !strings.Contains(out.Unseen, "outside the folders") {
		t.Errorf("%+v", out)
	}
}

// A long run tells how it goes on, and ends when the client wants that.
func TestProgress(t *testing.T) {
	told := make(chan float64, 1000)
	c := connect(t, Options{Folders: []string{sample}}, &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
		told <- r.Params.Progress
	}})
	params := &sdk.CallToolParams{Name: "compare", Arguments: args{"left": "npu", "right": "golden", "check": true}}
	params.SetProgressToken("mine")
	if _, err := c.CallTool(t.Context(), params); err != nil {
		t.Fatal(err)
	}
	last := -1.0
	for n := 0; ; n++ {
		select {
		case p := <-told:
			if p <= last {
				t.Errorf("progress %v after %v", p, last)
			}
			last = p
			continue
		case <-time.After(time.Second):
		}
		if n == 0 && last < 0 {
			t.Error("no progress was told")
		}
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.CallTool(ctx, params); err == nil {
		t.Error("a call that was cancelled answered")
	}
	c.call("compare", args{"left": "npu", "right": "golden"}, nil) // and the server goes on
}

// Resources are what lies in the folders; they can be read, and nothing else can.
func TestResources(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(sample)); err != nil {
		t.Fatal(err)
	}
	name := "a table (50%) über.json"
	save(t, filepath.Join(dir, name), madeup.Network{Ops: 12, Broken: 5}.Table())
	c := connect(t, Options{Folders: []string{dir}}, nil)
	read := func(uri string) (string, error) {
		res, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if err != nil {
			return "", err
		}
		if text, _ := json.Marshal(res); len(text) > mostBytes {
			t.Errorf("%s: %d bytes", uri, len(text))
		}
		return res.Contents[0].Text, nil
	}
	list, err := c.ListResources(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"skill": "five calls", name: `"verdict":"bad"`, "ge_proto_00000001_graph_1_Build.txt": "Conv2D"}
	for _, r := range list.Resources {
		text, err := read(r.URI)
		if err != nil || want[r.Name] == "" || !strings.Contains(text, want[r.Name]) {
			t.Errorf("%s: %v %s", r.URI, err, clip(text, 300))
		}
		delete(want, r.Name)
	}
	if len(want) > 0 {
		t.Errorf("not listed: %v", want)
	}
	for _, uri := range []string{"precision://table/etc/passwd", "precision://graph/etc/passwd", "precision://table" + dir + "/none.json", "precision://table" + dir + "/../" + url.PathEscape("x"), "file:///etc/passwd", "precision://other"} {
		if text, err := read(uri); err == nil {
			t.Errorf("%s: %s", uri, clip(text, 100))
		}
	}
	// What is gone is no longer listed.
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
	if list, err = c.ListResources(t.Context(), nil); err != nil || len(list.Resources) != 2 {
		t.Errorf("%d resources, %v", len(list.Resources), err)
	}
}

// The manual and the skill name every tool, and the skill is one that clients take.
func TestDocs(t *testing.T) {
	c := connect(t, Options{Folders: []string{sample}}, nil)
	tools, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{"SKILL.md": Skill}
	for _, path := range []string{"../docs/mcp.md", "../docs/zh/mcp.md"} {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(file)
		file.Close()
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(text)
	}
	for _, tool := range tools.Tools {
		for path, text := range texts {
			if tool.Name != "operators" && !strings.Contains(text, "`"+tool.Name+"`") {
				t.Errorf("%s does not name %s", path, tool.Name)
			}
		}
		if tool.OutputSchema == nil || tool.InputSchema == nil || tool.Description == "" {
			t.Errorf("%s: no schema or description", tool.Name)
		}
	}
	if !strings.HasPrefix(Skill, "---\nname: precision\ndescription: ") || strings.Count(Skill, "\n---\n") != 1 {
		t.Error("the skill has no head")
	}
	if len(instructions) > 1000 {
		t.Errorf("instructions of %d bytes", len(instructions))
	}
}

// A saved table is answered from memory.
func BenchmarkCalls(b *testing.B) {
	t := &testing.T{}
	dir := b.TempDir()
	save(t, filepath.Join(dir, "t.json"), madeup.Network{Ops: 33_334, Broken: 20_000}.Table())
	s, err := New(Options{Folders: []string{dir}})
	if err != nil {
		b.Fatal(err)
	}
	for _, tool := range []struct {
		name string
		do   func()
	}{
		{"verdict", func() { s.verdict(b.Context(), nil, VerdictIn{Table: "t.json"}) }},
		{"why", func() { s.why(b.Context(), nil, WhyIn{Operator: "dense_20000/"}) }},
		{"operators", func() { s.operators(b.Context(), nil, OperatorsIn{Sort: "distance", Name: "layer_1"}) }},
		{"graph", func() { s.graph(b.Context(), nil, GraphIn{Operator: "dense_20000/"}) }},
		{"advise", func() { s.advise(b.Context(), nil, AdviseIn{}) }},
	} {
		tool.do()
		b.Run(fmt.Sprint(tool.name, " of 100000 rows"), func(b *testing.B) {
			for b.Loop() {
				tool.do()
			}
		})
	}
}
