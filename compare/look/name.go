package look

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"

	"precision/compare/engine"
	"precision/compare/metric"
	"precision/compare/pattern"
	"precision/compare/result"
	"precision/compare/verdict"
)

// What a look at roots reads at most. Of larger tensors it reads tiles from all parts, and
// those with the first and the largest difference.
const (
	named     = 10       // roots, as many as a verdict shows
	firstMost = 1 << 22  // elements of the foremost root's output if it is read whole: to find that nothing explains them takes 4 s
	wholeMost = 1 << 20  // of any other tensor
	heldMost  = 12 << 20 // elements of all that are: 96 MiB
	tilesMost = 8        // tiles of another
	otherMost = 1 << 18  // elements of a tensor that stale data may come from
	priorMost = 16       // outputs before a root that it may come from
	fewest    = 64       // elements of which it is said that no rule explains them
)

// Again runs a comparison once more for the elements that a glance wants.
type Again func(context.Context, *engine.Glance) error

// Folders runs a session again.
func Folders(s *engine.Session) Again {
	return func(ctx context.Context, g *engine.Glance) error {
		again := *s
		again.Folders.Progress = nil
		again.Folders.Glance = g
		_, err := again.Run(ctx)
		return err
	}
}

// Before runs a session again with the recording of the left side before the one that it compares; nil where
// there is none.
func Before(s *engine.Session) Again {
	if s.Before == nil {
		return nil
	}
	return func(ctx context.Context, g *engine.Glance) error {
		other := *s
		other.Folders.Left = s.Before
		return Folders(&other)(ctx, g)
	}
}

