package recording

import (
	"slices"
	"strconv"
	"strings"

	"precision/compare/result"
	"precision/dump/dtype"
	"precision/dump/msprobe"
	"precision/internal/nd"
)

// form is what many values of a recording have in common; they share it.
type form struct {
	Kind    msprobe.Kind
	Section msprobe.Section
	// Type is the class, DType the element type as the recording has them, Elem what
	// the latter means if it is Known.
	Type, DType string
	Elem        dtype.Type
	Known       bool
	Shape       []int64
	// filed is the shape in a file of elements, where it is another.
	filed []int64
	// place is where the value stands: input.0, kwargs.mask.
	place string
	path  string
	role  result.Role
}

// argument is a value that is no tensor.
type argument struct {
	Value   msprobe.Number
	Items   []msprobe.Number
	summary result.Summary
	// print is the identity of elements of a tensor (prints.go).
	print identity
	// few is that of the elements of a list that is too short to be found by: where a slice begins, say.
	few identity
	// odd tells of a statistic of a tensor that is no number, foreign of an element type that is none.
	odd, foreign *msprobe.SyntaxError
}

// leaf is a value of a call. There are as many as a recording has tensors and
// arguments, so it is small.
type leaf struct {
	*form
	// summary is what the recording says of it; rows refer to it. It lies apart, so that
	// the leaves can go when the rows are made.
	summary *result.Summary
	// kinds are those of Max, Min, Mean, Norm and the checksum.
	kinds [5]msprobe.NumberKind
	// unfilled tells memory that nothing was written to (memory.go).
	unfilled bool
	// keyed tells that key is its content, while calls are aligned.
	keyed bool
	// summand tells of a part of a sum over ranks whose tensors were put together (unshard.go), or over parts of a batch in another order.
	summand bool
	// slot numbers it among the inputs or outputs of its call and of its partner.
	slot int32
	// number is its place in blocking.traced, 0 outside.
	number int32
	// from is the output that feeds it, before the first earlier input with the same
	// content.
	from, before place
	// arg is the value of what is no tensor. Of tensors of whole numbers beyond
	// 2^53 it has the statistics with all digits, as Items.
	arg      *argument
	DataName string
	key      identity
}

// place is a leaf of a call of the same side: the number of the call from 1 on and
// its slot. The zero place is none.
type place struct{ call, slot int32 }

// The statistics in leaf.kinds.
const (
	atMax = iota
	atMin
	atMean
	atNorm
	atSum
)

// stat is one of the statistics as the recording has it.
func (l *leaf) stat(i int) msprobe.Number {
	if l.arg != nil && i < len(l.arg.Items) {
		return l.arg.Items[i]
	}
	v := l.statistics()[i]
	n := msprobe.Number{Kind: l.kinds[i]}
	switch n.Kind {
	case msprobe.Bool, msprobe.Int, msprobe.Big:
		n.I, n.F = int64(v), v
	case msprobe.Float:
		n.F = v
	}
	return n
}

func (l *leaf) statistics() [4]float64 {
	s := &l.summary.Stats
	return [4]float64{s.Max, s.Min, s.Mean, s.Norm}
}

// damage is what cannot be true of a tensor whose partner is another one: an element type that is none may be a new
// one, unless it is known there.
func (l *leaf) damage(partner *leaf) *msprobe.SyntaxError {
	switch {
	case l.arg == nil:
		return nil
	case l.arg.odd == nil && partner.Known:
		return l.arg.foreign
	}
	return l.arg.odd
}

// sum is the checksum as the recording has it.
func (l *leaf) sum() msprobe.Number { return msprobe.Number{Kind: l.kinds[atSum], S: l.summary.Sum} }

// Elements is the number of elements of a tensor; false if it is not known.
func (l *leaf) Elements() (int64, bool) {
	if l.Shape == nil {
		return 0, false
	}
	return nd.Count(l.Shape...)
}

// rank orders the sections of a call.
func rank(s msprobe.Section) int {
	return slices.Index([]msprobe.Section{msprobe.Input, msprobe.Kwargs, msprobe.Parameters, msprobe.Output, msprobe.Gradients, msprobe.Saved}, s)
}

// tensor tells whether the leaf has elements.
func (l *leaf) tensor() bool { return l.Kind == msprobe.Tensor || l.Kind == msprobe.Array }

// nothing tells of a result that its recording has a place for and nothing else.
func (l *leaf) nothing() bool { return l.Kind == msprobe.Tensor && l.Type == "" && l.Shape == nil }

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

// textOf is an argument as Python writes it.
func textOf(v *msprobe.Value) string {
	switch v.Kind {
	case msprobe.None:
		return "None"
	case msprobe.Ellipsis:
		return "..."
	case msprobe.Slice, msprobe.Size, msprobe.Group:
		var items []string
		for _, n := range v.Items {
			items = append(items, n.String())
		}
		return v.Type + "(" + strings.Join(items, ", ") + ")"
	}
	if v.Value.Kind == msprobe.Text {
		return strconv.Quote(v.Value.S)
	}
	return v.Value.String()
}

// sameValue tells whether two arguments are the same, as Python compares them but
// for their types: 2 is not 2.0. Numbers that a float32 cannot tell apart are the same.
func sameValue(a, b *leaf) bool {
	x, y := a.arg.Value, b.arg.Value
	if a.Kind == msprobe.Scalar && b.Kind == msprobe.Scalar && x.Kind == msprobe.Float && y.Kind == msprobe.Float && float32(x.F) == float32(y.F) {
		return true
	}
	return a.Kind == b.Kind && x.Same(y) && slices.EqualFunc(a.arg.Items, b.arg.Items, msprobe.Number.Same)
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

// crc tells whether a checksum is one over all bytes.
func crc(sum msprobe.Number) bool { return sum.Kind == msprobe.Text && len(sum.S) == 8 }
