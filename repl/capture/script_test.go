package capture

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// odd is a folder name that scripts must get across.
const odd = `it's a "b" 数据 $x`

// python is the machine's Python 3; tests without it are skipped.
func python(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("folders of these tests have names that Windows does not take")
	}
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	return path
}

// bench is a folder with the scripts for a data folder beside it.
type bench struct {
	t      *testing.T
	python string
	dir    string // of the scripts
	root   string // data folder
	notes  string
	env    []string
	withTF bool
}

func newBench(t *testing.T) *bench {
	b := &bench{t: t, python: python(t), withTF: true}
	parent := filepath.Join(t.TempDir(), odd)
	b.dir, b.root, b.notes = filepath.Join(parent, "scripts"), filepath.Join(parent, "precision_data"), filepath.Join(parent, "notes")
	b.write(Defaults(b.root), "dump|fusion_off")
	return b
}

func (b *bench) write(o Options, action string) {
	b.t.Helper()
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		b.t.Fatal(err)
	}
	put := func(name string, text []byte, err error) {
		b.t.Helper()
		if err == nil {
			err = os.WriteFile(filepath.Join(b.dir, name), text, 0o600)
		}
		if err != nil {
			b.t.Fatal(err)
		}
	}
	text, err := Script(KitFile, o)
	put(KitFile, text, err)
	text, err = Script(TFDumpFile, o)
	put(TFDumpFile, text, err)
	text, err = Script(GoldenFile, o)
	put(GoldenFile, text, err)
	for _, d := range Devices {
		text, err = Train(o, d, action)
		put(TrainFile(d), text, err)
	}
}

func (b *bench) command(args ...string) *exec.Cmd {
	b.t.Helper()
	fake, err := filepath.Abs("testdata/fake")
	if err != nil {
		b.t.Fatal(err)
	}
	path := b.dir
	if b.withTF {
		path += ":" + fake
	}
	if file, ok := strings.CutPrefix(args[0], "testdata/"); ok {
		args[0] = filepath.Join(filepath.Dir(fake), file)
	}
	cmd := exec.Command(b.python, append([]string{"-B"}, args...)...)
	cmd.Dir = filepath.Dir(b.dir) // not the folder of the unfilled scripts
	cmd.Env = append(os.Environ(), "PYTHONPATH="+path, "PYTHONDONTWRITEBYTECODE=1", "PYTHONIOENCODING=utf-8", "DATA="+b.root, "FAKE_NOTES="+b.notes)
	cmd.Env = append(cmd.Env, b.env...)
	return cmd
}