// Name finds what kind of wrong the foremost roots are, by both sides' elements, and keeps it
// in the judged table. A root that a check has explained is left out. Nothing is read
// where there are no roots.
//
// before, if any, reads the left recording before this one: what stale data may come from.
func Name(ctx context.Context, again Again, j *verdict.Judged, before ...Again) error {
	plan := planOf(j)
	if len(plan.subjects) == 0 {
		return nil
	}
	var mu sync.Mutex
	seen := map[string]elements{}
	err := again(ctx, &engine.Glance{
		Ops:    func(name string) bool { return plan.ops[name] },
		Wanted: func(r *result.Row) bool { return plan.wanted[r.Tensor()] },
		Most:   firstMost,
		Tiles: func(r *result.Row, n int64) []int64 {
			if s := plan.subject(r.Tensor()); s != nil && !s.whole {
				return s.tiles(n)
			}
			return nil
		},
		Take: func(r *result.Row, s engine.Seen) {
			if s.LeftRest != nil {
				return // of such integers differences are smaller than what float64 tells apart
			}
			e := elements{s.At, s.Left, s.Right, slices.Clone(r.Shape)}
			if plan.subject(r.Tensor()) == nil {
				e.right = nil
			}
			mu.Lock()
			defer mu.Unlock()
			seen[r.Tensor()] = e
		},
	})
	if err != nil {
		return err
	}
	for _, before := range before {
		if before == nil {
			continue
		}
		err := before(ctx, &engine.Glance{
			Ops:    func(name string) bool { return plan.ops[name] },
			Wanted: func(r *result.Row) bool { s := plan.subject(r.Tensor()); return s != nil && s.whole },
			Most:   wholeMost,
			Take: func(r *result.Row, s engine.Seen) {
				mu.Lock()
				defer mu.Unlock()
				plan.subject(r.Tensor()).earlier = s.Left
			},
		})
		if err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	for _, s := range plan.subjects {
		if err := ctx.Err(); err != nil {
			return err
		}
		if e, ok := seen[s.row.Tensor()]; ok {
			s.name(j, e, seen)
		}
	}
	return nil
}

// elements are those of a pair.
type elements struct {
	at          []int64
	left, right []float64
	shape       []int64
}

// subject is the output of a root that is looked at.
type subject struct {
	row    *result.Row
	inputs []string // tensors of its own inputs
	others []string // of outputs before it, the nearest first
	whole  bool     // all of it is read
	// earlier is what the recording before this one holds, nil where that is not known.
	earlier []float64
	second  bool // its inputs are wrong, so that golden is not what it should have written
	fresh   bool // NaN or Inf that no input has
	open    bool // the error may come from another operator or an input: to say that nothing explains it says nothing
}

// plan is what is read.
type plan struct {
	subjects    []*subject
	ops, wanted map[string]bool
}

func (p *plan) subject(tensor string) *subject {
	for _, s := range p.subjects {
		if s.row.Tensor() == tensor {
			return s
		}
	}
	return nil
}

func (p *plan) want(r *result.Row) string {
	p.ops[r.Op], p.wanted[r.Tensor()] = true, true
	return r.Tensor()
}

// planOf chooses what to read: the foremost roots whose elements were compared, their inputs, and what
// was computed before them.
func planOf(j *verdict.Judged) *plan {
	p := &plan{ops: map[string]bool{}, wanted: map[string]bool{}}
	held := int64(0)
	hold := func(r *result.Row, times, most int64) bool {
		n := r.Result().Facts.N
		if !r.Compared || r.Shape == nil || n == 0 || n > most || held+times*n > heldMost {
			return false
		}
		held += times * n
		return true
	}
	order := j.Prominent()
	for _, k := range order[:min(len(order), named)] {
		root := &j.Roots[k]
		op := &j.Operators[root.Operator]
		row := j.Row(j.Worst(root))
		if kind := j.Pattern(root).Kind; kind != "" && !pattern.Kind(kind).Vague() || !row.Compared || row.Shape == nil || row.Result().Facts.N == 0 {
			continue
		}
		s := &subject{row: row, second: root.Second, fresh: root.FreshNaN, open: root.Certainty == verdict.Region || root.Begin != nil}
		p.want(row)
		p.subjects = append(p.subjects, s)
		most := int64(wholeMost)
		if len(p.subjects) == 1 {
			most = firstMost
		}
		if s.whole = hold(row, 2, most); !s.whole {
			continue
		}
		for i := range op.Inputs {
			if r := j.Row(&op.Inputs[i]); hold(r, 1, wholeMost) {
				s.inputs = append(s.inputs, p.want(r))
			}
		}
		for i := root.Operator - 1; i >= 0 && len(s.others) < priorMost; i-- {
			for k := range j.Operators[i].Outputs {
				if r := j.Row(&j.Operators[i].Outputs[k]); p.wanted[r.Tensor()] || hold(r, 1, otherMost) {
					s.others = append(s.others, p.want(r))
				}
			}
		}
	}
	return p
}

// tiles are those to read of a tensor of n elements: from all parts, and where it differs first and most.
func (s *subject) tiles(n int64) []int64 {
	count := (n + metric.TileLen - 1) / metric.TileLen
	var list []int64
	for i := range int64(tilesMost) {
		list = append(list, i*(count-1)/(tilesMost-1))
	}
	f := &s.row.Result().Facts
	for _, e := range []metric.Element{f.Worst, f.FirstDiffer, f.FirstDisagree} {
		if e.Index >= 0 && e.Index < n {
			list = append(list, e.Index/metric.TileLen)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// name finds what kind of wrong the subject is and keeps it.
func (s *subject) name(j *verdict.Judged, e elements, seen map[string]elements) {
	c := pattern.Case{Got: e.left, Want: e.right, At: e.at, Shape: e.shape, DType: s.row.Left.DType, Other: s.tensors(seen)}
	c.Axes, c.Block = axesOf(s.row.Left.Shape, e.shape)
	found, err := pattern.Find(c)
	if err != nil {
		return
	}
	l := result.Look{Tensor: s.row.Tensor(), Shape: e.shape}
	for i := range found {
		if f := &found[i]; len(l.Patterns) < 3 && s.says(f, e.at != nil) {
			l.Patterns = append(l.Patterns, result.Pattern{Kind: string(f.Kind), Explained: f.Explained, Elements: f.Elements, Evidence: f.Evidence()})
		}
	}
	if len(l.Patterns) > 0 {
		j.Table.Looks = append(j.Table.Looks, l)
	}
}

// says reports whether a finding holds by what was looked at. Behind wrong inputs only numbers say something
// that no computation from them gives; and of some tiles the borders of a region are not known.
func (s *subject) says(f *pattern.Finding, sampled bool) bool {
	switch a := f.Args.(type) {
	case pattern.Spread:
		return !s.second && !s.open && s.row.Result().Facts.N >= fewest && a.Relative > 0
	case pattern.Flip:
		return !s.second
	case pattern.Unfilled, pattern.Copy:
		return !sampled
	case pattern.Region, pattern.Margin, pattern.LaneSet, pattern.Scatter, pattern.Exchange:
		return !sampled && !s.second
	case pattern.NonFinite:
		return !sampled && (!s.second || s.fresh)
	}
	return !s.second
}

// tensors yields where stale data may come from.
func (s *subject) tensors(seen map[string]elements) iter.Seq[pattern.Tensor] {
	return func(yield func(pattern.Tensor) bool) {
		if s.earlier != nil && !yield(pattern.Tensor{Name: s.row.Tensor(), Values: s.earlier, Earlier: true}) {
			return
		}
		for i, name := range slices.Concat(s.inputs, s.others) {
			e, ok := seen[name]
			own := i < len(s.inputs)
			if own { // in a sentence about its operator the number is enough
				name = name[strings.LastIndexByte(name, ':')+1:]
			}
			if ok && e.at == nil && !yield(pattern.Tensor{Name: name, Values: e.left, Input: own}) {
				return
			}
		}
	}
}

// axesOf tells by the stored shape of blocks of channels, (N, C1, H, W, C0), which axes a logical shape has, and
// the size of its blocks; nothing where that is ambiguous.
func axesOf(stored, shape []int64) (axes string, block []int64) {
	if len(stored) != 5 || len(shape) != 4 || stored[0] != shape[0] || stored[4] < 2 {
		return "", nil
	}
	fits := func(c, h, w int) bool {
		n := shape[c]
		return stored[2] == shape[h] && stored[3] == shape[w] && n <= stored[1]*stored[4] && n > (stored[1]-1)*stored[4]
	}
	first, last := fits(1, 2, 3), fits(3, 1, 2)
	switch {
	case first && !last:
		return "NCHW", []int64{0, stored[4], 0, 0}
	case last && !first:
		return "NHWC", []int64{0, 0, 0, stored[4]}
	}
	return "", nil
}
