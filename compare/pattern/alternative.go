package pattern

import "math"

// alternatives judges the expectations that the caller brings: all elements beyond must come
// nearer, whatever their number; on tensors of few elements the bound has to be met.
func alternatives(l *look) (found []Finding) {
	for _, a := range l.Alternatives {
		f := l.judge(func(p int) float64 { return a.Want[p] })
		if a.Bound != nil {
			f.left = l.leftOver(a)
		}
		ok := f.holds(0.5, 0, int64(len(l.Alternatives))) || f.tried > 0 && l.Bound != nil && f.left <= 1 && f.explained >= 0.5
		found = append(found, l.told(ok, a.Kind, a.Args, f)...)
	}
	return found
}

// leftOver is the worst error of the elements picked over the alternative's own bound.
func (l *look) leftOver(a Alternative) (left float64) {
	for p := range l.errors(l.pick) {
		if a.Bound[p] >= 0 {
			left = max(left, math.Abs(l.got[p]-a.Want[p])/max(a.Bound[p], math.SmallestNonzeroFloat64))
		}
	}
	return left
}
