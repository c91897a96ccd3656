package layout

import (
	"cmp"
	"slices"

	"precision/internal/order"
)

// readCost is what one read call weighs in bytes when windows are chosen: a
// call on cached pages takes about as long as copying this many.
const readCost = 8 << 10

// windowCost is what planning a window weighs, beyond reading it.
const windowCost = 32 << 10

// factor is one stored dimension as a nest walks it: count steps of step
// elements from index lo on. A blocked axis has two.
type factor struct {
	axis  int
	inner bool // place in the block, or a plain axis
	step  int64
	lo    int64
	count int64
}

// window is a box of the stored tensor that serves the logical elements
// [lo, hi): one index on the axes of the nest before the driving one, a range on
// that, and all of the later ones. It is read in pieces, one per index of the
// first split factors, each spanning the rest.
type window struct {
	lo, hi  int64
	src     *nest
	factors []factor // by step, greatest first
	split   int
	span    int64 // elements of a piece
	pieces  int64
}

func (w *window) bytes(es int64) int64 { return w.pieces * w.span * es }

// window chooses the window for n elements from first on, of at most most bytes
// though always one element. Candidates are a range on each axis, just long
// enough for the tile or as long as fits, the range starting at a block border
// or not; of those that cost little more than the cheapest per element served,
// the smallest is taken, which stays in the cache and is not wasted if the next
// tile lies elsewhere.
func (n *nest) window(first, count, es, most int64) *window {
	var all []*window
	for k := len(n.axes) - 1; k >= 0; k-- {
		a, row := n.axes[k], n.rows[k]
		at := first / row
		i := at % a.dim
		starts := []int64{i}
		if a.block > 0 && i%a.block != 0 {
			starts = append(starts, i-i%a.block)
		}
		for _, start := range starts {
			need := i + ceilDiv(first+count-at*row, row)
			if a.block > 0 {
				need = ceilDiv(need, a.block) * a.block
			}
			need = min(need, a.dim)
			for _, cheap := range []bool{true, false} {
				fit := n.longest(k, at-i+start, a.dim-start, es, most, cheap)
				if a.block > 0 && start+fit < a.dim && (start+fit)/a.block*a.block > i {
					fit = (start+fit)/a.block*a.block - start
				}
				if start+fit <= i {
					continue
				}
				if need < start+fit {
					all = append(all, n.box(k, at-i+start, at-i+need, es, most))
				}
				all = append(all, n.box(k, at-i+start, at-i+start+fit, es, most))
			}
		}
	}
	cost := func(w *window) float64 {
		return float64(w.bytes(es)+w.pieces*readCost+windowCost) / float64((w.hi-w.lo)*es)
	}
	best := cost(slices.MinFunc(all, func(a, b *window) int { return cmp.Compare(cost(a), cost(b)) }))
	all = slices.DeleteFunc(all, func(w *window) bool { return cost(w) > best*1.15 })
	return slices.MinFunc(all, func(a, b *window) int { return cmp.Compare(a.bytes(es), b.bytes(es)) })
}

// longest returns the greatest count, at most limit, of rows of axis k from start
// on that a window can hold, 0 for none. A cheap window takes longer to read
// than to ask for.
func (n *nest) longest(k int, start, limit, es, most int64, cheap bool) int64 {
	fits := func(count int64) bool {
		w := n.box(k, start, start+count, es, most)
		return w != nil && (!cheap || w.pieces == 1 || w.pieces*readCost <= w.bytes(es))
	}
	if fits(limit) {
		return limit
	}
	fit, over := int64(0), limit
	for over-fit > 1 { // the bytes grow with the count
		if mid := fit + (over-fit)/2; fits(mid) {
			fit = mid
		} else {
			over = mid
		}
	}
	return fit
}

func ceilDiv(a, b int64) int64 { return a/b + min(a%b, 1) }

