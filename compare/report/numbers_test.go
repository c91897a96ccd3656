package report

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"precision/compare/verdict"
	"precision/internal/msg"
	"precision/testdata/workshop/msgtest"
)

// counted is what another program counts in the JSON of a result.
type counted struct {
	Verdict  string
	Coverage struct{ Expected, Compared, Constants, Statistics int }
	Roots    []struct {
		Op        string
		Inherited int
		Certainty string
		Reaches   []string
	}
	Operators []struct {
		Op, State string
		Outputs   []struct{ Verdict string }
	}
}

// states are how many operators have one of some states.
func (c *counted) states(names ...string) (n int) {
	for _, op := range c.Operators {
		if slices.Contains(names, op.State) {
			n++
		}
	}
	return n
}

// numbersOf are the numbers in a sentence of the catalogue where a text has it, nil where it has not.
func numbersOf(text, key string) (list []int) {
	m := msgtest.Sentence(msg.English.Under(key)[key]).FindString(text)
	for _, n := range regexp.MustCompile(`\d+`).FindAllString(m, -1) {
		v, _ := strconv.Atoi(n)
		list = append(list, v)
	}
	return list
}

// What the text of a verdict counts is what the rows of its JSON count: operators by their states, roots, who inherits
// from them, and tensors.
func TestNumbersAreCounted(t *testing.T) {
	seen := map[string]int{}
	check := func(source string, j *verdict.Judged) {
		t.Helper()
		var c counted
		if err := json.Unmarshal(write(t, j), &c); err != nil {
			t.Fatal(err)
		}
		s := Text{Lang: msg.English}
		headline := s.Headline(j)
		head := headline.Text()
		all := Render(s.Verdict(j), 12, func(_ Style, text string) string { return text })
		is := func(text, key string, want ...int) {
			t.Helper()
			if got := numbersOf(text, key); got != nil {
				seen[key]++
				if !slices.Equal(got, want) {
					t.Errorf("%s says %v, the rows count %v\n%s\n%s", key, got, want, source, all)
				}
			}
		}
		bad, inherited := c.states("bad"), c.states("inherited")
		excused := 0 // operators that are good by a waiver have something wrong
		for i := range j.Operators {
			if op := &j.Operators[i]; op.State == verdict.StateGood && slices.ContainsFunc(op.Outputs, func(o verdict.Tensor) bool {
				return slices.ContainsFunc(o.Causes, func(c verdict.Cause) bool { return c.Waived })
			}) {
				excused++
			}
		}
		is(head, "report.good", c.states("good")-excused)
		is(head, "report.good.of", c.Coverage.Compared, c.Coverage.Expected)
		is(head, "report.bad.one", 1)
		is(head, "report.bad.many", len(c.Roots))
		is(head, "report.bad.rootless", bad+inherited)
		is(head, "report.bad.one.inherited", inherited)
		is(head, "report.bad.many.inherited", inherited)
		is(head, "report.suspect", len(c.Roots))
		is(head, "report.suspect.other", c.states("suspect"))
		is(all, "report.coverage", c.Coverage.Compared, c.Coverage.Expected)
		is(all, "report.coverage.constants", c.Coverage.Constants)
		is(all, "report.coverage.statistics", c.Coverage.Statistics)
		of := 0
		for i := range j.Roots {
			text := ""
			for _, l := range s.root(j, &j.Roots[i]) {
				text += l.Text() + "\n"
			}
			is(text, "report.root.inherited", c.Roots[i].Inherited)
			is(text, "report.root.after", c.Roots[i].Inherited)
			if c.Roots[i].Certainty != "order" {
				of = max(of, c.Roots[i].Inherited)
			}
		}
		if of > inherited {
			t.Errorf("%d operators inherit from a root, of %d\n%s\n%s", of, inherited, source, all)
		}
		if c.Verdict == "good" && (bad+inherited > 0 || len(c.Roots) > 0) {
			t.Errorf("good with %d bad, %d inherited, %d roots\n%s", bad, inherited, len(c.Roots), source)
		}
		for _, op := range c.Operators { // an operator that counts as compared has an output that was
			verdicts := map[string]bool{}
			for _, o := range op.Outputs {
				verdicts[o.Verdict] = true
			}
			if op.State == "good" && !verdicts["good"] {
				t.Errorf("%s is good, its outputs are %v\n%s", op.Op, verdicts, source)
			}
			if op.State == "bad" && !verdicts["bad"] {
				t.Errorf("%s is bad, its outputs are %v\n%s", op.Op, verdicts, source)
			}
		}
	}
	for seed := range uint64(600) {
		source := randomSentences(rand.New(rand.NewPCG(seed, 44)))
		check(source, verdict.Judge(parseTable(t, source), verdict.Options{}))
		table := randomNetwork(rand.New(rand.NewPCG(seed, 45)))
		check(fmt.Sprint("random network ", seed), verdict.Judge(table, verdict.Options{}))
		if t.Failed() {
			return
		}
	}
	for key, cases := range earned() {
		for _, c := range cases {
			for _, source := range c {
				if after, ok := strings.CutPrefix(source, "calls "); ok {
					check(source, verdict.Judge(parseCalls(t, after), verdict.Options{}))
					continue
				}
				text, opts, _, _ := forJudge(t, source, nil)
				check(source, verdict.Judge(parseTable(t, text), opts))
			}
		}
		if t.Failed() {
			t.Fatal(key)
		}
	}
	if len(seen) < 11 {
		t.Errorf("said were only %v", seen)
	}
}

// However many roots there are, and however many inputs, outputs and candidates each has, what is said of them has an
// end, and says how many it leaves out.
func TestManyRootsHaveAnEnd(t *testing.T) {
	lines := map[int]int{}
	for _, n := range []int{40, 400} {
		source := "op data Data feed\nout 0\n"
		for i := range n {
			source += fmt.Sprintf("op lost%d Relu in=data:0\nout 0 missing=no-right-tensor:l%d|x\nop root%d Conv2D in=lost%d:0,data:0 final\nout 0 distance=0.9\nop heir%d Relu in=root%d:0 final\nout 0 distance=0.9\n", i, i, i, i, i, i)
		}
		j := verdict.Judge(parseTable(t, source), verdict.Options{})
		for _, lang := range []msg.Lang{msg.English, msg.Chinese} {
			text := Render(Text{Lang: lang}.Verdict(j), 12, nil)
			if rest := lang.T("report.root.rest", n-strings.Count(text, "Conv2D")); len(j.Roots) != n || !strings.Contains(text, rest) {
				t.Fatalf("%d of %d roots, and not %q in\n%s", len(j.Roots), n, rest, text)
			}
			if was, ok := lines[int(lang)]; ok && was != strings.Count(text, "\n") {
				t.Errorf("%d roots have %d lines, of fewer there were %d", n, strings.Count(text, "\n"), was)
			}
			lines[int(lang)] = strings.Count(text, "\n")
			for line := range strings.Lines(text) {
				if len(line) > 1500 {
					t.Errorf("a line of %d bytes: %.300s", len(line), line)
				}
			}
		}
	}
}
