package fusion

import (
	"slices"

	"precision/graph"
	"precision/graph/internal/uniq"
)

// clone returns a copy whose operators can be changed; groups are not filled.
func (r *Rules) clone() *Rules {
	c := newRules(r.Path, r.calls, len(r.Ops))
	c.Warnings = slices.Clone(r.Warnings)
	return c
}

func (o *Op) clone() *Op {
	c := *o
	c.OriginNames = slices.Clone(o.OriginNames)
	c.Outputs = slices.Clone(o.Outputs)
	c.Group, c.place, c.fedAt = nil, 0, 0
	return &c
}

func (r *Rules) warn(o *Op, msg graph.Message) {
	r.note(graph.Warning{Path: r.Path, Line: o.Op.Line, Offset: -1, Msg: graph.Messagef("op %s: %s", o.Name, msg)})
}

// Merge joins the rules of the graphs of one comparison, each of which may be nil: those of the network that ran,
// those that lead from it to the original one where it was quantised (WithQuant), and those of the other run where
// that ran without fusion (WithoutFusion). quant serves alone where there are no rules; without both the result is nil.
func Merge(rules, quant, closed *Rules) *Rules {
	switch {
	case rules == nil:
		rules = quant
	case quant != nil:
		rules = rules.WithQuant(quant)
	}
	if rules != nil && closed != nil {
		rules = rules.WithoutFusion(closed)
	}
	return rules
}

// WithQuant returns the rules of r with the framework operators that quant knows behind them: r maps the network
// that runs to the quantised one, quant maps the quantised one to the original. Groups are formed anew; L1 groups
// stay together. r and quant are not changed.
func (r *Rules) WithQuant(quant *Rules) *Rules {
	out := r.clone()
	copies := make(map[*Op]*Op, len(r.Ops))
	for _, g := range r.Groups {
		for _, old := range g.Ops {
			o := old.clone()
			copies[old] = o
			var names uniq.Names
			for _, n := range old.OriginNames {
				if q := quant.byName[n]; q != nil {
					for _, p := range q.Group.Ops {
						for _, pn := range p.OriginNames {
							names.Add(pn)
						}
					}
				}
			}
			if names.List != nil {
				o.OriginNames = names.List
			}
			var outputs []Output
			for _, x := range old.Outputs {
				if x.OriginName == "" {
					continue
				}
				q := quant.byName[x.OriginName]
				if q == nil {
					out.warn(old, graph.Messagef("no op %q in the rules of the quantised network", x.OriginName))
					continue
				}
				if x.OriginIndex >= 0 {
					y := Output{OriginIndex: -1, Tensor: &unknown}
					if x.OriginIndex < int64(len(q.Outputs)) {
						y = q.Outputs[x.OriginIndex]
					}
					outputs = append(outputs, y.relayout(x))
					continue
				}
				for _, p := range q.Group.Ops {
					for _, y := range p.Outputs {
						outputs = append(outputs, y.relayout(x))
					}
				}
			}
			if outputs != nil {
				o.Outputs = outputs
			}
			out.add(o)
		}
	}
	out.InputNodes = slices.Clone(r.InputNodes)
	out.sort()
	out.finish()
	out.countRest()
	return out
}

// relayout gives a taken output the layout and shape of the output it stands for, where that has a layout.
func (y Output) relayout(x Output) Output {
	looks := Tensor{Layout: y.Layout, Shape: y.Shape, DType: x.DType}
	if x.Layout != "" {
		looks.Layout, looks.Shape = x.Layout, x.Shape
	}
	y.Tensor = &looks
	return y
}

// WithoutFusion returns the rules for comparing two runs of one network: r belongs to the run with fusion, plain
// to the one without. The golden names become operators of plain. Groups and indexes stay those of r; no operator
// is dropped.
func (r *Rules) WithoutFusion(plain *Rules) *Rules {
	carrier := map[string]*Op{}
	for _, p := range plain.Ops {
		for _, n := range p.OriginNames {
			if n != "" {
				carrier[n] = p
			}
		}
	}
	out := r.clone()
	groups := make(map[*Group]*Group, len(r.Groups))
	for _, g := range r.Groups {
		ng := &Group{Index: g.Index}
		groups[g] = ng
		out.Groups = append(out.Groups, ng)
	}
	copies := make(map[*Op]*Op, len(r.Ops))
	for _, g := range r.Groups {
		for _, old := range g.Ops {
			o := old.clone()
			o.Group = groups[g]
			o.Group.Ops = append(o.Group.Ops, o)
			copies[old] = o
			if len(old.OriginNames) != 1 || old.OriginNames[0] != "" {
				var names uniq.Names
				for _, n := range old.OriginNames {
					p := carrier[n]
					switch {
					case p == nil:
						out.warn(old, graph.Messagef("no op stands for %q in the rules without fusion", n))
					default:
						names.Add(p.Name)
					}
				}
				if o.OriginNames = names.List; o.OriginNames == nil {
					o.OriginNames = []string{""}
				}
			}
			for i := range o.Outputs {
				out.translateOutput(old, &o.Outputs[i], carrier)
			}
		}
	}
	for _, old := range r.Ops {
		out.Ops = append(out.Ops, copies[old])
	}
	for n, o := range r.byName {
		out.byName[n] = copies[o]
	}
	if r.inGraph != nil {
		out.inGraph = make(map[opKey]*Op, len(r.inGraph))
		for k, o := range r.inGraph {
			if c := copies[o]; c != nil {
				out.inGraph[k] = c
			}
		}
	}
	out.InputNodes = slices.Clone(r.InputNodes)
	out.finish()
	out.countRest()
	return out
}

// translateOutput turns a framework tensor into the output of the unfused network that stands for it.
func (r *Rules) translateOutput(o *Op, x *Output, carrier map[string]*Op) {
	if x.OriginName == "" {
		return
	}
	p := carrier[x.OriginName]
	if p == nil {
		r.warn(o, graph.Messagef("no op stands for %q in the rules without fusion", x.OriginName))
		x.OriginName = ""
		return
	}
	for _, q := range append([]*Op{p}, p.Group.Ops...) {
		for i, y := range q.Outputs {
			if y.OriginName == x.OriginName && y.OriginIndex == x.OriginIndex {
				x.OriginName, x.OriginIndex = q.Name, int64(i)
				return
			}
		}
	}
	r.warn(o, graph.Messagef("no output stands for %s:%d in the rules without fusion", x.OriginName, x.OriginIndex))
	x.OriginName = p.Name
}
