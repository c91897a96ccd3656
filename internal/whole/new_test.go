package whole

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Of many runs that write a file of one name at once none loses its own.
func TestCommitNew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "result.csv")
	var all sync.WaitGroup
	names := make([]string, 20)
	for i := range names {
		all.Go(func() {
			f, err := Create(path, 0o600)
			if err != nil {
				t.Error(err)
				return
			}
			f.WriteString(string(rune('a' + i)))
			if err := f.CommitNew(); err != nil {
				t.Error(err)
			}
			names[i] = f.Path()
		})
	}
	all.Wait()
	for i, name := range names {
		if text, err := os.ReadFile(name); err != nil || string(text) != string(rune('a'+i)) {
			t.Errorf("%s holds %q, expected what run %d wrote: %v", name, text, i, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".precision-*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
}
