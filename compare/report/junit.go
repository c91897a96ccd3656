package report

import (
	"bufio"
	"cmp"
	"encoding/xml"
	"io"
	"strconv"
	"strings"

	"precision/compare/verdict"
	"precision/internal/clean"
	"precision/internal/msg"
)

// JUnit writes a judged table as JUnit XML: a test case an operator, and one for
// coverage. What a gate stops at is a failure, with its causes; operators that
// were not compared are skipped. Strict makes failures of suspects too.
type JUnit struct {
	Lang   msg.Lang
	Strict bool
}

// Write writes the file.
func (x JUnit) Write(to io.Writer, j *verdict.Judged) error {
	failing := j.Failing(x.Strict)
	failures, skipped := 0, 0
	for i := range j.Operators {
		switch {
		case failing[i]:
			failures++
		case without(&j.Operators[i]):
			skipped++
		}
	}
	s := speaker{x.Lang}
	var whole []string // what a gate stops at in the table as a whole
	for _, t := range (verdict.Gate{On: true, Strict: x.Strict}).Stops(j.Standing()) {
		switch t.Kind {
		case verdict.TripInconclusive:
			headline := Text{Lang: x.Lang}.Headline(j)
			whole = append(whole, headline.Text())
		case verdict.TripItself, verdict.TripLoss:
			whole = append(whole, s.trip(j, &t))
		case verdict.TripRegression:
			if t.Row >= 0 {
				continue // its operator fails
			}
			whole = append(whole, s.trip(j, &t))
		}
	}
	if len(whole) > 0 {
		failures++
	}
	b := bufio.NewWriter(to)
	w := &xmlWriter{b}
	counts := []string{"tests", strconv.Itoa(len(j.Operators) + 1), "failures", strconv.Itoa(failures), "errors", "0", "skipped", strconv.Itoa(skipped)}
	w.raw(xml.Header)
	w.tag("testsuites", append([]string{"name", "precision"}, counts...)...)
	w.raw(">\n")
	attrs := append([]string{"name", "precision compare"}, counts...)
	if t := j.Table.Meta.Time; !t.IsZero() {
		attrs = append(attrs, "timestamp", t.UTC().Format("2006-01-02T15:04:05"))
	}
	w.tag("testsuite", attrs...)
	w.raw(">\n<properties>\n")
	for _, p := range [][2]string{{"verdict", j.Verdict.String()}, {"profile", j.Profile.Name}, {"sha256", j.Profile.Hash()},
		{"left", j.Table.Meta.Left.Dir}, {"right", j.Table.Meta.Right.Dir}, {"graph", j.Table.Meta.Graph}} {
		w.tag("property", "name", p[0], "value", p[1])
		w.raw("/>\n")
	}
	w.raw("</properties>\n")
	w.testcase("precision", s.say("junit.coverage"))
	if len(whole) > 0 {
		for i := range j.Damaged {
			whole = append(whole, s.damage(&j.Damaged[i]))
		}
		w.failure("coverage", whole[0], strings.Join(whole, "\n"))
	} else {
		w.raw("/>\n")
	}
	regressed := regressions(j)
	roots := map[int]*verdict.Root{}
	for i := range j.Roots {
		roots[j.Roots[i].Operator] = &j.Roots[i]
	}
	for i := range j.Operators {
		op := &j.Operators[i]
		w.testcase(orDash(op.Op.Type), op.Op.Name)
		switch {
		case failing[i]:
			kind, message, text := x.failure(j, op, roots[i], regressed)
			w.failure(kind, message, text)
		case without(op):
			w.raw(">\n")
			w.tag("skipped", "message", x.whyNot(j, op))
			w.raw("/>\n</testcase>\n")
		default:
			w.raw("/>\n")
		}
	}
	w.raw("</testsuite>\n</testsuites>\n")
	return b.Flush()
}

// regressions are the changes for the worse by their rows.
func regressions(j *verdict.Judged) map[int]verdict.Change {
	m := map[int]verdict.Change{}
	if j.Baseline != nil {
		for _, c := range j.Baseline.Regressions {
			m[c.Row] = c
		}
	}
	return m
}

// failure says what is wrong with an operator: the gravest cause, a sentence, and
// a text with all of them.
func (x JUnit) failure(j *verdict.Judged, op *verdict.Operator, root *verdict.Root, regressed map[int]verdict.Change) (kind, message, text string) {
	s := speaker{x.Lang}
	worst, _ := worstCause(op)
	kind = string(worst)
	var lines []string
	for k := range op.Outputs {
		t := &op.Outputs[k]
		row := j.Row(t)
		if c, ok := regressed[t.Row]; ok {
			kind = "regression"
			lines = append(lines, s.say("regression", row.Tensor(), figure(c.Before, c.Now), figure(c.Now, c.Before)))
		}
		for i := range t.Causes {
			if !t.Causes[i].Waived {
				lines = append(lines, row.Tensor()+s.say("colon")+s.cause(row, &t.Causes[i]))
			}
		}
	}
	if len(lines) == 0 { // its outputs have no cause of their own
		lines = append(lines, s.say("junit.inputs"))
	}
	message = lines[0]
	if op.State == verdict.StateInherited && len(op.From) > 0 {
		var from []string
		for _, k := range op.From {
			from = append(from, j.Operators[j.Roots[k].Operator].Op.Name)
		}
		lines = append(lines, s.say("junit.from", s.list(from, 5)))
	}
	if root != nil {
		lines = append(lines, s.say("junit.root"), s.certainty(op, root, 10))
	}
	return orDash(kind), message, strings.Join(lines, "\n")
}

// without tells that there is nothing of an operator to pass or fail.
func without(op *verdict.Operator) bool {
	return op.State == verdict.StateUncompared || op.State == verdict.StateDamaged
}

// whyNot says why an operator was not compared.
func (x JUnit) whyNot(j *verdict.Judged, op *verdict.Operator) string {
	rows := append([]int{}, op.Whole...)
	for _, t := range op.Outputs {
		rows = append(rows, t.Row)
	}
	for _, row := range rows {
		if r := &j.Table.Rows[row]; len(r.Reasons) > 0 {
			return Sentences(x.Lang, r.Reasons)
		}
	}
	return speaker{x.Lang}.say("word.uncompared")
}

func orDash(s string) string {
	return cmp.Or(s, "-")
}

// xmlWriter writes XML. Its writer keeps the first error.
type xmlWriter struct{ b *bufio.Writer }

func (w *xmlWriter) raw(s string) { w.b.WriteString(s) }

// text writes text: control characters, which XML cannot hold, are spelled out.
func (w *xmlWriter) text(s string) {
	for i, line := range strings.Split(s, "\n") {
		if i > 0 {
			w.b.WriteByte('\n')
		}
		xml.EscapeText(w.b, []byte(clean.Line(line)))
	}
}

// tag begins an element with attributes, names and values by turns; its end is
// left to the caller.
func (w *xmlWriter) tag(name string, attrs ...string) {
	w.raw("<" + name)
	for i := 0; i < len(attrs); i += 2 {
		w.raw(" " + attrs[i] + `="`)
		xml.EscapeText(w.b, []byte(clean.Line(attrs[i+1])))
		w.raw(`"`)
	}
}

func (w *xmlWriter) testcase(class, name string) { w.tag("testcase", "classname", class, "name", name) }

// failure ends a test case that failed.
func (w *xmlWriter) failure(kind, message, text string) {
	w.raw(">\n")
	w.tag("failure", "type", kind, "message", message)
	w.raw(">")
	w.text(text)
	w.raw("</failure>\n</testcase>\n")
}
