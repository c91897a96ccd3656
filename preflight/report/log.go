package report

import (
	"strings"

	"precision/preflight/trainlog"
)

// Log says what two training logs differ in, with a plot of the losses, or of
// what parts first where that is not the loss.
func (t Text) Log(d *trainlog.Difference) string {
	t.log(d)
	return t.b.String()
}

func (t *Text) log(d *trainlog.Difference) {
	parts := 0
	for i := range d.Quantities {
		if d.Quantities[i].Parts {
			parts++
		}
	}
	t.epoch = d.A.ByEpoch && d.B.ByEpoch
	switch {
	case d.A.ByEpoch != d.B.ByEpoch:
		t.verdict(true, t.say("log.unlike"))
	case len(d.Quantities) == 0:
		t.verdict(true, t.say("log.nothing"))
	case d.Set() > 0 && parts == 0 && d.A.DropCount == d.B.DropCount:
		t.verdict(true, t.say("log.set", d.Set()))
	case parts > 0:
		text := t.say("log.differ", parts, len(d.Quantities))
		if d.A.DropCount != d.B.DropCount {
			text += t.say("log.differ.also")
		}
		t.verdict(true, text)
	case d.A.DropCount != d.B.DropCount:
		t.verdict(true, t.say("log.fall"))
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
		blank := 0
		for i := range d.Quantities {
			if d.Quantities[i].Blank {
				blank++
			}
		}
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
		key  string
		log  *trainlog.Log
		only []string
	}{{"a", d.A, d.OnlyA}, {"b", d.B, d.OnlyB}} {
		text := name(side.log.Path)
		if side.log.Events {
			text += t.say("log.events", side.log.Lines)
		} else {
			text += t.say("log.lines", side.log.Lines)
		}
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
	for i := range d.Settings {
		t.setting(d, i)
	}
	for i := range d.Quantities {
		t.quantity(&d.Quantities[i])
	}
	if t.Strict && d.Lost() {
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

// setting says of a setting what it is on either side, of those of a kind as many as a list has.
func (t *Text) setting(d *trainlog.Difference, i int) {
	first, n := 0, d.Set()
	s := &d.Settings[i]
	key := "settings"
	if s.Place {
		key, first, n = "places", n, len(d.Settings)-n
	}
	at := i - first
	if t.Most > 0 && at > t.Most {
		return
	}
	value := func(text string, there bool) string {
		if !there {
			return t.say("log.unset")
		}
		return name(text)
	}
	text := name(s.Name) + t.say("log.values", value(s.A, s.InA), value(s.B, s.InB))
	if t.Most > 0 && at == t.Most {
		text = t.say("log.more", n-at)
	}
	if !s.Place {
		text = t.paint(Bad, text)
	}
	if at == 0 {
		t.label(key, text)
	} else {
		t.line("", text)
	}
}

// quantity says of a series whether and where it parts.
func (t *Text) quantity(q *trainlog.Quantity) {
	var text string
	switch {
	case q.Blank && !q.Parts:
		text = t.paint(Bad, t.say("log.says-nothing", q.Common))
	case q.Few:
		text = t.paint(Bad, t.say("log.undecided", percent(abs(q.Drift)), q.Common))
	case !q.Parts:
		text = t.paint(Good, t.say("log.together")) + t.say("log.steps", q.Common)
	case q.Why == trainlog.Noisier:
		text = t.paint(Bad, t.say("log.why.noise", q.PartStep)) + t.say("log.values", figure(q.PartA), figure(q.PartB)) +
			t.say("log.noisier", percent(q.Drift), percent(q.Noise))
	case q.Why == trainlog.Leap:
		text = t.paint(Bad, t.say("log.why.leap", q.PartStep, figure(1+q.Drift))) + t.say("log.values", figure(q.PartA), figure(q.PartB)) +
			t.say("log.leap", figure(1+q.Noise))
	case q.Why == trainlog.Apart:
		text = t.paint(Bad, t.say("log.why.apart", q.PartStep)) + t.say("log.values", figure(q.PartA), figure(q.PartB))
		if q.Common > 1 { // one value has no average
			text += t.say("log.drift", percent(abs(q.Drift)), percent(q.Noise))
		}
	default:
		text = t.paint(Bad, t.say("log.why."+string(q.Why), q.PartStep)) + t.say("log.values", figure(q.PartA), figure(q.PartB))
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

func abs(v float64) float64 { return max(v, -v) }

// drops says how the loss scale falls on either side.
func (t *Text) drops(d *trainlog.Difference) {
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
