package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/compare/report/html"
	"precision/testdata/workshop/jobtest"
)

// madeJob is a job of four ranks and two steps, whose last rank keeps its own input for the sum.
func madeJob(t *testing.T) (dir string, args []string) {
	t.Helper()
	dir = t.TempDir()
	var mul []float32
	if err := (jobtest.Job{Ranks: 4, Steps: 2, Size: 64, Break: func(_, rank int, op string, out []float32) {
		if op == jobtest.Mul {
			mul = out
		} else if op == jobtest.Reduce && rank == 3 {
			copy(out, mul)
		}
	}}).Write(dir); err != nil {
		t.Fatal(err)
	}
	return dir, []string{"compare", "-lt", filepath.Join(dir, "npu"), "-rt", filepath.Join(dir, "golden"), "-g", dir, "-all"}
}

// unzipped are the data of a page.
func unzipped(t *testing.T, page []byte) string {
	t.Helper()
	data, _, err := html.Data(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(data)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The verdict of a job names the collective and the rank, in text, in JSON and on the page.
func TestJob(t *testing.T) {
	_, args := madeJob(t)
	out := filepath.Join(t.TempDir(), "out")
	code, stdout, stderr := precision(t, append(args, "-out", out)...)
	if code != exitOK || stderr != "" {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	for _, want := range []string{"8 parts: 4 ranks and 2 steps", "HcomAllReduce " + jobtest.Reduce + " at step 0", "rank 3 has its own input instead of the result", "job.json"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	var said struct {
		Verdict     string
		Collectives []struct {
			Op      string
			Verdict string
			Faults  []struct{ Kind, Ranks string }
		}
		Parts []struct{ Verdict, Table string }
	}
	text, err := os.ReadFile(filepath.Join(out, "job.json"))
	if err == nil {
		err = json.Unmarshal(text, &said)
	}
	if err != nil {
		t.Fatal(err)
	}
	if said.Verdict != "bad" || len(said.Parts) != 8 || len(said.Collectives) != 2 || said.Collectives[0].Faults[0].Kind != "own-input" || said.Collectives[0].Faults[0].Ranks != "3" {
		t.Errorf("%+v", said)
	}
	page, err := os.ReadFile(filepath.Join(out, "job.html"))
	if err != nil || !strings.Contains(unzipped(t, page), "rank 3 has its own input") {
		t.Errorf("the page does not say it: %v", err)
	}
	// Parts that are not good have pages, and -html makes those of all parts.
	pages, err := filepath.Glob(filepath.Join(out, "tables", "*.html"))
	if err != nil || len(pages) == 0 || len(pages) == len(said.Parts) {
		t.Errorf("of %d parts there are the pages %q, %v", len(said.Parts), pages, err)
	}
	all := filepath.Join(t.TempDir(), "all.html")
	beside := strings.TrimSuffix(all, ".html") + ".parts"
	writeAll(t, map[string]string{filepath.Join(beside, "step9_rank9.html"): string(page), filepath.Join(beside, "mine.html"): "<p>not ours"})
	if code, _, stderr = precision(t, append(slices.Clone(args), "-out", t.TempDir(), "-html", all)...); code != exitOK {
		t.Fatalf("-html: exit %d: %s", code, stderr)
	}
	if left, err := filepath.Glob(filepath.Join(beside, "*.html")); err != nil || len(left) != len(said.Parts)+1 || slices.Contains(left, filepath.Join(beside, "step9_rank9.html")) {
		t.Errorf("beside the page are %q, %v", left, err)
	}
	if page, err = os.ReadFile(all); err != nil || strings.Count(unzipped(t, page), "all.parts/") != len(said.Parts) {
		t.Errorf("the page with all parts: %v", err)
	}
	// Pages are written where parts are judged; those of parts that were done before are made of their tables, and are the same.
	again := filepath.Join(t.TempDir(), "again.html")
	if code, _, stderr = precision(t, append(slices.Clone(args), "-out", out, "-html", again)...); code != exitOK {
		t.Fatalf("-html: exit %d: %s", code, stderr)
	}
	for _, part := range said.Parts {
		page, err := os.ReadFile(filepath.Join(beside, part.Table+".html"))
		if err != nil || !html.IsPage(page) {
			t.Errorf("the page of %s: %v", part.Table, err)
		}
		later, err := os.ReadFile(filepath.Join(strings.TrimSuffix(again, ".html")+".parts", part.Table+".html"))
		if err != nil || !bytes.Equal(page, later) {
			t.Errorf("the page of %s made later is another one: %d bytes, not %d, %v", part.Table, len(later), len(page), err)
		}
	}
	// A table of the job is one that other commands take.
	if code, stdout, _ = precision(t, "report", filepath.Join(out, "tables", said.Parts[3].Table+".json")); code != exitOK || !strings.Contains(stdout, jobtest.Reduce) {
		t.Errorf("report: exit %d: %s", code, stdout)
	}
	if code, _, stderr = precision(t, append(args, "-out", out, "-gate")...); code != exitBelow || !strings.Contains(stderr, "10 of 10 units are done") {
		t.Errorf("gate: exit %d: %s", code, stderr)
	}
}

// With -check a job says of each rank what compare -check says of it alone, and names no less than without.
func TestJobCheck(t *testing.T) {
	dir := t.TempDir()
	if err := (jobtest.Job{Ranks: 3, Steps: 2, Size: 256, Break: func(step, rank int, op string, out []float32) {
		for i := range out {
			switch {
			case op == jobtest.Mul && rank == 1: // nothing that a limit sees
				out[i] *= 1 + 1.0/128
			case op == jobtest.Update && rank == 2 && step == 1 && i%7 == 0:
				out[i] += 9
			}
		}
	}}).Write(dir); err != nil {
		t.Fatal(err)
	}
	type root struct{ Op, Kind, Certainty string }
	type part struct {
		Step, Rank      int
		Verdict, Failed string
		Roots           []root
	}
	read := func(path string, to any) {
		text, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(text, to)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	job := func(options ...string) (parts []part) {
		out := filepath.Join(t.TempDir(), "out")
		args := []string{"compare", "-all", "-lt", filepath.Join(dir, "npu"), "-rt", filepath.Join(dir, "golden"), "-out", out}
		if code, _, stderr := precision(t, append(args, options...)...); code != exitOK && code != exitNoMatch {
			t.Fatalf("%v: exit %d: %s", options, code, stderr)
		}
		var said struct{ Parts []part }
		read(filepath.Join(out, "job.json"), &said)
		return said.Parts
	}
	plain, checked := job("-g", dir), job("-g", dir, "-check")
	wrong := 0
	for i, p := range checked {
		out := filepath.Join(t.TempDir(), "one.json")
		if code, _, stderr := precision(t, "compare", "-lt", filepath.Join(dir, jobtest.Dir(p.Step, p.Rank)), "-rt", filepath.Join(dir, jobtest.Golden(p.Step, p.Rank)),
			"-g", dir, "-check", "-out", t.TempDir(), "-json", out); code != exitOK {
			t.Fatal(stderr)
		}
		var one part
		read(out, &one)
		if p.Verdict != one.Verdict || !slices.Equal(p.Roots, one.Roots) {
			t.Errorf("step %d, rank %d: %s %v, alone %s %v", p.Step, p.Rank, p.Verdict, p.Roots, one.Verdict, one.Roots)
		}
		for _, r := range plain[i].Roots {
			if !slices.ContainsFunc(p.Roots, func(x root) bool { return x.Op == r.Op }) {
				t.Errorf("step %d, rank %d: %s is named without a check alone", p.Step, p.Rank, r.Op)
			}
		}
		if slices.Contains(p.Roots, root{jobtest.Mul, "wrong", "certain"}) != (p.Rank == 1) {
			t.Errorf("step %d, rank %d: %v", p.Step, p.Rank, p.Roots)
		}
		wrong += len(p.Roots)
	}
	if wrong < 3 {
		t.Errorf("%d roots", wrong)
	}
	// Without a graph nothing can be recomputed, and no part says that it was.
	if err := os.Remove(filepath.Join(dir, "ge_proto_00000001_graph_1_Build.txt")); err != nil {
		t.Fatal(err)
	}
	for _, p := range job("-check") {
		if !strings.Contains(p.Failed, "nothing can be recomputed") {
			t.Errorf("step %d, rank %d: %q, %s", p.Step, p.Rank, p.Failed, p.Verdict)
		}
	}
}

func TestJobShards(t *testing.T) {
	_, args := madeJob(t)
	work := t.TempDir()
	if code, _, stderr := precision(t, append(args, "-out", work+"/all")...); code != exitOK {
		t.Fatal(stderr)
	}
	for _, s := range []string{"1/2", "2/2"} {
		if code, _, stderr := precision(t, append(args, "-out", work+"/"+s[:1], "-shard", s)...); code != exitOK {
			t.Fatal(stderr)
		}
	}
	if code, _, stderr := precision(t, "merge", work+"/2", "-out", work+"/whole", work+"/1"); code != exitOK {
		t.Fatal(stderr)
	}
	for _, name := range []string{"job.json", "job.html", "journal", "plan.json", "tables/step1_rank2.csv"} {
		a, _ := os.ReadFile(filepath.Join(work, "all", name))
		b, err := os.ReadFile(filepath.Join(work, "whole", name))
		if err != nil || string(a) != string(b) {
			t.Errorf("%s differs: %v", name, err)
		}
	}
	if code, _, stderr := precision(t, "merge", work+"/2", "-out", work+"/part"); code != exitError || !strings.Contains(stderr, "the shards 1/2 are missing") {
		t.Errorf("a shard is missing: exit %d: %s", code, stderr)
	}
}

// What does not go together is refused, and -dry-run leaves nothing.
func TestJobOptions(t *testing.T) {
	_, args := madeJob(t)
	out := filepath.Join(t.TempDir(), "out")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{append(args, "-json", "x.json"), exitUsage, "-json cannot be used with -all"},
		{append(args[:len(args)-1:len(args)-1], "-ranks", "1"), exitUsage, "-ranks needs -all"},
		{append(args, "-ranks", "x"), exitUsage, "-ranks: found"},
		{append(args, "-shard", "3/2"), exitUsage, "-shard: found"},
		{append(args, "-dry-run", "-events"), exitUsage, "-events has no lines"},
		{append(args, "-ranks", "77"), exitNoMatch, "no rank and step that both sides have"},
		{[]string{"merge", "nowhere", "-out", out}, exitError, "nowhere"},
		{[]string{"merge"}, exitUsage, "the folders of the shards"},
	} {
		code, _, stderr := precision(t, append(c.args, "-out", out)...)
		if c.args[0] == "merge" {
			code, _, stderr = precision(t, c.args...)
		}
		if code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit %d: %s", c.args, code, stderr)
		}
	}
	code, stdout, stderr := precision(t, append(args, "-dry-run", "-out", out)...)
	if code != exitOK || !strings.Contains(stdout, "step 1, rank 3") || !strings.Contains(stdout, "on this machine") || stderr != "" {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("-dry-run wrote something")
	}
}
