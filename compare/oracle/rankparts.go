package oracle

import (
	"slices"
	"strconv"
	"strings"

	"precision/compare/result"
	"precision/dump/msprobe"
)

// brought is a stretch of a tensor that a member brought in.
type brought struct {
	member int // place in the group
	arg    *argument
	lo     int64
}

// stretch is a part of an output: what one member brought in, or what all of them come to.
type stretch struct {
	lo, n int64
	from  []brought
	op    string // of a reduction; empty for what is only moved
}

// gathered is an output of a member and what it should be made of.
type gathered struct {
	member, index int // in recorded.flat
	arg           *argument
	parts         []stretch
	why           error // why it is not known
}

// gathering is an assembly being judged.
type gathering struct {
	*assembly
	ctx  stopper
	args []map[string]*argument
	open []*files
	outs []gathered
	// omitted are answers of countedOtherwise.
	omitted map[omission]result.Reason
	split   bool // what an output is made of follows from statistics of all outputs alone
}

type stopper interface{ Err() error }

func (m *gathering) close() {
	for _, f := range m.open {
		if f != nil {
			f.close()
		}
	}
}

// blanks are the findings of all outputs before they are judged.
func (m *gathering) blanks() (out []Finding) {
	for _, c := range m.calls {
		if c == nil {
			continue
		}
		for i, a := range recordedOf(c.Call).flat {
			if a.tensor() {
				out = append(out, c.blank(a.v, c.first+i))
			}
		}
	}
	return out
}

// elements is the number of elements of an argument, -1 where that is not known.
func elementsOfArgument(a *argument) int64 {
	if !a.tensor() {
		return -1
	}
	n, ok := a.v.Elements()
	if !ok {
		return -1
	}
	return n
}

// list are the tensors of an argument: itself, or its members.
func listOf(a *argument) (list []*argument) {
	a.each(func(x *argument) { list = append(list, x) })
	return list
}

// reduction is the operation that a call names.
func reduction(args map[string]*argument) string {
	op := args["op"]
	if op == nil || op.v == nil {
		return "sum"
	}
	name := strings.ToLower(op.v.Value.S)
	if at := strings.LastIndexByte(name, '.'); at >= 0 {
		name = name[at+1:]
	}
	switch name {
	case "product":
		return "prod"
	case "avg":
		return "mean"
	}
	return name
}

var knownReductions = map[string]bool{"sum": true, "max": true, "min": true, "prod": true, "mean": true}

// root is the place in the group of the rank that a call names; -1 for none.
func (m *gathering) root(args map[string]*argument, name string) int {
	v, ok := args[name].number()
	if !ok {
		return 0 // the default
	}
	return slices.Index(m.ranks, int(v))
}

// prepare finds what every output is made of.
func (m *gathering) prepare() {
	for _, c := range m.calls {
		m.args = append(m.args, c.collective())
	}
	for k, c := range m.calls {
		names := c.given()
		flat := recordedOf(c.Call).flat
		for i, a := range flat {
			if !a.tensor() {
				continue
			}
			path := strings.Split(a.v.Path, ".")
			at, err := strconv.Atoi(path[0])
			name := ""
			if err == nil && at < len(names) {
				name = names[at]
			}
			piece := 0
			if len(path) > 1 {
				piece, _ = strconv.Atoi(path[1])
			}
			o := gathered{member: k, index: c.first + i, arg: a}
			o.parts, o.why = m.parts(k, name, piece, a)
			m.outs = append(m.outs, o)
		}
	}
}

