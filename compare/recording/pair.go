package recording

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"precision/compare/engine"
	"precision/compare/result"
	"precision/dump"
	"precision/dump/msprobe"
	"precision/internal/nd"
	"precision/internal/plainfile"
	catalogue "precision/op"
)

// leafPair are the values of two calls at one place, nil on the side that has none.
type leafPair struct {
	left, right *leaf
	// presumed is the side whose call does not give the value, which is its default there; else empty.
	presumed result.Kind
	// alike tells of the same axis that one side counts from the other end.
	alike bool
	// turned tells of an operand that two functions may take with their axes in another order, as the weight of a linear layer and the second
	// factor of a product: what statistics say of it is the same, and elements are not compared.
	turned bool
}

// pairsOf brings the values of two calls together by place, in the order of
// the left one.
func pairsOf(a, b *call) []leafPair {
	list := make([]leafPair, 0, max(len(a.leaves), len(b.leaves)))
	for i := range a.leaves {
		list = append(list, leafPair{left: &a.leaves[i]})
	}
	var at map[string]int // made where a place is not that of the same number, as it nearly always is
	for i := range b.leaves {
		l := &b.leaves[i]
		k, ok := i, i < len(a.leaves) && a.leaves[i].place == l.place
		if !ok && at == nil {
			at = make(map[string]int, len(a.leaves))
			for k := range a.leaves {
				at[a.leaves[k].place] = k
			}
		}
		if !ok {
			k, ok = at[l.place]
		}
		if ok {
			switch mine := list[k].left; {
			case mine.nothing() == l.nothing():
				list[k].right = l
			case mine.nothing():
				list[k] = leafPair{right: l}
			}
			continue
		}
		list = append(list, leafPair{right: l})
	}
	if a.Parsed.API == b.Parsed.API && a.Parsed.Form == msprobe.API && a.Parsed.Prefix == b.Parsed.Prefix {
		for i := range list {
			list[i].presume(a)
			list[i].axis(a)
		}
	} else if otherFunctions(a, b) {
		for i := range list {
			list[i].turn()
		}
	}
	return list
}

// otherFunctions tells of a pair of calls that the sides call other functions, and that no table says which of their values belong together.
func otherFunctions(a, b *call) bool {
	return a.Parsed.API != b.Parsed.API && a.Parsed.Form == msprobe.API && b.Parsed.Form == msprobe.API && a.how != byMap && a.parts == nil && b.parts == nil
}

// turn finds an operand, or the gradient of one, whose axes may lie in another order on the two sides: their sizes are the same, and so are its
// extremes.
func (x *leafPair) turn() {
	if x.left == nil || x.right == nil || !x.left.tensor() || !x.right.tensor() || !strings.HasPrefix(x.left.place, "input.") || !alikeAtEnds(x.left, x.right) {
		return
	}
	axes := func(l *leaf) []int64 { return slices.Sorted(slices.Values(nd.WithoutOnes(l.Shape))) }
	a := axes(x.left)
	x.turned = len(a) > 1 && slices.Equal(a, axes(x.right))
}

// alikeAtEnds tells of two tensors that they have the same largest and the same smallest number.
func alikeAtEnds(a, b *leaf) bool {
	same := func(i int) bool { return recorded(a.stat(i)) && a.stat(i).Same(b.stat(i)) }
	return same(atMax) && same(atMin)
}

