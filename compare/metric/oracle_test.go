package metric

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func readJSON(t testing.TB, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// series generates float32 values in [-1.75, 2.25), as testdata/oracle.py does.
func series(n, seed int) []float32 {
	v := make([]float32, n)
	for i := range v {
		h := uint32(i)*2654435761 + uint32(seed)*40503
		h ^= h >> 16
		h *= 0x7feb352d
		h ^= h >> 15
		h *= 0x846ca68b
		h ^= h >> 16
		v[i] = float32(float32(h>>8)*0x1p-22) - 1.75
	}
	return v
}

// pair generates two arrays that differ a little.
func pair(n, seed int, kind string) (x, y []float32) {
	y, x = series(n, seed), series(n, seed+1)
	for i := range x {
		x[i] = y[i] + float32(x[i]*0x1p-10)
		switch kind {
		case "zeros":
			if i%3 == 0 {
				y[i] = 0
			}
			if i%5 == 0 {
				x[i] = 0
			}
		case "wide":
			s := float32(math.Ldexp(1, i%31-15))
			x[i] *= s
			y[i] *= s
		case "offset":
			x[i] += 1000
			y[i] += 1000
		}
	}
	return x, y
}

// oracleCase is what numpy computed for a generated pair.
type oracleCase struct {
	N, Seed                   int
	Kind                      string
	Float32                   map[string]uint32
	RelativeEuclideanDistance string
	KullbackLeiblerDivergence float64
	StandardDeviation         [4]string
}

func TestReferenceMatchesNumpy(t *testing.T) {
	var cases []oracleCase
	readJSON(t, "oracle.json", &cases)
	if len(cases) < 30 {
		t.Fatalf("%d cases", len(cases))
	}
	bits := func(s string) float64 {
		b, err := strconv.ParseUint(s, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		return math.Float64frombits(b)
	}
	eachLevel(t, func(t *testing.T) {
		for _, c := range cases {
			x, y := pair(c.N, c.Seed, c.Kind)
			r := Compute32(Config{Numerics: Reference}, x, y)
			check := func(m Metric, got, want float64) {
				if got != want {
					t.Errorf("%d elements, %s: %s = %v, numpy has %v", c.N, c.Kind, m, got, want)
				}
			}
			for name, b := range c.Float32 {
				m, ok := Parse(name)
				if !ok {
					t.Fatalf("no metric %q", name)
				}
				check(m, r.Values[m].Float(), float64(math.Float32frombits(b)))
			}
			check(RelativeEuclideanDistance, r.Values[RelativeEuclideanDistance].Float(), bits(c.RelativeEuclideanDistance))
			var s [4]float64
			s[0], s[1] = r.Values[StandardDeviation].Moments(Mine)
			s[2], s[3] = r.Values[StandardDeviation].Moments(Golden)
			for i, want := range c.StandardDeviation {
				check(StandardDeviation, s[i], blunt(bits(want)))
			}
			kl, want := r.Values[KullbackLeiblerDivergence].Float(), c.KullbackLeiblerDivergence
			if math.Abs(kl-want) > 1e-6+1e-6*math.Abs(want) {
				t.Errorf("%d elements, %s: KL = %v, numpy has %v", c.N, c.Kind, kl, want)
			}
		}
	})
}

// recordedPair is a pair of tensors with the cells msaccucmp wrote for it.
type recordedPair struct {
	Case, Op        string
	Boolean, Scalar bool
	X, Y            string // float32 bits
	Cells           []string
	Reason          string
}

func (p *recordedPair) arrays(t testing.TB) (x, y []float32) {
	parse := func(s string) []float32 {
		v := []float32{}
		for w := range strings.FieldsSeq(s) {
			b, err := strconv.ParseUint(w, 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			v = append(v, math.Float32frombits(uint32(b)))
		}
		return v
	}
	return parse(p.X), parse(p.Y)
}

func TestReferenceMatchesRecordings(t *testing.T) {
	var all []recordedPair
	readJSON(t, "recorded.json", &all)
	if len(all) < 40 {
		t.Fatalf("%d pairs", len(all))
	}
	eachLevel(t, func(t *testing.T) {
		for _, p := range all {
			x, y := p.arrays(t)
			r := Compute32(Config{Numerics: Reference, Boolean: p.Boolean, Scalar: p.Scalar}, x, y)
			for m := range Metric(Count) {
				got, want := r.Values[m].Text(m), p.Cells[m]
				if got != want && !(m == KullbackLeiblerDivergence && closeText(got, want)) {
					t.Errorf("%s/%s: %s is %s, recorded %s", p.Case, p.Op, m, got, want)
				}
			}
			var notes []string
			for _, n := range r.Notes {
				notes = append(notes, n.Text("MINE", "GOLDEN"))
			}
			if got := strings.Join(notes, ","); got != p.Reason {
				t.Errorf("%s/%s: reason %q, recorded %q", p.Case, p.Op, got, p.Reason)
			}
		}
	})
}

func closeText(a, b string) bool {
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return err1 == nil && err2 == nil && math.Abs(x-y) <= 1e-6+1e-6*math.Abs(y)+1e-9
}
