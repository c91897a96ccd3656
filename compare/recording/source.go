package recording

import (
	"context"
	"slices"
	"strconv"

	"precision/compare/engine"
	"precision/compare/result"
	"precision/dump/msprobe"
	"precision/internal/must"
	catalogue "precision/op"
)

// Source pairs two recordings, or those of several steps and ranks.
type Source struct {
	left, right result.Side
	parts       []*part
	reordered   int
	mapped      int // pairs of calls that do the same under other names
	// paired counts pairs of recordings, unpaired those of either side without a partner.
	paired, unpaired int
	why              []result.Reason
	// damaged is what cannot be read of either side.
	damaged []result.Damage
}

// part is a pair of recordings of one step of one rank.
type part struct {
	left, right *side
	// prefix is in front of the names of calls where there are several parts.
	prefix string
	// units are the calls in the order of the table.
	units []*unit
	// apart tells that the sides differ too much for the most pairs there can be.
	apart bool
	// own are the parameters that left values are.
	own map[*leaf]string
	// late are the left values of pairs whose checksums say nothing (memory.go).
	late map[*leaf]bool
	// migrated tells that the sides are of two frameworks, gradients where the last gradient of either is.
	migrated  bool
	gradients [2]int
	// sums is how many tensors are the same but for their norms and means, which the sides add up in other orders; 0 where they add up
	// alike (statistics.go). summedOtherwise tells that a checksum proves it.
	sums            int
	summedOtherwise bool
	// inside are the calls made in a module, per side.
	inside [2]map[*call][]*call
	// boundaries are the results of modules that end at another step, per side (forms.go).
	boundaries [2]map[place]bool
	// rank is whose recording it is; met counts what it ran together with others.
	rank int
	met  map[string]int
}

// unit is a row group: a pair of calls, or one without a partner.
type unit struct {
	left, right *call
	// otherGradient tells that one of them has the gradients of another call (memory.go).
	otherGradient bool
	// otherStep tells that they hand out gradients of other steps of their function (memory.go).
	otherStep bool
	// otherOrder tells that they hand out their gradients in another order (memory.go).
	otherOrder bool
	// boundary tells that they are modules that end at another step (forms.go).
	boundary bool
	// sameStart tells that what goes into them is of one type.
	sameStart bool
}

// Options say what belongs together beside what the calls themselves tell.
type Options struct {
	// Maps are calls that do the same under other names, beside [Defaults].
	Maps []result.Map
	// Mapping is a mapping file of msprobe, nil for none. What it names is a pair before
	// anything else.
	Mapping *msprobe.Mapping
	// Pairs are calls of the left side with their names on the right, by an earlier comparison; see [Known].
	Pairs map[string]string
	// Unshard, if not nil, puts the recordings of all ranks of a step together where the right side has one of
	// that step.
	Unshard *engine.Unshard
	// OfMany: the right side is that of other ranks, too, which make the calls of it that the left side does not.
	OfMany bool
}

// Open reads the recordings below two paths and pairs those of the same step and
// rank; a process without a rank is paired with the only one of the other side.
func Open(left, right string, opt Options) (_ *Source, err error) {
	defer must.Catch(&err)
	lists, kinds, err := findBoth(left, right)
	must.Do(err)
	a, b := lists[0], lists[1]
	s := &Source{left: result.Side{Dir: left, Kind: kinds[0]}, right: result.Side{Dir: right, Kind: kinds[1]}}
	if opt.Unshard != nil {
		a = gathered(a, b)
	}
	pairs, why, unpaired := match(a, b)
	if len(pairs) == 0 {
		return nil, &NoPairError{Left: left, Right: right, Found: [2]string{a[0].name(), b[0].name()}, Why: why[max(0, slices.IndexFunc(why, isProcesses))]}
	}
	s.why, s.paired, s.unpaired = why, len(pairs), unpaired
	var m *mapper
	if opt.Mapping != nil {
		m = &mapper{Mapping: opt.Mapping, used: map[int]bool{}}
	}
	for _, p := range pairs {
		one := &part{rank: p[0].rank, met: map[string]int{}}
		if len(pairs) > 1 {
			one.prefix = p[0].label() + "/"
		}
		if one.left, err = p[0].load(); err == nil {
			one.right, err = p[1].load()
		}
		must.Do(err)
		if p[0].others != nil {
			done, why, err := one.unshard(&p[0], *opt.Unshard)
			must.Do(err)
			if !done { // each rank by itself
				opt.Unshard = nil
				if s, err = Open(left, right, opt); err == nil {
					s.why = append(s.why, why)
				}
				return s, err
			}
			s.why = append(s.why, why)
		}
		one.prepare(m, &opt)
		s.parts = append(s.parts, one)
	}
	s.elsewhere(pairs, opt.OfMany)
	if m != nil {
		s.why = append(s.why, m.unused()...)
	}
	s.remarks()
	return s, nil
}

