package oracle

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"precision/compare/pattern"
	"precision/dump"
	"precision/dump/dtype"
	"precision/dump/msprobe"
	"precision/graph"
	"precision/internal/must"
	catalogue "precision/op"
)

// A call and its arguments: [Call] is an operator with its recorded operands, as a form of kernels
// sees it, and [invocation] a call of a function with its arguments bound to parameters, as a form
// of functions sees it. A kernel whose row names a function becomes an invocation, too
// (registry.go), so that most forms know the latter alone.
//
// Accessors refuse what they cannot give (an absent tensor, a word where a number should be, a
// fraction where a whole number should be), by a panic that becomes the reason why an output is
// unknown. Forms therefore read as formulas, without errors in between, and cannot go on with a
// default where something was given that they do not understand.
//
// How precise a device has to be is asked of the call as well: [Call.unit] is the roundoff of sums
// and products, [Call.ulps] that of functions, [Call.sumUnit] that of long sums. A verdict of wrong
// has to hold under each looser choice that the device may have made ([looseness]).

// Call is one recorded operator: its operands, what was recorded of its
// outputs, and what the graph says of it.
type Call struct {
	Op   *graph.Op
	Type string

	// slots are the data inputs by their place in the graph, nil where nothing
	// is connected; outs the recorded outputs.
	slots []*operand
	outs  []*operand
	names map[string]int // slot of an input by its name in the prototype
	attrs graph.Attrs

	env Environment
	// loose asks for a wider precision that the device may have used, in place of the one
	// it should have.
	loose looseness
	// likely asks for what long sums are off by in practice, in place of what they may be; terms is
	// how many the longest has.
	likely bool
	terms  float64
	// double is set where all numbers are float64: what is computed here is then
	// as far off as what was recorded.
	double bool
	// narrow is the unit roundoff of float16 or bfloat16 where such numbers may have
	// been computed with on a CPU, whose sums and intermediate results may have the
	// type of the operands; else 0.
	narrow float64
	// taken is further memory that is given back with that of the operands.
	taken []*[]float32
	// device tells that a kernel of an NPU computed it, and halved that of such is known to take
	// functions in float16.
	device, halved bool
	// build makes the readings of a call that no graph describes; nil otherwise.
	build builder
	// otherwise are the readings of such a call with its arguments taken for others; nil where
	// there is none.
	otherwise func(*pattern.Case, expected) []alternative
	// trial, if set, is another value of an attribute than the graph's; asked, if set, lists
	// the attributes that readings ask for.
	trial *attribute
	asked *[]attribute
}

// looseness is how much less precise than it should be a device may have been.
type looseness uint8

const (
	strict       looseness = iota
	looseParts             // what is rounded on the way has the narrow type, sums do not
	looseSums              // sums are in the narrow type, too
	looserParts            // functions, and what is rounded on the way, are off by twice as much as they should
	loosestParts           // by eight times
	halfParts              // functions are in float16
)

// times is how many times as much as it should a function may be off.
func (l looseness) times() float64 {
	switch l {
	case looserParts:
		return 2
	case loosestParts:
		return 8
	}
	return 1
}

// attribute is an attribute of an operator with its value: int64, float64, bool or []int64.
type attribute struct {
	key   string
	value any
}

// attributeOf is the value of an attribute, that of the trial if there is one, and told.
// It is how trials and lists of what was asked come to every builder without their knowing.
func attributeOf[T any](c *Call, key string, value T) T {
	if c.asked != nil {
		*c.asked = append(*c.asked, attribute{key, value})
	}
	if c.trial != nil && c.trial.key == key {
		if other, ok := c.trial.value.(T); ok {
			return other
		}
	}
	return value
}

// Environment is what the graph says of how its operators run.
type Environment struct {
	// HighPerformance is set where the graph asks for functions and sums in
	// float16.
	HighPerformance bool
	// HalfFunctions is set where vector functions may run in float16: the chip
	// is an Ascend 310, or the graph asks for high performance.
	HalfFunctions bool
}

