package metric

import (
	"math"
	"strings"
	"testing"
)

func f32s(v ...float32) []float32 { return v }

func repeat(v float32, n int) []float32 {
	s := make([]float32, n)
	for i := range s {
		s[i] = v
	}
	return s
}

// cells joins the texts of all metrics.
func cells(r Result) string {
	var c []string
	for m := range Metric(Count) {
		c = append(c, r.Values[m].Text(m))
	}
	return strings.Join(c, " ")
}

func noteTexts(r Result) string {
	var c []string
	for _, n := range r.Notes {
		c = append(c, n.Text("L", "G"))
	}
	return strings.Join(c, ",")
}

func TestReferenceSpecialInput(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		name        string
		x, y        []float32
		cfg         Config
		want, notes string
	}{
		{name: "signs", x: f32s(1, 2, -3, -100), y: f32s(1, 2, -3, 100),
			want: "-0.997204 200.000000 2.000000 1.998601 6.262334 (-25.000;43.342),(25.000;43.342) 50.000000 100.000000 2.000000 0.500000"},
		{name: "zeros and ones", x: f32s(0, 1, 0, 0), y: f32s(1, 0, 1, 1),
			want: "0.000000 1.000000 3.000000 1.154701 17.040985 (0.250;0.433),(0.750;0.433) 1.000000 1.000000 1.000000 0.750000"},
		{name: "equal", x: f32s(1, 2, 4), y: f32s(1, 2, 4),
			want: "1.000000 0.000000 0.000000 0.000000 0.000000 (2.333;1.247),(2.333;1.247) 0.000000 0.000000 0.000000 0.000000"},
		{name: "both zero", x: repeat(0, 4), y: repeat(0, 4),
			want: "1.0 0.000000 0.000000 0.000000 0.000000 (0.000;0.000),(0.000;0.000) 0.000000 0.000000 0.000000 0.000000"},
		{name: "mine zero", x: repeat(0, 4), y: repeat(1, 4),
			want:  "NaN 1.000000 4.000000 1.000000 0.000000 (0.000;0.000),(1.000;0.000) 1.000000 1.000000 1.000000 1.000000",
			notes: "Cannot compare by Cosine Similarity. All the data is zero in L."},
		{name: "golden zero", x: repeat(1, 4), y: repeat(0, 4),
			want:  "NaN 1.000000 0.000000 0.000000 0.000000 (1.000;0.000),(0.000;0.000) 1.000000 1.000000 0.000000 0.000000",
			notes: "Cannot compare by Cosine Similarity. All the data is zero in G."},
		{name: "NaN in both", x: f32s(nan, 1, 2), y: f32s(1, 2, nan),
			want: "nan nan nan nan nan (nan;nan),(nan;nan) nan nan nan nan"},
		{name: "inf in mine", x: f32s(inf, 1, 2), y: f32s(1, 1, 2),
			want: "nan inf inf inf nan (inf;nan),(1.333;0.471) inf inf inf inf"},
		{name: "squares overflow", x: f32s(1e25, -1e25), y: f32s(1e25, 1e25),
			want: "0.000000 19999999124047052494864384.000000 2.000000 nan 0.693145 " +
				"(0.000;9999999562023526247432192.000),(9999999562023526247432192.000;0.000) 9999999562023526247432192.000000 inf 2.000000 1.000000"},
		{name: "norms below 2^-52 count as zero", x: f32s(1e-18, 0), y: f32s(0, 1e-18),
			want: "1.0 0.000000 0.000000 0.000000 15.942381 (0.000;0.000),(0.000;0.000) 0.000000 0.000000 0.000000 0.000000"},
		{name: "spread overflows", x: f32s(3e38, -3e38, 0), y: f32s(1, 2, 3),
			cfg:   Config{Metrics: []Metric{KullbackLeiblerDivergence}},
			want:  "NaN NaN NaN NaN inf NaN NaN NaN NaN NaN",
			notes: "Cannot compare by KL Divergence. The data contains 0 in G."},
		{name: "scalar", x: f32s(3), y: f32s(4), cfg: Config{Scalar: true},
			want:  "1.000000 1.000000 0.250000 0.250000 0.000000 (3.000;0.000),(4.000;0.000) 1.000000 1.000000 0.250000 0.250000",
			notes: "This tensor is scalar."},
		{name: "booleans", x: f32s(1, 1, 0, 0), y: f32s(1, 0, 1, 0), cfg: Config{Boolean: true, Metrics: []Metric{3, 0, 9}},
			want: "0.500000 NaN NaN NaN NaN NaN NaN NaN NaN NaN",
			notes: "Failed to execute 'compare' in 'RelativeEuclideanDistance'. numpy boolean subtract, the `-` operator, is not supported, " +
				"use the bitwise_xor, the `^` operator, or the logical_xor function instead.,Algorithm MeanRelativeError does not support Boolean types."},
		{name: "golden all false", x: f32s(1, 1), y: f32s(0, 0), cfg: Config{Boolean: true, Metrics: []Metric{0, 3}},
			want:  "NaN NaN NaN 0.000000 NaN NaN NaN NaN NaN NaN",
			notes: "Cannot compare by Cosine Similarity. All the data is zero in G."},
	} {
		eachLevel(t, func(t *testing.T) {
			c.cfg.Numerics = Reference
			r := Compute32(c.cfg, c.x, c.y)
			if got := cells(r); got != c.want {
				t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
			}
			if got := noteTexts(r); got != c.notes {
				t.Errorf("%s: notes %q, want %q", c.name, got, c.notes)
			}
		})
	}
}

