package oracle

import (
	"cmp"
	"context"
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"
	"strings"

	"precision/dump"
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
// values fit. Then every output is made of pieces of inputs ([piece]), which are compared bit for
// bit where they are copied, and within the bound of a sum in any order where they are reduced.
//
// Memory is bounded by working through a tensor in portions, whatever the number of ranks: of each
// portion all inputs are read once, and all outputs that are made of it are judged.

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
	order.Stable(members, func(a, b Member) int { return cmp.Compare(a.Rank, b.Rank) })
	m := &meeting{ctx: ctx, keep: len(members) <= mostOpen}
	for i := range members {
		m.ends = append(m.ends, &end{Member: members[i]})
	}
	defer m.close()
	err := must.Try(m.check)
	if err != nil && ctx.Err() != nil {
		return m, context.Cause(ctx)
	}
	if err != nil {
		m.unknown(WhyBadDump, itoa(m.rank), err.Error())
	}
	return m, nil
}

// mostOpen is how many recordings are open at once; of more ranks each is opened when it
// is needed.
const mostOpen = 200

// meeting is a check in the making.
type meeting struct {
	Meeting
	ctx  context.Context
	ends []*end
	keep bool
	rank int // that was looked at last
	kind string
	root int // of a broadcast, where no graph names it
	// outcomes are those of each output, by the places of ends.
	outcomes [][]*outcome
}

// end is the recording of a rank.
type end struct {
	Member
	file      *dump.Reader
	ins, outs []*operand
	inPlace   bool // the input that was looked at last has the address of its output: it may be the result already
}

// open opens the recording of an end.
func (m *meeting) open(i int) *end {
	e := m.ends[i]
	m.rank = e.Rank
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
	if !m.keep && e.file != nil {
		e.file.Close()
		e.file, e.ins, e.outs = nil, nil, nil
	}
}

func (m *meeting) close() {
	m.keep = false
	for _, e := range m.ends {
		m.done(e)
	}
}

func (m *meeting) unknown(why string, args ...string) {
	m.Verdict, m.Why, m.Args = Unknown, why, args
}

// with hands over an input or output of an end, kept in memory meanwhile if it is to be read many
// times and is not too large for that.
func (m *meeting) with(i int, output bool, tensor int, many bool, use func(*operand)) {
	e := m.open(i)
	defer m.done(e)
	o := e.tensor(output, tensor)
	if many && o.f32 == nil && o.f64 == nil {
		o.hold()
		defer func() { o.f32, o.f64 = nil, nil }()
	}
	use(o)
}

// read reads elements of an input or output of an end.
func (m *meeting) read(i int, output bool, tensor int, lo int64, into []float64) {
	m.with(i, output, tensor, false, func(o *operand) { o.Range(lo, into, nil) })
}

func (e *end) tensor(output bool, i int) *operand {
	list := e.ins
	if output {
		list = e.outs
	}
	refuseIf(i >= len(list), NoInput, i)
	return list[i]
}

// sizes are the numbers of elements of an input and an output of an end, -1 where it has none. It
// also notes whether the two share an address on the device: then the input may be the result
// already, and nothing is accused.
func (m *meeting) sizes(i, tensor int) (in, out int64) {
	e := m.open(i)
	defer m.done(e)
	in, out = -1, -1
	if tensor < len(e.ins) {
		in = e.ins[tensor].view.Len()
	}
	if tensor < len(e.outs) {
		out = e.outs[tensor].view.Len()
	}
	e.inPlace = in >= 0 && out >= 0 && e.ins[tensor].address != 0 && e.ins[tensor].address == e.outs[tensor].address
	return in, out
}

// check judges all outputs. The kind of operator is that of the first member; outputs are judged
// one after the other until something makes the meeting unknown.
func (m *meeting) check() {
	if len(m.ends) < 2 {
		m.unknown(WhyOneRank)
		return
	}
	m.kind = m.ends[0].Type
	if _, known := pieces[m.kind]; !known {
		m.unknown(WhyType, m.kind)
		return
	}
	first := m.open(0)
	tensors, typ := len(first.outs), first.precision()
	m.done(first)
	m.Reduction = m.attribute("reduction")
	if m.Reduction == "" && reduces[m.kind] {
		m.Reduction = "sum"
	}
	if !reduces[m.kind] {
		m.Reduction = ""
	}
	m.Verdict = OK
	if tensors == 0 {
		m.unknown(WhyShapes)
	}
	for t := 0; t < tensors && m.Why == ""; t++ {
		m.outcomes = append(m.outcomes, make([]*outcome, len(m.ends)))
		m.tensor(t, typ)
	}
}

func (e *end) precision() precisionOf {
	if len(e.outs) == 0 {
		return precisionOf{max: math.Inf(1), limit: math.Inf(1)}
	}
	return precisionFor(e.outs[0].typ)
}

