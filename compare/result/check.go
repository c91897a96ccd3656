package result

import "slices"

// Check is what recomputing an output from the operator's own recorded inputs
// said of it, beside what a comparison with golden says.
type Check struct {
	// Op and Output name the tensor.
	Op     string
	Output int
	// Known is false where it could not be told, and all that follows but Golden is void.
	Known bool
	// Wrong: the error is beyond any rounding, whatever the inputs were.
	Wrong bool
	// Suspect: it may be, under another reading of the operator.
	Suspect bool
	// Ratio is the largest error over its bound; 1 and less is rounding.
	Ratio float64
	// Local and Inherited are root mean squares, in units of the output, of
	// recorded - f(recorded inputs) and of f(recorded inputs) - golden; NaN
	// without golden data.
	Local, Inherited float64
	// Amplification is the relative inherited error of the output over that of
	// the inputs, NaN if it was not measured.
	Amplification float64
	// Pattern names the kind of error where one explains it, as "acc16"; Evidence
	// are its numbers, as JSON, and Explained is the share of the error that it explains, 0 where it only describes.
	Pattern, Evidence string
	Explained         float64
	// Golden is what recomputing the golden output from golden inputs says of it.
	Golden GoldenWord
	// Apart is the root mean square of golden - f(golden inputs), NaN without [Check.Golden].
	Apart float64
	// Why is what is known of a golden output that does not follow: what explains it, and
	// what bears that out.
	Why []Reason
}

// GoldenWord is what recomputing a golden output from golden inputs, with the attributes
// and weights of the device where golden data do not have them, says of it. Its text is
// its name in files.
type GoldenWord string

const (
	// GoldenUntried: it was not recomputed, or nothing can be told.
	GoldenUntried GoldenWord = ""
	// GoldenFollows: the framework computed what the device did.
	GoldenFollows GoldenWord = "follows"
	// GoldenDiffers: the framework computed something else: another weight, attribute or
	// formula.
	GoldenDiffers GoldenWord = "differs"
	// GoldenWrong: the golden array is not what the framework computed.
	GoldenWrong GoldenWord = "wrong"
)

// OtherWeight tells that the framework computed something else and that no attribute or form of the
// operator explains it, so that it may have had another weight.
func (c *Check) OtherWeight() bool {
	return c.Golden == GoldenDiffers && !slices.ContainsFunc(c.Why, func(r Reason) bool { return r.Kind.Otherwise() })
}

// Check gives a network's table what recomputing said of its outputs. One that is wrong and has no row, as of what runs
// between a quantiser and its dequantiser, gets one, so that it is judged: nothing was compared there.
func (t *Table) Check(checks []Check) {
	t.Checks = checks
	if t.Meta.Recorded {
		return
	}
	rows := map[Port]bool{}
	for i := range t.Rows {
		if r := &t.Rows[i]; r.Role == Output {
			rows[Port{Op: r.Op, Index: r.Slot}] = true
		}
	}
	ops := make(map[string]*Operator, len(t.Ops))
	for i := range t.Ops {
		ops[t.Ops[i].Name] = &t.Ops[i]
	}
	for i := range checks {
		c := &checks[i]
		at := Port{Op: c.Op, Index: c.Output}
		if op := ops[c.Op]; op != nil && c.Known && c.Wrong && !rows[at] {
			rows[at] = true
			t.Rows = append(t.Rows, Row{Op: op.Name, Type: op.Type, Index: op.Index, Role: Output, Slot: c.Output, Facts: Facts{Order: op.Order, Unpaired: true},
				Left: Operand{Names: op.Name}, Right: Operand{Names: "*"}})
		}
	}
}
