package oracle

import (
	"fmt"
	"strconv"
	"strings"

	"precision/compare/pattern"
)

// mostAttribute is how many elements tell which value an attribute has.
const mostAttribute = 4096

// otherwise are readings of the recorded inputs that leave the graph: another value of an attribute, operands in each
// other's place, sums without their last terms. They are tried for an output that is wrong and whose kind of wrong
// // is not known by its numbers alone.
func (c *checker) otherwise(v Values, k *pattern.Case) []alternative {
	out := append(shortened(v), c.exchanged()...)
	w := &following{checker: c, call: c.call}
	var y []float64
	n := len(k.Want)
	for i := range min(n, mostAttribute) {
		p := i * n / min(n, mostAttribute)
		at := int64(p)
		if k.At != nil {
			at = k.At[p]
		}
		w.idx, w.was, y = append(w.idx, at), append(w.was, k.Got[p]), append(y, k.Want[p])
	}
	left := apartOf(y, w.was)
	if left.sum == 0 {
		return out
	}
	a, ok := w.attribute(left)
	if !ok {
		return out
	}
	call := *c.call
	call.trial = a.trial
	readings, err := call.readings()
	if err != nil {
		return out
	}
	kind := pattern.WrongAttribute
	if strings.Contains(a.key, "eps") {
		kind = pattern.WrongEpsilon
	}
	for _, r := range readings {
		if v := r.out(c.index); v != nil && sameCount(v.Shape(), c.rec.shape) {
			out = append(out, alternative{kind, pattern.Attribute{Name: a.key, Value: a.value, Graph: attributeText(a.graph)}, v})
		}
	}
	return out
}

// exchanged are the readings with two inputs in each other's place: the first two, or of a choice the two to choose
// from, which is its condition inverted.
func (c *checker) exchanged() (out []alternative) {
	i, k := 0, 1
	choice := strings.HasPrefix(c.call.Type, "Select") || c.call.Type == "Where"
	if choice {
		i, k = 1, 2
	}
	if k >= len(c.call.slots) || c.call.slots[i] == nil || c.call.slots[k] == nil || c.call.build != nil {
		return nil
	}
	call := *c.call
	call.slots = append([]*operand{}, c.call.slots...)
	call.slots[i], call.slots[k] = call.slots[k], call.slots[i]
	readings, err := call.readings()
	if err != nil {
		return nil
	}
	for _, r := range readings {
		if v := r.out(c.index); v != nil && sameCount(v.Shape(), c.rec.shape) {
			kind, args := pattern.SwappedOperands, any(nil)
			if choice {
				kind, args = pattern.InvertedMask, pattern.Masked{Choice: true}
			}
			out = append(out, alternative{kind, args, v})
		}
	}
	return out
}

// shortened are the sums of products that end early: without their last term, or their last blocks of 16, as a tile of K
// that is left out makes them.
func shortened(v Values) (out []alternative) {
	var terms int64
	rewritten(v, func(v Values) Values {
		switch v := v.(type) {
		case *conv:
			if v.held && v.groups == 1 {
				terms = v.cg
			}
		case *matmul:
			if v.held {
				terms = v.k
			}
		}
		return nil
	})
	tried := map[int64]bool{0: true}
	for _, left := range []int64{terms - 1, (terms - 1) / 16 * 16, (terms-1)/16*16 - 16, (terms - 1) / 32 * 32, (terms - 1) / 64 * 64, (terms - 1) / 128 * 128} {
		if left < 0 || tried[left] {
			continue
		}
		tried[left] = true
		if w := rewritten(v, func(v Values) Values { return endsAt(v, left) }); w != nil {
			out = append(out, alternative{pattern.MissingTerms, pattern.Terms{Taken: left, Of: terms}, w})
		}
	}
	return out
}

// endsAt is a sum of products over the first channels or rows only; nil for others.
func endsAt(v Values, left int64) Values {
	switch v := v.(type) {
	case *conv:
		if v.held && v.groups == 1 {
			w := *v
			w.w32 = append([]float32{}, v.w32...)
			for o := range v.o {
				clear(w.w32[(o*v.cg+left)*v.places : (o+1)*v.cg*v.places])
			}
			w.at, w.wideAt = [2]int64{-1, -1}, [2]int64{-1, -1}
			w.cols, w.scratch, w.cw, w.ca, w.ww, w.wa = nil, nil, nil, nil, nil, nil
			return &w
		}
	case *matmul:
		if v.held {
			w := *v
			w.b32 = append([]float32{}, v.b32...)
			for from := int64(0); from+v.k*v.n <= int64(len(w.b32)); from += v.k * v.n {
				clear(w.b32[from+left*v.n : from+v.k*v.n])
			}
			w.bw, w.ba = nil, nil
			return &w
		}
	}
	return nil
}

// attributeText is a value of the graph as people write it. Graphs hold fractions as float32.
func attributeText(v any) string {
	if x, ok := v.(float64); ok {
		return strconv.FormatFloat(x, 'g', -1, 32)
	}
	return fmt.Sprint(v)
}