// attribute is one of the operator, in lower case; empty if no graph tells.
func (m *meeting) attribute(key string) string {
	for _, e := range m.ends {
		if e.Op != nil {
			return strings.ToLower(e.Op.Attr(key).Text())
		}
	}
	return ""
}

func (m *meeting) number(key string) (int64, bool) {
	for _, e := range m.ends {
		if e.Op != nil {
			return e.Op.Attr(key).Int()
		}
	}
	return 0, false
}

// piece is a part of an output and what it is made of: elements from inLo on of the input of
// the member from, or of all members where from is everyone.
type piece struct {
	outLo, n int64
	from     int
	inLo     int64
}

const everyone = -1

// reduces are the collectives that make one number of those of all ranks.
var reduces = map[string]bool{"HcomAllReduce": true, "HcomReduceScatter": true}

// pieces tell of each type what the output of a member is made of, in a group of size members with
// inputs of in and outputs of out elements; nil where the sizes do not go together. For R members
// and member r: AllReduce is all inputs whole; ReduceScatter those from r·out on; AllGather the
// inputs one behind the other; Broadcast the root's; AllToAll block r of each input in turn.
var pieces = map[string]func(size, member, root int, in, out int64) []piece{
	"HcomAllReduce": func(_, _, _ int, in, out int64) []piece {
		if in != out {
			return nil
		}
		return []piece{{0, out, everyone, 0}}
	},
	"HcomReduceScatter": func(size, member, _ int, in, out int64) []piece {
		if in != out*int64(size) {
			return nil
		}
		return []piece{{0, out, everyone, int64(member) * out}}
	},
	"HcomAllGather": func(size, _, _ int, in, out int64) []piece {
		if out != in*int64(size) {
			return nil
		}
		list := make([]piece, size)
		for k := range list {
			list[k] = piece{int64(k) * in, in, k, 0}
		}
		return list
	},
	"HcomBroadcast": func(size, _, root int, in, out int64) []piece {
		if in != out || root < 0 || root >= size {
			return nil
		}
		return []piece{{0, out, root, 0}}
	},
	"HcomAllToAll": allToAll,
	"HcomAlltoAll": allToAll,
}

