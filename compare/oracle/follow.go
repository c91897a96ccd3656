package oracle

import (
	"math"
	"slices"
	"strconv"

	"precision/compare/pattern"
	"precision/compare/result"
	"precision/dump"
	"precision/dump/dtype"
	"precision/dump/layout"
	"precision/graph/fusion"
)

// This file recomputes the golden side: an output that follows from the device's own
// inputs and differs from golden either differs as its inputs do, or the framework
// computed something else, or the golden array is wrong. Golden inputs put into the same
// formula, with the attributes of the graph and the weights of the device where golden has
// none, tell the first from the others; attributes under which golden does follow, and what
// the framework went on with, tell these apart.

const (
	// apartShare is how much of the difference between device and golden has to be left
	// between golden and what follows from golden inputs for inputs not to be what makes it.
	apartShare = 1.0 / 4
	// weightUnits is how far golden may be from what follows with weights of the device, in
	// their unit roundoffs and of its own size, where the framework has them in float32: sums
	// of products come to 0.6.
	weightUnits = 3
	// explainedShare is how little may be left for another attribute to explain golden.
	explainedShare = 1.0 / 16
	// mostMade is how many operators without golden arrays are recomputed on the way to one
	// input.
	mostMade = 4
	// mostReaders is how many operators that read a golden array are asked about it.
	mostReaders = 6
	// mostOthers bounds the golden arrays that one is held against for being another's.
	mostOthers = 2048
)

// goldenSide is the golden side of an operator while it is recomputed.
type goldenSide struct {
	*Golden
	// device counts the inputs of which there is no golden array and which no kernel
	// computes: they are those of the device. Unit is the unit roundoff of the coarsest of
	// them, which the framework may have in a finer type.
	device int
	unit   float64
}

// kept is v as an operand like a recorded one, in memory; nil if it is too large.
func kept(v Values, like *operand, typ dtype.Type) (*operand, error) {
	n := count(v.Shape())
	if n != count(like.shape) || n > maxHeld || !typ.FitsFloat32() && n > maxHeld/2 {
		return nil, refuse(TooLarge, n, maxHeld)
	}
	o := &operand{name: like.name, typ: typ, axes: like.axes, shape: like.shape, packed: true}
	var err error
	if o.view, err = layout.Contiguous(like.shape); err != nil {
		return nil, refuse(BadLayout, like.name, err)
	}
	if typ.FitsFloat32() {
		o.f32 = make([]float32, n)
	} else {
		o.f64 = make([]float64, n)
	}
	size := min(step(v), n)
	y := make([]float64, size)
	b := make([]float64, size)
	for lo := int64(0); lo < n; lo += size {
		part := y[:min(size, n-lo)]
		if err := v.Range(lo, part, b[:len(part)]); err != nil {
			return nil, err
		}
		if o.f64 != nil {
			copy(o.f64[lo:], part)
			continue
		}
		for i, x := range part {
			o.f32[lo+int64(i)] = float32(x)
		}
	}
	return o, nil
}

// tensor is the golden array of an output or input, kept like the device's tensor; nil
// where there is none.
func (g *goldenSide) tensor(op string, input bool, index int, like *operand) *operand {
	v, r := g.array(op, input, index, like)
	if v == nil {
		return nil
	}
	defer r.Close()
	o, err := kept(v, like, r.Outputs[0].Type)
	if err != nil {
		return nil
	}
	return o
}

// inputs puts golden inputs in place of those of a recorded call. Where there is no array
// what a kernel computes is recomputed, and what none computes is the device's.
func (g *goldenSide) inputs(c *Call, made int) (*Call, error) {
	out := &Call{Op: c.Op, Type: c.Type, names: c.names, attrs: c.attrs, slots: slices.Clone(c.slots), outs: slices.Clone(c.outs)}
	k := 0
	for slot, like := range c.slots {
		if like == nil {
			continue
		}
		o := g.tensor(c.Op.Name, true, k, like)
		if o == nil {
			var err error
			if o, err = g.made(c, k, like, made); err != nil {
				return nil, err
			}
		}
		if o == like && (like.typ.IsFloat() || o.view.Len() > maxRank) { // lists of axes are attributes
			g.device++
			g.unit = max(g.unit, precisionFor(o.numeric()).v)
		}
		out.slots[slot] = o
		k++
	}
	for i, like := range c.outs {
		if like == nil {
			continue
		}
		if o := g.tensor(c.Op.Name, false, i, like); o != nil {
			out.outs[i] = o
		} else {
			o := *like
			out.outs[i] = &o
		}
		out.outs[i].address = 0
	}
	return out, nil
}

