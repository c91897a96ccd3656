package dtype

// row is what is known of a type. Fields that do not apply stay zero.
type row struct {
	typ Type
	// name is the one that tables print; borrowed names belong to another type.
	name     string
	borrowed bool
	// wire is the enumerator of the dump header and of graphs, ge the number
	// of the other numbering, none if it has none.
	wire  string
	ge    int
	class class
	bits  uint8 // of one element; 0 when it has no fixed or no known size
	// wide tells that float32 does not hold every value.
	wide bool
	// numpy is kind and size of the array protocol, such as f2. array is the
	// type that holds the elements in a numpy array where numpy has no such
	// type; reference the one that msaccucmp.py loads them as, where it can
	// and it is not the type itself.
	numpy            string
	array, reference Type
	// torch is the storage class of PyTorch, newStorage for the types that came
	// after classes; kept is the type that stands for one in files for every
	// version of PyTorch. aliases are names that frameworks use beside name.
	torch   string
	kept    Type
	aliases string
	limits  limits   // of floats, and of the parts of complex numbers
	widen   widening // nil where elements cannot be decoded
}

// none is the GE number of a type without one.
const none = -1

// newStorage stands for the storage class of types that PyTorch writes as
// untyped bytes with the type beside them.
const newStorage = "UntypedStorage"

// class is the sort of numbers a type has.
type class uint8

const (
	classOther class = iota // text, handles
	classSigned
	classUnsigned
	classBool
	classFloat
	classComplex
)

// limits are the unit roundoff, the smallest normal and subnormal number and
// the largest finite one.
type limits struct{ unit, minNormal, minSubnormal, max float64 }

// table is the rows by number; a number without a row is unknown.
var table = func() []row {
	size := 0
	for i := range rows {
		size = max(size, int(rows[i].typ)+1)
	}
	t := make([]row, size)
	for _, r := range rows {
		t[r.typ] = r
	}
	return t
}()

var unknown row

// row returns what is known of t; an empty row for a number without a name.
func (t Type) row() *row {
	if t < 0 || int(t) >= len(table) {
		return &unknown
	}
	return &table[t]
}

// All returns every type that has a name, by number.
func All() []Type {
	all := make([]Type, 0, len(table))
	for i := range table {
		if t := Type(i); t.Known() {
			all = append(all, t)
		}
	}
	return all
}
