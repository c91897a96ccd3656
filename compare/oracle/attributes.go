package oracle

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"precision/compare/result"
)

// mostTrials bounds the multiplications of one trial of an attribute.
const mostTrials = 5e6

// attributes looks for the value of an attribute under which golden follows.
func (w *following) attributes(f *Finding, left apart) bool {
	a, ok := w.attribute(left)
	if !ok {
		return false
	}
	f.Why = append(f.Why, because(result.GoldenAttribute, a.key, a.graph, a.value))
	return true
}

// otherAttribute is an attribute with another value than the graph's.
type otherAttribute struct {
	key   string
	graph any    // its value in the graph
	value string // the other one, as people write it
	trial *attribute
}

// attribute looks for the value of an attribute under which what is there follows from the inputs of the call.
func (w *following) attribute(left apart) (none otherAttribute, ok bool) {
	var asked []attribute
	call := *w.call
	call.asked = &asked
	if _, err := call.readings(); err != nil {
		return none, false
	}
	few := *w
	if most := int(max(mostTrials/w.costOf(), 64)); len(w.idx) > min(most, 2*mostTried) {
		few.idx, few.was = nil, nil
		for i := range min(most, 2*mostTried) {
			k := i * len(w.idx) / min(most, 2*mostTried)
			few.idx, few.was = append(few.idx, w.idx[k]), append(few.was, w.was[k])
		}
		few.found = nil
	}
	tried := map[string]bool{}
	for _, a := range asked {
		if tried[a.key] {
			continue
		}
		tried[a.key] = true
		if x, ok := a.value.(float64); ok {
			if value, is := few.solve(w, a.key, x, left); is {
				other, _ := strconv.ParseFloat(value, 64)
				return otherAttribute{a.key, x, value, &attribute{a.key, other}}, true
			}
			continue
		}
		for _, value := range w.otherValues(a) {
			t := &attribute{a.key, value}
			if off, ok := few.off(t); ok && off.within(2*explainedShare, left.of(len(few.idx), len(w.idx))) {
				if off, ok = w.off(t); ok && off.within(explainedShare, left) {
					return otherAttribute{a.key, valueText(a.value), valueText(value), t}, true
				}
			}
		}
	}
	return none, false
}

// of is how much of a difference falls on some of its places.
func (a apart) of(part, whole int) apart {
	share := float64(part) / float64(max(whole, 1))
	a.sum *= share
	a.odd = int(math.Ceil(float64(a.odd) * share))
	return a
}

func (w *following) costOf() float64 {
	readings, err := w.call.readings()
	if err != nil || readings[0].out(w.index) == nil {
		return 1
	}
	return alone(readings[0].out(w.index))
}

// off is how far golden is from what follows with another attribute, by the reading that
// comes closest.
func (w *following) off(t *attribute) (best apart, ok bool) {
	call := *w.call
	call.trial = t
	readings, err := call.readings()
	if err != nil {
		return best, false
	}
	for _, r := range readings {
		v := r.out(w.index)
		if v == nil || !sameCount(v.Shape(), w.rec.shape) {
			continue
		}
		y, _, err := w.values(v)
		if err != nil {
			continue
		}
		if a := apartOf(y, w.was); !ok || a.odd < best.odd || a.odd == best.odd && a.sum < best.sum {
			best, ok = a, true
		}
	}
	return best, ok
}

// otherValues are what an attribute that is no fraction may be instead.
func (w *following) otherValues(a attribute) (list []any) {
	rank := 0
	for _, o := range w.call.operands() {
		rank = max(rank, len(o.shape))
	}
	axis := strings.Contains(a.key, "axis") || strings.Contains(a.key, "axes") || strings.Contains(a.key, "dim")
	switch was := a.value.(type) {
	case bool:
		list = append(list, !was)
	case int64:
		values := []int64{0, 1, 2}
		if axis {
			values = nil
			for k := range rank {
				values = append(values, int64(k))
			}
		} else if was < 0 || was > 2 {
			return nil
		}
		for _, n := range values {
			if n != was && n != was+int64(rank) {
				list = append(list, n)
			}
		}
	case []int64:
		switch {
		case a.key == "perm":
			for _, p := range orders(len(was)) {
				if !slices.Equal(p, was) {
					list = append(list, p)
				}
			}
		case strings.Contains(a.key, "pad") && len(was) == 4:
			for top := range was[0] + was[1] + 1 {
				for side := range was[2] + was[3] + 1 {
					if p := []int64{top, was[0] + was[1] - top, side, was[2] + was[3] - side}; !slices.Equal(p, was) {
						list = append(list, p)
					}
				}
			}
		case axis && len(was) <= 1:
			for k := range int64(rank) {
				list = append(list, []int64{k})
			}
		case axis && len(was) == 2:
			for i := range int64(rank) {
				for k := i + 1; k < int64(rank); k++ {
					list = append(list, []int64{i, k})
				}
			}
		}
	}
	return list
}