// EnvironmentOf reads the options of a graph.
func EnvironmentOf(m *graph.Model) (e Environment) {
	look := func(attrs graph.Attrs) {
		for _, key := range []string{"_ge.exec.op_precision_mode", "_op_precision_mode", "op_precision_mode", "_precision_mode", "precision_mode"} {
			if highPerformance(attrs.Get(key)) {
				e.HighPerformance, e.HalfFunctions = true, true
			}
		}
		if attrs.Get("target_type").Text() == "MINI" {
			e.HalfFunctions = true
		}
	}
	look(m.Attrs)
	for _, g := range m.Graphs {
		look(g.Attrs)
	}
	return e
}

// highPerformance tells a precision mode in which sums and functions may be of float16; modes are
// high_performance, high_precision and such, in any case of letters.
func highPerformance(mode *graph.Value) bool {
	return strings.Contains(strings.ToLower(mode.Text()), "high_performance")
}

func itoa(n int) string { return strconv.Itoa(n) }

// newCall opens the operands of a recorded operator. A tensor that cannot be
// used is an error where it is an input; outputs are told one by one.
func newCall(op *graph.Op, r *dump.Reader, env Environment) (*Call, []error, error) {
	c := &Call{Op: op, Type: op.Type, attrs: op.Attrs, env: env, names: map[string]int{}, device: true, halved: catalogue.Is(op.Type, catalogue.Halved)}
	keys, values := op.Attr("_input_name_key").Strings(), op.Attr("_input_name_value").Ints()
	for i := range min(len(keys), len(values)) {
		c.names[keys[i]] = int(values[i])
	}
	if highPerformance(op.Attr("_op_precision_mode")) || highPerformance(op.Attr("op_precision_mode")) {
		c.env.HighPerformance, c.env.HalfFunctions = true, true
	}
	bad := make([]error, len(r.Outputs))
	for i := range r.Outputs {
		var o *operand
		o, bad[i] = openOperand(r, &r.Outputs[i], descAt(op.OutputDesc, i))
		c.outs = append(c.outs, o)
	}
	recorded, slot := 0, 0
	for _, e := range op.Inputs {
		if e.IsControl() {
			continue
		}
		if e.IsEmpty() {
			c.slots = append(c.slots, nil)
			slot++
			continue
		}
		if recorded >= len(r.Inputs) {
			return c, bad, refuse(InputCount, len(r.Inputs), connected(op))
		}
		o, err := openOperand(r, &r.Inputs[recorded], descAt(op.InputDesc, slot))
		if err != nil {
			return c, bad, err
		}
		c.slots = append(c.slots, o)
		recorded++
		slot++
	}
	if recorded != len(r.Inputs) {
		return c, bad, refuse(InputCount, len(r.Inputs), connected(op))
	}
	return c, bad, nil
}

// connected counts the data inputs of an operator that something is connected to.
func connected(op *graph.Op) int {
	n := 0
	for _, e := range op.Inputs {
		if !e.IsControl() && !e.IsEmpty() {
			n++
		}
	}
	return n
}

// descAt is what the graph says of tensor i, nil where it says less.
func descAt(d []graph.TensorDesc, i int) *graph.TensorDesc {
	if i < len(d) {
		return &d[i]
	}
	return nil
}

// input returns an input by its name in the prototype, or, where the graph names none, by its
// place; nil if it is not connected. A kernel into which several operators were fused has inputs
// named __input0 …, of which only places tell.
func (c *Call) input(name string, slot int) *operand {
	if k, ok := c.names[name]; ok {
		slot = k
	} else if _, fused := c.names["__input0"]; len(c.names) > 0 && !fused {
		known := false
		for _, k := range c.names {
			known = known || k == slot
		}
		if known {
			return nil // the slot has another name
		}
	}
	if slot < 0 || slot >= len(c.slots) {
		return nil
	}
	return c.slots[slot]
}

// need is input for one that must be there.
func (c *Call) need(name string, slot int) *operand {
	if o := c.input(name, slot); o != nil {
		return o
	}
	panic(refusal(NoInput, name))
}

