package compat

import (
	"slices"
	"strconv"
	"strings"

	"precision/graph/fusion"
)

// ParseRange reads "start,end,step" and returns the test for the operator
// groups it selects. An operator is selected when its id is the start, the end
// or a multiple of the step away from the start; it brings its whole group.
// Empty parts default to 1, -1 (the last id) and 1.
func ParseRange(text string, rules *fusion.Rules) (func(*fusion.Group) bool, error) {
	parts := strings.Split(text, ",")
	if len(parts) != 3 {
		return nil, errorf(codeParameter, "range %q: found %d parts, expected start,end,step", text, len(parts))
	}
	last := rules.LastID()
	values := [3]int64{1, -1, 1}
	for i, p := range parts {
		p = strings.TrimSpace(p)
		if p == "" || i == 1 && p == "-1" {
			continue
		}
		v, err := strconv.ParseUint(p, 10, 62)
		if err != nil {
			return nil, errorf(codeParameter, "range %q: found %q, expected a number", text, p)
		}
		values[i] = int64(v)
	}
	start, end, step := values[0], values[1], values[2]
	if end == -1 {
		end = last
	}
	switch {
	case start < 1 || start > last:
		return nil, errorf(codeIndex, "range %q: the start %d is not in 1 to %d, the last operator", text, start, last)
	case end < start || end > last:
		return nil, errorf(codeIndex, "range %q: the end %d is not in %d to %d, the last operator", text, end, start, last)
	case step < 1 || step > last:
		return nil, errorf(codeIndex, "range %q: the step %d is not in 1 to %d", text, step, last)
	}
	return groupsWith(func(id int64) bool {
		return id >= start && id <= end && (id == end || (id-start)%step == 0)
	}), nil
}

// ParseSelection reads "i1,i2,…", operator ids. Ids the graph does not have
// are returned as dropped.
func ParseSelection(text string, rules *fusion.Rules) (selected func(*fusion.Group) bool, dropped []int64, err error) {
	last := rules.LastID()
	ids := map[int64]bool{}
	for _, p := range strings.Split(text, ",") {
		if p = strings.TrimSpace(p); p == "" {
			continue
		}
		v, err := strconv.ParseUint(p, 10, 62)
		if err != nil {
			return nil, nil, errorf(codeParameter, "selection %q: found %q, expected a number", text, p)
		}
		if id := int64(v); id <= last {
			ids[id] = true
		} else {
			dropped = append(dropped, id)
		}
	}
	if len(ids) == 0 {
		return nil, dropped, errorf(codeParameter, "selection %q: no operator of the graph, whose last id is %d", text, last)
	}
	return groupsWith(func(id int64) bool { return ids[id] }), dropped, nil
}

func groupsWith(selected func(id int64) bool) func(*fusion.Group) bool {
	return func(g *fusion.Group) bool {
		return slices.ContainsFunc(g.Ops, func(op *fusion.Op) bool { return selected(op.ID) })
	}
}
