package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"precision/testdata/workshop/jobtest"
)

// TestCommandsOfPages runs the commands of the manual beside the guide and the shell, whose own
// tests run theirs. Pages name files like FOLDER or GRAPH, and such files are there: the
// commands run as they stand, once without and once with the options in brackets.
func TestCommandsOfPages(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("there is no bash")
	}
	pythonPackage, err := filepath.Abs(filepath.Join("..", "..", "contrib", "python"))
	if err != nil {
		t.Fatal(err)
	}
	data, ran := pagesData(t), 0
	for _, page := range pages(t) {
		t.Run(filepath.ToSlash(page), func(t *testing.T) {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			locale := "en_US.UTF-8"
			if filepath.Base(filepath.Dir(page)) == "zh" {
				locale = "zh_CN.UTF-8"
			}
			var dir, bin string
			for command, want := range shown(string(text)) {
				command = words.Replace(command)
				if strings.Contains(page, "jobs") {
					command = strings.ReplaceAll(command, "-g GRAPH ", "-g GRAPHS ")
				}
				if shard := regexp.MustCompile(`^(.*) -shard 1/4 (.*)/1$`).FindStringSubmatch(command); shard != nil {
					for i := 2; i <= 4; i++ {
						command += fmt.Sprintf(" && %s -shard %d/4 %s/%d", shard[1], i, shard[2], i)
					}
				}
				if dir == "" {
					dir, bin = t.TempDir(), t.TempDir()
					asScript(t, bin)
					if err := os.CopyFS(dir, os.DirFS(data)); err != nil {
						t.Fatal(err)
					}
				}
				ran++
				cmd := exec.CommandContext(t.Context(), bash, "-c", command)
				cmd.Dir, cmd.WaitDelay = dir, time.Second
				cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "LC_ALL=", "LC_MESSAGES=", "LANG="+locale, "NO_COLOR=1", "XDG_CONFIG_HOME="+dir)
				out, err := cmd.CombinedOutput()
				shows := slices.ContainsFunc(want, func(line string) bool { return errorLine.MatchString(line) })
				if code := cmd.ProcessState.ExitCode(); code != exitOK && !(code == exitError && shows) && !(code == exitBelow && strings.Contains(command, "-gate")) {
					t.Errorf("%s: %v\n%s", command, err, out)
				}
				for _, line := range want {
					if !strings.Contains(string(out), line) {
						t.Errorf("%s: no %q in\n%s", command, line, out)
					}
				}
			}
			for _, script := range regexp.MustCompile("(?s)```(sh|python)\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
				program, needs := []string{bash, "-ec", script[2]}, strings.Fields(script[2])[0]
				if script[1] == "python" {
					program, needs = []string{"python3", "-c", script[2]}, "python3"
				}
				if _, err := exec.LookPath(needs); err != nil {
					continue
				}
				cmd := exec.CommandContext(t.Context(), program[0], program[1:]...)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "PYTHONPATH="+pythonPackage, "PYTHONDONTWRITEBYTECODE=1", "PRECISION_BINARY="+filepath.Join(bin, "precision"))
				// The last line of those for jq is a gate, and the sample does not pass.
				if out, err := cmd.CombinedOutput(); err != nil && !(needs == "jq" && strings.HasSuffix(string(out), "false\n")) {
					t.Errorf("%s: %v\n%s", script[2], err, out)
				}
			}
			for _, span := range regexp.MustCompile("`precision ([a-z_]+)([^`]*)`").FindAllStringSubmatch(string(text), -1) {
				code, help, _ := precision(t, span[1], "-h", "all")
				if code != exitOK {
					t.Errorf("%s: there is no such command", span[0])
				}
				for _, option := range regexp.MustCompile(`(?:^| )-([a-z]\w*)`).FindAllStringSubmatch(span[2], -1) {
					if !regexp.MustCompile(`(?m)(^|[ ,])--?` + option[1] + `\b`).MatchString(help) {
						t.Errorf("%s: there is no option -%s", span[0], option[1])
					}
				}
			}
		})
	}
	if ran < 30 {
		t.Errorf("only %d commands", ran)
	}
}

// pages are the README and the pages of the manual, in both languages.
func pages(t *testing.T) []string {
	t.Helper()
	var list []string
	for _, pattern := range []string{"README*.md", "docs/*.md", "docs/zh/*.md"} {
		found, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(pattern)))
		if err != nil || found == nil {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, page := range found {
			if name := filepath.Base(page); name != "guide.md" && name != "shell.md" && !strings.HasPrefix(name, "README") {
				list = append(list, page)
			}
		}
	}
	return list
}

// words are the names of the Chinese pages, and what stands for no file.
var words = strings.NewReplacer("NPU目录", "NPU_DIR", "标杆目录", "GOLDEN_DIR", "录制目录", "RECORDING", "采集目录", "RECORDING", "输出目录", "OUT_DIR", "-g 图文件", "-g GRAPH", "-g 图", "-g GRAPH",
	"作业DUMP", "JOB_DUMP", "作业标杆", "JOB_GOLDEN", "manifest 目录", "manifest FOLDER", "merge 目录 ", "merge DIR/1 DIR/2 ", "merge DIR ", "merge DIR/1 DIR/2 ", "mcp 目录", "mcp DIR",
	"结果.json", "TABLE.json", "-journal 文件", "-journal JOURNAL", "-journal FILE", "-journal JOURNAL", "文件", "FILE", "-workers 个数", "-workers 2", "-workers N", "-workers 2",
	"precision graph 文件", "precision graph GRAPH", "precision graph FILE", "precision graph GRAPH", "why 算子", "why block2/conv", "why OP", "why block2/conv", "why 调用", "why Torch.matmul.0.forward", "why CALL", "why Torch.matmul.0.forward",
	" 选项", "", " options", "")

