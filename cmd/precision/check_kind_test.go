package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"precision/run"
	"strings"
	"testing"
)

// TestKindOfWrong: with -check the verdict says what kind of wrong a root is, in words, in
// JSON and on the page.
func TestKindOfWrong(t *testing.T) {
	sample, dir := "../../testdata/sample/", t.TempDir()
	jsonFile, page := filepath.Join(dir, "v.json"), filepath.Join(dir, "v.html")
	for lang, want := range map[string]string{"en": "kind of error: channels 16 to 23 not written: the numbers there are 0", "zh": "错误类别：通道 16 至 23 未写入：该处数值均为 0"} {
		code, stdout, stderr := precision(t, "compare", "-lt", sample+"npu", "-rt", sample+"golden", "-g", sample, "-check", "-lang", lang, "-out", dir, "-json", jsonFile, "-html", page)
		if code != exitOK || !strings.Contains(stdout, want) {
			t.Errorf("%s: exit %d, no %q in\n%s%s", lang, code, want, stdout, stderr)
		}
	}
	var said struct{ Roots []struct{ Pattern string } }
	text, err := os.ReadFile(jsonFile)
	if err == nil {
		err = json.Unmarshal(text, &said)
	}
	if err != nil || len(said.Roots) != 1 || said.Roots[0].Pattern != "unwritten" {
		t.Errorf("%+v, %v", said, err)
	}
	saved, _, err := run.OpenAny(page)
	if err != nil || len(saved.Table.Checks) == 0 {
		t.Errorf("the page holds no checks: %v", err)
	}
}
