package engine

import (
	"context"
	"encoding/binary"

	"precision/compare/result"
	"precision/dump"
	"precision/dump/dtype"
	"precision/internal/must"
)

// checkOverflow fills the OverFlow cell of a tensor of the left side, which does
// not depend on what it is compared with.
func (e *engine) checkOverflow(ctx context.Context, row *result.Row, left *dumpFile, t *dump.Tensor, s *Worker) {
	if !e.opt.Overflow {
		return
	}
	row.Overflow = "NaN"
	if t.Type != dtype.Float16 || t.Err != nil {
		return
	}
	yes, err := left.overflows(ctx, t, e.opt.dialect(), s)
	if err != nil {
		must.Do(ctx.Err())
		must.Do(unreadable(result.BadTensor, left.Path, err, row.Op, err.Error()))
	}
	if row.Overflow = "NO"; yes {
		row.Overflow = "YES"
	}
}

// overflows tells whether a float16 tensor holds a magnitude of 65504 or more:
// the largest float16 value, where saturating devices end up, or an infinity.
// A NaN counts too, as it mostly comes from one.
func (f *dumpFile) overflows(ctx context.Context, t *dump.Tensor, d *dialect, s *Worker) (bool, error) {
	const window = 1 << 18
	left := storedOf(t).elements * 2
	found, nan := false, false
	for at := t.Offset; left > 0; {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		s.raw = grow(s.raw, min(left, window))
		if err := readFull(f, s.raw, at); err != nil {
			return false, err
		}
		most := maxMagnitude(s.raw)
		nan = nan || most > 0x7c00
		found = found || most >= 0x7bff
		at, left = at+int64(len(s.raw)), left-int64(len(s.raw))
	}
	return d.overflow(found, nan), nil
}

// maxMagnitude is the largest float16 code without its sign: codes of finite
// numbers order like their magnitudes, 0x7bff is 65504, 0x7c00 infinity and
// what lies above is NaN.
func maxMagnitude(b []byte) uint16 {
	var a, c uint64 // four codes at a time would need a SIMD maximum; two chains suffice
	for ; len(b) >= 8; b = b[8:] {
		v := binary.LittleEndian.Uint64(b) & 0x7fff7fff7fff7fff
		a = max(a, v&0xffff, v>>16&0xffff)
		c = max(c, v>>32&0xffff, v>>48)
	}
	for ; len(b) >= 2; b = b[2:] {
		a = max(a, uint64(binary.LittleEndian.Uint16(b)&0x7fff))
	}
	return uint16(max(a, c))
}
