package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"precision/compare/report/patterns"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/internal/clean"
	"precision/internal/msg"
)

// Text says a verdict to people. Its methods give lines as data; a face chooses
// the colours and where to print them.
type Text struct {
	Lang msg.Lang
	// Most is how many roots, and how many of everything else that may be
	// long, are told; 0 is 10.
	Most int
	// Warned leaves out the warnings and notes of the comparison, for a face that
	// has told them already.
	Warned bool
}

func (t Text) speaker() speaker { return speaker{t.Lang} }

func (t Text) most() int {
	if t.Most > 0 {
		return t.Most
	}
	return 10
}

// styles of verdicts and states, by their names.
var styles = map[string]Style{"good": Good, "suspect": Suspect, "bad": Bad, "inconclusive": Suspect, "inherited": Bad, "uncompared": Dim, "damaged": Suspect}

// Word is a verdict or a state as a word, in its style.
func Word(lang msg.Lang, v fmt.Stringer) Segment {
	return Segment{speaker{lang}.say("word." + v.String()), styles[v.String()]}
}

// Verdict is the whole verdict in some lines: the headline, the roots, what it
// rests on and what a user should know.
func (t Text) Verdict(j *verdict.Judged) []Line {
	lines := []Line{t.Headline(j)}
	lines = append(lines, t.premises(j)...)
	lines = append(lines, t.Roots(j)...)
	lines = append(lines, t.Damage(j.Damaged, Sentence)...)
	lines = append(lines, t.beside(j)...)
	return append(lines, t.ground(j)...)
}

// Headline is the verdict in one line: "bad: the error begins at 1 operator, 14
// more inherit it".
func (t Text) Headline(j *verdict.Judged) Line {
	s := t.speaker()
	l := Line{Label: s.say("label.verdict"), Segments: []Segment{Word(t.Lang, j.Verdict)}}
	if text := s.stored(j); text != "" {
		l.add(Plain, s.say("colon")+text)
		return l
	}
	inherited := j.Counts[verdict.StateInherited]
	compared := len(j.Operators) - j.Counts[verdict.StateUncompared] - j.Counts[verdict.StateDamaged]
	text := ""
	switch j.Verdict {
	case verdict.Good:
		ops, outputs := waived(j)
		text = s.say("good", compared-j.Counts[verdict.StateSuspect]-ops) // those that are named as suspect have something
		if outputs > 0 {
			text += s.say("good.waived", outputs)
		}
		if c := &j.Coverage; c.Compared < c.Expected {
			text += s.say("good.of", c.Compared, c.Expected)
		}
		text += s.without(j)
	case verdict.Inconclusive:
		text = s.inconclusive(j)
	case verdict.Suspect:
		text = s.suspicion(j)
	default:
		key := "bad.many"
		if len(j.Roots) == 1 {
			key = "bad.one"
		}
		text = s.say(key, len(j.Roots))
		if len(j.Roots) == 0 || j.Roots[0].Certainty == verdict.Order {
			text = s.say("bad.rootless", j.Counts[verdict.StateBad]+inherited)
		} else if inherited > 0 {
			text += s.say(key+".inherited", inherited)
		}
	}
	text = s.after(j, text)
	if j.Table.Meta.Pairing.OfItself() {
		text += s.say("itself")
	}
	l.add(Plain, s.say("colon"))
	l.add(Plain, text)
	return l
}

// broken is the first premise that is so far from holding that no operator can be judged.
func broken(j *verdict.Judged) *verdict.Premise {
	for i := range j.Premises {
		if j.Premises[i].Broken {
			return &j.Premises[i]
		}
	}
	return nil
}

// premises are the lines about what does not hold of the comparison as a whole, beside what
// the headline and the roots tell.
func (t Text) premises(j *verdict.Judged) (lines []Line) {
	s := t.speaker()
	add := func(style Style, text string) {
		l := Line{}
		if len(lines) == 0 {
			l.Label = s.say("label.premise")
		}
		l.add(style, text)
		lines = append(lines, l)
	}
	headline := broken(j)
	for i := range j.Premises {
		p := &j.Premises[i]
		named := slices.ContainsFunc(j.Roots, func(r verdict.Root) bool { return r.Begin != nil && r.Begin.Why.Equal(p.Reason) })
		if !named && (p != headline || j.Verdict != verdict.Inconclusive) {
			add(Suspect, Sentence(t.Lang, p.Reason))
		}
		if p.Broken {
			add(Plain, s.say("do."+p.Kind.Advice(p.Reason)))
		}
	}
	return lines
}

// Roots are the lines about the roots: those that most operators inherit from first.
func (t Text) Roots(j *verdict.Judged) (lines []Line) {
	s := t.speaker()
	for i, k := range j.Prominent() {
		if rest := len(j.Roots) - i; i >= t.most() && rest > 1 {
			l := Line{}
			l.add(Dim, s.say("root.rest", rest))
			return append(lines, l)
		}
		label := s.say("label.root")
		if len(j.Roots) > 1 {
			label = s.say("label.roots", strconv.Itoa(i+1))
		}
		root := t.root(j, &j.Roots[k])
		root[0].Label = label
		lines = append(lines, root...)
	}
	return lines
}

