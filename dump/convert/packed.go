package convert

import (
	"fmt"
	"io"

	"precision/dump/dtype"
)

// unpacked presents a tensor of several elements to a byte as one of a type
// with whole bytes: int8 or uint8 for integers, float32 for floats. Offsets
// count in its bytes.
type unpacked struct {
	src  io.ReaderAt
	base int64
	t    dtype.Type
	typ  dtype.Type
	n    int64 // elements
}

// ReadAt reads whole elements.
func (u *unpacked) ReadAt(p []byte, off int64) (int, error) {
	size := int64(u.typ.Bits() / 8)
	if off < 0 || off%size != 0 || int64(len(p))%size != 0 {
		return 0, fmt.Errorf("read of %d bytes at %d: elements have %d", len(p), off, size)
	}
	const span = 1 << 12 // elements decoded at a time, a multiple of all that share a byte
	var raw [span]byte
	var v [span]float32
	per := int64(8 / u.t.Bits())
	at, end := off/size, min((off+int64(len(p)))/size, u.n)
	done := 0
	for at < end {
		first := at / per * per
		last := min(first+span, end)
		b := raw[:u.t.Bytes(last-first)]
		if n, err := u.src.ReadAt(b, u.base+first/per); n < len(b) {
			if err == nil || err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return done, err
		}
		dtype.Widen32(u.t, v[:last-first], b)
		for _, x := range v[at-first : last-first] {
			switch u.typ {
			case dtype.Float32:
				putFloat32(p[done:], x)
			default:
				p[done] = byte(int8(x))
			}
			done += int(size)
		}
		at = last
	}
	if done < len(p) {
		return done, io.EOF
	}
	return done, nil
}
