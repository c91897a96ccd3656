package recording_test

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// net is a small network of transformer blocks that records itself as msprobe does,
// level L1 with statistics, and whose runs can be given faults.
type net struct {
	t       *testing.T
	run     run
	entries []string
	number  map[string]int
	noise   *rand.Rand
	at      int // the block
}

// run is what is particular about a run.
type run struct {
	// rounding is how much every computed element is off, relative: what another
	// device, or a dtype with fewer digits, does.
	rounding float64
	dtype    string
	md5      bool
	// fault names what goes wrong, in which block.
	fault string
	block int
}

type array struct {
	shape []int
	v     []float64
}

func (a array) clone() array { return array{a.shape, append([]float64(nil), a.v...)} }

const blocks, tokens, width = 4, 6, 16

// round is what a computed tensor loses.
func (n *net) round(a array) array {
	for i, v := range a.v {
		if n.run.rounding > 0 {
			v *= 1 + n.run.rounding*(2*n.noise.Float64()-1)
		}
		a.v[i] = float64(float32(v))
	}
	return a
}

func (n *net) tensor(a array) string {
	hi, lo, sum, norm := math.Inf(-1), math.Inf(1), 0.0, 0.0
	raw := make([]byte, 0, 4*len(a.v))
	for _, v := range a.v {
		hi, lo = max(hi, v), min(lo, v)
		sum += v
		norm += v * v
		b := math.Float32bits(float32(v))
		raw = append(raw, byte(b), byte(b>>8), byte(b>>16), byte(b>>24))
	}
	shape, _ := json.Marshal(a.shape)
	number := func(v float64) string {
		if math.IsNaN(v) {
			return "NaN"
		}
		return fmt.Sprintf("%.9e", float64(float32(v)))
	}
	dtype := n.run.dtype
	if dtype == "" {
		dtype = "float32"
	}
	md5 := ""
	if n.run.md5 {
		md5 = fmt.Sprintf(`, "md5": "%08x"`, crc32.ChecksumIEEE(raw))
	}
	return fmt.Sprintf(`{"type": "torch.Tensor", "dtype": "torch.%s", "shape": %s, "Max": %s, "Min": %s, "Mean": %s, "Norm": %s, "requires_grad": false%s}`,
		dtype, shape, number(hi), number(lo), number(sum/float64(len(a.v))), number(math.Sqrt(norm)), md5)
}

// call records a call.
func (n *net) call(api string, out array, args ...any) array {
	var in []string
	for _, a := range args {
		switch a := a.(type) {
		case array:
			in = append(in, n.tensor(a))
		case int:
			in = append(in, fmt.Sprintf(`{"type": "int", "value": %d}`, a))
		case float64:
			in = append(in, fmt.Sprintf(`{"type": "float", "value": %v}`, a))
		}
	}
	name := fmt.Sprintf("%s.%d.forward", api, n.number[api])
	n.number[api]++
	out = n.round(out)
	n.entries = append(n.entries, fmt.Sprintf(`%q: {"input_args": [%s], "input_kwargs": {}, "output": [%s]}`, name, strings.Join(in, ", "), n.tensor(out)))
	return out
}

// is tells whether a fault is due.
func (n *net) is(fault string) bool { return n.run.fault == fault && n.run.block == n.at }

func (n *net) linear(x, w array) array {
	rows, out := len(x.v)/width, array{x.shape, make([]float64, len(x.v))}
	for i := range rows {
		for j := range width {
			s := 0.0
			for k := range width {
				s += x.v[i*width+k] * w.v[j*width+k]
			}
			out.v[i*width+j] = s
		}
	}
	return n.call("Functional.linear", out, x, w)
}

func (n *net) norm(x array, eps float64) array {
	out := x.clone()
	for i := 0; i < len(x.v); i += width {
		m, s := 0.0, 0.0
		for _, v := range x.v[i : i+width] {
			m += v / width
		}
		for _, v := range x.v[i : i+width] {
			s += (v - m) * (v - m) / width
		}
		for k := range width {
			out.v[i+k] = (x.v[i+k] - m) / math.Sqrt(s+eps)
		}
	}
	return n.call("Functional.layer_norm", out, x, eps)
}

func (n *net) each(api string, x array, f func(float64) float64, args ...any) array {
	out := x.clone()
	for i, v := range x.v {
		out.v[i] = f(v)
	}
	return n.call(api, out, append([]any{x}, args...)...)
}

func (n *net) add(x, y array) array {
	out := x.clone()
	for i := range out.v {
		out.v[i] += y.v[i]
	}
	return n.call("Tensor.__add__", out, x, y)
}

// transpose is a view that is not recorded.
func transpose(x array) array {
	out := array{[]int{width, tokens}, make([]float64, len(x.v))}
	for i := range tokens {
		for j := range width {
			out.v[j*tokens+i] = x.v[i*width+j]
		}
	}
	return out
}

// scores multiplies every token with every other.
func (n *net) scores(q, k array) array {
	out := array{[]int{tokens, tokens}, make([]float64, tokens*tokens)}
	for i := range tokens {
		for j := range tokens {
			for c := range width {
				out.v[i*tokens+j] += q.v[i*width+c] * k.v[c*tokens+j]
			}
		}
	}
	return n.call("Torch.matmul", out, q, k)
}

