package soak

import (
	"math/rand/v2"
	"testing"
	"time"
)

// What costs the square of an input is found, what costs n log n is not.
func TestSteep(t *testing.T) {
	s := func(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
	for _, c := range []struct {
		cpu    [3]time.Duration
		memory [3]int64
		steep  bool
	}{
		{[3]time.Duration{s(0.1), s(0.2), s(0.4)}, [3]int64{30 << 20, 60 << 20, 120 << 20}, false},
		{[3]time.Duration{s(0.1), s(0.22), s(0.49)}, [3]int64{30 << 20, 30 << 20, 30 << 20}, false},
		{[3]time.Duration{s(0.1), s(0.4), s(1.6)}, [3]int64{30 << 20, 60 << 20, 120 << 20}, true},
		{[3]time.Duration{s(0.1), s(0.2), s(0.4)}, [3]int64{10 << 20, 40 << 20, 160 << 20}, true},
	} {
		if g := (&Grown{CPU: c.cpu, Memory: c.memory}); (g.Steep() != "") != c.steep {
			t.Errorf("%v, %v: %q", c.cpu, c.memory, g.Steep())
		}
	}
}

// Every input can be laid out.
func TestGrowths(t *testing.T) {
	for _, g := range Growths() {
		if err := g.lay(t.TempDir(), 8, rand.New(rand.NewPCG(1, 2))); err != nil || len(g.commands) == 0 {
			t.Errorf("%s: %v", g.Name, err)
		}
	}
}
