package advice

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"precision/compare/result"
	"precision/compare/verdict"
	"precision/dump/dtype"
	"precision/graph"
)

// chain is a verdict over operators op0 → op1 → …, of which the last one is the
// root, and may be any of region instead.
func chain(n int, region []string, kinds ...verdict.Kind) *verdict.Judged {
	j := &verdict.Judged{Table: &result.Table{}}
	for i := range n {
		op := &result.Operator{Name: fmt.Sprintf("op%d", i), Type: "Add", Dumped: true, Outputs: 1}
		if i > 0 {
			op.Inputs = []result.Port{{Op: fmt.Sprintf("op%d", i-1)}}
		}
		j.Table.Rows = append(j.Table.Rows, result.Row{Op: op.Name, Type: "Add", Role: result.Output, Left: result.Operand{Shape: []int64{256}, DType: dtype.Float32}})
		j.Operators = append(j.Operators, verdict.Operator{Op: op, Outputs: []verdict.Tensor{{Row: i}}})
	}
	root := verdict.Root{Operator: n - 1, Region: region}
	if region != nil {
		root.Certainty = verdict.Region
	}
	for _, k := range kinds {
		root.Causes = append(root.Causes, verdict.Cause{Kind: k})
	}
	j.Roots = []verdict.Root{root}
	return j
}

func steps(r *Root) (list []Step) {
	for _, s := range r.Steps {
		list = append(list, s.Step)
	}
	return list
}

func file(a *Advice, name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return f.Text
		}
	}
	return ""
}

// fused is a graph in which op2 was made by passes.
func fused() *graph.Index {
	b := graph.NewBuilder()
	op := b.Op()
	op.Name, op.Type = "op2", "Add"
	stack := []graph.Attr{graph.NewAttr(b.AttrKey([]byte("pass_name")), b.TextValue([]byte("AddPass"))), graph.NewAttr(b.AttrKey([]byte("pass_name_ub")), b.TextValue([]byte("TbeAdd")))}
	op.Attrs = b.TakeAttrs(&stack, 0)
	g := &graph.Graph{Name: "net", Ops: []*graph.Op{op}}
	op.Graph = g
	x, err := graph.NewIndex(&graph.Model{Graphs: []*graph.Graph{g}})
	if err != nil {
		panic(err)
	}
	return x
}

// What a check has acquitted on the device is looked for elsewhere: nothing is switched off.
func TestFollowedRoot(t *testing.T) {
	for kind, want := range map[verdict.RootKind][]Step{verdict.RootDiffers: {Weights, Attributes}, verdict.RootGolden: {Golden}} {
		j := chain(3, nil, verdict.Cosine)
		j.Roots[0].Followed, j.Roots[0].Kind = true, kind
		a := For(j, Options{Graph: fused()})
		if got := steps(&a.Roots[0]); !slices.Equal(got, want) || file(a, FusionFile) != "" {
			t.Errorf("%s: %v %q", kind, got, file(a, FusionFile))
		}
	}
}

