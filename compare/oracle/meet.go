package oracle

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"precision/compare/result"
	"precision/dump"
	"precision/dump/msprobe"
	"precision/graph"
	"precision/internal/each"
	"precision/internal/must"
	"precision/internal/order"
)

// Collectives of dumps, Hcom operators of GE graphs: what several ranks recorded of one operator is
// brought together and held against each other. (Collectives of recordings of calls are in
// ranks.go.)
//
// Graphs often do not say which ranks form a group. Groups are therefore found: all ranks, those
// that an attribute names, or those that shapes allow; where several ways are left, the one whose
// values fit. What they then have to have, and why they have not, is told by package-wide rules of
// collectives (gather.go).

// Member is what one rank recorded of an operator that several ran together.
type Member struct {
	Rank int
	// Op is the operator in the graph of the rank, nil without a graph; Type is its type.
	Op    *graph.Op
	Type  string
	Entry *dump.Entry
	// Before is the recording of an earlier step, nil without one: where old data come from.
	Before *dump.Entry
}

// How the ranks of a group were found.
const (
	GroupAll       = "all"       // all that have the operator
	GroupAttribute = "attribute" // the graph names the group of all ranks
	GroupShapes    = "shapes"    // the shapes tell how many belong together
	GroupValues    = "values"    // of the groups there may be the one whose values fit
)

// Why there is no verdict on a meeting.
const (
	WhyOneRank  = "one-rank"  // only one rank recorded it
	WhyBadDump  = "bad-dump"  // a recording cannot be read: rank, error
	WhyType     = "type"      // nothing is known of operators of the type: type
	WhyShapes   = "shapes"    // the shapes of the ranks do not go together
	WhyInPlace  = "in-place"  // the recorded inputs have the addresses of the outputs
	WhyAgree    = "agree"     // all ranks have the same, which the inputs do not give: some ranks may not have been recorded
	WhyGroups   = "groups"    // no way to put the ranks into groups gives what they have
	WhyNoSender = "no-sender" // nothing that was sent has the shape of what was received: rank
)

// What is wrong with the outputs of ranks; see the package job.
const (
	MetOwnInput = "own-input"
	MetLeftOut  = "left-out"
	MetTwice    = "twice"
	MetStale    = "stale"
	MetMean     = "mean"
	MetSum      = "sum"
	MetSwapped  = "swapped"
	MetDiffers  = "differs"
	MetBeyond   = "beyond"
)

// MetFault is what is wrong with an output of one rank.
type MetFault struct {
	Kind         string
	Rank, Output int
	// Other is the rank whose input it is about, -1 where no one's.
	Other int
	// Elements of Of are wrong; at the worst Expected should be, Found is, and Bound is allowed.
	Elements, Of           int64
	Expected, Found, Bound float64
}

// Meeting is what was found of an operator that ranks ran together.
type Meeting struct {
	// Verdict is OK, Wrong or Unknown; Why and Args say of the latter why.
	Verdict Verdict
	Why     string
	Args    []string
	// Groups are the ranks that met, How they were found.
	Groups    [][]int
	How       string
	Reduction string
	Faults    []MetFault
}

// IsCollective tells whether operators of a type are run by ranks together.
func IsCollective(typ string) bool { return isCollective(typ) }

// IsTransfer tells whether the type is that of one end of a transfer between two ranks.
func IsTransfer(typ string) bool { return typ == "HcomSend" || typ == "HcomReceive" }

// CheckMeeting judges what ranks recorded of an operator: is each output what the inputs of its
// group give, whatever the order of sums. Members have different ranks. Memory depends on a few
// slabs of a tensor, not on the number of ranks. Prototypes: hcom_ops.h.
func CheckMeeting(ctx context.Context, members []Member) (Meeting, error) {
	m, err := meetingOf(ctx, members)
	return m.Meeting, err
}

// meetingOf does what [CheckMeeting] says, and keeps what became of each output.
func meetingOf(ctx context.Context, members []Member) (*meeting, error) {
	return newMeeting(ctx, members).checked((*meeting).check)
}

func newMeeting(ctx context.Context, members []Member) *meeting {
	order.Stable(members, func(a, b Member) int { return cmp.Compare(a.Rank, b.Rank) })
	m := &meeting{ctx: ctx, keep: len(members) <= mostOpen, where: map[*argument]spot{}}
	for i := range members {
		m.ends = append(m.ends, &end{Member: members[i]})
	}
	return m
}

