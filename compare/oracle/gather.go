package oracle

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"
	"strings"

	"precision/internal/each"
	"precision/internal/must"
)

// Collectives: what several ranks ran together, whoever recorded it. Dumps of GE (meet.go) and
// recordings of calls (ranks.go) say which ranks met and what each brought in; what that has to
// give, within which bound, and on which ranks it is something else, is told here, and why in
// gatherwhy.go.
//
// What an output is made of is a list of stretches ([stretch]), pieces of inputs of members, copied
// or reduced. Copies are compared bit for bit. Of a sum the order is open, as rings and trees
// differ and so do their chunks: of R ranks it is within g(R)·Σ|x| in float32, or where partial
// sums may be kept in a narrow type of roundoff v within v·(R - 1)·Σ|x| ([roomOf]); two numbers are
// rounded once.
//
// Memory is bounded by working through tensors in portions, whatever the number of ranks: of each
// portion all inputs are read once, and all outputs that are made of it are judged.

// gathering is a function that members ran together.
type gathering struct {
	tensors
	ctx     context.Context
	members []member
	outs    []gathered
	root    *int        // the place of the member that has what all get, nil where arguments tell
	others  []string    // the reductions that may have been made in place of the one asked for
	guests  []guest     // others whose inputs may have got into it
	earlier bool        // something was recorded at an earlier step
	rows    [][]float64 // elements of the sources, see suspect
	scales  bool        // scaled outputs and other groups are looked for

	splits [][]int64           // where the elements for each member begin, see share
	even   map[int64][]int64   // those of equal shares
	all    map[int64][]stretch // of outputs that have the inputs of all
	least  map[slot]int64      // elements of the tensors of members
	spans  map[spanned]*extent

	// asks, places and origins are room for these.
	asks    []ask
	places  []int64
	origins []origin
}

// tensors opens those of members. What cannot be read ends the work as package must does.
type tensors interface {
	with(member int, a *argument, use func(*operand))
	// before does so with what was recorded at an earlier step, if anything was.
	before(a *argument, use func(*operand))
}

// member is a rank of a gathering, with its call in terms of torch.distributed.
type member struct {
	rank int
	api  string
	kind string // the function as people know it
	args map[string]*argument
}

// guest is a tensor of a rank that is none of the members; for [tensors] it is one behind these.
type guest struct {
	rank int
	arg  *argument
}

// slot is a tensor that each member may have brought in: a parameter, and the place in its list.
type slot struct {
	name string
	at   int
}

// everyone is from in place of a member.
const everyone = -1

// stretch is a part of an output, and what it is made of: elements from begin on of the tensor in a
// slot of one member, or what those of all members come to by a reduction.
type stretch struct {
	lo, n int64
	slot
	begin int64
	from  int
	op    string // of a reduction; empty for what is only moved
}

// gathered is an output of a member: what it should be made of, and what it is.
type gathered struct {
	member, index int // in recorded.flat
	name          string
	piece         int // of a parameter, the number in its list
	arg           *argument
	parts         []stretch
	why           error // why it is not known
	j             *judge
	bits          uint32 // a checksum of all elements
	differs       bool   // it should be the same on all ranks, and most have the same other one
	differing     int64  // in so many elements
	cause         cause
}

// elementsOfArgument is the number of elements of an argument, -1 where that is not known.
func elementsOfArgument(a *argument) int64 {
	if !a.tensor() {
		return -1
	}
	n, ok := a.v.Elements()
	if !ok {
		return -1
	}
	return n
}

// listOf are the tensors of an argument: itself, or its members.
func listOf(a *argument) (list []*argument) {
	a.each(func(x *argument) { list = append(list, x) })
	return list
}

// reduction is the operation that a call names. torch.distributed's ReduceOp by its last word:
// RedOpType.SUM is sum, PRODUCT prod, AVG mean. Without one it is sum.
func reduction(args map[string]*argument) string {
	op := args["op"]
	if op == nil || op.v == nil {
		return "sum"
	}
	name := strings.ToLower(op.v.Value.S)
	if at := strings.LastIndexByte(name, '.'); at >= 0 {
		name = name[at+1:]
	}
	switch name {
	case "product":
		return "prod"
	case "avg":
		return "mean"
	}
	return name
}

var knownReductions = map[string]bool{"sum": true, "max": true, "min": true, "prod": true, "mean": true}

// allRanks are those of the members.
func (m *gathering) allRanks() []int { return each.Of(m.members, func(x member) int { return x.rank }) }

