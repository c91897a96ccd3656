package oracle

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"precision/compare/result"
	"precision/dump"
	"precision/dump/dtype"
	"precision/dump/msprobe"
	"precision/graph"
	"precision/internal/must"
)

// Collectives of recordings of calls
//
// What a rank has of a collective depends on what all ranks of its group brought in. The
// recordings of all ranks of a step tell both: the n-th call of a function on a group is one
// meeting. Outputs are held against the inputs of all, within a bound for any order of sums, by
// their elements where these were recorded and else as far as statistics tell.

// assembly is the call of a collective on all ranks of a group.
type assembly struct {
	api   string
	calls []*recordedCall // of the ranks, in the order of the group
	ranks []int
	// certain: the calls name the group, or the shapes of a collective show how many ranks there
	// are. Else it is all that were recorded, and there may be more.
	certain bool
	// missing is a rank of the group without a recording of the call, -1 if there is none.
	missing int
	// transfer: it is between two ranks, the sender first.
	transfer bool
	// beside are the calls of the same function that other groups made at the same time, as far as
	// is known.
	beside []*assembly
}

// collectiveAPIs are the parameters of the collectives of torch.distributed, in their order.
var collectiveAPIs = map[string][]string{
	"all_reduce": {"tensor", "op", "group"}, "reduce": {"tensor", "dst", "op", "group"}, "broadcast": {"tensor", "src", "group"},
	"all_gather": {"out", "in", "group"}, "all_gather_into_tensor": {"out", "in", "group"}, "_all_gather_base": {"out", "in", "group"},
	"reduce_scatter": {"out", "in", "op", "group"}, "reduce_scatter_tensor": {"out", "in", "op", "group"}, "_reduce_scatter_base": {"out", "in", "op", "group"},
	"all_to_all": {"out", "in", "group"}, "all_to_all_single": {"out", "in", "output_split_sizes", "input_split_sizes", "group"},
	"scatter": {"tensor", "scatter_list", "src", "group"}, "gather": {"tensor", "gather_list", "dst", "group"},
	"send": {"tensor", "dst", "group"}, "isend": {"tensor", "dst", "group"}, "recv": {"tensor", "src", "group"}, "irecv": {"tensor", "src", "group"},
}

// keywordNames are what keyword arguments are called that collectiveAPIs has under one name.
var keywordNames = map[string]string{
	"tensor_list": "out", "output_tensor": "out", "output": "out", "output_tensor_list": "out", "input_tensor": "in", "input": "in", "input_list": "in",
	"input_tensor_list": "in", "group_src": "src", "group_dst": "dst",
}

// callKeywords are those of parameters that only some functions have.
var callKeywords = map[string]map[string]string{"all_gather": {"tensor": "in"}}

// distributed tells whether ranks run a call together.
func distributed(c *msprobe.Call) bool {
	_, known := collectiveAPIs[c.Parsed.API]
	return known && c.Parsed.Form == msprobe.API && strings.HasSuffix(strings.ToLower(c.Parsed.Prefix), "distributed")
}

// bound by names: the arguments of a collective.
func (c *recordedCall) collective() map[string]*argument {
	r, params := recordedOf(c.Call), collectiveAPIs[c.Parsed.API]
	args := map[string]*argument{}
	for i, a := range r.args {
		if i < len(params) {
			args[params[i]] = a
		}
	}
	for name, a := range r.kwargs {
		args[c.parameter(name)] = a
	}
	return args
}

// parameter is the name of a keyword argument in collectiveAPIs.
func (c *recordedCall) parameter(name string) string {
	if other, ok := callKeywords[c.Parsed.API][name]; ok {
		return other
	}
	if other, ok := keywordNames[name]; ok && !slices.Contains(collectiveAPIs[c.Parsed.API], name) {
		return other
	}
	return name
}

// given are the parameters in the order in which the recorder has them among the outputs: it
// repeats what was given to the call, as it is when the call is done.
func (c *recordedCall) given() (names []string) {
	params := collectiveAPIs[c.Parsed.API]
	for i := range recordedOf(c.Call).args {
		if i < len(params) {
			names = append(names, params[i])
		} else {
			names = append(names, "")
		}
	}
	for i := range c.Values {
		v := &c.Values[i]
		if v.Section != msprobe.Kwargs {
			continue
		}
		key, _, _ := strings.Cut(v.Path, ".")
		if name := c.parameter(key); len(names) == 0 || names[len(names)-1] != name {
			names = append(names, name)
		}
	}
	return names
}

