package graph

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"slices"
	"strconv"
	"unsafe"
)

// Builder holds what one read of a file shares: texts and values that occur again and again are kept
// once. A graph repeats a few hundred keys, layouts and shapes in every operator, so sharing is what
// keeps a model at a fraction of its file.
type Builder struct {
	strs   memo[string]
	texts  memo[*Value] // s values
	ints   map[int64]*Value
	values memo[keyed]   // lists by content
	shapes memo[[]int64] // int lists
	keys   memo[*string]
	extras map[DescExtra]*DescExtra
	names  []string           // chunk of keys
	sets   memo[Attrs]        // attribute maps
	lists  memo[[]TensorDesc] // lists of descriptors
	seed   maphash.Seed
	hash   []byte // scratch: the content of a list
	bytes  []byte // tail of the current text chunk
	chunk  []Value
	attrs  []Attr
	edges  []Edge
	descs  []TensorDesc
	ops    []Op
	small  [256]*Value
	bools  [2]*Value
	Empty  *Value
	noRows *Value

	warnings []Warning
	more     int // warnings that were not kept
	nOps     int
	nDescs   int
	nAttrs   int
}

const (
	maxShared  = 512 // longer texts and lists are rarely repeated, and hashing them costs
	textChunk  = 16 << 10
	chunkItems = 256
)

// Limits on what a file may hold, far above real graphs. Small messages become larger structs, so without limits a
// hostile file could claim many times its size.
const (
	maxOps   = 4 << 20
	maxDescs = 16 << 20
	maxAttrs = 64 << 20
)

// Overfull tells what a file has too many of, if it is not within the limits.
func (b *Builder) Overfull() (Message, bool) {
	switch {
	case b.nOps > maxOps:
		return Messagef("more than %d operators", maxOps), true
	case b.nDescs > maxDescs:
		return Messagef("more than %d tensor descriptors", maxDescs), true
	case b.nAttrs > maxAttrs:
		return Messagef("more than %d attributes", maxAttrs), true
	}
	return Message{}, false
}

// NewBuilder returns a builder for the models of one file.
func NewBuilder() *Builder {
	b := &Builder{
		ints:   make(map[int64]*Value, 256),
		extras: make(map[DescExtra]*DescExtra),
		seed:   maphash.MakeSeed(),
		Empty:  &Value{kind: KindEmpty},
	}
	b.bools[0] = &Value{kind: KindBool}
	b.bools[1] = &Value{kind: KindBool, num: 1}
	return b
}

// text copies p into a chunk shared with other texts, saving the rounding of single allocations.
func (b *Builder) text(p []byte) string {
	n := len(p)
	if n == 0 {
		return ""
	}
	if n > textChunk/8 {
		return string(p)
	}
	if cap(b.bytes)-len(b.bytes) < n {
		b.bytes = make([]byte, 0, max(2*n, min(textChunk, max(1024, 2*cap(b.bytes)))))
	}
	off := len(b.bytes)
	b.bytes = append(b.bytes, p...)
	// The bytes are never written again: later texts only go behind them.
	return unsafe.String(&b.bytes[off], n)
}

// Intern returns p as a string, the same one for equal content.
func (b *Builder) Intern(p []byte) string {
	if len(p) > maxShared {
		return b.text(p)
	}
	h := b.hashOf(p)
	if s, ok := b.strs.get(h, func(s string) bool { return s == string(p) }); ok {
		return s
	}
	s := b.text(p)
	b.strs.put(h, s)
	return s
}

// OpName is Intern for the name of an operator. What its first output feeds names it with ":0" behind, so that both texts
// are kept as one.
func (b *Builder) OpName(p []byte) string {
	if len(p) == 0 || len(p) > maxShared-2 {
		return b.Intern(p)
	}
	h := b.hashOf(p)
	if s, ok := b.strs.get(h, func(s string) bool { return s == string(p) }); ok {
		return s
	}
	b.hash = append(append(b.hash[:0], p...), ":0"...)
	entry := b.Intern(b.hash)
	s := entry[:len(p)]
	b.strs.put(h, s)
	return s
}