// at is the connected input of a place, whatever its name.
func (c *Call) at(slot int) *operand {
	n := 0
	for _, o := range c.slots {
		if o == nil {
			continue
		}
		if n == slot {
			return o
		}
		n++
	}
	panic(refusal(NoInput, itoa(slot)))
}

// all returns the connected inputs in order.
func (c *Call) all() (out []Values) {
	for _, o := range c.slots {
		if o != nil {
			out = append(out, o)
		}
	}
	return out
}

// out is the shape of a recorded output; nil, false if there is none that can
// be used.
func (c *Call) out(i int) ([]int64, bool) {
	if i >= len(c.outs) || c.outs[i] == nil {
		return nil, false
	}
	return c.outs[i].shape, true
}

// outType is the type of the first output that can be read.
func (c *Call) outType() dtype.Type {
	for _, o := range c.outs {
		if o != nil {
			return o.numeric()
		}
	}
	return dtype.Float32
}

// unit is the unit roundoff of vector functions.
func (c *Call) unit() float64 {
	switch {
	case c.double:
		return u64
	case c.loose != strict && c.narrow > 0:
		return c.loose.times() * c.narrow
	case c.loose == halfParts, c.loose != strict && c.env.HalfFunctions:
		return 0x1p-11
	}
	return u32
}

// ulps is the relative error granted to functions that are not rounded
// correctly: eight units.
func (c *Call) ulps() float64 {
	if c.loose != strict && c.narrow > 0 {
		return 2 * c.unit() // a function in float32, its argument and result rounded
	}
	return 8 * c.loose.times() * c.unit()
}

// sumUnit is the unit roundoff of sums. float32 as a rule, whatever the type; float16 and bfloat16
// only where a looser unit is asked for and the device may have used it.
func (c *Call) sumUnit() float64 {
	switch {
	case c.double:
		return u64
	case c.loose == looseSums && c.narrow > 0:
		return c.narrow
	case c.loose == looseSums && c.env.HighPerformance:
		return 0x1p-11
	}
	return u32
}

// The attributes of an operator. A missing one has the default of the
// prototype; one of another kind is refused, but for whole numbers in place of
// fractions, which real graphs hold.

// attrInt is a whole number; a fraction, even 2.0, is refused.
func (c *Call) attrInt(key string, missing int64) int64 {
	n := missing
	if v := c.attrs.Get(key); v != nil {
		var ok bool
		n, ok = v.Int()
		refuseIf(!ok, BadAttribute, key, v.String(), "a whole number")
	}
	return attributeOf(c, key, n)
}

// attrFloat is a number. Graphs keep fractions as float32, so that 1e-5 is 9.99999974e-6 here as it
// is on the device.
func (c *Call) attrFloat(key string, missing float64) float64 {
	x := missing
	if v := c.attrs.Get(key); v != nil {
		n, whole := v.Int()
		f, ok := v.Float()
		if x = float64(f); whole {
			x = float64(n)
		}
		refuseIf(!whole && !ok || math.IsNaN(x), BadAttribute, key, v.String(), "a number")
	}
	return attributeOf(c, key, x)
}

// attrBool is a truth; 0 and another number stand for one, too.
func (c *Call) attrBool(key string, missing bool) bool {
	yes := missing
	if v := c.attrs.Get(key); v != nil {
		n, whole := v.Int()
		refuseIf(!whole && v.Kind() != graph.KindBool, BadAttribute, key, v.String(), "true or false")
		yes = whole && n != 0 || v.Kind() == graph.KindBool && v.Bool()
	}
	return attributeOf(c, key, yes)
}

// attrInts returns a list of whole numbers, of lists of these all; nil if it is missing.
func (c *Call) attrInts(key string) []int64 {
	var list []int64
	if v := c.attrs.Get(key); v != nil {
		n, one := v.Int()
		if list = slices.Concat(v.IntLists()...); list == nil {
			list = v.Ints()
		}
		if one {
			list = []int64{n}
		}
		refuseIf(!one && v.IntLists() == nil && (v.Kind() != graph.KindList || int64(len(list)) != v.Len()), BadAttribute, key, v.String(), "a list of whole numbers")
	}
	return attributeOf(c, key, list)
}

