package graph

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"slices"
	"strconv"
	"unsafe"
)

// builder holds what one read of a file shares: texts and values that occur again and again are kept
// once. A graph repeats a few hundred keys, layouts and shapes in every operator, so sharing is what
// keeps a model at a fraction of its file.
type builder struct {
	strs   map[string]string
	texts  map[string]*Value // s values
	ints   map[int64]*Value
	lists  map[string]*Value  // lists by content
	shapes map[string][]int64 // int lists by content
	keys   map[string]*string
	extras map[DescExtra]*DescExtra
	names  []string           // chunk of keys
	sets   map[uint64][]Attrs // attribute maps by hash of their content
	seed   maphash.Seed
	hash   []byte // scratch for the two maps above
	bytes  []byte // tail of the current text chunk
	values []Value
	attrs  []Attr
	edges  []Edge
	descs  []TensorDesc
	ops    []Op
	small  [256]*Value
	bools  [2]*Value
	empty  *Value
	noRows *Value

	warnings []Warning
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

// overfull returns what a file has too many of, "" if it is within the limits.
func (b *builder) overfull() string {
	switch {
	case b.nOps > maxOps:
		return "more than " + strconv.Itoa(maxOps) + " operators"
	case b.nDescs > maxDescs:
		return "more than " + strconv.Itoa(maxDescs) + " tensor descriptors"
	case b.nAttrs > maxAttrs:
		return "more than " + strconv.Itoa(maxAttrs) + " attributes"
	}
	return ""
}

func newBuilder() *builder {
	b := &builder{
		strs:   make(map[string]string, 1024),
		texts:  make(map[string]*Value, 512),
		ints:   make(map[int64]*Value, 256),
		lists:  make(map[string]*Value, 256),
		shapes: make(map[string][]int64, 256),
		keys:   make(map[string]*string, 256),
		extras: make(map[DescExtra]*DescExtra),
		sets:   make(map[uint64][]Attrs, 256),
		seed:   maphash.MakeSeed(),
		empty:  &Value{kind: KindEmpty},
	}
	b.bools[0] = &Value{kind: KindBool}
	b.bools[1] = &Value{kind: KindBool, num: 1}
	return b
}

// text copies p into a chunk shared with other texts, saving the rounding of single allocations.
func (b *builder) text(p []byte) string {
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

// intern returns p as a string, the same one for equal content.
func (b *builder) intern(p []byte) string {
	if len(p) > maxShared {
		return b.text(p)
	}
	if s, ok := b.strs[string(p)]; ok {
		return s
	}
	s := b.text(p)
	b.strs[s] = s
	return s
}

// attrKey returns the shared pointer to an attribute key.
func (b *builder) attrKey(p []byte) *string {
	b.nAttrs++
	if k, ok := b.keys[string(p)]; ok {
		return k
	}
	if len(b.names) == cap(b.names) {
		b.names = make([]string, 0, min(chunkItems, max(16, 2*cap(b.names))))
	}
	b.names = append(b.names, b.intern(p))
	k := &b.names[len(b.names)-1]
	b.keys[*k] = k
	return k
}

// extra returns the shared copy of the rare fields of a descriptor.
func (b *builder) extra(x DescExtra) *DescExtra {
	b.nDescs++
	if x == (DescExtra{}) {
		return nil
	}
	if p, ok := b.extras[x]; ok {
		return p
	}
	p := &x
	if len(b.extras) < 1<<12 {
		b.extras[x] = p
	}
	return p
}

// encodeHints keeps the hints of an operator; h can be used again.
func (b *builder) encodeHints(h *Hints) []byte {
	b.hash = h.encode(b.hash[:0])
	n := len(b.hash)
	if n == 0 {
		return nil
	}
	s := b.text(b.hash)
	return unsafe.Slice(unsafe.StringData(s), n)
}

func (b *builder) value(v Value) *Value {
	if len(b.values) == cap(b.values) {
		b.values = make([]Value, 0, min(chunkItems, max(16, 2*cap(b.values))))
	}
	b.values = append(b.values, v)
	return &b.values[len(b.values)-1]
}

func (b *builder) textValue(p []byte) *Value {
	if v, ok := b.texts[string(p)]; ok {
		return v
	}
	s := b.intern(p)
	v := b.value(Value{kind: KindString, str: s})
	if len(s) <= maxShared {
		b.texts[s] = v
	}
	return v
}

func (b *builder) intValue(n int64) *Value {
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
	b.ints[n] = v
	return v
}

func (b *builder) boolValue(x bool) *Value {
	if x {
		return b.bools[1]
	}
	return b.bools[0]
}

func (b *builder) floatValue(f float32) *Value {
	return b.value(Value{kind: KindFloat, num: uint64(math.Float32bits(f))})
}

func (b *builder) numValue(k Kind, n int64) *Value {
	return b.value(Value{kind: k, num: uint64(n)})
}

func (b *builder) invalid(msg string) *Value { return b.value(Value{kind: KindInvalid, str: msg}) }

// intList returns a shared copy of l.
func (b *builder) intList(l []int64) []int64 {
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
	if s, ok := b.shapes[string(b.hash)]; ok {
		return s
	}
	s := append(make([]int64, 0, len(l)), l...)
	b.shapes[string(b.hash)] = s
	return s
}

func (b *builder) intRows(rows [][]int64) *Value {
	if len(rows) == 0 {
		if b.noRows == nil {
			b.noRows = b.value(Value{kind: KindListListInt})
		}
		return b.noRows
	}
	return b.value(Value{kind: KindListListInt, num: uint64(len(rows)), ext: rows})
}

// list is a ListValue while it is read.
type list struct {
	elem   Kind
	vt     int16
	mixed  bool
	strs   []string
	ints   []int64
	floats []float32
	bools  []bool
	descs  []*TensorDesc
	tens   []*Tensor
	funcs  []*NamedAttrs
	graphs []*Graph
}

func (l *list) reset() {
	*l = list{elem: KindEmpty, vt: -1, strs: l.strs[:0], ints: l.ints[:0], floats: l.floats[:0], bools: l.bools[:0]}
}

// is notes the kind of the next element and reports whether the list can take it. A list has elements of
// one kind; others are dropped.
func (l *list) is(k Kind) bool {
	if l.elem == KindEmpty {
		l.elem = k
	}
	if l.elem != k {
		l.mixed = true
		return false
	}
	return true
}

func (b *builder) listValue(l *list) *Value {
	v := Value{kind: KindList, elem: l.elem, vt: l.vt}
	k := append(b.hash[:0], byte(l.elem), byte(l.vt))
	switch l.elem {
	case KindString, KindExpression:
		for _, s := range l.strs {
			k = binary.AppendUvarint(k, uint64(len(s)))
			k = append(k, s...)
		}
		v.num = uint64(len(l.strs))
	case KindInt, KindDType, KindBytes:
		for _, n := range l.ints {
			k = binary.AppendVarint(k, n)
		}
		v.num = uint64(len(l.ints))
	case KindFloat:
		for _, f := range l.floats {
			k = binary.LittleEndian.AppendUint32(k, math.Float32bits(f))
		}
		v.num = uint64(len(l.floats))
	case KindBool:
		for _, x := range l.bools {
			if x {
				k = append(k, 1)
			} else {
				k = append(k, 0)
			}
		}
		v.num = uint64(len(l.bools))
	case KindTensorDesc:
		v.num, v.ext = uint64(len(l.descs)), l.descs
		return b.value(v)
	case KindTensor:
		v.num, v.ext = uint64(len(l.tens)), l.tens
		return b.value(v)
	case KindFunc:
		v.num, v.ext = uint64(len(l.funcs)), l.funcs
		return b.value(v)
	case KindGraph:
		v.num, v.ext = uint64(len(l.graphs)), l.graphs
		return b.value(v)
	}
	b.hash = k
	shared := len(k) <= 4*maxShared
	if shared {
		if old, ok := b.lists[string(k)]; ok {
			return old
		}
	}
	switch l.elem {
	case KindString, KindExpression:
		v.ext = append(make([]string, 0, len(l.strs)), l.strs...)
	case KindInt, KindDType, KindBytes:
		v.ext = append(make([]int64, 0, len(l.ints)), l.ints...)
	case KindFloat:
		v.ext = append(make([]float32, 0, len(l.floats)), l.floats...)
	case KindBool:
		v.ext = append(make([]bool, 0, len(l.bools)), l.bools...)
	}
	p := b.value(v)
	if shared {
		b.lists[string(k)] = p
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

// takeAttrs takes the tail of a stack of attributes like take, but shares equal maps. It is meant for tensor
// descriptors and option lists: a consumer's input repeats its producer's output, layer after layer.
func (b *builder) takeAttrs(stack *[]Attr, mark int) Attrs {
	s := (*stack)[mark:]
	if len(s) == 0 {
		return nil
	}
	h := uint64(len(s))
	for i := range s {
		// Equal values mostly are the same value, so their addresses will do.
		h = (h ^ maphash.Comparable(b.seed, s[i])) * 0x9e3779b97f4a7c15
	}
	for _, old := range b.sets[h] {
		if slices.Equal([]Attr(old), s) {
			clear(s)
			*stack = (*stack)[:mark]
			return old
		}
	}
	out := Attrs(take(&b.attrs, stack, mark))
	b.sets[h] = append(b.sets[h], out)
	return out
}

func (b *builder) op() *Op {
	b.nOps++
	if len(b.ops) == cap(b.ops) {
		b.ops = make([]Op, 0, min(64, max(4, 2*cap(b.ops))))
	}
	b.ops = append(b.ops, Op{})
	return &b.ops[len(b.ops)-1]
}

func (b *builder) warn(w Warning) {
	if len(b.warnings) < maxWarnings {
		for _, old := range b.warnings {
			if old.Msg == w.Msg {
				return
			}
		}
		b.warnings = append(b.warnings, w)
	}
}