// made is an input of which there is no golden array: the device's where no kernel computes
// it, else what its operator makes of golden inputs.
func (g *goldenSide) made(c *Call, input int, like *operand, steps int) (*operand, error) {
	rule := g.Rules.Op(c.Op.Name)
	if rule == nil {
		return nil, refuse(NotInGraph)
	}
	producer, index, err := g.Rules.Producer(rule, input)
	if err != nil {
		return nil, refuse(NoInput, itoa(input))
	}
	if skipped[producer.Type] {
		return like, nil
	}
	rec := g.Dumps.Op(producer.Name)
	if rec == nil || steps <= 0 || producer.Op == nil || producer.Filtered {
		return nil, refuse(NoInput, itoa(input))
	}
	r, err := rec.Newest().Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	call, bad, err := newCall(producer.Op, r, Environment{})
	if err != nil {
		return nil, err
	}
	defer call.release()
	if index >= len(call.outs) || bad[index] != nil {
		return nil, refuse(NoOutput)
	}
	golden, err := g.inputs(call, steps-1)
	if err != nil {
		return nil, err
	}
	v, err := golden.reading(call, index)
	if err != nil {
		return nil, err
	}
	if !sameShape(v.Shape(), like.shape) {
		return nil, refuse(ShapesDiffer, shapeText(v.Shape(), like.shape))
	}
	return kept(reshape(v, like.shape), like, wide(like.typ))
}

// wide is the type in which the framework has what the device keeps in a narrow one.
func wide(t dtype.Type) dtype.Type {
	if t.IsFloat() && t.FitsFloat32() {
		return dtype.Float32
	}
	return t
}

// reading is an output of a golden call by the reading that explains the device's best.
func (c *Call) reading(device *Call, index int) (Values, error) {
	readings, err := c.readings()
	if err != nil {
		return nil, err
	}
	at := 0
	if len(readings) > 1 {
		own, err := device.readings()
		if err != nil {
			return nil, err
		}
		judging := checker{call: device, index: index, rec: device.outs[index]}
		best, _, err := judging.best(own)
		if err != nil {
			return nil, err
		}
		at = slices.IndexFunc(readings, func(r Reading) bool { return r.title() == best.title() })
	}
	if at < 0 || readings[at].out(index) == nil || cost(readings[at].out(index))*float64(count(readings[at].out(index).Shape())) > mostScreened {
		return nil, refuse(OutputCount, len(device.outs), len(readings[0].Out))
	}
	return readings[at].out(index), nil
}

// apart is how far two tensors are apart in some places.
type apart struct {
	sum  float64 // of squares, where both are finite
	odd  int     // places where only one is, or infinities of other signs
	used int
}

func (a *apart) add(x, y float64) {
	switch d := x - y; {
	case x == y || x != x && y != y:
		a.used++
	case math.IsNaN(d) || math.IsInf(d, 0):
		a.odd++
	default:
		a.used++
		a.sum += d * d
	}
}

// within tells whether a is no more than a share of b.
func (a apart) within(share float64, b apart) bool {
	return float64(a.odd) <= share*float64(b.odd) && math.Sqrt(a.sum) <= share*math.Sqrt(b.sum)
}

func (a apart) rms() float64 { return math.Sqrt(a.sum / max(float64(a.used), 1)) }

func apartOf(x, y []float64) (a apart) {
	for i := range x {
		a.add(x[i], y[i])
	}
	return a
}

// rms is the root mean square of the finite ones of some numbers.
func rms(x []float64) float64 {
	var a apart
	for _, v := range x {
		a.add(v, 0)
	}
	return a.rms()
}

// following is an output whose golden side is being recomputed.
type following struct {
	*checker
	g          *goldenSide
	call       *Call    // with golden inputs
	want       *operand // the golden array
	idx        []int64
	found, was []float64 // what the device and golden have there
	whole      apart     // device against golden
}

// values are those of v at the places that are looked at.
func (w *following) values(v Values) ([]float64, []float64, error) {
	y, b := make([]float64, len(w.idx)), make([]float64, len(w.idx))
	return y, b, v.At(w.idx, y, b)
}

