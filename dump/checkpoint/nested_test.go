package checkpoint

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/dump/torch"
)

// TestTrained: checkpoints whose tensors lie in parts of ranks (testdata/trained/make.py) read as the tensors that were cut, in
// reads of any size, and say which file is missing or cut.
func TestTrained(t *testing.T) {
	for _, dir := range []string{"dcp", "megatron"} {
		dir = filepath.Join("testdata", "trained", dir)
		s, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		whole, err := Open(filepath.Join(dir, "whole.pt"))
		if err != nil {
			t.Fatal(err)
		}
		defer whole.Close()
		want, err := numbers(whole)
		if err != nil {
			t.Fatal(err)
		}
		got, err := numbers(s)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))) {
			t.Errorf("%s: tensors %q, expected %q", dir, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
		}
		for _, x := range s.Tensors {
			if !slices.Equal(got[x.Name], want[x.Name]) {
				t.Errorf("%s: %s: %v, expected %v", dir, x.Name, got[x.Name], want[x.Name])
			}
			n, err := x.Numbers()
			if err != nil {
				t.Fatal(err)
			}
			for step := int64(1); step < 6; step++ {
				for first := int64(0); first < x.Len(); first += step {
					v := make([]float64, min(step, x.Len()-first))
					if err := n.Read(v, first); err != nil || !slices.Equal(v, want[x.Name][first:first+int64(len(v))]) {
						t.Fatalf("%s: %s: %d elements from %d: %v, %v", dir, x.Name, step, first, v, err)
					}
				}
			}
		}
	}
}

func TestTrainedDamaged(t *testing.T) {
	for _, c := range []struct{ dir, file, want string }{
		{"dcp", "__1_0.distcp", "__1_0.distcp"},
		{"dcp", ".metadata", ".metadata"},
		{"megatron", "iter_0000100/mp_rank_01_000/model_optim_rng.pt", "mp_rank_01_000"},
	} {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "trained", c.dir))); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(c.file))
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; n < len(content); n += 1 + len(content)/50 {
			if err := os.WriteFile(path, content[:n], 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := Open(dir)
			if err == nil {
				_, err = numbers(s)
				s.Close()
			}
			if err == nil {
				t.Errorf("%s cut to %d of %d bytes was read", c.file, n, len(content))
			}
		}
		os.Remove(path)
		if _, err := Open(dir); c.file != ".metadata" && c.dir == "dcp" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("without %s: %v", c.file, err)
		}
	}
}

// FuzzMetadata: a plan of a checkpoint is read or refused, whatever its bytes, and nothing of it is run.
func FuzzMetadata(f *testing.F) {
	if b, err := os.ReadFile(filepath.Join("testdata", "trained", "dcp", ".metadata")); err == nil {
		f.Add(b)
	}
	f.Add([]byte("\x80\x04cos\nsystem\n\x8c\x02ls\x85R."))
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := torch.ReadMetadata(strings.NewReader(string(b)))
		if err == nil && len(list) > len(b) {
			t.Errorf("%d tensors of %d bytes", len(list), len(b))
		}
	})
}
