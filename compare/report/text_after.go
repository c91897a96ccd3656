package report

import (
	"precision/compare/verdict"
)

// after adds to the headline what became of the roots of an earlier verdict.
func (s speaker) after(j *verdict.Judged, text string) string {
	a := j.After
	if a == nil {
		return text
	}
	n := map[verdict.AfterOutcome]int{}
	for i := range a.Roots {
		n[a.Roots[i].Outcome]++
	}
	switch {
	case n[verdict.AfterDecided] > 0 && n[verdict.AfterOpen] == 0:
		return text + s.say("after.decided")
	case n[verdict.AfterDecided] > 0:
		return text + s.say("after.some", n[verdict.AfterDecided], len(a.Roots))
	case n[verdict.AfterOpen] > 0:
		return s.say("after.none", len(a.Roots))
	}
	return s.say("after.agrees", len(a.Roots))
}

// after says what became of each root of an earlier verdict.
func (t Text) after(j *verdict.Judged) (lines []Line) {
	a := j.After
	if a == nil {
		return nil
	}
	s := t.speaker()
	for i := range a.Roots {
		r := &a.Roots[i]
		if rest := len(a.Roots) - i; i >= t.most() && rest > 1 {
			return append(lines, plainLine(s.say("more", "…", rest)))
		}
		l := Line{}
		if i == 0 {
			l.Label = s.say("label.after")
		}
		name := r.Op
		if r.Candidates > 1 {
			name = s.say("after.region", name, r.Candidates-1)
		}
		switch r.Outcome {
		case verdict.AfterDecided:
			var now []string
			for _, k := range r.Now {
				now = append(now, j.Operators[j.Roots[k].Operator].Op.Name)
			}
			l.add(Bad, s.say("after.is", name, s.list(now, t.most())))
		case verdict.AfterAgrees:
			l.add(Suspect, s.say("after.same", name))
		default:
			l.add(Suspect, s.say("after.open", name, r.Recorded, r.Candidates))
		}
		lines = append(lines, l)
	}
	return lines
}
