package face

import (
	"strconv"
	"strings"

	"precision/compare/job"
	"precision/compare/report"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/internal/each"
	"precision/internal/msg"
)

// most is how many of everything that may be long are told.
const most = 10

// styles are those of verdicts by their names.
var styles = map[string]report.Style{"good": report.Good, "suspect": report.Suspect, "bad": report.Bad, "inconclusive": report.Suspect, "failed": report.Bad}

// Result says what became of a job.
func Result(lang msg.Lang, r *job.Result) []report.Line {
	s := &speaker{lang: lang}
	s.add("verdict", report.Segment{Text: s.say("verdict." + r.Verdict), Style: styles[r.Verdict]}, plain(s.say("colon")+s.counts(r)))
	if p := r.Premise; p != nil {
		var of []report.Segment
		if p.Part != "" {
			of = append(of, plain(p.Part+s.say("colon")))
		}
		s.add("premise", append(of, report.Segment{Text: report.Sentence(lang, p.Reason), Style: report.Suspect})...)
		s.add("premise", plain(lang.T("report.do."+p.Kind.Advice(p.Reason))))
	}
	s.after(r.After)
	for i, m := range r.Mets {
		if m != nil && m.Verdict == job.MetWrong {
			s.collective(&r.Plan.Meetings[i], m)
		}
	}
	s.origins(r)
	s.deviations(r)
	s.checked(r)
	s.failed(r)
	s.together(r)
	s.damaged(r)
	s.alone(r.Plan.Alone, most)
	return s.lines
}

// after says what became of the roots of an earlier result.
func (s *speaker) after(a *job.After) {
	if a == nil {
		return
	}
	s.list("after", most, each.Of(a.Roots, func(root job.AfterRoot) report.Segment {
		name := root.Op
		if root.Candidates > 1 {
			name = s.lang.T("report.after.region", name, root.Candidates-1)
		}
		switch root.Outcome {
		case verdict.AfterDecided:
			return report.Segment{Text: s.lang.T("report.after.is", name, strings.Join(root.Now, s.say("and"))), Style: report.Bad}
		case verdict.AfterAgrees:
			return report.Segment{Text: s.lang.T("report.after.same", name), Style: report.Suspect}
		}
		return report.Segment{Text: s.lang.T("report.after.open", name, root.Recorded, root.Candidates), Style: report.Suspect}
	}))
}

// counts says how many parts have which verdict.
func (s *speaker) counts(r *job.Result) string {
	var parts []string
	for _, v := range []string{"bad", "suspect", "good", "inconclusive", "failed"} {
		if n := r.Counts[v]; n > 0 {
			parts = append(parts, s.say("count", n, s.say("verdict."+v)))
		}
	}
	text := s.say("counts", len(r.Digests), strings.Join(parts, s.say("and")))
	if r.Plan.Chosen != "" {
		text += s.say("chosen", r.Plan.Chosen)
	}
	for i := range r.Losses {
		if l := &r.Losses[i]; l.Breaks || r.Verdict == "good" {
			text += s.lang.T("report.also") + report.LossText(s.lang, l)
		}
	}
	if r.Itself() {
		text += s.lang.T("report.itself")
	}
	return text
}

// together says what became of ranks that were to be put together, and whose dtypes differ; what is so of several parts once.
func (s *speaker) together(r *job.Result) {
	var list []report.Segment
	known := map[string]bool{}
	for _, d := range r.Digests {
		for _, why := range d.Together {
			if text := report.Sentence(s.lang, why); !known[text] {
				known[text] = true
				list = append(list, plain(text))
			}
		}
	}
	s.list("pairs", most, list)
}

// damaged says what is damaged of which part.
func (s *speaker) damaged(r *job.Result) {
	var list []report.Segment
	for i, d := range r.Digests {
		x := &r.Plan.Parts[i]
		for _, one := range d.Damaged {
			text := report.DamageText(s.lang, &one)
			list = append(list, report.Segment{Text: s.say("alone", s.numberText(x.Step), s.numberText(x.Rank), text), Style: report.Suspect})
		}
	}
	s.list("damaged", most, list)
}

// collective says what is wrong with an operator that ranks ran together.
func (s *speaker) collective(m *job.Meeting, met *job.Met) {
	name := m.Op
	if len(met.Ops) > 0 {
		name = met.Ops[0]
	}
	s.add("collective", report.Segment{Text: m.Type + " " + name, Style: report.Bad}, plain(s.say("at.step", s.numberText(m.Step))))
	for _, f := range met.Faults {
		s.add("collective", plain(Fault(s.lang, &f)))
	}
	s.add("collective", report.Segment{Text: s.group(met), Style: report.Dim})
}

// Fault says what is wrong with the outputs of some ranks.
func Fault(lang msg.Lang, f *job.Fault) string {
	key := "job.fault." + f.Kind
	text := ""
	if of := key + ".of"; lang.Has(of) && (f.Rank >= 0 || !lang.Has(key)) {
		text = lang.T(of, f.Ranks, f.Rank)
	} else {
		text = lang.T(key, f.Ranks)
	}
	if f.Of > 0 {
		text += lang.T("job.fault.elements", int(f.Elements), int(f.Of), figure(f.Expected), figure(f.Found))
	}
	return text
}

// Why says why nothing is known of a meeting.
func Why(lang msg.Lang, m *job.Met) string {
	args := each.Of(m.Args, func(x string) any { return x })
	return lang.T("job.why."+m.Why, args...)
}

func figure(n result.Number) string { return strconv.FormatFloat(float64(n), 'g', 6, 64) }

