package repl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"precision/internal/must"
	"precision/repl/capture"
)

// python is a Python program, with what capture scripts need of it.
type python struct {
	path    string
	version string
	// old: it is too old for the scripts.
	old bool
	// tensorflow is its version, empty if it cannot be imported, which why says.
	tensorflow, why string
	// npu: it has npu_bridge or npu_device.
	npu bool
}

// probeTime bounds the probe of a Python program: importing TensorFlow from a
// slow disk takes a minute.
const probeTime = 3 * time.Minute

// probeScript is understood by every version of Python. Its lines have a mark
// of their own, as libraries print what they like.
const probeScript = `
import sys
sys.path[:] = [p for p in sys.path if p] # not from the current folder
def tell(what, text):
    sys.stdout.write("\n@precision " + what + " " + " ".join(str(text).split()) + "\n")
tell("python", ".".join(str(n) for n in sys.version_info[:3]))
if sys.version_info < (3, 6):
    tell("old", 1)
    sys.exit(0)
try:
    import tensorflow
    tell("tensorflow", tensorflow.__version__)
except Exception as e:
    tell("why", e)
import importlib.util
for name in ("npu_bridge", "npu_device"):
    if importlib.util.find_spec(name):
        tell("npu", name)
`

// findPython looks for a Python program: that of the settings, or python3, or
// python; the first that has TensorFlow, else the first. nil without any.
func (s *session) findPython(ctx context.Context) (first *python, err error) {
	names := []string{"python3", "python"}
	if s.set.Python != "" {
		names = []string{s.set.Python}
	}
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		p, err := probePython(ctx, path)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			s.Warn("python.broken", path, err)
			continue
		}
		if p.tensorflow != "" {
			return p, nil
		}
		if first == nil || first.old {
			first = p
		}
	}
	return first, nil
}

// probePython asks a Python program what it has.
func probePython(ctx context.Context, path string) (*python, error) {
	limited, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	cmd := exec.CommandContext(limited, path, "-c", probeScript)
	cmd.WaitDelay = time.Second
	cmd.Env = append(os.Environ(), pythonPath()...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	p := &python{path: path}
	for line := range strings.Lines(string(out)) {
		line, ok := strings.CutPrefix(strings.TrimSpace(line), "@precision ")
		if !ok {
			continue
		}
		what, text, _ := strings.Cut(line, " ")
		switch what {
		case "python":
			p.version = text
		case "old":
			p.old = true
		case "tensorflow":
			p.tensorflow = text
		case "why":
			p.why = text
		case "npu":
			p.npu = true
		}
	}
	switch {
	case limited.Err() != nil && p.version != "":
		// It runs, but does not get through with importing.
		p.tensorflow, p.why = "", fmt.Sprintf("import tensorflow took more than %v", probeTime)
		return p, nil
	case limited.Err() != nil:
		return nil, limited.Err()
	case p.version != "" && (p.old || p.tensorflow != "" || p.why != ""):
		return p, nil
	case p.version != "": // importing TensorFlow ended the program
		p.why = lastLine(errs.String(), err)
		return p, nil
	}
	return nil, errors.New(lastLine(errs.String(), err))
}

// pythonPath sets PYTHONPATH without the current folder, which empty and relative
// parts stand for: scripts that set it up often leave an empty one at its end.
func pythonPath() []string {
	value, ok := os.LookupEnv("PYTHONPATH")
	if !ok {
		return nil
	}
	parts := slices.DeleteFunc(filepath.SplitList(value), func(p string) bool { return !filepath.IsAbs(p) })
	return []string{"PYTHONPATH=" + strings.Join(parts, string(filepath.ListSeparator))}
}

// lastLine is the last line of what a program said, or else its error.
func lastLine(text string, err error) string {
	if lines := strings.Split(strings.TrimSpace(text), "\n"); lines[len(lines)-1] != "" {
		return strings.TrimSpace(lines[len(lines)-1])
	}
	return fmt.Sprint(err)
}

// ready tells what a Python program lacks to run a script, and reports whether
// nothing does.
func (s *session) ready(p *python, npu bool) bool {
	switch {
	case p == nil && s.set.Python != "":
		s.Fail("python.noset", s.set.Python)
	case p == nil:
		s.Fail("python.none")
	case p.old:
		s.Fail("python.old", p.path, p.version)
	case p.tensorflow == "":
		s.Fail("python.notf", p.path, p.version, p.why)
	case npu && !p.npu:
		s.Fail("python.nonpu", p.path)
	default:
		return true
	}
	return false
}

// runScript runs a capture script on the data folder and returns an exit
// status: 2 when the script found something missing, 1 for other errors.
func (s *session) runScript(ctx context.Context, p *python, script string) int {
	root := must.Get(absolute(s.data.Root))
	s.Say("python.run", script, p.path, p.version, p.tensorflow)
	env := append(pythonPath(), capture.EnvData+"="+root, "PYTHONDONTWRITEBYTECODE=1")
	code := s.child(ctx, env, p.path, script)
	switch {
	case ctx.Err() != nil:
		return exitInterrupted
	case code == exitOK || code == exitNothing || code == exitInterrupted:
		return code
	}
	return exitError
}
