// Package look takes a look at the elements of the tensors that matter: where
// errors begin, and the worst of what follows. It reads them once more, a bounded
// number of them, and makes what one can draw: histograms, a density, maps,
// the first and the largest differences, and what kind of wrong it is.
package look

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"precision/compare/engine"
	"precision/compare/oracle"
	"precision/compare/pattern"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/graph/draw"
	"precision/internal/nd"
)

// What pictures show.
const (
	// Operators is how many operators are looked at by default.
	Operators = 20
	// Bytes bounds what all looks of a table come to, as JSON.
	Bytes = 2 << 20
	// largest is the number of elements of the largest tensor that is read:
	// 64 MiB a side as float64.
	largest = 8 << 20

	bins   = 48 // of a histogram
	cells  = 40 // of a density, each way
	places = 64 // of a map each way, and of an axis
	listed = 10 // first and largest differences
)

// Drawn tells whether a table has pictures of elements, and not only names of what is wrong.
func Drawn(t *result.Table) bool {
	return slices.ContainsFunc(t.Looks, func(l result.Look) bool { return len(l.First) > 0 })
}

// Take looks at the outputs of at most so many operators, the roots first, and
// keeps what it saw in the judged table.
func Take(ctx context.Context, again Again, j *verdict.Judged, operators int) error {
	order := choose(j, operators)
	if len(order) == 0 {
		return nil
	}
	var mu sync.Mutex
	seen := map[string]result.Look{}
	ops := map[string]bool{}
	for _, name := range order {
		if op, _, _, err := result.ParseTensor(name); err == nil {
			ops[op] = true
		}
	}
	err := again(ctx, &engine.Glance{
		Ops:    func(name string) bool { return ops[name] },
		Wanted: func(r *result.Row) bool { return slices.Contains(order, r.Tensor()) },
		Most:   largest,
		Take: func(r *result.Row, s engine.Seen) {
			l := At(r, s)
			mu.Lock()
			defer mu.Unlock()
			seen[l.Tensor] = l
		},
	})
	if err != nil {
		return err
	}
	before := map[string][]result.Pattern{}
	for _, l := range j.Table.Looks {
		before[l.Tensor] = l.Patterns
	}
	j.Table.Looks = nil
	room := Bytes
	for _, name := range order {
		l, ok := seen[name]
		if !ok {
			continue
		}
		if p := before[name]; len(p) > 0 { // found with other tensors at hand
			l.Patterns = p
		}
		if room -= size(&l); room < 0 {
			break
		}
		j.Table.Looks = append(j.Table.Looks, l)
	}
	return nil
}

// size is about what a look comes to as JSON.
func size(l *result.Look) int {
	n := 200 + len(l.Tensor) + 8*len(l.Shape) + 6*(len(l.Histogram)+len(l.Density)) + 20*(len(l.Channels)+len(l.Map)) + 60*(len(l.First)+len(l.Largest))
	for _, p := range l.Patterns {
		n += 60 + len(p.Evidence)
	}
	return n
}

// choose names the tensors to look at: of the roots, then of bad and suspect
// operators by the distance of their outputs.
func choose(j *verdict.Judged, operators int) (names []string) {
	distance := func(op *verdict.Operator) float64 {
		worst := 0.0
		for i := range op.Outputs {
			r := j.Row(&op.Outputs[i])
			if d := r.Result().Facts.Distance; !r.Compared || math.IsNaN(d) {
				worst = math.Inf(1)
			} else {
				worst = max(worst, d)
			}
		}
		return worst
	}
	var at []int
	for i := range j.Roots {
		at = append(at, j.Roots[i].Operator)
	}
	roots := len(at)
	for i := range j.Operators {
		if s := j.Operators[i].State; s >= verdict.StateSuspect && !slices.Contains(at[:roots], i) {
			at = append(at, i)
		}
	}
	slices.SortStableFunc(at[roots:], func(a, b int) int { return cmp.Compare(distance(&j.Operators[b]), distance(&j.Operators[a])) })
	for _, i := range at[:min(len(at), operators)] {
		for k := range j.Operators[i].Outputs {
			if t := &j.Operators[i].Outputs[k]; t.Verdict == verdict.Bad || t.Verdict == verdict.Suspect {
				names = append(names, j.Row(t).Tensor())
			}
		}
	}
	return names
}

