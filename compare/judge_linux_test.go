package compare

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"precision/compare/verdict"
)

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkJudge tells which share of the processor time of a comparison judging takes, with premises and
// hints: of 1000 operators with tensors of 4 KB and of 256 KB a side, by one worker.
func BenchmarkJudge(b *testing.B) {
	for _, n := range []int64{1 << 10, 1 << 16} {
		b.Run(fmt.Sprint(4*n>>10, " KB"), func(b *testing.B) {
			job := writePair(b, b.TempDir(), 1000, n)
			job.Workers = 1
			var compared, judged time.Duration
			for b.Loop() {
				start := cpuTime()
				s, err := job.Open(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				out, err := s.Run(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				between := cpuTime()
				verdict.Judge(out.Table, verdict.Options{})
				end := cpuTime()
				compared, judged = compared+end-start, judged+end-between
			}
			b.ReportMetric(100*judged.Seconds()/compared.Seconds(), "judge-%")
		})
	}
}
