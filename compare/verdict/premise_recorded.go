package verdict

import (
	"cmp"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"

	"precision/compare/result"
	catalogue "precision/op"
)

// Premises of recordings
//
// What was given to a run of calls is what goes into them and no call made: batches and
// parameters. Parameters are taken from the first step, before an optimizer moves them by
// gradients that may be wrong; data of every step up to its first call that has another output, behind
// which what was computed by ways that were not recorded cannot be told from what was given.

// weightNames are what weights are called where they are given by name.
var weightNames = map[string]bool{"weight": true, "bias": true, "running_mean": true, "running_var": true}

// isWeight tells whether a place of a call holds a parameter or a buffer of a module.
func isWeight(op *Operator, place string) bool {
	if strings.HasPrefix(place, "parameters.") {
		return true
	}
	if name, ok := strings.CutPrefix(place, "kwargs."); ok {
		return weightNames[name]
	}
	at, ok := strings.CutPrefix(place, "input.")
	n, err := strconv.Atoi(at)
	return ok && err == nil && slices.Contains(catalogue.Of(op.Op.Type).Weights, n)
}

// premises looks at what was given to a recording.
func (w *recordedWalk) premises() {
	type run struct {
		differs bool    // an output does
		floats  bool    // one that is no integer does
		started string  // the first call that computed numbers of tensors: after it others may be made by ways that were not recorded
		other   *source // data that it was fed and that are others
		first   *source // the first numbers that it was fed, if they differ
		ids     *source // the first that look up rows of a table, and of which one extreme differs
	}
	w.given = map[string][]GivenTensor{}
	start := map[string]int{}            // the first operator of a piece
	runs := map[string]map[string]*run{} // by step and rank
	astray := map[string]bool{}          // ranks with an output that is off by as much as other data
	var steps []string
	var weights, near []*source
	fed := map[string][]*source{} // by step
	compared, moved, far := 0, 0, false
	alone := map[int64]bool{} // what calls of one side alone gave: what takes it was not given it
	for i := range w.operators {
		op := &w.operators[i]
		if w.lone(i) {
			for _, print := range op.Op.Made {
				alone[print] = print != 0
			}
		}
		step, rank := partOf(op.Op.Name)
		prefix := prefixOf(op.Op.Name)
		if _, known := start[prefix]; !known {
			start[prefix] = i
		}
		if runs[step] == nil {
			runs[step] = map[string]*run{}
			steps = append(steps, step)
		}
		if backwards(op) == 1 {
			continue
		}
		part := runs[step][rank]
		if part == nil {
			// What a run carries over from a step that went wrong is not given to it.
			part = &run{differs: astray[rank], floats: astray[rank]}
			runs[step][rank] = part
		}
		give := func(s *source) {
			fed[step] = append(fed[step], s)
			part.other = cmp.Or(part.other, s)
		}
		// What a module was given it had before the calls that it is made of.
		started := part.started != "" && !(ofModule(op.Op.Name) && w.inside(part.started, op.Op.Name))
		for k := range op.Inputs {
			r := w.row(&op.Inputs[k])
			if r.Recorded == nil || r.Recorded.Argument || r.Recorded.Before.Op != "" || agreementOf(r) == unknown || w.named(r.Facts.Producer.Op) != nil || w.named(r.Recorded.Golden.Op) != nil {
				continue
			}
			s := w.source(op, &op.Inputs[k])
			weight := s.weight && s.elements > 1
			if lookup := catalogue.Is(op.Op.Type, catalogue.Copies); lookup && !part.differs && s.off && counted(r.Left.DType) {
				part.ids = cmp.Or(part.ids, s)
			} else if part.ids != nil && s.off && counted(r.Left.DType) && catalogue.Is(op.Op.Type, catalogue.Targets) {
				// What the loss compares with are others, too: no fault before the first lookup reaches them.
				part.ids.large, part.ids.share = true, 1
				give(part.ids)
				part.ids = nil
			} else if lookup && part.first != nil && s.off && counted(r.Left.DType) {
				// Neither numbers nor ids are made of the other.
				part.first.large, part.first.share = true, 1
				give(part.first)
				part.first = nil
			}
			switch first := !part.differs && (weight || !started || counted(r.Left.DType)); {
			// No call hands out the weights of a first step, whatever went wrong before they are taken.
			case (first || weight && step == steps[0] && !w.opts.Later) && s.off, agreementOf(r) == same && (first || weight):
				w.keepGiven(op, i-start[prefix], r, s.off, weight)
			}
			switch {
			case weight && step == steps[0] && !w.opts.Later:
				// Nothing rounds a weight that both have in one type, unless it was rounded to that on two ways.
				compared++
				one := r.Left.DType == r.Right.DType
				size, known := sizeOf(r)
				if _, ok := extremesOf(r); one && ok && !r.Compared && !sameEnds(r) {
					moved++
					far = far || size > 2*roundedOff(r)
				}
				rounded := roundedTwice * roundedOff(r)
				if s.off || one && known && (size > rounded || r.Compared && r.Result().Facts.MaxRel > rounded) {
					weights = append(weights, s)
				} else if one && agreementOf(r) == different {
					near = append(near, s)
				}
			case w.opts.Later && !counted(r.Left.DType): // it may be carried over from a step before
			case s.weight || !s.off || alone[r.Recorded.Left.Print(r.Left.Shape)] || alone[r.Recorded.Right.Print(r.Right.Shape)]:
			case counted(r.Left.DType) && !part.differs && s.other(), !counted(r.Left.DType) && !started && !part.floats && s.other(): // numbers are not made of labels
				give(s)
			case !counted(r.Left.DType) && !started && !part.differs && part.other == nil:
				part.first = cmp.Or(part.first, s)
			}
		}
		if !w.opts.Later && !part.differs && !started && op.State != StateBad && w.unfed(op) && !collective(op) {
			for k := range op.Outputs {
				if w.loaded(&op.Outputs[k]) {
					if s := w.source(op, &op.Outputs[k]); s.other() {
						give(s)
					}
				}
			}
		}
		part.differs = part.differs || w.off(op)
		// Where outputs are not recorded, an input may be what any call before it made.
		if part.started == "" && (computesFloats(w, op) || len(op.Outputs) == 0 && len(op.Inputs) > 0) {
			part.started = op.Op.Name
		}
		for k := range op.Outputs {
			r := w.row(&op.Outputs[k])
			if size, known := sizeOf(r); known && size > otherStatistics {
				astray[rank] = true
			}
			part.floats = part.floats || agreementOf(r) == different && !counted(r.Left.DType)
		}
	}
	for prefix, list := range w.given {
		if !slices.ContainsFunc(list, func(g GivenTensor) bool { return !g.Alike }) {
			delete(w.given, prefix) // such a rank is none that has another's place
		}
	}
	w.fedOther = map[[2]string]*result.Reason{}
	for _, step := range steps {
		others := 0
		for rank, part := range runs[step] {
			if part.other != nil {
				others++
				why := w.fedWith(part.other)
				w.fedOther[[2]string{step, rank}] = &why
			}
		}
		// One rank that got what another should have is a fault, all of them are another run.
		if others == 0 || others < len(runs[step]) || w.opts.OfJob {
			continue
		}
		s := fed[step][0]
		for _, t := range fed[step] {
			if t.exact && !s.exact {
				s = t
			}
		}
		w.out.Premises = append(w.out.Premises, Premise{Kind: PremiseInputs, Broken: true, Tensors: len(fed[step]), Share: s.share, Rows: rowsOf(fed[step]), Reason: w.fedWith(s)})
		break
	}
	// A step of training moves the ends of few weights of a coarse type, and some by more than one place. Numbers that are rounded to it on
	// two ways are one place apart, and so are ends of three weights of four.
	few := far && moved > leastWeights && movedOneIn*moved > compared && 2*moved < compared
	if all := append(weights, near...); few || len(weights) >= leastWeights && 2*len(all) > compared {
		other := otherDistance
		if drawn, known := w.drawnAnew(all); known && !drawn {
			other = math.Inf(1)
		} else if known {
			other = 0
		}
		w.out.Premises = append(w.out.Premises, otherWeights(all, compared, other))
	}
}

