package compare

import "testing"

func TestLendSliced(t *testing.T) {
	rows := []Row{
		{Op: "a", Slot: 0, sliced: true, Compared: true, Shape: shape(4, 6), MineType: "float16"},
		{Op: "b", Input: true, Slot: 0, sliced: true, producer: "a:output:0", Shape: shape(2, 6), MineType: "float32"},
		{Op: "b", Input: true, Slot: 1, sliced: true, producer: "gone:output:0", Shape: shape(3)},
		{Op: "c", Input: true, Slot: 0, producer: "a:output:0", Shape: shape(2)},
		{Op: "d", Slot: 0, sliced: true, Shape: shape(9)},
		{Op: "e", Input: true, Slot: 0, sliced: true, producer: "d:output:0", Shape: shape(1)},
	}
	lendSliced(rows)
	for i, want := range []string{"(4, 6)", "(4, 6)", "(3)", "(2)", "(9)", "(1)"} {
		if got := shapeText(rows[i].Shape); got != want {
			t.Errorf("row %d: shape %s, want %s", i, got, want)
		}
	}
	if !rows[1].Compared || rows[1].MineType != "float32" || rows[5].Compared {
		t.Errorf("%+v", rows)
	}
}