// axesOf are axes of a tensor of some rank, negative ones counted from the end, each once.
func axesOf(key string, list []int64, rank int) (out []int) {
	seen := map[int64]bool{}
	for _, a := range list {
		k := a
		if k < 0 {
			k += int64(rank)
		}
		if k < 0 || k >= int64(rank) {
			if rank == 0 && (a == 0 || a == -1) {
				continue
			}
			panic(refusal(BadAttribute, key, a, "an axis of "+itoa(rank)))
		}
		refuseIf(seen[k], BadAttribute, key, a, "every axis once")
		seen[k] = true
		out = append(out, int(k))
	}
	return out
}

// ints reads an input that holds whole numbers: axes, shapes, paddings. 65 536 at most, and whole
// numbers that float64 holds; a computed tensor of other numbers is refused.
func ints(o Values) []int64 {
	n := count(o.Shape())
	refuseIf(n > 1<<16, TooLarge, n, 1<<16)
	d := held(o)
	out := make([]int64, len(d.y))
	for i, x := range d.y {
		if x != math.Trunc(x) || abs(x) > 1<<53 {
			panic(refusal(Unsupported, "a list with "+strconv.FormatFloat(x, 'g', -1, 64)))
		}
		out[i] = int64(x)
	}
	return out
}

// floatsAttr returns a list of numbers; nil if it is missing or empty.
func (c *Call) floatsAttr(key string) (out []float64) {
	v := c.attrs.Get(key)
	if v == nil || v.Len() == 0 {
		return nil
	}
	for _, f := range v.Floats() {
		out = append(out, float64(f))
	}
	if out == nil {
		for _, n := range v.Ints() {
			out = append(out, float64(n))
		}
	}
	refuseIf(int64(len(out)) != v.Len(), BadAttribute, key, v.String(), "a list of numbers")
	return out
}

// argument is one argument or result of a recorded call: a tensor, a number, a
// list of arguments, or nothing.
type argument struct {
	v     *msprobe.Value // nil for lists
	place string         // input.0, kwargs.mask
	op    *operand       // of a tensor
	made  Values         // a tensor that a part of a fused kernel before made
	err   error          // why a tensor cannot be read
	list  []*argument    // with nil for what the recorder left out
	keys  bool           // a dict: its members are of no use to functions
}

// tensor tells whether the argument is one, recorded or not: Array is a tensor of numpy.
func (a *argument) tensor() bool {
	return a != nil && a.v != nil && (a.v.Kind == msprobe.Tensor || a.v.Kind == msprobe.Array)
}

// members are those of a list, or the argument itself.
func (a *argument) members() []*argument {
	if a != nil && a.v == nil && len(a.list) > 0 {
		return a.list
	}
	return []*argument{a}
}

// none reports whether the argument is None, or not there.
func (a *argument) none() bool {
	return a == nil || a.v != nil && a.v.Kind == msprobe.None
}

// insert puts a value where its path leads.
func (a *argument) insert(path []string, leaf *argument) {
	for i, key := range path {
		k, err := strconv.Atoi(key)
		if err != nil || k < 0 || k > 1<<12 {
			a.keys = true
			return
		}
		for len(a.list) <= k {
			a.list = append(a.list, nil)
		}
		if i == len(path)-1 {
			a.list[k] = leaf
			return
		}
		if a.list[k] == nil {
			a.list[k] = &argument{place: leaf.place}
		}
		a = a.list[k]
	}
}

// recorded are the values of a call by their sections.
type recorded struct {
	args       []*argument
	kwargs     map[string]*argument
	parameters map[string]*argument
	out        *argument // a list
	flat       []*argument
}