func TestFusedRoot(t *testing.T) {
	a := For(chain(3, nil, verdict.Cosine), Options{Graph: fused()})
	if got := steps(&a.Roots[0]); !slices.Equal(got, []Step{Fusion, PrecisionMode, Float32}) {
		t.Error(got)
	}
	var off struct{ Switch map[string]map[string]string }
	if err := json.Unmarshal([]byte(file(a, FusionFile)), &off); err != nil || fmt.Sprint(off.Switch) != "map[GraphFusion:map[AddPass:off] UBFusion:map[TbeAdd:off]]" {
		t.Errorf("%v %v", off, err)
	}
	var list map[string]map[string][]string
	if err := json.Unmarshal([]byte(file(a, MixlistFile)), &list); err != nil || fmt.Sprint(list) != "map[black-list:map[to-add:[Add]]]" {
		t.Errorf("%v %v", list, err)
	}
	if file(a, KeepDTypeFile) != "op2\n" || file(a, PrecisionFile) != "[ByOpType]\nAdd=high_precision\n" {
		t.Error(a.Files)
	}
	var acl struct {
		Dump struct {
			List []struct {
				Model string   `json:"model_name"`
				Layer []string `json:"layer"`
			} `json:"dump_list"`
			Mode string `json:"dump_mode"`
		} `json:"dump"`
	}
	if err := json.Unmarshal([]byte(file(a, ACLFile)), &acl); err != nil || fmt.Sprint(acl) != "{{[{net [op1 op2]}] all}}" {
		t.Errorf("%v %v", acl, err)
	}
	if a.Plan.Region || a.Plan.Kit != "precision kit -f -s 0 -l 'op1 op2'" {
		t.Error(a.Plan)
	}
	// An operator that nothing fused is not put right by switching fusion off; where
	// no graph tells, all passes are.
	if got := For(chain(2, nil, verdict.Cosine), Options{Graph: fused()}); slices.Contains(steps(&got.Roots[0]), Fusion) {
		t.Error("fusion is switched off for nothing")
	}
	if got := For(chain(2, nil, verdict.Cosine), Options{}); !strings.Contains(file(got, FusionFile), `"ALL": "off"`) {
		t.Error(got.Files)
	}
}

// TestRegion: a root that is a region ends in a plan, whose operators divide it
// where all are too much.
func TestRegion(t *testing.T) {
	var region []string
	for i := 5; i < 19; i++ {
		region = append(region, fmt.Sprintf("op%d", i))
	}
	j := chain(20, region, verdict.Distance)
	const each = 1024
	for _, c := range []struct {
		budget       int64
		record, feed int
	}{{0, 15, 1}, {16 * each, 15, 1}, {15 * each, 15, 0}, {8 * each, 8, 0}, {7 * each, 7, 0}, {2 * each, 2, 0}, {1, 1, 0}} {
		p := For(j, Options{Budget: c.budget, Step: "3"}).Plan
		if len(p.Record) != c.record || len(p.Feeding) != c.feed || len(p.InDoubt) != 15 || !p.Region || p.Halved != (c.record < 15) || p.Bytes != int64(c.record+c.feed)*each || p.AllBytes != 15*each {
			t.Errorf("budget %d: %+v", c.budget, p)
		}
		// No part that is left is larger than an even division has it.
		longest, last := 0, -1
		for _, name := range append(slices.Clone(p.Record), "end") {
			at := slices.Index(p.InDoubt, name)
			if at < 0 {
				at = len(p.InDoubt)
			}
			longest, last = max(longest, at-last-1), at
		}
		if longest > (15+c.record)/(c.record+1) {
			t.Errorf("budget %d leaves %d in one part: %v", c.budget, longest, p.Record)
		}
		if !strings.Contains(p.Kit, "-s 3 ") || p.Lines[0].Text != fmt.Sprintf("npu.global_options().dump_config.dump_layer = %q", strings.Join(p.listed(), " ")) {
			t.Error(p.Kit, p.Lines)
		}
	}
	if got := For(j, Options{}).Roots[0].Steps[0].Step; got != Record {
		t.Errorf("the first step is %s", got)
	}
	if got := For(&verdict.Judged{Table: &result.Table{}}, Options{}); got.Plan != nil || len(got.Files) > 0 {
		t.Error(got)
	}
}

func TestLines(t *testing.T) {
	for s, lines := range Lines {
		for _, l := range lines {
			if l.Fill("T", "N"); l.Where == "" || l.Text == "" {
				t.Errorf("%s: %+v", s, l)
			}
		}
	}
}

func TestQuote(t *testing.T) {
	for word, want := range map[string]string{"a/b_1": "a/b_1", "a b": "'a b'", "it's": `'it'\''s'`, "": "''", "$x": "'$x'"} {
		if got := Quote(word); got != want {
			t.Errorf("%s: %s", word, got)
		}
	}
}

