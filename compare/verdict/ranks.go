package verdict

import (
	"cmp"
	"slices"
	"strings"
)

// collective tells whether a call brings in what other ranks have.
func collective(op *Operator) bool {
	_, name, ok := strings.Cut(op.Op.Name, "Distributed.")
	return ok && name != ""
}

// order is the order in which the calls are looked at: step by step, and of each
// step first the ranks with an error that did not come from another rank.
func (w *recordedWalk) order() []int {
	type part struct{ step, rank string }
	parts := map[part]int{}
	var list []part
	of := make([]int, len(w.operators))
	own := map[part]int{}
	for i := range w.operators {
		op := &w.operators[i]
		p := part{}
		p.step, p.rank = partOf(op.Op.Name)
		k, known := parts[p]
		if !known {
			k = len(list)
			parts[p] = k
			list = append(list, p)
		}
		of[i] = k
		if own[p] == 0 && w.off(op) {
			// The first call that differs tells where its error comes from.
			own[p] = 1
			if collective(op) {
				own[p] = 2
			}
		}
	}
	steps := map[string]int{}
	for k, p := range list {
		if _, known := steps[p.step]; !known {
			steps[p.step] = k
		}
	}
	order := make([]int, len(w.operators))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := list[of[i]], list[of[j]]
		return cmp.Or(cmp.Compare(steps[a.step], steps[b.step]), cmp.Compare(own[a], own[b]), cmp.Compare(of[i], of[j]))
	})
	return order
}

// elsewhere are the roots of other ranks in the same step.
func (w *recordedWalk) elsewhere(op *Operator) (roots []int) {
	step, rank := partOf(op.Op.Name)
	for k := range w.out.Roots {
		if s, r := partOf(w.operators[w.out.Roots[k].Operator].Op.Name); s == step && r != rank {
			roots = append(roots, k)
		}
	}
	return roots
}

// sortRoots puts the roots in the order of the table.
func (w *recordedWalk) sortRoots() {
	order := make([]int, len(w.out.Roots))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(w.out.Roots[a].Operator, w.out.Roots[b].Operator) })
	if slices.IsSorted(order) {
		return
	}
	place := make([]int, len(order))
	roots := make([]Root, len(order))
	for to, from := range order {
		place[from], roots[to] = to, w.out.Roots[from]
	}
	w.out.Roots = roots
	for i := range w.operators {
		from := slices.Clone(w.operators[i].From)
		for k := range from {
			from[k] = place[from[k]]
		}
		slices.Sort(from)
		w.operators[i].From = from
	}
}
