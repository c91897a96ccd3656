package compat

import (
	"fmt"

	"precision/dump"
	"precision/internal/must"
)

// CheckScenario tells whether two sides can be compared with the rule files
// that are given. What is on a side decides which are needed: a quantised NPU
// network needs the rules of the quantised framework model (quant) against a
// plain golden side, two NPU runs of which one was built without fusion need
// both graphs (closed).
func CheckScenario(left, right *dump.Folder, rules, quant, closed bool) {
	for _, f := range []*dump.Folder{left, right} {
		if f.Mixture != nil {
			must.Do(&Error{Code: f.Mixture.Code, Err: f.Mixture})
		}
	}
	sides := fmt.Sprintf("%s (%s) against %s (%s)", left.Dir, left.Kind, right.Dir, right.Kind)
	switch {
	case left.Device() && right.Device():
		Refuse(left.Quantised != right.Quantised, codeScenario, "%s: one network is quantised, the other is not", sides)
		Refuse(rules != closed, CodeParameter, "%s: the graphs -f and -cf go together", sides)
		Refuse(quant, CodeParameter, "%s: -q cannot be used here", sides)
	case left.Device() && right.Kind == dump.Standard:
		Refuse(!rules, CodeParameter, "%s: the graph -f is needed", sides)
		Refuse(closed, CodeParameter, "%s: -cf cannot be used here", sides)
		Refuse(left.Quantised && !quant, CodeParameter, "%s: the network is quantised, -q is needed", sides)
		Refuse(!left.Quantised && quant, CodeParameter, "%s: the network is not quantised, -q cannot be used here", sides)
	case left.Device(): // against a quantised framework model
		Refuse(!left.Quantised, codeScenario, "%s: the NPU network is not quantised", sides)
		Refuse(!rules, CodeParameter, "%s: the graph -f is needed", sides)
		Refuse(quant || closed, CodeParameter, "%s: -q and -cf cannot be used here", sides)
	case left.Simulated() && right.Kind == dump.Standard:
		Refuse(!quant || rules || closed, codeScenario, "%s: needs -q and nothing else", sides)
	default:
		Refuse(true, codeScenario, "%s cannot be compared", sides)
	}
}
