package overflow

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"

	"precision/dump"
	"precision/dump/dtype"
	"precision/internal/pairwise"
)

// Stats is what a report tells of the elements of a tensor, as the texts that
// numpy would print: in the precision of the elements, in the fewest digits
// that identify a number. A NaN among the elements makes all three nan. They
// are empty for a tensor without elements.
type Stats struct {
	Max, Min, Mean string
	// Extreme tells that some element is NaN, infinite, or the largest float16,
	// at which devices that saturate stop.
	Extreme bool
}

// maxHalf is the largest finite float16.
const maxHalf = 65504

// Measure reads the elements of a tensor once and computes their statistics.
// The mean is that of numpy to the last digit: sums of float16 and float32 are
// float32, of all else float64, block by block (see package pairwise).
func Measure(r io.ReaderAt, t *dump.Tensor) (Stats, error) {
	if t.Err != nil {
		return Stats{}, t.Err
	}
	fail := func(text string, err error) (Stats, error) {
		return Stats{}, &dump.Error{Code: dump.CodeType, Offset: t.Offset, Text: text, Err: err}
	}
	n := t.Elements()
	switch {
	case n == 0:
		return Stats{}, nil
	case !t.Type.Readable():
		return fail(fmt.Sprintf("elements of type %s cannot be read", t.Type), nil)
	case t.BigEndian && t.Type.Bits() > 8:
		return fail("elements are big-endian, expected little-endian as in a dump", nil)
	}
	m := newMeter(t.Type)
	raw := make([]byte, t.Type.Bytes(min(n, pairwise.Block)))
	values := make([]float64, int(min(n, pairwise.Block))*t.Type.Parts())
	at := t.Offset
	for left := n; left > 0; {
		count := min(left, pairwise.Block)
		chunk := raw[:t.Type.Bytes(count)]
		if got, err := r.ReadAt(chunk, at); got < len(chunk) {
			return Stats{}, &dump.Error{Code: dump.CodeInvalid, Offset: at, Text: fmt.Sprintf("read %d bytes, expected %d", got, len(chunk)), Err: err}
		}
		v := values[:int(count)*t.Type.Parts()]
		dtype.Widen64(t.Type, v, chunk)
		m.block(v, chunk)
		at += int64(len(chunk))
		left -= count
	}
	return m.stats(n), nil
}

// meter takes blocks of elements.
type meter interface {
	block(v []float64, raw []byte)
	stats(n int64) Stats
}

func newMeter(t dtype.Type) meter {
	switch {
	case t.Parts() == 2:
		return &complexMeter{t: t, re: newAdder(width(t)), im: newAdder(width(t))}
	case t.IsInteger() && t.Bits() == 64:
		return &wideMeter{signed: t.Signed(), sum: newAdder(64)}
	}
	return &realMeter{t: t, min: math.Inf(1), max: math.Inf(-1), sum: newAdder(width(t))}
}

// realMeter is for all types whose values float64 holds exactly.
type realMeter struct {
	t        dtype.Type
	min, max float64
	nan      bool
	sum      adder
}

func (m *realMeter) block(v []float64, _ []byte) {
	for _, x := range v {
		if x != x {
			m.nan = true
		}
		if x < m.min {
			m.min = x
		}
		if x > m.max {
			m.max = x
		}
	}
	m.sum.add(v, 8)
}

func (m *realMeter) stats(n int64) Stats {
	mean := m.sum.value() / float64(n)
	if m.nan {
		return Stats{"nan", "nan", "nan", true}
	}
	s := Stats{Extreme: math.IsInf(m.min, 0) || math.IsInf(m.max, 0)}
	if m.t == dtype.Float16 {
		s.Extreme = max(m.max, -m.min) >= maxHalf
	}
	switch {
	case m.t.IsBool():
		s.Max, s.Min = pythonBool(m.max), pythonBool(m.min)
	case m.t.Float():
		s.Max, s.Min = formatFloat(m.t, m.max), formatFloat(m.t, m.min)
	default:
		s.Max, s.Min = strconv.FormatInt(int64(m.max), 10), strconv.FormatInt(int64(m.min), 10)
	}
	s.Mean = formatFloat(m.t, rounded(m.t, mean))
	return s
}

func pythonBool(v float64) string {
	if v != 0 {
		return "True"
	}
	return "False"
}

// rounded is a mean, which numpy divides in float64, in the type it has there:
// that of floats, float64 for all else.
func rounded(t dtype.Type, v float64) float64 {
	switch width(t) {
	case 16:
		return dtype.Float16.Rounding().Round(v)
	case 32:
		return float64(float32(v))
	}
	return v
}

// wideMeter is for integers of 64 bits, which float64 rounds.
type wideMeter struct {
	signed   bool
	any      bool
	min, max uint64 // signed numbers as if 2^63 had been added
	sum      adder
}

func (m *wideMeter) block(v []float64, raw []byte) {
	const shift = 1 << 63
	for i := 0; i < len(raw); i += 8 {
		u := binary.LittleEndian.Uint64(raw[i:])
		if m.signed {
			u ^= shift
		}
		if !m.any {
			m.min, m.max, m.any = u, u, true
		}
		m.min, m.max = min(m.min, u), max(m.max, u)
	}
	m.sum.add(v, 8)
}

func (m *wideMeter) stats(n int64) Stats {
	text := func(u uint64) string {
		if m.signed {
			return strconv.FormatInt(int64(u^1<<63), 10)
		}
		return strconv.FormatUint(u, 10)
	}
	return Stats{Max: text(m.max), Min: text(m.min), Mean: formatFloat(dtype.Float64, m.sum.value()/float64(n))}
}

// complexMeter orders numbers by real part, then imaginary part, as numpy does.
// The first number with a NaN in it is both the largest and the smallest.
type complexMeter struct {
	t        dtype.Type
	any, nan bool
	extreme  bool
	min, max [2]float64
	re, im   adder
	part     [2][]float64
}

func (m *complexMeter) block(v []float64, _ []byte) {
	m.part[0], m.part[1] = m.part[0][:0], m.part[1][:0]
	for i := 0; i+1 < len(v); i += 2 {
		z := [2]float64{v[i], v[i+1]}
		m.part[0], m.part[1] = append(m.part[0], z[0]), append(m.part[1], z[1])
		m.extreme = m.extreme || z[0]-z[0] != 0 || z[1]-z[1] != 0
		if m.nan {
			continue
		}
		m.nan = z[0] != z[0] || z[1] != z[1]
		if !m.any || m.nan {
			m.min, m.max, m.any = z, z, true
			continue
		}
		if less(z, m.min) {
			m.min = z
		}
		if less(m.max, z) {
			m.max = z
		}
	}
	m.re.add(m.part[0], 4)
	m.im.add(m.part[1], 4)
}

func less(a, b [2]float64) bool { return a[0] < b[0] || a[0] == b[0] && a[1] < b[1] }

func (m *complexMeter) stats(n int64) Stats {
	// numpy divides by n + 0i, in which an infinite part makes the other NaN.
	scale := 1 / float64(n)
	re, im := m.re.value(), m.im.value()
	mean := [2]float64{(re + im*0) * scale, (im - re*0) * scale}
	return Stats{formatComplex(m.t, m.max[0], m.max[1]), formatComplex(m.t, m.min[0], m.min[1]),
		formatComplex(m.t, rounded(m.t, mean[0]), rounded(m.t, mean[1])), m.extreme}
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
	t.sum += pairwise.Sum(t.buf, lanes)
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
