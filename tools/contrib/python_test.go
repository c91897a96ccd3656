package contrib

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// pythons are the interpreters of the machine that the package is for, one of each version.
func pythons() (list []string) {
	var found []string
	for _, name := range []string{"python3", "python3.9", "python3.10", "python3.11", "python3.12", "python3.13", "python"} {
		if path, err := exec.LookPath(name); err == nil {
			found = append(found, path)
		}
	}
	if home, err := os.UserHomeDir(); err == nil {
		more, _ := filepath.Glob(filepath.Join(home, ".pyenv", "versions", "*", "bin", "python"))
		found = append(found, more...)
	}
	var versions []string
	for _, path := range found {
		out, err := exec.Command(path, "-c", "import sys; print('%d.%d' % sys.version_info[:2] if sys.version_info >= (3, 9) else '')").Output()
		if v := strings.TrimSpace(string(out)); err == nil && v != "" && !slices.Contains(versions, v) {
			versions, list = append(versions, v), append(list, path)
		}
	}
	return list
}

// TestPython runs the tests of the Python package with every Python from 3.9 on that there is.
func TestPython(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the tests of the package are run where there are shell scripts")
	}
	list := pythons()
	if len(list) == 0 {
		t.Skip("there is no Python 3.9 or later")
	}
	precision, err := program()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.Abs(filepath.Join(contrib, "python"))
	if err != nil {
		t.Fatal(err)
	}
	for _, python := range list {
		t.Run(filepath.Base(filepath.Dir(filepath.Dir(python)))+"/"+filepath.Base(python), func(t *testing.T) {
			cmd := exec.Command(python, "-m", "unittest", "-q", "tests.test_precision")
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "PYTHONPATH="+dir, "PYTHONDONTWRITEBYTECODE=1", "PRECISION_BINARY="+precision, "LC_ALL=C.UTF-8")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			} else if !strings.Contains(string(out), "\nOK") {
				t.Errorf("no tests ran:\n%s", out)
			}
		})
	}
}
