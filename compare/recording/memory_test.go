package recording_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"precision/compare/result"
	"precision/compare/verdict"
)

func has(j *verdict.Judged, kind result.Kind) (n int) {
	for i := range j.Table.Rows {
		if j.Table.Rows[i].Has(kind) {
			n++
		}
	}
	return n
}

// alike are calls that tell that both sides compute alike.
var alike = []string{"Functional.silu.0.forward | 21#00000021 | 22#00000022", "Functional.silu.1.forward | 23#00000023 | 24#00000024"}

// TestChecksumLate: a checksum that the recorder may have taken when the tensor had changed is
// no root, and one it took of what stays is; what only such a checksum tells apart is counted once.
func TestChecksumLate(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines [2][]string // left, golden
		late  int
		roots []string
	}{
		{"the first argument of a call that works in place", [2][]string{
			{"Functional.linear.0.forward | 1#00000001 2#00000002 | 3#00000003", "Tensor.add_.0.forward | 3#0000000a 1#00000001 | 4#00000004"},
			{"Functional.linear.0.forward | 1#00000001 2#00000002 | 3#00000003", "Tensor.add_.0.forward | 3#0000000b 1#00000001 | 4#00000004"}}, 1, nil},
		{"an output that changes later", [2][]string{
			{"Functional.linear.0.forward | 1#00000001 2#00000002 | 3#0000000a", "Tensor.__iadd__.0.forward | 3#00000004 1#00000001 | 4#00000004"},
			{"Functional.linear.0.forward | 1#00000001 2#00000002 | 3#0000000b", "Tensor.__iadd__.0.forward | 3#00000004 1#00000001 | 4#00000004"}}, 1, nil},
		{"one that does not", [2][]string{
			{"Functional.relu.0.forward | 1#00000001 | 3#0000000a", "Functional.gelu.0.forward | 3#0000000a | 4#00000005"},
			{"Functional.relu.0.forward | 1#00000001 | 3#0000000b", "Functional.gelu.0.forward | 3#0000000b | 4#00000004"}}, 0, []string{"Functional.relu.0.forward"}},
		{"a sum that does not change, in another order", [2][]string{
			{"Functional.linear.0.forward | 1#00000001 2#00000002 | 3#0000000a", "Functional.gelu.0.forward | 3#0000000a | 4#00000005"},
			{"Functional.linear.0.forward | 1#00000001 2#00000002 | 3#0000000b", "Functional.gelu.0.forward | 3#0000000b | 4#00000004"}}, 0, nil},
		{"one that changes later, with other statistics", [2][]string{
			{"Functional.linear.0.forward | 1#00000001 2#00000002 | 5#0000000a", "Tensor.__iadd__.0.forward | 5#0000000a 1#00000001 | 6#00000005"},
			{"Functional.linear.0.forward | 1#00000001 2#00000002 | 3#0000000b", "Tensor.__iadd__.0.forward | 3#0000000b 1#00000001 | 4#00000004"}}, 0, []string{"Functional.linear.0.forward"}},
		{"a view", [2][]string{
			{"Functional.linear.0.forward | 1#00000001 2#00000002 | 3#00000003", "Tensor.transpose.0.forward | 3#00000003 | 7#0000000a", "Functional.gelu.0.forward | 7#00000007 | 4#00000004"},
			{"Functional.linear.0.forward | 1#00000001 2#00000002 | 3#00000003", "Tensor.transpose.0.forward | 3#00000003 | 7#0000000b", "Functional.gelu.0.forward | 7#00000007 | 4#00000004"}}, 1, nil},
		{"what a call gives the same results of", [2][]string{
			{"Functional.linear.0.forward | 1#00000001 2#0000000a | 3#00000003"},
			{"Functional.linear.0.forward | 1#00000001 2#0000000b | 3#00000003"}}, 1, nil},
		{"a checksum that stands for two tensors", [2][]string{
			{"Functional.linear.0.forward | 1#00000001 2#00000002 | 3#0000000a", "Functional.gelu.0.forward | 3#00000003 | 4#0000000a", "Functional.relu.0.forward | 4#0000000a | 5#00000005"},
			{"Functional.linear.0.forward | 1#00000001 2#00000002 | 3#00000003", "Functional.gelu.0.forward | 3#00000003 | 4#0000000a", "Functional.relu.0.forward | 4#0000000a | 5#00000005"}}, 1, nil},
		{"modules alone, between which anything may work in place", [2][]string{
			{"Module.a.Linear.forward.0 | 1#00000001 | 3#0000000a", "Module.b.Linear.forward.0 | 3#00000003 | 4#00000004"},
			{"Module.a.Linear.forward.0 | 1#00000001 | 3#0000000b", "Module.b.Linear.forward.0 | 3#00000003 | 4#00000004"}}, 1, nil},
		{"the weight of a training step, whose optimizer is not recorded", [2][]string{
			{"Functional.linear.0.forward | 1#00000001 2#0000000a | 3#00000003", "Tensor.mul_.0.forward | 3#00000003 | 4#00000004", "Functional.linear.0.backward | 6#00000006 | 7#00000007"},
			{"Functional.linear.0.forward | 1#00000001 2#0000000b | 3#0000000b", "Tensor.mul_.0.forward | 3#00000003 | 4#00000004", "Functional.linear.0.backward | 6#00000006 | 7#00000007"}}, 2, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := judged(t, entries(t, "", append(c.lines[0], alike...)...), entries(t, "", append(c.lines[1], alike...)...))
			if got := rootNames(j); !slices.Equal(got, c.roots) || has(j, result.ChecksumLate) != c.late || (j.Verdict == verdict.Good) != (c.roots == nil) {
				t.Errorf("%s with the roots %v, %d late checksums, expected %v and %d", j.Verdict, got, has(j, result.ChecksumLate), c.roots, c.late)
			}
			certain := 0
			for _, why := range j.Table.Meta.Pairing.Why {
				if why.Kind == result.ChecksumsLate {
					certain++
				}
			}
			if certain != min(c.late, 1) {
				t.Errorf("told %d times", certain)
			}
		})
	}
}

