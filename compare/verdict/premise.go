package verdict

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/dump/dtype"
	catalogue "precision/op"
)

// Premises
//
// Before operators are judged, the recordings are: were both runs fed the same data, with
// the same weights? Both are read off the tensors that no kernel computes. Where most of
// such a tensor differs, nothing behind it says anything about an operator; where a few
// elements do, or one weight of many, that is what is wrong, and not the operator that takes it.

// source is a tensor that the network takes as it is given.
type source struct {
	port result.Port
	// weight tells what is learned or set from what is fed.
	weight bool
	// row is the first compared one that shows it, in order of execution; -1 without one.
	row int
	// elements is how many it has, 0 if that is not known.
	elements float64
	// takers are the operators that take it, as places in execution order.
	takers []int
	apart
	// root is the place of the root that tells of it, -1 without one.
	root int
}

// apart is how far the sides of a tensor are from each other, beyond what conversion of
// dtypes, layouts and the rounding of a normalisation explain.
type apart struct {
	// known: it was compared. off: it is apart at all.
	known, off bool
	// differ of so many elements differ; exact if it is just as many, else it may be fewer.
	differ, of int64
	exact      bool
	// share is the share of those elements that other data would change.
	share float64
	// distance is the relative distance; large: it is that of other data.
	distance float64
	large    bool
	// scale is the factor that is all that is wrong, 0 if it is none.
	scale float64
}

const (
	// converted is how many roundoffs, of the largest element, two ways to prepare the
	// same data may be apart: x/255-m over s in float16 is off by up to 5, rounded twice.
	converted = 16
	// roundedTwice is how many roundoffs, of its size, a weight is off by at most that was rounded to its type on two ways.
	roundedTwice = 4
	// masked is what is so far below zero that it is there to mask.
	masked = -1e3
	// mostPeak is the square of how many times its root mean square the largest is of errors
	// that are spread over a tensor: of 10⁸ normal numbers.
	mostPeak = 32
)

// apartOf measures a compared row. What is stored is rounded, and not prepared otherwise.
func apartOf(r *result.Row, stored bool) (a apart) {
	m := measureOf(r)
	if !r.Compared || m.unknown() {
		return a
	}
	a.known, a.distance, a.of = true, m.distance, max(m.n, 0)
	f := m.facts
	if f == nil { // an imported row does not tell how many elements differ
		a.large = m.distance > otherDistance || m.cosine < otherCosine
		a.off, a.share = a.large, 1
		return a
	}
	if counted(r.Left.DType) && counted(r.Right.DType) {
		a.differ, a.exact, a.large = f.Differ, true, true
		a.off = f.Differ > 0
	} else {
		a.measured(r, f, m.finite, stored)
	}
	if a.off {
		a.share = math.Min(1, float64(a.differ)/(float64(max(f.N, 1))*chance(f)))
	}
	return a
}

// otherDistance and otherCosine are what data may be off by and still be the same, however
// it was prepared: resized or decoded otherwise, say. They are the limits that outputs have.
const (
	otherDistance = 0.2
	otherCosine   = 0.98
)

// measured does it for numbers that are measured.
func (a *apart) measured(r *result.Row, f *metric.Facts, finite int64, stored bool) {
	disagree := f.Disagree
	if sameMask(f) {
		return
	}
	u := max(unit(coarserOf(r)), unit(dtype.Float32))
	far := f.MaxAbs > converted*u*magnitude(&f.Y)+coarserOf(r).MinSubnormal()
	far = far || stored && f.Distance > max(roundedTwice*u, converted*unit(dtype.Float16))
	a.off = far || disagree > 0
	if !a.off {
		return
	}
	a.differ, a.exact = f.Differ, true
	if far {
		// Few large errors among many that are rounding.
		rms := f.Distance * f.Y.RMS
		if math.IsInf(f.Distance, 0) {
			rms = f.X.RMS
		}
		many := float64(finite) * rms * rms / (f.MaxAbs * f.MaxAbs) // as many of the largest come to the same
		if most := int64(math.Ceil(mostPeak * many)); most < f.Differ-disagree && f.Differ > f.N/2 {
			a.differ, a.exact = disagree+most, false
		}
	} else {
		a.differ = disagree
	}
	a.large = f.Distance > otherDistance || f.Cosine < otherCosine || math.IsNaN(f.Cosine) || 2*disagree >= f.N
	if s := f.Scale; a.large && f.Unscaled*math.Abs(s) <= converted*u && s != 0 && !math.IsInf(s, 0) {
		a.scale = s
	}
}

