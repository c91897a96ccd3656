package recording

import (
	"bytes"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"precision/compare/result"
	"precision/dump/dtype"
	"precision/dump/msprobe"
	"precision/internal/nd"
	catalogue "precision/op"
)

// What a recorder says of memory that it read too early or too late is no evidence: of buffers
// that nobody had filled yet, and checksums of what had changed by the time they were taken. The
// recorder takes these behind the program's back, from where the tensor lies; Max, Min, Mean
// and Norm it takes at once.

// findUnfilled finds values that are memory which nothing was written to: what functions hand out
// or are given to write to, what is moved of that, and parts of memory that nothing recorded fills
// or reads.
func (s *side) findUnfilled() {
	handed := map[identity]bool{}
	for _, c := range s.calls {
		if c.Parsed.Form != msprobe.API {
			continue
		}
		value := func(section msprobe.Section, path string) (msprobe.Number, bool) {
			if l := c.leaf(section.String()+"."+path, 0); l != nil && l.arg != nil && !l.tensor() {
				return l.arg.Value, true
			}
			return msprobe.Number{}, false
		}
		passes := false
		for i := range c.leaves {
			l := &c.leaves[i]
			if !l.tensor() || l.role != result.Input {
				continue
			}
			has := len(handed) > 0 && catalogue.Is(typeOf(c), catalogue.Moves) && !c.Parsed.Fills() && handed[l.whole()]
			passes = passes || has
			if has || c.Parsed.Unfilled(l.Section, l.path, value) {
				l.unfilled = true
			}
		}
		c.begins = c.Parsed.Begins(value)
		for i := range c.leaves {
			l := &c.leaves[i]
			if l.tensor() && l.role == result.Output && (passes || c.begins && c.left(l) || c.Parsed.Unfilled(l.Section, l.path, value)) {
				l.unfilled = true
				handed[l.whole()] = true
			}
		}
	}
	s.findCarved()
	s.findSpare()
}

// findSpare finds the outputs of batch norms of MindSpore beside the first that no call reads: not every
// device's kernel fills them.
func (s *side) findSpare() {
	mayLeave := func(c *call) bool {
		return (c.Parsed.Prefix == "Primitive" || c.kernel()) && catalogue.Of(typeOf(c)).Does == "batch_norm"
	}
	if !slices.ContainsFunc(s.calls, mayLeave) {
		return
	}
	read := map[identity]bool{}
	for _, c := range slices.Backward(s.calls) {
		spare := mayLeave(c)
		for i := range c.leaves {
			l := &c.leaves[i]
			switch {
			case !l.tensor():
			case l.role == result.Input:
				read[l.whole()] = true
			case spare && l.place != "output.0" && !read[l.whole()]:
				l.unfilled = true
			}
		}
	}
}

// kernel tells a call of a recording that MindSpore made kernel by kernel.
func (c *call) kernel() bool {
	return c.Parsed.Form == msprobe.API && c.Parsed.Prefix == "" && c.Parsed.Class != ""
}

// left tells of what a call gives that it is what went in, in part at least, as long as nobody has written to
// all of it: its largest or smallest element still stands there.
func (c *call) left(out *leaf) bool {
	return slices.ContainsFunc(c.leaves, func(l leaf) bool {
		a, b := &l.summary.Stats, &out.summary.Stats
		return l.tensor() && l.role == result.Input && slices.Equal(l.Shape, out.Shape) && l.summary.Known&out.summary.Known != 0 && (a.Max == b.Max || a.Min == b.Min)
	})
}

// whole identifies a tensor by all that is said of it, be it little.
func (l *leaf) whole() identity {
	var h hash
	n, _ := l.Elements()
	h.number(uint64(n))
	h.number(uint64(l.sameness()))
	return h.identity()
}

