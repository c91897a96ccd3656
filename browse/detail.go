package browse

import (
	"math"
	"strconv"
	"strings"

	"precision/compare/metric"
	"precision/compare/report"
	"precision/compare/report/patterns"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/internal/each"
	"precision/internal/nd"
)

func itoa(n int) string { return strconv.Itoa(n) }

// dtypes are the element types of a row, both where they differ.
func dtypes(r *result.Row) string {
	left, right := "", ""
	if r.Left.Shape != nil {
		left = r.Left.DType.String()
	}
	if r.Right.Shape != nil {
		right = r.Right.DType.String()
	}
	switch {
	case left == right || right == "":
		return left
	case left == "":
		return right
	}
	return left + "/" + right
}

// shapeOf is the shape that was compared, or that the left side has.
func shapeOf(r *result.Row) string {
	shape := r.Shape
	if shape == nil {
		shape = r.Left.Shape
	}
	if shape == nil {
		return ""
	}
	return result.ShapeText(shape)
}

// writer makes the paragraphs of a page.
type writer struct {
	s    *shown
	body []paragraph
}

// say adds a line about something; empty ones are left out.
func (w *writer) say(key, text string, to target) {
	if text != "" {
		w.body = append(w.body, paragraph{label: w.s.title("label." + key), segments: []report.Segment{{Text: report.Clean(text)}}, target: to})
	}
}

// section begins the next paragraph with an empty line and a heading.
func (w *writer) section(key string, args ...any) {
	w.body = append(w.body, paragraph{segments: []report.Segment{{Text: w.s.lang.T("browse.section."+key, args...), Style: report.Strong}}, target: nowhere, head: true, flat: true})
}

// operator is all there is to say of an operator.
func (s *shown) operator(i int) page {
	op := &s.j.Operators[i]
	w := &writer{s: s}
	state := s.lines[i].Cells(s.lang)[0]
	w.body = append(w.body, paragraph{label: report.Clean(op.Op.Type), segments: []report.Segment{{Text: report.Clean(op.Op.Name) + "  ", Style: report.Strong}, state}, target: nowhere})
	own := target{place: i, command: s.why(op.Op.Name)}
	for k := range s.j.Roots {
		if r := &s.j.Roots[k]; r.Operator == i {
			c := report.Text{Lang: s.lang}.Card(s.j, r)
			for n, text := range append([]string{strings.Join(c.Causes, s.title("and")), c.Kind, c.Begins, c.Certainty, c.Noise, c.Follows}, c.Stack...) {
				if w.say("cause", text, own); text != "" && n > 0 {
					w.body[len(w.body)-1].label = ""
				}
			}
			break
		}
	}
	if f := op.Op.Framework; len(f) > 0 && !(len(f) == 1 && f[0] == op.Op.Name) {
		w.say("framework", strings.Join(f, s.title("and")), own)
	}
	if op.Sensitive > 0 {
		w.say("sensitive", report.Figure(op.Sensitive), own)
	}
	w.say("order", s.lang.T("browse.place", i+1, len(s.lines)), own)
	for _, row := range op.Whole {
		w.say("reason", report.Sentences(s.lang, s.j.Table.Rows[row].Reasons), own)
	}
	w.tensors("outputs", i, op.Outputs, false)
	w.tensors("inputs", i, op.Inputs, true)
	w.neighbours(i, op)
	if k := worstOf(op); k >= 0 {
		w.picture(s.looks[s.j.Row(&op.Outputs[k]).Tensor()])
	}
	for k := range w.body {
		if w.body[k].target.place < 0 {
			w.body[k].target.place, w.body[k].target.command = own.place, own.command
		}
	}
	return newText(op.Op.Name, w.body)
}

// worstOf is the output with the gravest verdict, -1 for none.
func worstOf(op *verdict.Operator) int {
	at := -1
	for k := range op.Outputs {
		if at < 0 || op.Outputs[k].Verdict > op.Outputs[at].Verdict && op.Outputs[k].Verdict.Compared() {
			at = k
		}
	}
	return at
}

// tensors lists the tensors of an operator.
func (w *writer) tensors(key string, op int, list []verdict.Tensor, in bool) {
	if len(list) == 0 {
		return
	}
	w.section(key)
	s := w.s
	for k := range list {
		x := &list[k]
		r := s.j.Row(x)
		line := report.Text{Lang: s.lang}.Tensor(s.j, x)
		label := itoa(x.Slot)
		if r.Recorded != nil && r.Recorded.Place != "" {
			label = report.Clean(r.Recorded.Place)
		}
		segments := line.Segments
		if in && r.Facts.Producer.Op != "" {
			segments = append(segments, report.Segment{Text: s.lang.T("browse.from", r.Facts.Producer.Op), Style: report.Dim})
		}
		if !x.Verdict.Compared() && len(r.Reasons) > 0 {
			segments = append(segments, report.Segment{Text: s.lang.T("report.colon") + report.Sentence(s.lang, r.Reasons[0]), Style: report.Dim})
		}
		w.body = append(w.body, paragraph{label: label, segments: segments, target: s.tensorAt(place{int32(op), int32(k), in})})
	}
}

