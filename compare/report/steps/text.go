// Package steps says in words what package advice advises.
package steps

import (
	"embed"
	"fmt"
	"strings"

	"precision/compare/advice"
	"precision/compare/report"
	_ "precision/compare/report/patterns" // the names of kinds of wrong
	"precision/compare/verdict"
	"precision/internal/clean"
	"precision/internal/msg"
	"precision/internal/nd"
)

// texts are those of the steps and of what stands around them.
//
//go:embed en.txt zh.txt
var texts embed.FS

var _ = msg.Register(texts)

// Text says advice in a language.
type Text struct {
	Lang msg.Lang
	// Most is how many roots and names are listed; 0 for all.
	Most int
	// Result is the file of the result, for the command that goes on from it; empty for RESULT.
	Result string
	// Paint paints what stands out; nil leaves it as it is.
	Paint func(report.Style, string) string
	// Hang folds sentences to the width of a terminal, below a label of so many columns;
	// nil leaves them as they are. Lines to paste are never folded.
	Hang func(text string, indent int) string
	b    strings.Builder
}

func (t *Text) say(key string, args ...any) string { return t.Lang.T("advice.say."+key, args...) }

func (t *Text) style(s report.Style, text string) string {
	if t.Paint == nil {
		return text
	}
	return t.Paint(s, text)
}

// labelWidth is how many columns a label has.
const labelWidth = 17

// label writes a sentence behind a label.
func (t *Text) label(label, text string) {
	line := label + strings.Repeat(" ", max(1, labelWidth-report.Width(label))) + text + "\n"
	if t.Hang != nil {
		line = t.Hang(line, labelWidth)
	}
	t.b.WriteString(line)
}

// paste writes a line to paste behind a label, or a blank one.
func (t *Text) paste(label, text string) {
	fmt.Fprintf(&t.b, "%s%s%s\n", label, strings.Repeat(" ", max(1, labelWidth-report.Width(label))), text)
}

// names joins names, the first of many.
func (t *Text) names(list []string) string {
	most := len(list)
	if t.Most > 0 {
		most = min(most, t.Most)
	}
	text := clean.Line(strings.Join(list[:most], t.Lang.T("report.and")))
	if most < len(list) {
		text += t.say("rest", len(list))
	}
	return text
}

// Say writes the advice: root by root, then what to record. Files are named where
// wrote says that they were written, and shown where it is empty.
func (t Text) Say(j *verdict.Judged, a *advice.Advice, wrote []string, limit int64) string {
	if len(a.Roots) == 0 {
		switch j.Verdict {
		case verdict.Good:
			return t.say("none.good") + "\n"
		case verdict.Bad, verdict.Suspect:
			return t.say("none.bad") + "\n"
		}
		return t.say("none.inconclusive") + "\n"
	}
	for i := range a.Roots {
		if t.Most > 0 && i == t.Most {
			break
		}
		if i > 0 {
			t.b.WriteString("\n")
		}
		t.root(&a.Roots[i])
	}
	if a.Plan != nil {
		t.b.WriteString("\n")
		t.plan(a.Plan, limit)
	}
	if len(wrote) > 0 {
		t.b.WriteString("\n")
		for _, path := range wrote {
			t.paste(t.say("wrote"), clean.Line(path))
		}
		return t.b.String()
	}
	for _, f := range a.Files {
		fmt.Fprintf(&t.b, "\n%s\n%s", t.say("file", f.Name), clean.Text(f.Text))
	}
	return t.b.String()
}

func (t *Text) root(r *advice.Root) {
	t.label(t.say("root"), t.style(report.Bad, clean.Line(r.Type+" "+r.Name)))
	if len(r.Others) > 0 {
		t.label(t.say("others"), t.names(r.Others))
	}
	var kinds []string
	for _, k := range r.Kinds {
		kinds = append(kinds, t.kind(k))
	}
	if len(kinds) > 0 {
		t.label(t.say("kinds"), strings.Join(kinds, t.Lang.T("report.and")))
	}
	if !r.Passes.Empty() {
		t.label(t.say("passes"), t.names(append(append([]string{}, r.Passes.Graph...), r.Passes.UB...)))
	}
	if len(r.Region) > 0 {
		t.label(t.say("region"), t.names(r.Region))
	}
	for n, s := range r.Steps {
		t.label(fmt.Sprintf("%d.", n+1), t.Lang.T("advice."+string(s.Step)))
		t.lines(s.Lines)
	}
}

// kind is a cause of the verdict, or a kind of wrong, in a word.
func (t *Text) kind(name string) string {
	for _, prefix := range []string{"report.short.", "pattern."} {
		if t.Lang.Has(prefix + name) {
			return t.Lang.T(prefix + name)
		}
	}
	return name
}

func (t *Text) lines(list []advice.Line) {
	for _, l := range list {
		t.paste("", fmt.Sprintf("%-13s %s", l.Where, clean.Line(l.Text)))
	}
}

func (t *Text) plan(p *advice.Plan, limit int64) {
	if p.Region {
		t.label(t.say("plan"), t.say("plan.region", len(p.Record), len(p.InDoubt), bytes(p.Bytes)))
	} else {
		t.label(t.say("plan"), t.say("plan.near", len(p.Record), bytes(p.Bytes)))
	}
	if p.Halved {
		t.label("", t.say("plan.halved", len(p.InDoubt), bytes(p.AllBytes), bytes(limit)))
	}
	if len(p.Feeding) > 0 {
		t.label("", t.say("plan.feeding", len(p.Feeding)))
	}
	if unknown := len(p.Record) + len(p.Feeding) - p.Known; unknown > 0 {
		t.label("", t.say("plan.unknown", unknown))
	}
	if len(p.Ranks) > 0 && len(p.Steps) > 0 {
		t.label("", t.say("plan.where", numbers(p.Ranks), numbers(p.Steps)))
	}
	if p.AllSteps {
		t.label("", t.say("plan.steps"))
	}
	kit := p.Kit
	if t.Result != "" {
		kit = strings.Replace(kit, "-after RESULT", "-after "+advice.Quote(t.Result), 1)
	}
	t.paste(t.say("command"), clean.Line(kit))
	t.lines(p.Lines)
}

// numbers lists ranks or steps.
func numbers(list []int) string { return nd.Text(list, ", ") }

// Next says what to record next, and which files it was written to.
func (t Text) Next(p *advice.Plan, wrote []string, limit int64) string {
	t.plan(p, limit)
	for _, path := range wrote {
		t.paste(t.say("wrote"), clean.Line(path))
	}
	return t.b.String()
}

// bytes writes a size in the largest unit that leaves a number of 1 or more.
func bytes(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	v, u := float64(n), 0
	for v >= 1024 && u < len(units)-1 {
		v, u = v/1024, u+1
	}
	if u == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.3g %s", v, units[u])
}
