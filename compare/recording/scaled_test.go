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
	"strings"
	"testing"

	"precision/compare/result"
	"precision/compare/verdict"
	"precision/dump/dtype"
	"precision/dump/torch"
)

// quantisedNet records blocks of a norm, a quantiser, a product of quantised numbers, silu and a sum, in bfloat16. kind says what is
// particular: rounding of another device, the same value with scales that are powers of two, or a fault of the quantiser of block 2.
func quantisedNet(t *testing.T, kind string, elements bool) string {
	t.Helper()
	const rows, n = 32, 64
	dir := filepath.Join(t.TempDir(), "step0", "rank0")
	if err := os.MkdirAll(filepath.Join(dir, "dump_tensor_data"), 0o700); err != nil {
		t.Fatal(err)
	}
	narrow := func(x float64) float64 {
		b := math.Float32bits(float32(x))
		return float64(math.Float32frombits((b + 0x7fff + b>>16&1) & 0xffff0000))
	}
	r, noise := rand.New(rand.NewPCG(5, 6)), rand.New(rand.NewPCG(7, uint64(len(kind))))
	made := func(x float64) float64 {
		if kind != "" {
			x *= 1 + 2e-3*noise.NormFloat64()
		}
		return narrow(x)
	}
	var entries []string
	tensor := func(place string, typ dtype.Type, shape []int64, v []float64) string {
		hi, lo, sum, squares := math.Inf(-1), math.Inf(1), 0.0, 0.0
		var raw []byte
		for _, x := range v {
			hi, lo, sum, squares = max(hi, x), min(lo, x), sum+x, squares+x*x
			switch typ {
			case dtype.Int8:
				raw = append(raw, byte(int8(x)))
			case dtype.BFloat16:
				raw = binary.LittleEndian.AppendUint16(raw, uint16(math.Float32bits(float32(x))>>16))
			default:
				raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(x)))
			}
		}
		file := ""
		if elements {
			var b bytes.Buffer
			if err := torch.Write(&b, typ, shape, bytes.NewReader(raw)); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "dump_tensor_data", place+".pt"), b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			file = fmt.Sprintf(`, "data_name": "%s.pt"`, place)
		}
		dims, _ := json.Marshal(shape)
		stats := fmt.Sprintf(`"Max": %v, "Min": %v, "Mean": %v, "Norm": %v`, hi, lo, sum/float64(len(v)), math.Sqrt(squares))
		return fmt.Sprintf(`{"type": "torch.Tensor", "dtype": "torch.%s", "shape": %s, %s, "requires_grad": false%s}`,
			typ, dims, strings.ReplaceAll(stats, "+Inf", "Infinity"), file)
	}
	type value struct {
		typ   dtype.Type
		shape []int64
		v     []float64
	}
	call := func(api string, block int, in []value, out ...value) {
		name := fmt.Sprintf("%s.%d.forward", api, block)
		list := func(section string, values []value) string {
			var s []string
			for i, x := range values {
				s = append(s, tensor(fmt.Sprintf("%s.%s.%d", name, section, i), x.typ, x.shape, x.v))
			}
			return strings.Join(s, ", ")
		}
		entries = append(entries, fmt.Sprintf(`%q: {"input_args": [%s], "input_kwargs": {}, "output": [%s]}`, name, list("input", in), list("output", out)))
	}
	full := func(v []float64) value { return value{dtype.BFloat16, []int64{rows, n}, v} }
	each := func(m int, f func(i int) float64) []float64 {
		v := make([]float64, m)
		for i := range v {
			v[i] = f(i)
		}
		return v
	}
	x := each(rows*n, func(int) float64 { return narrow(r.NormFloat64()) })
	for block := range 5 {
		h := each(rows*n, func(i int) float64 {
			squares := 0.0
			for _, y := range x[i/n*n : i/n*n+n] {
				squares += y * y / n
			}
			return made(x[i] / math.Sqrt(squares))
		})
		call("NPU.npu_rms_norm", block, []value{full(x)}, full(h))
		scales := each(rows, func(i int) float64 {
			s := max(slices.Max(h[i*n:i*n+n]), -slices.Min(h[i*n:i*n+n])) / 127
			if kind == "powers" {
				s = math.Exp2(math.Ceil(math.Log2(s)))
			}
			return float64(float32(s))
		})
		q := each(rows*n, func(i int) float64 { return math.RoundToEven(h[i] / scales[i/n]) })
		if block == 2 {
			switch kind {
			case "double":
				scales = each(rows, func(i int) float64 { return 2 * scales[i] })
			case "another token":
				scales = append(scales[1:], scales[0])
			case "data":
				q = each(rows*n, func(i int) float64 { return math.RoundToEven(q[i] * .7) })
			case "overflow":
				for i := range rows / 4 {
					scales[i] = math.Inf(1)
					clear(q[i*n : i*n+n])
				}
			}
		}
		numbers, factors := value{dtype.Int8, []int64{rows, n}, q}, value{dtype.Float32, []int64{rows}, scales}
		call("NPU.npu_dynamic_quant", block, []value{full(h)}, numbers, factors)
		w := each(n*n, func(int) float64 { return float64(r.IntN(255) - 127) })
		channels := each(n, func(int) float64 { return float64(float32(.0015 + .001*r.Float64())) })
		y := each(rows*n, func(i int) (sum float64) {
			for k := range n {
				sum += q[i/n*n+k] * w[k*n+i%n]
			}
			return narrow(sum * scales[i/n] * channels[i%n])
		})
		call("NPU.npu_quant_matmul", block, []value{numbers, {dtype.Int8, []int64{n, n}, w}, {dtype.Float32, []int64{n}, channels}, factors}, full(y))
		z := each(rows*n, func(i int) float64 { return made(y[i] / (1 + math.Exp(-y[i]))) })
		call("Functional.silu", block, []value{full(y)}, full(z))
		sum := each(rows*n, func(i int) float64 { return narrow(x[i] + z[i]) })
		call("Torch.add", block, []value{full(x), full(z)}, full(sum))
		x = sum
	}
	text := strings.Replace(dumpOf("L1", entries), `"statistics"`, map[bool]string{true: `"tensor"`, false: `"statistics"`}[elements], 1)
	if err := os.WriteFile(filepath.Join(dir, "dump.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestQuantisedPairs: numbers and scales that a quantiser gives are one value: the same value with other scales is no fault, rounding
// before it moves numbers by a step, and a fault of either is its own, however many numbers rounding moves, too.
func TestQuantisedPairs(t *testing.T) {
	for _, elements := range []bool{true, false} {
		golden := quantisedNet(t, "", elements)
		for kind, root := range map[string]string{"rounding": "", "powers": "", "double": "NPU.npu_dynamic_quant.2.forward", "another token": "NPU.npu_dynamic_quant.2.forward", "data": "NPU.npu_dynamic_quant.2.forward",
			"overflow": "NPU.npu_dynamic_quant.2.forward"} {
			if !elements && kind == "another token" {
				continue // statistics do not show it
			}
			j := judged(t, quantisedNet(t, kind, elements), golden)
			names := rootNames(j)
			untold, outputs := 0, 0
			for i := range j.Table.Rows {
				if r := &j.Table.Rows[i]; r.Has(result.ScalesUnknown) {
					if untold++; r.Role == result.Output {
						outputs++
					}
				}
			}
			if c := j.Coverage; c.Expected-c.Compared != outputs || c.Lost.Count != outputs {
				t.Errorf("elements %t, %s: %+v, of %d outputs it is said that statistics do not tell", elements, kind, c, outputs)
			}
			if stops := len(j.Trips(verdict.Gate{Strict: true})) > 0; root == "" && (stops != (outputs > 0) || len(j.Trips(verdict.Gate{On: true})) > 0) {
				t.Errorf("elements %t, %s: a strict gate stops: %t, of %d outputs it is said that statistics do not tell", elements, kind, stops, outputs)
			}
			if told := elements || kind != "powers"; told != (untold == 0) {
				t.Errorf("elements %t, %s: of %d tensors it is said that statistics do not tell", elements, kind, untold)
			}
			if root == "" && (j.Verdict != verdict.Good || len(names) > 0) || root != "" && (j.Verdict == verdict.Good || !slices.Equal(names, []string{root})) {
				t.Errorf("elements %t, %s: %v, roots %v, expected %q", elements, kind, j.Verdict, names, root)
			}
		}
	}
}

// TestQuantisedBytes: a quantiser that gets the same on both sides and gives float4, two in a byte, and exponents, is good with the same
// values and other scales; one number with the other sign, or scales twice as large, are its fault, though float4 rounds by as much.
func TestQuantisedBytes(t *testing.T) {
	const rows, n = 4, 64
	float4 := map[float64]byte{1: 2, 2: 4, 3: 5, 4: 6, 6: 7}
	side := func(kind string) string {
		dir := filepath.Join(t.TempDir(), "step0", "rank0")
		if err := os.MkdirAll(filepath.Join(dir, "dump_tensor_data"), 0o700); err != nil {
			t.Fatal(err)
		}
		tensor := func(place, typ string, is dtype.Type, shape []int64, raw []byte) string {
			var b bytes.Buffer
			if err := torch.Write(&b, is, shape, bytes.NewReader(raw)); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "dump_tensor_data", place+".pt"), b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			dims, _ := json.Marshal(shape)
			return fmt.Sprintf(`{"type": "torch.Tensor", "dtype": "torch.%s", "shape": %s, "Max": null, "Min": null, "Mean": null, "Norm": null, "requires_grad": false, "data_name": "%s.pt"}`, typ, dims, place)
		}
		var x, y []byte
		for i := range rows * n {
			v := []float64{2, -4, 6, -2, 4, 2, -6, 4}[(i+i/n)%8]
			x = binary.LittleEndian.AppendUint16(x, uint16(math.Float32bits(float32(v/4))>>16))
			if kind == "sign" && i == n+2 {
				v = -v
			}
			if kind == "other scales" {
				v /= 2
			}
			if code := float4[math.Abs(v)] | byte(math.Float64bits(v)>>63)<<3; i%2 == 0 {
				y = append(y, code)
			} else {
				y[len(y)-1] |= code << 4
			}
		}
		exponent := byte(125)
		if kind == "scale" || kind == "other scales" {
			exponent++
		}
		in := func(name string) string { return tensor(name, "bfloat16", dtype.BFloat16, []int64{rows, n}, x) }
		text := dumpOf("L1", []string{
			fmt.Sprintf(`"Functional.silu.0.forward": {"input_args": [%s], "input_kwargs": {}, "output": [%s]}`, in("Functional.silu.0.forward.input.0"), in("Functional.silu.0.forward.output.0")),
			fmt.Sprintf(`"NPU.npu_dynamic_mx_quant.0.forward": {"input_args": [%s], "input_kwargs": {}, "output": [%s, %s]}`, in("NPU.npu_dynamic_mx_quant.0.forward.input.0"),
				tensor("NPU.npu_dynamic_mx_quant.0.forward.output.0", "float4_e2m1fn_x2", dtype.Uint8, []int64{rows, n / 2}, y),
				tensor("NPU.npu_dynamic_mx_quant.0.forward.output.1", "uint8", dtype.Uint8, []int64{rows, 1, 2}, bytes.Repeat([]byte{exponent}, 2*rows))),
		})
		if err := os.WriteFile(filepath.Join(dir, "dump.json"), []byte(strings.Replace(text, `"statistics"`, `"tensor"`, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	for kind, good := range map[string]bool{"other scales": true, "sign": false, "scale": false} {
		j := judged(t, side(kind), side(""))
		if names := rootNames(j); (j.Verdict == verdict.Good) != good || (len(names) == 0) != good {
			t.Errorf("%s: %v, roots %v", kind, j.Verdict, names)
		}
	}
}