// checked does a check; a recording that cannot be read makes it unknown.
func (m *meeting) checked(check func(*meeting)) (*meeting, error) {
	defer m.close()
	err := must.Try(func() { check(m) })
	if m.bad == nil {
		m.bad = err
	}
	if m.bad != nil && m.ctx.Err() != nil {
		return m, context.Cause(m.ctx)
	}
	if m.bad != nil {
		m.unknown(WhyBadDump, itoa(m.rank), m.bad.Error())
	}
	return m, nil
}

// mostOpen is how many recordings are open at once; of more ranks each is opened when it
// is needed.
const mostOpen = 200

// meeting is a check in the making.
type meeting struct {
	Meeting
	ctx   context.Context
	ends  []*end
	where map[*argument]spot
	keep  bool
	rank  int   // that was looked at last, or cannot be read
	bad   error // why
	kind  string
	// outcomes are those of each output, by the places of ends.
	outcomes [][]*gathered
}

// spot is which tensor of which end an argument is.
type spot struct {
	end    int
	output bool
	tensor int
}

// end is the recording of a rank.
type end struct {
	Member
	file      *dump.Reader
	ins, outs []*operand
	arguments [][2]*argument // the inputs and outputs by their numbers, see arguments
	inPlace   bool           // the input that was looked at last has the address of its output: it may be the result already
}

// open opens the recording of an end.
func (m *meeting) open(i int) *end {
	e := m.ends[i]
	if m.bad == nil {
		m.rank = e.Rank
	}
	must.Do(m.ctx.Err())
	if e.file == nil {
		e.read(e.Entry)
	}
	return e
}

// read opens the tensors of a recording. The file is the end's, whatever becomes of them.
func (e *end) read(entry *dump.Entry) {
	file := must.Get(entry.Open())
	e.file, e.ins, e.outs = file, nil, nil
	var slots []int
	if e.Op != nil {
		slots = connectedSlots(e.Op)
	}
	for i := range file.Inputs {
		var desc *graph.TensorDesc
		if i < len(slots) {
			desc = descAt(e.Op.InputDesc, slots[i])
		}
		e.ins = append(e.ins, must.Get(openOperand(file, &file.Inputs[i], desc)))
	}
	for i := range file.Outputs {
		var desc *graph.TensorDesc
		if e.Op != nil {
			desc = descAt(e.Op.OutputDesc, i)
		}
		e.outs = append(e.outs, must.Get(openOperand(file, &file.Outputs[i], desc)))
	}
}

// done lets an end go where there are too many to keep.
func (m *meeting) done(e *end) {
	if !m.keep {
		e.close()
	}
}

func (e *end) close() {
	if e.file != nil {
		e.file.Close()
		e.file, e.ins, e.outs = nil, nil, nil
	}
}

func (m *meeting) close() {
	for _, e := range m.ends {
		e.close()
	}
}

func (m *meeting) unknown(why string, args ...string) {
	m.Verdict, m.Why, m.Args = Unknown, why, args
}

// with hands over a tensor of an end. The first that cannot be read is noted.
func (m *meeting) with(_ int, a *argument, use func(*operand)) {
	at := m.where[a]
	err := must.Try(func() {
		e := m.open(at.end)
		defer m.done(e)
		use(e.tensor(at))
	})
	if err != nil && m.bad == nil {
		m.bad = err
	}
	must.Do(err)
}

func (m *meeting) earlier() bool {
	return slices.ContainsFunc(m.ends, func(e *end) bool { return e.Before != nil })
}

// before hands over that of its recording of an earlier step, where it can be had.
func (m *meeting) before(a *argument, use func(*operand)) {
	at := m.where[a]
	e := &end{Member: m.ends[at.end].Member}
	if e.Before == nil {
		return
	}
	defer e.close()
	e.read(e.Before)
	use(e.tensor(at))
}

func (e *end) tensor(at spot) *operand {
	list := e.ins
	if at.output {
		list = e.outs
	}
	refuseIf(at.tensor >= len(list), NoInput, at.tensor)
	return list[at.tensor]
}

