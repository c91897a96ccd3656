package oracle

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"precision/dump/dtype"
)

// TestAcceptedArithmetics: what open kernels compute is not wrong: numbers rounded to the type of the tensor first, swish with its
// exponential in float16; what nothing shows is suspect if all calls of a function need it, and wrong in one of them.
func TestAcceptedArithmetics(t *testing.T) {
	const n = 2048
	half := precisionFor(dtype.Float16)
	x := func(i int) float64 { return half.Round(4 * math.Sin(float64(i)*1.37+float64(i%7))) }
	tensor := func(typ string, f func(x float64) float64) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%.9g ", f(x(i)))
		}
		return fmt.Sprintf("%s[%d]{%s}", typ, n, b.String())
	}
	same := func(x float64) float64 { return x }
	of := func(name, typ, number string, f func(x float64) float64) string {
		return name + "(" + tensor(typ, same) + number + ") = " + tensor(typ, f)
	}
	swish := func(x float64) float64 { return x / (1 + half.Round(math.Exp(-x))) }
	coarse := func(x float64) float64 { return math.Tanh(x) * (1 + 1e-4*math.Sin(99*x)) }
	clean := of("Torch.tanh", "float32", "", math.Tanh)
	for _, c := range []struct {
		name  string
		calls []string
		want  Verdict
		kind  string // of its last reason
	}{
		{"a slope of the tensor's type", []string{of("NPU.npu_format_cast", "float16", ", 2", same), of("Functional.leaky_relu", "float16", ", 0.013", func(x float64) float64 {
			if x > 0 {
				return x
			}
			return half.Round(half.Round(.013) * x)
		})}, OK, ""},
		{"another slope", []string{of("NPU.npu_format_cast", "float16", ", 2", same), of("Functional.leaky_relu", "float16", ", 0.013", func(x float64) float64 { return half.Round(max(x, .0132*x)) })}, Wrong, ""},
		{"a summand of the tensor's type", []string{of("Torch.add", "float16", ", 0.1", func(x float64) float64 { return half.Round(x + half.Round(.1)) })}, OK, ""},
		{"swish in part in float16", []string{of("NPU.npu_silu", "float32", "", swish)}, OK, string(HalfInside)},
		{"on a CPU", []string{of("Functional.silu", "float32", "", swish)}, Wrong, ""},
		{"swish a hundredth off", []string{of("NPU.npu_silu", "float32", "", func(x float64) float64 { return 1.01 * x / (1 + math.Exp(-x)) })}, Wrong, ""},
		{"one element off", []string{of("NPU.npu_silu", "float32", "", func(y float64) float64 { return y / (1 + math.Exp(-y)) * (1 + 1e-3*toNumber(y == x(77))) })}, Wrong, ""},
		{"what nothing shows, in all calls", []string{of("NPU.npu_silu", "float32", "", swish), of("Torch.tanh", "float32", "", coarse), of("Torch.tanh", "float32", "", coarse)}, Suspect, string(LowPrecision)},
		{"in one of several", []string{of("NPU.npu_silu", "float32", "", swish), clean, clean, of("Torch.tanh", "float32", "", coarse)}, Wrong, ""},
	} {
		r := newRecorder(t)
		for _, text := range c.calls {
			call, err := textCase(text)
			if err != nil {
				t.Fatal(c.name, err)
			}
			r.add(&call)
		}
		r.addClean(20)
		f := r.check()[len(c.calls)-1]
		if f.Verdict != c.want || c.kind != "" && string(f.Reasons[len(f.Reasons)-1].Kind) != c.kind || c.want == OK && c.kind == "" && len(f.Reasons) > 0 {
			t.Errorf("%s: %s %v %v, expected %v %s", c.name, f.Op, f.Verdict, f.Reasons, c.want, c.kind)
		}
	}
}
