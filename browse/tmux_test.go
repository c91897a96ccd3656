//go:build !windows

package browse

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"precision/compare/report"
	"precision/compare/report/html/madeup"
	"precision/compare/verdict"
	"precision/internal/interrupt"
	"precision/internal/msg"
)

// TestMain makes the test binary the browser when a terminal test starts it as one.
func TestMain(m *testing.M) {
	if path := os.Getenv("BROWSE_TEST_RESULT"); path != "" {
		lang, _ := msg.ParseLang(os.Getenv("BROWSE_TEST_LANG"))
		err := Run(interrupt.Context(), Config{Path: path, Lang: lang, In: os.Stdin, Out: os.Stdout, Colour: os.Getenv("NO_COLOR") == "", Show: func(string) error { return errors.New("no screen") }})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// pane is a terminal with a system shell in it.
type pane struct {
	t      *testing.T
	socket string
	result string
}

// newPane starts a terminal, and writes a result to look at.
func newPane(t *testing.T, n madeup.Network) *pane {
	t.Helper()
	t.Parallel()
	if testing.Short() {
		t.Skip("terminal tests take seconds")
	}
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("no tmux")
	}
	dir := t.TempDir()
	p := &pane{t, filepath.Join(dir, "socket"), filepath.Join(dir, "result.json")}
	f, err := os.Create(p.result)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := report.WriteJSON(f, verdict.Judge(n.Table(), verdict.Options{Profile: verdict.Default()})); err != nil {
		t.Fatal(err)
	}
	p.tmux("-f", "/dev/null", "new-session", "-d", "-c", dir, "-x", "80", "-y", "24", "env", "PS1=$ ", "ENV=", "LC_ALL=C.UTF-8", "sh")
	t.Cleanup(func() { exec.Command("tmux", "-S", p.socket, "kill-server").Run() })
	p.tmux("set-option", "-s", "set-clipboard", "on")
	p.wait("$")
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

func (p *pane) keys(keys ...string) {
	p.t.Helper()
	p.tmux(append([]string{"send-keys"}, keys...)...)
}

// wait waits until the screen shows all texts.
func (p *pane) wait(texts ...string) (screen string) {
	p.t.Helper()
	for range 600 {
		screen = p.tmux("capture-pane", "-p", "-e")
		found := true
		for _, text := range texts {
			found = found && strings.Contains(colours.ReplaceAllString(screen, ""), text)
		}
		if found {
			return screen
		}
		time.Sleep(50 * time.Millisecond)
	}
	p.t.Fatalf("waited for %q; the screen is\n%s", texts, screen)
	return ""
}

// start runs the browser with further variables.
func (p *pane) start(variables string) {
	p.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	p.keys("clear; "+variables+" BROWSE_TEST_RESULT="+p.result+" "+exe+"; echo status $?", "Enter")
}

// TestTerminal moves through a result as a person does, and leaves in every way there is: the terminal is as it was.
func TestTerminal(t *testing.T) {
	p := newPane(t, madeup.Network{Ops: 40, Broken: 12})
	p.keys("stty -a > before", "Enter")
	for i, leave := range [][]string{{"q"}, {"C-c"}, {"/", "x", "C-c"}, {"Enter", "?", "C-c"}} {
		p.start("BROWSE_TEST_LANG=en")
		p.wait("the error begins at 1 operator", "dense_12/MatMul", "[Verdict]", "? help  q quit")
		p.keys(leave...)
		p.wait("status 0")
		name := fmt.Sprintf("after%d", i)
		p.keys("stty -a > "+name+"; cmp before "+name+" && echo same-$((40+2))-"+name, "Enter")
		if screen := p.wait("same-42-" + name); strings.Contains(screen, "[Verdict]") {
			t.Errorf("behind %q the screen still shows the browser:\n%s", leave, screen)
		}
	}
	p.start("BROWSE_TEST_LANG=en")
	p.wait("[Verdict]")
	p.keys("3", "/", "e", "_", "3", "9", "Enter", "Enter")
	p.wait("encoder/layer_3/attention/output/dense_39/MatMul  inherited")
	p.keys("y")
	p.wait("copied: precision why encoder/layer_3")
	if got := p.tmux("show-buffer"); !strings.HasPrefix(got, "precision why encoder/layer_3/attention/output/dense_39/MatMul -lt ") {
		t.Errorf("the clipboard holds %q", got)
	}
	for _, size := range []struct {
		x, y, shows string
	}{{"120", "40", "[Operators 40]"}, {"10", "5", "too small:"}, {"80", "3", "too small: 30×8 needed"}, {"200", "50", "[Operators 40]"}} {
		p.tmux("resize-window", "-x", size.x, "-y", size.y)
		p.wait(size.shows)
	}
	p.keys("Escape")
	p.wait("Largest")
	p.keys("q")
	p.wait("status 0")
}

// TestSignal: a signal ends the browser, and the terminal is as it was.
func TestSignal(t *testing.T) {
	p := newPane(t, madeup.Network{Ops: 20, Broken: 5})
	p.keys("stty -a > before", "Enter")
	p.start("BROWSE_TEST_LANG=en")
	p.wait("[Verdict]")
	out, err := exec.Command("pgrep", "-P", strings.TrimSpace(p.tmux("display-message", "-p", "#{pane_pid}"))).Output()
	if err != nil {
		t.Skip("no pgrep")
	}
	if err := exec.Command("kill", "-TERM", strings.TrimSpace(string(out))).Run(); err != nil {
		t.Fatal(err)
	}
	p.wait("status 1")
	p.keys("stty -a > after; cmp before after && echo same-$((40+2))", "Enter")
	p.wait("same-42")
}

// TestColours: there are colours, and none with NO_COLOR, where the cursor is seen all the same. Hostile names are shown escaped.
func TestColours(t *testing.T) {
	p := newPane(t, madeup.Network{Ops: 30, Broken: 2, Hostile: true})
	p.start("BROWSE_TEST_LANG=en")
	if screen := p.wait("[Verdict]"); !strings.Contains(screen, "\x1b[31mbad") {
		t.Errorf("bad is not red:\n%q", screen)
	}
	p.keys("q")
	p.wait("status 0")
	p.start("NO_COLOR=1 TERM=dumb BROWSE_TEST_LANG=zh")
	p.wait("[结论]")
	p.keys("3", "j", "j")
	screen := p.wait(`\x00\x1b[31mred\x07`, "> ")
	if strings.Contains(screen, "\x1b[3") || strings.Contains(screen, "\x1b[7") {
		t.Errorf("colours in spite of NO_COLOR:\n%q", screen)
	}
	p.keys("q")
	p.wait("status 0")
}
