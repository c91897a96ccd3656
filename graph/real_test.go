package graph

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// realFile returns a graph file made by GE itself. Such files are too large for the repository;
// PRECISION_REAL names a folder with them.
func realFile(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv("PRECISION_REAL")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "real")
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no real graph: %v", err)
	}
	return path
}

// bigText repeats the operators of a real graph in one graph until the text has at least n bytes.
func bigText(t testing.TB, n int) []byte {
	t.Helper()
	data, err := os.ReadFile(realFile(t, "training/ge_proto_00000001_Build.txt"))
	if err != nil {
		t.Fatal(err)
	}
	i := bytes.Index(data, []byte("\n  op {\n"))
	j := bytes.LastIndex(data, []byte("\n  op {\n"))
	out := append(make([]byte, 0, n+len(data)), data[:i]...)
	for len(out) < n {
		out = append(out, data[i:j]...)
	}
	return append(out, data[j:]...)
}

func BenchmarkReadText(b *testing.B) {
	for _, name := range []string{"resnet50/ge_proto_00000062_Build.txt", "training/ge_proto_00000001_Build.txt", "big"} {
		b.Run(filepath.Base(name), func(b *testing.B) {
			var data []byte
			if name == "big" {
				data = bigText(b, 100<<20)
			} else {
				var err error
				if data, err = os.ReadFile(realFile(b, name)); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := Read(bytes.NewReader(data), name); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
