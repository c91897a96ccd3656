package pattern

import (
	"math"
	"math/bits"

	"precision/dump/dtype"
)

// BitsMisread are right bits read as numbers of another type, in another order of bytes, or in
// another width.
const BitsMisread Kind = "bits-misread"

// Reading belongs to BitsMisread.
type Reading struct {
	Of      string `json:"of"`                // the type whose bits they are
	As      string `json:"as"`                // the type they were read as
	Swapped bool   `json:"swapped,omitempty"` // the bytes of an element are in reverse order
}

// rereads are the types whose bits are taken for those of another one of the same width.
var rereads = []dtype.Type{dtype.Float16, dtype.BFloat16, dtype.Float32, dtype.Int8, dtype.Uint8, dtype.Int16, dtype.Uint16, dtype.Int32, dtype.Uint32}

// Reread is a number of one type whose bits are taken for another one of the same width; itself where it is not finite.
func Reread(of, as dtype.Type, v float64) float64 {
	if b, ok := numbers[of].encode(v); ok {
		return numbers[as].decode(b)
	}
	return v
}

// bitsMisread gives the recorded numbers their bits back and reads these as every other type of the
// same width, in both orders of bytes; and as the halves of numbers twice as wide, or the other way round.
// What comes out must be the expected numbers. NaN and Inf have lost their bits and are left out.
func bitsMisread(l *look) (found []Finding) {
	own, known := numbers[l.DType]
	if !known || own.bits > 32 {
		return nil
	}
	try := func(r Reading, read func(p int) (float64, float64, bool)) {
		r.As = l.DType.String()
		f, ok := l.reread(read)
		found = append(found, l.told(ok, BitsMisread, r, f)...)
	}
	for _, t := range rereads {
		n := numbers[t]
		switch {
		case n.bits == own.bits:
			for _, swapped := range []bool{false, true} {
				if t == l.DType && !swapped || swapped && own.bits == 8 {
					continue
				}
				try(Reading{Of: t.String(), Swapped: swapped}, func(p int) (float64, float64, bool) {
					b, ok := own.encode(l.got[p])
					if swapped {
						b = bits.ReverseBytes64(b) >> (64 - own.bits)
					}
					return n.decode(b), n.unit()*math.Abs(l.Want[p]) + n.tiny(), ok
				})
			}
		case n.bits == 2*own.bits && n.float && l.At == nil: // the first half of the numbers, each read as two
			try(Reading{Of: t.String()}, func(p int) (float64, float64, bool) {
				if 2*p+1 >= len(l.got) {
					return 0, 0, false
				}
				low, a := own.encode(l.got[2*p])
				high, b := own.encode(l.got[2*p+1])
				return n.decode(low | high<<own.bits), n.unit()*math.Abs(l.Want[p]) + n.tiny(), a && b
			})
		case 2*n.bits == own.bits && own.float && l.At == nil: // two numbers read as one; half of what was read lies behind them
			try(Reading{Of: t.String()}, func(p int) (float64, float64, bool) {
				b, ok := own.encode(l.got[p/2])
				if p%2 == 1 {
					b >>= n.bits
				}
				return n.decode(b & (1<<n.bits - 1)), n.unit()*math.Abs(l.Want[p]) + n.tiny(), ok
			})
		}
	}
	return found
}

// reread judges another reading of the recorded bits: read gives the number at place p and what its type
// rounds it by. Numbers that are the same in both readings say nothing, as they are no errors.
func (l *look) reread(read func(p int) (value, rounding float64, ok bool)) (fit, bool) {
	var off, size float64 // of what is read, and of what it should be: any number is nearer than one a hundred times as large
	measure := func(pick []int) fit {
		var f fitter
		off, size = 0, 0
		for p, e := range l.errors(pick) {
			v, rounding, ok := read(p)
			if !ok {
				continue
			}
			off, size = off+(v-l.Want[p])*(v-l.Want[p]), size+l.Want[p]*l.Want[p]
			f.add(e, v-l.Want[p], max(l.allowed(p), rounding), max(l.rounding(p), rounding), l.dense)
		}
		return f.done()
	}
	if f := measure(l.trials()); f.tried < 8 || 3*f.improved < 2*f.tried {
		return f, false
	}
	f := measure(l.pick)
	return f, 4*off <= size && f.holds(0.7, 0, int64(4*len(rereads)))
}
