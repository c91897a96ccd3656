package report

import (
	"strings"

	"precision/compare/result"
	"precision/compare/verdict"
	"precision/internal/msg"
)

// inconclusive says why there is no verdict.
func (s speaker) inconclusive(j *verdict.Judged) string {
	if p := broken(j); p != nil {
		return Sentence(s.lang, p.Reason)
	}
	if !j.Coverage.Enough() {
		return s.say("inconclusive", j.Coverage.Compared, j.Coverage.Expected)
	}
	for i := range j.Losses {
		if l := &j.Losses[i]; l.Breaks {
			return s.loss(l)
		}
	}
	return ""
}

// without says what a good verdict does without.
func (s speaker) without(j *verdict.Judged) string {
	text := ""
	for i := range j.Losses {
		text += s.say("also") + s.loss(&j.Losses[i])
	}
	return text
}

// mostLost is how many names are told of a loss.
const mostLost = 5

// LossText says what a verdict does without.
func LossText(lang msg.Lang, l *verdict.Loss) string { return speaker{lang}.loss(l) }

// DamageText says what is damaged, where, and how one knows.
func DamageText(lang msg.Lang, d *result.Damage) string { return speaker{lang}.damage(d) }

// loss says what was lost.
func (s speaker) loss(l *verdict.Loss) string {
	shown := l.Names[:min(len(l.Names), mostLost)]
	names := s.list(shown, len(shown))
	if rest := l.Count - len(shown); rest > 0 && len(shown) > 0 {
		names = s.say("more", names, rest)
	}
	if l.Kind == verdict.LossTable {
		return s.say("loss." + string(l.Kind))
	}
	text := s.say("loss."+string(l.Kind), l.Count, l.Of, names)
	if l.Kind == verdict.LossGraph && names != "" { // tables of earlier versions have none
		text = s.say("loss.graph.names", text, names)
	}
	return text
}

// Damage lists what was recorded and cannot be believed; say puts how one knows into words.
func (t Text) Damage(list []result.Damage, say func(msg.Lang, result.Reason) string) (lines []Line) {
	s := t.speaker()
	for i := range list {
		d := &list[i]
		l := Line{}
		if i == 0 {
			l.Label = s.say("label.damaged")
		}
		if rest := len(list) - i; i >= t.most() && rest > 1 {
			l.add(Dim, s.say("damage.rest", rest))
			return append(lines, l)
		}
		l.add(Suspect, s.damageBy(d, say(s.lang, d.Reason)))
		lines = append(lines, l)
	}
	return lines
}

// damage says what is damaged, where, and how one knows.
func (s speaker) damage(d *result.Damage) string { return s.damageBy(d, Sentence(s.lang, d.Reason)) }

func (s speaker) damageBy(d *result.Damage, how string) string {
	text := d.Name
	switch {
	case strings.Contains(how, d.File): // the reader's error has the file and the place
	case d.File != "" && d.Offset >= 0:
		text += s.say("damage.at", d.File, int(d.Offset))
	case d.File != "":
		text += s.say("damage.in", d.File)
	}
	return text + s.say("colon") + how
}