// TestBelied: statistics that are NaN though the checksum is that of a finite tensor before are damage, by name; what
// may have been written to when the checksum was taken is none.
func TestBelied(t *testing.T) {
	const linear = "Functional.linear.0.forward | 1#00000001 2#00000002 | 3#00000003"
	for _, c := range []struct {
		name    string
		lines   []string // -1 is NaN, which the golden side has not
		damaged bool
	}{
		{"what a call gets of the one before", []string{linear, "Functional.relu.0.forward | -1#00000003 | 4#00000004"}, true},
		{"what the network is given twice", []string{linear, "Functional.gelu.0.forward | -1#00000001 | 4#00000004"}, true},
		{"what is NaN behind the call, too", []string{linear, "Functional.relu.0.forward | -1#00000003 | -1#00000004"}, false},
		{"what was finite before NaN was added to it in place", []string{linear, "Tensor.add_.0.forward | 5#0000000e -1#0000000e | 6#00000006", "Functional.relu.0.forward | 6#00000006 | 4#00000004"}, false},
		{"another checksum", []string{linear, "Functional.relu.0.forward | -1#0000000a | 4#00000004"}, false},
		{"a target that is filled with it", []string{linear, "Tensor.copy_.0.forward | -1#00000003 3#00000003 | 3#00000003"}, false},
		{"a buffer of what is received", []string{linear, "Distributed.all_gather_into_tensor.0.forward | -1#00000003 3#00000003 | 3#00000003"}, false},
		{"what is received later", []string{linear, "Distributed.irecv.0.forward | -1#00000003 | 3#00000003", "Functional.relu.0.forward | 3#00000003 | 4#00000004"}, false},
		{"memory that is handed out, and filled later", []string{linear, "Torch.empty.0.forward | | -1#00000003", "Tensor.copy_.0.forward | -1#00000003 3#00000003 | 3#00000003"}, false},
		{"what is handed out and read before it is filled", []string{linear, "Tensor.view.0.forward | -1#00000003 | -1#00000003", "Tensor.copy_.0.forward | -1#00000003 3#00000003 | 3#00000003"}, false},
		{"modules alone, between which anything may work in place", []string{"Module.a.Linear.forward.0 | 1#00000001 | 3#00000003", "Module.b.Linear.forward.0 | -1#00000003 | 4#00000004"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.lines[0] == linear {
				c.lines = append(c.lines, alike...)
			}
			var golden []string
			for _, line := range c.lines {
				golden = append(golden, strings.ReplaceAll(line, "-1#", "9#"))
			}
			j := judged(t, entries(t, "", c.lines...), entries(t, "", golden...))
			if certain := has(j, result.NoNumber) > 0; certain != c.damaged || (len(j.Damaged) > 0) != c.damaged || c.damaged && j.Damaged[0].Offset <= 0 {
				t.Errorf("told %t, damaged %+v, expected %t", certain, j.Damaged, c.damaged)
			}
		})
	}
}

// TestUnheld: an extreme that its type cannot hold is damage where those of the other tensors are numbers of theirs, and so is
// an element type that is none beside a known one; a recorder that rounds, and a type that nobody knows, are no evidence.
func TestUnheld(t *testing.T) {
	tensor := func(dtype, most, least string) string { return statistics(dtype, most, least, "0.1", "4.123456789") }
	whole := tensor("float32", "0.9000000357627869", "-0.4000000059604645")
	for _, c := range []struct {
		name                string
		others, left, right string
		damaged             bool
	}{
		{"whole", whole, whole, whole, false},
		{"digits lost", whole, whole, tensor("float32", "0.9", "-0.4000000059604645"), true},
		{"of another type", whole, tensor("bfloat16", "0.9000000357627869", "-0.4000000059604645"), whole, true},
		{"of a wider type", whole, tensor("float64", "0.9000000357627869", "-0.4000000059604645"), whole, false},
		{"few digits", whole, tensor("bfloat16", "0.5", "-0.25"), tensor("bfloat16", "0.5", "-0.25"), false},
		{"a recorder that rounds", tensor("float32", "0.9", "-0.4"), tensor("float32", "0.9", "-0.41"), tensor("float32", "0.9", "-0.41"), false},
		{"a recorder that rounds beside float64", tensor("float64", "0.9", "-0.4"), tensor("float32", "0.9", "-0.41"), tensor("float32", "0.9", "-0.41"), false},
		{"a recorder that rounds to numbers of the type", tensor("float32", "24.125", "-4096.5"), tensor("float32", "0.9", "-0.41"), tensor("float32", "0.9", "-0.41"), false},
		{"no type", whole, tensor("float99", "0.9000000357627869", "-0.4000000059604645"), whole, true},
		{"a type nobody knows", whole, tensor("float99", "0.9000000357627869", "-0.4000000059604645"), tensor("float99", "0.9000000357627869", "-0.4000000059604645"), false},
	} {
		side := func(one string) string {
			lines := []string{entry("Functional.gelu", 0, []string{c.others}, one)}
			for i := range 20 {
				lines = append(lines, entry("Functional.relu", i, []string{c.others}, c.others))
			}
			return written(t, lines...)
		}
		j := judged(t, side(c.left), side(c.right))
		if (has(j, result.NoNumber) > 0) != c.damaged || (len(j.Damaged) > 0) != c.damaged {
			t.Errorf("%s: damaged %+v", c.name, j.Damaged)
		}
	}
}

