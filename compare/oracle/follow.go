package oracle

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"precision/compare/pattern"
	"precision/compare/result"
	"precision/dump"
	"precision/dump/dtype"
	"precision/dump/layout"
	"precision/graph/fusion"
	"precision/internal/must"
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
	// apartSize is how much of golden's own size may be left then: what rounding, quantisers and
	// other forms of a function leave is far less, and another weight leaves more, however far
	// apart the inputs are.
	apartSize = 1.0 / 16
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
func kept(v Values, like *operand, typ dtype.Type) (o *operand, err error) {
	defer must.Catch(&err)
	n := count(v.Shape())
	refuseIf(n != count(like.shape) || n > maxHeld || !typ.FitsFloat32() && n > maxHeld/2, TooLarge, n, maxHeld)
	o = inMemory(like.name, typ, like.shape)
	o.axes = like.axes
	size := min(step(v), n)
	y := make([]float64, size)
	b := make([]float64, size)
	for lo := int64(0); lo < n; lo += size {
		part := y[:min(size, n-lo)]
		v.Range(lo, part, b[:len(part)])
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
	typ := r.Outputs[0].Type
	if wide(like.typ) == like.typ && like.typ.IsFloat() {
		typ = like.typ // no array has it, and the framework quantises, too
	}
	o, err := kept(v, like, typ)
	if err != nil {
		return nil
	}
	return o
}

// inputs puts golden inputs in place of those of a recorded call. Where there is no array
// what a kernel computes is recomputed, and what none computes is the device's.
func (g *goldenSide) inputs(c *Call, made int) (out *Call, err error) {
	defer must.Catch(&err)
	out = &Call{Op: c.Op, Type: c.Type, names: c.names, attrs: c.attrs, slots: slices.Clone(c.slots), outs: slices.Clone(c.outs)}
	k := 0
	for slot, like := range c.slots {
		if like == nil {
			continue
		}
		o := g.tensor(c.Op.Name, true, k, like)
		if o == nil {
			o = g.made(c, k, like, made)
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
func (g *goldenSide) made(c *Call, input int, like *operand, steps int) *operand {
	rule := g.Rules.Op(c.Op.Name)
	refuseIf(rule == nil, NotInGraph)
	producer, index, err := g.Rules.Producer(rule, input)
	refuseIf(err != nil, NoInput, itoa(input))
	if skipped[producer.Type] {
		return like
	}
	rec := g.Dumps.Op(producer.Name)
	refuseIf(rec == nil || steps <= 0 || producer.Op == nil || producer.Filtered, NoInput, itoa(input))
	r := must.Get(rec.Newest().Open())
	defer r.Close()
	call, bad, err := newCall(producer.Op, r, Environment{})
	must.Do(err)
	defer call.release()
	refuseIf(index >= len(call.outs) || bad[index] != nil, NoOutput)
	v := must.Get(must.Get(g.inputs(call, steps-1)).reading(call, index))
	refuseIf(!sameShape(v.Shape(), like.shape), ShapesDiffer, v.Shape(), like.shape)
	return must.Get(kept(reshape(v, like.shape), like, wide(like.typ)))
}

// wide is the type in which the framework has what the device keeps in a narrow one. What has eight
// bits or fewer was quantised, on either side.
func wide(t dtype.Type) dtype.Type {
	if t.IsFloat() && t.FitsFloat32() && t.Bits() > 8 {
		return dtype.Float32
	}
	return t
}

// reading is an output of a golden call by the reading that explains the device's best.
func (c *Call) reading(device *Call, index int) (v Values, err error) {
	defer must.Catch(&err)
	readings := must.Get(c.readings())
	at := 0
	if len(readings) > 1 {
		judging := checker{call: device, index: index, rec: device.outs[index]}
		best, _, err := judging.best(must.Get(device.readings()))
		must.Do(err)
		at = slices.IndexFunc(readings, func(r Reading) bool { return r.title() == best.title() })
	}
	refuseIf(at < 0 || readings[at].out(index) == nil || cost(readings[at].out(index))*float64(count(readings[at].out(index).Shape())) > mostScreened,
		OutputCount, len(device.outs), len(readings[0].Out))
	return readings[at].out(index), nil
}

// apart is how far two tensors are apart in some places.
type apart struct {
	sum  float64 // of squares, where both are finite
	odd  int     // places where only one is, or infinities of other signs
	used int
}

// everywhere is how far apart is what cannot be had from anything: no share of a difference.
var everywhere = apart{odd: math.MaxInt}

// Two NaN, and infinities of one sign, are equal.
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
func (w *following) values(v Values) (y, b []float64) {
	y, b = make([]float64, len(w.idx)), make([]float64, len(w.idx))
	v.At(w.idx, y, b)
	return y, b
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
	w.call = must.Get(g.inputs(c.call, mostMade))
	readings := must.Get(w.call.readings())
	at := slices.IndexFunc(readings, func(r Reading) bool { return r.title() == best.title() })
	if at < 0 || readings[at].out(c.index) == nil || !sameCount(readings[at].out(c.index).Shape(), c.rec.shape) {
		return
	}
	v := readings[at].out(c.index)
	w.look(v)
	y, b := w.values(v)
	left := apartOf(y, w.was)
	f.Apart = left.rms()
	j := newJudge(w.want.numeric(), isExact(v))
	for i, k := range w.idx {
		j.element(k, w.was[i], y[i], b[i])
	}
	switch {
	case j.judged == 0:
		return
	case j.beyond == 0 && left.odd == 0 || left.within(apartShare, w.whole) && left.rms() <= apartSize*rms(w.was) || left.odd == 0 && left.rms() <= weightUnits*g.unit*rms(w.was):
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
func (w *following) look(v Values) {
	n := w.rec.view.Len()
	w.idx = w.places(v)
	if int64(len(w.idx)) < n {
		var far extreme
		size := min(n, slab)
		x, y := make([]float64, size), make([]float64, size)
		for lo := int64(0); lo < n; lo += size {
			k := min(size, n-lo)
			w.rec.Range(lo, x[:k], nil)
			w.want.Range(lo, y[:k], nil)
			for i := range k {
				x[i] -= y[i]
			}
			far.add(lo, x[:k])
		}
		w.idx = sortedUnique(append(w.idx, far.places()...))
	}
	w.found, w.was = make([]float64, len(w.idx)), make([]float64, len(w.idx))
	w.rec.At(w.idx, w.found, nil)
	w.want.At(w.idx, w.was, nil)
	w.whole = apartOf(w.found, w.was)
}

// forms looks for another reading of the operator that golden follows from.
func (w *following) forms(f *Finding, readings []Reading, best Reading, left apart) bool {
	for _, r := range readings {
		if r.title() != best.title() && w.explains(r.out(w.index), left) {
			f.Why = append(f.Why, because(result.GoldenForm, best.title(), r.title()))
			return true
		}
	}
	return false
}

// explains tells whether golden follows from v, which is not what the graph says.
func (w *following) explains(v Values, left apart) bool {
	return w.from(v).within(explainedShare, left)
}

// from is how far golden is from v.
func (w *following) from(v Values) apart {
	if v == nil || !sameCount(v.Shape(), w.rec.shape) {
		return everywhere
	}
	y, err := must.Of(func() []float64 { y, _ := w.values(v); return y })
	if err != nil {
		return everywhere
	}
	return apartOf(y, w.was)
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

// scaled looks whether golden is a multiple of what it should be, by its own size, too.
// The factor of least squares, Σ y·was/Σ y².
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
	if off := apartOf(scaled, w.was); !off.within(explainedShare, left) || off.rms() > apartSize*rms(w.was) {
		return false // a factor near 0 takes off whatever is large, as a mask
	}
	f.Why = append(f.Why, because(result.GoldenScaled, strconv.FormatFloat(factor, 'g', 5, 64)))
	return true
}

// function tells whether golden is another function of the operator's one input, element by
// element: of neighbours by the input's size golden values are neighbours, too. Then golden
// computes something else element by element, which no attribute explains, and nothing says that
// golden is wrong.
func (w *following) function(v Values) bool {
	in := w.call.operands()
	if _, ok := v.(*pointwise); !ok || len(in) != 1 || !slices.Equal(in[0].shape, w.rec.shape) || len(w.idx) < 16 {
		return false
	}
	x := make([]float64, len(w.idx))
	if !readsAt(in[0], w.idx, x) {
		return false
	}
	order := inOrder(len(x))
	sortBy(order, x, 1)
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

// used asks the operators that read a golden array whether their golden outputs follow from it (1),
// or from what it should be, v (-1); 0 where none tells. Both are tried by an operator that reads
// it: with the golden array, and with what the array should be. mostReaders are asked.
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
		switch says, _ := must.Of(func() int { return w.ask(r, should) }); {
		case says > 0:
			return 1, r.op.Name
		case says < 0 && verdict == 0:
			verdict, reader = -1, r.op.Name
		}
	}
	return verdict, reader
}

// ask asks one operator. One that cannot be recomputed says nothing.
func (w *following) ask(r reader, should *operand) int {
	rec := w.g.Dumps.Op(r.op.Name)
	refuseIf(rec == nil || r.op.Op == nil || r.op.Filtered, NoDump)
	file := must.Get(rec.Newest().Open())
	defer file.Close()
	device, _, err := newCall(r.op.Op, file, Environment{})
	must.Do(err)
	defer device.release()
	call := must.Get(w.g.inputs(device, mostMade))
	slot := connectedSlot(device, r.input)
	refuseIf(slot < 0, NoInput, itoa(r.input))
	refuseIf(!sameShape(device.slots[slot].shape, should.shape), ShapesDiffer, device.slots[slot].shape, should.shape)
	other := *call
	other.slots = slices.Clone(call.slots)
	other.slots[slot] = must.Get(kept(should, device.slots[slot], should.typ))
	for i, out := range device.outs {
		if out == nil || w.g.tensorless(r.op.Name, i) {
			continue
		}
		judging := following{checker: &checker{call: device, index: i, rec: out}, g: w.g, want: call.outs[i]}
		var x, y []float64
		if must.Try(func() {
			with, without := must.Get(call.reading(device, i)), must.Get(other.reading(device, i))
			judging.look(with)
			x, _ = judging.values(with)
			y, _ = judging.values(without)
		}) != nil {
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
// Within 8 units of the device's type, of the root mean square; 64 places first, then all.
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
	var y []float64
	for _, idx := range [][]int64{w.idx[:min(len(w.idx), 64)], w.idx} {
		if y = make([]float64, len(idx)); !readsAt(o, idx, y) || !rounded(w.was[:len(idx)], y) {
			return false, false
		}
	}
	own, file := w.g.array(op.Name, false, 0, o)
	if own == nil {
		return true, false
	}
	defer file.Close()
	z := make([]float64, len(w.idx))
	return true, readsAt(own, w.idx, z) && !rounded(z, y)
}

// partKinds are what may be left out of an operator.
var partKinds = map[pattern.Kind]result.Kind{pattern.MissingBias: result.GoldenWithout, pattern.MissingOperand: result.GoldenAlone}

// mostTrials bounds the multiplications of one trial of an attribute.
const mostTrials = 5e6

// attributes looks for the value of an attribute under which golden follows.
func (w *following) attributes(f *Finding, left apart) bool {
	a := w.attribute(left)
	if a != nil {
		f.Why = append(f.Why, because(result.GoldenAttribute, a.key, a.graph, a.value))
	}
	return a != nil
}

// otherAttribute is an attribute with another value than the graph's.
type otherAttribute struct {
	key   string
	graph any    // its value in the graph
	value string // the other one, as people write it
	trial *attribute
}

// attribute looks for the value of an attribute under which what is there follows from the inputs
// of the call. Attributes are those that the builder asked for (asked). A trial takes some places
// only, mostTrials multiplications together, and what passes is tried on all. nil if there is none.
func (w *following) attribute(left apart) *otherAttribute {
	var asked []attribute
	call := *w.call
	call.asked = &asked
	if _, err := call.readings(); err != nil {
		return nil
	}
	few := *w
	if most := int(max(mostTrials/w.costOf(), 64)); len(w.idx) > min(most, 2*mostTried) {
		few.idx, few.was = nil, nil
		for i := range min(most, 2*mostTried) {
			k := i * len(w.idx) / min(most, 2*mostTried)
			few.idx, few.was = append(few.idx, w.idx[k]), append(few.was, w.was[k])
		}
		few.found = nil
	}
	tried := map[string]bool{}
	for _, a := range asked {
		if tried[a.key] {
			continue
		}
		tried[a.key] = true
		if x, ok := a.value.(float64); ok {
			if value, err := must.Of(func() string { return few.solve(w, a.key, x, left) }); err == nil {
				other, _ := strconv.ParseFloat(value, 64)
				return &otherAttribute{a.key, x, value, &attribute{a.key, other}}
			}
			continue
		}
		for _, value := range w.otherValues(a) {
			if t := (&attribute{a.key, value}); few.passes(w, t, left) {
				return &otherAttribute{a.key, valueText(a.value), valueText(value), t}
			}
		}
	}
	return nil
}

// passes tells whether golden follows with another attribute, at a few places first.
func (few *following) passes(w *following, t *attribute, left apart) bool {
	return few.off(t).within(2*explainedShare, left.of(len(few.idx), len(w.idx))) && w.off(t).within(explainedShare, left)
}

// of is how much of a difference falls on some of its places.
func (a apart) of(part, whole int) apart {
	share := float64(part) / float64(max(whole, 1))
	a.sum *= share
	a.odd = int(math.Ceil(float64(a.odd) * share))
	return a
}

func (w *following) costOf() float64 {
	readings, err := w.call.readings()
	if err != nil || readings[0].out(w.index) == nil {
		return 1
	}
	return alone(readings[0].out(w.index))
}

// off is how far golden is from what follows with another attribute, by the reading that
// comes closest.
func (w *following) off(t *attribute) apart {
	call, best := *w.call, everywhere
	call.trial = t
	readings, _ := call.readings()
	for _, r := range readings {
		if a := w.from(r.out(w.index)); a.odd < best.odd || a.odd == best.odd && a.sum < best.sum {
			best = a
		}
	}
	return best
}

// otherValues are what an attribute that is no fraction may be instead. Booleans the other way;
// small whole numbers 0 to 2; axes any of the rank; permutations up to 5!; pads of four the same
// sums shared out otherwise.
func (w *following) otherValues(a attribute) (list []any) {
	rank := 0
	for _, o := range w.call.operands() {
		rank = max(rank, len(o.shape))
	}
	axis := strings.Contains(a.key, "axis") || strings.Contains(a.key, "axes") || strings.Contains(a.key, "dim")
	switch was := a.value.(type) {
	case bool:
		list = append(list, !was)
	case int64:
		values := []int64{0, 1, 2}
		if axis {
			values = nil
			for k := range rank {
				values = append(values, int64(k))
			}
		} else if was < 0 || was > 2 {
			return nil
		}
		for _, n := range values {
			if n != was && n != was+int64(rank) {
				list = append(list, n)
			}
		}
	case []int64:
		switch {
		case a.key == "perm":
			for _, p := range orders(len(was)) {
				if !slices.Equal(p, was) {
					list = append(list, p)
				}
			}
		case strings.Contains(a.key, "pad") && len(was) == 4:
			for top := range was[0] + was[1] + 1 {
				for side := range was[2] + was[3] + 1 {
					if p := []int64{top, was[0] + was[1] - top, side, was[2] + was[3] - side}; !slices.Equal(p, was) {
						list = append(list, p)
					}
				}
			}
		case axis && len(was) <= 1:
			for k := range int64(rank) {
				list = append(list, []int64{k})
			}
		case axis && len(was) == 2:
			for i := range int64(rank) {
				for k := i + 1; k < int64(rank); k++ {
					list = append(list, []int64{i, k})
				}
			}
		}
	}
	return list
}

// orders are all orders of up to five axes.
func orders(n int) (list [][]int64) {
	if n > 5 {
		return nil
	}
	if n == 0 {
		return [][]int64{{}}
	}
	for _, p := range orders(n - 1) {
		for at := range n {
			list = append(list, slices.Insert(slices.Clone(p), at, int64(n-1)))
		}
	}
	return list
}

// solve looks for the fraction under which golden follows: an epsilon by its size, others as
// what the output depends on linearly, which a slope, a factor and a shift are, and others
// nearly so after a few steps. Where nothing is found it refuses.
func (few *following) solve(w *following, key string, was float64, left apart) string {
	found := 0.0
	if strings.Contains(key, "eps") {
		if was != 0 && few.passes(w, &attribute{key, 0.0}, left) { // it was left out
			return "0"
		}
		found = few.bySize(key)
	} else {
		found = few.bySlope(key, was)
	}
	if few.off(&attribute{key, found}).within(2*explainedShare, left.of(len(few.idx), len(w.idx))) {
		for digits := 1; digits <= 7; digits++ { // as people write it
			text := strconv.FormatFloat(found, 'g', digits, 64)
			if x, _ := strconv.ParseFloat(text, 64); w.off(&attribute{key, x}).within(explainedShare, left) && x != was {
				return text
			}
		}
	}
	panic(refusal(NoAttribute, key))
}

// bySize looks for a small positive number: by powers of ten, then between them. Powers of ten from
// 1e-14 to 10, then golden section between the neighbours of the best: 24 steps narrow two decades
// to 2·0.618²⁴ ≈ 2e-5 of one.
func (few *following) bySize(key string) float64 {
	best, least := 0.0, math.Inf(1)
	try := func(log float64) float64 {
		a := few.off(&attribute{key, math.Pow(10, log)})
		if a.odd > 0 {
			return math.Inf(1)
		}
		if a.sum < least {
			best, least = log, a.sum
		}
		return a.sum
	}
	for log := -14.0; log <= 1; log++ {
		try(log)
	}
	refuseIf(math.IsInf(least, 1), NoAttribute, key)
	lo, hi := best-1, best+1
	const golden = 0.6180339887498949
	a, b := hi-golden*(hi-lo), lo+golden*(hi-lo)
	ya, yb := try(a), try(b)
	for range 24 {
		if ya < yb {
			hi, b, yb = b, a, ya
			a = hi - golden*(hi-lo)
			ya = try(a)
		} else {
			lo, a, ya = a, b, yb
			b = lo + golden*(hi-lo)
			yb = try(b)
		}
	}
	return math.Pow(10, best)
}

// bySlope goes from the value of the graph along the slope that the output has there. Gauss–Newton
// on one number: the step is Σ slope·(was − y)/Σ slope², the slope a difference quotient; four
// steps.
func (few *following) bySlope(key string, was float64) float64 {
	outputs := func(x float64) []float64 {
		call := *few.call
		call.trial = &attribute{key, x}
		v := must.Get(call.readings())[0].out(few.index)
		refuseIf(v == nil || !sameCount(v.Shape(), few.rec.shape), NoOutput)
		y, _ := few.values(v)
		return y
	}
	x := was
	for range 4 {
		step := max(abs(x)/8, 1.0/64)
		y, z := outputs(x), outputs(x+step)
		cross, size := 0.0, 0.0
		for i := range y {
			slope := (z[i] - y[i]) / step
			if p := slope * (few.was[i] - y[i]); !math.IsNaN(p) && !math.IsInf(p, 0) {
				cross, size = cross+p, size+slope*slope
			}
		}
		refuseIf(size == 0, NoAttribute, key)
		x += cross / size
	}
	refuseIf(x == was, NoAttribute, key)
	return x
}

// valueText is a value as people write it.
func valueText(v any) string {
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case []int64:
		return shapeText(v)
	}
	return ""
}

// mostAttribute is how many elements tell which value an attribute has.
const mostAttribute = 4096

// otherwise are readings of the recorded inputs that leave the graph: another value of an
// attribute, operands in each other's place, sums without their last terms. They are tried for an
// output that is wrong and whose kind of wrong is not known by its numbers alone.
func (c *checker) otherwise(v Values, k *pattern.Case, want expected) []alternative {
	out := append(shortened(v), c.exchanged()...)
	if c.call.otherwise != nil {
		return append(out, c.call.otherwise(k, want)...)
	}
	w := &following{checker: c, call: c.call}
	var y []float64
	n := len(k.Want)
	for i := range min(n, mostAttribute) {
		p := i * n / min(n, mostAttribute)
		at := int64(p)
		if k.At != nil {
			at = k.At[p]
		}
		w.idx, w.was, y = append(w.idx, at), append(w.was, k.Got[p]), append(y, k.Want[p])
	}
	left := apartOf(y, w.was)
	if left.sum == 0 {
		return out
	}
	a := w.attribute(left)
	if a == nil {
		return out
	}
	call := *c.call
	call.trial = a.trial
	kind := pattern.WrongAttribute
	if strings.Contains(a.key, "eps") {
		kind = pattern.WrongEpsilon
	}
	for _, v := range c.fitting(&call) {
		out = append(out, alternative{kind, pattern.Attribute{Name: a.key, Value: a.value, Graph: attributeText(a.graph)}, v})
	}
	return out
}

// fitting is what a changed call may have given for the output, as far as it has its elements.
func (c *checker) fitting(call *Call) (list []Values) {
	readings, _ := call.readings()
	for _, r := range readings {
		if v := r.out(c.index); v != nil && sameCount(v.Shape(), c.rec.shape) {
			list = append(list, v)
		}
	}
	return list
}

// exchanged are the readings with two inputs in each other's place: the first two, or of a choice
// the two to choose from, which is its condition inverted.
func (c *checker) exchanged() (out []alternative) {
	i, k := 0, 1
	choice := strings.HasPrefix(c.call.Type, "Select") || c.call.Type == "Where"
	if choice {
		i, k = 1, 2
	}
	if k >= len(c.call.slots) || c.call.slots[i] == nil || c.call.slots[k] == nil || c.call.build != nil {
		return nil
	}
	call := *c.call
	call.slots = append([]*operand{}, c.call.slots...)
	call.slots[i], call.slots[k] = call.slots[k], call.slots[i]
	kind, args := pattern.SwappedOperands, any(nil)
	if choice {
		kind, args = pattern.InvertedMask, pattern.Masked{Choice: true}
	}
	for _, v := range c.fitting(&call) {
		out = append(out, alternative{kind, args, v})
	}
	return out
}

// shortened are the sums of products that end early: without their last term, or their last blocks
// of 16, as a tile of K that is left out makes them.
func shortened(v Values) (out []alternative) {
	var terms int64
	rewritten(v, func(v Values) Values {
		if v, is := v.(*product); is && v.held {
			if terms = v.k; v.conv != nil {
				terms = v.conv.cg * int64(toNumber(v.conv.groups == 1))
			}
		}
		return nil
	})
	tried := map[int64]bool{0: true}
	for _, left := range []int64{terms - 1, (terms - 1) / 16 * 16, (terms-1)/16*16 - 16, (terms - 1) / 32 * 32, (terms - 1) / 64 * 64, (terms - 1) / 128 * 128} {
		if left < 0 || tried[left] {
			continue
		}
		tried[left] = true
		if w := rewritten(v, func(v Values) Values { return endsAt(v, left) }); w != nil {
			out = append(out, alternative{pattern.MissingTerms, pattern.Terms{Taken: left, Of: terms}, w})
		}
	}
	return out
}

// endsAt is a sum of products over the first channels or rows only; nil for others.
// Channels left and on of each filter, or rows left and on of the second factor, become 0.
func endsAt(of Values, left int64) Values {
	v, is := of.(*product)
	if !is || !v.held || v.conv != nil && v.conv.groups > 1 {
		return nil
	}
	w := *v
	if m := v.conv; m != nil {
		w.l32 = slices.Clone(v.l32)
		for o := range v.rows {
			clear(w.l32[(o*m.cg+left)*m.places : (o+1)*v.k])
		}
		return &w
	}
	w.r32 = slices.Clone(v.r32)
	for from := int64(0); from+v.k*v.cols <= int64(len(w.r32)); from += v.k * v.cols {
		clear(w.r32[from+left*v.cols : from+v.k*v.cols])
	}
	return &w
}

// attributeText is a value of the graph as people write it. Graphs hold fractions as float32.
func attributeText(v any) string {
	if x, ok := v.(float64); ok {
		return strconv.FormatFloat(x, 'g', -1, 32)
	}
	return fmt.Sprint(v)
}

// Golden is the framework's run that the dumps are held against, beside the
// check, to tell what an operator adds from what it inherits.
type Golden struct {
	// Folder holds the framework's tensors as arrays.
	Folder *dump.Folder
	// Rules say which of them a tensor of the device stands for.
	Rules *fusion.Rules
	// Follow, if set, chooses the operators whose golden output is recomputed from golden
	// inputs; nothing is told apart then. Dumps are those of the device, for operators around
	// them.
	Follow func(op string) bool
	// brief tells only whether it follows, and by another attribute or form if not.
	brief bool
	Dumps *dump.Folder

	once    sync.Once
	readers map[tensorOf][]reader
}

// follows tells whether the golden side of an operator is recomputed.
func (g *Golden) follows(op string) bool { return g.Follow != nil && g.Follow(op) }

// tensorOf is a tensor of the framework.
type tensorOf struct {
	op    string
	index int64
}

// reader is an input of an operator.
type reader struct {
	op    *fusion.Op
	input int
}

// readersOf are the inputs that stand for a tensor of the framework, in the order of the
// graph.
func (g *Golden) readersOf(ref fusion.GoldenRef) []reader {
	g.once.Do(func() {
		g.readers = map[tensorOf][]reader{}
		for _, op := range g.Rules.Ops {
			if op.Type == "Cast" || op.Type == "TransData" {
				continue // what reads these reads the same tensor
			}
			for i := range op.Inputs {
				if from, err := g.Rules.GoldenInput(op, i); err == nil {
					at := tensorOf{from.Op, from.Index}
					g.readers[at] = append(g.readers[at], reader{op, i})
				}
			}
		}
	})
	return g.readers[tensorOf{ref.Op, ref.Index}]
}

// ref is the framework's tensor that an output, or an input, stands for.
func (g *Golden) ref(op string, input bool, index int) (fusion.GoldenRef, bool) {
	rule := g.Rules.Op(op)
	if rule == nil || rule.Filtered {
		return fusion.GoldenRef{}, false
	}
	find := g.Rules.GoldenOutput
	if input {
		find = g.Rules.GoldenInput
	}
	ref, err := find(rule, index)
	return ref, err == nil
}

// array opens the framework's tensor that input or output index of an operator
// stands for, in the axis order of like; nil where there is none that fits.
func (g *Golden) array(op string, input bool, index int, like *operand) (Values, *dump.Reader) {
	ref, ok := g.ref(op, input, index)
	if !ok || like == nil {
		return nil, nil
	}
	files := g.Folder.Output(ref.Op, int(ref.Index))
	if files == nil {
		return nil, nil
	}
	return fittedFile(files, ref.Layout, like)
}

// fittedFile opens a golden array in the axis order of a recorded tensor; nil where it does
// not fit.
func fittedFile(files *dump.Op, named string, like *operand) (Values, *dump.Reader) {
	r, err := files.Newest().Open()
	if err != nil {
		return nil, nil
	}
	if len(r.Outputs) > 0 {
		if o, err := openOperand(r, &r.Outputs[0], nil); err == nil {
			if v := fitted(o, named, like); v != nil {
				return v, r
			}
		}
	}
	r.Close()
	return nil, nil
}

// fitted gives a golden array the axis order of a recorded tensor.
func fitted(o *operand, named string, like *operand) Values {
	if sameShape(o.shape, like.shape) {
		return reshape(o, like.shape)
	}
	if f, ok := layout.Parse(named); ok && like.axes != "" && len(f.Letters()) == len(o.shape) {
		if v, err := must.Of(func() Values { v, _ := channelsFirst(o, f.Letters(), like.axes); return v }); err == nil && sameShape(v.Shape(), like.shape) {
			return reshape(v, like.shape)
		}
	}
	return nil
}

const (
	// sensitive is the factor from which an operator counts as one that makes
	// inherited errors larger.
	sensitive = 10
	// mostSplit bounds the elements that errors are told apart on.
	mostSplit = 1 << 14
)

// split tells the error of an output apart by the reading that explains it best.
func (c *checker) split(f *Finding, best Reading) {
	golden, r := c.golden.array(c.call.Op.Name, false, c.index, c.rec)
	if golden == nil {
		return
	}
	defer r.Close()
	v := best.out(c.index)
	idx := c.places(v)
	n := len(idx)
	y, b, found, want := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	if must.Try(func() { v.At(idx, y, b) }) != nil || !readsAt(c.rec, idx, found) || !readsAt(golden, idx, want) {
		return
	}
	var whole, local, inherited, size, used float64
	for i := range idx {
		if t := found[i] + y[i] + want[i]; math.IsNaN(t) || math.IsInf(t, 0) {
			continue
		}
		whole += square(found[i] - want[i])
		local += square(found[i] - y[i])
		inherited += square(y[i] - want[i])
		size += square(want[i])
		used++
	}
	if used == 0 {
		return
	}
	// Root mean squares: whole is found − golden, local found − recomputed, inherited recomputed −
	// golden.
	s := &Split{Error: math.Sqrt(whole / used), Local: math.Sqrt(local / used), Inherited: math.Sqrt(inherited / used),
		InputError: c.inputError(), OutputError: math.Sqrt(inherited / size), Amplification: math.NaN()}
	if sum := s.Local + s.Inherited; sum > 0 {
		s.LocalShare, s.InheritedShare = s.Local/sum, s.Inherited/sum
	}
	if s.InputError > 0 && size > 0 {
		s.Amplification = s.OutputError / s.InputError
		s.Sensitive = s.Amplification >= sensitive
	}
	f.Split = s
}

func square(x float64) float64 { return x * x }

// places are the elements that errors are told apart on: all, or a sample.
func (c *checker) places(v Values) []int64 {
	n := c.rec.view.Len()
	most := int(min(max(mostRechecked/4/cost(v), 64), mostSplit))
	if n <= int64(most) {
		return inOrder(n)
	}
	idx := samples(c.rec.shape, nil)
	if len(idx) > most {
		idx = thinned(idx, most)
	}
	return idx
}

// inputError is the largest relative error of an input, as root mean squares
// over the places of a sample; 0 where no input has a golden tensor.
func (c *checker) inputError() float64 {
	worst := 0.0
	for i, o := range c.call.operands() {
		golden, r := c.golden.array(c.call.Op.Name, true, i, o)
		if golden == nil {
			continue
		}
		n := o.view.Len()
		idx := samples(o.shape, nil)
		if n <= mostSplit {
			idx = inOrder(n)
		}
		found, want := make([]float64, len(idx)), make([]float64, len(idx))
		if readsAt(o, idx, found) && readsAt(golden, idx, want) {
			off, size := 0.0, 0.0
			for k := range idx {
				if t := found[k] + want[k]; !math.IsNaN(t) && !math.IsInf(t, 0) {
					off += square(found[k] - want[k])
					size += square(want[k])
				}
			}
			if size > 0 {
				worst = max(worst, math.Sqrt(off/size))
			}
		}
		r.Close()
	}
	return worst
}