// operands puts the tensors that a call of the right side takes where its partner does, where they are those of another function: each beside
// the same tensor of the other side, those that are left in their order.
func operands(left *side) {
	taken := func(c *call) (list []int) {
		for i := range c.leaves {
			if l := &c.leaves[i]; l.tensor() && strings.HasPrefix(l.place, "input.") {
				list = append(list, i)
			}
		}
		return list
	}
	for _, c := range left.calls {
		o := c.pair
		if o == nil || !otherFunctions(c, o) || c.Parsed.Direction != msprobe.Forward {
			continue
		}
		mine, theirs := taken(c), taken(o)
		if len(mine) != len(theirs) {
			continue
		}
		for _, same := range []bool{true, false} {
			for _, k := range slices.Clone(theirs) {
				n := slices.IndexFunc(mine, func(i int) bool { return !same || c.leaves[i].sameness() == o.leaves[k].sameness() })
				if n < 0 {
					continue
				}
				if to := c.leaves[mine[n]].place; to != o.leaves[k].place {
					o.place(k, to)
				}
				mine, theirs = slices.Delete(mine, n, n+1), slices.DeleteFunc(theirs, func(i int) bool { return i == k })
			}
		}
	}
}

// presume gives a number that one side alone writes to the other as what its function takes then, where the catalogue knows that.
func (x *leafPair) presume(c *call) {
	given, missing, side := x.left, &x.right, result.RightDefault
	if given == nil || given.Kind == msprobe.None {
		given, missing, side = x.right, &x.left, result.LeftDefault
	}
	absent := *missing == nil || (*missing).Kind == msprobe.None
	if !absent || given == nil || given.Kind != msprobe.Scalar || given.arg == nil || given.arg.Value.Kind != msprobe.Float && given.arg.Value.Kind != msprobe.Int {
		return
	}
	first := slices.IndexFunc(c.leaves, func(l leaf) bool { return l.tensor() })
	if first < 0 || c.leaves[first].Type == mindsporeTensor { // whose functions have other defaults
		return
	}
	row, last := catalogue.Of(c.Parsed.API), int64(0)
	if shape := c.leaves[first].Shape; len(shape) > 0 {
		last = shape[len(shape)-1]
	}
	v, ok := row.Default(row.Parameter(c.Parsed.Prefix, given.place), last)
	if !ok {
		return
	}
	l := *given
	arg := *given.arg
	arg.Value = msprobe.Number{Kind: msprobe.Float, F: v}
	if given.arg.Value.Kind == msprobe.Int && v == math.Trunc(v) {
		arg.Value = msprobe.Number{Kind: msprobe.Int, I: int64(v), F: v}
	}
	arg.summary = result.Summary{Class: given.summary.Class, Value: arg.Value.String()}
	l.arg, l.summary, l.from, l.before = &arg, &arg.summary, place{}, place{}
	*missing, x.presumed = &l, side
}

// axis finds an axis that the sides count from different ends. What adds one, as unsqueeze does, counts those of its result.
func (x *leafPair) axis(c *call) {
	if x.left == nil || x.right == nil || x.left.arg == nil || x.right.arg == nil {
		return
	}
	a, b := x.left.arg.Value, x.right.arg.Value
	if a.Kind != msprobe.Int || b.Kind != msprobe.Int || (a.I < 0) == (b.I < 0) || !slices.Contains(axes, catalogue.Of(c.Parsed.API).Parameter(c.Parsed.Prefix, x.left.place)) {
		return
	}
	rank := 0
	for i := range c.leaves {
		if l := &c.leaves[i]; l.tensor() {
			rank = max(rank, len(l.Shape))
		}
	}
	x.alike = max(a.I, b.I)-min(a.I, b.I) == int64(rank)
}

// axes are the names of parameters of PyTorch's functions that are the number of an axis.
var axes = []string{"dim", "axis", "dims", "dim0", "dim1", "axis0", "axis1", "start_dim", "end_dim", "source", "destination"}

// regroup gives a tensor of a kernel the shape of its partner where that has the same elements in fewer or more axes: kernels
// take memory as it lies, and one side may not write what only changes a shape.
func (x *leafPair) regroup(u *unit) {
	if !sameCount(x.left, x.right) || !u.left.kernel() || !u.right.kernel() || sameShape(x.left.Shape, x.right.Shape) || !regrouped(x.left.Shape, x.right.Shape) {
		return
	}
	x.shapeAsRight()
}

