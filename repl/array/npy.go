package array

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"math"

	"precision/dump/dtype"
	"precision/dump/npy"
)

// WriteNpy writes all elements as a .npy file, in C order of Shape. Types that
// numpy does not have, such as bfloat16, the 8-bit floats and int4, become one
// that holds them exactly (see [dtype.Type.Array]).
func (a *Array) WriteNpy(ctx context.Context, w io.Writer) error {
	if err := a.tooMany(); err != nil {
		return err
	}
	typ, ok := a.Type.Array()
	if !ok {
		typ = a.Type // has no array type, which the header refuses
	}
	widen := !dtype.SameForm(a.Type, typ)
	header, err := npy.AppendHeader(nil, typ, a.Shape)
	if err != nil {
		return err
	}
	c, err := a.cursor()
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 1<<16)
	out.Write(header)
	var wide []byte
	for first := int64(0); first < a.Len(); first += tile {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(tile, a.Len()-first)
		var raw []byte
		if widen {
			v, err := c.elements(first, n)
			if err != nil {
				return err
			}
			wide = wide[:0]
			for _, x := range v {
				if typ.IsInteger() { // of one byte
					wide = append(wide, byte(int64(x)))
				} else {
					wide = binary.LittleEndian.AppendUint32(wide, math.Float32bits(float32(x)))
				}
			}
			raw = wide
		} else if raw, err = c.bytes(first, n); err != nil {
			return err
		}
		if _, err := out.Write(raw); err != nil {
			return err
		}
	}
	return out.Flush()
}
