package engine

import (
	"slices"
	"testing"

	"precision/compare/result"
	"precision/dump/layout"
	"precision/internal/must"
	"precision/internal/nd"
)

func shape(dims ...int64) []int64 { return dims }

func TestPlans(t *testing.T) {
	for _, c := range []struct {
		name      string
		format    layout.Format
		shape     []int64
		golden    rightShape
		old, best string // shape of the plan, or "" when there is none
		remark    bool
	}{
		{"nd", layout.ND, shape(2, 3), rightShape{"ND", nil, shape(2, 3)}, "(6)", "(2, 3)", false},
		{"nd transposed", layout.ND, shape(2, 3), rightShape{"ND", nil, shape(3, 2)}, "(6)", "(2, 3)", false},
		{"nd longer", layout.ND, shape(9), rightShape{"ND", nil, shape(6)}, "(6, 1, 1, 1)", "", false},
		{"nd of a larger batch", layout.ND, shape(8, 3), rightShape{"ND", nil, shape(2, 3)}, "(6, 1, 1, 1)", "(2, 3)", true},
		{"nd wider", layout.ND, shape(8, 5), rightShape{"ND", nil, shape(8, 3)}, "(24, 1, 1, 1)", "", false},
		{"nd shorter", layout.ND, shape(4), rightShape{"ND", nil, shape(5)}, "", "", false},
		{"channels", layout.NC1HWC0, shape(1, 1, 4, 4, 16), rightShape{"NCHW", shape(1, 3, 4, 4), shape(1, 3, 4, 4)}, "(1, 3, 4, 4)", "(1, 3, 4, 4)", false},
		{"file in the other order", layout.NC1HWC0, shape(1, 1, 4, 5, 16), rightShape{"NCHW", shape(1, 6, 4, 5), shape(1, 4, 5, 6)}, "(1, 4, 5, 6)", "(1, 4, 5, 6)", false},
		{"nz", layout.FractalNZ, shape(2, 2, 16, 16), rightShape{"ND", shape(20, 30), shape(20, 30)}, "(20, 30)", "(20, 30)", false},
		{"nz implausible", layout.FractalNZ, shape(2, 2, 16, 16), rightShape{"ND", shape(3, 30), shape(3, 30)}, "", "", false},
		{"nz vector", layout.FractalNZ, shape(2, 1, 16, 16), rightShape{"ND", shape(30), shape(30)}, "(1, 30)", "(30)", false},
		{"weights", layout.FractalZ, shape(20, 1, 16, 16), rightShape{"HWCN", shape(4, 5, 3, 2), shape(4, 5, 3, 2)}, "(4, 5, 3, 2)", "(4, 5, 3, 2)", false},
		{"weights to nhwc", layout.FractalZ, shape(20, 1, 16, 16), rightShape{"NHWC", shape(2, 4, 5, 3), shape(2, 4, 5, 3)}, "", "(2, 4, 5, 3)", false},
		{"nhwc network", layout.NC1HWC0, shape(1, 2, 7, 7, 16), rightShape{"NHWC", shape(1, 7, 7, 32), shape(1, 7, 7, 32)}, "(1, 7, 7, 32)", "(1, 7, 7, 32)", false},
		{"larger batch", layout.NC1HWC0, shape(2, 1, 4, 4, 16), rightShape{"NCHW", shape(1, 3, 4, 4), shape(1, 3, 4, 4)}, "(1, 3, 4, 4)", "(1, 3, 4, 4)", true},
		{"volume", layout.NDC1HWC0, shape(1, 2, 2, 3, 3, 16), rightShape{"NCDHW", shape(1, 20, 2, 3, 3), shape(1, 20, 2, 3, 3)}, "(1, 20, 2, 3, 3)", "(1, 20, 2, 3, 3)", false},
		{"unknown layout", layout.ND, shape(2), rightShape{"NCWH", nil, shape(2)}, "", "", false},
		{"no layout named", layout.NC1HWC0, shape(1, 1, 2, 2, 16), rightShape{"", nil, shape(1, 1, 2, 2, 16)}, "(1, 1, 2, 2, 16)", "(1, 1, 2, 2, 16)", false},
		{"no elements", layout.ND, shape(0, 3), rightShape{"ND", nil, shape(0, 3)}, "(0, 3)", "(0, 3)", false},
		{"golden without elements", layout.ND, shape(2, 3), rightShape{"ND", nil, shape(0)}, "", "", false},
		{"golden rows without elements", layout.ND, shape(6), rightShape{"ND", nil, shape(0, 2)}, "", "", false},
		{"golden channels without elements", layout.NC1HWC0, shape(1, 1, 4, 4, 16), rightShape{"NCHW", nil, shape(3, 0)}, "", "", false},
		{"scalar, golden without elements", layout.ND, shape(), rightShape{"ND", nil, shape(0)}, "", "", false},
		{"scalar", layout.ND, shape(), rightShape{"ND", nil, shape()}, "(1)", "()", false},
	} {
		n, _ := nd.Count(c.shape...)
		s := stored{format: c.format, shape: c.shape, elements: n}
		for which, planner := range map[string]planner{"old": oldPlan, "best": bestPlan} {
			want := c.best
			if which == "old" {
				want = c.old
			}
			p, failed := must.Of(func() plan { return planner("op", s, c.golden) })
			got := ""
			if failed == nil {
				got = shapeText(p.shape)
			}
			if got != want {
				t.Errorf("%s %s: %q, want %q (%v)", which, c.name, got, want, failed)
				continue
			}
			if failed != nil {
				if failed.(*PairError).Reason.Kind == "" {
					t.Errorf("%s %s: no reason", which, c.name)
				}
				continue
			}
			if p.view.Len() != p.count {
				t.Errorf("%s %s: %d elements, want %d", which, c.name, p.view.Len(), p.count)
			}
			if which == "best" && (len(p.remarks) > 0) != c.remark {
				t.Errorf("%s: remarks %v", c.name, p.remarks)
			}
			if (len(p.orders) > 0) != (which == "best" && c.name == "nd transposed") {
				t.Errorf("%s %s: %d orders", which, c.name, len(p.orders))
			}
		}
	}
}

