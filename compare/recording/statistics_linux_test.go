package recording_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"precision/compare/engine"
	"precision/compare/recording"
	"precision/compare/verdict"
)

func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkStatistics compares and judges two recordings of statistics of 4 MB a file, or
// what BENCH_MB says, and tells the processor time of a call, of which judging is a part, and the bytes that are live at the end by those of one file.
func BenchmarkStatistics(b *testing.B) {
	size := 4
	if s := os.Getenv("BENCH_MB"); s != "" {
		size, _ = strconv.Atoi(s)
	}
	dir := b.TempDir()
	written := 0
	for _, side := range []string{"left", "right"} {
		folder := filepath.Join(dir, side, "step0", "rank0")
		if err := os.MkdirAll(folder, 0o700); err != nil {
			b.Fatal(err)
		}
		var text bytes.Buffer
		text.WriteString("{\n \"task\": \"statistics\",\n \"level\": \"L1\",\n \"framework\": \"pytorch\",\n \"dump_data_dir\": null,\n \"data\": {\n")
		tensor := func(n int) {
			v := float64(float32(1 + math.Sin(float64(n))))
			fmt.Fprintf(&text, "    {\n     \"type\": \"torch.Tensor\",\n     \"dtype\": \"torch.float32\",\n     \"shape\": [\n      8,\n      128,\n      768\n     ],\n     \"Max\": %v,\n     \"Min\": %v,\n     \"Mean\": %v,\n     \"Norm\": %v,\n     \"requires_grad\": true\n    }",
				3+v, -v, v/3, 900+v)
		}
		for i := 0; text.Len() < size<<20; i++ {
			if i > 0 {
				text.WriteString(",\n")
			}
			fmt.Fprintf(&text, "  \"Functional.linear.%d.forward\": {\n   \"input_args\": [\n", i)
			tensor(2 * i)
			text.WriteString(",\n")
			tensor(2*i + 1)
			text.WriteString("\n   ],\n   \"input_kwargs\": {},\n   \"output\": [\n")
			tensor(2*i + 2)
			text.WriteString("\n   ]\n  }")
		}
		text.WriteString("\n }\n}\n")
		written = text.Len()
		if err := os.WriteFile(filepath.Join(folder, "dump.json"), text.Bytes(), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(2 * written))
	var m runtime.MemStats
	compared, judged, calls := time.Duration(0), time.Duration(0), 0
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&m)
		before := m.HeapAlloc
		start := used()
		s, err := recording.Open(filepath.Join(dir, "left"), filepath.Join(dir, "right"), recording.Options{})
		if err != nil {
			b.Fatal(err)
		}
		out, err := engine.Run(context.Background(), s, engine.Options{})
		if err != nil {
			b.Fatal(err)
		}
		s = nil
		between := used()
		j := verdict.Judge(out.Table, verdict.Options{})
		end := used()
		compared, judged, calls = compared+end-start, judged+end-between, calls+len(out.Table.Ops)
		runtime.GC()
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapAlloc-before)/float64(written), "live/file")
		if len(j.Roots) > 0 {
			b.Fatal(len(j.Roots))
		}
	}
	b.ReportMetric(100*judged.Seconds()/compared.Seconds(), "judge-%")
	b.ReportMetric(1e6*judged.Seconds()/float64(calls), "judge-us/call")
	b.ReportMetric(1e6*compared.Seconds()/float64(calls), "cpu-us/call")
}
