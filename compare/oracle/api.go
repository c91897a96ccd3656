package oracle

import (
	"maps"
	"slices"
	"strings"

	"precision/dump/msprobe"
	catalogue "precision/op"
)

// function is a function of PyTorch or torch_npu, under one or more names: what
// its parameters are, and what it computes. To add one: a call of function in the
// file of its family, with the names it is recorded by (add; Functional.softmax where
// the namespaces differ), the parameters in the order of the definition, and the
// formula. A parameter *size takes the rest of the positional arguments, or a list.
type function struct {
	params  []string
	rest    bool // the last one takes the rest
	forward func(k *invocation) []Reading
	// backward gives the gradients of parameters from those of the outputs.
	backward func(k *invocation, g []Values) gradients
	// nodes are the gradients that the last step of the function takes, in its
	// order, where a recorder looks at that: weight' is transposed.
	nodes [][]string
	// hidden are attributes that a primitive of MindSpore keeps to itself.
	hidden []string
	// local functions compute an element from those in the same place, so that parts
	// of tensors will do.
	local bool
}

// gradients computes the gradients of parameters, each when it is asked for.
type gradients map[string]func() Values

var functions = formulas()

// formulas are the functions that are formulas in their rows.
func formulas() map[string]*function {
	all := map[string]*function{}
	for _, row := range catalogue.All() {
		if row.Formula == nil {
			continue
		}
		f := formulaOfRow(row)
		for _, name := range row.Names {
			if !isKernel(name) {
				all[name] = f
			}
		}
	}
	return all
}

// define adds a function under its names.
func define(names, params string, f function) *function {
	f.params = strings.Fields(params)
	if n := len(f.params); n > 0 && f.params[n-1][0] == '*' {
		f.params[n-1], f.rest = f.params[n-1][1:], true
	}
	for _, name := range strings.Fields(names) {
		functions[name] = &f
	}
	return &f
}

// formulaFor makes the forward of a function with one output and one reading.
func formulaFor(f func(k *invocation) Values) func(k *invocation) []Reading {
	return func(k *invocation) []Reading {
		v := f(k)
		return []Reading{{Out: []Values{v}}}
	}
}

// dunders are the operators of Python that are not functions under the same name.
var dunders = map[string]string{"truediv": "div", "floordiv": "floor_divide", "mod": "remainder", "matmul": "matmul", "invert": "bitwise_not",
	"and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift"}

// called is the function that a name stands for: without the namespace, the marks
// of an operator of Python, and the _ of one that works in place.
func called(prefix, api, framework string) (f *function, base string, inPlace, swapped bool) {
	base = api
	switch prefix {
	case "Mint":
		prefix = "Torch"
	case "MintFunctional":
		prefix = "Functional"
	case "Functional", "Torch", "Tensor", "NPU", "VF":
		if framework == "mindspore" && !(prefix == "Tensor" && strings.HasPrefix(api, "__")) {
			if f := functionsOfMindSpore()[prefix+"."+base]; f != nil {
				return f, base, false, false
			}
			return functionsOfMindSpore()[base], base, false, false // others may be under the same names
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
		if _, known := functions[base]; !known && dunders[base] == "" && len(base) > 2 {
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
		base, inPlace = name, true
	}
	if f := functions[prefix+"."+base]; f != nil {
		return f, base, inPlace, swapped
	}
	return functions[base], base, inPlace, swapped
}

// otherNames are parameters under the names that some functions know them by.
var otherNames = map[string]string{"self": "input", "x": "input", "axis": "dim", "keepdims": "keepdim", "tensor": "input"}

// ignored arguments say where a result lies and not what it is; its type is that
// of the recorded output.
var ignored = map[string]bool{"requires_grad": true, "device": true, "layout": true, "pin_memory": true, "non_blocking": true, "memory_format": true,
	"copy": true, "dtype": true, "_stacklevel": true, "generator": true, "async": true}

// bind gives the arguments of a call to the parameters of a function.
func bind(f *function, r *recorded, swapped bool) (map[string]*argument, bool, error) {
	args := map[string]*argument{}
	inPlace := false
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
			if a.none() {
				continue
			}
			return nil, false, refuse(NewArgument, itoa(i))
		default:
			args[f.params[i]] = a
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.kwargs)) {
		a := r.kwargs[key]
		name := key
		if !slices.Contains(f.params, name) && slices.Contains(f.params, otherNames[name]) {
			name = otherNames[name]
		}
		switch {
		case name == "inplace":
			if x, ok := a.number(); ok && x != 0 {
				inPlace = true
			}
		case name == "out":
			inPlace = inPlace || !a.none()
		case slices.Contains(f.params, name):
			args[name] = a
		case !ignored[name] && !a.none():
			return nil, false, refuse(NewArgument, key)
		}
	}
	if x, ok := args["inplace"].number(); ok && x != 0 {
		inPlace = true
	}
	return args, inPlace, nil
}
