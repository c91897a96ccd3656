package oracle

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"precision/compare/result"
	"precision/dump"
	"precision/dump/dtype"
	"precision/dump/msprobe"
	"precision/graph"
)

func isCollective(t string) bool { return strings.HasPrefix(t, "Hcom") }

// occasion is an operator at a step, and what the devices that ran it together recorded of it: their places in Job.Devices in
// the order of their ranks, and what was found of them all.
type occasion struct {
	devices []int
	found   *meeting
	err     error
}

// collective judges an operator that several devices ran together. They meet once, and each takes the findings of its own
// outputs.
func (j Job) collective(ctx context.Context, t task, r *dump.Reader) []Finding {
	findings := make([]Finding, len(r.Outputs))
	for i := range findings {
		findings[i] = blank(t.op, r, i)
		findings[i].Elements = r.Outputs[i].Elements()
	}
	type at struct {
		op   *graph.Op
		step int
	}
	met, _ := j.met.LoadOrStore(at{t.op, j.Devices[t.device].Step}, sync.OnceValue(func() occasion { return j.occasion(ctx, t) }))
	o := met.(func() occasion)()
	m := o.found
	if o.err != nil {
		return failed(findings, o.err, nil, "")
	}
	var ranks []int
	for _, d := range o.devices {
		ranks = append(ranks, j.Devices[d].Rank)
	}
	switch m.Why {
	case "":
	case WhyBadDump:
		return refused(findings, because(BadDump, strings.Join(m.Args[1:], "")))
	case WhyOneRank:
		return refused(findings, because(OneRank, len(ranks)))
	case WhyType:
		return refused(findings, because(NoOperator, t.op.Type))
	case WhyInPlace:
		return refused(findings, because(InPlace, 0))
	case WhyShapes:
		var shapes [][]int64
		for i := range r.Inputs {
			shapes = append(shapes, r.Inputs[i].OriginShape)
		}
		return refused(findings, because(ShapesDiffer, shapeText(shapes...)))
	default:
		return refused(findings, because(MoreRanks, ranksText(ranks)))
	}
	mine := slices.Index(o.devices, t.device)
	for i := range findings {
		f, found := &findings[i], m.outcomes[i][mine]
		f.fill(found.judge)
		if f.Verdict = OK; found.judged == 0 {
			f.Verdict, f.Reasons = Unknown, append(f.Reasons, because(NotJudged, found.looked))
		}
		for _, x := range m.Faults {
			if x.Rank != mine || x.Output != i {
				continue
			}
			f.Verdict = Wrong
			if x.Elements > 0 {
				f.Reasons = append(f.Reasons, because(Beyond, x.Elements, x.Of))
			}
			other := max(0, x.Other)
			switch x.Kind {
			case MetOwnInput:
				f.Reasons = append(f.Reasons, because(OwnInput))
			case MetLeftOut:
				f.Reasons = append(f.Reasons, because(LeftOut, ranks[other]))
			case MetTwice:
				f.Reasons = append(f.Reasons, because(CountedTwice, ranks[other]))
			case MetMean, MetSum:
				f.Reasons = append(f.Reasons, because(OtherReduction, x.Kind))
			case MetSwapped:
				f.Reasons = append(f.Reasons, because(OtherPiece, ranks[other]))
			case MetDiffers:
				f.Reasons = append(f.Reasons, because(RankDiffers, found.apart))
			}
		}
	}
	return findings
}

// occasion has the devices of a step meet.
func (j Job) occasion(ctx context.Context, t task) (o occasion) {
	var members []Member
	for d, device := range j.Devices {
		if device.Step == j.Devices[t.device].Step {
			o.devices = append(o.devices, d)
		}
	}
	slices.SortStableFunc(o.devices, func(a, b int) int { return cmp.Compare(j.Devices[a].Rank, j.Devices[b].Rank) })
	for place, d := range o.devices {
		rec := j.Devices[d].Folder.Op(t.op.Name)
		if rec == nil {
			o.err = refuse(NoInput, "rank "+itoa(j.Devices[d].Rank))
			return o
		}
		members = append(members, Member{Rank: place, Op: t.op, Type: t.op.Type, Entry: rec.Newest()})
	}
	o.found, o.err = meetingOf(ctx, members)
	return o
}

// Replicas: what ranks of a data parallel job have alike, and what they must not. Their weights are the same, and
// so are gradients after they were reduced, which the weights of the next step show; their batches are not.
// Nothing is said of ranks that run something together before the first gradient, or hold parts of
// tensors: what of theirs is alike nobody knows.

