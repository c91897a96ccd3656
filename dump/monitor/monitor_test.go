package monitor

import (
	"os"
	"path/filepath"
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
