package report

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"precision/compare/result"
	"precision/compare/verdict"
)

// ground says what the verdict rests on: coverage, profile, pairing, recordings,
// bits, baseline and warnings.
func (t Text) ground(j *verdict.Judged) (lines []Line) {
	s := t.speaker()
	m := &j.Table.Meta
	last := ""
	add := func(label string, style Style, text string) {
		l := Line{Label: s.say("label." + label)}
		if label == last {
			l.Label = ""
		}
		last = label
		l.add(style, text)
		lines = append(lines, l)
	}
	coverage := s.say("coverage", j.Coverage.Compared, j.Coverage.Expected)
	if n := j.Coverage.Constants; n > 0 {
		coverage += s.say("coverage.constants", n)
	}
	if n := j.Coverage.Statistics; n > 0 && j.Verdict == verdict.Good {
		coverage += s.say("coverage.statistics", n)
	}
	add("coverage", Plain, coverage)
	if text := t.missing(j); text != "" {
		add("missing", Plain, text)
	}
	for i, text := range t.choices(j) {
		if i == t.most() {
			add("choices", Dim, s.say("choices.more"))
			break
		}
		add("choices", Plain, text)
	}
	add("profile", Plain, s.say("profile", j.Profile.Name, j.Profile.Hash()[:12]))
	if _, n := waived(j); n > 0 {
		add("waived", Plain, s.say("waived.count", n))
	}
	if n := j.Coverage.Waived; n > 0 {
		add("waived", Plain, s.say("waived.missing", n))
	}
	for _, w := range j.Expired {
		add("waived", Suspect, s.say("expired", strings.TrimSpace(w.Tensor+" "+string(w.Cause)), w.Expires.Format("2006-01-02")))
	}
	if text := t.unequal(j); text != "" {
		add("unequal", Plain, text)
	}
	if text := t.pairing(m); text != "" {
		add("pairing", Plain, text)
	}
	for _, why := range t.unreported(m.Pairing.Why) {
		note := notes[why.Kind]
		add(cmp.Or(note.label, "pairing"), note.style, Sentence(t.Lang, why))
	}
	if r := j.Rounded; r != nil && j.Verdict == verdict.Good {
		add("rounded", Plain, s.say("rounded", r.Count, r.Of, strconv.FormatFloat(r.Most, 'g', 2, 64)))
		if r.Products > 0 {
			add("rounded", Plain, s.say("rounded.products", r.Products))
		}
	}
	if b := j.Bits; b != nil && b.Equal+b.Differing > 0 {
		text := s.say("bits", b.Equal, b.Differing)
		if b.Differing == 0 {
			text = s.say("bits.equal", b.Equal)
		}
		if len(b.First) > 0 {
			var names []string
			for _, i := range b.First {
				names = append(names, j.Operators[i].Op.Name)
			}
			text += s.say("also") + s.say("bits.first", s.list(names, t.most()))
		}
		add("bits", Plain, text)
	}
	lines = append(lines, t.baseline(j)...)
	lines = append(lines, t.after(j)...)
	for i, w := range m.Warnings {
		if t.Warned {
			break
		}
		if rest := len(m.Warnings) - i; i >= t.most() && rest > 1 {
			add("warning", Dim, s.say("more", "…", rest))
			break
		}
		add("warning", Suspect, w)
	}
	return lines
}

// unequal names the outputs that are good though some of their integers differ.
func (t Text) unequal(j *verdict.Judged) string {
	s := t.speaker()
	var list []string
	for i := range j.Operators {
		for k := range j.Operators[i].Outputs {
			out := &j.Operators[i].Outputs[k]
			if differ, of := j.Unequal(out); differ > 0 {
				list = append(list, s.say("unequal", result.TensorName(j.Operators[i].Op.Name, result.Output, out.Slot), differ, of))
			}
		}
	}
	return s.list(list, t.most())
}

// choices tells of the choices that differ: how many of which operator, and that noise
// explains them.
func (t Text) choices(j *verdict.Judged) (list []string) {
	s := t.speaker()
	for i := range j.Operators {
		if s := j.Operators[i].State; s == verdict.StateBad || s == verdict.StateInherited {
			continue // they are not noise
		}
		for k := range j.Operators[i].Outputs {
			c := j.Row(&j.Operators[i].Outputs[k]).Chosen
			if c == nil || c.Differ == 0 {
				continue
			}
			text := s.say("choices", j.Operators[i].Op.Name, c.Differ, c.Choices)
			switch {
			case c.Unknown:
				text += s.say("choices.unknown")
			case c.Explained < c.Differ: // the profile lets them pass
				text += s.say("choices.some", c.Explained)
			default:
				text += s.say("choices.all")
			}
			list = append(list, text)
		}
	}
	return list
}

