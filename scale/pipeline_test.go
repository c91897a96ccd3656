package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"

	"precision/compare/engine"
	"precision/compare/job"
	"precision/compare/job/face"
	"precision/testdata/workshop/jobtest"
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

// asked is a job of a shape, and what is asked of it.
func asked(t testing.TB, j jobtest.Job) config {
	t.Helper()
	dir := t.TempDir()
	if err := j.Write(dir); err != nil {
		t.Fatal(err)
	}
	return config{Left: filepath.Join(dir, "npu"), Right: filepath.Join(dir, "golden"), Graph: filepath.Join(dir, "ge_proto_00000001_graph_1_Build.txt"),
		Out: filepath.Join(t.TempDir(), "out"), Workers: 1, Version: "test", Piece: 1 << 10}
}

// prism runs a pipeline within the test.
func prism(_ context.Context, p *beam.Pipeline) error { return ptest.Run(p) }

// one is what one machine writes of a job.
func one(t *testing.T, c config) map[string]string {
	t.Helper()
	plan, err := c.job().Plan(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "one")
	whole, part := face.Pages(c.Lang)
	if _, err = plan.Run(context.Background(), job.Settings{Out: dir, Page: whole, PartPage: part}); err != nil {
		t.Fatal(err)
	}
	return files(t, dir)
}

func same(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s: %s differs or is not there", what, name)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: a file %s too many", what, name)
		}
	}
}

// The pipeline writes the files of a run on one machine, to the last byte: with whole ranks as pieces and with pieces
// of a few operators, and over what an earlier run left, which an engine need not be asked about.
func TestPipeline(t *testing.T) {
	c := asked(t, broken)
	want := one(t, c)
	for _, piece := range []int64{1 << 30, 1 << 10} {
		c.Piece = piece
		c.Out = filepath.Join(t.TempDir(), "out")
		asked := 0
		for range 2 {
			r, err := c.submit(t.Context(), func(ctx context.Context, p *beam.Pipeline) error {
				asked++
				return prism(ctx, p)
			})
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != "bad" {
				t.Errorf("the verdict is %s", r.Verdict)
			}
			same(t, fmt.Sprintf("pieces of %d bytes", piece), files(t, c.Out), want)
		}
		if asked != 1 {
			t.Errorf("the engine was asked %d times", asked)
		}
	}
}

// byHand runs the functions of the pipeline as an engine does that gives bundles again which were done, but not
// committed: each as often as times says. It fails once upto units were assembled from pieces.
func byHand(t *testing.T, times, upto int) func(context.Context, *beam.Pipeline) error {
	return func(ctx context.Context, _ *beam.Pipeline) error {
		stage, err := filepath.Glob(filepath.Join(submitted.Out, stages, "*"))
		if err != nil || len(stage) != 1 {
			t.Fatal(stage, err)
		}
		c := submitted
		c.Stage, c.Day = stage[0], time.Now()
		before := files(t, c.Out)
		var pieces []string
		if err := (&listFn{c}).ProcessElement(ctx, nil, func(p string) { pieces = append(pieces, p) }); err != nil {
			t.Fatal(err)
		}
		units := map[string][]found{}
		whole = 0
		cf, af := &compareFn{worker{Config: c}}, &assembleFn{worker{Config: c}}
		defer cf.Teardown()
		defer af.Teardown()
		for _, p := range pieces {
			for again := range times {
				if err := cf.ProcessElement(ctx, p, func(u string, f found) {
					if again == 0 {
						units[u] = append(units[u], f)
					}
					if again == 0 && f.Folder != "" {
						whole++
					}
				}); err != nil {
					return err
				}
			}
		}
		var folders []string
		for u, list := range units {
			if list[0].Folder == "" {
				if upto == 0 {
					return errors.New("the engine has failed")
				}
				upto--
			}
			for again := range times {
				at := 0
				if err := af.ProcessElement(ctx, u, func(f *found) bool {
					if at == len(list) {
						return false
					}
					*f = list[at]
					at++
					return true
				}, func(_ int, dir string) {
					if again == times-1 {
						folders = append(folders, dir)
					}
					if again == 0 && list[0].Folder == "" {
						whole++
					}
				}); err != nil {
					return err
				}
			}
		}
		for range times {
			at := 0
			if err := (&commitFn{c}).ProcessElement(ctx, 0, func(dir *string) bool {
				if at == len(folders) {
					return false
				}
				*dir = folders[at]
				at++
				return true
			}); err != nil {
				return err
			}
		}
		after := files(t, c.Out)
		for name, text := range before {
			if name != job.LockFile && after[name] != text {
				t.Errorf("%s was changed before the engine was done", name)
			}
		}
		return nil
	}
}

