package verdict

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/dump/dtype"
)

// Profile says what is allowed. The zero Profile is not ready for use; take
// [Default] or read one with [ParseProfile].
type Profile struct {
	Name string
	// Date is that of the standard it writes down, as 2026-03-31; may be
	// empty.
	Date string
	// Standard names what the limits come from.
	Standard string
	Rules    []Rule
	Waivers  []Waiver
	// Maps are calls of recordings that do the same under other names.
	Maps []result.Map
	// Source is the text the profile was read from; its hash is what Hash
	// gives.
	Source string
	// changed are limits set from outside, which are part of the hash.
	changed []Limit
	rules   map[Kind]*ruling
	// waiverGlobs tell of many waivers which may match a name; nil for few.
	waiverGlobs *globs
}

// index makes rules and waivers quick to find, once all are there.
func (p *Profile) index() {
	p.rules = map[Kind]*ruling{}
	for i := range p.Rules {
		r := p.rules[p.Rules[i].Cause]
		if r == nil {
			r = &ruling{}
			p.rules[p.Rules[i].Cause] = r
		}
		r.list = append(r.list, &p.Rules[i])
	}
	for _, r := range p.rules {
		r.globs = newGlobs(len(r.list), func(i int) string { return r.list[i].Match })
	}
	p.waiverGlobs = newGlobs(len(p.Waivers), func(i int) string { return p.Waivers[i].Tensor })
}

// Limit is what a cause may come to.
type Limit struct {
	Cause Kind
	Value float64 `column:"limit"`
}

// Rule sets the limit of a cause for the tensors it matches. Empty conditions
// match all. Of the rules of a cause the first that matches counts.
type Rule struct {
	// Match is a glob over the operator's name, as */attention/*; a star
	// stands for any text, slashes included.
	Match string
	// Types are operator types, DType is the name of the coarser dtype of the
	// two sides, Role "output" or "input".
	Types       []string
	DType, Role string
	Cause       Kind
	// Limit is the largest value that is still good (for cosine the
	// smallest). Off: the cause is not looked for.
	Limit float64
	Off   bool
	// Abs and Rel are atol and rtol of the cause tolerance.
	Abs, Rel float64
	// Why says to people what the rule is for.
	Why string
}

// Waiver excuses a cause of a tensor.
type Waiver struct {
	// Tensor is a glob over tensor names, as conv1:output:0.
	Tensor string
	// Cause is what is excused; empty excuses all.
	Cause         Kind
	Reason, Owner string
	// Expires is the last day on which it counts, as 2026-12-31.
	Expires time.Time
	Line    int
}

