package main

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// TestGuide walks the guide command by command: every indented line that begins
// with "$ " is run by bash, in order, in a folder with made data, and what it
// prints must be what stands below it. An exit status other than 0 is a line
// "= status". With -update the guide is written anew. Commands that need Python
// are left as they stand where there is none.
func TestGuide(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("there is no bash")
	}
	repo, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	asScript(t, bin)
	for lang, name := range map[string]string{"zh": "docs/zh/guide.md", "en": "docs/guide.md"} {
		t.Run(lang, func(t *testing.T) {
			path := filepath.Join(repo, filepath.FromSlash(name))
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			guideData(t, repo, dir)
			locale := map[string]string{"zh": "zh_CN.UTF-8", "en": "en_US.UTF-8"}[lang]
			got := walk(t, string(want), 20, func(command string) (string, bool) {
				if strings.Contains(command, "python3") {
					if _, err := exec.LookPath("python3"); err != nil {
						return "", false
					}
				}
				cmd := exec.Command(bash, "-c", command+" 2>&1")
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "LC_ALL=", "LC_MESSAGES=", "LANG="+locale, "NO_COLOR=1", "XDG_CONFIG_HOME="+filepath.Join(dir, ".config"), "PYTHONDONTWRITEBYTECODE=1")
				out, err := cmd.CombinedOutput()
				text := strings.ReplaceAll(string(out), dir, "/home/test")
				text = regexp.MustCompile(`(vector_compare/|result_|check_)\d{14}(_\d+)?`).ReplaceAllString(text, "${1}20260101120000")
				text = regexp.MustCompile(`\d{4}(-\d\d){2}T\d\d(:\d\d){2}Z`).ReplaceAllString(text, "2026-01-01T12:00:00Z")
				if text != "" && !strings.HasSuffix(text, "\n") {
					text += "\n"
				}
				if err != nil {
					text += fmt.Sprintf("= %d\n", cmd.ProcessState.ExitCode())
				}
				return text, true
			})
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(want) {
				t.Errorf("%s: a command prints something else; run with -update and look at the difference\n%s", name, unlike(string(want), got))
			}
		})
	}
}

// walk runs the commands of a page, which are some at least, and returns it with what they
// print.
func walk(t *testing.T, text string, least int, run func(command string) (string, bool)) string {
	t.Helper()
	const indent = "    "
	var out strings.Builder
	ran, skipping := 0, false
	for line := range strings.Lines(text) {
		bare := strings.TrimRight(line, "\n")
		if command, ok := strings.CutPrefix(bare, indent+"$ "); ok {
			out.WriteString(line)
			printed, done := run(command)
			if skipping = done; done {
				ran++
				for l := range strings.Lines(printed) {
					out.WriteString(indent + l)
				}
			}
			continue
		}
		if skipping = skipping && strings.HasPrefix(bare, indent); !skipping {
			out.WriteString(line)
		}
	}
	if ran < least {
		t.Errorf("only %d commands", ran)
	}
	return out.String()
}

func unlike(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range w {
		if i >= len(g) || w[i] != g[i] {
			return fmt.Sprintf("line %d\nwant %s\ngot  %s", i+1, w[i], strings.Join(g[min(i, len(g)):min(i+4, len(g))], "\n     "))
		}
	}
	return "there is more at the end"
}

// guideData is what the guide works on: data, configurations and logs of two
// trainings, of which the second goes wrong, and what was recorded of the sample
// network on an NPU, twice, and on a CPU.
func guideData(t *testing.T, repo, dir string) {
	t.Helper()
	files := map[string]string{
		"gpu/config.yaml":  "train:\n  learning_rate: 1e-3\n  batch_size: 32\n  seed: 2022\n  data_dir: /data/gpu/train\nloss_scale: 65536\n",
		"npu/run_train.sh": "#!/bin/bash\nexport JOB_ID=10086\npython3 train.py --lr 0.001 --batch-size 64 --seed 2022 \\\n    --data-dir /data/npu/train --loss_scale 65536\n",
	}
	for i := range 5 {
		text := strings.Repeat(fmt.Sprint(i), 1000)
		files[fmt.Sprintf("gpu/train/part-%05d", i)] = text
		if i == 3 {
			text = text[:999] + "x"
		}
		if i < 4 {
			files[fmt.Sprintf("npu/train/part-%05d", i)] = text
		}
	}
	var gpu, npu strings.Builder
	scale := 65536.0
	for i := 1; i <= 200; i++ {
		// Batches have noise of their own, alike on both sides; rounding is not.
		loss := (0.5 + 4*math.Exp(-float64(i)/40)) * (1 + 0.02*math.Sin(float64(i*i)))
		fmt.Fprintf(&gpu, "step %d, loss %.4f, loss scale 65536, lr 0.001\n", i, loss)
		if loss *= 1 + 0.001*math.Sin(float64(7*i)); i > 120 {
			loss *= 1.3
		}
		if i == 118 || i == 119 || i == 120 {
			scale /= 2
		}
		fmt.Fprintf(&npu, "step %d, loss %.4f, loss scale %g, lr 0.001\n", i, loss, scale)
	}
	files["gpu/train.log"], files["npu/train.log"] = gpu.String(), npu.String()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sample := filepath.Join(repo, "testdata", "sample")
	graph := "ge_proto_00000001_graph_1_Build.txt"
	text, err := os.ReadFile(filepath.Join(sample, graph))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to string }{
		{filepath.Join(sample, "npu"), "precision_data/npu/debug_0/dump"}, {filepath.Join(sample, "npu"), "precision_data/npu/debug_1/dump"},
		{filepath.Join(sample, "golden"), "precision_data/tf/dump"}, {filepath.Join(sample, "golden"), "cpu_1"}, {filepath.Join(sample, "golden"), "cpu_2"},
		{filepath.Join(repo, "testdata", "cases", "ovf_old", "in", "dump"), "precision_data/overflow/dump/20260101120000/0/net/1/0"},
		{filepath.Join(repo, "contrib", "precision_tool"), "precision_tool"},
	} {
		if err := os.CopyFS(filepath.Join(dir, filepath.FromSlash(c.to)), os.DirFS(c.from)); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"debug_0", "debug_1"} {
		path := filepath.Join(dir, "precision_data", "npu", id, "graph", graph)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
