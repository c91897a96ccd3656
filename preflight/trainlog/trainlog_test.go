package trainlog

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func read(t *testing.T, text string, patterns ...string) *Log {
	t.Helper()
	var given []Expression
	for _, p := range patterns {
		e, err := ParseExpression(p)
		if err != nil {
			t.Fatal(err)
		}
		given = append(given, e)
	}
	l, err := Read(context.Background(), strings.NewReader(text), given)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// shown writes what was found: loss@1=2.5 lr@1=...
func shown(l *Log) string {
	var b strings.Builder
	for _, s := range l.Series {
		for _, p := range s.Points {
			fmt.Fprintf(&b, "%s@%d=%g ", s.Name, p.Step, p.Value)
		}
	}
	return strings.TrimSpace(b.String())
}

// TestWords: lines as frameworks print them.
func TestWords(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"estimator":  {"INFO:tensorflow:loss = 2.3, step = 100 (1.2 sec)\nINFO:tensorflow:global_step/sec: 8.1\nINFO:tensorflow:loss = 2.1, step = 200 (1.2 sec)", "loss@100=2.3 loss@200=2.1"},
		"keras":      {"Epoch 1/2\n 1/3 [=>..] - ETA: 1s - loss: 2.5000 - accuracy: 0.1\r 2/3 [=>] - loss: 2.4\b\b\b\r3/3 [==] - 1s 2ms/step - loss: 2.3 - val_loss: 9.0\nEpoch 2/2\n1/3 [..] - loss: 2.2\n", "loss@1=2.5 loss@2=2.4 loss@3=2.3 loss@4=2.2 accuracy@1=0.1 val_loss@3=9"},
		"megatron":   {" iteration       10/  5000 | consumed samples:  320 | elapsed time per iteration (ms): 3.1 | learning rate: 1.500E-06 | global batch size: 32 | lm loss: 1.03E+01 | loss scale: 65536.0 | grad norm: 2.345 | number of skipped iterations: 0 |", "loss@10=10.3 loss_scale@10=65536 learning_rate@10=1.5e-06 grad_norm@10=2.345"},
		"fairseq":    {`2020 | INFO | train_inner | {"epoch": 1, "update": 0.03, "loss": "13.2", "lr": "1e-05", "gnorm": "3.5", "num_updates": "100", "loss_scale": "128"}`, "loss@100=13.2 loss_scale@100=128 learning_rate@100=1e-05 grad_norm@100=3.5"},
		"mmdet":      {"2022-01-01 - mmdet - INFO - Epoch [1][50/7330]\tlr: 1.978e-03, eta: 1 day, time: 0.5, loss_cls: 1.1, loss: 1.6, grad_norm: 9.5\n- Epoch [2][50/7330]\tlr: 2e-2, loss: 1.5", "loss@50=1.6 loss@100=1.5 learning_rate@50=0.001978 learning_rate@100=0.02 grad_norm@50=9.5"},
		"mindspore":  {"epoch: 1 step: 100, loss is 2.3025\nepoch: 1 step: 200, loss is nan", "loss@100=2.3025 loss@200=NaN"},
		"hugging":    {"{'loss': 0.5, 'learning_rate': 5e-05, 'epoch': 0.1}\n{'loss': 0.4, 'learning_rate': 4e-05, 'epoch': 0.2}", "loss@0=0.5 loss@1=0.4 learning_rate@0=5e-05 learning_rate@1=4e-05"},
		"kit":        {"precision: step 5, loss scale 1024.000, last step finite: True\nprecision: step 6, loss scale 512.000, last step finite: False", "loss_scale@5=1024 loss_scale@6=512"},
		"json":       {`{"step": 1, "loss": 2.5}` + "\n" + `{"step": 2, "loss": NaN}`, "loss@1=2.5 loss@2=NaN"},
		"csv":        {"step,loss,lr\n1,2.5,0.1\n2,2.4,0.1\n", "loss@1=2.5 loss@2=2.4 learning_rate@1=0.1 learning_rate@2=0.1"},
		"commas":     {"step 1, loss 2.5, lr 0.1\nstep 2, loss 2.25, lr 0.1", "loss@1=2.5 loss@2=2.25 learning_rate@1=0.1 learning_rate@2=0.1"},
		"step first": {"step 3\nnothing\nloss: 1.5\nstep 4\nloss: 1.25", "loss@3=1.5 loss@4=1.25"},
		"replay":     {"step 1 loss 3\nstep 2 loss 2\nstep 3 loss 1\nstep 2 loss 2.5\nstep 3 loss 1.5", "loss@1=3 loss@2=2.5 loss@3=1.5"},
		"tensor":     {"step: 1 train_loss: tensor(2.5, device='npu:0')\n", "loss@1=2.5"},
		"verl":       {"(TaskRunner pid=1) step:1 - critic/score/mean:0.1 - actor/pg_loss:np.float64(0.013) - actor/kl_loss:9 - actor/grad_norm:0.52 - actor/lr:1e-06 - timing_s/step:12.1\n(TaskRunner pid=1) step:2 - actor/pg_loss:0.011 - actor/grad_norm:0.5 - actor/lr:1e-06 - timing_s/step:11.9", "loss@1=0.013 loss@2=0.011 learning_rate@1=1e-06 learning_rate@2=1e-06 grad_norm@1=0.52 grad_norm@2=0.5"},
		"slime":      {"[2025-10-01 10:00:00] rollout.py:101 - perf 0: {'rollout/raw_reward': 0.5}\n[2025-10-01 10:00:10] actor.py:300 - step 0: {'train/loss': 0.013, 'train/pg_loss': 0.014, 'train/grad_norm': 0.52, 'train/lr-pg_0': 1e-06, 'train/step': 0}", "loss@0=0.013 learning_rate@0=1e-06 grad_norm@0=0.52"},
		"nemo rl":    {"===== Step 1/100 =====\nTraining Results:\n  • Loss: 0.0131\n  • Generation KL Error: 0.0021\n  • Grad Norm: 0.52\n===== Step 2/100 =====\n  • Loss: 0.0121\n  • Grad Norm: 0.51", "loss@1=0.0131 loss@2=0.0121 grad_norm@1=0.52 grad_norm@2=0.51"},
		"openrlhf":   {"Global step 3: {'policy_loss': 0.01, 'actor_grad_norm': 0.4, 'actor_lr': 5e-07, 'kl': 0.002}", "loss@3=0.01 learning_rate@3=5e-07 grad_norm@3=0.4"},
		"tqdm":       {"  0%|          | 0/100 [00:00<?, ?it/s]\r 10%|█         | 10/100 [00:01<00:09,  9.8it/s, loss=2.5]\r 20%|█         | 20/100 [00:02<00:09,  9.8it/s, loss=2.25]\n", "loss@10=2.5 loss@20=2.25"},
		"lightning":  {"Epoch 0:  10%|█         | 10/100 [00:01<00:09,  9.8it/s, loss=2.5, v_num=0]\rEpoch 0:  20%|█         | 20/100 [00:01<00:09,  9.8it/s, loss=2.25, v_num=0]\rEpoch 1:  10%|█         | 10/100 [00:01<00:09,  9.8it/s, train_loss=1.5]\n", "loss@10=2.5 loss@20=2.25 loss@30=1.5"},
		"factory":    {"{\"current_steps\": 10, \"total_steps\": 100, \"loss\": 0.5, \"lr\": 1e-05}\n{\"current_steps\": 20, \"total_steps\": 100, \"loss\": 0.25, \"lr\": 2e-05}\n", "loss@10=0.5 loss@20=0.25 learning_rate@10=1e-05 learning_rate@20=2e-05"},
		"wandb":      {"{\"_step\": 1, \"train/loss\": 2.5, \"_runtime\": 3.3}\n{\"_step\": 2, \"train/loss\": 2.25}\n", "loss@1=2.5 loss@2=2.25"},
		"colours":    {"\x1b[32mstep 1\x1b[0m loss \x1b[1m2.5\x1b[0m\n\x1b[32mstep 2\x1b[0m loss \x1b[1;31m2.25\x1b[0m\n", "loss@1=2.5 loss@2=2.25"},
		"tabs":       {"step\tloss\tlr\n1\t2.5\t0.1\n2\t2.25\t0.1\n", "loss@1=2.5 loss@2=2.25 learning_rate@1=0.1 learning_rate@2=0.1"},
		"thousands":  {"step 1,000 loss 2.5\nstep 1,010 loss 2.25\n", "loss@1000=2.5 loss@1010=2.25"},
		"held out":   {"step 10 loss 2.5\nstep 10 val loss 9.5\nstep 10, validation loss: 9\nTest set: Average loss: 7, Accuracy: 1/2\nstep 20 test_loss 8 loss 2.25\nEval: loss 3\nstep 30: train loss 2, val loss 4\nlatest loss 1.5\n", "loss@10=2.5 loss@20=2.25 loss@30=1.5"},
		"epochs":     {"Epoch 1, Loss: 0.5\nEpoch 2, Loss: 0.25\nEpoch 4, Loss: 0.125\n", "loss@1=0.5 loss@2=0.25 loss@3=0.125"},
		"no words":   {"val_loss: 3, closs 4, bloss=2\nsteps/sec: 3", ""},
	} {
		if got := shown(read(t, c.text)); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

func TestExpressions(t *testing.T) {
	text := "it=5 L<2.5>\nit=6 L<2.25> other\n"
	want := "loss@5=2.5 loss@6=2.25"
	for _, p := range [][]string{{`(?P<step>\d+) L<(?P<loss>[^>]+)`}, {`step=it=(\d+)`, `loss=L<(.*?)>`}} {
		if got := shown(read(t, text, p...)); got != want {
			t.Errorf("%v: %s", p, got)
		}
	}
	for _, bad := range []string{"loss", "loss=(", "loss=x", `(\d+)`} {
		if _, err := ParseExpression(bad); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

func TestScaleFalls(t *testing.T) {
	l := read(t, "step 1 loss scale 1024\nstep 2 loss scale 512\nstep 3 loss scale 1024\n"+
		"Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 256.0\n[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 256, reducing to 128\n")
	if got := fmt.Sprint(l.Drops); got != "[{2 1024 512} {3 1024 256} {3 256 128}]" || l.DropCount != 3 {
		t.Error(got)
	}
}

// TestLong: a log of any length is held in bounds, and two keep the same steps.
func TestLong(t *testing.T) {
	var a, b Series
	a.Stride, b.Stride = 1, 1
	for i := range int64(3 * MaxPoints) {
		a.put(Point{i, 1})
		b.put(Point{i + 7, 1})
	}
	if len(a.Points) > MaxPoints || a.Stride != 4 {
		t.Errorf("%d points, stride %d", len(a.Points), a.Stride)
	}
	if c := common(&a, &b); len(c.steps) < MaxPoints/2 {
		t.Errorf("%d steps in common", len(c.steps))
	}
	// A line that has no end.
	l := read(t, "step 1 loss 2 "+strings.Repeat("x", 1<<20)+"\nstep 2 loss 1\n")
	if shown(l) != "loss@1=2 loss@2=1" {
		t.Error(shown(l))
	}
}

// TestNoisier: two losses that keep their mean, but not their distance.
func TestNoisier(t *testing.T) {
	series := func(far float64) *Log {
		rng := rand.New(rand.NewPCG(1, 2))
		s := &Series{Name: Loss, Stride: 1}
		for i := range 200 {
			v := 1 + 0.2*rng.NormFloat64() + 0.001*far*rng.NormFloat64()
			if own := rng.NormFloat64(); i >= 120 {
				v += 0.2 * far * own
			}
			s.Points = append(s.Points, Point{int64(i + 1), v})
		}
		return &Log{Series: []*Series{s}}
	}
	q := Diff(series(0), series(1), DefaultFloor).Quantities[0]
	if q.Why != Noisier || q.PartStep < 119 || q.PartStep > 126 || q.Noise > 0.01 || q.Drift < 0.1 {
		t.Errorf("%+v", q)
	}
	if q := Diff(series(0), series(0.01), DefaultFloor).Quantities[0]; q.Parts {
		t.Errorf("%+v", q)
	}
}

// Two logs that are equal and then a factor apart diverge, whatever their length, and so do those with a
// spike of a step or of ten; what both logs do, or did before, is none.
func TestLeap(t *testing.T) {
	noisy := func(i int) float64 { return 1 + 0.2*math.Sin(float64(i*i)) }
	for _, n := range []int{4, 8, 16, 24, 30, 40, 100, 1000} {
		for name, c := range map[string]struct {
			b    func(i int, v float64) float64
			want bool
		}{
			"same":       {func(i int, v float64) float64 { return v }, false},
			"noise":      {func(i int, v float64) float64 { return v * noisy(i) }, false},
			"half 19":    {func(i int, v float64) float64 { return v * []float64{1, 19}[2*i/n] }, true},
			"half 250":   {func(i int, v float64) float64 { return v * []float64{1, 250}[2*i/n] }, true},
			"spike 5":    {func(i int, v float64) float64 { return v * []float64{1, 5}[map[bool]int{true: 1}[i == n/2+1]] }, true},
			"spike 300":  {func(i int, v float64) float64 { return v * []float64{1, 300}[map[bool]int{true: 1}[i == n/2+1]] }, true},
			"first":      {func(i int, v float64) float64 { return v * []float64{1, 300}[map[bool]int{true: 1}[i == 0]] }, true},
			"third":      {func(i int, v float64) float64 { return v / []float64{1, 300}[map[bool]int{true: 1}[i == 2]] }, true},
			"spike down": {func(i int, v float64) float64 { return v / []float64{1, 5}[map[bool]int{true: 1}[i == n/2+1]] }, true},
			"spike in ten": {func(i int, v float64) float64 {
				return v * (1 + 4*math.Exp(-float64(i-n/2-1)/4)*map[bool]float64{true: 1}[i > n/2])
			}, true},
			"spike, noise": {func(i int, v float64) float64 {
				return v * noisy(i) * []float64{1, 8}[map[bool]int{true: 1}[i == n/2+1]]
			}, true},
		} {
			a, b := &Series{Name: Loss, Stride: 1}, &Series{Name: Loss, Stride: 1}
			for i := range n {
				v := 3/float64(i+1) + 0.1
				a.Points = append(a.Points, Point{int64(i + 1), v})
				b.Points = append(b.Points, Point{int64(i + 1), c.b(i, v)})
			}
			if q := Diff(&Log{Series: []*Series{a}}, &Log{Series: []*Series{b}}, DefaultFloor).Quantities[0]; q.Parts != c.want && (name != "noise" || n >= 20) && (name != "third" || n >= 16) { // of few steps the first says it all
				t.Errorf("%d steps, %s: %v %s at %d", n, name, q.Parts, q.Why, q.PartStep)
			}
		}
	}
}

// Logs that have too little in common, or nothing that could differ, are not told to be together; one that notes every tenth step
// reaches as far as others, and no gate that wants all lets it pass.
func TestTooLittle(t *testing.T) {
	log := func(given bool, series ...*Series) *Log { return &Log{Series: series, Given: given} }
	series := func(name string, value func(i int) float64, has func(i int) bool) *Series {
		s := &Series{Name: name, Stride: 1}
		for i := range 200 {
			if has == nil || has(i) {
				s.Points = append(s.Points, Point{int64(i), value(i)})
			}
		}
		return s
	}
	falling := func(i int) float64 { return 8 / (1 + 0.1*float64(i)) }
	always := func(v float64) func(int) float64 { return func(int) float64 { return v } }
	loss := func(has func(i int) bool) *Series { return series(Loss, falling, has) }
	replayed := log(false, loss(nil))
	replayed.Replayed = 3
	for name, c := range map[string]struct {
		a, b         *Log
		open, strict bool // nothing can be told; a gate that wants all fails
	}{
		"whole":            {log(false, loss(nil)), log(false, loss(nil)), false, false},
		"every tenth":      {log(false, loss(nil)), log(false, loss(func(i int) bool { return i%10 == 9 })), false, true},
		"seldom later":     {log(false, loss(nil)), log(false, loss(func(i int) bool { return i < 60 || i%10 == 0 })), false, true},
		"last step":        {log(false, loss(nil)), log(false, loss(func(i int) bool { return i < 199 })), false, true},
		"second half":      {log(false, loss(nil)), log(false, loss(func(i int) bool { return i >= 100 })), true, true},
		"tenth of half":    {log(false, loss(nil)), log(false, loss(func(i int) bool { return i < 100 && i%10 == 0 })), true, true},
		"end":              {log(false, loss(nil)), log(false, loss(func(i int) bool { return i < 150 })), true, true},
		"middle":           {log(false, loss(nil)), log(false, loss(func(i int) bool { return i < 80 || i > 120 })), true, true},
		"here and there":   {log(false, loss(nil)), log(false, loss(func(i int) bool { return i*i%7 > 1 })), true, true},
		"middle of both":   {log(false, loss(func(i int) bool { return i < 80 || i > 120 })), log(false, loss(func(i int) bool { return i < 80 || i > 120 })), false, false},
		"one step":         {log(false, loss(nil)), log(false, loss(func(i int) bool { return i != 77 })), false, true},
		"no loss":          {log(false, loss(nil), series(Norm, falling, nil)), log(false, series(Norm, falling, nil)), true, true},
		"no norm":          {log(false, loss(nil), series(Norm, falling, nil)), log(false, loss(nil)), false, true},
		"asked for":        {log(true, loss(nil), series("kl", falling, nil)), log(true, loss(nil)), true, true},
		"NaN":              {log(false, series(Loss, always(math.NaN()), nil)), log(false, series(Loss, always(math.Inf(1)), nil)), true, true},
		"NaN beside norms": {log(false, series(Loss, always(math.NaN()), nil), series(Norm, falling, nil)), log(false, series(Loss, always(math.NaN()), nil), series(Norm, falling, nil)), true, true},
		"zero":             {log(false, series(Loss, always(0), nil)), log(false, series(Loss, always(0), nil)), true, true},
		"zero, and norms":  {log(false, series(Loss, always(0), nil), series(Norm, falling, nil)), log(false, series(Loss, always(0), nil), series(Norm, falling, nil)), false, true},
		"rate":             {log(false, series(Rate, always(0.1), nil)), log(false, series(Rate, always(0.1), nil)), false, false},
		"replayed":         {log(false, loss(nil)), replayed, false, true},
	} {
		d := Diff(c.a, c.b, DefaultFloor)
		if d.Differs() || d.Inconclusive() != c.open || d.Lost() != c.strict {
			t.Errorf("%s: differs %v, inconclusive %v, lost %v", name, d.Differs(), d.Inconclusive(), d.Lost())
		}
		if d := Diff(c.b, c.a, DefaultFloor); d.Inconclusive() != c.open || d.Lost() != c.strict {
			t.Errorf("%s, exchanged: inconclusive %v, lost %v", name, d.Inconclusive(), d.Lost())
		}
		if d.Quantities[0].Parts = true; d.Inconclusive() {
			t.Errorf("%s: what differs is no less so", name)
		}
	}
}

func TestReasons(t *testing.T) {
	log := func(name string, v ...float64) *Log {
		s := &Series{Name: name, Stride: 1}
		for i, x := range v {
			s.Points = append(s.Points, Point{int64(i + 1), x})
		}
		return &Log{Series: []*Series{s}}
	}
	nan := math.NaN()
	for name, c := range map[string]struct {
		a, b *Log
		want Why
		step int64
	}{
		"NaN":        {log(Loss, 3, 2, nan, nan), log(Loss, 3, 2, 1, 1), NotFinite, 3},
		"both NaN":   {log(Loss, 3, nan), log(Loss, 3, nan), "", 0},
		"start":      {log(Loss, 3, 3, 3), log(Loss, 2, 2, 2), Start, 1},
		"rate":       {log(Rate, .1, .1, .05), log(Rate, .1, .1, .1), Unequal, 3},
		"rate print": {log(Rate, .1, .12345), log(Rate, .1, .1234), "", 0},
		"short":      {log(Loss, 3, 2, 1), log(Loss, 3, 2, 4), Leap, 3},
		"to zero":    {log(Loss, 3.5, 2.5, 2.1, 1.9, 1.8), log(Loss, 3.5, 2.5, 2.1, 0, 0), Leap, 4},
		"below zero": {log(Loss, .011, -.02, .013, -.012, .01), log(Loss, .011, -.02, .013, .012, .01), Leap, 4},
		"zero":       {log(Loss, 0, 0, 0), log(Loss, 0, 0, 0), "", 0},
	} {
		q := Diff(c.a, c.b, DefaultFloor).Quantities[0]
		if q.Why != c.want || q.Parts && q.PartStep != c.step {
			t.Errorf("%s: %+v", name, q)
		}
	}
	// Losses of a policy are about zero, and other batches give others.
	alarms := 0
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(*kindsSeed, seed))
		var about [2][]float64
		for i := range 300 {
			for k := range about {
				about[k] = append(about[k], math.Round(1e6*(0.001+min(1, float64(i))*0.02*rng.NormFloat64()))/1e6)
			}
		}
		if q := Diff(log(Loss, about[0]...), log(Loss, about[1]...), DefaultFloor).Quantities[0]; q.Parts {
			alarms++
			t.Logf("%s at %d: %g, %g", q.Why, q.PartStep, q.PartA, q.PartB)
		}
	}
	if alarms > 4 {
		t.Errorf("%d of 200 losses about zero part", alarms)
	}
	d := Diff(log(Loss, 1), log(Rate, 1), DefaultFloor)
	if fmt.Sprint(d.OnlyA, d.OnlyB, d.Differs()) != "[loss] [learning_rate] false" {
		t.Error(d.OnlyA, d.OnlyB)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("step 1 loss 2\nepoch 2 [1/3] lr=nan")
	f.Add("step,loss\n1,2\r\b3")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := Read(context.Background(), strings.NewReader(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range l.Series {
			for i := 1; i < len(s.Points); i++ {
				if s.Points[i].Step <= s.Points[i-1].Step {
					t.Fatal("steps go back")
				}
			}
		}
		Diff(l, l, DefaultFloor)
	})
}
