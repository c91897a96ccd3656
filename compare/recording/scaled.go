package recording

import (
	"bytes"
	"encoding/binary"
	"math"

	"precision/compare"
	"precision/compare/result"
	"precision/dump/dtype"
	"precision/dump/scaled"
)

// A quantiser gives numbers of few bits and their scales, and neither says what the other does not: the value is their product. The
// same value may come with another scale, a power of two for one that is not.

// mostScaled bounds the elements that are multiplied by their scales in memory.
const mostScaled = 1 << 22

// pairOf are the quantised numbers that a leaf of a call belongs to and their scales, one of them the leaf itself and the other as the
// quantiser gave it; nil where it is of no such pair.
func (s *side) pairOf(c *call, l *leaf) (data, scales *leaf) {
	slot := l.slot
	if l.role != result.Output {
		if l.from.call == 0 {
			return nil, nil
		}
		c, slot = s.calls[l.from.call-1], l.from.slot
	}
	var numbers, factors []*leaf
	for i := range c.scaled {
		o := &c.scaled[i]
		switch {
		case o.role != result.Output || !o.Known || o.DataName == "":
			continue
		case o.slot == slot:
			o = l
		}
		switch o.Elem {
		case dtype.Float32, dtype.Float8E8M0, dtype.Uint8:
			factors = append(factors, o)
		default:
			if scaled.Numbers(o.Elem) {
				numbers = append(numbers, o)
			}
		}
	}
	for i, o := range numbers {
		if i < len(factors) && (o == l || factors[i] == l) && scaleOf(o, factors[i]) != nil {
			return o, factors[i]
		}
	}
	return nil, nil
}

// scaleOf gives the scale of each number, nil where the two are none of a pair or too many.
func scaleOf(data, scales *leaf) func(i int64) int64 {
	if n, known := data.Elements(); !known || n > mostScaled {
		return nil
	}
	powers := scaled.Powers(data.Elem, scales.Elem)
	at, err := scaled.Places(data.Shape, scales.Shape, powers)
	if _, known := scales.Elements(); err != nil || !known || scales.Elem == dtype.Uint8 && !powers { // bytes beside whole numbers are no exponents
		return nil
	}
	return at
}

// values are numbers times their scales, as float32.
func (s *side) values(data, scales *leaf) (raw [2][]byte, values []byte, err error) {
	var x [2][]float64
	for i, l := range []*leaf{data, scales} {
		t, err := s.open(l)
		if err != nil {
			return raw, nil, err
		}
		defer t.Close()
		raw[i], x[i] = make([]byte, t.Count*int64(t.Type.Bits()/8)), make([]float64, t.Count)
		if err := t.Open().ReadTile(raw[i], 0, t.Count); err != nil {
			return raw, nil, err
		}
		dtype.Widen64(t.Type, x[i], raw[i])
	}
	at := scaleOf(data, scales)
	for i, v := range x[0] {
		values = binary.LittleEndian.AppendUint32(values, math.Float32bits(float32(v*scaled.Value(scales.Elem, x[1][at(int64(i))]))))
	}
	return raw, values, nil
}

// scaled are the values of both sides where they have a pair each of which both parts differ, and the types of their numbers; ok is
// false for others.
func (p *part) scaled(x leafPair, u *unit) (left, right *compare.SideTensor, numbers [2]dtype.Type, ok bool) {
	var raw [2][2][]byte
	var made [2]*compare.SideTensor
	for i, s := range []*side{p.left, p.right} {
		l, c := []*leaf{x.left, x.right}[i], []*call{u.left, u.right}[i]
		data, scales := s.pairOf(c, l)
		if data == nil {
			return nil, nil, numbers, false
		}
		numbers[i] = data.Elem
		var values []byte
		var err error
		if raw[i], values, err = s.values(data, scales); err != nil {
			return nil, nil, numbers, false
		}
		made[i] = &compare.SideTensor{Tensor: compare.Tensor{Type: dtype.Float32, Shape: data.Shape, Count: int64(len(values) / 4), Open: func() compare.Elements { return inBytes(values) }}}
	}
	same := bytes.Equal(raw[0][0], raw[1][0]) || bytes.Equal(raw[0][1], raw[1][1])
	return made[0], made[1], numbers, !same && made[0].Count == made[1].Count
}

// inBytes are elements of 32 bits in memory.
type inBytes []byte

func (b inBytes) ReadTile(dst []byte, first, n int64) error {
	copy(dst, b[4*first:4*(first+n)])
	return nil
}
