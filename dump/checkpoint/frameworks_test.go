package checkpoint

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The files that PyTorch, safetensors, NumPy and MindSpore wrote (testdata/frameworks/make_torch.py).
const written = "../../testdata/frameworks/made/torch"

// frameworkFiles are those of a kind of weights each, and of which list of values they hold all but the left out ones.
var frameworkFiles = []struct{ path, list, without, prefix string }{
	{"state.pt", "torch.json", "", ""},
	{"old.pth", "torch.json", "", ""},
	{"training.pt", "torch.json", "", "model."},
	{"state.safetensors", "torch.json", "", ""},
	{"shards", "torch.json", "", ""},
	{"state.npz", "torch.json", "half", ""},
	{"packed.npz", "torch.json", "half", ""},
	{"dcp", "torch.json", "", ""},
	{"state.ckpt", "mind.json", "", ""},
}

// TestFrameworks: the tensors in files of frameworks are those that were saved.
func TestFrameworks(t *testing.T) { inFrameworks(t, written, frameworkFiles) }

func inFrameworks(t *testing.T, dir string, files []struct{ path, list, without, prefix string }) {
	for _, c := range files {
		var expected struct{ Weights map[string][]float64 }
		text, err := os.ReadFile(filepath.Join(dir, c.list))
		if err == nil {
			err = json.Unmarshal(text, &expected)
		}
		if err != nil || len(expected.Weights) < 4 {
			t.Fatal(c.list, err, len(expected.Weights))
		}
		want := map[string][]float64{}
		for name, v := range expected.Weights {
			if name != c.without {
				want[c.prefix+name] = v
			}
		}
		path := filepath.Join(dir, c.path)
		got := values(t, path)
		if !maps.EqualFunc(got, want, slices.Equal[[]float64]) {
			t.Errorf("%s: got %v, want %v", c.path, got, want)
		}
		if !Are(path, path) || !Holds(path) {
			t.Errorf("%s is not taken for weights", c.path)
		}
	}
}

// TestMissing: a shard, a part or the end of a file that is missing is named, and the code in a pickle is not executed.
func TestMissing(t *testing.T) {
	for name, why := range map[string]string{"shards/model-00002-of-00003.safetensors": "no such file", "dcp/__0_0.distcp": "no such file"} {
		dir := filepath.Join(t.TempDir(), "copy")
		if err := os.CopyFS(dir, os.DirFS(filepath.Join(written, filepath.Dir(name)))); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(dir, filepath.Base(name))); err != nil {
			t.Fatal(err)
		}
		if s, err := Open(dir); err == nil || !strings.Contains(err.Error(), why) || !strings.Contains(err.Error(), filepath.Base(name)) {
			t.Errorf("%s is missing: %+v, %v", name, s, err)
		}
	}
	if got := values(t, filepath.Join(written, "module.pt")); len(got["weight"]) != 4 || len(got["bias"]) != 2 || len(got) != 2 {
		t.Errorf("an object of a class of a program: %v", got)
	}
	whole, err := os.ReadFile(filepath.Join(written, "state.ckpt"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.ckpt")
	for n := range whole {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path)
		if err != nil {
			if strings.Count(err.Error(), path) != 1 {
				t.Fatalf("cut at %d: %v", n, err)
			}
			continue
		}
		// A file that ends behind a value is one of fewer values.
		if v, err := numbers(s); err != nil || len(v) == 4 || len(v) == 0 {
			t.Errorf("cut at %d: %v, %v", n, v, err)
		}
		s.Close()
	}
	// A tensor in several values, and a checksum behind them.
	value := func(name, kind string, content string, dims ...byte) string {
		tensor := ""
		for _, d := range dims {
			tensor += "\x08" + string(d)
		}
		tensor += "\x12" + string(rune(len(kind))) + kind + "\x1a" + string(rune(len(content))) + content
		body := "\x0a" + string(rune(len(name))) + name + "\x12" + string(rune(len(tensor))) + tensor
		return "\x0a" + string(rune(len(body))) + body
	}
	file := value("a", "Int8", "\x01\x02\x03", 5) + value("a", "Int8", "\x04\x05", 5) + value("random", "str", "x") + value("s", "UInt8", "\x09", 0) + "crc_num\x00\x00\x00\x00\x00\x00\x01\x02\x03\x04"
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := values(t, path); !maps.EqualFunc(got, map[string][]float64{"a": {1, 2, 3, 4, 5}, "s": {9}}, slices.Equal[[]float64]) {
		t.Errorf("%v", got)
	}
	for bad, why := range map[string]string{
		value("a", "Int8", "\x01\x02\x03", 5):                      `tensor "a" has 3 bytes, expected 5`,
		value("a", "Int8", "\x01", 1) + "\x0a\xff\xff\xff\xff\x0f": "offset 18",
		value("a", "Int4x", "\x01", 1):                             "Int4x",
	} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%v, want %s", err, why)
		}
	}
}
