package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/internal/nd"
	"precision/testdata/workshop/dumptest"
)

// ofAxes is an operator of a made-up recording: how its dump stores a tensor and how the
// golden side keeps it.
type ofAxes struct {
	name   string
	shape  []int64 // NCHW
	format int
	origin bool // the header has the shape in the framework's order
	last   bool // the framework keeps channels last
	golden []int64
}

// write makes the dump and the golden array of an operator from the same numbers.
func (o *ofAxes) write(t *testing.T, dir string, at int) {
	t.Helper()
	n := o.shape[0] * o.shape[1] * o.shape[2] * o.shape[3]
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(i + 1)
	}
	golden, dims := v, o.shape
	if o.last {
		golden, dims = dumptest.Transpose(v, o.shape, 0, 2, 3, 1)
	}
	d := dumptest.Tensor{Type: dumptest.Float32, Format: o.format, Shape: o.shape}
	if o.origin {
		d.Origin = dims
	}
	switch o.format {
	case dumptest.NC1HWC0:
		v, d.Shape = dumptest.ToNC1HWC0(v, o.shape, 16)
	case 1: // NHWC
		v, d.Shape = dumptest.Transpose(v, o.shape, 0, 2, 3, 1)
	}
	d.Data = dumptest.Floats(v)
	if o.golden != nil {
		dims = o.golden
	}
	dump := dumptest.Dump{Outputs: []dumptest.Tensor{d}}
	for _, err := range []error{
		dump.Write(filepath.Join(dir, "npu", fmt.Sprintf("Op.%s.%d.2.16300000000001%02d", o.name, at, at))),
		dumptest.WriteNpy(filepath.Join(dir, "golden", fmt.Sprintf("%s.0.16300000000001%02d.npy", o.name, at)), "<f4", dims, dumptest.Floats(golden)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// axesRows compares operators without a graph.
func axesRows(t *testing.T, ops []ofAxes) map[string]*result.Row {
	t.Helper()
	dir := t.TempDir()
	for _, side := range []string{"npu", "golden"} {
		if err := os.Mkdir(filepath.Join(dir, side), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for i := range ops {
		ops[i].write(t, dir, i)
	}
	table, _ := network(t, Job{Left: dir + "/npu", Right: dir + "/golden", Options: Options{Numerics: metric.Exact}})
	rows := map[string]*result.Row{}
	for i := range table.Rows {
		rows[table.Rows[i].Op] = &table.Rows[i]
	}
	return rows
}

// Tensors that the two sides hold in other orders of axes agree, or are not compared and
// say why: never are they compared in the order in which they happen to be stored.
func TestAxesWithoutGraph(t *testing.T) {
	const nchw, nhwc, nd = 0, 1, 2
	five := dumptest.NC1HWC0
	for _, last := range []bool{false, true} {
		tells := ofAxes{name: "tells", shape: shape(1, 20, 5, 6), format: five}
		for _, c := range []struct {
			ofAxes
			alone, beside bool // compared alone, compared beside a tensor that tells the order
		}{
			{ofAxes{name: "plain", shape: shape(1, 20, 5, 6), format: nchw}, true, true},
			{ofAxes{name: "plain_last", shape: shape(2, 20, 5, 6), format: nhwc}, true, true},
			{ofAxes{name: "square", shape: shape(1, 20, 6, 6), format: nchw}, true, true},
			{ofAxes{name: "named", shape: shape(1, 20, 5, 6), format: nd, origin: true}, true, true},
			{ofAxes{name: "unnamed", shape: shape(1, 20, 5, 6), format: nd}, true, true},
			{ofAxes{name: "blocks", shape: shape(1, 20, 5, 6), format: five}, true, true},
			{ofAxes{name: "cube", shape: shape(1, 16, 16, 16), format: five}, false, true},
			{ofAxes{name: "cube_origin", shape: shape(1, 16, 16, 16), format: five, origin: true}, false, true},
			{ofAxes{name: "plain_cube", shape: shape(1, 8, 8, 8), format: nchw}, !last, true},
			{ofAxes{name: "places", shape: shape(1, 20, 5, 6), format: nchw, golden: merged(last, 20, 30)}, true, true},
			{ofAxes{name: "places_blocks", shape: shape(1, 20, 5, 6), format: five, origin: true, golden: merged(last, 20, 30)}, true, true},
			{ofAxes{name: "flat_origin", shape: shape(1, 20, 5, 6), format: five, origin: true, golden: shape(600)}, true, true},
			{ofAxes{name: "flat_plain", shape: shape(1, 20, 5, 6), format: nchw, origin: true, golden: shape(600)}, true, true},
			{ofAxes{name: "one_place", shape: shape(1, 20, 1, 1), format: five, golden: shape(1, 20)}, true, true},
		} {
			c.last, tells.last = last, last
			if c.name == "plain_cube" && last {
				c.alone = true // nothing tells, and it looks alike: compared as its header says, and wrong
			}
			for _, beside := range []bool{false, true} {
				ops := []ofAxes{c.ofAxes}
				if beside {
					ops = append(ops, tells)
				}
				r := axesRows(t, ops)[c.name]
				want := c.alone
				if beside {
					want = c.beside
				}
				switch {
				case r.Compared != want || !want && !r.Has(result.AxesUnknown):
					t.Errorf("%s, channels last %v, beside another %v: compared %v, %v", c.name, last, beside, r.Compared, r.Reasons)
				case want && !r.Result().Facts.BitEqual && !(c.name == "plain_cube" && !beside && last):
					t.Errorf("%s, channels last %v, beside another %v: largest error %v, %v", c.name, last, beside, r.Result().Facts.MaxAbs, r.Reasons)
				}
			}
		}
	}
}

// merged is a shape whose places are one axis, before or behind the channels.
func merged(last bool, channels, places int64) []int64 {
	if last {
		return shape(1, places, channels)
	}
	return shape(1, channels, places)
}

// Whatever the shapes, no pair of equal numbers in two orders comes out as different once
// a tensor of the recording tells the order.
func TestAxesOfAnyShape(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 26))
	compared := 0
	for range 6 {
		last := rng.IntN(2) == 0
		ops := []ofAxes{{name: "tells", shape: shape(1, 24, 3, 5), format: dumptest.NC1HWC0, last: last}}
		for i := range 20 {
			dims := make([]int64, 4)
			for k := range dims {
				dims[k] = []int64{1, 2, 4, 8, 16, 17}[rng.IntN(6)]
			}
			ops = append(ops, ofAxes{name: fmt.Sprintf("op%d", i), shape: dims, format: []int{0, 1, 2, dumptest.NC1HWC0}[rng.IntN(4)], origin: rng.IntN(2) == 0, last: last})
		}
		for name, r := range axesRows(t, ops) {
			at := slices.IndexFunc(ops, func(o ofAxes) bool { return o.name == name })
			d := ops[at].shape
			switch {
			case !r.Compared && !r.Has(result.AxesUnknown):
				t.Errorf("%+v: %v", ops[at], r.Reasons)
			case r.Compared:
				compared++
				if !r.Result().Facts.BitEqual && !(ops[at].format == 2 && (!ops[at].origin || d[1] == d[2] && d[2] == d[3])) { // ND names no axes
					t.Errorf("%+v: largest error %v, %v", ops[at], r.Result().Facts.MaxAbs, r.Reasons)
				}
			}
		}
	}
	if compared < 90 {
		t.Errorf("%d compared", compared)
	}
}

// A golden array whose dims are those that a graph gives a tensor in another order, as of a weight that the
// framework keeps turned, is compared in the order in which its elements agree, and in none where they do in none.
func TestAxesByElements(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	draw := func(n int64) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		return v
	}
	const wrong = -1 // further apart than any limit
	const stored, turned, other, scaled, same = "stored", "turned", "other", "scaled", "same"
	for _, c := range []struct {
		dims []int64
		axes []int // of the golden array
		how  string
		kind result.Kind
		diff float64 // relative distance, or wrong
	}{
		{shape(12, 20), []int{1, 0}, turned, result.AxesFound, 0},
		{shape(12, 20), []int{1, 0}, stored, result.StorageOrder, 0},
		{shape(12, 20), []int{1, 0}, other, result.StorageOrder, wrong},
		{shape(12, 20), []int{1, 0}, scaled, result.AxesFound, 1. / 3},
		{shape(12, 20), []int{1, 0}, same, result.StorageOrder, 0},
		{shape(100, 60), []int{1, 0}, turned, result.AxesFound, 0},
		{shape(2, 3), []int{1, 0}, turned, result.AxesFound, 0},
		{shape(2, 3), []int{1, 0}, scaled, result.StorageOrder, wrong},
		{shape(4, 4, 5), []int{2, 1, 0}, turned, result.AxesFound, 0},
		{shape(4, 4, 5), []int{2, 0, 1}, turned, result.AxesFound, 0},
		{shape(4, 4, 5), []int{2, 0, 1}, stored, result.StorageOrder, 0},
		{shape(1, 12, 20), []int{0, 2, 1}, turned, result.AxesFound, 0},
		{shape(20, 30), []int{1, 0}, "turned blocks", result.AxesFound, 0}, // two by two of 16 by 16, as (30, 20) has
	} {
		n, _ := nd.Count(c.dims...)
		v := draw(n)
		if c.how == same {
			v = slices.Repeat([]float32{3}, int(n))
		}
		golden, dims := dumptest.Transpose(v, c.dims, c.axes...)
		switch c.how {
		case stored:
			golden = v
		case other:
			golden = draw(n)
		case scaled:
			for i := range golden {
				golden[i] *= 1.5
			}
		}
		dir := t.TempDir()
		graph := filepath.Join(dir, "graph.txt")
		desc := func(text string) string {
			for _, d := range c.dims {
				text += fmt.Sprintf(" dim: %d", d)
			}
			return "dtype: DT_FLOAT layout: \"ND\" shape {" + text + " }"
		}("")
		tensor := dumptest.Tensor{Type: dumptest.Float32, Format: dumptest.ND, Shape: c.dims, Origin: c.dims, Data: dumptest.Floats(v)}
		if strings.HasSuffix(c.how, "blocks") {
			blocks, of := dumptest.ToFractalNZ(v, c.dims, 16)
			tensor.Format, tensor.Shape, tensor.Data = dumptest.FractalNZ, of, dumptest.Floats(blocks)
		}
		for _, err := range []error{
			os.WriteFile(graph, []byte(fmt.Sprintf(`graph { name: "net"
op { name: "x" type: "Data" id: 0 output_desc { %[1]s attr { key: "_datadump_origin_name" value { s: "x" } } } }
op { name: "y" type: "Relu" id: 1 input: "x:0" input_desc { %[1]s } output_desc { %[1]s attr { key: "_datadump_origin_name" value { s: "y" } } } } }
`, desc)), 0o600),
			dumptest.Dump{OpName: "y", Inputs: []dumptest.Tensor{tensor}, Outputs: []dumptest.Tensor{tensor}}.Write(filepath.Join(dir, "npu", "Relu.y.1.7.1630000000000101")),
			dumptest.WriteNpy(filepath.Join(dir, "golden", "x.0.1630000000000100.npy"), "<f4", dims, dumptest.Floats(golden)),
			dumptest.WriteNpy(filepath.Join(dir, "golden", "y.0.1630000000000101.npy"), "<f4", c.dims, dumptest.Floats(v)),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		table, _ := network(t, Job{Left: dir + "/npu", Right: dir + "/golden", Graph: graph})
		at := slices.IndexFunc(table.Rows, func(r result.Row) bool { return r.Role == result.Input })
		if at < 0 {
			t.Fatalf("%+v: no row of the input", c)
		}
		r := &table.Rows[at]
		if !r.Has(c.kind) || r.Compared != (c.kind != result.AxesUnknown) || r.Compared && (c.diff >= 0 && math.Abs(r.Result().Facts.Distance-c.diff) > 1e-6 || c.diff < 0 && r.Result().Facts.Distance < 0.3) {
			t.Errorf("%+v: compared %v, %v", c, r.Compared, r.Reasons)
		}
	}
}

func TestFitsAxes(t *testing.T) {
	for _, c := range []struct {
		a, b        []int64
		fits, other bool
	}{
		{shape(2, 3), shape(2, 3), true, false},
		{shape(2, 3), shape(3, 2), false, true},
		{shape(1, 2, 3), shape(2, 1, 3, 1), true, false},
		{shape(6, 5), shape(2, 3, 5), true, false},
		{shape(2, 3, 5), shape(30), true, false},
		{shape(2, 3, 5), shape(2, 15), true, false},
		{shape(2, 3, 5), shape(5, 6), false, true},
		{shape(4, 6), shape(3, 8), false, false},
		{shape(4, 4), shape(4, 4), true, false},
		{shape(), shape(1), true, false},
	} {
		if fits, other := fitsAxes(c.a, c.b), otherOrder(c.a, c.b); fits != c.fits || other != c.other {
			t.Errorf("%v and %v: %v, %v", c.a, c.b, fits, other)
		}
	}
}

// Two dumps in other plain formats are read in one order; dims that then differ are told.
func TestDirectAxes(t *testing.T) {
	v := make([]float32, 64)
	for i := range v {
		v[i] = float32(i)
	}
	turned, _ := dumptest.Transpose(v, shape(1, 4, 4, 4), 0, 2, 3, 1)
	side := func(format int, dims []int64, v []float32) dumptest.Dump {
		return dumptest.Dump{Outputs: []dumptest.Tensor{{Type: dumptest.Float32, Format: format, Shape: dims, Data: dumptest.Floats(v)}}}
	}
	rows := directRows(t, metric.Exact, side(0, shape(1, 4, 4, 4), v), side(1, shape(1, 4, 4, 4), turned))
	if !rows[0].Compared || !rows[0].Result().Facts.BitEqual {
		t.Errorf("a cube: %+v", rows[0])
	}
	rows = directRows(t, metric.Exact, side(0, shape(1, 2, 4, 8), v), side(1, shape(1, 2, 4, 8), v))
	if rows[0].Compared || !rows[0].Has(result.AxesUnknown) {
		t.Errorf("dims that are those of two orders: %+v", rows[0].Reasons)
	}
}
