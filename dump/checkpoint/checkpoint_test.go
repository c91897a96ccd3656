package checkpoint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Checkpoints are known by what is in them, whatever they are called; dumps and recordings are none.
func TestOf(t *testing.T) {
	dir := t.TempDir()
	mindspore := "\x0a\x4c\x0a\x09fc.weight\x12\x3f\x08\x03\x08\x04\x12\x07Float32\x1a\x30" + strings.Repeat("\x00", 48)
	safetensors := "\x30\x00\x00\x00\x00\x00\x00\x00" + `{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`[:48] + "\x00\x00\x00\x00"
	frozen, err := os.ReadFile("../../testdata/frameworks/made/graphs/frozen.pb")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string][2]string{
		"frozen.pb":   {string(frozen), ""}, // its nodes have a name and a text
		"m.ckpt":      {mindspore, "MindSpore"},
		"weights":     {mindspore, "MindSpore"},
		"cut.ckpt":    {mindspore[:30], "MindSpore"},
		"a.ckpt":      {"\x0a\x4c\x0a\x09fc.w", ""},
		"m.st":        {safetensors, "safetensors"},
		"longer":      {safetensors[:20], ""},
		"dump.json":   {`{"task": "statistics", "data": {}}`, ""},
		"x.npy":       {"\x93NUMPY\x01\x00v\x00{'descr': '<f4'}", ""},
		"empty.ckpt":  {"", ""},
		"text.ckpt":   {"\nabc\n\x01x", ""},
		"numbers.bin": {"\x10\x00\x00\x00\x00\x00\x00\x00" + strings.Repeat("1", 16), ""},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c[0]), 0o600); err != nil {
			t.Fatal(err)
		}
		if kind, _ := Of(path); kind != c[1] {
			t.Errorf("%s: %q, not %q", name, kind, c[1])
		}
	}
	if kind, file := Of(dir); kind != "MindSpore" || filepath.Base(file) != "cut.ckpt" {
		t.Errorf("folder: %q, %s", kind, file)
	}
	if kind, _ := Of(dir + "/none"); kind != "" {
		t.Errorf("what is not there: %q", kind)
	}
}