// Relative errors are steps of the quotient, not differences.
func TestReferenceRelativeErrorSteps(t *testing.T) {
	one := math.Nextafter32(1, 2)
	x, y := repeat(one, 1000), repeat(1, 1000)
	x, y = append(x, 5), append(y, 0)
	r := Compute32(Config{Numerics: Reference}, x, y)
	if got := r.Values[MaxRelativeError].Float(); got != 0x1p-23 {
		t.Errorf("MaxRelativeError %v, want 2^-23", got)
	}
	if got := r.Text(AccumulatedRelativeError); got != "0.000119" {
		t.Errorf("AccumulatedRelativeError %s, want 0.000119", got)
	}
}

func TestReferenceRoundsFloat64First(t *testing.T) {
	x, y := []float64{1e300, 1 + 1e-12, 3}, []float64{1e300, 1, 2}
	r := Compute64(Config{Numerics: Reference, Metrics: []Metric{MaxAbsoluteError, MaxRelativeError}}, x[1:], y[1:])
	if a, b := r.Text(MaxAbsoluteError), r.Text(MaxRelativeError); a != "1.000000" || b != "0.500000" {
		t.Errorf("got %s and %s", a, b)
	}
	if got := Compute64(Config{Numerics: Reference}, x, y).Values[StandardDeviation].Text(StandardDeviation); got != "(inf;nan),(inf;nan)" {
		t.Errorf("1e300 as float32: %s", got)
	}
}

func TestLog32(t *testing.T) {
	if got := log32(0); !math.IsInf(float64(got), -1) {
		t.Errorf("log32(0) = %v", got)
	}
	if got := log32(float32(math.Inf(1))); !math.IsInf(float64(got), 1) {
		t.Errorf("log32(inf) = %v", got)
	}
	for _, v := range []float32{-1, float32(math.NaN())} {
		if got := log32(v); got == got {
			t.Errorf("log32(%v) = %v", v, got)
		}
	}
	if got := log32(1); got != 0 {
		t.Errorf("log32(1) = %v", got)
	}
	worst := 0.0
	for b := uint32(1); b < 0x7f800000; b += 9973 {
		v := math.Float32frombits(b)
		want := math.Log(float64(v))
		ulp := math.Abs(float64(math.Nextafter32(float32(want), 200)) - float64(float32(want)))
		worst = max(worst, math.Abs(float64(log32(v))-want)/ulp)
	}
	for i := -40000; i < 40000; i++ { // close to 1
		v := float32(1 + float64(i)*0x1p-22)
		want := math.Log(float64(v))
		ulp := math.Abs(float64(math.Nextafter32(float32(want), 200)) - float64(float32(want)))
		worst = max(worst, math.Abs(float64(log32(v))-want)/ulp)
	}
	if worst > 2 {
		t.Errorf("log32 is off by %.2f units in the last place", worst)
	}
}
