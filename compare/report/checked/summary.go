package checked

import (
	"fmt"
	"slices"
	"strings"

	"precision/compare/oracle"
	"precision/compare/report"
	"precision/compare/report/patterns"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/internal/msg"
)

// mostListed bounds how many outputs of a verdict a summary lists.
const mostListed = 10

// Standing is how a check stands before a gate.
func Standing(findings []oracle.Finding, c oracle.Coverage) verdict.Standing {
	counts := Counts(findings)
	s := verdict.Standing{Verdict: verdict.Good, Losses: verdict.Losses(
		verdict.Coverage{Expected: c.Expected, Compared: c.Judged, Lost: verdict.Missed{Count: len(c.Missing), Names: c.Missing}}, c.Damaged,
		verdict.NetworkOutputs{Expected: c.Leaving, Compared: c.Leaving - len(c.Outputs), Damaged: c.Broken, Uncompared: c.Outputs})}
	_, _, mixed := Mixed(findings)
	if n := len(c.Strangers); n > 0 {
		s.Losses = append(s.Losses, verdict.Loss{Kind: verdict.LossGraph, Count: n, Of: c.Recorded, Names: c.Strangers[:min(n, mostListed)]})
	}
	if n := len(c.Gaps); n > 0 { // on purpose, maybe
		s.Losses = append(s.Losses, verdict.Loss{Kind: verdict.LossRanks, Count: n, Names: c.Gaps})
	}
	switch {
	case mixed:
		s.Verdict = verdict.Inconclusive
	case counts[oracle.Wrong] > 0:
		s.Verdict = verdict.Bad
	case slices.ContainsFunc(s.Losses, func(l verdict.Loss) bool { return l.Breaks }):
		s.Verdict = verdict.Inconclusive
	case counts[oracle.Suspect] > 0:
		s.Verdict = verdict.Suspect
	}
	return s
}

// Mixed tells whether a recording contradicts itself, and which outputs are wrong
// otherwise than the rest; see [verdict.Mixed].
func Mixed(findings []oracle.Finding) (verdict.Premise, []oracle.Finding, bool) {
	var list []verdict.Recomputed
	var at []int
	for i := range findings {
		if f := &findings[i]; f.Verdict != oracle.Unknown {
			list, at = append(list, verdict.Recomputed{Type: f.Type, DType: f.DType, Wrong: f.Verdict == oracle.Wrong, Ratio: f.Ratio, Pattern: f.Pattern, Explained: f.Check().Explained}), append(at, i)
		}
	}
	p, places, mixed := verdict.Mixed(list)
	var apart []oracle.Finding
	for _, k := range places {
		apart = append(apart, findings[at[k]])
	}
	return p, apart, mixed
}

// Premises are what a check takes for granted and does not hold of a recording.
func Premises(findings []oracle.Finding) []oracle.Premise {
	p, _, mixed := Mixed(findings)
	if !mixed {
		return nil
	}
	return []oracle.Premise{{Kind: string(p.Kind), Broken: p.Broken, Tensors: p.Tensors, Share: p.Share, Reason: p.Reason}}
}

// Summary says in a few lines what a check found: how much was judged, and the
// outputs that are wrong, suspect or unknown, the first ones of each.
func Summary(lang msg.Lang, findings []oracle.Finding, c oracle.Coverage) []report.Line {
	tr := lang.T
	counts := Counts(findings)
	ops := map[string]bool{}
	for i := range findings {
		ops[fmt.Sprint(findings[i].Rank, findings[i].Op)] = true
	}
	lines := []report.Line{
		line(tr("check.checked"), report.Plain, tr("check.outputs", len(findings)-counts[oracle.Unknown], len(findings), tr("check.operator", len(ops)))),
		line(tr("check.verdicts"), report.Plain, tr("check.counts", counts[oracle.OK], counts[oracle.Suspect], counts[oracle.Wrong], counts[oracle.Unknown])),
	}
	lines = append(lines, report.Text{Lang: lang}.Damage(c.Damaged, Reason)...)
	p, apart, mixed := Mixed(findings)
	if mixed {
		lines = append(lines, line(tr("report.label.premise"), report.Suspect, report.Sentence(lang, p.Reason)), line("", report.Plain, tr("report.do."+p.Kind.Advice(p.Reason))))
	}
	lines = append(lines, sources(lang, findings)...)
	for _, v := range []struct {
		verdict oracle.Verdict
		key     string
		style   report.Style
	}{{oracle.Wrong, "check.wrong", report.Bad}, {oracle.Suspect, "check.suspect", report.Suspect}, {oracle.Unknown, "check.unknown", report.Dim}} {
		if v.verdict == oracle.Unknown && counts[v.verdict] > mostListed {
			lines = append(lines, grouped(lang, findings, tr(v.key), v.style)...)
			continue
		}
		listed := findings
		if mixed && v.verdict == oracle.Wrong {
			listed = apart // the rest is the recording's
		}
		lines = append(lines, list(lang, listed, v.verdict, tr(v.key), v.style)...)
	}
	if n := len(c.Gaps); n > 0 {
		lines = append(lines, line(tr("check.gaps"), report.Suspect, report.LossText(lang, &verdict.Loss{Kind: verdict.LossRanks, Count: n, Names: c.Gaps})))
	}
	switch {
	case counts[oracle.Wrong]+counts[oracle.Suspect] > 0:
	case counts[oracle.OK] > 0 && counts[oracle.Unknown] > 0:
		style := report.Good
		if counts[oracle.Unknown] > counts[oracle.OK] {
			style = report.Suspect // that says little
		}
		lines = append(lines, line(tr("check.wrong"), style, tr("check.none.of", counts[oracle.OK], counts[oracle.Unknown])))
	case counts[oracle.OK] > 0:
		lines = append(lines, line(tr("check.wrong"), report.Good, tr("check.none")))
	default:
		lines = append(lines, line("", report.Suspect, tr("check.nothing")))
	}
	return lines
}

