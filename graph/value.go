package graph

import (
	"math"
	"strconv"
	"strings"
	"unsafe"
)

// Kind says which branch of an attribute definition (AttrDef) a value holds.
type Kind uint8

const (
	KindMissing       Kind = iota // the attribute has a key but no value
	KindEmpty                     // a value without a branch; null in JSON
	KindInvalid                   // JSON value of an unexpected type
	KindString                    // s
	KindInt                       // i
	KindFloat                     // f
	KindBool                      // b
	KindBytes                     // bt, only the length is kept
	KindExpression                // expression
	KindDType                     // dt, number of the GE data type
	KindList                      // list
	KindListListInt               // list_list_int
	KindListListFloat             // list_list_float
	KindTensorDesc                // td
	KindTensor                    // t
	KindFunc                      // func
	KindGraph                     // g
)

var kindNames = [...]string{"missing", "empty", "invalid", "s", "i", "f", "b", "bt", "expression", "dt", "list",
	"list_list_int", "list_list_float", "td", "t", "func", "g"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "Kind(" + strconv.Itoa(int(k)) + ")"
}

// Attr is one entry of an attribute map.
type Attr struct {
	// A graph has a few hundred keys and a hundred thousand attributes: the text is shared, and its pointer
	// is half the size of a string.
	key   *string
	Value *Value // never nil
}

// Key returns the name of the attribute.
func (a Attr) Key() string {
	if a.key == nil {
		return ""
	}
	return *a.key
}

// NewAttr returns the entry of a shared key; a nil key is the empty name.
func NewAttr(key *string, v *Value) Attr { return Attr{key, v} }

// Missing stands for an attribute without value.
var Missing = &Value{}

// Attrs is an attribute map in file order.
type Attrs []Attr

// Lookup is Get that tells an attribute without value from a missing attribute.
func (a Attrs) Lookup(key string) (*Value, bool) {
	for i := range a {
		if a[i].Key() == key {
			return a[i].Value, true
		}
	}
	return nil, false
}

// Get returns the value of the first entry with that key, or nil. All methods of [Value] accept nil.
func (a Attrs) Get(key string) *Value {
	for i := range a {
		if a[i].Key() == key {
			return a[i].Value
		}
	}
	return nil
}

// Value is an attribute value. Values are shared between attributes and must not be changed.
// The zero value and nil are a missing value.
type Value struct {
	kind Kind
	elem Kind  // KindList: kind of the elements, KindEmpty when there are none
	vt   int16 // KindList: val_type, -1 when the file does not say
	num  uint64
	str  string
	ext  any
}

// NamedAttrs is a named attribute map, the value of a func attribute.
type NamedAttrs struct {
	Name  string
	Attrs Attrs
}

// Tensor is a constant: its descriptor and the number of data bytes the file held.
type Tensor struct {
	Desc    *TensorDesc // nil when the file has none
	DataLen int64
}

// Kind returns the branch; KindMissing for nil.
func (v *Value) Kind() Kind {
	if v == nil {
		return KindMissing
	}
	return v.kind
}

// Elem returns the kind of the elements of a list, KindEmpty for an empty list and for other values.
func (v *Value) Elem() Kind {
	if v == nil || v.kind != KindList {
		return KindEmpty
	}
	return v.elem
}

// ListType returns the val_type number of a list (1 string, 2 int, 3 float, 4 bool, 5 bytes, 6 tensor
// descriptor, 7 tensor, 8 graph, 9 named attributes, 10 data type) and whether the file gave one.
func (v *Value) ListType() (int, bool) {
	if v == nil || v.kind != KindList || v.vt < 0 {
		return 0, false
	}
	return int(v.vt), true
}

// Text returns the text of an s or expression value; "" for every other kind.
func (v *Value) Text() string {
	if v == nil || (v.kind != KindString && v.kind != KindExpression) {
		return ""
	}
	return v.str
}

// Problem tells what is wrong with a value of KindInvalid, "" for every other kind.
func (v *Value) Problem() string {
	if v.Kind() != KindInvalid {
		return ""
	}
	return v.str
}

// Int returns the number of an i or dt value.
func (v *Value) Int() (int64, bool) {
	if v == nil || (v.kind != KindInt && v.kind != KindDType) {
		return 0, false
	}
	return int64(v.num), true
}

// Float returns the number of an f value.
func (v *Value) Float() (float32, bool) {
	if v == nil || v.kind != KindFloat {
		return 0, false
	}
	return math.Float32frombits(uint32(v.num)), true
}

// Bool reports whether the value is b and true.
func (v *Value) Bool() bool { return v != nil && v.kind == KindBool && v.num != 0 }

// Len returns the number of bytes of a bt value, the number of data bytes of a t value, the number of
// elements of a list; 0 for other kinds.
func (v *Value) Len() int64 {
	if v == nil {
		return 0
	}
	switch v.kind {
	case KindBytes:
		return int64(v.num)
	case KindTensor:
		return v.ext.(*Tensor).DataLen
	case KindList, KindListListInt, KindListListFloat:
		return int64(v.num)
	}
	return 0
}

// Strings returns the elements of a list of strings, or the one text of an s value (older releases
// write single texts where newer ones write lists). The slice must not be changed.
func (v *Value) Strings() []string {
	if v == nil {
		return nil
	}
	if v.kind == KindString || v.single() {
		return unsafe.Slice(&v.str, 1)
	}
	l, _ := v.ext.([]string)
	return l
}