// findCarved finds parts of memory that come from nowhere and go nowhere.
func (s *side) findCarved() {
	carves := func(c *call) bool { return c.Parsed.Form == msprobe.API && c.Parsed.Carves() }
	if !slices.ContainsFunc(s.calls, carves) {
		return
	}
	read, made := map[identity]bool{}, map[identity]bool{}
	var carved []*call
	given := map[*call]bool{} // no call before made what goes in
	for _, c := range s.calls {
		for i := range c.leaves {
			if l := &c.leaves[i]; l.tensor() && l.role == result.Input && carves(c) {
				given[c] = !made[l.content()]
			}
		}
		for i := range c.leaves {
			if l := &c.leaves[i]; l.tensor() && l.role == result.Output {
				made[l.content()] = true
			}
		}
		if carves(c) {
			carved = append(carved, c)
			continue
		}
		c.read(read)
	}
	for _, c := range slices.Backward(carved) {
		used := false
		for i := range c.leaves {
			if l := &c.leaves[i]; l.tensor() {
				if key := l.content(); key != 0 {
					used = used || read[key]
				} else {
					used = used || !l.constant() // one number everywhere tells nothing of the rest
				}
			}
		}
		if used || !given[c] {
			c.read(read)
			continue
		}
		for i := range c.leaves {
			c.leaves[i].unfilled = c.leaves[i].tensor()
		}
	}
}

// read notes what goes into a call.
func (c *call) read(contents map[identity]bool) {
	for i := range c.leaves {
		if l := &c.leaves[i]; l.tensor() && l.role == result.Input && !l.unfilled {
			contents[l.content()] = true
		}
	}
}

// findLate finds the pairs of which nothing but a checksum differs that may have been taken too late.
func (p *part) findLate() {
	sides := [2]*side{p.left, p.right}
	if !p.left.hashes() || !p.right.hashes() {
		return
	}
	var changed [2]map[identity]bool
	var says [2]map[string]identity
	functions, steps := false, false
	for i, s := range sides {
		changed[i], says[i] = s.changed(), s.contradictions()
		for _, c := range s.calls {
			functions = functions || c.Parsed.Form == msprobe.API
			steps = steps || c.Parsed.Direction == msprobe.Backward
		}
	}
	proven := map[identity]bool{}
	for _, u := range p.units {
		if u.left == nil || u.right == nil || !exposes(u) {
			continue
		}
		for i := range u.left.leaves {
			if l := &u.left.leaves[i]; l.role == result.Input && l.tensor() {
				proven[l.stated()] = true
			}
		}
	}
	turned := false
	for _, u := range p.units {
		if u.left == nil || u.right == nil {
			turned = turned || u.turns()
			continue
		}
		view := catalogue.Is(typeOf(u.left), catalogue.Moves) || catalogue.Is(typeOf(u.right), catalogue.Moves)
		for _, x := range pairsOf(u.left, u.right) {
			if !p.onlySum(&x) {
				continue
			}
			late := !functions || view || u.left.Parsed.InPlace() || u.right.Parsed.InPlace()
			late = late || proven[x.left.stated()]
			// What an optimizer moves, maybe by ways that are not recorded.
			own := x.left.Section == msprobe.Parameters || x.left.Section == msprobe.Gradients || x.left.role == result.Input && x.left.from.call == 0 && x.right.from.call == 0
			late = late || steps && own && x.left.sort() == 'f' && !(turned && p.reordered(u, x))
			for i, l := range []*leaf{x.left, x.right} {
				late = late || changed[i][l.stated()] || says[i][l.summary.Sum] == contradictory || sides[i].raw
			}
			if late && !p.fedOthers(u, x) {
				if p.late == nil {
					p.late = map[*leaf]bool{}
				}
				p.late[x.left] = true
			}
		}
	}
}

// turns tells of a call that one side alone makes that it may put elements in another order.
func (u *unit) turns() bool {
	c := u.left
	if c == nil {
		c = u.right
	}
	return c.Parsed.Form == msprobe.API && c.Parsed.Direction == msprobe.Forward && catalogue.Is(typeOf(c), catalogue.Moves) && !catalogue.Is(typeOf(c), catalogue.Straight|catalogue.Reshapes|catalogue.Returns)
}

