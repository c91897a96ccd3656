package choice

import "slices"

// What depends on a choice that fell otherwise is followed element by element
// where an operator's type says which elements an element is made of, and taken
// for all of the output where they are mixed.

// local are operator types whose elements depend on those in the same place.
var local = map[string]bool{}

func init() {
	for _, t := range []string{
		"Add", "AddV2", "AddN", "Sub", "Mul", "Muls", "Adds", "RealDiv", "Div", "DivNoNan", "Maximum", "Minimum", "Pow", "Square", "Sqrt", "Rsqrt", "Reciprocal",
		"Exp", "Expm1", "Log", "Log1p", "Abs", "Neg", "Sign", "Sin", "Cos", "Tanh", "Sigmoid", "HardSigmoid", "HardSwish", "Swish", "Silu", "Gelu", "GeluV2", "FastGelu",
		"Erf", "Relu", "Relu6", "LeakyRelu", "Elu", "Softplus", "ClipByValue", "BiasAdd", "Cast", "Round", "Rint", "Floor", "Ceil", "Identity", "Eltwise", "Axpy",
		"ReluGrad", "Relu6Grad", "SigmoidGrad", "TanhGrad", "GeluGrad", "SwishGrad", "SqrtGrad", "RsqrtGrad", "Select", "SelectV2", "MaskedFill",
		"Greater", "GreaterEqual", "Less", "LessEqual", "Equal", "NotEqual", "LogicalAnd", "LogicalOr", "LogicalNot", "FloorMod", "FloorDiv",
		"AscendQuant", "AscendDequant", "AscendRequant", "Quantize", "Dequantize",
	} {
		local[t] = true
	}
}

// straight are operator types that keep all elements in their order.
var straight = map[string]bool{
	"Reshape": true, "Squeeze": true, "ExpandDims": true, "Unsqueeze": true, "Flatten": true, "FlattenV2": true, "TransData": true, "Cast": true, "Identity": true,
}

// rowwise are operator types that mix the elements of the last axis, or of the
// axes they reduce, and no others.
var rowwise = map[string]bool{
	"SoftmaxV2": true, "Softmax": true, "LogSoftmaxV2": true, "LayerNorm": true, "LayerNormV3": true, "LayerNormV4": true, "RmsNorm": true,
	"MatMul": true, "MatMulV2": true, "MatMulV3": true, "ReduceSum": true, "ReduceSumD": true, "ReduceMean": true, "ReduceMeanD": true, "ReduceMax": true, "ReduceMaxD": true,
	"ReduceMin": true, "ReduceMinD": true, "ReduceAll": true, "ReduceAny": true, "ArgMax": true, "ArgMaxD": true, "ArgMaxV2": true, "ArgMin": true, "ArgMinD": true,
	"TopK": true, "TopKD": true, "TopKV2": true, "Sort": true, "Slice": true, "SliceD": true, "StridedSlice": true, "StridedSliceD": true,
	"Split": true, "SplitD": true, "SplitV": true, "SplitVD": true, "Concat": true, "ConcatD": true, "ConcatV2": true, "ConcatV2D": true,
	"OneHot": true, "OneHotD": true, "Pack": true, "Tile": true, "TileD": true, "BroadcastTo": true,
}

// lookups are operator types that take rows of their first input by the indices of
// the second.
var lookups = map[string]bool{"Gather": true, "GatherV2": true, "GatherV2D": true, "EmbeddingLookup": true}

// Follow makes the mask of an output of a shape from those of the inputs, nil where
// nothing depends. shapes are those of the inputs.
func (c *Call) Follow(shapes [][]int64, masks []*Mask, out []int64) *Mask {
	var sum *Mask
	for k, m := range masks {
		if m == nil {
			continue
		}
		if m.Mixed {
			sum = Join(sum, &Mask{Mixed: true})
		}
		switch {
		case m.Count() == 0:
		case shapes[k] == nil || int64(len(m.Bits)) != product(shapes[k]):
			sum = Join(sum, &Mask{Mixed: true})
		default:
			sum = Join(sum, c.follow(k, shapes, m, out))
		}
	}
	return sum
}

