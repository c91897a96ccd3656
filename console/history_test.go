package console

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "history")
	h := OpenHistory(path)
	for _, l := range []string{"ls", "ls", "", "ni a\nb", "ls"} {
		h.add(l)
	}
	if h = OpenHistory(path); !slices.Equal(h.lines, []string{"ls", "ni a b", "ls"}) {
		t.Errorf("kept %q", h.lines)
	}
	for i := range 3 * keptLines {
		h.add(fmt.Sprint("run ", i))
	}
	h = OpenHistory(path)
	if len(h.lines) != keptLines || h.lines[keptLines-1] != fmt.Sprint("run ", 3*keptLines-1) {
		t.Errorf("kept %d lines, the last %q", len(h.lines), h.lines[len(h.lines)-1])
	}
	if data, err := os.ReadFile(path); err != nil || bytes.Count(data, []byte("\n")) != keptLines {
		t.Errorf("the file was not cut: %v", err)
	}
	if h := OpenHistory(t.TempDir()); h.err == nil {
		t.Error("a folder is a history")
	}
}
