package choice

import (
	"math"
	"slices"
	"testing"

	"precision/graph"
)

func pair(shape []int64, left, right []float64) *Pair { return &Pair{shape, left, right} }

func ints(key string, v ...int64) graph.Attr {
	l := graph.List{Elem: graph.KindInt, Ints: v}
	return graph.NewAttr(&key, graph.NewBuilder().ListValue(&l))
}

func whole(key string, v int64) graph.Attr {
	return graph.NewAttr(&key, graph.NewBuilder().IntValue(v))
}

var nan = math.NaN()

func TestLook(t *testing.T) {
	for _, c := range []struct {
		name                       string
		call                       Call
		out                        int
		choices, differ, explained int64
		unknown                    bool
		mask                       []int
	}{
		{"two scores closer than their error change places", Call{Type: "TopKD",
			In:  []*Pair{pair([]int64{1, 4}, []float64{0.501, 0.5, 0.9, 0.1}, []float64{0.5, 0.5005, 0.9, 0.1})},
			Out: []*Pair{nil, pair([]int64{1, 3}, []float64{2, 0, 1}, []float64{2, 1, 0})}}, 1, 3, 2, 2, false, []int{1, 2}},
		{"a place whose score is far away", Call{Type: "TopKD",
			In:  []*Pair{pair([]int64{1, 4}, []float64{0.501, 0.5, 0.9, 0.1}, []float64{0.5, 0.5005, 0.9, 0.1})},
			Out: []*Pair{nil, pair([]int64{1, 3}, []float64{2, 0, 3}, []float64{2, 1, 0})}}, 1, 3, 2, 1, false, []int{1}},
		{"one place twice", Call{Type: "TopKD",
			In:  []*Pair{pair([]int64{1, 3}, []float64{0.501, 0.5, 0.9}, []float64{0.5, 0.5005, 0.9})},
			Out: []*Pair{nil, pair([]int64{1, 3}, []float64{2, 1, 1}, []float64{2, 1, 0})}}, 1, 3, 1, 0, false, nil},
		{"scores that are equal on both sides, and equal to each other", Call{Type: "ArgMaxD",
			In:  []*Pair{pair([]int64{2, 2}, []float64{1, 1, 3, 2}, []float64{1, 1, 3, 2})},
			Out: []*Pair{pair([]int64{2}, []float64{1, 1}, []float64{0, 0})}}, 0, 2, 2, 1, false, []int{0}},
		{"along another axis", Call{Type: "ArgMaxD", Op: &graph.Op{Attrs: graph.Attrs{whole("dimension", 0)}},
			In:  []*Pair{pair([]int64{2, 2}, []float64{1.01, 5, 1, 9}, []float64{1, 5, 1.005, 9})},
			Out: []*Pair{pair([]int64{2}, []float64{0, 0}, []float64{1, 1})}}, 0, 2, 2, 1, false, []int{0}},
		{"a place outside", Call{Type: "ArgMaxD",
			In:  []*Pair{pair([]int64{1, 2}, []float64{1, 2}, []float64{1, 2.5})},
			Out: []*Pair{pair([]int64{1}, []float64{7}, []float64{1})}}, 0, 1, 1, 0, false, nil},
		{"NaN has no order", Call{Type: "ArgMaxD",
			In:  []*Pair{pair([]int64{1, 3}, []float64{nan, 2, 1}, []float64{1, 2.5, 1})},
			Out: []*Pair{pair([]int64{1}, []float64{0}, []float64{1})}}, 0, 1, 1, 0, true, []int{0}},
		{"a comparison of near equals", Call{Type: "Greater",
			In:  []*Pair{pair([]int64{3}, []float64{1.01, 2, 0}, []float64{0.99, 2, 0}), pair([]int64{1}, []float64{1}, []float64{1})},
			Out: []*Pair{pair([]int64{3}, []float64{1, 1, 0}, []float64{0, 1, 0})}}, 0, 3, 1, 1, false, []int{0}},
		{"a comparison of what is apart", Call{Type: "Greater",
			In:  []*Pair{pair([]int64{3}, []float64{1.01, 2, 0}, []float64{1.02, 2, 0}), pair([]int64{1}, []float64{1}, []float64{1})},
			Out: []*Pair{pair([]int64{3}, []float64{1, 0, 0}, []float64{1, 1, 0})}}, 0, 3, 1, 0, false, nil},
		{"a number that nobody compared parts them", Call{Type: "Greater",
			In:  []*Pair{pair([]int64{3}, []float64{1.01, 2, 0}, []float64{0.99, 2, 0}), nil},
			Out: []*Pair{pair([]int64{3}, []float64{1, 1, 0}, []float64{0, 1, 0})}}, 0, 3, 1, 1, false, []int{0}},
		{"a gate that opens on one side", Call{Type: "ReluGrad",
			In:  []*Pair{pair([]int64{3}, []float64{5, 6, 7}, []float64{5, 6, 7}), pair([]int64{3}, []float64{0, 1, 2}, []float64{1e-5, 1, 2})},
			Out: []*Pair{pair([]int64{3}, []float64{0, 6, 7}, []float64{5, 6, 7})}}, 0, 3, 1, 1, false, []int{0}},
		{"the largest of a window is another", Call{Type: "MaxPoolGrad", Op: &graph.Op{Attrs: graph.Attrs{ints("ksize", 1, 1, 1, 2), ints("strides", 1, 1, 1, 2)}},
			In:  []*Pair{pair([]int64{1, 1, 1, 4}, []float64{1.01, 1, 2, 3}, []float64{1, 1.005, 2, 3}), nil, pair([]int64{1, 1, 1, 2}, []float64{5, 6}, []float64{5, 6})},
			Out: []*Pair{pair([]int64{1, 1, 1, 4}, []float64{5, 0, 0, 6}, []float64{0, 5, 0, 6})}}, 0, 2, 1, 1, false, []int{0, 1}},
		{"boxes of near scores", Call{Type: "NonMaxSuppressionV6",
			In:  []*Pair{nil, pair([]int64{1, 4}, []float64{0.8, 0.81, 0.5, 0.4}, []float64{0.805, 0.8, 0.5, 0.4})},
			Out: []*Pair{pair([]int64{3, 3}, []float64{0, 0, 1, 0, 0, 0, 0, 0, 3}, []float64{0, 0, 0, 0, 0, 1, 0, 0, 3})}}, 0, 3, 2, 2, false, []int{0, 1, 2, 3, 4, 5}},
		{"other boxes", Call{Type: "NonMaxSuppressionV6",
			In:  []*Pair{nil, pair([]int64{1, 8}, make([]float64, 8), []float64{1e-3, 0, 0, 0, 0, 0, 0, 0})},
			Out: []*Pair{pair([]int64{3, 3}, []float64{0, 0, 1, 0, 0, 2, 0, 0, 3}, []float64{0, 0, 4, 0, 0, 5, 0, 0, 6})}}, 0, 3, 3, 0, false, nil},
	} {
		found := c.call.Look()
		if len(found) <= c.out {
			t.Errorf("%s: nothing found", c.name)
			continue
		}
		f := found[c.out]
		var mask []int
		for i, b := range f.Mask.Bits {
			if b {
				mask = append(mask, i)
			}
		}
		if f.Choices != c.choices || f.Differ != c.differ || f.Explained != c.explained || f.Unknown != c.unknown || !slices.Equal(mask, c.mask) {
			t.Errorf("%s: found %+v, mask %v", c.name, f, mask)
		}
	}
}

