package verdict

import (
	"cmp"
	"slices"

	"precision/compare/pattern"
	"precision/compare/result"
	catalogue "precision/op"
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
	// Damaged is said of tensors that were recorded and cannot be believed. It is settled
	// when all else is: until then they are uncompared.
	Damaged
)

var verdictNames = [...]string{"uncompared", "good", "suspect", "bad", "inconclusive", "damaged"}

// Compared tells whether there were values to judge.
func (v Verdict) Compared() bool { return v == Good || v == Suspect || v == Bad }

// ParseVerdict is the verdict of a name; Uncompared for one that is none.
func ParseVerdict(name string) Verdict { return Verdict(max(0, slices.Index(verdictNames[:], name))) }

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
	// StateDamaged: what was recorded of it, or of one of its outputs, cannot be believed,
	// and nothing of it is known to be wrong.
	StateDamaged
)

var stateNames = [...]string{"uncompared", "good", "suspect", "inherited", "bad", "damaged"}

func (s State) String() string { return stateNames[s] }

// Certainty says how far a root is proven.
type Certainty uint8

const (
	// Certain: all its inputs were compared, and none explains the error; or it was
	// recomputed from them.
	Certain Certainty = iota
	// Region: it is this operator, or one of those of the region, which could
	// not be compared.
	Region
	// Likely: all limits are met, but the error jumps here; or an input was not compared that
	// no kernel computes, as a weight.
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
	// Number: its integers are measured, like numbers with a fraction, and not counted.
	Number bool
	// Depends: all of it depends on choices that differ, as far as is known, and a limit is
	// not kept.
	Depends bool
	// Jump is how the error compares with what the inputs explain, zero where
	// that cannot be told.
	Jump Jump
	// Check is an oracle's word on an output, nil without one.
	Check *result.Check
	// Alone: it is bad though it could not be compared, by the oracle's word or as it makes NaN of finite numbers.
	Alone bool
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
	row       *catalogue.Row // of its type
	at        int32          // its place in Judged.Operators
	makersAt  int32          // where those of its inputs begin in judge.makers
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
	// Followed: an oracle found it right from its own inputs, and the golden output not to
	// follow from golden ones; or could not recompute it, and the golden array not to be what
	// the framework went on with.
	Followed bool
	// Uncompared are inputs that were not compared, by their names, where the root would be
	// certain if they had been.
	Uncompared []string
	// Begin is the input or argument it begins with, of roots of recordings.
	Begin *Begin
	// Places are other ranks, steps and calls that have the same fault; Reached is where else
	// its error arrives.
	Places  []string
	Reached []Reach
	// Noise: two runs on the NPU differ here as much as from golden.
	Noise bool
	// Inherited counts the bad operators that inherit from it.
	Inherited int
	// Reaches are the outputs of the network that its error arrives at.
	Reaches []string
	// Kind says what is wrong there; [RootDiffers] where only golden data speaks.
	Kind RootKind
}

// RootKind says what is wrong where an error begins. Its text is its name in JSON.
type RootKind string

const (
	// RootWrong: the output does not follow from the operator's own inputs: the kernel.
	RootWrong RootKind = "wrong"
	// RootDiffers: the output differs from golden and its inputs do not explain that. With
	// an oracle's word that it follows from its own inputs, the framework computed
	// something else: another weight, attribute or formula.
	RootDiffers RootKind = "differs"
	// RootGolden: the golden output does not follow from golden inputs.
	RootGolden RootKind = "golden"
	// RootInput: an input of the network differs between the sides in few elements.
	RootInput RootKind = "input"
	// RootWeight: a weight differs between the sides.
	RootWeight RootKind = "weight"
)

// PremiseKind names a premise of a comparison. Its text is its name in JSON.
type PremiseKind string

// The premises, in the order in which they are looked at.
const (
	// PremiseInputs: the two runs were not fed the same data.
	PremiseInputs PremiseKind = "inputs"
	// PremiseWeights: the two runs did not have the same weights.
	PremiseWeights PremiseKind = "weights"
	// PremiseStep: all weights differ a little, as between steps of a training.
	PremiseStep PremiseKind = "step"
	// PremiseRanks: ranks of a job are in another order on either side.
	PremiseRanks PremiseKind = "ranks"
	// PremiseGraph: the recordings are of different networks, orders or batches.
	PremiseGraph PremiseKind = "graph"
	// PremiseConsistent: most operators of a recording do not follow from their own
	// inputs.
	PremiseConsistent PremiseKind = "consistent"
	// PremiseCompared: what was compared is not the same thing on both sides.
	PremiseCompared PremiseKind = "compared"
)

