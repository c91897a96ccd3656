package h5

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"precision/internal/each"
	"precision/internal/must"
	"precision/internal/order"
)

// Group is a directory of named objects.
type Group struct {
	node
	linkOnce sync.Once
	links    []link // by name
	linkErr  error
}

// link is one name in a group.
type link struct {
	name string
	addr uint64 // of the object header; undefined for links that are no hard ones
	at   int64  // file offset, for errors
}

// Names returns the names in the group in byte order, whatever they lead to.
func (g *Group) Names() ([]string, error) {
	return must.Of(func() []string {
		g.load()
		return each.Of(g.links, func(l link) string { return l.name })
	})
}

// Child opens the object a name leads to. If there is no such name the error wraps
// ErrNotFound; for a link that is no hard one it is an *UnsupportedError.
func (g *Group) Child(name string) (_ Object, err error) {
	defer must.Catch(&err)
	g.load()
	path := join(g.path, name)
	i, ok := slices.BinarySearchFunc(g.links, name, func(l link, n string) int { return strings.Compare(l.name, n) })
	if !ok {
		return nil, fmt.Errorf("hdf5: %s: %w", clip(path), ErrNotFound)
	}
	l := g.links[i]
	if l.addr == undefined {
		return nil, fmt.Errorf("%s: %w", clip(path), &UnsupportedError{l.at, "soft or external link"})
	}
	return g.file.object(l.addr, path, g.src)
}

// Lookup opens the object at a path of names separated by slashes, which
// starts at the root group.
func (f *File) Lookup(path string) (_ Object, err error) {
	defer must.Catch(&err)
	var obj Object = f.root
	for name := range strings.SplitSeq(path, "/") {
		if name == "" || name == "." {
			continue
		}
		in, ok := obj.(*Group)
		must.Not(!ok, "hdf5: %s is not a group: %w", obj.Path(), ErrNotFound)
		obj = must.Get(in.Child(name))
	}
	return obj, nil
}

// join appends a name to a group's path.
func join(group, name string) string {
	return strings.TrimSuffix(group, "/") + "/" + name
}

// clip shortens a path for an error: names may be long, and errors are shown.
func clip(path string) string { return fmt.Sprintf("%.1000s", path) }

// load reads all links of the group.
func (g *Group) load() {
	g.linkOnce.Do(func() {
		g.linkErr = must.Try(func() {
			links := g.src.links(g.h)
			order.Stable(links, func(a, b link) int { return strings.Compare(a.name, b.name) })
			for i := 1; i < len(links); i++ {
				if links[i].name == links[i-1].name {
					must.Do(&FormatError{links[i].at, "link", fmt.Sprintf("name %.100q twice", links[i].name), "once"})
				}
			}
			g.links = links
		})
	})
	must.Do(named(g.path, g.linkErr))
}

// Walk calls fn for every object below the group, in depth and with names in
// byte order, by hard links only. An object that cannot be opened, or a group
// that cannot be listed, is passed with the error, and the walk goes on; a
// group that contains itself is passed with ErrCycle and not entered again. An
// error fn returns ends the walk and is returned.
//
// The walk ends with an error that wraps ErrLimit where the file holds an
// unreasonable number of objects, or makes the walk read the same bytes over
// and over.
func (g *Group) Walk(fn func(path string, obj Object, err error) error) error {
	w := &walk{fn: fn, onPath: map[uint64]bool{}, src: g.src}
	// Each byte of metadata is read a few times at most; hard links may repeat
	// a little.
	w.src = g.src.metered(1<<20 + 64*min(g.src.size, 1<<40))
	start := &Group{node: node{file: g.file, src: w.src, path: g.path, h: g.h}}
	return w.group(start, 0)
}

// Walk is Walk of the root group.
func (f *File) Walk(fn func(path string, obj Object, err error) error) error {
	return f.root.Walk(fn)
}

// walk is the state of one Walk.
type walk struct {
	fn      func(string, Object, error) error
	src     *source
	onPath  map[uint64]bool // headers of the groups being walked
	objects int
}

// spent tells whether the walk has used up the bytes it may read.
func (w *walk) spent() bool { return w.src.left.Load() < 0 }

func (w *walk) group(g *Group, depth int) (err error) {
	defer must.Catch(&err)
	w.onPath[g.h.addr] = true
	defer delete(w.onPath, g.h.addr)
	if err := must.Try(g.load); err != nil {
		if w.spent() {
			return err
		}
		return w.fn(g.path, g, err)
	}
	for _, l := range g.links {
		if l.addr == undefined {
			continue
		}
		path := join(g.path, l.name)
		limit := func(what string) error {
			return fmt.Errorf("hdf5: %s: %w: %s", clip(path), ErrLimit, what)
		}
		if w.objects++; w.objects > maxObjects {
			return limit(fmt.Sprintf("more than %d objects", maxObjects))
		}
		if w.onPath[l.addr] {
			err := fmt.Errorf("hdf5: offset %#x: %s: %w", l.at, clip(path), ErrCycle)
			must.Do(w.fn(path, nil, err))
			continue
		}
		obj, err := g.file.object(l.addr, path, w.src)
		if err != nil {
			if w.spent() {
				return err
			}
			obj = nil
		}
		must.Do(w.fn(path, obj, err))
		if sub, ok := obj.(*Group); ok {
			if depth+1 >= maxDepth {
				return limit(fmt.Sprintf("groups nested more than %d deep", maxDepth))
			}
			must.Do(w.group(sub, depth+1))
		}
	}
	return nil
}

