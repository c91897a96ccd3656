package trainlog

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A trained is a training that is really computed: a classifier with two hidden layers on
// clouds of points that overlap, by gradient descent in float32, with what a device
// rounds and what goes wrong on it.
type trained struct {
	seed  uint64 // of the data and of the first weights
	order uint64 // of the batches
	steps int
	adam  bool
	rate  float64
	round func(float32) float32
	fault string // what goes wrong, from the step on
	from  int
}

const (
	features = 8
	hidden   = 16
	classes  = 5
	points   = 512
	batch    = 16
)

// bfloat rounds to the eight significant digits of bfloat16, half to the eleven of float16.
func bfloat(x float32) float32 {
	b := math.Float32bits(x)
	return math.Float32frombits((b + 0x7fff + b>>16&1) &^ 0xffff)
}

func half(x float32) float32 {
	b := math.Float32bits(x)
	return math.Float32frombits((b + 0xfff + b>>13&1) &^ 0x1fff)
}

func exact(x float32) float32 { return x }

// layer is a matrix of weights with its gradient and the moments of Adam.
type layer struct {
	in, out    int
	w, g, m, v []float32
}

func newLayer(in, out int, rng *rand.Rand) *layer {
	l := &layer{in: in + 1, out: out} // one more: the bias
	n := l.in * out
	l.w, l.g, l.m, l.v = make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range l.w {
		l.w[i] = float32(rng.NormFloat64() / math.Sqrt(float64(in)))
	}
	return l
}

func (l *layer) forward(x []float32, round func(float32) float32) []float32 {
	y := make([]float32, l.out)
	for o := range y {
		w := l.w[o*l.in : (o+1)*l.in]
		sum := w[l.in-1]
		for i, v := range x {
			sum += round(v) * round(w[i])
		}
		y[o] = round(sum)
	}
	return y
}

// backward adds to the gradient of the weights and returns that of the input.
func (l *layer) backward(x, dy []float32, round func(float32) float32) []float32 {
	dx := make([]float32, len(x))
	for o, d := range dy {
		d = round(d)
		for i, v := range x {
			l.g[o*l.in+i] += d * round(v)
			dx[i] += d * round(l.w[o*l.in+i])
		}
		l.g[o*l.in+l.in-1] += d
	}
	return dx
}

// log trains and prints what a training script prints.
func (tr trained) log(t *testing.T) *Log {
	t.Helper()
	rng := rand.New(rand.NewPCG(tr.seed, 1))
	var centres [classes][features]float64
	for c := range centres {
		for f := range centres[c] {
			centres[c][f] = rng.NormFloat64()
		}
	}
	x, label := make([][]float32, points), make([]int, points)
	for i := range x {
		label[i] = rng.IntN(classes)
		x[i] = make([]float32, features)
		for f := range x[i] {
			x[i][f] = float32(centres[label[i]][f] + 1.2*rng.NormFloat64())
		}
	}
	layers := []*layer{newLayer(features, hidden, rng), newLayer(hidden, hidden, rng), newLayer(hidden, classes, rng)}
	order := rand.New(rand.NewPCG(tr.order, 2))
	var text strings.Builder
	for step := 1; step <= tr.steps; step++ {
		wrong := ""
		if step >= tr.from {
			wrong = tr.fault
		}
		if step > tr.from && wrong == "batch" {
			wrong = ""
		}
		loss := 0.0
		for range batch {
			i := order.IntN(points)
			if wrong == "data" { // labels of other points
				i, _ = order.IntN(points), 0
				label[i] = order.IntN(classes)
			}
			loss += tr.sample(layers, x[i], label[i], wrong) / batch
		}
		norm := tr.update(layers, step, wrong)
		fmt.Fprintf(&text, "step %d loss: %.4f grad_norm: %.3f\n", step, loss, norm)
	}
	return read(t, text.String())
}

