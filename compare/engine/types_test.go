package engine

import (
	"encoding/binary"
	"math"
	"testing"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/dump"
	"precision/dump/dtype"
	"precision/testdata/workshop/dumptest"
)

// Two dumps of every type, of which only the last element differs, so that one
// read in part, or as another type, has no error. In exact numerics each
// type is read in full or the row says that it cannot be; the old tool's has
// numbers for the types that it knows.
func TestTypesAreReadInFull(t *testing.T) {
	const n = 24
	for _, typ := range dtype.All() {
		size := typ.Bytes(n)
		if size < 0 {
			size = n
		}
		make2 := func(last byte) dumptest.Dump {
			b := make([]byte, size)
			b[size-1] = last
			return dumptest.Dump{Outputs: []dumptest.Tensor{{Type: int(typ), Format: dumptest.ND, Shape: []int64{n}, Data: b}}}
		}
		// In the last byte is a sign and a digit of every type; of e8m0 a power of two.
		mine, golden := make2(0x41), make2(0x12)
		_, known := typ.Reference()
		for _, numerics := range []metric.Numerics{metric.Exact, metric.Reference} {
			rows, out := directOutcome(t, numerics, mine, golden)
			if len(rows) != 1 {
				t.Errorf("%s: %d rows", typ.Wire(), len(rows))
				continue
			}
			r := &rows[0]
			reads := typ.Readable() && (numerics == metric.Exact || known)
			if r.Compared != reads {
				t.Errorf("%s, %v: compared %v, %v", typ.Wire(), numerics, r.Compared, r.Reasons)
			}
			if code := dump.Code(out.Failed); !reads && numerics == metric.Reference && code != dump.CodeType {
				t.Errorf("%s: exit code %d, want %d", typ.Wire(), code, dump.CodeType)
			}
			if !reads {
				if len(r.Reasons) == 0 {
					t.Errorf("%s, %v: no reason", typ.Wire(), numerics)
				}
				continue
			}
			e := r.Result().Values[metric.MaxAbsoluteError].Float()
			switch {
			case typ.IsBool(): // true whatever the byte
			case typ.IsComplex() && numerics == metric.Reference: // which sees real parts only
			case !(e > 0) || math.IsInf(e, 0):
				t.Errorf("%s, %v: largest error %v", typ.Wire(), numerics, e)
			}
		}
	}
}

// Ids near 2^60 of which one is off by 7 are not equal, whatever types hold them, in
// either numerics; beside fractions the row says what was rounded.
func TestIdsAreNotRounded(t *testing.T) {
	const n = 40
	side := func(typ dtype.Type, off uint64) dumptest.Dump {
		var b []byte
		for i := range uint64(n) {
			v := 1<<60 + i
			if i == 17 {
				v += off
			}
			if typ == dtype.Float64 {
				v = math.Float64bits(float64(v))
			}
			b = binary.LittleEndian.AppendUint64(b, v)
		}
		return dumptest.Dump{Outputs: []dumptest.Tensor{{Type: int(typ), Format: dumptest.ND, Shape: []int64{n}, Data: b}}}
	}
	for _, golden := range []dtype.Type{dtype.Int64, dtype.Uint64, dtype.Float64} {
		for _, numerics := range []metric.Numerics{metric.Exact, metric.Reference} {
			for _, off := range []uint64{0, 7} {
				rows := directRows(t, numerics, side(dtype.Int64, off), side(golden, 0))
				if len(rows) != 1 || !rows[0].Compared {
					t.Fatalf("%v: %+v", golden, rows)
				}
				f := rows[0].Result().Facts
				if golden == dtype.Float64 {
					if f.Differ != 0 || f.BitEqual || f.Rounded == 0 || numerics == metric.Exact && !rows[0].Has(result.NoteRounded) {
						t.Errorf("%v, %v: %+v, %v", golden, numerics, f, rows[0].Reasons)
					}
					continue
				}
				if want := off != 0; f.BitEqual == want || f.MaxAbs != float64(off) || (f.Worst.Index == 17) != want || (f.Differ == 1) != want || f.Rounded != 0 {
					t.Errorf("%v, %v, off by %d: %+v", golden, numerics, off, f)
				}
			}
		}
	}
}
