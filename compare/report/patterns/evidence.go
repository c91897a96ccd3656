package patterns

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"precision/compare/pattern"
	"precision/internal/msg"
	"precision/internal/nd"
)

// mostPlaces bounds how many places, slices or pairs evidence names.
const mostPlaces = 4

// Evidence says what a finding rests on: where the elements are, the factor, the order
// of the axes. It is empty for a kind that has no more to say than its name.
func Evidence(lang msg.Lang, f *pattern.Finding) string {
	e := evidence{lang: lang}
	switch a := f.Args.(type) {
	case pattern.Region:
		e.region(a)
	case pattern.Unfilled:
		e.add("evidence.filled", a.Value)
		e.region(a.Region)
	case pattern.Copy:
		e.copied(a)
	case pattern.Flip:
		e.flips(a)
	case pattern.Rounding:
		e.add("evidence.rounding", lang.T("evidence.mode."+string(a.Mode)), a.Mean, a.Seen)
	case pattern.Linear:
		e.linear(f.Kind, a)
	case pattern.Permutation:
		e.add("evidence.order", cmp.Or(a.Order, numbers(lang, a.Perm)))
	case pattern.Misread:
		key := "evidence.rows-as-blocks"
		if a.Raw {
			key = "evidence.blocks-as-rows"
		}
		e.add(key, a.Layout, a.Block)
	case pattern.Transposition:
		e.add("evidence.transposed", a.Block, a.Block)
	case pattern.Shift:
		e.shift(f.Kind, a)
	case pattern.Exchange:
		e.exchange(a)
	case pattern.Stride:
		e.add("evidence.stride", a.By, numbers(lang, a.Axes))
	case pattern.Reading:
		key := "evidence.reading"
		if a.Swapped {
			key = "evidence.reading-swapped"
		}
		e.add(key, a.Of, a.As)
	case pattern.Attribute:
		e.add("evidence.attribute", a.Name, a.Value, a.Graph)
	case pattern.Terms:
		e.add("evidence.terms", a.Taken, a.Of)
	case pattern.Masked:
		key := "evidence.mask"
		if a.Added {
			key = "evidence.mask-added"
		}
		e.add(key, a.Fill, 100*a.Share)
	case pattern.Clip:
		e.clip(a)
	case pattern.Activation:
		e.list = append(e.list, a.Name)
	case pattern.Slopes:
		e.add("evidence.slopes", a.Negative, a.Positive)
	case pattern.Coarse:
		e.add("evidence.digits", a.Digits, a.Of)
		if a.Type != "" {
			e.add("evidence.as-type", a.Type)
		}
	case pattern.Slices:
		e.slices(f.Kind, a)
	case pattern.Margin:
		e.add("evidence.margin", a.Width, numbers(lang, a.Axes), 100*a.Share)
	case pattern.LaneSet:
		e.add("evidence.lanes", numbers(lang, a.Lanes), a.Block, a.Axis, 100*a.Share)
	case pattern.NonFinite:
		e.nonFinite(a)
	case pattern.Saturation:
		e.saturation(a)
	case pattern.Scatter:
		e.add("evidence.scatter", 100*a.Share, a.Size)
		e.region(a.Region)
	case pattern.Spread:
		e.spread(a)
	}
	return strings.Join(e.list, lang.T("evidence.also"))
}

// evidence collects clauses.
type evidence struct {
	lang msg.Lang
	list []string
}

func (e *evidence) add(key string, args ...any) { e.list = append(e.list, e.lang.T(key, args...)) }

// region adds where a region is: as Python slices, or as a range of elements in memory order.
func (e *evidence) region(r pattern.Region) {
	if r.Whole() {
		e.add("evidence.whole")
		return
	}
	if r.Flat {
		e.add("evidence.flat", r.First, r.Last, 100*r.Of)
	} else {
		e.add("evidence.box", slicing(r), 100*r.Of)
	}
	if r.Share < 1 {
		e.add("evidence.share", 100*r.Share)
	}
	switch {
	case r.Tail && r.Aligned:
		e.add("evidence.last-blocks")
	case r.Tail:
		e.add("evidence.tail")
	case r.Aligned:
		e.add("evidence.aligned")
	}
}

// slicing writes a box as Python would: [0:1, 16:24, 0:4, 0:4].
func slicing(r pattern.Region) string {
	var b strings.Builder
	for i, from := range r.From {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%d:%d", from, r.To[i])
	}
	return "[" + b.String() + "]"
}

// numbers writes a list.
func numbers[T int | int64](lang msg.Lang, list []T) string {
	return nd.Text(list, lang.T("evidence.and"))
}

