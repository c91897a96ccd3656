package pattern

import (
	"math"
)

// mapping says that numbers stand in the wrong places: the recorded element i should
// be where from(i) is expected, and the expected element j was recorded at to(j). Both are
// flat indices; a negative one is a place that has no counterpart.
type mapping struct {
	from, to func(i int64) int64
}

// trial is the number of elements beyond on which mappings are tried before one is judged.
const trial = 256

// trials picks the elements on which mappings are tried: elements with an error, from
// all parts of the tensor.
func (l *look) trials() []int {
	if l.stage == nil {
		l.stage = []int{}
		var wrong []int
		for p, e := range l.errors(l.pick) {
			if e != 0 && (l.dense || math.Abs(e) > l.allowed(p)) {
				wrong = append(wrong, p)
			}
		}
		for i := range min(trial, len(wrong)) {
			l.stage = append(l.stage, wrong[i*len(wrong)/min(trial, len(wrong))])
		}
	}
	return l.stage
}

// residual is the error of place p under the mapping; ok is false when one of the
// numbers is not known or has no counterpart.
func (l *look) residual(m mapping, p int) (r float64, ok bool) {
	if l.At == nil {
		i := m.from(int64(p))
		if i < 0 || i >= l.total {
			return l.got[p], true // padding: zero is expected
		}
		r = l.got[p] - l.Want[i]
		return r, r-r == 0
	}
	if l.full == nil {
		return 0, false
	}
	i := m.to(l.At[p])
	if i < 0 || i >= l.total {
		return 0, false
	}
	r = l.full[i] - l.Want[p]
	return r, r-r == 0
}

// promise is the share of the elements of the rehearsal whose error a mapping halves; 0 where
// that is less than two thirds. It gives up early.
func (l *look) promise(m mapping) float64 {
	tried, improved := 0, 0
	stage := l.trials()
	for i := range stage {
		p := stage[i*167%len(stage)] // any order that is not the tensor's
		e, _ := l.error(p)
		r, ok := l.residual(m, p)
		if !ok {
			continue
		}
		tried++
		if math.Abs(r) <= math.Abs(e)/2 {
			improved++
		}
		if tried == 24 && improved < 16 {
			return 0
		}
	}
	if tried < 16 || 3*improved < 2*tried {
		return 0
	}
	return float64(improved) / float64(tried)
}

// judgeMapping measures a mapping on the elements picked: all of them, or only those beyond.
func (l *look) judgeMapping(m mapping, dense bool) fit {
	var f fitter
	for p, e := range l.errors(l.pick) {
		if r, ok := l.residual(m, p); ok {
			f.add(e, r, l.allowed(p), l.rounding(p), dense)
		} else if l.At == nil {
			f.add(e, e, l.allowed(p), l.rounding(p), dense)
		}
	}
	return f.done()
}

// mapped tries a mapping: rehearsal, then judgement.
func (l *look) mapped(kind Kind, args any, m mapping, candidates int64) []Finding {
	if l.promise(m) == 0 {
		return nil
	}
	f := l.judgeMapping(m, l.dense)
	return l.told(f.holds(0.7, 0, candidates), kind, args, f)
}