// sameMask tells of what is added to mask elements that the same ones are masked: -Inf on one
// side and -10000, or the end of a dtype's range, on the other.
func sameMask(f *metric.Facts) bool {
	masks := func(s *metric.SideFacts) bool { return s.NaN == 0 && !(s.Hi > 0) && (s.Inf > 0 || s.Lo <= masked) }
	return masks(&f.X) && masks(&f.Y) && f.X.Zero == f.Y.Zero && f.X.Zero > 0 && f.Differ <= f.N-f.X.Zero
}

// chance is the share of elements that data of the same sort would change: of a tensor of
// two values, as masks and one-hot labels are, those that are not the same by chance.
func chance(f *metric.Facts) float64 {
	x, y := &f.X, &f.Y
	if x.Lo != y.Lo || x.Hi != y.Hi || !(x.Hi > x.Lo) {
		return 1
	}
	var part [2]float64
	for i, s := range []*metric.SideFacts{x, y} {
		spread := (s.Mean - s.Lo) * (s.Hi - s.Mean)
		if math.Abs(s.Deviation*s.Deviation-spread) > 1e-6*spread {
			return 1
		}
		part[i] = (s.Mean - s.Lo) / (s.Hi - s.Lo)
	}
	return part[0]*(1-part[1]) + part[1]*(1-part[0])
}

// other tells that it is not the same tensor with something wrong in it, but another one.
func (a *apart) other() bool {
	return a.off && a.large && a.share >= 0.5 && a.of != 1 && (a.of == 0 || a.differ >= 3 || a.differ == a.of)
}

// few tells that a part of it is wrong.
func (a *apart) few() bool { return a.off && (a.share < 0.5 || a.of == 1 || a.large && !a.other()) }

// sources lists what the network takes as it is given, in the order in which it is taken.
func (j *judge) sources() (list []*source) {
	index := map[result.Port]*source{}
	of := func(from *Operator, p result.Port) *source {
		if from == nil || from.computes() && from.row.Traits&catalogue.Random == 0 {
			return nil
		}
		s := index[p]
		if s == nil {
			s = &source{port: p, weight: from.Op.Constant || from.row.Traits&catalogue.Constant != 0, row: -1, root: -1}
			index[p] = s
			list = append(list, s)
		}
		return s
	}
	show := func(s *source, row int) {
		r := &j.table.Rows[row]
		if s.elements == 0 && (r.Shape != nil || r.Compared) {
			s.elements = elements(r.Shape)
		}
		if s.row < 0 && r.Compared {
			if a := apartOf(r, s.weight); a.known {
				s.row, s.apart = row, a
			}
		} else if s.off && r.Compared {
			// The same somewhere: it changed on the way to who was asked first.
			s.off = apartOf(r, s.weight).off
		}
	}
	for i := range j.operators {
		op := &j.operators[i]
		for k := range op.Outputs {
			if t := &op.Outputs[k]; !t.Seen {
				if s := of(op, result.Port{Op: op.Op.Name, Index: t.Slot}); s != nil {
					show(s, t.Row)
				}
			}
		}
		for t, p := range j.feeds(op) {
			s := of(p.by, p.Port)
			if s == nil {
				continue
			}
			if !slices.Contains(s.takers, i) {
				s.takers = append(s.takers, i)
			}
			if t != nil {
				show(s, t.Row)
			}
		}
	}
	return list
}

// firstTaken are, where there is no graph, the inputs of the operator that ran first: nothing that was
// recorded made them.
func (j *judge) firstTaken() (list []*source) {
	for i := range j.operators {
		op := &j.operators[i]
		if op.State == StateUncompared && len(op.Inputs) == 0 {
			continue
		}
		for k := range op.Inputs {
			t := &op.Inputs[k]
			r := &j.table.Rows[t.Row]
			s := &source{port: result.Port{Op: r.Tensor()}, row: t.Row, root: -1, elements: elements(r.Shape), takers: []int{i}}
			if s.apart = apartOf(r, false); s.other() {
				list = append(list, s)
			}
		}
		break
	}
	return list
}

// premised is what the premises say of the operators of a network.
type premised struct {
	// given are the sources that an operator takes, by its place.
	given map[int][]*source
	// reported are those that differ and are to be named where they are taken.
	reported map[*source]bool
	// broken: some source is another tensor. behind tells of every operator whether one
	// is, as far as operators were looked at.
	broken bool
	behind []bool
	// users are the operators that take outputs of each.
	users [][]int
}

