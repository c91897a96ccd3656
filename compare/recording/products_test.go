package recording_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"precision/compare/verdict"
	"precision/dump/dtype"
	"precision/dump/torch"
)

// narrowed is x rounded to a type, and its bytes.
func narrowed(typ dtype.Type, x float64, to []byte) (float32, []byte) {
	y := float32(typ.Rounding().Round(x))
	switch b := math.Float32bits(y); typ {
	case dtype.BFloat16:
		return y, binary.LittleEndian.AppendUint16(to, uint16(b>>16))
	case dtype.Float16:
		e, m := int(b>>23&0xff)-112, b&0x7fffff
		switch sign := uint16(b >> 16 & 0x8000); {
		case e >= 31:
			return float32(math.Inf(1 - int(b>>31)*2)), binary.LittleEndian.AppendUint16(to, sign|0x7c00)
		case e <= 0:
			return y, binary.LittleEndian.AppendUint16(to, sign|uint16((m|0x800000)>>min(14-e, 31)))
		default:
			return y, binary.LittleEndian.AppendUint16(to, sign|uint16(e)<<10|uint16(m>>13))
		}
	default:
		return y, binary.LittleEndian.AppendUint32(to, b)
	}
}

// product is one that was recorded on two sides: what went in, and its sums as each of some devices adds them up in float32.
type product struct {
	x, w []byte
	sums [][]float64
}

// adds are ways in which devices add float32 products up: one after the other, in blocks of 16, in 128 parts, in pairs.
var adds = []func(t []float32) float32{
	func(t []float32) (s float32) {
		for _, x := range t {
			s += x
		}
		return s
	},
	func(t []float32) (s float32) {
		for b := range slices.Chunk(t, 16) {
			part := 0.0
			for _, x := range b {
				part += float64(x)
			}
			s += float32(part)
		}
		return s
	},
	func(t []float32) (s float32) {
		parts := make([]float32, 128)
		for i, x := range t {
			parts[i%128] += x
		}
		for _, x := range parts {
			s += x
		}
		return s
	},
	func(t []float32) float32 {
		t = slices.Clone(t)
		for n := len(t); n > 1; n /= 2 {
			for i := range n / 2 {
				t[i] = t[2*i] + t[2*i+1]
			}
		}
		return t[0]
	},
}

func productOf(typ dtype.Type, r *rand.Rand, rows, cols, k int, draw func(*rand.Rand) float64) *product {
	p := &product{}
	numbers := func(n int, to *[]byte) []float32 {
		v := make([]float32, n*k)
		for i := range v {
			v[i], *to = narrowed(typ, draw(r), *to)
		}
		return v
	}
	x, w := numbers(rows, &p.x), numbers(cols, &p.w)
	terms := make([]float32, k)
	p.sums = make([][]float64, len(adds))
	for i := range rows * cols {
		for l := range terms {
			terms[l] = x[i/cols*k+l] * w[i%cols*k+l]
		}
		for how, sum := range adds {
			p.sums[how] = append(p.sums[how], float64(sum(terms)))
		}
	}
	return p
}

// recordedProducts writes a recording of products with elements, the last of which change changes.
func recordedProducts(t *testing.T, typ dtype.Type, list []*product, how, rows, cols, k int, change func(y []float64)) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "step0", "rank0")
	if err := os.MkdirAll(filepath.Join(dir, "dump_tensor_data"), 0o700); err != nil {
		t.Fatal(err)
	}
	tensor := func(place string, shape []int64, raw []byte) string {
		var b bytes.Buffer
		if err := torch.Write(&b, typ, shape, bytes.NewReader(raw)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "dump_tensor_data", place+".pt"), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		dims, _ := json.Marshal(shape)
		return fmt.Sprintf(`{"type": "torch.Tensor", "dtype": "torch.%s", "shape": %s, "Max": null, "Min": null, "Mean": null, "Norm": null, "requires_grad": false, "data_name": "%s.pt"}`, typ, dims, place)
	}
	var calls []string
	for i, p := range list {
		y := slices.Clone(p.sums[how])
		if change != nil && i == len(list)-1 {
			change(y)
		}
		var raw []byte
		for _, v := range y {
			_, raw = narrowed(typ, v, raw)
		}
		name := fmt.Sprintf("Functional.linear.%d.forward", i)
		calls = append(calls, fmt.Sprintf(`%q: {"input_args": [%s, %s], "input_kwargs": {}, "output": [%s]}`, name,
			tensor(name+".input.0", []int64{int64(rows), int64(k)}, p.x), tensor(name+".input.1", []int64{int64(cols), int64(k)}, p.w), tensor(name+".output.0", []int64{int64(rows), int64(cols)}, raw)))
	}
	if err := os.WriteFile(filepath.Join(dir, "dump.json"), []byte(strings.Replace(dumpOf("L1", calls), `"statistics"`, `"tensor"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestLongProducts: products whose sides add the same up in other orders accuse nobody, whatever the numbers; one that is further off is
// named. PRECISION_PRODUCTS=N prints the table of docs/recordings.md, of as many products of each kind.
func TestLongProducts(t *testing.T) {
	times, rows, lengths, whole := 1, 4, []int{1024, 16384}, false
	if n, _ := strconv.Atoi(os.Getenv("PRECISION_PRODUCTS")); n > 0 {
		times, rows, lengths, whole = n, 32, []int{512, 4096, 16384}, true
	}
	const cols = 32
	kinds := map[string]func(*rand.Rand) float64{
		"around 0": func(r *rand.Rand) float64 { return r.NormFloat64() },
		"above 0":  func(r *rand.Rand) float64 { return math.Abs(r.NormFloat64()) },
		"outliers": func(r *rand.Rand) float64 {
			return math.Exp(2*r.NormFloat64()) * math.Copysign(1, r.Float64()-0.5) / 64
		},
		"alike": func(r *rand.Rand) float64 { return 0.7 + 0.2*r.NormFloat64() },
	}
	seed := uint64(0)
	for _, typ := range []dtype.Type{dtype.Float16, dtype.BFloat16, dtype.Float32} {
		for _, k := range lengths {
			clean, accused := 0, 0
			for i := range 4 * times {
				kind := []string{"around 0", "above 0", "outliers", "alike"}[i%4]
				seed++
				p := productOf(typ, rand.New(rand.NewPCG(seed, 16384)), rows, cols, k, kinds[kind])
				golden := recordedProducts(t, typ, []*product{p}, 3, rows, cols, k, nil)
				for how := range 3 {
					j := judged(t, recordedProducts(t, typ, []*product{p}, how, rows, cols, k, nil), golden)
					clean++
					if names := rootNames(j); j.Verdict != verdict.Good || len(names) > 0 {
						accused++
						t.Errorf("%v, %d terms, %s, order %d: %v, roots %v", typ, k, kind, how, j.Verdict, names)
					}
				}
			}
			if !whole {
				continue
			}
			var trials [4]*product
			for i := range trials {
				trials[i] = productOf(typ, rand.New(rand.NewPCG(1000+uint64(i), uint64(k))), 32, cols, k, kinds["around 0"])
			}
			found := func(change func(y []float64, off float64)) string {
				for e := 16; e >= 1; e-- {
					off, seen := math.Ldexp(1, -e), 0
					for _, p := range trials {
						j := judged(t, recordedProducts(t, typ, []*product{p}, 1, 32, cols, k, func(y []float64) { change(y, off) }), recordedProducts(t, typ, []*product{p}, 3, 32, cols, k, nil))
						if len(j.Roots) > 0 {
							seen++
						}
					}
					if seen == len(trials) {
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
