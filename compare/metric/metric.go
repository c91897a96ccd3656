package metric

// Numerics is the arithmetic and the treatment of special values.
type Numerics uint8

const (
	// Exact accumulates in float64 and reports what cannot be compared.
	Exact Numerics = iota
	// Reference reproduces the digits of msaccucmp.
	Reference
)

// String is "exact" or "reference".
func (n Numerics) String() string {
	if n == Reference {
		return "reference"
	}
	return "exact"
}

// Config says what to compute.
type Config struct {
	Numerics Numerics
	// Metrics are the metrics to compute; notes follow their order. Nil means
	// those of [Default].
	Metrics []Metric
	// Scalar: all dimensions of the tensor are 1, or there are none.
	Scalar bool
	// Boolean: both tensors are boolean, and are compared as such. Matters in
	// Reference numerics only; in Exact numerics booleans are the numbers 0
	// and 1.
	Boolean bool
	// Tolerance is by which Facts.Outside is counted. Looking at it takes
	// another look at tiles that differ while they are in cache; the zero
	// Tolerance takes none.
	Tolerance Tolerance
	// TableOnly leaves out the facts in Reference numerics, where they take sums
	// of their own. Exact numerics have them for nothing.
	TableOnly bool
}

// TileLen is the number of elements of every tile but the last, a multiple of
// the block of the Reference sums. Two float32 tiles are 256 KiB, which stays
// in the second-level cache of current cores while a tile is looked at twice.
const TileLen = 32768