// parts is what an output is made of: the tensor number piece of the parameter name of a member.
func (m *gathering) parts(k int, name string, piece int, out *argument) ([]stretch, error) {
	n := elementsOfArgument(out)
	if n < 0 {
		return nil, refuse(BadTensor, out.place, "shape")
	}
	whole := func(from ...brought) ([]stretch, error) { return []stretch{{0, n, from, ""}}, nil }
	each := func(of func(member int) (*argument, int64)) ([]brought, error) {
		var list []brought
		for r := range m.args {
			a, lo := of(r)
			if have := elementsOfArgument(a); have < lo+n {
				if have < 0 {
					return nil, refuse(NoArgument, "rank "+itoa(m.ranks[r]))
				}
				return nil, refuse(ShapesDiffer, shapeText(a.v.Shape, out.v.Shape))
			}
			list = append(list, brought{r, a, lo})
		}
		return list, nil
	}
	reduced := func(of func(member int) (*argument, int64)) ([]stretch, error) {
		from, err := each(of)
		op := reduction(m.args[k])
		if err == nil && !knownReductions[op] {
			err = refuse(BadArgument, "op", op, "sum, max, min, product, avg")
		}
		return []stretch{{0, n, from, op}}, err
	}
	pieceOf := func(member int, parameter string, at int) *argument {
		list := listOf(m.args[member][parameter])
		if at < 0 || at >= len(list) {
			return nil
		}
		return list[at]
	}
	// What was only given stays as it was.
	own := func(parameter string) ([]stretch, error) {
		a := pieceOf(k, parameter, piece)
		if elementsOfArgument(a) != n {
			return nil, refuse(NoArgument, parameter)
		}
		return whole(brought{k, a, 0})
	}
	one := func(member int, a *argument) ([]stretch, error) {
		if member < 0 || a == nil {
			return nil, refuse(NoArgument, "rank "+itoa(m.ranks[max(member, 0)]))
		}
		if have := elementsOfArgument(a); have != n {
			return nil, refuse(ShapesDiffer, shapeText(a.v.Shape, out.v.Shape))
		}
		return whole(brought{member, a, 0})
	}
	size := len(m.calls)
	switch m.calls[k].Parsed.API {
	case "all_reduce":
		if name == "tensor" {
			return reduced(func(r int) (*argument, int64) { return pieceOf(r, "tensor", piece), 0 })
		}
	case "reduce":
		if name == "tensor" && m.root(m.args[k], "dst") == k {
			return reduced(func(r int) (*argument, int64) { return pieceOf(r, "tensor", 0), 0 })
		}
		return nil, refuse(NotMine) // what it is for others is not said
	case "broadcast":
		if root := m.root(m.args[k], "src"); name == "tensor" && root >= 0 {
			return one(root, pieceOf(root, "tensor", 0))
		}
	case "all_gather":
		if name == "in" {
			return own("in")
		}
		if piece < size {
			return one(piece, pieceOf(piece, "in", 0))
		}
	case "all_gather_into_tensor", "_all_gather_base":
		if name == "in" {
			return own("in")
		}
		var list []stretch
		lo := int64(0)
		for r := range size {
			a := pieceOf(r, "in", 0)
			have := elementsOfArgument(a)
			if have < 0 {
				return nil, refuse(NoArgument, "rank "+itoa(m.ranks[r]))
			}
			list = append(list, stretch{lo, have, []brought{{r, a, 0}}, ""})
			lo += have
		}
		if lo != n {
			return nil, refuse(ShapesDiffer, itoa(int(lo))+", "+itoa(int(n)))
		}
		return list, nil
	case "reduce_scatter":
		if name == "in" {
			return own("in")
		}
		return reduced(func(r int) (*argument, int64) { return pieceOf(r, "in", k), 0 })
	case "reduce_scatter_tensor", "_reduce_scatter_base":
		if name == "in" {
			return own("in")
		}
		m.split = true
		return reduced(func(r int) (*argument, int64) { return pieceOf(r, "in", 0), int64(k) * n })
	case "all_to_all":
		if name == "in" {
			return own("in")
		}
		if piece < size {
			return one(piece, pieceOf(piece, "in", k))
		}
	case "all_to_all_single":
		if name == "in" {
			return own("in")
		}
		m.split = true
		return m.exchanged(k, n, out)
	case "scatter":
		root := m.root(m.args[k], "src")
		if name == "scatter_list" {
			return own("scatter_list")
		}
		if root >= 0 {
			return one(root, pieceOf(root, "scatter_list", k))
		}
	case "gather":
		if name == "gather_list" && piece < size {
			return one(piece, pieceOf(piece, "tensor", 0))
		}
		return own("tensor")
	case "send", "isend":
		return own("tensor")
	case "recv", "irecv":
		return one(0, pieceOf(0, "tensor", 0))
	}
	return nil, refuse(NoAPI, m.calls[k].kind())
}

// exchanged is what the output of all_to_all_single is made of: a piece of the input of every
// member, as large as the members say, along the first axis.
func (m *gathering) exchanged(k int, n int64, out *argument) ([]stretch, error) {
	sizes := func(r int, name string, a *argument) ([]int64, error) {
		rows := int64(1)
		if len(a.v.Shape) > 0 {
			rows = a.v.Shape[0]
		}
		list := m.args[r][name]
		if list.none() || len(list.list) == 0 {
			each := make([]int64, len(m.calls))
			for i := range each {
				each[i] = rows / int64(len(each))
			}
			if rows%int64(len(each)) != 0 {
				return nil, refuse(ShapesDiffer, shapeText(a.v.Shape))
			}
			return each, nil
		}
		var each []int64
		for _, x := range list.list {
			v, ok := x.number()
			if !ok || v < 0 {
				return nil, refuse(NoArgument, name)
			}
			each = append(each, int64(v))
		}
		if len(each) != len(m.calls) {
			return nil, refuse(BadArgument, name, itoa(len(each)), itoa(len(m.calls)))
		}
		return each, nil
	}
	row := int64(1)
	for i, d := range out.v.Shape {
		if i > 0 {
			row *= d
		}
	}
	var list []stretch
	at := int64(0)
	for r := range m.calls {
		in := m.args[r]["in"]
		have := elementsOfArgument(in)
		if have < 0 {
			return nil, refuse(NoArgument, "rank "+itoa(m.ranks[r]))
		}
		theirs, err := sizes(r, "input_split_sizes", in)
		if err != nil {
			return nil, err
		}
		before := int64(0)
		for _, d := range theirs[:k] {
			before += d
		}
		length := theirs[k] * row
		if (before+theirs[k])*row > have {
			return nil, refuse(ShapesDiffer, shapeText(in.v.Shape))
		}
		if length > 0 {
			list = append(list, stretch{at, length, []brought{{r, in, before * row}}, ""})
		}
		at += length
	}
	if at != n {
		return nil, refuse(ShapesDiffer, itoa(int(at))+", "+itoa(int(n)))
	}
	return list, nil
}

// told reports whether a tensor has elements, a file of them.
func filed(a *argument) bool { return a.tensor() && (a.v.DataName != "" || elementless(a.v)) }

var _ = msprobe.Group
