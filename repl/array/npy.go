package array

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"math"

	"precision/dump/dtype"
	"precision/dump/npy"
	"precision/internal/must"
)

// WriteNpy writes all elements as a .npy file, in C order of Shape. Types that
// numpy does not have, such as bfloat16, the 8-bit floats and int4, become one
// that holds them exactly (see [dtype.Type.Array]).
func (a *Array) WriteNpy(ctx context.Context, w io.Writer) (err error) {
	defer must.Catch(&err)
	must.Do(a.tooMany())
	typ, ok := a.Type.Array()
	if !ok {
		typ = a.Type // has no array type, which the header refuses
	}
	widen := !dtype.SameForm(a.Type, typ)
	header, c := must.Get(npy.AppendHeader(nil, typ, a.Shape)), a.cursor()
	out := bufio.NewWriterSize(w, 1<<16)
	out.Write(header)
	var wide []byte
	for first := int64(0); first < a.Len(); first += tile {
		must.Do(ctx.Err())
		n := min(tile, a.Len()-first)
		if !widen {
			must.Get(out.Write(c.bytes(first, n)))
		} else {
			wide = wide[:0]
			for _, x := range c.elements(first, n) {
				if typ.IsInteger() { // of one byte
					wide = append(wide, byte(int64(x)))
				} else {
					wide = binary.LittleEndian.AppendUint32(wide, math.Float32bits(float32(x)))
				}
			}
			must.Get(out.Write(wide))
		}
	}
	return out.Flush()
}