// groupOf are the ranks that a call names, nil for all.
func groupOf(args map[string]*argument) (ranks []int) {
	g := args["group"]
	if g == nil || g.v == nil || g.v.Kind != msprobe.Group {
		return nil
	}
	for _, n := range g.v.Items {
		if n.Kind == msprobe.Int {
			ranks = append(ranks, int(n.I))
		}
	}
	return ranks
}

// assemblies finds the collectives of all recordings. Nothing is said of ranks that no folder
// names. The n-th call of a function on a group of ranks, at a step, is one meeting; calls that
// name no group are of all ranks that were recorded, which is certain only where a collective shows
// by its number of pieces how many there are. A transfer is a meeting of sender and receiver, in
// the order of their calls.
func assemblies(list []*recordedCalls, only func(string) bool) (all []*assembly) {
	type place struct {
		mode string
		step int
	}
	worlds := map[place][]int{}
	for _, r := range list {
		at := place{r.from.Mode, r.from.Step}
		if r.from.Rank >= 0 && !slices.Contains(worlds[at], r.from.Rank) {
			worlds[at] = append(worlds[at], r.from.Rank)
		}
	}
	met, groups := map[string]*assembly{}, map[string][]*assembly{}
	world := map[place]bool{} // the number of all ranks is known
	for _, r := range list {
		at := place{r.from.Mode, r.from.Step}
		if r.from.Rank < 0 || len(worlds[at]) < 2 {
			continue
		}
		everyone := slices.Sorted(slices.Values(worlds[at]))
		count := map[string]int{}
		for _, c := range r.transfers() {
			args := c.collective()
			ranks := groupOf(args)
			certain := ranks != nil
			if !certain {
				ranks = everyone
				world[at] = world[at] || c.shows(args) == len(everyone)
			}
			key, transfer := fmt.Sprint(c.Parsed.API, ranks), false
			if peer := c.peer(args, r.from.Rank); peer != nil {
				ranks, certain, transfer = peer, true, true
				key = fmt.Sprint("transfer", peer)
			}
			n := count[key]
			count[key]++
			when := fmt.Sprint(at, c.Parsed.API, n)
			key = fmt.Sprint(at, key, n)
			a := met[key]
			if a == nil {
				a = &assembly{api: c.Parsed.API, ranks: ranks, calls: make([]*recordedCall, len(ranks)), certain: certain, transfer: transfer, missing: -1}
				met[key] = a
				all = append(all, a)
				if !transfer {
					groups[when] = append(groups[when], a)
				}
			}
			if k := slices.Index(ranks, r.from.Rank); k >= 0 && a.calls[k] == nil {
				a.calls[k] = c
			}
			c.meets = a
		}
	}
	for _, list := range groups {
		for _, a := range list {
			for _, b := range list {
				if !slices.ContainsFunc(b.ranks, func(r int) bool { return slices.Contains(a.ranks, r) }) {
					a.beside = append(a.beside, b)
				}
			}
		}
	}
	for _, a := range all {
		for k, c := range a.calls {
			if c == nil {
				a.missing = a.ranks[k]
			} else if !a.certain {
				a.certain = world[place{c.of.from.Mode, c.of.from.Step}]
			}
		}
	}
	if only != nil {
		all = slices.DeleteFunc(all, func(a *assembly) bool {
			return !slices.ContainsFunc(a.calls, func(c *recordedCall) bool { return c != nil && only(c.name) })
		})
	}
	return all
}

// transfers are the calls that ranks run together, in their order. One that sends and receives
// several tensors is a call for each of them.
func (r *recordedCalls) transfers() (list []*recordedCall) {
	for _, c := range r.calls {
		switch {
		case distributed(c.Call):
			list = append(list, c)
		case c.Parsed.API == "batch_isend_irecv" && c.Parsed.Form == msprobe.API:
			list = append(list, c.split()...)
		}
	}
	return list
}

// split makes a call of each operation of batch_isend_irecv: its tensor, and the rank at the other
// end. Calls whose operations are not known are left as they are.
func (c *recordedCall) split() (list []*recordedCall) {
	of := map[string]*recordedCall{}
	at := 0 // among the outputs
	for i := range c.Values {
		v := c.Values[i]
		if v.Section == msprobe.Output {
			at++
		}
		dot := strings.LastIndexByte(v.Path, '.')
		path, field := v.Path[:max(dot, 0)], v.Path[dot+1:]
		if v.Section == msprobe.Input {
			_, path, _ = strings.Cut(path, ".") // the list is an argument
		} else if _, rest, ok := strings.Cut(path, "."); ok {
			path = rest
		}
		one := of[path]
		if one == nil {
			call := *c.Call
			call.Values = nil
			one = &recordedCall{Call: &call, of: c.of, name: c.name, order: c.order, meets: nil}
			of[path] = one
			list = append(list, one)
		}
		switch {
		case field == "tensor" && v.Section == msprobe.Output:
			one.first = at - 1
			v.Path = "0"
		case field == "tensor":
			v.Path = "0"
		case field == "peer" && v.Section == msprobe.Input:
			v.Path = "1"
		case field == "op" && v.Section == msprobe.Input:
			one.Call.Parsed.API = v.Value.S
			continue
		default:
			continue
		}
		one.Call.Values = append(one.Call.Values, v)
	}
	for _, one := range list {
		if !distributed(one.Call) {
			return nil
		}
	}
	c.meets = &assembly{} // each is judged by itself
	return list
}