var (
	// An error that a page shows begins with the command's name.
	errorLine = regexp.MustCompile(`^precision [a-z_]+: `)
	optional  = regexp.MustCompile(`\[([^\[\]]*)\]`)
	// A remark stands behind a command, after # or some spaces.
	remark = regexp.MustCompile(`\s+#.*|\s{3,}.*`)
	either = regexp.MustCompile(`(\S+?)\|\S+`)
)

// shown yields the commands of a page in order, with the lines that stand below a command
// after "$ ". A page that opens in a browser is not shown, nor what needs a terminal.
func shown(page string) func(yield func(string, []string) bool) {
	return func(yield func(string, []string) bool) {
		lines := strings.Split(page, "\n")
		for i, line := range lines {
			command, ok := strings.CutPrefix(line, "    ")
			if !ok {
				continue
			}
			command, dollar := strings.CutPrefix(command, "$ ")
			if errorLine.MatchString(command) || !strings.HasPrefix(command, "precision ") || strings.HasPrefix(command, "precision view") || strings.HasPrefix(command, "precision browse") {
				continue
			}
			command = remark.ReplaceAllString(command, "")
			command = strings.NewReplacer("...", "", "…", "*").Replace(command)
			var want []string
			for _, below := range lines[i+1:] {
				text, ok := strings.CutPrefix(below, "    ")
				if !ok || !dollar || strings.HasPrefix(text, "$ ") {
					break
				}
				if text = strings.TrimRight(text, " "); text != "…" {
					want = append(want, text)
				}
			}
			bare := optional.ReplaceAllString(command, "")
			full := either.ReplaceAllString(optional.ReplaceAllString(command, "$1"), "$1")
			for _, c := range []string{bare, full} {
				if c == full && full == bare {
					break
				}
				if !yield(c, want) {
					return
				}
			}
			if bare == full && !yield(bare, want) {
				return
			}
		}
	}
}

// pagesData makes the files that the pages name, in a folder.
func pagesData(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	repo := filepath.Join("..", "..")
	sample, example := filepath.Join(repo, "testdata", "sample"), filepath.Join(repo, "examples", "msprobe-recording")
	copyTo := func(to, from string) {
		t.Helper()
		if err := os.CopyFS(at(to), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	write := func(to string, text []byte) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(at(to)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(to), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(sample, "ge_proto_00000001_graph_1_Build.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"GRAPH", "RUN/graph.txt"} {
		write(to, text)
	}
	copyTo("testdata/sample", sample)
	write("README.md", []byte("# precision\n\nThe tool that …\n"))
	for _, to := range []string{"NPU_DIR", "RUN/npu", "FOLDER"} {
		copyTo(to, filepath.Join(sample, "npu"))
	}
	for _, to := range []string{"GOLDEN_DIR", "RUN/golden"} {
		copyTo(to, filepath.Join(sample, "golden"))
	}
	copyTo("examples/rollout", filepath.Join(repo, "examples", "rollout"))
	copyTo("NPU_DUMP", filepath.Join(example, "npu"))
	copyTo("GPU_DUMP", filepath.Join(example, "gpu"))
	copyTo("precision_next/npu", filepath.Join(example, "npu"))
	copyTo("precision_next/golden", filepath.Join(example, "gpu"))
	tensors := recordTensors(t, 0.5)
	copyTo("RECORDING", tensors)
	copyTo("DUMP", tensors)
	if err := (jobtest.Job{Ranks: 4, Steps: 1, Size: 16}).Write(at("JOB_DUMP")); err != nil {
		t.Fatal(err)
	}
	for to, from := range map[string]string{"JOB": "npu", "JOB_GOLDEN": "golden", "GOLDEN": "golden"} {
		copyTo(to, at("JOB_DUMP/"+from))
	}
	graph, err := os.ReadFile(at("JOB_DUMP/ge_proto_00000001_graph_1_Build.txt"))
	if err != nil {
		t.Fatal(err)
	}
	write("GRAPHS/ge_proto_00000001_graph_1_Build.txt", graph)
	write("strict.toml", profileOf(t))
	write("MONITOR/Nov23_01-37-49-rank0-64d73062/actv_0-3.csv", []byte("name,step,norm,nans\nlayer,0,1,0\nlayer,1,1.5,0\nlayer,2,1,0\nlayer,3,nan,2\n"))
	made := func(args ...string) {
		t.Helper()
		if code, _, stderr := precision(t, args...); code != exitOK {
			t.Fatalf("%v: exit %d: %s", args, code, stderr)
		}
	}
	for to, out := range map[string]string{"TABLE.json": "result", "verdict.json": "new", "old.json": "old"} {
		made("compare", "-lt", at("NPU_DIR"), "-rt", at("GOLDEN_DIR"), "-g", at("GRAPH"), "-out", at(out), "-json", at(to))
	}
	for _, part := range []string{"1", "2"} {
		made("compare", "-lt", at("JOB"), "-rt", at("GOLDEN"), "-g", at("GRAPHS"), "-all", "-shard", part+"/2", "-out", at("DIR/"+part))
	}
	return dir
}

// profileOf is the profile that the page on verdicts shows.
func profileOf(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "verdict.md"))
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```toml\n(.*?)```").FindSubmatch(text)
	if block == nil {
		t.Fatal("docs/verdict.md shows no profile")
	}
	return block[1]
}