// reordered tells of a pair of which only the checksum differs that it was given to the network, and that what was made of it
// has other checksums, too: then these are right, and its elements are in another order.
func (p *part) reordered(u *unit, x leafPair) bool {
	l := x.left
	if l.role != result.Input || l.from.call > 0 || x.right.from.call > 0 || l.before.call > 0 || p.own[l] != "" || nd.Single(l.Shape) || u.left.Parsed.Direction != msprobe.Forward || u.left.Parsed.InPlace() {
		return false
	}
	if parameter(u.left, l) || !strings.HasPrefix(l.place, "input.") {
		return false
	}
	some := false
	for i := range u.left.leaves {
		a := &u.left.leaves[i]
		if b := u.right.leaf(a.place, i); a.role == result.Output && a.tensor() && b != nil && b.tensor() && crc(a.sum()) && crc(b.sum()) {
			if a.summary.Sum == b.summary.Sum {
				return false
			}
			some = true
		}
	}
	return some
}

// fedOthers tells of whole numbers that were given to the network, as ids, that they are others, though their largest and smallest are
// the same: their checksums differ, and what is made of them has another largest or smallest element, which no order changes.
func (p *part) fedOthers(u *unit, x leafPair) bool {
	if x.left.sort() == 'f' || !p.reordered(u, x) {
		return false
	}
	const ends = result.KnownMax | result.KnownMin
	return slices.ContainsFunc(u.left.leaves, func(a leaf) bool {
		b := u.right.leaf(a.place, 0)
		return a.role == result.Output && a.tensor() && b != nil && a.summary.Has(ends) && b.summary.Has(ends) &&
			(a.summary.Stats.Max != b.summary.Stats.Max || a.summary.Stats.Min != b.summary.Stats.Min)
	})
}

// unfilled tells of a pair that one of the two is memory that nothing was written to.
func (x *leafPair) unfilled() bool {
	return x.left != nil && x.left.unfilled || x.right != nil && x.right.unfilled
}

// findOtherGradients finds pairs of backward calls one of which has the gradients of another call: its
// function returned its argument itself, so that the recorder saw the call that made that; and pairs of which the
// kernels end in other steps.
func (p *part) findOtherGradients() {
	for _, u := range p.units {
		if u.left == nil || u.right == nil || u.left.Parsed.Form != msprobe.API || u.left.Parsed.Direction != msprobe.Backward {
			continue
		}
		a, b := p.left.find(forwardOf(u.left)), p.right.find(forwardOf(u.right))
		u.otherGradient = a != nil && b != nil && a.passes() != b.passes()
		n, m := u.left.handsOut(), u.right.handsOut()
		u.otherStep = n != m && n > 0 && m > 0 // a call that lost all of them is no other step
		u.otherOrder = n == m && u.turnsGradients()
		in, out := u.left.leaf("input.0", 0), u.right.leaf("input.0", 0)
		u.sameStart = in != nil && out != nil && sameType(in, out)
	}
}

// handsOut is how many gradients a backward call gives, None among them. Another number of them are those of another last step.
func (c *call) handsOut() (n int) {
	for i := range c.leaves {
		if c.leaves[i].role == result.Output {
			n++
		}
	}
	return n
}

// turnsGradients tells of a backward call that it hands out its gradients in another order on each side, as a function that a program
// defines does beside one of the framework: their shapes, or these with what they are like, are the same in another order, but for axes.
func (u *unit) turnsGradients() bool {
	var shapes, sizes [2][]identity
	for _, x := range pairsOf(u.left, u.right) {
		if x.left == nil || x.right == nil || x.left.role != result.Output {
			continue
		}
		for i, l := range []*leaf{x.left, x.right} {
			shape := identity(1).of(slices.Sorted(slices.Values(l.Shape)))
			shapes[i], sizes[i] = append(shapes[i], shape), append(sizes[i], shape^l.size())
		}
	}
	return turned(shapes) || turned(sizes)
}