// A framework may reshape a tensor behind the operator that made it, or save it
// flat: its elements are told from the padding by the operator's own shape.
func TestBestPlanReshaped(t *testing.T) {
	for _, c := range []struct {
		name                  string
		format                layout.Format
		shape, origin, golden []int64
		layout, want          string
		remark                bool
	}{
		{"batch and length apart", layout.FractalNZ, shape(2, 4, 16, 16), shape(60, 30), shape(3, 20, 30), "ND", "(60, 30)", true},
		{"flat", layout.NC1HWC0, shape(1, 1, 5, 6, 16), shape(1, 3, 5, 6), shape(90), "NCHW", "(1, 3, 5, 6)", true},
		{"flat of the other order", layout.NC1HWC0, shape(1, 1, 5, 6, 16), shape(1, 5, 6, 3), shape(90), "NHWC", "(1, 5, 6, 3)", true},
		{"another count", layout.NC1HWC0, shape(1, 1, 5, 6, 16), shape(1, 3, 5, 6), shape(91), "NCHW", "", false},
		{"no shape of its own", layout.FractalNZ, shape(2, 4, 16, 16), nil, shape(3, 20, 30), "ND", "", false},
		{"a format that says nothing", layout.Reserved, shape(1, 3, 5, 6), nil, shape(1, 3, 5, 6), "NCHW", "(1, 3, 5, 6)", false},
		{"a graph in another order", layout.NCHW, shape(1, 3, 5, 6), nil, shape(1, 3, 5, 6), "NHWC", "(1, 3, 5, 6)", false},
	} {
		n, _ := nd.Count(c.shape...)
		s := stored{format: c.format, shape: c.shape, origin: c.origin, elements: n}
		p, failed := must.Of(func() plan { return bestPlan("op", s, rightShape{layout: c.layout, data: c.golden}) })
		got := ""
		if failed == nil {
			got = shapeText(p.shape)
			if p.view.Len() != p.count {
				t.Errorf("%s: %d elements, want %d", c.name, p.view.Len(), p.count)
			}
		}
		if got != c.want || (len(p.remarks) > 0) != c.remark {
			t.Errorf("%s: %q, want %q (remarks %v, %v)", c.name, got, c.want, p.remarks, failed)
		}
	}
}

