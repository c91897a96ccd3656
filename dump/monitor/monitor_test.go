package monitor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// read reads a folder with one file of one rank.
func read(t testing.TB, text []byte) (*Data, error) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "Nov23_01-37-49-rank0-64d73062")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "actv_0-3.csv"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return Read(dir)
}

// TestLines: a line that is none is named, and costs none of the others.
func TestLines(t *testing.T) {
	d, err := read(t, []byte("name,step,norm,nans\nlayer,0,1,0\nlayer,1\nlayer,2,1.5,0\n"))
	if err != nil || len(d.Series) != 1 || len(d.Series[0].Points) != 2 || len(d.Bad) != 1 {
		t.Fatalf("read %+v, %v", d, err)
	}
	if d, err := read(t, []byte("step,norm\n0,1\n")); err == nil && (len(d.Series) > 0 || len(d.Bad) == 0) {
		t.Errorf("without names, read %+v", d)
	}
}

// TestCommunications: a call of communication in a file other_*.csv is two series, what it got and what it gave, though the file's
// header is not of its columns; directions of momentum are none, and another length is told.
func TestCommunications(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "Nov23_01-37-49-rank1-64d73062")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	text := "vpp_stage,name,step,norm,min,nans,shape,dtype\n0,layer.weight,0,1,1,0,[],torch.float32,nan,nan,nan,nan\n" +
		"all_reduce,2.5,0,-0.5,0,nan,nan,5,-1,3,nan,nan\nall_reduce,2.5,1,-0.5,0,nan,nan,5\n"
	if err := os.WriteFile(filepath.Join(folder, "other_0-3.csv"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := Read(dir)
	if err != nil || len(d.Series) != 2 || len(d.Bad) != 1 {
		t.Fatalf("read %+v, %v", d, err)
	}
	for i, want := range []string{"comm all_reduce/pre_0: step 0, 2.5, -0.5, 0", "comm all_reduce/post_0: step 0, 5, -1, 3"} {
		s := d.Series[i]
		p := s.Points[0]
		if got := fmt.Sprintf("%s %s: step %d, %g, %g, %g", s.Metric, s.Name, p.Step, p.Norm, p.Min, p.NaNs); got != want || s.Rank != 1 || len(s.Points) != 1 {
			t.Errorf("%s of rank %d, expected %s", got, s.Rank, want)
		}
	}
}

// TestRuns: of a training that was begun again each step is taken from the run that went over it last, whatever the month; a run
// that began no later than another takes its place.
func TestRuns(t *testing.T) {
	const moments = "exp_avg"
	run := func(dir, began, metric string, first int, norms ...string) {
		folder := filepath.Join(dir, began+"-rank0-64d73062")
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		text := "name,step,norm\n"
		for i, n := range norms {
			text += fmt.Sprintf("a,%d,%s\n", first+i, n)
		}
		if err := os.WriteFile(filepath.Join(folder, metric+"_0-9.csv"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	run(dir, "Dec31_23-10-00", "actv", 0, "1", "2", "3", "4")
	run(dir, "Dec31_23-10-00", moments, 1, "11", "12", "13", "14")
	run(dir, "Jan01_04-00-00", "actv", 2, "30", "40", "50")
	run(dir, "Jan01_04-00-00", moments, 3, "130", "140", "150")
	run(dir, "Jan02_04-00-00", "actv", 4, "500", "600")
	want := map[string]string{"actv": "0:1 1:2 2:30 3:40 4:500 5:600", moments: "0:11 1:12 2:130 3:140 4:150"}
	for range 2 {
		d, err := Read(dir)
		if err != nil || len(d.Series) != len(want) || len(d.Bad) > 0 {
			t.Fatalf("%+v, %v, expected %d series", d, err, len(want))
		}
		for _, s := range d.Series {
			var got []string
			for _, p := range s.Points {
				got = append(got, fmt.Sprintf("%d:%g", p.Step, p.Norm))
			}
			if s.Metric == moments && s.Again != 2 {
				t.Errorf("%s: %d left out, expected 2", s.Metric, s.Again)
			}
			if got := strings.Join(got, " "); got != want[s.Metric] {
				t.Errorf("%s: %s, expected %s", s.Metric, got, want[s.Metric])
			}
		}
		run(dir, "Jan03_04-00-00", "actv", 0, "7")
		want = map[string]string{"actv": "0:7", moments: want[moments]}
	}
}

// FuzzRead: whatever a file of a monitor holds, reading it ends, with no more points than it has bytes.
func FuzzRead(f *testing.F) {
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := read(t, text)
		if err != nil {
			return
		}
		points := 0
		for i := range d.Series {
			points += len(d.Series[i].Points)
		}
		if points > len(text) {
			t.Errorf("%d points of %d bytes", points, len(text))
		}
	})
}
