package gc

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// A small heap may grow ninefold, a large one by a third.
func TestGrowth(t *testing.T) {
	for live, want := range map[uint64]int{0: 800, 3 << 20: 800, 8 << 20: 399, 64 << 20: 49, 1 << 40: 30} {
		if got := growth(live); got != want {
			t.Errorf("%d bytes: %d %%, expected %d", live, got, want)
		}
	}
}

// What may be garbage follows what is live.
func TestRelax(t *testing.T) {
	t.Setenv("GOGC", "")
	defer debug.SetGCPercent(100)
	Relax()
	held := make([]byte, 256<<20)
	held[0] = 1
	percent := func() int {
		now := debug.SetGCPercent(100)
		debug.SetGCPercent(now)
		return now
	}
	for range 100 {
		if runtime.GC(); percent() == least {
			runtime.KeepAlive(held)
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("with 256 MB live the heap may grow by %d %%, expected %d", percent(), least)
}

// TestBound: a number that what is live goes beyond is raised, and no other.
func TestBound(t *testing.T) {
	for _, c := range []struct {
		set  int64
		live uint64
		want int64
	}{{64 << 20, 10 << 20, 64 << 20}, {64 << 20, 98 << 20, 147 << 20}} {
		if got := bound(c.set, c.live); got != c.want {
			t.Errorf("bound(%d, %d) = %d, expected %d", c.set, c.live, got, c.want)
		}
	}
}