// premises looks at what was given to a network, before its operators are judged.
func (j *judge) premises(out *Judged) *premised {
	p := &premised{given: map[int][]*source{}, reported: map[*source]bool{}, behind: make([]bool, len(j.operators)), users: make([][]int, len(j.operators))}
	for i := range j.operators {
		for _, at := range j.makersOf(&j.operators[i]) {
			if at >= 0 {
				p.users[at] = append(p.users[at], i)
			}
		}
	}
	var fed, near, weights []*source
	compared := 0
	list := j.sources()
	graphless := len(list) == 0 && j.table.Meta.Pairing.How == result.ByName
	if graphless {
		list = j.firstTaken()
	}
	for _, s := range list {
		for _, i := range s.takers {
			p.given[i] = append(p.given[i], s)
		}
		if s.weight && s.known && s.elements > 1 {
			compared++
		}
		switch {
		case !s.off || j.excused(s):
		case s.weight && s.elements > 1 && (!s.other() || p.matters(j, s)):
			weights = append(weights, s)
		case s.other() && p.matters(j, s):
			fed = append(fed, s)
		case s.few() && !s.other():
			p.reported[s] = true
		default:
			near = append(near, s)
		}
	}
	if len(fed) > 0 {
		for s := range p.reported { // with other data, what little differs belongs to them
			fed = append(fed, s)
			delete(p.reported, s)
		}
		slices.SortFunc(fed, func(a, b *source) int {
			return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(b.of, a.of), cmp.Compare(a.port.Op, b.port.Op), cmp.Compare(a.port.Index, b.port.Index))
		})
		p.breaks(fed)
		out.Premises = append(out.Premises, Premise{Kind: PremiseInputs, Broken: true, Tensors: len(fed), Share: fed[0].share, Rows: rowsOf(fed), Reason: fed[0].reason(true)})
	}
	hidden := func(s *source) bool { return s.weight && s.elements > 1 } // what takes it does not show that it is another
	var all []*source
	for _, s := range near {
		if hidden(s) {
			all = append(all, s)
		}
	}
	all = append(all, weights...)
	if n := len(weights); n > 0 && len(fed) > 0 || n >= leastWeights && 2*len(all) > compared {
		weights, near = all, slices.DeleteFunc(near, hidden)
		out.Premises = append(out.Premises, otherWeights(weights, compared, otherDistance))
		for s := range p.reported { // single numbers go with them
			if s.weight {
				weights = append(weights, s)
				delete(p.reported, s)
			}
		}
		p.breaks(weights)
	} else {
		for _, s := range weights {
			p.reported[s] = true
		}
	}
	if len(out.Premises) > 0 && (out.Premises[0].Kind == PremiseGraph || graphless) {
		p.all() // what depends on it is not known
	}
	if len(near) > 0 {
		kind := PremiseInputs
		if near[0].weight {
			kind = PremiseWeights
		}
		out.Premises = append(out.Premises, Premise{Kind: kind, Tensors: len(near), Share: near[0].share,
			Reason: result.Because(result.GivenNear, near[0].port.Op, percent(near[0].distance))})
	}
	return p
}

// leastWeights is how many weights have to differ at least to be those of another checkpoint.
const leastWeights = 3

// otherWeights is the premise of most weights being others: of another step where they are
// nearly the same, half of them by less than far.
func otherWeights(list []*source, compared int, far float64) Premise {
	distances := make([]float64, 0, len(list))
	for _, s := range list {
		distances = append(distances, s.distance)
	}
	slices.Sort(distances)
	median := distances[len(distances)/2]
	p := Premise{Kind: PremiseWeights, Broken: true, Tensors: len(list), Share: float64(len(list)) / float64(compared), Rows: rowsOf(list)}
	kind := result.WeightsDiffer
	if median < far {
		p.Kind, kind = PremiseStep, result.StepDiffers
	}
	p.Reason = result.Because(kind, strconv.Itoa(len(list)), strconv.Itoa(compared), percent(median))
	return p
}

// mostRows is how many rows a premise names to be looked at.
const mostRows = 4

func rowsOf(list []*source) (rows []int) {
	for _, s := range list[:min(len(list), mostRows)] {
		rows = append(rows, s.row)
	}
	return rows
}

// percent is a share; of a golden side of zeros all is off.
func percent(v float64) string {
	if math.IsInf(v, 0) {
		v = 1
	}
	return strconv.FormatFloat(100*v, 'g', 3, 64)
}