// arguments are an input and an output of an end, nil where it has none. It also notes whether the
// two share an address on the device: then the input may be the result already, and nothing is
// accused.
func (m *meeting) arguments(i, tensor int) (in, out *argument) {
	e := m.ends[i]
	for t := len(e.arguments); t <= tensor; t++ {
		m.open(i)
		var both [2]*argument
		for side, list := range [][]*operand{e.ins, e.outs} {
			if t < len(list) {
				v := &msprobe.Value{Kind: msprobe.Tensor, Elem: list[t].typ, Shape: []int64{list[t].view.Len()}}
				both[side] = &argument{place: list[t].name, v: v}
				m.where[both[side]] = spot{i, side == 1, t}
			}
		}
		e.arguments = append(e.arguments, both)
		e.inPlace = both[0] != nil && both[1] != nil && e.ins[t].address != 0 && e.ins[t].address == e.outs[t].address
		m.done(e)
	}
	return e.arguments[tensor][0], e.arguments[tensor][1]
}

// collectives are the functions of torch.distributed that do what the operators do, and what they
// call the input. Inputs and outputs are taken as one row, block by block.
var collectives = map[string][2]string{
	"HcomAllReduce": {"all_reduce", "tensor"}, "HcomReduceScatter": {"reduce_scatter_tensor", "in"},
	"HcomAllGather": {"all_gather_into_tensor", "in"}, "HcomBroadcast": {"broadcast", "tensor"},
	"HcomAllToAll": {"all_to_all_single", "in"}, "HcomAlltoAll": {"all_to_all_single", "in"},
}

// check judges all outputs. The kind of operator is that of the first member; outputs are judged
// one after the other until something makes the meeting unknown.
func (m *meeting) check() {
	if len(m.ends) < 2 {
		m.unknown(WhyOneRank)
		return
	}
	m.kind = m.ends[0].Type
	if _, known := collectives[m.kind]; !known {
		m.unknown(WhyType, m.kind)
		return
	}
	first := m.open(0)
	tensors := len(first.outs)
	m.done(first)
	if reduces[m.kind] {
		m.Reduction = cmp.Or(strings.ToLower(m.attribute("reduction").Text()), "sum")
	}
	m.Verdict = OK
	if tensors == 0 {
		m.unknown(WhyShapes)
	}
	for t := 0; t < tensors && m.Why == ""; t++ {
		m.outcomes = append(m.outcomes, make([]*gathered, len(m.ends)))
		m.tensor(t)
	}
}

// attribute is one of the operator, nil if no graph tells.
func (m *meeting) attribute(key string) *graph.Value {
	for _, e := range m.ends {
		if e.Op != nil {
			return e.Op.Attr(key)
		}
	}
	return nil
}

// reduces are the collectives that make one number of those of all ranks.
var reduces = map[string]bool{"HcomAllReduce": true, "HcomReduceScatter": true}

// gather is a group of ends as members that ran a function together. Sizes have to go together:
// pieces of a sum are equal.
func (m *meeting) gather(group []int, ins, outs []*argument) *gathering {
	names := collectives[m.kind]
	g := &gathering{tensors: m, ctx: m.ctx, earlier: m.earlier()}
	args := map[string]*argument{"op": {v: &msprobe.Value{Kind: msprobe.Scalar, Value: msprobe.Number{Kind: msprobe.Text, S: m.Reduction}}}}
	op := reduction(args)
	if op == "sum" || op == "mean" {
		g.others = []string{"sum", "mean"}
	}
	if !knownReductions[op] { // as if they were added up
		args = nil
	}
	for k, place := range group {
		given := map[string]*argument{names[1]: ins[place], "op": args["op"]}
		g.members = append(g.members, member{m.ends[place].Rank, names[0], m.kind, given})
		o := gathered{member: k, name: "tensor", arg: outs[place]}
		if names[1] == "in" {
			o.name = "out"
		}
		g.outs = append(g.outs, o)
	}
	if k, ok := m.attribute("root_rank").Int(); ok {
		g.root = new(int(max(-1, k)))
		if k >= int64(len(group)) {
			*g.root = -1
		}
	}
	return g
}

// together tells whether the sizes of the ends go together if they meet in such groups.
func (m *meeting) together(x partition, ins, outs []*argument) bool {
	g := m.gather(x.groups[0], ins, outs)
	list, err := must.Of(func() []stretch { return g.made(&g.outs[0]) })
	if err != nil || len(list) == 0 {
		return false
	}
	all := elementsOfArgument(outs[0])
	if m.kind == "HcomReduceScatter" {
		all *= int64(len(g.members))
	}
	return !reduces[m.kind] || elementsOfArgument(ins[0]) == all
}