// shapeAsRight gives the left tensor the shape of the right one.
func (x *leafPair) shapeAsRight() {
	l, f := *x.left, *x.left.form
	if f.filed == nil {
		f.filed = f.Shape
	}
	f.Shape = x.right.Shape
	l.form, x.left = &f, &l
}

// sameArgument tells arguments that are the same: a row for each would be most of the table.
func (x *leafPair) sameArgument() bool {
	return x.left != nil && x.right != nil && !x.left.tensor() && !x.right.tensor() && (x.alike || sameValue(x.left, x.right))
}

// compare gives the rows of a pair of calls, or of one without a partner: every
// tensor, and every argument that differs.
func (p *part) compare(ctx context.Context, u *unit, n int, w *engine.Worker) (found engine.Found) {
	base := result.Row{Index: n, Facts: result.Facts{Order: n}}
	switch {
	case u.right == nil:
		base.Op, base.Type, base.Role, base.Slot = u.left.op, typeOf(u.left), result.Whole, -1
		base.Left.Names, base.Right.Names = u.left.Name, "*"
		base.Add(result.Because(result.NoRightCall, u.left.Name))
		found.Rows = append([]result.Row{base}, p.left.made(u.left, base, true)...)
		return found
	case u.left == nil:
		base.Op, base.Type, base.Role, base.Slot = u.right.op, typeOf(u.right), result.Whole, -1
		base.Left.Names, base.Right.Names = "*", u.right.Name
		base.Add(result.Because(result.NoLeftCall, u.right.Name))
		found.Rows = append([]result.Row{base}, p.right.made(u.right, base, false)...)
		return found
	}
	base.Op, base.Type = u.left.op, typeOf(u.left)
	base.Left.Names, base.Right.Names = u.left.Name, u.right.Name
	how := result.ByName
	if u.left.how != byName {
		how = result.Aligned
	}
	if u.left.how == byMap {
		how = result.Mapped
	}
	lines := p.left.stack.User(u.left.Name)
	pairs := pairsOf(u.left, u.right)
	found.Rows = make([]result.Row, 0, len(pairs))
	for _, x := range pairs {
		if x.sameArgument() {
			continue
		}
		found.Rows = append(found.Rows, base)
		row := &found.Rows[len(found.Rows)-1]
		row.Recorded = &result.Recorded{How: how, Left: &noSummary, Right: &noSummary}
		if len(found.Rows) == 1 {
			row.Recorded.Source, _, _ = strings.Cut(lines, "\n")
			row.Recorded.Stack = lines
			if u.left.original != nil {
				row.Add(result.Because(result.CallRepeated, u.left.original.op))
			}
			if how != result.ByName {
				row.Add(result.Because(result.CallAligned, u.left.Name, u.right.Name))
			}
		}
		if err := p.row(ctx, row, x, u, w); err != nil {
			found.Rows, found.Err = found.Rows[:len(found.Rows)-1], err
			return found
		}
	}
	return found
}

// noSummary is what a side says that has no value there.
var noSummary result.Summary