// excused tells that the profile waives what is wrong with a source.
func (j *judge) excused(s *source) bool {
	r := &j.table.Rows[s.row]
	op := j.named(r.Op)
	t := op.input(r.Slot)
	if r.Role == result.Output {
		t = op.output(r.Slot)
	}
	return t != nil && t.Row == s.row && len(t.Causes) > 0 && !slices.ContainsFunc(t.Causes, func(c Cause) bool { return !c.Waived })
}

// reason says that a source differs; of an input that is other data it says so.
func (s *source) reason(other bool) result.Reason {
	kinds := [...]result.Kind{result.GivenScaled, result.GivenApart, result.GivenDiffers}
	if other {
		kinds = [...]result.Kind{result.InputsScaled, result.InputsApart, result.InputsDiffer}
	}
	switch {
	case s.scale != 0:
		return result.Because(kinds[0], s.port.Op, strconv.FormatFloat(s.scale, 'g', 4, 64))
	case s.of == 0 || !s.exact:
		return result.Because(kinds[1], s.port.Op, percent(s.distance))
	}
	return result.Because(kinds[2], s.port.Op, strconv.FormatInt(s.differ, 10), strconv.FormatInt(s.of, 10))
}

// matters tells whether what takes a source shows that it is another one. Where all of
// that agrees, the tensor is only recorded in another form: before a preprocessing that one side
// does in a kernel, in a layout that was not told.
func (p *premised) matters(j *judge, s *source) bool {
	seen := map[int]bool{}
	var shows func(i int) bool
	shows = func(i int) bool {
		if seen[i] {
			return false
		}
		seen[i] = true
		op := &j.operators[i]
		if op.State == StateUncompared {
			return slices.ContainsFunc(p.users[i], shows)
		}
		return slices.ContainsFunc(op.Outputs, func(t Tensor) bool { // whatever a check says of it
			return slices.ContainsFunc(t.Causes, func(c Cause) bool { return !c.Waived && c.Kind != Unexplained })
		})
	}
	return len(s.takers) == 0 || slices.ContainsFunc(s.takers, shows)
}

// breaks marks what takes sources that are others.
func (p *premised) breaks(list []*source) {
	p.broken = true
	for _, s := range list {
		for _, i := range s.takers {
			p.behind[i] = true
		}
	}
}

// all has every operator lie behind what does not hold.
func (p *premised) all() {
	p.broken = true
	clear(p.reported)
	for i := range p.behind {
		p.behind[i] = true
	}
}

// reached tells whether an operator lies behind a broken premise, once all before it were
// asked.
func (p *premised) reached(j *judge, i int) bool {
	op := &j.operators[i]
	p.behind[i] = p.broken && (p.behind[i] || slices.ContainsFunc(j.makersOf(op), func(at int32) bool { return at >= 0 && p.behind[at] }) ||
		slices.ContainsFunc(op.Inputs, func(t Tensor) bool {
			at, ok := j.place[j.table.Rows[t.Row].Facts.Producer.Op]
			return ok && p.behind[at]
		}))
	return p.behind[i]
}

// unseen tells whether an operator takes a weight or an input that was not compared, so
// that it says nothing of a premise that does not hold.
func (p *premised) unseen(i int) bool {
	return slices.ContainsFunc(p.given[i], func(s *source) bool { return !s.known && s.elements != 1 })
}

// givenRoot makes the operator that takes a source of which a little differs a root, the
// first one that does; others inherit from it.
func (j *judge) givenRoot(out *Judged, p *premised, i int) (from []int, is bool) {
	op := &j.operators[i]
	for _, s := range p.given[i] {
		if !p.reported[s] {
			continue
		}
		if op.State == StateUncompared {
			for _, k := range p.users[i] { // what takes its outputs shows it
				if !slices.Contains(p.given[k], s) {
					p.given[k] = append(p.given[k], s)
				}
			}
			continue
		}
		if s.root >= 0 {
			from = merge(from, []int{s.root})
			continue
		}
		s.root = len(out.Roots)
		j.give(op, s)
		r := j.rootOf(op, i)
		r.Kind, r.Certainty, r.Begin = RootInput, Certain, &Begin{Row: s.row, Why: s.reason(false)}
		premise := Premise{Kind: PremiseInputs, Tensors: 1, Share: s.share, Rows: []int{s.row}, Reason: r.Begin.Why}
		if s.weight {
			r.Kind, premise.Kind = RootWeight, PremiseWeights
		}
		out.Premises = append(out.Premises, premise)
		out.Roots = append(out.Roots, r)
		from, is = merge(from, []int{s.root}), true
	}
	return from, is
}

