package compare

import (
	"math"
	"testing"

	"precision/compare/metric"
	"precision/dump"
	"precision/dump/dtype"
	"precision/dump/dumptest"
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
