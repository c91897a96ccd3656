package trainlog

import (
	"context"
	"strings"
	"testing"
)

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
		if lost := c.want || c.name == "the last step"; d.Lost() != lost {
			t.Errorf("%s: lost %v", c.name, !lost)
		}
		if d.Inconclusive() != c.want {
			t.Errorf("%s: %v", c.name, !c.want)
		}
		if d.Quantities[0].Parts = true; d.Inconclusive() {
			t.Errorf("%s: what differs is no less so", c.name)
		}
	}
}

// TestTorn: a last line without an end is told, unless it is JSON that has its own.
func TestTorn(t *testing.T) {
	for _, c := range []struct{ text, torn string }{
		{"step 1, loss 2\nstep 2, loss 3\n", ""},
		{"step 1, loss 2\nstep 2, loss 3", "step 2, loss 3"},
		{"step 1, loss 2\nstep 2, lo", "step 2, lo"},
		{"step 1, loss 2\r\n 10% loss 3\r 20% loss", " 20% loss"},
		{"{\"step\": 1, \"loss\": 2}\n{\"step\": 2, \"loss\": 3}", ""},
		{"{\"step\": 1, \"loss\": 2}\n{\"step\": 2, \"lo", "{\"step\": 2, \"lo"},
		{"loss 2\n" + strings.Repeat("x", 100), strings.Repeat("x", mostTorn)},
	} {
		l, err := Read(context.Background(), strings.NewReader(c.text), nil)
		if err != nil || l.Torn != c.torn {
			t.Errorf("%q: %q, expected %q, %v", c.text, l.Torn, c.torn, err)
		}
		if d := Diff(l, l, DefaultOptions); d.Lost() != (c.torn != "") {
			t.Errorf("%q: lost %v", c.text, d.Lost())
		}
	}
}
