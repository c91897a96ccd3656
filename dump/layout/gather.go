package layout

import "fmt"

// validElemSize reports whether elements of this many bytes can be moved.
func validElemSize(size int) bool {
	switch size {
	case 1, 2, 4, 8, 16:
		return true
	}
	return false
}

// checkTile tells whether [first, first+n) lies in the View and dst has room.
func (v View) checkTile(dst []byte, elemSize int, first, n int64) error {
	if !validElemSize(elemSize) {
		return fmt.Errorf("layout: %w: %d", ErrElemSize, elemSize)
	}
	if size := v.Len(); first < 0 || n < 0 || first > size || n > size-first {
		return fmt.Errorf("layout: %d elements from %d of %d: %w", n, first, size, ErrRange)
	}
	if n > int64(len(dst)/elemSize) {
		return fmt.Errorf("layout: %d elements of %d bytes into %d bytes: %w", n, elemSize, len(dst), ErrRange)
	}
	return nil
}

// gather copies the logical elements from first on to the front of dst, side by side in logical order; src[0] is the stored
// element base. The bytes of an element are not looked at.
func (n *nest) gather(dst, src []byte, base int64, es int, first, count int64) {
	g := gatherer{nest: n, dst: dst, src: src, base: base, es: es, last: len(n.axes) - 1}
	if n.grouped() {
		g.groups(first, count)
		return
	}
	g.block(0, 0, first, first+count, 0, 1, 0)
}

// gatherer moves one tile.
type gatherer struct {
	*nest
	dst, src []byte
	base     int64
	es       int
	last     int
}

// groups handles a nest whose unit axis q is not the innermost: rows, one per
// index of q, are scattered over the stored tensor, but the same column of
// neighbouring rows is stored side by side. The tile is cut into groups of rows
// within one block of q, and each group transposed.
func (g *gatherer) groups(first, count int64) {
	q, r := g.unit, g.rows[g.unit]
	aq := g.axes[q]
	done := int64(0)
	for done < count {
		at := first + done
		row, x := at/r, at%r
		i := row % aq.dim
		off := g.rowOffset(row)
		rows := aq.dim - i
		if aq.block > 0 {
			rows = min(rows, aq.block-i%aq.block)
		}
		// The tile covers [x, end) of the group's rows laid end to end.
		end := min(rows*r, x+count-done)
		g.group(off, x, end, done-x)
		done += end - x
	}
}

// rowOffset returns the stored element where a row of the unit axis starts;
// rows are counted over it and all axes before.
func (n *nest) rowOffset(row int64) (off int64) {
	for k := n.unit; k >= 0; k-- {
		off += n.axes[k].off(row % n.axes[k].dim)
		row /= n.axes[k].dim
	}
	return off
}

// group moves [start, end) of rows laid end to end, r elements each, the first
// of them stored at off. Element 0 of the group would go to dst element to. The
// first and the last row may be partial; columns are split so that every part
// is a full rectangle.
func (g *gatherer) group(off, start, end, to int64) {
	q, r := g.unit, g.rows[g.unit]
	a, b := start/r, (end-1)/r // first and last row
	xa, xb := start%r, (end-1)%r+1
	if a == b {
		g.block(q+1, off+a, xa, xb, to+a*r+xa, 1, r)
		return
	}
	rect := func(a, b, x0, x1 int64) { // rows [a, b], columns [x0, x1)
		if a <= b && x0 < x1 {
			g.block(q+1, off+a, x0, x1, to+a*r+x0, b-a+1, r)
		}
	}
	rect(a+1, b, 0, min(xa, xb))
	if xa <= xb {
		rect(a, b, xa, xb)
	} else {
		rect(a+1, b-1, xb, xa)
	}
	rect(a, b-1, max(xa, xb), r)
}

// block moves elements [x0, x1) of the axes from k on, in their linear order,
// to dst element to on. With rows above 1 it does so for that many rows at once,
// which are stored one element apart and go pitch elements apart. off is the
// stored element the axes count from.
func (g *gatherer) block(k int, off, x0, x1, to, rows, pitch int64) {
	var small [8]int64
	idx := small[:]
	if n := g.last + 1; n > len(idx) {
		idx = make([]int64, n)
	}
	for i, rest := g.last, x0; i >= k; i-- {
		idx[i] = rest % g.axes[i].dim
		rest /= g.axes[i].dim
	}
	inner := g.axes[g.last]
	es := int64(g.es)
	for x := x0; x < x1; {
		i := idx[g.last]
		from := off + inner.off(i) - g.base
		for j := k; j < g.last; j++ {
			from += g.axes[j].off(idx[j])
		}
		n := min(inner.dim-i, x1-x)
		dst, src := g.dst[(to+x-x0)*es:], g.src[from*es:]
		switch {
		case rows > 1:
			if inner.block > 0 {
				n = min(n, inner.block-i%inner.block)
			}
			transpose(dst, int(pitch*es), src, int(inner.step*es), int(rows), int(n), g.es)
		case inner.step == 1 && inner.block > 0:
			// Whole blocks side by side in dst, jump apart in src.
			if b := inner.block; i%b == 0 && n >= b {
				copyRows(dst, src, int(inner.jump*es), int(n/b), int(b*es))
				n = n / b * b
			} else {
				n = min(n, b-i%b)
				copy(dst[:n*es], src[:n*es])
			}
		case inner.step == 1:
			if lines := (x1 - x) / inner.dim; i == 0 && lines > 1 && g.last > k {
				// Whole lines of the axis above: step apart, within its block.
				up := g.axes[g.last-1]
				u := idx[g.last-1]
				lines = min(lines, up.dim-u)
				if up.block > 0 {
					lines = min(lines, up.block-u%up.block)
				}
				copyRows(dst, src, int(up.step*es), int(lines), int(inner.dim*es))
				x += (lines - 1) * inner.dim
				idx[g.last-1] += lines - 1
				break
			}
			copy(dst[:n*es], src[:n*es])
		default:
			if inner.block > 0 {
				n = min(n, inner.block-i%inner.block)
			}
			strided(dst, src, int(inner.step*es), int(n), g.es)
		}
		x += n
		idx[g.last] += n
		for j := g.last; j > k && idx[j] == g.axes[j].dim; j-- {
			idx[j] = 0
			idx[j-1]++
		}
	}
}
