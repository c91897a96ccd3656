package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/testdata/workshop/recorded"
)

const cases = "../../testdata/cases"

// plainOptions are the options of the old tool that this command has too, by
// another name.
var plainOptions = map[string]string{"-m": "-lt", "-g": "-rt", "-f": "-g", "-q": "-q", "-cf": "-cf", "-out": "-out", "-max": "-max",
	"-overflow_detection": "-overflow"}

// translate turns a recorded compare command into ours; ok is false when it
// uses options that belong to the drop-in.
func translate(args []string) (out []string, ok bool) {
	if len(args) == 0 || args[0] != "compare" {
		return nil, false
	}
	out = []string{"compare", "-numerics", "reference"}
	graph := false
	for i := 1; i < len(args); i++ {
		name, known := plainOptions[args[i]]
		if !known {
			return nil, false
		}
		graph = graph || args[i] == "-f" || args[i] == "-q"
		if args[i] == "-overflow_detection" {
			out = append(out, name)
			continue
		}
		if i+1 >= len(args) || strings.HasPrefix(args[i+1], "-") || i+2 < len(args) && !strings.HasPrefix(args[i+2], "-") {
			return nil, false
		}
		i++
		out = append(out, name, args[i])
	}
	return out, true
}

// Every recorded comparison that wrote a table must give the same cells in
// reference numerics. Where the old tool loses rows, ours has more of them:
// those are the declared differences.
func TestRecordedTables(t *testing.T) {
	all, err := recorded.Load(cases)
	if err != nil {
		t.Fatal(err)
	}
	declared, err := recorded.Differences("../../testdata/differences.txt")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, c := range all {
		for _, run := range c.Runs {
			args, ok := translate(run.Args)
			if !ok {
				continue
			}
			want, err := c.Expected(run)
			if err != nil {
				t.Fatal(err)
			}
			if len(want.Files) != 1 || !strings.HasPrefix(filepath.Base(want.Files[0]), "result_") {
				continue
			}
			ran++
			t.Run(c.Name+"/"+run.ID, func(t *testing.T) {
				if why := declared[c.Name+"/"+run.ID]; why != "" {
					t.Skipf("declared difference: %s", why)
				}
				work := t.TempDir()
				if err := c.Copy(work); err != nil {
					t.Fatal(err)
				}
				t.Chdir(work)
				before, err := recorded.Tree(".")
				if err != nil {
					t.Fatal(err)
				}
				var stderr bytes.Buffer
				run2(t, args, &stderr)
				after, err := recorded.Tree(".")
				if err != nil {
					t.Fatal(err)
				}
				// The exit status is the drop-in's business.
				if err := want.Check(want.ExitCode, before, after, work); err != nil {
					t.Errorf("%v\n%s", err, stderr.String())
				}
			})
		}
	}
	if ran < 25 {
		t.Errorf("only %d recorded tables were tried", ran)
	}
}

func run2(t *testing.T, args []string, stderr *bytes.Buffer) int {
	t.Helper()
	var stdout bytes.Buffer
	return execute(context.Background(), env{stdout: &stdout, stderr: stderr}, args)
}

func compareSample(t *testing.T, more ...string) (code int, stdout, stderr, table string) {
	t.Helper()
	out := t.TempDir()
	args := append([]string{"compare", "-lt", sample + "/npu", "-rt", sample + "/golden",
		"-g", sample + "/ge_proto_00000001_graph_1_Build.txt", "-out", out}, more...)
	var o, e bytes.Buffer
	code = execute(context.Background(), env{stdout: &o, stderr: &e}, args)
	files, err := filepath.Glob(filepath.Join(out, "*"))
	if err != nil || len(files) > 1 {
		t.Fatalf("files %v, %v", files, err)
	}
	if len(files) == 1 {
		text, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		table = string(text)
	}
	return code, o.String(), e.String(), table
}

func TestWorkersDoNotMatter(t *testing.T) {
	_, _, _, one := compareSample(t, "-workers", "1")
	for _, n := range []string{"2", "7"} {
		if _, _, _, many := compareSample(t, "-workers", n); many != one {
			t.Errorf("the table of %s workers differs from that of one", n)
		}
	}
}

func TestFailBelow(t *testing.T) {
	for limit, want := range map[string]int{"0.9": exitBelow, "0": exitBelow} {
		if code, _, stderr, _ := compareSample(t, "-fail-below", limit); code != want {
			t.Errorf("-fail-below %s: exit %d, want %d: %s", limit, code, want, stderr)
		}
	}
}

