//go:build frameworks

package checkpoint

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestFresh: what the frameworks of the interpreters that PRECISION_FRAMEWORKS names, separated as the entries of PATH are, write now is
// read, too. One without PyTorch or MindSpore counts for the other.
func TestFresh(t *testing.T) {
	interpreters := filepath.SplitList(os.Getenv("PRECISION_FRAMEWORKS"))
	if len(interpreters) == 0 {
		t.Skip("PRECISION_FRAMEWORKS names no interpreter")
	}
	for _, interpreter := range interpreters {
		for module, words := range map[string][]string{"torch": nil, "mindspore": {"mind"}} {
			if exec.Command(interpreter, "-c", "import "+module).Run() != nil {
				continue
			}
			dir := t.TempDir()
			command := exec.Command(interpreter, append([]string{"../../testdata/frameworks/make_torch.py", dir}, words...)...)
			if out, err := command.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", interpreter, err, out)
			}
			files := frameworkFiles[:0:0]
			for _, c := range frameworkFiles {
				if strings.HasPrefix(c.list, "mind") == (module == "mindspore") {
					files = append(files, c)
				}
			}
			inFrameworks(t, filepath.Join(dir, "torch"), files)
			t.Logf("%s: %d kinds of %s", interpreter, len(files), module)
		}
	}
}
