package recording

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"precision/compare/result"
	"precision/dump/msprobe"
)

// leaf is a value of a call with its place: input.0, kwargs.mask.
type leaf struct {
	*msprobe.Value
	place string
	role  result.Role
}

// leavesOf lists the values of a call, arguments first.
func leavesOf(c *msprobe.Call) []leaf {
	list := make([]leaf, 0, len(c.Values))
	for i := range c.Values {
		v := &c.Values[i]
		l := leaf{Value: v, place: v.Section.String(), role: result.Output}
		if v.Path != "" {
			l.place += "." + v.Path
		}
		if v.Section == msprobe.Input || v.Section == msprobe.Kwargs || v.Section == msprobe.Parameters {
			l.role = result.Input
		}
		list = append(list, l)
	}
	slices.SortStableFunc(list, func(a, b leaf) int { return cmp.Compare(rank(a.Section), rank(b.Section)) })
	return list
}

// rank orders the sections of a call.
func rank(s msprobe.Section) int {
	return slices.Index([]msprobe.Section{msprobe.Input, msprobe.Kwargs, msprobe.Parameters, msprobe.Output, msprobe.Gradients, msprobe.Saved}, s)
}

// tensor tells whether the leaf has elements.
func (l *leaf) tensor() bool { return l.Kind == msprobe.Tensor || l.Kind == msprobe.Array }

// sort is what kind of numbers a tensor holds.
func (l *leaf) sort() byte {
	switch {
	case !l.Known:
		return '?'
	case l.Elem.IsBool():
		return 'b'
	case l.Elem.IsInteger():
		return 'i'
	case l.Elem.IsComplex():
		return 'c'
	}
	return 'f'
}

// text is an argument as Python writes it.
func (l *leaf) text() string {
	switch l.Kind {
	case msprobe.None:
		return "None"
	case msprobe.Ellipsis:
		return "..."
	case msprobe.Slice, msprobe.Size, msprobe.Group:
		var items []string
		for _, n := range l.Items {
			items = append(items, n.String())
		}
		return l.Type + "(" + strings.Join(items, ", ") + ")"
	}
	if l.Value.Value.Kind == msprobe.Text {
		return strconv.Quote(l.Value.Value.S)
	}
	return l.Value.Value.String()
}

// sameValue tells whether two arguments are the same, as Python compares them but
// for their types: 2 is not 2.0. Numbers that a float32 cannot tell apart are the same.
func sameValue(a, b *leaf) bool {
	if x, y := a.Value.Value, b.Value.Value; a.Kind == msprobe.Scalar && b.Kind == msprobe.Scalar && x.Kind == msprobe.Float && y.Kind == msprobe.Float && float32(x.F) == float32(y.F) {
		return true
	}
	return a.Kind == b.Kind && a.Value.Value.Same(b.Value.Value) && slices.EqualFunc(a.Items, b.Items, msprobe.Number.Same)
}

// said is what the recording says of a leaf.
func (l *leaf) said() result.Said {
	s := result.Said{Class: l.Type}
	if s.Class == "" {
		s.Class = "None"
	}
	if !l.tensor() {
		s.Value = l.text()
		return s
	}
	for _, x := range []struct {
		n    msprobe.Number
		bit  int
		into *float64
	}{{l.Max, result.KnownMax, &s.Stats.Max}, {l.Min, result.KnownMin, &s.Stats.Min}, {l.Mean, result.KnownMean, &s.Stats.Mean}, {l.Norm, result.KnownNorm, &s.Stats.Norm}} {
		if v, ok := x.n.Value(); ok {
			*x.into = v
			s.Known |= x.bit
		}
	}
	if l.MD5.Kind != msprobe.Absent && l.MD5.Kind != msprobe.Null {
		s.Sum = l.MD5.String()
	}
	return s
}

// operand is the tensor as rows have it.
func (l *leaf) operand() (o result.Operand) {
	if l.tensor() {
		o.Shape = l.Shape
		if o.Shape == nil {
			o.Shape = []int64{}
		}
		if l.Known {
			o.DType = l.Elem
		}
	}
	return o
}

// crc tells whether the checksum is one over all bytes.
func (l *leaf) crc() bool { return l.MD5.Kind == msprobe.Text && len(l.MD5.S) == 8 }

// content is what identifies a tensor by what is in it, empty where that says
// little: constants, small whole numbers, nothing known.
func (l *leaf) content() string {
	if !l.tensor() {
		return ""
	}
	n, ok := l.Elements()
	if !ok || n == 0 {
		return ""
	}
	hi, known := l.Max.Value()
	lo, _ := l.Min.Value()
	if known && hi == lo && (n > 1 || hi == float64(int64(hi))) {
		return "" // a constant, or a small number
	}
	kind := l.sort()
	if l.MD5.Kind == msprobe.Text {
		return fmt.Sprintf("%c %d %s", kind, n, l.MD5.S)
	}
	if !known || l.Norm.Kind != msprobe.Float && l.Norm.Kind != msprobe.Int {
		if kind == 'f' || !known || n < 4 {
			return ""
		}
		return fmt.Sprintf("%c %v %s %s", kind, l.Shape, l.Max, l.Min)
	}
	return fmt.Sprintf("%c %d %s %s %s %s", kind, n, l.Max, l.Min, l.Mean, l.Norm)
}

// alike identifies a tensor by what stays when its elements are put in another
// order: empty where that says little.
func (l *leaf) alike() string {
	if l.content() == "" || l.Norm.Kind != msprobe.Float {
		return ""
	}
	n, _ := l.Elements()
	norm, _ := l.Norm.Value()
	return fmt.Sprintf("%d %s %s %.4g", n, l.Max, l.Min, norm)
}

// describe gives the token and the content of a call.
func (c *call) describe() (token, content string) {
	var t, x strings.Builder
	n := &c.Parsed
	fmt.Fprintf(&t, "%d %s %s %s %s", n.Form, n.Prefix, n.API, n.Class, n.Direction)
	if n.Form == msprobe.Other {
		t.WriteString(c.Name)
	}
	for i := range c.leaves {
		l := &c.leaves[i]
		switch {
		case l.tensor():
			fmt.Fprintf(&t, "|%s %c%v", l.place, l.sort(), l.Shape)
			if l.role == result.Input {
				fmt.Fprintf(&x, "|%s %s", l.place, l.sameness())
			}
		case l.role == result.Input:
			fmt.Fprintf(&x, "|%s %s", l.place, l.text())
		}
	}
	return t.String(), x.String()
}

// sameness is all that is said of a tensor.
func (l *leaf) sameness() string {
	return fmt.Sprint(l.MD5, l.Max, l.Min, l.Mean, l.Norm)
}

// installed tells whether a file of source is part of a library.
func installed(file string) bool {
	return strings.Contains(file, "site-packages") || strings.Contains(file, "dist-packages") || strings.HasPrefix(file, "<")
}

func lineOf(f msprobe.Frame) string {
	text := f.File + ":" + strconv.Itoa(f.Line)
	if f.Source != "" {
		text += ": " + f.Source
	}
	return text
}
