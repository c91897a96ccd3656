package stage

import "testing"

// TestContinues has one prompt with many answers: more rows than places of its ids are kept, and each goes on as it does.
func TestContinues(t *testing.T) {
	var rows []*trainRow
	for k := range int64(2 * commonest) {
		ids := []int64{1, 2, 3, 4, 5, 1000 + k, 2000 + k, 3000 + k}
		rows = append(rows, &trainRow{first: 8 * int(k), ids: ids, used: make([]bool, len(ids))})
	}
	x := indexed(rows)
	for k, r := range rows {
		grown := &text{}
		for i, id := range r.ids {
			if whole := (&text{ids: r.ids[:i]}); i > 0 && !x.continues(whole, id) {
				t.Errorf("row %d is not known to go on behind %d ids", k, i)
			}
			if i > 0 && (!x.continues(grown, id) || x.continues(grown, 9)) {
				t.Errorf("row %d, as it grows, is not known to go on behind %d ids", k, i)
			}
			grown.ids = append(grown.ids, id)
		}
	}
}

// TestEvery has more rows alike than places of their ids are kept: a text that takes none of these comes by all.
func TestEvery(t *testing.T) {
	var rows []*trainRow
	for range 2 * commonest {
		rows = append(rows, &trainRow{ids: []int64{1, 2, 3, 4, 5}, used: make([]bool, 5)})
	}
	x := indexed(rows)
	for k := range rows {
		var to *trainRow
		x.every(rows[k].ids, func(s spot) bool {
			if to == nil && s.at == 0 && !s.row.used[0] {
				to = s.row
			}
			return to != nil
		})
		if to == nil {
			t.Fatalf("text %d comes by no row", k)
		}
		to.used[0] = true
	}
}