// prepare pairs the calls and finds what feeds them.
func (p *part) prepare(m *mapper, opt *Options) {
	for _, s := range []*side{p.left, p.right} {
		s.digits()
		s.prints()
		s.findUnfilled()
	}
	if _, _, p.migrated = across(p.left, p.right); !p.migrated {
		var kernels *side
		if kernels, _, p.migrated = kernelwise(p.left, p.right); p.migrated {
			kernels.summarise()
		}
		p.left.other, p.right.other = p.migrated, p.migrated
	}
	p.left.findOmitted(p.right)
	p.right.findOmitted(p.left)
	p.gradients = [2]int{p.left.lastGradient(), p.right.lastGradient()}
	behindBackward(p.left, p.right)
	known(p.left, p.right, opt.Pairs)
	p.apart = align(p.left, p.right, m, opt.Maps)
	p.accumulations()
	p.order()
	taken := map[string]bool{}
	for _, u := range p.units {
		if u.left != nil {
			taken[u.left.Name] = true
		}
	}
	for _, u := range p.units {
		c, other := u.left, u.right
		if c == nil {
			c, other = u.right, nil
		}
		c.op = p.prefix + c.Name
		if u.left != nil {
			p.meets(c)
		}
		if n := len(c.parts); n > 0 {
			c.op = p.prefix + c.parts[n-1].Name
		}
		if u.left == nil && taken[c.Name] {
			c.op += " (right)"
		}
		numbers(c, other)
		if other != nil {
			other.op = c.op
		}
		for _, x := range []*call{c, other} {
			if x != nil {
				for i, l := range x.taken {
					l.slot = x.leaves[i].slot
				}
				for _, part := range x.parts {
					part.op = c.op
				}
			}
		}
	}
	p.left.origins(p.migrated)
	p.right.origins(p.migrated)
	p.left.findMasks()
	p.right.findMasks()
	p.left.originals()
	p.right.originals()
	p.nameParameters()
	p.findOtherSums()
	p.findLate()
	p.findOtherGradients()
	p.findBoundaries()
	for _, u := range p.units {
		for _, x := range []*call{u.left, u.right} {
			if x != nil {
				for i, l := range x.taken {
					x.leaves[i].from, x.leaves[i].before = l.from, l.before
					for _, s := range []*side{p.left, p.right} {
						if list := s.through[l]; list != nil {
							s.through[&x.leaves[i]] = list
						}
					}
				}
			}
		}
	}
	p.inside = [2]map[*call][]*call{insideOf(p.left), insideOf(p.right)}
}

// accumulations pairs the gradients of a module's parameters in their order where the sides call the module as often and in another one, as for parts
// of a batch: they are added up to those from before when they are recorded, so that only the last are the same sums.
func (p *part) accumulations() {
	var modules [2]map[string][]*call
	forward := map[string][]*call{}
	for i, s := range []*side{p.left, p.right} {
		modules[i] = map[string][]*call{}
		for _, c := range s.calls {
			switch name := c.Parsed.API; {
			case c.Parsed.Form == msprobe.ParametersGrad && c.fused == nil:
				modules[i][name] = append(modules[i][name], c)
			case i == 0 && c.Parsed.Form == msprobe.Module && c.Parsed.Direction == msprobe.Forward:
				forward[name] = append(forward[name], c)
			}
		}
	}
	for name, own := range modules[0] {
		others, turned := modules[1][name], crossed(forward[name]) > 0
		for i := 0; i < len(own) && len(own) == len(others) && turned; i++ {
			own[i].pair, others[i].pair = others[i], own[i]
			own[i].how, others[i].how = byOrder, byOrder
			for k := range own[i].leaves {
				own[i].leaves[k].summand = i < len(own)-1
			}
		}
	}
}

