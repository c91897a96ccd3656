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