// follow recomputes the golden side of an output that its own inputs explain. A defect here
// leaves the golden side untold, and what was found of the device's.
func (c *checker) follow(f *Finding, best Reading) {
	defer func() {
		if recover() != nil {
			f.Golden, f.Why = result.GoldenUntried, nil
		}
	}()
	g := &goldenSide{Golden: c.golden}
	name := c.call.Op.Name
	ref, ok := g.ref(name, false, c.index)
	if !ok {
		return
	}
	if from, is := g.ref(name, true, 0); is && from.Op == ref.Op && from.Index == ref.Index {
		f.Golden = result.GoldenFollows // nothing but layout or type changes, which golden does not have
		return
	}
	w := &following{checker: c, g: g}
	if w.want = g.tensor(name, false, c.index, c.rec); w.want == nil {
		return
	}
	var err error
	if w.call, err = g.inputs(c.call, mostMade); err != nil {
		return
	}
	readings, err := w.call.readings()
	if err != nil {
		return
	}
	at := slices.IndexFunc(readings, func(r Reading) bool { return r.title() == best.title() })
	if at < 0 || readings[at].out(c.index) == nil || !sameCount(readings[at].out(c.index).Shape(), c.rec.shape) {
		return
	}
	v := readings[at].out(c.index)
	if w.look(v) != nil {
		return
	}
	y, b, err := w.values(v)
	if err != nil {
		return
	}
	left := apartOf(y, w.was)
	f.Apart = left.rms()
	j := newJudge(w.want.numeric(), isExact(v))
	for i, k := range w.idx {
		j.element(k, w.was[i], y[i], b[i])
	}
	switch {
	case j.judged == 0:
		return
	case j.beyond == 0 && left.odd == 0 || left.within(apartShare, w.whole) || left.odd == 0 && left.rms() <= weightUnits*g.unit*rms(w.was):
		f.Golden = result.GoldenFollows
		return
	}
	f.Golden = result.GoldenDiffers
	explained := w.forms(f, readings, best, left) || w.attributes(f, left) || w.parts(f, v, left) || w.scaled(f, y, left)
	if g.brief {
		return
	}
	other, missing := "", false
	if !explained {
		other, missing = w.belongs(ref)
	}
	if missing {
		f.Golden = result.GoldenWrong // the arrays of two operators were exchanged
	} else if used, reader := w.used(ref, v); used != 0 {
		if used < 0 {
			f.Golden = result.GoldenWrong
		}
		f.Why = append(f.Why, because(map[int]result.Kind{-1: result.GoldenUnused, 1: result.GoldenUsed}[used], reader))
	} else if !explained && g.device == 0 && !w.function(v) {
		f.Golden = result.GoldenWrong // nothing that it depends on is unknown, and no attribute explains it
	}
	if other != "" {
		f.Why = append(f.Why, because(result.GoldenEquals, other))
	}
	if f.Golden == result.GoldenWrong {
		f.Why = append(f.Why, because(result.GoldenPlaces, j.beyond, j.looked))
	}
}

// unread tells of an output that cannot be recomputed whether the framework went on with
// another value than its golden array has: that of the device.
func (c *checker) unread(f *Finding) {
	defer func() { _ = recover() }()
	w := &following{checker: c, g: &goldenSide{Golden: c.golden}}
	ref, ok := w.g.ref(c.call.Op.Name, false, c.index)
	if !ok {
		return
	}
	if w.want = w.g.tensor(c.call.Op.Name, false, c.index, c.rec); w.want == nil {
		return
	}
	if used, reader := w.used(ref, c.rec); used < 0 {
		f.Golden, f.Apart, f.Why = result.GoldenWrong, math.NaN(), []result.Reason{because(result.GoldenUnused, reader)}
	}
}

// look chooses the places that are looked at: a sample, and where device and golden are
// furthest apart.
func (w *following) look(v Values) error {
	n := w.rec.view.Len()
	w.idx = w.places(v)
	if int64(len(w.idx)) < n {
		var far extreme
		size := min(n, slab)
		x, y := make([]float64, size), make([]float64, size)
		for lo := int64(0); lo < n; lo += size {
			k := min(size, n-lo)
			if err := w.rec.Range(lo, x[:k], nil); err != nil {
				return err
			}
			if err := w.want.Range(lo, y[:k], nil); err != nil {
				return err
			}
			for i := range k {
				x[i] -= y[i]
			}
			far.add(lo, x[:k])
		}
		w.idx = sortedUnique(append(w.idx, far.places()...))
	}
	w.found, w.was = make([]float64, len(w.idx)), make([]float64, len(w.idx))
	if err := w.rec.At(w.idx, w.found, nil); err != nil {
		return err
	}
	if err := w.want.At(w.idx, w.was, nil); err != nil {
		return err
	}
	w.whole = apartOf(w.found, w.was)
	return nil
}