// missing says why tensors were not compared, the most frequent reason first.
func (t Text) missing(j *verdict.Judged) string {
	s := t.speaker()
	m := j.Coverage.Missing
	classes := slices.SortedFunc(maps.Keys(m), func(a, b result.Class) int { return cmp.Or(cmp.Compare(m[b], m[a]), cmp.Compare(a, b)) })
	var parts []string
	for _, c := range classes {
		parts = append(parts, s.say("missing", m[c], t.Lang.T("missing."+c.String())))
	}
	return strings.Join(parts, s.say("also"))
}

// waived counts outputs that the profile excuses, and operators that are good by it.
func waived(j *verdict.Judged) (ops, outputs int) {
	for i := range j.Operators {
		n := outputs
		for _, t := range j.Operators[i].Outputs {
			if slices.ContainsFunc(t.Causes, func(c verdict.Cause) bool { return c.Waived }) {
				outputs++
			}
		}
		if outputs > n && j.Operators[i].State == verdict.StateGood {
			ops++
		}
	}
	return ops, outputs
}

// unreported leaves out notes that a face has told.
func (t Text) unreported(notes []result.Reason) []result.Reason {
	if t.Warned {
		return nil
	}
	return notes
}

// notes are the places of reasons that speak of the table as a whole.
var notes = map[result.Kind]struct {
	label string
	style Style
}{
	result.OtherRecordings:   {"recording", Suspect},
	result.SeveralOfOperator: {"recording", Suspect},
	result.BatchDiffers:      {"warning", Suspect},
	result.ShapesMostly:      {"warning", Suspect},
	result.SameSides:         {"warning", Suspect},
}

// pairing says how tensors were brought together.
func (t Text) pairing(m *result.Meta) string {
	s := t.speaker()
	if m.Pairing.How != result.ByGraph {
		if m.Pairing.How == "" {
			return ""
		}
		return s.say("way." + string(m.Pairing.How))
	}
	graph := m.Graph
	if m.GraphHow != "" && m.GraphHow != "given" {
		how := m.GraphHow
		if key := "found." + strings.ReplaceAll(how, " ", "-"); t.Lang.Has("report." + key) {
			how = s.say(key)
		}
		graph = s.say("named", graph, how)
	}
	return s.say("pairing", s.say("way.graph"), graph)
}

// baseline says what became of errors since an earlier table.
func (t Text) baseline(j *verdict.Judged) []Line {
	b := j.Baseline
	if b == nil {
		return nil
	}
	s := t.speaker()
	l := Line{Label: s.say("label.baseline")}
	l.add(Plain, s.say("baseline", b.Time, len(b.Regressions), len(b.Improved), b.Same, b.New))
	lines := []Line{l}
	list := func(key string, style Style, changes []verdict.Change) {
		for i, c := range changes {
			if rest := len(changes) - i; i >= t.most() && rest > 1 {
				lines = append(lines, plainLine(s.say("more", "…", rest)))
				return
			}
			var l Line
			l.add(style, s.say(key, c.Tensor, figure(c.Before, c.Now), figure(c.Now, c.Before)))
			lines = append(lines, l)
		}
	}
	list("regression", Bad, b.Regressions)
	list("improved", Good, b.Improved)
	return lines
}

// Trips says what a gate stops at.
func (t Text) Trips(j *verdict.Judged, trips []verdict.Trip) (lines []Line) {
	s := t.speaker()
	for i, trip := range trips {
		l := Line{}
		if i == 0 {
			l.Label = s.say("label.gate")
		}
		if rest := len(trips) - i; i >= t.most() && rest > 1 {
			l.add(Dim, s.say("trip.rest", rest))
			return append(lines, l)
		}
		l.add(Bad, s.trip(j, &trip))
		lines = append(lines, l)
	}
	return lines
}

func (s speaker) trip(j *verdict.Judged, t *verdict.Trip) string {
	key := "trip." + string(t.Kind)
	if t.Loss != nil {
		return s.say(key, s.loss(t.Loss))
	}
	name := t.Tensor
	switch {
	case t.Row >= 0:
		row := &j.Table.Rows[t.Row]
		name = cmp.Or(name, row.Tensor(), row.Op)
	case name == "":
		return s.say(key)
	}
	value, limit := figure(t.Value, t.Limit), figure(t.Limit, t.Value)
	switch t.Kind {
	case verdict.TripRegression:
		return s.say(key, name, limit, value)
	case verdict.TripCosine, verdict.TripScalar:
		return s.say(key, name, value, limit)
	}
	return s.say(key, name)
}