// row compares a pair of values.
func (p *part) row(ctx context.Context, row *result.Row, x leafPair, u *unit, w *engine.Worker) error {
	r := row.Recorded
	some := x.left
	if some == nil {
		some = x.right
	}
	row.Role, row.Slot = some.role, int(some.slot)
	r.Place, r.Parameter = some.place, p.own[x.left]
	if x.left != nil {
		r.Left, row.Left.DType, row.Left.Shape = x.left.summary, x.left.operand().DType, x.left.operand().Shape
		row.Facts.Producer, r.Before = p.left.port(x.left.from), p.left.port(x.left.before)
	}
	if x.right != nil {
		r.Right, row.Right.DType, row.Right.Shape = x.right.summary, x.right.operand().DType, x.right.operand().Shape
		r.Golden = p.right.port(x.right.from)
	}
	for _, list := range [][]*call{p.left.through[x.left], p.right.through[x.right]} {
		for _, c := range list {
			r.Through += c.op + "\n"
		}
	}
	switch {
	case x.left != nil && x.left.summand:
		row.Add(result.Because(result.PartOfSum, r.Place))
		return nil
	case x.unfilled():
		row.Add(result.Because(result.Unfilled, r.Place))
		return nil
	case u.otherGradient && some.tensor(), u.otherStep && x.lastStep(u), u.otherOrder && some.role == result.Output:
		row.Add(result.Because(result.OtherGradient, r.Place))
		return nil
	case x.right == nil:
		r.Argument = !x.left.tensor() // it may be what the other side has by default
		row.Add(result.Because(result.NoRightValue, r.Place))
		return nil
	case x.left == nil:
		r.Argument = !x.right.tensor()
		row.Add(result.Because(result.NoLeftValue, r.Place))
		return nil
	case !x.left.tensor() && !x.right.tensor():
		r.Argument, r.Both = true, 1
		if x.presumed != "" {
			row.Add(result.Because(x.presumed, r.Place))
		}
		if sameValue(x.left, x.right) {
			r.Same = 1
		}
		return nil
	case withheld(x.left, x.right):
		row.Add(result.Because(result.ValueWithheld, r.Place, r.Left.Class, r.Right.Class))
		return nil
	case x.left.tensor() != x.right.tensor():
		row.Add(result.Because(result.SortsDiffer, r.Place, r.Left.Class, r.Right.Class))
		return nil
	}
	row.Facts.Scalar = nd.Single(x.left.Shape)
	p.sameIntegers(row)
	if flags(x.left, x.right) || flags(x.right, x.left) {
		row.Shape = row.Left.Shape
		row.Add(result.Because(result.MasksAlike, r.Place))
		return nil
	}
	for i, l := range []*leaf{x.left, x.right} {
		if e := l.damage([]*leaf{x.right, x.left}[i]); e != nil {
			row.Unreadable(result.Because(result.NoNumber, e.Error()), e.File, e)
			if l.Shape == nil { // which is what could not be read
				return nil
			}
		}
	}
	if x.left.DType != "" && x.right.DType != "" && !sameType(x.left, x.right) {
		row.Add(result.Because(result.DTypesDiffer, x.left.DType, x.right.DType))
	}
	late := p.late[x.left]
	if x.regroup(u); x.turned {
		x.shapeAsRight()
	}
	a, b := x.left.sums(), x.right.sums()
	if p.migrated || p.sums > 0 {
		a.summedElsewhere(x.left)
		b.summedElsewhere(x.right)
		a.single, b.single = p.sums > 0, p.sums > 0
	}
	if u.boundary && x.left.role == result.Output || x.left.role == result.Input && p.boundaries[0][x.left.from] && p.boundaries[1][x.right.from] {
		row.Add(result.Because(result.ModuleEnds, r.Place))
		return nil
	}
	if spread(u.left, x.left, x.right) {
		row.Add(result.Because(result.ValueWithheld, r.Place, result.ShapeText(x.left.Shape), result.ShapeText(x.right.Shape)))
		return nil
	}
	if !sameShape(x.left.Shape, x.right.Shape) {
		count(r, x, &a, &b)
		row.Add(result.Because(result.ShapesDiffer, row.Op, result.ShapeText(x.left.Shape), result.ShapeText(x.right.Shape)))
		return nil
	}
	row.Shape = row.Left.Shape
	if x.left.DataName == "" != (x.right.DataName == "") {
		for _, of := range []struct {
			side *side
			l    *leaf
		}{{p.left, x.left}, {p.right, x.right}} {
			if of.side.filed && of.l.DataName == "" {
				row.Add(result.Because(result.NoFile, r.Place))
			}
		}
		if err := p.measure(ctx, row, x, &a, &b); err != nil {
			return err
		}
	}
	if (x.left.DataName == "" || x.right.DataName == "") && p.undecided(x, u) {
		row.Add(result.Because(result.ScalesUnknown, r.Place))
		return nil
	}
	r.NormRoom = max(a.order, b.order)
	if !a.computed && !b.computed {
		r.NormRoom = a.reordered(&b, x.right)
	}
	count(r, x, &a, &b)
	if late {
		r.Hashed = false
		row.Add(result.Because(result.ChecksumLate, r.Place))
	}
	if (x.turned || len(u.left.parts)+len(u.right.parts) > 0) && r.Hashed && !r.HashSame {
		r.Hashed = false // what is fused may get its tensors in another order of axes
	}
	if r.Same == r.Both && r.Left.Half() && r.Right.Half() {
		r.Same, r.Both = 0, 0 // what is left of two recordings agrees, which is nothing
	}
	if r.Both == 0 && !r.Hashed && (x.left.DataName == "" || x.right.DataName == "") {
		leftNaN, leftInf := r.Left.NotFinite()
		rightNaN, rightInf := r.Right.NotFinite()
		if (leftNaN || leftInf) && (rightNaN || rightInf) {
			row.Add(result.Because(result.BothNonFinite))
		} else {
			row.Add(result.Because(result.NoStatistics, r.Place))
		}
	}
	if x.turned {
		return nil
	}
	return p.elements(ctx, row, x, u, w)
}