// forms looks for another reading of the operator that golden follows from.
func (w *following) forms(f *Finding, readings []Reading, best Reading, left apart) bool {
	for _, r := range readings {
		v := r.out(w.index)
		if r.title() == best.title() || v == nil || !sameCount(v.Shape(), w.rec.shape) {
			continue
		}
		if w.explains(v, left) {
			f.Why = append(f.Why, because(result.GoldenForm, best.title(), r.title()))
			return true
		}
	}
	return false
}

// explains tells whether golden follows from v, which is not what the graph says.
func (w *following) explains(v Values, left apart) bool {
	if v == nil || !sameCount(v.Shape(), w.rec.shape) {
		return false
	}
	y, _, err := w.values(v)
	return err == nil && apartOf(y, w.was).within(explainedShare, left)
}

// parts looks whether golden follows without a part of the operator.
func (w *following) parts(f *Finding, v Values, left apart) bool {
	for _, a := range alternatives(v) {
		kind, ok := partKinds[a.kind]
		if ok && w.explains(a.v, left) {
			f.Why = append(f.Why, because(kind))
			return true
		}
	}
	return false
}

// scaled looks whether golden is a multiple of what it should be.
func (w *following) scaled(f *Finding, y []float64, left apart) bool {
	cross, size := 0.0, 0.0
	for i := range y {
		if p := y[i] * w.was[i]; !math.IsNaN(p) && !math.IsInf(p, 0) {
			cross, size = cross+p, size+y[i]*y[i]
		}
	}
	factor := cross / size
	if size == 0 || factor == 0 {
		return false
	}
	scaled := make([]float64, len(y))
	for i := range y {
		scaled[i] = y[i] * factor
	}
	if !apartOf(scaled, w.was).within(explainedShare, left) {
		return false
	}
	f.Why = append(f.Why, because(result.GoldenScaled, strconv.FormatFloat(factor, 'g', 5, 64)))
	return true
}

// function tells whether golden is another function of the operator's one input, element by
// element: of neighbours by the input's size golden values are neighbours, too.
func (w *following) function(v Values) bool {
	in := w.call.operands()
	if _, ok := v.(*pointwise); !ok || len(in) != 1 || !slices.Equal(in[0].shape, w.rec.shape) || len(w.idx) < 16 {
		return false
	}
	x := make([]float64, len(w.idx))
	if in[0].At(w.idx, x, nil) != nil {
		return false
	}
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case x[a] < x[b]:
			return -1
		case x[a] > x[b]:
			return 1
		}
		return 0
	})
	// Von Neumann's ratio: 2 for values in any order, near 0 for those of a function.
	steps, mean, spread := 0.0, 0.0, 0.0
	for _, y := range w.was {
		mean += y / float64(len(w.was))
	}
	for i, k := range order {
		spread += square(w.was[k] - mean)
		if i > 0 {
			steps += square(w.was[k] - w.was[order[i-1]])
		}
	}
	return steps < 0.05*spread
}

// used asks the operators that read a golden array whether their golden outputs follow from
// it (1), or from what it should be, v (-1); 0 where none tells.
func (w *following) used(ref fusion.GoldenRef, v Values) (verdict int, reader string) {
	n := count(v.Shape())
	if n > maxDense || cost(v)*float64(n) > mostScreened {
		return 0, ""
	}
	should, err := kept(v, w.rec, wide(w.want.typ))
	if err != nil {
		return 0, ""
	}
	asked := 0
	for _, r := range w.g.readersOf(ref) {
		if r.op.Name == w.checker.call.Op.Name {
			continue
		}
		if asked++; asked > mostReaders {
			break
		}
		switch says := w.ask(r, should); {
		case says > 0:
			return 1, r.op.Name
		case says < 0 && verdict == 0:
			verdict, reader = -1, r.op.Name
		}
	}
	return verdict, reader
}