// shows is how many ranks a collective has by the number of its pieces, 0 where that is not
// known.
func (c *recordedCall) shows(args map[string]*argument) int {
	in, out := args["in"], args["out"]
	switch {
	case in != nil && in.v == nil && len(in.list) > 0:
		return len(in.list)
	case out != nil && out.v == nil && len(out.list) > 0:
		return len(out.list)
	}
	for _, a := range recordedOf(c.Call).out.list {
		if a != nil && a.v == nil && len(a.list) > 0 && a.list[0].tensor() {
			return len(a.list)
		}
	}
	return 0
}

// peer are the two ends of a transfer, the sender first; nil of what is none.
func (c *recordedCall) peer(args map[string]*argument, rank int) []int {
	name, sends := "src", false
	switch c.Parsed.API {
	case "send", "isend":
		name, sends = "dst", true
	case "recv", "irecv":
	default:
		return nil
	}
	other, ok := args[name].number()
	if !ok {
		return nil
	}
	if sends {
		return []int{rank, int(other)}
	}
	return []int{int(other), rank}
}

// meetingOfCalls is an assembly being judged.
type meetingOfCalls struct {
	gathering
	*assembly
	open []*files
	come []*recordedCall // those of guests
}

// check judges the outputs of all ranks.
func (a *assembly) check(ctx context.Context) (out []Finding) {
	m := &meetingOfCalls{assembly: a}
	m.gathering = gathering{tensors: m, ctx: ctx, others: []string{"sum", "mean", "max", "min", "prod"}, scales: true}
	defer func() {
		for i, c := range a.calls {
			if c != nil && i < len(m.open) && m.open[i] != nil {
				c.glance(m.open[i])
			} else if c != nil {
				c.glance(&files{path: c.of.path})
			}
		}
	}()
	defer func() {
		for _, f := range m.open {
			if f != nil {
				f.close()
			}
		}
	}()
	defer func() {
		if p := recover(); p != nil {
			out = refused(m.blanks(), because(Crashed, p))
		}
	}()
	return m.check()
}

// with opens a tensor of a call of the group, or of a guest.
func (m *meetingOfCalls) with(member int, a *argument, use func(*operand)) {
	for len(m.open) <= member {
		m.open = append(m.open, nil)
	}
	if m.open[member] == nil {
		m.open[member] = &files{path: slices.Concat(m.calls, m.come)[member].of.path}
	}
	if a.op == nil && a.err == nil {
		a.op, a.err = m.open[member].tensor(a.v, a.place)
	}
	must.Do(a.err)
	use(a.op)
}

func (m *meetingOfCalls) before(*argument, func(*operand)) {}

// meetGuests has those of other groups at the same time as guests.
func (m *meetingOfCalls) meetGuests() {
	for _, a := range m.beside {
		for k, c := range a.calls {
			if c != nil {
				if in := c.collective()["tensor"]; filed(in) {
					m.come, m.guests = append(m.come, c), append(m.guests, guest{a.ranks[k], in})
				}
			}
		}
	}
}

// blanks are the findings of all outputs before they are judged.
func (m *meetingOfCalls) blanks() (out []Finding) {
	for _, c := range m.calls {
		if c == nil {
			continue
		}
		for i, a := range recordedOf(c.Call).flat {
			if a.tensor() {
				out = append(out, c.blank(a.v, c.first+i))
			}
		}
	}
	return out
}

// prepare finds what every output is made of.
// An output carries the path of the argument that it is, whose name says which parameter.
func (m *meetingOfCalls) prepare() {
	for k, c := range m.calls {
		m.members = append(m.members, member{m.ranks[k], c.Parsed.API, c.kind(), c.collective()})
	}
	for k, c := range m.calls {
		names := c.given()
		flat := recordedOf(c.Call).flat
		for i, a := range flat {
			if !a.tensor() {
				continue
			}
			path := strings.Split(a.v.Path, ".")
			o := gathered{member: k, index: c.first + i, arg: a}
			if at, err := strconv.Atoi(path[0]); err == nil && at < len(names) {
				o.name = names[at]
			}
			if len(path) > 1 {
				o.piece, _ = strconv.Atoi(path[1])
			}
			o.why = must.Try(func() { m.made(&o) })
			m.outs = append(m.outs, o)
		}
	}
}