// movedOneIn is in how many weights of a coarse type one at least has another largest or smallest element after a step of training: in
// networks in bfloat16 it was one in five.
const movedOneIn = 8

// farMeans is how far the means of weights are apart, half of them at least, that were drawn from other numbers, in standard deviations of a
// mean: of two independent draws half are 0.95 and more. 60 networks had 0.4 to 1.9, and 0 to 0.23 after a step of training, the small ones most.
// Where elements are known, leastAlike is what the correlation of half of them is at most: it is 0 but for chance.
const farMeans, leastAlike = 0.3, 0.5

// drawnAnew tells of weights of which more than ends and a checksum are known whether they were drawn from other numbers, rather than moved by
// training: from their elements, where they were compared, else from their means.
func (w *recordedWalk) drawnAnew(list []*source) (drawn, known bool) {
	var means, alike []float64
	for _, s := range list {
		r := &w.table.Rows[s.row]
		const sums = result.KnownMean | result.KnownNorm
		if f := &r.Result().Facts; r.Compared && f.Known && f.Finite > 1 {
			if c := (f.Cosine*f.X.RMS*f.Y.RMS - f.X.Mean*f.Y.Mean) / (f.X.Deviation * f.Y.Deviation); c == c {
				alike = append(alike, c)
			}
			continue
		}
		if r.Compared || !r.Recorded.Left.Has(sums) || !r.Recorded.Right.Has(sums) {
			continue
		}
		a, b, n := &r.Recorded.Left.Stats, &r.Recorded.Right.Stats, elements(r.Right.Shape)
		if spread := b.Norm*b.Norm/n - b.Mean*b.Mean; spread > 0 && n > 1 {
			means = append(means, math.Abs(a.Mean-b.Mean)/math.Sqrt(spread/n))
		}
	}
	slices.Sort(means)
	slices.Sort(alike)
	switch {
	case len(alike) > 0:
		return alike[len(alike)/2] < leastAlike, true
	case len(means) > 0:
		return means[len(means)/2] >= farMeans, true
	}
	return false, false
}

