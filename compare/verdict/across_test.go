package verdict

import "testing"

// TestSettle: what becomes of roots when all ranks and steps are known.
func TestSettle(t *testing.T) {
	rank := func(step, rank int, roots ...Start) Piece { return Piece{Step: step, Rank: rank, Roots: roots} }
	meets := func(p Piece, m ...Met) Piece { p.Meets = m; return p }
	gathers := func(r int, row, rows int64) Piece {
		p := rank(0, r, Start{Op: "linear.0", Order: 2, Open: true, Given: true, Seen: []int64{1, 2}, Row: row, Rows: rows})
		p.Gathers = true
		return p
	}
	for name, c := range map[string]struct {
		pieces []Piece
		kept   []At // the roots that stay
	}{
		"a peer's input explains a collective": {
			[]Piece{
				meets(rank(0, 0, Start{Op: "all_reduce.0", Order: 3, Meets: "all_reduce #0"}), Met{Name: "all_reduce #0", Order: 3}),
				meets(rank(0, 1, Start{Op: "linear.0", Order: 7}), Met{Name: "all_reduce #0", Order: 9, Brings: true}),
			},
			[]At{{1, 0}},
		},
		"nobody brings anything": {
			[]Piece{
				meets(rank(0, 0, Start{Op: "all_reduce.0", Order: 3, Meets: "all_reduce #0"}), Met{Name: "all_reduce #0", Order: 3}),
				meets(rank(0, 1), Met{Name: "all_reduce #0", Order: 9}),
			},
			[]At{{0, 0}},
		},
		"a peer that brings something without a root of its own accuses nobody else": {
			[]Piece{
				meets(rank(0, 0, Start{Op: "all_reduce.0", Order: 3, Meets: "all_reduce #0"}), Met{Name: "all_reduce #0", Order: 3}),
				meets(rank(0, 1), Met{Name: "all_reduce #0", Order: 9, Brings: true}),
			},
			[]At{{0, 0}},
		},
		"one collective is wrong on all ranks": {
			[]Piece{
				meets(rank(0, 0, Start{Op: "all_reduce.0", Order: 3, Meets: "all_reduce #0"}), Met{Name: "all_reduce #0", Order: 3}),
				meets(rank(0, 1, Start{Op: "all_reduce.0", Order: 3, Meets: "all_reduce #0"}), Met{Name: "all_reduce #0", Order: 3}),
			},
			[]At{{0, 0}},
		},
		"a call behind a root that was recorded on its way says nothing": {
			[]Piece{
				meets(rank(0, 0, Start{Op: "gelu.0", Order: 1}, Start{Op: "all_reduce.1", Order: 3, Meets: "all_reduce #1"}), Met{Name: "all_reduce #1", Order: 3, Gave: []int64{5, 7}}),
				meets(rank(0, 1), Met{Name: "all_reduce #1", Order: 3, Gave: []int64{0}}),
			},
			[]At{{0, 0}},
		},
		"but one of which no rank was on its way is wrong on the rank that has another result": {
			[]Piece{
				meets(rank(0, 0, Start{Op: "gelu.0", Order: 1}, Start{Op: "all_reduce.1", Order: 3, Meets: "all_reduce #1"}), Met{Name: "all_reduce #1", Order: 3, Gave: []int64{5, 7}}),
				meets(rank(0, 1), Met{Name: "all_reduce #1", Order: 3, Gave: []int64{7, 7}}),
			},
			[]At{{0, 0}, {0, 1}},
		},
		"and so is one that arrived at two ranks, though not yet at a third": {
			[]Piece{
				meets(rank(0, 0, Start{Op: "gelu.0", Order: 1}, Start{Op: "all_reduce.1", Order: 3, Meets: "all_reduce #1"}), Met{Name: "all_reduce #1", Order: 3, Gave: []int64{5, 7}}),
				meets(rank(0, 1), Met{Name: "all_reduce #1", Order: 3, Gave: []int64{0}}),
				meets(rank(0, 2, Start{Op: "all_reduce.1", Order: 3, Meets: "all_reduce #1"}), Met{Name: "all_reduce #1", Order: 3, Gave: []int64{5, 7}}),
			},
			[]At{{0, 0}, {0, 1}},
		},
		"one that was done does, and one that nothing came before": {
			[]Piece{
				meets(rank(0, 0, Start{Op: "all_reduce.0", Order: 1, Meets: "all_reduce #0"}, Start{Op: "all_reduce.1", Order: 3, Meets: "all_reduce #1"}),
					Met{Name: "all_reduce #0", Order: 1, Gave: []int64{5, 7}}, Met{Name: "all_reduce #1", Order: 3, Gave: []int64{5, 7}}),
				meets(rank(0, 1), Met{Name: "all_reduce #0", Order: 1, Gave: []int64{0}}, Met{Name: "all_reduce #1", Order: 3, Gave: []int64{5, 7}}),
			},
			[]At{{0, 0}, {0, 1}},
		},
		"what nothing recorded explains follows from another rank": {
			[]Piece{rank(0, 0, Start{Op: "add_.0", Order: 20, Open: true}), rank(0, 1, Start{Op: "gelu.0", Order: 5})},
			[]At{{1, 0}},
		},
		"and not from what came later": {
			[]Piece{rank(0, 0, Start{Op: "add_.0", Order: 2, Open: true}), rank(0, 1, Start{Op: "gelu.0", Order: 5})},
			[]At{{0, 0}, {1, 0}},
		},
		"two calls whose inputs agree are two faults": {
			[]Piece{rank(0, 0, Start{Op: "linear.0", Order: 2}), rank(0, 1, Start{Op: "gelu.0", Order: 5})},
			[]At{{0, 0}, {1, 0}},
		},
		"a weight of the first step follows from nothing": {
			[]Piece{rank(0, 0, Start{Op: "linear.0", Order: 2}), rank(0, 1, Start{Op: "linear.3", Order: 8, Open: true, Given: true})},
			[]At{{0, 0}, {1, 0}},
		},
		"that of a later step from an earlier one": {
			[]Piece{rank(1, 0, Start{Op: "linear.0", Order: 2, Open: true, Given: true}), rank(0, 1, Start{Op: "gelu.0", Order: 5})},
			[]At{{1, 0}},
		},
		"an argument is one fault with its places": {
			[]Piece{rank(0, 0, Start{Op: "add_.0", Order: 1, Argument: "alpha 1 2"}, Start{Op: "add_.1", Order: 2, Argument: "alpha 1 2"}, Start{Op: "add_.2", Order: 3, Argument: "alpha 1 3"})},
			[]At{{0, 0}, {0, 2}},
		},
		"a weight that is gathered follows from the rank that holds the slice": {
			[]Piece{gathers(0, 20, 64), gathers(1, 20, 64), gathers(2, 20, 64), gathers(3, 20, 64)},
			[]At{{1, 0}},
		},
		"not where ranks have it otherwise": {
			[]Piece{gathers(0, 20, 64), gathers(1, 30, 64)},
			[]At{{0, 0}},
		},
		"ranks that meet in another order end": {
			[]Piece{
				meets(rank(0, 0, Start{Op: "gelu.0", Order: 9}), Met{Name: "a", Order: 1}, Met{Name: "b", Order: 2}),
				meets(rank(0, 1), Met{Name: "b", Order: 1}, Met{Name: "a", Order: 2}),
			},
			[]At{{0, 0}},
		},
	} {
		fates := Settle(c.pieces)
		var kept []At
		for i := range fates {
			for k := range fates[i] {
				if fates[i][k].By == nil {
					kept = append(kept, At{i, k})
				}
			}
		}
		if len(kept) != len(c.kept) {
			t.Errorf("%s: kept %v, expected %v", name, kept, c.kept)
			continue
		}
		for k := range kept {
			if kept[k] != c.kept[k] {
				t.Errorf("%s: kept %v, expected %v", name, kept, c.kept)
			}
		}
	}
	// A call of one side alone that gave what a later step begins with is the root.
	pieces := []Piece{
		{Step: 0, Rank: 1, Alone: []Absent{{Op: "adamw.0 (right)", Order: 30, Made: []int64{7, 9}}}},
		rank(1, 1, Start{Op: "linear.0", Order: 0, Open: true, Given: true, Seen: []int64{4, 9}}),
		rank(1, 0, Start{Op: "linear.3", Order: 5, Open: true, Given: true, Seen: []int64{4, 9}}),
	}
	fates := Settle(pieces)
	if f := fates[1][0]; f.By != nil || f.Alone == nil || *f.Alone != (At{0, 0}) {
		t.Errorf("the optimizer left out: %+v", f)
	}
	if f := fates[2][0]; f.By == nil && f.Alone == nil {
		t.Errorf("another rank: %+v", f)
	}
}