// submitted is what byHand runs, whole how many units it made.
var (
	submitted config
	whole     int
)

// Bundles that were done but not committed are given again by the engine: the second attempt succeeds, in every step, and
// nothing that is there is renamed or removed before the engine is done.
func TestGivenAgain(t *testing.T) {
	for _, piece := range []int64{1 << 30, 1 << 10} {
		c := asked(t, broken)
		c.Piece = piece
		submitted = c
		if _, err := c.submit(t.Context(), byHand(t, 2, -1)); err != nil {
			t.Fatal(err)
		}
		same(t, "given again", files(t, c.Out), one(t, c))
	}
}

// Names of folders that an engine lost or spoiled, as Flink did when a worker was killed, are no matter where the units are whole. Of
// one that is not, it is said.
func TestSpoiledNames(t *testing.T) {
	for _, cut := range []bool{false, true} {
		c := asked(t, broken)
		submitted = c
		unit := ""
		_, err := c.submit(t.Context(), func(ctx context.Context, p *beam.Pipeline) error {
			if err := byHand(t, 1, -1)(ctx, p); err != nil {
				return err
			}
			done, _ := filepath.Glob(filepath.Join(c.Out, stages, "*", doneFile))
			text, err := os.ReadFile(done[0])
			if err != nil {
				return err
			}
			var folders []string
			if err := json.Unmarshal(text, &folders); err != nil {
				return err
			}
			if cut {
				unit = filepath.Base(filepath.Dir(folders[0]))
				os.Remove(filepath.Join(folders[0], job.JournalFile))
			}
			folders[0] = "S\x1b\x02\x01\xfd"
			text, _ = json.Marshal(folders[:len(folders)-1])
			return os.WriteFile(done[0], text, 0o600)
		})
		if !cut {
			if err != nil {
				t.Fatal(err)
			}
			same(t, "spoiled names", files(t, c.Out), one(t, c))
		} else if err == nil || !strings.Contains(err.Error(), unit) {
			t.Errorf("a unit that is not whole: %v, expected %s", err, unit)
		}
	}
}

// Of a job that fails the units stay that were done; the next one computes the others, and nothing is left of either. So it is
// where the submitting program was killed and left the folder of its job, with attempts that were cut off.
func TestGoOn(t *testing.T) {
	c := asked(t, broken)
	submitted = c
	if _, err := c.submit(t.Context(), byHand(t, 1, 3)); err == nil {
		t.Fatal("no error")
	}
	kept := whole
	if _, err := os.Stat(filepath.Join(c.Out, stages)); err == nil {
		t.Error("the folder of a job that failed is there")
	}
	plan, err := c.job().Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	g, err := plan.Gather(t.Context(), job.Settings{Out: c.Out})
	if err != nil {
		t.Fatal(err)
	}
	done := 0
	for _, p := range plan.Pieces(1 << 30) {
		if g.Done(p.Unit) {
			continue
		}
		// The submitting program was killed when this unit was whole, and another one was not.
		dir := filepath.Join(c.Out, stages, "KILLEDKILLEDKILLEDKILLEDKI", p.Unit, "ATTEMPT")
		pool := engine.NewPool(1)
		if err := plan.Assemble(t.Context(), p.Unit, nil, dir, pool); err != nil {
			t.Fatal(err)
		}
		pool.Close()
		if done++; done == 2 {
			os.Remove(filepath.Join(dir, job.JournalFile))
			break
		}
	}
	g.Close()
	if done != 2 {
		t.Fatalf("%d units were left to do", done)
	}
	left := map[string]bool{}
	if _, err := c.submit(t.Context(), func(ctx context.Context, p *beam.Pipeline) error {
		text, err := filepath.Glob(filepath.Join(c.Out, stages, "*", piecesFile))
		if err != nil || len(text) != 1 {
			t.Fatal(text, err)
		}
		list, _ := os.ReadFile(text[0])
		for line := range strings.Lines(string(list)) {
			var x job.Piece
			if err := json.Unmarshal([]byte(line), &x); err != nil {
				t.Fatal(err)
			}
			left[x.Unit] = true
		}
		return prism(ctx, p)
	}); err != nil {
		t.Fatal(err)
	}
	if want := len(plan.Pieces(1<<30)) - kept - 1; len(left) != want {
		t.Errorf("%d units were compared again, expected %d", len(left), want)
	}
	same(t, "gone on", files(t, c.Out), one(t, c))
}

