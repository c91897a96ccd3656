package main

import (
	"context"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"precision/compare/job"
	"precision/testdata/workshop/jobtest"
)

// BenchmarkBeam compares a job of 200 tiny ranks by Beam and as precision compare -all does, in turn, and gives the processor time
// of both and how many times as much Beam takes. With -cpuprofile the stages can be told apart: those of the run on one machine are
// below job.Plan.Run.
func BenchmarkBeam(b *testing.B) {
	c := asked(b, jobtest.Job{Ranks: 200, Steps: 1, Size: 16})
	c.Piece = 256 << 20
	plan, err := c.job().Plan(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	spent := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	var beam, one time.Duration
	for b.Loop() {
		start := spent()
		c.Out = filepath.Join(b.TempDir(), "beam")
		if _, err := c.submit(b.Context(), prism); err != nil {
			b.Fatal(err)
		}
		between := spent()
		if _, err := plan.Run(context.Background(), job.Settings{Out: filepath.Join(b.TempDir(), "one"), Fresh: true}); err != nil {
			b.Fatal(err)
		}
		beam, one = beam+between-start, one+spent()-between
	}
	b.ReportMetric(beam.Seconds()*1000/float64(b.N), "ms-CPU/beam")
	b.ReportMetric(one.Seconds()*1000/float64(b.N), "ms-CPU/one")
	b.ReportMetric(float64(beam)/float64(one), "x-CPU")
}