// lookup is the first that a rank made: in which table, and of how many rows.
type lookup struct {
	table string
	rows  float64
}

// sampled tells of ids that they are tokens that a model which writes text was given next, and that nobody is to blame that they are others: each side
// sampled from what it gave before, which noise may turn where two are nearly as likely. They are looked up in the table that was first, and are one for
// each text: the last axis is one, or there is no other and fewer are looked up than at first, when it was a prompt.
func (w *recordedWalk) sampled(op *Operator, ids *result.Row) bool {
	_, rank := partOf(op.Op.Name)
	first, shape := w.looked[rank], ids.Right.Shape
	if !counted(ids.Left.DType) || len(shape) == 0 || !slices.Equal(ids.Left.Shape, shape) || shape[len(shape)-1] != 1 && (len(shape) > 1 || float64(shape[0]) >= first.rows) {
		return false
	}
	return first.table != "" && first.table == w.tableOf(op) && w.named(ids.Facts.Producer.Op) == nil && w.named(ids.Recorded.Golden.Op) == nil && !slices.ContainsFunc(w.out.Roots, func(r Root) bool {
		_, other := partOf(w.operators[r.Operator].Op.Name)
		return other == rank
	})
}

// look notes the first lookup of a rank: a row of numbers for each whole number, as of a table of tokens, also where it scales them.
func (w *recordedWalk) look(op *Operator) {
	_, rank := partOf(op.Op.Name)
	if w.looked[rank].table != "" || len(op.Outputs) != 1 {
		return
	}
	for k := range op.Inputs {
		ids, rows := w.row(&op.Inputs[k]).Right, w.row(&op.Outputs[0]).Right
		n := len(ids.Shape)
		if ids.DType.IsInteger() && rows.DType.IsFloat() && (catalogue.Is(op.Op.Type, catalogue.Copies) || ofModule(op.Op.Name) && len(rows.Shape) == n+1 && slices.Equal(rows.Shape[:n], ids.Shape)) {
			w.looked[rank] = lookup{w.tableOf(op), elements(ids.Shape)}
		}
	}
}