// rank is that of a member, or of a guest behind these.
func (m *gathering) rank(member int) int {
	if member < len(m.members) {
		return m.members[member].rank
	}
	return m.guests[member-len(m.members)].rank
}

// rooted is the place in the group of the rank that a call names; -1 for none.
// src and dst count ranks of the world, not of the group.
func (m *gathering) rooted(k int, name string) int {
	if m.root != nil {
		return *m.root
	}
	v, ok := m.members[k].args[name].number()
	if !ok {
		return 0 // the default
	}
	return slices.IndexFunc(m.members, func(x member) bool { return x.rank == int(v) })
}

// mostPieces is how many pieces of one output are remembered; more are found again when asked for.
const mostPieces = 64

// made is what an output is made of.
func (m *gathering) made(o *gathered) []stretch {
	if o.parts != nil {
		return o.parts
	}
	list := m.parts(o.member, o.name, o.piece, o.arg)
	if len(list) <= mostPieces {
		o.parts = list
	}
	return list
}

// in is the tensor of a member, or of a guest behind these, in a slot; nil where there is none.
func (m *gathering) in(member int, x slot) *argument {
	if member >= len(m.members) {
		return m.guests[member-len(m.members)].arg
	}
	a := m.members[member].args[x.name]
	if x.at == 0 && a.tensor() {
		return a
	}
	list := listOf(a)
	if x.at < 0 || x.at >= len(list) {
		return nil
	}
	return list[x.at]
}

// parts is what an output is made of: the tensor number piece of the parameter name of a member.
// all_reduce: inputs of all, reduced. broadcast and scatter: of the root. all_gather: piece r of
// rank r. reduce_scatter: piece k of all, reduced. all_to_all: piece k of rank r.
// all_gather_into_tensor and reduce_scatter_tensor do so within one tensor, along its first axis.
func (m *gathering) parts(k int, name string, piece int, out *argument) []stretch {
	n, size := elementsOfArgument(out), len(m.members)
	refuseIf(n < 0, BadTensor, out.place, "shape")
	reduced := func(x slot, begin int64) []stretch {
		if least, known := m.least[x]; !known || least < begin+n {
			least = math.MaxInt64
			for r := range m.members {
				a := m.in(r, x)
				have := elementsOfArgument(a)
				refuseIf(have < 0, NoArgument, "rank "+itoa(m.rank(r)))
				refuseIf(have < begin+n, ShapesDiffer, a.v.Shape, out.v.Shape)
				least = min(least, have)
			}
			if m.least == nil {
				m.least = map[slot]int64{}
			}
			m.least[x] = least
		}
		op := reduction(m.members[k].args)
		refuseIf(!knownReductions[op], BadArgument, "op", op, "sum, max, min, product, avg")
		return []stretch{{0, n, x, begin, everyone, op}}
	}
	one := func(member int, name string, at int) []stretch {
		refuseIf(member < 0, NoArgument, "rank "+itoa(m.rank(0)))
		x := slot{name, at}
		a := m.in(member, x)
		refuseIf(a == nil, NoArgument, "rank "+itoa(m.rank(member)))
		refuseIf(elementsOfArgument(a) != n, ShapesDiffer, a.v.Shape, out.v.Shape)
		return []stretch{{0, n, x, 0, member, ""}}
	}
	api := m.members[k].api
	own := slot{name, piece}
	if name == "in" || name == "scatter_list" || name == "tensor" && slices.Contains([]string{"gather", "send", "isend"}, api) {
		refuseIf(elementsOfArgument(m.in(k, own)) != n, NoArgument, name)
		return []stretch{{0, n, own, 0, k, ""}} // what was only given stays as it was
	}
	switch api {
	case "all_reduce":
		if name == "tensor" {
			return reduced(slot{"tensor", piece}, 0)
		}
	case "reduce":
		if name == "tensor" && m.rooted(k, "dst") == k {
			return reduced(slot{"tensor", 0}, 0)
		}
		panic(refusal(NotMine)) // what it is for others is not said
	case "broadcast":
		if root := m.rooted(k, "src"); name == "tensor" && root >= 0 {
			return one(root, "tensor", 0)
		}
	case "all_gather":
		if piece < size {
			return one(piece, "in", 0)
		}
	case "all_gather_into_tensor", "_all_gather_base":
		if m.all[n] != nil {
			return m.all[n]
		}
		list, lo := make([]stretch, size), int64(0)
		for r := range size {
			have := elementsOfArgument(m.in(r, slot{"in", 0}))
			refuseIf(have < 0, NoArgument, "rank "+itoa(m.rank(r)))
			list[r] = stretch{lo, have, slot{"in", 0}, 0, r, ""}
			lo += have
		}
		refuseIf(lo != n, ShapesDiffer, itoa(int(lo))+", "+itoa(int(n)))
		m.all = map[int64][]stretch{n: list}
		return list
	case "reduce_scatter":
		return reduced(slot{"in", k}, 0)
	case "reduce_scatter_tensor", "_reduce_scatter_base":
		return reduced(slot{"in", 0}, int64(k)*n)
	case "all_to_all":
		if piece < size {
			return one(piece, "in", k)
		}
	case "all_to_all_single":
		return m.exchanged(k, n)
	case "scatter":
		if root := m.rooted(k, "src"); root >= 0 {
			return one(root, "scatter_list", k)
		}
	case "gather":
		if name == "gather_list" && piece < size {
			return one(piece, "tensor", 0)
		}
	case "recv", "irecv":
		return one(0, "tensor", 0)
	}
	panic(refusal(NoAPI, m.members[k].kind))
}