// Counts counts findings by verdict.
func Counts(findings []oracle.Finding) map[oracle.Verdict]int {
	counts := map[oracle.Verdict]int{}
	for i := range findings {
		counts[findings[i].Verdict]++
	}
	return counts
}

func line(label string, style report.Style, text string) report.Line {
	return report.Line{Label: label, Segments: []report.Segment{{Text: text, Style: style}}}
}

// sources tells where NaN and Inf come from: the first call of every rank that made or was given
// some, or the collective that brought it there, and how many outputs behind have it.
func sources(lang msg.Lang, findings []oracle.Finding) (lines []report.Line) {
	label, behind := lang.T("check.sources"), 0
	certain := map[string]bool{}
	for i := range findings {
		f := &findings[i]
		if len(f.Reasons) == 0 {
			continue
		}
		why := f.Last()
		switch why.Kind {
		case oracle.MadeHere, oracle.HeldBefore, oracle.GivenAs, oracle.FoundFirst, oracle.CameRank:
		case oracle.CameFrom:
			behind++
			continue
		default:
			continue
		}
		rank := f.Op[:strings.LastIndexByte(f.Op, '/')+1]
		if certain[rank] || len(certain) == mostListed {
			behind++
			continue
		}
		certain[rank] = true
		lines = append(lines, line(label, report.Suspect, lang.T("check.at", fmt.Sprintf("%s:output:%d", f.Op, f.Index), f.Type, Reason(lang, why))))
		label = ""
	}
	if behind > 0 {
		lines = append(lines, line(label, report.Dim, lang.T("check.behind", lang.T("check.output", behind))))
	}
	return lines
}

// list names the outputs of a verdict, with what speaks against them.
func list(lang msg.Lang, findings []oracle.Finding, v oracle.Verdict, label string, style report.Style) (lines []report.Line) {
	tr := lang.T
	n := 0
	for i := range findings {
		f := &findings[i]
		if f.Verdict != v {
			continue
		}
		if n++; n > mostListed {
			continue
		}
		var why []string
		for _, r := range f.Reasons {
			why = append(why, Reason(lang, r))
		}
		if v == oracle.Wrong && f.Worst != nil { // of statistics there is no place
			why = append(why, tr("check.where", patterns.Place(f.Worst), f.Expected, f.Found, f.Ratio))
		}
		if check := f.Check(); check.Pattern != "" {
			why = append(why, patterns.Line(lang, result.Pattern{Kind: check.Pattern, Explained: check.Explained, Evidence: check.Evidence}, f.Type))
		}
		name := fmt.Sprintf("%s:output:%d", f.Op, f.Index)
		if f.Rank >= 0 {
			name = tr("check.rank", f.Rank, name)
		}
		lines = append(lines, line(label, style, tr("check.at", name, f.Type, strings.Join(why, tr("report.also")))))
		label = ""
	}
	if n > mostListed {
		lines = append(lines, line("", report.Dim, tr("check.more", n-mostListed)))
	}
	return lines
}

// grouped tells why many outputs are not known: how many there are of each reason, the
// most frequent first, with one of them.
func grouped(lang msg.Lang, findings []oracle.Finding, label string, style report.Style) (lines []report.Line) {
	type group struct {
		n     int
		first *oracle.Finding
	}
	var groups []*group
	of := map[string]*group{}
	for i := range findings {
		f := &findings[i]
		if f.Verdict != oracle.Unknown || len(f.Reasons) == 0 {
			continue
		}
		// What statistics say besides is said of all that have nothing else.
		kind := string(f.Reasons[0].Kind)
		if f.Reasons[0].Kind == oracle.NoElements {
			kind = string(f.Last().Kind)
		}
		if of[kind] == nil {
			of[kind] = &group{first: f}
			groups = append(groups, of[kind])
		}
		of[kind].n++
	}
	slices.SortStableFunc(groups, func(a, b *group) int { return b.n - a.n })
	for i, g := range groups {
		if i == mostListed {
			lines = append(lines, line("", report.Dim, lang.T("check.more", len(groups)-mostListed)))
			break
		}
		name := fmt.Sprintf("%s:output:%d", g.first.Op, g.first.Index)
		named := Reason(lang, g.first.Reasons[0])
		if n := len(g.first.Reasons); n > 1 && g.first.Reasons[0].Kind == oracle.NoElements {
			named += lang.T("report.also") + Reason(lang, g.first.Reasons[n-1])
		}
		lines = append(lines, line(label, style, lang.T("check.group", lang.T("check.output", g.n), name, named)))
		label = ""
	}
	return lines
}
