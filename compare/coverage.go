package compare

import (
	"precision/compare/result"
	"precision/graph/fusion"
)

// covered counts the operators of the left side whose outputs have a partner on
// the right, for either way of pairing. No file is opened for it.
func (o *Folders) covered() map[result.How]int {
	e := newEngine(o)
	n := map[result.How]int{}
	arrays := arrayNames(o.Right)
	for _, op := range o.Left.Ops {
		if o.Right.Device() && o.Right.Op(op.Key) != nil || arrays[op.Key] {
			n[result.ByName]++
		}
	}
	if o.Rules == nil {
		return n
	}
	for _, op := range o.Rules.Ops {
		if e.leftFiles(op.Name) != nil && e.hasPartner(op) {
			n[result.ByGraph]++
		}
	}
	return n
}

// hasPartner tells whether an output of an operator stands for a tensor of the
// right side.
func (e *engine) hasPartner(op *fusion.Op) bool {
	if op.Filtered || quantiser(op) || len(op.Group.Ops) > 1 && op.Inner() {
		return false
	}
	for i := range max(1, len(op.Op.OutputDesc)) {
		if ref, err := e.opt.Rules.GoldenOutput(op, i); err == nil && e.rightFiles(ref) != nil {
			return true
		}
	}
	return false
}
