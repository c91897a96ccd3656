//go:build !windows

package repl

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/term"

	"precision/console"
	"precision/testdata/workshop/scratch"
	"precision/testdata/workshop/tmux"
)

// TestMain makes the test binary a shell when a terminal test starts it as one.
func TestMain(m *testing.M) {
	if dir := os.Getenv("REPL_TEST_SHELL"); dir != "" {
		commands = append(commands,
			&command{name: "panicking", make: func(*session) action {
				return &hook{func(context.Context) int { panic("as told") }}
			}},
			&command{name: "waiting", make: func(*session) action {
				return &hook{func(ctx context.Context) int {
					fmt.Println("until a signal comes")
					<-ctx.Done()
					return exitInterrupted
				}}
			}})
		os.Exit(Run(context.Background(), Config{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Lang: os.Getenv("REPL_TEST_LANG"), Commands: os.Getenv("REPL_TEST_COMMANDS"), ConfigDir: dir}))
	}
	flag.Set("test.parallel", "4") // they wait for terminals
	os.Exit(scratch.Main(m))
}

// hook is a command of the tests.
type hook struct{ do func(context.Context) int }

func (h *hook) define(*options) {}

func (h *hook) run(ctx context.Context, _ *session, _ []string) int { return h.do(ctx) }

// pane is a terminal with a folder of the sample data.
type pane struct {
	*tmux.Pane
	dir    string // current folder of the shell
	config string
}

func newPane(t *testing.T, width, height int) *pane {
	t.Helper()
	dir := t.TempDir()
	data, sample := filepath.Join(dir, "precision_data"), filepath.Join(repoDir, "testdata", "sample")
	const graphFile = "ge_proto_00000001_graph_1_Build.txt"
	copyTree(t, filepath.Join(sample, "npu"), filepath.Join(data, "npu", "debug_0", "dump"))
	copyTree(t, filepath.Join(sample, "golden"), filepath.Join(data, "tf", "dump"))
	copyTree(t, filepath.Join(sample, graphFile), filepath.Join(data, "npu", "debug_0", "graph", graphFile))
	return &pane{tmux.Start(t, dir, width, height), dir, t.TempDir()}
}

// last waits until the last line that is not empty begins with text.
func (p *pane) last(text string) {
	p.Until(fmt.Sprintf("a last line %q", text), func(screen string) bool {
		screen = strings.TrimRight(screen, "\n ")
		return strings.HasPrefix(screen[strings.LastIndexByte(screen, '\n')+1:], text)
	})
}

// start runs the shell and waits for its prompt.
func (p *pane) start() {
	p.Run("REPL_TEST_LANG=en REPL_TEST_SHELL=" + p.config)
	p.last(strings.TrimSpace(console.PromptText))
}

// sane returns the state of the terminal as stty tells it.
func (p *pane) sane(t *testing.T, name string) string {
	t.Helper()
	p.last("$")
	// The words of the command must not look like what it prints, wherever the
	// shell breaks the line.
	p.Keys("stty -a > "+name+"; echo 'written'-"+name, "Enter")
	p.Wait("\nwritten-" + name)
	state, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(state)
}

// TestExits leaves in every way there is and checks that the terminal is as it
// was.
func TestExits(t *testing.T) {
	p := newPane(t, 100, 30)
	before := p.sane(t, "before")
	for i, c := range []struct {
		name   string
		leave  func()
		status string
	}{
		{"exit", func() { p.Keys("exit", "Enter") }, "status 0"},
		{"quit behind a command", func() { p.Keys("run true; true", "Enter"); p.Keys("quit", "Enter") }, "status 0"},
		{"Ctrl-D", func() { p.Keys("C-d") }, "status 0"},
		{"Ctrl-C", func() { p.Keys("C-c") }, "status 0"},
		{"Ctrl-C drops a line", func() { p.Keys("garbage", "C-c"); p.Keys("exit", "Enter") }, "status 0"},
		{"SIGTERM", func() { p.Keys("run kill -TERM $PPID", "Enter") }, "status 143"},
		{"SIGHUP", func() { p.Keys("run kill -HUP $PPID", "Enter") }, "status 129"},
		{"signals of the keyboard from elsewhere", func() {
			sent := filepath.Join(t.TempDir(), "sent")
			p.Keys("run (sleep 1; kill -QUIT $PPID; kill -INT $PPID; sleep 0.2; kill -INT $PPID; sleep 0.2; touch "+sent+") > /dev/null 2>&1 &", "Enter")
			for range 600 {
				if _, err := os.Stat(sent); err == nil {
					break
				}
				time.Sleep(50 * time.Millisecond)
			}
			p.Keys("exit", "Enter")
		}, "status 0"},
		{"Ctrl-\\ in a command", func() {
			p.Keys("waiting", "Enter")
			p.Wait("\nuntil a signal comes")
			p.Keys("C-\\")
			p.last(strings.TrimSpace(console.PromptText))
			p.Keys("exit", "Enter")
		}, "status 130"},
		{"SIGTERM in a command", func() { p.Keys("run (sleep 1; kill -TERM $PPID) &", "Enter"); p.Keys("waiting", "Enter") }, "status 143"},
		{"a panic", func() {
			p.Keys("panicking", "Enter")
			p.Wait("as told")
			p.last(strings.TrimSpace(console.PromptText))
			p.Keys("exit", "Enter")
		}, "status 1"},
		{"a killed child", func() {
			p.Keys("run stty raw -echo; kill -9 $$", "Enter")
			p.Wait("killed")
			p.last(strings.TrimSpace(console.PromptText))
			p.Keys("exit", "Enter")
		}, "status 1"},
	} {
		p.start()
		c.leave()
		p.Wait("\n" + c.status)
		if after := p.sane(t, fmt.Sprint("after", i)); after != before {
			t.Errorf("%s: the terminal was\n%s\nand is\n%s", c.name, before, after)
		}
	}
}

