package browse

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"

	"precision/compare/report"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/internal/msg"
	"precision/testdata/workshop/madeup"
	"precision/testdata/workshop/msgtest"
)

var update = flag.Bool("update", false, "write the screens of the tests")

func TestTexts(t *testing.T) { msgtest.Check(t, texts) }

// pressed makes the event of a key by its name.
func pressed(name string) tea.KeyMsg {
	for typ := tea.KeyType(-64); typ < 128; typ++ {
		if k := (tea.KeyMsg{Type: typ}); typ != tea.KeyRunes && k.String() == name {
			return k
		}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

// made is a model of a made-up network, whose first root has a picture.
func made(n madeup.Network, lang msg.Lang) *model {
	t := n.Table()
	j := verdict.Judge(t, verdict.Options{Profile: verdict.Default()})
	if len(j.Roots) > 0 {
		l := result.Look{Tensor: j.Row(j.Worst(&j.Roots[0])).Tensor(), Shape: []int64{2, 4, 8, 8}, MapKept: 8, MapRows: 8, MapColumns: 8, Map: make([]float64, 64),
			Channels: []float64{0, 0, 3, 0}, ChannelAxis: 1, ChannelCount: 4, Histogram: []int64{1, 2, 3, 4}, HistogramLow: -4, HistogramHigh: 0, Equal: 100}
		for i := range 8 {
			l.Map[9*i] = float64(i)
		}
		t.Looks = append(t.Looks, l)
	}
	b, _ := tableBook(lang, "result.json", j)
	return &model{lang: lang, books: []*book{b}, show: func(string) error { return nil }, copy: func(string) {}, width: 80, height: 24}
}

// press gives a model keys, and runs what they start.
func press(m *model, keys ...string) {
	for _, k := range keys {
		_, cmd := m.Update(pressed(k))
		if cmd != nil {
			if event := cmd(); event != nil {
				m.Update(event)
			}
		}
	}
}

// TestScreens holds what is on the screen after some keys: testdata/screens.txt has a block for each case, "== size language
// network: keys" with the screen below. go test -update writes them.
func TestScreens(t *testing.T) {
	path := filepath.Join("testdata", "screens.txt")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, block := range strings.Split("\n"+string(text), "\n== ")[1:] {
		head, want, _ := strings.Cut(block, "\n")
		choice, keys, _ := strings.Cut(head, ":")
		var width, height, ops, broken int
		var lang string
		if _, err := fmt.Sscanf(choice, "%dx%d %s %d/%d", &width, &height, &lang, &broken, &ops); err != nil {
			t.Fatalf("%s: %v", choice, err)
		}
		l, _ := msg.ParseLang(lang)
		m := made(madeup.Network{Ops: ops, Broken: broken}, l)
		m.Update(tea.WindowSizeMsg{Width: width, Height: height})
		press(m, strings.Fields(keys)...)
		got := trimmed(m.View())
		if want = strings.TrimRight(want, "\n"); got != want && !*update {
			t.Errorf("%s: the screen is\n%s\nexpected\n%s", head, got, want)
		}
		fmt.Fprintf(&out, "== %s\n%s\n", head, got)
	}
	if *update {
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// trimmed is a screen without blanks at the ends of lines.
func trimmed(view string) string {
	lines := strings.Split(view, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

// TestAnyKeys presses random keys on random screens of networks, some with hostile names: the screen is always filled exactly, and
// nothing but colours steers the terminal.
func TestAnyKeys(t *testing.T) {
	keys := []string{"up", "down", "j", "k", "pgup", "pgdown", "home", "end", "enter", "enter", "esc", "backspace", "tab", "shift+tab", "left", "right", "1", "2", "3", "4", "9",
		"s", "f", "/", "o", "y", "?", "x", "a", "卷", "ctrl+u", " "}
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 7))
		m := made(madeup.Network{Ops: 1 + r.IntN(60), Broken: r.IntN(40), Hostile: seed%2 == 0, Flat: seed%3 == 0}, msg.Lang(seed%4/2))
		m.paint.colour = seed%5 != 0
		for range 400 {
			if r.IntN(10) == 0 {
				m.Update(tea.WindowSizeMsg{Width: r.IntN(230), Height: r.IntN(70)})
			}
			k := keys[r.IntN(len(keys))]
			press(m, k)
			view := m.View()
			lines := strings.Split(view, "\n")
			if m.width > 0 && m.height > 0 && (len(lines) > m.height || m.width >= leastWidth && m.height >= leastHeight && len(lines) != m.height) {
				t.Fatalf("seed %d, %s: %d lines of %d columns on a screen of %d×%d:\n%s", seed, k, len(lines), m.width, m.width, m.height, view)
			}
			for _, line := range lines {
				bare := colours.ReplaceAllString(line, "")
				if w := report.Width(bare); w > m.width {
					t.Fatalf("seed %d, %s: a line of %d columns on a screen of %d×%d: %q", seed, k, w, m.width, m.height, line)
				}
				if i := strings.IndexFunc(bare, unicode.IsControl); i >= 0 {
					t.Fatalf("seed %d, %s: a control character in %q", seed, k, line)
				}
			}
		}
	}
}

// TestSearch: letters in their order find names, whole matches first; Esc gives up the search, Enter keeps it.
func TestSearch(t *testing.T) {
	rows := func(n int) []int32 {
		var list []int32
		for i := range n {
			list = append(list, int32(i))
		}
		return list
	}
	names := []string{"block1/scale", "b1scl", "Block1/Shift", "卷积/一", "xb-1-s", "bls1"}
	for _, c := range []struct {
		query string
		want  []int32
	}{{"b1s", []int32{1, 0, 2, 4}}, {"SHIFT", []int32{2}}, {"卷一", []int32{3}}, {"积/一", []int32{3}}, {"一卷", nil}, {"zz", nil}} {
		got := newIndex(len(names), func(to []byte, i int) []byte { return append(to, names[i]...) }).match(rows(len(names)), c.query)
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%q finds %v, expected %v", c.query, got, c.want)
		}
	}
	m := made(madeup.Network{Ops: 40, Broken: 12}, msg.English)
	press(m, "3", "/", "d", "e", "_", "3", "9")
	l := m.book().top().(*list)
	if len(l.rows) != 1 {
		t.Errorf("dense_39 is found %d times", len(l.rows))
	}
	if m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("/mat")}); l.query != "de_39/mat" || len(l.rows) != 1 {
		t.Errorf("letters that come together search for %q and find %d", l.query, len(l.rows))
	}
	if press(m, "esc"); len(l.rows) != 40 {
		t.Errorf("after Esc %d of 40 rows are shown", len(l.rows))
	}
	if press(m, "/", "3", "9", "enter", "enter"); len(m.book().deep) != 1 || !strings.Contains(m.View(), "dense_39/MatMul") {
		t.Errorf("Enter does not open what was found:\n%s", m.View())
	}
}