// share is where the elements for member k begin in the input of member r, and how many they are:
// as many rows of its first axis as the member says, else equally many for each.
func (m *gathering) share(r, k int) (begin, n int64) {
	size := len(m.members)
	if m.splits == nil {
		m.splits, m.even = make([][]int64, size), map[int64][]int64{}
	}
	if m.splits[r] == nil {
		m.splits[r] = m.sharesOf(r)
	}
	begin = m.splits[r][k]
	return begin, m.splits[r][k+1] - begin
}

func (m *gathering) sharesOf(r int) []int64 {
	in, list := m.members[r].args["in"], m.members[r].args["input_split_sizes"]
	have := elementsOfArgument(in)
	refuseIf(have < 0, NoArgument, "rank "+itoa(m.rank(r)))
	size, rows, row := int64(len(m.members)), int64(1), int64(1)
	for i, d := range in.v.Shape {
		if i == 0 {
			rows = d
		} else {
			row *= d
		}
	}
	if list.none() || len(list.list) == 0 {
		refuseIf(rows%size != 0, ShapesDiffer, in.v.Shape)
		if m.even[have] == nil {
			m.even[have] = each.Of(inOrder(size+1), func(k int64) int64 { return k * (have / size) })
		}
		return m.even[have]
	}
	sums := []int64{0}
	for _, x := range list.list {
		v, ok := x.number()
		refuseIf(!ok || !(v >= 0), NoArgument, "input_split_sizes")
		refuseIf(v > float64(rows), ShapesDiffer, in.v.Shape) // before their sum is more than an int64 holds
		rows -= int64(v)
		sums = append(sums, sums[len(sums)-1]+int64(v)*row)
	}
	refuseIf(int64(len(sums)) != size+1, BadArgument, "input_split_sizes", itoa(len(sums)-1), itoa(int(size)))
	return sums
}

// exchanged is what the output of all_to_all_single is made of: a piece of the input of every
// member.
func (m *gathering) exchanged(k int, n int64) []stretch {
	list, at := make([]stretch, 0, len(m.members)), int64(0)
	for r := range m.members {
		begin, length := m.share(r, k)
		if length > 0 {
			list = append(list, stretch{at, length, slot{"in", 0}, begin, r, ""})
		}
		at += length
	}
	refuseIf(at != n, ShapesDiffer, itoa(int(at))+", "+itoa(int(n)))
	return list
}

// read hands over a tensor, kept in memory meanwhile if it is to be read many times and is not too
// large for that.
func (m *gathering) read(member int, a *argument, many bool, use func(*operand)) {
	must.Do(m.ctx.Err())
	m.with(member, a, func(o *operand) {
		if o.f32 == nil && o.f64 == nil {
			defer func() { o.f32, o.f64 = nil, nil }()
			if many {
				o.hold()
			}
		}
		use(o)
	})
}

// portion is a run of elements of outputs that are alike.
type portion struct {
	of []*gathered
	*stretch
	off, n int64 // of the stretch
	at     int64 // of the first in the buffers of a batch
	err    error // why it is not known what they should be
}