// TestShorterOfNothing: products that are 0 on both sides are no evidence that one side computes with shorter factors.
func TestShorterOfNothing(t *testing.T) {
	record := func(factor float64) string {
		n := func(v float64) string { return strconv.FormatFloat(float64(float32(v)), 'g', -1, 64) }
		of := func(v float64) string { return statistics("float32", n(2*v), n(-v), n(v/4.5), n(10*v)) }
		return written(t,
			entry("Functional.linear", 0, []string{of(1), of(1.5)}, of(0)),
			entry("Functional.linear", 1, []string{of(1.1), of(1.6)}, of(0)),
			entry("Functional.linear", 2, []string{of(1.2), of(1.7)}, of(3*factor)),
			entry("Functional.gelu", 0, []string{of(3 * factor)}, of(3.5*factor)))
	}
	if j := judged(t, record(1.0003), record(1)); !slices.Equal(rootNames(j), []string{"Functional.linear.2.forward"}) {
		t.Errorf("%s with the roots %v", j.Verdict, rootNames(j))
	}
}

// TestBatchReordered: data of which only the checksum differs, as does what is made of them, are told as a batch in another
// order and accuse nobody; other data are not.
func TestBatchReordered(t *testing.T) {
	lines := func(sum, made, relu string) []string {
		return append([]string{"Functional.embedding.0.forward | 1#" + sum + " 2#00000002 | " + made + "#" + sum, "Functional.relu.0.forward | " + made + "#" + sum + " | " + relu + "#" + sum,
			"Functional.embedding.0.backward | 6#00000006 | 7#00000007"}, alike...)
	}
	golden := entries(t, "", lines("0000000a", "3", "4")...)
	for _, c := range []struct {
		sum, made, relu string
		told            bool
		roots           []string
	}{
		{"0000000a", "3", "4", false, nil},
		{"0000000b", "3", "4", true, nil},
		{"0000000b", "3", "5", true, []string{"Functional.relu.0.forward"}},
		{"0000000b", "5", "5", true, []string{"Functional.embedding.0.forward"}},
	} {
		j := judged(t, entries(t, "", lines(c.sum, c.made, c.relu)...), golden)
		certain := slices.ContainsFunc(j.Table.Meta.Pairing.Why, func(r result.Reason) bool { return r.Kind == result.BatchReordered })
		if got := rootNames(j); certain != c.told || !slices.Equal(got, c.roots) {
			t.Errorf("%v: told %v, roots %v", c, certain, got)
		}
	}
}

// TestChecksumLateCertainty: a root one of whose inputs is the same but for a checksum is not certain.
func TestChecksumLateCertainty(t *testing.T) {
	left := entries(t, "", "Functional.linear.0.forward | 1#00000001 2#0000000a | 9#00000009", "Functional.linear.0.backward | 6#00000006 | 7#00000007")
	right := entries(t, "", "Functional.linear.0.forward | 1#00000001 2#0000000b | 3#00000003", "Functional.linear.0.backward | 6#00000006 | 7#00000007")
	j := judged(t, left, right)
	if len(j.Roots) != 1 || j.Roots[0].Certainty != verdict.Likely || len(j.Roots[0].Uncompared) != 1 {
		t.Errorf("roots %+v, expected one that is likely, with an input that was not told", j.Roots)
	}
}