// turned tells of two lists that they are the same in another order.
func turned(lists [2][]identity) bool {
	same := slices.Equal(lists[0], lists[1])
	slices.Sort(lists[0])
	slices.Sort(lists[1])
	return !same && slices.Equal(lists[0], lists[1])
}

// lastStep tells of a pair that it is a gradient that one side alone hands out, which belongs to another last step of a kernel, or one
// of another type on each side though the same type went in, as of a step in float32 of a call in bfloat16. What else
// both have is compared: a gradient that is lost acquits no other.
func (x *leafPair) lastStep(u *unit) bool {
	for _, l := range []*leaf{x.left, x.right} {
		if l != nil && (l.role != result.Output || !l.tensor()) {
			return false
		}
	}
	return x.left == nil || x.right == nil || u.sameStart && x.left.DType != "" && x.right.DType != "" && !sameType(x.left, x.right)
}

// passes is [msprobe.Call.Passes].
func (c *call) passes() bool {
	in, out := c.leaf("input.0", 0), c.first()
	return c.Parsed.Returns() && in != nil && out != nil && in.tensor() && sameType(in, out) && slices.Equal(in.Shape, out.Shape) && in.stated() == out.stated()
}

// onlySum tells a pair that has the same statistics, to the last bit or but for the order of sums where that is proven, and another checksum.
func (p *part) onlySum(x *leafPair) bool {
	if x.left == nil || x.right == nil || !x.left.tensor() || !x.right.tensor() || !sameType(x.left, x.right) || !sameShape(x.left.Shape, x.right.Shape) {
		return false
	}
	a, b := x.left.sum(), x.right.sum()
	return crc(a) && crc(b) && a.S != b.S && x.left.summary.Has(result.KnownMax|result.KnownMin) && (x.left.stated() == x.right.stated() || p.summedOtherwise && x.left.sameButSums(x.right))
}

// stated identifies a tensor by its statistics and how many elements it has.
func (l *leaf) stated() identity {
	var h hash
	n, _ := l.Elements()
	h.number(uint64(n))
	h.number(uint64(l.sort()))
	h.stats(l, atMax, atMin, atMean, atNorm)
	return h.identity()
}

// changed are the tensors that a side writes to later, by what was said of them before.
func (s *side) changed() map[identity]bool {
	m := map[identity]bool{}
	for k := len(s.calls) - 1; k >= 0; k-- {
		c := s.calls[k]
		inPlace, moves := c.Parsed.InPlace(), c.Parsed.Form == msprobe.API && catalogue.Is(typeOf(c), catalogue.Moves)
		if l := c.leaf("kwargs.inplace", 0); l != nil && l.arg != nil {
			inPlace = inPlace || l.arg.Value.I != 0
		}
		for i := range c.leaves {
			// A view of what changes does, and so does what it is a view of.
			if l := &c.leaves[i]; moves && l.tensor() && m[l.stated()] {
				inPlace = true
			}
		}
		for i := range c.leaves {
			l := &c.leaves[i]
			first := l.place == "input.0" || c.Parsed.Prefix == "Distributed" || moves
			if l.tensor() && (inPlace && first || l.Section == msprobe.Gradients) {
				m[l.stated()] = true
			}
		}
	}
	return m
}

// hashes tells whether a side has checksums over bytes.
func (s *side) hashes() bool {
	return slices.ContainsFunc(s.calls, func(c *call) bool {
		return slices.ContainsFunc(c.leaves, func(l leaf) bool { return l.tensor() && crc(l.sum()) })
	})
}

// unrecorded counts the parameters that change from one step to the next though no recorded call
// writes to them, and gives the first by name.
func (s *Source) unrecorded() (of tally) {
	type held struct {
		rank, name string
	}
	was, wrote := map[held]identity{}, map[string]map[identity]bool{}
	seen := map[held]bool{}
	for _, p := range s.parts {
		_, rank := cutStep(p.prefix)
		now := map[held]identity{}
		for l, parameter := range p.own {
			at := held{rank, parameter}
			now[at] = l.stated()
			if before, ok := was[at]; ok && before != now[at] && !wrote[rank][before] && !seen[at] {
				seen[at] = true
				if of.add(parameter); parameter < of.first[0] { // they come in no order
					of.first[0] = parameter
				}
			}
		}
		maps.Copy(was, now)
		wrote[rank] = p.left.changed()
	}
	return of
}

