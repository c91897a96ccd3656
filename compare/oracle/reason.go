package oracle

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"precision/compare/pattern"
	"precision/compare/result"
	"precision/dump/dtype"
	"precision/graph"
	"precision/internal/must"
)

// Reasons: why an output is unknown, or what there is to say of one that is not, as a kind and its
// arguments, which package report/checked puts into words of two languages. A form that cannot decide
// refuses with one of these by a panic ([refuseIf]); any other panic is a defect of this package
// and is told as such.

// Why an output is not known, or what there is to say of one that is. The
// arguments of each stand behind it.
const (
	NoOperator    result.Kind = "check-no-type"      // type: not one that can be recomputed
	BadDump       result.Kind = "check-bad-dump"     // error
	NoDump        result.Kind = "check-no-dump"      // -: the graph has the operator
	NoKernel      result.Kind = "check-no-kernel"    // -: the graph has the operator, others were not dumped either
	NoProcess     result.Kind = "check-no-process"   // -: other steps have the rank, and other ranks the step
	NoResult      result.Kind = "check-no-result"    // -: the entry of a call ends without its outputs
	NotInGraph    result.Kind = "check-not-in-graph" // -
	NoOutput      result.Kind = "check-no-output"    // -
	NoInput       result.Kind = "check-no-input"     // which input
	InputCount    result.Kind = "check-input-count"  // recorded, connected
	OutputCount   result.Kind = "check-output-count" // recorded, computed
	BadTensor     result.Kind = "check-bad-tensor"   // tensor, error
	NotWritten    result.Kind = "check-not-written"  // tensor, format, error: neither a file of it nor statistics
	BadType       result.Kind = "check-type"         // tensor, type
	BadLayout     result.Kind = "check-layout"       // tensor, error
	NoAttribute   result.Kind = "check-no-attr"      // attribute
	BadAttribute  result.Kind = "check-bad-attr"     // attribute, what it holds, what was expected
	ShapesDiffer  result.Kind = "check-shapes"       // shapes
	ShapeComputed result.Kind = "check-out-shape"    // shape by the formula, shape recorded
	TooLarge      result.Kind = "check-too-large"    // elements or operations, the most that is done
	NoBound       result.Kind = "check-no-bound"     // terms: rounding can explain anything
	Unsupported   result.Kind = "check-unsupported"  // what
	FusedWord     result.Kind = "check-fused-word"   // word of the kernel's name
	Random        result.Kind = "check-random"       // type
	OneRank       result.Kind = "check-one-rank"     // ranks in the group
	InPlace       result.Kind = "check-in-place"     // input that has the output's address
	Empty         result.Kind = "check-empty"        // -
	NotJudged     result.Kind = "check-not-judged"   // elements: the bound of all is infinite
	NaNOrdered    result.Kind = "check-nan-ordered"  // elements that can be anything, elements: NaN is among what is put in order
	Coarse        result.Kind = "check-coarse"       // integers beyond 2^53, elements: float64 does not hold their digits
	Crashed       result.Kind = "check-crashed"      // error

	NoAPI        result.Kind = "check-no-api"        // function: not one that can be recomputed
	NoElements   result.Kind = "check-no-elements"   // tensor: only statistics of it were recorded
	NoArgument   result.Kind = "check-no-argument"   // argument that was not recorded
	BadArgument  result.Kind = "check-bad-argument"  // argument, what was recorded, what was expected
	NewArgument  result.Kind = "check-new-argument"  // argument that the function is not known to have
	OutsideCache result.Kind = "check-outside"       // argument, place that it points to, how many there are
	ReadBy       result.Kind = "check-read-by"       // call and place of what was written to an argument
	NotRead      result.Kind = "check-not-read"      // argument that the call wrote to and that nothing recorded reads
	Unfilled     result.Kind = "check-unfilled"      // -: memory that nothing was written to
	Passed       result.Kind = "check-passed"        // -: the function returned its argument, and the gradients are those of the call before
	Sliced       result.Kind = "check-sliced"        // -: parts of tensors were recorded
	NoForward    result.Kind = "check-no-forward"    // forward call that is not recorded
	Composite    result.Kind = "check-composite"     // calls recorded within the module: never told, what they say of it is (modules.go)
	Composed     result.Kind = "check-composed"      // calls recorded within the module that explain the output
	Apart        result.Kind = "check-apart"         // calls recorded within the module, none of which made the output
	PartUnknown  result.Kind = "check-part"          // part of a module that has no verdict, or a bad one
	PartSuspect  result.Kind = "check-part-suspect"  // part of a module that is suspect
	Unmade       result.Kind = "check-unmade"        // part of a module, tensor that it took and that nothing recorded made
	NoGradient   result.Kind = "check-no-gradient"   // function whose gradients are not recomputed
	NotRecorded  result.Kind = "check-hidden"        // arguments that a module keeps to itself
	Overwritten  result.Kind = "check-overwritten"   // input that equals the output of a call in place
	Partial      result.Kind = "check-partial"       // tensor of which each rank has a summand
	OutOfRange   result.Kind = "check-range"         // statistic, its value, least and greatest value that the inputs allow
	InRange      result.Kind = "check-in-range"      // -: the statistics are in the range that the inputs allow
	Finite       result.Kind = "check-finite"        // -: and what range the inputs allow is not known
	NoStatistics result.Kind = "check-no-statistics" // -
	Holds        result.Kind = "check-holds"         // NaN, Inf or -Inf, the largest element
	NotKept      result.Kind = "check-not-kept"      // statistic of elements that are only moved, of what went in, of what came out
	AllZero      result.Kind = "check-all-zero"      // -: and none of the inputs is
	MadeHere     result.Kind = "check-made"          // NaN or Inf that no input has
	HeldBefore   result.Kind = "check-held"          // NaN or Inf, argument that had it although no recorded call made it
	GivenAs      result.Kind = "check-given"         // NaN, argument that it was given as
	CameFrom     result.Kind = "check-came"          // NaN or Inf, argument, call that left it
	CameRank     result.Kind = "check-came-rank"     // NaN or Inf, rank that brought it in, its call
	StepsAgain   result.Kind = "check-again"         // records of an earlier run, of steps that a later run went over once more
	Steady       result.Kind = "check-steady"        // steps at which it was finite and within its own history
	FewSteps     result.Kind = "check-few-steps"     // steps: too few for a history
	SpikeAt      result.Kind = "check-spike"         // step, size, the same over the median of the steps before, how many these are
	NaNAt        result.Kind = "check-nan-at"        // step, elements that are NaN
	InfAt        result.Kind = "check-inf-at"        // step
	NothingAt    result.Kind = "check-nothing-at"    // step without a number, which others have
	ZeroAt       result.Kind = "check-zero-at"       // step, steps before at which it was not 0
	Behind       result.Kind = "check-behind"        // step, series that it follows
	OnRanks      result.Kind = "check-on-ranks"      // ranks at which it happens at once, of
	ClaimHolds   result.Kind = "check-claim-holds"   // rule, what it looks at, first step, steps
	ClaimAlone   result.Kind = "check-claim-alone"   // the same
	ClaimCall    result.Kind = "check-claim-call"    // tool
	ClaimSource  result.Kind = "check-claim-source"  // tool, ranks
	PeersPart    result.Kind = "check-peers-part"    // step, ranks that had the same before
	FoundFirst   result.Kind = "check-found"         // -: the recorder found NaN or infinities, and none before

	Explained      result.Kind = "check-reading"       // name of the reading that explains the output, its arguments
	Readings       result.Kind = "check-readings"      // number of readings, none of which explains the output
	Beyond         result.Kind = "check-beyond"        // elements beyond the bound, elements looked at
	LowPrecision   result.Kind = "check-low-precision" // elements that only lower precision explains
	HalfInside     result.Kind = "check-half-inside"   // elements that float16 inside explains, as the open kernel of the function has it
	Saturated      result.Kind = "check-saturated"     // elements at the type's largest number, or 0, for Inf or NaN
	Flushed        result.Kind = "check-flushed"       // subnormal elements that are 0
	LostNaN        result.Kind = "check-lost-nan"      // elements that are numbers where NaN was expected
	OneSided       result.Kind = "check-one-sided"     // mean error, what chance allows
	Rounding       result.Kind = "check-rounding"      // elements that no rounding to nearest gives, though within the bound
	RankDiffers    result.Kind = "check-rank-differs"  // elements in which this rank differs from the others
	OwnInput       result.Kind = "check-own-input"     // the output is the rank's own input
	Contrary       result.Kind = "check-contrary"      // input, operator, its output: elements in which the two dumps differ, elements looked at
	NoRank         result.Kind = "check-no-rank"       // rank whose recording lacks the call
	OtherWeight    result.Kind = "check-other-weight"  // place, the rank that has what most have, weights that differ, of
	SameBatch      result.Kind = "check-same-batch"    // another rank, calls that gave the same
	InFlight       result.Kind = "check-in-flight"     // -: the call may not have been done when it was recorded
	NotMine        result.Kind = "check-not-mine"      // -: the collective says nothing of this output
	Gathered       result.Kind = "check-gathered"      // collective, ranks
	OtherReduction result.Kind = "check-other-op"      // reduction that it is
	LeftOut        result.Kind = "check-left-out"      // rank
	CountedTwice   result.Kind = "check-twice"         // rank
	OtherGroup     result.Kind = "check-other-group"   // ranks whose inputs it is made of
	OtherPiece     result.Kind = "check-other-piece"   // rank
	Scaled         result.Kind = "check-scaled"        // factor
	MoreRanks      result.Kind = "check-more-ranks"    // ranks that were recorded
	NotConserved   result.Kind = "check-not-conserved" // sum of all outputs, of all inputs
	Unlikely       result.Kind = "check-unlikely"      // elements, terms of a sum, largest error as a multiple of what is likely, there recorded, recomputed
	SumDiffers     result.Kind = "check-sum"           // sums beyond the bound, sums: of rows with random signs
)