// single tells a list of one text, which is kept as that text.
func (v *Value) single() bool {
	return v.kind == KindList && v.ext == nil && v.num == 1 && (v.elem == KindString || v.elem == KindExpression)
}

// held returns what a value of a kind holds.
func held[T any](v *Value, kind Kind) []T {
	if v == nil || v.kind != kind {
		return nil
	}
	l, _ := v.ext.([]T)
	return l
}

// Ints returns the elements of a list of ints or data types; for a list of byte blobs their lengths.
func (v *Value) Ints() []int64 { return held[int64](v, KindList) }

// Floats returns the elements of a list of floats.
func (v *Value) Floats() []float32 { return held[float32](v, KindList) }

// Bools returns the elements of a list of bools.
func (v *Value) Bools() []bool { return held[bool](v, KindList) }

// IntLists returns the rows of a list_list_int value.
func (v *Value) IntLists() [][]int64 { return held[[]int64](v, KindListListInt) }

// FloatLists returns the rows of a list_list_float value.
func (v *Value) FloatLists() [][]float32 { return held[[]float32](v, KindListListFloat) }

// oneOrMore returns what a value holds, alone or in a list.
func oneOrMore[T any](v *Value) []*T {
	if v == nil {
		return nil
	}
	switch x := v.ext.(type) {
	case *T:
		return []*T{x}
	case []*T:
		return x
	}
	return nil
}

// TensorDescs returns the descriptor of a td value, or those of a list.
func (v *Value) TensorDescs() []*TensorDesc { return oneOrMore[TensorDesc](v) }

// Tensors returns the constant of a t value, or those of a list.
func (v *Value) Tensors() []*Tensor { return oneOrMore[Tensor](v) }

// Funcs returns the named attributes of a func value, or those of a list.
func (v *Value) Funcs() []*NamedAttrs { return oneOrMore[NamedAttrs](v) }

// Graphs returns the graph of a g value, or those of a list.
func (v *Value) Graphs() []*Graph { return oneOrMore[Graph](v) }

// String renders the value for a reader: texts as they are, lists in brackets, blobs as their length.
func (v *Value) String() string {
	if v == nil {
		return ""
	}
	switch v.kind {
	case KindMissing, KindEmpty:
		return ""
	case KindInvalid:
		return "invalid: " + v.str
	case KindString, KindExpression:
		return v.str
	case KindInt, KindDType:
		return strconv.FormatInt(int64(v.num), 10)
	case KindFloat:
		return formatFloat(math.Float32frombits(uint32(v.num)))
	case KindBool:
		return strconv.FormatBool(v.num != 0)
	case KindBytes:
		return strconv.FormatUint(v.num, 10) + " bytes"
	}
	var b strings.Builder
	v.render(&b)
	return b.String()
}

func formatFloat(f float32) string { return strconv.FormatFloat(float64(f), 'g', -1, 32) }

func (v *Value) render(b *strings.Builder) {
	if v.single() {
		b.WriteString("[" + v.str + "]")
		return
	}
	switch x := v.ext.(type) {
	case []string:
		renderList(b, x, func(s string) string { return s })
	case []int64:
		renderList(b, x, func(n int64) string {
			if v.elem == KindBytes {
				return strconv.FormatInt(n, 10) + " bytes"
			}
			return strconv.FormatInt(n, 10)
		})
	case []float32:
		renderList(b, x, formatFloat)
	case []bool:
		renderList(b, x, strconv.FormatBool)
	case [][]int64:
		renderList(b, x, func(l []int64) string { return FormatShape(l) })
	case [][]float32:
		renderList(b, x, func(l []float32) string {
			var b strings.Builder
			renderList(&b, l, formatFloat)
			return b.String()
		})
	case *TensorDesc:
		b.WriteString(x.String())
	case []*TensorDesc:
		renderList(b, x, (*TensorDesc).String)
	case *Tensor:
		b.WriteString(x.String())
	case []*Tensor:
		renderList(b, x, (*Tensor).String)
	case *NamedAttrs:
		b.WriteString(x.String())
	case []*NamedAttrs:
		renderList(b, x, (*NamedAttrs).String)
	case *Graph:
		b.WriteString("graph " + x.Name)
	case []*Graph:
		renderList(b, x, func(g *Graph) string { return "graph " + g.Name })
	default:
		b.WriteString("[]")
	}
}

func renderList[T any](b *strings.Builder, l []T, f func(T) string) {
	b.WriteByte('[')
	for i, x := range l {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(f(x))
	}
	b.WriteByte(']')
}

// String renders descriptor and data length.
func (t *Tensor) String() string {
	if t.Desc == nil {
		return strconv.FormatInt(t.DataLen, 10) + " bytes"
	}
	return t.Desc.String() + " " + strconv.FormatInt(t.DataLen, 10) + " bytes"
}

// String renders the name and its attributes.
func (n *NamedAttrs) String() string {
	var b strings.Builder
	b.WriteString(n.Name)
	b.WriteByte('{')
	for i, a := range n.Attrs {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(a.Key())
		b.WriteByte('=')
		b.WriteString(a.Value.String())
	}
	b.WriteByte('}')
	return b.String()
}
