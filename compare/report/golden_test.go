package report

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"precision/compare/verdict"
	"precision/internal/msg"
)

var update = flag.Bool("update", false, "write what the renderers give into testdata")

// TestGolden renders the tables in testdata. A file begins with a table, and goes
// on with what the renderers make of it, each behind a line "-- name --".
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no testdata/*.txt")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			input, _, _ := strings.Cut(string(text), "-- ")
			got := input + renderings(t, input)
			if got == string(text) {
				return
			}
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			was := strings.Split(string(text), "\n")
			for i, line := range strings.Split(got, "\n") {
				if i >= len(was) || line != was[i] {
					t.Fatalf("line %d is\n%s\nexpected\n%s\n(go test -update writes it)", i+1, line, append(was, "")[min(i, len(was))])
				}
			}
			t.Fatal("lines are missing at the end")
		})
	}
}

// forJudge takes the lines out of a table that are for the judge: a profile, an earlier table, a second run, a gate, and
// whether all of the JSON is shown.
func forJudge(t *testing.T, input string, profile *verdict.Profile) (table string, opts verdict.Options, gate verdict.Gate, full bool) {
	opts, gate = verdict.Options{Profile: profile}, verdict.Gate{On: true}
	var lines, old, again []string
	for _, line := range strings.Split(input, "\n") {
		words := strings.Fields(line)
		switch {
		case len(words) > 0 && words[0] == "profile":
			p, err := verdict.ParseProfile([]byte("name = \"test\"\n"+strings.ReplaceAll(strings.TrimPrefix(line, "profile "), "; ", "\n")), "p.toml")
			if err != nil {
				t.Fatal(err)
			}
			opts.Profile = p
		case len(words) > 0 && words[0] == "full":
			full = true
		case len(words) > 0 && words[0] == "before":
			old = append(old, strings.TrimPrefix(line, "before "))
		case len(words) > 0 && words[0] == "again":
			again = append(again, strings.TrimPrefix(line, "again "))
		case len(words) > 0 && words[0] == "below":
			var limit float64
			fmt.Sscan(words[1], &limit)
			gate.Below = &limit
		default:
			lines = append(lines, line)
		}
	}
	if len(old) > 0 {
		opts.Baseline = parseTable(t, strings.Join(old, "\n"))
	}
	if len(again) > 0 {
		opts.Second = parseTable(t, strings.Join(again, "\n"))
	}
	return strings.Join(lines, "\n"), opts, gate, full
}

// renderings is what all renderers make of a table.
func renderings(t *testing.T, input string) string {
	// Without a profile the judge does not look for jumps, whose sizes are calibrated elsewhere.
	quiet, err := verdict.ParseProfile([]byte("name = \"quiet\"\n[[rule]]\ncause = \"jump-distance\"\nlimit = \"off\"\n[[rule]]\ncause = \"jump-largest\"\nlimit = \"off\"\n[[rule]]\ncause = \"law\"\nlimit = \"off\"\n"), "quiet")
	if err != nil {
		t.Fatal(err)
	}
	table, opts, gate, full := forJudge(t, input, quiet)
	j := verdict.Judge(parseTable(t, table), opts)
	var b bytes.Buffer
	for _, lang := range []msg.Lang{msg.English, msg.Chinese} {
		text := Text{Lang: lang}
		fmt.Fprintf(&b, "-- text %v --\n%s", lang, Render(append(text.Verdict(j), text.Trips(j, j.Trips(gate))...), 12, mark))
		fmt.Fprintf(&b, "-- operators %v --\n%s\n", lang, strings.Join(OperatorHeader(lang), " | "))
		for _, l := range OperatorLines(j) {
			var cells []string
			for _, c := range l.Cells(lang) {
				cells = append(cells, mark(c.Style, c.Text))
			}
			fmt.Fprintln(&b, strings.Join(cells, " | "))
		}
	}
	upTo := `"operators"`
	if full {
		upTo = `"table"`
	}
	json, _, _ := strings.Cut(string(write(t, j)), upTo)
	fmt.Fprintf(&b, "-- json --\n%s\n-- junit --\n", json)
	if err := (JUnit{}).Write(&b, j); err != nil {
		t.Fatal(err)
	}
	b.WriteString("-- sarif --\n")
	var sarif bytes.Buffer
	if err := (SARIF{}).Write(&sarif, j); err != nil {
		t.Fatal(err)
	}
	before, after, _ := strings.Cut(sarif.String(), `    "rules": [`) // they are the same in all
	_, after, _ = strings.Cut(after, "\n     ]")
	b.WriteString(before + `    "rules": […]` + after)
	return b.String()
}

// mark shows the style of a text.
func mark(s Style, text string) string {
	if text == "" || s == Plain {
		return text
	}
	return [...]string{Good: "+", Suspect: "?", Bad: "!", Dim: "~", Strong: "*"}[s] + "[" + text + "]"
}
