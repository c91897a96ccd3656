package torch

import (
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"precision/internal/must"
)

// maxLegacy bounds the pickles of a legacy file; its storages follow them.
const maxLegacy = 16 << 20

// readLegacy reads the format before PyTorch 1.6: pickles of a magic number, the
// protocol, facts of the writer's machine, the object, and the keys of the
// storages; then for each key the number of elements in eight bytes, and the
// elements. All is little-endian.
func readLegacy(r io.ReaderAt, size int64, any bool) *File {
	// Where the pickles end is not known. Mostly the first bytes will do.
	for chunk := int64(64 << 10); ; chunk *= 8 {
		b := make([]byte, min(chunk, size, maxLegacy))
		if n, err := r.ReadAt(b, 0); n < len(b) {
			must.Do(shortRead("", 0, n, len(b), err))
		}
		l := &legacy{byKey: map[string]*storage{}, r: r, size: size}
		l.m = &machine{code: b, left: valueMemory + size, find: l.find, any: any}
		f := &File{}
		err := must.Try(func() { l.read(f) })
		switch {
		case err == nil || !l.m.short || int64(len(b)) == size:
			must.Do(err)
			return f
		case len(b) == maxLegacy:
			must.Do(&UnsupportedError{"", -1, fmt.Sprintf("pickles of more than %d bytes in a file of the format before PyTorch 1.6 cannot be read", maxLegacy)})
		}
	}
}

type legacy struct {
	m     *machine
	r     io.ReaderAt
	size  int64
	byKey map[string]*storage
}

// protocol is the only one that legacy files were ever written in.
const protocol = 1001

func (l *legacy) read(f *File) {
	l.m.run() // the magic number
	if v := l.m.run(); v != any(int64(protocol)) {
		l.m.bad(describe(v), fmt.Sprintf("the number of the protocol, %d", protocol))
	}
	l.m.run() // facts of the machine
	v := l.m.run()
	keys := l.m.run()
	l.storages(keys, int64(l.m.at))
	l.m.collect(f, v)
}

// find takes note of a storage. A sixth item tells that it is a part of
// another: a key, the first element and how many.
func (l *legacy) find(m *machine, id tuple) *storage {
	s := m.storageID(id)
	if s.untyped {
		m.refuse("untyped storages are not in files before PyTorch 1.6")
	}
	root := l.byKey[s.key]
	switch {
	case root == nil:
		root = &storage{key: s.key, typ: s.typ, size: s.size, device: s.device, start: -1}
		l.byKey[s.key] = root
	case root.typ != s.typ || root.size != s.size:
		m.bad(fmt.Sprintf("storage %s as %d bytes of %s and as %d of %s", quoted(s.key), root.size, root.typ, s.size, s.typ), "one of the two")
	}
	if len(id) < 6 || id[5] == nil {
		return root
	}
	part, _ := id[5].(tuple)
	if len(part) != 3 {
		m.bad("a part of a storage that is "+describe(id[5]), "key, first element and number of elements")
	}
	first, ok := part[1].(int64)
	n, ok2 := part[2].(int64)
	width := int64(root.typ.Bits() / 8)
	have := root.size / width
	if !ok || !ok2 || first < 0 || n < 0 || n > have || first > have-n {
		m.bad(fmt.Sprintf("a part of storage %s with %d elements, %s", quoted(s.key), have, describeID(part)), "one that lies inside")
	}
	return &storage{key: s.key, typ: s.typ, size: n * width, device: s.device, start: first * width, of: root}
}

// storages finds the elements of each key, which follow the pickles from at on.
func (l *legacy) storages(v any, at int64) {
	keys, ok := v.(*list)
	if !ok {
		l.m.bad("storage keys that are "+describe(v), "a list")
	}
	for _, k := range keys.items {
		key, _ := k.(string)
		s := l.byKey[key]
		switch {
		case s == nil:
			must.Do(&FormatError{Offset: at, Found: "the elements of storage " + describe(k) + ", which no tensor has", Expected: "those of the tensors"})
		case s.start >= 0:
			must.Do(&FormatError{Offset: at, Found: "storage " + quoted(key) + " twice", Expected: "once"})
		}
		var head [8]byte
		if n, err := l.r.ReadAt(head[:], at); n < len(head) {
			must.Do(shortRead("", at, n, len(head), err))
		}
		n, width := binary.LittleEndian.Uint64(head[:]), uint64(s.typ.Bits()/8)
		if n > math.MaxInt64/width || int64(n*width) != s.size {
			must.Do(&FormatError{Offset: at, Found: fmt.Sprintf("%d elements of storage %s", n, quoted(key)), Expected: fmt.Sprintf("%d, as the pickle says", uint64(s.size)/width)})
		}
		at += int64(len(head))
		if s.size > l.size-at {
			must.Do(&FormatError{Offset: at, Found: fmt.Sprintf("%d bytes to the end of the file", l.size-at), Expected: fmt.Sprintf("%d of storage %s", s.size, quoted(key))})
		}
		s.start = at
		at += s.size
	}
	for _, key := range slices.Sorted(maps.Keys(l.byKey)) {
		if s := l.byKey[key]; s.start < 0 {
			must.Do(&FormatError{Offset: at, Found: "no elements of storage " + quoted(key), Expected: fmt.Sprintf("%d bytes", s.size)})
		}
	}
}
