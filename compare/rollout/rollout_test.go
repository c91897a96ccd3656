package rollout

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"precision/compare/verdict"
	"precision/dump/dtype"
	"precision/dump/npy"
)

// write puts a float64 array into a folder.
func write(t *testing.T, dir, name string, shape []int64, v []float64) string {
	t.Helper()
	raw := make([]byte, 0, 8*len(v))
	for _, x := range v {
		for b, bits := 0, math.Float64bits(x); b < 8; b++ {
			raw = append(raw, byte(bits>>(8*b)))
		}
	}
	var file bytes.Buffer
	if err := npy.Write(&file, dtype.Float64, shape, raw); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// made is log-probs of three sequences of eight tokens, six of the last; rollout is off by offs[i%len].
func made(offs ...float64) *LogProbs {
	l := &LogProbs{Rows: 3, Columns: 8}
	for i := range 24 {
		train := -1 - 3*math.Abs(math.Sin(float64(7*i)))
		off := 0.0
		if len(offs) > 0 {
			off = offs[i%len(offs)]
		}
		l.Train, l.Rollout = append(l.Train, train), append(l.Rollout, train-off)
		l.Mask = append(l.Mask, i < 22)
		l.Tokens = append(l.Tokens, int64(i+10))
	}
	l.Tokens[22], l.Tokens[23] = 0, 0
	return l
}

// TestFigures holds the figures against numbers worked out by hand: d is 0.5 and -0.25 in turn.
func TestFigures(t *testing.T) {
	f := made(0.5, -0.25).Figures()
	near := func(name string, got, want float64) {
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	near("tokens", float64(f.Tokens), 22)
	near("mean", f.MeanAbs, 0.375)
	near("max", f.MaxAbs, 0.5)
	near("mult_prob_error", f.MultProbError, (math.Exp(0.5)+math.Exp(0.25))/2)
	near("k3", f.K3, (math.Exp(0.5)-1-0.5+math.Exp(-0.25)-1+0.25)/2)
	near("over", f.Over, 1)
}

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		name   string
		l      *LogProbs
		change func(l *LogProbs)
		want   verdict.Verdict
		cause  string
	}{
		{"equal", made(), nil, verdict.Good, ""},
		{"a little off", made(0.01, -0.02, 0.005), nil, verdict.Inconclusive, ""},
		{"far off", made(0.5, -0.25), nil, verdict.Inconclusive, ""},
		{"few tokens", made(), func(l *LogProbs) { clear(l.Mask[3:]) }, verdict.Inconclusive, ""},
		{"a row shifted", made(0.001), func(l *LogProbs) { copy(l.Train[8:15], l.Train[9:16]) }, verdict.Bad, "row 1"},
		{"a row shifted the other way", made(0.001), func(l *LogProbs) { copy(l.Rollout[8:15], l.Rollout[9:16]) }, verdict.Bad, "row 1"},
		{"NaN that counts", made(), func(l *LogProbs) { l.Train[4] = math.NaN() }, verdict.Bad, "not finite"},
		{"NaN behind the mask", made(), func(l *LogProbs) { l.Train[23] = math.NaN() }, verdict.Good, ""},
		{"padding that counts", made(), func(l *LogProbs) { l.Tokens[20], l.Tokens[21] = 0, 0 }, verdict.Bad, "row 2"},
		{"another prob_diff", made(0.1), func(l *LogProbs) {
			l.Diff = make([]float64, 24)
			for i := range l.Diff {
				l.Diff[i] = math.Abs(math.Exp(l.Train[i]) - math.Exp(l.Rollout[i]))
			}
			l.Diff[9] += 0.5
		}, verdict.Bad, "row 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.change != nil {
				c.change(c.l)
			}
			r, err := Run(context.Background(), &Request{LogProbs: c.l})
			if err != nil {
				t.Fatal(err)
			}
			name := ""
			if len(r.Causes) > 0 {
				name = r.Causes[0].Name
			}
			if r.Verdict != c.want || name != c.cause {
				t.Errorf("found %s, cause %q; want %s, %q", r.Verdict, name, c.want, c.cause)
			}
		})
	}
}

func TestReadLogProbs(t *testing.T) {
	dir := t.TempDir()
	if _, err := ReadLogProbs(dir, -1, ""); err == nil {
		t.Error("an empty folder has log-probs")
	}
	v := make([]float64, 6)
	write(t, dir, "old_log_probs_step_4.npy", []int64{2, 3}, v)
	write(t, dir, "rollout_log_probs_step_4.npy", []int64{2, 3}, v)
	write(t, dir, "response_mask_step_4.npy", []int64{2, 3}, []float64{1, 1, 0, 1, 0, 0})
	l, err := ReadLogProbs(dir, -1, "")
	if err != nil || l.Rows != 2 || l.Columns != 3 || l.Figures().Tokens != 3 {
		t.Fatalf("read %+v: %v", l, err)
	}
	if _, err := ReadLogProbs(dir, 5, ""); err == nil {
		t.Error("a step that is not there was read")
	}
	write(t, dir, "response_mask_step_4.npy", []int64{3, 2}, v)
	if _, err := ReadLogProbs(dir, -1, ""); err == nil {
		t.Error("a mask of another shape was taken")
	}
	// NeMo-RL's names; of two files for one thing none is the right one.
	dir = t.TempDir()
	write(t, dir, "prev_logprobs.npy", []int64{6}, v)
	write(t, dir, "generation_logprobs.npy", []int64{6}, v)
	write(t, dir, "token_mask.npy", []int64{6}, []float64{0, 1, 1, 1, 1, 0})
	if l, err := ReadLogProbs(dir, -1, ""); err != nil || l.Rows != 1 || l.Columns != 6 || l.Figures().Tokens != 4 {
		t.Fatalf("read %+v: %v", l, err)
	}
	write(t, dir, "loss_mask.npy", []int64{6}, v)
	if _, err := ReadLogProbs(dir, -1, ""); err == nil || !strings.Contains(err.Error(), "loss_mask.npy and token_mask.npy") {
		t.Errorf("two masks: %v", err)
	}
}

func TestRouters(t *testing.T) {
	dir := t.TempDir()
	// Two tokens and a place without one, two layers, two choices: token 1 has another set in layer 1, token 0 the same in another order.
	a := write(t, dir, "a.npy", []int64{1, 3, 2, 2}, []float64{0, 1, 2, 3, 0, 1, 2, 3, -1, -1, -1, -1})
	b := write(t, dir, "b.npy", []int64{1, 3, 2, 2}, []float64{1, 0, 2, 3, 0, 1, 2, 5, -1, -1, -1, -1})
	r, err := ReadRouters(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if r.Tokens != 2 || r.Any != 0.5 || r.All != 0.25 || r.Layers[0] != 0 || r.Layers[1] != 0.5 || r.Pairs[1][0] != (Exchange{3, 5, 1}) {
		t.Errorf("found %+v", r)
	}
}
