package recording

import (
	"bytes"
	"encoding/binary"
	"math"

	"precision/compare"
	"precision/compare/result"
	"precision/dump/dtype"
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
		case dtype.Int8, dtype.Float8E4M3FN, dtype.Float8E5M2, dtype.HiFloat8:
			numbers = append(numbers, o)
		case dtype.Float32, dtype.Float8E8M0:
			factors = append(factors, o)
		}
	}
	for i, o := range numbers {
		if i < len(factors) && (o == l || factors[i] == l) && perScale(o, factors[i]) > 0 {
			return o, factors[i]
		}
	}
	return nil, nil
}

// perScale is how many numbers of a row have a scale in common; 0 where the shapes are none of a pair.
func perScale(data, scales *leaf) int64 {
	n, known := data.Elements()
	k, too := scales.Elements()
	rank := len(data.Shape)
	if !known || !too || rank == 0 || n == 0 || k == 0 || n > mostScaled {
		return 0
	}
	last := data.Shape[rank-1]
	rows := n / last
	switch each := k / rows; {
	case each == 0 || each*rows != k || each >= last:
	case scales.Elem == dtype.Float8E8M0:
		if each >= (last+31)/32 && each <= (last+63)/64*2 {
			return 32
		}
	case last%each == 0:
		return last / each
	}
	return 0
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
	per, last := perScale(data, scales), data.Shape[len(data.Shape)-1]
	each := int64(len(x[1])) / (int64(len(x[0])) / last)
	for i, v := range x[0] {
		row, col := int64(i)/last, int64(i)%last
		values = binary.LittleEndian.AppendUint32(values, math.Float32bits(float32(v*x[1][row*each+col/per])))
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
