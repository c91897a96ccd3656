package pattern

import (
	"cmp"
	"math"
	"slices"
)

// Numbers that belong elsewhere.
const (
	PassedThrough Kind = "passed-through" // those of the operator's own input: it did nothing
	Stale         Kind = "stale"          // another tensor's numbers
	Repeated      Kind = "repeated"       // numbers from another place of the same tensor
)

// Copy belongs to Stale and Repeated.
type Copy struct {
	Name string `json:"name,omitempty"` // the other tensor
	Own  bool   `json:"own,omitempty"`  // it is an input of the operator itself, and Name its number
	// Earlier: it is this very tensor in an earlier recording.
	Earlier bool   `json:"earlier,omitempty"`
	By      int64  `json:"by"`     // element i holds element i+By of it, counted round its end
	Pieces  int    `json:"pieces"` // of how many such distances; By is that of most
	Equal   int64  `json:"equal"`  // elements beyond that are equal to it, bit for bit
	Region  Region `json:"region"` // of the elements beyond
	// Held is the share of all elements of Region that are equal to it; 0 where that was not counted.
	Held float64 `json:"held,omitempty"`
}

const (
	windowSize  = 8
	windowsMost = 12
	matchesMost = 64
	piecesMost  = 8
)

// window is a few recorded numbers in a row, to be found elsewhere.
type window struct {
	at     int64
	values []float64
}

// stale takes windows of recorded numbers from where the errors are, looks for them in the
// other tensors and in other places of this one, and holds every element beyond against what
// stands at the distances where they are found. A window has at least five different numbers, so that
// zeros and constants match nothing.
func stale(l *look) (found []Finding) {
	windows := l.windows()
	if len(windows) == 0 {
		return nil
	}
	try := func(kind Kind, t Tensor, skip int64) {
		by := displacements(windows, t.Values, skip)
		if len(by) == 0 {
			return
		}
		if f := l.copied(t, by); f.Explained >= 0.5 {
			if f.Kind = kind; t.Input && l.passedThrough(t.Values) {
				f.Kind = PassedThrough
			}
			found = append(found, f)
		}
	}
	seen := 0
	if l.Other != nil {
		for t := range l.Other {
			if seen += len(t.Values); seen > MaxOther {
				break
			}
			t.Values = l.narrow(t.Values)
			try(Stale, t, math.MinInt64)
			if len(found) > 0 && found[len(found)-1].nines() >= 12 {
				return found[len(found)-1:]
			}
		}
	}
	if len(found) == 0 {
		try(Repeated, Tensor{Values: l.full}, 0)
	}
	return found
}

// windows picks them at equal distances among the elements beyond.
func (l *look) windows() (out []window) {
	if l.full == nil || l.beyond < windowSize {
		return nil
	}
	every := max(1, l.beyond/(4*windowsMost))
	i := int64(0)
	l.eachBeyond(func(p int, _ float64, _ []int64) {
		i++
		if (i-1)%every != 0 || len(out) >= 4*windowsMost {
			return
		}
		at := l.flat(p)
		if at+windowSize > l.total || len(out) > 0 && at < out[len(out)-1].at+windowSize {
			return
		}
		if v := l.full[at : at+windowSize]; telling(v) {
			out = append(out, window{at, v})
		}
	})
	if len(out) > windowsMost {
		thin := make([]window, 0, windowsMost)
		for k := range windowsMost {
			thin = append(thin, out[k*len(out)/windowsMost])
		}
		out = thin
	}
	return out
}

// telling reports whether a window has enough different numbers to be recognised.
func telling(v []float64) bool {
	different := 0
	for i, x := range v {
		if x-x == 0 && x != 0 && !slices.Contains(v[:i], x) {
			different++
		}
	}
	return different >= 5
}