// recordedOf arranges the values of a call.
func recordedOf(c *msprobe.Call) *recorded {
	r := &recorded{kwargs: map[string]*argument{}, parameters: map[string]*argument{}, out: &argument{}}
	in := &argument{}
	for i := range c.Values {
		v := &c.Values[i]
		path := strings.Split(v.Path, ".")
		leaf := &argument{v: v, place: v.Section.String() + "." + v.Path}
		switch v.Section {
		case msprobe.Input:
			in.insert(path, leaf)
		case msprobe.Output:
			r.out.insert(path, leaf)
			r.flat = append(r.flat, leaf)
		case msprobe.Kwargs, msprobe.Parameters:
			into := r.kwargs
			if v.Section == msprobe.Parameters {
				into = r.parameters
			}
			if len(path) == 1 {
				into[path[0]] = leaf
				continue
			}
			if into[path[0]] == nil {
				into[path[0]] = &argument{place: leaf.place}
			}
			into[path[0]].insert(path[1:], leaf)
		}
	}
	r.args = in.list
	return r
}

// each calls f for all tensors.
func (a *argument) each(f func(a *argument)) {
	switch {
	case a == nil:
	case a.tensor():
		f(a)
	default:
		for _, x := range a.list {
			x.each(f)
		}
	}
}

// number is an argument that is one number: of Python, of numpy, or a tensor of
// one element.
func (a *argument) number() (float64, bool) {
	switch {
	case a == nil || a.v == nil:
	case a.tensor():
		if a.op != nil && count(a.op.shape) == 1 {
			var y [1]float64
			ok := reads(a.op, 0, y[:])
			return y[0], ok
		}
	case a.v.Kind == msprobe.Scalar || a.v.Kind == msprobe.Bare:
		if a.v.Value.Kind != msprobe.Text {
			return a.v.Value.Value()
		}
	}
	return 0, false
}

// invocation is a call of a function with its arguments bound to parameters.
type invocation struct {
	*Call
	name      string
	args      map[string]*argument
	params    []string
	called    map[string]string // what a kernel calls a parameter
	results   []*operand        // of the forward call, for gradients; nil where not recorded
	gradients []*operand        // of the results, of a backward call
	inPlace   bool
	// before are, of an update, what other calls before it took of the size of what is updated.
	before []*operand
	// group are the arguments of the ranks that run a call together, in their order, and place that
	// of this one; lone tells that it may be a group of its own.
	group []map[string]*argument
	place int
	lone  bool
	// straight takes pairs that a kernel puts in halves first for halves.
	straight bool
	// padBy is how much of the padding of a convolution goes from behind to before.
	padBy int64
	// solve is set where the arguments of a module have to be told from shapes.
	solve bool
}

// shown is what the user knows a parameter by.
func (k *invocation) shown(name string) string {
	if other := k.called[name]; other != "" {
		return other
	}
	return name
}

// number is an argument that is one number and, of a kernel, no truth.
func (k *invocation) number(a *argument) (float64, bool) {
	if k.called != nil && a != nil && a.v != nil && a.v.Type == "bool" {
		return 0, false
	}
	return a.number()
}

// has reports whether an argument was given and is not None.
func (k *invocation) has(name string) bool { return !k.args[name].none() }

// tensor is an argument that must be a tensor.
func (k *invocation) tensor(name string) *operand {
	a := k.args[name]
	refuseIf(!a.tensor(), NoInput, k.shown(name))
	return must.Get(a.op, a.err)
}

// optional is an argument that may be None; nil then.
func (k *invocation) optional(name string) *operand {
	if !k.has(name) {
		return nil
	}
	return k.tensor(name)
}

// listOf are the numbers of an argument that has n of them; nil where it was not given.
func (k *invocation) listOf(name string, n int64) []float64 {
	o := k.optional(name)
	if o == nil {
		return nil
	}
	refuseIf(count(o.shape) != n, ShapesDiffer, o.shape, []int64{n})
	return numbers(o)
}

// ifGiven is optional as Values.
func (k *invocation) ifGiven(name string) Values { return valuesOf(k.optional(name)) }

// tensors are an argument that is a list of tensors.
func (k *invocation) tensors(name string) (out []*operand) {
	a := k.args[name]
	refuseIf(a == nil || a.v != nil || a.keys || len(a.list) == 0, NoInput, k.shown(name))
	for i, x := range a.list {
		refuseIf(!x.tensor(), NoInput, k.shown(name)+"."+itoa(i))
		out = append(out, must.Get(x.op, x.err))
	}
	return out
}

