package patterns

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"precision/compare/pattern"
	"precision/compare/result"
	"precision/internal/msg"
)

// Line says what was done to a tensor in one sentence, with its size and its place: "every number
// is multiplied by 1.01", "channels 240 to 255 were not written". evidence is at hand as
// JSON, as tables keep it; typ is the type of the operator. Kinds without a sentence
// of their own have their name and what it rests on. What explains a part of the error says
// of how much it speaks: "every number" are then not all.
func Line(lang msg.Lang, p result.Pattern, typ string) string {
	text := Kind(lang, p.Kind)
	f, ok := saved(p.Kind, p.Evidence)
	if ok {
		if line := (sentence{lang, typ}).of(&f); line != "" {
			text = line
		} else if evidence := Evidence(lang, &f); evidence != "" {
			text = lang.T("line.with", text, evidence)
		}
	}
	// Of a stride only the elements that both orders have can tell: one in so many.
	if _, strided := f.Args.(pattern.Stride); p.Explained > 0 && p.Explained < nearlyAll && !strided {
		text = lang.T("line.partly", 100*p.Explained, text)
	}
	return text
}

// nearlyAll is the share of an error beyond which nobody asks for the rest: rounding to float16 leaves
// a thousandth of one that multiplies by 1.01.
const nearlyAll = 0.999

// saved reads a finding whose evidence is JSON.
func saved(kind, evidence string) (f pattern.Finding, ok bool) {
	if evidence == "" {
		return f, false
	}
	name, err := json.Marshal(kind)
	return f, err == nil && json.Unmarshal(fmt.Appendf(nil, `{"kind":%s,"args":%s}`, name, evidence), &f) == nil
}

// sentence says findings.
type sentence struct {
	lang msg.Lang
	typ  string // of the operator
}

func (s sentence) say(key string, args ...any) string { return s.lang.T("line."+key, args...) }

// of is the sentence of a finding, empty where its kind has none.
func (s sentence) of(f *pattern.Finding) string {
	switch a := f.Args.(type) {
	case pattern.Linear:
		return s.linear(f.Kind, a)
	case pattern.Unfilled:
		if a.Region.Whole() && !some(a.Held) {
			return s.say("unwritten.all", a.Value)
		}
		return s.held(s.say("unwritten", s.place(a.Region), a.Value), a.Held)
	case pattern.Region:
		return s.say("region", s.place(a), 100*a.Share)
	case pattern.Copy:
		return s.held(s.copied(f.Kind, a), a.Held)
	case pattern.Flip:
		return s.flip(a)
	case pattern.Shift:
		return s.shift(f.Kind, a)
	case pattern.Stride:
		key := "stride.ignored"
		if f.Kind == pattern.StrideDoubled {
			key = "stride.doubled"
		}
		return s.say(key, a.By, numbers(s.lang, a.Axes))
	case pattern.Reading:
		if a.Swapped && a.Of == a.As {
			return s.say("reading.bytes", a.Of)
		}
		if !a.Swapped {
			return s.say("reading", a.Of, a.As)
		}
	case pattern.Attribute:
		return s.say("attribute", a.Name, a.Value, a.Graph)
	case pattern.Terms:
		return s.say("terms", a.Taken, a.Of)
	case pattern.Masked:
		if a.Choice {
			return s.say("choice")
		}
		if a.Added {
			return s.say("mask.added", a.Fill, 100*(1-a.Share))
		}
		return s.say("mask", a.Fill, 100*(1-a.Share))
	case pattern.Slices:
		key := map[pattern.Kind]string{pattern.SliceOffset: "slices.offset", pattern.SliceScale: "slices.scale", pattern.RowScale: "slices.row"}[f.Kind]
		return s.say(key, a.Off, a.Axis, a.Least, a.Most)
	case pattern.Scatter:
		if r := a.Region; r.Elements == 1 && len(r.From) > 0 && !r.Flat {
			return s.say("one", Place(r.From), a.Size)
		}
		return s.say("scatter", 100*a.Share, a.Size)
	case pattern.Spread:
		if f.Kind == pattern.Unexplained {
			return s.say("spread", 100*a.Share, a.Relative)
		}
	}
	return ""
}

