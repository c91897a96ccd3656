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

// Pair is a key of both sides, or of one: then the other is zero.
type Pair struct {
	A    Entry `json:"a,omitzero"`
	B    Entry `json:"b,omitzero"`
	How  How   `json:"how,omitempty"`
	What What  `json:"-"`
	// Same tells that the values mean the same; Paths that they differ and are
	// paths, as those of two machines do.
	Same  bool `json:"same"`
	Paths bool `json:"paths,omitempty"`
	// Hyper: training depends on it.
	Hyper bool `json:"hyper_parameter,omitempty"`
}

// What is what became of a key.
type What string

// What becomes of keys.
const (
	Same    What = "same" // or so it means
	Changed What = "changed"
	Paths   What = "paths"
	OnlyA   What = "only-a"
	OnlyB   What = "only-b"
)

// Difference is what two configurations differ in.
type Difference struct {
	A, B *File
	// Pairs are all keys, those with values that differ first, hyper-parameters
	// before others, in the order of A and then of B.
	Pairs []Pair
	// Count is how many keys became what, Ignored how many were left out.
	Count   map[What]int
	Ignored int
}

// Differs tells whether a value differs, or a key is on one side only, or nothing could be told. Paths are
// no difference.
func (d *Difference) Differs() bool { return d.unlike() > 0 || d.Nothing() }

func (d *Difference) unlike() int { return d.Count[Changed] + d.Count[OnlyA] + d.Count[OnlyB] }

// Nothing tells that no value of one was found in the other, be it that all keys were left out: nothing shows that they are
// the same.
func (d *Difference) Nothing() bool { return d.Count[Same]+d.unlike() == 0 }

// Diff compares two configurations. Keys that match one of the patterns, as
// *.output_dir, are left out; a star stands for anything but a dot.
func Diff(a, b *File, ignore []string) *Difference {
	d := &Difference{A: a, B: b, Pairs: []Pair{}, Count: map[What]int{}}
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
			k := way.key(e.Key)
			if j, ok := inB[k]; ok && j >= 0 && inA[k] == i && !e.IsZero() {
				d.add(Pair{A: e, B: right[j], How: way.how})
				left[i], right[j] = Entry{}, Entry{}
			}
		}
	}
	for _, e := range left {
		d.add(Pair{A: e})
	}
	for _, e := range right {
		d.add(Pair{B: e})
	}
	order.Stable(d.Pairs, func(x, y Pair) int { return x.rank() - y.rank() })
	return d
}

// places are those of the keys that are left, -1 of a name that is not the only one; a key itself always is.
func places(list []Entry, key func(string) string) map[string]int {
	at := map[string]int{}
	for i, e := range list {
		if e.IsZero() {
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

// add judges a pair, or what one side has alone; what is of neither has found its partner.
func (d *Difference) add(p Pair) {
	switch p.What = Changed; {
	case p.A.IsZero() && p.B.IsZero():
		return
	case p.B.IsZero():
		p.What = OnlyA
	case p.A.IsZero():
		p.What = OnlyB
	case p.A.Value.Same(p.B.Value):
		p.What = Same
	case p.A.Value.Path() && p.B.Value.Path():
		p.What = Paths
	}
	d.Count[p.What]++
	p.Same, p.Paths = p.What == Same, p.What == Paths
	_, hyperA := meant(p.A.Key)
	_, hyperB := meant(p.B.Key)
	p.Hyper = hyperA || hyperB
	d.Pairs = append(d.Pairs, p)
}

// ranks order keys by what became of them.
var ranks = map[What]int{Changed: 0, OnlyA: 2, OnlyB: 2, Paths: 4, Same: 5}

// rank orders pairs by how much they matter.
func (p *Pair) rank() int {
	n := ranks[p.What]
	if n < ranks[Paths] && !p.Hyper {
		n++
	}
	return n
}

// without are the entries of a list but those that do not matter.
func (d *Difference) without(list []Entry, ignore []string) []Entry {
	kept := slices.DeleteFunc(slices.Clone(list), func(e Entry) bool {
		return slices.ContainsFunc(ignore, func(pattern string) bool { ok, _ := path.Match(pattern, e.Key); return ok })
	})
	d.Ignored += len(list) - len(kept)
	return kept
}
