package repl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"precision/repl/workspace"
)

// TestDataNamesData: a data folder cannot send the session to another one, and
// its file is told that it tries.
func TestDataNamesData(t *testing.T) {
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, workspace.SettingsFile), []byte("data = \"elsewhere\"\n"), 0o600)
	var out, errs strings.Builder
	user := t.TempDir()
	s := open(Config{Dir: dir, ConfigDir: user, Stdout: &out, Stderr: &errs, Lang: "en"})
	if s.data.Root != dir || !strings.Contains(out.String()+errs.String(), "it belongs in "+filepath.Join(user, workspace.SettingsFile)) {
		t.Errorf("data folder %s, %s%s", s.data.Root, &out, &errs)
	}
}
