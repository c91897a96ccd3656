package config

import (
	"path"
	"slices"

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
	usedA, usedB := make([]bool, len(left)), make([]bool, len(right))
	pair := func(how How, key func(string) string) {
		// A name counts where it is the only one on either side; a key always is.
		places := func(list []Entry, used []bool) map[string]int {
			at := map[string]int{}
			for i := range list {
				if used[i] {
					continue
				}
				k := key(list[i].Key)
				if _, twice := at[k]; twice {
					at[k] = -1
				} else {
					at[k] = i
				}
			}
			return at
		}
		inB := places(right, usedB)
		inA := places(left, usedA)
		for i := range left {
			k := key(left[i].Key)
			if usedA[i] || inA[k] != i {
				continue
			}
			if j, ok := inB[k]; ok && j >= 0 {
				usedA[i], usedB[j] = true, true
				d.Pairs = append(d.Pairs, d.judge(Pair{A: left[i], B: right[j], How: how}))
			}
		}
	}
	pair(ByKey, func(k string) string { return k })
	pair(BySpell, canonical)
	pair(ByName, func(k string) string { return canonical(parent(k)) + "." + meant(k) })
	pair(ByEnd, meant)
	for i := range left {
		if !usedA[i] {
			d.OnlyA++
			d.Pairs = append(d.Pairs, Pair{A: left[i], Hyper: Known(left[i].Key)})
		}
	}
	for j := range right {
		if !usedB[j] {
			d.OnlyB++
			d.Pairs = append(d.Pairs, Pair{B: right[j], Hyper: Known(right[j].Key)})
		}
	}
	order.Stable(d.Pairs, func(x, y Pair) int { return rank(&x) - rank(&y) })
	return d
}

func parent(key string) string {
	for i := len(key) - 1; i >= 0; i-- {
		if key[i] == '.' {
			return key[:i]
		}
	}
	return ""
}

func (d *Difference) judge(p Pair) Pair {
	p.Same = p.A.Value.Same(p.B.Value)
	p.Paths = !p.Same && p.A.Value.Path() && p.B.Value.Path()
	p.Hyper = Known(p.A.Key) || Known(p.B.Key)
	switch {
	case p.Same:
		d.Same++
	case p.Paths:
		d.Paths++
	default:
		d.Changed++
	}
	return p
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

func (d *Difference) without(list []Entry, ignore []string) []Entry {
	if len(ignore) == 0 {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(e Entry) bool {
		for _, pattern := range ignore {
			if ok, _ := path.Match(pattern, e.Key); ok {
				d.Ignored++
				return true
			}
		}
		return false
	})
}