// run runs Python and returns its output and exit status.
func (b *bench) run(args ...string) (string, int) {
	b.t.Helper()
	cmd := b.command(args...)
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		b.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func (b *bench) script(name string) string { return filepath.Join(b.dir, name) }

// noted are the notes of the stand-in for TensorFlow, of a kind.
func (b *bench) noted(what string) (found []map[string]any) {
	b.t.Helper()
	text, err := os.ReadFile(b.notes)
	if err != nil {
		b.t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var n map[string]any
		if err := json.Unmarshal(line, &n); err != nil {
			b.t.Fatal(err)
		}
		if n["what"] == what {
			found = append(found, n)
		}
	}
	return found
}

// data writes a file of the data folder.
func (b *bench) data(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) names(dir string) (names []string) {
	list, _ := os.ReadDir(filepath.Join(b.root, filepath.FromSlash(dir)))
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// TestKitScript runs the Python tests of the kit, as version 1 and version 2 of
// TensorFlow.
func TestKitScript(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"1", "2"} {
		t.Run("TensorFlow "+version, func(t *testing.T) {
			b := newBench(t)
			b.env = []string{"FAKE_TF=" + version}
			if out, code := b.run("testdata/test_kit.py"); code != 0 || !strings.Contains(out, "\nOK\n") {
				t.Errorf("exit status %d\n%s", code, out)
			}
		})
	}
}

// TestImportAlone imports the kit without TensorFlow, as one does by mistake.
func TestImportAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.withTF = false
	for _, name := range []string{KitFile, TFDumpFile, TrainFile("cpu"), TrainFile("npu")} {
		if out, code := b.run("-m", "py_compile", b.script(name)); code != 0 {
			t.Errorf("%s: %s", name, out)
		}
	}
	out, code := b.run("-c", `
import sys
sys.modules["tensorflow"] = None
import precision_capture as c
print(c.ROOT)
print(c.FUSION_OFF_FILE)
print(c.FUSION_SWITCH_FILE)
`)
	if code != 0 || !strings.Contains(out, "TensorFlow: no seed") {
		t.Fatalf("exit status %d\n%s", code, out)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if got := lines[len(lines)-3]; got != b.root {
		t.Errorf("the data folder is %q, want %q", got, b.root)
	}
	for _, file := range lines[len(lines)-2:] {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if out, code := b.run("testdata/test_tf_dump.py"); code != 0 || !strings.Contains(out, "\nOK\n") {
		t.Errorf("exit status %d\n%s", code, out)
	}
}

// meta is a checkpoint in the form of the stand-in.
const meta = `{"nodes": [
  {"name": "net/dropout/rate", "op": "Const", "value": 0.5, "shape": []},
  {"name": "dropout_1/dropout/rate", "op": "Const", "dtype": "float16", "value": 0.1, "shape": [1]},
  {"name": "dropout/rate_shape", "op": "Const", "dtype": "int32", "value": 7, "shape": [2]},
  {"name": "dropout/keep", "op": "Const", "value": 0.25},
  {"name": "learning_rate", "op": "Const", "value": 0.125},
  {"name": "dropout/rate/read", "op": "Identity", "value": 0.75}],
 "functions": [[{"name": "f/dropout/rate", "op": "Const", "value": 0.3}]],
 "placeholders": [{"name": "net/x", "shape": [null, 2]}, {"name": "labels", "dtype": "int64", "shape": [3]}, {"name": "flag", "dtype": "bool"}],
 "collections": {"train_op": ["train"], "local_variables": ["counter"]}}`

// goldens are the arrays that the stand-in's debugger leaves, without times.
var goldens = []string{"layer_fc.0", "split.0", "split.1", "w.0", "while_add.0", "while_add.0"}

func (b *bench) goldens(run string) (names []string) {
	form := regexp.MustCompile(`^(.*)\.[0-9]{16}\.npy$`)
	for _, name := range b.names("tf/dump/" + run) {
		m := form.FindStringSubmatch(name)
		if m == nil {
			b.t.Errorf("golden array %s", name)
			continue
		}
		names = append(names, m[1])
	}
	return names
}

func TestTrainCPU(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"1", "2"} {
		b := newBench(t)
		b.env = []string{"FAKE_TF=" + version}
		b.data("tf/checkpoints/ckpt.meta", meta)
		b.data("tf/checkpoints/older.meta", "{}")
		b.data("tf/checkpoints/checkpoint", "ckpt")
		// The value kept of the training, written as the session wrapper does.
		if out, code := b.run("-c", "import precision_capture as c, numpy as np\nc._make_folder(c.INPUTS)\nnp.save(c.input_file('net/x:0'), np.asarray([5.0, 6.0]), allow_pickle=False)"); code != 0 {
			t.Fatal(out)
		}
		out, code := b.run(b.script(TrainFile("cpu")))
		if code != 0 {
			t.Fatalf("exit status %d\n%s", code, out)
		}
		constants := b.noted("import_meta_graph")[0]["constants"].(map[string]any)
		want := map[string]string{"net/dropout/rate": "[0,[]]", "dropout_1/dropout/rate": "[0,[1]]", "dropout/rate_shape": "[7,[2]]",
			"dropout/keep": "[0.25,[]]", "learning_rate": "[0.125,[]]", "f/dropout/rate": "[0,[]]"}
		if len(constants) != len(want) {
			t.Errorf("constants %v", constants)
		}
		for name, value := range want {
			if got, _ := json.Marshal(constants[name]); string(got) != value {
				t.Errorf("%s is %s, want %s", name, got, value)
			}
		}
		if n := b.noted("graph seed"); len(n) != 1 || n[0]["seed"] != 2022.0 {
			t.Errorf("seeds of the graph: %v", n)
		}
		if n := b.noted("restore"); len(n) != 1 || n[0]["path"] != filepath.Join(b.root, "tf", "checkpoints", "ckpt") {
			t.Errorf("restored: %v", n)
		}
		runs := b.noted("run")
		if len(runs) != 2 || runs[0]["fetches"] != "init local variables" {
			t.Fatalf("runs: %v", runs)
		}
		feed := runs[1]["feed"].(map[string]any)
		if len(feed) != 3 {
			t.Errorf("fed: %v", feed)
		}
		kept := feed["net/x:0"].(map[string]any)
		if got, _ := json.Marshal(kept["values"]); string(got) != "[5,6]" {
			t.Errorf("net/x:0 is fed %s, want the values kept", got)
		}
		labels := feed["labels:0"].(map[string]any)
		if labels["dtype"] != "int64" || len(labels["values"].([]any)) != 3 {
			t.Errorf("labels:0 is fed %v", labels)
		}
		if !strings.Contains(out, "labels_0.npy is not there") {
			t.Errorf("made-up values are not told:\n%s", out)
		}
		if n := b.noted("recorded"); len(n) != 1 {
			t.Errorf("%d runs were recorded, want the step alone", len(n))
		}
		if got := b.goldens(""); !slices.Equal(got, goldens) {
			t.Errorf("golden arrays %q, want %q", got, goldens)
		}
		if eager := len(b.noted("disable_eager_execution")); (version == "2") != (eager == 1) {
			t.Errorf("TensorFlow %s: eager execution was turned off %d times", version, eager)
		}
		if names := b.names("temp"); !slices.Equal(names, []string{"tf_dump.log", "tf_tensor_names.txt"}) {
			t.Errorf("temp holds %v", names)
		}
	}
}

func TestTrainNPU(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.data("tf/checkpoints/moved.meta", meta) // there is no list of checkpoints
	out, code := b.run(b.script(TrainFile("npu")))
	if code != 0 {
		t.Fatalf("exit status %d\n%s", code, out)
	}
	config := b.noted("session")[0]["config"].(map[string]any)
	ops := config["ops"].([]any)
	if config["remapping"] != 2.0 || len(ops) != 1 {
		t.Fatalf("configuration %v", config)
	}
	op := ops[0].(map[string]any)
	for name, want := range map[string]any{"use_off_line": true, "enable_dump": true, "dump_mode": "all", "dump_path": filepath.Join(b.root, "npu", "debug_0", "dump"),
		"fusion_switch_file": filepath.Join(b.root, "fusion", "fusion_off.json")} {
		if op[name] != want {
			t.Errorf("%s is %v, want %v", name, op[name], want)
		}
	}
	if len(b.noted("recorded")) != 0 || len(b.names("tf/dump")) != 0 {
		t.Error("the debugger ran on the NPU")
	}
	if n := b.noted("restore"); len(n) != 1 || filepath.Base(n[0]["path"].(string)) != "moved" {
		t.Errorf("restored: %v", n)
	}
}

// TestSameNumbers: both devices get the same made-up values.
func TestSameNumbers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.data("tf/checkpoints/ckpt.meta", meta)
	for _, d := range Devices {
		if out, code := b.run(b.script(TrainFile(d))); code != 0 {
			t.Fatalf("%s: exit status %d\n%s", d, code, out)
		}
	}
	var feeds []string
	for _, run := range b.noted("run") {
		if feed, _ := json.Marshal(run["feed"]); string(feed) != "{}" {
			feeds = append(feeds, string(feed))
		}
	}
	if len(feeds) != 2 || feeds[0] != feeds[1] || !strings.Contains(feeds[0], `"shape":[1,2]`) {
		t.Errorf("fed: %q", feeds)
	}
}

