package run

import (
	"context"
	"fmt"
	"os"
	"unicode"

	"precision/compare/engine"
	"precision/compare/look"
	"precision/compare/report"
	"precision/compare/report/html"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/internal/must"
	"precision/internal/plainfile"
	"precision/run/explain"
)

// Report is a request to judge a table that was saved.
type Report struct {
	Path string
	Judging
}

// Run judges the table.
func (r *Report) Run(ctx context.Context, tell Listener) (_ *Compared, err error) {
	defer must.Catch(&err)
	must.Do(r.apart(r.Path))
	saved, warnings, err := OpenAny(r.Path)
	must.Do(err)
	if len(warnings) > 0 {
		tell(Event{Action: Warning, Warnings: warnings})
	}
	var own *verdict.Profile
	if saved.Hash != "" && r.Profile == "" {
		own, err = saved.Profile()
		explain.Refuse(err != nil, "err.profile", r.Path, err)
	}
	opts := must.Get(r.Standards(own))
	must.Do(r.fits(saved.Table, opts))
	j := verdict.Judge(saved.Table, opts)
	done := &Compared{Judged: j, Path: r.Path, Trips: j.Trips(r.Gate)}
	return done, r.finish(done, r.lookAgain(ctx, j), tell)
}

// lookAgain looks at the elements of a saved table if its dumps are still there and it has no pictures yet.
func (r *Report) lookAgain(ctx context.Context, j *verdict.Judged) (unseen string) {
	m := &j.Table.Meta
	if r.Pictures == 0 || look.Drawn(j.Table) || len(j.Roots) == 0 {
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
	job := engine.Job{Left: m.Left.Dir, Right: m.Right.Dir, LeftTime: m.Left.Recording, RightTime: m.Right.Recording}
	if m.Pairing.How == result.ByGraph {
		job.Graph = m.Graph
	}
	s, err := job.Open(ctx)
	if err != nil {
		return err.Error()
	}
	return r.lookAt(ctx, j, look.Folders(s), look.Before(s))
}

// OpenAny reads a table that was saved as JSON, as a page or as csv.
func OpenAny(path string) (*report.Saved, []error, error) {
	switch Begins(path) {
	case '{':
		saved, err := report.OpenJSON(path)
		return saved, nil, err
	case '<':
		saved, err := openPage(path)
		return saved, nil, err
	}
	table, warnings, err := report.OpenCSV(path)
	return &report.Saved{Table: table}, warnings, err
}

// openPage reads the table that a page carries.
func openPage(path string) (*report.Saved, error) {
	file, _, err := plainfile.Open(path, "a report")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	saved, err := html.Read(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return saved, nil
}

// Begins is the first character of a file that is no blank, 0 if there is none.
func Begins(path string) rune {
	for _, r := range string(plainfile.Front(path, 4096)) {
		if r != '\ufeff' && !unicode.IsSpace(r) {
			return r
		}
	}
	return 0
}
