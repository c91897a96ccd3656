package oracle

import (
	"context"
	"strings"

	"precision/compare/result"
	"precision/dump/mindspore"
	"precision/dump/msprobe"
)

// RecomputeCalls checks the calls of the left side of a comparison of recordings, for a judge, and
// of those that it doubts the right side, too: a golden call that does not follow from its own
// arguments, where that of the left side does, is wrong itself. That it follows says nothing of
// the left one, which may have had other arguments and weights. ok is false where the left
// side holds no calls that a check knows.
func RecomputeCalls(ctx context.Context, left, right string, t *result.Table, doubted func(op string) bool, workers int, progress func(done, total int)) (list []result.Check, ok bool, err error) {
	own, err := callsOf(ctx, left, RecordingJob{Workers: workers, Progress: progress})
	if err != nil || own == nil {
		return nil, false, err
	}
	golden := map[string]string{} // the right call of a left one that is doubted
	wanted := map[string]bool{}
	for i := range t.Rows {
		if r := &t.Rows[i]; r.Right.Names != "*" && doubted(r.Op) {
			name := partOf(r.Op) + r.Right.Names
			golden[r.Op] = name
			wanted[name], wanted[r.Right.Names] = true, true
		}
	}
	var beside callFindings
	if len(golden) > 0 {
		if beside, err = callsOf(ctx, right, RecordingJob{Workers: workers, Only: func(call string) bool { return wanted[unnumbered(call)] }}); err != nil {
			return nil, true, err
		}
	}
	for i := range t.Ops {
		op := t.Ops[i].Name
		right := beside.of(golden[op])
		for k, f := range own.of(op) {
			c := f.Check()
			c.Op = op
			if k < len(right) && right[k].Index == f.Index && right[k].Verdict == Wrong && c.Known && !c.Wrong {
				c.Golden = result.GoldenWrong
			}
			list = append(list, c)
		}
	}
	return list, true, ctx.Err()
}

// callFindings are those of a recording by their calls, as tables name these.
type callFindings map[string][]*Finding

// of are those of a call; a recording of one process has them without its step and rank.
func (m callFindings) of(call string) []*Finding {
	if list := m[call]; list != nil {
		return list
	}
	return m[strings.TrimPrefix(call, partOf(call))]
}

// callsOf checks the recordings below a folder; nil where there are none.
func callsOf(ctx context.Context, dir string, j RecordingJob) (callFindings, error) {
	j.Recordings, _ = msprobe.Find(dir)
	if len(j.Recordings) == 0 {
		if j.Kernels, _ = mindspore.Find(dir); len(j.Kernels) == 0 {
			return nil, nil
		}
	}
	findings, _, err := j.Run(ctx)
	if err != nil {
		return nil, err
	}
	by := callFindings{}
	for i := range findings {
		name := unnumbered(findings[i].Op)
		by[name] = append(by[name], &findings[i])
	}
	return by, nil
}

// partOf is the step and rank before the name of a call, with the stroke after them.
func partOf(name string) string { return name[:strings.LastIndexByte(name, '/')+1] }

// unnumbered is the name of a call as tables of comparisons have it, where processes without a
// rank have no number.
func unnumbered(name string) string {
	part := partOf(name)
	if at := strings.LastIndex("/"+part, "/proc"); at >= 0 {
		return part[:at] + "proc/" + name[len(part):]
	}
	return name
}
