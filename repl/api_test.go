package repl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"precision/console"
	"precision/repl/workspace"
)

// repoDir is the root of the module, from before tests change their folder.
var repoDir, _ = filepath.Abs("..")

// sampleConfig is a Config in a new folder with the sample data.
func sampleConfig(t testing.TB) (cfg Config, out, errs *bytes.Buffer) {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	layOut(t, repoDir, "sample")
	out, errs = &bytes.Buffer{}, &bytes.Buffer{}
	return Config{Stdin: strings.NewReader(""), Stdout: out, Stderr: errs, Lang: "en", ConfigDir: filepath.Join(dir, "config")}, out, errs
}

// TestRun checks the exit status of scripts, which is the worst of the
// commands, and that an error does not end a script.
func TestRun(t *testing.T) {
	for _, c := range []struct {
		commands, stdin string
		want            int
		shows           string
	}{
		{"ls -t Conv3D", "", 0, "1 operator"},
		{"ls -t Nothing; ls -t Conv3D", "", 2, "1 operator"},
		{"ls --wrong; ls -t Conv3D", "", 1, "1 operator"},
		{"ls --wrong; ls -t Nothing; run exit 7; ls", "", 7, "No operator"},
		{"ls -t Nothing\nls -t Conv3D\n", "", 2, "1 operator"},
		{"", "# a script\n\nls -t Conv3D\nexit\nls --wrong\n", 0, "1 operator"},
		{"help exit; ? quit; help help; help vcs", "", 0, "usage: vcs"},
		{"", "run cat\nls -t Conv3D\n", 0, "1 operator"}, // a child does not eat the script
		{"", "ls -t Conv3D", 0, "1 operator"},
		{"", "\ufeff# of Windows\r\nls\t-t\tConv3D\r\n", 0, "1 operator"},
		{"", strings.Repeat("x", console.MaxLine+1), 1, ""},
		{"", "run echo run > run\n\x00\x01\n", 1, ""},
	} {
		cfg, out, errs := sampleConfig(t)
		cfg.Commands, cfg.Stdin = c.commands, strings.NewReader(c.stdin)
		if got := Run(context.Background(), cfg); got != c.want || !strings.Contains(out.String(), c.shows) {
			t.Errorf("%.60q %.60q: exit status %d, want %d; output\n%s%.2000s", c.commands, c.stdin, got, c.want, out, errs)
		}
	}
}

// TestUnread checks that commands which show what they can have the exit status
// of an error when there is more that cannot be read.
func TestUnread(t *testing.T) {
	const (
		run    = "npu/debug_0/dump/" + sampleRun + "/0/sample_net_1/1/0/"
		table  = "temp/vector_compare/20260102030405/result_20260102030405.csv"
		record = "overflow/dump/" + sampleRun + "/Opdebug.Node_OpDebug.1.1.1630000000001000"
	)
	for _, c := range []struct {
		command, damaged string
		want             int
	}{
		{"ac", "", 0},
		{"ac", table, 1},
		{"vcs", table, 1},
		{"ac", "fusion/fusion_result.json", 1},
		{"ac", record, 1},
		{"ac -l 0", record, 0}, // it is not shown
		{"npu_overflow true", record, 1},
		{"ni block2/conv", "", 0},
		{"ni block2/conv", table, 1},
		{"ni block2/conv", run + "Conv2D.block2_conv.11.1.1630000000011000", 1},
		{"pt block2/conv", run + "Conv2D.block2_conv.11.1.1630000000011000", 1},
		{"ni block2/conv", "tf/dump/block2_conv.0.1630000000000011.npy", 1},
		{"ni volume", "tf/dump/block2_conv.0.1630000000000011.npy", 1}, // its input
		{"ni fc", "tf/dump/block2_conv.0.1630000000000011.npy", 0},
	} {
		cfg, out, errs := sampleConfig(t)
		if c.damaged != "" {
			if err := writeBytes(filepath.Join("precision_data", filepath.FromSlash(c.damaged)), []byte("damaged")); err != nil {
				t.Fatal(err)
			}
		}
		cfg.Commands = c.command
		if got := Run(context.Background(), cfg); got != c.want {
			t.Errorf("%s, damaged %q: exit status %d, want %d\n%s%s", c.command, c.damaged, got, c.want, out, errs)
		}
		if strings.Contains(errs.String(), "There is no result") && c.damaged == table {
			t.Errorf("%s does not see the table that it cannot read: %s", c.command, errs)
		}
	}
}

