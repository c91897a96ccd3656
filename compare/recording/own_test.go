package recording_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/compare/verdict"
	"precision/dump/dtype"
	"precision/dump/torch"
)

// folder is a recording with elements that a test writes call by call.
type folder struct {
	t     *testing.T
	dir   string
	calls []string
	files int
}

func newFolder(t *testing.T) *folder {
	return &folder{t: t, dir: filepath.Join(t.TempDir(), "step0", "rank0")}
}

// tensor writes elements and is what dump.json says of them.
func (f *folder) tensor(shape []int64, v []float32) string {
	wide := make([]float64, len(v))
	for i, x := range v {
		wide[i] = float64(x)
	}
	return f.of(dtype.Float32, shape, wide)
}

// of is the same of numbers of bfloat16 or float32, or of whole ones.
func (f *folder) of(typ dtype.Type, shape []int64, v []float64) string {
	f.files++
	var raw []byte
	hi, lo, sum, squares := math.Inf(-1), math.Inf(1), 0.0, 0.0
	for _, x := range v {
		switch bits := math.Float32bits(float32(x)); typ {
		case dtype.Int64:
			raw = binary.LittleEndian.AppendUint64(raw, uint64(x))
		case dtype.BFloat16:
			raw = binary.LittleEndian.AppendUint16(raw, uint16(bits>>16))
		default:
			raw = binary.LittleEndian.AppendUint32(raw, bits)
		}
		hi, lo, sum, squares = max(hi, x), min(lo, x), sum+x, squares+x*x
	}
	var file bytes.Buffer
	if err := torch.Write(&file, typ, shape, bytes.NewReader(raw)); err != nil {
		f.t.Fatal(err)
	}
	name := fmt.Sprintf("t%d.pt", f.files)
	write(f.t, filepath.Join(f.dir, "dump_tensor_data", name), file.Bytes())
	text, _ := strings.CutPrefix(fmt.Sprint(shape), "[")
	return fmt.Sprintf(`{"type": "torch.Tensor", "dtype": "torch.%s", "shape": [%s, "Max": %v, "Min": %v, "Mean": %v, "Norm": %v, "requires_grad": false, "data_name": %q}`,
		strings.ToLower(typ.String()), strings.ReplaceAll(text, " ", ", "), hi, lo, float32(sum/float64(len(v))), float32(math.Sqrt(squares)), name)
}

func (f *folder) forward(api string, in []string, out string) {
	f.calls = append(f.calls, fmt.Sprintf(`"%s.forward": {"input_args": [%s], "input_kwargs": {}, "output": [%s]}`, api, strings.Join(in, ", "), out))
}

func (f *folder) backward(api, in string, out ...string) {
	f.calls = append(f.calls, fmt.Sprintf(`"%s.backward": {"input": [%s], "output": [%s]}`, api, in, strings.Join(out, ", ")))
}

func (f *folder) done() string {
	write(f.t, filepath.Join(f.dir, "dump.json"), []byte(dumpOf("L1", f.calls)))
	return f.dir
}