// TestTrainMissing: what is missing is named, with exit status 2.
func TestTrainMissing(t *testing.T) {
	t.Parallel()
	noTF := "import sys; sys.modules['tensorflow'] = None; import runpy; runpy.run_path(sys.argv[1], run_name='__main__')"
	noNPU := "import sys; sys.modules['npu_bridge'] = sys.modules['npu_device'] = None; import runpy; runpy.run_path(sys.argv[1], run_name='__main__')"
	for _, c := range []struct {
		name, meta, device, start, says string
	}{
		{"no checkpoint", "", "cpu", "", "no checkpoint with a .meta file"},
		{"no TensorFlow", meta, "cpu", noTF, "install TensorFlow"},
		{"no NPU", meta, "npu", noNPU, "neither npu_bridge nor npu_device"},
		{"no train_op", `{"nodes": []}`, "cpu", "", "collection train_op"},
		{"texts", `{"nodes": [], "placeholders": [{"name": "x", "dtype": "string"}], "collections": {"train_op": ["t"]}}`, "cpu", "", "x:0 takes values of type string"},
	} {
		b := newBench(t)
		if c.meta != "" {
			b.data("tf/checkpoints/ckpt.meta", c.meta)
		}
		args := []string{b.script(TrainFile(c.device))}
		if c.start != "" {
			args = append([]string{"-c", c.start}, args...)
		}
		if out, code := b.run(args...); code != 2 || !strings.Contains(out, c.says) || strings.Contains(out, "Traceback") {
			t.Errorf("%s: exit status %d\n%s", c.name, code, out)
		}
	}
}