// TestUnfilled: memory that nothing was written to is no evidence; what is computed is.
func TestUnfilled(t *testing.T) {
	for _, c := range []struct {
		name   string
		lines  [2][]string
		values int
		roots  []string
	}{
		{"what is handed out, viewed and written to", [2][]string{
			{"Torch.empty.0.forward | | 11", "Tensor.view.0.forward | 11 | 11", "Tensor.copy_.0.forward | 11 1 | 1", "Functional.gelu.0.forward | 1 | 4"},
			{"Torch.empty.0.forward | | 12", "Tensor.view.0.forward | 12 | 12", "Tensor.copy_.0.forward | 12 1 | 1", "Functional.gelu.0.forward | 1 | 4"}}, 4, nil},
		{"what is handed out and read", [2][]string{
			{"Torch.empty.0.forward | | 11", "Functional.gelu.0.forward | 11 | 5"},
			{"Torch.empty.0.forward | | 12", "Functional.gelu.0.forward | 12 | 4"}}, 1, []string{"Functional.gelu.0.forward"}},
		{"the sum that is multiplied by 0", [2][]string{
			{"Torch.baddbmm.0.forward | 11 2 3 beta=+0 | 4"},
			{"Torch.baddbmm.0.forward | 12 2 3 beta=+0 | 4"}}, 1, nil},
		{"the sum that is not", [2][]string{
			{"Torch.baddbmm.0.forward | 11 2 3 beta=+1 | 5", "Functional.linear.0.forward | 7 8 | 9"},
			{"Torch.baddbmm.0.forward | 12 2 3 beta=+1 | 4", "Functional.linear.0.forward | 7 8 | 9"}}, 0, nil}, // other data
		{"where a part is set, and the result put", [2][]string{
			{"Tensor.__setitem__.0.forward | 11 1 |", "Torch.add.0.forward | 1 2 out=13 | 4"},
			{"Tensor.__setitem__.0.forward | 12 1 |", "Torch.add.0.forward | 1 2 out=14 | 4"}}, 2, nil},
		{"parts of memory that nothing reads", [2][]string{
			{"Functional.linear.0.forward | 1 2 | 4", "Tensor.narrow.0.forward | 11 | 13"},
			{"Functional.linear.0.forward | 1 2 | 4", "Tensor.narrow.0.forward | 12 | 14"}}, 2, nil},
		{"parts of memory that holds NaN", [2][]string{
			{"Functional.linear.0.forward | 1 2 | 4", "Tensor.narrow.0.forward | -1 | -1"},
			{"Functional.linear.0.forward | 1 2 | 4", "Tensor.narrow.0.forward | -1 | -1"}}, 2, nil},
		{"and that something reads", [2][]string{
			{"Functional.linear.0.forward | 1 2 | 4", "Tensor.narrow.0.forward | 11 | 13", "Functional.gelu.0.forward | 13 | 6"},
			{"Functional.linear.0.forward | 1 2 | 4", "Tensor.narrow.0.forward | 12 | 14", "Functional.gelu.0.forward | 14 | 5"}}, 0, []string{"Tensor.narrow.0.forward"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := judged(t, entries(t, "", c.lines[0]...), entries(t, "", c.lines[1]...))
			if got := rootNames(j); !slices.Equal(got, c.roots) || has(j, result.Unfilled) != c.values || (j.Verdict == verdict.Bad || j.Verdict == verdict.Suspect) && c.roots == nil {
				t.Errorf("%s with the roots %v, %d values left out, expected %v and %d", j.Verdict, got, has(j, result.Unfilled), c.roots, c.values)
			}
		})
	}
}

// TestCarvedConstant: a part of memory that is zeros is no sign that what it is cut from had been written to.
func TestCarvedConstant(t *testing.T) {
	zeros := statistics("float32", "0", "0", "0", "0")
	record := func(memory, part string) string {
		return written(t, entry("Tensor.narrow", 0, []string{memory}, part), entry("Functional.gelu", 0, []string{sized(3, 0)}, sized(4, 0)), entry("Tensor.add", 0, []string{sized(4, 0), zeros}, sized(4, 0)))
	}
	if j := judged(t, record(sized(7e34, 0), zeros), record(sized(8e34, 0), zeros)); has(j, result.Unfilled) != 2 || j.Verdict != verdict.Good {
		t.Errorf("%s with the roots %v, %d values left out, expected 2", j.Verdict, rootNames(j), has(j, result.Unfilled))
	}
	one := statistics("float32", "0.25", "0.25", "0.25", "0.25")
	if j := judged(t, record(one, zeros), record(sized(7e34, 0), zeros)); has(j, result.Unfilled) != 2 {
		t.Errorf("a constant cut from memory: %d values left out, expected 2", has(j, result.Unfilled))
	}
}