// otherTokens says it, and what follows from them is not judged by size.
func (w *recordedWalk) otherTokens(op *Operator, t *Tensor) {
	if !slices.ContainsFunc(w.out.Premises, func(p Premise) bool { return p.Kind == PremiseInputs && p.Broken }) {
		w.out.Premises = append(w.out.Premises, Premise{Kind: PremiseInputs, Broken: true, Tensors: 1, Share: 1, Rows: []int{t.Row}, Reason: result.Because(result.TokensSampled, op.Op.Name+" "+w.row(t).Recorded.Place)})
	}
}

// tableOf names the table that a call looks rows up in, of modules by their name, "" where that is not known.
func (w *recordedWalk) tableOf(op *Operator) string {
	name := strings.TrimPrefix(op.Op.Name, prefixOf(op.Op.Name))
	if ofModule(name) {
		return name[:strings.LastIndexByte(name, '.')+1]
	}
	for k := range op.Inputs {
		if r := w.row(&op.Inputs[k]); r.Recorded != nil && isWeight(op, r.Recorded.Place) {
			return strconv.FormatInt(r.Recorded.Right.Print(r.Right.Shape), 10)
		}
	}
	return ""
}

// mostGiven bounds how many tensors that differ are kept of what a rank was given, and how many that do not: the first calls
// tell, and a job may have many thousand pieces.
const mostGiven = 32

// vocabulary is how wide integers range at least that tell ranks apart, as tokens do: flags, places in a short list and
// numbers of experts are soon alike by chance.
const vocabulary = 32

// keepGiven keeps of a tensor that was given to a rank what would tell that another rank was given it. Means and
// norms are left out: machines sum in other orders.
func (w *recordedWalk) keepGiven(op *Operator, order int, r *result.Row, differs, weight bool) {
	prefix := prefixOf(op.Op.Name)
	kept := 0
	for _, g := range w.given[prefix] {
		if g.Alike == !differs {
			kept++
		}
	}
	if kept == mostGiven {
		return
	}
	tell := func(s *result.Summary, shape []int64) int64 {
		bounds := *s
		bounds.Known &= result.KnownMax | result.KnownMin
		bounds.Stats.Mean, bounds.Stats.Norm = 0, 0
		return bounds.Print(shape)
	}
	left, right := tell(r.Recorded.Left, r.Left.Shape), tell(r.Recorded.Right, r.Right.Shape)
	w.given[prefix] = append(w.given[prefix], GivenTensor{Name: printOf(op.Op.Name[len(prefix):] + " " + r.Recorded.Place), Order: order, Alike: !differs, Left: left, Right: right, Weight: weight,
		Tells: differs && left != right && tellsRanks(r)})
}

// printOf is a hash of a text.
func printOf(text string) int64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return int64(h.Sum64())
}

// tellsRanks tells of a tensor that two ranks hardly have its extremes in common by chance: fractions, or integers of a wide
// range. Masks are neither, of whatever type.
func tellsRanks(r *result.Row) bool {
	if r.Left.DType.IsBool() || elements(r.Left.Shape) <= 1 {
		return false
	}
	for _, summary := range []*result.Summary{r.Recorded.Left, r.Recorded.Right} {
		top, low := summary.Stats.Max, summary.Stats.Min
		fraction := r.Left.DType.IsFloat() && (top != math.Trunc(top) || low != math.Trunc(low))
		if !summary.Has(result.KnownMax|result.KnownMin) || !fraction && (r.Left.DType.IsFloat() || !(top-low >= vocabulary)) {
			return false
		}
	}
	return true
}

