package weights

import (
	"context"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"precision/dump/checkpoint"
	"precision/internal/lazy"
	"precision/internal/must"
	"precision/internal/nd"

	"gonum.org/v1/gonum/floats"
)

// part is a tensor of the network: a tensor of a file, or the piece of one in which an engine keeps several together.
type part struct {
	name  string
	t     *checkpoint.Tensor
	shape []int64
	spans []span
	add   *adapter // of low-rank training; nil for none
	mate  *part    // of the other side, by a mapping file; nil for none
}

// span is a run of elements of a tensor, in C order.
type span struct{ first, n int64 }

func (p *part) len() int64 { return nd.Size(p.shape) }

// rows is a part that is made of rows [lo, hi) of a tensor; the row of a vector is an element.
func rows(name string, t *checkpoint.Tensor, shape []int64, at, lo, hi int64) *part {
	width := nd.Size(shape[1:])
	return &part{name: name, t: t, shape: append([]int64{hi - lo}, shape[1:]...), spans: []span{{at + lo*width, (hi - lo) * width}}}
}

// source reads the elements of a part; it serves one goroutine. What cannot be read ends the work, whose borders are
// [pair.compare], [part.whole] and who else asks with must.Of.
type source struct {
	p   *part
	n   *checkpoint.Numbers
	sum []float64 // of an adapter
}

func (p *part) open() *source { return &source{p: p, n: must.Get(p.t.Numbers())} }

// each calls take with the places, in the part and in the tensor, of the runs that elements [first, first+n) are made of.
func (p *part) each(first, n int64, take func(in, at, n int64) error) {
	done := int64(0)
	for _, s := range p.spans {
		if first < s.n && n > 0 {
			k := min(n, s.n-first)
			must.Do(take(done, s.first+first, k))
			done, first, n = done+k, first+k, n-k
		}
		first = max(first-s.n, 0)
	}
}

func (s *source) read(dst []float64, first int64) {
	s.p.each(first, int64(len(dst)), func(in, at, n int64) error { return s.n.Read(dst[in:in+n], at) })
	if a := s.p.add; a != nil && a.scale != 0 {
		if len(s.sum) < len(dst) {
			s.sum = make([]float64, len(dst))
		}
		sum := s.sum[:len(dst)]
		a.product(sum, nil, first)
		for i := range dst {
			dst[i] += a.scale * sum[i]
		}
	}
}

// stored returns the elements as they are stored, if they are one run; nil otherwise.
func (s *source) stored(first, n int64) []byte {
	if len(s.p.spans) == 1 && s.p.add == nil {
		return must.Get(s.n.Bytes(s.p.spans[0].first+first, n))
	}
	return nil
}

var expertStack = lazy.Regexp(`^(.*\.experts)\.(gate_up_proj|down_proj)\.(weight|bias)$`)

// parts are the tensors of a network by their names; what is fused on one side only is left whole here.
func parts(s *checkpoint.Set) (list []*part) {
	for _, t := range s.Tensors {
		if t.Len() == 0 {
			continue // repacked by the engine, or never filled: not recorded
		}
		name := Name(t.Name)
		shape := slices.Clone(t.Shape)
		m := expertStack().FindStringSubmatch(name)
		if m == nil || len(shape) < 2 || m[3] == "weight" && len(shape) != 3 {
			list = append(list, halves(&part{name: name, t: t, shape: shape, spans: []span{{0, t.Len()}}})...)
			continue
		}
		// All experts in one tensor: [experts, rows, columns].
		size := nd.Size(shape[1:])
		for e := range shape[0] {
			one := &part{name: m[1] + "." + strconv.FormatInt(e, 10) + "." + m[2] + "." + m[3], t: t, shape: shape[1:], spans: []span{{e * size, size}}}
			list = append(list, halves(one)...)
		}
	}
	return list
}

// halves takes gate and up apart, which engines keep as one product, gate first.
func halves(p *part) []*part {
	head, tail, fused := strings.Cut(p.name, ".gate_up_proj.")
	if !fused || len(p.shape) == 0 || p.shape[0]%2 != 0 {
		return []*part{p}
	}
	n := p.shape[0]
	return []*part{
		rows(head+".gate_proj."+tail, p.t, p.shape, p.spans[0].first, 0, n/2),
		rows(head+".up_proj."+tail, p.t, p.shape, p.spans[0].first, n/2, n),
	}
}

// Heads have one of these sizes; with them Megatron's order of query, key and value is tried: the groups of heads one after the
// other, each with the queries of a group, its key and its value.
var headSizes = []int64{8, 16, 32, 48, 64, 72, 80, 96, 112, 128, 160, 192, 256}