// give says of the outputs of an operator that what it takes differs: it is bad where that is
// beyond the limits of a tensor of its own, or in what is counted.
func (j *judge) give(op *Operator, s *source) {
	worst := 0
	for k := range op.Outputs {
		if op.Outputs[k].Verdict > op.Outputs[worst].Verdict {
			worst = k
		}
	}
	t := &op.Outputs[worst]
	c := Cause{Kind: Differs, Value: s.distance, Count: s.differ, Of: s.of, First: -1}
	if r := &j.table.Rows[s.row]; j.verdictOf(s.row) == Bad || counted(r.Left.DType) && counted(r.Right.DType) {
		c.Kind, c.Value = Given, s.share
	}
	if limit, on := j.profile.limit(c.Kind, j.about(op, t)); on && (t.Verdict == Good || c.Kind == Given) {
		c.Limit = limit
		t.Causes = append(t.Causes, c)
		j.profile.waive(j.tensorName(op, t), t.Causes, j.day)
		t.settle()
	}
	op.State = max(op.State, [...]State{StateUncompared, StateGood, StateSuspect, StateBad}[t.Verdict])
}

// verdictOf is that of the tensor of a row.
func (j *judge) verdictOf(row int) Verdict {
	r := &j.table.Rows[row]
	op := j.named(r.Op)
	list := op.Inputs
	if r.Role == result.Output {
		list = op.Outputs
	}
	for k := range list {
		if list[k].Row == row {
			return list[k].Verdict
		}
	}
	return Uncompared
}

// unseenWeights tells whether every operator differs that takes a weight which was not
// compared and whose other inputs agree: no kernel is wrong in all of them, and the weights
// are others. One operator may be wrong, or two of a type. Where golden outputs were recomputed
// with the weights of the device, half of those that take one do not follow: the others are
// mostly constants of the formula, as tables of angles and first states of zeros.
func (j *judge) unseenWeights(p *premised) (list []*source, why result.Reason, ok bool) {
	if w := j.weighed(p); w.Differ >= leastWeights && 2*w.Differ >= w.Of {
		for i := range j.operators {
			for _, s := range p.given[i] {
				if s.weight && !s.known && !slices.Contains(list, s) {
					list = append(list, s)
				}
			}
		}
		return list, result.Because(result.WeightsApart, strconv.Itoa(w.Differ), strconv.Itoa(w.Of)), true
	}
	types := map[string]bool{}
	all := true
	for i := range j.operators {
		op := &j.operators[i]
		var weight *source
		for _, s := range p.given[i] {
			if s.weight && !s.known && s.elements > 1 && (weight == nil || s.elements > weight.elements) {
				weight = s
			}
		}
		if op.State == StateUncompared || weight == nil {
			continue
		}
		if w := j.walk(op); w.amiss || w.unknown || len(w.region) > 0 {
			continue
		}
		if op.State != StateGood && !slices.ContainsFunc(op.Outputs, func(t Tensor) bool {
			return t.Jump.Distance == 0 || slices.ContainsFunc(t.Causes, func(c Cause) bool { return c.Kind.Jump() })
		}) {
			continue // the error of another one arrives there, within the limits
		}
		all = all && op.State != StateGood
		list = append(list, weight)
		types[op.Op.Type] = true
	}
	return list, result.Because(result.WeightsUnseen, strconv.Itoa(len(list))), all && (len(list) >= leastWeights || len(list) == 2 && len(types) == 2)
}

// weighed counts the operators, one for each weight that was not compared, whose golden outputs
// were recomputed with those of the left side, and those that do not follow: what the table knows, or
// else what a check says of them. Another attribute or form is no other weight.
func (j *judge) weighed(p *premised) result.Weighed {
	w := j.table.Meta.Weighed
	if w.Of > 0 || len(j.table.Checks) == 0 {
		return w
	}
	for _, i := range j.weighable(p) {
		differs, follows := false, false
		for k := range j.operators[i].Outputs {
			if c := j.operators[i].Outputs[k].Check; c != nil {
				differs = differs || c.OtherWeight()
				follows = follows || c.Golden != result.GoldenUntried
			}
		}
		if differs {
			w.Differ++
		}
		if differs || follows {
			w.Of++
		}
	}
	return w
}

// mostWeighed is how many operators are recomputed with golden inputs to tell whether
// weights that were not compared are those of the framework: enough for most of them to say so,
// and near the inputs, where no other difference hides theirs.
const mostWeighed = 12