// order puts the calls of the left side in their order, and those that only the
// right side has behind the call they followed there. The gradients of a module's parameters are recorded
// before the backward call that makes them, and come behind it.
func (p *part) order() {
	behind := map[*call][]*call{}
	var last *call
	for _, c := range p.right.calls {
		if c.fused != nil {
			if last = c.fused.pair; last.parts != nil {
				last = last.parts[len(last.parts)-1]
			}
			continue
		}
		if c.pair != nil {
			last = c.pair
			if last.parts != nil {
				last = last.parts[len(last.parts)-1]
			}
			continue
		}
		behind[last] = append(behind[last], c)
	}
	add := func(c *call) {
		for _, r := range behind[c] {
			p.units = append(p.units, &unit{right: r})
		}
	}
	add(nil)
	for _, c := range p.left.calls {
		switch {
		case c.fused == nil:
			p.units = append(p.units, &unit{left: c, right: c.pair})
		case c == c.fused.parts[len(c.fused.parts)-1]:
			p.units = append(p.units, &unit{left: c.fused, right: c.fused.pair})
		}
		add(c)
	}
	for i := range len(p.units) - 1 {
		if u, next := p.units[i], p.units[i+1]; u.left != nil && next.left != nil && u.left.Parsed.Form == msprobe.ParametersGrad && next.left.Parsed.Direction == msprobe.Backward &&
			u.left.Parsed.API == next.left.Parsed.API && u.left.Parsed.Number == next.left.Parsed.Number {
			p.units[i], p.units[i+1] = next, u
		}
	}
}

// numbers gives the values of a call and its partner slots: those at the same place
// have the same, inputs and outputs on their own.
func numbers(c, other *call) {
	slots := map[string]int32{}
	var next [2]int32
	for _, x := range []*call{c, other} {
		if x == nil {
			continue
		}
		for i := range x.leaves {
			l := &x.leaves[i]
			slot, ok := slots[l.place]
			if !ok {
				slot = next[l.role]
				slots[l.place] = slot
				next[l.role]++
			}
			l.slot = slot
		}
	}
}