// TestSearchNameless checks that a graph without a name does not hide others.
func TestSearchNameless(t *testing.T) {
	cfg, out, errs := sampleConfig(t)
	layOut(t, repoDir, "two")
	layOut(t, repoDir, `rewrite npu/debug_1/graph/ge_proto_00000001_graph_1_Build.txt "sample_net_1" ""`)
	cfg.Commands = "ni loss"
	if Run(context.Background(), cfg) != 0 || !strings.Contains(out.String(), "(debug_0)") || !strings.Contains(out.String(), "(debug_1)") {
		t.Errorf("%s%s", out, errs)
	}
}

// fullDisk is an output that takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// TestLostOutput checks that an answer nobody gets is an error.
func TestLostOutput(t *testing.T) {
	cfg, _, errs := sampleConfig(t)
	cfg.Stdout, cfg.Commands = fullDisk{}, "ls -t Conv3D; help"
	if code := Run(context.Background(), cfg); code != exitError || strings.Count(errs.String(), "no space left") != 1 {
		t.Errorf("script: exit status %d, %s", code, errs)
	}
	errs.Reset()
	run, _ := Command("ls")
	if code := run(context.Background(), cfg, nil); code != exitError || !strings.Contains(errs.String(), "no space left") {
		t.Errorf("command: exit status %d, %s", code, errs)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	cfg, out, _ := sampleConfig(t)
	cfg.Stdin = strings.NewReader("ls\n")
	if got := Run(ctx, cfg); got != exitInterrupted || out.Len() > 0 {
		t.Errorf("exit status %d and output %q of a cancelled script", got, out)
	}
	cfg, out, _ = sampleConfig(t)
	waiting, _ := io.Pipe() // gives nothing
	cfg.Stdin = io.MultiReader(strings.NewReader("ls -t Conv3D\n"), waiting)
	ctx2, cancel2 := context.WithCancel(context.Background())
	time.AfterFunc(time.Second/2, cancel2)
	if got := Run(ctx2, cfg); got != exitInterrupted || !strings.Contains(out.String(), "1 operator") {
		t.Errorf("exit status %d and output %q of a script that waits for a line", got, out)
	}
	for name, args := range map[string][]string{"vc": nil, "ac": {"-c"}, "pt": {"top"}, "ni": {"fc"}, "cp": {"split.0", "split.1"}, "dc": {"fc"}, "run": {"sleep", "60"}} {
		cfg, _, errs := sampleConfig(t)
		run, ok := Command(name)
		if !ok {
			t.Fatalf("there is no command %s", name)
		}
		if got := run(ctx, cfg, args); got != exitInterrupted {
			t.Errorf("%s: exit status %d when cancelled, want %d; messages %s", name, got, exitInterrupted, errs)
		}
	}
}

// TestCommand checks that sub-commands are the shell's commands, with the
// implied -n, and leave nothing behind that they were not to write.
func TestCommand(t *testing.T) {
	cfg, out, errs := sampleConfig(t)
	run, _ := Command("ni")
	if code := run(context.Background(), cfg, []string{"fc", "-a"}); code != 0 || !strings.Contains(out.String(), "[MatMulV2] fc") {
		t.Errorf("exit status %d, %s%s", code, out, errs)
	}
	if temp := workspace.Entries(filepath.Join("precision_data", "temp")); len(temp) != 1 || temp[0].Name() != "decode" {
		t.Errorf("ni left %v, expected the decoded tensors only", temp)
	}
	if _, ok := Command("exit"); ok {
		t.Error("exit is a sub-command")
	}
	cfg.Dir = filepath.Join(t.TempDir(), "elsewhere")
	if code := run(context.Background(), cfg, []string{"fc"}); code != exitNothing {
		t.Errorf("exit status %d without data", code)
	}
	if _, err := os.Stat(cfg.Dir); err == nil {
		t.Error("a question made the data folder")
	}
}

// TestGraphWarningsOnce: the shell and a comparison read the folder of graphs,
// and what is wrong with one of them is told once.
func TestGraphWarningsOnce(t *testing.T) {
	cfg, out, errs := sampleConfig(t)
	bad := filepath.Join("precision_data", "npu", "debug_0", "graph", "ge_proto_00000005_graph_1_Build.txt")
	if err := os.WriteFile(bad, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cfg.Commands = "vc -l 0"
	if code := Run(context.Background(), cfg); code != exitOK || strings.Count(errs.String(), bad) != 1 {
		t.Errorf("exit %d:\n%s%s", code, out, errs)
	}
	errs.Reset() // with -g only the comparison reads it
	cfg.Commands = "vc -l 0 -g precision_data/npu/debug_0/graph"
	if code := Run(context.Background(), cfg); code != exitOK || strings.Count(errs.String(), bad) != 1 {
		t.Errorf("-g: exit %d:\n%s%s", code, out, errs)
	}
}

// TestPanic: a command that panics is an error, and the next one runs.
func TestPanic(t *testing.T) {
	defer func(old []*command) { commands = old }(commands)
	commands = append(slices.Clone(commands), &command{name: "boom", make: func(*session) action { return &failing{} }})
	cfg, out, errs := sampleConfig(t)
	cfg.Commands = "boom; ls -t Conv3D"
	if code := Run(context.Background(), cfg); code != exitError || !strings.Contains(out.String(), "1 operator") || !strings.Contains(errs.String(), "as told") {
		t.Errorf("exit status %d, %s%s", code, out, errs)
	}
}

type failing struct{}

func (failing) define(*options) {}

func (failing) run(context.Context, *session, []string) int { panic("as told") }

func TestNewResultDir(t *testing.T) {
	s := &session{data: workspace.Open(t.TempDir())}
	at := time.Date(2026, 1, 2, 3, 4, 59, 0, time.Local)
	first, stamp := s.newResultDir(at)
	if stamp != "20260102030459" {
		t.Errorf("stamp %s", stamp)
	}
	if err := os.MkdirAll(first, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, stamp = s.newResultDir(at); stamp != "20260102030500" {
		t.Errorf("stamp %s of a second comparison", stamp)
	}
}

func TestComplete(t *testing.T) {
	cfg, _, _ := sampleConfig(t)
	s := open(cfg)
	words := newVocabulary()
	c := &completer{s, words}
	if got := c.complete("ni "); len(got) != 0 {
		t.Errorf("names before the graphs were read: %v", got)
	}
	words.load(s.data.IDs(), s.data)
	for _, test := range []struct {
		line string
		want []string // these are among the suggestions
		not  []string
	}{
		{"v", []string{"vc", "vcs"}, []string{"ac"}},
		{"", nil, []string{"vc"}},
		{"ac; v", []string{"vcs"}, nil},
		{"help n", []string{"ni"}, nil},
		{"vc -", []string{"-lt", "-g"}, []string{"--left"}},
		{"vc --", []string{"--left"}, nil},
		{"ls -t Con", []string{"Conv2D", "Conv3D", "Const"}, []string{"Add"}},
		{"ni blo", []string{"block1/scale"}, []string{"Conv2D"}},
		{"ni -n blo", []string{"block1/scale"}, nil},
		{"ni scale", []string{"block1/scale"}, nil},
		{"ni fc -g s", []string{"sample_net_1"}, nil},
		{"pt Conv2D.b", []string{"Conv2D.block2_conv.11.1.1630000000011000"}, nil},
		{"cp split.0 split", []string{"split.1.1630000000000005.npy"}, nil},
		{"vcs -f prec", []string{"precision_data/"}, nil},
		{"vc -lt precision_data/n", []string{"precision_data/npu/"}, nil},
		{"dc fc -f N", []string{"NCHW", "NHWC"}, []string{"HWCN"}},
		{"vim prec", []string{"precision_data/"}, nil},
		{"ls du", []string{"dump"}, nil},
	} {
		var got []string
		for _, g := range c.complete(test.line) {
			got = append(got, g.Text)
		}
		for _, w := range test.want {
			if !slices.Contains(got, w) {
				t.Errorf("%q: %q is not among %q", test.line, w, got)
			}
		}
		for _, w := range test.not {
			if slices.Contains(got, w) {
				t.Errorf("%q: %q is among %q", test.line, w, got)
			}
		}
	}
}

// BenchmarkComplete measures a key typed in a graph of 10 000 operators.
func BenchmarkComplete(b *testing.B) {
	list := make(wordList, 10000)
	for i := range list {
		list[i] = console.Suggestion{Text: fmt.Sprintf("bert/encoder/layer_%05d/attention/self/query/MatMul", i)}
	}
	words := newVocabulary()
	words.ops.Store(&list)
	c := &completer{&session{Console: &console.Console{}, set: workspace.Defaults()}, words}
	for b.Loop() {
		c.complete("ni layer_09999")
	}
}

func TestFuzzy(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       int
		ok         bool
	}{
		{"block1/scale", "b1scl", 11, true},
		{"block1/scale", "scale", 5, true},
		{"block1/scale", "xs", 0, false},
		{"算子/卷积", "卷", 3, true},
		{"a", "", 0, false},
		{"a\xff", "\xff", 1, true},
		{"a\xff", "\xff\xff", 0, false},
	} {
		if got, ok := spread(c.name, c.text); got != c.want || ok != c.ok {
			t.Errorf("spread(%q, %q) = %d, %v, want %d, %v", c.name, c.text, got, ok, c.want, c.ok)
		}
	}
}

// TestRunWords: as a sub-command run gets words, whose blanks are theirs, or
// one line for the system shell.
func TestRunWords(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a POSIX shell")
	}
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{"printf", "%s|", "a b", "it's", "$HOME", "-l"}, "a b|it's|$HOME|-l|"},
		{[]string{"printf '%s|' a b | tr a c"}, "c|b|"},
	} {
		cfg, out, errs := sampleConfig(t)
		run, _ := Command("run")
		if code := run(context.Background(), cfg, c.words); code != 0 || out.String() != c.want {
			t.Errorf("%q: exit status %d, output %q, want %q; %s", c.words, code, out, c.want, errs)
		}
	}
}

// TestHelpIsWhole: the help of every command is text, not a pattern for it, and
// begins with its usage.
func TestHelpIsWhole(t *testing.T) {
	for _, name := range []string{"en", "zh"} {
		s := open(Config{Lang: name, Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}, ConfigDir: t.TempDir()})
		for _, c := range listed() {
			if text := s.helpFor(c); strings.Contains(text, "%") || !strings.Contains(text, c.name) {
				t.Errorf("%s, %s:\n%s", name, c.name, text)
			}
		}
	}
}

// TestMeanCommand: what neither shell knows is told with the command it comes close to.
func TestMeanCommand(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the status of an unknown command is that of a POSIX shell")
	}
	for line, want := range map[string]string{"vsc -l 2": "Did you mean vcs?", "true": "", "sh -c 'exit 127'": ""} {
		cfg, _, errs := sampleConfig(t)
		cfg.Commands = line
		if Run(context.Background(), cfg); strings.Contains(errs.String(), "Did you mean") != (want != "") || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: %s", line, errs)
		}
	}
}