// Refusal says why something cannot be recomputed.
type Refusal struct {
	Reason result.Reason
	Cause  error // of reading, nil where that is not the matter
}

func (r *Refusal) Unwrap() error { return r.Cause }

// Error gives the kind and its arguments; faces say it in a language.
func (r *Refusal) Error() string {
	return string(r.Reason.Kind) + " " + strings.Join(r.Reason.Args, ", ")
}

// refuse makes a refusal. Of [ShapesDiffer] the arguments are the shapes, which stand side by side.
func refuse(kind result.Kind, args ...any) error {
	r := &Refusal{Reason: because(kind, args...)}
	if kind == ShapesDiffer {
		r.Reason = result.Because(kind, strings.Join(r.Reason.Args, " "))
	}
	for _, a := range args {
		if err, ok := a.(error); ok {
			r.Cause = err
		}
	}
	return r
}

// because makes a reason of arguments of any type.
func because(kind result.Kind, args ...any) result.Reason {
	text := make([]string, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case string:
			text[i] = a
		case float64:
			text[i] = fmt.Sprintf("%.6g", a)
		case error:
			text[i] = a.Error()
		case []int64:
			text[i] = shapeText(a)
		default:
			text[i] = fmt.Sprint(a)
		}
	}
	return result.Because(kind, text...)
}