// remarks tells what to know of the pairs.
func (s *Source) remarks() {
	var aligned, left, right, mixed, alone, late, unfilled, reordered, blocked, rounded, underway, renumbered tally
	paired, widened, again, repeated, bare := 0, 0, 0, 0, false
	var inBlocks [2]int
	var half [2]bool // no inputs, no outputs of calls
	sums := 0
	for _, p := range s.parts {
		sums += p.sums
		for _, side := range []*side{p.left, p.right} {
			in, out := side.halves()
			half[0], half[1] = half[0] || out && !in, half[1] || in && !out
		}
		if p.left.unordered == p.right.unordered {
			s.reordered += crossed(p.left.calls)
		}
		if p.apart {
			s.why = append(s.why, result.Because(result.CallsApart, strconv.Itoa(len(p.left.calls)), strconv.Itoa(len(p.right.calls))))
		}
		widened += p.left.widened + p.right.widened
		for i, side := range []*side{p.left, p.right} {
			bare = bare || side.bare
			if renumbered.n += side.renumbered.n; renumbered.first == nil {
				renumbered.first = side.renumbered.first
			}
			if side.raw && side.stopped != "" {
				s.why = append(s.why, result.Because(result.RecordingStopped, []string{"left", "right"}[i], p.prefix+side.stopped))
			}
			for _, d := range side.damaged {
				d.Name = p.prefix + d.Name
				s.damaged = append(s.damaged, d)
			}
		}
		otherwise := false // something so far is computed by other calls
		computed := false  // a call so far gave other elements for the same ones
		for _, u := range p.units {
			for i, c := range []*call{u.left, u.right} {
				if c != nil && c.again {
					again++
					if [...]*call{u.left, u.right}[1-i] == nil {
						repeated++
					}
				}
			}
			switch {
			case p.aside(u):
				otherwise = true
				alone.add(u.name())
			case u.right == nil:
				otherwise = true
				left.add(u.left.op)
			case u.left == nil:
				otherwise = true
				right.add(u.right.op)
			default:
				paired++
				if otherwise = otherwise || u.left.how == byMap; u.left.block {
					blocked.add(u.left.op)
					inBlocks[0], inBlocks[1] = inBlocks[0]+len(u.left.parts), inBlocks[1]+len(u.right.parts)
				}
				if u.left.how == byMap {
					s.mapped++
				} else if u.left.how != byName {
					aligned.add(u.left.Name, u.right.Name)
				}
				var differs [2]bool // inputs, outputs
				for _, x := range pairsOf(u.left, u.right) {
					if x.left != nil && x.right != nil && crc(x.left.sum()) && crc(x.right.sum()) && x.left.summary.Sum != x.right.summary.Sum {
						differs[x.left.role] = true
					}
					if p.late[x.left] && !otherwise && (reordered.n > 0 || !computed) && p.reordered(u, x) {
						reordered.add(u.left.op + " " + x.left.place)
					} else if p.late[x.left] {
						late.add(u.left.op + " " + x.left.place)
					}
					if x.unfilled() {
						unfilled.add(u.left.op)
					}
					for _, l := range []*leaf{x.left, x.right} {
						if l != nil && l.Type == asyncTensor {
							underway.add(u.left.op + " " + l.place)
							break
						}
					}
					if x.rounded() {
						rounded.add(u.left.op + " " + x.left.place)
					}
					if x.left != nil && x.right != nil && x.left.tensor() && x.right.tensor() && x.left.DType != "" && x.right.DType != "" && !sameType(x.left, x.right) {
						mixed.add(x.left.DType, x.right.DType, u.left.op+" "+x.left.place)
					}
				}
				computed = computed || differs[result.Output] && !differs[result.Input]
			}
		}
	}
	for i, kind := range []result.Kind{result.InputsUnrecorded, result.OutputsUnrecorded} {
		if half[i] {
			s.why = append(s.why, result.Because(kind))
		}
	}
	say := func(t *tally, kind result.Kind, more ...int) {
		if t.n == 0 {
			return
		}
		args := append([]string{strconv.Itoa(t.n)}, t.first...)
		for _, n := range more {
			args = append(args, strconv.Itoa(n))
		}
		s.why = append(s.why, result.Because(kind, args...))
	}
	if aligned.n > 0 {
		s.why = append(s.why, result.Because(result.CallsAligned, strconv.Itoa(aligned.n), strconv.Itoa(paired)), result.Because(result.CallsNamed, aligned.first...))
	}
	say(&blocked, result.BlocksPaired, inBlocks[0], inBlocks[1])
	if s.reordered > 0 {
		s.why = append(s.why, result.Because(result.CallsReordered, strconv.Itoa(s.reordered)))
	}
	say(&alone, result.FrameworkAlone)
	if left.n+right.n > 0 {
		s.why = append(s.why, result.Because(result.CallsUnpaired, strconv.Itoa(left.n), strconv.Itoa(right.n)))
	}
	if bare {
		s.why = append(s.why, result.Because(result.StructureOnly, strconv.Itoa(paired), left.name(), right.name()))
	}
	updated := s.unrecorded()
	say(&updated, result.UpdatesUnrecorded)
	if n := s.unconnected(); n > 1 {
		s.why = append(s.why, result.Because(result.ExchangesUnrecorded, strconv.Itoa(n)))
	}
	if again > 0 {
		s.why = append(s.why, result.Because(result.CallsRepeated, strconv.Itoa(again), strconv.Itoa(repeated)))
	}
	say(&renumbered, result.GradientsRenumbered)
	say(&reordered, result.BatchReordered)
	say(&late, result.ChecksumsLate)
	say(&unfilled, result.MemoryUnfilled)
	say(&rounded, result.IntegersRounded)
	say(&underway, result.ValuesUnderway)
	if sums > 0 {
		s.why = append(s.why, result.Because(result.NormsDiffer, strconv.Itoa(sums)))
	}
	if widened > 0 {
		s.why = append(s.why, result.Because(result.FloatsWidened, strconv.Itoa(widened)))
	}
	say(&mixed, result.DTypesMixed)
}

// tally counts what is told with what the first of it is called.
type tally struct {
	n     int
	first []string
}

func (t *tally) add(name ...string) {
	if t.n++; t.n == 1 {
		t.first = name
	}
}

