package manifest

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// A manifest of ours or of another program is compared, or refused by file and line.
func FuzzDiff(f *testing.F) {
	f.Add([]byte("d41d8cd98f00b204e9800998ecf8427e  a/b\nd41d8cd98f00b204e9800998ecf8427e *c\n"))
	f.Add([]byte(magic + "\n0\t-\t-\ta\n# 1 files\n"))
	f.Add([]byte("a\nb\r\n\n# x\n"))
	dir := f.TempDir()
	good, path := filepath.Join(dir, "good"), filepath.Join(dir, "fuzz")
	if err := os.WriteFile(good, []byte("d41d8cd98f00b204e9800998ecf8427e  a/b\n"), 0o600); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		IsManifest(text)
		if d, err := Diff(context.Background(), path, path); err == nil && d.Lists[OnlyA].Count+d.Lists[OnlyB].Count+d.Lists[Changed].Count > 0 {
			t.Fatalf("%q differs from itself: %+v", text, d)
		}
		Diff(context.Background(), good, path)
		ParseHashes(string(text[:min(len(text), 64)]))
	})
}
