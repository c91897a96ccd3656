package dump

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzMapping: whatever mapping.csv holds, names stay bare and warnings have an end.
func FuzzMapping(f *testing.F) {
	for _, text := range []string{"1234,Add.add.1.2.3\n", "a,b,c\n", "1,../../x\n", ",\n\r\n", strings.Repeat("x\n", 200), "1,\xff\x00\n"} {
		f.Add([]byte(text))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(filepath.Join(dir, MappingFile), text, 0o600); err != nil {
			t.Fatal(err)
		}
		m, warnings := ReadMapping(dir)
		if len(warnings) > MostWarnings+2 {
			t.Fatalf("%d warnings", len(warnings))
		}
		for disk, name := range m {
			if disk == "" || name == "" || strings.ContainsAny(name, "/\\,\n") {
				t.Fatalf("%q stands for %q", disk, name)
			}
			m.Name(disk)
		}
	})
}
