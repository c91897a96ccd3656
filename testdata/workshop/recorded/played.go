package recorded

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"precision/internal/must"
	"precision/testdata/workshop/dumptest"
)

// Played is what the old tool made of an input that [Lay] writes: inputs and outputs are pairs, of which only the
// outputs are kept.
type Played struct {
	Seed uint64 `json:"seed"`
	Exit int    `json:"exit"`
	// Files are what it wrote, with $TIME for times in names. The lists of the largest errors are left out: which of equal
	// errors they hold is any.
	Files map[string][]byte `json:"files"`
}

// Plays reads the recordings of a file, one a line.
func Plays(path string) ([]Played, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var list []Played
	for line := range strings.Lines(string(text)) {
		var p Played
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		list = append(list, p)
	}
	return list, nil
}

// Check compares what a run in dir did with the recording; all it wrote is below out.
func (p *Played) Check(exit int, dir string) (err error) {
	defer must.Catch(&err)
	must.Not(exit != p.Exit, "exit code %d, expected %d", exit, p.Exit)
	found := map[string]string{}
	if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
		tree := must.Get(Tree(filepath.Join(dir, "out")))
		for path, data := range tree {
			if !strings.HasSuffix(path, "_topn.csv") {
				found[stamp.ReplaceAllString(path, "_$$TIME.$1")] = data
			}
		}
	}
	must.Do(sameNames("files written", slices.Sorted(maps.Keys(found)), slices.Sorted(maps.Keys(p.Files))))
	for path, want := range p.Files {
		if err := Same(path, string(want), found[path], ""); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// laying is an input in the making.
type laying struct {
	*rand.Rand
	dir string
	ops []string
}

// Lay writes the input of a seed into a folder and returns the command line, whose paths are
// relative to the folder.
func Lay(dir string, seed uint64) (args []string, err error) {
	l := &laying{rand.New(rand.NewPCG(seed, 1797)), dir, nil}
	n := 1 + l.IntN(4)
	kind := l.IntN(10)
	for _, side := range []string{"npu", "golden"} {
		if err := os.MkdirAll(filepath.Join(dir, side), 0o755); err != nil {
			return nil, err
		}
	}
	for i := range n {
		if err == nil && kind < 7 {
			err = l.pair(i)
		} else if err == nil {
			err = l.twins(i)
		}
	}
	graph := `{"name":"m","graph":[{"name":"net","op":[` + strings.Join(l.ops, ",\n") + "]}]}"
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "g.json"), []byte(graph), 0o644)
	}
	compare := []string{"compare", "-m", "npu", "-g", "golden", "-out", "out"}
	switch few := []string{"-alg", "CosineSimilarity,MaxAbsoluteError,MeanRelativeError"}; {
	case kind < 5:
		args = append(append(compare, "-f", "g.json"), few...)
		if l.IntN(4) == 0 {
			args = append(args, "-overflow_detection")
		}
		if l.IntN(5) == 0 {
			args = append(args, "-max", fmt.Sprint(1+l.IntN(9)))
		}
	case kind == 5:
		args = append(compare, "-f", "g.json", "-op", "op0", "-o", fmt.Sprint(l.IntN(2)), "-n", fmt.Sprint(1000+l.IntN(9)))
	case kind == 6:
		args = []string{"convert", "-d", "npu", "-out", "out", "-t", []string{"npy", "bin"}[l.IntN(2)]}
	default:
		args = append(compare, few...)
	}
	return args, err
}

// laid are a layout and a shape in it, the shape that they stand for, and the layout's name in graphs.
type laid struct {
	format        int
	shape, origin []int64
	name          string
}

