package recording

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"

	"precision/compare/engine"
	"precision/compare/result"
	"precision/dump/dtype"
	"precision/dump/msprobe"
)

// Where one side has elements and the other what was computed of them when they were
// recorded, the same is computed here: Max and Min, which are elements; Mean and
// Norm, in float64, which a recorder sums in another order and maybe in fewer digits;
// CRC-32 and xor of the bytes, which settle whether the tensors are the same.

// sums are the statistics and the checksum of one side of a pair.
type sums struct {
	stats [atSum]msprobe.Number
	sum   msprobe.Number
	// computed tells that they were computed otherwise than the other side's, norm and n of what; order is how far a recorder may be off
	// that norm by the order in which it adds up squares.
	computed    bool
	norm, order float64
	n           int64
	// single tells that both recorders sum in float32 and round the sum to the type of the tensor.
	single bool
}

// sums is what the recording says of a tensor.
func (l *leaf) sums() sums {
	t := sums{sum: l.sum()}
	for i := range t.stats {
		t.stats[i] = l.stat(i)
	}
	return t
}

// summedElsewhere tells of statistics that another framework summed than those of the other side, in another order.
func (t *sums) summedElsewhere(l *leaf) {
	n, known := l.Elements()
	norm, ok := t.stats[atNorm].Value()
	t.computed, t.norm, t.n = known && ok && n > 0, norm, n
	t.order = msprobe.NormOrder(n) * norm
}

// reordered is how far a norm of l may be off where the order alone in which squares are added up tells it from that of t: in memory a part of
// another tensor has other strides, and many numbers are added up on several threads. Then the extremes are the same and the means are to a
// roundoff of float32, which a call that changed elements would have changed; else it is 0.
func (t *sums) reordered(of *sums, l *leaf) float64 {
	n, known := l.Elements()
	mean, ok := t.stats[atMean].Value()
	other, too := of.stats[atMean].Value()
	norm, normed := of.stats[atNorm].Value()
	same := recorded(t.stats[atMax]) && t.stats[atMax].Same(of.stats[atMax]) && recorded(t.stats[atMin]) && t.stats[atMin].Same(of.stats[atMin])
	if !known || !ok || !too || !normed || !same || n < fewSummed || t.stats[atNorm].Same(of.stats[atNorm]) || math.Abs(mean-other) > dtype.Float32.Unit()*norm/math.Sqrt(float64(n)) {
		return 0
	}
	return msprobe.NormOrder(n) * norm
}

// fewSummed is how many elements a tensor has to have so that the order of its sum tells as a rule; leastSummed how many of these tensors
// have to tell so, and mostAlike how many others there may be for each of them, which are the same by chance.
const (
	fewSummed   = 1 << 6
	leastSummed = 3
	mostAlike   = 3
)

// findOtherSums finds out whether the sides add up norms and means in other orders, as a CPU and a device do. Tensors of float32 tell
// whose extremes are the same: of the same elements the sums are off by no more than that, and on recorders that add up alike not at all.
// Many of them have to be, and weights and data among them: of what another run changed a little the extremes differ as a rule. One
// that has the same checksum and another norm proves it.
func (p *part) findOtherSums() {
	type votes struct{ alike, apart int }
	var given, all votes // given are those that no call made
	seen := map[identity]bool{}
	for _, u := range p.units {
		if p.migrated || u.left == nil || u.right == nil {
			continue
		}
		for i := range u.left.leaves {
			l := &u.left.leaves[i]
			if !l.tensor() || l.Elem != dtype.Float32 || i >= len(u.right.leaves) {
				continue
			}
			r := &u.right.leaves[i]
			n, ok := l.Elements()
			if !ok || n < fewSummed || r.place != l.place || !sameType(l, r) || !sameShape(l.Shape, r.Shape) {
				continue
			}
			a, b := l.sums(), r.sums()
			id := l.stated()
			if !l.sameButSums(r) || seen[id] || a.alike() {
				continue
			}
			seen[id] = true
			p.summedOtherwise = p.summedOtherwise || a.sum.Kind == msprobe.Text && a.sum.Same(b.sum) && !a.stats[atNorm].Same(b.stats[atNorm])
			counted := []*votes{&all}
			if l.role == result.Input && l.from.call == 0 && r.from.call == 0 {
				counted = append(counted, &given)
			}
			for _, of := range counted {
				if a.stats[atMean].Same(b.stats[atMean]) && a.stats[atNorm].Same(b.stats[atNorm]) {
					of.alike++
				} else {
					of.apart++
				}
			}
		}
	}
	if p.summedOtherwise || all.apart >= leastSummed && all.alike <= mostAlike*all.apart && given.alike <= mostAlike*given.apart+1 {
		p.sums = all.apart
	}
}

