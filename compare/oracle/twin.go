package oracle

import (
	"math"
	"strconv"
	"strings"

	"precision/dump/msprobe"
	"precision/graph"
	catalogue "precision/op"
)

// A kernel that computes what a function does is a row of the catalogue and no code here: the row
// says which function, and which inputs and attributes of the kernel are its parameters.

// kernelFunction is the function that a kernel computes, with how its parameters are bound; nil where its row says none.
func kernelFunction(row *catalogue.Row) (f *function, args []catalogue.Arg) {
	if b := row.As; b != nil {
		return functions[b.Function], b.Args
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

// invoked binds the inputs and attributes of a kernel to the parameters of a function.
func (c *Call) invoked(row *catalogue.Row, f *function, args []catalogue.Arg) *invocation {
	k := &invocation{Call: c, name: row.Names[0], args: map[string]*argument{}, params: f.params}
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
		if o := c.input(a.From[0], a.Slot); o != nil && c.attrs.Get(key) == nil {
			if at := strings.IndexByte(o.axes, 'C'); row.Traits&catalogue.Channels != 0 && len(o.axes) == len(o.shape) && at > 0 && at != 1 {
				panic(refuse(BadLayout, key, o.axes+" where the channels come second"))
			}
			k.args[a.Param] = &argument{v: &msprobe.Value{Kind: msprobe.Tensor}, place: key, op: o}
			continue
		}
		if value := c.attributeArgument(a, key); a.Param != "" {
			k.args[a.Param] = value
		}
	}
	return k
}

// gradientOf is the gradient of a parameter, by the gradient of the result and the result itself, which are
// arguments of the kernel.
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
	return []Reading{{Out: []Values{v}}}
}

// placed puts results where a kernel has them.
func placed(results []Values, at []int) []Values {
	var out []Values
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

// attributeArgument is an attribute as an argument of a function; nil where the function's own default is
// what it is.
func (c *Call) attributeArgument(a *catalogue.Arg, key string) *argument {
	v := c.attrs.Get(key)
	if a.Param == "" {
		if v != nil && v.String() != a.Default {
			panic(refuse(BadAttribute, key, v.String(), a.Default))
		}
		return nil
	}
	switch {
	case v == nil && a.Default == "" && a.Words == nil:
		return nil
	case v == nil && a.Words != nil:
		return textArgument(a.Words[0])
	case v == nil:
		x := attributeOf(c, key, defaultNumber(a))
		if math.IsNaN(x) {
			return textArgument(a.Default)
		}
		return numberArgument(x)
	case a.Words != nil:
		n := c.attrInt(key, 0)
		if n < 0 || n >= int64(len(a.Words)) {
			panic(refuse(BadAttribute, key, v.String(), "0 to "+itoa(len(a.Words)-1)))
		}
		return textArgument(a.Words[n])
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
		return intArgument(int64(toNumber(x)))
	case graph.KindString:
		return textArgument(v.Text())
	case graph.KindList:
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
	panic(refuse(BadAttribute, key, v.String(), "a number, a text or a list of whole numbers"))
}

// defaultNumber is the default of an argument; NaN if that is a text.
func defaultNumber(a *catalogue.Arg) float64 {
	x, err := strconv.ParseFloat(a.Default, 64)
	if err != nil {
		return math.NaN()
	}
	return x
}

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
