package torch

import (
	"fmt"
	"strings"

	"precision/dump/dtype"
)

// callOf is what stands here for a function that a pickle of tensors calls, nil for any other. A name that is neither
// here nor in plain ends the reading.
func callOf(n name) func(m *machine, args tuple) any {
	switch n {
	case name{"collections", "OrderedDict"}:
		return orderedDict
	case name{"torch", "Size"}:
		return size
	case name{"torch._utils", "_rebuild_tensor"}, name{"torch._utils", "_rebuild_tensor_v2"}:
		return rebuildTensor
	case name{"torch._utils", "_rebuild_tensor_v3"}:
		return rebuildTensor3
	case name{"torch._utils", "_rebuild_parameter"}, name{"torch._utils", "_rebuild_parameter_with_state"}:
		return rebuildParameter
	case name{"torch._tensor", "_rebuild_from_type_v2"}:
		return rebuildFromType
	}
	return nil
}

// plain are classes that stand as arguments of calls.
var plain = map[name]bool{
	{"torch", "Tensor"}:                 true,
	{"torch.nn.parameter", "Parameter"}: true,
	{"torch.nn.parameter", "Buffer"}:    true,
	{"torch.storage", "UntypedStorage"}: true,
	{"torch", "UntypedStorage"}:         true,
}

// global admits a name to the stack if it is one that tensors need.
func (m *machine) global(n name) {
	call := callOf(n) != nil
	if !call && !m.any && !plain[n] && (n.module != "torch" || !strings.HasSuffix(n.name, "Storage") && !isType(n.name)) {
		m.refuse("the name %s, which no tensor needs; nothing was executed", quoted(n.String()))
	}
	m.push(n)
}

// isType tells names of element types from other names of the module torch.
func isType(s string) bool {
	if _, ok := dtype.FromFramework(s); ok {
		return true
	}
	// Types that are not read get their message where they are used.
	for _, p := range [...]string{"float", "bfloat", "int", "uint", "qint", "quint", "bits", "complex"} {
		if rest, ok := strings.CutPrefix(s, p); ok && rest != "" && rest[0] >= '1' && rest[0] <= '9' {
			return true
		}
	}
	return false
}

// call is the REDUCE operation.
func (m *machine) call(what, args any) any {
	n, named := what.(name)
	t, ok := args.(tuple)
	f := callOf(n)
	switch {
	case m.any && f == nil:
		m.spend(costItem * 4)
		return &object{class: n}
	case !named:
		m.bad("a call of "+describe(what), "one of a function of PyTorch")
	case !ok:
		m.bad("a call of "+n.String()+" with "+describe(args), "a tuple of arguments")
	case f == nil:
		m.refuse("a call of %s, which no tensor needs; nothing was executed", quoted(n.String()))
	}
	return f(m, t)
}

func orderedDict(m *machine, args tuple) any {
	d := &dict{}
	if len(args) == 0 {
		return d
	}
	pairs, ok := args[0].(*list) // as Python 2 wrote it
	if !ok || len(args) > 1 {
		m.bad("an OrderedDict of "+describe(args[0]), "none, or a list of pairs")
	}
	for _, p := range pairs.items {
		switch p := p.(type) {
		case tuple:
			if len(p) == 2 {
				d.keys, d.values = append(d.keys, p[0]), append(d.values, p[1])
				continue
			}
		case *list:
			if len(p.items) == 2 {
				d.keys, d.values = append(d.keys, p.items[0]), append(d.values, p.items[1])
				continue
			}
		}
		m.bad("an OrderedDict of "+describe(p), "pairs of key and value")
	}
	m.spend(2 * costItem * int64(len(d.keys)))
	return d
}

func size(m *machine, args tuple) any {
	if len(args) == 1 {
		switch v := args[0].(type) {
		case tuple:
			return v
		case *list:
			return tuple(v.items)
		}
	}
	m.bad(fmt.Sprintf("a torch.Size of %d arguments", len(args)), "a tuple of dims")
	return nil
}

// rebuildTensor is (storage, offset, size, stride[, requires_grad, hooks[,
// metadata]]).
func rebuildTensor(m *machine, args tuple) any {
	if len(args) < 4 || len(args) > 7 {
		m.bad(fmt.Sprintf("a tensor of %d arguments", len(args)), "4 to 7")
	}
	s := m.storageOf(args[0])
	if s.untyped {
		m.bad("a tensor over untyped bytes", "a storage with an element type")
	}
	var meta any
	if len(args) > 6 {
		meta = args[6]
	}
	return m.tensor(s, s.typ, args, meta)
}

// rebuildTensor3 is (storage, offset, size, stride, requires_grad, hooks,
// dtype[, metadata]): for the types that have no storage class.
func rebuildTensor3(m *machine, args tuple) any {
	if len(args) < 7 || len(args) > 8 {
		m.bad(fmt.Sprintf("a tensor of %d arguments", len(args)), "7 or 8")
	}
	s := m.storageOf(args[0])
	n, ok := args[6].(name)
	if !ok {
		m.bad("the element type "+describe(args[6]), "one of PyTorch")
	}
	typ, ok := dtype.FromFramework(n.name)
	if !ok || !typ.Readable() || typ.Packed() {
		m.refuse("elements of type %s cannot be read", n)
	}
	var meta any
	if len(args) > 7 {
		meta = args[7]
	}
	return m.tensor(s, typ, args, meta)
}

// rebuildParameter is (tensor, requires_grad, hooks[, state]).
func rebuildParameter(m *machine, args tuple) any {
	if len(args) < 2 || len(args) > 4 {
		m.bad(fmt.Sprintf("a parameter of %d arguments", len(args)), "2 to 4")
	}
	t, ok := args[0].(*Tensor)
	if !ok {
		m.bad("a parameter that is "+describe(args[0]), "a tensor")
	}
	p := *t // others may refer to the tensor itself
	m.spend(costTensor)
	return &p
}

// rebuildFromType is (function, type, arguments, state), for tensors with
// attributes of their own.
func rebuildFromType(m *machine, args tuple) any {
	if len(args) != 4 {
		m.bad(fmt.Sprintf("a tensor of a type with %d arguments", len(args)), "4")
	}
	f, ok := args[0].(name)
	class, ok2 := args[1].(name)
	inner, ok3 := args[2].(tuple)
	rebuild := callOf(f)
	if !ok || !ok2 || !ok3 || rebuild == nil || !strings.HasPrefix(f.name, "_rebuild_") || f.name == "_rebuild_from_type_v2" || !plain[class] {
		m.refuse("a tensor of %s made by %s cannot be read", describe(args[1]), describe(args[0]))
	}
	return rebuild(m, inner)
}

func (m *machine) storageOf(v any) *storage {
	s, ok := v.(*storage)
	if !ok {
		m.bad("a tensor over "+describe(v), "a storage")
	}
	return s
}