// name is that of the first, "-" if there is none.
func (t *tally) name() string {
	if t.n == 0 {
		return "-"
	}
	return t.first[0]
}

// halves tells whether tensors are recorded that go into calls of functions, and that come out of them.
func (s *side) halves() (in, out bool) {
	for _, c := range s.calls {
		for i := range c.leaves {
			if l := &c.leaves[i]; l.tensor() && (c.Parsed.Form == msprobe.API || c.Parsed.Form == msprobe.Module) && l.Section != msprobe.Parameters {
				in, out = in || l.role == result.Input, out || l.role == result.Output
			}
		}
	}
	return in, out
}

// crossed counts calls whose partner was made before that of an earlier call.
func crossed(calls []*call) (n int) {
	last := -1
	for _, c := range calls {
		switch {
		case c.pair == nil:
		case c.pair.at < last:
			n++
		default:
			last = c.pair.at
		}
	}
	return n
}

// Table says what is compared with what.
func (s *Source) Table() *result.Table {
	t := &result.Table{}
	t.Meta.Left, t.Meta.Right = s.left, s.right
	t.Meta.Recorded = true
	t.Meta.Damaged = s.damaged
	t.Meta.Pairing = result.Pairing{How: result.ByName, Why: s.why, Covered: map[result.How]int{}, Reordered: s.reordered, Mapped: s.mapped,
		Paired: s.paired, Unpaired: s.unpaired}
	calls, rows := 0, 0
	for _, p := range s.parts {
		calls += len(p.units)
		for _, u := range p.units {
			rows += u.rows()
		}
	}
	// The rows are most of the memory of a comparison: they are not moved as they
	// become more.
	t.Ops, t.Rows = make([]result.Operator, 0, calls), make([]result.Row, 0, rows)
	for _, p := range s.parts {
		for _, u := range p.units {
			if u.left != nil && u.right != nil && u.left.how != byName {
				t.Meta.Pairing.How = result.Aligned
			}
			t.Ops = append(t.Ops, p.operator(u, len(t.Ops)))
		}
		p.last(t.Ops[len(t.Ops)-len(p.units):])
		p.final(t.Ops[len(t.Ops)-len(p.units):])
	}
	return t
}

// rows is how many rows there will be.
func (u *unit) rows() (n int) {
	if u.left == nil || u.right == nil {
		return 1
	}
	for _, x := range pairsOf(u.left, u.right) {
		if !x.sameArgument() {
			n++
		}
	}
	return n
}

// operator is a call as an operator, with what feeds it.
func (p *part) operator(u *unit, n int) result.Operator {
	c, at := u.left, 0
	if c == nil {
		c, at = u.right, 1
	}
	side := p.left
	if u.left == nil {
		side = p.right
	}
	lone := u.left == nil || u.right == nil
	again := c.again && !side.hooked(c)
	op := result.Operator{Name: c.op, Type: typeOf(c), Index: n, Order: n, Dumped: u.left != nil, Behind: c.state || c.gap, Meets: c.meets, Begins: c.begins, Skipped: again && lone}
	op.Inner, op.Scope = p.aside(u), side.scope(c)
	if op.Steps = u.steps(); op.Steps > 0 {
		op.Lost = u.lost()
	}
	if c.original != nil {
		op.Uses = append(op.Uses, c.original.op)
	}
	if lone && !c.state && !c.gap && !again && !op.Inner {
		op.Made = c.gave()
	}
	for i := range c.leaves {
		l := &c.leaves[i]
		if lone && l.tensor() && l.summary.Known != 0 {
			op.Gives = append(op.Gives, result.Given{Place: l.place, Shape: l.Shape, Known: l.summary.Known, Stats: l.summary.Stats})
		}
		if l.role == result.Output {
			op.Outputs++
			continue
		}
		if l.from.call > 0 {
			for len(op.Inputs) <= int(l.slot) {
				op.Inputs = append(op.Inputs, result.Port{})
			}
			op.Inputs[l.slot] = side.port(l.from)
		}
	}
	if name := forwardOf(c); name != "" {
		if f := side.find(name); f != nil && f.op != "" {
			op.Uses = append(op.Uses, f.op)
		}
	}
	for _, x := range p.inside[at][c] {
		op.Uses = append(op.Uses, x.op)
	}
	return op
}

