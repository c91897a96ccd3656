package checkpoint

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzOpen: whatever a file holds, it is refused or all its tensors have elements in it.
func FuzzOpen(f *testing.F) {
	f.Add(safe(twoTensors, make([]byte, 16)))
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path)
		if err != nil {
			return
		}
		defer s.Close()
		for _, one := range s.Tensors {
			if n, err := one.Numbers(); err == nil && one.Len() > 0 && one.Len() < 1<<20 {
				if err := n.Read(make([]float64, one.Len()), 0); err != nil {
					t.Errorf("%s: %v", one.Name, err)
				}
			}
		}
	})
}
