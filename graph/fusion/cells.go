package fusion

import "strings"

// Inner reports whether the operator is an inner one of a split framework operator: none of its outputs has a
// counterpart.
func (o *Op) Inner() bool {
	if !o.MultiOp {
		return false
	}
	for i := range o.Outputs {
		if o.Outputs[i].OriginName != "" {
			return false
		}
	}
	return true
}

func (o *Op) originText() string { return strings.Join(o.OriginNames, ",") }

// NPUNames returns the NPUDump cell of a result table: the operators of the group joined by commas.
func (g *Group) NPUNames() string {
	if len(g.Ops) == 1 {
		return g.Ops[0].Name
	}
	names := make([]string, len(g.Ops))
	for i, o := range g.Ops {
		names[i] = o.Name
	}
	return strings.Join(names, ",")
}

// GoldenNames returns the GroundTruth cell of a result table: the framework operators of the group joined by
// commas. For a single operator without any it is "*".
func (g *Group) GoldenNames() string {
	if len(g.Ops) == 1 {
		if t := g.Ops[0].originText(); t != "" {
			return t
		}
		return "*"
	}
	var texts []string
	for _, o := range g.Ops { // equal texts are neighbours
		if t := o.originText(); len(texts) == 0 || texts[len(texts)-1] != t {
			texts = append(texts, t)
		}
	}
	return strings.Join(texts, ",")
}
