package engine

import (
	"slices"
	"strconv"
	"strings"

	"precision/compare/result"
	"precision/dump/layout"
	"precision/internal/each"
	"precision/internal/must"
	"precision/internal/nd"
)

// Preparation brings a device tensor to the axis order of its golden array. It
// is planned from dims alone: the plan is a view that reads the stored
// elements in golden order with the padding left out.
//
// There are two planners. oldPlan does what msaccucmp.py does, flat shapes and
// positional slicing included, so that old reports can be reproduced; bestPlan
// knows what the axes mean.

// stored describes a tensor as a dump holds it.
type stored struct {
	format layout.Format
	group  int
	shape  []int64
	origin []int64 // shape in the framework's layout, may be empty
	// elements is how many elements the payload holds, at most what the
	// shape asks for.
	elements int64
}

// golden describes the array a tensor is compared with.
type rightShape struct {
	layout string  // layout name from the graph, may be empty
	rule   []int64 // shape the graph declares, may be empty
	data   []int64 // shape of the array itself
}

// plan is how a pair is read.
type plan struct {
	view    layout.View
	shape   []int64 // what the Shape cell shows
	count   int64   // elements of each side
	remarks []result.Reason
	// orders are the views in the orders of axes that the dims allow, the first as stored, where they are
	// those of the golden array in another order: the elements have to tell.
	orders []layout.View
}

// planner makes a plan, or ends the work on the pair.
type planner = func(op string, s stored, g rightShape) plan

// PairError is why a pair cannot be compared. It has no sentence: a face says
// the Reason in a language.
type PairError struct {
	Reason result.Reason
	// Cause is the error behind it, if there is one.
	Cause error
	// File is what cannot be read, empty where that is not the matter.
	File string
}

func (e *PairError) Unwrap() error { return e.Cause }

func (e *PairError) Error() string {
	return strings.Join(append([]string{string(e.Reason.Kind)}, e.Reason.Args...), " ")
}

func planFailed(kind result.Kind, args ...string) *PairError {
	return &PairError{Reason: result.Because(kind, args...)}
}

// unreadable is why a file cannot be read.
func unreadable(kind result.Kind, file string, err error, args ...string) *PairError {
	return &PairError{Reason: result.Because(kind, args...), Cause: err, File: file}
}

// onRow does the work that a row tells of. Why it has no values is noted on it; an error is that of a run that ends.
func onRow(row *result.Row, work func()) error {
	err := must.Try(work)
	if failed, ok := err.(*PairError); ok {
		refuse(row, failed)
		return nil
	}
	return err
}

// refuse notes on a row why it has no values.
func refuse(row *result.Row, e *PairError) {
	if e.Reason.Kind.Class() == result.Unreadable {
		row.Unreadable(e.Reason, e.File, e.Cause)
		return
	}
	row.Add(e.Reason)
}

func shapesDiffer(op string, left, right []int64) *PairError {
	return planFailed(result.ShapesDiffer, op, shapeText(left), shapeText(right))
}

func shapeText(dims []int64) string { return result.ShapeText(dims) }

// count is a number as an argument of a reason.
func count[T int | int64](n T) string { return strconv.FormatInt(int64(n), 10) }

// emptyRight refuses a golden array without elements for a tensor that has some:
// to cut the tensor down to nothing would leave nothing that could differ.
func emptyRight(op string, s stored, g rightShape) {
	right, okRight := nd.Count(g.data...)
	if left, ok := nd.Count(s.shape...); ok && okRight && left > 0 && right == 0 {
		must.Do(shapesDiffer(op, s.shape, g.data))
	}
}

// oldScalarLike is the old tool's test, the sum of the dims against their
// number: it takes [0,2] for a scalar as well.
func oldScalarLike(shape []int64) bool {
	var sum int64
	for _, d := range shape {
		sum += d
	}
	return sum == int64(len(shape))
}

// golden is the layout of a golden array and how many elements it has, which has to have some for a tensor that has.
func golden(op string, s stored, g rightShape) (target layout.Format, n int64) {
	target = targetLayout(g, s.format)
	n, ok := nd.Count(g.data...)
	if !ok {
		must.Do(planFailed(result.NoRightShape, op, shapeText(g.data)))
	}
	emptyRight(op, s, g)
	return target, n
}

// targetLayout reads the golden layout's name. NHWC and NCHW are corrected by
// the data: when the array does not have the shape that the graph declares but
// the same shape in the other axis order, it was saved in that order.
func targetLayout(g rightShape, own layout.Format) layout.Format {
	if g.layout == "" {
		return own
	}
	f, ok := layout.Parse(g.layout)
	if !ok || !f.Named() {
		must.Do(planFailed(result.LayoutUnknown, g.layout))
	}
	if len(g.rule) == 4 && len(g.data) == 4 && !slices.Equal(g.rule, g.data) {
		switch {
		case f == layout.NHWC && slices.Equal(g.rule, permuted(g.data, 0, 2, 3, 1)):
			f = layout.NCHW
		case f == layout.NCHW && slices.Equal(g.rule, permuted(g.data, 0, 3, 1, 2)):
			f = layout.NHWC
		}
	}
	return f
}

func permuted(dims []int64, axes ...int) []int64 {
	return each.Of(axes, func(a int) int64 { return dims[a] })
}

// samePlan compares two framework arrays: their shapes must agree, and nothing
// is converted.
func samePlan(op string, s stored, g rightShape) plan {
	if !slices.Equal(s.shape, g.data) {
		must.Do(shapesDiffer(op, s.shape, g.data))
	}
	v := viewed(op)(layout.Contiguous(s.shape))
	return plan{view: v, shape: v.Dims, count: v.Len()}
}

// viewed is a view that was made, or ends the work on the pair.
func viewed(op string) func(layout.View, error) layout.View {
	return func(v layout.View, err error) layout.View {
		if err != nil {
			must.Do(planFailed(result.BadView, op, err.Error()))
		}
		return v
	}
}