// cutStep cuts a prefix of calls into that of the step and the rest.
func cutStep(prefix string) (step, rest string) {
	if strings.HasPrefix(prefix, "step") {
		step, rest, _ = strings.Cut(prefix, "/")
		return step, rest
	}
	return "", prefix
}

// contradictory marks a checksum that stands for tensors with other statistics.
const contradictory identity = 1

// contradictions leads from every checksum of a side to the statistics beside it.
func (s *side) contradictions() map[string]identity {
	m := map[string]identity{}
	for _, c := range s.calls {
		for i := range c.leaves {
			l := &c.leaves[i]
			if !l.tensor() || !crc(l.sum()) {
				continue
			}
			switch key := l.stated(); m[l.summary.Sum] {
			case 0, key:
				m[l.summary.Sum] = key
			default:
				m[l.summary.Sum] = contradictory
			}
		}
	}
	return m
}

// belied marks the statistics of inputs that are not finite though the checksum is that of a tensor
// before whose are, as is what the call makes of it: the same bytes of one type are the same numbers. It is
// no evidence where either checksum may be of what was written later: to a target of a call that works in
// place or exchanges, to anything where functions are not recorded, and to what ends as a constant, as
// gradients that are set to zero.
func (s *side) belied(path string, offsets []int64) {
	doubtful := func(c *call, l *leaf) bool {
		return l.role == result.Input && crc(l.sum()) && l.infinite() && settled(c)
	}
	functions, some := false, false
	for _, c := range s.calls {
		functions = functions || c.Parsed.Form == msprobe.API
		some = some || slices.ContainsFunc(c.leaves, func(l leaf) bool { return l.tensor() && doubtful(c, &l) })
	}
	if !some || !functions || s.raw {
		return
	}
	type bytes struct {
		sum, dtype string
		elements   int64
	}
	finite, changed := map[bytes]string{}, s.changed()
	for _, c := range s.calls {
		for i := range c.leaves {
			l := &c.leaves[i]
			if !l.tensor() || !crc(l.sum()) || changed[l.stated()] {
				continue
			}
			n, _ := l.Elements()
			key := bytes{l.summary.Sum, l.DType, n}
			was := finite[key]
			switch {
			case !l.infinite() && was == "" && l.tells() && l.summary.Has(result.KnownMax|result.KnownMin):
				finite[key] = c.Name + ", " + l.place
			case was != "" && doubtful(c, l):
				if l.arg == nil {
					l.arg = &argument{}
				}
				l.arg.odd = &msprobe.SyntaxError{File: path, Offset: offsets[c.at], Found: "NaN or infinity in " + strconv.Quote(c.Name) + ", " + l.place,
					Expected: "finite statistics: its checksum " + l.summary.Sum + " is that of " + was}
			}
		}
	}
}

// mostUnheld is how many of the numbers of a recording, as one in so many that have more than a few digits, may be such as
// their type cannot hold for that to be damage of these: of 413 350 largest and smallest elements in 700 recordings of networks
// none was. Of a recorder that rounds nearly all are.
const mostUnheld = 2

