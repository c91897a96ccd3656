package look

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"precision/compare/engine"
	"precision/compare/recording"
	"precision/compare/report"
	"precision/compare/verdict"
	"precision/internal/msg"
	"precision/testdata/workshop/dumptest"
)

// chain is a recording of operators of which each takes the output of the one before it.
type chain []struct {
	typ     string
	in, out []float32
}

// record writes a side and gives its folder.
func (c chain) record(t *testing.T, side string, shape []int64) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), side)
	c.into(t, dir, shape, 1614717261785536)
	return dir
}

// into writes a recording of some time.
func (c chain) into(t *testing.T, dir string, shape []int64, at int) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	tensor := func(v []float32) []dumptest.Tensor {
		return []dumptest.Tensor{{Type: dumptest.Float32, Format: dumptest.ND, Shape: shape, Data: dumptest.Floats(v)}}
	}
	for i, op := range c {
		d := dumptest.Dump{Inputs: tensor(op.in), Outputs: tensor(op.out)}
		if in := &d.Inputs[0]; op.typ == "Cast" && op.in != nil { // of whole numbers
			in.Type, in.Data = dumptest.Int32, nil
			for _, v := range op.in {
				in.Data = append(in.Data, dumptest.Int32s([]int32{int32(v)})...)
			}
		} else if n := int64(len(op.in) / len(op.out)); n > 1 {
			in.Shape = slices.Clone(shape)
			in.Shape[len(shape)-1] *= n
		}
		if err := d.Write(filepath.Join(dir, fmt.Sprintf("%s.op%d.%d.1.%d", op.typ, i, i, at+i))); err != nil {
			t.Fatal(err)
		}
	}
}

