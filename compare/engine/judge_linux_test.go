package engine

import (
	"fmt"
	"os"
	"path/filepath"
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
// hints: of 1000 operators with tensors of 4 KB and of 256 KB a side, by one worker, and of as many in a chain that
// a graph tells of.
func BenchmarkJudge(b *testing.B) {
	for _, c := range []struct {
		name  string
		n     int64
		graph bool
	}{{"4 KB", 1 << 10, false}, {"256 KB", 1 << 16, false}, {"4 KB, graph", 1 << 10, true}} {
		b.Run(c.name, func(b *testing.B) {
			const count = 1000
			dir := b.TempDir()
			job := writePair(b, dir, count, c.n)
			job.Workers = 1
			if c.graph {
				job.Graph = filepath.Join(dir, "graph.txt")
				text := []byte("name: \"chain\"\ngraph {\n  name: \"chain\"\n")
				for i := range count {
					text = fmt.Appendf(text, "op { name: \"op_%d\" type: \"Op\" id: %d ", i, i)
					if i > 0 {
						text = fmt.Appendf(text, "input: \"op_%d:0\" ", i-1)
					}
					text = fmt.Appendf(text, "output_desc { dtype: DT_FLOAT layout: \"ND\" shape { dim: %d } attr { key: \"_datadump_origin_name\" value { s: \"op_%d\" } } } }\n", c.n, i)
				}
				if err := os.WriteFile(job.Graph, append(text, '}'), 0o666); err != nil {
					b.Fatal(err)
				}
			}
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
				j := verdict.Judge(out.Table, verdict.Options{})
				end := cpuTime()
				compared, judged = compared+end-start, judged+end-between
				if j.Edges != c.graph || j.Coverage.Compared != count {
					b.Fatal(j.Edges, j.Coverage)
				}
			}
			b.ReportMetric(100*judged.Seconds()/compared.Seconds(), "judge-%")
		})
	}
}