// TestOtherGradient: where one side's call returned its argument itself, its gradients are those of
// another call and no evidence; where both did or neither they are.
func TestOtherGradient(t *testing.T) {
	plain := []string{"Functional.silu.0.forward | 21 | 22", "Functional.silu.1.forward | 23 | 24", "Functional.linear.0.forward | 1 2 | 3"}
	record := func(lines ...string) string { return entries(t, "", append(slices.Clone(plain), lines...)...) }
	golden := record("Tensor.to.0.forward | 3 | 4", "Functional.gelu.0.forward | 5 | 6", "Tensor.to.0.backward | 7 | 8")
	for _, c := range []struct {
		to, back string
		rows     int
		root     bool
	}{
		{"Tensor.to.0.forward | 3 | 3", "Tensor.to.0.backward | 7 | 9", 2, false},
		{"Tensor.to.0.forward | 3 | 4", "Tensor.to.0.backward | 7 | 9", 0, true},
	} {
		j := judged(t, record(c.to, "Functional.gelu.0.forward | 5 | 6", c.back), golden)
		found := slices.Contains(rootNames(j), "Tensor.to.0.backward")
		if has(j, result.OtherGradient) != c.rows || found != c.root {
			t.Errorf("%s, %s: %d rows, roots %v", c.to, c.back, has(j, result.OtherGradient), rootNames(j))
		}
	}
	// Another number of gradients is that of another last step; what goes in is compared.
	for _, c := range []struct {
		back string
		rows int
		root bool
	}{{"7 | 8", 1, false}, {"7 | 9", 1, true}, {"7 | 9 10", 0, true}, {"1 | 9", 1, true}} {
		j := judged(t, record("Functional.gelu.0.forward | 5 2 | 6", "Functional.gelu.0.backward | "+c.back), record("Functional.gelu.0.forward | 5 2 | 6", "Functional.gelu.0.backward | 7 | 8 10"))
		if found := slices.Contains(rootNames(j), "Functional.gelu.0.backward"); has(j, result.OtherGradient) != c.rows || found != c.root {
			t.Errorf("%s: %d rows, roots %v", c.back, has(j, result.OtherGradient), rootNames(j))
		}
	}
	// A call that lost all of them ends in no other step: they are missed.
	lost := judged(t, record("Functional.gelu.0.forward | 5 2 | 6", "Functional.gelu.0.backward | 7 |"), record("Functional.gelu.0.forward | 5 2 | 6", "Functional.gelu.0.backward | 7 | 8 10"))
	if c := lost.Coverage; has(lost, result.OtherGradient) > 0 || c.Expected != 6 || c.Compared != 4 {
		t.Errorf("%d rows, %+v", has(lost, result.OtherGradient), c)
	}
}

// TestOtherStepInAnotherType: a gradient of another type on each side though the same went in is that of another step, where the number
// of gradients is another, too.
func TestOtherStepInAnotherType(t *testing.T) {
	of := func(typ string, v float64) string { return strings.Replace(sized(v, 0), "float32", typ, 1) }
	side := func(in string, out ...string) string {
		x := of("bfloat16", 2)
		return written(t, entry("Functional.scaled_dot_product_attention", 0, []string{x, x, x}, of("bfloat16", 4)),
			`"Functional.scaled_dot_product_attention.0.backward": {"input": [`+in+`], "output": [`+strings.Join(out, ", ")+`]}`)
	}
	bf := of("bfloat16", 8)
	golden := side(bf, of("bfloat16", 0.5), of("bfloat16", 0.25), of("bfloat16", 0.125))
	for name, c := range map[string]struct {
		left string
		root bool
	}{
		"a step in float32":   {side(bf, of("float32", 8)), false},
		"one in its own type": {side(bf, bf), true},
		"all gradients":       {side(bf, of("float32", 8), of("bfloat16", 0.25), of("bfloat16", 0.125)), true},
		"of another type":     {side(of("float32", 8), of("float32", 8)), true},
	} {
		j := judged(t, c.left, golden)
		if got := len(rootNames(j)) > 0; got != c.root {
			t.Errorf("%s: %s, roots %v", name, j.Verdict, rootNames(j))
		}
	}
}

