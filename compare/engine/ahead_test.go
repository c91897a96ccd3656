package engine

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"precision/internal/readahead"
)

// Files are asked for once and in their order, aheadBy groups ahead of their turn, more of small ones; where
// they are in memory, hardly any are looked at.
func TestForesight(t *testing.T) {
	const n = 200
	for bytes, reach := range map[int64]int{0: 0, aheadBytes: aheadBy, aheadBytes / 20: 20, 1: aheadMost} {
		f := &foresight{groups: n, files: func(i int, yield func(string)) { yield(fmt.Sprint(i)) }}
		var asked []string
		for i := range n {
			f.turn(int64(i))
			f.ask(func(path string) int64 {
				asked = append(asked, path)
				return bytes
			})
			if want := min(i+reach, n-1); bytes > 0 && len(asked) != want {
				t.Fatalf("%d bytes, turn %d: %d asked for, want %d", bytes, i, len(asked), want)
			}
		}
		if bytes == 0 && (len(asked) == 0 || len(asked) > n/16) {
			t.Errorf("looked at %d of %d that are in memory", len(asked), n)
		}
		if slices.Contains(asked, "0") {
			t.Error("asked for the files of the first group, whose turn it is")
		}
	}
}

// Workers whose turns come at once have no file asked for twice, by few at a time.
func TestForesightOfManyWorkers(t *testing.T) {
	const n = 500
	f := &foresight{groups: n, files: func(i int, yield func(string)) { yield(fmt.Sprint(i)) }}
	var mu sync.Mutex
	asked := map[string]int{}
	readahead.Simulate(func(path string) int64 {
		mu.Lock()
		defer mu.Unlock()
		asked[path]++
		if busy := f.busy.Load(); busy > askers+8 { // those that find too many count as they do
			t.Errorf("%d ask at a time", busy)
		}
		return 1 << 20
	})
	defer readahead.Simulate(nil)
	newCrewOf(8, &Options{}).each(n, context.Background().Done(), func(i int, _ *Worker) {
		f.come(i)
		time.Sleep(time.Millisecond)
	})
	for f.busy.Load() > 0 {
		time.Sleep(time.Millisecond)
	}
	mu.Lock()
	defer mu.Unlock()
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
		e.namedFiles(pairOp{left: op}, func(path string) { files = append(files, path) })
		if len(files) != 2 || files[0] != op.Newest().Path || files[1] != folders.Right.Output(op.Key, 0).Newest().Path {
			t.Errorf("%s: %q", op.Key, files)
		}
	}
}
