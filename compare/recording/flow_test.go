package recording_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/compare/result"
	"precision/compare/verdict"
)

// coarse is a tensor of bfloat16 by its number: numbers that differ by less than a third have the same
// statistics but for the mean.
func coarse(v, mean float64) string {
	return statistics("bfloat16", fmt.Sprint(v), fmt.Sprint(-v/2), fmt.Sprint(mean), fmt.Sprint(5*v))
}

// float is an argument of a call.
func float(v float64) string { return fmt.Sprintf(`{"type": "float", "value": %g}`, v) }

// twice is a tensor of [sized] that is repeated as a whole.
func twice(text string) string {
	var norm float64
	at := strings.Index(text, `"Norm": `) + len(`"Norm": `)
	fmt.Sscan(text[at:strings.LastIndex(text, ", ")], &norm)
	return strings.Replace(text[:at], "[8, 8]", "[2, 8, 8]", 1) + fmt.Sprintf("%.9e", float64(float32(norm*math.Sqrt2))) + text[strings.LastIndex(text, ", "):]
}

// TestFlow: what agrees may rest on.
func TestFlow(t *testing.T) {
	linear := func(n int, in, weight, out string) string {
		return entry("Functional.linear", n, []string{in, weight}, out)
	}
	f32 := func(hi, lo, mean, norm string) string { return statistics("float32", hi, lo, mean, norm) }
	shaped := func(text, shape string) string { return strings.Replace(text, "[8, 8]", shape, 1) }
	back := func(text string) string { return strings.Replace(text, ".forward", ".backward", 1) }
	only := func(text, output string) string {
		return strings.Replace(text, `"output": [`+output+`]`, `"output": []`, 1)
	}
	async := func(text string) string {
		return strings.Replace(text, `"input_kwargs": {}`, `"input_kwargs": {"async_op": {"type": "bool", "value": true}}`, 1)
	}
	weight, other := sized(1.3, 0), sized(1.7, 0)
	pair := func(hi, lo, norm string) string {
		return strings.Replace(statistics("bfloat16", hi, lo, "0.5", norm), "[8, 8]", "[2, 8, 8]", 1)
	}
	one := func(v string) string { return shaped(statistics("bool", v, v, "null", "null"), "[]") }
	score := func(hi string) string { return statistics("bfloat16", hi, "-3", "0.5", "40") }
	zero, flags := statistics("float32", "1e-9", "-1e-9", "1e-10", "5e-9"), statistics("bool", "true", "false", "null", "null")
	asked := func(v string) string {
		return entry("Tensor.__eq__", 0, []string{shaped(strings.Replace(flags, "true", v, 1), "[2, 12]")}, one(v))
	}
	ids := func(off int64) string { return statistics("int64", fmt.Sprint(1<<60+off), "5", "null", "null") }
	summed := func(tensor, sum string) string {
		return strings.TrimSuffix(tensor, "}") + fmt.Sprintf(`, "md5": %q}`, sum)
	}
	places := func(most int) string { return statistics("int64", fmt.Sprint(most), "0", "null", "null") }
	word := func(v string) string { return fmt.Sprintf(`{"type": "str", "value": %q}`, v) }
	half := func(hi, lo, mean, norm string) string {
		return strings.Replace(statistics("bfloat16", hi, lo, mean, norm), "[8, 8]", "[8, 96]", 1)
	}
	normed, smaller := half("2.984375", "-2.828125", "0.0212402", "27.375"), half("2.96875", "-2.8125", "0.0211182", "27.25")
	norm := func(out string, inside ...string) []string {
		module := strings.Replace(entry("Module.sa_layer_norm.LayerNorm", 0, []string{half("1.5", "-1.25", "0.01", "19")}, out), "0.forward", "forward.0", 1)
		return append(inside, module)
	}
	mask := statistics("float32", "0", "-3.4e38", "-1e38", "Infinity")
	for _, c := range []struct {
		name         string
		left, golden []string
		roots        []string
		certain      bool
	}{
		{"a norm that makes all four statistics smaller, each by a roundoff", norm(smaller), norm(normed), []string{"Module.sa_layer_norm.LayerNorm.forward.0"}, false},
		{"three of them, as elements that are rounded otherwise do", norm(half("2.96875", "-2.8125", "0.0211182", "27.375")), norm(normed), nil, false},
		{"all four, not in one direction", norm(half("2.96875", "-2.84375", "0.0211182", "27.25")), norm(normed), nil, false},
		{"of a call, whose arguments are recorded", []string{linear(0, half("1.5", "-1.25", "0.01", "19"), weight, smaller)}, []string{linear(0, half("1.5", "-1.25", "0.01", "19"), weight, normed)}, nil, false},
		{"a call of one side alone that turns elements round, which no statistics show",
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), entry("Tensor.roll", 0, []string{sized(6, 0)}, sized(6, 1e-7)), linear(1, sized(6, 1e-7), other, sized(12, 1e-7))},
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), linear(1, sized(6, 0), other, sized(12, 0))}, []string{"Tensor.roll.0.forward"}, false},
		{"one that moves them in memory alone",
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), entry("Tensor.contiguous", 0, []string{sized(6, 0)}, sized(6, 1e-7)), linear(1, sized(6, 1e-7), other, sized(12, 1e-7))},
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), linear(1, sized(6, 0), other, sized(12, 0))}, nil, false},
		{"a call of one side alone, by way of windows that nothing recorded cuts",
			[]string{linear(0, sized(2, 0), weight, f32("6", "-4", "0.5", "30")), entry("Tensor.add", 0, []string{f32("6", "-4", "0.5", "30")}, f32("7", "-3", "1.5", "35")), linear(1, shaped(f32("7", "-3", "1.2", "60"), "[24, 8]"), other, sized(12, 0.2))},
			[]string{linear(0, sized(2, 0), weight, f32("6", "-4", "0.5", "30")), linear(1, shaped(f32("6", "-4", "0.4", "55"), "[24, 8]"), other, sized(12, 0))}, []string{"Tensor.add.0.forward"}, false},
		{"another checksum behind rounding and a call of one side alone that turns elements, which goes elsewhere",
			[]string{linear(0, sized(2, 0), weight, sized(6, 3e-7)), entry("Tensor.transpose", 0, []string{sized(9, 0)}, sized(9, 0)), entry("Functional.mse_loss", 0, []string{summed(sized(3, 0), "aaaaaaaa"), summed(sized(1.1, 2e-7), "bbbbbbbb")}, sized(0.5, 2e-7))},
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), entry("Functional.mse_loss", 0, []string{summed(sized(3, 0), "aaaaaaaa"), summed(sized(1.1, 0), "dddddddd")}, sized(0.5, 0))}, nil, false},
		{"scores behind a mask that hides how far they are off",
			[]string{linear(0, sized(2, 0), weight, sized(6, 3e-7)), entry("Torch.add", 0, []string{sized(0.9, 3e-7), f32("0", "-10000", "-2e3", "64800")}, f32("0.9487", "-10003.08", "-2e3", "64818.28")),
				entry("Functional.softmax", 0, []string{f32("0.9487", "-10003.08", "-2e3", "64818.28")}, f32("1", "0", "0.125", "2.545")), linear(1, f32("1", "0", "0.125", "2.545"), other, sized(12, 0.15))},
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), entry("Torch.add", 0, []string{sized(0.9, 0), f32("0", "-10000", "-2e3", "64800")}, f32("0.3296", "-10002.72", "-2e3", "64810.07")),
				entry("Functional.softmax", 0, []string{f32("0.3296", "-10002.72", "-2e3", "64810.07")}, f32("1", "0", "0.125", "2.596")), linear(1, f32("1", "0", "0.125", "2.596"), other, sized(12, 0))}, []string{"Torch.add.0.forward"}, true},
		{"a roundoff of what goes in, that its checksum tells of",
			[]string{linear(0, sized(2, 0), weight, summed(sized(6, 0), "cccccccc")), entry("Functional.layer_norm", 0, []string{summed(sized(1.1, 0), "aaaaaaaa")}, sized(2, 6e-7)), linear(1, sized(2, 6e-7), other, sized(12, 6e-7))},
			[]string{linear(0, sized(2, 0), weight, summed(sized(6, 0), "dddddddd")), entry("Functional.layer_norm", 0, []string{summed(sized(1.1, 0), "bbbbbbbb")}, sized(2, 0)), linear(1, sized(2, 0), other, sized(12, 0))}, nil, false},
		{"behind a root equal statistics of few digits clear nothing",
			[]string{linear(0, coarse(2, 0.1), coarse(3, 0.2), coarse(9, 0.5)), entry("Functional.silu", 0, []string{coarse(9, 0.5)}, coarse(8, 0.3)),
				linear(1, coarse(8, 0.3), coarse(4, 0.2), coarse(12, 0.6))},
			[]string{linear(0, coarse(2, 0.1), coarse(3, 0.2), coarse(6, 0.5)), entry("Functional.silu", 0, []string{coarse(6, 0.5)}, coarse(8, 0.3)),
				linear(1, coarse(8, 0.3), coarse(4, 0.2), coarse(10, 0.6))}, []string{"Functional.linear.0.forward"}, false},
		{"the same without one, where nothing differs before",
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), linear(1, sized(6, 0), other, sized(12, 0.1))},
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), linear(1, sized(6, 0), other, sized(12, 0))}, []string{"Functional.linear.1.forward"}, true},
		{"another order of summation",
			[]string{linear(0, sized(2, 0), weight, sized(6, 3e-7)), linear(1, sized(6, 3e-7), other, sized(12, 5e-7))},
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), linear(1, sized(6, 0), other, sized(12, 0))}, nil, false},
		{"what rounding makes of the cosines of large angles",
			[]string{linear(0, sized(2, 0), weight, sized(2000, 2e-7)), entry("Torch.cos", 0, []string{sized(2000, 2e-7)}, sized(1, 2e-4))},
			[]string{linear(0, sized(2, 0), weight, sized(2000, 0)), entry("Torch.cos", 0, []string{sized(2000, 0)}, sized(1, 0))}, nil, false},
		{"and not of small ones",
			[]string{linear(0, sized(2, 0), weight, sized(1.5, 2e-7)), entry("Torch.cos", 0, []string{sized(1.5, 2e-7)}, sized(1, 2e-4))},
			[]string{linear(0, sized(2, 0), weight, sized(1.5, 0)), entry("Torch.cos", 0, []string{sized(1.5, 0)}, sized(1, 0))}, []string{"Torch.cos.0.forward"}, true},
		{"more than that",
			[]string{linear(0, sized(2, 0), weight, sized(6, 3e-5)), linear(1, sized(6, 3e-5), other, sized(12, 3e-5))},
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), linear(1, sized(6, 0), other, sized(12, 0))}, []string{"Functional.linear.0.forward"}, true},
		{"a call that adds nothing up", // gives the same bits for the same
			[]string{entry("Functional.relu", 0, []string{sized(2, 0)}, sized(6, 3e-7)), linear(1, sized(6, 3e-7), other, sized(12, 5e-7))},
			[]string{entry("Functional.relu", 0, []string{sized(2, 0)}, sized(6, 0)), linear(1, sized(6, 0), other, sized(12, 0))}, []string{"Functional.relu.0.forward"}, true},
		{"a gradient that is zero in exact arithmetic",
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), back(linear(0, sized(0.5, 3e-7), "", shaped(zero, "[32]")))},
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), back(linear(0, sized(0.5, 0), "", shaped(strings.Replace(zero, "5e-9", "4e-9", 1), "[32]")))}, nil, false},
		{"a gradient that is not",
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), back(linear(0, sized(0.5, 3e-7), "", shaped(sized(0.4, 0.3), "[32]")))},
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), back(linear(0, sized(0.5, 0), "", shaped(sized(0.4, 0), "[32]")))}, []string{"Functional.linear.0.backward"}, true},
		{"the same mask, as flags and as numbers to add",
			[]string{entry("Functional.attention", 0, []string{sized(2, 0), flags}, sized(6, 3e-7))},
			[]string{entry("Functional.attention", 0, []string{sized(2, 0), mask}, sized(6, 0))}, nil, false},
		{"another mask",
			[]string{entry("Functional.attention", 0, []string{sized(2, 0), flags}, sized(6, 0.2))},
			[]string{entry("Functional.attention", 0, []string{sized(2, 0), mask}, sized(6, 0))}, []string{"Functional.attention.0.forward"}, false},
		{"an output that one side keeps", []string{entry("Functional.attention", 0, []string{sized(2, 0)}, sized(6, 0)+", null")},
			[]string{entry("Functional.attention", 0, []string{sized(2, 0)}, sized(6, 0)+", "+sized(3, 0))}, nil, false},
		{"an argument, where outputs are not recorded",
			[]string{only(entry("Functional.norm", 0, []string{sized(2, 0), float(0.1)}, "{}"), "{}"), only(linear(0, sized(7, 0.1), weight, "{}"), "{}")},
			[]string{only(entry("Functional.norm", 0, []string{sized(2, 0), float(1e-5)}, "{}"), "{}"), only(linear(0, sized(7, 0), weight, "{}"), "{}")}, []string{"Functional.norm.0.forward"}, false},
		{"a result that is not taken", // what went into the call is, and the call itself is right
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), entry("Distributed.all_reduce", 0, []string{sized(6, 0)}, sized(11, 0)), linear(1, sized(6, 0), other, sized(12, 0.4))},
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), entry("Distributed.all_reduce", 0, []string{sized(6, 0)}, sized(11, 0)), linear(1, sized(11, 0), other, sized(12, 0))},
			[]string{"Distributed.all_reduce.0.forward"}, false},
		{"places that one side alone counts on, behind a choice",
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), entry("Torch.argmax", 0, []string{sized(6, 0)}, places(7)), entry("Tensor.__add__", 0, []string{places(7), float(1)}, places(8)),
				entry("Torch.index_select", 0, []string{sized(3, 0), places(8)}, sized(4, 0.2)), linear(1, sized(4, 0.2), other, sized(12, 0.3))},
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), entry("Torch.argmax", 0, []string{sized(6, 0)}, places(7)),
				entry("Torch.index_select", 0, []string{sized(3, 0), places(7)}, sized(4, 0)), linear(1, sized(4, 0), other, sized(12, 0))}, []string{"Tensor.__add__.0.forward"}, false},
		{"and rows that are taken by them, in a way that is not recorded", // of one batch of rows, in another order
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), entry("Functional.relu", 0, []string{sized(6, 0)}, summed(sized(3, 0), "0000000a")), entry("Torch.argmax", 0, []string{sized(6, 0)}, places(7)),
				entry("Tensor.__add__", 0, []string{places(7), float(1)}, places(8)), entry("Torch.argsort", 0, []string{places(8)}, places(20)), linear(1, summed(sized(3, 0), "0000000b"), other, sized(12, 0.3))},
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), entry("Functional.relu", 0, []string{sized(6, 0)}, summed(sized(3, 0), "0000000a")), entry("Torch.argmax", 0, []string{sized(6, 0)}, places(7)),
				entry("Torch.argsort", 0, []string{places(7)}, places(19)), linear(1, summed(sized(3, 0), "0000000c"), other, sized(12, 0))}, []string{"Tensor.__add__.0.forward"}, false},
		{"its gradient, which feeds on what the other side makes later", // 1 - z where z is meant
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), linear(1, sized(6, 0), other, sized(12, 0.4)), entry("Tensor.__rsub__", 0, []string{sized(6, 0)}, sized(11, 0)),
				back(entry("Tensor.__rsub__", 0, []string{sized(0.2, 0)}, sized(0.25, 0))), back(linear(1, sized(0.5, 0.4), "", sized(0.7, 0.4)))},
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), entry("Tensor.__rsub__", 0, []string{sized(6, 0)}, sized(11, 0)), linear(1, sized(11, 0), other, sized(12, 0)),
				back(linear(1, sized(0.5, 0), "", sized(0.7, 0))), back(entry("Tensor.__rsub__", 0, []string{sized(0.7, 0)}, sized(0.1, 0)))},
			[]string{"Tensor.__rsub__.0.forward"}, false},
		{"a gradient behind one of which the sides recorded other tensors", // a hook that saw another step
			[]string{linear(0, sized(2, 0), weight, sized(6, 3e-7)), back(entry("Functional.attention", 0, []string{sized(3, 3e-7)}, sized(3, 3e-7))),
				back(linear(0, sized(0.7, 3e-7), "", sized(0.4, 3e-7)))},
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), back(entry("Functional.attention", 0, []string{sized(3, 0)}, shaped(sized(0.7, 0), "[64]"))),
				back(linear(0, sized(0.7, 0), "", sized(0.4, 0)))}, nil, false},
		{"a call that only begins its work", // and whose result was recorded before it was there, if only in part
			[]string{async(entry("Distributed.all_reduce", 0, []string{sized(6, 0)}, statistics("float32", "6", "-2.5", "0.9", "31"))), linear(0, sized(11, 0), weight, sized(12, 0))},
			[]string{async(entry("Distributed.all_reduce", 0, []string{sized(6, 0)}, sized(11, 0))), linear(0, sized(11, 0), weight, sized(12, 0))}, nil, false},
		{"and one that did other than it was told",
			[]string{async(entry("Distributed.all_reduce", 0, []string{sized(6, 0)}, sized(9, 0))), linear(0, sized(9, 0), weight, sized(10, 0))},
			[]string{async(entry("Distributed.all_reduce", 0, []string{sized(6, 0)}, sized(11, 0))), linear(0, sized(11, 0), weight, sized(12, 0))},
			[]string{"Distributed.all_reduce.0.forward"}, true},
		{"a pass too many", // its gradients are added to those of the other
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), back(linear(0, sized(0.5, 0), "", sized(0.4, 0))),
				linear(1, sized(3, 0), weight, sized(7, 0)), back(linear(1, sized(0.6, 0), "", sized(0.3, 0))), entry("Distributed.all_reduce", 0, []string{sized(0.7, 0)}, sized(0.9, 0))},
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), back(linear(0, sized(0.5, 0), "", sized(0.4, 0))), entry("Distributed.all_reduce", 0, []string{sized(0.4, 0)}, sized(0.8, 0))},
			[]string{"Functional.linear.1.forward"}, false},
		{"several steps that one side alone computes are rounded otherwise",
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), entry("Torch.sigmoid", 0, []string{sized(6, 0)}, sized(0.9, 0)), entry("Tensor.__mul__", 0, []string{sized(6, 0), sized(0.9, 0)}, sized(5, 0)),
				linear(1, sized(5, 0), other, sized(12, 0)), entry("Functional.relu", 0, []string{sized(12, 0)}, sized(7, 3e-7))},
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), entry("Functional.silu", 0, []string{sized(6, 0)}, sized(5, 0)),
				linear(1, sized(5, 0), other, sized(12, 0)), entry("Functional.relu", 0, []string{sized(12, 0)}, sized(7, 0))}, nil, false},
		{"but not by that much",
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), entry("Torch.sigmoid", 0, []string{sized(6, 0)}, sized(0.9, 0)), entry("Tensor.__mul__", 0, []string{sized(6, 0), sized(0.9, 0)}, sized(5, 0)),
				linear(1, sized(5, 0), other, sized(12, 0)), entry("Functional.relu", 0, []string{sized(12, 0)}, sized(7, 3e-5))},
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), entry("Functional.silu", 0, []string{sized(6, 0)}, sized(5, 0)),
				linear(1, sized(5, 0), other, sized(12, 0)), entry("Functional.relu", 0, []string{sized(12, 0)}, sized(7, 0))}, []string{"Functional.relu.0.forward"}, true},
		{"what one side alone computes on the way changes it, by less than a sum may be off",
			[]string{linear(0, coarse(2, 0.1), coarse(3, 0.2), coarse(6, 0.5)), entry("Tensor.__mul__", 0, []string{coarse(6, 0.5)}, coarse(6.16, 0.5)), linear(1, coarse(6.16, 0.5), coarse(4, 0.2), coarse(12.25, 0.6))},
			[]string{linear(0, coarse(2, 0.1), coarse(3, 0.2), coarse(6, 0.5)), linear(1, coarse(6, 0.5), coarse(4, 0.2), coarse(12, 0.6))}, []string{"Tensor.__mul__.0.forward"}, false},
		{"what one side alone computes on the way changes nothing",
			[]string{linear(0, coarse(2, 0.1), coarse(3, 0.2), coarse(6, 0.5)), entry("Tensor.__mul__", 0, []string{coarse(6, 0.5)}, coarse(6, 0.501)), linear(1, coarse(6, 0.501), coarse(4, 0.2), coarse(12, 0.6))},
			[]string{linear(0, coarse(2, 0.1), coarse(3, 0.2), coarse(6, 0.5)), linear(1, coarse(6, 0.5), coarse(4, 0.2), coarse(12, 0.6))}, nil, false},
		{"what one side alone computes is repeated, as keys are for several heads",
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), entry("Functional.dropout", 0, []string{sized(6, 0)}, sized(6, 0.11)), entry("Functional.attention", 0, []string{twice(sized(6, 0.11))}, sized(9, 0.1))},
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), entry("Functional.attention", 0, []string{twice(sized(6, 0))}, sized(9, 0))}, []string{"Functional.dropout.0.forward"}, false},
		{"the same where it shows in what is computed with another tensor alone",
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), entry("Tensor.roll", 0, []string{sized(6, 0)}, sized(6, 0)), entry("Functional.silu", 0, []string{sized(6, 0)}, sized(5, 0)),
				entry("Tensor.__mul__", 0, []string{sized(5, 0), sized(3, 0)}, sized(9, 0.1))},
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), entry("Functional.silu", 0, []string{sized(6, 0)}, sized(5, 0)),
				entry("Tensor.__mul__", 0, []string{sized(5, 0), sized(3, 0)}, sized(9, 0))}, []string{"Tensor.roll.0.forward"}, false},
		{"the same where a way that was not recorded leads there, as a split does",
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), entry("Tensor.roll", 0, []string{sized(6, 0)}, sized(6, 0)),
				entry("Tensor.__mul__", 0, []string{sized(5.5, 0), sized(3, 0)}, sized(9, 0.1))},
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), entry("Tensor.__mul__", 0, []string{sized(5.5, 0), sized(3, 0)}, sized(9, 0))}, []string{"Tensor.roll.0.forward"}, false},
		{"what is handed on is rounded a few times, and not added up: elements lower than that are a cause",
			[]string{linear(0, coarse(2, 0.1), coarse(3, 0.2), score("8")), linear(1, score("8.25"), coarse(4, 0.2), coarse(12, 0.61))},
			[]string{linear(0, coarse(2, 0.1), coarse(3, 0.2), score("8")), linear(1, score("8"), coarse(4, 0.2), coarse(12, 0.6))},
			[]string{"Functional.linear.1.forward"}, false},
		{"and elements rounded once are none",
			[]string{linear(0, coarse(2, 0.1), coarse(3, 0.2), score("8")), linear(1, score("8.0625"), coarse(4, 0.2), coarse(12, 0.6))},
			[]string{linear(0, coarse(2, 0.1), coarse(3, 0.2), score("8")), linear(1, score("8"), coarse(4, 0.2), coarse(12, 0.6))},
			nil, false},
		{"a part that one side alone writes in place",
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), strings.Replace(entry("Tensor.__setitem__", 0, []string{sized(6, 0)}, ""), "[]}", "[null]}", 1), entry("Functional.attention", 0, []string{sized(6, 0.1)}, sized(9, 0.1))},
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), entry("Functional.attention", 0, []string{sized(6, 0)}, sized(9, 0))}, []string{"Tensor.__setitem__.0.forward"}, false},
		{"what comes from where nobody knows, behind another order of summation",
			[]string{linear(0, sized(2, 0), weight, sized(6, 3e-7)), linear(1, sized(6, 3e-7), other, sized(12, 5e-7)), entry("Functional.relu", 0, []string{sized(8, 0)}, sized(7, 3e-7))},
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), linear(1, sized(6, 0), other, sized(12, 0)), entry("Functional.relu", 0, []string{sized(8, 0)}, sized(7, 0))}, nil, false},
		{"a wider type shows what the statistics of a narrow one hide",
			[]string{linear(0, coarse(2, 0.1), coarse(3, 0.2), coarse(6, 0.5)), entry("Tensor.pow", 0, []string{statistics("float32", "6", "-3", "0.5", "30.001")}, sized(7, 1e-4))},
			[]string{linear(0, coarse(2, 0.1), coarse(3, 0.2), coarse(6, 0.5)), entry("Tensor.pow", 0, []string{statistics("float32", "6", "-3", "0.5", "30")}, sized(7, 0))}, nil, false},
		{"and what they do not",
			[]string{linear(0, coarse(2, 0.1), coarse(3, 0.2), coarse(6, 0.5)), entry("Tensor.pow", 0, []string{statistics("float32", "6", "-3", "0.5", "31")}, sized(7, 4e-2))},
			[]string{linear(0, coarse(2, 0.1), coarse(3, 0.2), coarse(6, 0.5)), entry("Tensor.pow", 0, []string{statistics("float32", "6", "-3", "0.5", "30")}, sized(7, 0))}, []string{"Tensor.pow.0.forward"}, false},
		{"or what another tensor is",
			[]string{linear(0, coarse(2, 0.1), coarse(3, 0.2), coarse(6, 0.5)), entry("Tensor.pow", 0, []string{statistics("float32", "5", "-3", "0.5", "30.001")}, sized(7, 1e-4))},
			[]string{linear(0, coarse(2, 0.1), coarse(3, 0.2), coarse(6, 0.5)), entry("Tensor.pow", 0, []string{statistics("float32", "5", "-3", "0.5", "30")}, sized(7, 0))}, []string{"Tensor.pow.0.forward"}, false},
		{"or one that ends where it does, as what is clipped does",
			[]string{linear(0, coarse(2, 0.1), coarse(3, 0.2), coarse(6, 0.5)), entry("Tensor.pow", 0, []string{statistics("float32", "6", "-3", "2.5", "30.001")}, sized(7, 1e-4))},
			[]string{linear(0, coarse(2, 0.1), coarse(3, 0.2), coarse(6, 0.5)), entry("Tensor.pow", 0, []string{statistics("float32", "6", "-3", "2.5", "30")}, sized(7, 0))}, []string{"Tensor.pow.0.forward"}, false},
		{"or one of another norm that does",
			[]string{linear(0, coarse(2, 0.1), coarse(3, 0.2), coarse(6, 0.5)), entry("Tensor.pow", 0, []string{statistics("float32", "6", "-3", "0.5", "20.001")}, sized(7, 1e-4))},
			[]string{linear(0, coarse(2, 0.1), coarse(3, 0.2), coarse(6, 0.5)), entry("Tensor.pow", 0, []string{statistics("float32", "6", "-3", "0.5", "20")}, sized(7, 0))}, []string{"Tensor.pow.0.forward"}, false},
		{"or one that is known to come from elsewhere",
			[]string{linear(0, coarse(2, 0.1), coarse(3, 0.2), coarse(6, 0.5)), entry("Functional.silu", 0, []string{sized(4, 0)}, statistics("float32", "6", "-3", "0.5", "30.001")), entry("Tensor.pow", 0, []string{statistics("float32", "6", "-3", "0.5", "30.001")}, sized(7, 1e-4))},
			[]string{linear(0, coarse(2, 0.1), coarse(3, 0.2), coarse(6, 0.5)), entry("Functional.silu", 0, []string{sized(4, 0)}, statistics("float32", "6", "-3", "0.5", "30")), entry("Tensor.pow", 0, []string{statistics("float32", "6", "-3", "0.5", "30")}, sized(7, 0))}, []string{"Functional.silu.0.forward"}, true},
		{"rows that a choice between near equals put elsewhere, and their gradients",
			[]string{linear(0, coarse(2, 0.1), coarse(3, 0.2), score("6.03125")), entry("Torch.topk", 0, []string{score("6.03125")}, sized(5, 3e-7)+", "+statistics("int64", "40", "0", "null", "null")),
				entry("Functional.silu", 0, []string{sized(7, 0.1)}, sized(8, 0.1)), back(entry("Tensor.sum", 0, []string{sized(3, 3e-7)}, sized(3.5, 3e-7))), back(entry("Functional.silu", 0, []string{sized(3.5, 0.1)}, sized(4, 0.1)))},
			[]string{linear(0, coarse(2, 0.1), coarse(3, 0.2), score("6")), entry("Torch.topk", 0, []string{score("6")}, sized(5, 0)+", "+statistics("int64", "30", "0", "null", "null")),
				entry("Functional.silu", 0, []string{sized(7, 0)}, sized(8, 0)), back(entry("Tensor.sum", 0, []string{sized(3, 0)}, sized(3.5, 0))), back(entry("Functional.silu", 0, []string{sized(3.5, 0)}, sized(4, 0)))}, nil, false},
		{"but not gradients whose rows lie where they did",
			[]string{linear(0, sized(2, 0), weight, sized(6, 3e-7)), entry("Functional.silu", 0, []string{sized(7, 3e-7)}, sized(8, 3e-7)), back(entry("Tensor.sum", 0, []string{sized(3, 3e-7)}, sized(3.5, 3e-7))), back(entry("Functional.silu", 0, []string{sized(3.5, 0.1)}, sized(4, 0.1)))},
			[]string{linear(0, sized(2, 0), weight, sized(6, 0)), entry("Functional.silu", 0, []string{sized(7, 0)}, sized(8, 0)), back(entry("Tensor.sum", 0, []string{sized(3, 0)}, sized(3.5, 0))), back(entry("Functional.silu", 0, []string{sized(3.5, 0)}, sized(4, 0)))},
			[]string{"Functional.silu.0.backward"}, false},
		{"one argument in two calls",
			[]string{entry("Functional.layer_norm", 0, []string{sized(2, 0), float(0.01)}, sized(3, 0.1)), entry("Functional.gelu", 0, []string{sized(7, 0)}, sized(6, 0)), entry("Functional.layer_norm", 1, []string{sized(4, 0), float(0.01)}, sized(5, 0.1))},
			[]string{entry("Functional.layer_norm", 0, []string{sized(2, 0), float(1e-5)}, sized(3, 0)), entry("Functional.gelu", 0, []string{sized(7, 0)}, sized(6, 0)), entry("Functional.layer_norm", 1, []string{sized(4, 0), float(1e-5)}, sized(5, 0))},
			[]string{"Functional.layer_norm.0.forward"}, true},
		{"two arguments in two calls",
			[]string{entry("Functional.layer_norm", 0, []string{sized(2, 0), float(0.01)}, sized(3, 0.1)), entry("Functional.layer_norm", 1, []string{sized(4, 0), float(0.1)}, sized(5, 0.1))},
			[]string{entry("Functional.layer_norm", 0, []string{sized(2, 0), float(1e-5)}, sized(3, 0)), entry("Functional.layer_norm", 1, []string{sized(4, 0), float(1e-5)}, sized(5, 0))},
			[]string{"Functional.layer_norm.0.forward", "Functional.layer_norm.1.forward"}, true},
		{"gradients that are the same number of times too large where each is taken",
			[]string{back(linear(0, sized(2, 0), weight, sized(6, 0))), back(linear(1, sized(3, 0), weight, sized(7, 0))), entry("Tensor.add_", 0, []string{sized(5, 0), sized(6, 1)}, sized(8, 0.1)), entry("Tensor.add_", 1, []string{sized(4, 0), sized(7, 1)}, sized(9, 0.1))},
			[]string{back(linear(0, sized(2, 0), weight, sized(6, 0))), back(linear(1, sized(3, 0), weight, sized(7, 0))), entry("Tensor.add_", 0, []string{sized(5, 0), sized(6, 0)}, sized(8, 0)), entry("Tensor.add_", 1, []string{sized(4, 0), sized(7, 0)}, sized(9, 0))},
			[]string{"Tensor.add_.0.forward"}, false},
		{"gradients that are not",
			[]string{back(linear(0, sized(2, 0), weight, sized(6, 0))), back(linear(1, sized(3, 0), weight, sized(7, 0))), entry("Tensor.add_", 0, []string{sized(5, 0), sized(6, 1)}, sized(8, 0.1)), entry("Tensor.add_", 1, []string{sized(4, 0), sized(7, 0.5)}, sized(9, 0.1))},
			[]string{back(linear(0, sized(2, 0), weight, sized(6, 0))), back(linear(1, sized(3, 0), weight, sized(7, 0))), entry("Tensor.add_", 0, []string{sized(5, 0), sized(6, 0)}, sized(8, 0)), entry("Tensor.add_", 1, []string{sized(4, 0), sized(7, 0)}, sized(9, 0))},
			[]string{"Tensor.add_.0.forward", "Tensor.add_.1.forward"}, false},
		{"what a program does otherwise as a flag that it asks differs",
			[]string{entry("Tensor.__eq__", 0, []string{shaped(flags, "[2, 12]")}, one("true")), entry("Functional.attention", 0, []string{sized(2, 0), shaped(sized(3, 0), "[2, 8, 8]")}, sized(6, 0.1))},
			[]string{entry("Tensor.__eq__", 0, []string{shaped(strings.Replace(flags, "true", "false", 1), "[2, 12]")}, one("false")), entry("Functional.attention", 0, []string{sized(2, 0), sized(3, 0)}, sized(6, 0))},
			[]string{"Tensor.__eq__.0.forward"}, false},
		{"but not a word that stands in a call",
			[]string{asked("true"), entry("Functional.interpolate", 0, []string{sized(2, 0), statistics("float32", "null", "null", "null", "null"), word("bilinear")}, sized(6, 0.1))},
			[]string{asked("false"), entry("Functional.interpolate", 0, []string{sized(2, 0), statistics("float32", "null", "null", "null", "null"), word("nearest")}, sized(6, 0))},
			[]string{"Tensor.__eq__.0.forward", "Functional.interpolate.0.forward"}, false},
		{"ids that are one number in float64 and not in integers", []string{entry("Functional.embedding", 0, []string{ids(7), sized(2, 0)}, sized(6, 0))},
			[]string{entry("Functional.embedding", 0, []string{ids(0), sized(2, 0)}, sized(6, 0))}, []string{"Functional.embedding.0.forward"}, false},
		{"ids that are apart by less than float32 rounds", []string{entry("Functional.embedding", 0, []string{ids(1e7 - 1<<60), sized(2, 0)}, sized(6, 0))},
			[]string{entry("Functional.embedding", 0, []string{ids(1e7 + 1 - 1<<60), sized(2, 0)}, sized(6, 0))}, []string{"Functional.embedding.0.forward"}, false},
		{"what is repeated, with few digits",
			[]string{linear(0, coarse(2, 0.1), coarse(3, 0.2), coarse(6.1, 0.5)), entry("Functional.dropout", 0, []string{coarse(6.1, 0.5)}, coarse(7.1, 0.5)), entry("Functional.attention", 0, []string{pair("7.1", "-3.55", "50.25")}, coarse(9.5, 0.6))},
			[]string{linear(0, coarse(2, 0.1), coarse(3, 0.2), coarse(6.1, 0.5)), entry("Functional.attention", 0, []string{pair("6.1", "-3.05", "43.25")}, coarse(9, 0.6))}, []string{"Functional.dropout.0.forward"}, false},
		{"inputs that are not recorded",
			[]string{entry("Functional.silu", 0, nil, sized(2, 0)), entry("Functional.silu", 1, nil, sized(3, 0.1)), entry("Functional.silu", 2, nil, sized(4, 0.1))},
			[]string{entry("Functional.silu", 0, nil, sized(2, 0)), entry("Functional.silu", 1, nil, sized(3, 0)), entry("Functional.silu", 2, nil, sized(4, 0))}, []string{"Functional.silu.1.forward"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			clean := func(list []string) (out []string) {
				for _, text := range list {
					out = append(out, strings.ReplaceAll(text, ", ]", "]"))
				}
				return out
			}
			j := judged(t, written(t, clean(c.left)...), written(t, clean(c.golden)...))
			if got := rootNames(j); !slices.Equal(got, c.roots) || (j.Verdict == verdict.Good) != (c.roots == nil) {
				t.Errorf("%s with the roots %v, expected %v", j.Verdict, got, c.roots)
			}
			for _, r := range j.Roots {
				if (r.Certainty == verdict.Certain) != c.certain {
					t.Errorf("%s, expected certain: %v", r.Certainty, c.certain)
				}
			}
		})
	}
}

