package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"precision/compare/result"
	"precision/dump"
	"precision/testdata/workshop/dumptest"
)

// dumpOf is the file of an operator of the sample below a folder.
func dumpOf(t *testing.T, dir, op string) string {
	t.Helper()
	var found string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.Contains(d.Name(), "."+op+".") {
			found = path
		}
		return err
	})
	if err != nil || found == "" {
		t.Fatalf("no dump of %s: %v", op, err)
	}
	return found
}

// rewrite writes a dump again, changed.
func rewrite(t *testing.T, path string, change func(d *dumptest.Dump)) {
	t.Helper()
	f, err := dump.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d := dumptest.Dump{OpName: f.OpName}
	for to, list := range map[*[]dumptest.Tensor][]dump.Tensor{&d.Inputs: f.Inputs, &d.Outputs: f.Outputs} {
		for _, x := range list {
			y := dumptest.Tensor{Type: int(x.Type), Format: int(x.Format), Shape: x.Shape, Origin: x.OriginShape, Address: x.Address}
			y.Data = make([]byte, x.Size)
			if _, err := f.ReadAt(y.Data, x.Offset); err != nil {
				t.Fatal(err)
			}
			*to = append(*to, y)
		}
	}
	change(&d)
	if err := d.Write(path); err != nil {
		t.Fatal(err)
	}
}

// Every dump whose file cannot be believed is told by name, file and place, with a row for
// each output that the graph gives the operator; the others are compared as before.
func TestHeadersThatContradict(t *testing.T) {
	const first, second = "l1_conv_0", "block1_scale"
	bytes := func(t *testing.T, path string) []byte {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	put := func(t *testing.T, path string, b []byte) {
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name    string
		damage  func(t *testing.T, npu string)
		ops     []string
		says    string // in each reason
		offset  bool   // it is found at a place in the file
		byNames bool   // known without a graph, too
	}{
		{"exchanged", func(t *testing.T, npu string) {
			a, b := dumpOf(t, npu, first), dumpOf(t, npu, second)
			x, y := bytes(t, a), bytes(t, b)
			put(t, a, y)
			put(t, b, x)
		}, []string{first, "block1/scale"}, "the header is of operator", true, true},
		{"cut in the header", func(t *testing.T, npu string) {
			a := dumpOf(t, npu, first)
			put(t, a, bytes(t, a)[:40])
		}, []string{first}, "the header claims", true, true},
		{"no header", func(t *testing.T, npu string) { put(t, dumpOf(t, npu, first), nil) }, []string{first}, "0 bytes", false, true},
		{"cut in the elements", func(t *testing.T, npu string) {
			a := dumpOf(t, npu, first)
			b := bytes(t, a)
			put(t, a, b[:len(b)-1])
		}, []string{first}, "expected", true, true},
		{"cut, of an operator without a golden array", func(t *testing.T, npu string) {
			a := dumpOf(t, npu, "trans_TransData_0")
			b := bytes(t, a)
			put(t, a, b[:len(b)-1])
		}, []string{"trans_TransData_0"}, "expected", true, true},
		{"another type", func(t *testing.T, npu string) {
			rewrite(t, dumpOf(t, npu, first), func(d *dumptest.Dump) { d.Outputs[0].Type = 27 })
		}, []string{first}, "found bfloat16 in the header, expected float16", true, false},
		{"other dims", func(t *testing.T, npu string) {
			rewrite(t, dumpOf(t, npu, first), func(d *dumptest.Dump) {
				s := d.Outputs[0].Shape
				s[3], s[4] = s[4], s[3]
			})
		}, []string{first}, "found the shape", true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			copyTree(t, sample+"/npu", dir, nil)
			c.damage(t, dir)
			for _, graph := range []string{sample, ""} {
				if graph == "" && !c.byNames {
					continue
				}
				table, _ := network(t, Job{Left: dir, Right: sample + "/golden", Graph: graph})
				damaged := map[string]int{}
				for i := range table.Rows {
					r := &table.Rows[i]
					d := r.Damaged()
					if d == nil {
						continue
					}
					if r.Role == result.Output || graph == "" {
						damaged[strings.ReplaceAll(r.Op, "/", "_")]++
					}
					text := strings.Join(d.Reason.Args, " ")
					if r.Compared || !strings.Contains(text, c.says) || d.File == "" || c.offset && d.Offset < 0 {
						t.Errorf("%s: %+v", r.Tensor(), d)
					}
				}
				for _, op := range c.ops {
					key := strings.ReplaceAll(op, "/", "_")
					if damaged[key] != 1 {
						t.Errorf("graph %q: %s has %d damaged outputs", graph, op, damaged[key])
					}
					delete(damaged, key)
				}
				if len(damaged) > 0 {
					t.Errorf("graph %q: also damaged %v", graph, damaged)
				}
			}
		})
	}
}

