package job

import (
	"context"
	"path/filepath"

	"precision/compare/report"
	"precision/compare/verdict"
	"precision/internal/must"
)

// Judged reads the table of a part from the folder that the job was written to, and judges it as the part was.
func (r *Result) Judged(dir string, part int) (_ *verdict.Judged, err error) {
	defer must.Catch(&err)
	x := &r.Plan.Parts[part]
	saved := must.Get(report.OpenJSON(filepath.Join(dir, TableFolder, x.Name+".json")))
	return verdict.Judge(saved.Table, r.Plan.judging(x)), nil
}

// Each judges the parts that are chosen, nil for all, from their tables below dir and hands them on by their places, one
// at a time. Parts that could not be compared are left out.
func (r *Result) Each(ctx context.Context, dir string, chosen func(part int) bool, do func(part int, j *verdict.Judged) error) (err error) {
	defer must.Catch(&err)
	for i, d := range r.Digests {
		if d.Failed != "" || chosen != nil && !chosen(i) {
			continue
		}
		must.Do(do(i, must.Get(r.Judged(dir, i))))
		must.Do(ctx.Err())
	}
	return nil
}

// judging is how a part is judged.
func (p *Plan) judging(x *Part) verdict.Options {
	return verdict.Options{Profile: p.profile(), Day: p.Day, OfJob: x.Calls && p.ranks() > 1, Later: x.Calls && p.later(x)}
}
