package pattern

import "math"

// InvertedMask is a mask taken the other way round: what was to be kept is masked, what was to be masked is
// kept.
const InvertedMask Kind = "inverted-mask"

// Masked belongs to InvertedMask.
type Masked struct {
	Fill float64 `json:"fill"` // what masked elements hold, or, where Added, what is added to them
	// Added: the mask was added, as to the scores of an attention.
	Added bool    `json:"added,omitempty"`
	Share float64 `json:"share"` // of the elements that are expected to be masked
	// Choice: of two operands the other one was taken everywhere; Fill and Share are void.
	Choice bool `json:"choice,omitempty"`
}

// inverted looks for one number that stands exactly where it is not expected; or one that is added exactly
// where it is not. On both sides at least a twentieth of the elements must be masked, and no more than
// one in a hundred may break the rule: two halves of a tensor that are complements of each other are no accident.
func inverted(l *look) []Finding {
	fill, ok := l.masking()
	if !ok {
		return invertedSum(l)
	}
	var n, expected, recorded, broken int64
	for _, p := range l.pick {
		w, g := l.Want[p], l.got[p]
		n++
		a, b := w == fill, g == fill
		if a {
			expected++
		}
		if b {
			recorded++
		}
		if a == b {
			broken++
		}
	}
	if n < 64 || 20*expected < n || 20*recorded < n || 100*broken > n {
		return invertedSum(l)
	}
	return []Finding{{Kind: InvertedMask, Args: Masked{Fill: fill, Share: float64(expected) / float64(n)}, Explained: 1 - float64(broken)/float64(n), Left: 1, Elements: l.affected()}}
}

// masking is the number that a twentieth of the expected elements hold, and as many of the recorded; 0 before others.
func (l *look) masking() (float64, bool) {
	want, got := map[float64]int{}, map[float64]int{}
	every := max(1, len(l.pick)/1024)
	n := 0
	for i := 0; i < len(l.pick); i += every {
		p := l.pick[i]
		want[l.Want[p]]++
		got[l.got[p]]++
		n++
	}
	best, most := 0.0, 0
	for v, c := range want {
		c = min(c, got[v])
		if 20*c >= n && (v == 0 || best != 0 || most == 0) && (c > most || v == 0 || c == most && v < best) {
			best, most = v, c
		}
	}
	return best, most > 0
}

// invertedSum looks for a number, larger than all the others, that is missing where it is expected and stands where
// it is not: every error is that number, of one sign or the other.
func invertedSum(l *look) []Finding {
	var sizes []float64
	every := max(1, len(l.pick)/1024)
	for i := 0; i < len(l.pick); i += every {
		if e, ok := l.error(l.pick[i]); ok {
			sizes = append(sizes, math.Abs(e))
		}
	}
	if len(sizes) < 64 {
		return nil
	}
	c := quantile(sizes, 0.5)
	var plus, minus int64
	masked := 0.0 // what stands where it is masked, in units of the number
	for p, e := range l.errors(l.pick) {
		if math.Abs(math.Abs(e)-c) <= c/8 {
			if e > 0 {
				plus++
				masked += l.Want[p] / c
			} else {
				minus++
				masked += l.got[p] / c
			}
		}
	}
	n := int64(len(l.pick))
	if !(c > 0) || c-c != 0 || 20*plus < n || 20*minus < n {
		return nil
	}
	// Where the error is positive a negative number was expected, of about its size.
	if math.Abs(masked/float64(plus+minus)+1) > 0.25 {
		return nil
	}
	f := l.judge(func(p int) float64 {
		if l.Want[p] < -c/2 {
			return l.Want[p] + c
		}
		return l.Want[p] - c
	})
	return l.told(f.holds(0.98, 1, 1), InvertedMask, Masked{Fill: -c, Added: true, Share: float64(plus) / float64(n)}, f)
}