// Of dumps of another build, or of another batch, each header differs from the graph: it is
// the graph that is another one, and nothing is damaged.
func TestHeadersOfAnotherBuild(t *testing.T) {
	dir := t.TempDir()
	copyTree(t, sample, dir, nil)
	file := filepath.Join(dir, "ge_proto_00000001_graph_1_Build.txt")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(b), "dtype: DT_FLOAT16", "dtype: DT_BF16")
	if text == string(b) {
		t.Fatal("the graph has no float16")
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	want, _ := network(t, Job{Left: sample + "/npu", Right: sample + "/golden", Graph: sample})
	table, _ := network(t, Job{Left: dir + "/npu", Right: dir + "/golden", Graph: file})
	if table.Compared() != want.Compared() {
		t.Errorf("%d compared, of the dumps' own graph %d", table.Compared(), want.Compared())
	}
}

// Of two recordings, the dump of an operator that only one has is looked at, too.
func TestDamageOfOneSide(t *testing.T) {
	for _, right := range []bool{false, true} {
		left, other := t.TempDir(), t.TempDir()
		copyTree(t, sample+"/npu", left, nil)
		copyTree(t, sample+"/npu", other, nil)
		cut, gone := dumpOf(t, left, "fc"), dumpOf(t, other, "fc")
		if err := os.Remove(gone); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(cut, 100); err != nil {
			t.Fatal(err)
		}
		job := Job{Left: left, Right: other}
		if right {
			job.Left, job.Right = other, left
		}
		table, _ := network(t, job)
		found := 0
		for i := range table.Rows {
			if d := table.Rows[i].Damaged(); d != nil && table.Rows[i].Op == "fc" && d.File == cut {
				found++
			}
		}
		if found != 1 {
			t.Errorf("right %v: %d rows tell of the damage", right, found)
		}
	}
}

// What a dequantiser takes has no golden tensor: it is held against what its producer gave.
func TestInputsWithoutGoldenAreHeld(t *testing.T) {
	const in = "../../testdata/cases/quant_npu_vs_quant/in/"
	damaged := func(dir string) (list []string) {
		table, _ := network(t, Job{Left: dir, Right: in + "golden", Graph: in + "graph.json"})
		for i := range table.Rows {
			if d := table.Rows[i].Damaged(); d != nil {
				list = append(list, d.Name+": "+strings.Join(d.Reason.Args, " "))
			}
		}
		return list
	}
	if list := damaged(in + "npu"); len(list) > 0 {
		t.Fatalf("whole, and damaged: %q", list)
	}
	for _, op := range []string{"conv1_dequant_layer", "conv1_mac"} { // the input, and the output that it is
		dir := t.TempDir()
		copyTree(t, in+"npu", dir, nil)
		path := dumpOf(t, dir, op)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := dump.OpenFile(path)
		if err != nil {
			t.Fatal(err)
		}
		at := r.Inputs[0].Offset
		if op == "conv1_mac" {
			at = r.Outputs[0].Offset
		}
		r.Close()
		b[at+40]++
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		if list := damaged(dir); len(list) != 1 || !strings.Contains(list[0], "output 0 of conv1_mac") {
			t.Errorf("a byte of %s is another one: %q", op, list)
		}
	}
}
