package metric

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"sync"
	"testing"
)

func TestNames(t *testing.T) {
	for m := range Metric(Count) {
		for _, name := range []string{m.String(), strconv.Itoa(int(m))} {
			if got, ok := Parse(name); !ok || got != m {
				t.Errorf("Parse(%q) = %v, %v", name, got, ok)
			}
		}
	}
	for _, name := range []string{"", strconv.Itoa(Count), "00", "a", "cosinesimilarity", "-1", "٣"} {
		if m, ok := Parse(name); ok {
			t.Errorf("Parse(%q) = %v", name, m)
		}
	}
}

// randomArrays are finite float32 values of all kinds, with some zeros, and
// with elements that are not finite if odd is.
func randomArrays(rng *rand.Rand, n int, odd bool) (x, y []float32) {
	x, y = make([]float32, n), make([]float32, n)
	specials := f32s(0, float32(math.Copysign(0, -1)), 1, -1, 1e-45, -1e-40, 0x1p-126, 3e38, -3e38, 1e20, 65504, 0x1p-52, 0x1p-53)
	if odd {
		specials = append(specials, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)))
	}
	kind := rng.IntN(6)
	for i := range x {
		y[i] = float32(rng.NormFloat64())
		x[i] = y[i] + float32(rng.NormFloat64()*1e-3)
		switch kind {
		case 0:
			x[i], y[i] = specials[rng.IntN(len(specials))], specials[rng.IntN(len(specials))]
		case 1:
			if rng.IntN(40) == 0 {
				x[i] = specials[rng.IntN(len(specials))]
			}
			if rng.IntN(40) == 0 {
				y[i] = specials[rng.IntN(len(specials))]
			}
		case 2:
			x[i], y[i] = max(x[i], 0), max(y[i], 0)
		case 3:
			x[i], y[i] = x[i]*1e-38, y[i]*1e-38
		case 4:
			if odd {
				x[i], y[i] = math.Float32frombits(rng.Uint32()), math.Float32frombits(rng.Uint32())
			}
		}
	}
	if odd && kind == 5 && n > 0 {
		i := rng.IntN(n)
		x[i], y[i] = specials[len(specials)-1-rng.IntN(3)], specials[len(specials)-1-rng.IntN(3)]
	}
	return x, y
}

// sameBits compares results with all digits; of facts those that do not depend on
// the order of sums.
func sameBits(a, b Result) bool {
	for m := range a.Values {
		if a.Values[m].form != b.Values[m].form {
			return false
		}
		for i := range a.Values[m].v {
			if !sameFloat(a.Values[m].v[i], b.Values[m].v[i]) {
				return false
			}
		}
	}
	return a.N == b.N && a.AgreeNonFinite == b.AgreeNonFinite && a.Disagree == b.Disagree &&
		a.ZeroGolden == b.ZeroGolden && a.ZeroGoldenMax == b.ZeroGoldenMax && len(a.Notes) == len(b.Notes) &&
		factsDiffer(a.Facts, b.Facts) == ""
}

func sameFloat(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
}

// Reducing tiles concurrently and in any order gives the same digits.
func TestWorkersDoNotChangeDigits(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	n := 5*TileLen + 1234
	for round := range 4 {
		x, y := randomArrays(rng, n, round%2 == 1)
		for _, cfg := range []Config{{}, {Numerics: Reference}} {
			want := Compute32(cfg, x, y)
			run := NewRun(cfg)
			for {
				partials := make([]Partial, (n+TileLen-1)/TileLen)
				var group sync.WaitGroup
				for _, i := range rng.Perm(len(partials)) {
					group.Go(func() {
						lo, hi := i*TileLen, min((i+1)*TileLen, n)
						run.Reduce32(&partials[i], x[lo:hi], y[lo:hi])
					})
				}
				group.Wait()
				for i := range partials {
					run.Fold(&partials[i])
				}
				if !run.Next() {
					break
				}
			}
			if got := run.Result(); !sameBits(got, want) {
				t.Errorf("%s: concurrent %+v, sequential %+v", cfg.Numerics, got, want)
			}
		}
	}
}