// mostOther is the share of weights, one in so many, in which ranks may differ and still be taken for replicas; leastAlike is
// how many calls have to give the same for a batch to be.
const mostOther, leastAlike = 4, 4

// replica is what one rank of a step has.
type replica struct {
	of      *recordedCalls
	weights map[string]ownWeight // by call and place
	made    []string             // what its calls gave, one after the other
}

// ownWeight is a weight of a rank, by its statistics.
type ownWeight struct {
	call    *recordedCall
	summary string
}

// replicas finds ranks with another weight than their peers, and ranks that were fed the same batch.
func replicas(list []*recordedCalls) (out []remark) {
	type occasion struct {
		mode string
		step int
	}
	ranks := map[occasion][]*replica{}
	var order []occasion
	for _, r := range list {
		if r.from == nil || r.from.Rank < 0 {
			continue
		}
		k := occasion{r.from.Mode, r.from.Step}
		if ranks[k] == nil {
			order = append(order, k)
		}
		ranks[k] = append(ranks[k], replicaOf(r))
	}
	for _, k := range order {
		all := ranks[k]
		if len(all) < 2 || slices.Contains(all, nil) {
			continue
		}
		out = append(out, otherWeights(all)...)
		for i, t := range all {
			for _, u := range all[:i] {
				if len(t.made) >= leastAlike && slices.Equal(t.made, u.made) {
					out = append(out, remark{t.of.calls[0], because(SameBatch, u.of.from.Rank, len(t.made))})
					break
				}
			}
		}
	}
	return out
}

// remark is what makes a call suspect beside what its outputs say.
type remark struct {
	on  *recordedCall
	why result.Reason
}

// addRemarks has findings say what was found of their calls beside them.
func addRemarks(findings []Finding, remarks []remark) []Finding {
	for _, r := range remarks {
		at := slices.IndexFunc(findings, func(f Finding) bool { return f.Op == r.on.name })
		if at < 0 {
			at = len(findings)
			findings = append(findings, Finding{Op: r.on.name, Type: r.on.Parsed.API, ID: int64(r.on.order), Rank: -1, Ratio: nan, Expected: nan, Found: nan, Bound: nan, Largest: nan})
		}
		f := &findings[at]
		if f.Verdict < Suspect {
			f.Verdict, f.Reasons = Suspect, nil
		}
		f.Reasons = append(f.Reasons, r.why)
	}
	return findings
}

// replicaOf is what a rank has before its first gradient; nil where ranks run something together there or hold parts of
// tensors.
func replicaOf(r *recordedCalls) *replica {
	t := &replica{of: r, weights: map[string]ownWeight{}}
	for _, c := range r.calls {
		if c.Parsed.Direction == msprobe.Backward {
			break
		}
		if distributed(c.Call) {
			return nil
		}
		var params []string
		if f := functions()[c.Parsed.API]; f != nil && c.Parsed.Form == msprobe.API {
			params = f.params
		}
		for i := range c.Values {
			v := &c.Values[i]
			if v.Kind != msprobe.Tensor || v.DType == "" {
				continue
			}
			if v.Placements() != nil {
				return nil
			}
			named, ok := statisticsText(v)
			switch at, err := strconv.Atoi(v.Path); {
			case !ok:
			case v.Section == msprobe.Output && v.Known && !v.Elem.IsInteger() && !v.Elem.IsBool() && c.Parsed.Form == msprobe.API:
				t.made = append(t.made, c.Name+" "+named)
			case v.Section == msprobe.Parameters, v.Section == msprobe.Kwargs && (v.Path == "weight" || v.Path == "bias"),
				v.Section == msprobe.Input && err == nil && at < len(params) && (params[at] == "weight" || params[at] == "bias"):
				t.weights[c.Name+" "+v.Section.String()+"."+v.Path] = ownWeight{c, named}
			}
		}
	}
	return t
}

// statisticsText is what is said of a tensor; false where it says little.
func statisticsText(v *msprobe.Value) (string, bool) {
	if norm, ok := v.Norm.Value(); !ok || norm-norm != 0 {
		return "", false
	}
	return strings.Join([]string{v.Max.String(), v.Min.String(), v.Mean.String(), v.Norm.String()}, " "), true
}

