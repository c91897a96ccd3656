package oracle

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"precision/dump/msprobe"
	"precision/graph"
	"precision/internal/each"
	"precision/internal/must"
	catalogue "precision/op"
)

// From names to forms. The catalogue (op/operators.txt) has a row for each operator; here its words
// become code:
//
//   - kernel=form: a builder of this package, by [register];
//   - call=form(parameters): a function, by [define], with the parameters in their order;
//   - as=function(parameter=input@slot,…): a kernel that computes what a function does ([Call.twin]);
//   - f(x)=…: a formula, which is function, kernel and part of fused kernels at once (formula.go).
//
// A name of a call is found without its namespace and the marks of Python ([called]); its arguments
// are bound by position and by name ([bind]); a name of a kernel may be that of several fused ones,
// which are taken apart ([buildFused]).
//
// No operator is named in code where a row can say it. What a name means is thereby in one place,
// and a new name is a line.

// Reading is one way to understand what the graph says of an operator.
type Reading struct {
	// Name and Args tell it from others; Name is empty where there is but one.
	Name string
	Args []string
	// Out are the outputs by this reading; nil where one is not computed.
	Out []Values
	// NaN tells, once outputs were computed, that numbers that are no numbers were among what they
	// put in order.
	NaN *atomic.Bool
}

// outputs are those of the only reading there is.
func outputs(out ...Values) []Reading { return []Reading{{Out: out}} }

// title is the name with its arguments.
func (r Reading) title() string { return strings.Join(append([]string{r.Name}, r.Args...), " ") }

// init says how the tables of forms are filled, family by family, when they are asked for first: it
// takes some milliseconds, which commands that recompute nothing do not spend.
func init() {
	functions = sync.OnceValue(functionsOfForms)
}

// functionsOfForms fills the tables and makes the functions of all rows. Families whose forms
// others derive from, or call, come first.
func functionsOfForms() map[string]*function {
	for _, family := range []func(){activationForms, clipForms, arithmeticForms, eltwiseForms, gradientForms, optimizerKernels, attentionForms, convForms, logicForms, lossForms, moveForms, seriesForms, moveKernels, normForms, npuNormForms, pickForms, poolForms, productForms, recurrentForms, quantKernels, reduceForms, cacheForms, routeForms, gateForms, programForms, boxForms, linearForms, orderForms} {
		family()
	}
	all := functionsOfRows()
	softsignSteps(all["softsign"])
	all["digamma"].backward = nil // PyTorch computes its slope to some 8 digits, and to fewer below 0
	return all
}

// kernelForm is a form that rows of the catalogue say of kernels, nil where there is none of that
// name.
func kernelForm(name string) builder {
	functions()
	return builders[name]
}

// builder turns a call into the outputs that its operator should have.
type builder func(c *Call) []Reading

// elementwise is what a type contributes to fused kernels: the Values of an
// operator from those of its operands, the first of which is the result of the
// part before.
type elementwise struct {
	operands int // how many, the first included
	build    func(c *Call, in []Values) Values
	// keeps is set for functions that leave rounded numbers rounded, so that
	// rounding before them makes no difference.
	keeps bool
}

var (
	// builders are the forms that rows of the catalogue say of kernels, parts those that fused
	// kernels may consist of.
	builders = map[string]builder{}
	parts    = map[string]elementwise{}
	// fusedParts are the parts of fused kernels by the words of their names.
	fusedParts = sync.OnceValue(partsOfRows)
)

// partsOfRows are the kernels that are functions of the numbers in one place.
func partsOfRows() map[string]elementwise {
	functions() // and with them the parts
	all := map[string]elementwise{}
	for _, row := range catalogue.All() {
		p, ok := parts[row.Kernel]
		if !ok {
			p, ok = asPart(row)
		}
		if ok {
			for _, name := range row.Names {
				if !isKernel(name) {
					continue
				}
				all[snake(name)], all[strings.ToLower(name)] = p, p
			}
		}
	}
	return all
}