// TestImpossible: statistics that cannot be true beside each other are damage where those of the other tensors can, or where no
// recorder could have written them, and so is one that is not there, or null beside others that tell that there was a number.
func TestImpossible(t *testing.T) {
	whole := statistics("float32", "0.9000000357627869", "-0.4000000059604645", "0.1", "4.123456789")
	with := func(old, by string) string { return strings.Replace(whole, old, by, 1) }
	of := func(dtype, hi, lo, mean, norm, shape string) string {
		return strings.Replace(statistics(dtype, hi, lo, mean, norm), "[8, 8]", shape, 1)
	}
	for _, c := range []struct {
		name, tensor string
		damaged      bool
	}{
		{"whole", whole, false},
		{"Min above Max", of("float32", "-0.5", "0.25", "0.1", "4.5", "[8, 8]"), true},
		{"a Mean that is none", with("0.1", "1.5"), true},
		{"a Norm that is too little", with("4.123456789", "0.5"), true},
		{"a Norm that is too much", with("4.123456789", "8.25"), true},
		{"a Norm below what the Mean needs", of("float32", "0.75", "0.5", "0.6", "2", "[8, 8]"), true},
		{"a Norm that is infinite", with("4.123456789", "Infinity"), true},
		{"one that left the range of float16", of("float16", "40960", "-0.5", "640", "Infinity", "[8, 8]"), false},
		{"masks", of("float32", "0", "-3.4028234663852886e+38", "-Infinity", "Infinity", "[8, 8]"), false},
		{"infinite elements of a finite norm", of("float32", "Infinity", "-0.5", "Infinity", "4.5", "[8, 8]"), true},
		{"squares that vanish", of("float32", "9.999999998199587e-24", "-9.999999998199587e-24", "0", "0", "[8, 8]"), false},
		{"a constant", of("bfloat16", "0.5", "0.5", "0.498046875", "3.984375", "[8, 8]"), false},
		{"zeros", of("float32", "0", "0", "0", "0", "[8, 8]"), false},
		{"two elements of one", of("float32", "0.75", "0.5", "0.6", "0.8", "[1]"), true},
		{"one element, its own norm", of("float32", "-0.75", "-0.75", "-0.75", "-0.75", "[]"), false},
		{"elements of none", of("float32", "0.75", "0.5", "0.6", "2", "[0, 8]"), true},
		{"none", of("float32", "null", "null", "null", "null", "[0, 8]"), false},
		{"no elements before the first", of("float32", "0.75", "0.5", "0.6", "5", "[-1, 8]"), true},
		{"no Max", with(`"Max": 0.9000000357627869, `, ""), true},
		{"no Norm", with(`"Norm": 4.123456789, `, ""), true},
		{"a Max of null", with(`"Max": 0.9000000357627869`, `"Max": null`), true},
		{"a Mean of null", with("0.1", "null"), true},
		{"float64, of which none has a Mean", of("float64", "0.9", "-0.4", "null", "null", "[8, 8]"), false},
		{"integers, of which none has", of("int64", "9", "-4", "null", "null", "[8, 8]"), false},
		{"no shape", with(`"shape": [8, 8], `, ""), true},
		{"no dtype", with(`"dtype": "torch.float32", `, ""), true},
		{"a checksum", with(`"Max"`, `"md5": "0000000a", "Max"`), false},
		{"a checksum that is none", with(`"Max"`, `"md5": "0000zz0a", "Max"`), true},
		{"a checksum that is a number", with(`"Max"`, `"md5": 17, "Max"`), true},
	} {
		side := func() string {
			lines := []string{entry("Functional.gelu", 0, []string{whole}, c.tensor)}
			for i := range 20 {
				lines = append(lines, entry("Functional.relu", i, []string{whole}, whole))
			}
			return written(t, lines...)
		}
		j := judged(t, side(), side())
		if (has(j, result.NoNumber) > 0) != c.damaged || (len(j.Damaged) > 0) != c.damaged {
			t.Errorf("%s: damaged %+v", c.name, j.Damaged)
		}
	}
	// What all tensors of a recording have in another way is how its recorder does it.
	rooted := with("4.123456789", "0.25")
	if j := judged(t, written(t, entry("Functional.gelu", 0, []string{rooted}, rooted)), written(t, entry("Functional.gelu", 0, []string{rooted}, rooted))); len(j.Damaged) > 0 {
		t.Errorf("a recorder of other norms: damaged %+v", j.Damaged)
	}
	unsummed, summed := whole, with(`"Max"`, `"md5": "0000000a", "Max"`)
	side := func() string {
		return written(t, entry("Functional.gelu", 0, []string{summed}, unsummed), entry("Functional.gelu", 1, []string{summed}, summed))
	}
	if j := judged(t, side(), side()); len(j.Damaged) == 0 {
		t.Error("a checksum that only one tensor lacks is not missed")
	}
}

// TestBatchReorderedSums: of a batch in another order norms and means are summed in another order, also of what went a way that was not
// recorded, as a split; what is further apart begins there.
func TestBatchReorderedSums(t *testing.T) {
	record := func(off, split float64) string {
		summed := func(v, off float64) string {
			large := statistics("float32", fmt.Sprint(v), fmt.Sprint(-v/2), fmt.Sprint(v/64), fmt.Sprintf("%.9e", float64(float32(5*v*(1+off)))))
			return strings.Replace(large, "[8, 8]", "[64, 64]", 1)
		}
		list := []string{entry("Functional.embedding", 0, []string{statistics("int64", "9", "0", "null", "null"), summed(1.25, 0)}, summed(2, off))}
		for i := range 6 {
			x := 2 + float64(i)
			list = append(list, entry("Functional.linear", i, []string{summed(x, off), summed(1.5, 0)}, summed(x+1, off)))
		}
		q, k := summed(6.5, split), summed(6.75, off)
		return written(t, append(list, entry("Functional.scaled_dot_product_attention", 0, []string{q, k, k}, summed(9, off)))...)
	}
	for split, want := range map[float64][]string{6e-7: nil, 4e-5: {"Functional.scaled_dot_product_attention.0.forward"}} {
		if j := judged(t, record(7e-8, split), record(0, 0)); !slices.Equal(rootNames(j), want) {
			t.Errorf("%g apart: %s, roots %v, expected %v", split, j.Verdict, rootNames(j), want)
		}
	}
}

// TestFirstProductShorter: where the first product alone gets the same, what ten bits make of its factors is that of all; more is not, and
// neither is one of few products.
func TestFirstProductShorter(t *testing.T) {
	record := func(off float64, products int) string {
		x, list := sized(2, 0), []string(nil)
		for i := range products {
			y := sized(3+float64(i), off)
			list = append(list, entry("Functional.linear", i, []string{x, sized(1.1+float64(i)/8, 0)}, y), entry("Functional.gelu", i, []string{y}, sized(2.5+float64(i), off)))
			x = sized(2.5+float64(i), off)
		}
		return written(t, list...)
	}
	for _, c := range []struct {
		off      float64
		products int
		good     bool
	}{{3e-4, 6, true}, {3e-3, 6, false}, {3e-4, 3, false}} {
		j := judged(t, record(c.off, c.products), record(0, c.products))
		if c.good != (j.Verdict == verdict.Good && len(j.Roots) == 0 && j.Rounded != nil && j.Rounded.Products == 1) || !c.good && !slices.Equal(rootNames(j), []string{"Functional.linear.0.forward"}) {
			t.Errorf("%g of %d products: %s, roots %v, %+v", c.off, c.products, j.Verdict, rootNames(j), j.Rounded)
		}
	}
}

