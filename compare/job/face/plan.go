package face

import (
	"slices"
	"strings"
	"time"

	"precision/compare/job"
	"precision/compare/report"
	"precision/internal/msg"
	"precision/internal/progress"
)

// Plan says what a job comes to: what pairs with what, at most so many pairs of them,
// and what has no partner. rate, if not nil, gives the time it will take.
func Plan(lang msg.Lang, p *job.Plan, most int, rate *job.Rate) []report.Line {
	s := &speaker{lang: lang}
	ranks, steps, models, files := map[int]bool{}, map[int]bool{}, map[string]bool{}, 0
	for i := range p.Parts {
		x := &p.Parts[i]
		ranks[x.Rank], steps[x.Step], models[x.Model+" "+x.ModelID] = true, true, true
		files += x.Files
	}
	s.add("job", plain(s.say("plan", len(p.Parts), len(ranks), len(steps), progress.Size(p.Bytes()), files)))
	if len(models) > 1 {
		s.add("job", plain(s.say("models", len(models))))
	}
	graph := ""
	s.each("pairs", len(p.Parts), most, func(i int) {
		x := &p.Parts[i]
		line := s.say("pair", s.numberText(x.Step), s.numberText(x.Rank), progress.Size(x.Bytes), x.Left, x.Right)
		if x.Host != "" {
			line += s.say("pair.host", x.Host)
		}
		s.add("pairs", plain(line))
		if path, how := p.GraphOf(x); path != "" && path != graph {
			graph = path
			s.add("pairs", report.Segment{Text: s.say("pair.graph", path, s.how(how)), Style: report.Dim})
		}
	})
	if n := len(p.Meetings); n > 0 {
		types := map[string]bool{}
		for i := range p.Meetings {
			types[p.Meetings[i].Type] = true
		}
		var list []string
		for t := range types {
			list = append(list, t)
		}
		slices.Sort(list)
		s.add("collectives", plain(s.say("meetings", n, strings.Join(list, ", "))))
	}
	s.alone(p.Alone, most)
	if rate != nil {
		if d := rate.Of(p.Bytes()); d > 0 {
			perSecond := int64(float64(rate.Bytes) / max(rate.Took.Seconds(), 1e-9))
			s.add("time", plain(s.say("estimate", progress.Span(max(d, time.Millisecond)), progress.Size(perSecond), rate.Part)))
		}
	}
	return s.lines
}

func (s *speaker) how(how string) string {
	if key := "report.found." + strings.ReplaceAll(how, " ", "-"); s.lang.Has(key) {
		return s.lang.T(key)
	}
	if how == "given" {
		return s.say("given")
	}
	return how
}

// alone says what has no partner.
func (s *speaker) alone(list []job.Alone, most int) {
	s.each("alone", len(list), most, func(i int) {
		a := &list[i]
		text := s.say("alone", s.numberText(a.Step), s.numberText(a.Rank), s.say("alone."+a.Why))
		if a.Path != "" {
			text += s.say("colon") + a.Path
		}
		if a.Says != "" {
			text += s.say("bracket", a.Says)
		}
		s.add("alone", report.Segment{Text: text, Style: report.Suspect})
	})
}
