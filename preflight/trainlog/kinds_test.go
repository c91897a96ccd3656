package trainlog

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	kindsSeed = flag.Uint64("kinds.seed", 1, "the first seed of pairs of logs and of trainings")
	kindsRuns = flag.Int("kinds.runs", 10, "how many pairs of each kind")

	trainedRuns = flag.Uint64("trained.runs", 3, "how many trainings")
)

// A pair of logs of two trainings: the curve, what its batches make of it, what else tells them apart without a fault, and the fault.
type pair struct {
	curve, style, noise, fault string
	n, at                      int // steps, and the first one that is wrong
	every                      int64
	from                       int64
	a, b                       []float64
}

// The kinds: shapes of losses, ways to print a log, what two healthy trainings differ by, and faults.
var (
	curves = []string{"falls", "slowly", "flat", "hump", "steps"}
	styles = []string{"plain", "megatron", "keras", "json", "csv", "mindspore"}
	noises = []string{"equal", "rounding", "drifting", "two digits", "bfloat16", "other order", "wild order", "heavy order", "order tells later", "noise grows", "spikes on both"}
	faults = []string{"none", "factor", "half again", "spike", "large spike", "spike in ten", "hole", "diverges", "creeps", "stands still", "nan"}
)

// newPair makes a pair. Noise is what lies between two healthy ones; a fault is several times as large as that.
func newPair(noise, fault string, rng *rand.Rand) *pair {
	p := &pair{noise: noise, fault: fault, curve: curves[rng.IntN(len(curves))], style: styles[rng.IntN(len(styles))]}
	p.n = []int{4, 8, 16, 24, 30, 40, 100, 300, 1000, 3000}[rng.IntN(10)]
	p.every = []int64{1, 1, 1, 5, 10}[rng.IntN(5)]
	if p.from = rng.Int64N(2); p.style == "keras" {
		p.every, p.from = 1, 1
	}
	p.at = p.n/2 + rng.IntN(max(1, p.n/4))
	jitter := []float64{0, 0.01, 0.05, 0.15, 0.3}[rng.IntN(5)]
	between := map[string]float64{"rounding": 1e-6, "drifting": 2e-3, "bfloat16": 3e-3, "two digits": 3e-3, "other order": 0.05, "wild order": 0.2, "heavy order": 0.05, "order tells later": 0.1, "noise grows": 0.01}[noise]
	drift, level := 0.0, 1+4*rng.Float64()
	spikes := map[int]float64{}
	if noise == "spikes on both" {
		for range 1 + p.n/50 {
			spikes[rng.IntN(p.n)] = 2 + 20*rng.Float64()
		}
	}
	stuck := 0.0
	for i := range p.n {
		x := float64(i) / float64(p.n)
		v := level
		switch p.curve {
		case "falls":
			v *= 0.1 + math.Exp(-4*x)
		case "slowly":
			v *= 1 / (1 + 2*x)
		case "hump":
			v *= 0.2 + math.Exp(-5*x) + 0.5*math.Exp(-math.Pow((x-0.3)/0.05, 2))
		case "steps":
			v *= []float64{1, 0.5, 0.3, 0.25}[int(4*x)]
		}
		v *= math.Exp(jitter * rng.NormFloat64())
		w := v
		switch noise {
		case "rounding", "drifting":
			drift = 0.99*drift + between*rng.NormFloat64()
			w *= math.Exp(drift * min(1, float64(i)/20))
		case "bfloat16", "two digits":
			w *= math.Exp(between * rng.NormFloat64())
		case "other order", "wild order":
			v *= math.Exp(between * rng.NormFloat64() * min(1, float64(i)))
			w *= math.Exp(between * rng.NormFloat64() * min(1, float64(i)))
		case "heavy order":
			v *= math.Exp(between * rng.ExpFloat64() * min(1, float64(i)))
			w *= math.Exp(between * rng.ExpFloat64() * min(1, float64(i)))
		case "noise grows": // as a loss comes to nothing
			v *= math.Exp(between * rng.NormFloat64() * min(1, float64(i)) * (1 + 30*x))
			w *= math.Exp(between * rng.NormFloat64() * min(1, float64(i)) * (1 + 30*x))
		case "order tells later": // the first losses of a classifier of many classes are the same for any batch
			v *= math.Exp(between * rng.NormFloat64() * min(1, float64(i*i+1)/900))
			w *= math.Exp(between * rng.NormFloat64() * min(1, float64(i*i+1)/900))
		case "spikes on both":
			if s := spikes[i]; s > 0 {
				v *= s
				w *= s * math.Exp(0.005*rng.NormFloat64())
			}
		}
		after := float64(i - p.at)
		if after >= 0 {
			switch fault {
			case "factor":
				w *= 19 + 231*float64(p.n%3)/2
			case "half again":
				w *= 1.5 + 4*max(between, 0.02)
			case "spike", "large spike", "hole":
				if after == 0 {
					w *= map[string]float64{"spike": 5, "large spike": 300, "hole": 0.1}[fault]
				}
			case "spike in ten":
				w *= 1 + 4*math.Exp(-after/4)
			case "diverges": // doubles every so often
				w *= math.Exp2(after / max(2, float64(p.n)/40))
			case "creeps":
				w *= 1 + 4*min(1, after/max(1, float64(p.n)/10))
			case "stands still":
				if stuck == 0 {
					stuck = 3 * w
				}
				w = stuck * math.Exp(jitter*rng.NormFloat64())
			case "nan":
				w = math.NaN()
			}
		}
		p.a, p.b = append(p.a, v), append(p.b, w)
	}
	return p
}