func TestScalarLike(t *testing.T) {
	for _, c := range []struct {
		shape     []int64
		old, ours bool
	}{{shape(), true, true}, {shape(1, 1), true, true}, {shape(0, 2), true, false}, {shape(2, 1), false, false}, {shape(3, 0, 0), true, false}} {
		if old, ours := oldScalarLike(c.shape), nd.Single(c.shape); old != c.old || ours != c.ours {
			t.Errorf("%v: %v %v", c.shape, old, ours)
		}
	}
}

func TestPermuted(t *testing.T) {
	if got := permuted(shape(1, 2, 3, 4), 0, 2, 3, 1); !slices.Equal(got, shape(1, 3, 4, 2)) {
		t.Error(got)
	}
}

// A golden array of one element belongs to a blocked tensor whose logical shape has one:
// padding makes 16 or 256 of it. Beside more elements it has no counterpart.
func TestOneElement(t *testing.T) {
	for _, c := range []struct {
		name          string
		format        layout.Format
		shape, origin []int64
		golden        rightShape
		differs       []int64 // the shape that does not fit, nil if the pair is compared
	}{
		{"channels", layout.NC1HWC0, shape(1, 1, 1, 1, 16), nil, rightShape{"ND", nil, shape()}, nil},
		{"channels, in the graph", layout.NC1HWC0, shape(1, 1, 1, 1, 16), nil, rightShape{"NCHW", shape(1, 1, 1, 1), shape()}, nil},
		{"channels, in the header", layout.NC1HWC0, shape(1, 1, 1, 1, 16), shape(1), rightShape{"", shape(1), shape(1)}, nil},
		{"rows", layout.FractalNZ, shape(1, 1, 16, 16), nil, rightShape{"", nil, shape()}, nil},
		{"rows, (1)", layout.FractalNZ, shape(1, 1, 16, 16), shape(1, 1), rightShape{"ND", shape(1, 1), shape(1)}, nil},
		{"weights", layout.FractalZ, shape(1, 1, 16, 16), nil, rightShape{"NCHW", nil, shape(1)}, nil},
		{"volume", layout.NDC1HWC0, shape(1, 1, 1, 1, 1, 16), nil, rightShape{"", nil, shape()}, nil},
		{"three channels", layout.NC1HWC0, shape(1, 1, 1, 1, 16), shape(1, 3, 1, 1), rightShape{"", shape(1, 3, 1, 1), shape(1)}, shape(1, 3, 1, 1)},
		{"three columns of the graph", layout.FractalNZ, shape(1, 1, 16, 16), nil, rightShape{"ND", shape(1, 3), shape()}, shape(1, 3)},
		{"four places", layout.NC1HWC0, shape(1, 1, 2, 2, 16), nil, rightShape{"", nil, shape()}, shape(1, 1, 2, 2, 16)},
		{"two blocks", layout.FractalNZ, shape(2, 1, 16, 16), nil, rightShape{"", nil, shape(1)}, shape(2, 1, 16, 16)},
		{"no blocks", layout.ND, shape(16), nil, rightShape{"ND", nil, shape()}, shape(16)},
	} {
		n, _ := nd.Count(c.shape...)
		s := stored{format: c.format, shape: c.shape, origin: c.origin, elements: n}
		p, failed := must.Of(func() plan { return bestPlan("op", s, c.golden) })
		switch {
		case c.differs != nil:
			if failed == nil || !failed.(*PairError).Reason.Equal(result.Because(result.ShapesDiffer, "op", shapeText(c.differs), shapeText(c.golden.data))) {
				t.Errorf("%s: %v, %v", c.name, p.shape, failed)
			}
		case failed != nil || p.count != 1 || p.view.Len() != 1 || len(p.remarks) > 0 || !slices.Equal(p.shape, c.golden.data):
			t.Errorf("%s: %+v, %v", c.name, p, failed)
		}
	}
}