// mostNeighbours is how many operators before and behind are listed: of a weight that everything reads there are thousands.
const mostNeighbours = 20

// neighbours lists what an operator is fed by, inherits from and feeds.
func (w *writer) neighbours(i int, op *verdict.Operator) {
	s := w.s
	list := func(key string, names []int) {
		if len(names) == 0 {
			return
		}
		w.section(key)
		for k, n := range names {
			if k == mostNeighbours {
				w.body = append(w.body, paragraph{segments: []report.Segment{{Text: s.lang.T("browse.more", len(names)-k), Style: report.Dim}}, target: nowhere})
				return
			}
			o := &s.j.Operators[n]
			word := report.Word(s.lang, o.State)
			w.body = append(w.body, paragraph{label: word.Text, segments: []report.Segment{{Text: strings.TrimSpace(report.Clean(o.Op.Type) + " " + report.Clean(o.Op.Name)), Style: word.Style}}, target: s.operatorAt(n)})
		}
	}
	var from, before, after []int
	for _, r := range op.From {
		from = append(from, s.j.Roots[r].Operator)
	}
	seen := map[int]bool{}
	for _, p := range op.Op.Inputs {
		if n, ok := s.at[p.Op]; ok && !seen[n] {
			seen[n] = true
			before = append(before, n)
		}
	}
	for n := range s.j.Operators {
		for _, p := range s.j.Operators[n].Op.Inputs {
			if p.Op == op.Op.Name && n != i {
				after = append(after, n)
				break
			}
		}
	}
	list("roots", from)
	list("before", before)
	list("after", after)
}

// tensorAt leads to the page of a tensor.
func (s *shown) tensorAt(p place) target {
	x := s.tensor(p)
	return target{open: func() page { return s.tensorPage(p) }, command: s.why(s.j.Operators[p.op].Op.Name), place: int(p.op), name: s.tensorName(x)}
}

// tensorPage is all there is to say of a tensor.
func (s *shown) tensorPage(p place) page {
	x := s.tensor(p)
	r := s.j.Row(x)
	w := &writer{s: s}
	name := s.tensorName(x)
	line := report.Text{Lang: s.lang}.Tensor(s.j, x)
	w.body = append(w.body, paragraph{segments: append([]report.Segment{{Text: name + "  ", Style: report.Strong}}, line.Segments...), target: nowhere})
	if len(r.Reasons) > 0 {
		w.say("reason", report.Sentences(s.lang, r.Reasons), nowhere)
	}
	w.say("operator", strings.TrimSpace(r.Type+" "+s.j.Operators[p.op].Op.Name), s.operatorAt(int(p.op)))
	if f := r.Facts.Producer; f.Op != "" {
		w.say("producer", f.Op+":output:"+itoa(f.Index), s.named(f.Op))
	}
	w.say("shape", strings.TrimSpace(shapeOf(r)+" "+dtypes(r)), nowhere)
	side := func(o *result.Operand) string {
		if o.File != "" {
			return o.File
		}
		return o.Names
	}
	w.say("left", side(&r.Left), nowhere)
	w.say("right", side(&r.Right), nowhere)
	w.numbers(r)
	if rec := r.Recorded; rec != nil {
		w.recorded(rec)
	}
	w.picture(s.looks[r.Tensor()])
	for k := range w.body {
		if t := &w.body[k].target; t.place < 0 {
			t.place, t.command = int(p.op), s.why(s.j.Operators[p.op].Op.Name)
		}
	}
	return newText(name, w.body)
}

// numbers are the metrics and the facts of a row.
func (w *writer) numbers(r *result.Row) {
	if !r.Compared || r.Metrics == nil {
		return
	}
	w.section("numbers")
	res := r.Result()
	line := func(label, text string) {
		w.body = append(w.body, paragraph{label: label, segments: []report.Segment{{Text: text}}, target: nowhere})
	}
	if f := &res.Facts; f.Known {
		line(w.s.title("label.cosine"), report.CosineText(f.Cosine))
		line(w.s.title("label.distance"), report.Figure(f.Distance))
		line(w.s.title("label.largest"), report.Figure(f.MaxAbs)+at(&f.Worst))
		line(w.s.title("label.differ"), w.s.lang.T("browse.place", f.Differ, f.N))
		if f.Disagree > 0 {
			line(w.s.title("label.disagree"), w.s.lang.T("browse.place", f.Disagree, f.N)+at(&f.FirstDisagree))
		}
		line(w.s.title("label.rangeleft"), report.Figure(f.X.Lo)+" … "+report.Figure(f.X.Hi))
		line(w.s.title("label.rangeright"), report.Figure(f.Y.Lo)+" … "+report.Figure(f.Y.Hi))
		return
	}
	for m := range metric.Metric(metric.Count) {
		if v := res.Values[m]; v.Text(m) != "" {
			line(m.String(), v.Text(m))
		}
	}
}