// partition is a way to put members into groups: each a list of places in meeting.ends.
type partition struct {
	groups [][]int
	how    string
}

// partitions are the ways there may be, the likeliest first. The graph may name the group of all
// ranks, or how many belong together; else shapes tell that, or nothing does and each divisor of
// the number of ranks is tried, in blocks of neighbours and at equal strides.
func (m *meeting) partitions(in, out int64) []partition {
	n := len(m.ends)
	whole := partition{[][]int{inOrder(n)}, GroupAll}
	world := false
	if name := strings.ToLower(m.attribute("group").Text()); name == "hccl_world_group" || name == "hcom_world_group" {
		whole.how, world = GroupAttribute, true
	}
	size, how := 0, GroupShapes
	switch {
	case m.kind == "HcomAllGather" && in > 0 && out%in == 0:
		size = int(min(out/in, int64(n)+1))
	case m.kind == "HcomReduceScatter" && out > 0 && in%out == 0:
		size = int(min(in/out, int64(n)+1))
	default:
		if k, ok := m.attribute("rank_size").Int(); ok && k > 0 {
			size, how = int(min(k, int64(n)+1)), GroupAttribute
		}
	}
	if size == n && !world {
		whole.how = how
	}
	if size == n || world && size == 0 {
		return []partition{whole}
	}
	if size > 0 {
		return m.split(n, size, how)
	}
	list := []partition{whole}
	for size := n / 2; size >= 2; size-- {
		list = append(list, m.split(n, size, GroupValues)...)
	}
	return list
}

// split puts n members into groups of a size: of neighbours, of members that are a stride apart
// within a block, as of the data-parallel ranks where others are tensor and pipeline parallel, and
// across all. Member i of stride s is in group ⌊i/(size·s)⌋·s + i mod s: s = 1 are neighbours, s =
// n/size members across all.
func (m *meeting) split(n, size int, how string) (list []partition) {
	if size < 2 || n%size != 0 {
		return nil
	}
	count := n / size
	for stride := 1; stride <= count; stride++ {
		if count%stride != 0 {
			continue
		}
		groups := make([][]int, count)
		for i := range n {
			g := i/(size*stride)*stride + i%stride
			groups[g] = append(groups[g], i)
		}
		list = append(list, partition{groups, how})
	}
	return list
}

// choose takes the first partition whose groups explain all outputs on a few elements, or
// else the one that explains most.
// A partition that was only found by what fits says so (GroupValues), but for that of all ranks.
func (m *meeting) choose(list []partition, ins, outs []*argument) partition {
	if len(list) == 1 {
		return list[0]
	}
	best, most := 0, -1
	for k, part := range list {
		fits := 0
		for _, group := range part.groups {
			for _, o := range m.judge(group, ins, outs, true).outs {
				if o.why == nil && o.j.beyond == 0 && o.j.judged > 0 {
					fits++
				}
			}
		}
		if fits > most {
			best, most = k, fits
		}
		if fits == len(m.ends) {
			break
		}
	}
	chosen := list[best]
	if chosen.how == GroupAll && most < len(m.ends) {
		return chosen
	}
	if chosen.how != GroupAll || best > 0 {
		chosen.how = GroupValues
	}
	return chosen
}

// ranksOf are the ranks of places.
func (m *meeting) ranksOf(places []int) []int {
	ranks := make([]int, len(places))
	for i, p := range places {
		ranks[i] = m.ends[p].Rank
	}
	slices.Sort(ranks)
	return ranks
}