// AttrKey returns the shared pointer to an attribute key.
func (b *Builder) AttrKey(p []byte) *string {
	b.nAttrs++
	h := b.hashOf(p)
	if k, ok := b.keys.get(h, func(k *string) bool { return *k == string(p) }); ok {
		return k
	}
	if len(b.names) == cap(b.names) {
		b.names = make([]string, 0, min(chunkItems, max(16, 2*cap(b.names))))
	}
	b.names = append(b.names, b.Intern(p))
	k := &b.names[len(b.names)-1]
	b.keys.put(h, k)
	return k
}

// SetExtra gives a descriptor its rare fields, the same copy for equal ones.
func (b *Builder) SetExtra(d *TensorDesc, x *DescExtra) {
	b.nDescs++
	if *x == (DescExtra{}) {
		d.extra = nil
		return
	}
	if d.extra = b.extras[*x]; d.extra == nil {
		own := *x
		d.extra = &own
		if len(b.extras) < 1<<12 {
			b.extras[own] = &own
		}
	}
}

// SetHints gives an operator its hints; h can be used again.
func (b *Builder) SetHints(o *Op, h *Hints) {
	b.hash = h.encode(b.hash[:0])
	o.hints = b.text(b.hash)
}

func (b *Builder) value(v Value) *Value {
	if len(b.chunk) == cap(b.chunk) {
		b.chunk = make([]Value, 0, min(chunkItems, max(16, 2*cap(b.chunk))))
	}
	b.chunk = append(b.chunk, v)
	return &b.chunk[len(b.chunk)-1]
}

// TextValue returns an s value, the same one for equal text.
func (b *Builder) TextValue(p []byte) *Value {
	h := b.hashOf(p)
	if v, ok := b.texts.get(h, func(v *Value) bool { return v.str == string(p) }); ok {
		return v
	}
	s := b.Intern(p)
	v := b.value(Value{kind: KindString, str: s})
	if len(s) <= maxShared {
		b.texts.put(h, v)
	}
	return v
}

// IntValue returns an i value, the same one for equal numbers.
func (b *Builder) IntValue(n int64) *Value {
	if uint64(n) < uint64(len(b.small)) {
		if b.small[n] == nil {
			b.small[n] = b.value(Value{kind: KindInt, num: uint64(n)})
		}
		return b.small[n]
	}
	if v, ok := b.ints[n]; ok {
		return v
	}
	v := b.value(Value{kind: KindInt, num: uint64(n)})
	if len(b.ints) >= memoSize {
		clear(b.ints)
	}
	b.ints[n] = v
	return v
}

// BoolValue returns one of the two b values.
func (b *Builder) BoolValue(x bool) *Value {
	if x {
		return b.bools[1]
	}
	return b.bools[0]
}

// FloatValue returns an f value.
func (b *Builder) FloatValue(f float32) *Value {
	return b.value(Value{kind: KindFloat, num: uint64(math.Float32bits(f))})
}

// NumValue returns a value that is a number of another kind: KindDType with its number, KindBytes with its length.
func (b *Builder) NumValue(k Kind, n int64) *Value {
	return b.value(Value{kind: k, num: uint64(n)})
}

// Expression returns an expression value.
func (b *Builder) Expression(p []byte) *Value {
	return b.value(Value{kind: KindExpression, str: b.Intern(p)})
}

// FuncValue returns a func value.
func (b *Builder) FuncValue(f *NamedAttrs) *Value { return b.value(Value{kind: KindFunc, ext: f}) }

// DescValue returns a td value.
func (b *Builder) DescValue(d *TensorDesc) *Value {
	return b.value(Value{kind: KindTensorDesc, ext: d})
}

// TensorValue returns a t value.
func (b *Builder) TensorValue(t *Tensor) *Value { return b.value(Value{kind: KindTensor, ext: t}) }

// GraphValue returns a g value.
func (b *Builder) GraphValue(g *Graph) *Value { return b.value(Value{kind: KindGraph, ext: g}) }

// FloatRows returns a list_list_float value.
func (b *Builder) FloatRows(rows [][]float32) *Value {
	return b.value(Value{kind: KindListListFloat, num: uint64(len(rows)), ext: rows})
}

// Invalid returns a value that cannot be used; msg says why, see [Value.Problem].
func (b *Builder) Invalid(msg string) *Value { return b.value(Value{kind: KindInvalid, str: msg}) }

