package repl

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"precision/console"
	"precision/internal/plainfile"
	"precision/repl/workspace"
)

// captureConfig is a Config in a new folder, with the machine's Python and the
// stand-in for TensorFlow of package capture. without names packages of it that
// are not there.
func captureConfig(t *testing.T, without ...string) (cfg Config, out *bytes.Buffer) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the programs of these tests are shell scripts")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	dir := filepath.Join(t.TempDir(), "it's a 数据")
	fake := filepath.Join(dir, "fake")
	copyTree(t, filepath.Join(repoDir, "repl", "capture", "testdata", "fake"), fake)
	for _, name := range without {
		if err := os.RemoveAll(filepath.Join(fake, name)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	t.Setenv("PYTHONPATH", fake)
	t.Setenv("PYTHONIOENCODING", "utf-8")
	t.Setenv("FAKE_NOTES", filepath.Join(dir, "notes"))
	out = &bytes.Buffer{}
	put(t, "config/precision.toml", "python = '"+python+"'\n")
	return Config{Stdin: strings.NewReader(""), Stdout: out, Stderr: out, Lang: "en", ConfigDir: filepath.Join(dir, "config")}, out
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// trainable is a checkpoint in the form of the stand-in.
const trainable = `{"nodes": [], "placeholders": [{"name": "x", "shape": [2]}], "collections": {"train_op": ["train"]}}`

const checkpointFile = "precision_data/tf/checkpoints/ckpt.meta"

func runWords(cfg Config, words ...string) int {
	run, _ := Command(words[0])
	return run(context.Background(), cfg, words[1:])
}

func notes(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("notes")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTrainBoth(t *testing.T) {
	cfg, out := captureConfig(t)
	put(t, checkpointFile, trainable)
	if code := runWords(cfg, "train", "-a", "dump|prof"); code != exitOK {
		t.Fatalf("exit status %d\n%s", code, out)
	}
	cpu, npu := strings.Index(out.String(), "one step done on cpu"), strings.Index(out.String(), "one step done on npu")
	if cpu < 0 || npu < cpu || !strings.Contains(out.String(), "vc compares both sides") {
		t.Errorf("expected a step on the CPU, then one on the NPU:\n%s", out)
	}
	if n := len(workspace.Entries("precision_data/tf/dump")); n != 6 {
		t.Errorf("%d golden arrays, want 6", n)
	}
	if text := notes(t); !strings.Contains(text, `"profiling_mode": true`) {
		t.Errorf("the action did not reach the NPU:\n%s", text)
	}
}

func TestTrainWithoutNPU(t *testing.T) {
	cfg, out := captureConfig(t, "npu_bridge", "npu_device")
	put(t, checkpointFile, trainable)
	if code := runWords(cfg, "train"); code != exitNothing {
		t.Errorf("exit status %d", code)
	}
	for _, want := range []string{"one step done on cpu", "neither npu_bridge nor npu_device", "run: python3 precision_data/temp/train/train_npu.py\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not told:\n%s", want, out)
		}
	}
}

// TestTrainFails: the exit status of a script is 1 for errors, 2 for what is
// missing.
func TestTrainFails(t *testing.T) {
	for text, want := range map[string]int{"no JSON": exitError, `{"nodes": []}`: exitNothing} {
		cfg, out := captureConfig(t)
		put(t, checkpointFile, text)
		if code := runWords(cfg, "train", "-d", "npu"); code != want {
			t.Errorf("%s: exit status %d, want %d\n%s", text, code, want, out)
		}
	}
}

func TestTFDumpRuns(t *testing.T) {
	cfg, out := captureConfig(t)
	put(t, "golden train.py", "import sys\nimport precision_capture as c\nassert sys.argv[1] == 'a  b'\nc.sess_dump(c._tensorflow().Session()).run('train')\n")
	if code := runWords(cfg, "kit"); code != exitOK {
		t.Fatalf("exit status %d of kit\n%s", code, out)
	}
	t.Setenv("PYTHONDONTWRITEBYTECODE", "1")
	if code := runWords(cfg, "tf_dump", "python3", "golden train.py", "a  b"); code != exitOK || len(workspace.Entries("precision_data/tf/dump")) != 6 {
		t.Errorf("exit status %d, %d golden arrays\n%s", code, len(workspace.Entries("precision_data/tf/dump")), out)
	}
	if code := runWords(cfg, "tf_dump", "exit 1"); code != exitOK || len(workspace.Entries("precision_data/tf/dump")) != 12 {
		t.Errorf("exit status %d, %d golden arrays the second time\n%s", code, len(workspace.Entries("precision_data/tf/dump")), out)
	}
}

// TestTFDumpCancelled: a script that is cancelled takes the analyzer with it.
func TestTFDumpCancelled(t *testing.T) {
	cfg, out := captureConfig(t)
	put(t, "precision_data/tf/tf_debug/run_1/tensors.json", "[]")
	t.Setenv("FAKE_TFDBG", "hang")
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for range 400 {
			if text, _ := os.ReadFile("notes"); bytes.Contains(text, []byte(`"analyzer"`)) {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		cancel()
	}()
	run, _ := Command("tf_dump")
	if code := run(ctx, cfg, nil); code != exitInterrupted {
		t.Errorf("exit status %d\n%s", code, out)
	}
	m := regexp.MustCompile(`"pid": (\d+)`).FindStringSubmatch(notes(t))
	if m == nil {
		t.Fatalf("the analyzer was not started\n%s", out)
	}
	pid, _ := strconv.Atoi(m[1])
	if p, err := os.FindProcess(pid); err == nil && p.Signal(syscall.Signal(0)) == nil {
		t.Errorf("the analyzer %d still runs", pid)
	}
}

// fakePython writes a program that says the given lines of the probe.
func fakePython(t *testing.T, name, lines string, status string) {
	t.Helper()
	put(t, name, "#!/bin/sh\ncat <<'EOF'\n"+lines+"\nEOF\necho 'last words' >&2\nexit "+status+"\n")
}

// TestFindPython chooses among Python programs, and says what the chosen one
// lacks.
func TestFindPython(t *testing.T) {
	const none, old = "-", "@precision python 2.7.18\n@precision old 1"
	const bare, full = "@precision python 3.8.1\n@precision why No module named 'tensorflow'", "hello\n@precision python 3.7.5\n@precision tensorflow 1.15.0"
	for _, c := range []struct {
		name, python3, python, status, want string
	}{
		{"none", none, none, "0", "no python3 and no python"},
		{"the first", full, none, "0", ""},
		{"the second", none, full, "0", ""},
		{"the second has TensorFlow", bare, full, "0", ""},
		{"without TensorFlow", bare, old, "0", "bin/python3 (Python 3.8.1) has no TensorFlow: No module named 'tensorflow'"},
		{"old", none, old, "0", "is Python 2.7.18"},
		{"not old", old, bare, "0", "bin/python (Python 3.8.1) has no"},
		{"broken", "Segmentation fault", none, "1", "bin/python3 does not run: last words"},
		{"TensorFlow ends it", "@precision python 3.8.1", none, "134", "has no TensorFlow: last words"},
	} {
		t.Run(c.name, func(t *testing.T) { // which puts PATH back
			cfg, out := captureConfig(t)
			if err := os.Remove("config/precision.toml"); err != nil {
				t.Fatal(err)
			}
			for name, lines := range map[string]string{"python3": c.python3, "python": c.python} {
				if lines != none {
					fakePython(t, filepath.Join("bin", name), lines, c.status)
				}
			}
			cat, err := exec.LookPath("cat")
			if err != nil {
				t.Skip("there is no cat")
			}
			dir, _ := filepath.Abs("bin")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(cat, filepath.Join(dir, "cat")); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", dir)
			s := open(cfg)
			p, err := s.findPython(context.Background())
			if ok := err == nil && s.ready(p, false); ok != (c.want == "") || !strings.Contains(out.String(), c.want) {
				t.Errorf("ready is %v, error %v, messages %q; want %q", ok, err, out, c.want)
			}
		})
	}
}

// TestProbeCancelled: a Python program that takes its time does not hold up
// Ctrl-C.
func TestProbeCancelled(t *testing.T) {
	cfg, _ := captureConfig(t)
	put(t, "slow", "#!/bin/sh\nexec sleep 60\n")
	path, _ := filepath.Abs("slow")
	put(t, "config/precision.toml", "python = \""+path+"\"\n")
	put(t, checkpointFile, trainable)
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	run, _ := Command("train")
	start := time.Now()
	if code := run(ctx, cfg, nil); code != exitInterrupted || time.Since(start) > 30*time.Second {
		t.Errorf("exit status %d after %v", code, time.Since(start))
	}
	if !plainfile.IsFolder("precision_data/temp/train") {
		t.Error("the scripts were not written")
	}
}

func TestCompleteCapture(t *testing.T) {
	s := &session{Console: &console.Console{}}
	c := &completer{session: s, words: newVocabulary()}
	for line, want := range map[string][]string{
		"train -d ":              {"all", "cpu", "npu"},
		"train --device n":       {"npu"},
		"train -a fu":            {"fusion_off", "fusion_switch"},
		"train -a dump|prof|fu":  {"dump|prof|fusion_off", "dump|prof|fusion_switch"},
		"kit -t s":               {"stats"},
		"tf":                     {"tf_dump"},
		"npu":                    nil,
		"train -d cpu -":         {"-d", "-a"},
		"kit -i debug_1 --r":     {"--root"},
		"vc ; train --device al": {"all"},
	} {
		var got []string
		for _, f := range c.complete(line) {
			got = append(got, f.Text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestCaptureSettings(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, workspace.SettingsFile)
	text := "python = \"/opt/py/bin/python3\"\ndump_step = 3\nseed = 7\nop_debug_level = 9\ndump_ge_graph = 1\ndump_graph_level = 1\nprompt_timeout = 0\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := workspace.Defaults()
	w, err := s.Load(file, file)
	if err != nil || len(w) != 2 || !strings.Contains(w[0].Error(), ":4: op_debug_level") || !strings.Contains(w[1].Error(), ":7: prompt_timeout") {
		t.Errorf("warnings %v, error %v", w, err)
	}
	c := s.Capture
	if s.Python != "/opt/py/bin/python3" || c.Step != "3" || c.Seed != 7 || c.OpDebugLevel != 4 || c.GEGraph != 1 || c.GraphLevel != 1 ||
		c.Timeout != 360*time.Second || c.Root != "" {
		t.Errorf("settings %+v", s)
	}
	if err := os.WriteFile(file, []byte("dump_step = \"0|5-7\"\nprompt_timeout = 20\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if w, err := s.Load(file, file); err != nil || len(w) > 0 || s.Capture.Step != "0|5-7" || s.Capture.Timeout != 20*time.Second {
		t.Errorf("settings %+v, %v, %v", s.Capture, w, err)
	}
}

// TestTrainImportsNothingOfTheData: a file in the current folder, in the data folder or
// next to the scripts does not stand in for a library, whatever PYTHONPATH says.
func TestTrainImportsNothingOfTheData(t *testing.T) {
	cfg, out := captureConfig(t)
	fake := os.Getenv("PYTHONPATH")
	put(t, checkpointFile, trainable)
	const trap = "raise SystemExit('imported ' + __file__)\n"
	for _, dir := range []string{".", "precision_data", "precision_data/temp/train"} {
		for _, name := range []string{"tensorflow", "numpy", "queue", "json", "importlib", "runpy"} {
			put(t, dir+"/"+name+".py", trap)
		}
	}
	t.Setenv("PYTHONPATH", fake+string(os.PathListSeparator)) // the empty part is the current folder
	if code := runWords(cfg, "train"); code != exitOK || strings.Contains(out.String(), "imported") {
		t.Errorf("train: exit status %d\n%s", code, out)
	}
	out.Reset()
	if code := runWords(cfg, "tf_dump"); code != exitOK && code != exitNothing || strings.Contains(out.String(), "imported") {
		t.Errorf("tf_dump: exit status %d\n%s", code, out)
	}
}
