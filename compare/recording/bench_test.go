package recording_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"precision/compare"
	"precision/compare/recording"
	"precision/compare/verdict"
	"precision/dump/dtype"
	"precision/dump/torch"
)

// BenchmarkFiles compares and judges two recordings whose tensors are in .pt files of
// 64 KB, 200 a side or what BENCH_FILES says.
func BenchmarkFiles(b *testing.B) {
	files := 200
	if s := os.Getenv("BENCH_FILES"); s != "" {
		files, _ = strconv.Atoi(s)
	}
	const elements = 16 << 10
	raw := make([]byte, 4*elements)
	for i := range elements {
		binary.LittleEndian.PutUint32(raw[4*i:], math.Float32bits(float32(math.Sin(float64(i)))))
	}
	var data bytes.Buffer
	if err := torch.Write(&data, dtype.Float32, []int64{elements}, bytes.NewReader(raw)); err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	var entries []string
	tensor := func(name string) string {
		return fmt.Sprintf(`{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [%d], "Max": 1.0, "Min": -1.0, "Mean": 0.0, "Norm": 90.5, "requires_grad": false, "data_name": %q}`, elements, name)
	}
	for i := range files / 2 {
		name := fmt.Sprintf("Torch.sin.%d.forward", i)
		entries = append(entries, fmt.Sprintf(`%q: {"input_args": [%s], "input_kwargs": {}, "output": [%s]}`, name, tensor(name+".input.0.pt"), tensor(name+".output.0.pt")))
	}
	for _, side := range []string{"left", "right"} {
		folder := filepath.Join(dir, side, "step0", "rank0", "dump_tensor_data")
		if err := os.MkdirAll(folder, 0o700); err != nil {
			b.Fatal(err)
		}
		text := `{"task": "tensor", "level": "L1", "framework": "pytorch", "dump_data_dir": "/d", "data": {` + strings.Join(entries, ",\n") + "}}"
		if err := os.WriteFile(filepath.Join(folder, "..", "dump.json"), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
		for i := range files / 2 {
			for _, place := range []string{"input", "output"} {
				if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("Torch.sin.%d.forward.%s.0.pt", i, place)), data.Bytes(), 0o600); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	b.SetBytes(int64(2 * files * len(raw)))
	for b.Loop() {
		s, err := recording.Open(filepath.Join(dir, "left"), filepath.Join(dir, "right"), recording.Options{})
		if err != nil {
			b.Fatal(err)
		}
		out, err := compare.Run(context.Background(), s, compare.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if j := verdict.Judge(out.Table, verdict.Options{}); j.Table.Compared() != files/2*2 {
			b.Fatal(j.Table.Compared())
		}
	}
}

// BenchmarkStatistics compares and judges two recordings of statistics of 4 MB a file, or
// what BENCH_MB says, and tells the bytes that are live at the end by those of one file.
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
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&m)
		before := m.HeapAlloc
		start := time.Now()
		s, err := recording.Open(filepath.Join(dir, "left"), filepath.Join(dir, "right"), recording.Options{})
		if err != nil {
			b.Fatal(err)
		}
		out, err := compare.Run(context.Background(), s, compare.Options{})
		if err != nil {
			b.Fatal(err)
		}
		s = nil
		between := time.Now()
		j := verdict.Judge(out.Table, verdict.Options{})
		b.ReportMetric(100*time.Since(between).Seconds()/time.Since(start).Seconds(), "judge-%")
		runtime.GC()
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapAlloc-before)/float64(written), "live/file")
		if len(j.Roots) > 0 {
			b.Fatal(len(j.Roots))
		}
	}
}
