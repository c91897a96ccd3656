package rollout

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"precision/dump/checkpoint"
	"precision/internal/lazy"
	"precision/internal/must"
)

// LogProbs are the log-probabilities that two engines gave the same sampled tokens: [sequence, position of the response],
// natural logarithms.
type LogProbs struct {
	Rows, Columns  int
	Train, Rollout []float64
	// Mask says which positions count; nil is all.
	Mask []bool
	// Tokens are the ids that were sampled; nil if nobody recorded them.
	Tokens []int64
	// Diff is |exp(train) − exp(rollout)| as the trainer wrote it, nil if it did not.
	Diff []float64
	// Files are those that were read.
	Files []string
}

// The names that verl's rollout dumps have, and others', by what is in them. A step stands behind: old_log_probs_step_0.npy.
var dumped = []struct {
	what string
	name func() *regexp.Regexp
}{
	{"rollout", lazy.Regexp(`^(?:rollout_log_probs?|generation_logprobs|inference_logprobs)`)},
	{"train", lazy.Regexp(`^(?:old_log_probs?|train_log_probs?|prev_logprobs|actor_log_probs?)`)},
	{"mask", lazy.Regexp(`^(?:response_mask|token_mask|loss_mask)`)},
	{"tokens", lazy.Regexp(`^(?:responses|output_ids|response_ids)`)},
	{"diff", lazy.Regexp(`^prob_diff`)},
}

var stepIn = lazy.Regexp(`(?:_step_?|[._])(\d+)$`)

// ReadLogProbs reads the arrays of a folder. Of several steps the given one is taken; below 0 the first. A mask that is given by
// itself goes ahead of the folder's.
func ReadLogProbs(dir string, step int, mask string) (*LogProbs, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	files := map[string]map[int]string{}
	steps := map[int]bool{}
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		if !slices.Contains([]string{".npy", ".npz", ".pt"}, ext) {
			continue
		}
		stem := strings.TrimSuffix(e.Name(), ext)
		for _, d := range dumped {
			if !d.name().MatchString(stem) {
				continue
			}
			n := 0
			if m := stepIn().FindStringSubmatch(stem); m != nil {
				n, _ = strconv.Atoi(m[1])
			}
			if files[d.what] == nil {
				files[d.what] = map[int]string{}
			}
			if old := files[d.what][n]; old != "" {
				return nil, fmt.Errorf("%s: found %s and %s, expected one file of step %d", dir, filepath.Base(old), e.Name(), n)
			}
			files[d.what][n] = filepath.Join(dir, e.Name())
			if d.what == "train" || d.what == "rollout" {
				steps[n] = true
			}
			break
		}
	}
	for _, side := range []string{"train", "rollout"} {
		if len(files[side]) == 0 {
			return nil, &MissingError{dir, side}
		}
	}
	if step < 0 {
		list := make([]int, 0, len(steps))
		for n := range steps {
			if files["train"][n] != "" && files["rollout"][n] != "" {
				list = append(list, n)
			}
		}
		if len(list) == 0 {
			return nil, &MissingError{dir, "train and rollout log-probs of one step"}
		}
		step = slices.Min(list)
	}
	for _, side := range []string{"train", "rollout"} {
		if files[side][step] == "" {
			return nil, &MissingError{dir, fmt.Sprintf("%s (step %d)", side, step)}
		}
	}
	return readFiles(files["train"][step], files["rollout"][step], cmp.Or(mask, files["mask"][step]), files["tokens"][step], files["diff"][step])
}

// A MissingError tells that a folder lacks the arrays of a side.
type MissingError struct{ Dir, What string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s: found no %s log-probs, expected rollout_log_probs* and old_log_probs* (.npy, .npz or .pt)", e.Dir, e.What)
}

// ReadArrays reads the log-probs of two files, and the mask of a third, which may be "".
func ReadArrays(train, rollout, mask string) (*LogProbs, error) {
	return readFiles(train, rollout, mask, "", "")
}

