package manifest

import (
	"context"

	"precision/internal/must"
	"precision/internal/order"
)

// What is what was found of a file.
type What string

// What is found, in the order in which it is told. Moved are files of one side only
// whose content the other side has under another name: they count as OnlyA and OnlyB,
// too. Unproven are on both sides without a hash that both have, and of the same
// size or of none that is known. In plain lists of paths, as of what a rank
// reads, the name is all there is, and enough.
const (
	Changed  What = "changed"
	OnlyA    What = "only-a"
	OnlyB    What = "only-b"
	Moved    What = "moved"
	Unproven What = "unproven"
	Unread   What = "unread"
)

// Whats are all that is found.
func Whats() []What { return []What{Changed, OnlyA, OnlyB, Moved, Unproven, Unread} }

// Difference is what two manifests differ in.
type Difference struct {
	// FilesA and FilesB count the files of either side, Same those that agree.
	FilesA, FilesB, Same int
	Lists                map[What]*List
}

// List are files in the order of paths, at most [most], and how many there are.
type List struct {
	Files []Change
	Count int
}

// Change is a file of both sides, or of one.
type Change struct {
	A Entry `json:"a"`
	B Entry `json:"b"`
}

// most bounds the lists of a [Difference], and with them its memory.
const most = 100_000

func (d *Difference) add(what What, a, b Entry) {
	l := d.Lists[what]
	if l.Count++; l.Count <= most {
		l.Files = append(l.Files, Change{a, b})
	}
}

// Unlike counts the files that differ.
func (d *Difference) Unlike() int {
	return d.Lists[OnlyA].Count + d.Lists[OnlyB].Count + d.Lists[Changed].Count
}

// Differs tells whether anything differs, or could not be told.
func (d *Difference) Differs() bool {
	return d.Unlike()+d.Lists[Unread].Count+d.Lists[Unproven].Count > 0 || d.Same == 0
}

// Diff compares two manifests in one pass.
func Diff(ctx context.Context, a, b string) (_ *Difference, err error) {
	defer must.Catch(&err)
	nextA, doneA := open(a)
	defer doneA()
	nextB, doneB := open(b)
	defer doneB()
	d := &Difference{Lists: map[What]*List{}}
	for _, what := range Whats() {
		d.Lists[what] = &List{Files: []Change{}}
	}
	left, inA := nextA()
	right, inB := nextB()
	for n := 0; inA || inB; n++ {
		if n%4096 == 0 {
			must.Do(ctx.Err())
		}
		by := order.FalseFirst(!inA, !inB)
		if by == 0 {
			by = comparePaths(left.Path, right.Path)
		}
		switch {
		case by < 0:
			d.add(OnlyA, left, Entry{})
		case by > 0:
			d.add(OnlyB, Entry{}, right)
		default:
			d.both(left, right)
		}
		if by <= 0 {
			d.FilesA++
			left, inA = nextA()
		}
		if by >= 0 {
			d.FilesB++
			right, inB = nextB()
		}
	}
	d.moves()
	return d, nil
}

// both files what is on both sides.
func (d *Difference) both(a, b Entry) {
	proven, some, other := false, false, b.sums()
	for i, sum := range a.sums() {
		some = some || *sum+*other[i] != ""
		if *sum == "" || *other[i] == "" {
			continue
		}
		proven = true
		if *sum != *other[i] {
			d.add(Changed, a, b)
			return
		}
	}
	switch {
	case a.Unread || b.Unread:
		d.add(Unread, a, b)
	case a.Size >= 0 && b.Size >= 0 && a.Size != b.Size:
		d.add(Changed, a, b)
	case !proven && (a.Size >= 0 || b.Size >= 0 || some):
		d.add(Unproven, a, b)
	default:
		d.Same++
	}
}

// moves finds the contents that both sides have under different names.
func (d *Difference) moves() {
	names := map[string]Entry{}
	for _, c := range d.Lists[OnlyB].Files {
		for _, sum := range c.B.sums() {
			if _, twice := names[*sum]; !twice && *sum != "" {
				names[*sum] = c.B
			}
		}
	}
	for _, c := range d.Lists[OnlyA].Files {
		for _, sum := range c.A.sums() {
			if to, ok := names[*sum]; ok {
				d.add(Moved, c.A, to)
				break
			}
		}
	}
}