// qkv takes query, key and value apart where the other side has them apart. Of the orders that fit the sizes the one with the
// more alike elements is taken.
func qkv(p *part, other map[string]*part) []*part {
	head, tail, fused := strings.Cut(p.name, ".qkv_proj.")
	if !fused {
		return []*part{p}
	}
	var want [3]*part
	names, sum := [3]string{}, int64(0)
	for i, x := range []string{"q", "k", "v"} {
		names[i] = head + "." + x + "_proj." + tail
		if want[i] = other[names[i]]; want[i] == nil || len(want[i].shape) != len(p.shape) || len(p.shape) == 0 {
			return []*part{p}
		}
		sum += want[i].shape[0]
	}
	q, kv := want[0].shape[0], want[1].shape[0]
	if sum != p.shape[0] || want[2].shape[0] != kv || kv == 0 {
		return []*part{p}
	}
	at, width := p.spans[0].first, nd.Size(p.shape[1:])
	best := []*part{
		rows(names[0], p.t, p.shape, at, 0, q),
		rows(names[1], p.t, p.shape, at, q, q+kv),
		rows(names[2], p.t, p.shape, at, q+kv, sum),
	}
	equal := alike(best[0], want[0]) + alike(best[1], want[1])
	for _, d := range headSizes {
		if kv%d != 0 || kv == d || q%kv != 0 {
			continue
		}
		groups, per := kv/d, q/(kv/d)
		var inter [3]*part
		for i, n := range []int64{per, d, d} {
			inter[i] = &part{name: names[i], t: p.t, shape: want[i].shape}
			for g := range groups {
				row := g*(per+2*d) + []int64{0, per, per + d}[i]
				inter[i].spans = append(inter[i].spans, span{at + row*width, n * width})
			}
		}
		if e := alike(inter[0], want[0]) + alike(inter[1], want[1]); e > equal+0.2 {
			best, equal = inter[:], e
		}
	}
	return best
}

// sampled is how many elements alike looks at: the cosine of 4096 unrelated ones is below 0.05.
const sampled = 4096

// alike is the cosine of a sample of two parts, 0 where they cannot be read.
func alike(a, b *part) float64 {
	c, _ := must.Of(func() float64 {
		x, y := sample(a, b, sampled)
		return floats.Dot(x, y) / math.Sqrt(floats.Dot(x, x)*floats.Dot(y, y))
	})
	if c != c {
		return 0
	}
	return c
}

// sample reads up to n elements of two parts of one size, in runs of 64 that lie evenly over them.
func sample(a, b *part, n int64) (x, y []float64) {
	total := min(a.len(), b.len())
	from, to := a.open(), b.open()
	const run = 64
	runs := max(1, min(n, total)/run)
	for i := range runs {
		first := int64(math.Round(float64(i) * float64(total-min(run, total)) / float64(max(runs-1, 1))))
		k := min(run, total-first)
		u, v := make([]float64, k), make([]float64, k)
		from.read(u, first)
		to.read(v, first)
		x, y = append(x, u...), append(y, v...)
	}
	return x, y
}

// Matrix is a tensor of a network: V in memory, or nil for a large one, whose rows are read where they are used.
type Matrix struct {
	Shape []int64
	V     []float64
	large *source
}

// mostRows is how many elements of a large matrix are read at once: 8 MB.
const mostRows = 1 << 20

// Rows calls take with all rows in order, some at a time, and ends the work where they cannot be read. What take gets is used again.
func (m *Matrix) Rows(take func(first int, v []float64)) {
	if m.large == nil {
		take(0, m.V)
		return
	}
	width := nd.Size(m.Shape[1:])
	step := max(mostRows/max(width, 1), 1)
	buf := make([]float64, step*width)
	for r := int64(0); r < m.Shape[0]; r += step {
		v := buf[:min(step, m.Shape[0]-r)*width]
		m.large.read(v, r*width)
		take(int(r), v)
	}
}

// Row reads one row, and ends the work where there is none, or it cannot be read.
func (m *Matrix) Row(dst []float64, i int64) {
	must.Not(i < 0 || i >= m.Shape[0], "found row %d, expected one of %d", i, m.Shape[0])
	if m.large == nil {
		copy(dst, m.V[i*int64(len(dst)):])
		return
	}
	m.large.read(dst, i*int64(len(dst)))
}

// Network reads the weights of one side by the names of Hugging Face's files, fused ones taken apart as the other side has them; nil for a
// weight that is missing.
type Network struct{ pairs map[string]*pair }

// Networks pairs two checkpoints for reading, the trainer's first.
func Networks(left, right *checkpoint.Set) *Network {
	return &Network{newComparison(left, right, nil, func(list []*part, other map[string]*part) []*part { return adapted(list, other, true) }).byName}
}

// Get reads a weight of one side, 0 the left.
func (n *Network) Get(side int, name string) *Matrix {
	p := n.pairs[name]
	if p == nil {
		return nil
	}
	x := p.a
	if side == 1 {
		x = p.b
	}
	if x == nil {
		return nil
	}
	if x.add != nil && must.Try(func() { p.settle(context.Background()) }) != nil {
		return nil
	}
	if x.len() > mostHeld {
		s, err := must.Of(x.open)
		if err != nil || len(x.shape) == 0 {
			return nil
		}
		return &Matrix{Shape: x.shape, large: s}
	}
	v := x.whole()
	if v == nil {
		return nil
	}
	return &Matrix{Shape: x.shape, V: v}
}

// Has reports whether a side has a weight.
func (n *Network) Has(side int, name string) bool {
	p := n.pairs[name]
	return p != nil && (side == 0 && p.a != nil || side == 1 && p.b != nil)
}

// Names lists the weights of both sides.
func (n *Network) Names() []string { return slices.Sorted(maps.Keys(n.pairs)) }

// Shape is that of a weight of one side, nil if it has none of the name.
func (n *Network) Shape(side int, name string) []int64 {
	switch p := n.pairs[name]; {
	case p == nil:
	case side == 0 && p.a != nil:
		return p.a.shape
	case side == 1 && p.b != nil:
		return p.b.shape
	}
	return nil
}
