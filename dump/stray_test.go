package dump

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A stray file whose name is a number stands for no recording beside folders that hold some; with a list of real
// names, or where there is nothing else, it does.
func TestStrayNumber(t *testing.T) {
	dir := t.TempDir()
	var want []string
	for _, rank := range []string{"rank0", "rank1"} {
		want = append(want, filepath.Join(dir, rank))
		os.Mkdir(want[len(want)-1], 0o700)
		os.WriteFile(filepath.Join(dir, rank, "Add.add1.1.2.1630000000000000"), nil, 0o600)
	}
	os.WriteFile(filepath.Join(dir, "5"), nil, 0o600)
	if got, err := Folders(dir, 100); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	alone := t.TempDir()
	os.WriteFile(filepath.Join(alone, "5"), nil, 0o600)
	if got, err := Folders(alone, 100); err != nil || !slices.Equal(got, []string{alone}) {
		t.Errorf("nothing but a renamed file: %q, %v", got, err)
	}
	os.WriteFile(filepath.Join(dir, MappingFile), []byte("5,Add.add1.1.2.1630000000000000\n"), 0o600)
	if got, err := Folders(dir, 100); err != nil || !slices.Equal(got, []string{dir}) {
		t.Errorf("with a list of names: %q, %v", got, err)
	}
}
