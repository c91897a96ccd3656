package engine

import (
	"precision/compare/metric"
	"precision/compare/result"
	"precision/dump/dtype"
	"precision/internal/nd"
)

// dialect is where a comparison in reference numerics keeps the habits of
// msaccucmp.py, so that old reports can be reproduced. The engine asks it; nothing
// else in the package knows which tool is followed.
type dialect struct {
	// plan prepares a tensor by a graph.
	plan planner
	// restores: golden device dumps are brought to framework order first.
	restores bool
	// scalar tells whether a pair counts as a single element.
	scalar func(shape []int64) bool
	// stored: the shape to ask scalar for is the stored one, padding included.
	stored bool
	// reads tells whether elements of a type are compared.
	reads func(dtype.Type) bool
	// overflow is the verdict on a float16 tensor: some element reached the end
	// of the range, some is NaN.
	overflow func(end, nan bool) bool
	// booleans are compared as such, and not as 0 and 1.
	booleans bool
	// allOrNothing: a dump none of whose tensors can be read is no dump, and one
	// tensor of another shape drops all inputs or outputs of the operator.
	allOrNothing bool
	// terse: what the old tool keeps to itself has no row and no reason.
	terse bool
	// obeys: pairs are found by the graph that was given, however little it covers.
	obeys bool
	// longPaths: notes name files by their full paths.
	longPaths bool
}

var (
	exactDialect = &dialect{
		plan: bestPlan, restores: true, scalar: nd.Single, reads: dtype.Type.Readable,
		overflow: func(end, _ bool) bool { return end },
	}
	oldDialect = &dialect{
		plan: oldPlan, scalar: oldScalarLike, stored: true, booleans: true, allOrNothing: true, terse: true, obeys: true, longPaths: true,
		// There is no int4, no quantised type, no complex32 and no scale.
		reads: func(t dtype.Type) bool { _, ok := t.Reference(); return ok },
		// NaN wins the maximum that is looked at.
		overflow: func(end, nan bool) bool { return end && !nan },
	}
)

// dialect is that of the numerics.
func (o *Options) dialect() *dialect {
	if o.Numerics == metric.Reference {
		return oldDialect
	}
	return exactDialect
}

// columns adds to the columns of a table how the dialect fills its cells.
func (d *dialect) columns(c result.Columns, byGraph bool) result.Columns {
	c.Quiet, c.Loaded = d.terse, d.terse && byGraph
	return c
}
