package compat

import (
	"slices"
	"strconv"
	"strings"

	"precision/graph/fusion"
	"precision/internal/must"
)

// ParseRange reads "start,end,step" and returns the test for the operator
// groups it selects. An operator is selected when its id is the start, the end
// or a multiple of the step away from the start; it brings its whole group.
// Empty parts default to 1, -1 (the last id) and 1.
func ParseRange(text string, rules *fusion.Rules) func(*fusion.Group) bool {
	parts := strings.Split(text, ",")
	Refuse(len(parts) != 3, CodeParameter, "range %q: found %d parts, expected start,end,step", text, len(parts))
	last := rules.LastID()
	values := [3]int64{1, -1, 1}
	for i, p := range parts {
		p = strings.TrimSpace(p)
		if p == "" || i == 1 && p == "-1" {
			continue
		}
		v, err := strconv.ParseUint(p, 10, 62)
		Refuse(err != nil, CodeParameter, "range %q: found %q, expected a number", text, p)
		values[i] = int64(v)
	}
	start, end, step := values[0], values[1], values[2]
	if end == -1 {
		end = last
	}
	Refuse(start < 1 || start > last, codeIndex, "range %q: the start %d is not in 1 to %d, the last operator", text, start, last)
	Refuse(end < start || end > last, codeIndex, "range %q: the end %d is not in %d to %d, the last operator", text, end, start, last)
	Refuse(step < 1 || step > last, codeIndex, "range %q: the step %d is not in 1 to %d", text, step, last)
	return groupsWith(func(id int64) bool {
		return id >= start && id <= end && (id == end || (id-start)%step == 0)
	})
}

// ParseSelection reads "i1,i2,…", operator ids. Ids the graph does not have
// are returned as dropped.
func ParseSelection(text string, rules *fusion.Rules) (selected func(*fusion.Group) bool, dropped []int64, err error) {
	defer must.Catch(&err)
	last := rules.LastID()
	ids := map[int64]bool{}
	for _, p := range strings.Split(text, ",") {
		if p = strings.TrimSpace(p); p == "" {
			continue
		}
		v, err := strconv.ParseUint(p, 10, 62)
		Refuse(err != nil, CodeParameter, "selection %q: found %q, expected a number", text, p)
		if id := int64(v); id <= last {
			ids[id] = true
		} else {
			dropped = append(dropped, id)
		}
	}
	if len(ids) == 0 {
		return nil, dropped, errorf(CodeParameter, "selection %q: no operator of the graph, whose last id is %d", text, last)
	}
	return groupsWith(func(id int64) bool { return ids[id] }), dropped, nil
}

func groupsWith(selected func(id int64) bool) func(*fusion.Group) bool {
	return func(g *fusion.Group) bool {
		return slices.ContainsFunc(g.Ops, func(op *fusion.Op) bool { return selected(op.ID) })
	}
}