// Who submits into a folder in which another job works, or which cannot be written, is told before anything is compared.
func TestRefused(t *testing.T) {
	c := asked(t, broken)
	never := func(context.Context, *beam.Pipeline) error {
		t.Error("the engine was asked")
		return nil
	}
	_, err := c.submit(t.Context(), func(ctx context.Context, p *beam.Pipeline) error {
		if _, err := c.submit(ctx, never); err == nil || !strings.Contains(err.Error(), "in use") {
			t.Errorf("a second job: %v", err)
		}
		return prism(ctx, p)
	})
	if err != nil {
		t.Error(err)
	}
	same(t, "the first of two", files(t, c.Out), one(t, c))
	c.Out = filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(c.Out, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := c.submit(t.Context(), never); err == nil || !strings.Contains(err.Error(), c.Out) {
		t.Errorf("an output folder that is a file: %v", err)
	}
}

// waitFn waits until its worker is told to end.
type waitFn struct{ Begun string }

func (f *waitFn) ProcessElement(ctx context.Context, _ []byte) error {
	if err := os.WriteFile(f.Begun, nil, 0o600); err != nil {
		return err
	}
	<-ctx.Done()
	return ctx.Err()
}

func init() { register.DoFn2x1[context.Context, []byte, error](&waitFn{}) }

// When the submitting program is interrupted the engine is told to cancel the job, and what was done stays.
func TestInterrupted(t *testing.T) {
	c := asked(t, broken)
	ctx, stop := context.WithCancel(t.Context())
	submitted = c
	begun := filepath.Join(t.TempDir(), "begun")
	cancelled := false
	_, err := c.submit(ctx, onEngine(func(_ context.Context, _ *beam.Pipeline) error {
		if err := byHand(t, 1, 2)(ctx, nil); err == nil {
			t.Error("all units were computed")
		}
		p, s := beam.NewPipelineWithRoot()
		beam.ParDo0(s, &waitFn{begun}, beam.Impulse(s))
		go func() {
			for ; ; time.Sleep(10 * time.Millisecond) {
				if _, err := os.Stat(begun); err == nil {
					stop()
					return
				}
			}
		}()
		err := prism(ctx, p)
		cancelled = true
		return err
	}))
	var e *job.InterruptedError
	if !errors.As(err, &e) || e.Done != whole || whole < 2 || !cancelled {
		t.Errorf("%v, the engine has ended: %v", err, cancelled)
	}
	if _, err := os.Stat(filepath.Join(c.Out, stages)); err == nil {
		t.Error("the folder of the job is there")
	}
	if _, err := c.submit(t.Context(), prism); err != nil {
		t.Fatal(err)
	}
	same(t, "after the interruption", files(t, c.Out), one(t, c))
}

// Flink lists the job precision-ABC under another name.
func TestPlainName(t *testing.T) {
	const listed = "precision0z6xqk-root-1123195024-f8c72b5f"
	for name, want := range map[string]bool{"precision-Z6XQK": true, "precision-Z6XQX": false, listed: true} {
		if strings.HasPrefix(plainName(listed), plainName(name)) != want {
			t.Errorf("%s: found %v", name, !want)
		}
	}
}

// An engine that ends without an error has not done the job for that: one that was cancelled elsewhere does.
func TestNotDone(t *testing.T) {
	c := asked(t, broken)
	if _, err := c.submit(t.Context(), func(context.Context, *beam.Pipeline) error { return nil }); err == nil {
		t.Error("no error")
	}
	if _, err := os.Stat(filepath.Join(c.Out, job.ResultFile)); err == nil {
		t.Error("a result was written")
	}
}

// A job of which nothing can be compared is an error, and no output.
func TestNothing(t *testing.T) {
	dir := t.TempDir()
	c := config{Left: dir, Right: dir, Out: filepath.Join(t.TempDir(), "out"), Piece: 1 << 20}
	if _, err := c.submit(t.Context(), prism); err == nil {
		t.Error("no error")
	}
	if _, err := os.Stat(c.Out); err == nil {
		t.Error("an output folder was made")
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

// What somebody keeps below the name of the folder of jobs stays.
func TestClearLeavesOthers(t *testing.T) {
	all := filepath.Join(t.TempDir(), stages)
	recorded := filepath.Join(all, "20260101120000", "0")
	for _, dir := range []string{recorded, filepath.Join(all, rand.Text(), "step0_rank0")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := clear(all); err != nil {
		t.Fatal(err)
	}
	if list, err := os.ReadDir(all); err != nil || len(list) != 1 || list[0].Name() != "20260101120000" {
		t.Errorf("%v, %v, expected the recording and nothing else", list, err)
	}
	if err := os.RemoveAll(recorded); err != nil {
		t.Fatal(err)
	}
	os.Remove(filepath.Dir(recorded))
	if err := clear(all); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(all); !os.IsNotExist(err) {
		t.Errorf("%v, expected an empty folder to go", err)
	}
}