// ask asks one operator.
func (w *following) ask(r reader, should *operand) int {
	rec := w.g.Dumps.Op(r.op.Name)
	if rec == nil || r.op.Op == nil || r.op.Filtered {
		return 0
	}
	file, err := rec.Newest().Open()
	if err != nil {
		return 0
	}
	defer file.Close()
	device, _, err := newCall(r.op.Op, file, Environment{})
	if err != nil {
		return 0
	}
	defer device.release()
	call, err := w.g.inputs(device, mostMade)
	if err != nil {
		return 0
	}
	slot := connectedSlot(device, r.input)
	if slot < 0 || !sameShape(device.slots[slot].shape, should.shape) {
		return 0
	}
	other := *call
	other.slots = slices.Clone(call.slots)
	if other.slots[slot], err = kept(should, device.slots[slot], should.typ); err != nil {
		return 0
	}
	for i, out := range device.outs {
		if out == nil || w.g.tensorless(r.op.Name, i) {
			continue
		}
		with, err := call.reading(device, i)
		if err != nil {
			continue
		}
		without, err := other.reading(device, i)
		if err != nil {
			continue
		}
		judging := following{checker: &checker{call: device, index: i, rec: out}, g: w.g, want: call.outs[i]}
		if judging.look(with) != nil {
			continue
		}
		x, _, err := judging.values(with)
		if err != nil {
			continue
		}
		y, _, err := judging.values(without)
		if err != nil {
			continue
		}
		between, fromIt, fromOther := apartOf(x, y), apartOf(x, judging.was), apartOf(y, judging.was)
		switch {
		case between.sum == 0 && between.odd == 0:
		case fromIt.within(apartShare, between):
			return 1
		case fromOther.within(apartShare, between):
			return -1
		}
	}
	return 0
}

// tensorless tells that there is no golden array of an output.
func (g *Golden) tensorless(op string, index int) bool {
	ref, ok := g.ref(op, false, index)
	return !ok || g.Folder.Output(ref.Op, int(ref.Index)) == nil
}

// connectedSlot is the slot of the k-th connected input, -1 if there are fewer.
func connectedSlot(c *Call, k int) int {
	for slot, o := range c.slots {
		if o == nil {
			continue
		}
		if k == 0 {
			return slot
		}
		k--
	}
	return -1
}

// belongs looks for another operator whose output golden is, but for rounding; missing tells
// that the golden array of that one is another.
func (w *following) belongs(own fusion.GoldenRef) (op string, missing bool) {
	opened := 0
	for _, other := range w.g.Rules.Ops {
		ref, ok := w.g.ref(other.Name, false, 0)
		if !ok || ref.Op == own.Op && ref.Index == own.Index || other.Type == "Cast" || other.Type == "TransData" || skipped[other.Type] {
			continue
		}
		rec := w.g.Dumps.Op(other.Name)
		if rec == nil {
			continue
		}
		if opened++; opened > mostOthers {
			break
		}
		if is, gone := w.isOf(rec, other); is && (op == "" || gone) {
			if op, missing = other.Name, gone; gone {
				break
			}
		}
	}
	return op, missing
}

// isOf tells whether golden is the first output of an operator, but for rounding, and whether
// that one's own golden array is another.
func (w *following) isOf(rec *dump.Op, op *fusion.Op) (is, missing bool) {
	r, err := rec.Newest().Open()
	if err != nil {
		return false, false
	}
	defer r.Close()
	if len(r.Outputs) == 0 || op.Op == nil {
		return false, false
	}
	o, err := openOperand(r, &r.Outputs[0], descAt(op.Op.OutputDesc, 0))
	if err != nil || !sameShape(o.shape, w.rec.shape) {
		return false, false
	}
	// rounded tells whether numbers are others but for rounding, and are not all the same.
	rounded := func(x, y []float64) bool {
		size := apartOf(y, make([]float64, len(y)))
		off := apartOf(x, y)
		same := slices.ContainsFunc(y, func(v float64) bool { return v != y[0] })
		return same && off.odd == 0 && math.Sqrt(off.sum) <= 8*precisionFor(o.numeric()).v*math.Sqrt(size.sum)
	}
	for _, idx := range [][]int64{w.idx[:min(len(w.idx), 64)], w.idx} {
		y := make([]float64, len(idx))
		if o.At(idx, y, nil) != nil || !rounded(w.was[:len(idx)], y) {
			return false, false
		}
		if len(idx) < len(w.idx) {
			continue
		}
		own, file := w.g.array(op.Name, false, 0, o)
		if own == nil {
			return true, false
		}
		defer file.Close()
		z := make([]float64, len(idx))
		return true, own.At(idx, z, nil) == nil && !rounded(z, y)
	}
	return false, false
}

// partKinds are what may be left out of an operator.
var partKinds = map[pattern.Kind]result.Kind{pattern.MissingBias: result.GoldenWithout, pattern.MissingOperand: result.GoldenAlone}
