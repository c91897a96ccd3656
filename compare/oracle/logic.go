package oracle

import (
	"math"
	"strings"

	"precision/dump/dtype"
)

// Comparisons, logic and choices: bit-exact. A number beside a tensor may have been
// rounded to the tensor's type before it was compared; where that matters either
// answer is right.

// logicForms: results are 0 or 1, or one of the operands, and exact. The truth of a float is
// whether it is not 0, NaN included.
func logicForms() {
	// Of integers in int64; beyond 2⁵³, which float64 does not hold, and beyond the type nothing is
	// said, as devices wrap or stop.
	bits := func(name string, f func(a, b int64) int64) {
		define(name, function{local: true, forward: formulaFor(func(k *invocation) Values {
			x := k.compared("input", "other")
			z := k.compared("other", "input")
			refuseIf(!discrete(k.outType()) || k.outType().Bits() == 64 && k.outType() != dtype.Int64, BadType, "output 0", k.outType().String())
			lo, hi := integerRange(k.outType())
			return elementsOf(func(x, _ [][]float64, y, b []float64) {
				for i := range y {
					p, q := x[0][i], x[1][i]
					y[i] = float64(f(int64(p), int64(q)))
					if b != nil { // numbers that float64 or the type does not hold are anything
						if b[i] = 0; max(abs(p), abs(q), abs(y[i])) >= 1<<53 || y[i] < lo || y[i] > hi {
							b[i] = math.Inf(1)
						}
					}
				}
			}, nil, true, []Values{x, z})
		})})
	}
	bits("bitwise_and", func(a, b int64) int64 { return a & b })
	bits("bitwise_or", func(a, b int64) int64 { return a | b })
	bits("bitwise_xor", func(a, b int64) int64 { return a ^ b })
	// Shifts by 64 and more are undefined in C, and 0 here; what grows beyond the type is left open
	// above.
	bits("bitwise_left_shift", func(a, b int64) int64 {
		if a == 0 || b < 0 || b > 63 {
			return 0
		}
		return int64(min(max(math.Ldexp(float64(a), int(b)), -1<<62), 1<<62))
	})
	bits("bitwise_right_shift", func(a, b int64) int64 { return a >> min(uint64(b), 63) })
	divisor := func(a, b int64) int64 {
		for b != 0 {
			a, b = b, a%b
		}
		return max(a, -a)
	}
	// Euclid's, without a sign; gcd(0, 0) is 0.
	bits("gcd", divisor)
	bits("lcm", func(a, b int64) int64 {
		y := math.Abs(float64(a/max(divisor(a, b), 1)) * float64(b))
		return int64(min(y, 1<<62))
	})
	// The neighbour of x towards z in the type of the result: half a step is added, and more until
	// it rounds to another number.
	define("nextafter", function{local: true, forward: formulaFor(func(k *invocation) Values {
		x, z := k.pair("input", "other")
		p := precisionFor(k.outType())
		return elementsOf(exactly(func(v []float64) float64 {
			switch x, z := v[0], v[1]; {
			case math.IsNaN(x):
				return x
			case x == z:
				return z
			case math.IsNaN(z) || math.IsInf(p.limit, 1):
				return math.Nextafter(x, z)
			case math.IsInf(x, 0):
				return math.Copysign(p.max, x)
			default: // half a step is a tie at most, which may stay
				half := math.Copysign(max(abs(x)*p.v/2, p.t), z-x)
				for p.Round(x+half) == x {
					half *= 2
				}
				return p.Round(x + half)
			}
		}), nil, true, []Values{x, z})
	})})
	// torch._foreach_add and its kin: one call for all tensors of an optimizer's list.
	define("foreach", function{forward: forEach})
	// −x − 1 of integers in two's complement, and not of truths.
	define("bitwise_not", function{local: true, forward: formulaFor(func(k *invocation) Values {
		x := k.tensor("input")
		if x.typ == dtype.Bool {
			return elementsOf(exactly(func(x []float64) float64 { return toNumber(x[0] == 0) }), nil, true, []Values{x})
		}
		refuseIf(!discrete(x.typ) || x.typ != dtype.Int8 && x.typ != dtype.Int16 && x.typ != dtype.Int32 && x.typ != dtype.Int64, BadType, x.name, x.typ.String())
		return elementsOf(exactly(func(x []float64) float64 { return -x[0] - 1 }), nil, true, []Values{x})
	})})

	// torch.where(condition) alone is nonzero, as a tuple.
	define("where", function{local: true, forward: func(k *invocation) []Reading {
		if !k.has("input") && !k.has("other") {
			x := k.tensor("condition")
			return k.places(x, true)
		}
		return outputs(k.choice("condition", "input", "other"))
	}, backward: masked("condition", "input", "other"), nodes: [][]string{{"input", "other"}}})
	// Tensor.masked_fill(mask, value): of integers the value is cut as a cast does.
	define("masked_fill", function{local: true, forward: formulaFor(func(k *invocation) Values {
		return k.whole(k.choice("mask", "value", "input"))
	}), backward: masked("mask", "value", "input")})
	register(single(buildSelect), "choose")
}

