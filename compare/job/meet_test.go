package job

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"precision/testdata/workshop/jobtest"
)

// What ranks made of a collective is told apart, and whose fault it is.
func TestMeetings(t *testing.T) {
	const ranks, size = 4, 64
	var mul [2][ranks][]float32 // what went in, by step and rank
	var sum [2][ranks][]float32
	keep := func(step, rank int, op string, out []float32) {
		switch op {
		case jobtest.Mul:
			mul[step][rank] = slices.Clone(out)
		case jobtest.Reduce:
			sum[step][rank] = slices.Clone(out)
		}
	}
	add := func(out, x []float32, by float32) {
		for i := range out {
			out[i] += by * x[i]
		}
	}
	for _, c := range []struct {
		name  string
		op    string
		fault func(rank int, out []float32) // at step 1
		kind  string
		ranks string
		rank  int
	}{
		{"own input", jobtest.Reduce, func(r int, out []float32) {
			if r == 2 {
				copy(out, mul[1][2])
			}
		}, "own-input", "2", -1},
		{"left out", jobtest.Reduce, func(_ int, out []float32) { add(out, mul[1][1], -1) }, "left-out", "0-3", 1},
		{"twice", jobtest.Reduce, func(_ int, out []float32) { add(out, mul[1][3], 1) }, "twice", "0-3", 3},
		{"twice on some", jobtest.Reduce, func(r int, out []float32) {
			if r < 2 {
				add(out, mul[1][3], 1)
			}
		}, "twice", "0-1", 3},
		{"old result", jobtest.Reduce, func(r int, out []float32) {
			if r == 1 {
				copy(out, sum[0][1])
			}
		}, "stale", "1", -1},
		{"old input", jobtest.Reduce, func(_ int, out []float32) {
			add(out, mul[1][2], -1)
			add(out, mul[0][2], 1)
		}, "stale", "0-3", 2},
		{"mean", jobtest.Reduce, func(_ int, out []float32) {
			for i := range out {
				out[i] /= ranks
			}
		}, "mean", "0-3", -1},
		{"other bits", jobtest.Reduce, func(r int, out []float32) {
			if r == 3 {
				k := slices.IndexFunc(out, func(v float32) bool { return v != 0 })
				out[k] = math.Nextafter32(out[k], 1e9)
			}
		}, "differs", "3", -1},
		{"wrong element", jobtest.Reduce, func(r int, out []float32) {
			if r == 0 {
				out[5] += 1000
			}
		}, "beyond", "0", -1},
		{"swapped in gather", jobtest.Gather, func(r int, out []float32) {
			if r == 1 {
				copy(out[2*size:3*size], mul[1][3])
			}
		}, "swapped", "1", 3},
		{"left out of scatter", jobtest.Scatter, func(r int, out []float32) {
			if r == 2 {
				add(out, mul[1][0][2*size/ranks:3*size/ranks], -1)
			}
		}, "left-out", "2", 0},
		{"own broadcast", jobtest.Cast, func(r int, out []float32) {
			if r == 3 {
				copy(out, mul[1][3])
			}
		}, "own-input", "3", -1},
		{"old broadcast", jobtest.Cast, func(r int, out []float32) { copy(out, mul[0][0]) }, "stale", "0-3", -1},
		{"swapped all to all", jobtest.Swap, func(r int, out []float32) {
			if r == 0 {
				copy(out[:size/ranks], mul[1][0][3*size/ranks:])
			}
		}, "swapped", "0", 3},
		{"right", "", nil, "", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, r := made(t, jobtest.Job{Ranks: ranks, Steps: 2, Size: size, All: true, Break: func(step, rank int, op string, out []float32) {
				if op == c.op && step == 1 {
					c.fault(rank, out)
				}
				keep(step, rank, op, out)
			}})
			res := ran(t, r, Settings{Out: filepath.Join(t.TempDir(), "out")})
			wrong := 0
			for i, m := range res.Mets {
				at := res.Plan.Meetings[i]
				switch {
				case m.Verdict == MetOK && m.How == "attribute" && slices.Equal(m.Groups, []string{"0-3"}):
				case m.Verdict == MetWrong && m.Ops[0] == c.op && at.Step == 1:
					wrong++
					if f := m.Faults[0]; len(m.Faults) != 1 || f.Kind != c.kind || f.Ranks != c.ranks || f.Rank != c.rank {
						t.Errorf("%+v", m.Faults)
					}
				default:
					t.Errorf("%s at step %d: %+v", at.Op, at.Step, m)
				}
			}
			if wrong != min(1, len(c.op)) || (res.Verdict == "bad") != (c.op != "") {
				t.Errorf("%d wrong, %s", wrong, res.Verdict)
			}
		})
	}
}