func (n *net) softmax(x array) array {
	out := x.clone()
	for i := 0; i < len(x.v); i += tokens {
		s := 0.0
		for k := range tokens {
			out.v[i+k] = math.Exp(x.v[i+k] / 4)
			s += out.v[i+k]
		}
		for k := range tokens {
			out.v[i+k] /= s
		}
	}
	return n.call("Functional.softmax", out, x, 1)
}

func (n *net) mix(p, v array) array {
	out := array{[]int{tokens, width}, make([]float64, tokens*width)}
	for i := range tokens {
		for j := range width {
			for c := range tokens {
				out.v[i*width+j] += p.v[i*tokens+c] * v.v[c*width+j]
			}
		}
	}
	return n.call("Torch.matmul", out, p, v)
}

// record runs the network and writes its recording.
func record(t *testing.T, r run) string {
	n := &net{t: t, run: r, number: map[string]int{}, noise: rand.New(rand.NewPCG(5, uint64(len(r.fault))))}
	random := rand.New(rand.NewPCG(1, 2))
	draw := func(scale float64, shape ...int) array {
		a := array{shape, nil}
		count := 1
		for _, d := range shape {
			count *= d
		}
		for range count {
			a.v = append(a.v, float64(float32(scale*random.NormFloat64())))
		}
		if r.dtype != "" {
			return n.round(a)
		}
		return a // both devices get the same
	}
	x := draw(1, tokens, width)
	for n.at = range blocks {
		var w [6]array
		for i := range w {
			w[i] = draw(0.25, width, width)
		}
		if n.is("weight") {
			w[3].v[17] += 2.5
		}
		eps := 1e-5
		if n.is("eps") {
			eps = 0.3
		}
		h := n.norm(x, eps)
		if n.is("extra") {
			h = n.each("Functional.relu", h, func(v float64) float64 { return max(v, 0) })
		}
		if n.is("harmless") {
			n.each("Torch.abs", h, math.Abs)
		}
		var q, k array
		if n.is("reorder") {
			k, q = n.linear(h, w[1]), n.linear(h, w[0])
		} else {
			q, k = n.linear(h, w[0]), n.linear(h, w[1])
		}
		v := n.linear(h, w[2])
		kt := transpose(k)
		if n.is("view") {
			kt = array{kt.shape, k.v}
		}
		p := n.softmax(n.scores(q, kt))
		if n.is("kernel") {
			p = p.clone() // not what its producer gave
			p.v[0] += 2
		}
		o := n.linear(n.mix(p, v), w[3])
		if n.is("scale") {
			n.entries = n.entries[:len(n.entries)-1]
			n.number["Functional.linear"]--
			o2 := o.clone()
			for i := range o2.v {
				o2.v[i] *= 1.5
			}
			o = n.call("Functional.linear", o2, n.mixed(p, v), w[3])
		}
		x = n.add(x, o)
		u := n.linear(n.norm(x, 1e-5), w[4])
		if !n.is("missing") {
			u = n.each("Functional.gelu", u, func(v float64) float64 { return v * 0.5 * (1 + math.Erf(v/math.Sqrt2)) })
		}
		x = n.add(x, n.linear(u, w[5]))
	}
	dir := filepath.Join(t.TempDir(), "step0", "rank0")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	text := dumpOf("L1", n.entries)
	if err := os.WriteFile(filepath.Join(dir, "dump.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// mixed is what mix gave, without a record.
func (n *net) mixed(p, v array) array {
	entries, count := n.entries, n.number["Torch.matmul"]
	rounding := n.run.rounding
	n.run.rounding = 0
	out := n.mix(p, v)
	n.entries, n.number["Torch.matmul"], n.run.rounding = entries, count, rounding
	return out
}

// TestFaults: faults of a network are found where they are, on sides that compute
// alike and on sides that do not; runs without a fault have no roots.
func TestFaults(t *testing.T) {
	for _, c := range []struct{ fault, root string }{
		{"", ""},
		{"eps", "Functional.layer_norm.4.forward"},
		{"weight", "Functional.linear.15.forward"},
		{"extra", "Functional.relu.0.forward"},
		{"harmless", ""},
		{"reorder", ""},
		{"view", "Torch.matmul.4.forward"},
		{"kernel", "Torch.matmul.5.forward"},
		{"scale", "Functional.linear.15.forward"},
		{"missing", "Functional.gelu.2.forward (right)"},
	} {
		for _, side := range []struct {
			name string
			run
		}{
			{"same device", run{}},
			{"checksums", run{md5: true}},
			{"other device", run{rounding: 3e-7}},
			{"bfloat16", run{rounding: 0.004, dtype: "bfloat16"}},
		} {
			t.Run(c.fault+"/"+side.name, func(t *testing.T) {
				left := side.run
				left.fault, left.block = c.fault, 2
				j := judged(t, record(t, left), record(t, run{md5: side.md5}))
				got := rootNames(j)
				if want := c.root; want == "" && len(got) > 0 || want != "" && (len(got) == 0 || got[0] != want) {
					t.Errorf("%s, roots %v, expected %q", j.Verdict, got, want)
				} else if len(got) > 1 {
					t.Errorf("more than one root: %v", got)
				}
			})
		}
	}
}
