package engine

import (
	"testing"

	"precision/compare/result"
	"precision/dump/dtype"
)

func TestLendSliced(t *testing.T) {
	input := func(op string, slot int, from string, sliced bool, dims ...int64) result.Row {
		r := result.Row{Op: op, Role: result.Input, Slot: slot, Shape: dims}
		r.Facts.Sliced, r.Facts.Producer.Op = sliced, from
		return r
	}
	rows := []result.Row{
		{Op: "a", Compared: true, Shape: shape(4, 6), Facts: result.Facts{Sliced: true}},
		input("b", 0, "a", true, 2, 6),
		input("b", 1, "gone", true, 3),
		input("c", 0, "a", false, 2),
		{Op: "d", Shape: shape(9), Facts: result.Facts{Sliced: true}},
		input("e", 0, "d", true, 1),
	}
	rows[0].Left = result.Operand{DType: dtype.Float16, Shape: shape(4, 6)}
	rows[1].Compared, rows[1].Left = true, result.Operand{DType: dtype.Float32, Shape: shape(2, 6)}
	lendSliced(rows)
	for i, want := range []string{"(4, 6)", "(4, 6)", "(3)", "(2)", "(9)", "(1)"} {
		if got := shapeText(rows[i].Shape); got != want {
			t.Errorf("row %d: shape %s, want %s", i, got, want)
		}
	}
	if !rows[1].Compared || rows[1].Left.DType != dtype.Float32 || rows[5].Compared {
		t.Errorf("%+v", rows)
	}
}
