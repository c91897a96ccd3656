package compare

import (
	"fmt"

	"precision/dump"
)

// CodeError is an error with the exit code msaccucmp.py gives for it.
type CodeError struct {
	Code int
	Text string
	Err  error
}

func (e *CodeError) Error() string {
	switch {
	case e.Err == nil:
		return e.Text
	case e.Text == "":
		return e.Err.Error()
	}
	return e.Text + ": " + e.Err.Error()
}

func (e *CodeError) Unwrap() error { return e.Err }

func codeErrorf(code int, format string, args ...any) *CodeError {
	return &CodeError{Code: code, Text: fmt.Sprintf(format, args...)}
}

// CheckScenario tells whether two sides can be compared with the rule files
// that are given. What is on a side decides which are needed: a quantised NPU
// network needs the rules of the quantised framework model (quant) against a
// plain golden side, two NPU runs of which one was built without fusion need
// both graphs (closed).
func CheckScenario(mine, golden *dump.Folder, rules, quant, closed bool) error {
	for _, f := range []*dump.Folder{mine, golden} {
		if f.Mixture != nil {
			return &CodeError{Code: f.Mixture.Code, Err: f.Mixture}
		}
	}
	sides := fmt.Sprintf("%s (%s) against %s (%s)", mine.Dir, mine.Kind, golden.Dir, golden.Kind)
	switch {
	case mine.Kind == dump.Offline && golden.Kind == dump.Offline:
		switch {
		case mine.Quantised != golden.Quantised:
			return codeErrorf(codeScenario, "%s: one network is quantised, the other is not", sides)
		case rules != closed:
			return codeErrorf(codeParameter, "%s: the graphs -f and -cf go together", sides)
		case quant:
			return codeErrorf(codeParameter, "%s: -q has no place here", sides)
		}
	case mine.Kind == dump.Offline && golden.Kind == dump.Standard:
		switch {
		case !rules:
			return codeErrorf(codeParameter, "%s: the graph -f is needed", sides)
		case closed:
			return codeErrorf(codeParameter, "%s: -cf has no place here", sides)
		case mine.Quantised && !quant:
			return codeErrorf(codeParameter, "%s: the network is quantised, -q is needed", sides)
		case !mine.Quantised && quant:
			return codeErrorf(codeParameter, "%s: the network is not quantised, -q has no place here", sides)
		}
	case mine.Kind == dump.Offline: // against a quantised framework model
		switch {
		case !mine.Quantised:
			return codeErrorf(codeScenario, "%s: the NPU network is not quantised", sides)
		case !rules:
			return codeErrorf(codeParameter, "%s: the graph -f is needed", sides)
		case quant || closed:
			return codeErrorf(codeParameter, "%s: -q and -cf have no place here", sides)
		}
	case mine.Kind == dump.Quant && golden.Kind == dump.Standard:
		if !quant || rules || closed {
			return codeErrorf(codeScenario, "%s: needs -q and nothing else", sides)
		}
	default:
		return codeErrorf(codeScenario, "%s cannot be compared", sides)
	}
	return nil
}
