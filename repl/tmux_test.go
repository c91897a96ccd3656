//go:build !windows

package repl

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/term"

	"precision/repl/console"
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
	os.Exit(m.Run())
}

// hook is a command of the tests.
type hook struct{ do func(context.Context) int }

func (h *hook) define(*options) {}

func (h *hook) run(ctx context.Context, _ *session, _ []string) int { return h.do(ctx) }

// pane is a terminal with a system shell in it.
type pane struct {
	t      *testing.T
	dir    string // current folder of the shell
	socket string
	config string
}

// newPane starts a terminal in a folder with the sample data. Tests with a terminal
// mostly wait for it, so they run side by side.
func newPane(t *testing.T, width, height int) *pane {
	t.Helper()
	t.Parallel()
	if testing.Short() {
		t.Skip("terminal tests take seconds")
	}
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("no tmux")
	}
	dir := t.TempDir()
	data, sample := filepath.Join(dir, "precision_data"), filepath.Join(repoDir, "testdata", "sample")
	const graphFile = "ge_proto_00000001_graph_1_Build.txt"
	copyTree(t, filepath.Join(sample, "npu"), filepath.Join(data, "npu", "debug_0", "dump"))
	copyTree(t, filepath.Join(sample, "golden"), filepath.Join(data, "tf", "dump"))
	copyTree(t, filepath.Join(sample, graphFile), filepath.Join(data, "npu", "debug_0", "graph", graphFile))
	p := &pane{t, dir, filepath.Join(t.TempDir(), "socket"), t.TempDir()}
	p.tmux("-f", "/dev/null", "new-session", "-d", "-c", dir, "-x", fmt.Sprint(width), "-y", fmt.Sprint(height), "env", "PS1=$ ", "ENV=", "sh")
	t.Cleanup(func() { exec.Command("tmux", "-S", p.socket, "kill-server").Run() })
	p.wait("$ ")
	return p
}

func (p *pane) tmux(args ...string) string {
	p.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", p.socket}, args...)...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return string(out)
}

// keys types; names such as Enter and C-c are keys.
func (p *pane) keys(keys ...string) {
	p.t.Helper()
	p.tmux(append([]string{"send-keys"}, keys...)...)
}

func (p *pane) screen() string {
	p.t.Helper()
	return p.tmux("capture-pane", "-p", "-J")
}

// until waits for a condition that the terminal has to come to.
func (p *pane) until(what string, ok func(screen string) bool) {
	p.t.Helper()
	screen := ""
	for range 600 {
		if screen = p.screen(); ok(screen) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	p.t.Fatalf("waited for %s; the screen is\n%s", what, screen)
}

// wait waits until the screen shows all texts.
func (p *pane) wait(texts ...string) (shown string) {
	p.t.Helper()
	p.until(fmt.Sprintf("%q", texts), func(screen string) bool {
		shown = screen
		return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(screen, text) })
	})
	return shown
}

// last waits until the last line that is not empty begins with text.
func (p *pane) last(text string) {
	p.t.Helper()
	p.until(fmt.Sprintf("a last line %q", text), func(screen string) bool {
		screen = strings.TrimRight(screen, "\n ")
		return strings.HasPrefix(screen[strings.LastIndexByte(screen, '\n')+1:], text)
	})
}

// start runs the shell and waits for its prompt.
func (p *pane) start() {
	p.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	p.keys("clear; REPL_TEST_LANG=en REPL_TEST_SHELL="+p.config+" "+exe+"; echo status $?", "Enter")
	p.last(strings.TrimSpace(console.PromptText))
}

// sane returns the state of the terminal as stty tells it.
func (p *pane) sane(name string) string {
	p.t.Helper()
	p.last("$")
	// The words of the command must not look like what it prints, wherever the
	// shell breaks the line.
	p.keys("stty -a > "+name+"; echo 'written'-"+name, "Enter")
	p.wait("\nwritten-" + name)
	state, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(state)
}