func readFiles(train, rollout, mask, tokens, diff string) (_ *LogProbs, err error) {
	defer must.Catch(&err)
	l := &LogProbs{}
	var shape []int64
	read := func(file string) []float64 {
		if file == "" {
			return nil
		}
		v, s, err := Array(file)
		must.Do(err)
		if len(s) == 1 {
			s = []int64{1, s[0]}
		}
		must.Not(len(s) != 2, "%s: found an array of shape %v, expected [sequence, position]", file, s)
		if shape == nil {
			shape = s
		}
		must.Not(!slices.Equal(shape, s), "%s: found shape %v, expected %v as in %s", file, s, shape, cmp.Or(l.Files...))
		l.Files = append(l.Files, file)
		return v
	}
	l.Train, l.Rollout = read(train), read(rollout)
	l.Rows, l.Columns = int(shape[0]), int(shape[1])
	for _, m := range read(mask) {
		l.Mask = append(l.Mask, m != 0)
	}
	for _, id := range read(tokens) {
		l.Tokens = append(l.Tokens, int64(id))
	}
	l.Diff = read(diff)
	return l, nil
}

// mostArray bounds what is read as one array of log-probs or experts: 2^27 numbers are a gigabyte here.
const mostArray = 1 << 27

// Array reads the only array of a file as numbers, with its shape.
func Array(file string) (_ []float64, _ []int64, err error) {
	defer must.Catch(&err)
	set := must.Get(checkpoint.Open(file))
	defer set.Close()
	must.Not(len(set.Tensors) != 1, "%s: found %d arrays, expected one", file, len(set.Tensors))
	t := set.Tensors[0]
	must.Not(t.Len() > mostArray, "%s: found %d numbers, expected at most %d", file, t.Len(), mostArray)
	n := must.Get(t.Numbers())
	v := make([]float64, t.Len())
	return v, t.Shape, n.Read(v, 0)
}

// counts reports whether a position takes part.
func (l *LogProbs) counts(i int) bool { return l.Mask == nil || l.Mask[i] }

// Figures are what trainers print of the difference d = train − rollout of the log-probs of sampled tokens, over the tokens that the
// mask leaves: NeMo-RL's token_mult_prob_error, the k3 estimate of the divergence
// (http://joschu.net/blog/kl-approx.html), verl's rollout_probs_diff.
type Figures struct {
	Tokens        int     `json:"tokens"`
	MeanAbs       float64 `json:"mean_abs"`        // mean |d|
	MaxAbs        float64 `json:"max_abs"`         // max |d|
	MultProbError float64 `json:"mult_prob_error"` // mean exp|d|
	K3            float64 `json:"k3"`              // mean of exp d − 1 − d
	MeanProbDiff  float64 `json:"mean_prob_diff"`  // mean |exp train − exp rollout|
	// Over is the share of tokens with |d| above Tau.
	Over float64 `json:"share_over"`
	// Worst is the sequence and position of the largest |d|.
	Worst [2]int `json:"worst"`
	// Growth is mean |d| of the last third of the positions over that of the first.
	Growth float64 `json:"growth,omitempty"`
	// Sequences is mean |d| of each.
	Sequences []float64 `json:"sequences"`
	// NotFinite counts tokens that count and have a log-prob that is no number on one side or both.
	NotFinite int `json:"not_finite,omitempty"`
}

// Tau is the difference above which a token counts as far off: a probability wrong by a tenth.
const Tau = 0.1

