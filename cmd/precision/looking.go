package main

import (
	"context"
	"os"

	"precision/compare"
	"precision/compare/look"
	"precision/compare/result"
	"precision/compare/verdict"
)

// looks tells whether the elements of operators are to be looked at: a page
// shows them, and who names a number wants them in any case.
func (f *judgeFlags) looks() bool { return f.detail > 0 && (f.html != "" || f.set["detail"]) }

// lookAt looks at the elements of a comparison that just ran: what kind of wrong its roots
// are, and pictures for a page. What kept it from that is no failure of the comparison; it is
// said in the page.
func (f *judgeFlags) lookAt(ctx context.Context, again look.Again, j *verdict.Judged, before ...look.Again) (why string) {
	err := look.Name(ctx, again, j, before...)
	if err == nil {
		err = look.Compared(ctx, again, j)
	}
	if err == nil && f.looks() {
		err = look.Take(ctx, again, j, f.detail)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// lookAgain does the same for a table that was saved, if its dumps are still
// there and it has no looks yet.
func (f *judgeFlags) lookAgain(ctx context.Context, j *verdict.Judged) (why string) {
	m := &j.Table.Meta
	if !f.looks() || look.Drawn(j.Table) || len(j.Roots) == 0 {
		return ""
	}
	if m.Left.Dir == "" || m.Right.Dir == "" {
		return "the table does not name its folders"
	}
	for _, dir := range []string{m.Left.Dir, m.Right.Dir} {
		if _, err := os.Stat(dir); err != nil {
			return err.Error()
		}
	}
	job := compare.Job{Left: m.Left.Dir, Right: m.Right.Dir, LeftTime: m.Left.Recording, RightTime: m.Right.Recording}
	if m.Pairing.How == result.ByGraph {
		job.Graph = m.Graph
	}
	run, err := job.Open(ctx)
	if err != nil {
		return err.Error()
	}
	return f.lookAt(ctx, look.Folders(run), j, look.Before(run))
}