// final marks what a network is run for: the last forward call before the first backward one,
// which is the loss, or the last of all, which gives the logits. ops are those of the units.
func (p *part) final(ops []result.Operator) {
	last := -1
	for i, u := range p.units {
		c := u.left
		if c == nil {
			c = u.right
		}
		if c.Parsed.Direction == msprobe.Backward {
			break
		}
		if c.Parsed.Form == msprobe.ParametersGrad || c.Parsed.Form == msprobe.Debug {
			continue
		}
		if leaves := c.outputs(); leaves != nil {
			last = i
			ops[i].Leaves = leaves
		}
	}
	for i := range ops {
		if ops[i].Final = i == last; i != last {
			ops[i].Leaves = nil
		}
	}
}

// outputs are the slots of the tensors that a call gives.
func (c *call) outputs() (slots []int64) {
	for k := range c.leaves {
		if l := &c.leaves[k]; l.role == result.Output && l.tensor() {
			slots = append(slots, int64(l.slot))
		}
	}
	return slots
}

// last marks the outputs of the last call of either side: what a recording ends with. ops are
// those of the units.
func (p *part) last(ops []result.Operator) {
	for side := range 2 {
		for i := len(p.units) - 1; i >= 0; i-- {
			c := [...]*call{p.units[i].left, p.units[i].right}[side]
			if c == nil {
				continue
			}
			if leaves := c.outputs(); len(leaves) > 0 {
				if len(ops[i].Leaves) < len(leaves) {
					ops[i].Leaves = leaves
				}
				break
			}
		}
	}
}

// aside tells of a unit that it has no partner and need not have one, see [side.aside].
func (p *part) aside(u *unit) bool {
	switch {
	case u.left != nil && u.right != nil:
		return false
	case !p.migrated:
		c, s := u.left, p.left
		if c == nil {
			c, s = u.right, p.right
		}
		return s.omitted[typeOf(c)]
	case u.right == nil:
		return p.left.aside(u.left, p.gradients[0])
	}
	return p.right.aside(u.right, p.gradients[1])
}

// name is that of the call, the left one of a pair.
func (u *unit) name() string {
	if u.left == nil {
		return u.right.Name
	}
	return u.left.Name
}

// find is a call by its name.
func (s *side) find(name string) *call {
	if s.index == nil {
		s.index = make(map[string]*call, len(s.calls))
		for _, c := range s.calls {
			s.index[c.Name] = c
		}
	}
	return s.index[name]
}

// port is a place as rows name it.
func (s *side) port(p place) result.Port {
	if p.call == 0 {
		return result.Port{}
	}
	return result.Port{Op: s.calls[p.call-1].op, Index: int(p.slot)}
}

// hooked tells of a call that was made while gradients were computed that it works on one of them, as a hook does: it
// repeats nothing.
func (s *side) hooked(c *call) bool {
	return slices.ContainsFunc(c.leaves, func(l leaf) bool {
		return l.role == result.Input && l.from.call > 0 && s.calls[l.from.call-1].Parsed.Direction == msprobe.Backward
	})
}

// typeOf is the function, or the class of a module.
func typeOf(c *call) string {
	if c.Parsed.Class != "" {
		return c.Parsed.Class
	}
	if c.Parsed.Form == msprobe.API {
		return c.Parsed.API
	}
	return ""
}

// release lets go of the values of calls whose rows are made: the rows and what they refer
// to are most of the memory that is left.
func (u *unit) release() {
	for _, c := range []*call{u.left, u.right} {
		if c != nil {
			c.leaves, c.taken = nil, nil
			for _, part := range c.parts {
				part.leaves = nil
			}
		}
	}
}

// Groups are the pairs of calls. A source is run once: what was compared is let go.
func (s *Source) Groups() (list []engine.Group) {
	for _, p := range s.parts {
		for _, of := range []*side{p.left, p.right} {
			for _, c := range of.calls {
				if catalogue.Is(typeOf(c), catalogue.Quantises) {
					c.scaled = c.leaves
				}
			}
		}
		for _, u := range p.units {
			n := len(list)
			list = append(list, func(ctx context.Context, w *engine.Worker) engine.Found {
				if w.Glances() {
					return p.glance(ctx, u, w)
				}
				found := p.compare(ctx, u, n, w)
				u.release()
				return found
			})
		}
	}
	return list
}
