package oracle

import "math"

// reduced looks for another result of a reduction.
func (s *suspect) reduced() (kind string, other int, err error) {
	x := s.list[0]
	rows, err := s.inputs(x.inLo - x.outLo)
	if err != nil {
		return MetBeyond, -1, err
	}
	if equal(rows[s.k], s.found) {
		return MetOwnInput, -1, nil
	}
	all := s.fold(rows)
	scale, count := 1.0, float64(len(s.group))
	switch s.Reduction {
	case "sum":
		if s.fits(all, rows, 1/count) {
			return MetMean, -1, nil
		}
	case "mean", "avg":
		if scale = 1 / count; s.fits(all, rows, 1) {
			return MetSum, -1, nil
		}
	}
	// What all before a rank and all behind it come to.
	before, behind := make([][]float64, len(rows)+1), make([][]float64, len(rows)+1)
	for r := range rows {
		before[r+1] = s.join(before[r], rows[r])
	}
	for r := len(rows) - 1; r >= 0; r-- {
		behind[r] = s.join(rows[r], behind[r+1])
	}
	hits := 0
	for r := range rows {
		k := ""
		without := s.join(before[r], behind[r+1])
		switch old, _ := s.elements(s.group[r], false, s.t, shifted(s.idx, x.inLo-x.outLo), true); {
		case s.fits(without, rows, scale), scale != 1 && s.fits(without, rows, 1/(count-1)):
			k = MetLeftOut
		case s.fits(s.join(all, rows[r]), rows, scale):
			k = MetTwice
		case old != nil && s.fits(s.join(without, old), rows, scale):
			k = MetStale
		default:
			continue
		}
		hits++
		kind, other = k, r
	}
	if hits == 0 && s.kind == "HcomReduceScatter" && len(s.group) <= mostPieces {
		return s.pieceOfOther(scale)
	}
	if hits == 1 {
		return kind, other, nil
	}
	return MetBeyond, -1, nil
}

// mostPieces is how many ranks a group may have for the pieces of all others to be tried: each
// takes a reading of all inputs.
const mostPieces = 64

// pieceOfOther looks for the rank whose piece of the result an output is.
func (s *suspect) pieceOfOther(scale float64) (kind string, other int, err error) {
	kind, other = MetBeyond, -1
	n := s.list[0].n
	for r := range s.group {
		if r == s.k {
			continue
		}
		rows, err := s.inputs(int64(r)*n - s.list[0].outLo)
		if err != nil {
			return MetBeyond, -1, err
		}
		if !s.fits(s.fold(rows), rows, scale) {
			continue
		}
		if other >= 0 {
			return MetBeyond, -1, nil
		}
		kind, other = MetSwapped, r
	}
	return kind, other, nil
}

// inputs are the elements of the inputs of all members that are by behind those of the output.
func (s *suspect) inputs(by int64) ([][]float64, error) {
	rows := make([][]float64, len(s.group))
	for r, place := range s.group {
		var err error
		if rows[r], err = s.elements(place, false, s.t, shifted(s.idx, by), false); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// shifted are places that are by behind others.
func shifted(idx []int64, by int64) []int64 {
	list := make([]int64, len(idx))
	for i := range idx {
		list[i] = idx[i] + by
	}
	return list
}

// fold is what rows come to, before a mean is divided.
func (s *suspect) fold(rows [][]float64) (y []float64) {
	for _, row := range rows {
		y = s.join(y, row)
	}
	return y
}

// join is what two results come to; nil is that of nothing.
func (s *suspect) join(a, b []float64) []float64 {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	y := make([]float64, len(a))
	for i := range y {
		y[i] = combine(s.Reduction, a[i], b[i])
	}
	return y
}

// combine is what a reduction makes of two numbers; a mean is divided later.
func combine(reduction string, a, b float64) float64 {
	switch reduction {
	case "max":
		return math.Max(a, b)
	case "min":
		return math.Min(a, b)
	case "prod":
		return a * b
	}
	return a + b
}

// fits tells whether all that was found is y times scale, y made of numbers such as those of
// rows: within a bound for any order, and to the bit where nothing is rounded.
func (s *suspect) fits(y []float64, rows [][]float64, scale float64) bool {
	count := float64(len(rows))
	unit := max(gamma(count+2, u32), s.p.v*(count+1)) + s.p.v
	for i, found := range s.found {
		v, b := y[i]*scale, 0.0
		switch s.Reduction {
		case "max", "min":
		case "prod":
			b = unit*abs(v) + s.p.t
		default:
			for _, row := range rows {
				b += abs(row[i])
			}
			b = unit*(b+abs(v)) + s.p.t
		}
		if !(abs(found-v) <= b) {
			return false
		}
	}
	return true
}
