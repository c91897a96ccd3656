package pattern

import (
	"cmp"
	"slices"
)

// hypothesis is one thing that can be wrong, or a family of them tried together.
type hypothesis struct {
	kinds []Kind
	args  any  // the zero Args of its findings; nil where alternatives bring their own
	odd   bool // looks at NaN, Inf and numbers out of range, which the others leave out
	fine  bool // also tried when no error is larger than rounding explains
	where bool // tells where the errors are, not what they are
	last  bool // only describes; tried when no other hypothesis was borne out
	many  bool // tries many changes on some elements first, at least 16 with an error; the one that explains most is told
	try   func(*look) []Finding
}

// hypotheses in the order in which they are told when they explain the same: what
// says more with less comes first.
var hypotheses = []hypothesis{
	{kinds: []Kind{Saturated}, args: Saturation{}, odd: true, try: saturated},
	{kinds: []Kind{NaN, Inf, Finite}, args: NonFinite{}, odd: true, try: nonFinite},
	{try: alternatives},
	{kinds: []Kind{Unwritten}, args: Unfilled{}, try: unwritten},
	{kinds: []Kind{PassedThrough, Stale, Repeated}, args: Copy{}, try: stale},
	{kinds: []Kind{BitFlip}, args: Flip{}, try: bitFlip},
	{kinds: []Kind{BitsMisread}, args: Reading{}, many: true, try: bitsMisread},
	{kinds: []Kind{InvertedMask}, args: Masked{}, try: inverted},
	{kinds: []Kind{RoundingMode}, args: Rounding{}, fine: true, try: roundingMode},
	{kinds: []Kind{Scale, Offset, Affine}, args: Linear{}, fine: true, try: linear},
	{kinds: []Kind{AxesPermuted}, args: Permutation{}, many: true, try: axesPermuted},
	{kinds: []Kind{LayoutMisread}, args: Misread{}, many: true, try: layoutMisread},
	{kinds: []Kind{BlocksTransposed}, args: Transposition{}, many: true, try: blocksTransposed},
	{kinds: []Kind{Shifted, Reversed}, args: Shift{}, many: true, try: shifted},
	{kinds: []Kind{StrideIgnored, StrideDoubled}, args: Stride{}, many: true, try: strided},
	{kinds: []Kind{SlicesPermuted}, args: Exchange{}, many: true, try: slicesPermuted},
	{kinds: []Kind{Clipped}, args: Clip{}, try: clipped},
	{kinds: []Kind{ActivationMissing, ActivationAdded}, args: Activation{}, many: true, try: activation},
	{kinds: []Kind{Slope}, args: Slopes{}, try: slope},
	{kinds: []Kind{CoarseType}, args: Coarse{}, try: coarseType},
	{kinds: []Kind{SliceOffset, SliceScale, RowScale}, args: Slices{}, many: true, try: slicewise},
	{kinds: []Kind{Border}, args: Margin{}, where: true, try: border},
	{kinds: []Kind{Lanes}, args: LaneSet{}, where: true, try: lanes},
	{kinds: []Kind{RegionOnly}, args: Region{}, where: true, try: regionOnly},
	{kinds: []Kind{RandomElements}, args: Scatter{}, last: true, try: randomElements},
	{kinds: []Kind{LowPrecision, Noise, Unexplained}, args: Spread{}, last: true, try: spread},
}

// Find tries every hypothesis and returns those that the numbers bear out, best
// first; none when nothing is wrong. NaN, Inf and saturated numbers are told beside
// what is found in the others. When no hypothesis holds, a finding of one of the kinds
// RandomElements, LowPrecision, Noise or Unexplained gives the evidence.
//
// It takes a few passes over the numbers; hypotheses about the whole tensor look at
// about a million of them. The error, if any, is a [*CaseError].
func Find(c Case) ([]Finding, error) {
	total, err := c.check()
	if err != nil {
		return nil, err
	}
	l := newLook(c, total)
	var found []Finding
	ordinary := false // a hypothesis about finite numbers holds
	for rank, h := range hypotheses {
		if !h.odd && (!l.wrong || l.within && !h.fine) || h.last && ordinary || h.many && len(l.trials()) < 16 {
			continue
		}
		told := h.try(l)
		if h.many && len(told) > 0 {
			told = []Finding{slices.MaxFunc(told, func(a, b Finding) int { return cmp.Compare(a.Explained, b.Explained) })}
		}
		for _, f := range told {
			if !(f.Explained >= 0) { // squares of float64 can overflow
				f.Explained = 0
			}
			f.rank, f.fallback, f.where = rank, h.last, h.where
			ordinary = ordinary || !h.odd
			found = append(found, f)
		}
		if ordinary && slices.ContainsFunc(found, func(f Finding) bool { return f.whole() }) {
			break
		}
	}
	// NaN that moved with everything else, or came with another tensor's numbers, is no news.
	follows := slices.ContainsFunc(found, func(f Finding) bool {
		return !exceptional[f.Kind] && !f.where && f.Explained >= 0.99 && (l.expectedNaN || f.Kind == Stale || f.Kind == PassedThrough || f.Kind == BitsMisread)
	})
	for i := range found {
		found[i].fallback = found[i].fallback || follows && exceptional[found[i].Kind]
	}
	return best(found), nil
}