func allToAll(size, member, _ int, in, out int64) []piece {
	if in != out || in%int64(size) != 0 {
		return nil
	}
	block := in / int64(size)
	list := make([]piece, size)
	for k := range list {
		list[k] = piece{int64(k) * block, block, k, int64(member) * block}
	}
	return list
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
	if name := m.attribute("group"); name == "hccl_world_group" || name == "hcom_world_group" {
		whole.how, world = GroupAttribute, true
	}
	size, how := 0, GroupShapes
	switch {
	case m.kind == "HcomAllGather" && in > 0 && out%in == 0:
		size = int(min(out/in, int64(n)+1))
	case m.kind == "HcomReduceScatter" && out > 0 && in%out == 0:
		size = int(min(in/out, int64(n)+1))
	default:
		if k, ok := m.number("rank_size"); ok && k > 0 {
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

// tried is how many elements of an output groups are told apart by, at each of so many
// spots.
const (
	tried = 64
	spots = 8
)

// choose takes the first partition whose groups explain all outputs on a few elements, or
// else the one that explains most.
// A partition that was only found by what fits says so (GroupValues), but for that of all ranks.
func (m *meeting) choose(list []partition, tensor int, p precisionOf) partition {
	if len(list) == 1 {
		return list[0]
	}
	best, most := 0, -1
	for k, part := range list {
		fits := 0
		for _, g := range part.groups {
			for _, j := range m.judge(g, tensor, p, tried) {
				if j != nil && j.beyond == 0 && j.judged > 0 {
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

// slabOfRanks is how many elements of a rank are read at once.
const slabOfRanks = 1 << 15

// tensor judges one output of all ranks.
func (m *meeting) tensor(t int, p precisionOf) {
	var in, out int64
	for i := range m.ends {
		a, b := m.sizes(i, t)
		if i > 0 && (a != in || b != out) {
			m.unknown(WhyShapes)
			return
		}
		in, out = a, b
	}
	list := m.partitions(in, out)
	list = slices.DeleteFunc(list, func(x partition) bool { return m.made(len(x.groups[0]), 0, in, out) == nil })
	if len(list) == 0 || in <= 0 {
		m.unknown(WhyShapes)
		return
	}
	part := m.choose(list, t, p)
	if m.Groups == nil {
		m.How = part.how
		for _, g := range part.groups {
			m.Groups = append(m.Groups, m.ranksOf(g))
		}
	}
	for _, g := range part.groups {
		m.group(g, t, p, len(list) == 1 && part.how != GroupAttribute || part.how == GroupAll || part.how == GroupValues)
	}
}

// made is what the output of a member is made of.
func (m *meeting) made(size, member int, in, out int64) []piece {
	root := m.root
	if k, ok := m.number("root_rank"); ok {
		root = int(max(-1, min(k, int64(size))))
	}
	return pieces[m.kind](size, member, root, in, out)
}

// findRoot finds the member whose input most members of a group have as their output, where no
// graph names the root of a broadcast; of as many the first. 64 elements at 8 spots are compared.
func (m *meeting) findRoot(group []int, t int, n int64) {
	m.root = 0
	if _, ok := m.number("root_rank"); ok || m.kind != "HcomBroadcast" {
		return
	}
	var idx []int64
	for lo := int64(0); lo < n; lo += max(tried, n/spots) {
		for i := range min(tried, n-lo) {
			idx = append(idx, lo+i)
		}
	}
	outs := each.Of(group, func(place int) []float64 { return m.elements(place, true, t, idx) })
	most := 0
	for k, place := range group {
		in := m.elements(place, false, t, idx)
		fits := 0
		for _, out := range outs {
			if equal(in, out) {
				fits++
			}
		}
		if fits > most {
			m.root, most = k, fits
		}
	}
}

// outcome is what became of the output of a member.
type outcome struct {
	*judge
	sum   uint32 // of all elements
	apart int64  // elements that are not those of most members, where all should have the same
}

// portion is a run of elements of outputs and what they are made of.
type portion struct {
	piece
	at int // of the first in the buffers of a batch
	to int // the member that has it, or everyone
}

// batchOfRanks is how many elements are expected at once: 4 MB each for values, bounds and what is
// read. The more there are, the less often the recordings of many ranks are opened.
const batchOfRanks = 1 << 19

// manyReads is how many portions of a tensor are read one by one: beyond it the tensor is read
// whole.
const manyReads = 16

// judge holds the outputs of a group against what its inputs give: all elements, or, if few is not
// 0, so many at some spots of each piece. Whatever the pieces, a batch of them takes each recording
// once for its input and once for its output.
func (m *meeting) judge(group []int, t int, p precisionOf, few int64) []*outcome {
	in, out := m.sizes(group[0], t)
	m.findRoot(group, t, out)
	list := make([]*outcome, len(group))
	for k := range group {
		list[k] = &outcome{judge: &judge{p: p, exact: m.exact(), ratio: nan, worst: -1}}
	}
	// A portion at a time, so that a batch of them is read rank by rank.
	size := int64(slabOfRanks)
	if few > 0 {
		size = few
	}
	var batch []portion
	var buffers [3][]float64
	used := 0
	flush := func() {
		for i := range buffers {
			buffers[i] = grow(buffers[i], used)
		}
		m.batch(group, t, p, batch, list, few == 0, buffers)
		batch, used = batch[:0], 0
	}
	for k := range group {
		to := k
		if m.alike() {
			to = everyone
		}
		for _, x := range m.made(len(group), k, in, out) {
			step := size
			if few > 0 { // some at the begin, and some further on: it may be padding
				step = max(size, x.n/spots)
			}
			for lo := int64(0); lo < x.n; lo += step {
				n := min(size, x.n-lo)
				if used+int(n) > batchOfRanks {
					flush()
				}
				batch = append(batch, portion{piece{x.outLo + lo, n, x.from, x.inLo + lo}, used, to})
				used += int(n)
			}
		}
		if to == everyone { // the pieces of one are those of all
			break
		}
	}
	flush()
	return list
}

// batch judges portions of the outputs of a group; whole tells that all elements are among them,
// one after the other, and go into the sums of the outputs. The buffers are for values, bounds and
// what is read.
func (m *meeting) batch(group []int, t int, p precisionOf, batch []portion, list []*outcome, whole bool, buffers [3][]float64) {
	y, b, x := buffers[0], buffers[1], buffers[2]
	clear(b)
	from, to := byMember(batch, len(group), func(s *portion) int { return s.from }), byMember(batch, len(group), func(s *portion) int { return s.to })
	for k, place := range group {
		if len(from[k]) == 0 {
			continue
		}
		m.with(place, false, t, len(from[k]) > manyReads, func(o *operand) {
			for _, i := range from[k] {
				s := &batch[i]
				y, b, x := y[s.at:][:s.n], b[s.at:][:s.n], x[:s.n]
				if s.from != everyone {
					x = y
				}
				o.Range(s.inLo, x, nil)
				if s.from != everyone {
					continue
				}
				for i, v := range x {
					b[i] += abs(v)
					sofar := y[i]
					if y[i] = v; k > 0 {
						y[i] = combine(m.Reduction, sofar, v)
					}
				}
			}
		})
	}
	if reduces[m.kind] {
		roomOf(m.Reduction, len(group), p, y, b)
	}
	var bits []byte
	for k, place := range group {
		if len(to[k]) == 0 {
			continue
		}
		o := list[k]
		m.with(place, true, t, len(to[k]) > manyReads, func(found *operand) {
			for _, i := range to[k] {
				s := &batch[i]
				x := x[:s.n]
				found.Range(s.outLo, x, nil)
				for i, v := range x {
					o.element(s.outLo+int64(i), v, y[s.at+i], b[s.at+i])
				}
				if whole {
					bits = appendBits(bits[:0], x)
					o.sum = crc32.Update(o.sum, castagnoli(), bits)
				}
			}
		})
	}
}

// byMember are the places of the portions of each of n members: those with its number, and
// everyone's.
func byMember(batch []portion, n int, of func(*portion) int) [][]int {
	list := make([][]int, n)
	var all []int
	for i := range batch {
		if k := of(&batch[i]); k != everyone {
			list[k] = append(list[k], i)
		} else {
			all = append(all, i)
		}
	}
	if all != nil { // a type has pieces of one kind only
		for k := range list {
			list[k] = all
		}
	}
	return list
}

// exact tells that nothing is rounded.
// Of integers the bound is 0, too.
func (m *meeting) exact() bool {
	return !reduces[m.kind] || m.Reduction == "max" || m.Reduction == "min"
}

func appendBits(bits []byte, x []float64) []byte {
	for _, v := range x {
		bits = binary.LittleEndian.AppendUint64(bits, math.Float64bits(v))
	}
	return bits
}

// group judges the outputs of a group; found tells that its members were guessed.
func (m *meeting) group(group []int, t int, p precisionOf, found bool) {
	list := m.judge(group, t, p, 0)
	var wrong []int
	var sums []uint32
	for k, o := range list {
		m.outcomes[t][group[k]] = o
		if o.beyond > 0 {
			wrong = append(wrong, k)
		}
		sums = append(sums, o.sum)
	}
	if len(wrong) == 0 {
		if m.alike() {
			m.apart(group, t, list, sums)
		}
		return
	}
	if slices.ContainsFunc(group, func(k int) bool { return m.ends[k].inPlace }) {
		m.unknown(WhyInPlace)
		return
	}
	faults := m.why(group, wrong, t, list, p)
	explained := slices.ContainsFunc(faults, func(f MetFault) bool { return f.Kind != MetBeyond })
	if !explained && len(wrong) == len(group) && found {
		if m.alike() && len(slices.Compact(sums)) == 1 {
			m.unknown(WhyAgree)
			return
		}
		if len(m.ends) > 2 {
			m.unknown(WhyGroups)
			return
		}
	}
	m.Verdict, m.Faults = Wrong, append(m.Faults, faults...)
}

// alike tells whether all members must have the same output.
func (m *meeting) alike() bool {
	return m.kind == "HcomAllReduce" || m.kind == "HcomAllGather" || m.kind == "HcomBroadcast"
}

// apart blames the members whose outputs are within the bound and not those of the others.
// Checksums of whole outputs are compared, and those of most members are taken for right.
func (m *meeting) apart(group []int, t int, list []*outcome, sums []uint32) {
	most := common(sums)
	for k, sum := range sums {
		if sum == most {
			continue
		}
		m.Verdict = Wrong
		m.Faults = append(m.Faults, MetFault{Kind: MetDiffers, Rank: m.ends[group[k]].Rank, Output: t, Other: -1, Expected: nan, Found: nan, Bound: nan})
		m.with(group[k], true, t, false, func(a *operand) {
			m.with(group[slices.Index(sums, most)], true, t, false, func(b *operand) { list[k].apart = differing(a, b) })
		})
	}
}

// worstOf are places of wrong elements in their order, and what was found there: of the worst, and
// of equally bad ones the first, no more than so many.
func worstOf(j *judge, most int) (idx []int64, found []float64) {
	if len(j.misses) == 0 {
		return nil, nil
	}
	ratios := each.Of(j.misses, func(x miss) float64 { return x.ratio })
	slices.Sort(ratios)
	ratios = ratios[max(0, len(ratios)-most):]
	least, equal := ratios[0], 0
	for equal < len(ratios) && cmp.Compare(ratios[equal], least) == 0 {
		equal++
	}
	var worst []miss
	for _, x := range j.misses {
		c := cmp.Compare(x.ratio, least)
		if c == 0 {
			equal--
		}
		if c > 0 || c == 0 && equal >= 0 {
			worst = append(worst, x)
		}
	}
	order.Stable(worst, func(a, b miss) int { return cmp.Compare(a.i, b.i) })
	for _, x := range worst {
		idx, found = append(idx, x.i), append(found, x.found)
	}
	return idx, found
}
