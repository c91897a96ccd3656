package repl

import (
	"path/filepath"
	"strings"
	"testing"

	"precision/repl/array"
	"precision/repl/workspace"
)

// The name of a tensor leads to no file outside the folder of decoded ones.
func TestDecodedNamesStayInside(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "temp", "decode")
	for _, name := range []string{"../../../.bashrc", "/a/../../../b", "..", "a/b/c", "/x", `..\..\x`, "/", "."} {
		if got := filepath.Join(dir, inside(name)+".npy.txt"); !strings.HasPrefix(got, dir) || strings.Contains(got, "..") && !strings.Contains(got, "_") {
			t.Errorf("%q becomes %s", name, got)
		}
	}
	s := &session{data: workspace.Open(t.TempDir())}
	a := &array.Array{Path: filepath.Join(t.TempDir(), "x.h5"), Name: "../../../../evil", Part: "../../../../evil", Dataset: true}
	if path := s.decodeOf(a); !strings.HasPrefix(filepath.Join(path, inside(a.Name)), s.data.DecodeDir()) {
		t.Errorf("the folder is %s", path)
	}
}
