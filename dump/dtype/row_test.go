package dtype

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
)

// The tests here run over the rows, so that a new row is held to them without a
// new test.

func TestEveryRowIsFound(t *testing.T) {
	seen := map[Type]bool{}
	for i := range rows {
		r := &rows[i]
		if seen[r.typ] {
			t.Fatalf("%s has two rows", r.wire)
		}
		seen[r.typ] = true
		if got, ok := FromWire(r.wire); !ok || got != r.typ {
			t.Errorf("%s reads as %s", r.wire, got)
		}
		if got, ok := FromGE(int64(r.ge)); r.ge != none && (!ok || got != r.typ) {
			t.Errorf("GE %d reads as %s, want %s", r.ge, got, r.name)
		}
		if got, ok := Parse(r.name); !ok || got != r.typ && (!r.borrowed || !SameForm(got, r.typ)) {
			t.Errorf("%s reads as %s", r.name, got.Wire())
		}
		if got, ok := FromFramework("torch." + r.name); !ok || !SameForm(got, r.typ) {
			t.Errorf("torch.%s reads as %s", r.name, got.Wire())
		}
		if d := r.typ.Numpy(); (d != "") != (r.numpy != "") {
			t.Errorf("%s: numpy %q", r.name, d)
		} else if got, _, ok := FromNumpy(d); d != "" && (!ok || got != r.typ) {
			t.Errorf("%s reads as %s", d, got)
		}
		if class, kept, ok := r.typ.TorchStorage(); ok {
			if got, ok := FromTorchStorage(class); !ok || got != kept || kept.Bits() < r.typ.Bits() {
				t.Errorf("%s is kept as %s of %s, which reads as %s", r.name, kept, class, got)
			}
		}
		if r.typ.Readable() != (r.array != 0 || r.numpy != "") {
			t.Errorf("%s: readable %v, in arrays as %s", r.name, r.typ.Readable(), r.array)
		}
		if (r.widen.to32 == nil) != (r.widen.to64 == nil) || r.widen.to32 != nil && r.bits == 0 {
			t.Errorf("%s is widened one way only, or has no size", r.name)
		}
	}
	if all := All(); len(all) != len(rows) || !slices.IsSorted(all) {
		t.Errorf("%d types of %d rows", len(all), len(rows))
	}
	for number := range int64(64) { // no number stands for two
		if typ, ok := FromGE(number); ok && int64(typ.row().ge) != number {
			t.Errorf("GE %d is %s", number, typ)
		}
	}
}

// layouts says how the floats are built, apart from the code under test: bits
// of exponent and mantissa, the bias, and whether the highest exponent is that
// of infinity and NaN.
var layouts = map[Type]struct {
	exponent, mantissa uint
	bias               int
	ieee               bool
}{
	Float16:    {5, 10, 15, true},
	BFloat16:   {8, 7, 127, true},
	Float8E5M2: {5, 2, 15, true}, Float8E4M3FN: {4, 3, 7, false},
	Float4E2M1: {2, 1, 1, false}, Float4E1M2: {1, 2, 0, false},
	Complex32: {5, 10, 15, true},
}

// meaning is the number a code stands for; ok is false for types that are
// tested by their own tables.
func meaning(typ Type, code, bits uint) (v float64, ok bool) {
	r := typ.row()
	switch r.class {
	case classSigned:
		return float64(int64(code) << (64 - bits) >> (64 - bits)), true
	case classUnsigned:
		return float64(code), true
	case classBool:
		return float64(min(code, 1)), true
	}
	l, ok := layouts[typ]
	if !ok {
		return 0, false
	}
	sign := 1 - 2*float64(code>>(l.exponent+l.mantissa)&1)
	e, m := int(code>>l.mantissa&(1<<l.exponent-1)), float64(code&(1<<l.mantissa-1))
	one := math.Pow(2, float64(l.mantissa))
	switch top := e == 1<<l.exponent-1; {
	case top && l.ieee && m == 0:
		return math.Inf(int(sign)), true
	case top && l.ieee, typ == Float8E4M3FN && code&0x7f == 0x7f:
		return math.NaN(), true
	case typ == Float4E1M2: // 0 to 1.75 in steps of a quarter
		return sign * (float64(e) + m/4), true
	case e == 0:
		return sign * m / one * math.Pow(2, float64(1-l.bias)), true
	}
	return sign * (1 + m/one) * math.Pow(2, float64(e-l.bias)), true
}

// all decodes every code of a type of up to 16 bits.
func all(t *testing.T, typ Type) (codes []uint, values []float64) {
	t.Helper()
	bits := uint(typ.Bits() / typ.Parts())
	var src []byte
	switch per := 8 / max(bits, 1); {
	case bits == 16:
		for c := range uint(1 << 16) {
			codes = append(codes, c)
			src = binary.LittleEndian.AppendUint16(src, uint16(c))
		}
	default:
		for b := range uint(256) {
			src = append(src, byte(b))
			for i := range per {
				shift := i * bits // the lowest bits come first
				if typ == Uint1 {
					shift = 7 - i // but here
				}
				codes = append(codes, b>>shift&(1<<bits-1))
			}
		}
	}
	values = make([]float64, len(codes))
	narrow := make([]float32, len(codes))
	if n, m := Widen64(typ, values, src), Widen32(typ, narrow, src); n != len(codes) || m != n {
		t.Fatalf("%s: %d and %d of %d codes", typ, n, m, len(codes))
	}
	for i := range values {
		if !same(values[i], float64(narrow[i])) {
			t.Fatalf("%s code %#x: %v and %v", typ, codes[i], values[i], narrow[i])
		}
	}
	return codes, values
}

func small16(typ Type) bool {
	return typ.Readable() && typ.Bits()/typ.Parts() <= 16
}

