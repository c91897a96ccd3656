package recording

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"precision/dump/dtype"
	"precision/dump/msprobe"
)

// step is a call of a made-up program: what it does, the numbers that go in and come out,
// and the number it has in the program that both sides ran, -1 for one that only one side has.
type step struct {
	true   int
	api    string
	shape  []int64
	in     []float64
	out    float64
	weight int // the number of its input that is a weight, -1 without one
}

// program is a network of layers that are all alike.
func program(r *rand.Rand, calls int) []step {
	layer := []struct {
		api    string
		width  int64
		inputs int
		weight bool
	}{{"layer_norm", 64, 1, false}, {"linear", 64, 2, true}, {"linear", 64, 2, true}, {"linear", 64, 2, true}, {"matmul", 16, 2, false}, {"softmax", 16, 1, false},
		{"matmul", 64, 2, false}, {"linear", 64, 2, true}, {"add", 64, 2, false}, {"layer_norm", 64, 1, false}, {"linear", 256, 2, true}, {"gelu", 256, 1, false},
		{"linear", 64, 2, true}, {"add", 64, 2, false}}
	var list []step
	for i := range calls {
		l := layer[i%len(layer)]
		s := step{true: i, api: l.api, shape: []int64{16, l.width}, out: 1 + r.Float64(), weight: -1}
		for range l.inputs {
			s.in = append(s.in, 1+r.Float64())
		}
		if l.weight {
			s.weight = 1
		}
		list = append(list, s)
	}
	return list
}

// side runs a program: numbers count as a recorder counts, off is how far from the program
// the tensors are that it computes, and off the weights, too, where those are rounded.
func runOf(steps []step, off, weights float64, r *rand.Rand) *side {
	s := &side{}
	add := s.adder()
	number := map[string]int{}
	tensor := func(section msprobe.Section, at int, shape []int64, v, off float64) msprobe.Value {
		// The extremes and the norm of a tensor are as good as independent.
		other := func(n float64) float64 { _, f := math.Modf(n * v); return v * (1 + f) }
		f := func(v float64) msprobe.Number {
			return msprobe.Number{Kind: msprobe.Float, F: v * (1 + off*(2*r.Float64()-1))}
		}
		return msprobe.Value{Section: section, Path: strconv.Itoa(at), Kind: msprobe.Tensor, Type: "torch.Tensor", DType: "torch.float32", Elem: dtype.Float32, Known: true,
			Shape: shape, Max: f(v), Min: f(-other(7919)), Mean: f(v / 7), Norm: f(9 * other(104729))}
	}
	for _, x := range steps {
		name := fmt.Sprintf("Functional.%s.%d.forward", x.api, number[x.api])
		number[x.api]++
		c := &msprobe.Call{Name: name, Parsed: msprobe.ParseName(name)}
		for i, v := range x.in {
			by := off
			if i == x.weight {
				by = weights
			}
			c.Values = append(c.Values, tensor(msprobe.Input, i, x.shape, v, by))
		}
		c.Values = append(c.Values, tensor(msprobe.Output, 0, x.shape, x.out, off))
		add(c)
	}
	return s
}

// edited takes calls out, puts others in, and lets calls have another function.
func edited(r *rand.Rand, steps []step, share float64) (list []step) {
	for _, x := range steps {
		for r.Float64() < share/3 {
			more := steps[r.IntN(len(steps))]
			more.true, more.out, more.in = -1, 1+r.Float64(), append([]float64(nil), more.in...)
			for i := range more.in {
				more.in[i] = 1 + r.Float64()
			}
			list = append(list, more)
		}
		switch v := r.Float64(); {
		case v < share/3:
			continue
		case v < 2*share/3:
			x.api, x.true = "npu_"+x.api, -1
		}
		list = append(list, x)
	}
	return list
}

