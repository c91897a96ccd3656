package fusion

import (
	"slices"
	"strconv"
	"strings"
)

// Inner reports whether the operator is an inner one of a split framework operator: none of its outputs has a
// counterpart.
func (o *Op) Inner() bool {
	if !o.MultiOp {
		return false
	}
	return !slices.ContainsFunc(o.Outputs, func(d Output) bool { return d.OriginName != "" })
}

func (o *Op) originText() string { return strings.Join(o.OriginNames, ",") }

// mostNames is how many names of a group a cell holds: every row of a group has
// them, so that a group of all operators would make a table that grows with their
// square.
const mostNames = 256

// NPUNames returns the NPUDump cell of a result table: the operators of the group joined by commas, the first 256 and
// how many more there are.
func (g *Group) NPUNames() string {
	if len(g.Ops) == 1 {
		return g.Ops[0].Name
	}
	return g.joined()[0]
}

// GoldenNames returns the GroundTruth cell of a result table: the framework operators of the group joined by
// commas. For a single operator without any it is "*". It ends as [Group.NPUNames] does.
func (g *Group) GoldenNames() string {
	if len(g.Ops) == 1 {
		if t := g.Ops[0].originText(); t != "" {
			return t
		}
		return "*"
	}
	return g.joined()[1]
}

// joined are the cells of a group of several operators.
func (g *Group) joined() *[2]string {
	if cells := g.cells.Load(); cells != nil {
		return cells
	}
	var mine, golden []string
	for i, o := range g.Ops {
		mine = append(mine, o.Name)
		if i == 0 || !slices.Equal(o.OriginNames, g.Ops[i-1].OriginNames) { // equal ones are neighbours
			golden = append(golden, o.OriginNames...)
			if len(o.OriginNames) == 0 {
				golden = append(golden, "")
			}
		}
	}
	cells := &[2]string{cell(mine), cell(golden)}
	g.cells.Store(cells)
	return cells
}

func cell(names []string) string {
	if more := len(names) - mostNames; more > 0 {
		return strings.Join(names[:mostNames], ",") + ",… " + strconv.Itoa(more) + " more"
	}
	return strings.Join(names, ",")
}
