package look

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"precision/compare/engine"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/dump/dtype"
)

// TestAt: a tile that was not written shows at its place in every picture.
func TestAt(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	shape := []int64{2, 32, 8, 10}
	right := make([]float64, 2*32*8*10)
	left := make([]float64, len(right))
	for i := range right {
		right[i] = 1 + r.Float64()
		left[i] = right[i] * (1 + 1e-4*(r.Float64()-0.5))
	}
	for i := range left { // channels 16 to 31, columns 8 and 9
		if i/80%32 >= 16 && i%10 >= 8 {
			left[i] = 0
		}
	}
	left[5] = math.NaN()
	left[7] = right[7]
	l := At(&result.Row{Op: "conv", Role: result.Output, Shape: shape, Left: result.Operand{DType: dtype.Float32}}, engine.Seen{Left: left, Right: right})
	sum := int64(0)
	for _, n := range l.Histogram {
		sum += n
	}
	if l.Tensor != "conv:output:0" || l.Equal != 1 || sum != int64(len(left))-2 { // one equal, one NaN
		t.Errorf("%s: %d equal, %d in the histogram", l.Tensor, l.Equal, sum)
	}
	if len(l.Channels) != 32 || l.ChannelAxis != 1 || !(l.Channels[15] < 1e-3) || !(l.Channels[16] > 0.1) {
		t.Errorf("channels %v along axis %d", l.Channels, l.ChannelAxis)
	}
	if l.MapKept != 8 || len(l.Map) != 80 || !(l.Map[77] < 1e-3) || !(l.Map[78] > 0.5) || !(l.Map[5] >= 1) {
		t.Errorf("map of %d rows: %v", l.MapKept, l.Map)
	}
	pairs := int64(0)
	for _, n := range l.Density {
		pairs += n
	}
	if l.DensityLow != 0 || pairs != int64(len(left))-1 {
		t.Errorf("density from %g, of %d pairs", l.DensityLow, pairs)
	}
	if len(l.First) != listed || l.First[0].Index != 0 || len(l.Largest) != listed || l.Largest[0].Index != 5 {
		t.Fatalf("first %v, largest %v", l.First, l.Largest)
	}
	for i, e := range l.Largest[1:] {
		if e.X != 0 || i > 0 && math.Abs(e.Y) > math.Abs(l.Largest[i].Y) {
			t.Errorf("largest, number %d: %v", i+1, e)
		}
	}
	if len(l.Patterns) == 0 {
		t.Error("no kind of wrong")
	}
}

// TestAtOdd: nothing that tensors can hold makes a look fail, and what it yields
// are numbers.
func TestAtOdd(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for i, c := range []struct {
		shape       []int64
		left, right []float64
	}{
		{nil, nil, nil}, {[]int64{0, 3}, nil, nil}, {[]int64{}, []float64{1}, []float64{2}}, {[]int64{1}, []float64{nan}, []float64{1}},
		{[]int64{2, 2}, []float64{nan, inf, -inf, 0}, []float64{nan, -inf, 1, 0}}, {[]int64{4}, []float64{1, 1, 1, 1}, []float64{1, 1, 1, 1}},
		{[]int64{2, 2}, []float64{1e308, -1e308, 0, 0}, []float64{-1e308, 1e308, 5e-324, 0}}, {[]int64{9, 9}, []float64{1, 2}, []float64{3, 4}},
		{[]int64{1, 2, 3}, make([]float64, 6), []float64{1, 2, 3, 4, 5, 6}},
	} {
		l := At(&result.Row{Op: "op", Shape: c.shape, Left: result.Operand{DType: dtype.Float16}}, engine.Seen{Left: c.left, Right: c.right})
		for _, list := range [][]float64{l.Channels, l.Map, {l.HistogramLow, l.HistogramHigh, l.DensityLow, l.DensityHigh}} {
			for _, v := range list {
				if !finite(v) {
					t.Errorf("case %d: %v in a picture", i, v)
				}
			}
		}
	}
}

// TestTake: the shipped sample's root is looked at, what is good is not, and all
// stays below its bound.
func TestTake(t *testing.T) {
	dir := "../../testdata/sample/"
	s, err := engine.Job{Left: dir + "npu", Right: dir + "golden", Graph: dir + "ge_proto_00000001_graph_1_Build.txt"}.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	j := verdict.Judge(out.Table, verdict.Options{})
	root := j.Row(&j.Operators[j.Roots[0].Operator].Outputs[j.Roots[0].Output])
	for _, operators := range []int{0, 1, 3, 100} {
		if err := Take(t.Context(), Folders(s), j, operators); err != nil {
			t.Fatal(err)
		}
		looks := j.Table.Looks
		if len(looks) > operators || operators > 0 && (len(looks) == 0 || looks[0].Tensor != root.Tensor()) {
			t.Fatalf("of %d operators there are %d looks", operators, len(looks))
		}
		total := 0
		for i := range looks {
			total += size(&looks[i])
		}
		if total > Bytes {
			t.Errorf("looks come to %d bytes", total)
		}
	}
	if got := fmt.Sprint(j.Table.Looks[0].Shape); got != fmt.Sprint(root.Shape) {
		t.Errorf("the look is of the shape %s, the row of %v", got, root.Shape)
	}
	worst := root.Result().Facts.Worst
	if e := j.Table.Looks[0].Largest[0]; e != worst {
		t.Errorf("the largest difference is %v, the comparison found %v", e, worst)
	}
}

// Ids near 2^60 that differ are listed with all that they are: float64 does not tell them
// apart, and no pattern is made of what it leaves.
func TestAtIds(t *testing.T) {
	v := make([]float64, 40)
	for i := range v {
		v[i] = 1 << 60
	}
	s := engine.Seen{Left: v, Right: v, LeftRest: make([]float64, 40), RightRest: make([]float64, 40)}
	s.LeftRest[17], s.LeftRest[3], s.RightRest[3] = 7, 5, 5
	l := At(&result.Row{Op: "ids", Shape: []int64{40}, Left: result.Operand{DType: dtype.Int64}}, s)
	if l.Equal != 39 || len(l.Largest) != 1 || l.Largest[0] != s.Element(17) || l.Largest[0].XRest != 7 || len(l.Patterns) != 0 {
		t.Errorf("%+v", l)
	}
}
