package run

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"precision/compare/job"
	"precision/compare/job/face"
	"precision/compare/report/parquet"
	"precision/compare/verdict"
	"precision/dump/msprobe"
	"precision/internal/gc"
	"precision/internal/msg"
	"precision/internal/must"
	"precision/internal/whole"
	"precision/run/explain"
)

// jobMemory is what a job may hold before memory is collected more often. It does not
// depend on the number of ranks.
const jobMemory = 160 << 20

// Job is a request to compare all ranks and steps of a job.
type Job struct {
	// Request names the sides and the options; what people write is read by Plan.
	job.Request
	// Ranks, Steps, Models and Unshard choose and cut as options say it, Mapping is a mapping file of msprobe.
	Ranks, Steps, Models, Unshard, Mapping string
	// Profile is the name of a profile or a file, with a Threshold in place of its own; After is a result to go on from.
	Profile   string
	After     string
	Threshold *float64
	// State is the folder that keeps the last result.
	State string
	// Parquet is where the tables of all parts go as one, HTML a page of the job, with the pages of all parts in a folder
	// beside it; empty are not written.
	Parquet, HTML string
}

// Plan reads what people wrote and finds the parts of the job.
func (j *Job) Plan(ctx context.Context) (_ *job.Plan, err error) {
	defer must.Catch(&err)
	must.Do(j.Validate())
	gc.Within(jobMemory)
	j.Day = time.Now()
	plan, err := j.Request.Plan(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, explain.Say("err.interrupted.early")
	case err == nil && j.Mapping != "" && slices.ContainsFunc(plan.Parts, func(p job.Part) bool { return !p.Calls }):
		return nil, explain.Say("err.map.sides", j.Mapping)
	case err != nil:
		return plan, cmp.Or(NoRun(j.Left, j.Right), err)
	}
	return plan, nil
}

// TakeOver is Plan in a worker, which is handed what another process found on that day.
func (j *Job) TakeOver(text []byte, day time.Time) (_ *job.Plan, err error) {
	defer must.Catch(&err)
	must.Do(j.Validate())
	gc.Within(jobMemory)
	j.Day = day
	return j.Request.TakeOver(text)
}

// Validate reads what people wrote.
func (j *Job) Validate() (err error) {
	defer must.Catch(&err)
	explain.Refuse(j.PerHost < 0, "err.perhost", j.PerHost)
	for _, path := range []string{j.Parquet, j.HTML} {
		explain.Refuse(path == "-" || filepath.Ext(path) == ".parts", "err.job.file", path)
	}
	must.Do(whole.Apart([]string{j.Parquet, j.HTML}, j.Left, j.Right, j.Graph, j.Quant, j.Closed, j.Mapping, j.Profile, j.After))
	opts := must.Get((&Judging{Profile: j.Profile, Threshold: j.Threshold, After: j.After}).Standards(nil))
	r := &j.Request
	r.Profile, r.After = opts.Profile, opts.After
	explain.Refuse(r.After != nil && len(r.After.Roots) == 0, "err.after.rootless", j.After)
	r.Ranks, err = job.ParseNumbers(j.Ranks)
	explain.Refuse(err != nil, "err.numbers", "-ranks", j.Ranks)
	r.Steps, err = job.ParseNumbers(j.Steps)
	explain.Refuse(err != nil, "err.numbers", "-steps", j.Steps)
	r.Models, err = job.CheckModels(j.Models)
	explain.Refuse(err != nil, "err.option", "-models", err)
	if j.Unshard != "" {
		r.Unshard, err = job.ParseUnshard(j.Unshard)
		explain.Refuse(err != nil, "err.unshard", j.Unshard)
	}
	if j.Mapping != "" {
		r.Mapping, err = msprobe.ReadMapping(j.Mapping)
	}
	return err
}

// Settings are those of a job that writes to a folder, with a page.
func Settings(out string, lang msg.Lang, tell Listener) job.Settings {
	whole, part := face.Pages(lang)
	return job.Settings{Out: out, Page: whole, PartPage: part,
		Tell: func(n job.Note) { tell(Event{Action: Warning, Note: &n}) },
		Progress: func(done, total int64) {
			tell(Event{Action: Progress, Stage: Comparing, Bytes: true, Done: int(done), Total: int(total)})
		}}
}

// Run compares what was planned. Of a shard there is no result.
func (j *Job) Run(ctx context.Context, plan *job.Plan, s job.Settings, tell Listener) (_ *job.Result, err error) {
	defer must.Catch(&err)
	s.AllPages = j.HTML != ""
	r := must.Get(plan.Run(ctx, s))
	if r == nil {
		return nil, nil
	}
	if j.Parquet != "" {
		must.Do(WriteParts(ctx, j.Parquet, r, s.Out, tell))
	}
	if j.HTML != "" {
		writePages(j.HTML, r, s)
		tell(Event{Action: File, Path: j.HTML})
	}
	Last{Result: s.Out}.Keep(j.State, nil)
	tell(Event{Action: Verdict, Verdict: r.Verdict, Path: filepath.Join(s.Out, job.ResultFile)})
	return r, nil
}

// writePages writes a page of a job and, in a folder beside it, copies of the pages of all its parts: report.html and report.parts.
// Those of an earlier run go: the page first, so that none shows parts that it does not know, and parts that are no longer among them last.
func writePages(to string, r *job.Result, s job.Settings) {
	folder := strings.TrimSuffix(to, filepath.Ext(to)) + ".parts"
	must.Do(os.MkdirAll(folder, 0o700))
	if err := os.Remove(to); !errors.Is(err, fs.ErrNotExist) {
		must.Do(err)
	}
	all := *r
	all.Pages = make([]string, len(r.Digests))
	mine := map[string]bool{}
	for i, page := range r.Pages {
		if page == "" {
			continue
		}
		name := filepath.Base(page)
		all.Pages[i], mine[name] = filepath.Base(folder)+"/"+name, true
		must.Do(writeWhole(filepath.Join(folder, name), func(w io.Writer) (err error) {
			defer must.Catch(&err)
			from := must.Get(os.Open(filepath.Join(s.Out, page)))
			defer from.Close()
			must.Get(io.Copy(w, from))
			return nil
		}))
	}
	for _, f := range must.Get(os.ReadDir(folder)) {
		// Pages of results that are not among them; other files stay.
		if name := filepath.Join(folder, f.Name()); filepath.Ext(name) == ".html" && !mine[f.Name()] && IsPage(name) {
			must.Do(os.Remove(name))
		}
	}
	must.Do(writeWhole(to, func(w io.Writer) error { return s.Page(w, &all) }))
}

// WriteParts writes the tables of all parts of a job as one Parquet file, from those in its folder.
func WriteParts(ctx context.Context, path string, r *job.Result, dir string, tell Listener) error {
	err := writeWhole(path, func(w io.Writer) error { return writeParts(ctx, w, r, dir) })
	if err == nil {
		tell(Event{Action: File, Path: path})
	}
	return err
}

// writeParts holds one part at a time.
func writeParts(ctx context.Context, w io.Writer, r *job.Result, dir string) error {
	t := parquet.NewTable(w, [2]string{"verdict", r.Verdict}, [2]string{"left", r.Plan.Left}, [2]string{"right", r.Plan.Right})
	if err := r.Each(ctx, dir, nil, func(i int, j *verdict.Judged) error {
		return t.Add(j, r.Plan.Parts[i].Step, r.Plan.Parts[i].Rank)
	}); err != nil {
		return err
	}
	return t.Close()
}