// Figures computes them.
func (l *LogProbs) Figures() *Figures {
	f := &Figures{}
	var third [2]struct {
		sum float64
		n   int
	}
	for r := range l.Rows {
		sum, n, long := 0.0, 0, 0
		for c := range l.Columns {
			if l.counts(r*l.Columns + c) {
				long = c + 1
			}
		}
		for c := range l.Columns {
			i := r*l.Columns + c
			if !l.counts(i) {
				continue
			}
			d := l.Train[i] - l.Rollout[i]
			if d-d != 0 {
				f.NotFinite++
				continue
			}
			size := math.Abs(d)
			f.Tokens++
			f.MeanAbs += size
			f.MultProbError += math.Exp(size)
			f.K3 += math.Expm1(d) - d
			f.MeanProbDiff += math.Abs(math.Exp(l.Train[i]) - math.Exp(l.Rollout[i]))
			if size > Tau {
				f.Over++
			}
			if size > f.MaxAbs {
				f.MaxAbs, f.Worst = size, [2]int{r, c}
			}
			sum, n = sum+size, n+1
			switch {
			case long < 6:
			case c < long/3:
				third[0].sum, third[0].n = third[0].sum+size, third[0].n+1
			case c >= long-long/3:
				third[1].sum, third[1].n = third[1].sum+size, third[1].n+1
			}
		}
		f.Sequences = append(f.Sequences, sum/float64(max(n, 1)))
	}
	n := float64(max(f.Tokens, 1))
	f.MeanAbs, f.MultProbError, f.K3, f.MeanProbDiff, f.Over = f.MeanAbs/n, f.MultProbError/n, f.K3/n, f.MeanProbDiff/n, f.Over/n
	if third[0].sum > 0 && third[1].n > 0 {
		f.Growth = third[1].sum / float64(third[1].n) / (third[0].sum / float64(third[0].n))
	}
	return f
}

// A row is taken for shifted where the other position fits so much better: a difference of a fifth, over at least shiftTokens tokens. Two
// runs of tokens that agree by chance after a shift have log-probs that are equal to a few hundredths; ordinary ones are
// spread over several units.
const (
	shiftGain   = 0.2
	shiftTokens = 4
)

// Shifted is a sequence whose log-probs are those of the token before or behind.
type Shifted struct {
	Row int
	// By is 1 where train's log-prob of a position belongs to rollout's position before it.
	By int
	// Here and There are mean |d| as recorded, and after the shift.
	Here, There float64
}

// Shifts finds rows that are shifted by one position against the other side.
func (l *LogProbs) Shifts() (list []Shifted) {
	for r := range l.Rows {
		best := Shifted{Row: r, There: math.Inf(1)}
		for _, by := range []int{0, 1, -1} {
			sum, n := 0.0, 0
			for c := range l.Columns {
				i, j := r*l.Columns+c, r*l.Columns+c-by
				if c-by < 0 || c-by >= l.Columns || !l.counts(i) || !l.counts(j) {
					continue
				}
				if d := math.Abs(l.Train[i] - l.Rollout[j]); d-d == 0 {
					sum, n = sum+d, n+1
				}
			}
			if n < shiftTokens {
				continue
			}
			switch mean := sum / float64(n); {
			case by == 0:
				best.Here = mean
			case mean < best.There:
				best.There, best.By = mean, by
			}
		}
		if best.There < shiftGain*best.Here {
			list = append(list, best)
		}
	}
	return list
}

// Beyond counts, row by row, the masked-in tokens behind the first end of the response that all repeat one id: padding that the
// mask lets through.
func (l *LogProbs) Beyond() (rows map[int]int) {
	rows = map[int]int{}
	if l.Tokens == nil || l.Mask == nil {
		return rows
	}
	pad, known := l.padding()
	if !known {
		return rows
	}
	for r := range l.Rows {
		for c := l.Columns - 1; c > 0; c-- {
			i := r*l.Columns + c
			if l.Tokens[i] != pad || l.Tokens[i-1] != pad { // the first one may be the end of the text itself
				break
			}
			if l.Mask[i] {
				rows[r]++
			}
		}
	}
	return rows
}

// padding is the id that stands at all places behind the masks.
func (l *LogProbs) padding() (pad int64, known bool) {
	for i, m := range l.Mask {
		switch {
		case m:
		case !known:
			pad, known = l.Tokens[i], true
		case l.Tokens[i] != pad:
			return 0, false
		}
	}
	return pad, known
}

// DiffWrong is the largest difference of the prob_diff that the trainer wrote from what its arrays give, and where.
func (l *LogProbs) DiffWrong() (largest float64, at [2]int) {
	for i, d := range l.Diff {
		if !l.counts(i) {
			continue
		}
		e := math.Abs(d - math.Abs(math.Exp(l.Train[i])-math.Exp(l.Rollout[i])))
		if e > largest {
			largest, at = e, [2]int{i / l.Columns, i % l.Columns}
		}
	}
	return largest, at
}