// reasonOf is the reason of a refusal, or of an error of reading.
func reasonOf(err error) result.Reason {
	if r := new(Refusal); errors.As(err, &r) {
		return r.Reason
	}
	return because(BadDump, err)
}

// shapeText renders shapes side by side.
func shapeText(shapes ...[]int64) string {
	var b strings.Builder
	for i, s := range shapes {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(graph.FormatShape(s))
	}
	return b.String()
}

// nan stands for a number that there is not.
var nan = math.NaN()

// Verdict is what the recorded inputs of an operator say of an output.
type Verdict uint8

// The verdicts, the worse the greater; Unknown is none.
const (
	Unknown Verdict = iota
	OK
	Suspect
	Wrong
)

var verdictNames = [...]string{"unknown", "ok", "suspect", "wrong"}

func (v Verdict) String() string { return verdictNames[v] }

// Finding is what was found of one output of one operator on one device.
type Finding struct {
	Op    string // the operator's name in the graph
	Type  string
	ID    int64 // its place in the order of execution
	Rank  int   // device, as its folder says; -1 when there is but one folder
	Index int   // which output

	Verdict Verdict
	// Ratio is the largest |recorded - expected|/bound, NaN when there is none,
	// +Inf where nothing but equality was allowed.
	Ratio float64
	// Worst is the place with the largest ratio, in the axes of the framework.
	Worst                  []int64
	Expected, Found, Bound float64
	// Largest is the largest |recorded - expected|.
	Largest float64

	DType dtype.Type
	Shape []int64
	// Elements is how many the output has, Looked how many of them were
	// recomputed, and Beyond how many of these lie beyond their bound.
	Elements, Looked, Beyond int64

	// Reasons say what the verdict rests on; of Unknown, why there is none.
	Reasons []result.Reason
	// Pattern names the kind of error where one explains it: "acc16".
	Pattern string
	// Patterns are the kinds of error that the numbers bear out, best first, with
	// their evidence.
	Patterns []pattern.Finding

	// Golden is whether the golden output follows from golden inputs, Apart how far it is
	// from what does, and Why what is known of that; see [result.Check].
	Golden result.GoldenWord
	Apart  float64
	Why    []result.Reason
	// Damage is set where what was recorded cannot be read.
	Damage *result.Damage

	// looser is set of a wrong output of a call that a looser unit explains; see [settleLooser].
	looser bool
	// function is what the call is one of, with its direction; "" where there are no calls.
	function string

	// Want and Got are what all elements should be and what they are, of an output that was kept;
	// see [Settings].
	Want, Got []float64

	// History is what a monitor recorded of it, step by step.
	History []Past

	// Split is the local and the inherited error, where there is golden data.
	Split *Split
}