// filed reports whether a tensor has elements, a file of them.
func filed(a *argument) bool { return a.tensor() && (a.v.DataName != "" || elementless(a.v)) }

func isCollective(t string) bool { return strings.HasPrefix(t, "Hcom") }

// occasion is an operator at a step, and what the devices that ran it together recorded of it:
// their places in Job.Devices in the order of their ranks, and what was found of them all.
type occasion struct {
	devices []int
	found   *meeting
	err     error
}

// collective judges an operator that several devices ran together. They meet once, and each takes
// the findings of its own outputs. A meeting is judged once and remembered for the other ranks of
// its step.
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
		f := &findings[i]
		if i >= len(m.outcomes) { // the first rank has fewer
			unknown(f, because(OutputCount, len(r.Outputs), len(m.outcomes)))
			continue
		}
		found := m.outcomes[i][mine]
		f.fill(found.j)
		f.Verdict = OK
		switch {
		case found.j.beyond > 0:
			f.Verdict, f.Reasons = Wrong, append(f.Reasons, because(Beyond, found.j.beyond, found.j.looked))
			if found.cause.Kind != "" {
				f.Reasons = append(f.Reasons, found.cause.Reason)
			}
		case found.differs:
			f.Verdict, f.Reasons = Wrong, append(f.Reasons, because(RankDiffers, found.differing))
		case found.j.coarse > 0:
			unknown(f, because(Coarse, found.j.coarse, found.j.looked))
		case found.j.judged == 0:
			unknown(f, because(NotJudged, found.j.looked))
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
	for _, d := range o.devices {
		rec := j.Devices[d].Folder.Op(t.op.Name)
		if rec == nil {
			o.err = refuse(NoInput, "rank "+itoa(j.Devices[d].Rank))
			return o
		}
		members = append(members, Member{Rank: j.Devices[d].Rank, Op: t.op, Type: t.op.Type, Entry: rec.Newest()})
	}
	o.found, o.err = meetingOf(ctx, members)
	return o
}

// Replicas: what ranks of a data parallel job have alike, and what they must not. Their weights are
// the same, and so are gradients after they were reduced, which the weights of the next step show;
// their batches are not. Nothing is said of ranks that run something together before the first
// gradient, or hold parts of tensors: what of theirs is alike nobody knows.

// mostOther is the share of weights, one in so many, in which ranks may differ and still be taken
// for replicas; leastAlike is how many calls have to give the same for a batch to be.
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

// replicas finds ranks with another weight than their peers, and ranks that were fed the same
// batch.
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
			findings = append(findings, newFinding(r.on.name, r.on.Parsed.API, int64(r.on.order), 0))
		}
		f := &findings[at]
		if f.Verdict < Suspect {
			f.Verdict, f.Reasons = Suspect, nil
		}
		f.Reasons = append(f.Reasons, r.why)
	}
	return findings
}

// replicaOf is what a rank has before its first gradient; nil where ranks run something together
// there or hold parts of tensors.
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