// TestExits leaves in every way there is and checks that the terminal is as it
// was.
func TestExits(t *testing.T) {
	p := newPane(t, 100, 30)
	before := p.sane("before")
	for i, c := range []struct {
		name   string
		leave  func()
		status string
	}{
		{"exit", func() { p.keys("exit", "Enter") }, "status 0"},
		{"quit behind a command", func() { p.keys("run true; true", "Enter"); p.keys("quit", "Enter") }, "status 0"},
		{"Ctrl-D", func() { p.keys("C-d") }, "status 0"},
		{"Ctrl-C", func() { p.keys("C-c") }, "status 0"},
		{"Ctrl-C drops a line", func() { p.keys("garbage", "C-c"); p.keys("exit", "Enter") }, "status 0"},
		{"SIGTERM", func() { p.keys("run kill -TERM $PPID", "Enter") }, "status 143"},
		{"SIGHUP", func() { p.keys("run kill -HUP $PPID", "Enter") }, "status 129"},
		{"signals of the keyboard from elsewhere", func() {
			sent := filepath.Join(t.TempDir(), "sent")
			p.keys("run (sleep 1; kill -QUIT $PPID; kill -INT $PPID; sleep 0.2; kill -INT $PPID; sleep 0.2; touch "+sent+") > /dev/null 2>&1 &", "Enter")
			for range 600 {
				if _, err := os.Stat(sent); err == nil {
					break
				}
				time.Sleep(50 * time.Millisecond)
			}
			p.keys("exit", "Enter")
		}, "status 0"},
		{"Ctrl-\\ in a command", func() {
			p.keys("waiting", "Enter")
			p.wait("\nuntil a signal comes")
			p.keys("C-\\")
			p.last(strings.TrimSpace(console.PromptText))
			p.keys("exit", "Enter")
		}, "status 130"},
		{"SIGTERM in a command", func() { p.keys("run (sleep 1; kill -TERM $PPID) &", "Enter"); p.keys("waiting", "Enter") }, "status 143"},
		{"a panic", func() {
			p.keys("panicking", "Enter")
			p.wait("as told")
			p.last(strings.TrimSpace(console.PromptText))
			p.keys("exit", "Enter")
		}, "status 1"},
		{"a killed child", func() {
			p.keys("run stty raw -echo; kill -9 $$", "Enter")
			p.wait("killed")
			p.last(strings.TrimSpace(console.PromptText))
			p.keys("exit", "Enter")
		}, "status 1"},
	} {
		p.start()
		c.leave()
		p.wait("\n" + c.status)
		if after := p.sane(fmt.Sprint("after", i)); after != before {
			t.Errorf("%s: the terminal was\n%s\nand is\n%s", c.name, before, after)
		}
	}
}

// TestTyping types, completes, and looks at what the prompt shows.
func TestTyping(t *testing.T) {
	p := newPane(t, 100, 60)
	p.start()
	p.keys("vc")
	p.wait("compare a whole network", "summarise comparison")
	p.keys("s -", "")
	p.wait("cosine similarity below which")
	p.keys("C-u")
	// The graph is read in the background: names turn up when it is there.
	p.keys("ls -t Con")
	p.wait("Conv2D", "Conv3D", "Const")
	p.keys("v3")
	p.keys("Tab", "Enter")
	p.wait("[Conv3D][] volume", "1 operator")
	p.keys("ni block1/sc")
	p.wait("block1/scale")
	p.keys("Tab", "Enter")
	p.wait("[Mul] block1/scale", "NpuDumpOutput")
	// A pasted text of several lines is several commands.
	p.keys("clear", "Enter")
	p.tmux("set-buffer", "run echo one\n# echo; run echo no comment\nrun echo two\n")
	p.tmux("paste-buffer")
	if screen := p.wait("\none\n", "\ntwo\n"); strings.Contains(screen, "[INFO]") {
		t.Errorf("a comment was run:\n%s", screen)
	}
	// Narrow terminals fold.
	p.keys("half a line")
	p.wait("> half a line")
	p.tmux("resize-window", "-x", "60", "-y", "60")
	p.keys("!")
	p.last("PrecisionTool > half a line!") // the line is still there, once
	if n := strings.Count(p.screen(), "half a line"); n != 1 {
		t.Errorf("the line is there %d times:\n%s", n, p.screen())
	}
	p.keys("C-u", "ni block2/conv", "Enter")
	p.wait("TfDumpOutput")
	for line := range strings.Lines(p.screen()) {
		if strings.HasPrefix(line, "│") && !strings.HasSuffix(strings.TrimSpace(line), "│") {
			t.Errorf("a line of the panel does not fit: %q", line)
		}
	}
	p.keys("exit", "Enter")
	p.wait("status 0")
	// The next session remembers, also the last line but one.
	p.start()
	p.keys("Up")
	p.wait("PrecisionTool > exit")
	p.keys("Up")
	p.wait("PrecisionTool > ni block2/conv")
	p.keys("C-u", "C-d")
	p.wait("\nstatus 0")
}

// TestResize: a line of several rows is there once after the width of the
// terminal has changed, and what is above it stays.
func TestResize(t *testing.T) {
	p := newPane(t, 60, 40)
	p.start()
	p.keys("run echo above", "Enter")
	p.wait("\nabove")
	line := "vc -lt " + strings.Repeat("folder/", 14) + "end"
	p.keys(line)
	p.wait("end")
	shown := func(end string) func(string) bool {
		return func(screen string) bool {
			joined := strings.ReplaceAll(screen, "\n", "")
			return strings.Count(joined, "PrecisionTool > vc") == 1 && strings.Count(joined, "folder/") == 14 &&
				strings.HasSuffix(strings.TrimSpace(joined), end) && strings.Contains(joined, "above")
		}
	}
	for _, width := range []string{"44", "30", "90", "140", "60"} {
		p.tmux("resize-window", "-x", width, "-y", "40")
		// What is typed before the terminal tells its width, which tmux puts off by a quarter of a second
		// and a busy machine by more, is drawn for the old one. So no key may be under way when the width
		// changes, and none is typed before the terminal tells.
		p.told(width)
		p.until("the line once at "+width+" columns", shown("end"))
		p.keys("x")
		p.until("the x at "+width+" columns", shown("endx"))
		p.keys("BSpace")
		p.until("no x at "+width+" columns", shown("end"))
	}
	p.keys("C-u", "exit", "Enter")
	p.wait("status 0")
}