// Premise is something that a comparison takes for granted and that does not hold, or
// not entirely.
type Premise struct {
	Kind PremiseKind
	// Broken: the premise is so far from holding that no operator can be judged. A premise
	// that is not broken is a hint, or named by a root.
	Broken bool
	// Tensors is how many tensors bear it out, Share the share of them, or of their
	// elements, that speak against the premise.
	Tensors int
	Share   float64
	// Rows are rows of the table that show it, the first of them; of inputs and weights.
	Rows []int
	// Reason says it: which tensors, how many elements, what to do.
	Reason result.Reason
}

// Advice is the key of what to do about a premise that is broken: its kind, or tokens where a model went on from others.
func (k PremiseKind) Advice(why result.Reason) string {
	if why.Kind == result.TokensSampled {
		return "tokens"
	}
	return string(k)
}

// LossKind says what was lost. Its text is its name in JSON and in messages.
type LossKind string

// What may be lost, the gravest first.
const (
	// LossCoverage: less than half of what is expected was compared.
	LossCoverage LossKind = "coverage"
	// LossPartners: ranks or steps that only one side has.
	LossPartners LossKind = "partners"
	// LossRecording: a recording ends early, so that what it held is not known.
	LossRecording LossKind = "recording"
	// LossOutputs: outputs of the network that cannot be believed, or were not compared.
	LossOutputs LossKind = "outputs"
	// LossDamaged: what was recorded and cannot be believed.
	LossDamaged LossKind = "damaged"
	// LossTensors: what both sides could have recorded and was not compared.
	LossTensors LossKind = "tensors"
	// LossInputs: inputs that one side alone recorded.
	LossInputs LossKind = "inputs"
	// LossContrary: inputs that are not what was recorded where they were made.
	LossContrary LossKind = "contrary"
	// LossGiven: network inputs and weights that are others, though what takes them agrees.
	LossGiven LossKind = "given"
	// LossGraph: operators were recorded that the graph does not have.
	LossGraph LossKind = "graph"
	// LossTable: a table of csv cannot show that it is whole.
	LossTable LossKind = "csv"
	// LossRanks: ranks that were not recorded although those around them were.
	LossRanks LossKind = "ranks"
	// LossParts: ranks and steps of a job that could not be compared.
	LossParts LossKind = "parts"
)

// LossKinds lists what a comparison of one recording with another may lose, the gravest first.
func LossKinds() []LossKind {
	return []LossKind{LossCoverage, LossPartners, LossRecording, LossOutputs, LossDamaged, LossTensors, LossInputs, LossContrary, LossGiven, LossGraph, LossTable}
}

// Loss is something that a verdict does without.
type Loss struct {
	Kind LossKind `json:"kind"`
	// Count of Of are lost; Of is 0 where that is not known.
	Count int `json:"count"`
	Of    int `json:"of"`
	// Names are the first ones, where they have names.
	Names []string `json:"names,omitempty"`
	// Breaks: without it nothing can be called good.
	Breaks bool `json:"breaks,omitempty"`
}

// NetworkOutputs are the tensors that leave the network: losses, logits, the last calls of
// a recording.
type NetworkOutputs struct {
	Expected, Compared int
	// Damaged counts those that were recorded and cannot be believed.
	Damaged int
	// Uncompared names those without a verdict.
	Uncompared []string
}

// Coverage says how much of what kernels compute was compared.
type Coverage struct {
	// Expected and Compared count outputs of compute operators.
	Expected, Compared int
	// Statistics counts those of Compared of which neither elements nor equal checksums are known: that elements stand in another order, or
	// that few are wrong, they do not show.
	Statistics int
	// Constants counts tensors of weights, literals and network inputs that
	// were compared beside them.
	Constants int
	// Missing counts the expected that were not compared, by the reason; those of the class
	// Unreadable are damaged.
	Missing map[result.Class]int
	// Lost counts the missing that both sides could have recorded and compared.
	// Of an operator without a dump whose consumer recorded what arrived there, that was
	// compared, and is lost all the same.
	Lost Missed
	// Ungiven are the inputs that one side alone recorded, which are not expected of a kernel: those of the network, and of a call.
	Ungiven Missed
	// Waived are those that a waiver takes out of what is lost.
	Waived int
}