// otherWeights holds the weights of ranks against those of the one that most ranks agree with.
func otherWeights(all []*replica) (out []remark) {
	differ := func(t, u *replica) (names []string) {
		for name, w := range t.weights {
			if x, ok := u.weights[name]; ok && x.summary != w.summary {
				names = append(names, name)
			}
		}
		slices.SortFunc(names, func(a, b string) int {
			return cmp.Or(t.weights[a].call.order-t.weights[b].call.order, cmp.Compare(a, b))
		})
		named := map[string]bool{} // once where a module and its function have it
		return slices.DeleteFunc(names, func(name string) bool {
			twice := named[t.weights[name].summary]
			named[t.weights[name].summary] = true
			return twice
		})
	}
	var common *replica
	least := -1
	for _, t := range all {
		sum := 0
		for _, u := range all {
			sum += len(differ(t, u))
		}
		if least < 0 || sum < least {
			common, least = t, sum
		}
	}
	for _, t := range all {
		named := map[string]bool{}
		for _, w := range t.weights {
			named[w.summary] = true
		}
		if names := differ(t, common); len(names) > 0 && mostOther*len(names) <= len(named) {
			first := t.weights[names[0]].call
			_, place, _ := strings.Cut(names[0], " ")
			out = append(out, remark{first, because(OtherWeight, place, common.of.from.Rank, len(names), len(named))})
		}
	}
	return out
}

// summed is what an argument without elements should be that was on its way from other ranks when it was recorded: the sum
// of the summands that the ranks of the step have from the last call before that leaves some of its form. nil if there are
// none. Which call that was is not recorded, so that nothing is called wrong by it, and of more than two ranks the order
// of the sum is not known, either: what it does not explain stays unknown.
func (b *bound) summed(a *argument) *operand {
	n, ok := a.v.Elements()
	taker := b.forward()
	if !strings.HasSuffix(a.v.Type, "AsyncCollectiveTensor") || taker == nil || !ok || n > maxDense || a.v.Elem != dtype.Float32 {
		return nil
	}
	from, place := b.of.lastSummand(a.v, taker.order)
	if from == nil {
		return nil
	}
	sum, x := make([]float64, n), make([]float64, n)
	for _, r := range b.of.step {
		c := r.index[from.Name]
		if c == nil || place >= len(c.Values) || !summand(&c.Values[place], a.v, len(b.of.step)) {
			return nil
		}
		own := &files{path: r.path}
		o, err := own.tensor(&c.Values[place], a.place)
		if err == nil {
			err = o.Range(0, x, nil)
		}
		if own.close(); err != nil {
			return nil
		}
		for i := range sum {
			sum[i] += x[i]
		}
	}
	o := inMemory(a.place, dtype.Float32, a.v.Shape)
	for i, x := range sum {
		o.f32[i] = float32(x)
	}
	return o
}

// partOfSum is the first output of a call that the ranks have one summand each of, among those of its form.
type partOfSum struct {
	call  *recordedCall
	place int
}

// lastSummand is the last call before that of an order that gives summands of the form of a tensor, and the place of the
// first of them; nil if there is none. Calls are looked through once, however many ask.
func (r *recordedCalls) lastSummand(like *msprobe.Value, before int) (*recordedCall, int) {
	form := func(v *msprobe.Value) string { return fmt.Sprint(v.Elem, v.Shape) }
	r.summing.Do(func() {
		r.summands = map[string][]partOfSum{}
		for _, c := range r.calls {
			for i := range c.Values {
				v := &c.Values[i]
				if !summand(v, v, len(r.step)) {
					continue
				}
				key := form(v)
				if list := r.summands[key]; len(list) == 0 || list[len(list)-1].call != c {
					r.summands[key] = append(list, partOfSum{c, i})
				}
			}
		}
	})
	list := r.summands[form(like)]
	at, _ := slices.BinarySearchFunc(list, before, func(s partOfSum, order int) int { return cmp.Compare(s.call.order, order) })
	if at == 0 {
		return nil, -1
	}
	return list[at-1].call, list[at-1].place
}

// summand tells of an output that n ranks have one summand each of a tensor of the form of another.
func summand(v, like *msprobe.Value, n int) bool {
	mesh, list := v.Mesh(), v.Placements()
	return v.Section == msprobe.Output && filed(&argument{v: v}) && v.Elem == like.Elem && slices.Equal(v.Shape, like.Shape) &&
		slices.Equal(mesh, []int{n}) && len(list) == 1 && list[0].Kind == "Partial" && list[0].Op == "sum"
}