// Join is the mask of what depends on either.
func Join(a, b *Mask) *Mask {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	sum := &Mask{Mixed: a.Mixed || b.Mixed, Bits: slices.Clone(a.Bits)}
	switch {
	case len(a.Bits) == 0:
		sum.Bits = b.Bits
	case len(b.Bits) == len(a.Bits):
		for i, set := range b.Bits {
			sum.Bits[i] = sum.Bits[i] || set
		}
	case len(b.Bits) > 0:
		return &Mask{Mixed: true}
	}
	return sum
}

func (c *Call) follow(k int, shapes [][]int64, m *Mask, out []int64) *Mask {
	in, all := shapes[k], &Mask{Mixed: true}
	made := &Mask{Bits: make([]bool, product(out))}
	switch typ := c.Type; {
	case straight[typ] && product(in) == product(out):
		copy(made.Bits, m.Bits)
	case local[typ]:
		place := spread(in, out)
		if place == nil {
			return all
		}
		for i := range made.Bits {
			made.Bits[i] = m.Bits[place(int64(i))]
		}
	case typ == "Transpose" || typ == "TransposeD":
		perm := c.attributes("perm")
		if len(perm) != len(in) || len(out) != len(in) {
			return all
		}
		steps := make([]int64, len(in))
		step := int64(1)
		for d := len(in) - 1; d >= 0; d-- {
			for i, p := range perm {
				if p == int64(d) {
					steps[i] = step
				}
			}
			step *= in[d]
		}
		for i := range made.Bits {
			at, rest := int64(0), int64(i)
			for d := len(out) - 1; d >= 0; d-- {
				at += rest % out[d] * steps[d]
				rest /= out[d]
			}
			if at >= int64(len(m.Bits)) {
				return all
			}
			made.Bits[i] = m.Bits[at]
		}
	case lookups[typ] && k == 1 && len(in) <= len(out) && slices.Equal(in, out[:len(in)]) && c.attribute(0, "axis") == 0 && c.attribute(0, "batch_dims") == 0:
		row := product(out[len(in):])
		for i := range made.Bits {
			made.Bits[i] = m.Bits[int64(i)/row]
		}
	case rowwise[typ] && (k == 0 || len(typ) < 6 || typ[:6] != "MatMul"):
		depth := c.kept(in, out)
		if depth == 0 {
			return all
		}
		inner, outer := product(in[depth:]), product(out[depth:])
		for i, b := range m.Bits {
			if b {
				row := int64(i) / inner
				for j := row * outer; j < (row+1)*outer; j++ {
					made.Bits[j] = true
				}
			}
		}
	default:
		return all
	}
	return made
}

// kept is how many leading axes an operator keeps apart: those before the first
// that it works along, or whose size changes.
func (c *Call) kept(in, out []int64) int {
	depth := 0
	for depth < min(len(in), len(out)) && in[depth] == out[depth] {
		depth++
	}
	last := len(in) - 1
	axes := c.attributes("axes")
	if len(axes) == 0 {
		for _, key := range []string{"begin_norm_axis", "dimension", "axis", "dim", "concat_dim", "split_dim"} {
			if a := c.attribute(1<<40, key); a != 1<<40 {
				axes = append(axes, a)
			}
		}
	}
	for _, a := range axes {
		if d, ok := axisOf(a, len(in)); ok {
			last = min(last, d)
		}
	}
	if c.Type != "" && (c.Type[0] == 'S' && (len(c.Type) > 4 && (c.Type[:5] == "Slice" || c.Type[:5] == "Strid"))) {
		return depth
	}
	return min(depth, max(last, 0))
}

func (c *Call) attributes(key string) []int64 {
	if c.Op == nil {
		return nil
	}
	return c.Op.Attr(key).Ints()
}