const (
	// batchOfRanks is how many elements are expected at once: 4 MB each for values, bounds and what
	// is read. The more there are, the less often the recordings of many ranks are opened.
	batchOfRanks = 1 << 19
	// slabOfRanks is how many elements of a rank are read at once.
	slabOfRanks = 1 << 15
	// manyReads is how many portions of a tensor are read one by one: beyond it the tensor is read
	// whole.
	manyReads = 16
	// tried is how many elements of an output groups are told apart by, at each of so many spots.
	tried = 64
	spots = 8
)

// hold holds outputs against what the inputs give: all elements, or some at some spots of each
// part, as the first ones may be padding. What several outputs have in common is computed once, and
// a batch of portions takes each recording once for its input and once for its output.
func (m *gathering) hold(outs []*gathered, some bool) {
	size := int64(slabOfRanks)
	if some {
		size = tried
	}
	var batch []portion
	var buffers [3][]float64
	used := int64(0)
	flush := func() {
		for i := range buffers {
			buffers[i] = grow(buffers[i], int(used))
		}
		m.batch(batch, !some, buffers)
		batch, used = batch[:0], 0
	}
	for _, of := range m.classes(outs) {
		list := m.made(of[0])
		if batch == nil {
			batch = make([]portion, 0, min(len(outs)*len(list), batchOfRanks/4))
		}
		moved := !slices.ContainsFunc(list, func(s stretch) bool { return !roundless[s.op] })
		for _, o := range of {
			o.j, o.bits = newJudge(o.arg.v.Elem, moved), 0
		}
		for i := range list {
			s := &list[i]
			step := size
			if some {
				step = max(size, s.n/spots)
			}
			for lo := int64(0); lo < s.n; lo += step {
				n := min(size, s.n-lo)
				if used+n > batchOfRanks {
					flush()
				}
				batch = append(batch, portion{of: of, stretch: s, off: lo, n: n, at: used})
				used += n
			}
		}
	}
	flush()
}

// roundless are the reductions that round nothing; that of none is a copy.
var roundless = map[string]bool{"": true, "max": true, "min": true}

// classes are outputs that are made of the same, as where all ranks have to have the same. The first
// part tells.
func (m *gathering) classes(outs []*gathered) (list [][]*gathered) {
	type class struct {
		first stretch
		parts int
	}
	at := map[class]int{}
	for _, o := range outs {
		key := class{parts: -1 - len(at)} // of one alone
		if m.members[o.member].api != "all_to_all_single" {
			parts := m.made(o)
			key = class{parts[0], len(parts)}
		}
		k, known := at[key]
		if !known {
			k, at[key] = len(list), len(list)
			list = append(list, nil)
		}
		list[k] = append(list[k], o)
	}
	return list
}

// batch judges portions; whole tells that all elements are among them, one after the other, and go
// into the sums of the outputs. The buffers are for values, bounds and what is read.
func (m *gathering) batch(batch []portion, whole bool, buffers [3][]float64) {
	y, b, x := buffers[0], buffers[1], buffers[2]
	m.expect(batch, y, b, x)
	var bits []byte
	for len(batch) > 0 {
		n := 1
		for n < len(batch) && batch[n].of[0] == batch[0].of[0] {
			n++
		}
		run := batch[:n]
		batch = batch[n:]
		for _, o := range run[0].of {
			for i := range run {
				if o.why == nil {
					o.why = run[i].err
				}
			}
			if o.why != nil {
				continue
			}
			o.why = must.Try(func() {
				m.read(o.member, o.arg, n > manyReads, func(found *operand) {
					for i := range run {
						p := &run[i]
						lo, x := p.lo+p.off, x[:p.n]
						found.Range(lo, x, nil)
						for i, v := range x {
							o.j.element(lo+int64(i), v, y[p.at+int64(i)], b[p.at+int64(i)])
						}
						if whole {
							bits = appendBits(bits[:0], x)
							o.bits = crc32.Update(o.bits, castagnoli(), bits)
						}
					}
				})
			})
		}
	}
}

