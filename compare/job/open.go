package job

import (
	"path/filepath"

	"precision/compare/report"
	"precision/compare/verdict"
)

// Judged reads the table of a part from the folder that the job was written to, and judges it as the part was.
func (r *Result) Judged(dir string, part int) (*verdict.Judged, error) {
	x := &r.Plan.Parts[part]
	saved, err := report.OpenJSON(filepath.Join(dir, TableFolder, x.Name+".json"))
	if err != nil {
		return nil, err
	}
	return verdict.Judge(saved.Table, r.Plan.judging(x)), nil
}

// judging is how a part is judged.
func (p *Plan) judging(x *Part) verdict.Options {
	return verdict.Options{Profile: p.profile(), Day: p.Day, OfJob: x.Calls && p.ranks() > 1, Later: x.Calls && p.later(x)}
}