// tensor judges one output of all ranks.
func (m *meeting) tensor(t int) {
	var ins, outs []*argument
	for i := range m.ends {
		in, out := m.arguments(i, t)
		ins, outs = append(ins, in), append(outs, out)
		if elementsOfArgument(in) != elementsOfArgument(ins[0]) || elementsOfArgument(out) != elementsOfArgument(outs[0]) {
			m.unknown(WhyShapes)
			return
		}
	}
	list := m.partitions(elementsOfArgument(ins[0]), elementsOfArgument(outs[0]))
	list = slices.DeleteFunc(list, func(x partition) bool { return !m.together(x, ins, outs) })
	if len(list) == 0 || elementsOfArgument(ins[0]) <= 0 {
		m.unknown(WhyShapes)
		return
	}
	part := m.choose(list, ins, outs)
	if m.Groups == nil {
		m.How = part.how
		for _, g := range part.groups {
			m.Groups = append(m.Groups, m.ranksOf(g))
		}
	}
	found := len(list) == 1 && part.how != GroupAttribute || part.how == GroupAll || part.how == GroupValues
	for _, group := range part.groups {
		g := m.judge(group, ins, outs, false)
		for k, place := range group {
			m.outcomes[t][place] = &g.outs[k]
		}
		m.group(g, t, group, found)
	}
}

// judge holds the outputs of a group against what its inputs give: all elements, or some.
func (m *meeting) judge(group []int, ins, outs []*argument, some bool) *gathering {
	g := m.gather(group, ins, outs)
	if g.root == nil && m.kind == "HcomBroadcast" {
		g.root = new(m.findRoot(g))
	}
	g.hold(each.Of(inOrder(len(g.outs)), func(k int) *gathered { return &g.outs[k] }), some)
	return g
}

// findRoot finds the member whose input most members of a group have as their output, where no
// graph names the root of a broadcast; of as many the first. 64 elements at 8 spots are compared.
func (m *meeting) findRoot(g *gathering) (root int) {
	var idx []int64
	n := elementsOfArgument(g.outs[0].arg)
	for lo := int64(0); lo < n; lo += max(tried, n/spots) {
		for i := range min(tried, n-lo) {
			idx = append(idx, lo+i)
		}
	}
	outs := each.Of(g.outs, func(o gathered) []float64 { return g.elements(o.member, o.arg, idx, false) })
	most := 0
	for k, x := range g.members {
		in, fits := g.elements(k, x.args["tensor"], idx, false), 0
		for _, out := range outs {
			if equal(in, out) {
				fits++
			}
		}
		if fits > most {
			root, most = k, fits
		}
	}
	return root
}

// group says what became of the outputs of a group; found tells that its members were guessed.
func (m *meeting) group(g *gathering, t int, group []int, found bool) {
	var wrong, all []*gathered
	same := true
	for k := range g.outs {
		o := &g.outs[k]
		if all = append(all, o); o.why != nil {
			return
		}
		if same = same && o.bits == g.outs[0].bits; o.j.beyond > 0 {
			wrong = append(wrong, o)
		}
	}
	if len(wrong) == 0 {
		if m.kind == "HcomAllReduce" {
			g.apart(all)
		}
		for _, o := range all {
			if o.differs {
				m.Verdict = Wrong
				f := MetFault{Kind: MetDiffers, Rank: g.rank(o.member), Output: t, Other: -1, Expected: nan, Found: nan, Bound: nan}
				m.Faults = append(m.Faults, f)
			}
		}
		return
	}
	if slices.ContainsFunc(group, func(k int) bool { return m.ends[k].inPlace }) {
		m.unknown(WhyInPlace)
		return
	}
	g.explain(wrong)
	explained := slices.ContainsFunc(wrong, func(o *gathered) bool { return o.cause.Kind != "" })
	if !explained && len(wrong) == len(group) && found {
		if same && len(g.classes(all)) == 1 {
			m.unknown(WhyAgree)
			return
		}
		if len(m.ends) > 2 {
			m.unknown(WhyGroups)
			return
		}
	}
	m.wrong(g, t, wrong)
}

// wrong notes what is wrong with outputs.
func (m *meeting) wrong(g *gathering, t int, list []*gathered) {
	m.Verdict = Wrong
	for _, o := range list {
		f := MetFault{o.cause.met(), g.rank(o.member), t, -1, o.j.beyond, o.j.looked, o.j.value, o.j.found, o.j.b}
		if o.cause.member >= 0 {
			f.Other = g.rank(o.cause.member)
		}
		m.Faults = append(m.Faults, f)
	}
}

// met is the kind of a fault with a cause.
func (c cause) met() string {
	if c.Kind == OtherReduction {
		return c.Args[0] // mean or sum
	}
	return map[result.Kind]string{
		"": MetBeyond, OwnInput: MetOwnInput, LeftOut: MetLeftOut, CountedTwice: MetTwice, stale: MetStale, OtherPiece: MetSwapped,
	}[c.Kind]
}

