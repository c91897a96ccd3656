package layout

import "slices"

// nest is a View reduced to as few axes as describe the same walk: axes of one
// element are gone and axes that continue each other are one. It has at least
// one axis.
type nest struct {
	axes   []axis
	rows   []int64 // rows[k] is the number of elements below one index of axis k
	size   int64   // logical elements
	extent int64   // greatest stored offset + 1
	unit   int     // the axis whose neighbours are stored side by side, or -1
}

func newNest(axes []axis) *nest {
	var out []axis
	for k := len(axes) - 1; k >= 0; k-- {
		a := axes[k].plain()
		if a.dim == 0 {
			return &nest{axes: []axis{{step: 1}}, rows: []int64{1}}
		}
		if a.dim == 1 {
			continue
		}
		if n := len(out); n > 0 {
			if m, ok := merge(a, out[n-1]); ok {
				out[n-1] = m.plain()
				continue
			}
		}
		out = append(out, a)
	}
	if len(out) == 0 {
		out = []axis{{dim: 1, step: 1}}
	}
	slices.Reverse(out)
	n := &nest{axes: out}
	n.finish()
	return n
}

// finish computes what follows from axes.
func (n *nest) finish() {
	n.rows = make([]int64, len(n.axes))
	n.size, n.extent, n.unit = 1, 1, -1
	for k := len(n.axes) - 1; k >= 0; k-- {
		a := n.axes[k]
		n.rows[k] = n.size
		n.size *= a.dim
		n.extent += a.last()
		if a.step == 1 && n.unit < 0 {
			n.unit = k
		}
	}
}

// plain returns a as an unblocked axis where that is the same thing.
func (a axis) plain() axis {
	if a.block > 0 && (a.dim <= a.block || a.jump == a.block*a.step) {
		a.block, a.jump = 0, 0
	}
	return a
}

// merge returns the one axis that walks b inside a, if there is one.
func merge(a, b axis) (axis, bool) {
	switch {
	case b.dim == 1:
		return a, true
	case a.dim == 1:
		return b, true
	case b.block == 0 && a.step == b.step*b.dim:
		// Whether a is blocked or not: its blocks just hold b.dim times more.
		return axis{dim: a.dim * b.dim, block: a.block * b.dim, step: b.step, jump: a.jump}, true
	case b.block > 0 && a.block == 0 && b.dim%b.block == 0 && a.step == b.dim/b.block*b.jump:
		return axis{dim: a.dim * b.dim, block: b.block, step: b.step, jump: b.jump}, true
	}
	return axis{}, false
}

func (n *nest) contiguous() bool {
	return n.size == 0 || len(n.axes) == 1 && n.axes[0].block == 0 && (n.axes[0].step == 1 || n.size == 1)
}