// TestVersions: two versions of a library make masks by other steps, return tuples with None in other places, tensors before they are
// spread over an axis, and end modules at another step. None of it is wrong, and what is wrong behind it still is.
func TestVersions(t *testing.T) {
	shaped := func(text, shape string) string { return strings.Replace(text, "[8, 8]", shape, 1) }
	whole := func(hi, lo string) string { return statistics("int64", hi, lo, "null", "null") }
	number := func(v string) string { return fmt.Sprintf(`{"type": "int", "value": %s}`, v) }
	module := func(name, input, output string) string {
		return fmt.Sprintf(`"Module.%s.forward.0": {"input_args": [%s], "input_kwargs": {}, "output": [%s]}`, name, input, output)
	}
	linear := func(n int, x, w, y float64, off float64) string {
		return entry("Functional.linear", n, []string{sized(x, 0), sized(w, 0)}, sized(y, off))
	}
	const low = "-3.3895313892515355e+38"
	mask, heads, scores := statistics("float32", "0", low, "-1e38", "Infinity"), "[2, 4, 8, 8]", "[2, 4, 8, 8]"
	for _, c := range []struct {
		name         string
		left, golden func(off float64) []string
		root         string // where the left side is off
	}{
		{"steps of a mask that are called alike",
			func(off float64) []string {
				return []string{linear(0, 2, 3, 4, 0), entry("Tensor.sum", 0, []string{whole("11", "0")}, whole("66", "66")), entry("Tensor.__add__", 0, []string{whole("11", "0"), number("0")}, whole("11", "0")),
					entry("Tensor.__le__", 0, []string{whole("11", "0")}, statistics("bool", "true", "false", "null", "null")), entry("Functional.silu", 0, []string{sized(4, 0)}, sized(6, off))}
			},
			func(float64) []string {
				return []string{linear(0, 2, 3, 4, 0), entry("Torch.all", 0, []string{whole("11", "0")}, statistics("bool", "false", "false", "null", "null")), entry("Tensor.__add__", 0, []string{whole("11", "0"), number("1")}, whole("12", "1")),
					entry("Tensor.__lt__", 0, []string{whole("12", "1")}, statistics("bool", "true", "false", "null", "null")), entry("Functional.silu", 0, []string{sized(4, 0)}, sized(6, 0))}
			}, "Functional.silu.0.forward"},
		{"a tuple with None elsewhere, and a bias that is spread already",
			func(off float64) []string {
				return []string{linear(0, 2, 3, 4, 0), module("block.Block", sized(4, 0), sized(5, off)+", "+shaped(sized(6, 0), "[1, 4, 8, 8]")+", "+shaped(sized(7, 0), "[2, 4, 8, 16]")), linear(1, 5, 3, 8, off)}
			},
			func(float64) []string {
				return []string{linear(0, 2, 3, 4, 0), module("block.Block", sized(4, 0), sized(5, 0)+", null, "+shaped(mask, "[2, 4, 8, 8]")+", "+shaped(sized(7, 0), "[2, 4, 8, 16]")), linear(1, 5, 3, 8, 0)}
			}, "Module.block.Block.forward.0"},
		{"a tuple with the keys and values of a cache in it",
			func(off float64) []string {
				return []string{linear(0, 2, 3, 4, 0), module("block.Block", sized(4, 0), sized(5, off)+", "+shaped(sized(6, 0), "[1, 4, 8, 8]")+", "+shaped(sized(7, 0), "[2, 4, 8, 16]")), linear(1, 5, 3, 8, off)}
			},
			func(float64) []string {
				return []string{linear(0, 2, 3, 4, 0), module("block.Block", sized(4, 0), sized(5, 0)+", "+shaped(sized(20, 0), "[2, 4, 9, 8]")+", "+shaped(sized(21, 0), "[2, 4, 9, 8]")+", "+shaped(mask, "[2, 4, 8, 8]")+", "+shaped(sized(7, 0), "[2, 4, 8, 16]")), linear(1, 5, 3, 8, 0)}
			}, "Module.block.Block.forward.0"},
		{"a factor that one side has in the module and the other behind it",
			func(off float64) []string {
				return []string{entry("Functional.embedding", 0, []string{whole("11", "0"), sized(3, 0)}, sized(4, 0)), entry("Tensor.__mul__", 0, []string{sized(4, 0), sized(9, 0)}, sized(12, off)),
					module("embed.ScaledEmbedding", whole("11", "0"), sized(12, off)), module("rope.Rotary", sized(12, off), sized(0.9, 0)), linear(1, 12, 5, 6, 0)}
			},
			func(float64) []string {
				return []string{entry("Functional.embedding", 0, []string{whole("11", "0"), sized(3, 0)}, sized(4, 0)), module("embed.Embedding", whole("11", "0"), sized(4, 0)),
					module("rope.Rotary", sized(4, 0), sized(0.9, 0)), entry("Tensor.__mul__", 0, []string{sized(4, 0), sized(9, 0)}, sized(12, 0)), linear(1, 12, 5, 6, 0)}
			}, "Tensor.__mul__.0.forward"},
		{"a mask that is made among the calls of attention",
			func(off float64) []string {
				in := []string{shaped(sized(2, 0), heads), shaped(sized(3, 0), heads), shaped(sized(4, 0), heads), shaped(mask, scores)}
				return []string{linear(0, 2, 3, 4, 0), entry("Torch.where", 0, []string{shaped(statistics("bool", "true", "false", "null", "null"), scores)}, shaped(mask, scores)),
					entry("Functional.scaled_dot_product_attention", 0, in, shaped(sized(6, 4*off), heads)), linear(1, 6, 3, 8, 0)}
			},
			func(float64) []string {
				return []string{linear(0, 2, 3, 4, 0), entry("Torch.matmul", 0, []string{shaped(sized(2, 0), heads), shaped(sized(3, 0), heads)}, shaped(sized(11, 0), scores)),
					entry("Tensor.__add__", 0, []string{shaped(statistics("float32", "0", "0", "0", "0"), scores), shaped(mask, "[2, 1, 1, 8]")}, shaped(mask, scores)),
					entry("Tensor.__add__", 1, []string{shaped(sized(11, 0), scores), shaped(mask, scores)}, shaped(statistics("float32", "11", low, "-1e38", "Infinity"), scores)),
					entry("Functional.softmax", 0, []string{shaped(statistics("float32", "11", low, "-1e38", "Infinity"), scores)}, shaped(statistics("float32", "0.6", "0", "0.08", "3"), scores)),
					entry("Functional.dropout", 0, []string{shaped(statistics("bfloat16", "0.61", "0", "0.08", "3.1"), scores)}, shaped(statistics("bfloat16", "0.61", "0", "0.08", "3.1"), scores)),
					entry("Torch.matmul", 1, []string{shaped(statistics("bfloat16", "0.61", "0", "0.08", "3.1"), scores), shaped(sized(4, 0), heads)}, shaped(sized(6, 0), heads)), linear(1, 6, 3, 8, 0)}
			}, "Functional.scaled_dot_product_attention.0.forward"},
	} {
		for _, off := range []float64{0, 0.2} {
			before := func() (list []string) { // most of a network is called alike
				for n := range 8 {
					list = append(list, linear(n+2, float64(20+2*n), 3, float64(21+2*n), 0))
				}
				return list
			}
			j := judged(t, written(t, append(before(), c.left(off)...)...), written(t, append(before(), c.golden(off)...)...))
			var want []string
			if off > 0 {
				want = []string{c.root}
			}
			if strings.HasPrefix(c.name, "a factor") != (has(j, result.ModuleEnds) == 2) {
				t.Errorf("%s: %d values of modules that end elsewhere", c.name, has(j, result.ModuleEnds))
			}
			if !slices.Equal(rootNames(j), want) {
				t.Errorf("%s: %s with the roots %v, expected %v", c.name, j.Verdict, rootNames(j), want)
			}
		}
	}
}