// paired counts the calls that both sides have, those of them that are pairs, and the pairs
// of one of them with another call.
func paired(left, right *side, a, b []step) (both, found, wrong int) {
	at, too := map[int]bool{-1: false}, map[int]bool{-1: false}
	for _, x := range b {
		at[x.true] = x.true >= 0
	}
	for _, x := range a {
		too[x.true] = x.true >= 0
	}
	for i, c := range left.calls {
		same := a[i].true >= 0 && at[a[i].true]
		if same {
			both++
		}
		if c.pair == nil {
			continue
		}
		if other := b[c.pair.at].true; same && other == a[i].true {
			found++
		} else if same || too[other] {
			wrong++
		}
	}
	return both, found, wrong
}

// TestPairsOfPrograms: with calls put in, taken out and renamed at random places, the calls
// that both sides made are pairs, and others are not: where the sides compute alike, where
// everything but the weights differs, and where all differs.
func TestPairsOfPrograms(t *testing.T) {
	for _, c := range []struct {
		name         string
		off, weights float64
		share        float64
		least        float64 // of what is to be found
		most         float64 // wrong pairs
	}{
		{"alike", 0, 0, 0.05, 1, 0},
		{"alike, many edits", 0, 0, 0.5, 0.99, 0.02},
		{"weights alike", 0.3, 0, 0.05, 0.98, 0.01},
		{"all off a little", 0.004, 0.004, 0.05, 0.99, 0.01},
	} {
		both, found, wrong := 0, 0, 0
		for seed := range uint64(6) {
			r := rand.New(rand.NewPCG(seed, 3))
			steps := program(r, 2000)
			a, b := edited(r, steps, c.share/2), edited(r, steps, c.share/2)
			left, right := runOf(a, c.off, c.weights, r), runOf(b, 0, 0, r)
			align(left, right, nil, nil)
			x, y, z := paired(left, right, a, b)
			both, found, wrong = both+x, found+y, wrong+z
		}
		t.Logf("%s: %d calls of both sides, %d pairs of them, %d pairs of others", c.name, both, found, wrong)
		if float64(found) < c.least*float64(both) || float64(wrong) > c.most*float64(both) {
			t.Errorf("%s: %d of %d found, expected %g; %d wrong, at most %g", c.name, found, both, c.least, wrong, c.most)
		}
	}
}

// TestMoreOnOneSide: 9000 calls against the same and 1000 more in one place, or spread.
func TestMoreOnOneSide(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	steps := program(r, 9000)
	more := program(r, 1000)
	for i := range more {
		more[i].true = -1
	}
	for _, at := range []int{0, 4000, 9000} {
		b := append(append(append([]step(nil), steps[:at]...), more...), steps[at:]...)
		for _, off := range []float64{0, 1e-3} {
			left, right := runOf(steps, off, off, r), runOf(b, 0, 0, r)
			if align(left, right, nil, nil) {
				t.Errorf("at %d: told as too different", at)
			}
			if both, found, wrong := paired(left, right, steps, b); found < both || wrong > 0 {
				t.Errorf("at %d, off by %g: %d of %d found, %d wrong", at, off, found, both, wrong)
			}
		}
	}
}

// tokensOf numbers what the calls of a side do.
func tokensOf(lists ...[]step) (out [][]int32) {
	number := map[string]int32{}
	for _, list := range lists {
		var x []int32
		for _, s := range list {
			key := fmt.Sprint(s.api, s.shape)
			if _, ok := number[key]; !ok {
				number[key] = int32(len(number))
			}
			x = append(x, number[key])
		}
		out = append(out, x)
	}
	return out
}