// Selecting metrics changes none of them.
func TestSelectionDoesNotChangeDigits(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 30 {
		x, y := randomArrays(rng, rng.IntN(20000), rng.IntN(2) == 0)
		for _, numerics := range []Numerics{Exact, Reference} {
			all := Compute32(Config{Numerics: numerics}, x, y)
			for m := range Metric(Count) {
				one := Compute32(Config{Numerics: numerics, Metrics: []Metric{m}}, x, y)
				if got, want := one.Text(m), all.Text(m); got != want {
					t.Errorf("%s: %s is %s alone and %s among all", numerics, m, got, want)
				}
				for other := range Metric(Count) {
					if other != m && one.Values[other].OK() {
						t.Errorf("%s was not selected", other)
					}
				}
			}
		}
	}
}

func TestReduceDoesNotAllocate(t *testing.T) {
	x, y := pair(TileLen, 3, "zeros")
	for _, cfg := range []Config{{}, {Numerics: Reference}} {
		run := NewRun(cfg)
		var p Partial
		for {
			if n := testing.AllocsPerRun(3, func() { run.Reduce32(&p, x, y) }); n > 0 {
				t.Errorf("%s: %v allocations a tile", cfg.Numerics, n)
			}
			run.Fold(&p)
			if !run.Next() {
				break
			}
		}
	}
}

var cellText = regexp.MustCompile(`^(NaN|1\.0|N|\(N;N\),\(N;N\))$`)
var numberText = regexp.MustCompile(`nan|-?inf|-?\d+\.\d{6}`)
var momentText = regexp.MustCompile(`nan|-?inf|-?\d+\.\d{3}`)

// FuzzAnyBits: whatever the elements are, results are well-formed, and so are
// their texts.
func FuzzAnyBits(f *testing.F) {
	f.Add([]byte{}, false)
	f.Add([]byte{0, 0, 0x80, 0x7f, 0, 0, 0x80, 0x7f}, true)
	f.Add([]byte{0, 0, 0xc0, 0x7f, 0, 0, 0x80, 0xff, 1, 0, 0, 0, 0, 0, 0, 0x80}, false)
	f.Add([]byte("some text that is long enough for a few elements"), false)
	f.Fuzz(func(t *testing.T, data []byte, scalar bool) {
		n := len(data) / 8
		x, y := make([]float32, n), make([]float32, n)
		x64, y64 := make([]float64, n/2), make([]float64, n/2)
		for i := range x {
			x[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[8*i:]))
			y[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[8*i+4:]))
		}
		for i := range x64 {
			x64[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[16*i:]))
			y64[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[16*i+8:]))
		}
		cfg := Config{Numerics: Reference}
		if got, want := Compute32(cfg, x, y), withGo(func() Result { return Compute32(cfg, x, y) }); !sameBits(got, want) {
			t.Errorf("kernels: %v, Go: %v", cells(got), cells(want))
		}
		if got, want := Compute32(Config{}, x, y), withGo(func() Result { return Compute32(Config{}, x, y) }); !alike(got, want) {
			t.Errorf("kernels: %+v, Go: %+v", got, want)
		}
		for _, r := range []Result{
			Compute32(Config{Scalar: scalar}, x, y),
			Compute64(Config{Scalar: scalar}, x64, y64),
			Compute32(Config{Scalar: scalar, Numerics: Reference}, x, y),
			Compute64(Config{Scalar: scalar, Numerics: Reference}, x64, y64),
		} {
			for m := range Metric(Count) {
				text := r.Text(m)
				form := numberText
				if m == StandardDeviation {
					form = momentText
				}
				if text != "1.0" && !cellText.MatchString(form.ReplaceAllString(text, "N")) {
					t.Errorf("%s: cell %q", m, text)
				}
				v := r.Values[m].Float()
				if m == CosineSimilarity && v > 1 {
					t.Errorf("%s is %v", m, v)
				}
				if v < 0 && m != CosineSimilarity && (m != KullbackLeiblerDivergence || v < -1e-3) {
					t.Errorf("%s is %v", m, v)
				}
			}
			for _, note := range r.Notes {
				if note.Text("L", "G") == "" {
					t.Errorf("note %+v without a text", note)
				}
			}
		}
	})
}