func TestEveryCode(t *testing.T) {
	for _, typ := range All() {
		if !small16(typ) {
			continue
		}
		codes, values := all(t, typ)
		bits := uint(typ.Bits() / typ.Parts())
		tested := 0
		for i, c := range codes {
			want, ok := meaning(typ, c, bits)
			if !ok {
				continue
			}
			tested++
			if !same(values[i], want) {
				t.Fatalf("%s code %#x: %v, want %v", typ, c, values[i], want)
			}
		}
		if tested == 0 && typ != HiFloat8 && typ != Float8E8M0 { // these have tests of their own
			t.Errorf("%s: no code is tested: give its layout", typ)
		}
	}
}

// The limits are those of the values that the codes have.
func TestLimits(t *testing.T) {
	for _, typ := range All() {
		if !small16(typ) {
			continue
		}
		_, values := all(t, typ)
		var positive []float64
		lowest := 0.0
		for _, v := range values {
			if v > 0 && !math.IsInf(v, 0) {
				positive = append(positive, v)
			}
			if v < lowest {
				lowest = v
			}
		}
		slices.Sort(positive)
		positive = slices.Compact(positive)
		if got, want := typ.Max(), positive[len(positive)-1]; got != want {
			t.Errorf("%s: max %v, want %v", typ, got, want)
		}
		if typ.Signed() != (lowest < 0) {
			t.Errorf("%s: signed %v, but %v is its lowest", typ, typ.Signed(), lowest)
		}
		// What holds the elements in an array holds every value.
		array, ok := typ.Array()
		if !ok || array.Max() < typ.Max() || lowest < 0 && !array.Signed() || array.Unit() > typ.Unit() && typ.Float() {
			t.Errorf("%s is %s in arrays", typ, array)
		}
		if !typ.Float() {
			if typ.Unit() != 0 || typ.MinNormal() != 0 || typ.MinSubnormal() != 0 {
				t.Errorf("%s has a unit roundoff", typ)
			}
			continue
		}
		if got := typ.MinSubnormal(); got != positive[0] {
			t.Errorf("%s: smallest %v, want %v", typ, got, positive[0])
		}
		unit, below := 0.0, math.Inf(1)
		for i, v := range positive[1:] {
			if gap := (v - positive[i]) / 2 / positive[i]; positive[i] >= typ.MinNormal() {
				unit = max(unit, gap)
			} else {
				below = min(below, (v-positive[i])/2/positive[i])
			}
		}
		if got := typ.Unit(); got != unit {
			t.Errorf("%s: unit roundoff %v, want %v", typ, got, unit)
		}
		if i, found := slices.BinarySearch(positive, typ.MinNormal()); !found || i > 0 && typ != HiFloat8 && (typ.MinNormal()-positive[i-1])/2/positive[i-1] <= unit {
			t.Errorf("%s: numbers have all digits from %v", typ, typ.MinNormal())
		}
	}
}

func TestLimitsOfWideTypes(t *testing.T) {
	for _, c := range []struct {
		typ                    Type
		unit, normal, sub, max float64
	}{
		{Float32, math.Pow(2, -24), math.Pow(2, -126), math.SmallestNonzeroFloat32, math.MaxFloat32},
		{Complex64, math.Pow(2, -24), math.Pow(2, -126), math.SmallestNonzeroFloat32, math.MaxFloat32},
		{Float64, math.Pow(2, -53), math.Pow(2, -1022), math.SmallestNonzeroFloat64, math.MaxFloat64},
		{Complex128, math.Pow(2, -53), math.Pow(2, -1022), math.SmallestNonzeroFloat64, math.MaxFloat64},
		{Int32, 0, 0, 0, math.MaxInt32}, {Uint32, 0, 0, 0, math.MaxUint32},
		{Int64, 0, 0, 0, math.MaxInt64}, {Uint64, 0, 0, 0, math.MaxUint64}, {String, 0, 0, 0, 0}, {-1, 0, 0, 0, 0},
	} {
		if c.typ.Unit() != c.unit || c.typ.MinNormal() != c.normal || c.typ.MinSubnormal() != c.sub || c.typ.Max() != c.max {
			t.Errorf("%s: %v %v %v %v", c.typ, c.typ.Unit(), c.typ.MinNormal(), c.typ.MinSubnormal(), c.typ.Max())
		}
	}
}

func TestCoarser(t *testing.T) {
	for _, c := range [][3]Type{
		{Float32, Float16, Float16}, {Float16, BFloat16, BFloat16}, {Float64, Float32, Float32}, {Int32, Float16, Float16},
		{Int64, Int32, Int32}, {Float8E4M3FN, Float8E5M2, Float8E5M2}, {Float4E1M2, Float8E5M2, Float4E1M2}, {Bool, Bool, Bool},
	} {
		if a, b := Coarser(c[0], c[1]), Coarser(c[1], c[0]); a != c[2] || b != c[2] {
			t.Errorf("%s and %s: %s and %s, want %s", c[0], c[1], a, b, c[2])
		}
	}
}

func TestFrameworkNames(t *testing.T) {
	for name, want := range map[string]Type{
		"torch.half": Float16, "torch.float": Float32, "torch.long": Int64, "torch.bfloat16": BFloat16, "Float32": Float32, "BFloat16": BFloat16,
		"Bool": Bool, "bool_": Bool, "float64": Float64, "bf16": BFloat16, "torch.float8_e8m0fnu": Float8E8M0, "mindspore.int8": Int8,
	} {
		if got, ok := FromFramework(name); !ok || got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, name := range []string{"", "torch.", "torch.float8_e4m3fnuz", "<U2", "numpy", "torch.torch.int8"} {
		if got, ok := FromFramework(name); ok {
			t.Errorf("%q reads as %s", name, got)
		}
	}
}