// TestAlike: many roots of one kind are one advice, which names the others; the files and the plan are
// for all or for the foremost, and do not grow with their number.
func TestAlike(t *testing.T) {
	j := chain(60, nil, verdict.Cosine)
	j.Roots = nil
	for i := range 60 {
		kind := verdict.Cosine
		if i == 30 {
			kind = verdict.NaN
		}
		j.Roots = append(j.Roots, verdict.Root{Operator: i, Causes: []verdict.Cause{{Kind: kind}}, Inherited: i})
	}
	a := For(j, Options{})
	if len(a.Roots) != 2 || a.Roots[0].Name != "op59" || len(a.Roots[0].Others) != 58 || a.Roots[0].Others[0] != "op58" || a.Roots[1].Name != "op30" || a.Roots[1].Others != nil {
		t.Errorf("%d roots, the first %s with %d others", len(a.Roots), a.Roots[0].Name, len(a.Roots[0].Others))
	}
	if n := len(a.Plan.Record); n != 11 { // the ten foremost and what feeds the first of them
		t.Errorf("%d operators to record", n)
	}
	if got := strings.Count(file(a, KeepDTypeFile), "\n"); got != 60 {
		t.Errorf("%d operators in the file for all", got)
	}
}

// calls is a verdict over recorded calls, of which the last is the root.
func calls(kind string, names ...string) *verdict.Judged {
	j := chain(len(names), nil, verdict.Cosine)
	j.Table.Meta.Recorded, j.Table.Meta.Left.Kind = true, kind
	for i, name := range names {
		j.Operators[i].Op.Name, j.Table.Rows[i].Op = name, name
		_, j.Table.Rows[i].Right.Names = result.Placed(name)
		if i > 0 {
			j.Operators[i].Op.Inputs = []result.Port{{Op: names[i-1]}}
		}
	}
	return j
}

