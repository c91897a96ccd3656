package report

import (
	"math"
	"strings"

	"precision/internal/each"
	"precision/preflight/trainlog"
)

// Log is what two training logs differ in.
type Log struct {
	*trainlog.Difference
	// Strict: what one side lacks fails a gate.
	Strict bool
}

// say has a plot of the losses, or of what parts first where that is not the loss.
func (d Log) say(t *Text) {
	count := func(is func(*trainlog.Quantity) bool) (n int) {
		for i := range d.Quantities {
			if is(&d.Quantities[i]) {
				n++
			}
		}
		return n
	}
	parts := count(func(q *trainlog.Quantity) bool { return q.Parts })
	falls := d.A.DropCount != d.B.DropCount
	t.epoch = d.A.ByEpoch && d.B.ByEpoch
	switch {
	case d.A.ByEpoch != d.B.ByEpoch:
		t.verdict(true, t.say("log.unlike"))
	case len(d.Quantities) == 0:
		t.verdict(true, t.say("log.nothing"))
	case parts > 0:
		text := t.say("log.differ", parts, len(d.Quantities))
		if falls {
			text += t.say("log.differ.also")
		}
		t.verdict(true, text)
	case falls:
		t.verdict(true, t.say("log.fall"))
	case d.Set() > 0:
		t.verdict(true, t.say("log.set", d.Set()))
	case d.Lacks() != "":
		t.verdict(true, t.say("log.lacks", name(d.Lacks())))
	case d.Blank():
		t.verdict(true, t.say("log.blank"))
	case d.Few() != nil:
		q := d.Few()
		t.verdict(true, t.say("log.few", name(q.Name), percent(abs(q.Drift)), q.Common))
	case d.Inconclusive():
		q, common, of, _ := d.Short()
		t.verdict(true, t.say("log.short", q.Name, int(common), int(of)))
	default:
		blank := count(func(q *trainlog.Quantity) bool { return q.Blank })
		text := t.say("log.same", len(d.Quantities)-blank)
		if blank > 0 {
			text += t.say("log.blank.some", blank)
		}
		if n := len(d.OnlyA) + len(d.OnlyB); n > 0 {
			text += t.say("log.alone", n)
		}
		t.verdict(false, text)
	}
	for _, side := range []struct {
		key string
		log *trainlog.Log
	}{{"a", d.A}, {"b", d.B}} {
		text, unit := name(side.log.Path), "log.lines"
		if side.log.Events {
			unit = "log.events"
		}
		text += t.say(unit, side.log.Lines)
		if side.log.Counted {
			text += t.say("log.counted")
		}
		if side.log.Torn != "" {
			text += t.say("log.torn", name(side.log.Torn))
		}
		if side.log.Replayed > 0 {
			text += t.say("log.replayed", side.log.Replayed)
		}
		if side.log.Epochs > 0 {
			text += t.say("log.epochs", side.log.Epochs)
		}
		t.label(side.key, text)
	}
	t.settings("settings", d.Settings[:d.Set()])
	t.settings("places", d.Settings[d.Set():])
	for i := range d.Quantities {
		from := len(t.spoken)
		t.quantity(&d.Quantities[i])
		lines := []string{t.spoken[from].label}
		for _, s := range t.spoken[from:] {
			lines = append(lines, s.text)
		}
		t.quantities = append(t.quantities, lines)
	}
	if d.Strict && d.Lost() {
		t.label("gate", t.paint(Bad, t.say("log.lost")))
	}
	if len(d.OnlyA) > 0 {
		t.label("only-a", name(strings.Join(d.OnlyA, t.say("and"))))
	}
	if len(d.OnlyB) > 0 {
		t.label("only-b", name(strings.Join(d.OnlyB, t.say("and"))))
	}
	t.drops(d)
	for i := range d.Quantities {
		q := &d.Quantities[i]
		if !t.bare && (q.Name == trainlog.Loss || q.Parts) {
			t.plot(q)
		}
	}
}

// settings says of settings of a kind what they are on either side.
func (t *Text) settings(key string, list []trainlog.Changed) {
	value := func(text *string) string {
		if text == nil {
			return t.say("log.unset")
		}
		return name(*text)
	}
	paint := func(text string) string {
		if key == "settings" {
			return t.paint(Bad, text)
		}
		return text
	}
	label := t.say("label." + key)
	shown := t.most(len(list))
	for _, s := range list[:shown] {
		t.line(label, paint(name(s.Name)+t.say("log.values", value(s.A), value(s.B))))
		label = ""
	}
	if more := len(list) - shown; more > 0 {
		t.line("", paint(t.say("log.more", more)))
	}
}

