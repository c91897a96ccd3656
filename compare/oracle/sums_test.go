package oracle

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"precision/dump/dtype"
)

// addings are ways in which devices add float32 products up.
var addings = []struct {
	name string
	sum  func(t []float32) float32
}{
	{"one after the other", func(t []float32) (s float32) {
		for _, x := range t {
			s += x
		}
		return s
	}},
	{"blocks of 16", func(t []float32) (s float32) {
		for ; len(t) >= 16; t = t[16:] {
			block := 0.0
			for _, x := range t[:16] {
				block += float64(x)
			}
			s += float32(block)
		}
		return s
	}},
	{"parts of 128", func(t []float32) (s float32) {
		for ; len(t) >= 128; t = t[128:] {
			part := float32(0)
			for _, x := range t[:128] {
				part += x
			}
			s += part
		}
		return s
	}},
	{"a tree", func(t []float32) float32 {
		t = append([]float32(nil), t...)
		for n := len(t); n > 1; n = (n + 1) / 2 {
			for i := range n / 2 {
				t[i] = t[2*i] + t[2*i+1]
			}
			if n%2 == 1 {
				t[n/2] = t[n-1]
			}
		}
		return t[0]
	}},
}

// summedUp is what is found of a product whose terms a device adds up in some order, with what change makes of the result.
func summedUp(t *testing.T, typ dtype.Type, k, m, n int64, order, seed int, short bool, draw func(*rand.Rand) float64, change func(y []float64)) *Finding {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(seed), uint64(k)))
	p := precisionFor(typ)
	random := func(rows, cols int64) *operand {
		o := inMemory("x", typ, []int64{rows, cols})
		for i := range o.f32 {
			o.f32[i] = float32(p.Round(draw(r)))
		}
		return o
	}
	a, b, out := random(m, k), random(n, k), inMemory("y", typ, []int64{m, n})
	bits := func(o []float32) []float32 { // as the multiplying unit takes them
		s := slices.Clone(o)
		for i, x := range s {
			if short {
				s[i] = float32(hf32(float64(x)))
			}
		}
		return s
	}
	fa, fb, terms, y := bits(a.f32), bits(b.f32), make([]float32, k), make([]float64, m*n)
	for i := range y {
		row, col := fa[int64(i)/n*k:][:k], fb[int64(i)%n*k:][:k]
		for l := range terms {
			terms[l] = row[l] * col[l]
		}
		y[i] = float64(addings[order].sum(terms))
	}
	if change != nil {
		change(y)
	}
	for i, x := range y {
		out.f32[i] = float32(p.Round(x))
	}
	c := &Call{slots: []*operand{a, b}, outs: []*operand{out}}
	c.build = func(c *Call) []Reading { return []Reading{{Out: []Values{c.newMatmul(a, turned(b, true), nil)}}} }
	readings, err := c.readings()
	if err != nil {
		t.Fatal(err)
	}
	f := &Finding{}
	(&checker{call: c, rec: out}).check(f, readings)
	return f
}

func gaussian(r *rand.Rand) float64 { return r.NormFloat64() }

// Long sums are held to what they are off by in practice: nobody is accused whatever the order and the numbers, and what is
// within the bound of any order but far off is suspect. PRECISION_SUMS=ROWS prints the table of docs/check.md, of as many rows
// of each product (500 for a million elements a type and length).
func TestLongSums(t *testing.T) {
	rows, lengths, whole := int64(2), []int64{512, 4096}, false
	if n, _ := strconv.Atoi(os.Getenv("PRECISION_SUMS")); n > 0 {
		rows, lengths, whole = int64(n), []int64{512, 1024, 4096, 16384}, true
	}
	const cols = 128
	kinds := map[string]func(*rand.Rand) float64{
		"around 0": gaussian,
		"above 0":  func(r *rand.Rand) float64 { return math.Abs(r.NormFloat64()) },
		"outliers": func(r *rand.Rand) float64 { return math.Exp(2*r.NormFloat64()) * math.Copysign(1, r.Float64()-0.5) },
		"alike":    func(*rand.Rand) float64 { return 0.7 },
	}
	seed := 0
	for _, typ := range []dtype.Type{dtype.Float16, dtype.BFloat16, dtype.Float32} {
		for _, k := range lengths {
			clean, accused := int64(0), 0
			for order, how := range addings {
				for kind, draw := range kinds {
					for _, short := range []bool{false, typ == dtype.Float32} {
						if k*k > 1<<26 && kind == "outliers" && typ == dtype.Float16 {
							continue // beyond its range
						}
						seed++
						f := summedUp(t, typ, k, rows, cols, order, seed, short, draw, nil)
						clean += f.Elements
						if f.Verdict == OK || short && f.Verdict == Suspect && f.Reasons[0].Kind == LowPrecision {
							continue
						}
						accused++
						t.Errorf("%v, %d terms, %s, %s, HF32 %v: %v %v", typ, k, how.name, kind, short, f.Verdict, f.Reasons)
					}
				}
			}
			if !whole {
				continue
			}
			found := func(change func(y []float64, off float64)) string {
				for e := 16; e >= 1; e-- {
					off, seen := math.Ldexp(1, -e), 0
					for trial := range 4 {
						f := summedUp(t, typ, k, 32, cols, 1, 1000+trial, false, gaussian, func(y []float64) { change(y, off) })
						seen += int(toNumber(f.Verdict >= Suspect))
					}
					if seen == 4 {
						return fmt.Sprintf("2^-%d", e)
					}
				}
				return "-"
			}
			all := found(func(y []float64, off float64) {
				for i := range y {
					y[i] *= 1 + off
				}
			})
			one := found(func(y []float64, off float64) { // of those of usual size
				i := 77
				for math.Abs(y[i]) < math.Sqrt(float64(k)) {
					i++
				}
				y[i] *= 1 + off
			})
			t.Logf("| %v | %d | %d | %d | %s | %s |", typ, k, clean, accused, all, one)
		}
	}
}

// TestUnlikely: what sums in practice are not off by is suspect, and says so.
func TestUnlikely(t *testing.T) {
	f := summedUp(t, dtype.Float16, 4096, 8, 64, 1, 7, false, gaussian, func(y []float64) {
		for i := range y {
			if math.Abs(y[i]) > 64 && math.Abs(y[i]) < 100 {
				y[i] *= 1 + 0x1p-8
				return
			}
		}
	})
	if f.Verdict != Suspect || f.Reasons[0].Kind != Unlikely || f.Beyond != 0 || !(f.Ratio < 1) {
		t.Errorf("%v %v, ratio %g", f.Verdict, f.Reasons, f.Ratio)
	}
}

// The larger of two numbers is as sure as it is itself, where no error makes it the other one.
func TestLargerOfTwo(t *testing.T) {
	a := arith{u: u32, ulps: 8 * u32}
	for _, c := range []struct {
		op   string
		x, z num
		want float64
	}{
		{"max", num{1e-6, 0}, num{-3, 0.1}, 0}, {"max", num{-3, 0.1}, num{1e-6, 0}, 0}, {"min", num{1e-6, 0}, num{-3, 0.1}, 0.1},
		{"max", num{1, 0.25}, num{0.5, 0.5}, 0.5}, {"max", num{1, 0.25}, num{0, 0.5}, 0.25}, {"max", num{1, 0}, num{math.NaN(), 0}, math.Inf(1)},
	} {
		if y := a.Combine(c.op, c.x, c.z); y.b != c.want {
			t.Errorf("%s of %v and %v is %v, want the bound %v", c.op, c.x, c.z, y, c.want)
		}
	}
}