// The files of the next recording are those of the recorder that made the first.
func TestNextRecorder(t *testing.T) {
	type config struct {
		Level      string
		Rank, Step []any
		Tensor     struct{ List []string }
		Load       *struct{ Modules []string }
	}
	read := func(p *Plan, name string) (c config) {
		t.Helper()
		for _, f := range p.Files {
			if f.Name == name {
				if err := json.Unmarshal([]byte(f.Text), &c); err != nil {
					t.Fatal(err)
				}
				return c
			}
		}
		return c
	}
	// Calls alone, of a rank and a step.
	p := For(calls("msprobe", "step2/rank1/Torch.add.0.forward", "step2/rank1/Torch.mul.0.backward"), Options{}).Plan
	if c := read(p, ConfigFile); p.Recorder != Msprobe || c.Level != "L1" || fmt.Sprint(c.Rank, c.Step) != "[1] [2]" || !slices.Equal(c.Tensor.List, []string{"Torch.add.0.forward", "Torch.mul.0.backward"}) || len(p.Files) != 2 || p.AllSteps {
		t.Errorf("%+v %+v", p, c)
	}
	// A call in a module, which is run on the golden inputs; nothing tells the step, until somebody does.
	j := calls("msprobe", "Module.a.A.forward.0", "Module.a.b.B.forward.0", "Torch.add.0.forward")
	j.Operators[0].Op.Uses = []string{"Module.a.b.B.forward.0", "Torch.add.0.forward", "x"}
	j.Operators[1].Op.Uses = []string{"Torch.add.0.forward"}
	p = For(j, Options{}).Plan
	if c := read(p, LoadFile); !p.AllSteps || c.Level != "mix" || c.Load == nil || !slices.Equal(c.Load.Modules, []string{"Module.a.b.B.forward.0"}) || len(p.Files) != 3 {
		t.Errorf("%+v %+v", p, c)
	}
	for _, f := range p.Files { // the golden side records what is loaded
		if c := read(p, f.Name); !slices.Equal(c.Tensor.List, []string{"Torch.add.0.forward", "Module.a.b.B.forward.0"}) {
			t.Errorf("%s: %v", f.Name, c.Tensor.List)
		}
	}
	p = For(j, Options{Step: "3|5-7"}).Plan
	if c := read(p, ConfigFile); p.AllSteps || fmt.Sprint(c.Step) != "[3 5-7]" {
		t.Errorf("%+v", c)
	}
	if c := read(For(j, Options{Recordings: []string{"step4/rank0"}}).Plan, GoldenFile); fmt.Sprint(c.Step, c.Rank) != "[4] [0]" {
		t.Errorf("%+v", c)
	}
	// A golden side of one process has no rank, and no inputs of this one.
	p = For(j, Options{Recordings: []string{"step4/rank1/"}, Golden: []string{"step4/proc/"}}).Plan
	if c := read(p, GoldenFile); len(p.Files) != 2 || fmt.Sprint(c.Step, c.Rank, read(p, ConfigFile).Rank) != "[4] [] [1]" {
		t.Errorf("%+v %+v", p, c)
	}
	// The golden side has other names; a module of another class is not run on its inputs.
	j.Table.Rows[1].Right.Names, j.Table.Rows[2].Right.Names = "Module.a.b.C.forward.0", "Functional.add.3.forward"
	p = For(j, Options{}).Plan
	if c := read(p, GoldenFile); len(p.Files) != 2 || !slices.Equal(c.Tensor.List, []string{"Functional.add.3.forward"}) || !slices.Equal(read(p, ConfigFile).Tensor.List, []string{"Torch.add.0.forward"}) {
		t.Errorf("%+v %+v", p, c)
	}
	// A module is recorded with what is in it.
	j = calls("msprobe", "Torch.add.0.forward", "Torch.mul.0.forward", "Module.a.A.forward.0")
	j.Operators[2].Op.Uses = []string{"Torch.add.0.forward", "Torch.mul.0.forward"}
	j.Operators[2].Op.Inputs = nil
	if p = For(j, Options{}).Plan; p.Bytes != 3*1024 || !slices.Equal(p.Record, []string{"Module.a.A.forward.0"}) {
		t.Errorf("%d bytes of %v", p.Bytes, p.Record)
	}
	// Kernels of MindSpore's own dump, whose files have _ for /.
	p = For(calls("mindspore", "Default_net_MatMul-op0", "Default_net_ReLU-op1#2"), Options{}).Plan
	if p.Recorder != MindSpore || p.Files[0].Name != DumpFile || !strings.Contains(p.Files[0].Text, `"name-regex(Default[/_]net[/_]ReLU-op1)"`) || !strings.Contains(p.Files[0].Text, `"dump_mode": 1`) || len(p.Files) != 1 {
		t.Errorf("%+v", p)
	}
	// Where MindSpore recorded the golden side, too, that has a file with its own names.
	j = calls("mindspore", "Default_net_MatMul-op0", "Default_net_ReLU-op1")
	j.Table.Meta.Right.Kind, j.Table.Rows[1].Right.Names = "mindspore", "Default_net_GeLU-op3"
	if p = For(j, Options{}).Plan; len(p.Files) != 2 || p.Files[1].Name != DumpGolden || !strings.Contains(p.Files[1].Text, `"name-regex(Default[/_]net[/_]GeLU-op3)"`) || strings.Contains(p.Files[1].Text, "ReLU-op1") || !strings.Contains(p.Files[1].Text, `"/precision_next/golden"`) {
		t.Errorf("%+v", p)
	}
}

