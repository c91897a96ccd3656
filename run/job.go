package run

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"time"

	"precision/compare/job"
	"precision/compare/job/page"
	"precision/dump/msprobe"
	"precision/internal/gc"
	"precision/internal/msg"
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
	// Profile is the name of a profile or a file, with a Threshold in place of its own.
	Profile   string
	Threshold *float64
}

// Plan reads what people wrote and finds the parts of the job.
func (j *Job) Plan(ctx context.Context) (*job.Plan, error) {
	if err := j.Validate(); err != nil {
		return nil, err
	}
	gc.Within(jobMemory)
	j.Day = time.Now()
	plan, err := j.Request.Plan(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, explain.Say("err.interrupted.early")
	case err == nil && j.Mapping != "" && slices.ContainsFunc(plan.Parts, func(p job.Part) bool { return !p.Calls }):
		return nil, explain.Say("err.map.sides", j.Mapping)
	}
	return plan, err
}

// Validate reads what people wrote.
func (j *Job) Validate() (err error) {
	if j.PerHost < 0 {
		return explain.Say("err.perhost", j.PerHost)
	}
	opts, err := (&Judging{Profile: j.Profile, Threshold: j.Threshold}).Standards(nil)
	if err != nil {
		return err
	}
	r := &j.Request
	r.Profile = opts.Profile
	if r.Ranks, err = job.ParseNumbers(j.Ranks); err != nil {
		return explain.Say("err.numbers", "-ranks", j.Ranks)
	}
	if r.Steps, err = job.ParseNumbers(j.Steps); err != nil {
		return explain.Say("err.numbers", "-steps", j.Steps)
	}
	if r.Models, err = job.CheckModels(j.Models); err != nil {
		return explain.Say("err.option", "-models", err)
	}
	if j.Unshard != "" {
		if r.Unshard, err = job.ParseUnshard(j.Unshard); err != nil {
			return explain.Say("err.unshard", j.Unshard)
		}
	}
	if j.Mapping != "" {
		r.Mapping, err = msprobe.ReadMapping(j.Mapping)
	}
	return err
}

// Settings are those of a job that writes to a folder, with a page.
func Settings(out string, lang msg.Lang, tell Listener) job.Settings {
	return job.Settings{Out: out,
		Tell: func(n job.Note) { tell(Event{Action: Warning, Note: &n}) },
		Progress: func(done, total int64) {
			tell(Event{Action: Progress, Stage: Comparing, Bytes: true, Done: int(done), Total: int(total)})
		},
		Page: func(w io.Writer, r *job.Result) error { return page.Write(w, r, lang) }}
}

// Run compares what was planned. Of a shard there is no result.
func (j *Job) Run(ctx context.Context, plan *job.Plan, s job.Settings, tell Listener) (*job.Result, error) {
	r, err := plan.Run(ctx, s)
	if r != nil {
		tell(Event{Action: Verdict, Verdict: r.Verdict, Path: filepath.Join(s.Out, job.ResultFile)})
	}
	return r, err
}
