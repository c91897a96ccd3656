package graph

import (
	"hash/maphash"
	"slices"
	"unsafe"
)

// memo finds again what was kept lately under the same text. It forgets what was not asked for while memoSize others came:
// what a graph repeats it repeats soon, and most of what it does not repeat, the names of its operators, would fill a
// larger memory than the model itself.
type memo[V any] struct {
	young, old map[string]V
}

const memoSize = 1 << 14

func (m *memo[V]) get(key []byte) (V, bool) {
	v, ok := m.young[string(key)]
	if !ok {
		if v, ok = m.old[string(key)]; ok {
			m.put(string(key), v)
		}
	}
	return v, ok
}

func (m *memo[V]) put(key string, v V) {
	if len(m.young) >= memoSize {
		m.young, m.old = m.old, m.young
		clear(m.young)
	}
	if m.young == nil {
		m.young = make(map[string]V, 256)
	}
	m.young[key] = v
}

// ShareDescs takes the tail of a stack of descriptors into a list of its own, but shares equal lists: the layers of a
// network are alike.
func (b *Builder) ShareDescs(stack *[]TensorDesc, mark int) []TensorDesc {
	s := (*stack)[mark:]
	if len(s) == 0 {
		return nil
	}
	h := uint64(len(s))
	for i := range s {
		h = (h ^ maphash.Comparable(b.seed, s[i].identity())) * 0x9e3779b97f4a7c15
	}
	for _, old := range b.lists[h] {
		if slices.EqualFunc(old, s, func(x, y TensorDesc) bool { return x.identity() == y.identity() }) {
			clear(s)
			*stack = (*stack)[:mark]
			return old
		}
	}
	out := take(&b.descs, stack, mark)
	if len(b.lists) >= memoSize {
		clear(b.lists)
	}
	b.lists[h] = append(b.lists[h], out)
	return out
}

// identity is the same for descriptors that share all they have. Equal shapes and attributes mostly are the same ones.
func (d *TensorDesc) identity() descIdentity {
	return descIdentity{d.DType, d.Layout, unsafe.SliceData(d.Shape), len(d.Shape), unsafe.SliceData(d.Attrs), len(d.Attrs), d.Size, d.extra}
}

type descIdentity struct {
	dtype, layout string
	shape         *int64
	dims          int
	attrs         *Attr
	keys          int
	size          int64
	extra         *DescExtra
}
