package recording_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/compare/engine"
	"precision/compare/recording"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/dump"
	"precision/dump/dtype"
	"precision/dump/npy"
	"precision/dump/torch"
	"precision/testdata/workshop/dumptest"
)

// A small network that is recorded in every format: a chain of operations, each with
// a weight, of which some take the sum of two.

// step is an operation that ran.
type step struct {
	typ, name string
	// from are the steps that feed it, -1 for what comes from outside.
	from            []int
	inputs, outputs []array
}

// chain runs the network. From step fault on, if it is not negative, the output of
// that step is wrong; noise is how far computed elements are off, relative.
func chain(fault int, noise float64) []step {
	random, stray := rand.New(rand.NewPCG(1, 2)), rand.New(rand.NewPCG(3, uint64(1e9*noise)))
	const n = 12
	var steps []step
	x := array{[]int{4, n}, make([]float64, 4*n)}
	for i := range x.v {
		x.v[i] = float64(float32(random.NormFloat64()))
	}
	weight := func() array {
		w := array{[]int{n, n}, make([]float64, n*n)}
		for i := range w.v {
			w.v[i] = float64(float32(random.NormFloat64() / math.Sqrt(n)))
		}
		return w
	}
	last := []int{-1}
	for k := range 12 {
		s := step{typ: "MatMul", name: fmt.Sprintf("mm%d", k), from: []int{last[len(last)-1], -1}}
		in, w := x, weight()
		out := array{[]int{4, n}, make([]float64, 4*n)}
		if k%4 == 3 {
			s.typ, s.name = "Add", fmt.Sprintf("add%d", k)
			s.from = []int{last[len(last)-1], last[len(last)-3]}
			w = steps[last[len(last)-3]].outputs[0]
		}
		for r := range 4 {
			for c := range n {
				v := 0.0
				if s.typ == "Add" {
					v = in.v[r*n+c] + w.v[r*n+c]
				} else {
					for i := range n {
						v += in.v[r*n+i] * w.v[i*n+c]
					}
				}
				v *= 1 + noise*(2*stray.Float64()-1)
				if k == fault && c == r {
					v = 5*v + 4
				}
				out.v[r*n+c] = float64(float32(v))
			}
		}
		s.inputs, s.outputs = []array{in.clone(), w.clone()}, []array{out}
		steps = append(steps, s)
		last = append(last, k)
		x = out
	}
	return steps
}

func (a array) shape64() []int64 {
	s := make([]int64, len(a.shape))
	for i, d := range a.shape {
		s[i] = int64(d)
	}
	return s
}

func (a array) bytes() []byte {
	v := make([]float32, len(a.v))
	for i, x := range a.v {
		v[i] = float32(x)
	}
	return dumptest.Floats(v)
}

