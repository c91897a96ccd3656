package array

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"math"
	"strconv"

	"precision/internal/integer"
	"precision/internal/must"
)

// Number renders a number in the fewest digits that tell it from others of the
// tensor's type: 65504 of a float16 as 65504, 0.1 of a float32 as 0.1. Whole
// numbers have no exponent.
func (a *Array) Number(x float64) string { return string(a.appendNumber(nil, x)) }

// Whole is Number of a number with its rest (see [Pair]).
func (a *Array) Whole(x, rest float64) string {
	if a.long() {
		return integer.Text(x, rest)
	}
	return a.Number(x)
}

// long tells whether elements are integers that float64 does not hold.
func (a *Array) long() bool { return a.Type.IsInteger() && a.Type.Bits() == 64 }

func (a *Array) appendNumber(b []byte, x float64) []byte {
	switch {
	case x != x:
		return append(b, "nan"...)
	case math.IsInf(x, 1):
		return append(b, "inf"...)
	case math.IsInf(x, -1):
		return append(b, "-inf"...)
	}
	if !a.Type.Float() && math.Abs(x) < 1<<53 { // beyond, not all digits are known
		return strconv.AppendFloat(b, x, 'f', -1, 64) // 1234567, not 1.234567e+06
	}
	bits := 64
	if a.Type.FitsFloat32() {
		bits = 32
	}
	return strconv.AppendFloat(b, x, 'g', -1, bits)
}

// appendAt renders number i of the elements v that were read last. Of integers
// of 64 bits all digits are taken, which float64 does not hold.
func (c *cursor) appendAt(b []byte, v []float64, i int) []byte {
	t := c.a.Type
	if !c.a.long() {
		return c.a.appendNumber(b, v[i])
	}
	all := binary.LittleEndian.Uint64(c.raw[8*i:])
	if t.Signed() {
		return strconv.AppendInt(b, int64(all), 10)
	}
	return strconv.AppendUint(b, all, 10)
}

// FirstText renders the first n elements, or as many as there are. Complex
// elements are two numbers.
func (a *Array) FirstText(n int64) (text []string, err error) {
	defer must.Catch(&err)
	c := a.cursor()
	if n = min(n, a.Len(), tile); n == 0 {
		return nil, nil
	}
	v := c.elements(0, n)
	for i := range v {
		text = append(text, string(c.appendAt(nil, v, i)))
	}
	return text, nil
}

// WriteText writes all elements, one line for each run of the last axis, with
// blanks between them. A scalar is one line. Complex elements are two numbers.
func (a *Array) WriteText(ctx context.Context, w io.Writer) (err error) {
	defer must.Catch(&err)
	must.Do(a.tooMany())
	c := a.cursor()
	line := int64(1)
	if len(a.Shape) > 0 {
		line = a.Shape[len(a.Shape)-1]
	}
	line *= int64(a.Type.Parts())
	out, show := bufio.NewWriterSize(w, 1<<16), progressOf(ctx)
	var text []byte
	at := int64(0)
	for first := int64(0); first < a.Len(); first += tile {
		must.Do(ctx.Err())
		v := c.elements(first, min(tile, a.Len()-first))
		for i := range v {
			text = c.appendAt(text[:0], v, i)
			if at++; at == line {
				text, at = append(text, '\n'), 0
			} else {
				text = append(text, ' ')
			}
			must.Get(out.Write(text))
		}
		show(min(first+tile, a.Len()), a.Len())
	}
	return out.Flush()
}