func (p *pair) digits() string {
	if p.noise == "two digits" {
		return "%.2g"
	}
	return "%.6g"
}

// log is what a side prints, without its text.
func (p *pair) log(values []float64) *Log {
	s := &Series{Name: Loss, Stride: 1}
	for i, v := range values {
		v, _ = strconv.ParseFloat(fmt.Sprintf(p.digits(), v), 64)
		s.Points = append(s.Points, Point{p.from + int64(i)*p.every, v})
	}
	return &Log{Series: []*Series{s}}
}

// print writes a side as a framework does, with as many digits.
func (p *pair) print(values []float64) string {
	var b strings.Builder
	if p.style == "csv" {
		b.WriteString("step,loss,lr\n")
	}
	for i, v := range values {
		step, loss := p.from+int64(i)*p.every, fmt.Sprintf(p.digits(), v)
		switch p.style {
		case "plain":
			fmt.Fprintf(&b, "2025-01-01 INFO step %d loss: %s lr 0.001 (12.5 samples/s)\n", step, loss)
		case "megatron":
			fmt.Fprintf(&b, " iteration %8d/  500000 | consumed samples: %d | elapsed time per iteration (ms): 3.1 | learning rate: 1.0E-03 | lm loss: %s | loss scale: 1.0 |\n", step, 32*step, loss)
		case "keras":
			if i%50 == 0 {
				fmt.Fprintf(&b, "Epoch %d/100\n", i/50+1)
			}
			fmt.Fprintf(&b, "\r%2d/50 [==>...........] - ETA: 1s - loss: %s - accuracy: 0.5", i%50+1, loss)
			if i%50 == 49 || i == len(values)-1 {
				b.WriteString("\n")
			}
		case "json":
			fmt.Fprintf(&b, "{\"step\": %d, \"loss\": %s, \"lr\": 0.001}\n", step, loss)
		case "csv":
			fmt.Fprintf(&b, "%d,%s,0.001\n", step, loss)
		case "mindspore":
			fmt.Fprintf(&b, "epoch: 1 step: %d, loss is %s\n", step, loss)
		}
	}
	return b.String()
}

// TestKinds counts, over pairs of logs of many kinds, how many healthy ones are said to differ, how many with a fault to be together,
// and how many with one to part more than a window before it. Logs of 24 steps and more of the same data, which differ by
// rounding, are all told right.
func TestKinds(t *testing.T) {
	type tally struct{ runs, wrong, early int }
	sums := map[string]*tally{"healthy": {}, "same data": {}, "other data": {}, "short": {}}
	for k, fault := range faults {
		for m, noise := range noises {
			for run := range *kindsRuns {
				p := newPair(noise, fault, rand.New(rand.NewPCG(*kindsSeed, uint64(run<<16+k<<8+m))))
				var logs [2]*Log
				for i, values := range [][]float64{p.a, p.b} {
					logs[i] = p.log(values)
					if run%8 == 0 && p.n <= 300 {
						l := read(t, p.print(values))
						if !slices.EqualFunc(l.Find(Loss).Points, logs[i].Series[0].Points, func(a, b Point) bool { return a == b || math.IsNaN(a.Value) && math.IsNaN(b.Value) }) {
							t.Fatalf("%+v is read as %+v\n%s", logs[i].Series[0].Points, l.Find(Loss).Points, p.print(values))
						}
					}
				}
				q := Diff(logs[0], logs[1], DefaultFloor).Quantities[0]
				kind := "other data"
				switch {
				case fault == "none":
					kind = "healthy"
				case p.n < 24:
					kind = "short"
				case slices.Contains([]string{"equal", "rounding", "two digits", "bfloat16"}, noise):
					kind = "same data"
				}
				early := fault != "none" && q.Parts && q.PartStep < p.from+int64(max(0, p.at-max(p.n/25, 3)))*p.every
				sums[kind].runs++
				if q.Parts == (fault == "none") || early {
					t.Logf("%s, %s, %s, %s, %d steps, at %d: %q at %d, noise %.3g", fault, noise, p.curve, p.style, p.n, p.at, q.Why, (q.PartStep-p.from)/p.every, q.Noise)
				}
				if early {
					sums[kind].early++
				} else if q.Parts == (fault == "none") {
					sums[kind].wrong++
				}
			}
		}
	}
	for kind, c := range sums {
		t.Logf("%s: %d pairs, %d wrong, %d part too early", kind, c.runs, c.wrong, c.early)
		limit := map[string]int{"healthy": c.runs / 100, "same data": 0, "other data": c.runs / 10, "short": c.runs / 10}[kind]
		if c.wrong > limit || c.early > limit/2 {
			t.Errorf("%s: more than %d wrong", kind, limit)
		}
	}
}