func (s *speaker) group(m *job.Met) string {
	groups := m.Groups
	if len(groups) > 4 {
		groups = append(groups[:4:4], "…")
	}
	return s.say("group."+m.How, strings.Join(groups, " | "))
}

// list adds the first of many lines, and how many more there are.
func (s *speaker) list(label string, most int, all []report.Segment) {
	for i, one := range all {
		if i == most {
			s.add(label, report.Segment{Text: s.say("more", len(all)-most), Style: report.Dim})
			return
		}
		s.add(label, one)
	}
}

// origins says where errors begin.
func (s *speaker) origins(r *job.Result) {
	s.each("root", len(r.Origins), most, func(i int) { s.origin(&r.Origins[i]) })
}

// each says something of each of n, and of those beyond most how many there are.
func (s *speaker) each(label string, n, most int, say func(i int)) {
	for i := range n {
		if rest := n - i; i >= most && rest > 1 {
			s.add(label, report.Segment{Text: s.say("more", rest), Style: report.Dim})
			return
		}
		say(i)
	}
}

// Origin says what is known of a place where errors begin.
func Origin(lang msg.Lang, o *job.Origin) []report.Line {
	s := &speaker{lang: lang}
	s.origin(o)
	return s.lines
}

func (s *speaker) origin(o *job.Origin) {
	label := "root"
	if o.Through || o.Later {
		label = "inherited"
	}
	cause := ""
	if o.Cause != "" {
		cause = s.say("bracket", report.CauseSize(s.lang, verdict.Kind(o.Cause), float64(o.Value)))
	}
	s.add(label, report.Segment{Text: strings.TrimSpace(o.Type + " " + result.TensorName(o.Op, result.Output, o.Output)), Style: styles[o.Verdict]}, plain(cause))
	s.add(label, plain(s.scope(o)))
	if a := o.Argument; a != nil {
		s.add(label, plain(s.say("argument", a.Place, a.Left, a.Right)))
	}
	if len(o.Places) > 0 {
		s.add(label, plain(s.say("places", len(o.Places), o.Places[0])))
	}
	s.list(label, mostReached, each.Of(o.Reached, func(x job.Reach) report.Segment {
		return plain(s.say("reached", s.numberText(x.Step), s.numberText(x.Rank), x.Op))
	}))
}

// mostReached is how many of the recordings that an error arrives in are told.
const mostReached = 3

// scope says which ranks have an origin, and what that speaks for.
func (s *speaker) scope(o *job.Origin) string {
	text := s.say("scope."+o.Scope, s.numberText(o.First), o.Ranks)
	if o.Calls && o.Scope == job.ScopeRank { // what a program called there speaks for no hardware
		text = s.say("scope.calls", s.numberText(o.First), o.Ranks)
	}
	if o.Scope == job.ScopeHost {
		text = s.say("scope.host", s.numberText(o.First), o.Ranks, o.Host)
	}
	if o.Collective {
		text = s.say("self", s.numberText(o.First), o.Ranks)
	}
	if o.Through {
		text = s.say("through", s.numberText(o.First), o.Ranks, o.From)
	}
	if o.Later {
		text += s.say("later")
	}
	if o.Steps != strconv.Itoa(o.First) && o.First >= 0 {
		text += s.say("steps", o.Steps)
	}
	return text
}

// deviations says which ranks have tensors of their own.
func (s *speaker) deviations(r *job.Result) {
	s.each("peers", len(r.Deviations), most, func(i int) {
		d := &r.Deviations[i]
		key := "deviation"
		if d.Tie {
			key = "deviation.tie"
		}
		text := s.say(key, d.Tensor, s.numberText(d.Step), d.Ranks, d.Of)
		if d.Groups > 1 {
			text += s.say("deviation."+d.Way, d.Groups)
		}
		s.add("peers", report.Segment{Text: text, Style: report.Suspect})
	})
}

// checked counts the collectives that are right, and those of which nothing is known.
func (s *speaker) checked(r *job.Result) {
	counts := map[string]int{}
	why := ""
	for _, m := range r.Mets {
		if m != nil {
			counts[m.Verdict]++
			if m.Verdict == job.MetUnknown && why == "" {
				why = Why(s.lang, m)
			}
		}
	}
	if len(r.Mets) == 0 {
		return
	}
	s.add("collectives", plain(s.say("collectives", counts[job.MetOK], counts[job.MetWrong], counts[job.MetUnknown])))
	if why != "" {
		s.add("collectives", report.Segment{Text: s.say("unknown.first", why), Style: report.Dim})
	}
}

// failed says which parts could not be compared.
func (s *speaker) failed(r *job.Result) {
	var list []report.Segment
	for i, d := range r.Digests {
		if x := &r.Plan.Parts[i]; d.Failed != "" {
			list = append(list, report.Segment{Text: s.say("failed", s.numberText(x.Step), s.numberText(x.Rank), d.Failed), Style: report.Bad})
		}
	}
	s.list("failed", most, list)
}

// Part is what there is to say of a part in a line.
func Part(lang msg.Lang, d *job.Digest) string {
	if d.Failed != "" {
		return report.Clean(d.Failed)
	}
	text := lang.T("job.verdict."+d.Verdict) + ", " + strconv.Itoa(d.Compared) + "/" + strconv.Itoa(d.Expected)
	for i := range d.Roots {
		if i == 3 {
			text += " …"
			break
		}
		text += "; " + strings.TrimSpace(d.Roots[i].Type+" "+d.Roots[i].Tensor())
	}
	return report.Clean(text)
}
