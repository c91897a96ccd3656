package manifest

import (
	"cmp"
	"context"
	"slices"

	"precision/internal/must"
)

// Difference is what two manifests differ in. Lists are in the order of paths
// and hold at most [Most] files each; counts are of all.
type Difference struct {
	// FilesA and FilesB count the files of either side, Same those that agree.
	FilesA, FilesB, Same int
	// OnlyA and OnlyB are on one side only, Changed on both with another content.
	OnlyA, OnlyB []Entry
	Changed      []Change
	// Moved are files of one side only whose content the other side has under
	// another name. They are counted under OnlyA and OnlyB, too.
	Moved []Move
	// Unproven are on both sides without a hash that both have, and of the same
	// size or of none that is known. In plain lists of paths, as of what a rank
	// reads, the name is all there is, and enough.
	Unproven []Change
	// Unread could not be read on a side.
	Unread                                                           []Change
	OnlyACount, OnlyBCount, ChangedCount, UnprovenCount, UnreadCount int
}

// Change is a file on both sides.
type Change struct{ A, B Entry }

// Move is a content under two names.
type Move struct{ From, To Entry }

// Most bounds the lists of a [Difference], and with them its memory.
const Most = 100_000

// Differs tells whether anything differs, or could not be told.
func (d *Difference) Differs() bool {
	return d.OnlyACount+d.OnlyBCount+d.ChangedCount+d.UnreadCount+d.UnprovenCount > 0 || d.Same == 0
}

// Diff compares two manifests in one pass.
func Diff(ctx context.Context, a, b string) (*Difference, error) {
	left, err := openReader(a)
	if err != nil {
		return nil, err
	}
	defer left.close()
	right, err := openReader(b)
	if err != nil {
		return nil, err
	}
	defer right.close()
	d := &Difference{}
	left.step(&d.FilesA)
	right.step(&d.FilesB)
	for n := 0; !left.done || !right.done; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		order := 0
		switch {
		case left.err != nil || right.err != nil:
			return nil, cmp.Or(left.err, right.err)
		case left.done:
			order = 1
		case right.done:
			order = -1
		default:
			order = comparePaths(left.at.Path, right.at.Path)
		}
		switch {
		case order < 0:
			d.OnlyA = keep(d.OnlyA, left.at, &d.OnlyACount)
		case order > 0:
			d.OnlyB = keep(d.OnlyB, right.at, &d.OnlyBCount)
		default:
			d.both(left.at, right.at)
		}
		if order <= 0 {
			left.step(&d.FilesA)
		}
		if order >= 0 {
			right.step(&d.FilesB)
		}
	}
	d.moves()
	return d, nil
}

// step goes to the next file and counts it, or is done. An error is none of these.
func (r *reader) step(count *int) {
	more := false
	r.err = must.Try(func() { r.at, more = r.next() })
	if r.done = r.err == nil && !more; !r.done {
		*count++
	}
}

func keep[T any](list []T, e T, count *int) []T {
	*count++
	if len(list) < Most {
		list = append(list, e)
	}
	return list
}

// both files what is on both sides.
func (d *Difference) both(a, b Entry) {
	c := Change{a, b}
	proven := false
	for _, pair := range [][2]string{{a.MD5, b.MD5}, {a.SHA256, b.SHA256}} {
		if pair[0] == "" || pair[1] == "" {
			continue
		}
		proven = true
		if pair[0] != pair[1] {
			d.Changed = keep(d.Changed, c, &d.ChangedCount)
			return
		}
	}
	switch {
	case a.Unread || b.Unread:
		d.Unread = keep(d.Unread, c, &d.UnreadCount)
	case a.Size >= 0 && b.Size >= 0 && a.Size != b.Size:
		d.Changed = keep(d.Changed, c, &d.ChangedCount)
	case !proven && (a.Size >= 0 || b.Size >= 0 || a.MD5+a.SHA256+b.MD5+b.SHA256 != ""):
		d.Unproven = keep(d.Unproven, c, &d.UnprovenCount)
	default:
		d.Same++
	}
}

// moves finds the contents that both sides have under different names.
func (d *Difference) moves() {
	names := map[string]int{}
	keys := func(e *Entry) []string {
		return slices.DeleteFunc([]string{e.MD5, e.SHA256}, func(sum string) bool { return sum == "" })
	}
	for i := range d.OnlyB {
		for _, k := range keys(&d.OnlyB[i]) {
			if _, twice := names[k]; !twice {
				names[k] = i
			}
		}
	}
	for i := range d.OnlyA {
		for _, k := range keys(&d.OnlyA[i]) {
			if at, ok := names[k]; ok {
				d.Moved = append(d.Moved, Move{d.OnlyA[i], d.OnlyB[at]})
				break
			}
		}
	}
}
