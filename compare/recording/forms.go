package recording

import (
	"slices"
	"strconv"
	"strings"

	"precision/compare/result"
	"precision/dump/msprobe"
)

// Two sides that compute the same in other ways hand each other other things: attention weights or
// None, a mask of flags or one that is added to scores. That is no difference by itself: what reads
// them shows whether it matters.

// withheld tells of an output that one side alone hands out.
func withheld(a, b *leaf) bool {
	return a.role == result.Output && a.tensor() != b.tensor() && (a.Kind == msprobe.None || b.Kind == msprobe.None)
}

// spread tells of a value that a module takes, or hands out, behind the first, that one side has for all of an axis where the other has it
// for each, as a bias for positions before the mask of each sentence is added to it.
func spread(c *call, a, b *leaf) bool {
	return c.Parsed.Form == msprobe.Module && a.slot > 0 && !sameShape(a.Shape, b.Shape) && spreads(a, b)
}

// spreads tells whether two shapes are the same but for axes of which one has a single place.
func spreads(a, b *leaf) bool {
	if len(a.Shape) != len(b.Shape) {
		return false
	}
	for i, n := range a.Shape {
		if m := b.Shape[i]; n != m && n != 1 && m != 1 {
			return false
		}
	}
	return true
}

// mostMasked is what is so far below zero that it is there to mask.
const mostMasked = -1e3

// flags tells of two masks of one shape that the first has a flag for each element and the second a number to
// add, zero or far below it.
func flags(a, b *leaf) bool {
	const extremes = result.KnownMax | result.KnownMin
	return a.sort() == 'b' && b.sort() == 'f' && sameShape(a.Shape, b.Shape) && b.summary.Has(extremes) && b.summary.Stats.Max == 0 && b.summary.Stats.Min <= mostMasked
}

// tuples puts the tensors that a module of the right side returns where the left one does, in their order, where all that one side returns is
// among what the other does, with None or more tensors in other places: versions of a library leave out what nobody takes any more.
func tuples(left *side) {
	returned := func(c *call) (tensors, all []int) {
		for i := range c.leaves {
			if l := &c.leaves[i]; strings.HasPrefix(l.place, "output.") && (l.tensor() || l.Kind == msprobe.None) {
				if all = append(all, i); l.tensor() {
					tensors = append(tensors, i)
				}
			}
		}
		return tensors, all
	}
	for _, c := range left.calls {
		o := c.pair
		if o == nil || c.Parsed.Form != msprobe.Module || c.how == byMap {
			continue
		}
		mine, _ := returned(c)
		theirs, all := returned(o)
		if min(len(mine), len(theirs)) < 2 {
			continue
		}
		// at is where each of theirs is returned here; the first is the first.
		at, same, found := map[int]string{}, true, 0
		for i, k := 0, 0; i < len(mine) && k < len(theirs); {
			a, b := &c.leaves[mine[i]], &o.leaves[theirs[k]]
			fit := a.sort() == b.sort() && spreads(a, b)
			switch {
			case fit:
				at[theirs[k]], same = a.place, same && a.place == b.place
				i, k, found = i+1, k+1, found+1
			case i == 0:
				k = len(theirs)
			case len(mine) < len(theirs):
				k++
			default:
				i++
			}
		}
		if same || found < min(len(mine), len(theirs)) {
			continue
		}
		behind := len(all) + len(c.leaves) // what has no partner goes where nothing is
		for _, i := range all {
			if there, ok := at[i]; ok {
				o.place(i, there)
			} else {
				o.place(i, "output."+strconv.Itoa(behind))
				behind++
			}
		}
	}
}

// findBoundaries finds modules of another class that hand out something else while all that is taken of it by calls that both sides make is
// the same, or all that is made of it: a step stands in the module on one side and behind it on the other. What takes it shows what is wrong.
func (p *part) findBoundaries() {
	const rounded = 1e-2 // what rounding leaves of statistics a few steps into a network of bfloat16
	other := func(x leafPair) bool {
		return x.left.sameness() != x.right.sameness() && apart(x.left, x.right) > rounded
	}
	where := [2]map[place]*unit{{}, {}}
	for _, u := range p.units {
		if u.left == nil || u.right == nil || u.left.Parsed.Form != msprobe.Module || u.right.Parsed.Form != msprobe.Module || u.left.Parsed.Class == u.right.Parsed.Class ||
			u.left.parts != nil || u.right.parts != nil {
			continue
		}
		if a, b := u.left.first(), u.right.first(); a != nil && b != nil && other(leafPair{left: a, right: b}) {
			where[0][place{int32(u.left.at + 1), a.slot}], where[1][place{int32(u.right.at + 1), b.slot}] = u, u
		}
	}
	if len(where[0]) == 0 {
		return
	}
	taken := map[*unit][2]bool{} // the same by some, something else by others
	for _, u := range p.units {
		if u.left == nil || u.right == nil {
			continue
		}
		pairs := slices.DeleteFunc(pairsOf(u.left, u.right), func(x leafPair) bool { return x.left == nil || x.right == nil || !x.left.tensor() || !x.right.tensor() })
		// Some take a tensor for its type alone.
		gives := func() bool {
			return slices.ContainsFunc(pairs, func(x leafPair) bool { return x.left.role == result.Output && other(x) })
		}
		for _, x := range pairs {
			for i, l := range []*leaf{x.left, x.right} {
				if of := where[i][l.from]; of != nil && l.role == result.Input {
					t, off := taken[of], other(x)
					t[0], t[1] = t[0] || !off, t[1] || off && gives()
					taken[of] = t
				}
			}
		}
	}
	for i, units := range where {
		p.boundaries[i] = map[place]bool{}
		for at, u := range units {
			if t := taken[u]; t[0] && !t[1] {
				u.boundary = true
				p.boundaries[i][at] = true
			}
		}
	}
}