// An error that came in over a collective is not blamed on it, but on the ranks that brought it in: what is wrong before
// it elsewhere, and does not arrive there, is not among these.
func TestThrough(t *testing.T) {
	both := broken
	both.All = true
	both.Break = func(step, rank int, op string, out []float32) {
		if broken.Break(step, rank, op, out); op == jobtest.Gather && rank == 3 && step == 1 {
			out[0] += 1000
		}
	}
	for name, c := range map[string]struct {
		job  jobtest.Job
		want []string
	}{
		"one":   {broken, []string{jobtest.Reduce + " 0-1,3 from 2"}},
		"apart": {both, []string{jobtest.Reduce + " 0-1,3 from 2", jobtest.Scatter + " 0-1,3 from 2", jobtest.Swap + " 0-1,3 from 2"}},
	} {
		_, r := made(t, c.job)
		res := ran(t, r, Settings{Out: filepath.Join(t.TempDir(), "out")})
		var through []string
		for _, o := range res.Origins {
			if o.Through {
				through = append(through, o.Op+" "+o.Ranks+" from "+o.From)
			}
		}
		if !slices.Equal(through, c.want) {
			t.Errorf("%s: %q of %+v", name, through, res.Origins)
		}
	}
}

// Ranks that are not chosen, or have no golden recording, still bring in their part of a
// sum; without the recording of one nothing is said.
func TestMeetingMembers(t *testing.T) {
	dir, r := made(t, jobtest.Job{Ranks: 4, Steps: 1, Size: 64})
	os.RemoveAll(filepath.Join(dir, jobtest.Golden(0, 1)))
	r.Ranks = Numbers{{0, 1}}
	res := ran(t, r, Settings{Out: filepath.Join(t.TempDir(), "out")})
	if m := res.Mets[0]; m.Verdict != MetOK || m.Groups[0] != "0-3" || len(res.Digests) != 1 {
		t.Errorf("%+v, %d parts", m, len(res.Digests))
	}
	dumps, _ := filepath.Glob(filepath.Join(dir, jobtest.Dir(0, 3), "Hcom*"))
	os.Remove(dumps[0])
	res = ran(t, r, Settings{Out: filepath.Join(t.TempDir(), "out")})
	if m := res.Mets[0]; m.Verdict != MetUnknown || m.Why != WhyAbsent || m.Args[0] != "3" || res.Verdict != "inconclusive" {
		t.Errorf("%+v, %s", m, res.Verdict)
	}
}

// Weights that data-parallel ranks must have alike, and slices that groups of them have.
func TestDeviations(t *testing.T) {
	_, r := made(t, jobtest.Job{Ranks: 5, Steps: 2, Size: 32, Weight: func(step, rank int, w []float32) {
		if rank == 3 && step == 1 {
			w[7]++
		}
	}})
	res := ran(t, r, Settings{Out: filepath.Join(t.TempDir(), "out")})
	if d := res.Deviations; len(d) != 1 || d[0].Ranks != "3" || d[0].Step != 1 || d[0].Tensor != "w:output:0" || d[0].Tie {
		t.Errorf("%+v", d)
	}
	for _, c := range []struct {
		sums string // a letter a rank
		want Deviation
		ok   bool
	}{
		{"aaaa", Deviation{}, false},
		{"aabbaabb", Deviation{}, false},
		{"abababab", Deviation{}, false},
		{"abcdefgh", Deviation{}, false},
		{"aaaabbbb", Deviation{}, false},
		{"aaaaxaaa", Deviation{Ranks: "4", Count: 1, Of: 8, Groups: 1}, true},
		{"ab", Deviation{Ranks: "1", Count: 1, Of: 2, Tie: true, Groups: 1}, true},
		{"aab", Deviation{Ranks: "2", Count: 1, Of: 3, Groups: 1}, true},
		{"aaaabxbb", Deviation{Ranks: "5", Count: 1, Of: 8, Groups: 2, Way: "blocks"}, true},
		{"abababax", Deviation{Ranks: "7", Count: 1, Of: 8, Groups: 2, Way: "strides"}, true},
	} {
		sums, ranks := map[int]string{}, []int{}
		for i, l := range c.sums {
			sums[i], ranks = string(l), append(ranks, i)
		}
		if got, ok := deviate(ranks, sums); ok != c.ok || got != c.want {
			t.Errorf("%s: %+v %v, want %+v", c.sums, got, ok, c.want)
		}
	}
}
