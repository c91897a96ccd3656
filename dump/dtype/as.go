package dtype

import (
	"context"
	"encoding/binary"
	"io"
	"math"
	"slices"
	"sync"

	"precision/internal/must"
)

// Swap turns elements of t that have the high byte first into such that have the low byte first, and back. A complex element is
// two numbers.
func Swap(t Type, b []byte) {
	size := t.Bits() / 8 / t.Parts()
	for ; size > 1 && len(b) >= size; b = b[size:] {
		slices.Reverse(b[:size])
	}
}

const span = 512 // numbers at a time, a multiple of all that share a byte

type room struct {
	narrow [2 * span]float32
	wide   [2 * span]float64
}

// rooms are where numbers are between two types.
var rooms = sync.Pool{New: func() any { return new(room) }}

// AppendAs appends the first n elements of type t in raw to b, in the type that [Type.Array] or [Type.Reference] has for them: as they
// are, as float32 or float64, or as integers of a byte. There is one NaN of types of up to 8 bits, which keeps files the same on every
// machine; wider types keep the bits of theirs.
func AppendAs(b []byte, as, t Type, raw []byte, n int64) []byte {
	if SameForm(t, as) {
		return append(b, raw[:t.Bytes(n)]...)
	}
	r := rooms.Get().(*room)
	defer rooms.Put(r)
	narrow, wide, one := &r.narrow, &r.wide, t.Bits() <= 8
	for ; n > 0; n -= span {
		k := int(min(n, span)) * t.Parts()
		switch {
		case as == Float64:
			Widen64(t, wide[:k], raw)
			for _, v := range wide[:k] {
				if one && v != v {
					v = math.Float64frombits(0x7ff8000000000000)
				}
				b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
			}
		case as.Bits() == 8:
			Widen32(t, narrow[:k], raw)
			for _, v := range narrow[:k] {
				b = append(b, byte(int(v)))
			}
		default:
			Widen32(t, narrow[:k], raw)
			for _, v := range narrow[:k] {
				if one && v != v {
					v = math.Float32frombits(0x7fc00000)
				}
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
			}
		}
		raw = raw[t.Bytes(min(n, span)):]
	}
	return b
}

// Copy writes n elements of type t as those of another type, see [AppendAs], a bounded piece at a time. read fills dst with
// elements from first on, little-endian in the order in which they are written.
func Copy(ctx context.Context, w io.Writer, n int64, t, as Type, read func(dst []byte, first, n int64) error) (err error) {
	defer must.Catch(&err)
	tile := min(n, t.Count(256<<10))
	raw, made := make([]byte, t.Bytes(tile)), []byte(nil)
	if !SameForm(t, as) {
		made = make([]byte, 0, as.Bytes(tile))
	}
	for first := int64(0); first < n; first += tile {
		must.Do(ctx.Err())
		k := min(n-first, tile)
		part := raw[:t.Bytes(k)]
		must.Do(read(part, first, k))
		if made != nil {
			part = AppendAs(made, as, t, part, k)
		}
		must.Get(w.Write(part))
	}
	return nil
}