// stats are the statistics as C prints them.
func (a array) stats() (hi, lo, mean, norm float64) {
	hi, lo = math.Inf(-1), math.Inf(1)
	for _, v := range a.v {
		hi, lo = max(hi, v), min(lo, v)
		mean += v
		norm += v * v
	}
	return hi, lo, mean / float64(len(a.v)), math.Sqrt(norm)
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// recorder writes a run into a folder; the name of the operator of a step in the
// table is that of its step in the format.
type recorder struct {
	name  string
	write func(t *testing.T, dir string, steps []step)
	op    func(s step, k int) string
}

func each(s *step, do func(output bool, i int, a array)) {
	for i, a := range s.inputs {
		do(false, i, a)
	}
	for i, a := range s.outputs {
		do(true, i, a)
	}
}

func ioName(output bool) string {
	if output {
		return "output"
	}
	return "input"
}

// atb writes rounds of ATB: tensors, with the weights as aliases of a layer around
// them, or statistics.
func atb(tensors, statistics bool) func(*testing.T, string, []step) {
	return func(t *testing.T, dir string, steps []step) {
		root := dir + "/atb_dump_data/data/0_77/0"
		table := []string{}
		put := func(path, file string, a array, alias string) {
			head := fmt.Sprintf("$Version=1.0\n$Object.Count=1\n$Object.Length=%d\nformat=2\ndtype=0\ndims=%d,%d\n", 4*len(a.v), a.shape[0], a.shape[1])
			if alias != "" {
				write(t, path+"/"+file, []byte(head+"data="+alias+"\n$End=1\n"))
				return
			}
			write(t, path+"/"+file, append(fmt.Appendf(nil, "%s$Object.data=0,%d\n$End=1\n", head, 4*len(a.v)), a.bytes()...))
		}
		for k := range steps {
			s := &steps[k]
			op := fmt.Sprintf("%d_Layer/%d_%s", k, 0, s.typ)
			each(s, func(output bool, i int, a array) {
				folder, file := "before", fmt.Sprintf("intensor%d.bin", i)
				if output {
					folder, file = "after", fmt.Sprintf("outtensor%d.bin", i)
				}
				path := "N/A"
				if tensors {
					alias := ""
					if !output && s.from[i] >= 0 {
						alias = fmt.Sprintf("%d_0_outtensor0.bin", s.from[i])
					}
					put(root+"/"+op+"/"+folder, file, a, alias)
					path = "/elsewhere/atb_dump_data/data/0_77/0/" + op + "/" + folder + "/" + file
				}
				line := fmt.Sprintf("0_77,0,Layer/%s,%s,%d_0,%s,%d,float,nd,%dx%d,", s.typ, s.typ, k, ioName(output), i, a.shape[0], a.shape[1])
				if statistics {
					hi, lo, mean, norm := a.stats()
					line += fmt.Sprintf("%f,%f,%f,%f,%s", hi, lo, mean, norm, path)
				} else {
					line += "N/A,N/A,N/A,N/A," + path
				}
				table = append(table, line)
			})
		}
		slices.Reverse(table) // threads write it
		write(t, root+"/statistic.csv", []byte("Device and PID,Execution Count,Op Name,Op Type,Op Id,Input/Output,Index,Dtype,Format,Shape,Max,Min,Mean,Norm,Tensor Path\n"+
			strings.Join(table, "\n")+"\n"))
	}
}

// mindspore writes an iteration of MindSpore.
func mindspore(tensors, statistics bool) func(*testing.T, string, []step) {
	return func(t *testing.T, dir string, steps []step) {
		root := dir + "/rank_0/Net/1/5"
		var table strings.Builder
		table.WriteString("Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,Min Value,Avg Value,L2Norm Value\n")
		time := 1700000000000000
		for k := range steps {
			s := &steps[k]
			name := fmt.Sprintf("Default_%s-op%d", s.name, k)
			each(s, func(output bool, i int, a array) {
				time++
				if tensors {
					file := fmt.Sprintf("%s/%s.%s.0.0.%d.%s.%d.DefaultFormat.float32.npy", root, s.typ, name, time, ioName(output), i)
					var b bytes.Buffer
					if err := npy.Write(&b, dtype.Float32, a.shape64(), a.bytes()); err != nil {
						t.Fatal(err)
					}
					write(t, file, b.Bytes())
				}
				hi, lo, mean, norm := a.stats()
				fmt.Fprintf(&table, "%s,%s,0,0,%d,%s,%d,%d,float32,\"(%d, %d)\",%g,%g,%g,%g\n", s.typ, name, time, ioName(output), i, 4*len(a.v), a.shape[0], a.shape[1],
					float32(hi), float32(lo), float32(mean), float32(norm))
			})
		}
		if statistics {
			write(t, root+"/statistic.csv", []byte(table.String()))
		}
	}
}

// geStats writes what a device records with dump_data=stats.
func geStats(t *testing.T, dir string, steps []step) {
	for k := range steps {
		s := &steps[k]
		var table strings.Builder
		table.WriteString("Input/Output,Index,Data Size,Data Type,Format,Shape,Count,Max Value,Min Value,Avg Value,Nan Count,Negative Inf Count,Positive Inf Count,l2norm\n")
		each(s, func(output bool, i int, a array) {
			hi, lo, mean, norm := a.stats()
			fmt.Fprintf(&table, "%s,%d,%d,DT_FLOAT,ND,%dx%d,%d,%.6g,%.6g,%.6g,0,0,0,%.6g\n", map[bool]string{true: "Output", false: "Input"}[output], i, 4*len(a.v),
				a.shape[0], a.shape[1], len(a.v), hi, lo, mean, norm)
		})
		write(t, fmt.Sprintf("%s/20250101000000/0/net/1/3/%s.%s.%d.2.%d.csv", dir, s.typ, s.name, k, 1700000000000000+k), []byte(table.String()))
	}
}

// dumps writes what a device records of tensors.
func dumps(t *testing.T, dir string, steps []step) {
	for k := range steps {
		s := &steps[k]
		d := dumptest.Dump{OpName: s.name, Time: uint64(1700000000000000 + k)}
		each(s, func(output bool, i int, a array) {
			x := dumptest.Tensor{Type: dumptest.Float32, Format: dumptest.ND, Shape: a.shape64(), Data: a.bytes()}
			if output {
				d.Outputs = append(d.Outputs, x)
			} else {
				d.Inputs = append(d.Inputs, x)
			}
		})
		if err := d.Write(fmt.Sprintf("%s/20250101000000/0/net/1/3/%s.%s.%d.2.%d", dir, s.typ, s.name, k, d.Time)); err != nil {
			t.Fatal(err)
		}
	}
}

// aclGraph writes tensors of a captured graph; calls are counted on from an earlier
// step.
func aclGraph(t *testing.T, dir string, steps []step) {
	for k := range steps {
		s := &steps[k]
		each(s, func(output bool, i int, a array) {
			var b bytes.Buffer
			if err := torch.Write(&b, dtype.Float32, a.shape64(), bytes.NewReader(a.bytes())); err != nil {
				t.Fatal(err)
			}
			write(t, fmt.Sprintf("%s/step2/rank0/dump_tensor_data/Aten.%s.%d.%s.%d.pt", dir, strings.ToLower(s.name), 2, ioName(output), i), b.Bytes())
		})
	}
}

// aclStats writes statistics of a captured graph.
func aclStats(t *testing.T, dir string, steps []step) {
	data := &bytes.Buffer{}
	for k := range steps {
		s := &steps[k]
		if k > 0 {
			data.WriteString(",\n")
		}
		list := func(arrays []array) string {
			var out []string
			for _, a := range arrays {
				hi, lo, mean, norm := a.stats()
				text, err := json.Marshal(map[string]any{"type": "torch.Tensor", "dtype": "torch.float32", "shape": a.shape, "Max": float32(hi), "Min": float32(lo),
					"Mean": float32(mean), "Norm": float32(norm)})
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, string(text))
			}
			return strings.Join(out, ",")
		}
		fmt.Fprintf(data, `"Aten.%s.0.forward": {"input_args": [%s], "input_kwargs": {}, "output": [%s]}`, s.name, list(s.inputs), list(s.outputs))
	}
	write(t, dir+"/step2/pid123/dump.json", fmt.Appendf(nil, `{"task": "statistics", "level": "L1", "framework": "pytorch", "dump_data_dir": null, "data": {%s}}`, data))
}

