package config

import (
	"path"
	"slices"
	"strings"

	"precision/internal/order"
)

// How is what made two keys one.
type How string

// The ways in which keys are paired, the surest first.
const (
	ByKey   How = "key"   // the same key
	BySpell How = "spell" // but for case, hyphens and underscores
	ByName  How = "name"  // but for what people call it: lr and learning_rate
	ByEnd   How = "end"   // the end of the path, the only such on either side
)

// Pair is a key of both sides, or of one: then the other has the Key "".
type Pair struct {
	A   Entry `json:"a,omitzero"`
	B   Entry `json:"b,omitzero"`
	How How   `json:"how,omitempty"`
	// Same tells that the values mean the same; Paths that they differ and are
	// paths, as those of two machines do.
	Same  bool `json:"same"`
	Paths bool `json:"paths,omitempty"`
	// Hyper: training depends on it.
	Hyper bool `json:"hyper_parameter,omitempty"`
}

// OneSided tells whether only one side has the key.
func (p *Pair) OneSided() bool { return p.A.IsZero() || p.B.IsZero() }

// Difference is what two configurations differ in.
type Difference struct {
	A, B *File
	// Pairs are all keys, those with values that differ first, hyper-parameters
	// before others, in the order of A and then of B.
	Pairs []Pair
	// Same, Changed and Paths count keys of both sides by their values, OnlyA and
	// OnlyB the others, Ignored those left out.
	Same, Changed, Paths, OnlyA, OnlyB, Ignored int
}

// Differs tells whether a value differs, or a key is on one side only, or nothing could be told. Paths are
// no difference.
func (d *Difference) Differs() bool { return d.Changed+d.OnlyA+d.OnlyB > 0 || d.Nothing() }

// Nothing tells that no value of one was found in the other, be it that all keys were left out: nothing shows that they are
// the same.
func (d *Difference) Nothing() bool { return d.Same+d.Changed+d.OnlyA+d.OnlyB == 0 }

// Diff compares two configurations. Keys that match one of the patterns, as
// *.output_dir, are left out; a star stands for anything but a dot.
func Diff(a, b *File, ignore []string) *Difference {
	d := &Difference{A: a, B: b, Pairs: []Pair{}}
	left, right := d.without(a.Entries, ignore), d.without(b.Entries, ignore)
	name := func(key string) string { m, _ := meant(key); return m }
	for _, way := range []struct {
		how How
		key func(string) string
	}{
		{ByKey, func(key string) string { return key }},
		{BySpell, canonical},
		{ByName, func(key string) string { return canonical(parent(key)) + "." + name(key) }},
		{ByEnd, name},
	} {
		inA, inB := places(left, way.key), places(right, way.key)
		for i, e := range left {
			if e == nil {
				continue
			}
			k := way.key(e.Key)
			if j, ok := inB[k]; ok && j >= 0 && inA[k] == i {
				d.add(e, right[j], way.how)
				left[i], right[j] = nil, nil
			}
		}
	}
	for _, e := range left {
		d.add(e, nil, "")
	}
	for _, e := range right {
		d.add(nil, e, "")
	}
	order.Stable(d.Pairs, func(x, y Pair) int { return rank(&x) - rank(&y) })
	return d
}

// places are those of the keys that are left, -1 of a name that is not the only one; a key itself always is.
func places(list []*Entry, key func(string) string) map[string]int {
	at := map[string]int{}
	for i, e := range list {
		if e == nil {
			continue
		}
		k := key(e.Key)
		if _, twice := at[k]; twice {
			at[k] = -1
		} else {
			at[k] = i
		}
	}
	return at
}

func parent(key string) string { return key[:max(strings.LastIndexByte(key, '.'), 0)] }

// add judges a pair, or what one side has alone; nil is what has found its partner.
func (d *Difference) add(a, b *Entry, how How) {
	if a == nil && b == nil {
		return
	}
	p := Pair{How: how}
	if a != nil {
		p.A = *a
	}
	if b != nil {
		p.B = *b
	}
	_, hyperA := meant(p.A.Key)
	_, hyperB := meant(p.B.Key)
	p.Hyper = hyperA || hyperB
	switch {
	case b == nil:
		d.OnlyA++
	case a == nil:
		d.OnlyB++
	case p.A.Value.Same(p.B.Value):
		p.Same = true
		d.Same++
	case p.A.Value.Path() && p.B.Value.Path():
		p.Paths = true
		d.Paths++
	default:
		d.Changed++
	}
	d.Pairs = append(d.Pairs, p)
}

// rank orders pairs by how much they matter.
func rank(p *Pair) int {
	n := 0
	switch {
	case p.Same:
		return 6
	case p.Paths:
		return 5
	case p.OneSided():
		n = 2
	}
	if !p.Hyper {
		n++
	}
	return n
}

// without are the entries of a list but those that do not matter.
func (d *Difference) without(list []Entry, ignore []string) (kept []*Entry) {
	for i := range list {
		if slices.ContainsFunc(ignore, func(pattern string) bool { ok, _ := path.Match(pattern, list[i].Key); return ok }) {
			d.Ignored++
		} else {
			kept = append(kept, &list[i])
		}
	}
	return kept
}