// sample computes the loss of a point and adds its gradients.
func (tr trained) sample(layers []*layer, x []float32, label int, wrong string) float64 {
	if wrong == "batch" { // one of other units
		x = slices.Clone(x)
		for f := range x {
			x[f] *= 100
		}
	}
	inputs, y := [][]float32{x}, x
	for i, l := range layers {
		y = l.forward(y, tr.round)
		if i < len(layers)-1 {
			for k, v := range y {
				y[k] = tr.round(float32(math.Tanh(float64(v))))
			}
			if wrong == "lane" && i == 1 { // part of an operator's output is not written
				for k := len(y) * 2 / 3; k < len(y); k++ {
					y[k] = 0
				}
			}
			inputs = append(inputs, y)
		}
	}
	peak, sum := y[0], 0.0
	for _, v := range y {
		peak = max(peak, v)
	}
	for _, v := range y {
		sum += math.Exp(float64(v - peak))
	}
	loss := math.Log(sum) - float64(y[label]-peak)
	d := make([]float32, len(y))
	for k, v := range y {
		d[k] = float32(math.Exp(float64(v-peak)) / sum / batch)
	}
	d[label] -= 1.0 / batch
	for i := len(layers) - 1; i >= 0; i-- {
		d = layers[i].backward(inputs[i], d, tr.round)
		for k, h := range inputs[i] {
			if i > 0 {
				d[k] *= 1 - h*h
			}
		}
	}
	if wrong == "nan" {
		loss = math.NaN()
	}
	return loss
}

// update moves the weights and returns the norm of the gradient.
func (tr trained) update(layers []*layer, step int, wrong string) float64 {
	square := 0.0
	rate := tr.rate
	switch wrong {
	case "rate":
		rate *= 3
	case "leaves": // it diverges
		rate *= 300
	}
	for i, l := range layers {
		for k := range l.w {
			g := l.g[k]
			l.g[k] = 0
			switch {
			case wrong == "frozen" && i == 1:
				g = 0
			case wrong == "scale": // the loss scale is not taken out
				g *= 8
			}
			square += float64(g) * float64(g)
			if tr.adam {
				l.m[k] += 0.1 * (g - l.m[k])
				l.v[k] += 0.01 * (g*g - l.v[k])
				corrected := float64(l.m[k]) / (1 - math.Pow(0.9, float64(step)))
				l.w[k] -= float32(rate * corrected / (math.Sqrt(float64(l.v[k])/(1-math.Pow(0.99, float64(step)))) + 1e-6))
				continue
			}
			l.m[k] = 0.9*l.m[k] + g
			l.w[k] -= float32(rate) * l.m[k]
		}
	}
	return math.Sqrt(square)
}

var trainedFaults = []string{"rate", "leaves", "frozen", "scale", "lane", "data", "batch", "nan"}

// TestTrained: of trainings that are really computed, those that differ in how a device
// rounds are not told apart, and those with a fault are.
func TestTrained(t *testing.T) {
	type count struct{ runs, told, early int }
	counts := map[string]*count{}
	get := func(name string) *count {
		if counts[name] == nil {
			counts[name] = &count{}
		}
		return counts[name]
	}
	for seed := *kindsSeed; seed < *kindsSeed+*trainedRuns; seed++ {
		base := trained{seed: seed, order: seed, steps: 300, adam: seed%2 == 0, rate: 0.02, round: exact}
		if base.adam {
			base.rate = 0.003
		}
		golden := base.log(t)
		for name, round := range map[string]func(float32) float32{"bfloat16": bfloat, "float16": half} {
			other := base
			other.round = round
			c := get(name)
			c.runs++
			if d := Diff(golden, other.log(t), DefaultFloor); d.Differs() {
				c.told++
				t.Logf("seed %d, %s: %+v", seed, name, d.Quantities)
			}
		}
		other := base
		other.order += 100
		c := get("other order of batches")
		c.runs++
		if d := Diff(golden, other.log(t), DefaultFloor); d.Differs() {
			c.told++
			t.Logf("seed %d, other order: %+v", seed, d.Quantities)
		}
		for _, fault := range trainedFaults {
			other := base
			other.round, other.fault, other.from = bfloat, fault, 120
			c := get(fault)
			c.runs++
			d := Diff(golden, other.log(t), DefaultFloor)
			if d.Differs() {
				c.told++
			}
			for i := range d.Quantities {
				if q := &d.Quantities[i]; q.Parts && q.PartStep < 120-20 {
					c.early++
					t.Logf("seed %d, %s: %s at %d", seed, fault, q.Name, q.PartStep)
				}
			}
		}
	}
	for name, c := range counts {
		t.Logf("%s: %d of %d told apart, %d before it happened", name, c.told, c.runs, c.early)
		faulty := slices.Contains(trainedFaults, name)
		if c.runs == 0 || c.early > 0 || !faulty && c.told > 0 || faulty && c.told < c.runs {
			t.Errorf("%s: %d of %d told apart, %d before it happened", name, c.told, c.runs, c.early)
		}
	}
}
