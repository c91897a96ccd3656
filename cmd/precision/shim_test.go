package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestShim runs the lines of the guide that import precision_tool, and its cli.py,
// with the package of contrib: on stand-ins for TensorFlow and npu_device, and the
// program itself.
func TestShim(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("there is no python3")
	}
	fake, err := filepath.Abs("../../repl/capture/testdata/fake")
	if err != nil {
		t.Fatal(err)
	}
	sample, err := filepath.Abs("../../testdata/sample")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "precision_tool"), os.DirFS("../../contrib/precision_tool")); err != nil {
		t.Fatal(err)
	}
	asScript(t, filepath.Join(dir, "precision_tool"))
	t.Chdir(dir)
	play := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(python, args...)
		cmd.Env = append(os.Environ(), "PYTHONPATH="+dir+":"+fake, "PYTHONDONTWRITEBYTECODE=1", "PYTHONIOENCODING=utf-8", "LC_ALL=C.UTF-8", "PATH="+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%v: %v", args, err)
		}
		return string(out)
	}
	out := play("-c", `
import npu_device
import precision_tool.tf_config as npu_tf_config
npu_tf_config.npu_device_dump_config(npu_device, action='overflow')
print(sorted(npu_device.global_options().changed().items()))
npu_device._options = npu_device.fresh()
npu_tf_config.npu_device_dump_config(npu_device, action='dump')
npu_tf_config.npu_device_dump_config(npu_device, action='fusion_off')
print(npu_device.global_options().changed()["dump_config.dump_mode"], npu_device.global_options().fusion_switch_file)
npu_tf_config.npu_device_dump_config(npu_device, action='fusion_switch')
print(npu_device.global_options().fusion_switch_file, npu_tf_config.FUSION_SWITCH_FILE)
import tensorflow as tf
config = npu_tf_config.session_dump_config(tf.compat.v1.ConfigProto(), action='fusion_off|dump')
print(config.plain())
import precision_tool.config as CONFIG
print(CONFIG.TF_DUMP_STEP)
`)
	for _, want := range []string{
		"('dump_config.enable_dump_debug', True)", "('dump_config.dump_debug_mode', 'all')", filepath.Join(dir, "precision_data", "overflow", "dump"),
		"all " + filepath.Join(dir, "precision_data", "fusion", "fusion_off.json"),
		filepath.Join(dir, "precision_tool", "lib", "config", "fusion_switch.cfg"), "'dump_step': '0'", "\n0\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("found no %q in\n%s", want, out)
		}
	}
	for _, c := range []struct{ from, to string }{{"npu", "npu/debug_0/dump"}, {"golden", "tf/dump"}} {
		to := filepath.Join("precision_data", filepath.FromSlash(c.to))
		os.RemoveAll(to)
		if err := os.CopyFS(to, os.DirFS(filepath.Join(sample, c.from))); err != nil {
			t.Fatal(err)
		}
	}
	if out := play("./precision_tool/cli.py", "vector_compare", "-lt", "precision_data/npu/debug_0/dump", "-rt", "precision_data/tf/dump"); !strings.Contains(out, "Verdict") {
		t.Error(out)
	}
	arrays, _ := filepath.Glob("precision_data/tf/dump/*.npy")
	if out := play("./precision_tool/cli.py", "compare", "-n", arrays[0], arrays[0]); !strings.Contains(out, "AllClose") {
		t.Error(out)
	}
	if out := play("./precision_tool/cli.py", "-c", "help"); !strings.Contains(out, "vcs") {
		t.Error(out)
	}
}