// fxNodes writes arrays of the nodes of an FX graph, with inputs.
func fxNodes(t *testing.T, dir string, steps []step) {
	for k := range steps {
		s := &steps[k]
		each(s, func(output bool, i int, a array) {
			var b bytes.Buffer
			if err := npy.Write(&b, dtype.Float32, a.shape64(), a.bytes()); err != nil {
				t.Fatal(err)
			}
			write(t, fmt.Sprintf("%s/msprobe_fx_dump/worldsize1_global_rank0/net/1/%s-aten.%s.default.%s.%d.202401250311187%05d.npy", dir, s.name, strings.ToLower(s.typ),
				strings.ToUpper(ioName(output)), i, 10*k), b.Bytes())
		})
	}
}

// companions are recordings that are compared as such with statistics alone.
var companions = []recorder{{"device dumps", dumps, func(s step, k int) string { return s.name }}}

var recorders = []recorder{
	{"atb tensors", atb(true, false), func(s step, k int) string { return fmt.Sprintf("%d_Layer/0_%s", k, s.typ) }},
	{"atb statistics", atb(false, true), func(s step, k int) string { return fmt.Sprintf("%d_Layer/0_%s", k, s.typ) }},
	{"atb all", atb(true, true), func(s step, k int) string { return fmt.Sprintf("%d_Layer/0_%s", k, s.typ) }},
	{"mindspore tensors", mindspore(true, false), func(s step, k int) string { return fmt.Sprintf("Default_%s-op%d", s.name, k) }},
	{"mindspore statistics", mindspore(false, true), func(s step, k int) string { return fmt.Sprintf("Default_%s-op%d", s.name, k) }},
	{"mindspore full", mindspore(true, true), func(s step, k int) string { return fmt.Sprintf("Default_%s-op%d", s.name, k) }},
	{"ge statistics", geStats, func(s step, k int) string { return s.name }},
	{"fx", fxNodes, func(s step, k int) string { return s.name + "-aten." + strings.ToLower(s.typ) + ".default" }},
	{"aclgraph tensors", aclGraph, func(s step, k int) string { return "Aten." + s.name + ".0.forward" }},
	{"aclgraph statistics", aclStats, func(s step, k int) string { return "Aten." + s.name + ".0.forward" }},
}

