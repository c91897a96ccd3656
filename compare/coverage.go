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

// choosePairing decides between the graph and names: the way that covers more
// operators wins. Names are what two runs on devices have in common, as the graph
// leads to the framework's operators; against arrays a graph that was named must
// be beaten clearly, as some operators share the name of another one's tensor.
func (s *Session) choosePairing(given bool) {
	o := &s.Folders
	if o.Rules == nil {
		return
	}
	n := o.covered()
	s.Covered = n
	graph, names := n[result.ByGraph], n[result.ByName]
	switch {
	case !o.Left.Device():
		return // operators of a quantised framework model are not named as arrays are
	case given && o.dialect().obeys:
		return // the old tool does as it is told
	case !given || o.Right.Device() && !s.unfused:
		o.ByName = names > graph
	default:
		o.ByName = names > 2*graph
	}
	switch {
	case o.ByName && given:
		s.Notes = append(s.Notes, result.Because(result.PairedByName, count(names), count(graph)))
	case !o.ByName && names > 2*graph:
		s.Notes = append(s.Notes, result.Because(result.PairedByGraph, count(graph), count(names)))
	}
}
