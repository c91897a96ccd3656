package recording

import (
	"math"

	"precision/compare/result"
	"precision/dump/msprobe"
)

// identity tells values by what is said of them: 64 bits of a hash, 0 where that
// says little. Of a million values two that differ have the same one in less than one
// recording of ten million.
type identity uint64

// hash mixes what identities are made of.
type hash uint64

func (h *hash) number(v uint64) {
	x := (uint64(*h) ^ v) * 0x9e3779b97f4a7c15
	x ^= x >> 29
	*h = hash((x + 0x632be59bd9b4e019) * 0xbf58476d1ce4e5b9)
	*h ^= *h >> 32
}

func (h *hash) text(s string) {
	x := uint64(1469598103934665603)
	for i := range len(s) {
		x = (x ^ uint64(s[i])) * 1099511628211
	}
	h.number(x)
	h.number(uint64(len(s)))
}

// float mixes in a value: all NaN are one, and so are zeros.
func (h *hash) float(v float64) {
	switch {
	case v != v:
		v = math.NaN()
	case v == 0:
		v = 0
	}
	h.number(math.Float64bits(v))
}

func (h *hash) shape(s []int64) {
	for _, d := range s {
		h.number(uint64(d))
	}
	h.number(uint64(len(s)))
}

func (h hash) identity() identity {
	if h == 0 {
		return 1
	}
	return identity(h)
}

// stats mixes in the statistics as the recording has them.
func (h *hash) stats(l *leaf, which ...int) {
	for _, i := range which {
		n := l.stat(i)
		h.number(uint64(n.Kind))
		switch n.Kind {
		case msprobe.Float:
			h.float(n.F)
		case msprobe.Big:
			h.text(n.S)
		default:
			h.number(uint64(n.I))
		}
	}
}

// tells is whether what is said of a tensor can identify it: not of constants, small whole
// numbers, and where nothing is known.
func (l *leaf) tells() bool {
	if !l.tensor() {
		return false
	}
	n, ok := l.Elements()
	if !ok || n == 0 {
		return false
	}
	if l.arg != nil && l.arg.print != 0 {
		return true
	}
	known := l.summary.Known&result.KnownMax != 0
	if l.constant() && (n > 1 || l.summary.Stats.Max == float64(int64(l.summary.Stats.Max))) {
		return false // or a small number
	}
	if l.kinds[atSum] == msprobe.Text || known && l.normed() {
		return true
	}
	return l.sort() != 'f' && known && n >= 4
}

// constant tells of a tensor that it is one number everywhere.
func (l *leaf) constant() bool {
	return l.summary.Has(result.KnownMax|result.KnownMin) && l.summary.Stats.Max == l.summary.Stats.Min
}

// normed tells whether there is a norm.
func (l *leaf) normed() bool {
	norm := l.kinds[atNorm]
	return norm == msprobe.Float || norm == msprobe.Int
}

// content is what identifies a tensor by what is in it, 0 where that says little.
func (l *leaf) content() identity {
	if l.keyed {
		return l.key
	}
	if !l.tells() {
		return 0
	}
	n, _ := l.Elements()
	var h hash
	if l.arg != nil && l.arg.print != 0 {
		h.number(uint64(l.Elem))
		h.number(uint64(n))
		h.number(uint64(l.arg.print))
		return h.identity()
	}
	h.number(uint64(l.sort()))
	h.number(uint64(n))
	switch {
	case l.kinds[atSum] == msprobe.Text:
		h.text(l.summary.Sum)
	case l.normed():
		h.stats(l, atMax, atMin, atMean, atNorm)
	default:
		h.shape(l.Shape)
		h.stats(l, atMax, atMin)
	}
	return h.identity()
}

// alike identifies a tensor by what stays when its elements are put in another
// order: 0 where that says little.
func (l *leaf) alike() identity {
	if l.kinds[atNorm] != msprobe.Float || l.content() == 0 {
		return 0
	}
	n, _ := l.Elements()
	var h hash
	h.number(uint64(n))
	h.stats(l, atMax, atMin)
	// The order changes how a norm is rounded.
	norm := l.summary.Stats.Norm
	if unit := math.Pow(10, math.Floor(math.Log10(math.Abs(norm)))-3); unit > 0 && !math.IsInf(unit, 0) {
		norm = math.Round(norm/unit) * unit
	}
	h.float(norm)
	return h.identity()
}

// spread identifies a tensor by what stays to the last bit when it is repeated as a whole: its extremes.
func (l *leaf) spread() identity {
	if l.kinds[atNorm] != msprobe.Float || l.content() == 0 {
		return 0
	}
	var h hash
	h.stats(l, atMax, atMin)
	return h.identity()
}

// size identifies a tensor by its extremes and its norm, each within a few percent: 0 where
// these say little. Near a limit between two sizes it fails, for one tensor in ten where they
// are off by a few thousandths.
func (l *leaf) size() identity {
	if l.content() == 0 || l.kinds[atNorm] != msprobe.Float {
		return 0
	}
	n, _ := l.Elements()
	var h hash
	h.number(uint64(n))
	for _, v := range []float64{l.summary.Stats.Max, l.summary.Stats.Min, l.summary.Stats.Norm} {
		if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
			h.float(v)
			continue
		}
		h.number(uint64(int64(math.Round(math.Log(math.Abs(v)) * sizes))))
		h.number(math.Float64bits(v) >> 63)
	}
	return h.identity()
}

// sizes is how many sizes there are from one number to e times it.
const sizes = 20

// sameness is all that is said of a tensor.
func (l *leaf) sameness() identity {
	var h hash
	h.number(uint64(l.kinds[atSum]))
	h.text(l.summary.Sum)
	h.stats(l, atMax, atMin, atMean, atNorm)
	if l.arg != nil && (l.arg.print != 0 || l.arg.few != 0) {
		h.number(uint64(l.arg.print))
		h.number(uint64(l.arg.few))
	}
	return h.identity()
}

// describe gives the token and the content of a call.
func (c *call) describe() (token, content identity) {
	var t, x hash
	n := &c.Parsed
	t.number(uint64(n.Form)<<8 | uint64(n.Direction))
	t.text(n.Prefix)
	t.text(n.API)
	t.text(n.Class)
	if n.Form == msprobe.Other {
		t.text(c.Name)
	}
	for i := range c.leaves {
		l := &c.leaves[i]
		switch {
		case l.tensor():
			t.text(l.place)
			t.number(uint64(l.sort()))
			t.shape(l.Shape)
			if l.role == result.Input {
				x.text(l.place)
				x.number(uint64(l.sameness()))
			}
		case l.role == result.Input:
			x.text(l.place)
			x.text(l.summary.Value)
		}
	}
	return t.identity(), x.identity()
}