// TestFormats: in every format the step that went wrong is the root, alone, and runs
// that differ by nothing, or by noise, have none.
func TestFormats(t *testing.T) {
	for _, r := range recorders {
		t.Run(r.name, func(t *testing.T) {
			golden := t.TempDir()
			r.write(t, golden, chain(-1, 0))
			for _, c := range []struct {
				fault int
				noise float64
			}{{-1, 0}, {-1, 1e-6}, {0, 0}, {5, 0}, {7, 0}, {11, 0}, {5, 1e-6}} {
				dir := t.TempDir()
				steps := chain(c.fault, c.noise)
				r.write(t, dir, steps)
				if !recording.Are(dir, golden) {
					t.Error("not taken for recordings")
				}
				j := judged(t, dir, golden)
				var want []string
				verdictWanted := verdict.Good
				if c.fault >= 0 {
					want, verdictWanted = []string{r.op(steps[c.fault], c.fault)}, verdict.Bad
				}
				if got := rootNames(j); !slices.Equal(got, want) || j.Verdict != verdictWanted {
					t.Errorf("fault %d, noise %g: %s with the roots %v, expected %s with %v", c.fault, c.noise, j.Verdict, got, verdictWanted, want)
				}
				if n := len(j.Table.Ops); n != len(steps) {
					t.Errorf("%d operators, expected %d", n, len(steps))
				}
			}
		})
	}
}

// TestAcross: tensors on one side and statistics of them on the other, in one format
// and between formats.
func TestAcross(t *testing.T) {
	by := map[string]recorder{}
	for _, r := range append(slices.Clone(recorders), companions...) {
		by[r.name] = r
	}
	for _, c := range [][2]string{
		{"atb tensors", "atb statistics"}, {"atb statistics", "atb tensors"}, {"atb all", "atb statistics"},
		{"mindspore tensors", "mindspore statistics"}, {"mindspore statistics", "mindspore full"},
		{"aclgraph tensors", "aclgraph statistics"}, {"aclgraph statistics", "aclgraph tensors"},
		{"device dumps", "ge statistics"}, {"ge statistics", "device dumps"},
	} {
		t.Run(c[0]+" against "+c[1], func(t *testing.T) {
			golden := t.TempDir()
			by[c[1]].write(t, golden, chain(-1, 0))
			for _, fault := range []int{-1, 0, 5, 7} {
				dir := t.TempDir()
				steps := chain(fault, 0)
				by[c[0]].write(t, dir, steps)
				j := judged(t, dir, golden)
				var want []string
				verdictWanted := verdict.Good
				if fault >= 0 {
					want, verdictWanted = []string{by[c[0]].op(steps[fault], fault)}, verdict.Bad
				}
				if got := rootNames(j); !slices.Equal(got, want) || j.Verdict != verdictWanted {
					t.Errorf("fault %d: %s with the roots %v, expected %s with %v", fault, j.Verdict, got, verdictWanted, want)
				}
				for i := range j.Table.Rows {
					r := &j.Table.Rows[i]
					if r.Recorded.Both == 0 {
						t.Fatalf("fault %d: nothing is known of %s %s", fault, r.Op, r.Recorded.Place)
					}
				}
			}
		})
	}
}

