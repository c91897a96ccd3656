package oracle

import "math"

// contraction is a sum of products of any tensors, which may be computed ones with
// bounds of their own:
//
//	y[out] = factor · Σ over the summed labels of the product of the operands
//
// With |x|+e for an operand that is off by e, B = Σ(Π(|x|+e) - Π|x|) + g(K+r)·ΣΠ(|x|+e),
// K terms and r operands (Higham, 3.1).
type contraction struct {
	shape []int64
	sums  []int64 // sizes of the labels that are summed over
	in    []*dense
	out   [][]int64 // steps of each operand along the axes of the result
	along [][]int64 // and along the summed labels
	unit  float64
	exact bool
	k     int64
	at    []int64
}

// newContraction takes operands and the labels of their axes; a label with size 1 is
// repeated.
func (c *Call) newContraction(labels []string, result string, in ...Values) *contraction {
	size := map[rune]int64{}
	v := &contraction{unit: c.sumUnit(), k: 1, exact: true}
	for i, x := range in {
		s := x.Shape()
		if len(s) != len([]rune(labels[i])) {
			panic(refuse(ShapesDiffer, shapeText(s)))
		}
		for a, l := range []rune(labels[i]) {
			if have, ok := size[l]; !ok || have == 1 {
				size[l] = s[a]
			} else if s[a] != have && s[a] != 1 {
				panic(refuse(ShapesDiffer, shapeText(s)))
			}
		}
		d := must(held(x))
		o := leaf(x)
		v.exact = v.exact && o != nil && discrete(o.typ)
		v.in = append(v.in, d)
	}
	var summed []rune
	for _, l := range result {
		d, ok := size[l]
		if !ok {
			panic(refuse(Unsupported, "a result with the axis "+string(l)))
		}
		v.shape = append(v.shape, d)
	}
	inResult := func(l rune) bool {
		for _, r := range result {
			if r == l {
				return true
			}
		}
		return false
	}
	for _, list := range labels {
		for _, l := range list {
			if !inResult(l) && !containsRune(summed, l) {
				summed = append(summed, l)
				v.sums = append(v.sums, size[l])
				v.k *= size[l]
			}
		}
	}
	for i, x := range in {
		step := map[rune]int64{}
		for a, l := range []rune(labels[i]) {
			if x.Shape()[a] != 1 {
				step[l] += rowMajor(x.Shape())[a]
			}
		}
		var out, along []int64
		for _, l := range result {
			out = append(out, step[l])
		}
		for _, l := range summed {
			along = append(along, step[l])
		}
		v.out, v.along = append(v.out, out), append(v.along, along)
	}
	if v.shape == nil {
		v.shape = []int64{}
	}
	if math.IsInf(gamma(float64(v.k)+4, v.unit), 1) {
		panic(refuse(NoBound, v.k))
	}
	return v
}

func containsRune(list []rune, x rune) bool {
	for _, l := range list {
		if l == x {
			return true
		}
	}
	return false
}

func (v *contraction) Shape() []int64 { return v.shape }
func (v *contraction) Exact() bool    { return v.exact }
func (v *contraction) Cost() float64  { return 4 * float64(v.k) * float64(len(v.in)) }

func (v *contraction) one(i int64) (y, b float64) {
	v.at = grow(v.at, len(v.shape)+len(v.sums))
	p, s := v.at[:len(v.shape)], v.at[len(v.shape):]
	unravel(i, v.shape, p)
	var place [8]int64
	from := place[:len(v.in)]
	for o := range v.in {
		from[o] = 0
		for a, k := range p {
			from[o] += k * v.out[o][a]
		}
	}
	clear(s)
	size, off := 0.0, 0.0
	for range v.k {
		t, most, least := 1.0, 1.0, 1.0
		for o, d := range v.in {
			x := d.y[from[o]]
			t *= x
			least *= abs(x)
			if d.b != nil {
				most *= abs(x) + d.b[from[o]]
			} else {
				most *= abs(x)
			}
		}
		y += t
		size += most
		off += most - least
		for a := len(s) - 1; a >= 0; a-- {
			s[a]++
			for o := range from {
				from[o] += v.along[o][a]
			}
			if s[a] < v.sums[a] {
				break
			}
			for o := range from {
				from[o] -= v.along[o][a] * v.sums[a]
			}
			s[a] = 0
		}
	}
	if v.exact {
		return y, 0
	}
	return y, off + gamma(float64(v.k)+float64(len(v.in)), v.unit)*size
}

func (v *contraction) Range(lo int64, y, b []float64) error {
	for i := range y {
		value, bound := v.one(lo + int64(i))
		if y[i] = value; b != nil {
			b[i] = bound
		}
	}
	return nil
}

func (v *contraction) At(idx []int64, y, b []float64) error {
	for i, k := range idx {
		value, bound := v.one(k)
		if y[i] = value; b != nil {
			b[i] = bound
		}
	}
	return nil
}