// TestOwnFunctions: a function that a program defines (torch.autograd.Function) computes a linear layer as another device would, off by
// a few roundoffs. Its gradients come in the order of its own arguments, the calls in its backward pass are recorded, one of which turns
// the gradient and hands it on to nobody else; and relu, behind it, chooses otherwise for some of the elements that are nearly 0.
func TestOwnFunctions(t *testing.T) {
	const rows, in, out = 200, 64, 64
	side := func(own bool, noise float64, bias bool, wrong ...float32) string { // wrong: factors of the gradients of relu

		f := newFolder(t)
		r := rand.New(rand.NewPCG(5, 8))
		random := func(n int, scale float64) []float32 {
			v := make([]float32, n)
			for i := range v {
				v[i] = float32(scale * r.NormFloat64())
			}
			return v
		}
		other := rand.New(rand.NewPCG(6, uint64(math.Float64bits(noise))))
		product := func(a, b []float32, n, k, m int) []float32 { // n×k by k×m
			v := make([]float32, n*m)
			for i := range n {
				for j := range m {
					sum := 0.0
					for l := range k {
						sum += float64(a[i*k+l]) * float64(b[l*m+j])
					}
					v[i*m+j] = float32(sum)
				}
			}
			return v
		}
		turn := func(a []float32, n, m int) []float32 {
			v := make([]float32, len(a))
			for i := range n {
				for j := range m {
					v[j*n+i] = a[i*m+j]
				}
			}
			return v
		}
		off := func(v []float32) []float32 {
			for i := range v {
				v[i] += float32(noise * other.NormFloat64())
			}
			return v
		}
		x, g := random(rows*in, 1), random(rows*out, 0.01)
		weights := [][]float32{random(in*out, 0.125), random(in*out, 0.125)}
		var before [][]float32
		for i, w := range weights {
			y := off(product(x, turn(w, out, in), rows, in, out))
			y[7] = float32(math.Copysign(3e-8, 0.5-noise*1e6)) // nearly 0, and on the other side of it
			args := []string{f.tensor([]int64{rows, in}, x), f.tensor([]int64{out, in}, w)}
			if bias {
				args = append(args, f.tensor([]int64{out}, make([]float32, out)))
			}
			f.forward(fmt.Sprint("Functional.linear.", i), args, f.tensor([]int64{rows, out}, y))
			z := slices.Clone(y)
			for k := range z {
				z[k] = max(z[k], 0)
			}
			f.forward(fmt.Sprint("Functional.relu.", i), []string{f.tensor([]int64{rows, out}, y)}, f.tensor([]int64{rows, out}, z))
			before = append(before, x, y)
			x = z
		}
		for i := len(weights) - 1; i >= 0; i-- {
			y, x, w := before[2*i+1], before[2*i], weights[i]
			h := slices.Clone(g)
			for k := range h {
				if y[k] <= 0 {
					h[k] = 0
				}
				if i < len(wrong) {
					h[k] *= wrong[i]
				}
			}
			f.backward(fmt.Sprint("Functional.relu.", i), f.tensor([]int64{rows, out}, g), f.tensor([]int64{rows, out}, h))
			byX, byW, byBias := product(h, w, rows, out, in), product(turn(h, rows, out), x, out, rows, in), product(slices.Repeat([]float32{1}, rows), h, 1, rows, out)
			if own {
				f.forward(fmt.Sprint("Tensor.t.", i), []string{f.tensor([]int64{rows, out}, h)}, f.tensor([]int64{out, rows}, turn(h, rows, out)))
				f.forward(fmt.Sprint("Tensor.__matmul__.", i), []string{f.tensor([]int64{out, rows}, turn(h, rows, out)), f.tensor([]int64{rows, in}, x)}, f.tensor([]int64{out, in}, byW))
			}
			dx, dw := f.tensor([]int64{rows, in}, byX), f.tensor([]int64{out, in}, byW)
			gradients := []string{dx, dw}
			if bias {
				gradients = append(gradients, f.tensor([]int64{out}, byBias))
			}
			if !own {
				gradients[1] = f.tensor([]int64{in, out}, turn(byW, out, in)) // of the weight as the product takes it
				slices.Reverse(gradients[:len(gradients)-1])
				slices.Reverse(gradients)
			}
			f.backward(fmt.Sprint("Functional.linear.", i), f.tensor([]int64{rows, out}, h), gradients...)
			g = byX
		}
		return f.done()
	}
	for _, bias := range []bool{true, false} {
		golden := side(false, 0, bias)
		const noise = 1e-6
		for _, c := range []struct {
			wrong []float32
			want  verdict.Verdict
			roots []string
		}{
			{nil, verdict.Good, nil},
			{[]float32{1, 1.5}, verdict.Bad, []string{"Functional.relu.1.backward"}},
		} {
			if j := judged(t, side(true, noise, bias, c.wrong...), golden); j.Verdict != c.want || !slices.Equal(rootNames(j), c.roots) {
				t.Errorf("bias %v, noise %g, gradients of relu times %v: %s, roots %v, expected %s, %v", bias, noise, c.wrong, j.Verdict, rootNames(j), c.want, c.roots)
			}
		}
	}
}

