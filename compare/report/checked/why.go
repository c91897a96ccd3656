package checked

import (
	"precision/compare/oracle"
	"precision/compare/report/patterns"
	"precision/compare/result"
	"precision/internal/msg"
)

// Why is all there is to say of an output: what it is, and lines below that, the evidence of one
// indented.
func Why(lang msg.Lang, f *oracle.Finding) (head string, lines []string) {
	tr := lang.T
	name := result.TensorName(f.Op, result.Output, f.Index)
	if f.Rank >= 0 {
		name = tr("check.rank", f.Rank, name)
	}
	head = tr("why.output", name, f.Type, f.Shape, Verdict(lang, f.Verdict))
	for _, r := range f.Reasons {
		lines = append(lines, Reason(lang, r))
	}
	if f.Worst != nil {
		lines = append(lines, tr("check.where", patterns.Place(f.Worst), f.Expected, f.Found, f.Ratio))
	}
	if s := f.Split; s != nil {
		lines = append(lines, tr("why.split", s.Local, 100*s.LocalShare, s.Inherited, 100*s.InheritedShare))
		if s.Sensitive {
			lines = append(lines, tr("why.sensitive", s.Amplification))
		}
	}
	if f.Pattern == "acc16" {
		lines = append(lines, patterns.Kind(lang, f.Pattern))
	}
	for _, p := range f.Patterns {
		line := patterns.Kind(lang, string(p.Kind))
		if p.Explained > 0 {
			line += tr("why.explains", 100*p.Explained, p.Elements)
		} else {
			line += tr("why.concerns", p.Elements)
		}
		lines = append(lines, line)
		if evidence := patterns.Evidence(lang, &p); evidence != "" {
			lines = append(lines, "  "+evidence)
		}
	}
	if f.Verdict == oracle.Wrong && len(f.Patterns) == 0 && f.Pattern == "" {
		lines = append(lines, tr("why.none"))
	}
	return head, lines
}
