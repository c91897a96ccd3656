package job

import (
	"cmp"
	"slices"
	"strings"

	"precision/compare/engine"
	"precision/dump"
	"precision/internal/must"
)

// findDumps finds the parts of a job that left device dumps, or arrays.
func (p *Plan) findDumps() {
	left, err := dump.Folders(p.Left, mostFolders)
	ofSide(false, p.Left, err)
	golden := findGolden(p.Right)
	found := make([]Part, 0, len(left))
	places := make([]dump.Place, 0, len(left))
	for _, dir := range left {
		place := dump.PlaceOf(dir)
		found = append(found, Part{Step: place.Step, Rank: place.Rank, Model: place.Model, ModelID: place.ModelID, Time: place.Time, Left: dir})
		places = append(places, place)
	}
	spread(found, places)
	for _, x := range p.newest(found) {
		var why, says string
		switch {
		case p.wanted(&x):
			if x.Right, why, says = golden.of(&x); x.Right == "" {
				p.Alone = append(p.Alone, Alone{Why: why, Path: x.Left, Step: x.Step, Rank: x.Rank, Says: says})
			}
		case !p.meets(&x):
			continue
		}
		p.Parts = append(p.Parts, x) // without a right side it may take part in meetings
	}
	for _, g := range golden.unused() {
		x := Part{Step: g.Step, Rank: g.Rank, Model: g.Model, ModelID: g.ModelID}
		if p.wanted(&x) {
			p.Alone = append(p.Alone, Alone{Why: AloneNoDump, Path: g.dir, Step: g.Step, Rank: g.Rank})
		}
	}
}

// ofSide ends the search for the parts of a job if a side as a whole cannot be read.
func ofSide(right bool, path string, err error) {
	if err != nil {
		must.Do(&engine.SideError{Right: right, Path: path, Err: err})
	}
}

// spread numbers the ranks of several hosts that share a disk: where two folders have
// the same device, step and model and other folders above, each of these is a host.
func spread(parts []Part, places []dump.Place) {
	above := map[string]int{}
	perHost, collide := 1, false
	seen := map[slot]string{}
	for i := range parts {
		key := parts[i].slot()
		if other, twice := seen[key]; twice && other != places[i].Above && !places[i].Own {
			collide = true
		}
		seen[key] = places[i].Above
		above[places[i].Above]++
		perHost = max(perHost, places[i].Device+1)
	}
	if !collide {
		return
	}
	var list []string
	for a := range above {
		list = append(list, a)
	}
	slices.SortFunc(list, natural)
	short := shorten(list)
	for i := range parts {
		at, _ := slices.BinarySearchFunc(list, places[i].Above, natural)
		parts[i].Host = short[at]
		if !places[i].Own && parts[i].Rank >= 0 {
			parts[i].Rank += at * perHost
		}
	}
}

// natural compares texts with the numbers in them as numbers: host2 before host10.
func natural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		i, j := dump.Digits(x), dump.Digits(y)
		if i > 0 && j > 0 {
			m, n := strings.TrimLeft(x[:i], "0"), strings.TrimLeft(y[:j], "0")
			if c := cmp.Or(cmp.Compare(len(m), len(n)), cmp.Compare(m, n)); c != 0 {
				return c
			}
			x, y = x[i:], y[j:]
			continue
		}
		if x[0] != y[0] {
			return cmp.Compare(x[0], y[0])
		}
		x, y = x[1:], y[1:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b))
}

// shorten cuts off what paths have in common.
func shorten(list []string) []string {
	out := make([]string, len(list))
	first := strings.Split(list[0], "/")
	same := len(first)
	for _, p := range list {
		parts := strings.Split(p, "/")
		k := 0
		for k < min(same, len(parts)) && parts[k] == first[k] {
			k++
		}
		same = k
	}
	for i, p := range list {
		out[i] = strings.Join(strings.Split(p, "/")[same:], "/")
	}
	return out
}

// newest keeps of several recordings of a rank, step and model the newest one.
func (p *Plan) newest(parts []Part) (kept []Part) {
	at := map[slot]int{}
	for _, x := range parts {
		key := x.slot()
		i, twice := at[key]
		if !twice {
			at[key] = len(kept)
			kept = append(kept, x)
			continue
		}
		old := x
		if cmp.Or(cmp.Compare(x.Time, kept[i].Time), cmp.Compare(x.Left, kept[i].Left)) > 0 {
			old, kept[i] = kept[i], x
		}
		if why := AloneOlder; p.wanted(&old) {
			if old.Time == kept[i].Time {
				why = AloneUnplaced
			}
			p.Alone = append(p.Alone, Alone{Why: why, Path: old.Left, Step: old.Step, Rank: old.Rank, Says: kept[i].Left})
		}
	}
	return kept
}

// hosts takes the hosts from the number of ranks of each, where that was given.
func (p *Plan) hosts() {
	if p.PerHost <= 0 {
		return
	}
	for i := range p.Parts {
		if x := &p.Parts[i]; x.Rank >= 0 {
			x.Host = "host" + number(x.Rank/p.PerHost)
		}
	}
}

// missing tells of ranks that lack steps of others.
func (p *Plan) missing() {
	steps, ranks := map[int]bool{}, map[int]bool{}
	have := map[[2]int]bool{}
	note := func(step, rank int) {
		steps[step], ranks[rank] = true, true
		have[[2]int{step, rank}] = true
	}
	for i := range p.Parts {
		note(p.Parts[i].Step, p.Parts[i].Rank)
	}
	for _, a := range p.Alone {
		have[[2]int{a.Step, a.Rank}] = true // it is told already
	}
	for step := range steps {
		for rank := range ranks {
			if !have[[2]int{step, rank}] && step >= 0 && rank >= 0 {
				p.Alone = append(p.Alone, Alone{Why: AloneMissing, Step: step, Rank: rank})
			}
		}
	}
}
