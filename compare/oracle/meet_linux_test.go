package oracle

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
)

// BenchmarkMeetings judges collectives of many ranks: right, with one rank wrong, and with a cause that makes all of them
// wrong, and prints their processor time. What a wrong one costs beyond a right one is looking for the cause.
func BenchmarkMeetings(b *testing.B) {
	for _, size := range []int{250, 1000} {
		n := 4 * size
		sums := make([]float32, n)
		for r := range size {
			for i := range sums {
				sums[i] += values(r, i)
			}
		}
		swapped := func(list []int) []int { // the first two ranks
			list[0], list[1] = list[1], list[0]
			return list
		}
		all := func(_ int, order []int, lo, n int) (out []float32) { // the pieces of all ranks from lo on, one behind the other
			for _, s := range order {
				for i := range n {
					out = append(out, values(s, lo+i))
				}
			}
			return out
		}
		for _, c := range []struct {
			name, typ string
			in        int
			out       func(r int) []float32
		}{
			{"AllReduce/good", "HcomAllReduce", n, func(int) []float32 { return sums }},
			{"AllReduce/one", "HcomAllReduce", n, func(r int) []float32 {
				out := append([]float32(nil), sums...)
				if r == 7 {
					for i := range out {
						out[i] += 3
					}
				}
				return out
			}},
			{"AllReduce/all", "HcomAllReduce", n, func(int) []float32 {
				out := append([]float32(nil), sums...)
				for i := range out {
					out[i] -= values(5, i)
				}
				return out
			}},
			{"AllReduce/own", "HcomAllReduce", n, func(r int) []float32 { return all(0, []int{r}, 0, n) }},
			{"ReduceScatter/good", "HcomReduceScatter", n, func(r int) []float32 { return sums[4*r : 4*r+4] }},
			{"ReduceScatter/next", "HcomReduceScatter", n, func(r int) []float32 { r = (r + 1) % size; return sums[4*r : 4*r+4] }},
			{"AllGather/good", "HcomAllGather", 4, func(r int) []float32 { return all(r, inOrder(size), 0, 4) }},
			{"AllGather/swapped", "HcomAllGather", 4, func(r int) []float32 { return all(r, swapped(inOrder(size)), 0, 4) }},
			{"AllToAll/good", "HcomAllToAll", n, func(r int) []float32 { return all(r, inOrder(size), 4*r, 4) }},
			{"AllToAll/next", "HcomAllToAll", n, func(r int) []float32 { // each has the piece of another sender twice
				out := all(r, inOrder(size), 4*r, 4)
				copy(out[4*r:4*r+4], out[(4*r+4)%n:])
				return out
			}},
			{"AllToAll/swapped", "HcomAllToAll", n, func(r int) []float32 { return all(r, swapped(inOrder(size)), 4*r, 4) }},
		} {
			b.Run(fmt.Sprint(size, "/", c.name), func(b *testing.B) {
				dir := b.TempDir()
				var members []Member
				for r := range size {
					in := make([]float32, c.in)
					for i := range in {
						in[i] = values(r, i)
					}
					e := recordedEnd(b, filepath.Join(dir, fmt.Sprint(r)), c.typ, false, in, c.out(r))
					members = append(members, Member{Rank: r, Type: c.typ, Op: attributes(b, c.typ, "group hccl_world_group"), Entry: e})
				}
				before, runs := cpuTime(b), 0
				for ; b.Loop(); runs++ {
					m, err := CheckMeeting(b.Context(), members)
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(len(m.Faults)), "faults")
				}
				b.ReportMetric((cpuTime(b)-before)/float64(runs), "cpu-s/op")
			})
		}
	}
}

// cpuTime is the processor time of the process so far, in seconds.
func cpuTime(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