// TestMasksExcuseNothing: the numbers of a mask are no summands of what attention gives, and positions that are counted otherwise no noise in
// which another weight is lost.
func TestMasksExcuseNothing(t *testing.T) {
	counts := func(hi, lo string) string { return statistics("int64", hi, lo, "null", "null") }
	flags := func(lo string) string { return statistics("bool", "true", lo, "null", "null") }
	mask := statistics("float32", "0", "-1e9", "-1e8", "4e9")
	module := func(w, y float64) string {
		return fmt.Sprintf(`"Module.up.Linear.forward.0": {"input_args": [%s], "input_kwargs": {}, "output": [%s], "parameters": {"weight": [%s]}}`, sized(2, 0), sized(y, 0), sized(w, 0))
	}
	for _, c := range []struct {
		name string
		side func(off float64) []string
		root string
	}{
		{"attention", func(off float64) []string {
			return []string{entry("Functional.scaled_dot_product_attention", 0, []string{sized(2, 0), sized(3, 0), sized(4, 0), mask}, sized(6, off))}
		}, "Functional.scaled_dot_product_attention.0.forward"},
		{"a weight behind a mask of other positions", func(off float64) []string {
			network := []string{entry("Functional.linear", 0, []string{sized(2, 0), sized(3*(1+off), 0)}, sized(5*(1+off), 0)), module(3*(1+off), 5*(1+off))}
			if off > 0 { // of a window
				return append([]string{entry("Tensor.__sub__", 0, []string{counts("11", "0"), `{"type": "int", "value": 4096}`}, counts("-4085", "-4096")),
					entry("Tensor.__gt__", 0, []string{counts("11", "0"), counts("-4085", "-4096")}, flags("true"))}, network...)
			}
			return append([]string{entry("Tensor.__gt__", 0, []string{counts("11", "0"), counts("11", "0")}, flags("false"))}, network...)
		}, "Functional.linear.0.forward"},
	} {
		before := func() (list []string) {
			for n := range 12 {
				list = append(list, entry("Functional.silu", n, []string{sized(float64(20+2*n), 0)}, sized(float64(21+2*n), 0)))
			}
			return list
		}
		j := judged(t, written(t, append(before(), c.side(0.2)...)...), written(t, append(before(), c.side(0)...)...))
		if j.Verdict != verdict.Bad || !slices.Contains(rootNames(j), c.root) {
			t.Errorf("%s: %s with the roots %v, expected %s", c.name, j.Verdict, rootNames(j), c.root)
		}
	}
}