// TestTyping types, completes, and looks at what the prompt shows.
func TestTyping(t *testing.T) {
	p := newPane(t, 100, 60)
	p.start()
	p.Keys("vc")
	p.Wait("compare a whole network", "summarise comparison")
	p.Keys("s -", "")
	p.Wait("cosine similarity below which")
	p.Keys("C-u")
	// The graph is read in the background: names turn up when it is there.
	p.Keys("ls -t Con")
	p.Wait("Conv2D", "Conv3D", "Const")
	p.Keys("v3")
	p.Keys("Tab", "Enter")
	p.Wait("[Conv3D][] volume", "1 operator")
	p.Keys("ni block1/sc")
	p.Wait("block1/scale")
	p.Keys("Tab", "Enter")
	p.Wait("[Mul] block1/scale", "NpuDumpOutput")
	// A pasted text of several lines is several commands.
	p.Keys("clear", "Enter")
	p.Tmux("set-buffer", "run echo one\n# echo; run echo no comment\nrun echo two\n")
	p.Tmux("paste-buffer")
	if screen := p.Wait("\none\n", "\ntwo\n"); strings.Contains(screen, "[INFO]") {
		t.Errorf("a comment was run:\n%s", screen)
	}
	// Narrow terminals fold.
	p.Keys("half a line")
	p.Wait("> half a line")
	p.Tmux("resize-window", "-x", "60", "-y", "60")
	p.Keys("!")
	p.last("PrecisionTool > half a line!") // the line is still there, once
	if n := strings.Count(p.Screen(), "half a line"); n != 1 {
		t.Errorf("the line is there %d times:\n%s", n, p.Screen())
	}
	p.Keys("C-u", "ni block2/conv", "Enter")
	p.Wait("TfDumpOutput")
	for line := range strings.Lines(p.Screen()) {
		if strings.HasPrefix(line, "│") && !strings.HasSuffix(strings.TrimSpace(line), "│") {
			t.Errorf("a line of the panel does not fit: %q", line)
		}
	}
	p.Keys("exit", "Enter")
	p.Wait("status 0")
	// The next session remembers, also the last line but one.
	p.start()
	p.Keys("Up")
	p.Wait("PrecisionTool > exit")
	p.Keys("Up")
	p.Wait("PrecisionTool > ni block2/conv")
	p.Keys("C-u", "C-d")
	p.Wait("\nstatus 0")
}

// TestResize: a line of several rows is there once after the width of the
// terminal has changed, and what is above it stays.
func TestResize(t *testing.T) {
	p := newPane(t, 60, 40)
	p.start()
	p.Keys("run echo above", "Enter")
	p.Wait("\nabove")
	line := "vc -lt " + strings.Repeat("folder/", 14) + "end"
	p.Keys(line)
	p.Wait("end")
	shown := func(end string) func(string) bool {
		return func(screen string) bool {
			joined := strings.ReplaceAll(screen, "\n", "")
			return strings.Count(joined, "PrecisionTool > vc") == 1 && strings.Count(joined, "folder/") == 14 &&
				strings.HasSuffix(strings.TrimSpace(joined), end) && strings.Contains(joined, "above")
		}
	}
	for _, width := range []string{"44", "30", "90", "140", "60"} {
		p.Tmux("resize-window", "-x", width, "-y", "40")
		// What is typed before the terminal tells its width, which tmux puts off by a quarter of a second
		// and a busy machine by more, is drawn for the old one. So no key may be under way when the width
		// changes, and none is typed before the terminal tells.
		p.told(width)
		p.Until("the line once at "+width+" columns", shown("end"))
		p.Keys("x")
		p.Until("the x at "+width+" columns", shown("endx"))
		p.Keys("BSpace")
		p.Until("no x at "+width+" columns", shown("end"))
	}
	p.Keys("C-u", "exit", "Enter")
	p.Wait("status 0")
}

