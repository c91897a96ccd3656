package job

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"precision/testdata/workshop/jobtest"

	"precision/internal/whole"
)

// jobs has a benchmark of jobs of some hundred megabytes, in parts of 3 and of 23 MB, and of one of a thousand parts of
// next to nothing, where files are all there is to do: TMPDIR has to be on a disk.
func jobs(b *testing.B, of func(*testing.B, *Plan)) {
	for _, c := range []struct {
		name        string
		ranks, size int
	}{{"tiny", 1000, 1 << 4}, {"small", 256, 1 << 16}, {"medium", 32, 1 << 19}} {
		b.Run(c.name, func(b *testing.B) {
			dir := b.TempDir()
			if err := (jobtest.Job{Ranks: c.ranks, Steps: 1, Size: c.size}).Write(dir); err != nil {
				b.Fatal(err)
			}
			p, err := asked(dir).Plan(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			of(b, p)
			b.ReportMetric(float64(bytesOf(p))/1e6, "MB")
		})
	}
}

// BenchmarkJournal is a run of a job; a profile of it tells what the journal takes. See docs/jobs.md.
func BenchmarkJournal(b *testing.B) { jobs(b, journalled) }

func journalled(b *testing.B, p *Plan) {
	for b.Loop() {
		if _, err := p.Run(b.Context(), Settings{Out: filepath.Join(b.TempDir(), "out"), Fresh: true}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkResume ends runs of a job at random places and reports how much of what they had finished
// another run has to do again, by bytes.
func BenchmarkResume(b *testing.B) { jobs(b, resumed) }

func resumed(b *testing.B, p *Plan) {
	rng := rand.New(rand.NewPCG(1, 2))
	var finished, kept, most float64
	for b.Loop() {
		out := filepath.Join(b.TempDir(), "out")
		end := rng.Int64N(bytesOf(p)*8/10) + bytesOf(p)/10
		var last atomic.Int64
		ctx, cancel := context.WithCancel(b.Context())
		_, err := p.Run(ctx, Settings{Out: out, Progress: func(done, _ int64) {
			if last.Store(done); done >= end {
				cancel()
			}
		}})
		cancel()
		var ended *InterruptedError
		if !errors.As(err, &ended) {
			b.Fatal(err)
		}
		k := float64(keptOf(b, p, out))
		f := max(float64(last.Load()), k)
		finished, kept, most = finished+f, kept+k, max(most, f-k)
		os.RemoveAll(out)
	}
	b.ReportMetric(100*(finished-kept)/finished, "%repeated")
	b.ReportMetric(most/1e6, "MB-repeated-at-most")
}

// keptOf is how many bytes of a job need not be compared again.
func keptOf(b *testing.B, p *Plan, out string) (bytes int64) {
	b.Helper()
	journal, err := readJournal(out, nil)
	if err != nil {
		b.Fatal(err)
	}
	for _, u := range p.units() {
		if journal.done[u.name] != nil {
			bytes += u.bytes
		}
	}
	dir, err := whole.OpenFolder(out)
	if err != nil {
		b.Fatal(err)
	}
	defer dir.Close()
	run := &runner{Plan: p, Settings: Settings{Out: out}, ctx: b.Context(), dir: dir}
	for i := range p.Parts {
		x := &p.Parts[i]
		path := filepath.Join(out, rowFolder, x.Name)
		if _, err := os.Stat(path); err != nil || journal.done[x.Name] != nil {
			continue
		}
		o, err := run.open(b.Context(), x)
		if err != nil {
			b.Fatal(err)
		}
		have := len(openRowLog(dir, x.Name, run.rowStamp(x)).have)
		bytes += x.Bytes / int64(len(o.Source.Groups())) * int64(have)
	}
	return bytes
}

// bytesOf is all that a run of a job has to read.
func bytesOf(p *Plan) (bytes int64) {
	for _, u := range p.units() {
		bytes += u.bytes
	}
	return bytes
}
