package pattern

import (
	"cmp"

	"precision/internal/order"
)

// Numbers that moved along an axis.
const (
	Shifted  Kind = "shifted"
	Reversed Kind = "reversed"
)

// Shift belongs to Shifted and Reversed: element i along Axis holds what is expected at i-By;
// Axis -1 is the flat order. Reversed: at the mirrored place, By is 0.
type Shift struct {
	Axis   int   `json:"axis"`
	By     int64 `json:"by"`
	Cyclic bool  `json:"cyclic"` // what leaves at one end comes in at the other
}

const (
	shiftMost  = 2048 // distances tried along one axis
	judgedMost = 4    // promising ones that are judged
)

// shifted tries every distance along every axis (the shortest and the multiples of
// 16 along very long ones), the flat order, and the mirrored order.
func shifted(l *look) (found []Finding) {
	var moves []move
	for a, d := range l.shape {
		if d > 1 {
			moves = append(moves, l.moves(a, d, l.step[a])...)
		}
	}
	if len(moves) == 0 && len(l.shape) > 1 {
		moves = l.moves(-1, l.total, 1)
	}
	order.Stable(moves, func(a, b move) int { return cmp.Compare(b.promise, a.promise) })
	for _, m := range moves[:min(len(moves), judgedMost)] {
		f := l.judgeMapping(m.mapping, l.dense)
		if !f.holds(0.7, 0, shiftMost*int64(len(l.shape))) {
			continue
		}
		if m.kind == Shifted {
			m.args.Cyclic = l.wraps(m)
		}
		found = append(found, l.finding(m.kind, m.args, f))
	}
	return found
}

// move is a shift that did well on the elements of the rehearsal.
type move struct {
	mapping
	kind    Kind
	args    Shift
	promise float64
	d, step int64 // length of the axis, distance of neighbours along it
}

// moves are the promising distances along an axis, and its mirror.
func (l *look) moves(axis int, d, step int64) (out []move) {
	try := func(kind Kind, by int64, m mapping) {
		if p := l.promise(m); p > 0 {
			out = append(out, move{m, kind, Shift{Axis: axis, By: by}, p, d, step})
		}
	}
	for _, by := range distances(d) {
		try(Shifted, by, mapping{
			from: func(i int64) int64 { return rolled(i, -by, d, step) },
			to:   func(i int64) int64 { return rolled(i, by, d, step) },
		})
	}
	mirror := func(i int64) int64 { c := i / step % d; return i + (d-1-2*c)*step }
	try(Reversed, 0, mapping{mirror, mirror})
	return out
}

// rolled is flat index i moved by so many steps round an axis of length d; |by| < d.
func rolled(i, by, d, step int64) int64 {
	c := i / step % d
	t := c + by
	if t < 0 {
		t += d
	} else if t >= d {
		t -= d
	}
	return i + (t-c)*step
}

// wraps reports whether most of the elements that wrapped round are right under the mapping.
func (l *look) wraps(m move) bool {
	tried, right := 0, 0
	for _, p := range l.pick {
		c := l.flat(p)/m.step%m.d - m.args.By
		if c >= 0 && c < m.d {
			continue
		}
		e, ok := l.error(p)
		if r, known := l.residual(m.mapping, p); ok && known && e != 0 {
			tried++
			if 2*max(r, -r) <= max(e, -e) {
				right++
			}
		}
	}
	return tried > 0 && 2*right > tried
}

// distances to try along an axis of length d: all, or the short ones and multiples of 16.
func distances(d int64) (out []int64) {
	add := func(s int64) {
		if s > 0 && s <= d/2 {
			out = append(out, s)
			if s != d-s {
				out = append(out, -s)
			}
		}
	}
	if d <= shiftMost {
		for s := int64(1); s <= d/2; s++ {
			add(s)
		}
		return out
	}
	for s := int64(1); s < 64; s++ {
		add(s)
	}
	for s := int64(64); s <= 8192; s += 16 {
		add(s)
	}
	return out
}