// orders are all orders of up to five axes.
func orders(n int) (list [][]int64) {
	if n > 5 {
		return nil
	}
	if n == 0 {
		return [][]int64{{}}
	}
	for _, p := range orders(n - 1) {
		for at := range n {
			list = append(list, slices.Insert(slices.Clone(p), at, int64(n-1)))
		}
	}
	return list
}

// solve looks for the fraction under which golden follows: an epsilon by its size, others as
// what the output depends on linearly, which a slope, a factor and a shift are, and others
// nearly so after a few steps.
func (few *following) solve(w *following, key string, was float64, left apart) (string, bool) {
	limit := left.of(len(few.idx), len(w.idx))
	at := func(x float64) (apart, bool) { return few.off(&attribute{key, x}) }
	found, ok := was, false
	if strings.Contains(key, "eps") {
		if off, ok := at(0); ok && was != 0 && off.within(2*explainedShare, limit) { // it was left out
			if off, ok = w.off(&attribute{key, 0.0}); ok && off.within(explainedShare, left) {
				return "0", true
			}
		}
		found, ok = few.bySize(at)
	} else {
		found, ok = few.bySlope(key, was)
	}
	if !ok {
		return "", false
	}
	if off, ok := at(found); !ok || !off.within(2*explainedShare, limit) {
		return "", false
	}
	for digits := 1; digits <= 7; digits++ { // as people write it
		text := strconv.FormatFloat(found, 'g', digits, 64)
		x, _ := strconv.ParseFloat(text, 64)
		if off, ok := w.off(&attribute{key, x}); ok && off.within(explainedShare, left) && x != was {
			return text, true
		}
	}
	return "", false
}

// bySize looks for a small positive number: by powers of ten, then between them.
func (few *following) bySize(at func(x float64) (apart, bool)) (float64, bool) {
	best, least := 0.0, math.Inf(1)
	try := func(log float64) float64 {
		a, ok := at(math.Pow(10, log))
		if !ok || a.odd > 0 {
			return math.Inf(1)
		}
		if a.sum < least {
			best, least = log, a.sum
		}
		return a.sum
	}
	for log := -14.0; log <= 1; log++ {
		try(log)
	}
	if math.IsInf(least, 1) {
		return 0, false
	}
	lo, hi := best-1, best+1
	const golden = 0.6180339887498949
	a, b := hi-golden*(hi-lo), lo+golden*(hi-lo)
	ya, yb := try(a), try(b)
	for range 24 {
		if ya < yb {
			hi, b, yb = b, a, ya
			a = hi - golden*(hi-lo)
			ya = try(a)
		} else {
			lo, a, ya = a, b, yb
			b = lo + golden*(hi-lo)
			yb = try(b)
		}
	}
	return math.Pow(10, best), true
}

// bySlope goes from the value of the graph along the slope that the output has there.
func (few *following) bySlope(key string, was float64) (float64, bool) {
	outputs := func(x float64) []float64 {
		call := *few.call
		call.trial = &attribute{key, x}
		readings, err := call.readings()
		if err != nil || readings[0].out(few.index) == nil || !sameCount(readings[0].out(few.index).Shape(), few.rec.shape) {
			return nil
		}
		y, _, err := few.values(readings[0].out(few.index))
		if err != nil {
			return nil
		}
		return y
	}
	x := was
	for range 4 {
		step := max(abs(x)/8, 1.0/64)
		y, z := outputs(x), outputs(x+step)
		if y == nil || z == nil {
			return 0, false
		}
		cross, size := 0.0, 0.0
		for i := range y {
			slope := (z[i] - y[i]) / step
			if p := slope * (few.was[i] - y[i]); !math.IsNaN(p) && !math.IsInf(p, 0) {
				cross, size = cross+p, size+slope*slope
			}
		}
		if size == 0 {
			return 0, false
		}
		x += cross / size
	}
	return x, x != was
}

// valueText is a value as people write it.
func valueText(v any) string {
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case []int64:
		return shapeText(v)
	}
	return ""
}