// at is an element of both sides.
func at(e *metric.Element) string {
	if e.Index < 0 {
		return ""
	}
	return "  [" + strconv.FormatInt(e.Index, 10) + "] " + report.Figure(e.X) + " | " + report.Figure(e.Y)
}

// recorded are the statistics of both sides beside each other.
func (w *writer) recorded(rec *result.Recorded) {
	d := differences(rec)
	first := true
	for k, x := range result.Statistics {
		if !rec.Left.Has(x.Bit) && !rec.Right.Has(x.Bit) {
			continue
		}
		if first {
			w.section("statistics")
			first = false
		}
		cell := func(s *result.Summary) string {
			text := "–"
			if v, known := x.In(s); known {
				text = strconv.FormatFloat(v, 'g', 7, 64)
			}
			return fit(text, 14, false, true)
		}
		w.body = append(w.body, paragraph{label: w.s.title("stat" + itoa(k)), segments: []report.Segment{{Text: cell(rec.Left) + cell(rec.Right)},
			{Text: fit(report.Figure(d[k]), 14, false, true), Style: report.Dim}}, target: nowhere})
	}
	if first {
		w.say("left", report.SummaryText(rec.Left), nowhere)
		w.say("right", report.SummaryText(rec.Right), nowhere)
	}
	w.say("source", rec.Source, nowhere)
	if strings.Contains(rec.Stack, "\n") {
		for k, frame := range strings.Split(rec.Stack, "\n") {
			if k > 0 {
				w.body = append(w.body, paragraph{segments: []report.Segment{{Text: report.Clean(frame), Style: report.Dim}}, target: nowhere})
			}
		}
	}
}

// mapHeight is how many lines the picture of a tensor takes at most.
const mapHeight = 24

// picture draws what a look at the elements saw.
func (w *writer) picture(l *result.Look) {
	if l == nil {
		return
	}
	s := w.s
	for _, p := range l.Patterns {
		text := patterns.Kind(s.lang, p.Kind)
		if e := patterns.Saved(s.lang, p.Kind, p.Evidence); e != "" {
			text += s.lang.T("report.colon") + e
		}
		w.say("pattern", text, nowhere)
	}
	draw := func(d func(width, height int) [][]report.Segment) {
		w.body = append(w.body, paragraph{draw: d, target: nowhere, flat: true})
	}
	if l.MapKept > 0 && len(l.Map) > 0 {
		top := 0.0
		for _, v := range l.Map {
			if v > top {
				top = v
			}
		}
		w.section("map", l.MapRows, l.MapColumns, report.Figure(top))
		draw(func(width, height int) (lines [][]report.Segment) {
			for _, b := range blocks(l.Map, l.MapKept, width-2, min(mapHeight, max(4, height-4))) {
				lines = append(lines, []report.Segment{{Text: "▏"}, {Text: b, Style: report.Bad}, {Text: "▕"}})
			}
			return lines
		})
	}
	if len(l.Channels) > 1 {
		w.section("channels", l.ChannelAxis, l.ChannelCount)
		draw(func(width, _ int) [][]report.Segment {
			return [][]report.Segment{{{Text: bars(l.Channels, width), Style: report.Bad}}}
		})
	}
	if len(l.Histogram) > 0 {
		counts := each.Of(l.Histogram, func(n int64) float64 { return float64(n) })
		w.section("histogram", report.Figure(math.Pow(10, l.HistogramLow)), report.Figure(math.Pow(10, l.HistogramHigh)), l.Equal)
		draw(func(width, _ int) [][]report.Segment { return [][]report.Segment{{{Text: bars(counts, width)}}} })
	}
	if len(l.Largest) > 0 {
		w.section("largest")
		for i := range l.Largest {
			e := &l.Largest[i]
			cell := func(text string) string { return fit(text, 16, false, true) }
			w.body = append(w.body, paragraph{label: "[" + patterns.Place(nd.Place(e.Index, l.Shape)) + "]", segments: []report.Segment{
				{Text: cell(strconv.FormatFloat(e.X, 'g', 7, 64)) + cell(strconv.FormatFloat(e.Y, 'g', 7, 64))},
				{Text: cell(report.Figure(math.Abs(e.X - e.Y))), Style: report.Bad}}, target: nowhere})
		}
	}
}
