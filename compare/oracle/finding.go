package oracle

import (
	"math"

	"precision/compare/pattern"
	"precision/compare/result"
	"precision/dump/dtype"
)

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

	// Split is the local and the inherited error, where there is golden data.
	Split *Split
}

// Name is the output as users name it.
func (f *Finding) Name() string { return result.TensorName(f.Op, result.Output, f.Index) }

// fail notes that an output is not known for an error. file is what was read, "" where the
// error knows that.
func (f *Finding) fail(err error, file string) {
	why := reasonOf(err)
	f.Reasons = append(f.Reasons, why)
	if why.Kind == BadDump || why.Kind == BadTensor {
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