// TestSubsequenceSteps: the places that are looked at grow with the calls, whatever the
// sides have in common: counted, not timed.
func TestSubsequenceSteps(t *testing.T) {
	steps := func(n int, make func(r *rand.Rand, n int) (a, b []step)) float64 {
		a, b := make(rand.New(rand.NewPCG(1, 1)), n)
		x := tokensOf(a, b)
		s := newSubsequence(x[0], x[1])
		s.find(0, len(a), 0, len(b))
		s.settle(func(i, j int) float64 { return 0 })
		return float64(s.steps)
	}
	for name, c := range map[string]struct {
		most float64 // steps for each call
		make func(r *rand.Rand, n int) (a, b []step)
	}{
		"a hundred edits": {400, func(r *rand.Rand, n int) (a, b []step) { a = program(r, n); return a, edited(r, a, 100/float64(n)) }},
		"nothing in order": {1 << 12, func(r *rand.Rand, n int) (a, b []step) {
			a = program(r, n)
			b = append(b, a...)
			r.Shuffle(n, func(i, j int) { b[i], b[j] = b[j], b[i] })
			return a, b
		}},
		"a few against many": {1 << 12, func(r *rand.Rand, n int) (a, b []step) { return program(r, 28), edited(r, program(r, n), 0.9) }},
	} {
		few, many := steps(10_000, c.make), steps(80_000, c.make)
		t.Logf("%s: %.0f steps, %.0f for eight times the calls", name, few, many)
		if many > 80_000*c.most {
			t.Errorf("%s: %.0f steps for 80 000 calls, expected at most %g each", name, many, c.most)
		}
		if name == "a hundred edits" && many > 8*1.5*few {
			t.Errorf("%s: %.0f steps and %.0f for eight times the calls", name, few, many)
		}
	}
}

// TestSubsequenceStrict: one that gives up tells so of the same sequences as one that goes on, finds
// the same in others, and looks at little where programs have nothing to do with each other.
func TestSubsequenceStrict(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	gaveUp := 0
	for round := range 60 {
		a := program(r, 4000)
		x := tokensOf(edited(r, a, float64(round)/60), a)
		patient, strict := newSubsequence(x[0], x[1]), newSubsequence(x[0], x[1])
		strict.strict = true
		patient.find(0, len(x[0]), 0, len(x[1]))
		strict.find(0, len(x[0]), 0, len(x[1]))
		if patient.exact != strict.exact || strict.exact && !slices.Equal(patient.pair, strict.pair) {
			t.Errorf("round %d: exact %v, and %v where it gives up", round, patient.exact, strict.exact)
		}
		if !strict.exact {
			gaveUp++
		}
		if most := 2 * leastEdits * leastEdits; round == 59 && strict.steps > most {
			t.Errorf("%d steps in programs of which next to nothing is alike, expected at most %d", strict.steps, most)
		}
	}
	if gaveUp == 0 || gaveUp == 60 {
		t.Errorf("%d of 60 were given up", gaveUp)
	}
}

// TestSubsequence: what is found is as long as the longest, which a table of all
// prefixes gives.
func TestSubsequence(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for round := range 2000 {
		x, y := make([]int32, r.IntN(40)), make([]int32, r.IntN(40))
		for _, s := range [][]int32{x, y} {
			for i := range s {
				s[i] = int32(r.IntN(1 + round%7))
			}
		}
		best := make([][]int, len(x)+1)
		for i := range best {
			best[i] = make([]int, len(y)+1)
		}
		for i := range x {
			for j := range y {
				if best[i+1][j+1] = max(best[i][j+1], best[i+1][j]); x[i] == y[j] {
					best[i+1][j+1] = max(best[i+1][j+1], best[i][j]+1)
				}
			}
		}
		edits := len(x) + len(y) - 2*best[len(x)][len(y)]
		if s := newSubsequence(x, y); edits > 0 {
			if s.most = (edits + 1) / 2; s.hopeless() {
				t.Fatalf("%v %v: more than %d edits are said to be needed for %d", x, y, 2*s.most, edits)
			}
		}
		for _, most := range []int{1, 2, math.MaxInt32} {
			s := newSubsequence(x, y)
			s.most = most
			s.find(0, len(x), 0, len(y))
			n, last := s.count(), int32(-1)
			for i, k := range s.pair {
				if k >= 0 {
					if k <= last || x[i] != y[k] {
						t.Fatalf("%v %v: %v", x, y, s.pair)
					}
					last = k
				}
			}
			if n > best[len(x)][len(y)] || s.exact && n < best[len(x)][len(y)] {
				t.Fatalf("%v %v: %d in common, expected %d", x, y, n, best[len(x)][len(y)])
			}
			before := n
			if s.settle(func(i, j int) float64 { return 0 }); s.count() < before {
				t.Fatalf("%v %v: %d in common, %d after a second look", x, y, before, s.count())
			}
		}
	}
}
