package result

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"precision/compare/metric"
	"precision/dump/dtype"
)

// Role says what a row is about.
type Role uint8

const (
	// Output is an output of an operator, Input an input.
	Output Role = iota
	Input
	// Whole is the operator as such: there is no tensor to speak of.
	Whole
)

var roleNames = [...]string{Output: "output", Input: "input", Whole: "operator"}

func (r Role) String() string {
	if int(r) < len(roleNames) {
		return roleNames[r]
	}
	return "role " + strconv.Itoa(int(r))
}

// Row is one line of a table: a pair of tensors, or an operator of which
// nothing could be compared.
type Row struct {
	// Op is the operator on the left side that the tensor belongs to, Type
	// its type, as Conv2D.
	Op, Type string
	// Index is the number of the operator group in the graph, or without a
	// graph the place of the operator in the time order of the left side.
	Index int
	// Sequence is the operator's id in the graph.
	Sequence int64
	// Role and Slot say which of its tensors it is. Slot is -1 on a row
	// about a whole operator.
	Role Role
	Slot int
	// Shape is the logical shape that was compared, nil if none was; a
	// scalar has an empty one.
	Shape []int64
	// Compared tells whether Metrics holds values.
	Compared bool
	// Overflow is what overflow detection said of a float16 tensor: "YES",
	// "NO", "NaN" where it could not tell, and "" when it is off.
	Overflow string
	Facts    Facts `column:""`
	// Left and Right are the two tensors.
	Left, Right Operand
	// Metrics is what the elements came to, nil where none were looked at. It is
	// by far the largest part of a row, and recordings of statistics have many rows
	// without it; [Row.Result] reads it either way.
	Metrics *metric.Result `column:""`
	// Reasons say why values are missing, or what to know when reading them.
	Reasons []Reason
	// Damage is set where what was recorded cannot be believed, see [Row.Unreadable].
	Damage *Damage `part:"damaged"`
	// Saturated is set when golden values lie beyond the range of the left
	// dtype and the left side holds its largest magnitude or an infinity
	// there: what the other elements came to.
	Saturated *Saturated `part:"saturated"`
	// Chosen is set where an operator chose otherwise than on the golden side, and
	// where elements depend on such choices.
	Chosen *Chosen `part:"chosen"`
	// Recorded is what recordings of calls say beside elements, nil where the
	// sides are none.
	Recorded *Recorded `part:"recorded"`
	// Custom holds the texts of user algorithms by name.
	Custom map[string]string `part:"custom" column:"name,text"`
}

// Operand is one side of a pair. What is not known is empty.
type Operand struct {
	// Names are the operators the side has in this group, separated by
	// commas or blanks as the table shows them; "*" is none.
	Names string
	// File is the path of the file the tensor was read from.
	File string
	// DType is the element type. It is void where Shape is nil.
	DType dtype.Type
	// Shape is the shape the tensor is stored in, before any layout was
	// undone; nil if no tensor was found, empty for a scalar.
	Shape []int64
	// Address is the device address, nil for arrays.
	Address *uint64
}

// Facts are what a judge has to know of a row beside the numbers.
type Facts struct {
	// Order is the place of the operator in execution order.
	Order int
	// Scalar: the tensor has a single element.
	Scalar bool
	// Sliced: FFTS+ ran the operator in slices. The values of an input are
	// then those of the output that feeds it, as its own dump holds the
	// first slice only.
	Sliced bool
	// Unpaired: the graph names no tensor of the golden side for it, so that none could be
	// recorded.
	Unpaired bool
	// Producer is what feeds an input: the operator and output that the
	// graph names, an empty Op if it is not known. Of an output of a call around
	// others it is the output that it hands on.
	Producer Port
}

// Saturated is the second look at a pair without the elements that lie beyond
// the range of the left dtype on the golden side and at its end on the left.
type Saturated struct {
	// Count is the number of elements left out.
	Count int64
	// Result is that of all others.
	Result metric.Result `column:""`
}

