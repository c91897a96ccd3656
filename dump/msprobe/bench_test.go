package msprobe

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"testing"
)

// endless is a dump.json of any size that is made as it is read: a transformer's calls
// again and again, written as the recorder does.
type endless struct {
	left  int64 // bytes still to be made
	n     int   // calls so far
	chunk []byte
	at    int
	state int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.at == len(e.chunk) {
		if e.state == 2 {
			return 0, io.EOF
		}
		e.fill()
	}
	n := copy(p, e.chunk[e.at:])
	e.at += n
	return n, nil
}

func (e *endless) fill() {
	e.at, e.chunk = 0, e.chunk[:0]
	if e.state == 0 {
		e.chunk = append(e.chunk, "{\n \"task\": \"statistics\",\n \"level\": \"L1\",\n \"framework\": \"pytorch\",\n \"dump_data_dir\": null,\n \"data\": {\n"...)
		e.state = 1
	}
	for len(e.chunk) < 64<<10 {
		if e.n > 0 {
			e.chunk = append(e.chunk, ",\n"...)
		}
		e.call()
		e.n++
	}
	if e.left -= int64(len(e.chunk)); e.left <= 0 {
		e.chunk = append(e.chunk, "\n }\n}\n"...)
		e.state = 2
	}
}

var benchCalls = []struct {
	api    string
	inputs int
	scalar bool
}{{"Functional.linear", 3, false}, {"Torch.matmul", 2, false}, {"Functional.softmax", 1, true}, {"Tensor.__add__", 2, false}, {"Functional.layer_norm", 3, true}, {"Functional.gelu", 1, true}}

func (e *endless) call() {
	c := benchCalls[e.n%len(benchCalls)]
	b := fmt.Appendf(e.chunk, "  \"%s.%d.forward\": {\n   \"input_args\": [\n", c.api, e.n/len(benchCalls))
	for i := range c.inputs {
		if i > 0 {
			b = append(b, ",\n"...)
		}
		b = e.tensor(b, i)
	}
	if c.scalar {
		b = append(b, ",\n    {\n     \"type\": \"float\",\n     \"value\": 1e-05\n    }"...)
	}
	b = append(b, "\n   ],\n   \"input_kwargs\": {},\n   \"output\": [\n"...)
	b = e.tensor(b, 7)
	e.chunk = append(b, "\n   ]\n  }"...)
}

func (e *endless) tensor(b []byte, i int) []byte {
	v := float64(float32(1 + float64((e.n*31+i*7)%9973)/3331))
	b = append(b, "    {\n     \"type\": \"torch.Tensor\",\n     \"dtype\": \"torch.float32\",\n     \"shape\": [\n      8,\n      128,\n      768\n     ],\n     \"Max\": "...)
	for k, name := range []string{"", "Min", "Mean", "Norm"} {
		if k > 0 {
			b = append(append(append(b, ",\n     \""...), name...), "\": "...)
		}
		b = strconv.AppendFloat(b, v*float64(1-2*(k&1))*float64(1+k*k), 'g', -1, 64)
	}
	return append(b, ",\n     \"requires_grad\": true\n    }"...)
}

// BenchmarkLarge reads a dump.json that is made on the fly, 64 MB or what BENCH_MB says,
// and tells the memory that was live at most. What making it costs is told by
// BenchmarkMake.
func BenchmarkLarge(b *testing.B) {
	size := int64(64)
	if s := os.Getenv("BENCH_MB"); s != "" {
		size, _ = strconv.ParseInt(s, 10, 64)
	}
	b.SetBytes(size << 20)
	var m runtime.MemStats
	peak := uint64(0)
	for b.Loop() {
		s := NewScanner(&endless{left: size << 20}, "dump.json")
		calls := 0
		for s.Scan() {
			if _, ok := s.Result().(*Call); !ok {
				b.Fatal(s.Result())
			}
			if calls++; calls%50000 == 0 {
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapSys-m.HeapReleased)
			}
		}
		if s.Err() != nil || calls == 0 {
			b.Fatal(s.Err(), calls)
		}
	}
	b.ReportMetric(float64(peak>>20), "MB-heap")
}

// BenchmarkMake makes the same bytes and drops them.
func BenchmarkMake(b *testing.B) {
	b.SetBytes(64 << 20)
	for b.Loop() {
		if _, err := io.Copy(io.Discard, &endless{left: 64 << 20}); err != nil {
			b.Fatal(err)
		}
	}
}
