package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"

	"precision/compare/job"
	"precision/compare/job/face"
	"precision/internal/must"
	"precision/run"
)

// stages is the folder below the output folder in which jobs have theirs.
const stages = "stage"

// submit makes the plan, has an engine compute what the output folder does not have yet, and draws it together. engine runs a
// pipeline to its end and says what went wrong; interrupted tells that the context ended it.
func (c config) submit(ctx context.Context, engine func(context.Context, *beam.Pipeline) error) (_ *job.Result, err error) {
	defer must.Catch(&err)
	request := c.job()
	plan := must.Get(request.Plan(ctx))
	c.Day = request.Day
	s := run.Settings(c.Out, c.Lang, func(e run.Event) {
		if e.Note != nil {
			fmt.Fprintln(os.Stderr, "scale:", face.Note(c.Lang, *e.Note))
		}
	})
	g, err := plan.Gather(ctx, s)
	must.Not(errors.As(err, new(*job.LockedError)), "the output folder is in use: %w", err)
	must.Not(err != nil, "the output folder cannot be used: %w", err)
	defer g.Close()
	// A job whose submitting program was killed left its folder. What is whole in it is taken; should it still run, it fails.
	all := filepath.Join(c.Out, stages)
	takeWhole(g, all)
	must.Do(clear(all))
	c.Stage = filepath.Join(all, rand.Text())
	if err := c.compute(ctx, plan, g, engine); err != nil {
		takeWhole(g, all)
		return nil, errors.Join(err, clear(all))
	}
	must.Do(clear(all))
	return g.Conclude(ctx)
}

// compute has an engine compute the units that are missing, and takes those whose names came through.
func (c config) compute(ctx context.Context, plan *job.Plan, g *job.Gathering, engine func(context.Context, *beam.Pipeline) error) (err error) {
	defer must.Catch(&err)
	pieces := slices.DeleteFunc(plan.Pieces(c.Piece), func(x job.Piece) bool { return g.Done(x.Unit) })
	if len(pieces) == 0 {
		return nil
	}
	must.Do(c.handOver(plan, pieces))
	p, s := beam.NewPipelineWithRoot()
	c.pipeline(s)
	must.Do(engine(ctx, p))
	if ctx.Err() != nil {
		takeWhole(g, filepath.Dir(c.Stage))
		return g.Interrupted(context.Cause(ctx))
	}
	text, err := os.ReadFile(filepath.Join(c.Stage, doneFile))
	must.Not(errors.Is(err, fs.ErrNotExist), "the engine has ended, but did not say which units are done: the job was cancelled, or this runner does not run it")
	must.Do(err)
	var folders []string
	if err := json.Unmarshal(text, &folders); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(c.Stage, doneFile), err)
	}
	var bad []error
	for _, dir := range folders {
		if err := g.Take(dir); err != nil {
			bad = append(bad, err)
		}
	}
	// Flink has handed over bytes that no worker wrote, after one of them was killed. What attempts made whole tells itself.
	takeWhole(g, filepath.Dir(c.Stage))
	for _, x := range pieces {
		if !g.Done(x.Unit) {
			return fmt.Errorf("the engine has ended without %s: %w", x.Unit, cmp.Or(errors.Join(bad...), errors.New("it named no folder of it")))
		}
	}
	return nil
}

// takeWhole takes what attempts of jobs that did not end made whole. What cannot be taken is compared again.
func takeWhole(g *job.Gathering, all string) {
	attempts, _ := fs.Glob(os.DirFS(all), "*/*/*")
	for _, dir := range attempts {
		if !g.Done(path.Base(path.Dir(dir))) {
			_ = g.Take(filepath.Join(all, filepath.FromSlash(dir)))
		}
	}
}

// clear removes the folders of jobs, and what they are in if nothing else is there. A worker that has not heard of the end
// may write while this does.
func clear(all string) error {
	list, err := os.ReadDir(all)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, one := range list {
		if !ours(one.Name()) {
			continue
		}
		for range 10 {
			if err = os.RemoveAll(filepath.Join(all, one.Name())); err == nil {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		if err != nil {
			return err
		}
	}
	if err == nil {
		_ = os.Remove(all) // not with something of another's in it
	}
	return err
}

// ours tells the folder of a job, which rand.Text named, from what somebody else keeps below such a name.
func ours(name string) bool {
	return len(name) == len(rand.Text()) && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// onEngine runs a pipeline on the engine that Beam's flags name. When the context ends, it cancels the job and waits for its end.
func onEngine(run func(context.Context, *beam.Pipeline) error) func(context.Context, *beam.Pipeline) error {
	return func(ctx context.Context, p *beam.Pipeline) error {
		if *jobopts.JobName == "" {
			*jobopts.JobName = "precision-" + rand.Text()
		}
		done := make(chan error, 1)
		go func() { done <- run(context.WithoutCancel(ctx), p) }()
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
		}
		what, err := cancel(context.WithoutCancel(ctx))
		fmt.Fprintln(os.Stderr, "scale:", what)
		if err != nil {
			return err
		}
		select {
		case <-done: // what it says of a job that was cancelled is no news
		case <-time.After(time.Minute):
			fmt.Fprintln(os.Stderr, "scale: the engine has not ended it within a minute")
		}
		return nil
	}
}

// plainName is the name of a job as Beam's Java runners have it, which put more behind it.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '0'
	}, strings.ToLower(name))
}

// cancel asks the engine to cancel the job of this program, and says what came of it.
func cancel(ctx context.Context) (string, error) {
	name := *jobopts.JobName
	if *jobopts.Endpoint == "" {
		return "", fmt.Errorf("the job %s goes on: this runner has no job service to cancel it with; cancel it where the engine lists its jobs", name)
	}
	cc, err := grpcx.Dial(ctx, *jobopts.Endpoint, 10*time.Second)
	if err != nil {
		return "", fmt.Errorf("the job %s goes on: %s does not answer: %w", name, *jobopts.Endpoint, err)
	}
	defer cc.Close()
	service := jobpb.NewJobServiceClient(cc)
	all, err := service.GetJobs(ctx, &jobpb.GetJobsRequest{})
	if err != nil {
		return "", fmt.Errorf("the job %s goes on: %s does not list its jobs: %w", name, *jobopts.Endpoint, err)
	}
	var mine []string
	for _, j := range all.GetJobInfo() {
		switch j.GetState() {
		case jobpb.JobState_DONE, jobpb.JobState_FAILED, jobpb.JobState_CANCELLED, jobpb.JobState_DRAINED, jobpb.JobState_UPDATED:
			continue
		}
		if strings.HasPrefix(plainName(j.GetJobName()), plainName(name)) {
			mine = append(mine, j.GetJobId())
		}
	}
	switch len(mine) {
	case 0:
		return fmt.Sprintf("%s lists no job %s that runs: it had not begun, or has ended", *jobopts.Endpoint, name), nil
	case 1:
	default:
		return "", fmt.Errorf("%d jobs have the name %s: %s; cancel yours where the engine lists its jobs", len(mine), name, mine)
	}
	if _, err := service.Cancel(ctx, &jobpb.CancelJobRequest{JobId: mine[0]}); err != nil {
		return "", fmt.Errorf("the job %s goes on: %w", mine[0], err)
	}
	return "cancelled the job " + mine[0], nil
}
