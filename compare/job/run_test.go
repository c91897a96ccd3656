package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"precision/compare/verdict"
	"precision/internal/whole"
	"precision/testdata/workshop/jobtest"
	"precision/testdata/workshop/scratch"
)

// broken is a job whose rank 2 multiplies wrongly from step 1 on.
var broken = jobtest.Job{Ranks: 4, Steps: 3, Size: 64, Break: func(step, rank int, op string, out []float32) {
	if op == jobtest.Mul && rank == 2 && step >= 1 {
		for i := range out {
			out[i] = -2*out[i] + 1
		}
	}
}}

func ran(t *testing.T, r Request, s Settings) *Result {
	t.Helper()
	res, err := planned(t, r).Run(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// files are the contents of all files below a folder, by their paths in it.
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

// sameFiles fails unless two folders hold the same files.
func sameFiles(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for name, text := range want {
		if other, ok := got[name]; !ok {
			t.Errorf("%s: no file %s", what, name)
		} else if other != text {
			t.Errorf("%s: %s differs", what, name)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: a file %s too many", what, name)
		}
	}
}

// A job with a recording that was compared with nothing is not good, however good the rest is.
func TestWithoutPartner(t *testing.T) {
	dir, r := made(t, jobtest.Job{Ranks: 5, Steps: 1, Size: 12})
	for rank, want := range []string{"inconclusive", "inconclusive", "inconclusive"} {
		if err := os.RemoveAll(filepath.Join(dir, jobtest.Golden(0, rank))); err != nil {
			t.Fatal(err)
		}
		res := ran(t, r, Settings{Out: filepath.Join(t.TempDir(), "out")})
		if res.Verdict != want || res.Counts["good"] != 4-rank {
			t.Errorf("%d without a golden recording: %s %v", rank+1, res.Verdict, res.Counts)
		}
	}
	r.Ranks = Numbers{{3, 4}}
	if res := ran(t, r, Settings{Out: filepath.Join(t.TempDir(), "out")}); res.Verdict != "good" {
		t.Errorf("of what was asked for all was compared: %s", res.Verdict)
	}
}

func TestRun(t *testing.T) {
	_, r := made(t, broken)
	out := filepath.Join(t.TempDir(), "out")
	res := ran(t, r, Settings{Out: out})
	if res.Verdict != "bad" {
		t.Errorf("%s %v", res.Verdict, res.Counts)
	}
	o := res.Origins[0]
	if o.Op != jobtest.Mul || o.First != 1 || o.Ranks != "2" || o.Scope != ScopeRank || o.Steps != "1-2" || o.Later {
		t.Errorf("%+v", o)
	}
	want := files(t, out)
	for _, name := range []string{"tables/step0_rank0.csv", "tables/step2_rank3.json", PlanFile, ResultFile, JournalFile} {
		if want[name] == "" {
			t.Errorf("no %s", name)
		}
	}
	// Whatever the number of workers, at another time, and over what is there; the page of an earlier run goes.
	r.Workers = 1
	if err := os.WriteFile(filepath.Join(out, PageFile), []byte("earlier"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, s := range []Settings{{Out: filepath.Join(t.TempDir(), "o")}, {Out: out}, {Out: out, Fresh: true}} {
		ran(t, r, s)
		sameFiles(t, "again", files(t, s.Out), want)
	}
	// What the run before concluded does not stand beside what an interrupted one has so far.
	plan, err := r.Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = plan.Run(ctx, Settings{Out: out, Fresh: true, Progress: func(int64, int64) { cancel() }})
	if _, gone := os.Stat(filepath.Join(out, ResultFile)); err == nil || !os.IsNotExist(gone) {
		t.Errorf("interrupted: %v, and the result before: %v", err, gone)
	}
}

// TestAllPages: a page is written where its part is judged, once; a second run, which compares nothing, makes it of the table.
func TestAllPages(t *testing.T) {
	dir, request := made(t, broken)
	var written atomic.Int32
	s := Settings{Out: filepath.Join(dir, "out"), AllPages: true, PartPage: func(w io.Writer, j *verdict.Judged) error {
		written.Add(1)
		_, err := fmt.Fprintln(w, j.Verdict)
		return err
	}}
	for _, run := range []string{"first", "second"} {
		written.Store(0)
		res := ran(t, request, s)
		if n := len(res.Plan.Parts); int(written.Load()) != n || len(res.Pages) != n {
			t.Errorf("%s run: %d pages were written of %d parts, %d are told", run, written.Load(), n, len(res.Pages))
		}
		for i, page := range res.Pages {
			if text, err := os.ReadFile(filepath.Join(s.Out, page)); err != nil || strings.TrimSpace(string(text)) != res.Digests[i].Verdict {
				t.Errorf("%s run: the page of %s says %q, %v, not %s", run, res.Plan.Parts[i].Name, text, err, res.Digests[i].Verdict)
			}
		}
	}
	// Without all pages those of good parts go.
	s.AllPages = false
	res := ran(t, request, s)
	if n := res.Counts["bad"]; int(written.Load()) != len(res.Plan.Parts)+n || n == 0 {
		t.Errorf("%d pages were written of %d bad parts", int(written.Load())-len(res.Plan.Parts), n)
	}
	for i, page := range res.Pages {
		if _, err := os.Stat(filepath.Join(s.Out, TableFolder, res.Plan.Parts[i].Name+".html")); (err == nil) != (page != "") {
			t.Errorf("the page of %s: %q, %v", res.Plan.Parts[i].Name, page, err)
		}
	}
}

// All ranks have a fault of the software.
func TestScopeAll(t *testing.T) {
	_, r := made(t, jobtest.Job{Ranks: 3, Steps: 1, Size: 64, Break: func(step, rank int, op string, out []float32) {
		if op == jobtest.Mul {
			for i := range out {
				out[i] = 3 - out[i]
			}
		}
	}})
	res := ran(t, r, Settings{Out: filepath.Join(t.TempDir(), "out")})
	if o := res.Origins[0]; o.Op != jobtest.Mul || o.Scope != ScopeAll || o.Ranks != "0-2" {
		t.Errorf("%+v", o)
	}
}

// A damaged, an empty and an unreadable rank: each is told, the rest is compared.
func TestBadParts(t *testing.T) {
	dir, r := made(t, jobtest.Job{Ranks: 4, Steps: 1, Size: 64})
	dumps, _ := filepath.Glob(filepath.Join(dir, jobtest.Dir(0, 1), "*"))
	for _, d := range dumps {
		if err := os.Truncate(d, 20); err != nil {
			t.Fatal(err)
		}
	}
	arrays, _ := filepath.Glob(filepath.Join(dir, jobtest.Golden(0, 2), "*"))
	for _, a := range arrays {
		if err := os.WriteFile(a, []byte("no array"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := planned(t, r)
	if err := os.RemoveAll(filepath.Join(dir, jobtest.Dir(0, 3))); err != nil { // its disk is gone when its turn comes
		t.Fatal(err)
	}
	res, err := p.Run(context.Background(), Settings{Out: filepath.Join(t.TempDir(), "out")})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range res.Digests {
		got = append(got, d.Verdict+strings.Repeat("!", min(1, len(d.Failed))))
	}
	if !slices.Equal(got, []string{"good", "inconclusive", "inconclusive", "!"}) || res.Verdict != "inconclusive" {
		t.Errorf("%q %s", got, res.Verdict)
	}
}

// A changed input is compared again, and only that one; a failed part is tried again.
func TestChanged(t *testing.T) {
	dir, r := made(t, broken)
	out := filepath.Join(t.TempDir(), "out")
	ran(t, r, Settings{Out: out})
	again := broken
	again.Break = nil
	if err := again.Write(dir); err != nil {
		t.Fatal(err)
	}
	var notes []string
	res := ran(t, r, Settings{Out: out, Tell: func(n Note) { notes = append(notes, n.Kind) }})
	if res.Verdict != "good" || !slices.Equal(notes, []string{NoteChanged}) {
		t.Errorf("%s %q", res.Verdict, notes)
	}
	other := filepath.Join(t.TempDir(), "other")
	ran(t, r, Settings{Out: other})
	sameFiles(t, "changed", files(t, out), files(t, other))

	// Fewer ranks are another job: its folder holds no tables of the others.
	r.Ranks = Numbers{{0, 1}}
	notes = nil
	ran(t, r, Settings{Out: out, Tell: func(n Note) { notes = append(notes, n.Kind) }})
	if f := files(t, out); f["tables/step0_rank3.csv"] != "" || f["tables/step0_rank1.csv"] == "" || !slices.Equal(notes, []string{NoteJournalOptions}) {
		t.Errorf("%q", notes)
	}
}

// A journal that is cut off anywhere, damaged, of another version or no journal at all.
func TestJournalDamaged(t *testing.T) {
	_, r := made(t, jobtest.Job{Ranks: 3, Steps: 1, Size: 32})
	out := filepath.Join(t.TempDir(), "out")
	ran(t, r, Settings{Out: out})
	want := files(t, out)
	journal := want[JournalFile]
	path := filepath.Join(out, JournalFile)
	for at := 0; at < len(journal); at += 397 {
		damaged := []byte(journal)
		damaged[at] ^= 0x55
		for _, text := range [][]byte{[]byte(journal[:at]), damaged} {
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			ran(t, r, Settings{Out: out})
			sameFiles(t, "damaged at "+number(at), files(t, out), want)
		}
	}
	if err := os.WriteFile(path, []byte(journal), 0o600); err != nil {
		t.Fatal(err)
	}
	r.Version = "other"
	var notes []Note
	ran(t, r, Settings{Out: out, Tell: func(n Note) { notes = append(notes, n) }})
	if len(notes) != 1 || notes[0].Kind != NoteJournalVersion || notes[0].Args[1] != "test" {
		t.Errorf("%+v", notes)
	}
	// A table that is gone or cut is made again.
	ran(t, r, Settings{Out: out})
	want = files(t, out)
	os.Remove(filepath.Join(out, "tables", "step0_rank1.csv"))
	os.Truncate(filepath.Join(out, "tables", "step0_rank2.json"), 5)
	ran(t, r, Settings{Out: out})
	sameFiles(t, "tables gone", files(t, out), want)
}

// The rows of finished operators of a part that was not finished are taken over.
func TestRowLog(t *testing.T) {
	_, r := made(t, broken)
	p := planned(t, r)
	out := filepath.Join(t.TempDir(), "out")
	ran(t, r, Settings{Out: out})
	want := files(t, out)
	// A log as a run leaves it that is killed in the middle of a part: some of its groups.
	run := &runner{Plan: p, Settings: Settings{Out: out}, ctx: context.Background()}
	o, err := run.open(context.Background(), &p.Parts[0])
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(out, rowFolder, p.Parts[0].Name)
	if run.dir, err = whole.OpenFolder(out); err != nil {
		t.Fatal(err)
	}
	defer run.dir.Close()
	l := openRowLog(run.dir, p.Parts[0].Name, []byte("stamp"))
	l.cost, l.last = 0, time.Now().Add(-time.Hour)
	run.pool = newTestPool()
	defer run.pool.Close()
	if _, err := run.pool.Run(context.Background(), logged{o.Source, l}, o.Options); err != nil {
		t.Fatal(err)
	}
	l.close(false)
	text, err := os.ReadFile(path)
	if err != nil || len(text) < 100 {
		t.Fatalf("%d bytes of rows, %v", len(text), err)
	}
	for cut := len(text); cut >= 0; cut -= 211 {
		if err := os.WriteFile(path, text[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		l := openRowLog(run.dir, p.Parts[0].Name, []byte("stamp"))
		if cut == len(text) && len(l.have) == 0 {
			t.Error("no group was taken over")
		}
		res, err := run.pool.Run(context.Background(), logged{o.Source, l}, o.Options)
		if err != nil {
			t.Fatal(err)
		}
		l.close(true)
		res.Table.Meta.Time = time.Time{}
		if files := run.write(&p.Parts[0], o, judgedOf(p, res.Table)); len(files) != 2 {
			t.Fatalf("found the files %v, expected two", files)
		}
	}
	os.RemoveAll(filepath.Join(out, rowFolder))
	sameFiles(t, "rows from the log", files(t, out), want)
	if l := openRowLog(run.dir, p.Parts[0].Name, []byte("other")); len(l.have) > 0 {
		t.Error("rows of other inputs were taken over")
	}
}

func TestShards(t *testing.T) {
	_, r := made(t, broken)
	out := filepath.Join(t.TempDir(), "out")
	ran(t, r, Settings{Out: out})
	want := files(t, out)
	for _, n := range []int{1, 3, 7, 20} {
		work := t.TempDir()
		var dirs []string
		for i := 1; i <= n; i++ {
			dirs = append(dirs, filepath.Join(work, number(i)))
			if res := ran(t, r, Settings{Out: dirs[i-1], Shard: i, Shards: n}); res != nil {
				t.Error("a shard has a result")
			}
		}
		slices.Reverse(dirs)
		joined := filepath.Join(work, "whole")
		if _, err := Merge(context.Background(), dirs, Settings{Out: joined}); err != nil {
			t.Fatal(err)
		}
		sameFiles(t, number(n)+" shards", files(t, joined), want)
		if n == 3 {
			var missing *MergeError
			if _, err := Merge(context.Background(), dirs[1:], Settings{Out: joined + "2"}); !errors.As(err, &missing) || missing.Shards != "3/3" || len(missing.Missing) == 0 {
				t.Errorf("a shard is missing: %v", err)
			}
			for what, change := range map[string]func(*Request){
				"version": func(r *Request) { r.Version = "v2" }, "options": func(r *Request) { r.MaxElements = 7 },
			} {
				other := r
				change(&other)
				dir := filepath.Join(work, what)
				ran(t, other, Settings{Out: dir, Shard: 1, Shards: n})
				if _, err := Merge(context.Background(), append(dirs[:2:2], dir), Settings{Out: joined + "3"}); !errors.As(err, &missing) || missing.What != what || missing.Dir != dir {
					t.Errorf("another %s: %v", what, err)
				}
			}
		}
	}
	for _, bad := range []string{"", "1", "0/3", "4/3", "a/b", "1/0"} {
		if _, _, err := ParseShard(bad); err == nil {
			t.Errorf("%q is a shard", bad)
		}
	}
}

// A second run on one folder is refused with the host and the process of the first; one that
// was killed is followed by another.
func TestLock(t *testing.T) {
	defer func(was time.Duration) { beat = was }(beat)
	beat = 100 * time.Millisecond
	dir := t.TempDir()
	folder, err := whole.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	var notes []Note
	tell := func(n Note) { notes = append(notes, n) }
	held, err := lockFolder(context.Background(), folder, tell)
	if err != nil {
		t.Fatal(err)
	}
	var locked *LockedError
	host, _ := os.Hostname()
	if _, err := lockFolder(context.Background(), folder, tell); !errors.As(err, &locked) || locked.Host != host || locked.PID != os.Getpid() {
		t.Errorf("a second run: %v", err)
	}
	held.free()
	if err := os.WriteFile(filepath.Join(dir, LockFile), []byte(`{"host":"`+host+`","pid":1,"beat":3}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if held, err = lockFolder(context.Background(), folder, tell); err != nil || len(notes) != 1 || notes[0].Kind != NoteLockTaken {
		t.Fatalf("after a run that was killed: %v %v", err, notes)
	}
	held.free()
	// Another host: its lock counts while it changes.
	path := filepath.Join(dir, LockFile)
	if err := os.WriteFile(path, []byte(`{"host":"far","pid":77,"beat":3}`), 0o600); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(beat/2, func() { os.WriteFile(path, []byte(`{"host":"far","pid":77,"beat":4}`), 0o600) })
	if _, err := lockFolder(context.Background(), folder, tell); !errors.As(err, &locked) || locked.Host != "far" || locked.PID != 77 {
		t.Errorf("a run on another host: %v", err)
	}
	if held, err = lockFolder(context.Background(), folder, tell); err != nil {
		t.Fatalf("a run on another host that was killed: %v", err)
	}
	held.free()
}

// asRun has the test binary run a job, which kills itself once asRun+"_UNTIL" of its bytes, a
// fraction, are done.
const asRun = "PRECISION_JOB_RUN"

func TestMain(m *testing.M) {
	if dir := os.Getenv(asRun); dir != "" {
		until, err := strconv.ParseFloat(os.Getenv(asRun+"_UNTIL"), 64)
		if err != nil {
			panic(err)
		}
		self, _ := os.FindProcess(os.Getpid())
		p, err := asked(dir).Plan(context.Background())
		if err == nil {
			_, err = p.Run(context.Background(), Settings{Out: os.Getenv(asRun + "_OUT"), Progress: func(done, total int64) {
				if float64(done) > until*float64(total) {
					self.Kill()
				}
			}})
		}
		if err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(scratch.Main(m))
}

// TestKilled kills a run at moments spread over its work, goes on, and compares all files with
// those of a run that was left alone.
func TestKilled(t *testing.T) {
	moments := 6
	if testing.Short() {
		moments = 3
	}
	j := broken
	j.Ranks, j.Steps, j.Size = 12, 1, 16384
	dir, _ := made(t, j)
	out := filepath.Join(t.TempDir(), "out")
	run := func(out string, until float64) {
		t.Helper()
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), asRun+"="+dir, asRun+"_OUT="+out, fmt.Sprint(asRun, "_UNTIL=", until))
		said, err := c.CombinedOutput()
		var died *exec.ExitError
		if killed := errors.As(err, &died) && !died.Exited(); killed != (until < 1) || err != nil && !killed {
			t.Fatalf("to be killed after %.2f of the work: %v: %s", until, err, said)
		}
	}
	const whole = 1 // nothing is more than all
	run(out, whole)
	want := files(t, out)
	for k := range moments {
		again := filepath.Join(t.TempDir(), "again")
		at := float64(k) / float64(moments)
		run(again, at)
		run(again, at) // and once more, in what is left
		run(again, whole)
		sameFiles(t, fmt.Sprintf("killed after %.2f of the work", at), files(t, again), want)
	}
}