// TestShorterInside: what a call takes from results of products of ten bits may be as far off as others are, where the largest, the smallest
// and the sums of all of them hide it.
func TestShorterInside(t *testing.T) {
	record := func(off, hidden, taken float64) string {
		x, list := sized(2, 0), []string(nil)
		for i := range 6 {
			y := sized(3+float64(i), off)
			list = append(list, entry("Functional.linear", i, []string{x, sized(1.1+float64(i)/8, 0)}, y), entry("Functional.gelu", i, []string{y}, sized(2.5+float64(i), off)))
			x = sized(2.5+float64(i), off)
		}
		scores := sized(9.5, hidden)
		return written(t, append(list, entry("Functional.linear", 6, []string{x, sized(2.3, 0)}, scores), entry("Torch.gather", 0, []string{scores}, sized(7.25, taken)))...)
	}
	for taken, want := range map[float64][]string{4e-4: nil, 6e-3: {"Torch.gather.0.forward"}} {
		if j := judged(t, record(3e-4, 1e-6, taken), record(0, 0, 0)); !slices.Equal(rootNames(j), want) {
			t.Errorf("%g: %s, roots %v, expected %v", taken, j.Verdict, rootNames(j), want)
		}
	}
}

// TestShorterBetween: what no recorded call gave may have gone through products of ten bits, too, if those that were recorded did.
func TestShorterBetween(t *testing.T) {
	record := func(off, given float64) string {
		x, list := sized(2, 0), []string(nil)
		for i := range 6 {
			y := sized(3+float64(i), off)
			list = append(list, entry("Functional.linear", i, []string{x, sized(1.1+float64(i)/8, 0)}, y), entry("Functional.gelu", i, []string{y}, sized(2.5+float64(i), off)))
			x = sized(2.5+float64(i), off)
		}
		return written(t, append(list, entry("Functional.linear", 6, []string{sized(7.7, given), sized(2.3, 0)}, sized(9.5, given)))...)
	}
	for given, want := range map[float64][]string{1e-3: nil, 6e-3: {"Functional.linear.6.forward"}} {
		if j := judged(t, record(3e-5, given), record(0, 0)); !slices.Equal(rootNames(j), want) {
			t.Errorf("%g: %s, roots %v, expected %v", given, j.Verdict, rootNames(j), want)
		}
	}
}

// TestVanishingGradients: of gradients whose squares vanish in float32 a recorder writes norms of few digits, or 0, and what is left of a gradient
// that is zero in exact arithmetic is as exact as its terms, also of a class of module that is not known.
func TestVanishingGradients(t *testing.T) {
	record := func(off float64, norm, left string) string {
		tiny := func(v float64, norm string) string {
			return statistics("float32", fmt.Sprint(v*(1+off)), fmt.Sprint(-v), "1e-26", norm)
		}
		x := sized(2, off/2)
		forward := strings.Replace(entry("Module.conv.DepthwiseConv2d", 0, []string{x}, sized(3, off)), "0.forward", "forward.0", 1)
		g, gx := sized(1e-9, off), tiny(4e-23, norm)
		gradient := fmt.Sprintf(`"Module.conv.DepthwiseConv2d.parameters_grad.0": {"weight": [%s]}`, statistics("float32", left, "-"+left, "0", left))
		backward := fmt.Sprintf(`"Module.conv.DepthwiseConv2d.backward.0": {"input": [%s], "output": [%s]}`, g, gx)
		silu := fmt.Sprintf(`"Module.act.SiLU.backward.0": {"input": [%s], "output": [%s]}`, gx, tiny(2e-23, norm))
		return written(t, entry("Functional.linear", 0, []string{sized(5, 0), sized(1.5, 0)}, x), forward, strings.Replace(entry("Module.act.SiLU", 0, []string{sized(3, off)}, sized(2.5, off)), "0.forward", "forward.0", 1), gradient, backward, silu)
	}
	if j := judged(t, record(6e-7, "0", "0"), record(0, "4.2e-45", "2.4e-17")); j.Verdict != verdict.Good {
		t.Errorf("%s, roots %v", j.Verdict, rootNames(j))
	}
	if j := judged(t, record(6e-7, "0", "0"), record(0, "4.2e-45", "2.4e-9")); j.Verdict == verdict.Good {
		t.Error("a gradient of the size of its terms that is zero on one side is good")
	}
}

// TestOtherDataOfFewDigits: what both ends of an input in bfloat16 are apart by, though few of its roundoffs, is that of other data; one
// roundoff is not.
func TestOtherDataOfFewDigits(t *testing.T) {
	record := func(hi, lo, mean, norm, out string) string {
		weight := statistics("bfloat16", "0.0693359", "-0.074707", "0.001", "1.58594")
		lines := []string{entry("Functional.conv2d", 0, []string{statistics("bfloat16", hi, lo, mean, norm), weight}, statistics("bfloat16", out, "-0.882812", "-0.0378418", "9.3125"))}
		for i := range 12 {
			lines = append(lines, entry("Functional.gelu", i, []string{sized(float64(i+2), 0)}, sized(float64(i+2)/2, 0)))
		}
		return written(t, lines...)
	}
	golden := record("3.60938", "-3.57812", "-0.00793457", "79", "1.00781")
	for _, c := range []struct {
		left  string
		other bool
	}{{record("3.71875", "-3.45312", "0.019043", "78", "1.03125"), true}, {record("3.625", "-3.57812", "-0.00793457", "79", "1.00781"), false}} {
		j := judged(t, c.left, golden)
		told := slices.ContainsFunc(j.Premises, func(p verdict.Premise) bool { return p.Broken && p.Kind == verdict.PremiseInputs })
		if told != c.other || c.other && (j.Verdict != verdict.Inconclusive || len(j.Roots) > 0) {
			t.Errorf("%s, premises %+v, roots %v", j.Verdict, j.Premises, rootNames(j))
		}
	}
}