// whole is what a type of whole numbers or truths holds of numbers.
func (k *invocation) whole(v Values) Values {
	if discrete(k.outType()) {
		return castTo(k.Call, v)
	}
	return v
}

// compared is an operand of a comparison; a number may be rounded to the type of the tensor that it
// is compared with. The bound is the distance of the number to its rounded self, so that a
// comparison within it may go either way.
func (k *invocation) compared(name, with string) Values {
	a := k.args[name]
	refuseIf(a.none(), NoInput, name)
	if a.tensor() {
		o := k.tensor(name)
		other := k.args[with]
		if other.tensor() && other.op != nil && other.op.typ != o.typ && !discrete(o.typ) && !discrete(other.op.typ) {
			return nearly(o, precisionFor(other.op.numeric()))
		}
		return o
	}
	x, ok := a.number()
	refuseIf(!ok, BadArgument, name, a.text(), "a number or a tensor")
	if other := k.args[with]; other.tensor() && other.op != nil && !discrete(other.op.typ) {
		p := precisionFor(other.op.numeric())
		if b := abs(p.Round(x) - x); b > 0 {
			return &dense{y: []float64{x}, b: []float64{b}}
		}
	}
	return scalar(x)
}

// nearly is a tensor that may have been rounded to a type.
// Numbers that would overflow the type are left as they are.
func nearly(v Values, p precisionOf) Values {
	if p.integer {
		return v
	}
	w := newPointwise(func(x, e [][]float64, y, b []float64) {
		copy(y, x[0])
		for i, v := range y[:len(b)] {
			if b[i] = e[0][i] + abs(p.Round(v)-v); math.IsNaN(b[i]) || math.IsInf(b[i], 0) {
				b[i] = e[0][i]
			}
		}
	}, v)
	return w
}

// choice: condition ? a : b.
func (k *invocation) choice(condition, first, second string) Values {
	c := k.tensor(condition)
	x := k.value(first)
	z := k.value(second)
	return chosen(c, x, z)
}

// chosen is x where c is not 0, else z.
// The bound is that of the side that was chosen; nothing of the other goes in, not even NaN.
func chosen(c, x, z Values) Values {
	return elementsOf(func(x, e [][]float64, y, b []float64) {
		for i := range y {
			from := 2
			if x[0][i] != 0 {
				from = 1
			}
			y[i] = x[from][i]
			if b != nil {
				b[i] = e[from][i]
			}
		}
	}, nil, true, []Values{c, x, z})
}

// masked are the gradients of a choice. Each side gets the gradient where it was chosen and 0
// elsewhere, summed over the axes that were repeated.
func masked(condition, first, second string) func(k *invocation, g []Values) gradients {
	return func(k *invocation, g []Values) gradients {
		side := func(name string, when bool) func() Values {
			return func() Values {
				c := k.tensor(condition)
				d := gradient(g, 0)
				v := elementsOf(exactly(func(x []float64) float64 {
					if (x[0] != 0) == when {
						return x[1]
					}
					return 0
				}), nil, true, []Values{c, d})
				return k.reducedTo(v, name)
			}
		}
		return gradients{first: side(first, true), second: side(second, false)}
	}
}

// Comparisons, logic and selection: bit-exact. Prototypes:
// elewise_calculation_ops.h, selection_ops.h.

// buildSelect: y = condition ? x1 : x2, broadcast; a condition with one axis may
// choose along the first axis.
func buildSelect(c *Call) Values {
	in := c.all()
	refuseIf(len(in) != 3, InputCount, len(in), 3)
	if s, x := in[0].Shape(), in[1].Shape(); c.Type == "Select" && len(s) == 1 && len(x) > 1 && s[0] == x[0] {
		shape := ones(len(x))
		shape[0] = s[0]
		in[0] = reshape(in[0], shape)
	}
	return chosen(in[0], in[1], in[2])
}

// forEach is a function of each tensor of a list: _foreach_add is add. Arguments that are lists go
// along. An argument that is no list serves all tensors.
func forEach(k *invocation) []Reading {
	_, name, _ := strings.Cut(k.name, "foreach_")
	f := functions()[name]
	list := k.tensors("input")
	refuseIf(f == nil || len(list) != len(k.outs), ShapesDiffer, len(list), len(k.outs))
	var r Reading
	for i := range list {
		call, one := *k.Call, *k
		call.outs = k.outs[i : i+1]
		one.Call, one.name, one.params, one.args = &call, name, f.params, map[string]*argument{}
		for key, a := range k.args {
			if a != nil && a.list != nil {
				refuseIf(len(a.list) != len(list), ShapesDiffer, len(list), len(a.list))
				a = a.list[i]
			}
			one.args[key] = a
		}
		r.Out = append(r.Out, f.forward(&one)[0].Out[0])
	}
	return []Reading{r}
}