// Exchanged is the premise that ranks are in another order, if it is so: in the first step in which ranks were given
// something else, each of these was given what belongs to another one, and nothing went wrong before. What went wrong in an
// earlier step, or in a rank before it was given anything, is what hands ranks the data of others. Own tells of the roots of
// the pieces which of them the order of ranks does not explain; nil where the premise holds.
func Exchanged(pieces []Piece) (p Premise, own [][]bool) {
	first := -1 // the step
	for i := range pieces {
		if p := &pieces[i]; len(p.Given) > 0 && (first < 0 || p.Step < pieces[first].Step) {
			first = i
		}
	}
	if first < 0 {
		return p, nil
	}
	step := pieces[first].Step
	if slices.ContainsFunc(pieces, func(q Piece) bool { return q.Step < step && len(q.Roots) > 0 }) {
		return p, nil
	}
	taken, moved := map[int]bool{}, map[int]bool{}
	for i := range pieces {
		mine := &pieces[i]
		if mine.Step != step || len(mine.Given) == 0 {
			continue
		}
		at, most, loaded := -1, 0, false
		for k := range pieces {
			if q := &pieces[k]; q.Step == step && q.Rank != mine.Rank {
				if tells, weights := mine.has(q); tells > most {
					at, most, loaded = k, tells, weights
				}
			}
		}
		if at < 0 || taken[at] || mine.wrongBefore(pieces, loaded) {
			return p, nil
		}
		moved[mine.Rank] = true
		if taken[at] = true; len(taken) == 1 {
			p = Premise{Kind: PremiseRanks, Broken: true, Tensors: len(mine.Given), Share: 1, Reason: result.Because(result.RanksExchanged, strconv.Itoa(mine.Rank), strconv.Itoa(pieces[at].Rank))}
		}
	}
	own = make([][]bool, len(pieces))
	for i := range pieces {
		mine := &pieces[i]
		met := slices.ContainsFunc(pieces, func(q Piece) bool { return q.Rank == mine.Rank && q.Step < mine.Step && q.Joins > 0 })
		own[i] = make([]bool, len(mine.Roots))
		for k := range own[i] {
			r := &mine.Roots[k]
			// An argument that no rank has on the other side has nothing to do with their order; those of collective calls are ranks.
			strange := r.Argument != "" && r.Meets == "" && !mine.mirrored(r, pieces)
			own[i][k] = r.Proven || strange || !moved[mine.Rank] && !met && !r.Open && (mine.Joins == 0 || r.Order < mine.Joins-1)
		}
	}
	return p, own
}

// mostStrange is how many tensors that tell must be those of the other rank for each that is not, which something is wrong with.
const mostStrange = 4

// has counts the tensors that tell which a piece was given on the left side and another one on the right side, 0 where these are too
// few beside others, and whether weights are among them. Where it has its own, that must be what both have.
func (p *Piece) has(other *Piece) (tells int, weights bool) {
	strange := 0
	for _, mine := range p.Given {
		k := slices.IndexFunc(other.Given, func(g GivenTensor) bool { return g.Name == mine.Name })
		switch {
		case k < 0 && mine.Alike:
		case mine.Alike && mine.Right != other.Given[k].Right:
			return 0, false
		case mine.Alike, k >= 0 && mine.Left == other.Given[k].Left && mine.Right == other.Given[k].Right: // ranks have that in common
		case k < 0 || mine.Left == 0 || mine.Left != other.Given[k].Right:
			if !mine.Weight {
				return 0, false
			}
			strange++
		case mine.Tells:
			tells++
			weights = weights || mine.Weight
		}
	}
	if strange*mostStrange > tells {
		return 0, false
	}
	return tells, weights
}

// wrongBefore tells that something went wrong in a piece before it was given what it should not have. If weights are loaded, and not
// handed out by a collective, that was before anything ran.
func (p *Piece) wrongBefore(pieces []Piece, weights bool) bool {
	first := slices.IndexFunc(p.Given, func(g GivenTensor) bool { return !g.Alike })
	return slices.ContainsFunc(p.Roots, func(r Start) bool {
		loaded := weights && (p.Joins == 0 || r.Order < p.Joins-1 || r.Argument != "")
		return r.Order < p.Given[first].Order && !loaded && (r.Argument == "" || !p.mirrored(&r, pieces))
	})
}

// mirrored tells of a root that begins with an argument which some rank has there on the other side, as the places of its slices.
func (p *Piece) mirrored(r *Start, pieces []Piece) bool {
	return slices.ContainsFunc(pieces, func(q Piece) bool {
		return q.Step == p.Step && q.Rank != p.Rank && slices.ContainsFunc(q.Roots, func(x Start) bool {
			return x.Op == r.Op && x.Argument != "" && len(x.Seen) == 2 && slices.Index(r.Seen, x.Seen[1]) == 0
		})
	})
}

