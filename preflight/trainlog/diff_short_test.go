package trainlog

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

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
		if d := Diff(l, l, DefaultFloor); d.Lost() != (c.torn != "") {
			t.Errorf("%q: lost %v", c.text, d.Lost())
		}
	}
}

// TestEqualThenApart: logs that are equal to the last digit and then a factor apart part there, whatever their length
// and however small the factor; equal ones, and such that part as rounding makes them, do not.
func TestEqualThenApart(t *testing.T) {
	for _, n := range []int{4, 8, 16, 24, 30, 40, 100, 400} {
		for _, factor := range []float64{1, 1.05, 1.1, 1.3, 19, 250} {
			a, b := &Log{Series: []*Series{{Name: "loss"}}}, &Log{Series: []*Series{{Name: "loss"}}}
			drift := &Log{Series: []*Series{{Name: "loss"}}}
			for i := range n {
				v := 1 + 3*math.Exp(-float64(i)/50)
				w, d := v, v
				if i >= n/2 {
					w *= factor
					d *= 1 + 1e-6*math.Pow(1.5, min(float64(i-n/2), 22)) // as rounding grows, up to 0.7 %
				}
				for log, value := range map[*Log]float64{a: w, b: v, drift: d} {
					log.Series[0].Points = append(log.Series[0].Points, Point{Step: int64(i), Value: value})
				}
			}
			q := Diff(a, b, DefaultFloor).Quantities[0]
			if q.Parts != (factor > 1) || q.Parts && q.PartStep != int64(n/2) {
				t.Errorf("%d steps, factor %g: parts %v at %d", n, factor, q.Parts, q.PartStep)
			}
			if q.Parts && q.Why == Apart && q.Drift == 0 {
				t.Errorf("%d steps, factor %g: no drift", n, factor)
			}
			if q := Diff(drift, b, DefaultFloor).Quantities[0]; q.Parts {
				t.Errorf("%d steps: rounding parts at %d, %s", n, q.PartStep, q.Why)
			}
		}
	}
}

// TestJumps: logs of jittery values that were as close as rounding keeps them, and then 1.3 times apart at once, part there, also
// within their last steps; what printing with two digits makes of one log parts nowhere.
func TestJumps(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 7))
		n := []int{24, 100, 1000}[seed%3]
		at := 9 + rng.IntN(n-12)
		logs := [3]*Series{{Name: "loss"}, {Name: "loss"}, {Name: "loss"}} // the log, the one that jumps, the one that does not
		for i := range n {
			v := (1 + 3*math.Exp(-float64(i)/float64(n/3))) * math.Exp(0.05*rng.NormFloat64())
			w := v * math.Exp([]float64{0, 1e-7, 1e-4}[rng.IntN(3)]*rng.NormFloat64())
			u := w
			if i >= at {
				w *= 1.3
			}
			for k, x := range []float64{v, w, u} {
				logs[k].Points = append(logs[k].Points, Point{Step: int64(i), Value: x})
			}
		}
		diff := func(k int) Quantity {
			return Diff(&Log{Series: logs[:1]}, &Log{Series: logs[k : k+1]}, DefaultFloor).Quantities[0]
		}
		if q := diff(1); !q.Parts || q.PartStep != int64(at) {
			t.Errorf("seed %d, %d steps: parts %v at %d, expected %d", seed, n, q.Parts, q.PartStep, at)
		}
		if q := diff(2); q.Parts {
			t.Errorf("seed %d, %d steps: equal ones part at %d, %s", seed, n, q.PartStep, q.Why)
		}
		for _, s := range logs {
			for i := range s.Points {
				s.Points[i].Value = math.Round(s.Points[i].Value*10) / 100
			}
		}
		if q := diff(2); q.Parts {
			t.Errorf("seed %d, %d steps: two digits part at %d, %s", seed, n, q.PartStep, q.Why)
		}
	}
}

