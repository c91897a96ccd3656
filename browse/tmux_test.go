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

	"precision/compare/report"
	"precision/compare/verdict"
	"precision/internal/interrupt"
	"precision/internal/msg"
	"precision/testdata/workshop/madeup"
	"precision/testdata/workshop/tmux"
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

// pane is a terminal, and a result to look at in it.
type pane struct {
	*tmux.Pane
	result string
}

func newPane(t *testing.T, n madeup.Network) *pane {
	t.Helper()
	dir := t.TempDir()
	p := &pane{tmux.Start(t, dir, 80, 24, "LC_ALL=C.UTF-8"), filepath.Join(dir, "result.json")}
	f, err := os.Create(p.result)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := report.WriteJSON(f, verdict.Judge(n.Table(), verdict.Options{Profile: verdict.Default()})); err != nil {
		t.Fatal(err)
	}
	p.Tmux("set-option", "-s", "set-clipboard", "on")
	return p
}

// start runs the browser with further variables.
func (p *pane) start(variables string) { p.Run(variables + " BROWSE_TEST_RESULT=" + p.result) }

// coloured is the screen with what sets its colours.
func (p *pane) coloured() string { return p.Tmux("capture-pane", "-p", "-e") }

// TestTerminal moves through a result as a person does, and leaves in every way there is: the terminal is as it was.
func TestTerminal(t *testing.T) {
	p := newPane(t, madeup.Network{Ops: 40, Broken: 12})
	p.Keys("stty -a > before", "Enter")
	for i, leave := range [][]string{{"q"}, {"C-c"}, {"/", "x", "C-c"}, {"Enter", "?", "C-c"}} {
		p.start("BROWSE_TEST_LANG=en")
		p.Wait("the error begins at 1 operator", "dense_12/MatMul", "[Verdict]", "? help  q quit")
		p.Keys(leave...)
		p.Wait("status 0")
		name := fmt.Sprintf("after%d", i)
		p.Keys("stty -a > "+name+"; cmp before "+name+" && echo same-$((40+2))-"+name, "Enter")
		if screen := p.Wait("same-42-" + name); strings.Contains(screen, "[Verdict]") {
			t.Errorf("behind %q the screen still shows the browser:\n%s", leave, screen)
		}
	}
	p.start("BROWSE_TEST_LANG=en")
	p.Wait("[Verdict]")
	p.Keys("3", "/", "e", "_", "3", "9", "Enter", "Enter")
	p.Wait("encoder/layer_3/attention/output/dense_39/MatMul  inherited")
	p.Keys("y")
	p.Wait("copied: precision why encoder/layer_3")
	if got := p.Tmux("show-buffer"); !strings.HasPrefix(got, "precision why encoder/layer_3/attention/output/dense_39/MatMul -lt ") {
		t.Errorf("the clipboard holds %q", got)
	}
	for _, size := range []struct {
		x, y, shows string
	}{{"120", "40", "[Operators 40]"}, {"10", "5", "too small:"}, {"80", "3", "too small: 30×8 needed"}, {"200", "50", "[Operators 40]"}} {
		p.Tmux("resize-window", "-x", size.x, "-y", size.y)
		p.Wait(size.shows)
	}
	p.Keys("Escape")
	p.Wait("Largest")
	p.Keys("q")
	p.Wait("status 0")
}

// TestSignal: a signal ends the browser, and the terminal is as it was.
func TestSignal(t *testing.T) {
	p := newPane(t, madeup.Network{Ops: 20, Broken: 5})
	p.Keys("stty -a > before", "Enter")
	p.start("BROWSE_TEST_LANG=en")
	p.Wait("[Verdict]")
	out, err := exec.Command("pgrep", "-P", strings.TrimSpace(p.Tmux("display-message", "-p", "#{pane_pid}"))).Output()
	if err != nil {
		t.Skip("no pgrep")
	}
	if err := exec.Command("kill", "-TERM", strings.TrimSpace(string(out))).Run(); err != nil {
		t.Fatal(err)
	}
	p.Wait("status 1")
	p.Keys("stty -a > after; cmp before after && echo same-$((40+2))", "Enter")
	p.Wait("same-42")
}

// TestColours: there are colours, and none with NO_COLOR, where the cursor is seen all the same. Hostile names are shown escaped.
func TestColours(t *testing.T) {
	p := newPane(t, madeup.Network{Ops: 30, Broken: 2, Hostile: true})
	p.start("BROWSE_TEST_LANG=en")
	p.Wait("[Verdict]")
	if screen := p.coloured(); !strings.Contains(screen, "\x1b[31mbad") {
		t.Errorf("bad is not red:\n%q", screen)
	}
	p.Keys("q")
	p.Wait("status 0")
	p.start("NO_COLOR=1 TERM=dumb BROWSE_TEST_LANG=zh")
	p.Wait("[结论]")
	p.Keys("3", "j", "j")
	p.Wait(`\x00\x1b[31mred\x07`, "> ")
	if screen := p.coloured(); strings.Contains(screen, "\x1b[3") || strings.Contains(screen, "\x1b[7") {
		t.Errorf("colours in spite of NO_COLOR:\n%q", screen)
	}
	p.Keys("q")
	p.Wait("status 0")
}