// source is a tensor of a call as what was given to the run.
func (w *recordedWalk) source(op *Operator, t *Tensor) *source {
	r := w.row(t)
	s := &source{port: result.Port{Op: op.Op.Name + " " + r.Recorded.Place}, weight: isWeight(op, r.Recorded.Place), row: t.Row, root: -1,
		elements: elements(r.Right.Shape), apart: recordedApart(r)}
	if s.off && !s.large && w.looksUp(op, r) {
		s.large, s.share = true, 1
	}
	return s
}

// looksUp tells of ids of which one extreme is another, as those of a padded batch, or the checksum alone, that most of them are others:
// both extremes of what they look up are, too, in a table that is the same. Few other rows hardly hold both.
func (w *recordedWalk) looksUp(op *Operator, ids *result.Row) bool {
	if !catalogue.Is(op.Op.Type, catalogue.Copies) || ids.Compared || !counted(ids.Left.DType) || sameEnds(ids) && agreementOf(ids) != different || slices.ContainsFunc(op.Inputs, func(t Tensor) bool {
		r := w.row(&t)
		return r != ids && agreementOf(r) != same
	}) {
		return false
	}
	return slices.ContainsFunc(op.Outputs, func(t Tensor) bool {
		r := w.row(&t)
		e, ok := extremesOf(r)
		far := 2 * roundedOff(r) * max(math.Abs(e.rightMax), math.Abs(e.rightMin)) // rows are copied
		return ok && !r.Compared && (math.Abs(e.leftMax-e.rightMax) > far && math.Abs(e.leftMin-e.rightMin) > far || rowsApart(r) > mostRowsAlone)
	})
}

// mostRowsAlone is how many times further than one row that was taken in place of another moves a mean, as a rule, a mean is that more of
// them moved: one row does so once in 370 times.
const mostRowsAlone = 3

// rowsApart is how many times further the means of two outputs are apart than one row of a table in place of another moves them, as
// a rule: the mean of a row of n independent numbers is off 0 by their root mean square over √n.
func rowsApart(r *result.Row) float64 {
	a, b, shape := r.Recorded.Left, r.Recorded.Right, r.Right.Shape
	const moments = result.KnownMean | result.KnownNorm
	if !a.Has(moments) || !b.Has(moments) || len(shape) < 2 {
		return 0
	}
	n, width := elements(shape), float64(shape[len(shape)-1])
	root := math.Max(a.Stats.Norm, b.Stats.Norm) / math.Sqrt(n)
	return math.Abs(a.Stats.Mean-b.Stats.Mean) * n / math.Sqrt(2*width) / root
}

// alikeAtEnds tells of a pair of which statistics are all that is known that both sides have the same largest and smallest number.
func alikeAtEnds(r *result.Row) bool {
	const extremes = result.KnownMax | result.KnownMin
	return !r.Compared && r.Recorded.Left.Has(extremes) && r.Recorded.Right.Has(extremes) && sameEnds(r)
}

// lastDigit tells of two norms that they are no further apart than one step of float32, in which recorders sum: the same numbers
// have such norms in two versions of a framework. A step is at most two roundoffs, and half of one more is lost where numbers are written in
// as few digits as tell them apart.
func lastDigit(r *result.Row) bool {
	a, b := r.Recorded.Left.Stats.Norm, r.Recorded.Right.Stats.Norm
	return math.Abs(a-b) <= 3*single*math.Abs(b)
}

func sameEnds(r *result.Row) bool {
	a, b := &r.Recorded.Left.Stats, &r.Recorded.Right.Stats
	return a.Max == b.Max && a.Min == b.Min
}

// loaded tells of an output of a call that no tensor goes into that it may be data which the
// call fetched: fractions, and not one number everywhere, which the program itself asks for.
func (w *recordedWalk) loaded(t *Tensor) bool {
	r := w.row(t)
	if r.Recorded == nil || r.Recorded.Argument || agreementOf(r) == unknown || counted(r.Left.DType) || counted(r.Right.DType) {
		return false
	}
	_, blank := vacant(r)
	l, g := &r.Recorded.Left.Stats, &r.Recorded.Right.Stats
	return !blank && l.Max != l.Min && g.Max != g.Min
}