func (s sentence) linear(kind pattern.Kind, a pattern.Linear) string {
	switch {
	case kind == pattern.Offset:
		return s.say("offset", a.Offset)
	case kind == pattern.Affine:
		return s.say("affine", a.Factor, a.Offset)
	case math.Abs(a.Factor+1) < 1e-3:
		return s.say("sign")
	}
	return s.say("scale", a.Factor)
}

func (s sentence) copied(kind pattern.Kind, a pattern.Copy) string {
	switch {
	case kind == pattern.Repeated && a.Pieces > 1:
		return s.say("repeated.pieces", s.place(a.Region), a.Pieces)
	case kind == pattern.Repeated && a.By < 0:
		return s.say("repeated.before", s.place(a.Region), -a.By)
	case kind == pattern.Repeated:
		return s.say("repeated", s.place(a.Region), a.By)
	case kind == pattern.PassedThrough && s.typ != "":
		return s.say("through", a.Name, s.typ)
	case kind == pattern.PassedThrough:
		return s.say("through.untyped", a.Name)
	case a.Earlier:
		return s.say("stale.earlier", s.place(a.Region))
	case a.Region.Whole() && !a.Own && a.By == 0 && a.Pieces <= 1 && !some(a.Held):
		return s.say("stale", a.Name)
	case a.Own:
		return s.say("stale.own", s.place(a.Region), a.Name)
	}
	return s.say("stale.part", s.place(a.Region), a.Name)
}

// some reports whether only a part of a region holds what is said of it.
func some(held float64) bool { return held > 0 && held < 1 }

// held says so, too.
func (s sentence) held(text string, held float64) string {
	if some(held) {
		return s.say("held", text, 100*held)
	}
	return text
}

func (s sentence) flip(a pattern.Flip) string {
	if len(a.Flips) == 0 {
		return ""
	}
	f := a.Flips[0]
	text := s.say("flip", f.Bit, s.lang.T("evidence.part."+a.Part), Place(f.At), f.Got, f.Want)
	if a.Elements > 1 {
		text += s.say("flip.others", int(a.Elements-1))
	}
	return text
}

func (s sentence) shift(kind pattern.Kind, a pattern.Shift) string {
	switch {
	case a.Axis < 0:
		return "" // what it rests on says it
	case kind == pattern.Reversed:
		return s.say("reversed", a.Axis)
	case a.Cyclic:
		return s.say("rolled", a.By, a.Axis)
	}
	return s.say("shifted", a.By, a.Axis)
}

// place names a part of a tensor by its axes: "channels 240 to 255", "rows 3 to 5, columns 0 to 7".
func (s sentence) place(r pattern.Region) string {
	if r.Whole() {
		return s.say("place.whole")
	}
	if r.Flat || len(r.From) == 0 || len(r.To) != len(r.From) || len(r.Shape) != len(r.From) {
		return s.say("place.flat", r.First, r.Last)
	}
	var parts []string
	for i, from := range r.From {
		to := r.To[i]
		if from == 0 && to == r.Shape[i] {
			continue
		}
		parts = append(parts, s.along(r, i, from, to-1))
	}
	if len(parts) == 0 {
		return s.say("place.whole")
	}
	return strings.Join(parts, s.lang.T("evidence.and"))
}

// along names places of an axis, from the first to the last: by its letter where the layout is
// known, else by its number.
func (s sentence) along(r pattern.Region, axis int, first, last int64) string {
	key, places := "line.axes", []any{first, last}
	if first == last {
		key, places = "line.axis", []any{first}
	}
	if axis < len(r.Axes) {
		if letter := key + "." + r.Axes[axis:axis+1]; s.lang.Has(letter) {
			return s.lang.T(letter, places...)
		}
	}
	return s.lang.T(key, append(places, axis)...)
}
