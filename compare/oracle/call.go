package oracle

import (
	"math"
	"strconv"

	"precision/dump"
	"precision/dump/dtype"
	"precision/graph"
)

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
	// double is set where all numbers are float64: what is computed here is then
	// as far off as what was recorded.
	double bool
	// narrow is the unit roundoff of float16 or bfloat16 where such numbers may have
	// been computed with on a CPU, whose sums and intermediate results may have the
	// type of the operands; else 0.
	narrow float64
	// build makes the readings of a call that no graph describes; nil otherwise.
	build builder
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
func EnvironmentOf(m *graph.Model) Environment {
	var e Environment
	look := func(attrs graph.Attrs) {
		for _, key := range []string{"_ge.exec.op_precision_mode", "_op_precision_mode", "op_precision_mode", "_precision_mode", "precision_mode"} {
			if containsFold(attrs.Get(key).Text(), "high_performance") {
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

func itoa(n int) string { return strconv.Itoa(n) }

// newCall opens the operands of a recorded operator. A tensor that cannot be
// used is an error where it is an input; outputs are told one by one.
func newCall(op *graph.Op, r *dump.Reader, env Environment) (*Call, []error, error) {
	c := &Call{Op: op, Type: op.Type, attrs: op.Attrs, env: env, names: map[string]int{}}
	keys, values := op.Attr("_input_name_key").Strings(), op.Attr("_input_name_value").Ints()
	for i := range min(len(keys), len(values)) {
		c.names[keys[i]] = int(values[i])
	}
	if containsFold(op.Attr("_op_precision_mode").Text(), "high_performance") || containsFold(op.Attr("op_precision_mode").Text(), "high_performance") {
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

func connected(op *graph.Op) int {
	n := 0
	for _, e := range op.Inputs {
		if !e.IsControl() && !e.IsEmpty() {
			n++
		}
	}
	return n
}

func descAt(d []graph.TensorDesc, i int) *graph.TensorDesc {
	if i < len(d) {
		return &d[i]
	}
	return nil
}

// input returns an input by its name in the prototype, or, where the graph
// names none, by its place; nil if it is not connected.
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
	panic(refuse(NoInput, name))
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
	panic(refuse(NoInput, itoa(slot)))
}

// all returns the connected inputs in order.
func (c *Call) all() []Values {
	var out []Values
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
	case c.loose != strict && c.env.HalfFunctions:
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

// sumUnit is the unit roundoff of sums.
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

func (c *Call) attrInt(key string, missing int64) int64 {
	n := missing
	if v := c.attrs.Get(key); v != nil {
		var ok bool
		n, ok = v.Int()
		refuseIf(!ok, BadAttribute, key, v.String(), "a whole number")
	}
	return attributeOf(c, key, n)
}

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

func (c *Call) attrBool(key string, missing bool) bool {
	yes := missing
	if v := c.attrs.Get(key); v != nil {
		n, whole := v.Int()
		refuseIf(!whole && v.Kind() != graph.KindBool, BadAttribute, key, v.String(), "true or false")
		yes = whole && n != 0 || v.Kind() == graph.KindBool && v.Bool()
	}
	return attributeOf(c, key, yes)
}

// attrInts returns a list of whole numbers; nil if it is missing.
func (c *Call) attrInts(key string) []int64 {
	var list []int64
	if v := c.attrs.Get(key); v != nil {
		n, one := v.Int()
		if list = v.Ints(); one {
			list = []int64{n}
		}
		refuseIf(!one && (v.Kind() != graph.KindList || int64(len(list)) != v.Len()), BadAttribute, key, v.String(), "a list of whole numbers")
	}
	return attributeOf(c, key, list)
}

// axesOf are axes of a tensor of some rank, negative ones counted from the end, each once.
func axesOf(key string, list []int64, rank int) []int {
	var out []int
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
			panic(refuse(BadAttribute, key, a, "an axis of "+itoa(rank)))
		}
		refuseIf(seen[k], BadAttribute, key, a, "every axis once")
		seen[k] = true
		out = append(out, int(k))
	}
	return out
}

// ints reads an input that holds whole numbers: axes, shapes, paddings.
func ints(o Values) []int64 {
	if n := count(o.Shape()); n > 1<<16 {
		panic(refuse(TooLarge, n, 1<<16))
	}
	d := must(held(o))
	out := make([]int64, len(d.y))
	for i, x := range d.y {
		if x != math.Trunc(x) || abs(x) > 1<<53 {
			panic(refuse(Unsupported, "a list with "+strconv.FormatFloat(x, 'g', -1, 64)))
		}
		out[i] = int64(x)
	}
	return out
}

// floatsAttr returns a list of numbers; nil if it is missing or empty.
func (c *Call) floatsAttr(key string) []float64 {
	v := c.attrs.Get(key)
	if v == nil || v.Len() == 0 {
		return nil
	}
	var out []float64
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