// sameButSums tells of two tensors that their extremes are the same, and norms and means as far as these may be added up in another order.
func (l *leaf) sameButSums(r *leaf) bool {
	a, b := l.sums(), r.sums()
	a.summedElsewhere(l)
	same := true
	for i := range atSum {
		same = same && recorded(a.stats[i]) && recorded(b.stats[i]) && (i < atMean && a.stats[i].Same(b.stats[i]) || i >= atMean && a.agrees(i, b.stats[i], r))
	}
	return same
}

// wants tells whether the elements of a tensor can tell more about it and another
// one, of which only statistics or a checksum are there.
func (t *sums) wants(other *sums) bool {
	for i := range t.stats {
		if recorded(other.stats[i]) && !recorded(t.stats[i]) {
			return true
		}
	}
	return recorded(other.sum) && !recorded(t.sum)
}

// sumUnit is how exact sums are at best, for those of integers.
const sumUnit = 1e-12

// tileLen is how many elements are read at a time.
const tileLen = 1 << 15

// measure computes what a recorder says of a tensor, in the words of another side:
// other tells what is needed, and of what sort the checksum is.
func measure(ctx context.Context, s *engine.SideTensor, l *leaf, other *sums) (sums, error) {
	t := sums{computed: true, n: s.Count}
	size := int64(s.Type.Bits() / 8)
	if !s.Type.Readable() || size == 0 {
		return t, fmt.Errorf("%s: elements of %s have no statistics", s.File, s.Type)
	}
	if s.Count == 0 {
		return t, nil
	}
	parts := int64(s.Type.Parts())
	hi, lo, sum, squares := math.Inf(-1), math.Inf(1), 0.0, 0.0
	sums := checksum{wanted: other.sum}
	if err := tiles(ctx, s, sums.add, func(v []float64) {
		if parts == 2 {
			for i := range len(v) / 2 {
				v[i] = math.Hypot(v[2*i], v[2*i+1])
			}
			v = v[:len(v)/2]
		}
		h, l, total, q := hi, lo, sum, squares // in registers
		for _, x := range v {
			if x != x {
				h, l = x, x
			} else if h == h {
				h, l = max(h, x), min(l, x)
			}
			total += x
			q += x * x
		}
		hi, lo, sum, squares = h, l, total, q
	}); err != nil {
		return t, err
	}
	t.norm = math.Sqrt(squares)
	if s.Type.IsFloat() && s.Type.Bits() <= 32 {
		t.order = msprobe.NormOrder(s.Count) * t.norm / 128 // as of normal numbers; look looks
	}
	float := func(v float64) msprobe.Number { return msprobe.Number{Kind: msprobe.Float, F: v} }
	t.stats = [atSum]msprobe.Number{float(hi), float(lo), float(sum / float64(s.Count)), float(t.norm)}
	if len(l.Shape) == 0 {
		t.stats[atNorm] = float(hi) // of a single value the recorder repeats it
	}
	if !s.BigEndian || size == 1 {
		t.sum = sums.sum()
	}
	return t, nil
}

