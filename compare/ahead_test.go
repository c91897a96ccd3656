package compare

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
)

// Files are asked for once, aheadBy groups ahead at most and in their order; where they are in memory, hardly
// any are looked at.
func TestForesight(t *testing.T) {
	const n = 100
	for _, cold := range []bool{true, false} {
		f := &foresight{}
		for i := range n {
			f.before(nil, func(yield func(string)) { yield(fmt.Sprint(i)) })
		}
		var asked []string
		for i := range int64(n) {
			f.turn(i, func(path string) bool {
				asked = append(asked, path)
				return cold
			})
			if cold {
				want := min(int(i)+aheadBy, n-1)
				if len(asked) != want {
					t.Fatalf("turn %d: %d asked for, want %d", i, len(asked), want)
				}
			}
		}
		if !cold && (len(asked) == 0 || len(asked) > n/16) {
			t.Errorf("looked at %d of %d that are in memory", len(asked), n)
		}
		if i := slices.Index(asked, "0"); i >= 0 {
			t.Error("asked for the files of the first group, whose turn it is")
		}
	}
}

// Workers whose turns come at once ask for no file twice.
func TestForesightOfManyWorkers(t *testing.T) {
	const n = 500
	f := &foresight{}
	for i := range n {
		f.before(nil, func(yield func(string)) { yield(fmt.Sprint(i)) })
	}
	var mu sync.Mutex
	asked := map[string]int{}
	newCrewOf(8, &Options{}).each(n, context.Background().Done(), func(i int, _ *Worker) {
		f.turn(int64(i), func(path string) bool {
			mu.Lock()
			defer mu.Unlock()
			asked[path]++
			return true
		})
	})
	for path, times := range asked {
		if times > 1 {
			t.Errorf("%s asked for %d times", path, times)
		}
	}
	if len(asked) < n/2 {
		t.Errorf("%d of %d asked for", len(asked), n)
	}
}

// The files asked for are those that are read.
func TestForesightFiles(t *testing.T) {
	job := writePair(t, t.TempDir(), 3, 16)
	s, err := job.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	folders := &s.Folders
	e := newEngine(folders)
	for _, op := range byTime(folders.Left) {
		var files []string
		e.namedFiles(op, func(path string) { files = append(files, path) })
		if len(files) != 2 || files[0] != op.Newest().Path || files[1] != folders.Right.Output(op.Key, 0).Newest().Path {
			t.Errorf("%s: %q", op.Key, files)
		}
	}
}
