package verdict

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"precision/compare/metric"
	"precision/compare/result"
)

// chain is a table of n operators in a row, each with a good output; the last one leaves the
// network. damage changes it.
func chain(n int, damage func(*result.Table)) *result.Table {
	t := &result.Table{}
	for i := range n {
		name := fmt.Sprintf("op%d", i)
		op := result.Operator{Name: name, Type: "Relu", Index: i, Order: i, Outputs: 1, Dumped: true, Framework: []string{name}, Final: i == n-1}
		if i > 0 {
			op.Inputs = []result.Port{{Op: fmt.Sprintf("op%d", i-1)}}
		}
		t.Ops = append(t.Ops, op)
		r := cosineRow(20, 1)
		r.Op, r.Type, r.Index, r.Facts.Order = name, "Relu", i, i
		t.Rows = append(t.Rows, r)
	}
	if damage != nil {
		damage(t)
	}
	return t
}

// cut makes a row one of a dump that cannot be read.
func cut(r *result.Row) {
	r.Compared, r.Metrics = false, nil
	r.Unreadable(result.Because(result.BadFile, r.Op, r.Op+".dump", "short"), r.Op+".dump", nil)
}

// ungiven takes the golden side of a row.
func ungiven(r *result.Row) {
	r.Compared, r.Metrics, r.Reasons = false, nil, []result.Reason{result.Because(result.NoRightTensor, r.Op, r.Tensor())}
}

// taken is the input of op3, which op2 makes.
func taken(cosine float64) result.Row {
	r := cosineRow(20, cosine)
	r.Op, r.Type, r.Index, r.Facts.Order, r.Role = "op3", "Relu", 3, 3, result.Input
	return r
}

// empty makes rows those of zeros on both sides.
func empty(rows []result.Row) {
	for i := range rows {
		f := &rows[i].Result().Facts
		*f = metric.Facts{Known: true, N: 20, Finite: 20, BitEqual: true, Cosine: 1}
		f.X.Zero, f.Y.Zero = 20, 20
	}
}

