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

// sortRoots puts the roots in the order of the table.
func (w *recordedWalk) sortRoots() {
	w.arrange(func(a, b int) int { return cmp.Compare(w.out.Roots[a].Operator, w.out.Roots[b].Operator) })
}

// arrange sorts the roots, given as places in the list.
func (w *recordedWalk) arrange(compare func(a, b int) int) {
	order := make([]int, len(w.out.Roots))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, compare)
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