// TestSumsOfAPart: the sums of a part of a tensor, as of what one product made for two, are rounded otherwise than those of the same numbers that
// lie by themselves; much more than that is another tensor.
func TestSumsOfAPart(t *testing.T) {
	shaped := func(tensor, shape string) string { return strings.Replace(tensor, "[8, 8]", "["+shape+"]", 1) }
	record := func(off float64, merged bool) string {
		gate := shaped(statistics("float32", "0.0222718", "-0.0273066", "-9.97059e-05", strconv.FormatFloat(float64(float32(0.208472*(1+off))), 'g', 12, 64)), "2, 12, 64")
		x, both := shaped(sized(2, 0), "2, 12, 32"), shaped(sized(1.125, 0), "128, 32")
		lines := []string{entry("Functional.relu", 0, []string{x}, x), entry("Functional.linear", 0, []string{x, both}, shaped(sized(0.0230701, 0), "2, 12, 128"))}
		if !merged {
			lines[1] = entry("Functional.linear", 0, []string{x, shaped(sized(1.125, 0), "64, 32")}, gate)
		}
		lines = append(lines, entry("Functional.silu", 0, []string{gate}, shaped(sized(0.0112599, 0), "2, 12, 64")))
		for i := range 12 {
			lines = append(lines, entry("Functional.gelu", i, []string{sized(float64(i+2), 0)}, sized(float64(i+2)/2, 0)))
		}
		return written(t, lines...)
	}
	for off, want := range map[float64][]string{6e-7: nil, 3e-6: {"Functional.silu.0.forward"}} {
		if j := judged(t, record(off, true), record(0, false)); !slices.Equal(rootNames(j), want) {
			t.Errorf("%g: %s, roots %v, expected %v", off, j.Verdict, rootNames(j), want)
		}
	}
}

// TestWeightInOtherMemory: a weight that lies in another order in memory, as one of channels that lie last, has sums that are rounded otherwise;
// it is no root unless what is computed with it shows that its numbers are in other places.
func TestWeightInOtherMemory(t *testing.T) {
	record := func(mean string, off float64) string {
		weight := statistics("float32", "0.5123", "-0.498", mean, "2.75")
		lines := []string{entry("Functional.conv2d", 0, []string{sized(2, 0), weight}, sized(3, off))}
		for i := range 12 {
			lines = append(lines, entry("Functional.gelu", i, []string{sized(float64(i+3), 0)}, sized(float64(i+2)/2, 0)))
		}
		return written(t, lines...)
	}
	golden := record("-0.009699239395558834", 0)
	for off, want := range map[float64][]string{1.3e-7: nil, 1e-3: {"Functional.conv2d.0.forward"}} {
		if j := judged(t, record("-0.009699241258203983", off), golden); !slices.Equal(rootNames(j), want) {
			t.Errorf("%g: %s, roots %v, expected %v", off, j.Verdict, rootNames(j), want)
		}
	}
}

// TestMaskOfBatchReordered: of a batch in another order a mask that came by a way that was not recorded has another checksum, too; of the
// same batch that is a root.
func TestMaskOfBatchReordered(t *testing.T) {
	record := func(batch, mask string) string {
		hashed := func(tensor, sum string) string {
			return strings.Replace(tensor, `"requires_grad"`, `"md5": "`+sum+`", "requires_grad"`, 1)
		}
		ids, rows := hashed(statistics("int64", "95", "0", "null", "null"), "0000000"+batch), hashed(statistics("float32", "3", "-3", "0.5", "9"), "0000001"+batch)
		bits, rest := hashed(statistics("int64", "1", "0", "null", "null"), "0000002"+mask), hashed(statistics("float32", "1", "0", "0.5", "6"), "0000003"+mask)
		return written(t, entry("Tensor.__rsub__", 0, []string{bits, `{"type": "float", "value": 1.0}`}, rest),
			entry("Functional.embedding", 0, []string{ids, hashed(sized(2, 0), "00000040")}, rows),
			entry("Functional.relu", 0, []string{rows}, hashed(statistics("float32", "3", "0", "0.75", "7"), "0000005"+batch)))
	}
	for _, c := range []struct {
		batch string
		roots []string
	}{{"b", nil}, {"a", []string{"Tensor.__rsub__.0.forward"}}} {
		if j := judged(t, record(c.batch, "b"), record("a", "a")); !slices.Equal(rootNames(j), c.roots) {
			t.Errorf("batch %s: %s with the roots %v, expected %v", c.batch, j.Verdict, rootNames(j), c.roots)
		}
	}
}
