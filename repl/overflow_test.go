package repl

import (
	"path/filepath"
	"slices"
	"testing"

	"precision/dump"
	"precision/dump/overflow"
)

// TestDecodePlace: dumps of the same name in two devices do not share a file.
func TestDecodePlace(t *testing.T) {
	entry := func(path string) dump.Entry { return dump.Entry{Path: filepath.FromSlash(path)} }
	alone := newDecodePlace(&overflow.Tree{Dir: "run", Records: []dump.Entry{entry("run/0/a")}, Dumps: []dump.Entry{entry("run/0/b"), entry("run/1/c")}})
	if got := alone.folder(filepath.FromSlash("run/1/c")); !slices.Equal(got, []string{"overflow_decode"}) {
		t.Errorf("files with names of their own: %q", got)
	}
	both := newDecodePlace(&overflow.Tree{Dir: "run", Dumps: []dump.Entry{entry("run/0/net/b"), entry("run/1/net/b")}})
	for _, device := range []string{"0", "1"} {
		want := []string{"overflow_decode", filepath.Join(device, "net")}
		if got := both.folder(filepath.Join("run", device, "net", "b")); !slices.Equal(got, want) {
			t.Errorf("device %s: %q, want %q", device, got, want)
		}
	}
}
