package verdict

import (
	"precision/compare/result"
)

// Verdict is what the judge says of a tensor, and of a whole table.
type Verdict uint8

const (
	// Uncompared: there are no values to judge.
	Uncompared Verdict = iota
	Good
	Suspect
	Bad
	// Inconclusive is said of tables alone: too little was compared.
	Inconclusive
)

var verdictNames = [...]string{"uncompared", "good", "suspect", "bad", "inconclusive"}

func (v Verdict) String() string { return verdictNames[v] }

// State is what the judge says of an operator.
type State uint8

const (
	StateUncompared State = iota
	StateGood
	StateSuspect
	// StateInherited: bad, and explained by what its inputs bring.
	StateInherited
	// StateBad: bad, and a root, or of unknown origin.
	StateBad
)

var stateNames = [...]string{"uncompared", "good", "suspect", "inherited", "bad"}

func (s State) String() string { return stateNames[s] }

// Certainty says how far a root is proven.
type Certainty uint8

const (
	// Certain: all its inputs were compared, and none explains the error.
	Certain Certainty = iota
	// Region: it is this operator, or one of those of the region, which could
	// not be compared.
	Region
	// Likely: no limit is met, but the error jumps here.
	Likely
	// Order: it is the first in execution order. Without a graph this is all
	// one knows.
	Order
)

var certaintyNames = [...]string{"certain", "region", "likely", "order"}

func (c Certainty) String() string { return certaintyNames[c] }

// Cause is one reason to call a tensor bad or suspect.
type Cause struct {
	Kind Kind
	// Value is what was measured, Limit what the profile allows.
	Value, Limit float64
	// Count of Of elements are concerned, the first is number First; Of is 0
	// where no elements are counted.
	Count, Of, First int64
	// Waived: a waiver of the profile excuses it.
	Waived bool
}

// Tensor is a judged row.
type Tensor struct {
	// Row is the place of the row in the table, Slot which output or input of
	// the operator it is.
	Row, Slot int
	// Seen: the operator was not recorded. This is its output as a consumer
	// recorded it, and the row is that of the consumer's input.
	Seen    bool
	Verdict Verdict
	Causes  []Cause
	// Jump is how the error compares with what the inputs explain, zero where
	// that cannot be told.
	Jump Jump
	// Check is an oracle's word on an output, nil without one.
	Check *result.Check
	// Law is how far the operator is from keeping a law, in unit roundoffs.
	Law float64
}

// Operator is an operator with its judged tensors.
type Operator struct {
	// Op is the operator. It is one of the table's, or made from its rows
	// where the table lists none.
	Op *result.Operator
	State
	// Outputs and Inputs are the rows of its tensors by slot.
	Outputs, Inputs []Tensor
	// Whole are the rows that speak of the operator and of no tensor.
	Whole []int
	// From are the roots it inherits from, as places in Judged.Roots; of an output of
	// the network that was not compared, those whose error arrives there.
	From []int
	// Sensitive is the factor by which it enlarges inherited errors where an
	// oracle measured it; 0 if it did not.
	Sensitive float64
}

// Root is where an error begins.
type Root struct {
	// Operator is the place in Judged.Operators.
	Operator int
	// Output is the worst output, as a place in the operator's Outputs.
	Output    int
	Certainty Certainty
	// Causes are those of the worst output, the gravest first.
	Causes []Cause
	// Region are the operators it may be instead, in execution order.
	Region []string
	// Edge: an input is bad although its producer's output is good, so that
	// the data changed on the way or were read wrongly.
	Edge bool
	// FreshNaN: it makes NaN or Inf that no input has.
	FreshNaN bool
	// Second: its inputs are wrong, too, but do not explain its error.
	Second bool
	// Recomputed: an oracle found it wrong from its own inputs.
	Recomputed bool
	// Begin is the input or argument it begins with, of roots of recordings.
	Begin *Begin
	// Noise: two runs on the NPU differ here as much as from golden.
	Noise bool
	// Inherited counts the bad operators that inherit from it.
	Inherited int
	// Reaches are the outputs of the network that its error arrives at.
	Reaches []string
}

// Coverage says how much of what kernels compute was compared.
type Coverage struct {
	// Expected and Compared count outputs of compute operators.
	Expected, Compared int
	// Constants counts tensors of weights, literals and network inputs that
	// were compared beside them.
	Constants int
	// Missing counts the expected that were not compared, by the reason.
	Missing map[result.Class]int
}

// Enough tells whether the coverage carries a verdict.
func (c Coverage) Enough() bool { return c.Compared > 0 && 2*c.Compared >= c.Expected }

// Judged is a table with its verdict.
type Judged struct {
	Table   *result.Table
	Profile *Profile
	Verdict Verdict
	// Operators are in execution order.
	Operators []Operator
	// Roots are in execution order.
	Roots    []Root
	Coverage Coverage
	// Counts of operators by state.
	Counts [StateBad + 1]int
	// Tensors counts compared tensors by verdict.
	Tensors [Bad + 1]int
	// Edges tells whether the table knows which operator feeds which.
	Edges bool
	// Expired are waivers that count no more.
	Expired []Waiver
	// Bits is what two runs of one network differ in, nil unless both sides
	// are runs on an NPU.
	Bits *Bits
	// Baseline is the comparison with an earlier table, nil without one.
	Baseline *Baseline
	// Checked: an oracle's word is part of the verdict.
	Checked bool
}

// Row is the row of a judged tensor.
func (j *Judged) Row(t *Tensor) *result.Row { return &j.Table.Rows[t.Row] }

// Pattern names the kind of wrong that a check, which recomputes operators from their own
// inputs, found in the output of a root; empty where there was none or it found none.
func (j *Judged) Pattern(r *Root) string {
	op := &j.Operators[r.Operator]
	out := &op.Outputs[r.Output]
	for i := range j.Table.Checks {
		if c := &j.Table.Checks[i]; c.Op == op.Op.Name && c.Output == out.Slot && c.Pattern != "" {
			return c.Pattern
		}
	}
	return ""
}

// Find is the operator of a name, nil if there is none.
func (j *Judged) Find(name string) *Operator {
	for i := range j.Operators {
		if j.Operators[i].Op.Name == name {
			return &j.Operators[i]
		}
	}
	return nil
}

// Fails tells whether a gate lets the table not pass: it is bad or
// inconclusive, or, if strict, suspect. Against a baseline a known error is no
// failure; one that grew is. A recording that was held against itself is equal and
// shows nothing, so that it does not pass either.
func (j *Judged) Fails(strict bool) bool {
	if j.void() != "" {
		return true
	}
	if j.Baseline != nil {
		return len(j.Baseline.Regressions) > 0
	}
	return j.Verdict == Bad || strict && j.Verdict == Suspect
}

// Failing tells of every operator whether it lets a gate not pass. A gate fails
// if one does, or if the verdict is inconclusive.
func (j *Judged) Failing(strict bool) []bool {
	list := make([]bool, len(j.Operators))
	regressed := map[int]bool{}
	if j.Baseline != nil {
		for _, c := range j.Baseline.Regressions {
			regressed[c.Row] = true
		}
	} else if strict {
		for i := range j.Roots {
			list[j.Roots[i].Operator] = true
		}
	}
	for i := range j.Operators {
		op := &j.Operators[i]
		if j.Baseline == nil {
			list[i] = list[i] || op.State == StateBad || op.State == StateInherited || strict && op.doubtful()
		}
		for k := range op.Outputs {
			list[i] = list[i] || regressed[op.Outputs[k].Row]
		}
	}
	return list
}
