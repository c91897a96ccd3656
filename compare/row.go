package compare

import (
	"strconv"

	"precision/compare/metric"
)

// Row is one line of the result: a pair of tensors, or an operator of which
// nothing could be compared. A value that was not computed is empty here and
// prints as NaN.
type Row struct {
	// Index is the number of the operator group in the graph, or without a
	// graph the place of the operator in the time order of the NPU side.
	Index int
	// Sequence is the operator's id in the graph: its place in execution order.
	Sequence int64
	// OpType is the operator type, as Conv2D.
	OpType string
	// Mine and Golden are the operator names of the two sides (the columns
	// NPUDump and GroundTruth).
	Mine, Golden string
	// Op, Input and Slot name the tensor: operator, direction, number. Slot
	// is -1 on a row that speaks of a whole operator.
	Op    string
	Input bool
	Slot  int
	// MineType and GoldenType are element type names, as float16.
	MineType, GoldenType string
	// MineAddress and GoldenAddress are decimal device addresses.
	MineAddress, GoldenAddress string
	// Shape is the shape that was compared, nil if there is none; a scalar
	// has an empty one.
	Shape []int64
	// Overflow is YES or NO for float16 tensors when overflow detection is on.
	Overflow string
	// Compared tells whether Result holds values.
	Compared bool
	Result   metric.Result
	// Custom holds the texts of user algorithms by name.
	Custom map[string]string
	// Reasons say why values are missing or what to know when reading them.
	Reasons []Reason

	// minePath and goldenPath are the files behind the row.
	minePath, goldenPath string
	order                int    // place in execution order
	inserted             bool   // the graph compiler added the operator
	scalar               bool   // a single element: judged by its relative error
	sliced               bool   // FFTS+ ran the operator in slices
	producer             string // of an input of a sliced operator: the output that feeds it
}

// Tensor is the TensorIndex cell, "conv1:output:0"; empty on an operator row.
func (r *Row) Tensor() string {
	if r.Slot < 0 {
		return ""
	}
	return tensorIndex(r.Op, r.Input, r.Slot)
}

// Files are the paths of the dump and of the golden file the row was computed
// from, empty where none was found.
func (r *Row) Files() (mine, golden string) { return r.minePath, r.goldenPath }

// Reason is the CompareFailReason cell.
func (r *Row) Reason() string { return joinReasons(r.Reasons, false) }

func tensorIndex(op string, input bool, slot int) string {
	direction := ":output:"
	if input {
		direction = ":input:"
	}
	return op + direction + strconv.Itoa(slot)
}

func (r *Row) addReason(reasons ...Reason) { r.Reasons = append(r.Reasons, reasons...) }
