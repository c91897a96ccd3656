package overflow

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"precision/testdata/workshop/dumptest"
	"precision/testdata/workshop/recorded"
)

// The recorded runs of the sub-command: the same summaries and exit codes.
func TestRecordedSummaries(t *testing.T) {
	all, err := recorded.Load(cases)
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, c := range all {
		for _, run := range c.Runs {
			if run.Kind != "overflow" {
				continue
			}
			dir, top, out := "", 1, false
			for i, a := range run.Args[1:] {
				switch v := run.Args[min(i+2, len(run.Args)-1)]; a {
				case "-d":
					dir = v
				case "-n":
					top, _ = strconv.Atoi(v)
				case "-out":
					out = true
				}
			}
			if !out || top > 5 {
				continue // refused by the command line
			}
			want, err := c.Expected(run)
			if err != nil {
				t.Fatal(err)
			}
			var text string
			if files, _ := filepath.Glob(filepath.Join(c.Dir, "expected", run.ID, "files/out/overflow_summary_*")); len(files) == 1 {
				b, err := os.ReadFile(files[0])
				if err != nil {
					t.Fatal(err)
				}
				text = string(b)
			}
			name := c.Name + "/" + run.ID
			checked++
			tree, err := Find(filepath.Join(c.Dir, dir))
			if err != nil {
				if want.ExitCode != 3 {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			events := Analyse(tree, Options{Top: top, Oldest: true, LastOnly: true})
			if got := Code(events); got != want.ExitCode {
				t.Errorf("%s: code %d, want %d", name, got, want.ExitCode)
			}
			got := ""
			if Usable(events) {
				got = Summary(events, false)
			}
			if got != text {
				t.Errorf("%s:\n%s\nwant\n%s", name, got, text)
			}
		}
	}
	if checked < 20 {
		t.Errorf("checked only %d runs", checked)
	}
}

// record is a debug file with one payload for each output.
func record(payloads ...[]byte) dumptest.Dump {
	d := dumptest.Dump{OpName: "Node_OpDebug"}
	for _, p := range payloads {
		d.Outputs = append(d.Outputs, dumptest.Tensor{Type: 4, Format: dumptest.ND, Shape: []int64{int64(len(p))}, Data: p})
	}
	return d
}

func write(t *testing.T, dir, name string, d dumptest.Dump) {
	t.Helper()
	if err := d.Write(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

func operator(name string, input, output []byte) dumptest.Dump {
	half := func(b []byte) []dumptest.Tensor {
		return []dumptest.Tensor{{Type: dumptest.Float16, Format: dumptest.ND, Shape: []int64{int64(len(b) / 2)}, Data: b}}
	}
	return dumptest.Dump{OpName: name, Inputs: half(input), Outputs: half(output)}
}

// One bad record, one without a dump and one with two detectors: the report
// has all three, and the code is that of the bad one.
func TestReportGoesOn(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "s/Opdebug.Node_OpDebug.1.1.1630000000001000", record(old(nil)))
	write(t, dir, "s/Opdebug.Node_OpDebug.1.1.1630000000002000", record(tagged(0, 1, 0, 88, 0, 3, 4, 0, None, None, 0, 0, 0, 0, 0x21)))
	write(t, dir, "s/Opdebug.Node_OpDebug.1.1.1630000000003000", record(old(map[int]uint64{8: 3, 16: 5, 512: 0x900, 264: 3, 272: 6, 1040: 0x10 + 0x100 + 0x40})))
	write(t, dir, "s/Add.a_b.5.3.1630000000003001", operator("a/b", []byte{0, 0x3c}, []byte{0xff, 0x7b}))
	write(t, dir, "s/Mul.c.6.3.1630000000002999", operator("c", []byte{0, 0x7c}, []byte{0, 0}))
	write(t, dir, "s/Mul.c.6.3.1630000000003002", dumptest.Dump{OpName: "c\nd", Outputs: []dumptest.Tensor{
		{Type: dumptest.Float32, Format: dumptest.NCHW, Shape: []int64{0, 3}},
		{Type: 18, Format: 250, Shape: []int64{1}, Data: []byte{1}},
		{Type: 13, Format: dumptest.ND, Shape: []int64{1}, Data: []byte{1}},
		{Type: dumptest.Int32, Format: dumptest.ND, Data: []byte{255, 255, 255, 255}},
	}})
	if err := os.WriteFile(filepath.Join(dir, "s", "Mul.c.6.3.1630000000003000.output.0.npy"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	tree, err := Find(dir)
	if err != nil || len(tree.Records) != 3 || len(tree.Dumps) != 3 {
		t.Fatal(tree, err)
	}
	events := Analyse(tree, Options{})
	if got := Code(events); got != CodeType {
		t.Error(got)
	}
	got := strings.ReplaceAll(Summary(events, true), dir, "DIR")
	want, err := os.ReadFile("testdata/report.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s", got)
	}
	if e := events[2]; e.Ops[0].Others != 1 || e.Ops[1].Others != 0 || len(e.Missing) != 0 {
		t.Errorf("%+v", e)
	}
	if e := events[1]; len(e.Missing) != 1 || e.Missing[0] != e.Detected[0] {
		t.Errorf("%+v", e)
	}
	// The oldest dump, and of the last detector only.
	events = Analyse(tree, Options{Oldest: true, LastOnly: true})
	if ops := events[2].Ops; len(ops) != 1 || ops[0].Entry.Name.Time != 1630000000002999 || ops[0].Others != 1 || ops[0].Advice() != AdviceUpstream {
		t.Errorf("%+v", ops)
	}
}

func TestAnalyseErrors(t *testing.T) {
	dir := t.TempDir()
	hit := old(map[int]uint64{1040: 1})
	write(t, dir, "Opdebug.Node_OpDebug.1.1.1630000000000001", record(hit, hit))
	write(t, dir, "Opdebug.Node_OpDebug.1.1.1630000000000002", record(hit[:2000]))
	write(t, dir, "Opdebug.Node_OpDebug.1.1.1630000000000003", record())
	write(t, dir, "Opdebug.Node_OpDebug.1.1.1630000000000004", record(tagged(0, 1, 7, 0)))
	write(t, dir, "Opdebug.Node_OpDebug.1.1.1630000000000005", record(tagged(0, 1, 3, 80, make([]uint64, 10)...)))
	write(t, dir, "Opdebug.Node_OpDebug.1.1.1630000000000006", record(make([]byte, maxPayload+1)))
	if err := os.WriteFile(filepath.Join(dir, "Opdebug.Node_OpDebug.1.1.1630000000000007"), []byte("not a dump"), 0o644); err != nil {
		t.Fatal(err)
	}
	cut := record(hit)
	cut.Outputs[0].Claim = 4096
	write(t, dir, "Opdebug.Node_OpDebug.1.1.1630000000000008", cut)
	tree, err := Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	events := Analyse(tree, Options{})
	for i, want := range []int{17, 4, 4, 4, 36, 4, 4, 4} {
		if got := Code(events[i : i+1]); got != want || events[i].Err == nil {
			t.Errorf("%s: code %d, want %d: %v", events[i].Entry.Name.File, got, want, events[i].Err)
		}
	}
	if Usable(events) || Code(events) != 17 {
		t.Error(Code(events))
	}
	if got := events[1].Err.Error(); !strings.HasSuffix(got, "output 0: found 2000 bytes, expected 2048 for a record without a tag") {
		t.Error(got)
	}
	// An unknown detector has a record to look at all the same.
	if r := events[3].Records; len(r) != 1 || r[0] == nil || r[0].AccType != 7 {
		t.Errorf("%+v", r)
	}
}

func TestSummaryName(t *testing.T) {
	if got := SummaryName(time.Date(2021, 9, 1, 2, 3, 4, 5, time.Local)); got != "overflow_summary_20210901020304.txt" {
		t.Error(got)
	}
}