// IntList returns a shared copy of l.
func (b *Builder) IntList(l []int64) []int64 {
	if len(l) == 0 {
		return nil
	}
	if len(l) > maxShared/8 {
		return append(make([]int64, 0, len(l)), l...)
	}
	b.hash = b.hash[:0]
	for _, n := range l {
		b.hash = binary.AppendVarint(b.hash, n)
	}
	h := b.hashOf(b.hash)
	if s, ok := b.shapes.get(h, func(s []int64) bool { return slices.Equal(s, l) }); ok {
		return s
	}
	s := append(make([]int64, 0, len(l)), l...)
	b.shapes.put(h, s)
	return s
}

// IntRows returns a list_list_int value.
func (b *Builder) IntRows(rows [][]int64) *Value {
	if len(rows) == 0 {
		if b.noRows == nil {
			b.noRows = b.value(Value{kind: KindListListInt})
		}
		return b.noRows
	}
	return b.value(Value{kind: KindListListInt, num: uint64(len(rows)), ext: rows})
}

// List is a ListValue while it is read.
type List struct {
	Elem    Kind
	ValType int16
	Mixed   bool
	Texts   []string
	Ints    []int64
	Floats  []float32
	Bools   []bool
	Descs   []*TensorDesc
	Tensors []*Tensor
	Funcs   []*NamedAttrs
	Graphs  []*Graph
}

// Reset empties the list, keeping its memory.
func (l *List) Reset() {
	*l = List{Elem: KindEmpty, ValType: -1, Texts: l.Texts[:0], Ints: l.Ints[:0], Floats: l.Floats[:0], Bools: l.Bools[:0]}
}

// Is notes the kind of the next element and reports whether the list can take it. A list has elements of
// one kind; others are dropped.
func (l *List) Is(k Kind) bool {
	if l.Elem == KindEmpty {
		l.Elem = k
	}
	if l.Elem != k {
		l.Mixed = true
		return false
	}
	return true
}

// ListValue returns the value of a list, the same one for equal lists of plain elements; l can be used again.
func (b *Builder) ListValue(l *List) *Value {
	v := Value{kind: KindList, elem: l.Elem, vt: l.ValType}
	k := append(b.hash[:0], byte(l.Elem), byte(l.ValType))
	switch l.Elem {
	case KindString, KindExpression:
		for _, s := range l.Texts {
			k = binary.AppendUvarint(k, uint64(len(s)))
			k = append(k, s...)
		}
		v.num = uint64(len(l.Texts))
	case KindInt, KindDType, KindBytes:
		for _, n := range l.Ints {
			k = binary.AppendVarint(k, n)
		}
		v.num = uint64(len(l.Ints))
	case KindFloat:
		for _, f := range l.Floats {
			k = binary.LittleEndian.AppendUint32(k, math.Float32bits(f))
		}
		v.num = uint64(len(l.Floats))
	case KindBool:
		for _, x := range l.Bools {
			if x {
				k = append(k, 1)
			} else {
				k = append(k, 0)
			}
		}
		v.num = uint64(len(l.Bools))
	case KindTensorDesc:
		v.num, v.ext = uint64(len(l.Descs)), l.Descs
		return b.value(v)
	case KindTensor:
		v.num, v.ext = uint64(len(l.Tensors)), l.Tensors
		return b.value(v)
	case KindFunc:
		v.num, v.ext = uint64(len(l.Funcs)), l.Funcs
		return b.value(v)
	case KindGraph:
		v.num, v.ext = uint64(len(l.Graphs)), l.Graphs
		return b.value(v)
	}
	b.hash = k
	shared, h := len(k) <= 4*maxShared, uint64(0)
	if shared {
		h = b.hashOf(k)
		if old, ok := b.values.get(h, func(old keyed) bool { return old.content == string(k) }); ok {
			return old.value
		}
	}
	switch l.Elem {
	case KindString, KindExpression:
		if len(l.Texts) == 1 {
			v.str = l.Texts[0] // as of most operators the one they stand for
			break
		}
		v.ext = append(make([]string, 0, len(l.Texts)), l.Texts...)
	case KindInt, KindDType, KindBytes:
		v.ext = append(make([]int64, 0, len(l.Ints)), l.Ints...)
	case KindFloat:
		v.ext = append(make([]float32, 0, len(l.Floats)), l.Floats...)
	case KindBool:
		v.ext = append(make([]bool, 0, len(l.Bools)), l.Bools...)
	}
	p := b.value(v)
	if shared {
		b.values.put(h, keyed{string(k), p})
	}
	return p
}