// isKernel tells names of kernels from those of functions.
func isKernel(name string) bool { return name[0] >= 'A' && name[0] <= 'Z' }

// fusedPart is the part of fused kernels that goes by a name.
func fusedPart(name string) (elementwise, bool) {
	p, ok := fusedParts()[name]
	return p, ok
}

// register adds a form of kernels.
func register(build builder, form string) { builders[form] = build }

// one makes a builder of a function for operators with one reading.
func one(build func(c *Call) []Values) builder {
	return func(c *Call) []Reading {
		out := build(c)
		return outputs(out...)
	}
}

// single is one for operators with one output.
func single(build func(c *Call) Values) builder {
	return one(func(c *Call) []Values {
		v := build(c)
		return []Values{v}
	})
}

// registerPart adds a form of element-wise kernels, alone and as parts of fused ones.
func registerPart(p elementwise, form string) {
	register(single(func(c *Call) Values {
		in := c.all()
		refuseIf(len(in) != p.operands, InputCount, len(in), p.operands)
		return p.build(c, in)
	}), form)
	parts[form] = p
}

// snake is how kernel names spell an operator type: LeakyRelu is leaky_relu.
func snake(t string) string {
	var b strings.Builder
	for i, r := range t {
		if r >= 'A' && r <= 'Z' {
			if i > 0 && !(t[i-1] >= 'A' && t[i-1] <= 'Z') {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// function is a function of PyTorch or torch_npu: what its parameters are, and what it
// computes. Its names and parameters are in a row of the catalogue, which says the form
// that it is computed by. To add one: a row and, where no form does, a call of define in
// the file of its family.
type function struct {
	params []string
	rest   bool     // the last one takes the rest
	named  []string // those that are given by name alone
	others map[string]string
	// defaults are what parameters are that are not given, where forward takes something else.
	defaults map[string]string
	forward  func(k *invocation) []Reading
	// backward gives the gradients of parameters from those of the outputs.
	backward func(k *invocation, g []Values) gradients
	// nodes are the gradients that the last step of the function takes, in its
	// order, where a recorder looks at that: weight' is transposed.
	nodes [][]string
	// hidden are attributes that a primitive of MindSpore keeps to itself.
	hidden []string
	// borrowed is one of PyTorch under the name of one of MindSpore that nobody compared with it:
	// what it explains is right, and of what it does not nothing is known.
	borrowed bool
	// updates: what it works on is recorded when it has done so.
	updates bool
	// states are outputs that go on from a state which is not recorded: they are known where it was
	// the first one.
	states []int
	// ranks: it computes with what all ranks of its group have.
	ranks bool
	// mends are the arguments that the function writes to and does not return.
	mends []string
	// local functions compute an element from those in the same place, so that parts
	// of tensors will do.
	local bool
}

// gradients computes the gradients of parameters, each when it is asked for.
type gradients map[string]func() Values

var (
	// forms are what rows of the catalogue say that functions compute.
	forms = map[string]*function{}
	// functions are those of the catalogue by their names, Functional.softmax where a namespace has
	// parameters of its own.
	functions func() map[string]*function
)

// functionsOfRows makes a function of every formula of the catalogue, and of every call whose form
// there is. The same form with the same parameters is one function, however many names it has.
// Gradients of functions (form'parameter) and formulas under other parameters are made when all
// others are there.
func functionsOfRows() map[string]*function {
	type called struct {
		form, params, named, others, defaults string
		rest                                  bool
	}
	all, same := map[string]*function{}, map[called]*function{}
	var derived []func() // gradients, made when all functions are there
	for _, row := range catalogue.All() {
		var formula *function
		if row.Formula != nil {
			formula = formulaOfRow(row)
		}
		for _, name := range row.Names {
			switch {
			case isKernel(name):
				continue
			case formula != nil:
				all[name] = formula
			}
			for space, call := range row.Calls {
				key := name
				if space != "" {
					key = space + "." + name
				}
				if of, outs, ok := strings.Cut(call.Form, "'"); ok {
					derived = append(derived, func() {
						how := called{call.Form, strings.Join(call.Params, " "), "", fmt.Sprint(call.Others), fmt.Sprint(call.Defaults), false}
						if same[how] == nil {
							f := gradientKernel(of, all[of], call.Params, strings.Split(outs, "'"))
							f.others, f.defaults = call.Others, call.Defaults
							same[how] = f
						}
						all[key] = same[how]
					})
					continue
				}
				form, returns := call.Form, strings.HasSuffix(name, "_functional") && forms[call.Form] != nil && forms[call.Form].mends != nil // what it would write to, it returns
				if returns {
					form += "_functional"
				}
				add := func(of *function) {
					how := called{form, strings.Join(call.Params, " "), strings.Join(call.Named, " "), fmt.Sprint(call.Others), fmt.Sprint(call.Defaults), call.Rest}
					if same[how] == nil {
						f := *of
						f.params, f.rest, f.named, f.others, f.defaults = call.Params, call.Rest, call.Named, call.Others, call.Defaults
						if returns {
							f.mends = nil
						}
						same[how] = &f
					}
					all[key] = same[how]
				}
				if of := forms[call.Form]; row.Steps != nil && call.Form == "steps" {
					form = strings.Join(row.Steps, ";")
					add(&function{forward: func(k *invocation) []Reading { return k.bySteps(row.Steps) }})
				} else if of != nil {
					add(of)
				} else { // a formula under other parameters
					derived = append(derived, func() { add(all[call.Form]) })
				}
			}
		}
	}
	for _, add := range derived {
		add()
	}
	return all
}

// define adds a form.
func define(form string, f function) { forms[form] = &f }

// formulaFor makes the forward of a function with one output and one reading.
func formulaFor(f func(k *invocation) Values) func(k *invocation) []Reading {
	return func(k *invocation) []Reading {
		return outputs(f(k))
	}
}

// dunders are the operators of Python that are not functions under the same name.
var dunders = map[string]string{"truediv": "div", "floordiv": "floor_divide", "mod": "remainder", "matmul": "matmul", "invert": "bitwise_not",
	"and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift"}

// called is the function that a name stands for: without the namespace, the marks of an operator of
// Python, and the _ of one that works in place. __add__ is add, __radd__ add with its operands
// swapped, __iadd__ and add_ add in place; Aten's overload names (.Tensor, .out) are cut off.
// MindSpore's functions are looked for first in its own, then as one of PyTorch (borrowed).
func called(prefix, api, framework string) (f *function, base string, inPlace, swapped bool) {
	base = api
	switch prefix {
	case "Mint":
		prefix = "Torch"
	case "MintFunctional":
		prefix = "Functional"
	case "Functional", "Torch", "Tensor", "NPU", "MindSpeed", "VF":
		if framework == "mindspore" && !(prefix == "Tensor" && strings.HasPrefix(api, "__")) {
			for _, name := range []string{prefix + "." + base, base} {
				if f := functionsOfMindSpore()[name]; f != nil {
					return f, base, false, false
				}
			}
			if known := functions()[base]; known != nil { // another may be under the same name
				f := *known
				f.borrowed = true
				return &f, base, false, false
			}
			return nil, base, false, false
		}
	case "Primitive":
		base = base[strings.LastIndexByte(base, '.')+1:]
		return functionsOfMindSpore()[base], base, false, false
	case "Aten":
		base, _, _ = strings.Cut(base, ".")
		base = strings.TrimPrefix(base, "_")
	default:
		return nil, base, false, false
	}
	if name, ok := strings.CutPrefix(base, "__"); ok && strings.HasSuffix(name, "__") {
		base = strings.TrimSuffix(name, "__")
		if _, known := functions()[base]; !known && dunders[base] == "" && len(base) > 2 {
			for _, mark := range []string{"i", "r"} {
				if rest, ok := strings.CutPrefix(base, mark); ok {
					base, inPlace, swapped = rest, mark == "i", mark == "r"
					break
				}
			}
		}
		if name, ok := dunders[base]; ok {
			base = name
		}
	} else if name, ok := strings.CutSuffix(base, "_"); ok {
		f, base, inPlace = functions()[base], name, true // it may be a function of its own
		if f != nil {
			return f, base, inPlace, false
		}
	}
	f = functions()[prefix+"."+base]
	if f == nil && prefix == "Torch" { // which is aten's but where it is written in Python
		f = functions()["Aten."+base]
	}
	if f != nil {
		return f, base, inPlace, swapped
	}
	return functions()[base], base, inPlace, swapped
}

// otherNames are parameters under the names that many functions know them by; those of one are in
// its row.
var otherNames = map[string]string{"self": "input", "x": "input", "axis": "dim", "keepdims": "keepdim", "tensor": "input", "dimension": "dim", "vec": "vec2"}

// param is the parameter that an argument is given to by name; the name itself where there is none.
func (f *function) param(name string) string {
	if slices.Contains(f.params, name) {
		return name
	}
	if other := f.others[name]; other != "" {
		return other
	}
	if slices.Contains(f.params, otherNames[name]) {
		return otherNames[name]
	}
	return name
}

// ignored arguments say where a result lies and not what it is; its type is that
// of the recorded output.
var ignored = map[string]bool{"requires_grad": true, "device": true, "layout": true, "pin_memory": true, "non_blocking": true, "memory_format": true,
	"copy": true, "dtype": true, "_stacklevel": true, "generator": true, "async": true}

// bind gives the arguments of a call to the parameters of a function. Positional arguments go to
// parameters in order, the last of which may take the rest; keyword arguments by any of their
// names. inplace and out say that an argument was written over. What is no parameter is refused
// unless it is None or says nothing of the numbers (ignored).
func bind(f *function, r *recorded, swapped bool) (args map[string]*argument, inPlace bool) {
	args = map[string]*argument{}
	positional := r.args
	if swapped && len(positional) == 2 {
		positional = []*argument{positional[1], positional[0]}
	}
	for i, a := range positional {
		last := len(f.params) - 1
		switch {
		case f.rest && i >= last:
			// A list, or the numbers themselves.
			if i == last && a != nil && (a.v == nil || a.v.Kind == msprobe.Size || a.tensor()) && len(positional) == i+1 {
				args[f.params[last]] = a
				continue
			}
			if args[f.params[last]] == nil {
				args[f.params[last]] = &argument{}
			}
			args[f.params[last]].list = append(args[f.params[last]].list, a)
		case i > last:
			refuseIf(!a.none(), NewArgument, itoa(i))
		default:
			args[f.params[i]] = a
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.kwargs)) {
		a := r.kwargs[key]
		name := f.param(key)
		switch {
		case name == "inplace":
			if x, ok := a.number(); ok && x != 0 {
				inPlace = true
			}
		case slices.Contains(f.params, name), slices.Contains(f.named, name):
			args[name] = a
		case name == "out":
			inPlace = inPlace || !a.none()
		default:
			refuseIf(!ignored[name] && !a.none(), NewArgument, key)
		}
	}
	if x, ok := args["inplace"].number(); ok && x != 0 {
		inPlace = true
	}
	f.fill(args)
	return args, inPlace
}

// fill gives parameters that nothing was given for what the row fixes them to.
func (f *function) fill(args map[string]*argument) {
	for name, text := range f.defaults {
		if args[name].none() {
			args[name] = textArgument(text)
			if x, err := strconv.ParseFloat(text, 64); err == nil {
				args[name] = numberArgument(x)
			}
		}
	}
}

// A kernel that computes what a function does is a row of the catalogue and no code here: the row
// says which function, and which inputs and attributes of the kernel are its parameters.

// kernelFunction is the function that a kernel computes, with how its parameters are bound; nil
// where its row says none.
func kernelFunction(row *catalogue.Row) (f *function, args []catalogue.Arg) {
	if b := row.As; b != nil {
		return functions()[b.Function], b.Args
	}
	if row.Formula == nil {
		return nil, nil
	}
	slot := 0
	for _, p := range row.Formula.Params {
		a := catalogue.Arg{Param: p.Name, From: []string{p.Name}, Slot: -1}
		if !p.Number {
			a.Slot, slot = slot, slot+1
		}
		args = append(args, a)
	}
	return formulaOfRow(row), args
}

// twin makes the readings of a kernel by the function that it computes.
func (c *Call) twin(row *catalogue.Row) []Reading {
	f, args := kernelFunction(row)
	k := c.invoked(row, f, args)
	if row.As != nil && row.As.Gradient != "" {
		return k.gradientOf(f, row.As.Gradient)
	}
	out := f.forward(k)
	if row.As != nil && row.As.Results != nil {
		for i := range out {
			out[i].Out = placed(out[i].Out, row.As.Results)
		}
	}
	return out
}

// invoked binds the inputs and attributes of a kernel to the parameters of a function. An input
// that is connected goes before an attribute of the same parameter; of attributes the first name
// that the graph has.
func (c *Call) invoked(row *catalogue.Row, f *function, args []catalogue.Arg) *invocation {
	k := &invocation{Call: c, name: row.Names[0], args: map[string]*argument{}, params: f.params, called: map[string]string{}}
	if row.As != nil {
		k.name = row.As.Function
	}
	for i := range args {
		a := &args[i]
		key := a.From[0]
		for _, other := range a.From[1:] {
			if c.attrs.Get(key) == nil && c.attrs.Get(other) != nil {
				key = other
			}
		}
		k.called[a.Param] = key
		if a.Many {
			k.args[a.Param] = c.numbered(a, args)
			continue
		}
		if a.Slot == catalogue.Rest {
			k.args[a.Param] = c.rest(args)
			continue
		}
		var o *operand
		for _, name := range a.From {
			if o == nil {
				o = c.input(name, a.Slot)
			}
		}
		if o != nil && c.attrs.Get(key) == nil {
			at := strings.IndexByte(o.axes, 'C')
			refuseIf(a.Param == "" && a.Slot >= 0, Unsupported, key)
			refuseIf(row.Traits&catalogue.Channels != 0 && len(o.axes) == len(o.shape) && at > 0 && at != 1,
				BadLayout, key, o.axes+" where the channels come second")
			if a.Turned != "" && c.attrBool(a.Turned, false) {
				o = o.turned()
			}
			k.args[a.Param] = &argument{v: &msprobe.Value{Kind: msprobe.Tensor}, place: key, op: o}
			continue
		}
		if value := c.attributeArgument(a, key); a.Param != "" {
			k.args[a.Param] = value
		}
	}
	f.fill(k.args)
	return k
}

// numbered are the inputs of an argument that is a list of them; one of them stands for itself.
// Without names a list of more moves what comes behind it, and nobody knows where to.
func (c *Call) numbered(a *catalogue.Arg, args []catalogue.Arg) *argument {
	last := slices.MaxFunc(args, func(a, b catalogue.Arg) int { return a.Slot - b.Slot })
	refuseIf(len(c.names) == 0 && len(c.slots) > last.Slot+1, InputCount, len(c.slots), last.Slot+1)
	list := &argument{}
	for i := 0; ; i++ {
		name := a.From[0] + itoa(i)
		if _, named := c.names[name]; i > 0 && !named {
			break
		}
		if o := c.input(name, a.Slot); o != nil {
			if a.Turned != "" && c.attrBool(a.Turned, false) {
				o = o.turned()
			}
			list.list = append(list.list, &argument{v: &msprobe.Value{Kind: msprobe.Tensor}, place: name, op: o})
		}
	}
	switch len(list.list) {
	case 0:
		return nil
	case 1:
		return list.list[0]
	}
	return list
}

// rest are the inputs of a kernel that takes any number of them, but those that go by the name of
// another argument.
func (c *Call) rest(args []catalogue.Arg) *argument {
	list := &argument{}
	for slot, o := range c.slots {
		named := slices.ContainsFunc(args, func(a catalogue.Arg) bool {
			at, ok := c.names[a.From[0]]
			return ok && at == slot && a.Slot != catalogue.Rest
		})
		if o != nil && !named {
			list.list = append(list.list, &argument{v: &msprobe.Value{Kind: msprobe.Tensor}, place: o.name, op: o})
		}
	}
	return list
}

// gradientOf is the gradient of a parameter, by the gradient of the result and the result itself,
// which are arguments of the kernel.
func (k *invocation) gradientOf(f *function, param string) []Reading {
	g := k.tensor("grad")
	if k.has("result") {
		y := k.tensor("result")
		k.results = []*operand{y}
	}
	k.gradients = []*operand{g}
	all := f.backward(k, []Values{g})
	v := all[param]()
	v = k.asRecorded(v, 0)
	return outputs(v)
}

// placed puts results where a kernel has them.
func placed(results []Values, at []int) (out []Values) {
	for i, v := range results {
		if i >= len(at) {
			break
		}
		for len(out) <= at[i] {
			out = append(out, nil)
		}
		out[at[i]] = v
	}
	return out
}

// attributeArgument is an attribute as an argument of a function; nil where the function's own
// default is what it is. !value in the row asks for that value, ? that there is one, and nothing
// leaves it to the function. Numbers of words are places in the list.
func (c *Call) attributeArgument(a *catalogue.Arg, key string) *argument {
	v := c.attrs.Get(key)
	if a.Param == "" {
		refuseIf(v != nil && v.String() != a.Default, BadAttribute, key, v.String(), a.Default)
		return nil
	}
	switch {
	case v == nil && a.Default == "?" && a.Slot >= 0:
		panic(refusal(NoInput, key))
	case v == nil && a.Default == "?":
		panic(refusal(NoAttribute, key))
	case v == nil && a.Default == "" && a.Words == nil:
		return nil
	case v == nil && a.Words != nil:
		return wordArgument(a.Words[0])
	case v == nil:
		x := attributeOf(c, key, defaultNumber(a))
		if math.IsNaN(x) {
			return textArgument(a.Default)
		}
		return numberArgument(x)
	case a.Words != nil:
		n := c.attrInt(key, 0)
		refuseIf(n < 0 || n >= int64(len(a.Words)), BadAttribute, key, v.String(), "0 to "+itoa(len(a.Words)-1))
		return wordArgument(a.Words[n])
	}
	switch v.Kind() {
	case graph.KindInt:
		n := c.attrInt(key, 0)
		return intArgument(n)
	case graph.KindFloat:
		x := c.attrFloat(key, 0)
		return numberArgument(x)
	case graph.KindBool:
		x := c.attrBool(key, false)
		return scalarArgument("bool", msprobe.Number{Kind: msprobe.Bool, I: int64(toNumber(x)), F: toNumber(x)})
	case graph.KindString:
		return textArgument(v.Text())
	case graph.KindList, graph.KindListListInt:
		if v.Len() == 0 && a.Default != "" {
			return numberArgument(defaultNumber(a))
		}
		list := c.attrInts(key)
		out := &argument{list: []*argument{}}
		for _, n := range list {
			out.list = append(out.list, intArgument(n))
		}
		return out
	}
	panic(refusal(BadAttribute, key, v.String(), "a number, a text or a list of whole numbers"))
}

// defaultNumber is the default of an argument; NaN if that is a text.
func defaultNumber(a *catalogue.Arg) float64 {
	x, err := strconv.ParseFloat(a.Default, 64)
	if err != nil {
		return math.NaN()
	}
	return x
}

// scalarArgument and those below are arguments made of attributes or of what a row fixes.
func scalarArgument(typ string, n msprobe.Number) *argument {
	return &argument{v: &msprobe.Value{Kind: msprobe.Scalar, Type: typ, Value: n}}
}

func intArgument(n int64) *argument {
	return scalarArgument("int", msprobe.Number{Kind: msprobe.Int, I: n, F: float64(n)})
}

func numberArgument(x float64) *argument {
	return scalarArgument("float", msprobe.Number{Kind: msprobe.Float, F: x})
}

func textArgument(s string) *argument {
	return scalarArgument("str", msprobe.Number{Kind: msprobe.Text, S: s})
}

// wordArgument is a word of a row, which may be a number: functions and kernels count the same
// modes otherwise.
func wordArgument(s string) *argument {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return intArgument(n)
	}
	return textArgument(s)
}

// fusedPrefix starts the name of a kernel that several operators were built
// into; the types follow in order, and then hashes.
const fusedPrefix = "te_fused_op_"

// kernelName is the name of the kernel that runs an operator, "" if the graph
// does not say.
func kernelName(op *graph.Op) string {
	return op.Attr(op.Name + "_kernelname").Text()
}

// fusedWords are the words between prefix and hashes of a fused kernel's name;
// false for the kernel of a lone operator.
func fusedWords(kernel string) ([]string, bool) {
	rest, ok := strings.CutPrefix(kernel, fusedPrefix)
	if !ok {
		return nil, false
	}
	words := strings.Split(rest, "_")
	if i := slices.IndexFunc(words, isHash); i >= 0 {
		words = words[:i]
	}
	return words, true
}

// isHash tells the hashes at the end of a kernel's name from the words before.
func isHash(word string) bool {
	return len(word) >= 12 && strings.Trim(word, "0123456789abcdef") == ""
}

// splitParts joins words to names of parts, the longest first: leaky_relu is
// one part, not two. It returns the word it does not know, if any.
// Names of up to six words are tried.
func splitParts(words []string) (names []string, unknown string) {
	for len(words) > 0 {
		n := 0
		for k := min(len(words), 6); k > 0 && n == 0; k-- {
			if name := strings.Join(words[:k], "_"); partKnown(name) {
				names, n = append(names, name), k
			}
		}
		if n == 0 {
			return nil, words[0]
		}
		words = words[n:]
	}
	return names, ""
}

var (
	convParts   = []string{"conv2d", "conv2_d", "conv2dcompress"}
	matmulParts = []string{"mat_mul", "matmul", "mat_mul_v2", "matmulv2", "mat_mulv2", "batch_mat_mul", "batch_matmul", "batchmatmul", "batch_mat_mul_v2"}
	selectParts = []string{"read_select", "readselect"}
)

// partKnown tells whether a word of a fused kernel's name is a part that is computed.
func partKnown(name string) bool {
	_, ok := fusedPart(name)
	return ok || slices.Contains(convParts, name) || slices.Contains(matmulParts, name) || slices.Contains(selectParts, name)
}

// buildFused reads a kernel of several operators. Its inputs are those of the
// first part, then the further ones of each part in order; a strided read comes
// before the convolution, and its result goes into the sum.
func buildFused(c *Call, words []string) []Reading {
	names, unknown := splitParts(words)
	refuseIf(unknown != "", FusedWord, unknown)
	in := c.operands()
	var read *operand
	if len(names) > 0 && slices.Contains(selectParts, names[0]) {
		refuseIf(len(in) == 0, NoInput, "x")
		read, in, names = in[0], in[1:], names[1:]
	}
	refuseIf(len(names) == 0, FusedWord, "")
	// Every further part takes its operands but the first, which is the result
	// so far, from the end of the inputs.
	extras := 0
	for _, name := range names[1:] {
		p, ok := fusedPart(name)
		refuseIf(!ok, FusedWord, name)
		extras += p.operands - 1
	}
	if read != nil {
		extras--
	}
	first := len(in) - extras
	refuseIf(extras < 0 || first < 1, InputCount, len(in), extras+1)
	readings := c.firstPart(names[0], in[:first])
	for i := range readings {
		readings[i].Out[0] = c.chain(names[1:], readings[i].Out[0], in[first:], read)
		readings[i].Out[0] = c.asRecorded(readings[i].Out[0], 0)
	}
	return readings
}

// operands lists the connected inputs.
func (c *Call) operands() []*operand {
	return slices.DeleteFunc(slices.Clone(c.slots), func(o *operand) bool { return o == nil })
}

// firstPart reads the part of a fused kernel that only takes recorded inputs.
func (c *Call) firstPart(name string, in []*operand) []Reading {
	third := func() *operand {
		if len(in) > 2 {
			return in[2]
		}
		return nil
	}
	switch {
	case slices.Contains(convParts, name):
		refuseIf(len(in) != 2 && len(in) != 3, InputCount, len(in), 3)
		return c.convReadings(in[0], in[1], third())
	case slices.Contains(matmulParts, name):
		refuseIf(len(in) != 2 && len(in) != 3, InputCount, len(in), 3)
		return c.fusedMatmul(in[0], in[1], third())
	}
	p, ok := fusedPart(name)
	refuseIf(!ok, FusedWord, name)
	refuseIf(len(in) != p.operands, InputCount, len(in), p.operands)
	values := each.Of(in, func(o *operand) Values { return o })
	return outputs(p.build(c, values))
}

// fusedMatmul multiplies matrices whose attributes fusion lost: the recorded
// shapes tell which sides are turned. Square ones fit either way; then both are
// readings.
// A reading for each of the four ways that gives the recorded shape.
func (c *Call) fusedMatmul(x1, x2, bias *operand) []Reading {
	if c.attrs.Get("transpose_x1") != nil || c.attrs.Get("adj_x1") != nil {
		return c.matmulReading(x1, x2, bias)
	}
	want := c.shape()
	var out []Reading
	var first error
	for _, t := range [][2]bool{{false, false}, {false, true}, {true, false}, {true, true}} {
		v, err := must.Of(func() Values { return c.newMatmul(turned(x1, t[0]), turned(x2, t[1]), valuesOf(bias)) })
		if err == nil && !sameShape(v.Shape(), want) {
			err = refuse(ShapeComputed, shapeText(v.Shape()), shapeText(want))
		}
		if err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		out = append(out, Reading{Name: "transposed", Args: []string{sides(t)}, Out: []Values{v}})
	}
	if len(out) == 0 {
		must.Do(first)
	}
	return out
}

// sides says which factors of a product were transposed, for the name of a reading.
func sides(t [2]bool) string {
	switch t {
	case [2]bool{true, false}:
		return "x1"
	case [2]bool{false, true}:
		return "x2"
	case [2]bool{true, true}:
		return "x1, x2"
	}
	return "-"
}

// chain applies the further parts of a fused kernel to the result of the first.
func (c *Call) chain(names []string, v Values, extra []*operand, read *operand) Values {
	p := precisionFor(c.outType())
	for _, name := range names {
		part, _ := fusedPart(name)
		if !part.keeps && !isExact(v) && !p.integer {
			v = &rounded{v, p}
		}
		in := []Values{v}
		for range part.operands - 1 {
			switch {
			case read != nil:
				r := stridedRead(read, v.Shape())
				in, read = append(in, r), nil
			default:
				in, extra = append(in, extra[0]), extra[1:]
			}
		}
		v = part.build(c, in)
	}
	refuseIf(read != nil, InputCount, len(extra)+1, len(extra))
	return v
}

// stridedRead takes every s-th element of x on each axis, s = in/out.
func stridedRead(x *operand, want []int64) Values {
	refuseIf(len(x.shape) != len(want), ShapesDiffer, x.shape, want)
	steps := make([]int64, len(want))
	for i, d := range x.shape {
		refuseIf(want[i] < 1 || d < want[i], ShapesDiffer, x.shape, want)
		steps[i] = (d + want[i] - 1) / want[i]
		refuseIf((want[i]-1)*steps[i] >= d, ShapesDiffer, x.shape, want)
	}
	return cut(x, make([]int64, len(want)), want, steps)
}
