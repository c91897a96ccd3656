package weights

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strconv"

	"precision/compare/engine"
	"precision/compare/result"
	"precision/dump/checkpoint"
	"precision/dump/msprobe"
	"precision/internal/lazy"
	"precision/internal/must"
	"precision/internal/nd"
)

// Source is two sets of named tensors as a source of pairs: weights, or other tensors that a program saved under names of its own.
// A pair is an operator with one output. Of weights it tells how those that differ are related.
type Source struct {
	*comparison
	sides [2]*checkpoint.Set
	// weights tells that these are a network's, which nothing computes: what differs is another.
	weights bool
	// looking: elements are looked at once more, and what the pairs are is known.
	looking bool
	// why are notes on how pairs were found.
	why []result.Reason
}

// weightNames are ends of the names of weights and of what else a network keeps between steps.
var weightNames = lazy.Regexp(`(?:^|[._])(?:weight|bias|weights|kernel|gamma|beta|scale|running_mean|running_var|num_batches_tracked|inv_freq|lora_[AB]|embedding|pos_embed|cls_token|logit_scale|A_log|dt_bias|gate_up_proj|down_proj)$`)

// Open opens two files or folders of named tensors. A mapping file, nil for none, says which of them are pairs under other names.
func Open(left, right string, file *msprobe.Mapping) (_ *Source, err error) {
	defer must.Catch(&err)
	a := must.Get(checkpoint.Open(left))
	b, err := checkpoint.Open(right)
	if err != nil {
		a.Close()
		return nil, err
	}
	apart(a, b)
	m := &mapping{file: file}
	s := &Source{comparison: newComparison(a, b, m, nil), sides: [2]*checkpoint.Set{a, b}, why: m.unused()}
	named := 0
	for _, p := range s.pairs {
		if weightNames().MatchString(p.Name) {
			named++
		}
	}
	s.weights = a.Weights || b.Weights || 2*named > len(s.pairs)
	return s, nil
}

// training are names of what a checkpoint holds beside weights, and the counters that some frameworks keep.
var training = []func() *regexp.Regexp{
	lazy.Regexp(`^(?:optim|optimizer|optimizer_weights|opt|lr_scheduler|scheduler|rng|rng_state|dataloader|train_state|ema)\b`),
	lazy.Regexp(`^save_counter$`),
	lazy.Regexp(`\.num_batches_tracked$`),
}

// apart leaves out what only one side holds of the training beside its weights: the state of an optimiser has no partner in a file of
// weights, and none is missed.
func apart(a, b *checkpoint.Set) {
	for _, kind := range training {
		is := func(t *checkpoint.Tensor) bool { return kind().MatchString(t.Name) }
		if slices.ContainsFunc(a.Tensors, is) != slices.ContainsFunc(b.Tensors, is) {
			a.Tensors, b.Tensors = slices.DeleteFunc(a.Tensors, is), slices.DeleteFunc(b.Tensors, is)
		}
	}
}

// Close closes the files.
func (s *Source) Close() error {
	return cmp.Or(s.sides[0].Close(), s.sides[1].Close())
}

// Label is what users know a tensor by: its name in the file where one is all of it there, else that of the part.
func (p *part) label() string {
	if len(p.spans) == 1 && p.spans[0].first == 0 && p.spans[0].n == p.t.Len() {
		return p.t.Name
	}
	return p.name
}

// label names a pair as the left side does.
func (p *pair) label() string {
	if p.a != nil {
		return p.a.label()
	}
	return p.b.label()
}

// Table lists the tensors. Those of a network's weights are in the order of the left side.
func (s *Source) Table() *result.Table {
	t := &result.Table{}
	kind := map[bool]string{false: "tensors", true: "weights"}[s.weights]
	t.Meta.Left = result.Side{Dir: s.sides[0].Path, Kind: kind}
	t.Meta.Right = result.Side{Dir: s.sides[1].Path, Kind: kind}
	t.Meta.Pairing.How, t.Meta.Pairing.Why = result.ByName, s.why
	t.Meta.Stored = true
	for i, p := range s.pairs {
		if p.a != nil {
			t.Ops = append(t.Ops, result.Operator{Name: p.label(), Index: i, Order: i, Dumped: true, Outputs: 1})
		}
	}
	return t
}

// Groups are the pairs.
func (s *Source) Groups() []engine.Group {
	list := make([]engine.Group, len(s.pairs))
	for i, p := range s.pairs {
		list[i] = func(ctx context.Context, w *engine.Worker) (found engine.Found) {
			row, err := s.row(ctx, i, p, w)
			return engine.Found{Rows: []result.Row{row}, Err: err}
		}
	}
	return list
}