// Chosen is what choices by scores come to in a tensor: places of the largest, results
// of comparisons, and what depends on them.
type Chosen struct {
	// Choices the operator made; of them Differ differ between the sides. Explained of
	// these lie between golden scores that are closer than the scores' error.
	Choices   int64
	Differ    int64 `column:"chosen_otherwise"`
	Explained int64
	// Unknown: there was NaN among scores, which has no order.
	Unknown bool
	// Left is the number of elements left out of the second look: explained choices, and
	// what depends on them.
	Left int64 `column:"left_out"`
	// Mixed: the operator mixes elements that depend on choices made before with others, so
	// that what is left may depend on them, too.
	Mixed bool
	// Result is that of all elements but those of Left, empty where there are none.
	Result metric.Result `column:""`
}

// Port is an output of an operator, or an input where the context says so.
type Port struct {
	Op    string `column:""`
	Index int    `column:"output"`
}

// nothing is the result of rows without one.
var nothing metric.Result

// Result is what the elements came to; of a row without metrics it is empty, and
// must not be written to.
func (r *Row) Result() *metric.Result {
	return cmp.Or(r.Metrics, &nothing)
}

// Measured is the result to write to; it is made where there is none.
func (r *Row) Measured() *metric.Result {
	if r.Metrics == nil {
		r.Metrics = &metric.Result{}
	}
	return r.Metrics
}

// Tensor is the name of the tensor, "conv1:output:0"; empty on a row about a
// whole operator.
func (r *Row) Tensor() string {
	if r.Role == Whole {
		return ""
	}
	return TensorName(r.Op, r.Role, r.Slot)
}

// TensorName is the name of a tensor in tables: "conv1:output:0".
func TensorName(op string, role Role, slot int) string {
	return op + ":" + role.String() + ":" + strconv.Itoa(slot)
}

// ParseTensor splits the name of a tensor; names of operators may hold colons.
func ParseTensor(name string) (op string, role Role, slot int, err error) {
	i := strings.LastIndexByte(name, ':')
	j := strings.LastIndexByte(name[:max(i, 0)], ':')
	if i >= 0 && j >= 0 {
		for _, role := range []Role{Output, Input} {
			if name[j+1:i] != role.String() {
				continue
			}
			if slot, err := strconv.Atoi(name[i+1:]); err == nil && slot >= 0 {
				return name[:j], role, slot, nil
			}
		}
	}
	return "", Whole, -1, fmt.Errorf("found the tensor %q, expected operator:output:0", name)
}

// Inserted tells whether the operator has no counterpart: the graph compiler
// added it.
func (r *Row) Inserted() bool { return r.Right.Names == "*" }

// Has tells whether a reason of that kind is among the row's.
func (r *Row) Has(kind Kind) bool {
	return slices.ContainsFunc(r.Reasons, func(x Reason) bool { return x.Kind == kind })
}

// Fresh tells that NaN or infinities were made by a call that one side alone has.
func (r *Row) Fresh() bool { return r.Has(MadeNonFinite) || r.Has(NaNFlagged) }

// Add appends reasons.
func (r *Row) Add(reasons ...Reason) { r.Reasons = append(r.Reasons, reasons...) }

// Why sorts a row that could not be judged: where no reason is given it holds nothing to
// judge by.
func (r *Row) Why() Class {
	switch c := r.Class(); {
	case r.Damage != nil:
		return Unreadable
	case r.Chosen != nil:
		return Chance
	case c == Skipped && !r.Has(InnerOnly):
		return Silent
	default:
		return c
	}
}

// Class is what the reasons of a row come to: the class of the first one that
// is no remark, Skipped if there is none.
func (r *Row) Class() Class {
	for _, reason := range r.Reasons {
		if c := reason.Kind.Class(); c != Remark {
			return c
		}
	}
	return Skipped
}