// Hash is the SHA-256 of what the profile says, in hex.
func (p *Profile) Hash() string {
	sum := sha256.New()
	sum.Write([]byte(p.Source))
	for _, c := range p.changed {
		fmt.Fprintf(sum, "\n%s %g", c.Cause, c.Value)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// WithLimit is the profile with one limit in front of all rules, as an option
// of the command line sets it.
func (p *Profile) WithLimit(cause Kind, limit float64) (*Profile, error) {
	r := Rule{Cause: cause, Limit: limit}
	if err := r.check(); err != nil {
		return nil, err
	}
	c := *p
	c.Rules = append([]Rule{r}, p.Rules...)
	c.changed = append(p.Changes(), Limit{cause, limit})
	c.index()
	c.Name = p.Name + " with " + string(cause) + " " + fmt.Sprint(limit)
	return &c, nil
}

// Changes are the limits that [Profile.WithLimit] set, the first ones first.
func (p *Profile) Changes() []Limit { return slices.Clone(p.changed) }

// check tells what is wrong with a rule.
func (r *Rule) check() error {
	at := r.Cause.Place()
	switch {
	case r.Cause == "":
		return fmt.Errorf("a rule without a cause, expected one of %s", kindList())
	case at < 0:
		return fmt.Errorf("there is no cause %q, expected one of %s", r.Cause, kindList())
	case r.Off:
		return nil
	}
	low, high := kinds[at].limits[0], kinds[at].limits[1]
	if math.IsNaN(r.Limit) || r.Limit < low || r.Limit > high {
		return fmt.Errorf("the limit of %s is %g, expected %g to %g", r.Cause, r.Limit, low, high)
	}
	if r.Cause == Tolerance && !(r.Abs >= 0 && r.Rel >= 0 && r.Abs+r.Rel > 0 && r.Abs <= math.MaxFloat32 && r.Rel <= 1e6) {
		return fmt.Errorf("the tolerance is atol %g and rtol %g, expected numbers of 0 or more, at least one above 0", r.Abs, r.Rel)
	}
	return nil
}

func kindList() string {
	var names []string
	for _, k := range Kinds() {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}

// subject is what a rule is matched against.
type subject struct {
	op, typ string
	dtype   dtype.Type
	role    result.Role
}

// about is what rules are matched against for a tensor of an operator, which for
// an output seen at a consumer is not what its row names.
func (j *judge) about(op *Operator, t *Tensor) subject {
	r := &j.table.Rows[t.Row]
	s := subject{op.Op.Name, op.Op.Type, coarserOf(r), r.Role}
	if t.Seen {
		s.role = result.Output
	} else if r.Type != "" {
		s.typ = r.Type
	}
	return s
}

// tensorName is the name of a tensor in waivers.
func (j *judge) tensorName(op *Operator, t *Tensor) string {
	if t.Seen {
		return result.TensorName(op.Op.Name, result.Output, t.Slot)
	}
	return j.table.Rows[t.Row].Tensor()
}

func (r *Rule) matches(s subject) bool {
	return (len(r.Types) == 0 || slices.Contains(r.Types, s.typ)) && (r.Role == "" || r.Role == s.role.String()) &&
		(r.DType == "" || r.DType == s.dtype.String()) && (r.Match == "" || Glob(r.Match, s.op))
}

// ruling are the rules of one cause, in order, with globs where they are many.
type ruling struct {
	list  []*Rule
	globs *globs
}

// rule is the first rule of a cause for a subject, nil if there is none.
func (p *Profile) rule(cause Kind, s subject) *Rule {
	of := p.rules[cause]
	if of == nil {
		return nil
	}
	if of.globs != nil {
		for _, i := range of.globs.of(s.op) {
			if r := of.list[i]; r.matches(s) {
				return r
			}
		}
		return nil
	}
	for _, r := range of.list {
		if r.matches(s) {
			return r
		}
	}
	return nil
}

// limit is what a cause may come to for a subject; ok is false if the cause is
// not looked for.
func (p *Profile) limit(cause Kind, s subject) (limit float64, ok bool) {
	if r := p.rule(cause, s); r != nil {
		return r.Limit, !r.Off
	}
	limit = kinds[cause.Place()].initial
	return limit, limit != off
}

// ToleranceFor is what elements of a dtype may be off by, for the metrics to
// count those that are not; the zero Tolerance if the profile does not ask.
func (p *Profile) ToleranceFor(op, typ string, t dtype.Type) metric.Tolerance {
	if p.rules[Tolerance] == nil {
		return metric.Tolerance{}
	}
	for _, role := range []result.Role{result.Output, result.Input} {
		if r := p.rule(Tolerance, subject{op, typ, t, role}); r != nil && !r.Off {
			return metric.Tolerance{Abs: r.Abs, Rel: r.Rel}
		}
	}
	return metric.Tolerance{}
}

// waive marks the causes of a tensor that a waiver of the day excuses.
func (p *Profile) waive(tensor string, causes []Cause, day time.Time) {
	if len(causes) == 0 {
		return
	}
	if p.waiverGlobs != nil {
		for _, w := range p.waiverGlobs.of(tensor) {
			p.Waivers[w].waive(tensor, causes, day)
		}
		return
	}
	for w := range p.Waivers {
		p.Waivers[w].waive(tensor, causes, day)
	}
}

func (w *Waiver) waive(tensor string, causes []Cause, day time.Time) {
	if !Glob(w.Tensor, tensor) || w.ExpiredOn(day) {
		return
	}
	for i := range causes {
		if w.Cause == "" && causes[i].Kind != Missing || w.Cause == causes[i].Kind {
			causes[i].Waived = true
		}
	}
}

// ExpiredOn tells whether the waiver counts no more on a day.
func (w *Waiver) ExpiredOn(day time.Time) bool {
	return !w.Expires.IsZero() && day.After(w.Expires.AddDate(0, 0, 1).Add(-time.Nanosecond))
}

// expired lists the waivers that count no more.
func (p *Profile) expired(day time.Time) (list []Waiver) {
	for _, w := range p.Waivers {
		if w.ExpiredOn(day) {
			list = append(list, w)
		}
	}
	return list
}

// coarser is the dtype of fewer digits, the left one if they are alike. An
// unknown dtype gives the other.
func coarser(a, b dtype.Type) dtype.Type {
	if unit(b) > unit(a) {
		return b
	}
	return a
}
