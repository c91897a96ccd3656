package recording_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"precision/compare/engine"
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
		out, err := engine.Run(context.Background(), s, engine.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if j := verdict.Judge(out.Table, verdict.Options{}); j.Table.Compared() != files/2*2 {
			b.Fatal(j.Table.Compared())
		}
	}
}