func numbers(seed uint64, n int64) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// TestName: what two recordings show of a root is named with size and place, what is good is not read.
func TestName(t *testing.T) {
	shape := []int64{2, 64, 40}
	n := int64(2 * 64 * 40)
	x, y, z := numbers(1, n), numbers(2, n), numbers(3, n)
	good := chain{{"MatMul", x, y}, {"Tanh", y, z}}
	faulty := func(f func(v []float32)) chain {
		v := append([]float32(nil), z...)
		f(v)
		return chain{{"MatMul", x, y}, {"Tanh", y, v}}
	}
	wide, wider, whole, misread := numbers(5, 2*n), numbers(6, 4*n), numbers(7, n), numbers(7, n)
	for i := range whole {
		whole[i] = float32(int32(1000 * whole[i]))
		misread[i] = math.Float32frombits(uint32(int32(whole[i])))
		if misread[i] != misread[i] {
			whole[i], misread[i] = 3, math.Float32frombits(3)
		}
	}
	big := []int64{3, 1 << 21}
	m := numbers(4, 3<<21)
	for _, c := range []struct {
		name        string
		shape       []int64
		left, right chain
		want        string
	}{
		{"good", shape, good, good, ""},
		{"scaled", shape, faulty(func(v []float32) {
			for i := range v {
				v[i] *= 1.5
			}
		}), good, "kind of error: every number is multiplied by 1.5"},
		{"sign", shape, faulty(func(v []float32) {
			for i := range v {
				v[i] = -v[i]
			}
		}), good, "kind of error: every sign is reversed"},
		{"unwritten", shape, faulty(func(v []float32) {
			for i := range v {
				if i/40%64 >= 48 {
					v[i] = 0
				}
			}
		}), good, "kind of error: 48 to 63 along axis 1 not written: the numbers there are 0"},
		{"passed through", shape, faulty(func(v []float32) { copy(v, y) }), good, "kind of error: equal to its own input 0: Tanh did nothing"},
		{"another tensor", shape, chain{{"MatMul", x, y}, {"Tanh", y, z}, {"Add", z, y}}, chain{{"MatMul", x, y}, {"Tanh", y, z}, {"Add", z, x}},
			"kind of error: equals the tensor of op0:output:0"},
		{"one bit", shape, faulty(func(v []float32) { v[777] = 1.25 * 0x1p-64 }), chain{{"MatMul", x, y}, {"Tanh", y, with(z, 777, 1.25)}},
			"kind of error: bit 29 (exponent) of element [0,19,17] is flipped: 6.77626e-20 for 1.25"},
		{"an index off by one", shape, faulty(func(v []float32) {
			for i := range v {
				if i%40 < 39 {
					v[i] = z[i+1]
				}
			}
		}), good, "kind of error: shifted by -1 along axis 2"},
		{"a row off by one", shape, faulty(func(v []float32) {
			for i := range v {
				v[i] = z[(i+40)%len(z)]
			}
		}), good, "kind of error: for 98.6 % of the error: shifted by -1 along axis 1"},
		{"pad off by one", shape, faulty(func(v []float32) {
			for i := range v {
				v[i] = 0
				if i%40 > 0 {
					v[i] = z[i-1]
				}
			}
		}), good, "kind of error: for 98.9 % of the error: shifted by 1 along axis 2"},
		{"reversed", shape, faulty(func(v []float32) {
			for i := range v {
				v[i] = z[i/40*40+39-i%40]
			}
		}), good, "kind of error: the order along axis 2 is reversed"},
		{"axes exchanged", shape, faulty(func(v []float32) {
			for i := range v {
				b, r := i/2560*2560, i%2560
				v[i] = z[b+r%64*40+r/64]
			}
		}), good, "kind of error: the axes are in a different order: the order of the recorded axes is 0, 2, 1"},
		{"bytes in reverse order", shape, faulty(func(v []float32) {
			for i := range v {
				v[i] = math.Float32frombits(bits.ReverseBytes32(math.Float32bits(v[i])))
			}
		}), good, "kind of error: the bytes of every float32 are in reverse order"},
		{"bits of whole numbers", shape, chain{{"Cast", whole, misread}}, chain{{"Cast", whole, whole}}, "kind of error: bits of int32 were read as float32"},
		{"inverted mask", shape, chain{{"MatMul", x, y}, {"Add", y, masked(y, 0)}}, chain{{"MatMul", x, y}, {"Add", y, masked(y, 1)}}, "kind of error: the added mask is inverted: -10000 was added where nothing is, to 66.7 % of the elements"},
		{"a stride ignored", shape, chain{{"StridedSlice", wide, every(wide, 1)}}, chain{{"StridedSlice", wide, every(wide, 2)}}, "kind of error: a stride of 2 along axis 2 was ignored"},
		{"a stride too many", shape, chain{{"StridedSlice", wider, every(wider, 4)}}, chain{{"StridedSlice", wider, every(wider, 2)}}, "kind of error: elements were taken 2 apart along axis 2 once too often"},
		{"a tile twice", shape, faulty(func(v []float32) { copy(v[2560:3200], z[1920:2560]) }), good, "kind of error: index 1 of axis 0, 0 to 15 along axis 1: numbers from another place of the same tensor, 640 elements before"},
		{"channels added", shape, faulty(func(v []float32) {
			for i := range v {
				v[i] += float32(i/40%64) / 16
			}
		}), good, "kind of error: each of 63 slices along axis 1 has a number added: 0.0625 to 3.937"},
		{"too large to be read", big, chain{{"Cast", nil, times(m, 2)}}, chain{{"Cast", nil, m}}, "kind of error: every number is multiplied by 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := engine.Job{Left: c.left.record(t, "left", c.shape), Right: c.right.record(t, "right", c.shape)}.Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			out, err := s.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			j := verdict.Judge(out.Table, verdict.Options{})
			read := 0
			again := func(ctx context.Context, g *engine.Glance) error {
				read++
				return Folders(s)(ctx, g)
			}
			if err := Name(t.Context(), again, j); err != nil {
				t.Fatal(err)
			}
			if c.want == "" {
				if read > 0 || len(j.Table.Looks) > 0 {
					t.Errorf("%d looks at what is good", read)
				}
				return
			}
			if len(j.Roots) == 0 {
				t.Fatal("no root")
			}
			if got := (report.Text{Lang: msg.English}).Card(j, &j.Roots[j.Prominent()[0]]).Kind; got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

func with(v []float32, i int, x float32) []float32 {
	v = append([]float32(nil), v...)
	v[i] = x
	return v
}

func masked(v []float32, kept int) []float32 {
	w := append([]float32(nil), v...)
	for i := range w {
		if i*7/3%3/2 == kept {
			w[i] -= 10000
		}
	}
	return w
}

// every takes 40 elements of each of 128 rows, so many apart.
func every(v []float32, step int) []float32 {
	w := make([]float32, 5120)
	long := len(v) / 128
	for i := range w {
		w[i] = v[i/40*long+i%40*step]
	}
	return w
}

func times(v []float32, f float32) []float32 {
	v = append([]float32(nil), v...)
	for i := range v {
		v[i] *= f
	}
	return v
}

// TestNameRecordings: the elements of recordings of calls are looked at, too, and only those of the calls in question.
func TestNameRecordings(t *testing.T) {
	x, y, z := numbers(1, 2400), numbers(2, 2400), numbers(3, 2400)
	side := func(last []float32) string {
		dir := t.TempDir()
		data := filepath.Join(dir, "dump_tensor_data")
		if err := os.Mkdir(data, 0o700); err != nil {
			t.Fatal(err)
		}
		tensor := func(name string, v []float32) string {
			file := name + ".npy"
			if err := dumptest.WriteNpy(filepath.Join(data, file), "<f4", []int64{20, 120}, dumptest.Floats(v)); err != nil {
				t.Fatal(err)
			}
			lo, hi, sum, squares := v[0], v[0], 0.0, 0.0
			for _, x := range v {
				lo, hi, sum, squares = min(lo, x), max(hi, x), sum+float64(x), squares+float64(x)*float64(x)
			}
			return fmt.Sprintf(`{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [20, 120], "Max": %v, "Min": %v, "Mean": %v, "Norm": %v, "data_name": %q}`,
				hi, lo, float32(sum/2400), float32(math.Sqrt(squares)), file)
		}
		call := func(name string, in, out []float32) string {
			return fmt.Sprintf(`%q: {"input_args": [%s], "input_kwargs": {}, "output": [%s]}`, name, tensor(name+".input.0", in), tensor(name+".output.0", out))
		}
		text := fmt.Sprintf(`{"task": "tensor", "level": "L1", "framework": "pytorch", "dump_data_dir": %q, "data": {%s, %s}}`, data,
			call("Functional.relu.0.forward", x, y), call("Functional.tanh.0.forward", y, last))
		if err := os.WriteFile(filepath.Join(dir, "dump.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	left, right := side(times(z, 0.5)), side(z)
	run := func(ctx context.Context, g *engine.Glance) (*engine.Outcome, error) {
		source, err := recording.Open(left, right, recording.Options{})
		if err != nil {
			return nil, err
		}
		return engine.Run(ctx, source, engine.Options{Glance: g})
	}
	out, err := run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	j := verdict.Judge(out.Table, verdict.Options{})
	var rows int
	err = Name(t.Context(), func(ctx context.Context, g *engine.Glance) error {
		out, err := run(ctx, g)
		rows = len(out.Table.Rows)
		return err
	}, j)
	if err != nil || len(j.Roots) != 1 || rows != 0 {
		t.Fatalf("%d roots, %d rows: %v", len(j.Roots), rows, err)
	}
	if got, want := (report.Text{Lang: msg.English}).Card(j, &j.Roots[0]).Kind, "kind of error: every number is multiplied by 0.5"; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// TestNameEarlier: what a kernel left of the step before is known for that, where that was recorded, too.
func TestNameEarlier(t *testing.T) {
	shape := []int64{2, 64, 40}
	x, y, z, was := numbers(1, 5120), numbers(2, 5120), numbers(3, 5120), numbers(4, 5120)
	stale := append(append([]float32(nil), z[:2560]...), was[2560:]...)
	dir := chain{{"MatMul", x, y}, {"Tanh", y, stale}}.record(t, "left", shape)
	chain{{"MatMul", x, z}, {"Tanh", z, was}}.into(t, dir, shape, 1614717200000000)
	right := chain{{"MatMul", x, y}, {"Tanh", y, z}}.record(t, "right", shape)
	s, err := engine.Job{Left: dir, Right: right}.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, before := range []Again{Before(s), nil} {
		j := verdict.Judge(out.Table, verdict.Options{})
		j.Table.Looks = nil
		if err := Name(t.Context(), Folders(s), j, before); err != nil || len(j.Roots) == 0 {
			t.Fatal(len(j.Roots), err)
		}
		want := "kind of error: index 1 of axis 0: numbers of this very tensor in the recording before (the previous step)"
		if before == nil {
			want = "kind of error: only in index 1 of axis 0 (100 % of the elements there)"
		}
		if got := (report.Text{Lang: msg.English}).Card(j, &j.Roots[0]).Kind; got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	}
}
