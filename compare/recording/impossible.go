package recording

import (
	"math"
	"strconv"

	"precision/compare/result"
	"precision/dump/dtype"
	"precision/dump/msprobe"
)

// looseStatistics is how far, relative to the largest element, statistics of one tensor may be from what the others of them
// allow: sums of many elements are rounded. Of types that are shorter, eight roundoffs are.
const looseStatistics = 0.01

// contradictory tells what of the statistics of a tensor no elements of its number have, whoever recorded them.
func (l *leaf) contradictory() (found, expected string) {
	n, ok := l.Elements()
	s := &l.summary.Stats
	switch {
	case !ok || l.sort() != 'f':
	case n == 0 && (s.Max != 0 || s.Min != 0 || s.Norm != 0):
		return "statistics", "none of no elements"
	case n == 0 || !l.summary.Has(result.KnownMax|result.KnownMin):
	case s.Max < s.Min:
		return "Min " + number(s.Min), "at most the Max of " + number(s.Max)
	case n == 1 && s.Max != s.Min && s.Max == s.Max && s.Min == s.Min:
		return "Min " + number(s.Min), "the Max of " + number(s.Max) + " of one element"
	}
	return "", ""
}

// impossible tells what of the statistics of a tensor cannot be true beside the others, and what these allow:
// a Mean outside of Min and Max, a Norm that no elements between them have. It is "" where they can.
// What NaN makes of them differs by recorder, and says nothing here.
func (l *leaf) impossible() (found, expected string) {
	n, ok := l.Elements()
	if !ok || n == 0 || !l.Elem.IsFloat() || !l.summary.Has(result.KnownMax|result.KnownMin) || len(l.Shape) == 0 {
		return "", "" // of one without dimensions recorders write the element for each of them
	}
	s := &l.summary.Stats
	most, root := max(math.Abs(s.Max), math.Abs(s.Min)), math.Sqrt(float64(n))
	loose := max(looseStatistics, 8*l.Elem.Unit())
	step := l.summary.Step(s.Max) + l.summary.Step(s.Min)
	bounded, least := !math.IsInf(most, 0), most
	if l.summary.Has(result.KnownMean) && !math.IsInf(s.Mean, 0) {
		step += l.summary.Step(s.Mean)
		least = max(least, root*math.Abs(s.Mean))
		if slack := loose*most + step; bounded && (s.Mean > s.Max+slack || s.Mean < s.Min-slack) {
			return "Mean " + number(s.Mean), "one from " + number(s.Min) + " to " + number(s.Max)
		}
	}
	if !l.summary.Has(result.KnownNorm) || s.Norm != s.Norm || most != most {
		return "", ""
	}
	if most < math.Sqrt(l.Elem.MinNormal()) { // squares vanish
		least = 0
	}
	step += l.summary.Step(s.Norm)
	// A sum beyond the range of the type is infinite, or on a device that saturates the largest number.
	if (math.IsInf(s.Norm, 0) || s.Norm >= l.Elem.Max()) && (!bounded || float64(n)*most*most >= l.Elem.Max()) {
		return "", ""
	}
	if s.Norm < least*(1-loose)-root*step || s.Norm > root*(most*(1+loose)+step) {
		return "Norm " + number(s.Norm), "one from " + number(least) + " to " + number(root*most) + " for " + strconv.FormatInt(n, 10) + " elements"
	}
	return "", ""
}

// unstated tells which statistic a tensor lacks although others of the recording that hold its type have it: a key that is
// not there, or null beside others from which it follows that there was a number. It is "" where none is.
func (l *leaf) unstated(usual func(t dtype.Type, i int) bool) string {
	if n, ok := l.Elements(); !ok || n == 0 || len(l.Shape) == 0 || l.Kind != msprobe.Tensor || !l.Elem.IsFloat() || l.summary.Known == 0 {
		return ""
	}
	s, has := &l.summary.Stats, l.summary.Has
	bounded := has(result.KnownMax|result.KnownMin) && s.Max-s.Max == 0 && s.Min-s.Min == 0
	for i, key := range []string{"Max", "Min", "Mean", "Norm", "md5"} {
		known := false
		switch i {
		case atMax, atMin:
			known = has(result.KnownNorm) && s.Norm-s.Norm == 0
		case atMean:
			known = bounded
		case atNorm:
			n, _ := l.Elements()
			most := max(math.Abs(s.Max), math.Abs(s.Min))
			known = bounded && float64(n)*most*most < l.Elem.Max()
		}
		if (l.kinds[i] == msprobe.Absent || known && l.kinds[i] == msprobe.Null) && usual(l.Elem, i) {
			return key
		}
	}
	return ""
}