func (s *Source) row(ctx context.Context, i int, p *pair, w *engine.Worker) (result.Row, error) {
	row := result.Row{Index: i, Op: p.label(), Role: result.Output, Left: result.Operand{Names: "*"}, Right: result.Operand{Names: "*"}}
	row.Facts.Order = i
	for _, side := range []struct {
		p *part
		o *result.Operand
	}{{p.a, &row.Left}, {p.b, &row.Right}} {
		if side.p != nil {
			side.o.Names, side.o.File, side.o.DType, side.o.Shape = side.p.t.Name, side.p.t.File, side.p.t.Type, side.p.shape
		}
	}
	switch {
	case p.a == nil:
		p.Kind = Extra
		row.Role, row.Slot = result.Whole, -1
		row.Add(result.Because(result.NoLeftOp, row.Op))
		return row, nil
	case p.b == nil:
		p.Kind = MissingHere
		row.Role, row.Slot = result.Whole, -1
		row.Add(result.Because(result.NoRightOp, row.Op))
		return row, nil
	case !p.fit():
		if p.compare(ctx); p.Kind != Transposed {
			row.Add(result.Because(result.StoredShape, shapeText(p.a.shape), shapeText(p.b.shape)))
		}
		row.Add(result.Because(result.ShapesDiffer, row.Op, shapeText(p.a.shape), shapeText(p.b.shape)))
		return row, nil
	}
	shape := p.a.shape
	if p.a.len() > p.b.len() {
		shape = p.b.shape
	}
	if p.a.len() != p.b.len() {
		row.Add(result.Because(result.FrontOnly, shapeText(p.a.shape), shapeText(p.b.shape)))
	}
	var sides [2]*engine.Tensor
	for i, x := range []*part{p.a, p.b} {
		var err error
		if sides[i], err = x.tensor(shape); err != nil {
			row.Unreadable(result.Because(result.BadTensor, row.Op, err.Error()), x.t.File, err)
			return row, nil
		}
	}
	err := w.Compare(ctx, &row, sides[0], sides[1], p.a.t.File, p.b.t.File)
	switch {
	case err != nil || !row.Compared || s.looking:
	case row.Result().Facts.BitEqual:
		p.Kind = Same
	case s.weights:
		if known, _ := must.Of(func() bool { return p.known(ctx, &row.Result().Facts) }); !known {
			p.compare(ctx)
		}
		err = ctx.Err()
	}
	return row, err
}

// Again hands the elements that a glance wants to it.
func (s *Source) Again(opt engine.Options) func(context.Context, *engine.Glance) error {
	return func(ctx context.Context, g *engine.Glance) error {
		again := *s
		again.looking = true
		opt.Glance, opt.Progress = g, nil
		_, err := engine.Run(ctx, &again, opt)
		return err
	}
}

// tensor is the first elements of a part, of a shape, for the engine.
func (p *part) tensor(shape []int64) (*engine.Tensor, error) {
	if _, err := p.t.Elements(); err != nil {
		return nil, err
	}
	return &engine.Tensor{Type: p.t.Type, Shape: shape, Count: nd.Size(shape), Open: func() engine.Elements {
		n, err := p.t.Elements()
		return &elements{source{p: p, n: n}, err}
	}}, nil
}

// elements hands out those of a part as bytes.
type elements struct {
	source
	err error
}

func (e *elements) ReadTile(dst []byte, first, n int64) (err error) {
	defer must.Catch(&err)
	must.Do(e.err)
	size := int64(e.p.t.Type.Bits() / 8)
	e.p.each(first, n, func(in, at, n int64) error {
		return e.n.ReadTile(dst[in*size:][:n*size], at, n)
	})
	return nil
}

func shapeText(shape []int64) string { return "(" + nd.Text(shape, ",") + ")" }

// Revision tells of all pairs, when all were compared, what they are.
func (s *Source) Revision() func(rows []result.Row) {
	if s.looking {
		return nil
	}
	return func(rows []result.Row) {
		if !s.weights {
			s.among(rows)
			return
		}
		s.seek(context.Background())
		s.permutations()
		s.rotation()
		for i := range rows {
			if reason, ok := s.pairs[i].reason(); ok {
				rows[i].Add(reason)
			}
		}
	}
}

// among tells of tensors that differ where most do not: two programs that round otherwise do so everywhere.
func (s *Source) among(rows []result.Row) {
	same, compared := 0, 0
	for i := range rows {
		if r := &rows[i]; r.Compared {
			compared++
			if r.Result().Facts.BitEqual {
				same++
			}
		}
	}
	if 2*same < compared {
		return
	}
	for i := range rows {
		if r := &rows[i]; r.Compared && !r.Result().Facts.BitEqual {
			f := &r.Result().Facts
			r.Add(result.Because(result.StoredDiffers, strconv.FormatInt(f.Differ+f.Disagree, 10), strconv.FormatInt(f.N, 10), strconv.Itoa(same), strconv.Itoa(compared)))
		}
	}
}

// reason is how a weight of the right side is related to that of the left, if it is another.
func (p *pair) reason() (result.Reason, bool) {
	percent := func(x float64) string { return strconv.FormatFloat(100*x, 'g', 3, 64) }
	switch p.Kind {
	case Step, Near:
		return result.Because(map[Kind]result.Kind{Step: result.WeightStep, Near: result.WeightNear}[p.Kind], percent(p.Rel), percent(p.Equal)), true
	case Quantised:
		return result.Because(result.WeightQuantised, strconv.Itoa(p.Levels)), true
	case Elsewhere:
		return result.Because(result.WeightElsewhere, p.Of), true
	case Constant:
		return result.Because(result.WeightConstant, strconv.FormatFloat(p.Value, 'g', -1, 64)), true
	case Transposed:
		return result.Because(result.WeightTransposed), true
	case Unlike:
		return result.Because(result.WeightUnlike), true
	case Permuted:
		return result.Because(result.WeightPermuted), true
	case Rotated, Folded:
		return result.Because(result.WeightRotated), true
	}
	return result.Reason{}, false
}