// layout is a random tensor's.
func (l *laying) layout() laid {
	d := func(most int) int64 { return int64(1 + l.IntN(most)) }
	n, c, h, w := d(2), d(20), d(3), d(3)
	switch l.IntN(6) {
	case 0:
		return laid{dumptest.ND, []int64{d(5), d(7)}, nil, "ND"}
	case 1:
		return laid{dumptest.ND, [][]int64{{}, {1}, {d(9)}, {1, 1}}[l.IntN(4)], nil, "ND"}
	case 2:
		return laid{dumptest.NCHW, []int64{n, c, h, w}, []int64{n, c, h, w}, "NCHW"}
	case 3:
		return laid{dumptest.NC1HWC0, []int64{n, (c + 15) / 16, h, w, 16}, []int64{n, c, h, w}, "NCHW"}
	case 4:
		r, k := 17+d(10), 17+d(10)
		return laid{dumptest.FractalNZ, []int64{2, 2, 16, 16}, []int64{r, k}, "ND"}
	}
	return laid{dumptest.NHWC, []int64{n, h, w, c}, []int64{n, h, w, c}, "NHWC"}
}

func count(shape []int64) int64 {
	n := int64(1)
	for _, d := range shape {
		n *= d
	}
	return n
}

// values are small numbers with few digits, which float16 holds.
func (l *laying) values(n int64) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(l.IntN(129)-64) / 16
	}
	return v
}

func (l *laying) tensor(x laid) dumptest.Tensor {
	t := dumptest.Tensor{Type: dumptest.Float32, Format: x.format, Shape: x.shape, Origin: x.origin, Address: 4096}
	v := l.values(count(x.shape))
	if t.Data = dumptest.Floats(v); l.IntN(2) == 0 {
		t.Type, t.Data = dumptest.Float16, dumptest.Halves(v)
	}
	return t
}

// name is that of the file of an operator's dump.
func (l *laying) name(side string, i int) string {
	return filepath.Join(l.dir, side, fmt.Sprintf("Add.op%d.%d.1.%d", i, i+1, 1630000000000000+i))
}

// pair is an operator with a golden array, whose shape fits, or does not.
func (l *laying) pair(i int) error {
	x := l.layout()
	golden := x.origin
	if golden == nil {
		golden = x.shape
	}
	shape := golden
	switch l.IntN(8) {
	case 0:
		shape = nil
	case 1:
		shape = []int64{1}
	case 2:
		shape = []int64{count(golden)}
	case 3:
		shape = []int64{1 + int64(l.IntN(6))}
	}
	dims := make([]string, len(golden))
	for k, d := range golden {
		dims[k] = fmt.Sprint(d)
	}
	op := fmt.Sprint("op", i)
	l.ops = append(l.ops, fmt.Sprintf(`{"name":%q,"type":"Add","id":%d,"attr":[{"key":"_datadump_original_op_names","value":{"list":{"s":[%q],"val_type":1}}}],`+
		`"output_desc":[{"shape":{"dim":[%s]},"layout":%q,"attr":[{"key":"_datadump_origin_name","value":{"s":%q}},`+
		`{"key":"_datadump_origin_output_index","value":{"i":0}},{"key":"_datadump_origin_format","value":{"s":%q}}]}]}`,
		op, i, op, strings.Join(dims, ","), x.name, op, x.name))
	if l.IntN(12) > 0 {
		d := dumptest.Dump{OpName: fmt.Sprint("op", i), Time: 1, Outputs: []dumptest.Tensor{l.tensor(x)}}
		if err := d.Write(l.name("npu", i)); err != nil {
			return err
		}
	}
	if l.IntN(12) == 0 {
		return nil
	}
	return dumptest.WriteNpy(filepath.Join(l.dir, "golden", fmt.Sprintf("op%d.0.%d.npy", i, 1630000000000000+i)), "<f4", shape, dumptest.Floats(l.values(count(shape))))
}

// twins are an operator's dumps on both sides.
func (l *laying) twins(i int) error {
	x := l.layout()
	for x.format == dumptest.NHWC || len(x.shape) == 0 {
		x = l.layout()
	}
	y := x
	if l.IntN(5) == 0 {
		y.shape = append([]int64{1}, x.shape...)
	}
	for _, side := range []struct {
		name string
		laid laid
	}{{"npu", x}, {"golden", y}} {
		if l.IntN(12) == 0 {
			continue
		}
		d := dumptest.Dump{OpName: fmt.Sprint("op", i), Time: 1, Outputs: []dumptest.Tensor{l.tensor(side.laid)}}
		if err := d.Write(l.name(side.name, i)); err != nil {
			return err
		}
	}
	return nil
}