// TestTorchair: dumps of a compiled graph against the arrays of its nodes, by the graph
// of torchair that lies beside; tokens are counted from 0 and from 1.
func TestTorchair(t *testing.T) {
	golden := t.TempDir()
	fxNodes(t, golden, chain(-1, 0))
	for _, fault := range []int{-1, 0, 5, 7, 11} {
		dir := t.TempDir()
		steps := chain(fault, 0)
		var g strings.Builder
		g.WriteString("name: \"graph_1\"\nop {\n  name: \"x\"\n  type: \"Data\"\n  output_desc {\n    name: \"y\"\n  }\n}\n")
		for k := range steps {
			s := &steps[k]
			op := "GE_" + s.name // GE has names of its own
			fmt.Fprintf(&g, "op {\n  name: %q\n  type: %q\n", op, s.typ)
			d := dumptest.Dump{OpName: op, Time: uint64(1700000000000000 + k)}
			each(s, func(output bool, i int, a array) {
				x := dumptest.Tensor{Type: dumptest.Float32, Format: dumptest.ND, Shape: a.shape64(), Data: a.bytes()}
				switch {
				case output:
					d.Outputs = append(d.Outputs, x)
					return
				case s.from[i] >= 0:
					fmt.Fprintf(&g, "  input: \"GE_%s:0\"\n", steps[s.from[i]].name)
				default:
					g.WriteString("  input: \"x:0\"\n")
				}
				d.Inputs = append(d.Inputs, x)
			})
			fmt.Fprintf(&g, "  output_desc {\n    name: \"y\"\n    attr {\n      key: \"_fx_tensor_name\"\n      value {\n        s: \"%s-aten.%s.default.OUTPUT.0\"\n      }\n    }\n  }\n}\n", s.name, strings.ToLower(s.typ))
			if err := d.Write(fmt.Sprintf("%s/msprobe_ge_dump/worldsize1_global_rank0/20250101000000/0/net/1/0/%s.%s.%d.2.%d", dir, s.typ, op, k, d.Time)); err != nil {
				t.Fatal(err)
			}
		}
		write(t, dir+"/msprobe_ge_dump/dynamo_original_graph_1_rank_0_pid_5_ts_20250101000000.txt", []byte(g.String()))
		if recording.Are(dir, golden) {
			t.Fatal("they are taken for recordings of calls")
		}
		run, err := engine.Job{Left: dir, Right: golden}.Open(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		out, err := run.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		j := verdict.Judge(out.Table, verdict.Options{})
		var want []string
		if fault >= 0 {
			want = []string{"GE_" + steps[fault].name}
		}
		if got := rootNames(j); !slices.Equal(got, want) || j.Coverage.Compared != len(steps) {
			t.Errorf("fault %d: %s with the roots %v, %d compared, expected %v, %d", fault, j.Verdict, got, j.Coverage.Compared, want, len(steps))
		}
		if a, b := dump.PlaceOf(run.Folders.Left.Dir), dump.PlaceOf(run.Folders.Right.Dir); a.Step != 0 || b.Step != 0 || a.Rank != 0 || b.Rank != 0 {
			t.Errorf("tokens of %+v and %+v, expected 0", a, b)
		}
	}
}

// TestShifted: an operation more at the beginning gives all others another number;
// they are paired by what they are.
func TestShifted(t *testing.T) {
	for _, r := range recorders {
		if !strings.HasPrefix(r.name, "atb") && !strings.HasPrefix(r.name, "mindspore") {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			golden := t.TempDir()
			r.write(t, golden, chain(-1, 0))
			for _, fault := range []int{-1, 5} {
				dir := t.TempDir()
				plain := chain(fault, 0)
				more := step{typ: "Cast", name: "cast", from: []int{-1}, inputs: plain[0].inputs[:1], outputs: plain[0].inputs[:1]}
				steps := []step{more}
				for _, s := range plain {
					s.from = slices.Clone(s.from)
					for i := range s.from {
						if s.from[i] >= 0 {
							s.from[i]++
						}
					}
					steps = append(steps, s)
				}
				r.write(t, dir, steps)
				j := judged(t, dir, golden)
				var want []string
				if fault >= 0 {
					want = []string{r.op(steps[fault+1], fault+1)}
				}
				if got := rootNames(j); !slices.Equal(got, want) {
					t.Errorf("fault %d: roots %v, expected %v", fault, got, want)
				}
				alone := 0
				for i := range j.Table.Rows {
					if j.Table.Rows[i].Has(result.NoRightCall) {
						alone++
					}
				}
				if alone != 1 {
					t.Errorf("fault %d: %d calls without a partner, expected the one that is more", fault, alone)
				}
			}
		})
	}
}
