package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"unicode"

	"precision/compare/verdict"
	"precision/internal/clean"
	"precision/internal/msg"
)

// junitFile is what a reader of JUnit XML takes from it.
type junitFile struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Skipped  int `xml:"skipped,attr"`
	Suite    struct {
		Cases []struct {
			Name    string    `xml:"name,attr"`
			Class   string    `xml:"classname,attr"`
			Failure *struct{} `xml:"failure"`
			Skipped *struct{} `xml:"skipped"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

// TestFacesAgree: of random networks every face tells one verdict, that of the
// gate.
func TestFacesAgree(t *testing.T) {
	text, err := os.ReadFile("testdata/sarif-essential.json")
	if err != nil {
		t.Fatal(err)
	}
	sarif := compileSchema(t, text)
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 3))
		j := judgeRandom(r)
		lang := msg.Lang(r.IntN(2))
		strict := r.IntN(2) == 0

		var doc struct {
			Verdict string
			Counts  map[string]int
			Roots   []struct{ Op string }
		}
		if err := json.Unmarshal(write(t, j), &doc); err != nil {
			t.Fatal(err)
		}
		lines := Text{Lang: lang}.Verdict(j)
		for _, l := range lines {
			for _, s := range l.Segments {
				if strings.ContainsFunc(s.Text, unicode.IsControl) || strings.Contains(s.Text, "%!") || strings.Contains(s.Text, "report.") {
					t.Fatalf("seed %d: the text %q", seed, s.Text)
				}
			}
		}
		if want := lang.T("report.word." + doc.Verdict); lines[0].Segments[0].Text != want {
			t.Fatalf("seed %d: JSON says %s, the text %s", seed, doc.Verdict, lines[0].Segments[0].Text)
		}
		for i, root := range doc.Roots {
			if name, _, _ := strings.Cut(clean.Line(root.Op), "\ufffd"); i < 10 && !strings.Contains(Render(lines, 0, nil), name) {
				t.Fatalf("seed %d: the text does not name the root %q:\n%s", seed, name, Render(lines, 0, nil))
			}
		}

		var b bytes.Buffer
		if err := (JUnit{lang, strict}).Write(&b, j); err != nil {
			t.Fatal(err)
		}
		var junit junitFile
		if err := xml.Unmarshal(b.Bytes(), &junit); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, b.Bytes())
		}
		failures, skipped := 0, 0
		for _, c := range junit.Suite.Cases {
			if c.Failure != nil {
				failures++
			}
			if c.Skipped != nil {
				skipped++
			}
		}
		if junit.Tests != len(junit.Suite.Cases) || junit.Tests != len(j.Operators)+1 || junit.Failures != failures || junit.Skipped != skipped {
			t.Fatalf("seed %d: JUnit counts wrongly:\n%s", seed, b.Bytes())
		}
		if fails := len(j.Trips(verdict.Gate{On: true, Strict: strict})) > 0; fails != (failures > 0) {
			t.Fatalf("seed %d: the gate fails: %v; JUnit has %d failures and the gate stops at %v", seed, fails, failures, j.Trips(verdict.Gate{On: true, Strict: strict}))
		}
		if j.Baseline == nil && doc.Counts["bad"]+doc.Counts["inherited"] == 0 && doc.Verdict == "bad" {
			t.Fatalf("seed %d: bad without a bad operator", seed)
		}
		for _, l := range (Text{Lang: lang}).Trips(j, j.Trips(verdict.Gate{On: true, Below: new(0.98)})) {
			if strings.Contains(l.Text(), "%!") || strings.Contains(l.Text(), "report.") {
				t.Fatalf("seed %d: the gate says %s", seed, l.Text())
			}
		}

		b.Reset()
		if err := (SARIF{lang}).Write(&b, j); err != nil {
			t.Fatal(err)
		}
		validate(t, sarif, b.Bytes())
		var log struct {
			Runs []struct{ Results []struct{ Level string } }
		}
		if err := json.Unmarshal(b.Bytes(), &log); err != nil {
			t.Fatal(err)
		}
		if len(log.Runs[0].Results) != len(doc.Roots) {
			t.Fatalf("seed %d: SARIF has %d results, JSON %d roots", seed, len(log.Runs[0].Results), len(doc.Roots))
		}
		for i, res := range log.Runs[0].Results {
			if bad := j.Operators[j.Roots[i].Operator].State == verdict.StateBad; bad != (res.Level == "error") {
				t.Fatalf("seed %d: the root %d is bad: %v, and its level %s", seed, i, bad, res.Level)
			}
		}

		list := OperatorLines(j)
		for i := range list {
			if cells := list[i].Cells(lang); len(cells) != len(OperatorHeader(lang)) || !strings.HasPrefix(cells[0].Text, lang.T("report.word."+j.Operators[i].State.String())) {
				t.Fatalf("seed %d: the line %v of an operator that is %v", seed, cells, j.Operators[i].State)
			}
		}
	}
}

// TestSortOperators: every order is a permutation, worst first, and the same
// however the list stood before.
func TestSortOperators(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 4))
		lines := OperatorLines(judgeRandom(r))
		for _, by := range Sorts() {
			if err := SortOperators(lines, by); err != nil {
				t.Fatal(err)
			}
			first := append([]OperatorLine{}, lines...)
			r.Shuffle(len(lines), func(a, b int) { lines[a], lines[b] = lines[b], lines[a] })
			SortOperators(lines, by)
			for i := range lines {
				if lines[i].Place != first[i].Place {
					t.Fatalf("seed %d: sorted by %s, the list depends on how it stood before", seed, by)
				}
				if by == "state" && i > 0 && lines[i].Operator.State > lines[i-1].Operator.State {
					t.Fatalf("seed %d: sorted by state, %v follows %v", seed, lines[i].Operator.State, lines[i-1].Operator.State)
				}
			}
		}
		if err := SortOperators(lines, "size"); err == nil || !strings.Contains(err.Error(), "expected one of order, state") {
			t.Errorf("an order that does not exist: %v", err)
		}
	}
}

// TestNarrowOperators: a list of operators fits, with state, name and cosine whole, or is as narrow as these allow.
func TestNarrowOperators(t *testing.T) {
	lines := OperatorLines(verdict.Judge(largeTable(300), verdict.Options{}))
	all := RenderOperators(msg.English, lines, 0, nil)
	before := 1 << 30
	for _, width := range []int{200, 120, 100, 80, 60, 40} {
		text := RenderOperators(msg.English, lines, width, nil)
		wide := 0
		for line := range strings.Lines(text) {
			wide = max(wide, Width(strings.TrimRight(line, "\n")))
		}
		if strings.Count(text, "\n") != strings.Count(all, "\n") || wide > before || !strings.Contains(text, "Cosine") || !strings.Contains(text, lines[7].Operator.Op.Name) {
			t.Errorf("in %d columns:\n%.400s", width, text)
		}
		if wide > width && strings.Contains(text, "Distance") {
			t.Errorf("%d columns are not left out of a list of %d: %.300s", width, wide, text)
		}
		before = wide
	}
}

// BenchmarkRenderers renders a judged table of 100 000 rows in all forms but JSON.
func BenchmarkRenderers(b *testing.B) {
	j := verdict.Judge(largeTable(100_000), verdict.Options{})
	for _, form := range []struct {
		name   string
		render func(io.Writer, *verdict.Judged) error
	}{
		{"text", func(w io.Writer, j *verdict.Judged) error {
			_, err := io.WriteString(w, Render(Text{}.Verdict(j), 0, nil))
			return err
		}},
		{"operators", func(w io.Writer, j *verdict.Judged) error {
			lines := OperatorLines(j)
			if err := SortOperators(lines, "state"); err != nil {
				return err
			}
			_, err := io.WriteString(w, RenderOperators(msg.English, lines, 0, nil))
			return err
		}},
		{"junit", JUnit{}.Write},
		{"sarif", SARIF{}.Write},
	} {
		b.Run(form.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := form.render(io.Discard, j); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
