package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"precision/compare/metric"
	"precision/testdata/workshop/dumptest"
)

func allMetrics() []metric.Metric {
	var list []metric.Metric
	for m := range metric.Metric(metric.Count) {
		list = append(list, m)
	}
	return list
}

// The values are those in the logs of the recorded runs.
func TestArraysRecorded(t *testing.T) {
	const in = "../../testdata/cases/two_arrays/in/"
	for _, c := range []struct {
		name, mine, golden string
		metrics            []metric.Metric
		values             []string // "" is not looked at
		messages           int
		code               Fault
	}{
		{"close", "a.npy", "b.npy", nil, []string{"1.000000", "0.002952", "0.059943", "0.000999", "", "(0.147;1.008),(0.147;1.009)",
			"0.000802", "0.001019", "0.000999", "0.000999"}, 0, 0},
		{"half", "half.npy", "a.npy", nil, []string{"1.000000", "0.000757", "0.010849", "0.000189", "", "(0.147;1.008),(0.147;1.008)",
			"0.000132", "0.000192", "0.000461", "0.000181"}, 0, 0},
		{"bool", "flag.npy", "flag2.npy", nil, []string{"0.950382", "NaN", "NaN", "NaN", "NaN", "NaN", "NaN", "NaN", "NaN", "NaN"}, 9, 0},
		{"scalar", "one.npy", "two.npy", nil, []string{"1.000000", "1.000000", "0.250000", "0.250000", "0.000000", "(3.000;0.000),(4.000;0.000)",
			"1.000000", "1.000000", "0.250000", "0.250000"}, 1, 0},
		{"empty", "none.npy", "none.npy", nil, []string{"1.0", "NaN", "0.000000", "0.000000", "NaN", "(nan;nan),(nan;nan)", "nan", "nan", "NaN", "nan"}, 3, 0},
		{"text", "a.txt", "b.txt", nil, []string{"0.999223", "0.500000", "0.083333", "0.052414", "", "(3.583;1.835),(3.500;1.708)",
			"0.083333", "0.204124", "0.083333", "0.013889"}, 0, 0},
		{"chosen", "a.npy", "b.npy", []metric.Metric{metric.MaxAbsoluteError, metric.CosineSimilarity}, []string{"0.002952", "1.000000"}, 0, 0},
		{"shape", "a.npy", "c.npy", nil, nil, 0, FaultShapes},
		{"broken", "broken.npy", "a.npy", nil, nil, 0, FaultBadDump},
		{"gone", "gone.npy", "a.npy", nil, nil, 0, FaultPath},
		{"text and array", "a.txt", "a.npy", nil, nil, 0, FaultShapes},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.metrics == nil {
				c.metrics = allMetrics()
			}
			r, err := Arrays(context.Background(), in+c.mine, in+c.golden, metric.Reference, c.metrics)
			if faultOf(err) != c.code {
				t.Fatalf("%v, want fault %d", err, c.code)
			}
			if err != nil {
				if !strings.Contains(err.Error(), c.mine) {
					t.Errorf("%v does not name the file", err)
				}
				return
			}
			for i, m := range c.metrics {
				if got := r.Result.Text(m); c.values[i] != "" && got != c.values[i] {
					t.Errorf("%s: %s, want %s", m, got, c.values[i])
				}
			}
			if len(r.Reasons) != c.messages {
				t.Errorf("%d messages, want %d: %q", len(r.Reasons), c.messages, r.Reasons)
			}
			lines := r.Lines()
			if len(lines[0]) != len(lines[1]) || !strings.HasSuffix(lines[0], " ") {
				t.Errorf("%q\n%q", lines[0], lines[1])
			}
		})
	}
}

func TestArrayTexts(t *testing.T) {
	r, err := Arrays(context.Background(), "../../testdata/cases/two_arrays/in/a.npy", "../../testdata/cases/two_arrays/in/b.npy", metric.Reference,
		[]metric.Metric{metric.MaxAbsoluteError, metric.StandardDeviation})
	if err != nil {
		t.Fatal(err)
	}
	want := [2]string{"MaxAbsoluteError StandardDeviation           ", "0.002952         (0.147;1.008),(0.147;1.009) "}
	if got := r.Lines(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := r.Report(), "MaxAbsoluteError: 0.002952\nStandardDeviation: (0.147;1.008),(0.147;1.009)\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Text files: one line or column is a vector, one number a scalar; what is no
// table of numbers is an error with its line.
func TestArrayNumbers(t *testing.T) {
	dir := t.TempDir()
	for i, c := range []struct {
		text, shape, problem string
	}{
		{"1 2 3\n4 5 6\n", "(2, 3)", ""},
		{"1 2 3", "(3)", ""},
		{"1\n2\n", "(2)", ""},
		{" 7 ", "()", ""},
		{"", "(0)", ""},
		{"# a comment\n\n1e3\t-inf # and another\nnan +.5\r\n", "(2, 2)", ""},
		{"1 2\n3\n", "", ":2:"},
		{"1 2\n3 x\n", "", ":2:"},
		{"\x93NUMPY\x01", "", ":1:"},
	} {
		path := filepath.Join(dir, fmt.Sprintf("%d.txt", i))
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := openArray(path)
		if c.problem != "" {
			if faultOf(err) != FaultBadDump || !strings.Contains(err.Error(), path+c.problem) {
				t.Errorf("%q: %v", c.text, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if got := shapeText(a.Shape); got != c.shape {
			t.Errorf("%q: shape %s, want %s", c.text, got, c.shape)
		}
		a.Close()
	}
}

// An array in Fortran order is the same array.
func TestArraysInFortranOrder(t *testing.T) {
	dir := t.TempDir()
	c, f := filepath.Join(dir, "c.npy"), filepath.Join(dir, "f.npy")
	if err := dumptest.WriteNpy(c, "<f4", shape(2, 3), dumptest.Floats([]float32{1, 2, 3, 4, 5, 6})); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(c)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(content), "'fortran_order': False,", "'fortran_order': True, ", 1)
	text = text[:len(text)-24] + string(dumptest.Floats([]float32{1, 4, 2, 5, 3, 6}))
	if err := os.WriteFile(f, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Arrays(context.Background(), c, f, metric.Exact, allMetrics())
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Result.Text(metric.MaxAbsoluteError); got != "0.000000" {
		t.Errorf("largest error %s", got)
	}
}

// A large pair is shared among workers; its digits are those of one.
func TestArraysLarge(t *testing.T) {
	const n = splitChunks*chunkTiles*metric.TileLen*2 + 77
	x, y := make([]float32, n), make([]float32, n)
	for i := range x {
		y[i] = float32(math.Sin(float64(i)))
		x[i] = y[i] * (1 + 1e-3*float32(i%7))
	}
	dir := t.TempDir()
	mine, golden := filepath.Join(dir, "mine.npy"), filepath.Join(dir, "golden.npy")
	for path, v := range map[string][]float32{mine: x, golden: y} {
		if err := dumptest.WriteNpy(path, "<f4", shape(n), dumptest.Floats(v)); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Arrays(context.Background(), mine, golden, metric.Reference, allMetrics())
	if err != nil {
		t.Fatal(err)
	}
	want := metric.Compute32(metric.Config{Numerics: metric.Reference}, x, y)
	for _, m := range r.Metrics {
		if got, want := r.Result.Text(m), want.Text(m); got != want {
			t.Errorf("%s: %s, want %s", m, got, want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Arrays(ctx, mine, golden, metric.Reference, allMetrics()); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want a cancelled context", err)
	}
}