func TestErrorsAreClear(t *testing.T) {
	golden := sample + "/golden"
	npu := sample + "/npu"
	empty := t.TempDir()
	file := filepath.Join(empty, "..", "file.txt")
	if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no sides":      {nil, "-lt NPU_DIR -rt GOLDEN_DIR"},
		"missing":       {[]string{"-lt", "nowhere", "-rt", golden}, "nowhere"},
		"empty":         {[]string{"-lt", npu, "-rt", empty}, empty},
		"swapped":       {[]string{"-lt", golden, "-rt", npu}, "swapped"},
		"file":          {[]string{"-lt", file, "-rt", golden}, "file.txt"},
		"no graph":      {[]string{"-lt", npu, "-rt", golden, "-g", "nowhere.txt"}, "nowhere.txt"},
		"graph no text": {[]string{"-lt", npu, "-rt", golden, "-g", file}, "file.txt"},
		"numerics":      {[]string{"-lt", npu, "-rt", golden, "-numerics", "fast"}, "exact or reference"},
		"metric":        {[]string{"-lt", npu, "-rt", golden, "-metrics", "Cosine"}, "CosineSimilarity"},
		"twice":         {[]string{"-lt", npu, "-rt", golden, "-metrics", "1,1"}, "twice"},
		"stray word":    {[]string{"-lt", npu, golden}, "unexpected argument"},
		"three folders": {[]string{npu, golden, empty}, "found 3 arguments, expected two sides"},
		"one folder":    {[]string{npu}, "both sides are needed"},
		"no graphs":     {[]string{"-lt", npu, "-rt", golden, "-g", empty}, "no graph in this folder"},
		"negative":      {[]string{"-lt", npu, "-rt", golden, "-max", "-1"}, "-1"},
	} {
		var o, e bytes.Buffer
		out := t.TempDir()
		code := execute(context.Background(), env{stdout: &o, stderr: &e}, append(append([]string{"compare"}, c.args...), "-out", out))
		if code != exitError || !strings.Contains(e.String(), c.want) {
			t.Errorf("%s: exit %d, stderr %q, want %q in it", name, code, e.String(), c.want)
		}
		if files, _ := os.ReadDir(out); len(files) > 0 {
			t.Errorf("%s: left %v behind", name, files)
		}
	}
}

// TestTwoFolders: two folders without options are the two sides.
func TestTwoFolders(t *testing.T) {
	c := "../../testdata/sample"
	said := func(args ...string) string {
		var o, e bytes.Buffer
		if code := execute(context.Background(), env{stdout: &o, stderr: &e}, append(append([]string{"compare"}, args...), "-out", t.TempDir())); code != exitOK {
			t.Fatalf("%v: exit %d, %s", args, code, e.String())
		}
		text, _, _ := strings.Cut(o.String(), "Result")
		return text
	}
	if short, long := said(c+"/npu", c+"/golden"), said("-lt", c+"/npu", "-rt", c+"/golden"); short != long || !strings.Contains(short, "Verdict") {
		t.Errorf("%s\nis not\n%s", short, long)
	}
}

func TestNothingMatches(t *testing.T) {
	c := "../../testdata/cases/net_nothing_matches/in"
	both := []string{"-lt", c + "/npu", "-rt", c + "/golden", "-g", c + "/graph.json", "-out"}
	for _, command := range [][]string{{"compare"}, {"compare", "-all"}, {"check"}} {
		var o, e bytes.Buffer
		code := execute(context.Background(), env{stdout: &o, stderr: &e}, append(append(command, both...), t.TempDir()))
		if code != exitError || !strings.Contains(e.String(), "graph.json: this graph does not belong to these dumps: 0 of 1 operators") {
			t.Errorf("%v: exit %d\n%s%s", command, code, o.String(), e.String())
		}
	}
	// The old tool does as it is told.
	var o, e bytes.Buffer
	code := execute(context.Background(), env{stdout: &o, stderr: &e}, append(append([]string{"compare", "-numerics", "reference"}, both...), t.TempDir()))
	if code != exitNoMatch || !strings.Contains(o.String(), "inconclusive") {
		t.Errorf("exit %d\n%s%s", code, o.String(), e.String())
	}
	// A gate fails as always.
	if code := execute(context.Background(), env{stdout: &o, stderr: &e}, append(append([]string{"compare", "-gate", "-numerics", "reference"}, both...), t.TempDir())); code != exitBelow {
		t.Errorf("exit %d with a gate", code)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	out := t.TempDir()
	var o, e bytes.Buffer
	code := execute(ctx, env{stdout: &o, stderr: &e}, []string{"compare", "-lt", sample + "/npu", "-rt", sample + "/golden", "-out", out})
	if code != exitInterrupted {
		t.Errorf("exit %d: %s", code, e.String())
	}
	if files, _ := os.ReadDir(out); len(files) > 0 {
		t.Errorf("left %v behind", files)
	}
}

// TestEvents: with -events stdout has one line of JSON for each thing that happens, and the verdict at the end.
func TestEvents(t *testing.T) {
	code, stdout, stderr := precision(t, "compare", sample+"/npu", sample+"/golden", "-events", "-out", t.TempDir())
	if code != exitOK || stderr != "" {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var actions []string
	var last struct {
		Action, Verdict string
		Roots           []string
	}
	for line := range strings.Lines(stdout) {
		if err := json.Unmarshal([]byte(line), &last); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		actions = append(actions, last.Action)
	}
	if got := slices.Compact(actions); !slices.Equal(got, []string{"opened", "progress", "table", "verdict"}) || last.Verdict != "bad" || len(last.Roots) != 1 {
		t.Errorf("events %q, at the end %+v", got, last)
	}
	for _, words := range [][]string{{"compare", sample + "/npu", sample + "/golden", "-json", "-", "-out", t.TempDir()}, {"check", sample + "/npu", "-g", sampleGraph, "-json", "-", "-out", t.TempDir()}} {
		if code, stdout, stderr := precision(t, append(words, "-events")...); code != exitUsage || stdout != "" || !strings.Contains(stderr, "-events") {
			t.Errorf("%s: events and a report go to one place: exit %d, %s%s", words[0], code, stdout, stderr)
		}
	}
}
