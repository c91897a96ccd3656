package report

import (
	"strings"

	"precision/compare/result"
	"precision/compare/verdict"
)

// stored is the headline of tensors that were stored under names, empty for other tables and where it is not known enough.
func (s speaker) stored(j *verdict.Judged) string {
	if !j.Table.Meta.Stored || j.Table.Meta.Pairing.OfItself() {
		return ""
	}
	switch j.Verdict {
	case verdict.Good:
		return s.say("stored.good", j.Coverage.Compared, j.Coverage.Expected)
	case verdict.Bad:
		return s.say("stored.bad", j.Counts[verdict.StateBad], j.Coverage.Expected)
	case verdict.Suspect:
		return s.say("stored.suspect", j.Counts[verdict.StateSuspect], j.Coverage.Expected)
	}
	return ""
}

// related are the lines about a stored tensor that differs: how it is related to that of the other side, else which limits it
// does not keep.
func (s speaker) related(row *result.Row, r *verdict.Root) (lines []Line) {
	for _, reason := range row.Reasons {
		if k := reason.Kind; strings.HasPrefix(string(k), "weight-") || k == result.StoredShape || k == result.StoredDiffers {
			lines = append(lines, plainLine(Sentence(s.lang, reason)))
		}
	}
	var limits []verdict.Cause
	for _, c := range r.Causes {
		if c.Kind != verdict.Given && c.Kind != verdict.Form && c.Kind != verdict.Differs {
			limits = append(limits, c)
		}
	}
	if len(limits) > 0 {
		lines = append(lines, plainLine(strings.Join(s.causes(row, limits), s.say("also"))))
	}
	return lines
}