// At looks at a pair of tensors in the logical order of the row's shape.
func At(r *result.Row, s engine.Seen) result.Look {
	l := Draw(r, s)
	if s.LeftRest != nil {
		return l // of such integers differences are smaller than what float64 tells apart
	}
	c := pattern.Case{Got: s.Left, Want: s.Right, Shape: r.Shape, DType: r.Left.DType}
	if found, err := pattern.Find(c); err == nil {
		for _, f := range found[:min(len(found), 3)] {
			l.Patterns = append(l.Patterns, result.Pattern{Kind: string(f.Kind), Explained: f.Explained, Elements: f.Elements, Evidence: f.Evidence()})
		}
	}
	return l
}

// Draw is At without saying what kind of wrong it is.
func Draw(r *result.Row, s engine.Seen) result.Look {
	l := result.Look{Tensor: r.Tensor(), Shape: r.Shape}
	left, right := s.Left, s.Right
	errs := make([]float64, len(left))
	for i := range left {
		errs[i] = s.Error(i)
		switch same := left[i] == right[i] && s.LeftRest == nil || errs[i] == 0 || math.IsNaN(left[i]) && math.IsNaN(right[i]); {
		case same:
			errs[i] = 0
			l.Equal++
		case math.IsNaN(errs[i]):
			errs[i] = math.Inf(1)
		}
	}
	histogram(&l, errs)
	density(&l, left, right)
	along(&l, errs)
	over(&l, errs)
	differences(&l, errs, &s)
	return l
}

func finite(v float64) bool { return v-v == 0 }

// histogram counts errors by their size.
func histogram(l *result.Look, errs []float64) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, e := range errs {
		if e > 0 && finite(e) {
			low, high = min(low, e), max(high, e)
		}
	}
	if low > high {
		return
	}
	l.HistogramHigh = math.Ceil(math.Log10(high))
	l.HistogramLow = max(math.Floor(math.Log10(low)), l.HistogramHigh-12)
	if l.HistogramLow == l.HistogramHigh {
		l.HistogramLow--
	}
	l.Histogram = make([]int64, bins)
	for _, e := range errs {
		if e > 0 && finite(e) {
			l.Histogram[cell(math.Log10(e), l.HistogramLow, l.HistogramHigh, bins)]++
		}
	}
}

// cell is the place of v among n equal parts of a range; what is outside goes to
// the ends.
func cell(v, low, high float64, n int) int {
	return min(max(int(float64(n)*((v-low)/(high-low))), 0), n-1)
}

// density counts pairs of values.
func density(l *result.Look, left, right []float64) {
	low, high := math.Inf(1), math.Inf(-1)
	for i := range left {
		if finite(left[i]) && finite(right[i]) {
			low, high = min(low, left[i], right[i]), max(high, left[i], right[i])
		}
	}
	if !(low < high) || !finite(high-low) {
		return
	}
	l.DensityLow, l.DensityHigh = low, high
	l.Density = make([]int64, cells*cells)
	for i := range left {
		if finite(left[i]) && finite(right[i]) {
			l.Density[cell(left[i], low, high, cells)*cells+cell(right[i], low, high, cells)]++
		}
	}
}

// along sums errors up along the channels: the second of several axes, or the
// last of two.
func along(l *result.Look, errs []float64) {
	axis := 1
	if len(l.Shape) < 2 {
		axis = 0
	}
	if len(l.Shape) == 0 || l.Shape[axis] < 2 || nd.Size(l.Shape) != int64(len(errs)) {
		return
	}
	l.ChannelAxis, l.ChannelCount = axis, l.Shape[axis]
	inner := nd.Size(l.Shape[axis+1:])
	n := min(l.ChannelCount, places)
	l.Channels = make([]float64, n)
	seen := make([]float64, n)
	for i, e := range errs {
		if finite(e) {
			at := int64(i) / inner % l.ChannelCount * n / l.ChannelCount
			l.Channels[at] += e * e
			seen[at]++
		}
	}
	for i := range l.Channels {
		if seen[i] > 0 {
			l.Channels[i] = math.Sqrt(l.Channels[i] / seen[i])
		}
		if !finite(l.Channels[i]) {
			l.Channels[i] = math.MaxFloat64
		}
	}
}

