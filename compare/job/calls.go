package job

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"

	"precision/compare/recording"
	"precision/dump/msprobe"
)

// findCalls finds the parts of a job that left recordings of msprobe.
func (p *Plan) findCalls() {
	left, err := msprobe.Find(p.Left)
	ofSide(false, p.Left, err)
	marks := hasMarks(p.Right)
	if !marks && !recording.Is(p.Right) {
		ofSide(true, p.Right, os.ErrNotExist)
	}
	var right []msprobe.Recording
	one := ""
	if !marks {
		right, err = msprobe.Find(p.Right)
		ofSide(true, p.Right, err)
		if len(right) == 1 && right[0].Rank < 0 && right[0].Step < 0 {
			one = right[0].Dir
		}
	}
	rights := stepsOf(right)
	partner := processes(stepsOf(left), rights)
	used := map[string]bool{}
	last, step := "", ""
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
		switch r := rights[callStep{l.Mode, l.Step}]; {
		case one != "":
		case marks:
			x.Right, says = expand(p.Right, &x)
		case r == nil:
		case l.Process < 0:
			if x.Right = cmp.Or(r.ranks[l.Rank], r.all); x.Right == "" && len(r.ranks) == 0 && len(r.dirs) == 1 {
				x.Right = r.dirs[0] // a run of one process is that of all ranks
			}
		case len(r.processes) == 0:
			x.Right = r.all
		default:
			if x.Right = partner[l.Dir]; x.Right == "" {
				why, says = AloneAmbiguous, strings.Join(r.dirs[:min(2, len(r.dirs))], ", ")
			}
		}
		if x.Right == "" {
			p.Alone = append(p.Alone, Alone{Why: why, Path: x.Left, Step: x.Step, Rank: x.Rank, Says: says})
			continue
		}
		if k := len(p.Parts) - 1; p.Unshard != nil && k >= 0 && p.Parts[k].Right == x.Right && p.Parts[k].Step == x.Step && p.Parts[k].Model == x.Model && filepath.Dir(x.Left) == cmp.Or(step, filepath.Dir(p.Parts[k].Left)) {
			step = filepath.Dir(x.Left)
			p.Parts[k].Left, p.Parts[k].Rank = step, -1 // all ranks of the step together
			continue
		}
		used[x.Right], step = true, ""
		p.Parts = append(p.Parts, x)
	}
	for k := range right {
		x := Part{Step: right[k].Step, Rank: right[k].Rank, Model: right[k].Mode}
		if !used[right[k].Dir] && p.wanted(&x) {
			p.Alone = append(p.Alone, Alone{Why: AloneNoDump, Path: right[k].Dir, Step: x.Step, Rank: x.Rank})
		}
	}
}

// callStep is a step in the recordings of a mode.
type callStep struct {
	mode string
	step int
}

// callDirs are the folders of a side that hold recordings of a step.
type callDirs struct {
	ranks map[int]string
	all   string // that of no rank and no process, which is that of all
	// processes are those without a rank, with their folders.
	processes []int
	dirs      []string
}

func stepsOf(list []msprobe.Recording) map[callStep]*callDirs {
	steps := map[callStep]*callDirs{}
	for i := range list {
		r := &list[i]
		at := callStep{r.Mode, r.Step}
		d := steps[at]
		if d == nil {
			d = &callDirs{ranks: map[int]string{}}
			steps[at] = d
		}
		switch {
		case i > 0 && list[i-1].Dir == r.Dir:
		case r.Process >= 0:
			d.processes, d.dirs = append(d.processes, r.Process), append(d.dirs, r.Dir)
		case r.Rank >= 0:
			d.ranks[r.Rank] = cmp.Or(d.ranks[r.Rank], r.Dir)
		default:
			d.all = cmp.Or(d.all, r.Dir)
		}
	}
	return steps
}

// processes gives the folders of the left side's processes those of their partners.
func processes(left, right map[callStep]*callDirs) map[string]string {
	of := map[string]string{}
	for at, l := range left {
		r := right[at]
		if r == nil {
			continue
		}
		for i, k := range msprobe.Partners(l.processes, r.processes) {
			if k >= 0 {
				of[l.dirs[i]] = r.dirs[k]
			}
		}
	}
	return of
}