// box returns the window of rows [start, end) counted over axis k and the axes
// before it, all within one index of those; nil if it takes more than most
// bytes. It is cut into pieces where that costs less than reading the gaps.
func (n *nest) box(k int, start, end, es, most int64) *window {
	w := &window{lo: start * n.rows[k], hi: end * n.rows[k], src: n}
	rest := start / n.axes[k].dim
	for j := k - 1; j >= 0; j-- {
		i := rest % n.axes[j].dim
		rest /= n.axes[j].dim
		w.add(j, i, i+1)
	}
	i := start % n.axes[k].dim
	w.add(k, i, i+end-start)
	for j := k + 1; j < len(n.axes); j++ {
		w.add(j, 0, n.axes[j].dim)
	}
	if !w.plan(es, most) {
		return nil
	}
	return w
}

// strip returns the window of count rows of the unit axis from element first
// on, of which it holds columns [x0, x1). The unit axis is the last but one.
func (n *nest) strip(first, count, x0, x1, es, most int64) *window {
	w := &window{src: n}
	rest := first / n.rows[n.unit]
	for j := n.unit; j >= 0; j-- {
		i := rest % n.axes[j].dim
		rest /= n.axes[j].dim
		if j == n.unit {
			w.add(j, i, i+count)
		} else {
			w.add(j, i, i+1)
		}
	}
	w.add(n.unit+1, x0, x1)
	if !w.plan(es, most) {
		return nil
	}
	return w
}

// plan decides into how many pieces the box of factors is cut; false if it
// takes more than most bytes in any way.
func (w *window) plan(es, most int64) bool {
	order.Stable(w.factors, func(a, b factor) int { return cmp.Compare(b.step, a.step) })

	span := int64(1)
	for _, f := range w.factors {
		span += (f.count - 1) * f.step
	}
	found := false
	var best int64
	pieces := int64(1)
	for split := 0; ; split++ {
		if size, ok := mul(pieces, span); ok && size <= max(most/es, 1) {
			if cost := size*es + pieces*readCost; !found || cost < best {
				found, best = true, cost
				w.split, w.span, w.pieces = split, span, pieces
			}
		}
		if split == len(w.factors) {
			break
		}
		f := w.factors[split]
		span -= (f.count - 1) * f.step
		pieces *= f.count
	}
	return found
}

// add appends the factors of indexes [lo, hi) of axis k.
func (w *window) add(k int, lo, hi int64) {
	a := w.src.axes[k]
	if a.block == 0 {
		w.factors = append(w.factors, factor{k, true, a.step, lo, hi - lo})
		return
	}
	b0, b1 := lo/a.block, (hi-1)/a.block
	i0, i1 := int64(0), a.block-1
	if b0 == b1 {
		i0, i1 = lo%a.block, (hi-1)%a.block
	}
	w.factors = append(w.factors, factor{k, false, a.jump, b0, b1 - b0 + 1}, factor{k, true, a.step, i0, i1 - i0 + 1})
}

// load reads the pieces into r.buf.
func (w *window) load(r *Reader) error {
	es := int64(r.es)
	idx := make([]int64, w.split)
	off := int64(0)
	for _, f := range w.factors {
		off += f.lo * f.step
	}
	// Pieces of a cut last block may reach over, or lie past, what is needed.
	end := w.src.extent
	for p := range w.pieces {
		if n := min(w.span, end-off); n > 0 {
			if err := r.readAt(r.buf[p*w.span*es:][:n*es], off*es); err != nil {
				return err
			}
		}
		for k := w.split - 1; k >= 0; k-- {
			f := w.factors[k]
			idx[k]++
			off += f.step
			if idx[k] < f.count {
				break
			}
			off -= f.count * f.step
			idx[k] = 0
		}
	}
	return nil
}

// nest returns the places of the nest's elements in the buffer, and the element
// of it that would be at its start.
func (w *window) nest() (*nest, int64) {
	axes := slices.Clone(w.src.axes)
	origin := int64(0)
	step := w.span
	for k := len(w.factors) - 1; k >= 0; k-- {
		f := w.factors[k]
		s := f.step
		if k < w.split {
			s = step
			step *= f.count
		}
		if f.inner {
			axes[f.axis].step = s
		} else {
			axes[f.axis].jump = s
		}
		origin += f.lo * s
	}
	n := &nest{axes: axes, rows: w.src.rows, size: w.src.size, unit: -1}
	for k := len(axes) - 1; k >= 0 && n.unit < 0; k-- {
		if axes[k].step == 1 {
			n.unit = k
		}
	}
	return n, origin
}