// take moves the tail of a scratch stack into a chunk and returns it, full to its capacity.
func take[T any](chunk *[]T, stack *[]T, mark int) []T {
	s := (*stack)[mark:]
	if len(s) == 0 {
		return nil
	}
	if cap(*chunk)-len(*chunk) < len(s) {
		*chunk = make([]T, 0, max(min(chunkItems, max(16, 2*cap(*chunk))), len(s)))
	}
	off := len(*chunk)
	*chunk = append(*chunk, s...)
	clear(s)
	*stack = (*stack)[:mark]
	return (*chunk)[off:len(*chunk):len(*chunk)]
}

// TakeAttrs moves the tail of a stack of attributes into a map of its own.
func (b *Builder) TakeAttrs(stack *[]Attr, mark int) Attrs { return take(&b.attrs, stack, mark) }

// TakeEdges does so for edges.
func (b *Builder) TakeEdges(stack *[]Edge, mark int) []Edge { return take(&b.edges, stack, mark) }

// ShareAttrs takes the tail of a stack of attributes like takeAttrs, but shares equal maps. It is meant for tensor
// descriptors and option lists: a consumer's input repeats its producer's output, layer after layer.
func (b *Builder) ShareAttrs(stack *[]Attr, mark int) Attrs {
	s := (*stack)[mark:]
	if len(s) == 0 {
		return nil
	}
	h := uint64(len(s))
	for i := range s {
		// Equal values mostly are the same value, so their addresses will do.
		h = (h ^ maphash.Comparable(b.seed, s[i])) * 0x9e3779b97f4a7c15
	}
	if old, ok := b.sets.get(h|1, func(old Attrs) bool { return slices.Equal([]Attr(old), s) }); ok {
		clear(s)
		*stack = (*stack)[:mark]
		return old
	}
	out := Attrs(take(&b.attrs, stack, mark))
	b.sets.put(h|1, out)
	return out
}

// Op returns a new operator.
func (b *Builder) Op() *Op {
	b.nOps++
	if len(b.ops) == cap(b.ops) {
		b.ops = make([]Op, 0, min(64, max(4, 2*cap(b.ops))))
	}
	b.ops = append(b.ops, Op{})
	return &b.ops[len(b.ops)-1]
}

// Warn adds a warning unless there is one with that text. Of too many the first are kept, and the others counted.
func (b *Builder) Warn(w Warning) {
	for _, old := range b.warnings {
		if old.Msg.Text == w.Msg.Text {
			return
		}
	}
	b.warnings = append(b.warnings, w)
	if len(b.warnings) > MaxWarnings {
		b.warnings = b.warnings[:MaxWarnings]
		b.more++
	}
}

// Warnings returns what was kept, and how many more there were.
func (b *Builder) Warnings() []Warning { return moreWarnings(b.warnings, b.more) }

// moreWarnings adds to warnings how many there are beside them.
func moreWarnings(list []Warning, more int) []Warning {
	if more == 0 {
		return list
	}
	return append(slices.Clip(list), Warning{Path: list[0].Path, Offset: -1, Msg: MoreWarnings(more)})
}

// MoreWarnings is the last of too many warnings, which counts those that were not kept.
func MoreWarnings(n int) Message { return Messagef("%d more warnings like these", n) }

// FewWarnings returns the first warnings of a list, and how many there are beside them.
func FewWarnings(list []Warning) []Warning {
	n := min(len(list), MaxWarnings)
	return moreWarnings(list[:n], len(list)-n)
}

// DType turns a data type, a word or a number of the enum, into the name a descriptor holds.
func (b *Builder) DType(p []byte) string {
	if numeric(p) {
		if n, err := strconv.ParseInt(string(p), 10, 64); err == nil {
			return DTypeName(n)
		}
	}
	if string(p) == Undefined {
		return ""
	}
	return b.Intern(p)
}