// sameIntegers takes integers of two frameworks for those of the golden one: MindSpore counts in 32 bits where
// PyTorch does in 64.
func (p *part) sameIntegers(row *result.Row) {
	if p.migrated && row.Left.DType.IsInteger() && row.Right.DType.IsInteger() {
		row.Left.DType = row.Right.DType
	}
}

// glance hands on the elements of the values of two calls that are wanted. There are no rows.
func (p *part) glance(ctx context.Context, u *unit, w *engine.Worker) (found engine.Found) {
	if u.left == nil || u.right == nil || !w.Wants(u.left.op) {
		return found
	}
	for _, x := range pairsOf(u.left, u.right) {
		if x.left != nil && x.right != nil {
			x.regroup(u)
		}
		if x.left == nil || x.right == nil || x.left.DataName == "" || x.right.DataName == "" || !x.left.Known || !x.right.Known || !sameShape(x.left.Shape, x.right.Shape) {
			continue
		}
		row := result.Row{Op: u.left.op, Type: typeOf(u.left), Role: x.left.role, Slot: int(x.left.slot)}
		if !w.WantsRow(&row) {
			continue
		}
		a, err := p.left.open(x.left)
		if err != nil {
			continue // the comparison has told it
		}
		if b, err := p.right.open(x.right); err == nil {
			of, with := &a.Tensor, &b.Tensor
			left, right, _, ok, done := p.scaled(ctx, x, u)
			if ok {
				of, with = left, right
			}
			_ = w.Compare(ctx, &row, of, with, a.File, b.File) // what cannot be compared is no find
			done()
			b.Close()
		}
		a.Close()
		if found.Err = ctx.Err(); found.Err != nil {
			return found
		}
	}
	return found
}

// measure computes what the side without elements has of the other side's. The error
// is that of a context that is done.
func (p *part) measure(ctx context.Context, row *result.Row, x leafPair, a, b *sums) error {
	side, l, own, other, into := p.left, x.left, a, b, &row.Recorded.Left
	if l.DataName == "" {
		side, l, own, other, into = p.right, x.right, b, a, &row.Recorded.Right
	}
	if !l.Known || !own.wants(other) {
		return nil
	}
	t, err := side.open(l)
	if err != nil {
		unread(row, l.DataName, err)
		return nil
	}
	defer t.Close()
	found, err := measure(ctx, t, l, other)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		unread(row, t.File, plainfile.At(t.File, err))
		return nil
	}
	if err := found.look(ctx, t, other.stats[atNorm], l); ctx.Err() != nil {
		return err
	}
	*own, *into = found, found.summary(*into)
	return nil
}

