package overflow

// sumBlock is the number of elements that numpy sums at a time. The sum of an
// array is the running total of its blocks, so its last digits depend on it.
const sumBlock = 8192

// pairwise sums a block as numpy does: halves of halves down to runs of at most
// 16 elements a lane. Real numbers have 8 lanes, the parts of complex ones 4.
func pairwise[T float32 | float64](v []T, lanes int) T {
	if len(v) > 16*lanes {
		h := len(v) / 2
		h -= h % lanes
		return pairwise(v[:h], lanes) + pairwise(v[h:], lanes)
	}
	var sum T
	rest := v
	if len(v) >= lanes {
		var a [8]T
		copy(a[:lanes], v)
		i := lanes
		for ; i+lanes <= len(v); i += lanes {
			for k := range lanes {
				a[k] += v[i+k]
			}
		}
		sum = (a[0] + a[1]) + (a[2] + a[3])
		if lanes == 8 {
			sum += (a[4] + a[5]) + (a[6] + a[7])
		}
		rest = v[i:]
	}
	for _, x := range rest {
		sum += x
	}
	return sum
}

// total is a running sum in the precision of T.
type total[T float32 | float64] struct {
	sum T
	buf []T
}

// add adds a block.
func (t *total[T]) add(v []float64, lanes int) {
	t.buf = t.buf[:0]
	for _, x := range v {
		t.buf = append(t.buf, T(x))
	}
	t.sum += pairwise(t.buf, lanes)
}

func (t *total[T]) value() float64 { return float64(t.sum) }

// adder hides the precision.
type adder interface {
	add(block []float64, lanes int)
	value() float64
}

// newAdder is for elements of the given width. Halves are summed in float32.
func newAdder(bits int) adder {
	if bits == 64 {
		return &total[float64]{}
	}
	return &total[float32]{}
}
