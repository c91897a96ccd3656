package graph

import "encoding/binary"

// Hints is what GE itself derives from the edges and from memory planning and stores with an operator. Use
// [Op.Inputs] for edges: destinations leave out unused outputs, and operators created late have none.
type Hints struct {
	InputNames   []string // slot names
	SrcNames     []string
	SrcIndexes   []int64
	DstNames     []string
	DstIndexes   []int64
	InputI       []int64 // memory offsets of inputs
	OutputI      []int64 // memory offsets of outputs
	Workspace    []int64 // memory offsets
	WorkspaceLen []int64 // bytes
	IsInputConst []bool
	HasOutAttr   bool
}

// Reset empties the hints, keeping their memory.
func (h *Hints) Reset() {
	*h = Hints{InputNames: h.InputNames[:0], SrcNames: h.SrcNames[:0], SrcIndexes: h.SrcIndexes[:0],
		DstNames: h.DstNames[:0], DstIndexes: h.DstIndexes[:0], InputI: h.InputI[:0], OutputI: h.OutputI[:0],
		Workspace: h.Workspace[:0], WorkspaceLen: h.WorkspaceLen[:0], IsInputConst: h.IsInputConst[:0]}
}

func (h *Hints) texts() [3]*[]string { return [...]*[]string{&h.InputNames, &h.SrcNames, &h.DstNames} }

func (h *Hints) ints() [6]*[]int64 {
	return [...]*[]int64{&h.SrcIndexes, &h.DstIndexes, &h.InputI, &h.OutputI, &h.Workspace, &h.WorkspaceLen}
}

// encode appends h in a compact form: ten slice headers per operator would outweigh their contents.
// Per non-empty list: number of the list, count, elements; texts with their length before them.
func (h *Hints) encode(b []byte) []byte {
	if h.HasOutAttr {
		b = append(b, hintOutAttr)
	}
	if len(h.IsInputConst) > 0 {
		b = binary.AppendUvarint(append(b, hintConst), uint64(len(h.IsInputConst)))
		for _, x := range h.IsInputConst {
			if x {
				b = append(b, 1)
			} else {
				b = append(b, 0)
			}
		}
	}
	for i, l := range h.texts() {
		if len(*l) > 0 {
			b = binary.AppendUvarint(append(b, byte(hintTexts+i)), uint64(len(*l)))
			for _, s := range *l {
				b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
			}
		}
	}
	for i, l := range h.ints() {
		if len(*l) > 0 {
			b = binary.AppendUvarint(append(b, byte(hintInts+i)), uint64(len(*l)))
			for _, n := range *l {
				b = binary.AppendVarint(b, n)
			}
		}
	}
	return b
}

const (
	hintOutAttr = 1
	hintConst   = 2
	hintTexts   = 8
	hintInts    = 16
)

// Hints returns what GE derived for the operator.
func (o *Op) Hints() (h Hints) {
	b := []byte(o.hints)
	uvarint := func() uint64 {
		n, k := binary.Uvarint(b)
		b = b[k:]
		return n
	}
	for len(b) > 0 {
		field := b[0]
		b = b[1:]
		if field == hintOutAttr {
			h.HasOutAttr = true
			continue
		}
		count := uvarint()
		switch {
		case field == hintConst:
			h.IsInputConst = make([]bool, count)
			for i := range h.IsInputConst {
				h.IsInputConst[i] = b[i] != 0
			}
			b = b[count:]
		case field >= hintInts:
			l := make([]int64, count)
			for i := range l {
				n, k := binary.Varint(b)
				b = b[k:]
				l[i] = n
			}
			*h.ints()[field-hintInts] = l
		default:
			l := make([]string, count)
			for i := range l {
				n := uvarint()
				l[i] = string(b[:n])
				b = b[n:]
			}
			*h.texts()[field-hintTexts] = l
		}
	}
	return h
}