// elements compares the files of a pair, if both sides have them.
func (p *part) elements(ctx context.Context, row *result.Row, x leafPair, u *unit, w *engine.Worker) error {
	if x.left.DataName == "" || x.right.DataName == "" {
		return nil
	}
	if !x.left.Known || !x.right.Known {
		p.noNumbers(row, x)
		return nil
	}
	a, err := p.left.open(x.left)
	if err == nil {
		defer a.Close()
		var b *engine.SideTensor
		if b, err = p.right.open(x.right); err == nil {
			defer b.Close()
			row.Left.File, row.Right.File = a.File, b.File
			of, with := &a.Tensor, &b.Tensor
			left, right, numbers, ok, done := p.scaled(ctx, x, u)
			defer done()
			if ok {
				of, with = left, right
				row.Add(result.Because(result.TimesScales, row.Recorded.Place))
			}
			if err := w.Compare(ctx, row, of, with, a.File, b.File); err != nil {
				return err
			}
			row.Left.Shape, row.Right.Shape = a.Shape, b.Shape
			// A file may hold a tensor widened: it is judged by what it was.
			row.Left.DType, row.Right.DType = x.left.Elem, x.right.Elem
			if ok {
				row.Left.DType, row.Right.DType = numbers[0], numbers[1]
			}
			p.sameIntegers(row)
			if !ok && p.stale(row, x) {
				return nil
			}
			return contradicted(ctx, row, x, a, b)
		}
	}
	file := x.left.DataName
	if a != nil {
		file = x.right.DataName
	}
	unread(row, file, err)
	return nil
}

// noNumbers tells of arrays of text, of which no element is compared, whether they can be read.
func (p *part) noNumbers(row *result.Row, x leafPair) {
	for _, s := range []struct {
		of *side
		l  *leaf
	}{{p.left, x.left}, {p.right, x.right}} {
		if s.l.Known || filepath.Ext(s.l.DataName) != ".npy" {
			continue
		}
		t, err := s.of.open(s.l)
		if err == nil {
			t.Close()
		} else if dump.Code(err) != dump.CodeType {
			unread(row, s.l.DataName, err)
		}
	}
}

// unread notes that the elements of a row cannot be read: its statistics, where there are some,
// can show that it is wrong and not that it is good. A recording without its folder of elements
// is one of statistics.
func unread(row *result.Row, file string, err error) {
	reason := result.Because(result.NoElements, err.Error())
	if errors.Is(err, msprobe.ErrNoTensors) {
		row.Add(reason)
		return
	}
	row.Unreadable(reason, file, err)
}

// contradicts notes that the file of a row is not the one that was recorded.
func contradicts(row *result.Row, file string, kind result.Kind, args ...string) {
	row.Unreadable(result.Because(kind, append([]string{filepath.Base(file)}, args...)...), file, nil)
}

// stale tells of files whose extremes are not those that were recorded, and whether
// there was one.
func (p *part) stale(row *result.Row, x leafPair) (found bool) {
	f := &row.Result().Facts
	if !row.Compared || !f.Known || f.Finite != f.N || f.N == 0 {
		return false
	}
	for _, s := range []struct {
		l      *leaf
		lo, hi float64
		file   string
	}{{x.left, f.X.Lo, f.X.Hi, row.Left.File}, {x.right, f.Y.Lo, f.Y.Hi, row.Right.File}} {
		hi, ok := s.l.stat(atMax).Value()
		lo, too := s.l.stat(atMin).Value()
		if ok && too && !s.l.Elem.IsComplex() && (s.l.off(hi, s.hi) || s.l.off(lo, s.lo)) {
			contradicts(row, s.file, result.StaleFile, number(s.lo), number(s.hi), number(lo), number(hi))
			found = true
		}
	}
	return found
}

// off tells whether an element is not what was recorded of it, with as many digits as tell
// the elements of its type apart, or by way of float32, as MindSpore does with every type.
func (l *leaf) off(recorded, found float64) bool {
	return recorded != found && recorded != float64(float32(found)) && !(math.Abs(recorded-found) <= max(l.summary.Step(recorded), l.Elem.Unit()*math.Abs(found)))
}

