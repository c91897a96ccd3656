package verdict

import (
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
		differs bool // an output does
		started bool // numbers were computed of tensors, maybe by ways that were not recorded
		other   bool // it was fed other data
	}
	runs := map[string]map[string]*run{} // by step and rank
	astray := map[string]bool{}          // ranks with an output that is off by as much as other data
	var steps []string
	var weights []*source
	fed := map[string][]*source{} // by step
	compared := 0
	for i := range w.operators {
		op := &w.operators[i]
		step, rank := partOf(op.Op.Name)
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
			part = &run{differs: astray[rank]}
			runs[step][rank] = part
		}
		give := func(s *source) {
			fed[step] = append(fed[step], s)
			part.other = true
		}
		for k := range op.Inputs {
			r := w.row(&op.Inputs[k])
			if r.Recorded == nil || r.Recorded.Argument || r.Recorded.Before.Op != "" || agreementOf(r) == untold || w.named(r.Facts.Producer.Op) != nil || w.named(r.Recorded.Golden.Op) != nil {
				continue
			}
			switch s := w.given(op, &op.Inputs[k]); {
			case s.weight && s.elements > 1 && step == steps[0] && !w.opts.Later:
				if compared++; s.off {
					weights = append(weights, s)
				}
			case w.opts.Later && !counted(r.Left.DType): // it may be carried over from a step before
			case !s.weight && !part.differs && s.other() && (!part.started || counted(r.Left.DType)):
				give(s)
			}
		}
		if !w.opts.Later && !part.differs && !part.started && op.State != StateBad && w.unfed(op) && !collective(op) {
			for k := range op.Outputs {
				if w.loaded(&op.Outputs[k]) {
					if s := w.given(op, &op.Outputs[k]); s.other() {
						give(s)
					}
				}
			}
		}
		part.differs = part.differs || w.off(op)
		// Where outputs are not recorded, an input may be what any call before it made.
		part.started = part.started || computesFloats(w, op) || len(op.Outputs) == 0 && len(op.Inputs) > 0
		for k := range op.Outputs {
			if size, known := sizeOf(w.row(&op.Outputs[k])); known && size > otherStatistics {
				astray[rank] = true
			}
		}
	}
	w.fedOther = map[[2]string]bool{}
	for _, step := range steps {
		others := 0
		for rank, part := range runs[step] {
			if part.other {
				others++
				w.fedOther[[2]string{step, rank}] = true
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
		p := Premise{Kind: PremiseInputs, Broken: true, Tensors: len(fed[step]), Share: s.share, Rows: rowsOf(fed[step]), Reason: s.reason(true)}
		if s.of == 0 {
			p.Reason = w.said(s)
		}
		w.out.Premises = append(w.out.Premises, p)
		break
	}
	if n := len(weights); n >= leastWeights && 2*n > compared {
		w.out.Premises = append(w.out.Premises, otherWeights(weights, compared))
	}
}

// given is a tensor of a call as what was given to the run.
func (w *recordedWalk) given(op *Operator, t *Tensor) *source {
	r := w.row(t)
	return &source{port: result.Port{Op: op.Op.Name + " " + r.Recorded.Place}, weight: isWeight(op, r.Recorded.Place), row: t.Row, root: -1,
		elements: elements(r.Right.Shape), apart: recordedApart(r)}
}

// loaded tells of an output of a call that no tensor goes into that it may be data which the
// call fetched: fractions, and not one number everywhere, which the program itself asks for.
func (w *recordedWalk) loaded(t *Tensor) bool {
	r := w.row(t)
	if r.Recorded == nil || r.Recorded.Argument || agreementOf(r) == untold || counted(r.Left.DType) || counted(r.Right.DType) {
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
// tell: one element that is another moves the largest or the smallest number, and hardly both.
func recordedApart(r *result.Row) apart {
	if r.Has(result.SortsDiffer) || r.Has(result.ShapesDiffer) {
		return apart{}
	}
	if r.Compared && r.Result().Facts.Known {
		return apartOf(r)
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
		limit = converted * roundedOff(r)
	}
	a.distance, a.off = size, ints || size > limit
	moved := func(bit int32, x, y, scale float64) bool {
		return l.Has(bit) && right.Has(bit) && math.Abs(x-y) > limit*scale
	}
	both := l.Has(extremes) && right.Has(extremes) && moved(result.KnownMax, l.Stats.Max, right.Stats.Max, peak) && moved(result.KnownMin, l.Stats.Min, right.Stats.Min, peak)
	if a.off && both && (ints || size > otherStatistics) {
		a.large, a.share = true, 1
	}
	return a
}

// otherStatistics is how far statistics of other data are apart at least; what a resize, or
// another decoder, does to them is less.
const otherStatistics = 0.02

// said names a statistic that differs.
func (w *recordedWalk) said(s *source) result.Reason {
	r := &w.table.Rows[s.row]
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	return result.Because(result.InputsSaid, s.port.Op, number(r.Recorded.Left.Stats.Max), number(r.Recorded.Right.Stats.Max), number(r.Recorded.Left.Stats.Min), number(r.Recorded.Right.Stats.Min))
}

// excuse takes back all roots where what was given to the runs is another: nothing that was
// computed from it tells of a call. What a check recomputed does.
func (w *recordedWalk) excuse() {
	broken := false
	for _, p := range w.out.Premises {
		broken = broken || p.Broken
	}
	if !broken {
		return
	}
	w.keepRoots(w.out, func(r *Root) bool {
		word, _ := w.operators[r.Operator].said()
		return word == saidWrong
	})
}
