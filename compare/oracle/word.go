package oracle

import (
	"context"
	"math"

	"precision/compare/result"
	"precision/dump"
	"precision/graph/read"
)

// Check is the finding as the judge of a comparison takes it.
func (f *Finding) Check() result.Check {
	c := result.Check{Op: f.Op, Output: f.Index, Known: f.Verdict != Unknown, Wrong: f.Verdict == Wrong, Suspect: f.Verdict == Suspect,
		Ratio: f.Ratio, Local: math.NaN(), Inherited: math.NaN(), Amplification: math.NaN(), Pattern: f.Pattern}
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

// Recompute checks the dumps of a folder with their graph, for a judge.
func Recompute(ctx context.Context, dumps *dump.Folder, graph string, workers int, progress func(done, total int)) ([]result.Check, error) {
	model, err := read.Open(ctx, graph)
	if err != nil {
		return nil, err
	}
	findings, err := Job{Devices: []Device{DeviceOf(dumps)}, Graph: model, Workers: workers, Progress: progress}.Run(ctx)
	return Checks(findings), err
}
