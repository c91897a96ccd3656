package job

import (
	"os"
	"strings"

	"precision/compare"
	"precision/compare/recording"
	"precision/dump/msprobe"
)

// findCalls finds the parts of a job that left recordings of msprobe.
func (p *Plan) findCalls() error {
	left, err := msprobe.Find(p.Left)
	if err != nil {
		return &compare.SideError{Path: p.Left, Err: err}
	}
	if !strings.Contains(p.Right, rankMark) && !strings.Contains(p.Right, stepMark) && !recording.Is(p.Right) {
		return &compare.SideError{Right: true, Path: p.Right, Err: os.ErrNotExist}
	}
	var right []msprobe.Recording
	one := ""
	if !strings.Contains(p.Right, rankMark) && !strings.Contains(p.Right, stepMark) {
		if right, err = msprobe.Find(p.Right); err != nil {
			return &compare.SideError{Right: true, Path: p.Right, Err: err}
		}
		if len(right) == 1 && right[0].Rank < 0 && right[0].Step < 0 {
			one = right[0].Dir
		}
	}
	lefts, rights := callsByStep(left), callsByStep(right)
	used := map[string]bool{}
	last := ""
	for i := range left {
		l := &left[i]
		if l.Dir == last {
			continue // a folder with dump.json and debug.json is one part
		}
		last = l.Dir
		x := Part{Step: l.Step, Rank: l.Rank, Model: l.Mode, Left: l.Dir, Calls: true, Right: one}
		if !p.wanted(&x) {
			continue
		}
		why, says := AloneNoGolden, p.Right
		switch at := stepOf(l); {
		case one != "":
		case right == nil:
			x.Right, says = expand(p.Right, &x)
		default:
			var several []string
			if x.Right, several = partner(l, lefts[at], rights[at]); len(several) > 0 {
				why, says = AloneAmbiguous, strings.Join(several[:min(2, len(several))], ", ")
			}
		}
		if x.Right == "" {
			p.Alone = append(p.Alone, Alone{Why: why, Path: x.Left, Step: x.Step, Rank: x.Rank, Says: says})
			continue
		}
		used[x.Right] = true
		p.Parts = append(p.Parts, x)
	}
	for k := range right {
		x := Part{Step: right[k].Step, Rank: right[k].Rank, Model: right[k].Mode}
		if !used[right[k].Dir] && p.wanted(&x) {
			p.Alone = append(p.Alone, Alone{Why: AloneNoDump, Path: right[k].Dir, Step: x.Step, Rank: x.Rank})
		}
	}
	return nil
}

// callStep is a step in the recordings of a mode.
type callStep struct {
	mode string
	step int
}

func stepOf(r *msprobe.Recording) callStep { return callStep{r.Mode, r.Step} }

func callsByStep(list []msprobe.Recording) map[callStep][]*msprobe.Recording {
	by := map[callStep][]*msprobe.Recording{}
	for i := range list {
		r := &list[i]
		if all := by[stepOf(r)]; len(all) == 0 || all[len(all)-1].Dir != r.Dir {
			by[stepOf(r)] = append(all, r)
		}
	}
	return by
}

// partner finds the folder of the right side that belongs to a recording, both sides being those
// of its step. Ranks are told by their numbers, and a folder without one is that of all. Processes without a
// rank have other numbers in every run: one of each side are a pair; of several that could be, none
// is taken.
func partner(l *msprobe.Recording, left, right []*msprobe.Recording) (dir string, several []string) {
	var same []string
	all := ""
	for _, r := range right {
		switch {
		case l.Process >= 0 && r.Process == l.Process:
			return r.Dir, nil
		case r.Rank == l.Rank && r.Process < 0 == (l.Process < 0):
			same = append(same, r.Dir)
		case r.Rank < 0 && r.Process < 0 && all == "":
			all = r.Dir
		}
	}
	beside := 0
	for _, r := range left {
		if r.Rank < 0 && r.Process >= 0 {
			beside++
		}
	}
	switch {
	case len(same) == 0:
		return all, nil
	case l.Process < 0 || len(same) == 1 && beside == 1:
		return same[0], nil
	}
	return "", same
}
