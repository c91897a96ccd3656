package oracle

import (
	"slices"
	"strings"

	"precision/graph"
)

// fusedPrefix starts the name of a kernel that several operators were built
// into; the types follow in order, and then hashes.
const fusedPrefix = "te_fused_op_"

// kernelName is the name of the kernel that runs an operator, "" if the graph
// does not say.
func kernelName(op *graph.Op) string {
	return op.Attr(op.Name + "_kernelname").Text()
}

// fusedWords are the words between prefix and hashes of a fused kernel's name;
// false for the kernel of a lone operator.
func fusedWords(kernel string) ([]string, bool) {
	rest, ok := strings.CutPrefix(kernel, fusedPrefix)
	if !ok {
		return nil, false
	}
	words := strings.Split(rest, "_")
	if i := slices.IndexFunc(words, isHash); i >= 0 {
		words = words[:i]
	}
	return words, true
}

func isHash(word string) bool {
	return len(word) >= 12 && strings.Trim(word, "0123456789abcdef") == ""
}

// splitParts joins words to names of parts, the longest first: leaky_relu is
// one part, not two. It returns the word it does not know, if any.
func splitParts(words []string) (names []string, unknown string) {
	for len(words) > 0 {
		n := 0
		for k := min(len(words), 6); k > 0 && n == 0; k-- {
			if name := strings.Join(words[:k], "_"); partKnown(name) {
				names, n = append(names, name), k
			}
		}
		if n == 0 {
			return nil, words[0]
		}
		words = words[n:]
	}
	return names, ""
}

var (
	convParts   = []string{"conv2d", "conv2_d", "conv2dcompress"}
	matmulParts = []string{"mat_mul", "matmul", "mat_mul_v2", "matmulv2", "mat_mulv2", "batch_mat_mul", "batch_matmul", "batchmatmul", "batch_mat_mul_v2"}
	selectParts = []string{"read_select", "readselect"}
)

func partKnown(name string) bool {
	_, ok := fusedPart(name)
	return ok || slices.Contains(convParts, name) || slices.Contains(matmulParts, name) || slices.Contains(selectParts, name)
}

// buildFused reads a kernel of several operators. Its inputs are those of the
// first part, then the further ones of each part in order; a strided read comes
// before the convolution, and its result goes into the sum.
func buildFused(c *Call, words []string) []Reading {
	names, unknown := splitParts(words)
	if unknown != "" {
		panic(refuse(FusedWord, unknown))
	}
	in := c.operands()
	var read *operand
	if len(names) > 0 && slices.Contains(selectParts, names[0]) {
		if len(in) == 0 {
			panic(refuse(NoInput, "x"))
		}
		read, in, names = in[0], in[1:], names[1:]
	}
	if len(names) == 0 {
		panic(refuse(FusedWord, ""))
	}
	// Every further part takes its operands but the first, which is the result
	// so far, from the end of the inputs.
	extras := 0
	for _, name := range names[1:] {
		p, ok := fusedPart(name)
		if !ok {
			panic(refuse(FusedWord, name))
		}
		extras += p.operands - 1
	}
	if read != nil {
		extras--
	}
	first := len(in) - extras
	if extras < 0 || first < 1 {
		panic(refuse(InputCount, len(in), extras+1))
	}
	readings := c.firstPart(names[0], in[:first])
	for i := range readings {
		readings[i].Out[0] = c.chain(names[1:], readings[i].Out[0], in[first:], read)
		readings[i].Out[0] = c.asRecorded(readings[i].Out[0], 0)
	}
	return readings
}

// operands lists the connected inputs.
func (c *Call) operands() []*operand {
	return slices.DeleteFunc(slices.Clone(c.slots), func(o *operand) bool { return o == nil })
}

// firstPart reads the part of a fused kernel that only takes recorded inputs.
func (c *Call) firstPart(name string, in []*operand) []Reading {
	third := func() *operand {
		if len(in) > 2 {
			return in[2]
		}
		return nil
	}
	switch {
	case slices.Contains(convParts, name):
		if len(in) != 2 && len(in) != 3 {
			panic(refuse(InputCount, len(in), 3))
		}
		return c.convReadings(in[0], in[1], third())
	case slices.Contains(matmulParts, name):
		if len(in) != 2 && len(in) != 3 {
			panic(refuse(InputCount, len(in), 3))
		}
		return c.fusedMatmul(in[0], in[1], third())
	}
	p, ok := fusedPart(name)
	if !ok {
		panic(refuse(FusedWord, name))
	}
	if len(in) != p.operands {
		panic(refuse(InputCount, len(in), p.operands))
	}
	values := make([]Values, len(in))
	for i, o := range in {
		values[i] = o
	}
	v := p.build(c, values)
	return []Reading{{Out: []Values{v}}}
}

// fusedMatmul multiplies matrices whose attributes fusion lost: the recorded
// shapes tell which sides are turned. Square ones fit either way; then both are
// readings.
func (c *Call) fusedMatmul(x1, x2, bias *operand) []Reading {
	if c.attrs.Get("transpose_x1") != nil || c.attrs.Get("adj_x1") != nil {
		return c.matmulReading(x1, x2, bias)
	}
	want, ok := c.out(0)
	if !ok {
		panic(refuse(NoOutput))
	}
	var b Values
	if bias != nil {
		b = bias
	}
	var out []Reading
	var first error
	for _, t := range [][2]bool{{false, false}, {false, true}, {true, false}, {true, true}} {
		v, err := attempt(func() Values { return c.newMatmul(turned(x1, t[0]), turned(x2, t[1]), b) })
		if err == nil && !sameShape(v.Shape(), want) {
			err = refuse(ShapeComputed, shapeText(v.Shape()), shapeText(want))
		}
		if err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		out = append(out, Reading{Name: "transposed", Args: []string{sides(t)}, Out: []Values{v}})
	}
	if len(out) == 0 {
		panic(first)
	}
	return out
}

func sides(t [2]bool) string {
	switch t {
	case [2]bool{true, false}:
		return "x1"
	case [2]bool{false, true}:
		return "x2"
	case [2]bool{true, true}:
		return "x1, x2"
	}
	return "-"
}

// chain applies the further parts of a fused kernel to the result of the first.
func (c *Call) chain(names []string, v Values, extra []*operand, read *operand) Values {
	p := precisionFor(c.outType())
	for _, name := range names {
		part, _ := fusedPart(name)
		if !part.keeps && !isExact(v) && !p.integer {
			v = &rounded{v, p}
		}
		in := []Values{v}
		for range part.operands - 1 {
			switch {
			case read != nil:
				r := stridedRead(read, v.Shape())
				in, read = append(in, r), nil
			default:
				in, extra = append(in, extra[0]), extra[1:]
			}
		}
		v = part.build(c, in)
	}
	if read != nil {
		panic(refuse(InputCount, len(extra)+1, len(extra)))
	}
	return v
}

// stridedRead takes every s-th element of x on each axis, s = in/out.
func stridedRead(x *operand, want []int64) Values {
	if len(x.shape) != len(want) {
		panic(refuse(ShapesDiffer, shapeText(x.shape, want)))
	}
	steps := make([]int64, len(want))
	for i, d := range x.shape {
		if want[i] < 1 || d < want[i] {
			panic(refuse(ShapesDiffer, shapeText(x.shape, want)))
		}
		steps[i] = (d + want[i] - 1) / want[i]
		if (want[i]-1)*steps[i] >= d {
			panic(refuse(ShapesDiffer, shapeText(x.shape, want)))
		}
	}
	return cut(x, make([]int64, len(want)), want, steps)
}