// Tensors that do not go together have no findings, and nothing panics.
func TestOdd(t *testing.T) {
	odd := []*Pair{nil, pair(nil, []float64{1}, []float64{2}), pair([]int64{0, 3}, nil, nil), pair([]int64{2, 2}, []float64{1, nan, -7, 9}, []float64{0, 1, 1e300, 9}),
		pair([]int64{1, 1, 2, 2}, []float64{1, 2, 3, 4}, []float64{4, 3, 2, 1})}
	ops := []*graph.Op{nil, {Attrs: graph.Attrs{whole("axis", -9), ints("ksize", 1, 1, 3, 3), ints("strides", 1, 1, 1, 1)}}, {Attrs: graph.Attrs{ints("ksize", 0, 1, 3, 3), ints("strides", 1, 1, 0, 1), whole("dimension", 1)}}}
	for typ := range looks {
		for _, op := range ops {
			for _, a := range odd {
				for _, b := range odd {
					for _, y := range odd {
						c := Call{Type: typ, Op: op, In: []*Pair{a, b, a}, Out: []*Pair{y, y}}
						for _, f := range c.Look() {
							if f.Explained > f.Differ || f.Differ > f.Choices {
								t.Errorf("%s: found %+v", typ, f)
							}
						}
					}
				}
			}
		}
	}
}