// TestGradientOfAnotherForm: what a gradient is that a kernel hands on which nobody can compare, as it is that of another step on either side, and by a
// way that was not recorded, is judged by what went into that kernel.
func TestGradientOfAnotherForm(t *testing.T) {
	back := func(text string) string { return strings.Replace(text, ".forward", ".backward", 1) }
	side := func(handed string, off float64) []string {
		rounded := 2e-7 * min(1, off*1e9) // a product, in another order of summation
		list := []string{entry("Functional.linear", 0, []string{sized(12, 0), sized(13, 0)}, sized(14, rounded))}
		for n := range 12 {
			list = append(list, entry("Functional.silu", n, []string{sized(float64(20+2*n), 0)}, sized(float64(21+2*n), 0)))
		}
		x := []string{sized(2, 0), sized(3, 0), sized(4, 0)}
		return append(list, entry("Tensor.__add__", 0, []string{sized(7, 0), sized(8, 0)}, sized(9, 0)), entry("Functional.scaled_dot_product_attention", 0, x, sized(6, 0)),
			back(entry("Functional.scaled_dot_product_attention", 0, []string{sized(5, 0)}, handed)), back(entry("Tensor.__add__", 0, []string{sized(1e-4, off)}, sized(1e-4, off)+", "+sized(1e-4, off))))
	}
	for _, c := range []struct {
		off   float64
		roots []string
	}{{2e-6, nil}, {0.9, []string{"Tensor.__add__.0.backward"}}} {
		j := judged(t, written(t, side(strings.Replace(sized(5.5, 0), "[8, 8]", "[64, 1]", 1), c.off)...), written(t, side(sized(1e-5, 0), 0)...))
		if !slices.Equal(rootNames(j), c.roots) {
			t.Errorf("off by %g: %s with the roots %v, expected %v", c.off, j.Verdict, rootNames(j), c.roots)
		}
	}
}

