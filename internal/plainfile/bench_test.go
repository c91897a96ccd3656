package plainfile

import (
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkOpen opens and closes a file.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, 100), 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		f, _, err := Open(path, "a file")
		if err != nil {
			b.Fatal(err)
		}
		f.Close()
	}
}
