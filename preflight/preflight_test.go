package preflight

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDetect: what a file is, whatever its name; of one that is none, what it looks like and which kinds are read.
func TestDetect(t *testing.T) {
	made := "../testdata/frameworks/made/"
	read := func(name string) string {
		b, err := os.ReadFile(made + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, c := range []struct {
		name, content string
		want          Kind // "" for none
	}{
		{"a.txt", "step 1 loss 2\nstep 2 loss 1\n", Log},
		{"a", read("keras.txt"), Log},
		{"a.csv", read("keras.csv"), Log},
		{"events.out.tfevents.1.host", read("torch/events/events.out.tfevents.1700000000.host.1.0"), Log},
		{"a.yaml", "lr: 1\n", Config},
		{"a.txt", "# precision manifest 1 md5\n", Manifest},
		{"x.db", "SQLite format 3\x00\x10\x00\x01\x01", ""},
		{"x.png", "\x89PNG\r\n\x1a\n\x00\x00\x00\x0d", ""},
		{"x", "\x7fELF\x02\x01\x01\x00", ""},
		{"saved_model.pb", read("weights/saved/saved_model.pb"), ""},
		{"frozen.pb", read("graphs/frozen.pb"), ""},
		{"words.txt", "hello\nworld\n", ""},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		kind, err := Detect(path)
		unknown := (*UnknownError)(nil)
		if kind != c.want || (kind == "") != errors.As(err, &unknown) || kind != "" && err != nil {
			t.Errorf("%s: %q, %v, want %q", c.name, kind, err, c.want)
		}
		if unknown != nil && (!strings.HasPrefix(c.content, unknown.Begins) || unknown.Begins == "" || !strings.Contains(unknown.Error(), "TensorBoard")) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := Detect(made + "tfdbg/full_tensor"); err == nil || !strings.Contains(err.Error(), "is a directory, expected a manifest") {
		t.Error(err)
	}
}