// root is what there is to say of a root.
func (t Text) root(j *verdict.Judged, r *verdict.Root) []Line {
	s := t.speaker()
	op := &j.Operators[r.Operator]
	out := j.Worst(r)
	row := j.Row(out)
	var name Line
	style := styles[out.Verdict.String()]
	if op.Op.Type != "" {
		name.add(style, op.Op.Type+" ")
	}
	name.add(style, op.Op.Name)
	if origin := s.origin(op.Op); origin != "" {
		name.add(Dim, origin)
	}
	if len(op.Outputs) > 0 {
		name.add(Plain, s.say("root.output", out.Slot))
	}
	if out.Seen {
		name.add(Dim, s.say("root.seen", row.Tensor()))
	}
	lines := []Line{name}

	if r.Begin != nil && r.Begin.Why.Kind != "" {
		lines = append(lines, plainLine(s.say("root.given."+string(r.Kind), Sentence(s.lang, r.Begin.Why))))
	}
	if j.Table.Meta.Stored {
		if lines = append(lines, s.related(row, r)...); s.kind(j, r) != "" {
			lines = append(lines, plainLine(s.kind(j, r)))
		}
		return lines
	}
	if len(r.Causes) > 0 {
		lines = append(lines, plainLine(strings.Join(s.causes(row, r.Causes), s.say("also"))))
	}
	if kind := s.kind(j, r); kind != "" {
		lines = append(lines, plainLine(kind))
	}
	if text := s.certain(op, r, t.most()); text != "" {
		lines = append(lines, plainLine(text))
	}
	lines = append(lines, s.begin(j, op, r)...)
	if r.Noise {
		lines = append(lines, plainLine(s.say("root.noise")))
	}
	if n := len(r.Places); n > 0 {
		lines = append(lines, plainLine(s.say("root.places", n, s.list(r.Places, t.most()))))
	}
	for i, x := range r.Reached {
		if i >= t.most() {
			break
		}
		lines = append(lines, plainLine(s.say("root.reached", x.Op)))
	}
	return append(lines, plainLine(s.follows(j, r, t.most())))
}

// kind says what kind of wrong a root's output is, how large and where; nothing where that
// is not known.
func (s speaker) kind(j *verdict.Judged, r *verdict.Root) string {
	p := j.Pattern(r)
	if p.Kind == "" {
		return ""
	}
	return s.say("root.kind", patterns.Line(s.lang, p, j.Operators[r.Operator].Op.Type))
}

// origin says what an operator was made from, nothing where that is the
// framework's operator of its own name.
func (s speaker) origin(op *result.Operator) string {
	f := op.Framework
	switch {
	case op.Inserted:
		return s.say("root.inserted")
	case len(f) > 0 && !(len(f) == 1 && f[0] == op.Name):
		return s.say("root.framework", s.list(f, 3))
	}
	return ""
}

// follows says who inherits from a root and which outputs of the network its
// error reaches.
func (s speaker) follows(j *verdict.Judged, r *verdict.Root, most int) string {
	text := s.say("root.alone")
	switch {
	case r.Inherited > 0 && r.Certainty == verdict.Order:
		text = s.say("root.after", r.Inherited)
	case r.Inherited > 0:
		text = s.say("root.inherited", r.Inherited)
	case slices.ContainsFunc(j.Operators, func(op verdict.Operator) bool { return op.State == verdict.StateInherited && len(op.From) == 0 }):
		text = s.say("root.unknown")
	}
	if len(r.Reaches) > 0 {
		text += s.say("also") + s.say("root.reaches", s.list(r.Reaches, most))
	}
	return text
}

// suspicion is the headline where nothing is bad: what was seen at the first root.
func (s speaker) suspicion(j *verdict.Judged) string {
	if len(j.Roots) == 0 {
		return s.say("suspect.other", j.Counts[verdict.StateSuspect])
	}
	key := "suspect"
	if r := &j.Roots[0]; j.Table.Meta.Recorded && !slices.ContainsFunc(r.Causes, func(c verdict.Cause) bool { return c.Kind.Jump() }) {
		key = "suspect.differs"
		if slices.ContainsFunc(r.Causes, func(c verdict.Cause) bool { return c.Kind == verdict.NotFinite }) {
			key = "suspect.not-finite"
		}
	}
	return s.say(key, len(j.Roots))
}

// causes says the causes of a root. That the error jumps goes without saying where
// a limit is not kept.
func (s speaker) causes(row *result.Row, list []verdict.Cause) (texts []string) {
	for k := range list {
		if c := &list[k]; list[0].Kind.Suspicion() || !c.Kind.Suspicion() {
			texts = append(texts, s.cause(row, c))
		}
	}
	return texts
}

func plainLine(text string) Line { return Line{Segments: []Segment{{clean.Line(text), Plain}}} }