// unheld marks tensors whose element type is none, and in a recording of which that is not so of most: those whose largest
// or smallest element is no number of it, whose statistics cannot be true beside each other, and that lack one.
func (s *side) unheld(path string, offsets []int64) {
	type finding struct {
		of              *call
		in              *leaf
		found, expected string
	}
	held, not := 0, []finding(nil)
	possible, impossible := 0, []finding(nil)
	type count struct {
		all int
		has [len(leaf{}.kinds)]int
	}
	counts := map[dtype.Type]*count{}
	for _, c := range s.calls {
		for i := range c.leaves {
			l := &c.leaves[i]
			if n, ok := l.Elements(); !l.tensor() || !ok || n == 0 || len(l.Shape) == 0 || l.Kind != msprobe.Tensor || l.summary.Known == 0 {
				continue
			}
			n := counts[l.Elem]
			if n == nil {
				n = &count{}
				counts[l.Elem] = n
			}
			n.all++
			for k, kind := range l.kinds {
				if kind != msprobe.Absent && kind != msprobe.Null {
					n.has[k]++
				}
			}
		}
	}
	usual := func(t dtype.Type, k int) bool { n := counts[t]; return n != nil && 2*n.has[k] > n.all }
	mark := func(f finding) *msprobe.SyntaxError {
		if f.in.arg == nil {
			f.in.arg = &argument{}
		}
		return &msprobe.SyntaxError{File: path, Offset: offsets[f.of.at], Found: f.found, Expected: f.expected + " in " + strconv.Quote(f.of.Name) + ", " + f.in.place}
	}
	note := func(list ...finding) {
		for _, f := range list {
			if e := mark(f); f.in.arg.odd == nil {
				f.in.arg.odd = e
			}
		}
	}
	for _, c := range s.calls {
		for i := range c.leaves {
			l := &c.leaves[i]
			if !l.tensor() {
				continue
			}
			if l.DType != "" && !l.Known {
				e := mark(finding{c, l, "the dtype " + strconv.Quote(l.DType), "an element type"})
				l.arg.foreign = e
			}
			if key := l.unstated(usual); key != "" {
				note(finding{c, l, "no " + key, "one, as other tensors of the recording have"})
			}
			if found, expected := l.contradictory(); found != "" {
				note(finding{c, l, found, expected})
			} else if found, expected := l.impossible(); found != "" {
				impossible = append(impossible, finding{c, l, found, expected})
			} else {
				possible++
			}
			round := l.Elem.Rounding()
			for k, v := range l.statistics() {
				if k > atMin || !l.Elem.IsFloat() || l.kinds[k] != msprobe.Float || v-v != 0 {
					continue
				}
				if round.Round(v) != v {
					not = append(not, finding{c, l, "an element " + number(v), "a number of " + l.DType})
				} else if l.Elem != dtype.Float64 && !fewDigits(v) { // any number is one of float64
					held++
				}
			}
		}
	}
	if len(not)*mostUnheld <= held {
		note(not...)
	}
	if len(impossible)*mostUnheld <= possible {
		note(impossible...)
	}
}

// fewDigits tells that six significant decimal digits write a number exactly: it may have been rounded to them.
func fewDigits(v float64) bool {
	var text [32]byte
	return bytes.IndexByte(strconv.AppendFloat(text[:0], math.Abs(v), 'e', -1, 64), 'e') <= len("1.23456")
}

// exposes tells of a pair of calls that they compute and give the same to the last bit, so that
// what went in is the same, whatever its checksums say.
func exposes(u *unit) bool {
	if t := typeOf(u.left); catalogue.Is(t, catalogue.Moves) || u.left.Parsed.InPlace() {
		return false
	}
	some := false
	for i := range u.left.leaves {
		l := &u.left.leaves[i]
		if l.role != result.Output || !l.tensor() {
			continue
		}
		o := u.right.leaf(l.place, i)
		if o == nil || !crc(l.sum()) || !crc(o.sum()) || l.summary.Sum != o.summary.Sum {
			return false
		}
		some = some || l.sort() == 'f' && l.tells()
	}
	return some
}

// parameter tells of what goes into a call that it is one of a module, or in a place of weights.
func parameter(c *call, l *leaf) bool {
	at, ok := strings.CutPrefix(l.place, "input.")
	return l.Section == msprobe.Parameters || ok && slices.ContainsFunc(catalogue.Of(typeOf(c)).Weights, func(n int) bool { return at == strconv.Itoa(n) })
}