func TestLosses(t *testing.T) {
	bad := func(r *result.Row) { *r = with(*r, cosineRow(20, 0.5)) }
	for _, c := range []struct {
		name   string
		n      int
		damage func(*result.Table)
		want   Verdict
		plain  bool // the plain gate passes
		strict bool // the strict one does
		kinds  []LossKind
	}{
		{"whole", 150, nil, Good, true, true, nil},
		{"one of 150 damaged", 150, func(t *result.Table) { cut(&t.Rows[3]) }, Good, true, false, []LossKind{LossDamaged, LossTensors}},
		{"two of 150 damaged", 150, func(t *result.Table) { cut(&t.Rows[3]); cut(&t.Rows[4]) }, Inconclusive, false, false, []LossKind{LossDamaged, LossTensors}},
		{"the network's output damaged", 150, func(t *result.Table) { cut(&t.Rows[149]) }, Inconclusive, false, false, []LossKind{LossOutputs, LossDamaged, LossTensors}},
		{"damage beside what is bad", 150, func(t *result.Table) { cut(&t.Rows[149]); bad(&t.Rows[5]) }, Bad, false, false, []LossKind{LossOutputs, LossDamaged, LossTensors}},
		{"all outputs gone", 10, func(t *result.Table) {
			for i := range t.Rows {
				t.Rows[i].Role = result.Input
				t.Rows[i].Facts.Producer = result.Port{Op: "data"}
			}
		}, Inconclusive, false, false, []LossKind{LossCoverage, LossOutputs, LossTensors}},
		{"more outputs than the dump has", 10, func(t *result.Table) { t.Ops[2].Outputs = 3 }, Good, true, false, []LossKind{LossTensors}},
		{"an operator without a dump", 10, func(t *result.Table) { t.Rows = slices.Delete(t.Rows, 2, 3); t.Ops[2].Dumped = false }, Good, true, false, []LossKind{LossTensors}},
		{"no golden array of the network's input", 10, func(t *result.Table) { t.Ops[0].Feed = true; ungiven(&t.Rows[0]) }, Good, true, false, []LossKind{LossInputs}},
		{"no golden array of it, but as who takes it has it", 10, func(t *result.Table) {
			t.Ops[2].Feed = true
			ungiven(&t.Rows[2])
			r := taken(1)
			r.Facts.Producer = result.Port{Op: "op2"}
			t.Rows = append(t.Rows, r)
		}, Good, true, true, nil},
		{"no golden array of a weight", 10, func(t *result.Table) { t.Ops[0].Constant = true; ungiven(&t.Rows[0]) }, Good, true, true, nil},
		{"what moves nothing has no dump", 10, func(t *result.Table) {
			t.Rows = slices.Delete(t.Rows, 2, 3)
			t.Ops[2].Dumped, t.Ops[2].Type = false, "Reshape"
		}, Good, true, true, nil},
		{"what the compiler added has no golden tensor", 10, func(t *result.Table) {
			t.Rows[2] = result.Row{Op: "op2", Type: "TransData", Index: 2, Facts: result.Facts{Order: 2}, Reasons: []result.Reason{result.Because(result.NoRightTensor, "op2", "op2:output:0")}}
			t.Ops[2].Inserted, t.Ops[2].Framework = true, nil
		}, Good, true, true, nil},
		{"an input that is not what was made", 10, func(t *result.Table) { t.Rows = append(t.Rows, taken(0.5)) }, Good, true, false, []LossKind{LossContrary}},
		{"an input as it was made", 10, func(t *result.Table) { t.Rows = append(t.Rows, taken(1)) }, Good, true, true, nil},
		{"an input that is the output now", 10, func(t *result.Table) {
			at := uint64(4096)
			r := taken(0.5)
			r.Left.Address, t.Rows[3].Left.Address = &at, &at
			t.Rows = append(t.Rows, r)
		}, Good, true, true, nil},
		{"an input of an operator in slices", 10, func(t *result.Table) {
			r := taken(0.5)
			r.Facts.Sliced = true
			t.Rows = append(t.Rows, r)
		}, Good, true, true, nil},
		{"an operator within a group that has a golden tensor", 10, func(t *result.Table) {
			t.Ops[2].Inner = true
			t.Rows[2] = result.Row{Op: "op2", Type: "Relu", Index: 2, Facts: result.Facts{Order: 2}, Reasons: []result.Reason{result.Because(result.NoRightTensor, "op2", "op2:output:0")}}
		}, Good, true, false, []LossKind{LossTensors}},
		{"one that has none", 10, func(t *result.Table) {
			t.Ops[2].Inner = true
			t.Rows[2] = result.Row{Op: "op2", Type: "Relu", Index: 2, Facts: result.Facts{Order: 2, Unpaired: true}, Reasons: []result.Reason{result.Because(result.NoRightTensor, "op2", "op2:output:0")}}
		}, Good, true, true, nil},
		{"most outputs are zero on both sides", 10, func(t *result.Table) { empty(t.Rows[:6]) }, Inconclusive, false, false, []LossKind{LossCoverage, LossTensors}},
		{"most outputs are zero, and the others a single 0", 10, func(t *result.Table) {
			empty(t.Rows)
			for i := range t.Rows[:5] {
				f := &t.Rows[i].Result().Facts
				f.N, f.Finite, f.X.Zero, f.Y.Zero = 1, 1, 1, 1
			}
		}, Inconclusive, false, false, []LossKind{LossCoverage, LossOutputs, LossTensors}},
		{"NaN everywhere, also in a single element", 2, func(t *result.Table) {
			for i, n := range []int64{20, 1} {
				t.Rows[i].Result().Facts = metric.Facts{Known: true, N: n, BitEqual: true}
			}
		}, Inconclusive, false, false, []LossKind{LossCoverage, LossOutputs, LossTensors}},
		{"half of them are", 10, func(t *result.Table) { empty(t.Rows[:5]) }, Good, true, true, nil},
		{"left out on purpose", 10, func(t *result.Table) { t.Rows, t.Meta.Partial = t.Rows[:5], true; t.Ops[9].Final = false }, Good, true, true, nil},
		{"cut short", 150, func(t *result.Table) {
			t.Meta.Damaged = []result.Damage{{Name: "dump.json", Offset: 7, Reason: result.Because(result.RecordingCut, "x")}}
		}, Inconclusive, false, false, []LossKind{LossRecording}},
		{"the half of a network is no network", 10, func(t *result.Table) {
			for i := range 5 {
				t.Rows[i].Compared, t.Rows[i].Reasons = false, []result.Reason{result.Because(result.NoRightTensor, "x", "y")}
			}
		}, Good, true, false, []LossKind{LossTensors}},
	} {
		j := Judge(chain(c.n, c.damage), Options{})
		var kinds []LossKind
		for _, l := range j.Losses {
			kinds = append(kinds, l.Kind)
		}
		if j.Verdict != c.want || !slices.Equal(kinds, c.kinds) {
			t.Errorf("%s: %s %v, expected %s %v", c.name, j.Verdict, kinds, c.want, c.kinds)
		}
		if got := len(j.Trips(Gate{On: true})) == 0; got != c.plain {
			t.Errorf("%s: the plain gate passes: %v", c.name, got)
		}
		if got := len(j.Trips(Gate{On: true, Strict: true})) == 0; got != c.strict {
			t.Errorf("%s: the strict gate passes: %v", c.name, got)
		}
	}
}

