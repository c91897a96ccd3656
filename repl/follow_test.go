package repl

import (
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"precision/testdata/workshop/dumptest"
)

// TestFollow: names of dumps that come while the session is open can be
// completed.
func TestFollow(t *testing.T) {
	cfg, _, _ := sampleConfig(t)
	time.Sleep(20 * time.Millisecond) // what is written at the time of a look has changed since
	s := open(cfg)
	v := newVocabulary()
	known := func(list *atomic.Pointer[wordList], name string) bool {
		for range 500 {
			if len(list.Load().find(name)) > 0 {
				return true
			}
			time.Sleep(10 * time.Millisecond)
		}
		return false
	}
	s.data.Refresh()
	v.follow(s)
	if !known(&v.ops, "block2/conv") {
		t.Fatal("an operator of the graph cannot be completed")
	}
	state := v.state
	s.data.Refresh()
	if v.follow(s); v.state != state {
		t.Error("names are read again without a change")
	}
	layOut(t, repoDir, "h5")
	if err := dumptest.WriteNpy(filepath.Join("precision_data", "tf", "dump", "later.0.1.npy"), "<f4", []int64{1}, make([]byte, 4)); err != nil {
		t.Fatal(err)
	}
	s.data.Refresh()
	v.follow(s)
	if !known(&v.tensors, "later.0") || !known(&v.tensors, "/Add/3/input") {
		t.Error("a golden array that came later cannot be completed")
	}
}