// weighable are the first operators in execution order that take weights which were not
// compared, one for each weight.
func (j *judge) weighable(p *premised) (places []int) {
	asked := map[*source]bool{}
	for i := range j.operators {
		op := &j.operators[i]
		if len(places) == mostWeighed {
			break
		}
		if op.State == StateUncompared || op.row.Traits&catalogue.Random != 0 {
			continue
		}
		fresh := false
		for _, s := range j.weightsOf(p, i, map[int]bool{}) {
			fresh, asked[s] = fresh || !asked[s], true
		}
		if fresh {
			places = append(places, i)
		}
	}
	return places
}

// weigh names the operators to be weighed where there are roots: one of their weights may be another,
// or all may. A root that only moves what it takes, and no weight, has none to blame.
func (j *judge) weigh(out *Judged, p *premised) (names []string) {
	if p.broken || !slices.ContainsFunc(out.Roots, func(r Root) bool {
		return !r.Recomputed && (!catalogue.Is(j.operators[r.Operator].Op.Type, catalogue.Moves) || len(j.weightsOf(p, r.Operator, map[int]bool{})) > 0)
	}) {
		return nil
	}
	for _, i := range j.weighable(p) {
		names = append(names, j.operators[i].Op.Name)
	}
	return names
}

// weightsOf are the weights that were not compared and that an operator takes, as they are or
// through operators that were not compared either: casts, and moves to another layout.
func (j *judge) weightsOf(p *premised, i int, seen map[int]bool) (list []*source) {
	seen[i] = true
	for _, s := range p.given[i] {
		if s.weight && !s.known && s.elements != 1 {
			list = append(list, s)
		}
	}
	for _, maker := range j.makersOf(&j.operators[i]) {
		if at := int(maker); at >= 0 && !seen[at] && j.operators[at].computes() && j.operators[at].State == StateUncompared {
			list = append(list, j.weightsOf(p, at, seen)...)
		}
	}
	return list
}

// Weigh names the operators whose golden outputs, recomputed with weights of the left side
// that were not compared, tell whether the sides have the same weights; none where the
// verdict does not depend on it. The answer goes to [result.Meta.Weighed].
func (j *Judged) Weigh() []string { return j.weigh }

// otherGraph tells that the shapes of most pairs differ, which is said of the pairing, or that most
// operators of either side have no partner.
func (j *judge) otherGraph(out *Judged) {
	for _, why := range j.table.Meta.Pairing.Why {
		if why.Kind != result.BatchDiffers && why.Kind != result.ShapesMostly {
			continue
		}
		differ, _ := strconv.Atoi(why.Arg(0))
		of, _ := strconv.Atoi(why.Arg(1))
		out.Premises = append(out.Premises, Premise{Kind: PremiseGraph, Broken: true, Tensors: differ, Share: float64(differ) / float64(max(of, 1)), Reason: why})
	}
	if left, right, paired := j.alone(); len(out.Premises) == 0 && left > paired && right > paired && !j.table.Meta.Partial {
		out.Premises = append(out.Premises, Premise{Kind: PremiseGraph, Broken: true, Tensors: left + right, Share: float64(left+right) / float64(left+right+2*paired),
			Reason: result.Because(result.OperatorsAlone, strconv.Itoa(left), strconv.Itoa(left+paired), strconv.Itoa(right), strconv.Itoa(right+paired))})
	}
}

// alone counts the operators that one side alone has, and those of both; without such that need no partner, if others
// have one. Of arrays the right side is never known to have more.
func (j *judge) alone() (left, right, paired int) {
	var inner [2]int
	defer func() {
		if paired == 0 {
			left, right = left+inner[0], right+inner[1]
		}
	}()
	for i := range j.operators {
		op := &j.operators[i]
		here, there := false, false
		for _, list := range [][]Tensor{op.Outputs, op.Inputs} {
			for k := range list {
				r := &j.table.Rows[list[k].Row]
				here, there = here || r.Left.Names != "*", there || r.Right.Names != "*"
			}
		}
		for _, row := range op.Whole {
			r := &j.table.Rows[row]
			here, there = here || r.Left.Names != "*", there || r.Right.Names != "*"
		}
		switch {
		case here && there:
			paired++
		case op.Op.Inner && here:
			inner[0]++
		case op.Op.Inner && there:
			inner[1]++
		case here:
			left++
		case there:
			right++
		}
	}
	return left, right, paired
}