// links reads the links of a group in the order in which they are stored: as a table, or, if a name is not ASCII or a
// link leads to another file, as messages and, of more than eight objects, in a heap.
func (s *source) links(h *header) (list []link) {
	for _, m := range h.msgs {
		c := s.cursor(m.data, m.addr, "link info")
		switch m.typ {
		case msgSymbolTable:
			return s.symbolTable(c)
		case msgLinkInfo:
			c.version(0, 0)
			c.skip(c.u8() & 1 * 8) // largest creation index
			if heap, tree := c.u64(), c.u64(); heap != undefined {
				return s.denseLinks(heap, tree)
			}
		case msgLink:
			list = append(list, s.link(c))
		}
	}
	return list
}

// link decodes a link message.
func (s *source) link(c *cursor) link {
	c.version(1, 1)
	flags := c.u8()
	l := link{at: c.at, addr: undefined}
	hard := flags&(1<<3) == 0 || c.u8() == 0
	c.skip(flags >> 2 & 1 * 8) // order of creation
	c.skip(flags >> 4 & 1)     // character set
	n := c.uint(1 << (flags & 3))
	if n > maxText {
		c.fail(fmt.Sprintf("name of %d bytes", n), fmt.Sprintf("at most %d", maxText))
	}
	l.name = string(c.bytes(int(n)))
	if hard {
		l.addr = c.u64()
	}
	return l
}

// symbolTable reads the links of a B-tree whose leaves are nodes of entries, with the names in a local heap.
func (s *source) symbolTable(c *cursor) (list []link) {
	tree, heap := c.u64(), s.localHeap(c.u64())
	names := 2 * len(heap.b) // bytes: few entries may name the same
	v := s.visits()
	s.btree(tree, btreeGroup, 8, func(_ *cursor, node uint64) {
		const what = "symbol table node"
		c := s.head(node, 8, "SNOD", what)
		c.version(1, 1)
		c.skip(1)
		count := c.u16()
		c = v.block(node, 8+40*int64(count), what)
		c.skip(8)
		for range count {
			l := link{at: c.at + int64(c.pos)}
			name := *heap
			name.skip(int(min(c.u64(), math.MaxInt32)))
			l.addr = c.u64() // undefined for soft links
			c.skip(4 + 4 + 16)
			l.name = name.text()
			if names -= len(l.name) + 1; names < 0 {
				s.refuse(uint64(l.at), what, "names that overlap", "names apart from each other")
			}
			list = append(list, l)
		}
	})
	return list
}

// localHeap returns the data of the local heap at addr.
func (s *source) localHeap(addr uint64) *cursor {
	const what = "local heap"
	c := s.head(addr, 32, "HEAP", what)
	c.version(0, 0)
	c.skip(3)
	size := c.u64()
	c.skip(8) // free list
	data := c.u64()
	if size > uint64(s.size) {
		s.refuse(addr, what, fmt.Sprintf("%d bytes", size), fmt.Sprintf("a range inside the file of %d bytes", s.size))
	}
	return s.read(data, int64(size), what)
}

// Node types of B-trees.
const (
	btreeGroup = 0
	btreeChunk = 1
)

// btree calls leaf for each child of the leaf nodes of the B-tree at addr, in
// key order, with the key in front of the child. Keys have keyLen bytes.
func (s *source) btree(addr uint64, typ, keyLen int, leaf func(key *cursor, child uint64)) {
	const what, lead = "B-tree node", 24
	v := s.visits()
	// Levels fall by one from parent to child, so that the depth is at most the 256 that a byte can state.
	var node func(addr uint64, level int)
	node = func(addr uint64, level int) {
		c := s.head(addr, lead, "TREE", what)
		gotType, gotLevel, used := c.u8(), c.u8(), c.u16()
		switch {
		case gotType != typ:
			s.refuse(addr, what, fmt.Sprintf("type %d", gotType), fmt.Sprint(typ))
		case level >= 0 && gotLevel != level:
			s.refuse(addr, what, fmt.Sprintf("level %d", gotLevel), fmt.Sprint(level))
		}
		// The key behind the last child is not needed and may even be missing.
		c = v.block(addr, lead+int64(used)*int64(keyLen+8), what)
		c.skip(lead)
		for range used {
			key := s.cursor(nil, addr+uint64(c.pos), "B-tree key")
			key.b = c.bytes(keyLen)
			child := c.u64()
			if gotLevel > 0 {
				node(child, gotLevel-1)
			} else {
				leaf(key, child)
			}
		}
	}
	node(addr, -1)
}