// TestOrders: an order of a list is that of the report, and the filter leaves what it says.
func TestOrders(t *testing.T) {
	m := made(madeup.Network{Ops: 60, Broken: 20}, msg.English)
	press(m, "3")
	l := m.book().top().(*list)
	j := func() *verdict.Judged {
		return verdict.Judge(madeup.Network{Ops: 60, Broken: 20}.Table(), verdict.Options{Profile: verdict.Default()})
	}()
	for _, by := range report.Sorts() {
		lines := report.OperatorLines(j)
		if err := report.SortOperators(lines, by); err != nil {
			t.Fatal(err)
		}
		l.ready()
		for i, r := range l.rows {
			if lines[i].Place != int(r) {
				t.Fatalf("by %s, line %d is operator %d, in the report it is %d", by, i, r, lines[i].Place)
			}
		}
		press(m, "s")
	}
	press(m, "f")
	bad := 0
	for i := range j.Operators {
		if notGood(j.Operators[i].State) {
			bad++
		}
	}
	if len(l.rows) != bad || bad == 0 {
		t.Errorf("%d operators are shown as not good, the judge says %d", len(l.rows), bad)
	}
}

// TestCopy: what is copied is the command for the line, quoted for a shell.
func TestCopy(t *testing.T) {
	m := made(madeup.Network{Ops: 20, Broken: 5}, msg.English)
	got := ""
	m.copy = func(text string) { got = text }
	press(m, "2", "y")
	const want = "precision why encoder/layer_0/attention/output/dense_5/MatMul -lt /data/npu/debug_0/dump -g /data/graph.txt -rt /data/golden"
	if got != want || !strings.Contains(strings.ReplaceAll(m.View(), "\n", ""), "dense_5/MatMul") {
		t.Errorf("copied %q, expected %q; the screen is\n%s", got, want, m.View())
	}
}