func (e *evidence) copied(a pattern.Copy) {
	switch {
	case a.Own:
		e.add("evidence.own", a.Name)
	case a.Name != "":
		e.add("evidence.copy", a.Name)
	}
	switch {
	case a.Pieces > 1:
		e.add("evidence.pieces", a.Pieces, a.By)
	case a.By != 0:
		e.add("evidence.moved", a.By)
	}
	e.add("evidence.equal", int(a.Equal))
	e.region(a.Region)
}

func (e *evidence) flips(a pattern.Flip) {
	if a.Bit >= 0 {
		e.add("evidence.bit", a.Bit, e.lang.T("evidence.part."+a.Part))
	}
	for i, f := range a.Flips {
		if i == mostPlaces {
			break
		}
		if a.Bit >= 0 {
			e.add("evidence.flip", Place(f.At), f.Want, f.Got)
		} else {
			e.add("evidence.flip-of", Place(f.At), f.Bit, f.Want, f.Got)
		}
	}
}

func (e *evidence) linear(kind pattern.Kind, a pattern.Linear) {
	if kind != pattern.Offset {
		e.add("evidence.factor", a.Factor)
	}
	if kind != pattern.Scale {
		e.add("evidence.offset", a.Offset)
	}
}

func (e *evidence) shift(kind pattern.Kind, a pattern.Shift) {
	switch {
	case kind == pattern.Reversed && a.Axis < 0:
		e.add("evidence.reversed")
	case kind == pattern.Reversed:
		e.add("evidence.along", a.Axis)
	case a.Axis < 0:
		e.add("evidence.shift-flat", a.By)
	default:
		e.add("evidence.shift", a.By, a.Axis)
	}
	if a.Cyclic {
		e.add("evidence.cyclic")
	}
}

func (e *evidence) exchange(a pattern.Exchange) {
	if a.Block > 0 {
		e.add("evidence.exchange-block", a.Moved, a.Block, a.Axis)
	} else {
		e.add("evidence.exchange", a.Moved, a.Axis)
	}
	for i, p := range a.Pairs {
		if i == mostPlaces {
			break
		}
		e.add("evidence.pair", p[0], p[1])
	}
}

func (e *evidence) clip(a pattern.Clip) {
	switch {
	case math.IsInf(a.Low, -1) || a.Low == -math.MaxFloat64:
		e.add("evidence.above", a.High)
	case math.IsInf(a.High, 1) || a.High == math.MaxFloat64:
		e.add("evidence.below", a.Low)
	default:
		e.add("evidence.clip", a.Low, a.High)
	}
}

func (e *evidence) slices(kind pattern.Kind, a pattern.Slices) {
	key := "evidence.slices"
	if kind == pattern.RowScale {
		key = "evidence.rows"
	}
	e.add(key, a.Off, a.Groups, a.Axis)
	what := "evidence.factors"
	if kind == pattern.SliceOffset {
		what = "evidence.offsets"
	}
	e.add(what, a.Least, a.Most, a.Median)
	top := slices.Clone(a.Top)
	for i, s := range top[:min(len(top), mostPlaces)] {
		if i == 0 {
			e.add("evidence.top", s.Index, s.Value)
		} else {
			e.add("evidence.then", s.Index, s.Value)
		}
	}
}

func (e *evidence) nonFinite(a pattern.NonFinite) {
	for _, c := range []struct {
		key string
		n   int64
	}{{"evidence.nan", a.NaN}, {"evidence.inf", a.Inf}, {"evidence.hidden", a.Hidden}} {
		if c.n > 0 {
			e.add(c.key, int(c.n))
		}
	}
	if a.First != nil {
		e.add("evidence.first", Place(a.First))
	}
	e.region(a.Region)
	if a.Cause == "" {
		return
	}
	e.add("evidence.cause."+string(a.Cause), 100*a.Share)
	if a.Operand != "" {
		e.add("evidence.operand", a.Operand)
	}
	if a.Threshold != 0 {
		e.add("evidence.threshold", a.Threshold)
	}
}

func (e *evidence) saturation(a pattern.Saturation) {
	e.add("evidence.beyond", int(a.Beyond), a.Limit)
	for _, c := range []struct {
		key string
		n   int64
	}{{"evidence.at-limit", a.AtMax}, {"evidence.at-inf", a.AtInf}, {"evidence.zeroed", a.Zeroed}} {
		if c.n > 0 {
			e.add(c.key, int(c.n))
		}
	}
	if a.First != nil {
		e.add("evidence.first", Place(a.First))
	}
}

func (e *evidence) spread(a pattern.Spread) {
	e.add("evidence.relative", a.Relative, a.Digits, a.Ulps)
	e.add("evidence.spread", 100*a.Share)
	if math.Abs(a.Bias) > 4 {
		e.add("evidence.bias", a.Bias)
	}
	if math.Abs(a.Correlation) > 0.5 {
		e.add("evidence.correlation", a.Correlation)
	}
}