// TestDefaults: a number that one side alone writes is held against what the function takes without it, which is the same or the cause.
func TestDefaults(t *testing.T) {
	flags, mask := statistics("bool", "true", "false", "null", "null"), statistics("float32", "0", "-3.4e38", "-1e38", "Infinity")
	// call is attention with a kind of mask, which nobody can compare, and kwargs.
	call := func(mask, kwargs string, off float64) string {
		return strings.Replace(entry("Functional.scaled_dot_product_attention", 0, []string{sized(2, 0), sized(3, 0), sized(4, 0), mask}, sized(6, off)), "{},", "{"+kwargs+"},", 1)
	}
	number := func(name, class, value string) string {
		return fmt.Sprintf(`%q: {"type": %q, "value": %s}`, name, class, value)
	}
	ms := strings.NewReplacer("torch.Tensor", "mindspore.Tensor", "torch.float32", "Float32").Replace
	norm := func(eps string, off float64) string {
		return entry("Functional.layer_norm", 0, []string{sized(2, 0), `[{"type": "int", "value": 8}]`, sized(3, 0), sized(4, 0), eps}, sized(6, off))
	}
	for _, c := range []struct {
		name, left, golden string
		kinds              [2]int // of values that are the default of the left and of the right side
		root               string
	}{
		{"the default itself", call(flags, number("scale", "float", "0.35355339059327373"), 1e-7), call(mask, "", 0), [2]int{0, 0}, ""},
		{"another number", call(flags, number("scale", "float", "0.4242640687119285"), 1e-4), call(mask, "", 0), [2]int{0, 1}, "kwargs.scale"},
		{"another number, on the right side", call(flags, number("dropout_p", "float", "0.0"), 1e-4), call(mask, number("scale", "float", "0.5"), 0), [2]int{1, 0}, "kwargs.scale"},
		{"nothing, which is None", call(flags, `"scale": null`, 1e-4), call(mask, number("scale", "float", "0.5"), 0), [2]int{1, 0}, "kwargs.scale"},
		{"the default by its place", norm(`{"type": "float", "value": 1e-05}`, 1e-7), norm("null", 0), [2]int{0, 0}, ""},
		{"another by its place", norm(`{"type": "float", "value": 0.01}`, 1e-4), norm("null", 0), [2]int{0, 1}, "input.4"},
		{"an axis from the other end", entry("Functional.softmax", 0, []string{sized(2, 0), `{"type": "int", "value": -1}`}, sized(6, 1e-7)),
			entry("Functional.softmax", 0, []string{sized(2, 0), `{"type": "int", "value": 1}`}, sized(6, 0)), [2]int{}, ""},
		{"another axis", entry("Functional.softmax", 0, []string{sized(2, 0), `{"type": "int", "value": -1}`}, sized(6, 1e-4)),
			entry("Functional.softmax", 0, []string{sized(2, 0), `{"type": "int", "value": 0}`}, sized(6, 0)), [2]int{}, "input.1"},
		{"an axis of a list", strings.Replace(entry("Torch.sum", 0, []string{sized(2, 0)}, sized(6, 1e-7)), "{},", `{"dim": [{"type": "int", "value": -2}]},`, 1),
			strings.Replace(entry("Torch.sum", 0, []string{sized(2, 0)}, sized(6, 0)), "{},", `{"dim": [{"type": "int", "value": 0}]},`, 1), [2]int{}, ""},
		{"a new axis", strings.Replace(entry("Tensor.unsqueeze", 0, []string{sized(2, 0), `{"type": "int", "value": -1}`}, sized(6, 0)), "[8, 8], \"Max\": 6", "[8, 8, 1], \"Max\": 6", 1),
			strings.Replace(entry("Tensor.unsqueeze", 0, []string{sized(2, 0), `{"type": "int", "value": 2}`}, sized(6, 0)), "[8, 8], \"Max\": 6", "[8, 8, 1], \"Max\": 6", 1), [2]int{}, ""},
		{"a parameter of MindSpore, whose defaults are others", ms(entry("Functional.leaky_relu", 0, []string{sized(2, 0), `{"type": "float", "value": 0.1}`}, sized(6, 1e-4))),
			ms(entry("Functional.leaky_relu", 0, []string{sized(2, 0)}, sized(6, 0))), [2]int{0, 0}, "input.1"},
		{"a parameter of a formula", entry("Functional.leaky_relu", 0, []string{sized(2, 0), `{"type": "float", "value": 0.1}`}, sized(6, 1e-4)),
			entry("Functional.leaky_relu", 0, []string{sized(2, 0)}, sized(6, 0)), [2]int{0, 1}, "input.1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := judged(t, written(t, c.left), written(t, c.golden))
			if got := [2]int{has(j, result.LeftDefault), has(j, result.RightDefault)}; got != c.kinds || has(j, result.NoRightValue) > 0 && c.root == "" {
				t.Errorf("%d defaults, expected %d", got, c.kinds)
			}
			switch {
			case c.root == "" && (len(j.Roots) > 0 || j.Verdict != verdict.Good):
				t.Errorf("%s with %d roots", j.Verdict, len(j.Roots))
			case c.root != "" && (len(j.Roots) != 1 || j.Roots[0].Begin == nil || j.Table.Rows[j.Roots[0].Begin.Row].Recorded.Place != c.root):
				t.Errorf("%s with %d roots, expected one that begins with %s", j.Verdict, len(j.Roots), c.root)
			}
		})
	}
}

