package main

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"

	"precision/compare/job"
	"precision/compare/job/jobtest"
	"precision/compare/job/page"
)

func TestMain(m *testing.M) { ptest.MainWithDefault(m, "prism") }

// broken is a job whose rank 2 multiplies wrongly from step 1 on.
var broken = jobtest.Job{Ranks: 4, Steps: 2, Size: 64, All: true, Break: func(step, rank int, op string, out []float32) {
	if op == jobtest.Mul && rank == 2 && step >= 1 {
		for i := range out {
			out[i] = -2*out[i] + 1
		}
	}
}}

// The pipeline writes the files of a run on one machine, to the last byte: with whole ranks as pieces and with pieces
// of a few operators, and over what an earlier run left.
func TestPipeline(t *testing.T) {
	dir := t.TempDir()
	if err := broken.Write(dir); err != nil {
		t.Fatal(err)
	}
	c := config{Left: filepath.Join(dir, "npu"), Right: filepath.Join(dir, "golden"), Graph: filepath.Join(dir, "ge_proto_00000001_graph_1_Build.txt"),
		Out: filepath.Join(t.TempDir(), "out"), Workers: 1, Version: "test"}
	plan, err := c.job().Plan(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	one := filepath.Join(t.TempDir(), "one")
	whole, part := page.Pages(c.Lang)
	result, err := plan.Run(context.Background(), job.Settings{Out: one, Page: whole, PartPage: part})
	if err != nil {
		t.Fatal(err)
	}
	if result.Verdict != "bad" {
		t.Fatalf("the verdict is %s", result.Verdict)
	}
	want := files(t, one)
	for _, piece := range []int64{1 << 30, 1 << 10} {
		c.Piece = piece
		p, s := beam.NewPipelineWithRoot()
		c.pipeline(s)
		if err := ptest.Run(p); err != nil {
			t.Fatal(err)
		}
		got := files(t, c.Out)
		for name, text := range want {
			if got[name] != text {
				t.Errorf("pieces of %d bytes: %s differs or is not there", piece, name)
			}
		}
		for name := range got {
			if _, ok := want[name]; !ok {
				t.Errorf("pieces of %d bytes: a file %s too many", piece, name)
			}
		}
	}
}

// A job of which nothing can be compared is an error of the pipeline, and no output.
func TestNothing(t *testing.T) {
	dir := t.TempDir()
	c := config{Left: dir, Right: dir, Out: filepath.Join(t.TempDir(), "out"), Piece: 1 << 20}
	p, s := beam.NewPipelineWithRoot()
	c.pipeline(s)
	if err := ptest.Run(p); err == nil {
		t.Error("no error")
	}
	if _, err := os.Stat(filepath.Join(c.Out, job.ResultFile)); err == nil {
		t.Error("a result was written")
	}
}

// Of two attempts at a folder one stays, whole.
func TestSettle(t *testing.T) {
	dir := t.TempDir()
	final := filepath.Join(dir, "step0_rank0")
	for _, name := range []string{"a", "b"} {
		attempt := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Join(attempt, "tables"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(attempt, "tables", "x"), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := settle(attempt, final); err != nil {
			t.Fatal(err)
		}
		if got := files(t, dir); len(got) != 1 || got["step0_rank0/tables/x"] != name {
			t.Errorf("%v", got)
		}
	}
	if err := settle(filepath.Join(dir, "none"), final); err == nil {
		t.Error("an attempt that is not there took the place")
	}
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		all[filepath.ToSlash(rel)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