// over takes the largest error at every place of the last two axes. What is not
// finite counts as much as the largest that is.
func over(l *result.Look, errs []float64) {
	k := len(l.Shape)
	if k < 2 || nd.Size(l.Shape) != int64(len(errs)) {
		return
	}
	rows, columns := l.Shape[k-2], l.Shape[k-1]
	if rows*columns < 4 {
		return
	}
	l.MapRows, l.MapColumns = rows, columns
	r, c := min(rows, places), min(columns, places)
	l.MapKept, l.Map = int(r), make([]float64, r*c)
	most := 0.0
	for _, e := range errs {
		if finite(e) {
			most = max(most, e)
		}
	}
	for i, e := range errs {
		at := int64(i) % (rows * columns)
		p := at/columns*r/rows*c + at%columns*c/columns
		if !finite(e) {
			e = max(most, 1)
		}
		l.Map[p] = max(l.Map[p], e)
	}
}

// differences lists the first and the largest.
func differences(l *result.Look, errs []float64, s *engine.Seen) {
	var large []int
	for i, e := range errs {
		if e == 0 {
			continue
		}
		if len(l.First) < listed {
			l.First = append(l.First, s.Element(i))
		}
		if len(large) == listed && e <= errs[large[listed-1]] {
			continue
		}
		at, _ := slices.BinarySearchFunc(large, e, func(k int, e float64) int {
			if errs[k] >= e {
				return -1
			}
			return 1
		})
		large = slices.Insert(large, at, i)
		large = large[:min(len(large), listed)]
	}
	for _, i := range large {
		l.Largest = append(l.Largest, s.Element(i))
	}
}

// Judge judges what a session compared. Where the verdict depends on weights that only the left
// side has, a few operators are recomputed with golden inputs, at sampled places, to tell whether
// the framework had the same ones: a checkpoint, or a step, is no operator's fault. Recordings of
// calls have no session, and record weights.
func Judge(ctx context.Context, s *engine.Session, t *result.Table, opts verdict.Options) (*verdict.Judged, error) {
	j := verdict.Judge(t, opts)
	names := j.Weigh()
	if s == nil || len(names) == 0 || len(t.Checks) > 0 || s.Graph == "" || s.Folders.How() != result.ByGraph {
		return j, nil
	}
	f := s.Folders
	w, err := oracle.Weigh(ctx, &oracle.Golden{Dumps: f.Left, Folder: f.Right, Rules: f.Rules}, s.Graph, f.Workers, names)
	if err != nil || w.Differ == 0 {
		return j, ctx.Err() // then the verdict says what it depends on
	}
	t.Meta.Weighed = w
	return verdict.Judge(t, opts), nil
}

// Boxes of operators in a picture of the network, in pixels.
const (
	boxWidth  = 168
	boxHeight = 40
)

// LayOut gives the operators of a table their places in a picture of the network, unless they have them.
func LayOut(t *result.Table) {
	if slices.ContainsFunc(t.Ops, func(o result.Operator) bool { return o.X != 0 || o.Y != 0 }) {
		return
	}
	place := make(map[string]int, len(t.Ops))
	for i := range t.Ops {
		if _, twice := place[t.Ops[i].Name]; !twice {
			place[t.Ops[i].Name] = i
		}
	}
	var edges [][2]int
	for i := range t.Ops {
		for _, in := range t.Ops[i].Inputs {
			if from, ok := place[in.Op]; ok && in.Op != "" && from != i {
				edges = append(edges, [2]int{from, i})
			}
		}
	}
	x, y := draw.Layout(len(t.Ops), boxWidth, boxHeight, edges)
	for i := range t.Ops {
		t.Ops[i].X, t.Ops[i].Y = int(math.Round(x[i])), int(math.Round(y[i]))
	}
}
