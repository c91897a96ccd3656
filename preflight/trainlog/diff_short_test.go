package trainlog

import "testing"

// series has a value at every n-th of so many steps.
func series(from, steps, every int64) *Series {
	s := &Series{Name: "loss"}
	for i := from; i < steps; i += every {
		s.Points = append(s.Points, Point{Step: i, Value: 2})
	}
	return s
}

// TestShort: a log that ends early shows nothing of the steps it lacks; one that notes fewer steps
// reaches as far.
func TestShort(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b *Series
		want bool
	}{
		{"the same", series(0, 100, 1), series(0, 100, 1), false},
		{"the last step", series(0, 100, 1), series(0, 99, 1), false},
		{"three quarters", series(0, 100, 1), series(0, 75, 1), true},
		{"the second half", series(50, 100, 1), series(0, 100, 1), true},
		{"every tenth", series(0, 100, 1), series(0, 100, 10), false},
		{"every tenth of half", series(0, 100, 1), series(0, 50, 10), true},
	} {
		d := &Difference{A: &Log{}, B: &Log{}, Quantities: []Quantity{{Name: "loss", A: c.a, B: c.b}}}
		if d.Inconclusive() != c.want {
			t.Errorf("%s: %v", c.name, !c.want)
		}
		if d.Quantities[0].Parts = true; d.Inconclusive() {
			t.Errorf("%s: what differs is no less so", c.name)
		}
	}
}
