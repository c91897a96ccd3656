package dump

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWarningsHaveAnEnd(t *testing.T) {
	var list []Warning
	for i := range MostWarnings + 50 {
		code := 0
		if i == MostWarnings+7 {
			code = 11
		}
		list = Warn(list, Warning{Path: "f", Code: code, Text: "x"})
	}
	if last := list[len(list)-1]; len(list) != MostWarnings+1 || last.Code != 11 || !strings.HasPrefix(last.Text, "50 more") {
		t.Errorf("%d warnings, the last one %+v", len(list), last)
	}
}

func TestMappingWithManyBadLines(t *testing.T) {
	dir := t.TempDir()
	text := strings.Repeat("no comma\n", 100000) + "1,Add.add.1.2.3\n"
	if err := os.WriteFile(filepath.Join(dir, MappingFile), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	m, warnings := ReadMapping(dir)
	if last := warnings[len(warnings)-1]; len(warnings) != MostWarnings+1 || last.Text != "99900 more warnings like these" {
		t.Errorf("%d warnings, the last one %q", len(warnings), last.Text)
	}
	if m["1"] != "Add.add.1.2.3" {
		t.Errorf("the mapping is %v", m)
	}
}