// TestForms: what is left out for its form is said with its reason.
func TestForms(t *testing.T) {
	flags, mask := statistics("bool", "true", "false", "null", "null"), statistics("float32", "0", "-3.4e38", "-1e38", "Infinity")
	j := judged(t, written(t, entry("Functional.attention", 0, []string{sized(2, 0), flags}, sized(6, 0)+", null")),
		written(t, entry("Functional.attention", 0, []string{sized(2, 0), mask}, sized(6, 0)+", "+sized(3, 0))))
	if has(j, result.MasksAlike) != 1 || has(j, result.ValueWithheld) != 1 {
		t.Errorf("%d masks, %d outputs withheld, expected one of each", has(j, result.MasksAlike), has(j, result.ValueWithheld))
	}
}

// TestPrecisionIsNoted: that one side computes in bfloat16 is one note, whether a cast, an argument or a flag tells it; float32 behind
// it is not held to its bits, and a fault beside it is one.
func TestPrecisionIsNoted(t *testing.T) {
	side := func(dtype string, off, wrong float64, grad bool) string {
		of := func(v, off float64) string { return strings.Replace(sized(v, off), "torch.float32", "torch."+dtype, 1) }
		to := fmt.Sprintf(`{"type": "torch.dtype", "value": "torch.%s"}`, dtype)
		list := []string{entry("Tensor.to", 0, []string{sized(2, 0), to}, of(2, off)), entry("Functional.linear", 0, []string{of(2, off), of(1.3, off)}, of(6, off)),
			entry("Functional.linear", 1, []string{of(6, off), of(1.7, off)}, of(9, off+wrong)), entry("Tensor.float", 0, []string{of(9, off+wrong)}, sized(9, off+wrong)),
			entry("Functional.layer_norm", 0, []string{sized(9, off+wrong)}, sized(3, 0.3*off+wrong))}
		text := strings.Join(list, "\x00")
		if grad {
			text = strings.ReplaceAll(text, `"requires_grad": false`, `"requires_grad": true`)
		}
		return written(t, strings.Split(text, "\x00")...)
	}
	golden := side("float32", 0, 0, true)
	for wrong, roots := range map[float64][]string{0: nil, 0.3: {"Functional.linear.1.forward"}} {
		j := judged(t, side("bfloat16", 2e-3, wrong, false), golden)
		if got := rootNames(j); !slices.Equal(got, roots) || len(whys(j, result.DTypesMixed)) != 1 || roots == nil && j.Verdict != verdict.Good {
			t.Errorf("off by %g: %s, roots %v, notes %v", wrong, j.Verdict, got, whys(j, result.DTypesMixed))
		}
	}
}