// summed is what an argument without elements should be that was on its way from other ranks when
// it was recorded: the sum of the summands that the ranks of the step have from the last call
// before that leaves some of its form. nil if there are none. Which call that was is not recorded,
// so that nothing is called wrong by it, and of more than two ranks the order of the sum is not
// known, either: what it does not explain stays unknown.
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
		ok := err == nil && reads(o, 0, x)
		if own.close(); !ok {
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

// partOfSum is the first output of a call that the ranks have one summand each of, among those of
// its form.
type partOfSum struct {
	call  *recordedCall
	place int
}

// lastSummand is the last call before that of an order that gives summands of the form of a tensor,
// and the place of the first of them; nil if there is none. Calls are looked through once, however
// many ask.
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

// Judging: every output of every rank is held against what the inputs of all ranks come to.
//
// Where only statistics were recorded, the stretches that an output is made of ([stretch]) say in
// which range the extremes, the mean and the norm of a result must lie ([extent]), which can accuse
// and never clear.

// check judges the outputs of all ranks.
func (m *meetingOfCalls) check() (out []Finding) {
	if m.missing >= 0 {
		why := because(NoRank, m.missing)
		if len(m.ranks) < 2 {
			why = because(OneRank, len(m.ranks))
		}
		return refused(m.blanks(), why)
	}
	m.prepare()
	var whole, wrong []*gathered
	for i := range m.outs {
		if o := &m.outs[i]; o.why == nil && m.filed(o) {
			whole = append(whole, o)
		}
	}
	if len(whole) > 0 {
		m.hold(whole, false)
	}
	for i := range m.outs {
		switch o := &m.outs[i]; {
		case o.why != nil:
		case o.j != nil && o.j.beyond > 0, o.j == nil && m.known(o) && !m.inRange(o, m.span(o.arg, m.made(o))):
			wrong = append(wrong, o)
		}
	}
	if len(wrong) > 0 && (m.api == "all_reduce" || m.api == "reduce") {
		m.meetGuests()
	}
	m.explain(wrong)
	for i := range m.outs {
		o := &m.outs[i]
		f := m.calls[o.member].blank(o.arg.v, o.index)
		if o.why != nil {
			unknown(&f)
			f.fail(o.why, "")
		} else {
			m.word(o, slices.Contains(wrong, o), &f)
		}
		out = append(out, f)
	}
	m.alone(out)
	m.conserved(out)
	return m.unexplained(out)
}

// filed tells whether the elements of an output and of all that it is made of were recorded.
func (m *meetingOfCalls) filed(o *gathered) bool {
	return filed(o.arg) && !slices.ContainsFunc(m.made(o), func(s stretch) bool {
		if s.from != everyone {
			return !filed(m.in(s.from, s.slot))
		}
		return slices.ContainsFunc(inOrder(len(m.members)), func(r int) bool { return !filed(m.in(r, s.slot)) })
	})
}

// word says what was found of an output.
func (m *meetingOfCalls) word(o *gathered, wrong bool, f *Finding) {
	if j := o.j; j != nil {
		f.fill(j)
		f.Looked = j.looked
		switch {
		case wrong:
		case j.looked == 0:
			unknown(f, because(Empty))
		// The bound is so wide that an error as large as the number would pass.
		case j.coarse > 0:
			unknown(f, because(Coarse, j.coarse, j.looked))
		case j.judged == 0:
			unknown(f, because(NotJudged, j.looked))
		default:
			f.Verdict = OK
		}
	} else if !wrong {
		left := statisticsLeft(o.arg)
		if m.known(o) {
			left = because(InRange)
		}
		unknown(f, because(NoElements, o.arg.place), left)
	}
	if !wrong {
		return
	}
	if m.underway(o) {
		unknown(f, because(InFlight))
		return
	}
	f.Verdict = Wrong
	f.Reasons = append(f.Reasons, m.request(o))
	if o.j != nil {
		f.Reasons = append(f.Reasons, because(Beyond, o.j.beyond, o.j.looked))
	} else {
		x, _ := statsOf(o.arg)
		which, is, _ := m.span(o.arg, m.made(o)).allows(x)
		f.Reasons = append(f.Reasons, because(OutOfRange, statNames[which], x[which], is.lo, is.hi))
	}
	if o.cause.Kind != "" {
		f.Reasons = append(f.Reasons, o.cause.Reason)
	}
}

// known tells whether there are statistics of an output and of what it is made of.
func (m *meetingOfCalls) known(o *gathered) bool {
	_, known := statsOf(o.arg)
	return known && m.span(o.arg, m.made(o)) != nil
}

// request is what was asked for: all_reduce with sum, and of which ranks.
func (m *meetingOfCalls) request(o *gathered) result.Reason {
	asked := m.api
	if op := m.made(o)[0].op; op != "" {
		asked += " (" + op + ")"
	}
	return because(Gathered, asked, ranksText(m.ranks))
}

func ranksText(ranks []int) string {
	var text []string
	for i, r := range ranks {
		if i == 8 {
			text = append(text, "…")
			break
		}
		text = append(text, itoa(r))
	}
	return strings.Join(text, ", ")
}

// alone finds the outputs of an all_reduce that are within their bounds and not those of the others.
func (m *meetingOfCalls) alone(out []Finding) {
	var outs []*gathered
	for i := range m.outs {
		if outs = append(outs, &m.outs[i]); m.api != "all_reduce" || m.outs[i].j == nil || m.outs[i].index > 0 || out[i].Verdict != OK {
			return
		}
	}
	m.apart(outs)
	for i, o := range outs {
		if o.differs {
			out[i].Verdict = Wrong
			out[i].Reasons = append(out[i].Reasons, m.request(o), because(RankDiffers, o.differing))
		}
	}
}

// unexplained takes back what was said of all ranks alike, where nothing explains it and nobody
// knows how many ranks there are: others may have taken part.
func (m *meetingOfCalls) unexplained(out []Finding) []Finding {
	if m.certain {
		return out
	}
	for i := range out {
		if out[i].Verdict != Wrong || len(out[i].Reasons) > 2 {
			if o := &m.outs[i]; o.index == 0 {
				return out
			}
		}
	}
	for i := range out {
		if out[i].Verdict == Wrong {
			out[i].Reasons = nil
			unknown(&out[i], because(MoreRanks, ranksText(m.ranks)))
		}
	}
	return out
}

// statsOf are the statistics of a tensor, false where one is not a finite number.
func statsOf(a *argument) (s [4]float64, ok bool) {
	if !a.tensor() {
		return s, false
	}
	for i, n := range []msprobe.Number{a.v.Max, a.v.Min, a.v.Mean, a.v.Norm} {
		v, known := n.Value()
		if !known || math.IsNaN(v) || math.IsInf(v, 0) {
			return s, false
		}
		s[i] = v
	}
	return s, true
}

// extent is what statistics of an output may be.
type extent struct{ max, min, mean, norm interval }

// allows tells whether statistics are within a extent.
func (s *extent) allows(x [4]float64) (which int, is interval, ok bool) {
	for i, r := range []interval{s.max, s.min, s.mean, s.norm} {
		if x[i] < r.lo || x[i] > r.hi {
			return i, r, false
		}
	}
	return 0, anything, true
}

// spanned is what the statistics of outputs depend on: what they are made of, of which the first part
// tells.
type spanned struct {
	n     int64
	elem  dtype.Type
	first stretch
	parts int
}

// span is what the statistics of an output may be that is made of parts, nil if the statistics of
// these tell nothing; many ranks ask for the same.
func (m *gathering) span(out *argument, parts []stretch) *extent {
	key := spanned{elementsOfArgument(out), out.v.Elem, parts[0], len(parts)}
	s, known := m.spans[key]
	if !known {
		s = m.spanOf(out, parts, parts[0].op, inOrder(len(m.members)))
		if m.spans == nil {
			m.spans = map[spanned]*extent{}
		}
		m.spans[key] = s
	}
	return s
}

// spanOf is that of a reduction op of some members.
func (m *gathering) spanOf(out *argument, parts []stretch, op string, list []int) *extent {
	n := float64(elementsOfArgument(out))
	p := precisionFor(out.v.Elem)
	// A recorder sums in the type or in float32, in any order. Pairwise sums of n numbers are off
	// by log₂ n units; 4 and the factor are for its blocks and the root.
	unit := (4 + 2*math.Log2(max(1, n))) * max(p.v, u32)
	s := &extent{interval{math.Inf(-1), math.Inf(-1)}, interval{math.Inf(1), math.Inf(1)}, interval{}, interval{}}
	squares, mean, size := interval{}, interval{}, 0.0
	for _, part := range parts {
		of, whole := extent{}, true
		from := list
		if part.from != everyone {
			from = []int{part.from}
		}
		for k, r := range from {
			a := m.in(r, part.slot)
			x, known := statsOf(a)
			if !known {
				return nil
			}
			whole = whole && elementsOfArgument(a) == part.n
			one := extent{interval{x[0], x[0]}, interval{x[1], x[1]}, interval{x[2], x[2]}, interval{x[3], x[3]}}
			size += x[3]
			if k == 0 {
				of = one
				continue
			}
			of = together(op, of, one)
		}
		count := float64(len(from))
		if op == "mean" {
			for _, r := range []*interval{&of.max, &of.min, &of.mean, &of.norm} {
				r.lo, r.hi = r.lo/count, r.hi/count
			}
		}
		// Its norm is √n·peak at most.
		if !whole { // of a slice nothing but the range is known
			peak := max(abs(of.max.hi), abs(of.min.lo)) * math.Sqrt(float64(part.n))
			of = extent{interval{of.min.lo, of.max.hi}, interval{of.min.lo, of.max.hi}, interval{of.min.lo, of.max.hi}, interval{0, peak}}
		}
		s.max = interval{max(s.max.lo, of.max.lo), max(s.max.hi, of.max.hi)}
		s.min = interval{min(s.min.lo, of.min.lo), min(s.min.hi, of.min.hi)}
		// Means of parts are weighed by their elements; squares of norms add up.
		w := float64(part.n) / max(n, 1)
		mean = interval{mean.lo + w*of.mean.lo, mean.hi + w*of.mean.hi}
		squares = interval{squares.lo + of.norm.lo*of.norm.lo, squares.hi + of.norm.hi*of.norm.hi}
	}
	s.mean, s.norm = mean, interval{math.Sqrt(squares.lo), math.Sqrt(squares.hi)}
	room := 0.0
	if op != "" {
		room = float64(len(list)) * max(p.v, u32)
	}
	grow := func(r *interval, by float64) { r.lo, r.hi = r.lo-by, r.hi+by }
	peak := max(abs(s.max.hi), abs(s.min.lo), abs(s.max.lo), abs(s.min.hi))
	grow(&s.max, room*peak)
	grow(&s.min, room*peak)
	grow(&s.mean, (unit+room)*size/math.Sqrt(max(n, 1)))
	order := 2 * msprobe.NormOrder(elementsOfArgument(out)) // of the output, and of its parts
	grow(&s.norm, (unit+room+order)*max(s.norm.hi, size))
	return s
}

// together is what the statistics of two tensors may come to. Of sums: max(x + z) lies between what
// the one's maximum and the other's minimum come to and the sum of both maxima; means add exactly;
// norms by the triangle inequality. Of max and min of two tensors the range of each follows from
// both. Of products only the range of the corners is known.
func together(op string, a, b extent) extent {
	switch op {
	case "max":
		return extent{interval{max(a.max.lo, b.max.lo), max(a.max.hi, b.max.hi)}, interval{max(a.min.lo, b.min.lo), min(max(a.min.hi, b.max.hi), max(b.min.hi, a.max.hi))},
			interval{max(a.mean.lo, b.mean.lo), max(a.max.hi, b.max.hi)}, interval{0, math.Hypot(a.norm.hi, b.norm.hi)}}
	case "min":
		return extent{interval{max(min(a.max.lo, b.min.lo), min(b.max.lo, a.min.lo)), min(a.max.hi, b.max.hi)}, interval{min(a.min.lo, b.min.lo), min(a.min.hi, b.min.hi)},
			interval{min(a.min.lo, b.min.lo), min(a.mean.hi, b.mean.hi)}, interval{0, math.Hypot(a.norm.hi, b.norm.hi)}}
	case "prod":
		r := corners(interval{a.min.lo, a.max.hi}, interval{b.min.lo, b.max.hi}, func(x, y float64) float64 { return x * y })
		return extent{r, r, r, interval{0, a.norm.hi * b.norm.hi}}
	}
	return extent{
		interval{max(a.max.lo+b.min.lo, a.min.lo+b.max.lo), a.max.hi + b.max.hi},
		interval{a.min.lo + b.min.lo, min(a.max.hi+b.min.hi, a.min.hi+b.max.hi)},
		interval{a.mean.lo + b.mean.lo, a.mean.hi + b.mean.hi},
		interval{max(0, a.norm.lo-b.norm.hi, b.norm.lo-a.norm.hi), a.norm.hi + b.norm.hi},
	}
}

var statNames = [...]string{"Max", "Min", "Mean", "Norm"}

// inRange tells whether the statistics of an output are known to be within an extent.
func (m *gathering) inRange(o *gathered, s *extent) bool {
	x, known := statsOf(o.arg)
	if s == nil || !known {
		return false
	}
	_, _, ok := s.allows(x)
	return ok
}

// partly tells that an output is in part what the rank had there before: not all of it may have
// been written when the recorder looked. Of statistics the largest or smallest element tells; of a
// transfer both have to be of what was sent or was there.
func (m *meetingOfCalls) partly(o *gathered) bool {
	out, known := statsOf(o.arg)
	first := m.made(o)[0]
	before := m.members[o.member].args["tensor"]
	if m.transfer && o.j != nil && filed(before) {
		idx, found := worstOf(o.j, mostLooked)
		if was := m.elements(o.member, before, idx, false); was != nil {
			return equal(was, found)
		}
	}
	if m.transfer {
		was, certain := statsOf(before)
		sent, sends := statsOf(m.in(first.from, first.slot))
		return known && certain && sends && (out[0] == was[0] || out[0] == sent[0]) && (out[1] == was[1] || out[1] == sent[1])
	}
	in, certain := statsOf(m.in(o.member, first.slot))
	return known && certain && (first.from == everyone || first.from == o.member) && (in[0] == out[0] || in[1] == out[1])
}

// underway tells of a wrong output that its call may not have been done. What an asynchronous call
// gave may be in any state between its inputs and what it should be, with some ranks left out of
// some elements: only what no such state looks like is wrong.
func (m *meetingOfCalls) underway(o *gathered) bool {
	if c := m.calls[o.member]; !c.Parsed.Begins(c.Argument) {
		return false
	}
	why := o.cause.Kind
	return m.partly(o) || why == OwnInput || !m.transfer && !slices.Contains([]result.Kind{OtherReduction, CountedTwice, OtherPiece, Scaled}, why)
}

// conserved looks at what the outputs of all ranks have in common with all inputs, where each
// output is made of slices whose statistics nobody knows: their sum, and the largest and smallest
// element.
func (m *meetingOfCalls) conserved(out []Finding) {
	if !slices.Contains([]string{"reduce_scatter_tensor", "_reduce_scatter_base", "all_to_all_single"}, m.api) {
		return
	}
	var total, size [2]float64
	lo, hi := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	add := func(at int, a *argument) bool {
		x, ok := statsOf(a)
		n := float64(elementsOfArgument(a))
		total[at] += x[2] * n
		size[at] += x[3] * math.Sqrt(n)
		lo[at], hi[at] = min(lo[at], x[1]), max(hi[at], x[0])
		return ok
	}
	op, some, p := "", []int{}, precisionOf{}
	for i := range m.outs {
		o := &m.outs[i]
		if o.why != nil || o.index > 0 {
			continue
		}
		if c := m.calls[o.member]; o.j != nil || c.Parsed.Begins(c.Argument) || !add(1, o.arg) {
			return
		}
		op, some, p = m.made(o)[0].op, append(some, i), precisionFor(o.arg.v.Elem)
	}
	for k := range m.calls {
		if !add(0, m.members[k].args["in"]) {
			return
		}
	}
	// What the means of recorders are off, over all ranks.
	unit := (8 + 4*math.Log2(max(2, float64(len(some))))) * max(p.v, u32) * 8
	want := total[0]
	if op == "mean" {
		want /= float64(len(m.calls))
	}
	off := (op == "" || op == "sum" || op == "mean") && abs(want-total[1]) > unit*(size[0]+size[1])
	if op == "" {
		off = off || lo[0] != lo[1] || hi[0] != hi[1]
	}
	if op == "max" {
		off = off || hi[0] != hi[1]
	}
	if !off {
		return
	}
	for _, i := range some {
		if out[i].Verdict != Wrong {
			out[i].Reasons = nil
			out[i].Verdict = Wrong
			out[i].Reasons = append(out[i].Reasons, m.request(&m.outs[i]), because(NotConserved, total[1], want))
		}
	}
}

// factor is what all of an output is multiplied by, where it is neither 1 nor too small to tell.
// The first 256 elements are looked at, but for those whose bound is above a thousandth; all of
// them must have the same factor within 1e-5 and their bounds.
func (m *gathering) factor(o *gathered) (f float64, ok bool) {
	if o.j == nil {
		return m.factorOfStatistics(o)
	}
	const few = 256
	n := min(elementsOfArgument(o.arg), few)
	y, b, x, found := make([]float64, n), make([]float64, n), make([]float64, n), m.elements(o.member, o.arg, inOrder(n), false)
	var batch []portion
	for _, s := range m.made(o) {
		if n := min(s.n, n-s.lo); n > 0 {
			batch = append(batch, portion{of: []*gathered{o}, stretch: &s, n: n, at: s.lo})
		}
	}
	m.expect(batch, y, b, x)
	if found == nil || slices.ContainsFunc(batch, func(p portion) bool { return p.err != nil }) {
		return 0, false
	}
	for i := range n {
		room := b[i] + 4*precisionFor(o.arg.v.Elem).v*abs(y[i])
		if y[i] == 0 || room > 1e-3*abs(y[i]) {
			continue
		}
		g := found[i] / y[i]
		if f == 0 {
			f = g
		}
		if ok = abs(g-f) <= abs(f)*(1e-5+2*room/abs(y[i])); !ok {
			return 0, false
		}
	}
	return rounded4(f), ok && abs(f-1) > 1e-4 && f != 0
}

func (m *gathering) factorOfStatistics(o *gathered) (float64, bool) {
	x, known := statsOf(o.arg)
	s := m.span(o.arg, m.made(o))
	if !known || s == nil || s.norm.hi-s.norm.lo > 1e-3*s.norm.hi || s.norm.hi == 0 {
		return 0, false
	}
	f := x[3] / s.norm.hi
	for i, r := range []interval{s.max, s.min} {
		if abs(x[i]-f*r.hi) > 1e-3*abs(f*r.hi) {
			return 0, false
		}
	}
	return rounded4(f), abs(f-1) > 1e-3
}

// rounded4 is a number with four digits.
func rounded4(v float64) float64 {
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return v
	}
	unit := math.Pow(10, math.Floor(math.Log10(abs(v)))-3)
	return math.Round(v/unit) * unit
}