// value is an argument that is a tensor or a number, as it goes into arithmetic
// whose result has the type of the output.
func (k *invocation) value(name string) Values {
	a := k.args[name]
	refuseIf(a.none(), NoInput, k.shown(name))
	return k.valueOf(a, name)
}

// valueOf is what an argument is in arithmetic: what a part of a fused kernel before made, a tensor
// in the type of the result, or a number.
func (k *invocation) valueOf(a *argument, name string) Values {
	switch {
	case a.made != nil:
		return a.made
	case a.tensor():
		return k.converted(must.Get(a.op, a.err))
	}
	x, ok := k.number(a)
	refuseIf(!ok, BadArgument, k.shown(name), a.text(), "a number or a tensor")
	return k.constant(x)
}

// constant is a number as it takes part in arithmetic: rounded to the type of the
// output, or not.
func (k *invocation) constant(x float64) Values {
	n := k.rounding(x)
	if n.b == 0 {
		return scalar(x)
	}
	return &dense{y: []float64{n.y}, b: []float64{n.b}}
}

// rounding is a number that may have been rounded to the type of the output.
func (k *invocation) rounding(x float64) num {
	p := precisionFor(k.outType())
	b := 0.0
	if !p.integer {
		b = abs(p.Round(x) - x)
	}
	if math.IsNaN(b) || math.IsInf(b, 0) {
		b = 0
	}
	return num{x, b}
}

// converted is a tensor as it takes part in arithmetic: one of a finer type than
// the output may have been rounded to that first.
func (k *invocation) converted(o *operand) Values {
	to := precisionFor(k.outType())
	from := precisionFor(o.numeric())
	if to.integer || !from.integer && from.v >= to.v || from.integer && o.typ == dtype.Bool {
		return o
	}
	p := newPointwise(func(x, e [][]float64, y, b []float64) {
		copy(y, x[0])
		for i, v := range y[:len(b)] {
			if b[i] = abs(to.Round(v) - v); math.IsNaN(b[i]) || math.IsInf(b[i], 0) {
				b[i] = 0
			}
		}
	}, o)
	return p
}

// text is an argument as a message shows it.
func (a *argument) text() string {
	if a == nil || a.v == nil {
		return "a list"
	}
	if a.tensor() {
		return "a tensor"
	}
	return a.v.Value.String()
}

// float is a number argument, missing if it was not given. A tensor of one element is a number.
func (k *invocation) float(name string, missing float64) float64 {
	a := k.args[name]
	if a.none() {
		return missing
	}
	if x, ok := k.number(a); ok {
		return x
	}
	panic(refusal(BadArgument, k.shown(name), a.text(), "a number"))
}

// int is a whole number of up to 53 bits, which float64 holds.
func (k *invocation) int(name string, missing int64) int64 {
	a := k.args[name]
	if a.none() {
		return missing
	}
	if x, ok := k.number(a); ok && x == math.Trunc(x) && abs(x) < 1<<53 {
		return int64(x)
	}
	panic(refusal(BadArgument, k.shown(name), a.text(), "a whole number"))
}

// bool is a truth, or 0 or 1 in its place.
func (k *invocation) bool(name string, missing bool) bool {
	a := k.args[name]
	if a.none() {
		return missing
	}
	if x, ok := a.number(); ok && (x == 0 || x == 1) {
		return x != 0
	}
	panic(refusal(BadArgument, k.shown(name), a.text(), "true or false"))
}

// isText tells whether an argument is a text.
func (a *argument) isText() bool {
	return a != nil && a.v != nil && a.v.Kind == msprobe.Scalar && a.v.Value.Kind == msprobe.Text
}

// string is a text.
func (k *invocation) string(name, missing string) string {
	a := k.args[name]
	if a.none() {
		return missing
	}
	if a.isText() {
		return a.v.Value.S
	}
	panic(refusal(BadArgument, k.shown(name), a.text(), "a text"))
}

// ints is a list of whole numbers, or one; nil if it is None.
func (k *invocation) ints(name string) []int64 {
	a := k.args[name]
	if a.none() {
		return nil
	}
	return wholeNumbers(k.shown(name), a)
}