// tiles reads the elements of a tensor, a tile at a time: bytes, if set, gets them as they are stored, values the numbers, of complex
// ones two each. The error is that of reading, or of a context that is done.
func tiles(ctx context.Context, s *engine.SideTensor, bytes func([]byte), values func([]float64)) error {
	size, parts := int64(s.Type.Bits()/8), int64(s.Type.Parts())
	raw, v := make([]byte, min(s.Count, tileLen)*size), make([]float64, min(s.Count, tileLen)*parts)
	in := s.Open()
	for at := int64(0); at < s.Count; at += tileLen {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(tileLen, s.Count-at)
		b := raw[:n*size]
		if err := in.ReadTile(b, at, n); err != nil {
			return err
		}
		if bytes != nil {
			bytes(b)
		}
		if s.BigEndian && size > 1 {
			swap(b, int(size/parts))
		}
		dtype.Widen64(s.Type, v[:n*parts], b)
		values(v[:n*parts])
	}
	return nil
}

// look sets, where a recorded norm does not agree, how far a recorder may be off the norm by the order in which it adds up the squares of a tensor: twice what float32 makes of
// them on 1 to 16 lanes. PyTorch has one lane for parts of tensors on a CPU, else as many as a register has numbers, and its norm is that
// of these to the last digit (torch 2.15, AVX-512). The order of elements may be another in memory.
func (t *sums) look(ctx context.Context, s *engine.SideTensor, norm msprobe.Number, l *leaf) error {
	if !recorded(norm) || t.agrees(atNorm, norm, l) || !s.Type.IsFloat() || s.Type.Bits() > 32 || s.Count == 0 {
		return nil
	}
	var lanes [5][16]float32
	if err := tiles(ctx, s, nil, func(v []float64) {
		for i, x := range v { // a tile has a multiple of 16 elements, but for the last
			x := float32(x) * float32(x)
			for k := range lanes {
				lanes[k][i&(1<<k-1)] += x
			}
		}
	}); err != nil {
		return err
	}
	for k := range lanes {
		total := float32(0)
		for _, x := range lanes[k][:1<<k] {
			total += x
		}
		if off := math.Abs(math.Sqrt(float64(total)) - t.norm); !math.IsInf(off, 0) {
			t.order = max(t.order, 2*off)
		}
	}
	return nil
}

// alike tells of a tensor that all its elements are the same number, so that its extremes say all.
func (t *sums) alike() bool {
	v, ok := t.stats[atMax].Value()
	w, too := t.stats[atMin].Value()
	return ok && too && v == w
}

// checksum is one of the sort that is wanted: a CRC-32 of eight hexadecimal digits, or
// 0x and sixteen of 64-bit words, the last filled up with zeros, in xor.
type checksum struct {
	wanted msprobe.Number
	crc    uint32
	xor    uint64
	part   [8]byte // of a word
	n      int
}

func (c *checksum) isCRC() bool { return crc(c.wanted) }

func (c *checksum) isXor() bool {
	return c.wanted.Kind == msprobe.Text && len(c.wanted.S) == 18 && c.wanted.S[:2] == "0x"
}

func (c *checksum) add(b []byte) {
	switch {
	case c.isCRC():
		c.crc = crc32.Update(c.crc, crc32.IEEETable, b)
	case c.isXor():
		for len(b) > 0 {
			if c.n == 0 && len(b) >= 8 {
				c.xor ^= binary.LittleEndian.Uint64(b)
				b = b[8:]
				continue
			}
			k := copy(c.part[c.n:], b)
			b = b[k:]
			if c.n += k; c.n == 8 {
				c.xor ^= binary.LittleEndian.Uint64(c.part[:])
				c.n, c.part = 0, [8]byte{}
			}
		}
	}
}

