package oracle

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"precision/compare/result"
	"precision/dump"
	"precision/dump/dtype"
	"precision/dump/msprobe"
)

func isCollective(t string) bool { return strings.HasPrefix(t, "Hcom") }

// collective checks an operator that several devices ran together. HcomAllReduce:
// y is the reduction of the inputs of all ranks, equal to the last bit on all of
// them. B = g(R-1)·Σ|x_r| for a sum, and v·(R-1)·Σ|x_r| where every partial sum
// may be rounded to a narrow type. Prototype: hcom_ops.h.
func (j Job) collective(t task, r *dump.Reader, s Settings) []Finding {
	findings := make([]Finding, len(r.Outputs))
	for i := range findings {
		findings[i] = blank(t.op, r, i)
	}
	if t.op.Type != "HcomAllReduce" {
		return refused(findings, because(NoOperator, t.op.Type))
	}
	calls, mine, closers, err := j.group(t, r, s)
	defer func() {
		for _, c := range closers {
			c.Close()
		}
	}()
	if err != nil {
		return failed(findings, err, "")
	}
	if len(calls) < 2 {
		return refused(findings, because(OneRank, len(calls)))
	}
	for i := range findings {
		checkAllReduce(&findings[i], calls, mine, i, s)
	}
	return findings
}

// group opens the same operator of all devices of the step.
func (j Job) group(t task, r *dump.Reader, s Settings) (calls []*Call, mine int, closers []*dump.Reader, err error) {
	me := j.Devices[t.device]
	for d, device := range j.Devices {
		if device.Step != me.Step {
			continue
		}
		reader := r
		if d == t.device {
			mine = len(calls)
		} else {
			rec := device.Folder.Op(t.op.Name)
			if rec == nil {
				return nil, 0, closers, refuse(NoInput, "rank "+itoa(device.Rank))
			}
			if reader, err = rec.Newest().Open(); err != nil {
				return nil, 0, closers, refuse(BadDump, err)
			}
			closers = append(closers, reader)
		}
		c, _, err := newCall(t.op, reader, s.Env)
		if err != nil {
			return nil, 0, closers, err
		}
		calls = append(calls, c)
	}
	return calls, mine, closers, nil
}

func checkAllReduce(f *Finding, calls []*Call, mine, i int, s Settings) {
	me := calls[mine]
	if i >= len(me.outs) || me.outs[i] == nil || i >= len(me.slots) {
		f.Reasons = append(f.Reasons, because(BadTensor, "output "+itoa(i), "not read"))
		return
	}
	var in []Values
	for _, c := range calls {
		if i >= len(c.slots) || c.slots[i] == nil || i >= len(c.outs) || c.outs[i] == nil {
			f.Reasons = append(f.Reasons, because(NoInput, itoa(i)))
			return
		}
		in = append(in, c.slots[i])
	}
	v, err := reduceRanks(me, in)
	if err != nil {
		f.fail(err, "")
		return
	}
	c := checker{call: me, index: 0, rec: me.outs[i], full: s.Full}
	c.check(f, []Reading{{Out: []Values{v}}})
	c.againstOthers(f, calls, mine, i)
}

func reduceRanks(c *Call, in []Values) (Values, error) {
	n := float64(len(in))
	v := precisionFor(c.outs[0].typ).v
	unit := max(gamma(n, u32), v*(n-1))
	reduction := c.attrs.Get("reduction").Text()
	return attempt(func() Values {
		return elementsOf(func(x, e [][]float64, y, b []float64) {
			for i := range y {
				size := 0.0
				y[i] = x[0][i]
				for _, rank := range x {
					size += abs(rank[i])
				}
				for _, rank := range x[1:] {
					switch reduction {
					case "max":
						y[i] = math.Max(y[i], rank[i])
					case "min":
						y[i] = math.Min(y[i], rank[i])
					case "prod":
						y[i] *= rank[i]
					default:
						y[i] += rank[i]
					}
				}
				if b == nil {
					continue
				}
				switch reduction {
				case "max", "min":
					b[i] = 0
				case "prod":
					b[i] = unit * abs(y[i])
				default:
					b[i] = unit * size
				}
			}
		}, nil, false, in)
	})
}

// againstOthers holds the output against that of the other ranks: it must be
// the same to the last bit. A rank that differs from all others, which agree,
// is wrong; where its output is its own input, that is said.
func (c *checker) againstOthers(f *Finding, calls []*Call, mine, i int) {
	n := c.rec.view.Len()
	differs := func(a, b *operand) int64 {
		if a.view.Len() != b.view.Len() {
			return n
		}
		x, y := make([]float64, min(n, slab)), make([]float64, min(n, slab))
		count := int64(0)
		for lo := int64(0); lo < n; lo += slab {
			k := min(slab, n-lo)
			if a.Range(lo, x[:k], nil) != nil || b.Range(lo, y[:k], nil) != nil {
				return 0
			}
			for p := range k {
				if x[p] != y[p] && !(math.IsNaN(x[p]) && math.IsNaN(y[p])) {
					count++
				}
			}
		}
		return count
	}
	from, agree := int64(0), 0
	for r, call := range calls {
		if r == mine {
			continue
		}
		if d := differs(c.rec, call.outs[i]); d > 0 {
			from = max(from, d)
		} else {
			agree++
		}
	}
	if from == 0 {
		return
	}
	own := differs(c.rec, calls[mine].slots[i]) == 0
	switch {
	case f.Verdict == Unknown && len(f.Reasons) > 0 && f.Reasons[0].Kind == InPlace:
		return
	case own || agree == 0 && len(calls) > 2 || f.Verdict == Wrong:
		f.Verdict = Wrong
	case f.Verdict == OK:
		f.Verdict = Suspect
	}
	f.Reasons = append(f.Reasons, because(RankDiffers, from))
	if own {
		f.Reasons = append(f.Reasons, because(OwnInput))
	}
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
	call *recordedCall
	said string
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

// heard has findings say what was found of their calls beside them.
func heard(findings []Finding, remarks []remark) []Finding {
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
			said, ok := statisticsText(v)
			switch at, err := strconv.Atoi(v.Path); {
			case !ok:
			case v.Section == msprobe.Output && v.Known && !v.Elem.IsInteger() && !v.Elem.IsBool() && c.Parsed.Form == msprobe.API:
				t.made = append(t.made, c.Name+" "+said)
			case v.Section == msprobe.Parameters, v.Section == msprobe.Kwargs && (v.Path == "weight" || v.Path == "bias"),
				v.Section == msprobe.Input && err == nil && at < len(params) && (params[at] == "weight" || params[at] == "bias"):
				t.weights[c.Name+" "+v.Section.String()+"."+v.Path] = ownWeight{c, said}
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
			if x, ok := u.weights[name]; ok && x.said != w.said {
				names = append(names, name)
			}
		}
		slices.SortFunc(names, func(a, b string) int {
			return cmp.Or(t.weights[a].call.order-t.weights[b].call.order, cmp.Compare(a, b))
		})
		said := map[string]bool{} // once where a module and its function have it
		return slices.DeleteFunc(names, func(name string) bool {
			twice := said[t.weights[name].said]
			said[t.weights[name].said] = true
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
		said := map[string]bool{}
		for _, w := range t.weights {
			said[w.said] = true
		}
		if names := differ(t, common); len(names) > 0 && mostOther*len(names) <= len(said) {
			first := t.weights[names[0]].call
			_, place, _ := strings.Cut(names[0], " ")
			out = append(out, remark{first, because(OtherWeight, place, common.of.from.Rank, len(names), len(said))})
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