// certainty says how far a root is proven.
func (s speaker) certainty(op *verdict.Operator, r *verdict.Root, most int) string {
	jumps := slices.ContainsFunc(r.Causes, func(c verdict.Cause) bool { return c.Kind.Jump() })
	switch {
	case r.Recomputed:
		return s.say("certain.recomputed")
	case r.Followed:
		return s.followed(op, r, most)
	case r.Certainty == verdict.Order:
		return s.say("order")
	case r.Edge:
		return s.say("region.edge")
	case r.Certainty == verdict.Region && len(r.Region) > 0:
		return s.say("region", s.list(r.Region, most))
	case r.Certainty == verdict.Region && len(r.Uncompared) > 0:
		return s.say("region.untold", s.list(r.Uncompared, most))
	case r.Certainty == verdict.Region:
		return s.say("region.unknown")
	case len(r.Uncompared) > 0:
		return s.uncompared(op, r, most)
	case r.Certainty == verdict.Likely && len(r.Causes) > 0 && r.Causes[0].Kind == verdict.Law:
		return s.say("likely.law")
	case r.Certainty == verdict.Likely && jumps:
		return s.say("likely")
	case r.Certainty == verdict.Likely && r.Inherited == 0:
		return s.say("likely.alone")
	case r.Certainty == verdict.Likely:
		return s.say("likely.other")
	case r.FreshNaN:
		return s.say("certain.nan")
	case r.Second:
		return s.say("certain.second")
	case len(op.Inputs) == 0 && len(op.Op.Inputs) == 0:
		return s.say("certain.source")
	}
	return s.say("certain")
}

// uncompared says of a root that would be certain what was not compared.
func (s speaker) uncompared(op *verdict.Operator, r *verdict.Root, most int) string {
	key := "untold"
	switch {
	case r.FreshNaN:
		key = "untold.nan"
	case r.Second:
		key = "untold.second"
	case !slices.ContainsFunc(op.Inputs, func(t verdict.Tensor) bool { return t.Verdict != verdict.Uncompared }) && len(r.Uncompared) >= len(op.Op.Inputs):
		key = "untold.all"
	}
	return s.say(key, s.list(r.Uncompared, most))
}

// followed says of a root that its output follows from its own inputs and the golden output
// does not from golden ones, and what is known of why.
func (s speaker) followed(op *verdict.Operator, r *verdict.Root, most int) string {
	key := "followed"
	if r.Kind == verdict.RootGolden {
		if key = "followed.golden"; !op.Outputs[r.Output].Check.Known {
			key = "followed.array"
		}
	}
	text := s.say(key, s.say("followed."+r.Certainty.String()))
	for _, why := range op.Outputs[r.Output].Check.Why {
		text += s.say("also") + Sentence(s.lang, why)
	}
	if len(r.Uncompared) > 0 {
		text += s.say("also") + s.say("untold.named", s.list(r.Uncompared, most))
	}
	return text
}

// beside tells what stands out and is no root: NaN behind roots, and suspects.
func (t Text) beside(j *verdict.Judged) (lines []Line) {
	s := t.speaker()
	root := map[int]bool{}
	for _, r := range j.Roots {
		root[r.Operator] = true
	}
	var nan, suspect []string
	for i := range j.Operators {
		op := &j.Operators[i]
		if root[i] {
			continue
		}
		kind, found := worstCause(op)
		switch {
		case !found:
		case kind == verdict.NaN || kind == verdict.Inf:
			nan = append(nan, op.Op.Name)
		case op.State == verdict.StateSuspect:
			suspect = append(suspect, s.say("named", op.Op.Name, CauseName(t.Lang, kind)))
		}
	}
	add := func(label string, text string) {
		l := plainLine(text)
		l.Label = s.say("label." + label)
		lines = append(lines, l)
	}
	if len(nan) > 0 {
		add("nan", s.say("nan.behind", len(nan), s.list(nan, t.most())))
	}
	if len(suspect) > 0 {
		add("suspect", s.list(suspect, t.most()))
	}
	return lines
}

// worstCause is the gravest cause of the outputs that no waiver excuses.
func worstCause(op *verdict.Operator) (worst verdict.Kind, found bool) {
	for i := range op.Outputs {
		for _, c := range op.Outputs[i].Causes {
			if !c.Waived && (!found || c.Kind.Place() < worst.Place()) {
				worst, found = c.Kind, true
			}
		}
	}
	return worst, found
}

// Tensor is the verdict of one tensor in one line: "bad: cosine similarity 0.41,
// below 0.98".
func (t Text) Tensor(j *verdict.Judged, tensor *verdict.Tensor) Line {
	s := t.speaker()
	l := Line{Segments: []Segment{Word(t.Lang, tensor.Verdict)}}
	var causes []string
	row := j.Row(tensor)
	for k := range tensor.Causes {
		if c := &tensor.Causes[k]; c.Waived || tensor.Verdict == verdict.Bad && c.Kind.Suspicion() {
			continue // a bad tensor needs no suspicion
		}
		causes = append(causes, CauseText(t.Lang, row, &tensor.Causes[k]))
	}
	if len(causes) > 0 {
		l.add(Plain, s.say("colon")+strings.Join(causes, s.say("also")))
	}
	return l
}