// TestSecondBehindAlone: two calls make errors, and between them one side alone turns what the first gave, which the other does by a
// view that is not recorded. Both are named.
func TestSecondBehindAlone(t *testing.T) {
	const n = 16
	r := rand.New(rand.NewPCG(3, 1))
	random := func() []float32 {
		v := make([]float32, n*n)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		return v
	}
	a, b, c := random(), random(), random()
	shape := []int64{n, n}
	side := func(alone bool, first, second float32) string {
		f := newFolder(t)
		x, y, z := slices.Clone(b), make([]float32, n*n), slices.Clone(c)
		for i := range x {
			x[i] *= first
			z[i] *= second
		}
		for i := range x {
			y[i%n*n+i/n] = x[i]
		}
		f.backward("Functional.linear.2", f.tensor(shape, a), f.tensor(shape, x))
		if alone {
			f.forward("Tensor.t.0", []string{f.tensor(shape, x)}, f.tensor(shape, y))
		}
		f.backward("Functional.linear.1", f.tensor(shape, y), f.tensor(shape, z))
		return f.done()
	}
	golden := side(false, 1, 1)
	for _, c := range []struct {
		first, second float32
		want          []string
	}{{1, 1, nil}, {1.01, 1.01, []string{"Functional.linear.2.backward"}}, {1.01, 3, []string{"Functional.linear.2.backward", "Functional.linear.1.backward"}}} {
		if j := judged(t, side(true, c.first, c.second), golden); !slices.Equal(rootNames(j), c.want) {
			t.Errorf("%g and %g: %s, roots %v, expected %v", c.first, c.second, j.Verdict, rootNames(j), c.want)
		}
	}
}

// TestLostUpdates: an update of a weight that one side alone makes is a root though nothing behind it shows that. At the end of a
// recording, or where the other side makes them all by other calls, it tells nothing.
func TestLostUpdates(t *testing.T) {
	const before, noGradients = -1, -2 // in place of an update: one before all gradients is lost, or there are none
	tensor := func(v float64) string {
		return statistics("float32", fmt.Sprint(v), fmt.Sprint(-v/2), fmt.Sprint(v/64), fmt.Sprint(3*v))
	}
	side := func(lost ...int) string {
		var list []string
		for i := range 4 { // no updates are what stands before the gradients
			if !slices.Contains(lost, before) || i != 1 {
				list = append(list, entry("Tensor.mul_", len(list), []string{tensor(7 + float64(i))}, tensor(7.5+float64(i))))
			}
		}
		list = append(list, []string{entry("Functional.linear", 0, []string{tensor(1.5), tensor(2)}, tensor(4)),
			fmt.Sprintf(`"Functional.linear.0.backward": {"input": [%s], "output": [%s]}`, tensor(0.5), tensor(0.25))}...)
		if slices.Contains(lost, noGradients) {
			list = list[:len(list)-1]
		}
		n := 0
		for i := range 6 {
			if !slices.Contains(lost, i) {
				list = append(list, entry("Tensor.add_", n, []string{tensor(2 + float64(i)), tensor(0.01 * float64(i+1))}, tensor(2.01+1.01*float64(i))))
				n++
			}
		}
		return written(t, list...)
	}
	for name, c := range map[string]struct {
		left, golden []int
		want         []string
	}{
		"none":             {nil, nil, nil},
		"on the left side": {[]int{1}, nil, []string{"Tensor.add_.1.forward (right)"}},
		"on the right":     {nil, []int{1}, []string{"Tensor.add_.1.forward"}},
		"the last":         {[]int{5}, nil, nil},
		"half of them":     {[]int{0, 2, 4}, nil, nil},
		"before gradients": {[]int{before}, nil, nil},
		"of no gradients":  {[]int{1, noGradients}, []int{noGradients}, nil},
	} {
		if j := judged(t, side(c.left...), side(c.golden...)); !slices.Equal(rootNames(j), c.want) || (j.Verdict == verdict.Bad) != (c.want != nil) {
			t.Errorf("%s: %s, roots %v, expected %v", name, j.Verdict, rootNames(j), c.want)
		}
	}
}
