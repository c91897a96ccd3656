package h5

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Group is a directory of named objects.
type Group struct {
	node
	linkOnce sync.Once
	links    []link // by name
	linkErr  error
}

// Kinds of links.
const (
	linkHard     = 0
	linkSoft     = 1
	linkExternal = 64
)

// link is one name in a group.
type link struct {
	name   string
	kind   int
	addr   uint64 // hard: of the object header
	target string // soft: a path
	at     int64  // file offset, for errors
}

// Names returns the names in the group in byte order, whatever they lead to.
func (g *Group) Names() ([]string, error) {
	if err := g.load(); err != nil {
		return nil, err
	}
	names := make([]string, len(g.links))
	for i, l := range g.links {
		names[i] = l.name
	}
	return names, nil
}

// Child opens the object a name leads to, following soft links inside the
// file. If there is no such name, or a soft link leads nowhere, the error wraps
// ErrNotFound; for a link into another file it is an *UnsupportedError.
func (g *Group) Child(name string) (Object, error) {
	return g.child(name, new(int))
}

// child is Child with the number of soft links followed so far.
func (g *Group) child(name string, hops *int) (Object, error) {
	l, err := g.find(name)
	if err != nil {
		return nil, err
	}
	path := join(g.path, name)
	switch l.kind {
	case linkHard:
		return g.file.object(l.addr, path, g.src)
	case linkSoft:
		if *hops++; *hops > maxSoftLinks {
			return nil, fmt.Errorf("%s: %w: %w", path, ErrLimit, &FormatError{l.at, "soft link",
				"a link to a link, and so on", fmt.Sprintf("an object after at most %d", maxSoftLinks)})
		}
		from := g
		if strings.HasPrefix(l.target, "/") {
			from = g.file.root
		}
		obj, err := from.lookup(l.target, hops)
		if err != nil {
			return nil, fmt.Errorf("%s: soft link to %q: %w", path, l.target, err)
		}
		return obj, nil
	}
	return nil, fmt.Errorf("%s: %w", path, &UnsupportedError{l.at, fmt.Sprintf("link type %d", l.kind)})
}

// lookup follows a path from the group.
func (g *Group) lookup(path string, hops *int) (Object, error) {
	var obj Object = g
	for _, name := range strings.Split(path, "/") {
		if name == "" || name == "." {
			continue
		}
		in, ok := obj.(*Group)
		if !ok {
			return nil, fmt.Errorf("hdf5: %s is not a group: %w", obj.Path(), ErrNotFound)
		}
		var err error
		if obj, err = in.child(name, hops); err != nil {
			return nil, err
		}
	}
	return obj, nil
}

// Lookup opens the object at a path of names separated by slashes, which
// starts at the root group.
func (f *File) Lookup(path string) (Object, error) {
	return f.root.lookup(path, new(int))
}

// find returns the link of a name.
func (g *Group) find(name string) (link, error) {
	if err := g.load(); err != nil {
		return link{}, err
	}
	i, ok := slices.BinarySearchFunc(g.links, name, func(l link, n string) int { return strings.Compare(l.name, n) })
	if !ok {
		return link{}, fmt.Errorf("hdf5: %s: %w", join(g.path, name), ErrNotFound)
	}
	return g.links[i], nil
}

// join appends a name to a group's path.
func join(group, name string) string {
	return strings.TrimSuffix(group, "/") + "/" + name
}

// load reads all links of the group, in whichever of the three ways they are
// stored.
func (g *Group) load() error {
	g.linkOnce.Do(func() {
		var links []link
		links, g.linkErr = g.src.links(g.h)
		slices.SortStableFunc(links, func(a, b link) int { return strings.Compare(a.name, b.name) })
		for i := 1; i < len(links) && g.linkErr == nil; i++ {
			if links[i].name == links[i-1].name {
				g.linkErr = &FormatError{links[i].at, "link", fmt.Sprintf("name %q twice", links[i].name), "once"}
			}
		}
		g.links = links
	})
	if g.linkErr != nil {
		return fmt.Errorf("%s: %w", g.path, g.linkErr)
	}
	return nil
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

func (w *walk) group(g *Group, depth int) error {
	w.onPath[g.h.addr] = true
	defer delete(w.onPath, g.h.addr)
	if err := g.load(); err != nil {
		if w.spent() {
			return err
		}
		return w.fn(g.path, g, err)
	}
	for _, l := range g.links {
		if l.kind != linkHard {
			continue
		}
		path := join(g.path, l.name)
		limit := func(what string) error {
			return fmt.Errorf("hdf5: %s: %w: %s", path, ErrLimit, what)
		}
		if w.objects++; w.objects > maxObjects {
			return limit(fmt.Sprintf("more than %d objects", maxObjects))
		}
		if w.onPath[l.addr] {
			err := fmt.Errorf("hdf5: offset %#x: %s: %w", l.at, path, ErrCycle)
			if err := w.fn(path, nil, err); err != nil {
				return err
			}
			continue
		}
		obj, err := g.file.object(l.addr, path, w.src)
		if err != nil {
			if w.spent() {
				return err
			}
			obj = nil
		}
		if err := w.fn(path, obj, err); err != nil {
			return err
		}
		if sub, ok := obj.(*Group); ok {
			if depth+1 >= maxDepth {
				return limit(fmt.Sprintf("groups nested more than %d deep", maxDepth))
			}
			if err := w.group(sub, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}
