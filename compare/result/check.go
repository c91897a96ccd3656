package result

// Check is what recomputing an output from the operator's own recorded inputs
// said of it, beside what a comparison with golden says.
type Check struct {
	// Op and Output name the tensor.
	Op     string
	Output int
	// Known is false where it could not be told, and all that follows is void.
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
	// Pattern names the kind of error where one explains it, as "acc16".
	Pattern string
}