// expect computes what portions should be, with bounds that hold for any order of sums: y the
// results in the order of ranks, in float64, and b first Σ|x|, then the bound. A portion is read of
// one tensor after the other.
func (m *gathering) expect(batch []portion, y, b, x []float64) {
	clear(b)
	of, all := make([][]int, len(m.members)), []int(nil)
	for i := range batch {
		p := &batch[i]
		if p.op != "" {
			all = append(all, i)
			fill(y[p.at:][:p.n], neutral(p.op))
		} else {
			of[p.from] = append(of[p.from], i)
		}
	}
	for r, list := range of {
		for list = append(list, all...); len(list) > 0; {
			n := 1
			for n < len(list) && batch[list[n]].slot == batch[list[0]].slot {
				n++
			}
			run := list[:n]
			list = list[n:]
			err := must.Try(func() {
				m.read(r, m.in(r, batch[run[0]].slot), n > manyReads, func(o *operand) {
					for _, i := range run {
						p := &batch[i]
						y, b, x := y[p.at:][:p.n], b[p.at:][:p.n], x[:p.n]
						if p.op == "" {
							o.Range(p.begin+p.off, y, nil)
							continue
						}
						o.Range(p.begin+p.off, x, nil)
						for i, v := range x {
							b[i] += abs(v)
							y[i] = combine(p.op, y[i], v)
						}
					}
				})
			})
			for _, i := range run {
				if p := &batch[i]; err != nil && p.err == nil {
					p.err = err
				}
			}
		}
	}
	for _, i := range all {
		p := &batch[i]
		roomOf(p.op, len(m.members), precisionFor(p.of[0].arg.v.Elem), y[p.at:][:p.n], b[p.at:][:p.n])
	}
}

// neutral is what a reduction makes of no number.
func neutral(op string) float64 {
	switch op {
	case "max":
		return math.Inf(-1)
	case "min":
		return math.Inf(1)
	case "prod":
		return 1
	}
	return 0
}

func fill(y []float64, v float64) {
	for i := range y {
		y[i] = v
	}
}

// combine is what a reduction makes of two numbers; a mean is divided later.
func combine(reduction string, a, b float64) float64 {
	switch reduction {
	case "max":
		return math.Max(a, b)
	case "min":
		return math.Min(a, b)
	case "prod":
		return a * b
	}
	return a + b
}

// roomOf makes of the sums of sizes in b the bounds of the results in y: g(R-1)·Σ|x|, and
// v·(R-1)·Σ|x| where partial sums may be rounded to a narrow type. Two numbers are rounded once. A
// mean divides the sum by R and rounds once more; a product of R factors has as many roundings,
// relative to itself. max and min round nothing.
func roomOf(op string, ranks int, p precisionOf, y, b []float64) {
	n := float64(ranks)
	unit := max(gamma(n, u32), p.v*(n-1))
	if p.v == 0x1p-53 {
		unit = gamma(n, u64)
	}
	if p.integer || ranks < 3 && op != "mean" {
		unit = 0
	}
	for i := range y {
		switch op {
		case "mean":
			y[i] /= n
			b[i] = unit*b[i]/n + max(p.v, u32)*abs(y[i])
		case "max", "min":
			b[i] = 0
		case "prod":
			b[i] = unit * abs(y[i])
		default:
			b[i] *= unit
		}
	}
}

func appendBits(bits []byte, x []float64) []byte {
	for _, v := range x {
		bits = binary.LittleEndian.AppendUint64(bits, math.Float64bits(v))
	}
	return bits
}

// apart marks the outputs of an all_reduce that are within the bound and not those of the others.
// Checksums of whole outputs are compared, and those of most members are taken for right: all take
// the same numbers from the network.
func (m *gathering) apart(outs []*gathered) {
	sums := each.Of(outs, func(o *gathered) uint32 { return o.bits })
	most := common(sums)
	for i, o := range outs {
		if o.differs = sums[i] != most; o.differs {
			right := outs[slices.Index(sums, most)]
			_ = must.Try(func() {
				m.read(o.member, o.arg, false, func(a *operand) {
					m.read(right.member, right.arg, false, func(b *operand) { o.differing = differing(a, b) })
				})
			})
		}
	}
}

// common is the checksum that most outputs have, of as many the first.
func common(sums []uint32) (most uint32) {
	count := map[uint32]int{}
	for _, sum := range sums {
		count[sum]++
	}
	for _, sum := range sums {
		if count[sum] > count[most] {
			most = sum
		}
	}
	return most
}

// differing counts the elements of an output that are not those of another of the same size; as far
// as they can be read. NaN on both sides is no difference.
func differing(a, b *operand) (count int64) {
	x, y := make([]float64, slab), make([]float64, slab)
	for lo := int64(0); lo < a.view.Len(); lo += slab {
		n := min(int64(slab), a.view.Len()-lo)
		if !reads(a, lo, x[:n]) || !reads(b, lo, y[:n]) {
			return count
		}
		for p := range n {
			if x[p] != y[p] && (x[p] == x[p] || y[p] == y[p]) {
				count++
			}
		}
	}
	return count
}