// Missed counts tensors, and names the first of them.
type Missed struct {
	Count int
	Names []string
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
	// Pieces are the ranks and steps of a recording, as [Settle] takes them.
	Pieces []Piece
	// Damaged is all that was recorded and cannot be believed, of the table's rows and
	// beside them.
	Damaged []result.Damage
	// Premises are what does not hold of the comparison as a whole.
	Premises []Premise
	Outputs  NetworkOutputs
	// Losses are what the verdict does without, the gravest first.
	Losses []Loss
	// Counts of operators by state.
	Counts [StateDamaged + 1]int
	// Tensors counts tensors by verdict.
	Tensors [Damaged + 1]int
	// Edges tells whether the table knows which operator feeds which.
	Edges bool
	// Expired are waivers that count no more.
	Expired []Waiver
	// Rounded are outputs of recordings that are not the same and are good: another order of summation.
	// Nil where there are none, or a root.
	Rounded *Rounded
	// Bits is what two runs of one network differ in, nil unless both sides
	// are runs on an NPU.
	Bits *Bits
	// Baseline is the comparison with an earlier table, nil without one.
	Baseline *Baseline
	weigh    []string
	// After is what became of an earlier verdict's roots, nil without one.
	After *After
	// Checked: an oracle's word is part of the verdict.
	Checked bool
}

// Rounded counts outputs that rounding explains the differences of.
type Rounded struct {
	Count, Of int
	// Most is the largest difference, relative to the size of its tensor.
	Most float64
	// Products are calls that got the same and gave what products of numbers of ten bits are, as one side computes
	// all of float32 then (TF32, HF32); 0 where it does not.
	Products int
}

// AddHints adds what a look at elements found of how the sides are to be compared: hints, beside
// which the verdict stays as it is.
func (j *Judged) AddHints(hints ...result.Reason) {
	for _, h := range hints {
		j.Premises = append(j.Premises, Premise{Kind: PremiseCompared, Tensors: 1, Share: 1, Reason: h})
	}
}

// Row is the row of a judged tensor.
func (j *Judged) Row(t *Tensor) *result.Row { return &j.Table.Rows[t.Row] }

// Worst is the worst output of a root, or what goes in that it begins with, where nothing is recorded that
// comes out.
func (j *Judged) Worst(r *Root) *Tensor {
	op := &j.Operators[r.Operator]
	if r.Output < len(op.Outputs) {
		return &op.Outputs[r.Output]
	}
	for i := range op.Inputs {
		if r.Begin != nil && op.Inputs[i].Row == r.Begin.Row {
			return &op.Inputs[i]
		}
	}
	return &op.Inputs[0]
}

// Pattern is the kind of wrong that the output of a root was found to have: by a check,
// which recomputes operators from their own inputs, or else by a look at both sides' elements.
// What says what was done to the numbers goes before what only describes the error. Its Kind is
// empty where nothing was found.
func (j *Judged) Pattern(r *Root) (best result.Pattern) {
	op := &j.Operators[r.Operator]
	out := j.Worst(r)
	take := func(p result.Pattern) {
		if p.Kind != "" && (best.Kind == "" || pattern.Kind(best.Kind).Vague() && !pattern.Kind(p.Kind).Vague()) {
			best = p
		}
	}
	for i := range j.Table.Checks {
		if c := &j.Table.Checks[i]; c.Op == op.Op.Name && c.Output == out.Slot {
			take(result.Pattern{Kind: c.Pattern, Evidence: c.Evidence, Explained: c.Explained})
		}
	}
	tensor := j.Row(out).Tensor()
	for i := range j.Table.Looks {
		if l := &j.Table.Looks[i]; l.Tensor == tensor && len(l.Patterns) > 0 {
			take(l.Patterns[0])
		}
	}
	return best
}

// Prominent are the roots, as places in Roots, in the order in which a person reads them: those that
// most operators inherit from first, equal ones by execution order. Those that are bad go before those that are suspect.
func (j *Judged) Prominent() []int {
	order := make([]int, len(j.Roots))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := &j.Roots[a], &j.Roots[b]
		bad := func(r *Root) int { return int(j.Worst(r).Verdict) }
		return cmp.Or(cmp.Compare(bad(y), bad(x)), cmp.Compare(y.Inherited, x.Inherited))
	})
	return order
}

// Why is what a check knows of the golden output of a root that does not follow from golden
// inputs.
func (j *Judged) Why(r *Root) []result.Reason {
	if c := j.Worst(r).Check; c != nil && r.Followed {
		return c.Why
	}
	return nil
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

// Failing tells of every operator whether it lets a gate not pass. A gate fails
// if one does, or for what it stops at in the table as a whole.
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
