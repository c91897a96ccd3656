package overflow

import (
	"cmp"
	"math"
	"slices"

	"precision/dump"
)

// fit is how well a name goes with a block.
type fit uint8

const (
	noFit fit = iota
	// loose: the record says context or thread 0, which is also what it says
	// when it knows none, and the name has another number.
	loose
	exact
)

// Match returns which names can be those of the dump that a block is about, by
// index, oldest first. Task and stream must be equal, and so must context and
// thread unless the record has [None]. A number that a name does not have is
// not compared, except a context or thread other than 0. Names with other
// numbers count only if the record has 0 and no name fits it.
func Match(b *Block, names []dump.Name) (found []int) {
	best := loose
	for i := range names {
		f := fits(b, &names[i])
		if f == noFit || f < best {
			continue
		}
		if f > best {
			best, found = f, nil
		}
		found = append(found, i)
	}
	slices.SortStableFunc(found, func(i, j int) int {
		return cmp.Or(cmp.Compare(names[i].Time, names[j].Time), cmp.Compare(names[i].File, names[j].File))
	})
	return found
}

func fits(b *Block, n *dump.Name) fit {
	if n.Kind != dump.Offline && n.Kind != dump.Exception || !equal(n.Task, b.Task) || n.Stream >= 0 && !equal(n.Stream, b.Stream) {
		return noFit
	}
	return min(fitPart(b.Context, n.Context), fitPart(b.Thread, n.Thread))
}

// fitPart compares a context or a thread.
func fitPart(recorded uint64, named int64) fit {
	switch {
	case recorded == None, equal(named, recorded), recorded == 0 && named < 0:
		return exact
	case recorded == 0:
		return loose
	}
	return noFit
}

// equal compares a number of a name, which is negative if there is none, with
// one of a record.
func equal(named int64, recorded uint64) bool { return named >= 0 && uint64(named) == recorded }

// Nearest returns which of the matches is nearest in time to a record: the
// first one not before it, else the last one before it. It is -1 if there are
// none. Numbers that are not times (16 digits, microseconds) compare as they
// are.
func Nearest(matches []int, names []dump.Name, time uint64) int {
	best, distance := -1, uint64(math.MaxUint64)
	for _, i := range matches {
		if t := names[i].Time; t >= time && (best < 0 || t-time < distance) {
			best, distance = i, t-time
		}
	}
	if best < 0 && len(matches) > 0 {
		best = matches[len(matches)-1]
	}
	return best
}
