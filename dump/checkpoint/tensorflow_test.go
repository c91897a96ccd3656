package checkpoint

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const made = "../../testdata/frameworks/made/weights"

// values are the elements of a set's tensors by name.
func values(t *testing.T, path string) map[string][]float64 {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	found := map[string][]float64{}
	for _, x := range s.Tensors {
		n, err := x.Numbers()
		if err != nil {
			t.Fatal(err)
		}
		list := make([]float64, x.Len())
		if err := n.Read(list, 0); err != nil {
			t.Fatal(err)
		}
		found[x.Name] = list
	}
	return found
}

// TestTensorFlow: weights in the files of TensorFlow and Keras are those that the network had.
func TestTensorFlow(t *testing.T) {
	var expected struct{ Weights map[string][]float64 }
	text, err := os.ReadFile(filepath.Join(filepath.Dir(made), "expected.json"))
	if err == nil {
		err = json.Unmarshal(text, &expected)
	}
	if err != nil || len(expected.Weights) != 8 {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path  string
		named bool // by the names that the program has
	}{
		{"ckpt", true}, {"ckpt/c-1", true}, {"ckpt/c-1.index", true}, {"ckpt/c-1.data-00000-of-00001", true}, {"saved", true}, {"net.h5", true},
		{"net.keras", false}, {"net.weights.h5", false},
	} {
		got := values(t, filepath.Join(made, filepath.FromSlash(c.path)))
		for name, want := range expected.Weights {
			name = strings.TrimSuffix(name, ":0")
			if c.named && !slices.Equal(got[name], want) {
				t.Errorf("%s: %s is %v, want %v", c.path, name, got[name], want)
			}
			found := false
			for _, list := range got {
				found = found || slices.Equal(list, want)
			}
			if !found {
				t.Errorf("%s: no tensor is %s", c.path, name)
			}
		}
		if path := filepath.Join(made, filepath.FromSlash(c.path)); !Are(path, filepath.Join(made, "ckpt")) || !Holds(path) {
			t.Errorf("%s is not taken for weights", c.path)
		}
	}
}

// TestKerasUnread: a file of HDF5 that cannot be read as far as the marks of Keras counts as one, and an error says why.
func TestKerasUnread(t *testing.T) {
	weights, err := os.ReadFile(filepath.Join(made, "net.weights.h5"))
	if err != nil {
		t.Fatal(err)
	}
	latest, err := os.ReadFile(filepath.FromSlash("../h5/testdata/links_latest.h5"))
	if err != nil {
		t.Fatal(err)
	}
	heap := slices.Clone(weights)
	copy(heap[bytes.Index(heap, []byte("HEAP")):], "PEAH")
	for _, c := range []struct {
		content []byte
		why     string
	}{
		{latest, `libver="latest"`}, {weights[:len(weights)/2], "truncated"}, {heap, "PEAH"}, {append(make([]byte, 512), weights...), "user block of 512"},
	} {
		path := filepath.Join(t.TempDir(), "x.h5")
		if err := os.WriteFile(path, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		if !Are(path, path) {
			t.Errorf("%s: not taken for weights", c.why)
		}
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), c.why) || strings.Count(err.Error(), path) != 1 {
			t.Errorf("%v, want %s", err, c.why)
		}
	}
}

// TestTensorFlowDamaged: what is missing or is not what was written is named.
func TestTensorFlowDamaged(t *testing.T) {
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(made, "ckpt", name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	index, data := read("c-1.index"), read("c-1.data-00000-of-00001")
	dir := t.TempDir()
	write := func(name string, b []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	failed := func(what string, words ...string) {
		t.Helper()
		s, err := Open(dir)
		if err == nil {
			s.Close()
			t.Errorf("%s: no error", what)
			return
		}
		for _, w := range words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v, want %s", what, err, w)
			}
		}
	}
	write("c-1.index", index)
	failed("a shard is missing", "c-1.data-00000-of-00001", "no such file")
	write("c-1.data-00000-of-00001", data[:len(data)-2500])
	failed("a shard is cut", "c-1.data-00000-of-00001", "expected")
	write("c-1.data-00000-of-00001", data)
	for at := 0; at < len(index); at += 7 {
		bad := slices.Clone(index)
		bad[at] ^= 0x20
		write("c-1.index", bad)
		if s, err := Open(dir); err == nil {
			// The block that says what else there is has its own checksum, which nobody reads; the padding of the footer has none.
			if n := len(s.Tensors); n != 17 {
				t.Errorf("a byte at %d is another one: %d tensors", at, n)
			}
			s.Close()
		}
	}
	for n := range len(index) {
		write("c-1.index", index[:n])
		failed("the index is cut", "c-1.index")
	}
	write("c-1.index", index)
	write("d-2.index", index)
	failed("there are two", "holds 2 checkpoints", "c-1", "d-2")
	write("checkpoint", []byte("model_checkpoint_path: \"/elsewhere/c-1\"\nall_model_checkpoint_paths: \"c-1\"\n"))
	if s, err := Open(dir); err != nil || len(s.Tensors) != 17 {
		t.Error(err)
	} else {
		s.Close()
	}
}