func (c *checksum) sum() msprobe.Number {
	switch {
	case c.isCRC():
		return msprobe.Number{Kind: msprobe.Text, S: fmt.Sprintf("%08x", c.crc)}
	case c.isXor():
		return msprobe.Number{Kind: msprobe.Text, S: fmt.Sprintf("0x%016x", c.xor^binary.LittleEndian.Uint64(c.part[:]))}
	}
	return msprobe.Number{}
}

// swap turns the bytes of numbers round.
func swap(b []byte, size int) {
	for ; len(b) >= size; b = b[size:] {
		slices.Reverse(b[:size])
	}
}

// summary is what was computed as rows have it.
func (t *sums) summary(from *result.Summary) *result.Summary {
	s := *from
	for i, x := range []struct {
		bit  int32
		into *float64
	}{{result.KnownMax, &s.Stats.Max}, {result.KnownMin, &s.Stats.Min}, {result.KnownMean, &s.Stats.Mean}, {result.KnownNorm, &s.Stats.Norm}} {
		if v, ok := t.stats[i].Value(); ok {
			*x.into = v
			s.Known |= x.bit
		}
	}
	if recorded(t.sum) {
		s.Sum = t.sum.String()
	}
	s.Summed, s.Digits, s.Grain = dtype.Float64, 0, 0
	return &s
}

// leastSquare is the smallest normal number of float32: smaller squares lose digits, and are zero on machines that flush them.
const leastSquare = 0x1p-126

// agrees tells whether a statistic that was computed here is one that was recorded:
// extremes are elements, sums are off by what the recorder's rounding makes of them.
func (t *sums) agrees(i int, recorded msprobe.Number, l *leaf) bool {
	v, ok := recorded.Value()
	w, too := t.stats[i].Value()
	if !ok || !too {
		return false
	}
	if v == w || v != v && w != w || v == float64(float32(w)) {
		return true // maybe by way of float32
	}
	room := l.summary.Step(v)
	if l.Elem.IsComplex() { // an absolute value, which is rounded
		room += 4 * l.Elem.Unit() * math.Abs(w)
	}
	if i == atMean || i == atNorm {
		unit := l.Elem.Unit()
		if l.summary.Summed != dtype.Undefined {
			unit = l.summary.Summed.Unit()
		}
		if t.single {
			room += unit * math.Abs(w)
			unit = dtype.Float32.Unit()
		}
		if unit = max(unit, sumUnit); float64(float32(v)) == v {
			unit = max(unit, dtype.Float32.Unit()) // a recorder that sums integers in float32
		}
		scale := t.norm
		if i == atMean {
			scale /= math.Sqrt(float64(t.n))
		}
		if limit := l.Elem.Max(); l.summary.Summed == dtype.Undefined && l.Elem.IsFloat() && math.IsInf(v, 0) && math.Abs(w) > limit*(1-unit) {
			return true // the sum is beyond the type of the tensor
		}
		if i == atNorm && l.summary.Summed == dtype.Undefined && math.IsInf(v, 0) && w*w > max(l.Elem.Max(), dtype.Float32.Max())*(1-unit) {
			return true // its squares are
		}
		if i == atNorm && l.summary.Summed == dtype.Undefined && l.Elem != dtype.Float64 && math.Abs(v*v-w*w) <= float64(t.n)*leastSquare {
			return true // they are below what float32 holds all digits of
		}
		if i == atMean && l.summary.Summed == dtype.Undefined && math.IsInf(v, 0) && (v > 0) == (w > 0) && math.Abs(w)*float64(t.n) > max(l.Elem.Max(), dtype.Float32.Max())*(1-unit) {
			return true // the sum is, before it is divided
		}
		room += (2 + math.Log2(float64(t.n))) * unit * scale
		if i == atMean { // PyTorch adds up parts of tensors in longer rows: 8 units off in 2¹⁸ numbers, 197 in 2¹⁷ that are alike
			room += float64(t.n) / 512 * min(unit, dtype.Float32.Unit()) * scale
		}
		if i == atNorm {
			room += t.order
		}
	}
	return math.Abs(v-w) <= room
}