// TestNamedOnce: what holds of a comparison as a whole is said in a line of its own.
func TestNamedOnce(t *testing.T) {
	linear := func(n int, in, out float64) string {
		return entry("Functional.linear", n, []string{sized(2, in), sized(1.3, 0)}, sized(6, out))
	}
	j := judged(t, written(t, linear(0, 0, 3e-7), linear(1, 0, 0)), written(t, linear(0, 0, 0), linear(1, 0, 0)))
	if r := j.Rounded; r == nil || r.Count != 1 || r.Of != 2 || !(r.Most > 1e-7 && r.Most < 1e-6) {
		t.Errorf("another order of summation: %+v", r)
	}
	if j = judged(t, written(t, linear(0, 0, 0.3), linear(1, 0, 3e-7)), written(t, linear(0, 0, 0), linear(1, 0, 0))); j.Rounded != nil {
		t.Errorf("a fault is no order of summation: %+v", j.Rounded)
	}
	whole := written(t, linear(0, 0, 0))
	for kind, text := range map[result.Kind]string{
		result.InputsUnrecorded:  entry("Functional.linear", 0, nil, sized(6, 0)),
		result.OutputsUnrecorded: strings.Replace(linear(0, 0, 0), `"output": [`+sized(6, 0)+`]`, `"output": []`, 1),
	} {
		named := func(left, golden string) bool {
			return slices.ContainsFunc(judged(t, left, golden).Table.Meta.Pairing.Why, func(r result.Reason) bool { return r.Kind == kind })
		}
		if half := written(t, text); !named(half, half) || named(whole, whole) {
			t.Errorf("%s is not said, or of what has both", kind)
		}
	}
}