// within tells whether two statistics, one of them with a point, are the same number or differ by no more than the last digit that
// was written of either: MindSpore's recorder writes 7.0 of integers.
func within(m, n msprobe.Number, x leafPair) bool {
	if m.Kind != msprobe.Float && n.Kind != msprobe.Float || m.Kind == msprobe.Text || n.Kind == msprobe.Text || m.Kind == msprobe.Bool || n.Kind == msprobe.Bool {
		return false
	}
	v, ok := m.Value()
	w, too := n.Value()
	step := max(x.left.summary.Step(v), x.right.summary.Step(w))
	return ok && too && (step > 0 || math.Abs(v) < 1<<53) && math.Abs(v-w) <= step
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// count counts what both sides say of a tensor, and what of it is the same. What is not
// finite on both sides says nothing, nor does a sum beyond the range of its type.
func count(r *result.Recorded, x leafPair, a, b *sums) {
	alike := a.alike() && b.alike() // which says what the others are
	for i := range atSum {
		m, n := a.stats[i], b.stats[i]
		if alike && i >= atMean && x.left.sort() == 'f' {
			continue
		}
		v, ok := m.Value()
		w, too := n.Value()
		if !ok || !too || v-v != 0 && (v == w || v != v && w != w) || i >= atMean && (a.beyond(i, x.left) || b.beyond(i, x.right)) {
			continue
		}
		r.Both++
		switch {
		case a.computed && a.agrees(i, n, x.right), b.computed && b.agrees(i, m, x.left), m.Same(n) || within(m, n, x):
			r.Same++
		}
	}
	if a.extremes() != b.extremes() && r.Same == r.Both {
		r.Same, r.Both = 0, 0 // what is left of a side that lost the others may well be the same
	}
	if !recorded(a.sum) || !recorded(b.sum) || !sameType(x.left, x.right) {
		return
	}
	same := a.sum.Kind == b.sum.Kind && a.sum.S == b.sum.S
	if crc(a.sum) && crc(b.sum) {
		r.Hashed, r.HashSame = true, same
		return
	}
	if strings.HasPrefix(a.sum.S, "0x") == strings.HasPrefix(b.sum.S, "0x") {
		r.Both++
		if same {
			r.Same++
		}
	}
}

// extremes tells whether the largest and the smallest element are known.
func (t *sums) extremes() bool {
	_, hi := t.stats[atMax].Value()
	_, lo := t.stats[atMin].Value()
	return hi && lo
}

// leastRange is the largest number of float16, the narrowest type that recorders sum in.
const leastRange = 65504

// beyond tells that a sum is not finite though the elements are, and that so many elements of their size
// may sum to what is beyond its type.
func (t *sums) beyond(i int, l *leaf) bool {
	v, ok := t.stats[i].Value()
	hi, known := t.stats[atMax].Value()
	lo, too := t.stats[atMin].Value()
	if !ok || !known || !too || v-v == 0 || hi-hi != 0 || lo-lo != 0 {
		return false
	}
	n, counted := l.Elements()
	most := max(math.Abs(hi), math.Abs(lo))
	if i == atNorm {
		most = max(most, most*most)
	}
	return v == v && (!counted || most*float64(n) >= leastRange)
}

// sameType tells whether two tensors have elements of one type, by whatever name.
func sameType(a, b *leaf) bool {
	if a.Known && b.Known {
		return a.Elem == b.Elem
	}
	return a.DType == b.DType
}

func recorded(n msprobe.Number) bool { return n.Kind != msprobe.Absent && n.Kind != msprobe.Null }

// sameShape tells whether shapes agree but for axes of one element.
func sameShape(a, b []int64) bool {
	i, j := 0, 0
	for {
		for i < len(a) && a[i] == 1 {
			i++
		}
		for j < len(b) && b[j] == 1 {
			j++
		}
		if i == len(a) || j == len(b) {
			return i == len(a) && j == len(b)
		}
		if a[i] != b[j] {
			return false
		}
		i, j = i+1, j+1
	}
}