// told waits until the programs in the terminal can know of its width.
func (p *pane) told(width string) {
	p.t.Helper()
	tty := strings.TrimSpace(p.tmux("display-message", "-p", "#{pane_tty}"))
	p.until("the terminal of "+width+" columns", func(string) bool {
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
	p.keys("waiting", "Enter")
	p.wait("\nuntil a signal comes")
	p.keys("C-c")
	p.last(strings.TrimSpace(console.PromptText))
	p.keys("run echo begun; sleep 60", "Enter")
	p.wait("\nbegun")
	p.keys("C-c")
	p.wait("[WARNING]")
	p.last(strings.TrimSpace(console.PromptText))
	p.keys("ls -t Conv3D", "Enter")
	p.wait("1 operator")
	p.keys("exit", "Enter")
	p.wait("status 130")
}

// TestPages reads a long list page by page.
func TestPages(t *testing.T) {
	p := newPane(t, 80, 16)
	p.start()
	p.keys("ls", "Enter")
	p.wait("-- 7 more lines")
	p.keys("Enter")
	p.wait("-- 6 more lines")
	p.keys("Left", "Up", "Down", "Down")
	p.wait("-- 5 more lines")
	p.keys("b")
	p.wait("-- 7 more lines", "TransData")
	p.keys("/", "softM")
	p.wait("/softM")
	p.keys("Enter")
	p.wait("-- not found: softM")
	p.keys("x", "/", "softm", "Enter")
	p.wait("the end", "Softmax")
	p.keys("N")
	p.wait("not found")
	p.keys("x", "g")
	p.wait("-- 7 more lines")
	p.keys("Space")
	p.last(strings.TrimSpace(console.PromptText))
	p.keys("ls dump", "Enter")
	p.wait("more lines")
	p.keys("q")
	p.last(strings.TrimSpace(console.PromptText))
	p.keys("exit", "Enter")
	p.wait("status 0")
	// $PAGER takes the place of the built-in one; one that is not there does not.
	for program, shown := range map[string]string{"sed s/^/pager:/": "pager:", "no-such-program": "more lines"} {
		p.keys("clear; PAGER='"+program+"'; export PAGER", "Enter")
		p.start()
		p.keys("ls", "Enter")
		p.wait(shown)
		if shown == "more lines" {
			p.keys("q")
		}
		p.last(strings.TrimSpace(console.PromptText))
		p.keys("exit", "Enter")
		p.wait("status 0")
	}
	p.keys("unset PAGER", "Enter")
	// Commands that were given with the start of the program run through.
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p.keys("clear; REPL_TEST_LANG=en REPL_TEST_COMMANDS='ls; ls dump' REPL_TEST_SHELL="+p.config+" "+exe+"; echo ended $?", "Enter")
	p.wait("\nended 0")
}

// TestSearchHistory finds lines typed before with Ctrl-R: to run them, to edit them, or
// not at all.
func TestSearchHistory(t *testing.T) {
	p := newPane(t, 80, 24)
	p.start()
	for _, line := range []string{"ls -t MaxPool", "ls -t Conv3D", "lang", "ls -n block2"} {
		p.keys(line, "Enter")
		p.last(strings.TrimSpace(console.PromptText))
	}
	p.keys("clear", "Enter")
	// A key that comes with the text before it in one read would be taken for a part of that.
	p.keys("half a line")
	p.last(console.PromptText + "half a line")
	p.keys("C-r")
	p.wait("(history) :")
	p.keys("ls -t")
	p.wait("(history) ls -t: ls -t Conv3D")
	p.keys("C-r")
	p.wait("(history) ls -t: ls -t MaxPool")
	p.keys("C-r")
	p.wait("(history, no more) ls -t: ls -t MaxPool")
	p.keys("C-s")
	p.wait("(history) ls -t: ls -t Conv3D")
	p.keys("C-g")
	p.wait(console.PromptText + "half a line")
	p.keys("C-r")
	p.wait("(history) :")
	p.keys("MaxPx")
	p.wait("(history, no more) MaxPx")
	p.keys("BSpace")
	p.wait("(history) MaxP: ls -t MaxPool")
	p.keys("Escape")
	p.wait(console.PromptText + "ls -t MaxPool")
	p.keys("None", "Enter")
	p.wait("No operator matches.")
	p.keys("C-r", "Conv3", "Enter")
	p.wait(console.PromptText+"ls -t Conv3D", "1 operator")
	p.keys("exit", "Enter")
	p.wait("status")
}
