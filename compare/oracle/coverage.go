package oracle

import (
	"maps"
	"slices"

	"precision/compare/result"
	"precision/graph"
)

// Coverage is how much of what was to be checked was.
type Coverage struct {
	// Expected are the outputs that the graph or the recording promises, Judged those with a
	// verdict.
	Expected, Judged int
	// Missing are those that could have been recorded and were not.
	Missing []string
	// Damaged is what was recorded and cannot be read; a file that several outputs need is in
	// it once.
	Damaged []result.Damage
	// Outputs are the outputs of the network that have no verdict for either, Leaving how many
	// the network has, and Broken how many of the former are damaged.
	Outputs         []string
	Leaving, Broken int
	// Gaps are ranks without a recording, although ranks around them, or other steps of
	// theirs, have one.
	Gaps []string
	// Strangers are operators that were recorded and that the graph does not have, Recorded how many were.
	Strangers []string
	Recorded  int
}

// Place is whose recording it is; -1 is not known.
type Place struct{ Step, Rank int }

// GapsIn names the ranks between the first and the last that lack a recording: the ranks of a
// node or of a job follow each other, and all record the same steps.
func GapsIn(places []Place) (names []string) {
	have, steps, least, most := map[Place]bool{}, map[int]bool{}, -1, -1
	for _, p := range places {
		if p.Rank < 0 {
			continue
		}
		have[p], steps[p.Step] = true, true
		if least < 0 || p.Rank < least {
			least = p.Rank
		}
		most = max(most, p.Rank)
	}
	for _, step := range slices.Sorted(maps.Keys(steps)) {
		for rank := max(least, 0); rank <= most; rank++ {
			if len(names) == mostGaps {
				return names // a number that is no rank
			}
			if p := (Place{step, rank}); !have[p] {
				name := "rank" + itoa(rank)
				if step >= 0 {
					name = "step" + itoa(step) + "/" + name
				}
				names = append(names, name)
			}
		}
	}
	return names
}

// mostGaps bounds the names of gaps.
const mostGaps = 1000

// CoverageOf counts findings. Damaged is what else could not be read, leaves tells of the
// operators whose outputs leave the network; nil where that is not known.
func CoverageOf(findings []Finding, damaged []result.Damage, leaves map[string]bool) Coverage {
	c := Coverage{Damaged: damaged}
	type place struct {
		file   string
		offset int64
	}
	seen := map[place]bool{}
	for i := range findings {
		f := &findings[i]
		strange := len(f.Reasons) > 0 && f.Reasons[0].Kind == NotInGraph
		if i == 0 || findings[i-1].Op != f.Op || findings[i-1].Rank != f.Rank {
			if !f.missing() {
				c.Recorded++
			}
			if strange {
				c.Strangers = append(c.Strangers, f.Op)
			}
		}
		if f.aside() {
			continue
		}
		c.Expected++
		if leaves[f.Op] {
			c.Leaving++
			if f.Damage != nil || f.missing() {
				c.Outputs = append(c.Outputs, f.Name())
			}
			if f.Damage != nil {
				c.Broken++
			}
		}
		switch {
		case f.Verdict != Unknown:
			c.Judged++
		case f.Damage != nil:
			if at := (place{f.Damage.File, f.Damage.Offset}); at.file == "" || !seen[at] {
				seen[at] = true
				c.Damaged = append(c.Damaged, *f.Damage)
			}
		case f.missing():
			c.Missing = append(c.Missing, f.Name())
		}
	}
	return c
}

// missing tells that the output was not recorded, though the operator or call was to be.
func (f *Finding) missing() bool {
	return len(f.Reasons) > 0 && (slices.Contains([]result.Kind{NoDump, NoKernel, NoResult, NoProcess}, f.Reasons[0].Kind))
}

// aside tells of findings that nothing is expected of: there are no elements, the graph does
// not have the operator, or it may have no kernel.
func (f *Finding) aside() bool {
	if len(f.Reasons) == 0 {
		return false
	}
	kind := f.Reasons[0].Kind
	return kind == Empty || kind == NoKernel || kind == NotInGraph && f.Damage == nil
}

// Missing are findings for what the graph promises and was not dumped: the outputs of operators
// that run a kernel, which computes tells. Where some are missing, so may be those of operators that
// are still: that run a kernel only where the compiler left them one, and that nothing is expected of.
func (j Job) Missing(computes, still func(*graph.Op) bool) (list []Finding) {
	if list = j.undumped(NoDump, func(op *graph.Op) bool { return computes(op) && !still(op) }); len(list) > 0 {
		list = append(list, j.undumped(NoKernel, func(op *graph.Op) bool { return computes(op) && still(op) })...)
	}
	return list
}

func (j Job) undumped(why result.Kind, which func(*graph.Op) bool) (list []Finding) {
	for _, device := range j.Devices {
		dumped := map[string]bool{}
		for _, g := range j.Graph.Graphs {
			for _, op := range g.Ops {
				if rec := device.Folder.Op(op.Name); rec != nil || skipped[op.Type] || !which(op) || dumped[op.Name] {
					continue
				}
				dumped[op.Name] = true
				for i := range max(1, len(op.OutputDesc)) {
					f := Finding{Op: op.Name, Type: op.Type, ID: op.ID, Rank: -1, Index: i, Ratio: nan, Expected: nan, Found: nan, Bound: nan, Largest: nan,
						Reasons: []result.Reason{because(why)}}
					if len(j.Devices) > 1 {
						f.Rank = device.Rank
					}
					list = append(list, f)
				}
			}
		}
	}
	return list
}

// Leaves are the operators whose outputs leave the network: what feeds its NetOutput, or where
// there is none what no operator takes.
func (j Job) Leaves() map[string]bool {
	leaves, taken := map[string]bool{}, map[string]bool{}
	for _, g := range j.Graph.Graphs {
		for _, op := range g.Ops {
			for _, e := range op.Inputs {
				if from := e.Producer(); !e.IsControl() && from != "" {
					taken[from] = true
					if op.Type == "NetOutput" {
						leaves[from] = true
					}
				}
			}
		}
	}
	if len(leaves) > 0 {
		return leaves
	}
	for _, g := range j.Graph.Graphs {
		for _, op := range g.Ops {
			if !taken[op.Name] {
				leaves[op.Name] = true
			}
		}
	}
	return leaves
}