// wholeNumbers reads an argument that is a whole number of up to 53 bits, a list of such, a
// torch.Size, or a vector whose elements were recorded.
func wholeNumbers(name string, a *argument) []int64 {
	bad := func(what string) { panic(refusal(BadArgument, name, what, "whole numbers")) }
	if a.v != nil {
		if a.v.Kind == msprobe.Size {
			var out []int64
			for _, n := range a.v.Items {
				if n.Kind != msprobe.Int {
					bad(n.String())
				}
				out = append(out, n.I)
			}
			return out
		}
		if a.tensor() && a.op != nil && len(a.op.shape) == 1 {
			return ints(a.op)
		}
		x, ok := a.number()
		if !ok || x != math.Trunc(x) || abs(x) >= 1<<53 {
			bad(a.text())
		}
		return []int64{int64(x)}
	}
	if a.keys {
		bad("a dict")
	}
	out := []int64{}
	for _, x := range a.list {
		n, ok := x.number()
		if !ok || n != math.Trunc(n) || abs(n) >= 1<<53 {
			bad(x.text())
		}
		out = append(out, int64(n))
	}
	return out
}

// each is a list of n numbers, or one for all; missing if it is None.
func (k *invocation) each(name string, n int, missing int64) []int64 {
	list := k.ints(name)
	switch {
	case len(list) == 0:
		return repeated(n, missing)
	case len(list) == 1:
		return repeated(n, list[0])
	case len(list) != n:
		panic(refusal(BadArgument, k.shown(name), shapeText(list), itoa(n)+" numbers"))
	}
	return list
}

// axes is one axis of a tensor or a list of them; all of them if it is None.
func (k *invocation) axes(name string, rank int) []int {
	list := k.ints(name)
	if len(list) == 0 {
		return inOrder(rank)
	}
	return axesOf(k.shown(name), list, rank)
}

// axis is one axis of a tensor.
func (k *invocation) axis(name string, missing int64, rank int) int {
	a := k.int(name, missing)
	axes := axesOf(k.shown(name), []int64{a}, max(rank, 1))
	return axes[0]
}

// axisOf is one axis of a shape, which has some.
func (k *invocation) axisOf(shape []int64, name string, missing int64) int {
	axis := k.axis(name, missing, len(shape))
	refuseIf(len(shape) == 0, BadArgument, k.shown(name), axis, "an axis of "+shapeText(shape))
	return axis
}

// required refuses where one of some arguments was not given.
func (k *invocation) required(names ...string) {
	for _, n := range names {
		refuseIf(!k.has(n), NoArgument, k.shown(n))
	}
}

// shape is the recorded shape of the first output.
func (c *Call) shape() []int64 {
	if s, ok := c.out(0); ok {
		return s
	}
	panic(refusal(NoOutput))
}

// leaves takes out an output that a kernel of GE, which has it always, leaves unwritten unless it
// is asked for by a number other than 0.
func (k *invocation) leaves(out []Values, i int, name string) {
	if x, _ := k.args[name].number(); k.called != nil && x == 0 {
		out[i] = nil
	}
}

// unsupported refuses arguments that were given and are not computed with.
func (k *invocation) unsupported(names ...string) {
	for _, name := range names {
		refuseIf(k.has(name), Unsupported, k.shown(name))
	}
}

// only refuses another value of an argument than the one that is computed with.
func (k *invocation) only(value float64, names ...string) {
	for _, name := range names {
		refuseIf(k.float(name, value) != value, Unsupported, k.shown(name))
	}
}

// count is a small number of things.
func (k *invocation) count(name string) int64 {
	n := k.int(name, -1)
	refuseIf(n < 0 || n > 1<<16, BadArgument, k.shown(name), n, "a number of them")
	return n
}

// mode is one of some texts, or the number of one among them.
func (k *invocation) mode(name, missing string, words ...string) string {
	if x, ok := k.args[name].number(); ok && x >= 0 && x < float64(len(words)) {
		return words[int(x)]
	}
	word := k.string(name, missing)
	refuseIf(!slices.Contains(words, word), BadArgument, name, word, strings.Join(words, ", "))
	return word
}
