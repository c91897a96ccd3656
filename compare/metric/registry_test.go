package metric

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A metric is added by a file and an entry: in a copy of the package with
// testdata/eleventh/meanerror.go and one line more in the table it has a name, is
// found by name and number, is computed among all and alone, gets its passes and
// notes, and takes no part in the table of msaccucmp.
func TestEleventhMetric(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	dir := t.TempDir()
	put := func(name string, text []byte) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	get := func(path string) []byte {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if !strings.HasSuffix(name, "_test.go") {
			put("compare/metric/"+name, get(name))
		}
	}
	for _, name := range []string{"internal/kernel/kernel.go", "internal/integer/integer.go", "internal/pairwise/pairwise.go"} {
		put(name, get("../../"+name))
	}
	put("go.mod", []byte("module precision\n\ngo 1.26.0\n"))
	put("main.go", get("testdata/eleventh/main.go"))
	put("compare/metric/meanerror.go", get("testdata/eleventh/meanerror.go"))
	const last = "\tMeanRelativeError:         &meanRelativeError,\n"
	registry := string(get("registry.go"))
	if strings.Count(registry, last) != 1 {
		t.Fatalf("registry.go has no line %q", last)
	}
	put("compare/metric/registry.go", []byte(strings.Replace(registry, last, last+"\tMeanError: &meanError,\n", 1)))

	// Without assembly the package needs no other module.
	run := exec.Command("go", "run", "-tags", "noasm", ".")
	run.Dir, run.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	var stderr bytes.Buffer
	run.Stderr = &stderr
	out, err := run.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	const want = `MeanError true true true 11
exact 1.250000 1.250000 1.802776 NaN
reference NaN 1.250000 1.802776 NaN
inf
NaN true MeanError
`
	if got := string(out); got != want {
		t.Errorf("it says\n%swant\n%s", got, want)
	}
}

// Every entry is complete, and no two have the same name.
func TestRegistry(t *testing.T) {
	names := map[string]bool{}
	for i, d := range table {
		if d == nil || d.name == "" || d.exact == nil || d.reference == nil || names[d.name] {
			t.Fatalf("entry %d: %+v", i, d)
		}
		names[d.name] = true
	}
}