// CheckTransfers judges what ranks received, HcomReceive, by what others sent, HcomSend: bit for
// bit. Ends belong together by the ranks and the tag that their graphs name, or, where these do not
// tell, by what was sent: only what fits is known then.
func CheckTransfers(ctx context.Context, members []Member) (Meeting, error) {
	m, err := newMeeting(ctx, members).checked((*meeting).transfers)
	return m.Meeting, err
}

func (m *meeting) transfers() {
	m.Verdict, m.How = OK, GroupAttribute
	judged := false
	for i, e := range m.ends {
		if e.Type == "HcomReceive" {
			judged = m.receive(i) || judged
		}
	}
	switch {
	case m.Verdict == OK && !judged:
		m.unknown(WhyOneRank)
	case m.Verdict == Wrong:
		m.Why, m.Args = "", nil
	case m.Why != "":
		m.Verdict = Unknown
	}
}

// senders are the ends that may have sent what an end received; known tells that the graphs
// name them. There are several where transfers have one tag.
func (m *meeting) senders(i int) (from []int, known bool) {
	r := m.ends[i]
	var rank, tag int64
	if r.Op != nil {
		rank, known = r.Op.Attr("src_rank").Int()
		tag, _ = r.Op.Attr("sr_tag").Int()
	}
	for k, s := range m.ends {
		switch {
		case s.Type != "HcomSend" || known && (s.Op == nil || int64(s.Rank) != rank) || !known && s.Rank == r.Rank:
			continue
		case known:
			to, ok := s.Op.Attr("dest_rank").Int()
			if its, _ := s.Op.Attr("sr_tag").Int(); !ok || to != int64(r.Rank) || its != tag {
				continue
			}
		}
		from = append(from, k)
	}
	return from, known
}

// receive judges one end; judged tells whether its sender is known.
func (m *meeting) receive(i int) (judged bool) {
	from, known := m.senders(i)
	var wrong *gathering
	for _, k := range from {
		g := m.transfer(k, i, known)
		if g == nil {
			continue
		}
		if o := &g.outs[0]; o.j.beyond == 0 {
			if m.Groups = append(m.Groups, g.allRanks()); !known {
				m.How = GroupValues
			}
			return true
		}
		if wrong == nil {
			wrong = g
		}
	}
	switch {
	case !known || len(from) == 0:
		m.Why, m.Args = WhyNoSender, []string{itoa(m.ends[i].Rank)}
		return false
	case wrong == nil: // what was sent has another size
		m.Why, m.Args = WhyShapes, nil
		return false
	}
	// What ranks sent to others may have come in place of it.
	sender := wrong.members[0].rank
	for k, s := range m.ends {
		if in, _ := m.arguments(k, 0); s.Type == "HcomSend" && elementsOfArgument(in) == elementsOfArgument(wrong.outs[0].arg) {
			wrong.guests = append(wrong.guests, guest{s.Rank, in})
		}
	}
	m.Groups = append(m.Groups, wrong.allRanks())
	wrong.explain([]*gathered{&wrong.outs[0]})
	m.wrong(wrong, 0, []*gathered{&wrong.outs[0]})
	if f := &m.Faults[len(m.Faults)-1]; f.Kind == MetBeyond || f.Kind == MetStale {
		f.Other = sender
	}
	return true
}

// transfer holds what an end received against what another sent; nil where their sizes differ. Of
// one that may have sent it some elements tell most apart.
func (m *meeting) transfer(from, to int, known bool) *gathering {
	in, _ := m.arguments(from, 0)
	_, out := m.arguments(to, 0)
	if n := elementsOfArgument(out); n != elementsOfArgument(in) || n <= 0 {
		return nil
	}
	g := &gathering{tensors: m, ctx: m.ctx, earlier: m.earlier(), outs: []gathered{{member: 1, name: "tensor", arg: out}}}
	sent := map[string]*argument{"tensor": in}
	g.members = []member{{m.ends[from].Rank, "send", "HcomSend", sent}, {m.ends[to].Rank, "recv", "HcomReceive", nil}}
	o := &g.outs[0]
	if g.hold([]*gathered{o}, !known); !known && o.why == nil && o.j.beyond == 0 {
		g.hold([]*gathered{o}, false)
	}
	must.Do(o.why)
	return g
}