// told waits until the programs in the terminal can know of its width.
func (p *pane) told(width string) {
	tty := strings.TrimSpace(p.Tmux("display-message", "-p", "#{pane_tty}"))
	p.Until("the terminal of "+width+" columns", func(string) bool {
		f, err := os.Open(tty)
		if err != nil {
			return false
		}
		defer f.Close()
		got, _, err := term.GetSize(int(f.Fd()))
		return err == nil && strconv.Itoa(got) == width
	})
}

// TestInterrupt stops a command with Ctrl-C; the session goes on.
func TestInterrupt(t *testing.T) {
	p := newPane(t, 100, 30)
	p.start()
	p.Keys("waiting", "Enter")
	p.Wait("\nuntil a signal comes")
	p.Keys("C-c")
	p.last(strings.TrimSpace(console.PromptText))
	p.Keys("run echo begun; sleep 60", "Enter")
	p.Wait("\nbegun")
	p.Keys("C-c")
	p.Wait("[WARNING]")
	p.last(strings.TrimSpace(console.PromptText))
	p.Keys("ls -t Conv3D", "Enter")
	p.Wait("1 operator")
	p.Keys("exit", "Enter")
	p.Wait("status 130")
}

// TestPages reads a long list page by page.
func TestPages(t *testing.T) {
	p := newPane(t, 80, 16)
	p.start()
	p.Keys("ls", "Enter")
	p.Wait("-- 7 more lines")
	p.Keys("Enter")
	p.Wait("-- 6 more lines")
	p.Keys("Left", "Up", "Down", "Down")
	p.Wait("-- 5 more lines")
	p.Keys("b")
	p.Wait("-- 7 more lines", "TransData")
	p.Keys("/", "softM")
	p.Wait("/softM")
	p.Keys("Enter")
	p.Wait("-- not found: softM")
	p.Keys("x", "/", "softm", "Enter")
	p.Wait("the end", "Softmax")
	p.Keys("N")
	p.Wait("not found")
	p.Keys("x", "g")
	p.Wait("-- 7 more lines")
	p.Keys("Space")
	p.last(strings.TrimSpace(console.PromptText))
	p.Keys("ls dump", "Enter")
	p.Wait("more lines")
	p.Keys("q")
	p.last(strings.TrimSpace(console.PromptText))
	p.Keys("exit", "Enter")
	p.Wait("status 0")
	// $PAGER takes the place of the built-in one; one that is not there does not.
	for program, shown := range map[string]string{"sed s/^/pager:/": "pager:", "no-such-program": "more lines"} {
		p.Keys("clear; PAGER='"+program+"'; export PAGER", "Enter")
		p.start()
		p.Keys("ls", "Enter")
		p.Wait(shown)
		if shown == "more lines" {
			p.Keys("q")
		}
		p.last(strings.TrimSpace(console.PromptText))
		p.Keys("exit", "Enter")
		p.Wait("status 0")
	}
	p.Keys("unset PAGER", "Enter")
	// Commands that were given with the start of the program run through.
	p.Run("REPL_TEST_LANG=en REPL_TEST_COMMANDS='ls; ls dump' REPL_TEST_SHELL=" + p.config)
	p.Wait("\nstatus 0")
}

// TestSearchHistory finds lines typed before with Ctrl-R: to run them, to edit them, or
// not at all.
func TestSearchHistory(t *testing.T) {
	p := newPane(t, 80, 24)
	p.start()
	for _, line := range []string{"ls -t MaxPool", "ls -t Conv3D", "lang", "ls -n block2"} {
		p.Keys(line, "Enter")
		p.last(strings.TrimSpace(console.PromptText))
	}
	p.Keys("clear", "Enter")
	// A key that comes with the text before it in one read would be taken for a part of that.
	p.Keys("half a line")
	p.last(console.PromptText + "half a line")
	p.Keys("C-r")
	p.Wait("(history) :")
	p.Keys("ls -t")
	p.Wait("(history) ls -t: ls -t Conv3D")
	p.Keys("C-r")
	p.Wait("(history) ls -t: ls -t MaxPool")
	p.Keys("C-r")
	p.Wait("(history, no more) ls -t: ls -t MaxPool")
	p.Keys("C-s")
	p.Wait("(history) ls -t: ls -t Conv3D")
	p.Keys("C-g")
	p.Wait(console.PromptText + "half a line")
	p.Keys("C-r")
	p.Wait("(history) :")
	p.Keys("MaxPx")
	p.Wait("(history, no more) MaxPx")
	p.Keys("BSpace")
	p.Wait("(history) MaxP: ls -t MaxPool")
	p.Keys("Escape")
	p.Wait(console.PromptText + "ls -t MaxPool")
	p.Keys("None", "Enter")
	p.Wait("No operator matches.")
	p.Keys("C-r", "Conv3", "Enter")
	p.Wait(console.PromptText+"ls -t Conv3D", "1 operator")
	p.Keys("exit", "Enter")
	p.Wait("status")
}