// A region is recorded with what feeds it, by every recorder: without that, what goes in and differs is
// taken for other data. What no kernel computes and modules are not.
func TestRegionFed(t *testing.T) {
	names := func(j *verdict.Judged) []string { return For(j, Options{}).Plan.Feeding }
	j := chain(6, []string{"op3", "op4"}, verdict.Distance)
	j.Operators[4].Op.Inputs = append(j.Operators[4].Op.Inputs, result.Port{Op: "op0"}, result.Port{Op: "op1"}, result.Port{Op: "data"})
	j.Operators = append(j.Operators, verdict.Operator{Op: &result.Operator{Name: "data", Feed: true}})
	a := For(j, Options{})
	if got := strings.Join(a.Plan.Feeding, " "); got != "op0 op1 op2" || !strings.Contains(a.Plan.Kit, "'op0 op1 op2 op3 op4 op5'") || !strings.Contains(strings.Join(strings.Fields(file(a, ACLFile)), ""), `"layer":["op0","op1","op2","op3","op4","op5"]`) {
		t.Errorf("%s: %s %s", got, a.Plan.Kit, file(a, ACLFile))
	}
	region := func(j *verdict.Judged, name string) *verdict.Judged {
		j.Roots[0].Certainty, j.Roots[0].Region = verdict.Region, []string{name}
		return j
	}
	j = region(calls("msprobe", "Torch.add.0.forward", "Torch.mul.0.forward", "Torch.neg.0.forward", "Torch.cat.0.forward"), "Torch.neg.0.forward")
	j.Operators = append(j.Operators, verdict.Operator{Op: &result.Operator{Name: "Module.a.A.forward.0"}})
	j.Operators[2].Op.Inputs = append(j.Operators[2].Op.Inputs, result.Port{Op: "Module.a.A.forward.0"})
	j.Table.Rows[1].Right.Names = "Torch.multiply.0.forward"
	a = For(j, Options{})
	if got := names(j); !slices.Equal(got, []string{"Torch.mul.0.forward"}) || !strings.Contains(file(a, ConfigFile), "Torch.mul.0.forward") || strings.Contains(file(a, ConfigFile), "add") || !strings.Contains(file(a, GoldenFile), "Torch.multiply.0.forward") {
		t.Errorf("%v: %s %s", got, file(a, ConfigFile), file(a, GoldenFile))
	}
	j = region(calls("mindspore", "Default_Mul-op0", "Default_Neg-op1", "Default_Concat-op2"), "Default_Neg-op1")
	j.Table.Meta.Right.Kind, j.Table.Rows[0].Right.Names = "mindspore", "Default_Mul-op7"
	a = For(j, Options{})
	if got := names(j); !slices.Equal(got, []string{"Default_Mul-op0"}) || !strings.Contains(file(a, DumpFile), "Mul-op0") || !strings.Contains(file(a, DumpGolden), "Mul-op7") {
		t.Errorf("%v: %s %s", got, file(a, DumpFile), file(a, DumpGolden))
	}
	// However many feed it, so many are recorded.
	j = chain(200, []string{"op198"}, verdict.Distance)
	for i := range 190 {
		j.Operators[198].Op.Inputs = append(j.Operators[198].Op.Inputs, result.Port{Op: fmt.Sprintf("op%d", i)})
	}
	if n := len(names(j)); n != mostFeeding {
		t.Errorf("%d feed it", n)
	}
}

// Names that no line can hold are left out of files of lines: what stands behind a line end would be a line of its own.
func TestNamesInFiles(t *testing.T) {
	step := []Taken{{Step: Float32}, {Step: PrecisionMode}, {Step: Fusion}}
	list := files([]Root{
		{Type: "Add", Framework: []string{"a", "b\nOpType::MatMul", "c\x1b[31m", "d\u202e"}, Steps: step, Passes: Passes{Graph: []string{"P\x00", "Q"}}},
		{Type: "Mul\nSoftmax", Steps: step},
	})
	for _, f := range list {
		if strings.ContainsAny(f.Text, "\x1b\x00\u202e") || strings.Contains(f.Text, "MatMul") || strings.Contains(f.Text, "Softmax") {
			t.Errorf("%s: %q", f.Name, f.Text)
		}
	}
	if len(list) != 4 {
		t.Errorf("%d files", len(list))
	}
}
