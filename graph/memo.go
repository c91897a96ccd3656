package graph

import (
	"hash/maphash"
	"slices"
	"unsafe"
)

// memo finds again what was kept lately under the same hash. It forgets what was not asked for while others came:
// what a graph repeats it repeats soon, and most of what it does not repeat, the names of its operators, would fill a
// larger memory than the model itself. Each hash has a set of places, the first for what was asked for last: a name that comes
// once pushes out what is asked for least.
type memo[V any] struct {
	sets [][ways]kept[V]
	puts int
}

type kept[V any] struct {
	hash  uint64 // 0 where nothing is kept
	value V
}

const (
	ways     = 4
	memoSize = 1 << 14 // the most values that are kept
)

// get finds a value by its hash; same tells it from others.
func (m *memo[V]) get(hash uint64, same func(V) bool) (v V, found bool) {
	if len(m.sets) == 0 {
		return v, false
	}
	set := &m.sets[hash%uint64(len(m.sets))]
	for i := range set {
		if set[i].hash == hash && same(set[i].value) {
			v := set[i]
			copy(set[1:i+1], set[:i])
			set[0] = v
			return v.value, true
		}
	}
	return v, false
}

// put keeps a value in front of its set.
func (m *memo[V]) put(hash uint64, v V) {
	if m.puts++; m.puts > len(m.sets) && len(m.sets) < memoSize/ways {
		old := m.sets
		m.sets = make([][ways]kept[V], max(4*len(old), 64))
		for i := range old {
			for n := ways - 1; n >= 0; n-- {
				if k := old[i][n]; k.hash != 0 {
					m.insert(k)
				}
			}
		}
	}
	m.insert(kept[V]{hash, v})
}

func (m *memo[V]) insert(k kept[V]) {
	set := &m.sets[k.hash%uint64(len(m.sets))]
	copy(set[1:], set[:])
	set[0] = k
}

// keyed is a list with its content as bytes.
type keyed struct {
	content string
	value   *Value
}

// hashOf is that of a text, never 0.
func (b *Builder) hashOf(p []byte) uint64 { return maphash.Bytes(b.seed, p) | 1 }

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
	old, found := b.lists.get(h|1, func(old []TensorDesc) bool {
		return slices.EqualFunc(old, s, func(x, y TensorDesc) bool { return x.identity() == y.identity() })
	})
	if found {
		clear(s)
		*stack = (*stack)[:mark]
		return old
	}
	out := take(&b.descs, stack, mark)
	b.lists.put(h|1, out)
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