// TestPage: o shows the page, or says how to where there is no screen.
func TestPage(t *testing.T) {
	m := made(madeup.Network{Ops: 20, Broken: 5}, msg.English)
	m.book().page = func() (string, error) { return "/data/result.html", nil }
	if press(m, "o"); !strings.Contains(m.View(), "The page is /data/result.html") {
		t.Errorf("no page is told:\n%s", m.View())
	}
	m.show = func(string) error { return errors.New("no screen") }
	if press(m, "o"); !strings.Contains(m.notice, "precision view /data/result.html") {
		t.Errorf("it is not said how to see the page:\n%s", m.View())
	}
}

// TestWindow: drawing a screen makes no more cells than it shows, whatever the size of the table.
func TestWindow(t *testing.T) {
	m := made(madeup.Network{Ops: 3000, Broken: 1000}, msg.English)
	press(m, "4")
	l := m.book().top().(*list)
	n, cells := 0, l.cells
	l.cells = func(row int) []report.Segment { n++; return cells(row) }
	press(m, "end")
	if m.View(); n > m.height {
		t.Errorf("%d rows were made for a screen of %d lines", n, m.height)
	}
}

// TestNoTerminal: without a terminal nothing is drawn.
func TestNoTerminal(t *testing.T) {
	var out bytes.Buffer
	err := Run(t.Context(), Config{Path: "nothing.json", In: strings.NewReader("q"), Out: &out})
	if !errors.Is(err, ErrNoTerminal) || out.Len() > 0 {
		t.Errorf("error %v, output %q", err, &out)
	}
}

// BenchmarkKeys is what a key costs with 100 000 rows, drawing included; opening is apart. The claim is 50 ms for the slowest key
// of each line; of the runs of a key the quickest counts, as others share the machine.
func BenchmarkKeys(b *testing.B) {
	m := made(madeup.Network{Ops: 33_400, Broken: 10_000}, msg.English)
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	for _, list := range []string{"3", "4"} {
		b.Run(list, func(b *testing.B) {
			quickest := time.Hour
			for b.Loop() {
				m.book().tabs[list[0]-'1'].page = nil
				start := time.Now()
				press(m, list)
				m.View()
				quickest = min(quickest, time.Since(start))
			}
			b.ReportMetric(float64(quickest.Microseconds())/1000, "ms/key")
		})
		m.View()
		for _, keys := range [][]string{{"down"}, {"pgdown"}, {"end", "home"}, {"s"}, {"f", "f", "f", "f", "f"}, {"/", "d", "e", "9", "9", "esc"}, {"enter", "esc"}} {
			b.Run(list+"/"+strings.Join(keys, "+"), func(b *testing.B) {
				quickest := make([]time.Duration, len(keys))
				for b.Loop() {
					for i, k := range keys {
						start := time.Now()
						_, later := m.Update(pressed(k))
						m.View()
						if took := time.Since(start); quickest[i] == 0 || took < quickest[i] {
							quickest[i] = took
						}
						if later != nil { // sorting, beside the screen
							m.Update(later())
						}
					}
				}
				b.ReportMetric(float64(slices.Max(quickest).Microseconds())/1000, "ms/key")
			})
		}
	}
}