// with is a row with the numbers of another.
func with(r, numbers result.Row) result.Row {
	r.Compared, r.Metrics = numbers.Compared, numbers.Metrics
	return r
}

// TestWaivedLoss: a waiver that names the cause takes an output out of what strict wants, and
// one of every cause does not.
func TestWaivedLoss(t *testing.T) {
	table := chain(10, func(t *result.Table) { t.Rows = slices.Delete(t.Rows, 2, 3); t.Ops[2].Dumped = false })
	for cause, passes := range map[Kind]bool{Missing: true, "": false, Cosine: false} {
		p := *Default()
		p.Waivers = []Waiver{{Tensor: "op2:output:0", Cause: cause}}
		j := Judge(table, Options{Profile: &p})
		if got := len(j.Trips(Gate{On: true, Strict: true})) == 0; got != passes || j.Coverage.Expected != 10 {
			t.Errorf("a waiver of %q: passes %v, expected %d", cause, got, j.Coverage.Expected)
		}
	}
}

func TestFitBaseline(t *testing.T) {
	shaped := func(d int64) func(*result.Table) {
		return func(t *result.Table) {
			for i := range t.Rows {
				t.Rows[i].Shape = []int64{d, 5}
			}
		}
	}
	now := chain(10, shaped(4))
	for _, c := range []struct {
		name string
		old  *result.Table
		want BaselineFault
	}{
		{"the same", chain(10, shaped(4)), ""},
		{"an operator more", chain(11, shaped(4)), ""},
		{"nothing compared", chain(10, func(t *result.Table) { t.Rows = nil }), BaselineEmpty},
		{"a tenth of it", chain(1, shaped(4)), BaselineOther},
		{"another batch", chain(10, shaped(2)), BaselineShapes},
	} {
		err := FitBaseline(c.old, now, Options{})
		var e *BaselineError
		if errors.As(err, &e); err != nil != (c.want != "") || e != nil && e.Fault != c.want {
			t.Errorf("%s: %v, expected %q", c.name, err, c.want)
		}
	}
}

// TestBaselineLost: what was compared then and is not now is a regression, and so is what is bad
// now and was not compared then.
// TestBaselineOtherSize: what was bad is not as before where its golden tensor is a hundred times
// larger now, so that the error relative to it says nothing.
func TestBaselineOtherSize(t *testing.T) {
	sized := func(rms float64) *result.Table {
		return chain(10, func(t *result.Table) {
			f := &t.Rows[2].Result().Facts
			*f = metric.Facts{Known: true, N: 20, Finite: 20, Differ: 20, Cosine: 0.5, Distance: 0.9, MaxAbs: rms}
			f.X.RMS, f.Y.RMS, f.X.Hi, f.Y.Hi = rms, rms, 2*rms, 2*rms
		})
	}
	for now, want := range map[float64]int{1: 0, 1.5: 0, 100: 1, 0.01: 1} {
		j := Judge(sized(now), Options{Baseline: sized(1)})
		if got := len(j.Baseline.Regressions); got != want || j.Verdict != Bad {
			t.Errorf("%g times as large: %s, %d regressions, expected %d", now, j.Verdict, got, want)
		}
	}
}

// TestNewly: a cause that no growth measures and that an output did not have before is one more, a size is not.
func TestNewly(t *testing.T) {
	was := []Cause{{Kind: Distance}, {Kind: NaN}}
	for kind, want := range map[Kind]bool{Law: true, Inf: true, NaN: false, Distance: false, Cosine: false} {
		if got := newly(&Tensor{Causes: []Cause{{Kind: Distance}, {Kind: kind}}}, was); got != want {
			t.Errorf("%s: %v, expected %v", kind, got, want)
		}
	}
	if newly(&Tensor{Causes: []Cause{{Kind: Law}}}, []Cause{{Kind: Law}}) || newly(&Tensor{Causes: []Cause{{Kind: Law, Waived: true}}}, nil) {
		t.Error("one that was there, or is waived, is new")
	}
}

