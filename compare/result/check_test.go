package result

import "testing"

// TestCheckRows: a wrong output without a row gets one, once; what is right, has a row, or is of no operator of the table does not.
func TestCheckRows(t *testing.T) {
	table := Table{Ops: []Operator{{Name: "quant", Order: 1}, {Name: "conv", Type: "Conv2D", Order: 2}}, Rows: []Row{{Op: "quant", Role: Output}}}
	checks := []Check{{Op: "quant", Known: true, Wrong: true}, {Op: "conv", Known: true, Wrong: true}, {Op: "conv", Output: 1, Known: true}, {Op: "other", Known: true, Wrong: true}}
	table.Check(checks)
	table.Check(checks)
	if len(table.Rows) != 2 || len(table.Checks) != 4 {
		t.Fatalf("%d rows, %d checks", len(table.Rows), len(table.Checks))
	}
	if r := &table.Rows[1]; r.Tensor() != "conv:output:0" || r.Type != "Conv2D" || r.Compared || !r.Facts.Unpaired || r.Facts.Order != 2 {
		t.Errorf("%+v", r)
	}
	calls := Table{Meta: Meta{Recorded: true}, Ops: table.Ops}
	calls.Check(checks)
	if len(calls.Rows) > 0 {
		t.Error("calls have rows of what was recorded alone")
	}
}
