//go:build tensorflow

package capture

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// versions of TensorFlow that the scripts run on, from Python's package index. The
// older ones of the guide need Pythons of their time: PRECISION_TENSORFLOW names
// interpreters that have them, separated as the entries of PATH are.
var versions = []string{"tensorflow-cpu==2.15.1", "tensorflow-cpu==2.21.*"}

// installing is how long a version may take to install: some 300 MB to fetch. Where it takes longer, the test is
// skipped.
const installing = 4 * time.Minute

// TestTensorFlow runs the scripts on TensorFlow itself.
func TestTensorFlow(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) { onTensorFlow(t, installed(t, version)) })
	}
	for _, interpreter := range filepath.SplitList(os.Getenv("PRECISION_TENSORFLOW")) {
		t.Run(strings.ReplaceAll(interpreter, "/", "_"), func(t *testing.T) { onTensorFlow(t, interpreter) })
	}
}

func onTensorFlow(t *testing.T, interpreter string) {
	b := newBench(t)
	script := "test_tensorflow.py"
	major, err := exec.Command(interpreter, "-c", "import tensorflow as tf; print(tf.__version__[0])").Output()
	if err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(string(major)) == "1" {
		script = "test_tensorflow1.py"
	}
	b.withTF = false // no stand-in
	cmd := b.command("testdata/" + script)
	path, err := filepath.Abs("testdata/" + script)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Path, cmd.Args = interpreter, []string{interpreter, "-B", path}
	cmd.Env = append(cmd.Env, "KIT="+b.dir)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "\nOK\n") {
		t.Errorf("%v\n%s", err, out)
	}
}

// installed is a Python with a package, in an environment that is kept for the next
// time. Without the package index, or a Python that the package is for, the test is
// skipped.
func installed(t *testing.T, version string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip(err)
	}
	folder := filepath.Join(cache, "precision", strings.NewReplacer("==", "-", ".*", "").Replace(version))
	interpreter := filepath.Join(folder, "bin", "python")
	if exec.Command(interpreter, "-c", "import tensorflow").Run() == nil {
		return interpreter
	}
	ctx, cancel := context.WithTimeout(context.Background(), installing)
	defer cancel()
	for _, words := range [][]string{{python(t), "-m", "venv", "--clear", folder}, {interpreter, "-m", "pip", "install", "-q", version}} {
		if out, err := exec.CommandContext(ctx, words[0], words[1:]...).CombinedOutput(); err != nil {
			os.RemoveAll(folder)
			t.Skipf("%s cannot be installed: %v\n%s", version, err, out)
		}
	}
	return interpreter
}