func TestBaselineLost(t *testing.T) {
	whole, less := chain(10, nil), chain(10, func(t *result.Table) { t.Rows = slices.Delete(t.Rows, 2, 3); t.Ops[2].Dumped = false })
	worse := chain(10, func(t *result.Table) { t.Rows[2] = with(t.Rows[2], cosineRow(20, 0.1)) })
	for _, c := range []struct {
		name     string
		old, now *result.Table
		want     []string
	}{
		{"the same", whole, whole, nil},
		{"lost", whole, less, []string{"op2:output:0"}},
		{"bad and new", less, worse, []string{"op2:output:0"}},
		{"good and new", less, whole, nil},
	} {
		var got []string
		for _, x := range Judge(c.now, Options{Baseline: c.old}).Baseline.Regressions {
			got = append(got, x.Tensor)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: regressions %q, expected %q", c.name, got, c.want)
		}
	}
}

// What changed on its way into an operator that was bad before is a regression; what came out of another one is one there.
func TestBaselineChangedOnTheWay(t *testing.T) {
	const bad = "out b 0 cos=0.5 dist=0.7\n"
	network := func(lines string) *result.Table {
		table, _ := parseNetwork(t, "", "op x Data feed\nop a Relu x\nop b Relu a final\n"+lines)
		return table
	}
	before := network("out a 0 dist=1e-4\nin b 0 dist=1e-4\n" + bad)
	for lines, want := range map[string]string{
		"out a 0 dist=1e-4\nin b 0 dist=1e-4\n" + bad:               "",
		"out a 0 dist=1e-4\nin b 0 cos=0.5 dist=0.7\n" + bad:        "b:input:0",
		"out a 0 cos=0.5 dist=0.7\nin b 0 cos=0.5 dist=0.7\n" + bad: "a:output:0",
	} {
		var got []string
		for _, c := range Judge(network(lines), Options{Baseline: before}).Baseline.Regressions {
			got = append(got, c.Tensor)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: regressions %q, expected %q", lines, got, want)
		}
	}
}

// Of a table that lost what was recorded of calls, or arguments of what it says of its pairs, nothing is known; judging it does not end.
func TestLostRecords(t *testing.T) {
	for _, lose := range []func(r *result.Row){
		func(r *result.Row) { r.Recorded = nil },
		func(r *result.Row) { r.Recorded.Left = nil },
		func(r *result.Row) { r.Recorded.Left, r.Recorded.Right = nil, nil },
		func(r *result.Row) { r.Reasons = []result.Reason{{Kind: result.CallRepeated}} },
	} {
		for at := range 6 {
			table := &result.Table{Meta: result.Meta{Recorded: true, Pairing: result.Pairing{Why: []result.Reason{{Kind: result.RanksUnpaired}, {Kind: result.BatchDiffers}}}}}
			for i := range 3 {
				op := fmt.Sprintf("Functional.linear.%d.forward", i)
				table.Ops = append(table.Ops, result.Operator{Name: op, Type: "linear", Order: i, Dumped: true})
				for _, role := range []result.Role{result.Input, result.Output} {
					summary := func(off float64) *result.Summary {
						return &result.Summary{Class: "torch.Tensor", Known: result.KnownMax | result.KnownNorm, Stats: result.Stats{Max: 2 + off, Norm: 5 + off}}
					}
					r := result.Row{Op: op, Type: "linear", Role: role, Shape: []int64{16}, Facts: result.Facts{Order: i}, Recorded: &result.Recorded{Left: summary(float64(i)), Right: summary(0), Both: 2}}
					if i > 0 && role == result.Input {
						r.Facts.Producer = result.Port{Op: fmt.Sprintf("Functional.linear.%d.forward", i-1)}
						r.Recorded.Golden = r.Facts.Producer
					}
					table.Rows = append(table.Rows, r)
				}
			}
			lose(&table.Rows[at])
			if j := Judge(table, Options{}); j.Verdict == Good {
				t.Errorf("row %d: %s", at, j.Verdict)
			}
		}
	}
}
