package report

import (
	"math"

	"precision/compare/result"
	"precision/compare/verdict"
	"precision/dump/dtype"
	"precision/internal/msg"
)

// CauseText says what is wrong with a row, with what was measured and what is
// allowed: "cosine similarity 0.41, below 0.98".
func CauseText(lang msg.Lang, r *result.Row, c *verdict.Cause) string {
	s := speaker{lang}
	text := s.cause(r, c)
	if c.Waived {
		text += s.say("waived")
	}
	return text
}

// CauseName names a cause in a word or two: "cosine".
func CauseName(lang msg.Lang, k verdict.Kind) string { return speaker{lang}.say("short." + string(k)) }

// CauseSize names a cause with how far something is off, where it says that: "cosine 0.93", "argument".
func CauseSize(lang msg.Lang, k verdict.Kind, value float64) string {
	name := CauseName(lang, k)
	if says(k) || math.IsNaN(value) {
		return name
	}
	return name + " " + Figure(value)
}

// says tells of a kind of cause that it is all there is to say: no number measures it.
func says(k verdict.Kind) bool {
	switch k {
	case verdict.Imaginary, verdict.Form, verdict.Argument, verdict.Alone, verdict.Given, verdict.NotFinite:
		return true
	}
	return false
}

func (s speaker) cause(r *result.Row, c *verdict.Cause) string {
	key := "cause." + string(c.Kind)
	facts := &r.Result().Facts
	count, of, first := int(c.Count), int(c.Of), int(c.First)
	value, limit := figure(c.Value, c.Limit), figure(c.Limit, c.Value)
	if says(c.Kind) {
		return s.say(key)
	}
	switch c.Kind {
	case verdict.NaN, verdict.Inf:
		if c.Count == 0 || c.First < 0 {
			return s.say("cause.nan-some")
		}
		places := facts.NaN
		if c.Kind == verdict.Inf {
			places = facts.Inf
		}
		switch {
		case places.X > 0 && places.Y == 0:
			key += "-left"
		case places.Y > 0 && places.X == 0:
			key += "-right"
		}
		return s.say(key, count, of, first)
	case verdict.Integers:
		return s.say(key, count, of, s.percent(c.Limit), first)
	case verdict.Tolerance:
		return s.say(key, count, of, s.percent(c.Limit))
	case verdict.Zeros:
		if facts.X.Zero == facts.N {
			return s.say(key+"-left", value)
		}
		return s.say(key+"-right", value)
	case verdict.Saturated:
		return s.say(key, r.Left.DType.String(), count, of)
	case verdict.Underflow:
		return s.say(key, dtype.Coarser(r.Left.DType, r.Right.DType).String())
	case verdict.Differs:
		if r.Has(result.NoLeftCall) || r.Has(result.NoRightCall) {
			return s.say("cause.alone")
		}
		if r.Recorded == nil {
			return s.say("cause.given")
		}
		if math.IsNaN(c.Value) {
			return s.say("cause.differs-some")
		}
		return s.say(key, value)
	case verdict.Unexplained:
		return s.say(key, value)
	}
	if math.IsNaN(c.Value) {
		return s.say("cause.limit", s.say("short."+string(c.Kind)), value, limit)
	}
	return s.say(key, value, limit)
}