// narrow rounds numbers to the type of the tensor where they do not fit it.
func (l *look) narrow(values []float64) []float64 {
	for _, v := range values[:min(len(values), 4096)] {
		if v-v == 0 && !l.num.has(v) {
			out := make([]float64, len(values))
			for i, v := range values {
				out[i] = l.num.round(v)
			}
			return out
		}
	}
	return values
}

// displacements are the distances at which windows are found in values, other than skip: those
// of most windows first, at most piecesMost of them.
func displacements(windows []window, values []float64, skip int64) []int64 {
	matches := make([]int, len(windows))
	votes := map[int64]int{}
	for i := 0; i+windowSize <= len(values); i++ {
		v := values[i]
		for k, w := range windows {
			if v != w.values[0] || matches[k] >= matchesMost || int64(i)-w.at == skip {
				continue
			}
			if slices.Equal(w.values, values[i:i+windowSize]) {
				matches[k]++
				votes[int64(i)-w.at]++
				if turn := int64(i) - w.at%int64(len(values)); turn != int64(i)-w.at {
					votes[turn]++ // a tensor shorter than the hole comes again
				}
			}
		}
	}
	var by []int64
	for d := range votes {
		by = append(by, d)
	}
	slices.SortFunc(by, func(a, b int64) int {
		return cmp.Or(cmp.Compare(votes[b], votes[a]), cmp.Compare(abs(a), abs(b)), cmp.Compare(b, a))
	})
	return by[:min(len(by), piecesMost)]
}

func abs(v int64) int64 { return max(v, -v) }

// copied holds the elements beyond against values at some distances.
func (l *look) copied(t Tensor, by []int64) Finding {
	values, other := t.Values, t.Name != "" || t.Input
	in, left, n := 0.0, 0.0, int64(len(values))
	from := func(p int, d int64) int64 { // whose number an element has
		return ((l.flat(p)+d)%n + n) % n
	}
	equal := make([]int64, len(by))
	l.eachBeyond(func(p int, e float64, _ []int64) {
		for k, d := range by {
			i := from(p, d)
			if l.got[p] == values[i] && (other || l.isNews(p, i, e)) {
				in += e * e
				equal[k]++
				return
			}
		}
		left = max(left, math.Abs(e)/l.allowed(p))
	})
	c := Copy{Name: t.Name, Own: t.Input, Earlier: t.Earlier, Region: l.region()}
	most := 0
	for k, n := range equal {
		if c.Equal += n; n > equal[most] {
			most = k
		}
		if n*100 > l.beyond {
			c.Pieces++
		}
	}
	c.By = by[most]
	held, all := int64(0), int64(0)
	l.each(func(int) (float64, bool) { return 0, true }, func(p int, _ float64, at []int64) {
		if !c.Region.holdsElement(l.flat(p), at) {
			return
		}
		all++
		if g := l.got[p]; slices.ContainsFunc(by, func(d int64) bool { v := values[from(p, d)]; return v == g || v != v && g != g }) {
			held++
		}
	})
	c.Held = float64(held) / float64(max(1, all))
	f := Finding{Args: c, Left: left, Elements: c.Equal}
	if in > 0 && 2*c.Equal >= l.beyond {
		f.Explained = in / l.sumBeyond
	}
	return f
}

// isNews reports whether taking element i's number for element p's makes an error like e: rows that
// are meant to repeat each other say nothing by doing so.
func (l *look) isNews(p int, i int64, e float64) bool {
	return l.At == nil && l.flat(p) != i && math.Abs(l.Want[p]-l.Want[i]) >= math.Abs(e)/2
}

// passedThrough reports whether what was recorded is an input as it is, from the first to the last
// element: all but a thousandth, as what a kernel did in the last place of a few is no matter.
func (l *look) passedThrough(input []float64) bool {
	if len(input) != len(l.full) {
		return false
	}
	other := 0
	for i, v := range input {
		if g := l.full[i]; g != v && (g == g || v == v) {
			if other++; 1000*other > len(input) {
				return false
			}
		}
	}
	return true
}
