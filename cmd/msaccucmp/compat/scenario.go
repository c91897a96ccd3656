package compat

import (
	"fmt"

	"precision/dump"
)

// CheckScenario tells whether two sides can be compared with the rule files
// that are given. What is on a side decides which are needed: a quantised NPU
// network needs the rules of the quantised framework model (quant) against a
// plain golden side, two NPU runs of which one was built without fusion need
// both graphs (closed).
func CheckScenario(left, right *dump.Folder, rules, quant, closed bool) error {
	for _, f := range []*dump.Folder{left, right} {
		if f.Mixture != nil {
			return &Error{Code: f.Mixture.Code, Err: f.Mixture}
		}
	}
	sides := fmt.Sprintf("%s (%s) against %s (%s)", left.Dir, left.Kind, right.Dir, right.Kind)
	switch {
	case left.Device() && right.Device():
		switch {
		case left.Quantised != right.Quantised:
			return errorf(codeScenario, "%s: one network is quantised, the other is not", sides)
		case rules != closed:
			return errorf(codeParameter, "%s: the graphs -f and -cf go together", sides)
		case quant:
			return errorf(codeParameter, "%s: -q cannot be used here", sides)
		}
	case left.Device() && right.Kind == dump.Standard:
		switch {
		case !rules:
			return errorf(codeParameter, "%s: the graph -f is needed", sides)
		case closed:
			return errorf(codeParameter, "%s: -cf cannot be used here", sides)
		case left.Quantised && !quant:
			return errorf(codeParameter, "%s: the network is quantised, -q is needed", sides)
		case !left.Quantised && quant:
			return errorf(codeParameter, "%s: the network is not quantised, -q cannot be used here", sides)
		}
	case left.Device(): // against a quantised framework model
		switch {
		case !left.Quantised:
			return errorf(codeScenario, "%s: the NPU network is not quantised", sides)
		case !rules:
			return errorf(codeParameter, "%s: the graph -f is needed", sides)
		case quant || closed:
			return errorf(codeParameter, "%s: -q and -cf cannot be used here", sides)
		}
	case left.Simulated() && right.Kind == dump.Standard:
		if !quant || rules || closed {
			return errorf(codeScenario, "%s: needs -q and nothing else", sides)
		}
	default:
		return errorf(codeScenario, "%s cannot be compared", sides)
	}
	return nil
}