// Name is the output as users name it.
func (f *Finding) Name() string { return result.TensorName(f.Op, result.Output, f.Index) }

// fail notes that an output is not known for an error. file is what was read, "" where the
// error knows that.
func (f *Finding) fail(err error, file string) {
	why := reasonOf(err)
	unknown(f, why)
	if why.Kind == OutsideCache {
		f.Verdict = Suspect // of the arguments, whatever the kernel made of them
	}
	if why.Kind == BadDump || why.Kind == BadTensor || why.Kind == NotWritten {
		d := result.DamageOf(f.Name(), file, why, err)
		f.Damage = &d
	}
}

// Split tells the error of an output against golden data apart: what the
// operator adds itself, local = recorded - f(recorded inputs), and what its
// inputs bring, inherited = f(recorded inputs) - golden.
type Split struct {
	// Error, Local and Inherited are root mean squares in units of the output.
	Error, Local, Inherited float64
	// LocalShare and InheritedShare are their shares of Local + Inherited.
	LocalShare, InheritedShare float64
	// InputError is the relative root mean square error of the worst input,
	// OutputError that of f(recorded inputs); both relative to golden.
	InputError, OutputError float64
	// Amplification is OutputError/InputError, NaN when the inputs have no error.
	Amplification float64
	// Sensitive is set where the operator makes errors of its inputs far larger.
	Sensitive bool
}

// A refusal ends the making of readings wherever it is met, as an error of syntax ends the work of
// a parser: forms are written as formulas, and [must.Of] is where a refusal becomes an error again.
// Values, which compute later, and meetings of ranks end so, too.

// refusal is what ends it, where a refusal is the only way on.
func refusal(kind result.Kind, args ...any) any { return must.Failure(refuse(kind, args...)) }

// refuseIf refuses where something is bad: what a form asks of its arguments, a line each.
// Arguments that are shapes become text when they are needed. It is apart: in line at its hundreds
// of places it is 100 KB of the program.
//
//go:noinline
func refuseIf(bad bool, kind result.Kind, args ...any) {
	if bad {
		panic(refusal(kind, args...))
	}
}
