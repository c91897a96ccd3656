package msprobe

import (
	"slices"
	"strings"

	"precision/op"
)

// Recorders read tensors where they lie: a checksum may be taken when they have changed, and
// memory may be recorded that nothing has been written to. What a function does to memory is
// told by its name and its arguments.

// function is the last part of the name of a function, without its overload.
func (n *Name) function() string {
	if n.Form != API {
		return ""
	}
	name := n.API
	for { // add_.Tensor, ops.aten.add_
		head, rest, ok := strings.Cut(name, ".")
		if !ok || head == "" || strings.HasSuffix(head, "_") {
			return head
		}
		name = rest
	}
}

// InPlace tells whether a function writes into its first argument: add_, __iadd__, __setitem__,
// and whatever processes exchange.
func (n *Name) InPlace() bool {
	if n.Direction != Forward {
		return false
	}
	f := n.function()
	switch {
	case n.Prefix == "Distributed", f == "__setitem__":
		return true
	case strings.HasPrefix(f, "__"):
		return strings.HasPrefix(f, "__i") && len(f) > 6 && f != "__invert__" && f != "__index__"
	}
	return strings.HasSuffix(f, "_")
}

// receiving are functions that write what they get from other processes.
var receiving = set(`recv irecv scatter all_gather all_gather_into_tensor _all_gather_base reduce_scatter reduce_scatter_tensor _reduce_scatter_base all_to_all all_to_all_single`)

// targets are the names under which processes are given what they are to write.
var targets = set(`tensor output output_tensor output_tensor_list tensor_list gather_list`)

func set(names string) map[string]bool {
	m := map[string]bool{}
	for _, name := range strings.Fields(names) {
		m[name] = true
	}
	return m
}

// Fills tells that a function writes all of its first argument.
func (n *Name) Fills() bool { return op.Is(n.function(), op.Fills) }

// Carves tells that a function hands out a part of memory, of which a program may make use in
// ways that are not recorded: that a library keeps for what it is to receive, say.
func (n *Name) Carves() bool { return op.Is(n.function(), op.Carves) }

// Begins tells of a call of several ranks that it does not wait until it is done, so that what it gives may
// not be there when it is recorded. value gives the argument at another place of the call, if there is one.
func (n *Name) Begins(value func(section Section, path string) (Number, bool)) bool {
	if n.Prefix != "Distributed" || n.Direction != Forward {
		return false
	}
	async, _ := value(Kwargs, "async_op")
	return async.Kind == Bool && async.I != 0 || strings.HasPrefix(n.API, "i")
}

// Returns tells of a forward call that its function may return its argument itself.
func (n *Name) Returns() bool { return n.Direction == Forward && op.Is(n.function(), op.Returns) }

// Argument is the argument at a place of the call, no tensor.
func (c *Call) Argument(section Section, path string) (Number, bool) {
	for i := range c.Values {
		if v := &c.Values[i]; v.Section == section && v.Path == path && v.Kind != Tensor {
			return v.Value, true
		}
	}
	return Number{}, false
}

// Passes tells of a forward call that it may have returned its argument itself: that function does,
// and what it returned has the type, shape and statistics of what it was given. A recorder that looks
// at the graph of gradients then sees, for its backward call, the call that made the argument.
func (c *Call) Passes() bool {
	if !c.Parsed.Returns() {
		return false
	}
	var in, out *Value
	for i := range c.Values {
		switch v := &c.Values[i]; {
		case v.Kind != Tensor:
		case v.Section == Input && in == nil:
			in = v
		case v.Section == Output && out == nil:
			out = v
		}
	}
	return in != nil && out != nil && in.DType == out.DType && slices.Equal(in.Shape, out.Shape) &&
		in.Max.Same(out.Max) && in.Min.Same(out.Min) && in.Mean.Same(out.Mean) && in.Norm.Same(out.Norm)
}

// Unfilled tells of a tensor of a call, by its section and path, that it may be memory which
// nothing was written to yet, whose numbers are no evidence of anything. value gives the
// argument at another place of the call, if there is one.
func (n *Name) Unfilled(section Section, path string, value func(section Section, path string) (Number, bool)) bool {
	if n.Direction != Forward {
		return false
	}
	f, exchange := n.function(), n.Prefix == "Distributed"
	head, rest, _ := strings.Cut(path, ".")
	if of, ok := strings.CutSuffix(path, ".tensor"); ok && exchange {
		// Of a list of transfers: what is received is not there when it is recorded, neither
		// before nor behind the call, which only begins them.
		op, ok := value(section, of+".op")
		return ok && op.S == "irecv"
	}
	switch section {
	case Output:
		return op.Is(f, op.Allocates)
	case Kwargs:
		return head == "out" || exchange && targets[head] && (receiving[f] || f == "gather")
	case Input:
		switch {
		case exchange:
			return head == "0" && receiving[f] || head == "1" && f == "gather"
		case head != "0":
		case op.Is(f, op.Scales):
			beta, ok := value(Kwargs, "beta")
			v, number := beta.Value()
			return ok && number && v == 0
		default:
			return rest == "" && op.Is(f, op.Fills|op.Mends)
		}
	}
	return false
}