func TestFollow(t *testing.T) {
	bits := func(n int, set ...int) *Mask {
		m := &Mask{Bits: make([]bool, n)}
		for _, i := range set {
			m.Bits[i] = true
		}
		return m
	}
	for _, c := range []struct {
		typ    string
		op     *graph.Op
		shapes [][]int64
		masks  []*Mask
		out    []int64
		want   []int // nil is mixed
	}{
		{"Add", nil, [][]int64{{2, 2}, {2}}, []*Mask{bits(4, 3), nil}, []int64{2, 2}, []int{3}},
		{"Add", nil, [][]int64{{2, 2}, {2}}, []*Mask{nil, bits(2, 1)}, []int64{2, 2}, []int{1, 3}},
		{"Reshape", nil, [][]int64{{1, 4}}, []*Mask{bits(4, 2)}, []int64{4}, []int{2}},
		{"TransposeD", &graph.Op{Attrs: graph.Attrs{ints("perm", 1, 0)}}, [][]int64{{2, 3}}, []*Mask{bits(6, 1)}, []int64{3, 2}, []int{2}},
		{"TransposeD", nil, [][]int64{{2, 3}}, []*Mask{bits(6, 1)}, []int64{3, 2}, nil},
		{"GatherV2D", nil, [][]int64{{9, 2}, {3}}, []*Mask{nil, bits(3, 1)}, []int64{3, 2}, []int{2, 3}},
		{"GatherV2D", nil, [][]int64{{9, 2}, {3}}, []*Mask{bits(18, 1), nil}, []int64{3, 2}, nil},
		{"StridedSliceD", nil, [][]int64{{3, 4}}, []*Mask{bits(12, 4)}, []int64{3, 1}, []int{1}},
		{"ConcatD", &graph.Op{Attrs: graph.Attrs{whole("concat_dim", 1)}}, [][]int64{{2, 2}, {2, 1}}, []*Mask{bits(4, 3), nil}, []int64{2, 3}, []int{3, 4, 5}},
		{"ConcatD", &graph.Op{Attrs: graph.Attrs{whole("concat_dim", 0)}}, [][]int64{{2, 2}, {1, 2}}, []*Mask{bits(4, 3), nil}, []int64{3, 2}, nil},
		{"SoftmaxV2", nil, [][]int64{{2, 2}}, []*Mask{bits(4, 3)}, []int64{2, 2}, []int{2, 3}},
		{"SoftmaxV2", &graph.Op{Attrs: graph.Attrs{ints("axes", 0)}}, [][]int64{{2, 2}}, []*Mask{bits(4, 3)}, []int64{2, 2}, nil},
		{"ReduceSumD", &graph.Op{Attrs: graph.Attrs{ints("axes", 1)}}, [][]int64{{2, 2}}, []*Mask{bits(4, 3)}, []int64{2}, []int{1}},
		{"ReduceSumD", &graph.Op{Attrs: graph.Attrs{ints("axes", 0)}}, [][]int64{{2, 2}}, []*Mask{bits(4, 3)}, []int64{2}, nil},
		{"MatMulV2", nil, [][]int64{{2, 2}, {2, 3}}, []*Mask{bits(4, 3), nil}, []int64{2, 3}, []int{3, 4, 5}},
		{"MatMulV2", nil, [][]int64{{2, 2}, {2, 3}}, []*Mask{nil, bits(6, 3)}, []int64{2, 3}, nil},
		{"Conv2D", nil, [][]int64{{1, 1, 2, 2}}, []*Mask{bits(4, 3)}, []int64{1, 1, 2, 2}, nil},
	} {
		call := Call{Type: c.typ, Op: c.op}
		m := call.Follow(c.shapes, c.masks, c.out)
		var got []int
		if m != nil {
			for i, b := range m.Bits {
				if b {
					got = append(got, i)
				}
			}
		}
		if m == nil || m.Mixed != (c.want == nil) || !m.Mixed && !slices.Equal(got, c.want) {
			t.Errorf("%s %v: %+v, want %v", c.typ, c.shapes, m, c.want)
		}
	}
	if m := (&Call{Type: "Add"}).Follow([][]int64{{2}}, []*Mask{nil}, []int64{2}); m != nil {
		t.Errorf("of nothing follows %+v", m)
	}
}