// TestChecksumsAlone: where xor is all that there is, a module whose result differs though it got the same is a root also
// where something inside has no partner: nobody can say that the difference is rounding.
func TestChecksumsAlone(t *testing.T) {
	const module = "Module.up.Linear.forward.0"
	construct := fmt.Sprintf(`{"Functional.linear.0.forward": %q, "Tensor.__mul__.0.forward": %q, %q: null, "Functional.gelu.0.forward": null}`, module, module, module)
	run := func(extra, sum string) string {
		lines := []string{"Functional.linear.0.forward | x#0x01 x#0x07 | x#0x02", module + " | x#0x01 | x#" + sum, "Functional.gelu.0.forward | x#" + sum + " | x#" + sum + "9", "Functional.relu.0.forward | x#" + sum + "9 | x#" + sum + "8"}
		if extra != "" {
			lines = slices.Insert(lines, 1, extra)
		}
		return entries(t, construct, lines...)
	}
	golden := run("", "0x02")
	if j := judged(t, run("Tensor.__mul__.0.forward | x#0x02 | x#0x02", "0x02"), golden); len(j.Roots) > 0 {
		t.Errorf("a call that changes nothing: %s, %+v", j.Verdict, j.Roots)
	}
	j := judged(t, run("Tensor.__mul__.0.forward | x#0x02 | x#0x03", "0x03"), golden)
	if len(j.Roots) != 1 || !slices.Contains([]string{module, "Tensor.__mul__.0.forward"}, j.Operators[j.Roots[0].Operator].Op.Name) {
		t.Errorf("%s, %+v", j.Verdict, j.Roots)
	}
}

// TestVain: NaN that no call made and that went nowhere is what it is, a call that was given something else, also where other
// things differ before, on the same rank or another; NaN that comes of an error before is that one's.
func TestVain(t *testing.T) {
	nan := statistics("float32", "NaN", "NaN", "NaN", "NaN")
	relu := func(n int, in, out float64, off float64) string {
		return entry("Functional.relu", n, []string{sized(in, 0)}, sized(out, off))
	}
	linear := func(off float64) string {
		return entry("Functional.linear", 0, []string{sized(3, 0), sized(1.3, 0)}, sized(2, off))
	}
	given := func(in string) []string {
		return []string{entry("Functional.sigmoid", 0, []string{in}, sized(0.5, 0))}
	}
	for _, c := range []struct {
		name         string
		left, golden []string
		verdict      verdict.Verdict
		roots        []string
	}{
		{"of what nothing made", given(nan), given(sized(2, 0)), verdict.Bad, []string{"Functional.sigmoid.0.forward"}},
		{"on the other side", given(sized(2, 0)), given(nan), verdict.Bad, []string{"Functional.sigmoid.0.forward"}},
		{"of what a call before made", append([]string{relu(0, 3, 2, 0)}, given(nan)...), append([]string{relu(0, 3, 2, 0)}, given(sized(2, 0))...), verdict.Bad,
			[]string{"Functional.sigmoid.0.forward"}},
		{"of what differs before", append([]string{relu(0, 3, 2, 3e-7)}, given(sized(2, 3e-7))...), append([]string{relu(0, 3, 2, 0)}, given(nan)...), verdict.Bad,
			[]string{"Functional.relu.0.forward", "Functional.sigmoid.0.forward"}},
		{"behind what differs and does not feed it", append([]string{relu(0, 3, 2, 3e-7)}, given(sized(4, 0))...), append([]string{relu(0, 3, 2, 0)}, given(nan)...), verdict.Bad,
			[]string{"Functional.relu.0.forward", "Functional.sigmoid.0.forward"}},
		{"behind noise", append([]string{linear(3e-7)}, given(sized(4, 0))...), append([]string{linear(0)}, given(nan)...), verdict.Bad, []string{"Functional.sigmoid.0.forward"}},
		{"of NaN that a call before made", []string{entry("Functional.relu", 0, []string{sized(3, 0)}, nan), entry("Torch.nan_to_num", 0, []string{nan}, sized(0.5, 0))},
			[]string{relu(0, 3, 2, 0), entry("Torch.nan_to_num", 0, []string{sized(2, 0)}, sized(0.5, 0))}, verdict.Bad, []string{"Functional.relu.0.forward"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := judged(t, written(t, c.left...), written(t, c.golden...))
			if names := rootNames(j); j.Verdict != c.verdict || !slices.Equal(names, c.roots) {
				t.Errorf("%s, %v; expected %s, %v", j.Verdict, names, c.verdict, c.roots)
			}
		})
	}
	t.Run("behind another rank", func(t *testing.T) {
		side := func(off float64, in string) string {
			dir := t.TempDir()
			for rank, calls := range [][]string{{relu(0, 3, 2, off)}, append([]string{relu(0, 3, 2, 0)}, given(in)...)} {
				at := filepath.Join(dir, "step0", fmt.Sprint("rank", rank))
				if err := os.MkdirAll(at, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(at, "dump.json"), []byte(dumpOf("L1", calls)), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			return dir
		}
		j := judged(t, side(3e-7, sized(2, 0)), side(0, nan))
		if names := rootNames(j); j.Verdict != verdict.Bad || len(names) != 2 {
			t.Errorf("%s, %v; expected bad and two roots", j.Verdict, names)
		}
	})
}
