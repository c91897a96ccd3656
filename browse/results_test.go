package browse

import (
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"precision/compare/job"
	"precision/compare/oracle"
	"precision/compare/pattern"
	"precision/compare/report"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/internal/msg"
	"precision/testdata/workshop/madeup"
)

// put writes a file.
func put(t *testing.T, path string, write func(io.Writer) error) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := write(f); err != nil {
		t.Fatal(err)
	}
}

// opening is a model of what is at a path.
func opening(t *testing.T, path string) *model {
	t.Helper()
	b, err := openBook(t.Context(), msg.English, path)
	if err != nil {
		t.Fatal(err)
	}
	m := &model{lang: msg.English, books: []*book{b}, show: func(string) error { return nil }, copy: func(string) {}}
	m.Update(tea.WindowSizeMsg{Width: 100, Height: 24})
	m.View()
	return m
}

// TestJob: the matrix has the state of each rank and step, a cell opens its table, and Esc leads back to it.
func TestJob(t *testing.T) {
	dir := t.TempDir()
	table := verdict.Judge(madeup.Network{Ops: 10, Broken: 4}.Table(), verdict.Options{Profile: verdict.Default()})
	saved := &job.Saved{Schema: job.Schema, Verdict: "bad", Counts: map[string]int{"bad": 1, "good": 4, "failed": 1}, Left: "left", Right: "right",
		Origins: []job.Origin{{Op: "dense_4", Type: "Mul", Verdict: "bad", First: 1, Ranks: "2", Cause: "cosine", Value: 0.5}},
		Alone:   []job.Alone{{Step: 0, Rank: 7, Why: "golden"}}}
	for rank := range 3 {
		for step := range 2 {
			p := job.SavedPart{Step: step, Rank: rank, Host: "host-\x1b[31m", Table: "step" + itoa(step) + "_rank" + itoa(rank), Digest: &job.Digest{Verdict: "good", Compared: 5, Expected: 5}}
			switch {
			case rank == 2 && step == 1:
				p.Verdict, p.Roots = "bad", []job.Root{{Op: "dense_4", Type: "Mul"}}
				put(t, filepath.Join(dir, job.TableFolder, p.Table+".json"), func(w io.Writer) error { return report.WriteJSON(w, table) })
			case rank == 1 && step == 0:
				p.Digest, p.Table = &job.Digest{Failed: "no \x1b[2J space"}, ""
			}
			saved.Parts = append(saved.Parts, p)
		}
	}
	put(t, filepath.Join(dir, job.ResultFile), func(w io.Writer) error { return json.NewEncoder(w).Encode(saved) })
	m := opening(t, dir)
	press(m, "2")
	var rows []string
	for _, line := range strings.Split(m.View(), "\n") {
		if _, cells, ok := strings.Cut(line, "31m "); ok {
			rows = append(rows, strings.Join(strings.Fields(cells), ""))
		}
	}
	if got := strings.Join(rows, " "); !strings.HasPrefix(got, "0·· 1>!· 2·B") {
		t.Errorf("the matrix is %q:\n%s", got, m.View())
	}
	press(m, "enter")
	if len(m.books) != 1 {
		t.Error("a part that failed was opened")
	}
	press(m, "down", "right", "enter")
	if len(m.books) != 2 || !strings.Contains(m.View(), "step1_rank2") || !strings.Contains(m.View(), "the error begins at 1 operator") {
		t.Fatalf("the cell of rank 2 and step 1 opens\n%s", m.View())
	}
	press(m, "esc")
	if g, ok := m.book().top().(*grid); !ok || g.y.at != 2 || g.x.at != 1 {
		t.Errorf("Esc leads to\n%s", m.View())
	}
	press(m, "3", "enter")
	if len(m.books) != 2 {
		t.Errorf("a root does not open the table of its rank:\n%s", m.View())
	}
	if strings.ContainsRune(colours.ReplaceAllString(m.View(), ""), '\x1b') {
		t.Error("a name steers the terminal")
	}
	if err := os.WriteFile(filepath.Join(dir, job.ResultFile), []byte(`{"schema":"precision/job/9"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openBook(t.Context(), msg.English, dir); err == nil || !strings.Contains(err.Error(), "precision/job/9") {
		t.Errorf("a job of another version: %v", err)
	}
}

// TestCheck: the outputs of a check, the worst first when sorted, and what is wrong with one.
func TestCheck(t *testing.T) {
	findings := []oracle.Finding{
		{Op: "a", Type: "Relu", Rank: -1, Verdict: oracle.OK, Ratio: 0.5, Elements: 10, Looked: 10, Expected: math.NaN(), Found: math.NaN(), Bound: 1e-3, Largest: 5e-4},
		{Op: "b", Type: "Conv2D", ID: 1, Rank: -1, Verdict: oracle.Wrong, Ratio: math.Inf(1), Worst: []int64{0, 3}, Expected: 1.5, Found: 0, Bound: 1e-3, Largest: 1.5, Elements: 8, Looked: 8, Beyond: 4,
			Patterns: []pattern.Finding{{Kind: "zeros", Explained: 1, Elements: 4}}},
		{Op: "c", Type: "Strange", ID: 2, Rank: -1, Verdict: oracle.Unknown, Ratio: math.NaN(), Expected: math.NaN(), Found: math.NaN(), Bound: math.NaN(), Largest: math.NaN(),
			Reasons: []result.Reason{result.Because(result.Text, "no kernel")}},
	}
	path := filepath.Join(t.TempDir(), "check.json")
	put(t, path, func(w io.Writer) error {
		return oracle.WriteJSON(w, findings, oracle.Whole{Verdict: "bad", Coverage: oracle.Coverage{Expected: 3, Judged: 2}}, func(r result.Reason) string { return "said" })
	})
	m := opening(t, path)
	if view := m.View(); !strings.Contains(view, "bad: 1 ok, 0 suspect, 1 wrong, 1 unknown") || !strings.Contains(view, "b:output:0") {
		t.Errorf("the outputs are\n%s", view)
	}
	press(m, "s", "enter")
	if view := m.View(); !strings.Contains(view, "b:output:0  wrong") || !strings.Contains(view, "worst at 0,3: expected 1.5, found 0") || !strings.Contains(view, "8 of 8") {
		t.Errorf("the worst output is\n%s", view)
	}
}

// TestFolder: of a folder with several results the newest is shown, and a table before its csv; without one that is said.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	if _, err := openBook(t.Context(), msg.English, dir); err == nil || !strings.Contains(err.Error(), "browse.err.folder") && !strings.Contains(err.Error(), "no result in this folder") {
		t.Errorf("an empty folder: %v", err)
	}
	j := verdict.Judge(madeup.Network{Ops: 5}.Table(), verdict.Options{Profile: verdict.Default()})
	put(t, filepath.Join(dir, "deep", "mine.json"), func(w io.Writer) error { return report.WriteJSON(w, j) })
	put(t, filepath.Join(dir, "other.json"), func(w io.Writer) error { _, err := io.WriteString(w, `{"a": 1}`); return err })
	put(t, filepath.Join(dir, "deep", "mine.csv"), func(w io.Writer) error { return nil })
	if got := newest(dir); got != filepath.Join(dir, "deep", "mine.json") {
		t.Errorf("the newest result is %q", got)
	}
}