// quantity says of a series whether and where it parts.
func (t *Text) quantity(q *trainlog.Quantity) {
	text := ""
	switch {
	case q.Parts:
		args := []any{q.PartStep}
		if q.Why == trainlog.Leap {
			args = append(args, figure(1+q.Drift))
		}
		text = t.paint(Bad, t.say("log.why."+string(q.Why), args...)) + t.say("log.values", figure(q.PartA), figure(q.PartB))
		switch {
		case q.Why == trainlog.Noisier:
			text += t.say("log.noisier", percent(q.Drift), percent(q.Noise))
		case q.Why == trainlog.Leap:
			text += t.say("log.leap", figure(1+q.Noise))
		case q.Why == trainlog.Apart && q.Common > 1: // one value has no average
			text += t.say("log.drift", percent(abs(q.Drift)), percent(q.Noise))
		}
	case q.Blank:
		text = t.paint(Bad, t.say("log.says-nothing", q.Common))
	case q.Few:
		text = t.paint(Bad, t.say("log.undecided", percent(abs(q.Drift)), q.Common))
	default:
		text = t.paint(Good, t.say("log.together")) + t.say("log.steps", q.Common)
	}
	t.line(t.series(q.Name), text)
	if q.Parts && q.FirstStep < q.PartStep {
		t.line("", t.say("log.first", q.FirstStep, figure(q.FirstA), figure(q.FirstB)))
	}
}

// series is what people call a series.
func (t *Text) series(of string) string {
	if key := "preflight.series." + of; t.Lang.Has(key) {
		of = t.Lang.T(key)
	}
	return name(of)
}

func abs(v trainlog.Number) trainlog.Number { return max(v, -v) }

// drops says how the loss scale falls on either side.
func (t *Text) drops(d Log) {
	if d.A.DropCount+d.B.DropCount == 0 {
		return
	}
	for _, side := range []struct {
		name string
		log  *trainlog.Log
	}{{"A", d.A}, {"B", d.B}} {
		if side.log.DropCount == 0 {
			t.label("falls", t.say("log.nofall", side.name))
			continue
		}
		var steps []string
		low := side.log.Drops[0].To
		for i, drop := range side.log.Drops {
			low = min(low, drop.To)
			if i < 5 {
				steps = append(steps, t.say("log.drop", drop.Step, figure(drop.From), figure(drop.To)))
			}
		}
		text := t.say("log.falls", side.name, side.log.DropCount, figure(low), strings.Join(steps, t.say("and")))
		if side.log.DropCount > len(steps) {
			text += " …"
		}
		t.label("falls", text)
	}
}

func (d Log) page(p *pageData) {
	p.Verdict = verdictOf(d.Differs() || d.Strict && d.Lost(), d.Inconclusive())
	for _, s := range d.Settings {
		r := row{What: "changed", Key: s.Name}
		if s.A != nil {
			r.A = name(*s.A)
		}
		if s.B != nil {
			r.B = name(*s.B)
		}
		switch {
		case s.Place:
			r.What = "places"
		case s.A == nil:
			r.What = "only-b"
		case s.B == nil:
			r.What = "only-a"
		}
		p.Rows.add(r)
	}
	for i := range d.Quantities {
		q := &d.Quantities[i]
		c := curve{Name: name(q.Name), Stepped: q.Name == trainlog.Scale, Parts: q.Parts, PartStep: q.PartStep, Positive: true, Low: math.Inf(1)}
		c.StepsA, c.ValuesA = c.points(q.A)
		c.StepsB, c.ValuesB = c.points(q.B)
		if math.IsInf(c.Low, 1) {
			c.Low, c.Positive = 0, false
		}
		p.Curves = append(p.Curves, c)
	}
}

// json has no points.
func (d Log) json() map[string]any {
	quantities := each.Of(d.Quantities, func(q trainlog.Quantity) trainlog.Quantity {
		if !q.Parts {
			q.Parting = nil // is left out
		}
		return q
	})
	return map[string]any{
		"settings": d.Settings, "kind": "log", "differs": d.Differs(), "inconclusive": d.Inconclusive(), "lost": d.Lost(),
		"torn_a": d.A.Torn, "torn_b": d.B.Torn, "a": d.A.Path, "b": d.B.Path, "quantities": quantities, "only_a": d.OnlyA, "only_b": d.OnlyB,
		"loss_scale_falls_a": d.A.DropCount, "loss_scale_falls_b": d.B.DropCount, "falls_a": d.A.Drops, "falls_b": d.B.Drops,
	}
}