// computesFloats tells that a call makes numbers of tensors that it gets.
func computesFloats(w *recordedWalk, op *Operator) bool {
	in := slices.ContainsFunc(op.Inputs, func(t Tensor) bool { r := w.row(&t); return r.Recorded != nil && !r.Recorded.Argument })
	return in && slices.ContainsFunc(op.Outputs, func(t Tensor) bool { return w.row(&t).Left.DType.IsFloat() })
}

// recordedApart measures an input of a call by its elements, or else by what its statistics
// tell: one element that is another moves the largest or the smallest number, and hardly both; or the mean as far as a few can.
func recordedApart(r *result.Row) apart {
	if r.Has(result.SortsDiffer) || r.Has(result.ShapesDiffer) {
		return apart{}
	}
	if r.Compared && r.Result().Facts.Known {
		return apartOf(r, false)
	}
	a := apart{known: true}
	size, known := sizeOf(r)
	l, right := r.Recorded.Left, r.Recorded.Right
	const extremes = result.KnownMax | result.KnownMin
	ints := counted(r.Left.DType) && counted(r.Right.DType)
	if agreementOf(r) == same || !known && !ints {
		return a
	}
	limit := 0.0
	peak := math.Max(math.Abs(right.Stats.Max), math.Abs(right.Stats.Min))
	if !ints {
		u := roundedOff(r)
		limit = max(u, min(converted*u, otherStatistics))
	}
	a.distance, a.off = size, ints || size > limit
	moved := func(bit int32, x, y, scale float64) bool {
		return l.Has(bit) && right.Has(bit) && math.Abs(x-y) > limit*scale
	}
	both := l.Has(extremes) && right.Has(extremes) && moved(result.KnownMax, l.Stats.Max, right.Stats.Max, peak) && moved(result.KnownMin, l.Stats.Min, right.Stats.Min, peak)
	many := !ints && l.Has(result.KnownMean) && right.Has(result.KnownMean) &&
		math.Abs(l.Stats.Mean-right.Stats.Mean) > fewElements*2*peak/elements(r.Right.Shape)+roundedOff(r)*math.Abs(right.Stats.Mean)
	if a.off && (both || many) && (ints || size > otherStatistics) {
		a.large, a.share = true, 1
	}
	return a
}

// fewElements is how many elements may be others, each by as much as there is, and the data be the same: a mean that moved further than
// they can move it says that many are.
const fewElements = 4

// otherStatistics is how far statistics of other data are apart at least; what a resize, or
// another decoder, does to them is less.
const otherStatistics = 0.02

// fedWith says of other data what tells.
func (w *recordedWalk) fedWith(s *source) result.Reason {
	if s.of != 0 {
		return s.reason(true)
	}
	r := &w.table.Rows[s.row]
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	if r.Recorded.Hashed && sameEnds(r) {
		return result.Because(result.InputsSummed, s.port.Op, r.Recorded.Left.Sum, r.Recorded.Right.Sum)
	}
	return result.Because(result.InputsRecorded, s.port.Op, number(r.Recorded.Left.Stats.Max), number(r.Recorded.Right.Stats.Max), number(r.Recorded.Left.Stats.Min), number(r.Recorded.Right.Stats.Min))
}

// excuse takes back all roots where what was given to the runs is another: nothing that was
// computed from it tells of a call. What a check recomputed does, and where ranks are in another order, what has nothing to do with it.
func (w *recordedWalk) excuse() {
	broken := false
	for _, p := range w.out.Premises {
		broken = broken || p.Broken
	}
	if !broken {
		return
	}
	keep := func(_ int, r *Root) bool {
		word, _ := w.operators[r.Operator].checkWord()
		return word == checkWrong || w.apart[r.Operator]
	}
	if len(w.out.Pieces) == 1 { // a job goes by the places of its roots
		p := &w.out.Pieces[0]
		kept := p.Roots[:0:0]
		for n := range p.Roots {
			if keep(n, &w.out.Roots[n]) {
				kept = append(kept, p.Roots[n])
			}
		}
		p.Roots = kept
	}
	w.keepRoots(w.out, keep)
}
