package report

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/internal/msg"
)

// sourceOf is the line of the program that made a call, empty where it is not
// known.
func sourceOf(j *verdict.Judged, op *verdict.Operator) string {
	for _, list := range [][]verdict.Tensor{op.Inputs, op.Outputs} {
		for k := range list {
			if rec := j.Row(&list[k]).Recorded; rec != nil && rec.Source != "" {
				return rec.Source
			}
		}
	}
	line, _, _ := strings.Cut(op.Op.Lines, "\n")
	return line
}

// stackOf are the lines of the program that led to a call, the innermost first; none
// where only that one is known.
func stackOf(j *verdict.Judged, op *verdict.Operator) []string {
	for _, list := range [][]verdict.Tensor{op.Inputs, op.Outputs} {
		for k := range list {
			if rec := j.Row(&list[k]).Recorded; rec != nil && strings.Contains(rec.Stack, "\n") {
				return strings.Split(rec.Stack, "\n")
			}
		}
	}
	if strings.Contains(op.Op.Lines, "\n") {
		return strings.Split(op.Op.Lines, "\n")
	}
	return nil
}

// mostFrames bounds how many lines of a stack people are shown.
const mostFrames = 5

// SummaryText is what a recording says of a value, in short.
func SummaryText(s *result.Summary) string {
	if s.Value != "" {
		return s.Value
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	text := ""
	if s.Has(result.KnownMax | result.KnownMin) {
		if text = number(s.Stats.Min); s.Stats.Min == s.Stats.Max && (!s.Has(result.KnownNorm) || math.Abs(s.Stats.Norm) == math.Abs(s.Stats.Max)) {
			return text // one number
		}
		text += "…" + number(s.Stats.Max)
	}
	if s.Has(result.KnownNorm) {
		text += " ‖" + number(s.Stats.Norm) + "‖"
	}
	return cmp.Or(text, s.Sum, s.Class, "nothing")
}

// ranges says of both sides of an input what was recorded of it; where that is no more than that it is a
// tensor, the range of its elements.
func ranges(row *result.Row) (left, right string) {
	left, right = SummaryText(row.Recorded.Left), SummaryText(row.Recorded.Right)
	f := &row.Result().Facts
	switch {
	case left != row.Recorded.Left.Class || right != row.Recorded.Right.Class:
		return left, right
	case !row.Compared || !f.Known:
		if left == right { // tensors of other shapes
			left, right = left+" "+result.ShapeText(row.Left.Shape), right+" "+result.ShapeText(row.Right.Shape)
		}
		return left, right
	}
	of := func(s *metric.SideFacts) string {
		return strconv.FormatFloat(s.Lo, 'g', 6, 64) + "…" + strconv.FormatFloat(s.Hi, 'g', 6, 64)
	}
	if of(&f.X) == of(&f.Y) {
		place := strconv.FormatInt(f.Worst.Index, 10)
		return "[" + place + "] " + strconv.FormatFloat(f.Worst.X, 'g', 6, 64), "[" + place + "] " + strconv.FormatFloat(f.Worst.Y, 'g', 6, 64)
	}
	return of(&f.X), of(&f.Y)
}

// finer are, of sides that read alike, the first statistics that differ, with all digits, or the checksums; the same
// texts where nothing else tells.
func finer(rec *result.Recorded, left, right string) (string, string) {
	if left != right {
		return left, right
	}
	for _, i := range []int{0, 1, 3, 2} { // the mean tells least
		x := &result.Statistics[i]
		a, inA := x.In(rec.Left)
		b, inB := x.In(rec.Right)
		if inA && inB && a != b {
			return x.Name + " " + strconv.FormatFloat(a, 'g', -1, 64), x.Name + " " + strconv.FormatFloat(b, 'g', -1, 64)
		}
	}
	if rec.Left.Sum != rec.Right.Sum {
		return rec.Left.Sum, rec.Right.Sum
	}
	return left, right
}

// placeOf is where a value stands in its call, with the name that the program has for it.
func placeOf(rec *result.Recorded) string {
	if rec.Parameter != "" {
		return rec.Place + " (" + rec.Parameter + ")"
	}
	return rec.Place
}

// begin says what a root of recordings begins with, and where in the program it
// is.
func (s speaker) begin(j *verdict.Judged, op *verdict.Operator, r *verdict.Root) []Line {
	lines := s.begins(j, op, r)
	for i, frame := range callers(j, op) {
		switch {
		case i == 0:
			lines = append(lines, plainLine(s.say("root.source", frame)))
		case i < mostFrames:
			lines = append(lines, plainLine(s.say("root.stack", frame)))
		}
	}
	return lines
}

// callers are the lines of the program that led to a call, the innermost first.
func callers(j *verdict.Judged, op *verdict.Operator) []string {
	source, stack := sourceOf(j, op), stackOf(j, op)
	if source == "" {
		return nil
	}
	if len(stack) == 0 {
		return []string{source}
	}
	return append([]string{source}, stack[1:]...)
}

// agreed tells of a call that each of its outputs was compared and is good.
func agreed(j *verdict.Judged, name string) bool {
	op := j.Find(name)
	return op != nil && len(op.Outputs) > 0 && !slices.ContainsFunc(op.Outputs, func(t verdict.Tensor) bool { return t.Verdict != verdict.Good })
}

// begins says what a root of recordings begins with.
func (s speaker) begins(j *verdict.Judged, op *verdict.Operator, r *verdict.Root) (lines []Line) {
	if r.Begin != nil {
		row := &j.Table.Rows[r.Begin.Row]
		rec := row.Recorded
		var left, right string
		if rec != nil {
			left, right = ranges(row)
		}
		alone := len(op.Op.Made) > 0 || slices.ContainsFunc(op.Whole, func(at int) bool {
			return j.Table.Rows[at].Has(result.NoLeftCall) || j.Table.Rows[at].Has(result.NoRightCall)
		})
		switch {
		case rec == nil:
		case r.Begin.Instead != "":
			lines = append(lines, plainLine(s.say("root.begin-untaken", rec.Place, row.Op, r.Begin.Instead)))
		case row.Op != op.Op.Name && alone && left == right:
			lines = append(lines, plainLine(s.say("root.begin-order", rec.Place, row.Op)))
		case row.Op != op.Op.Name && alone:
			lines = append(lines, plainLine(s.say("root.begin-alone", rec.Place, row.Op, left, right)))
		case row.Op != op.Op.Name:
			left, right = finer(rec, left, right)
			lines = append(lines, plainLine(s.say("root.begin-other", placeOf(rec), row.Op, left, right)))
		case rec.Argument:
			if row.Has(result.LeftDefault) {
				left = s.say("root.default", left)
			} else if row.Has(result.RightDefault) {
				right = s.say("root.default", right)
			}
			lines = append(lines, plainLine(s.say("root.begin-argument", placeOf(rec), left, right)))
		case slices.ContainsFunc(r.Begin.From, func(name string) bool { return !agreed(j, name) }):
			lines = append(lines, plainLine(s.say("root.begin-unseen", placeOf(rec), s.list(r.Begin.From, 3))))
		case len(r.Begin.From) > 0:
			lines = append(lines, plainLine(s.say("root.begin-fed", placeOf(rec), s.list(r.Begin.From, 3))))
		default:
			if left, right = finer(rec, left, right); left == right && row.Left.DType.IsInteger() {
				lines = append(lines, plainLine(s.say("root.begin-whole", placeOf(rec), left)))
			} else {
				lines = append(lines, plainLine(s.say("root.begin", placeOf(rec), left, right)))
			}
		}
		between := slices.DeleteFunc(slices.Clone(r.Region), func(name string) bool { return slices.Contains(r.Begin.From, name) || name == row.Op })
		if rec != nil && r.Edge && len(between) > 0 {
			lines = append(lines, plainLine(s.say("root.begin-in", s.list(between, 3))))
		}
	}
	return lines
}

// begin writes the same for programs.
func (w *jsonWriter) begin(j *verdict.Judged, op *verdict.Operator, r *verdict.Root) {
	if r.Begin != nil {
		row := &j.Table.Rows[r.Begin.Row]
		if rec := row.Recorded; rec != nil {
			w.key("begins")
			w.open('{')
			w.named("op", row.Op)
			w.named("place", rec.Place)
			if rec.Parameter != "" {
				w.named("parameter", rec.Parameter)
			}
			w.named("left", SummaryText(rec.Left))
			w.named("right", SummaryText(rec.Right))
			w.listed("fed_by", r.Begin.From)
			if r.Begin.Instead != "" {
				w.named("instead", r.Begin.Instead)
			}
			w.close('}')
		} else {
			w.key("given")
			w.open('{')
			w.named("tensor", row.Tensor())
			w.named("text", Sentence(msg.English, r.Begin.Why))
			w.close('}')
		}
	}
	if source := sourceOf(j, op); source != "" {
		w.named("source", source)
	}
	if stack := stackOf(j, op); stack != nil {
		w.listed("stack", stack)
	}
}

// certain says how far a root is proven; nothing where the input it begins with
// says it.
func (s speaker) certain(op *verdict.Operator, r *verdict.Root, most int) string {
	if r.Begin != nil && (r.Edge || len(op.Op.Made) > 0 || r.Begin.Instead != "" || r.Certainty == verdict.Region || r.Begin.Why.Kind != "") {
		return ""
	}
	return s.certainty(op, r, most)
}
