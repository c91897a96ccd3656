package array

import (
	"bufio"
	"context"
	"io"

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
	out := bufio.NewWriterSize(w, 1<<16)
	must.Do(npy.Copy(ctx, out, a.Type, typ, a.Shape, a.cursor().ReadTile))
	return out.Flush()
}
