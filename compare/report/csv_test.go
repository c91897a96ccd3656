package report

import (
	"bytes"
	"testing"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/dump/dtype"
)

func TestCSV(t *testing.T) {
	zero := uint64(0)
	var out bytes.Buffer
	cols := result.Columns{LeftAddress: true, Overflow: true, Values: result.ColumnsOf([]metric.Metric{metric.MaxAbsoluteError})}
	sides := func(left, right string) (l, r result.Operand) {
		return result.Operand{Names: left}, result.Operand{Names: right}
	}
	rows := []result.Row{
		{Index: 3, Type: "Add", Role: result.Whole, Slot: -1,
			Reasons: []result.Reason{result.Because(result.NoLeftOp, `"x"`), result.Because(result.LayoutNone, "a", "NZ", "ND")}},
		{Index: 4, Type: "Add", Op: "s", Role: result.Input, Slot: 1, Shape: []int64{1, 3}, Overflow: "NO", Compared: true},
		{Index: 5, Type: "Add", Op: "s", Slot: 0, Shape: []int64{}},
		{Index: 6, Type: "Add", Op: "s", Slot: 0, Shape: []int64{2}, Compared: true},
	}
	rows[0].Left, rows[0].Right = sides("=cmd", "a,b")
	for i := range rows[1:] {
		rows[i+1].Left, rows[i+1].Right = sides("s", "s")
	}
	rows[1].Left.DType, rows[1].Left.Shape, rows[1].Left.Address = dtype.Float16, []int64{1, 3}, &zero
	rows[1].Right.DType, rows[1].Right.Shape = dtype.Float32, []int64{1, 3}
	rows[1].Measured().Values[metric.MaxAbsoluteError], _ = metric.ParseValue("0.5")
	if err := WriteRows(&out, cols, rows, nil); err != nil {
		t.Fatal(err)
	}
	want := "Index,OpType,NPUDump,DataType,Address,GroundTruth,DataType,TensorIndex,Shape,OverFlow,MaxAbsoluteError,CompareFailReason\r\n" +
		"3,Add,\" =cmd\",NaN,NaN,\"a,b\",NaN,NaN,NaN,NaN,NaN,\"[\"\"x\"\"] There is no the my output dump file for the op \"\"\"\"x\"\"\"\".," +
		"[a] there is no conversion from NZ to ND\"\r\n" +
		"4,Add,s,float16,0,s,float32,s:input:1,\"[1,3]\",NO,0.500000,\r\n" +
		"5,Add,s,NaN,NaN,s,NaN,s:output:0,[],NaN,NaN,\r\n" +
		"6,Add,s,NaN,NaN,s,NaN,s:output:0,[2],NaN,NaN,\r\n" // values lent by another row: its own types are not known
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	cols.Quiet = true
	if got := Cells(cols, &result.Row{Reasons: []result.Reason{result.Because(result.LayoutNone, "a", "NZ", "ND")}, Slot: -1}); got[len(got)-1] != "" {
		t.Errorf("the old table gives the reason %q", got[len(got)-1])
	}
}

// The old tool names the numpy type that its arrays end up with.
func TestTypesOnceLoaded(t *testing.T) {
	r := &result.Row{Compared: true, Left: result.Operand{DType: dtype.BFloat16, Shape: []int64{2}}, Right: result.Operand{DType: dtype.Float32, Shape: []int64{2, 0}}}
	cells := Cells(result.Columns{Loaded: true}, r)
	if cells[3] != "float32" || cells[5] != "float64" {
		t.Errorf("%q", cells)
	}
	if cells = Cells(result.Columns{}, r); cells[3] != "bfloat16" || cells[5] != "float32" {
		t.Errorf("%q", cells)
	}
}