// TestNPUDevice: TensorFlow 2 trains through npu_device.
func TestNPUDevice(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.data("tf/checkpoints/ckpt.meta", meta)
	start := "import sys; sys.modules['npu_bridge'] = None; import runpy; runpy.run_path(sys.argv[1], run_name='__main__')"
	if out, code := b.run("-c", start, b.script(TrainFile("npu"))); code != 0 || len(b.noted("enable_v1")) != 1 {
		t.Errorf("exit status %d\n%s", code, out)
	}
}

const tensors = `[["Const", "a/b:0"], ["Const", "a/b:0"], ["MatMul", "fc:0"]]`

func TestTFDump(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.data("tf/tf_debug/run_2/tensors.json", tensors)
	b.data("tf/tf_debug/step_1/tensors.json", `[["MatMul", "fc:0"], ["Const", "`+strings.Repeat("x", 250)+`:0"]]`)
	b.data("tf/tf_debug/file", "")
	out, code := b.run(b.script(TFDumpFile))
	if code != 0 {
		t.Fatalf("exit status %d\n%s", code, out)
	}
	if got := b.goldens("1"); !slices.Equal(got, []string{"fc.0"}) {
		t.Errorf("golden arrays of step 1: %q", got)
	}
	if got := b.goldens("run_2"); !slices.Equal(got, []string{"a_b.0", "a_b.0", "fc.0"}) {
		t.Errorf("golden arrays of run_2: %q", got)
	}
	if !strings.Contains(out, "the name is too long") {
		t.Errorf("the long name is not told:\n%s", out)
	}
	var order []string
	for _, n := range b.noted("analyzer") {
		order = append(order, filepath.Base(n["folder"].(string)))
	}
	if !slices.Equal(order, []string{"run_2", "step_1"}) {
		t.Errorf("runs were read in the order %v", order)
	}
	log, err := os.ReadFile(filepath.Join(b.root, "temp", "tf_dump.log"))
	if err != nil || !strings.Contains(string(log), "pt a/b:0 -n 1 -w tf/dump/run_2/a_b.0.") {
		t.Errorf("the log has no command, or %v", err)
	}
	b.env = []string{EnvData + "=" + t.TempDir()}
	if out, code := b.run(b.script(TFDumpFile)); code != 2 || !strings.Contains(out, "holds no runs") {
		t.Errorf("without runs: exit status %d\n%s", code, out)
	}
}

// TestTFDumpTrouble: an analyzer that hangs or ends is an error of that run.
func TestTFDumpTrouble(t *testing.T) {
	t.Parallel()
	for how, says := range map[string]string{"hang": "no prompt within 3 s", "die": "ended with status 3"} {
		b := newBench(t)
		if how == "hang" { // the other has all the time that a busy machine needs to start it
			o := Defaults(b.root)
			o.Timeout = 3 * time.Second
			b.write(o, "dump")
		}
		b.data("tf/tf_debug/run_1/tensors.json", tensors)
		b.env = []string{"FAKE_TFDBG=" + how}
		if out, code := b.run(b.script(TFDumpFile)); code != 1 || !strings.Contains(out, says) || strings.Contains(out, "Traceback") {
			t.Errorf("%s: exit status %d\n%s", how, code, out)
		}
		b.gone()
	}
}

// gone checks that no analyzer is left.
func (b *bench) gone() {
	b.t.Helper()
	for _, n := range b.noted("analyzer") {
		p, err := os.FindProcess(int(n["pid"].(float64)))
		if err == nil && p.Signal(syscall.Signal(0)) == nil {
			b.t.Errorf("the analyzer %v still runs", n["pid"])
		}
	}
}

// TestTFDumpInterrupted: Ctrl-C ends the script and the analyzer.
func TestTFDumpInterrupted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.data("tf/tf_debug/run_1/tensors.json", tensors)
	b.env = []string{"FAKE_TFDBG=hang"}
	cmd := b.command(b.script(TFDumpFile))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 200 { // until the analyzer runs
		if text, _ := os.ReadFile(b.notes); bytes.Contains(text, []byte(`"analyzer"`)) {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	cmd.Process.Signal(os.Interrupt)
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit status %d, want 130", code)
	}
	b.gone()
}
