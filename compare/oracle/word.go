package oracle

import (
	"context"
	"math"
	"slices"

	"precision/compare/result"
	"precision/graph/read"
)

// Check is the finding as the judge of a comparison takes it.
func (f *Finding) Check() result.Check {
	c := result.Check{Op: f.Op, Output: f.Index, Known: f.Verdict != Unknown, Wrong: f.Verdict == Wrong, Suspect: f.Verdict == Suspect,
		Ratio: f.Ratio, Local: math.NaN(), Inherited: math.NaN(), Amplification: math.NaN(), Pattern: f.Pattern, Golden: f.Golden, Apart: f.Apart, Why: f.Why}
	if len(f.Patterns) > 0 && string(f.Patterns[0].Kind) == f.Pattern {
		c.Evidence = f.Patterns[0].Evidence()
	}
	if f.Golden == result.GoldenUntried {
		c.Apart = math.NaN()
	}
	if s := f.Split; s != nil {
		c.Local, c.Inherited, c.Amplification = s.Local, s.Inherited, s.Amplification
	}
	return c
}

// Checks are the findings of one device as the judge of a comparison takes them.
func Checks(findings []Finding) []result.Check {
	list := make([]result.Check, len(findings))
	for i := range findings {
		list[i] = findings[i].Check()
	}
	return list
}

// Weigh tells with how many weights of the device golden outputs do not follow from golden
// inputs: of so many operators as have one of those names and can be recomputed. Another
// attribute, or another form of the operator, is no other weight.
func Weigh(ctx context.Context, beside *Golden, graph string, workers int, names []string) (w result.Weighed, err error) {
	model, err := read.Open(ctx, graph)
	if err != nil || beside.Folder.Device() || beside.Rules == nil {
		return w, err
	}
	only := func(op string) bool { return slices.Contains(names, op) }
	beside.Follow, beside.brief = only, true
	job := Job{Devices: []Device{DeviceOf(beside.Dumps)}, Graph: model, Workers: workers, Only: only, Golden: beside}
	findings, err := job.Run(ctx)
	of, differ := map[string]bool{}, map[string]bool{}
	for i := range findings {
		switch f := &findings[i]; {
		case f.Golden == result.GoldenUntried:
		case f.Golden == result.GoldenDiffers && !slices.ContainsFunc(f.Why, func(r result.Reason) bool { return r.Kind.Otherwise() }):
			differ[f.Op] = true
			fallthrough
		default:
			of[f.Op] = true
		}
	}
	return result.Weighed{Differ: len(differ), Of: len(of)}, err
}

// Recompute checks the dumps of a comparison with their graph, for a judge, and the golden
// side of the operators that it doubts.
func Recompute(ctx context.Context, beside *Golden, graph string, workers int, progress func(done, total int)) ([]result.Check, error) {
	model, err := read.Open(ctx, graph)
	if err != nil {
		return nil, err
	}
	job := Job{Devices: []Device{DeviceOf(beside.Dumps)}, Graph: model, Workers: workers, Progress: progress}
	if !beside.Folder.Device() && beside.Rules != nil {
		job.Golden = beside
	}
	findings, err := job.Run(ctx)
	return Checks(findings), err
}