// TestEpochs: steps that begin again at the first are another epoch, and no value is lost; steps that go back
// to the middle, and a training that was started again at once, are a restart.
func TestEpochs(t *testing.T) {
	read := func(steps ...int) *Log {
		var b strings.Builder
		for i, s := range steps {
			fmt.Fprintf(&b, "iteration %d | loss: %g\n", s, 1+float64(i)/10)
		}
		l, err := Read(context.Background(), strings.NewReader(b.String()), nil)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	for _, c := range []struct {
		steps                    []int
		points, epochs, replayed int
	}{
		{[]int{1, 2, 3, 4, 5, 1, 2, 3, 4, 5}, 10, 1, 0},
		{[]int{0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1}, 12, 2, 0},
		{[]int{10, 20, 30, 40, 10, 20, 30, 40}, 8, 1, 0},
		{[]int{1, 2, 3, 4, 5, 6, 3, 4, 5, 6, 7}, 7, 0, 1},
		{[]int{1, 2, 1, 2, 3, 4, 5}, 5, 0, 1},
	} {
		l := read(c.steps...)
		if n := len(l.Find(Loss).Points); n != c.points || l.Epochs != c.epochs || l.Replayed != c.replayed {
			t.Errorf("%v: %d points, %d epochs, %d times back", c.steps, n, l.Epochs, l.Replayed)
		}
	}
	// Batches that are counted from 0 or 1 behind a line for the epoch are as many steps as there are.
	for first := range 2 {
		var b strings.Builder
		for epoch := range 3 {
			fmt.Fprintf(&b, "Epoch %d/3\n", epoch+1)
			for s := range 4 {
				fmt.Fprintf(&b, "Epoch: [%d][%d/4]\tLoss %d.5\n", epoch, s+first, epoch*4+s)
			}
		}
		l, err := Read(context.Background(), strings.NewReader(b.String()), nil)
		if err != nil {
			t.Fatal(err)
		}
		points := l.Find(Loss).Points
		for i, p := range points {
			if p.Step != int64(i+first) || p.Value != float64(i)+0.5 {
				t.Errorf("from %d: %v", first, points)
				break
			}
		}
		if len(points) != 12 {
			t.Errorf("from %d: %d values of 12", first, len(points))
		}
	}
}

// TestFew: of two trainings of Keras whose learning rates differ from batch 30 of 60 on, progress bars have but the first and the last
// batch of each epoch in common: these show neither that the losses are together nor where they part.
func TestFew(t *testing.T) {
	log := func(list ...float64) *Log {
		s := &Series{Name: Loss}
		for i, v := range list {
			s.Points = append(s.Points, Point{int64(i), v})
		}
		return &Log{Series: []*Series{s}}
	}
	right := []float64{2.0178, 1.6395, 1.7413, 1.6204, 1.7294, 1.6158}
	for _, c := range []struct {
		wrong []float64
		few   bool
	}{
		{[]float64{2.0178, 1.9587, 2.4709, 2.1509, 2.4296, 2.1509}, true},
		{[]float64{2.0178, 1.6399, 1.7420, 1.6188, 1.7299, 1.6161}, false},
	} {
		d := Diff(log(right...), log(c.wrong...), DefaultFloor)
		if d.Differs() || d.Inconclusive() != c.few || (d.Few() != nil) != c.few {
			t.Errorf("%v: %+v", c.wrong, d.Quantities)
		}
	}
	// A layer of a training in bfloat16 is frozen from step 3: what grows from step to step is noise to four windows.
	d := Diff(log(13.609, 11.218, 10.445, 15.11, 9.063, 10.407, 12.76, 12.287, 9.486, 12.187, 11.5, 9.361, 8.702, 5.931, 7.422, 6.131, 6.855, 8.162, 13.33, 6.308),
		log(13.609, 11.218, 10.446, 15.11, 8.965, 10.11, 12.269, 11.558, 8.401, 9.228, 8.532, 5.131, 6.476, 5.054, 5.873, 4.041, 3.779, 4.293, 6.518, 4.221), DefaultFloor)
	if d.Few() == nil || !d.Inconclusive() {
		t.Errorf("a training that drifts away: %+v", d.Quantities)
	}
}

// TestBegins: what is apart behind a place tells nothing of how noisy logs were before it: these are of Keras, equal to the last digit
// until the learning rate is another one, drift from there with jumps at every epoch, and part where it was changed.
func TestBegins(t *testing.T) {
	a, b := &Series{Name: Loss}, &Series{Name: Loss}
	for i := range 180 {
		v := 1.6 + 0.4*math.Exp(-float64(i%60)/5) + 0.002*math.Sin(float64(i*i))
		w := v
		switch {
		case i >= 60:
			w *= 1.2 + 0.3*math.Exp(-float64(i%60)/6) + 0.05*math.Sin(float64(i)/4)
		case i > 31:
			w *= 1 + 0.01*float64(i-31)
		}
		a.Points, b.Points = append(a.Points, Point{int64(i), v}), append(b.Points, Point{int64(i), w})
	}
	if q := Diff(&Log{Series: []*Series{a}}, &Log{Series: []*Series{b}}, DefaultFloor).Quantities[0]; q.Why != Apart || q.PartStep < 31 || q.PartStep > 34 {
		t.Errorf("%s at %d", q.Why, q.PartStep)
	}
}
