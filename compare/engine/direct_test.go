package engine

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/compare/metric"
	"precision/compare/report"
	"precision/compare/result"
	"precision/dump"
	"precision/internal/msg"
	"precision/testdata/workshop/dumptest"
)

// directRows compares two dumps of one operator without a graph.
func directRows(t *testing.T, numerics metric.Numerics, mine, golden dumptest.Dump) []result.Row {
	t.Helper()
	rows, _ := directOutcome(t, numerics, mine, golden)
	return rows
}

// directOutcome is directRows and what came of it.
func directOutcome(t *testing.T, numerics metric.Numerics, mine, golden dumptest.Dump) ([]result.Row, *Outcome) {
	t.Helper()
	opt := Folders{Options: Options{Numerics: numerics}}
	for _, side := range []struct {
		dump   dumptest.Dump
		folder **dump.Folder
	}{{mine, &opt.Left}, {golden, &opt.Right}} {
		dir := t.TempDir()
		if err := side.dump.Write(filepath.Join(dir, "Op.op.1.2.1630000000000001")); err != nil {
			t.Fatal(err)
		}
		var err error
		if *side.folder, err = dump.Scan(dir, dump.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	var rows []result.Row
	out, err := Run(context.Background(), &opt, opt.Options, func(r *result.Row) error {
		rows = append(rows, *r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows, out
}

// blocks stores (1, C, H, W) as NC1HWC0 and names a framework shape.
func blocks(shape, origin []int64, v ...float32) dumptest.Tensor {
	stored, dims := dumptest.ToNC1HWC0(v, shape, 16)
	return dumptest.Tensor{Type: dumptest.Float32, Format: dumptest.NC1HWC0, Shape: dims, Origin: origin, Data: dumptest.Floats(stored)}
}

// When the sides have different numbers of inputs the outputs are compared, and
// in exact numerics the inputs do not vanish.
func TestDirectCountsDiffer(t *testing.T) {
	a, b := floats(shape(2), 1, 2), floats(shape(3), 1, 2, 3)
	mine := dumptest.Dump{Inputs: []dumptest.Tensor{a}, Outputs: []dumptest.Tensor{b}}
	golden := dumptest.Dump{Inputs: []dumptest.Tensor{a, b}, Outputs: []dumptest.Tensor{b}}
	for _, c := range []struct {
		numerics metric.Numerics
		want     []string
	}{
		{metric.Exact, []string{"op:input:0", "op:input:1", "op:output:0 compared"}},
		{metric.Reference, []string{"op:output:0 compared"}},
	} {
		var got []string
		for _, r := range directRows(t, c.numerics, mine, golden) {
			text := r.Tensor()
			if r.Compared {
				text += " compared"
			} else if reason := report.Sentences(msg.English, r.Reasons); !strings.Contains(reason, "The number of input does not match (1 vs 2).") {
				t.Errorf("%s: reason %q", text, reason)
			}
			got = append(got, text)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.numerics, got, c.want)
		}
	}
}

// Equal tensors in equal layouts are equal, whatever the sides say of the
// framework's shape.
func TestDirectOrigins(t *testing.T) {
	values := ramp(8*4*4, 1)
	nchw := shape(1, 8, 4, 4)
	for _, c := range []struct {
		name         string
		mine, golden []int64
		compared     bool
	}{
		{"same", nchw, nchw, true},
		{"other axis order", nchw, shape(1, 4, 4, 8), true},
		{"golden has none", nchw, nil, true},
		{"mine has none", nil, nchw, true},
		{"neither", nil, nil, true},
		{"another number of channels", nchw, shape(1, 3, 4, 4), false},
	} {
		for _, numerics := range []metric.Numerics{metric.Exact, metric.Reference} {
			mine := dumptest.Dump{Outputs: []dumptest.Tensor{blocks(nchw, c.mine, values...)}}
			golden := dumptest.Dump{Outputs: []dumptest.Tensor{blocks(nchw, c.golden, values...)}}
			rows := directRows(t, numerics, mine, golden)
			if len(rows) != 1 || rows[0].Compared != c.compared {
				t.Errorf("%s, %s: %+v", c.name, numerics, rows)
				continue
			}
			if got := rows[0].Result().Text(metric.MaxAbsoluteError); c.compared && got != "0.000000" {
				t.Errorf("%s, %s: largest error %s", c.name, numerics, got)
			}
		}
	}
}

// A scalar in blocks is a scalar: its cosine would be 1 whatever it is.
func TestScalarInBlocks(t *testing.T) {
	one := shape(1, 1, 1, 1)
	rows := directRows(t, metric.Exact,
		dumptest.Dump{Outputs: []dumptest.Tensor{blocks(one, one, 3)}}, dumptest.Dump{Outputs: []dumptest.Tensor{blocks(one, one, 4)}})
	if len(rows) != 1 || !rows[0].Compared {
		t.Fatalf("%+v", rows)
	}
	if got := rows[0].Result().Text(metric.CosineSimilarity); got != "NaN" {
		t.Errorf("cosine %s", got)
	}
	if !rows[0].Facts.Scalar {
		t.Errorf("no scalar: %+v", rows[0].Facts)
	}
}
