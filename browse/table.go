package browse

import (
	"math"
	"strconv"
	"strings"

	"precision/compare/report"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/internal/msg"
	"precision/internal/sh"
	"precision/run"
)

// shown is a judged table as its pages need it.
type shown struct {
	lang  msg.Lang
	j     *verdict.Judged
	path  string
	lines []report.OperatorLine
	// at are the places of operators by name, tensors all judged rows in execution order.
	at      map[string]int
	tensors []place
	looks   map[string]*result.Look
	// opIndex and tensorIndex are what searches go through.
	opIndex, tensorIndex *index
	// stats: the rows hold statistics of recordings and no elements.
	stats bool
}

// place is a tensor: one of an operator's outputs or inputs.
type place struct {
	op   int32
	slot int32
	in   bool
}

// tableBook makes the pages of a judged table.
func tableBook(lang msg.Lang, path string, j *verdict.Judged) (*book, *shown) {
	s := &shown{lang: lang, j: j, path: path, lines: report.OperatorLines(j), at: make(map[string]int, len(j.Operators))}
	points := make([]point, len(s.lines))
	measured := false
	for i := range j.Operators {
		op := &j.Operators[i]
		s.at[op.Op.Name] = i
		for k := range op.Outputs {
			s.tensors = append(s.tensors, place{int32(i), int32(k), false})
		}
		for k := range op.Inputs {
			s.tensors = append(s.tensors, place{int32(i), int32(k), true})
		}
		points[i] = point{s.error(i), report.Word(lang, op.State).Style}
	}
	for i := range j.Table.Rows {
		r := &j.Table.Rows[i]
		measured = measured || r.Metrics != nil && r.Compared
		s.stats = s.stats || r.Recorded != nil && r.Recorded.Left.Known != 0
	}
	s.stats = s.stats && !measured
	s.learn(j.Table.Looks)
	s.opIndex = newIndex(len(s.lines), func(to []byte, row int) []byte { return append(to, s.lines[row].Operator.Op.Name...) })
	s.tensorIndex = newIndex(len(s.tensors), func(to []byte, row int) []byte {
		r := j.Row(s.tensor(s.tensors[row]))
		to = append(append(to, r.Op...), ':')
		if rec := r.Recorded; rec != nil && rec.Place != "" {
			return append(to, rec.Place...)
		}
		return strconv.AppendInt(append(append(to, r.Role.String()...), ':'), int64(r.Slot), 10)
	})
	b := &book{name: path, chart: &sparkline{points: points}}
	head := report.Text{Lang: lang}.Headline(j)
	b.head = head.Segments
	b.tabs = []tab{
		{label: lang.T("browse.tab.verdict"), count: -1, make: s.verdict},
		{label: lang.T("browse.tab.roots"), count: len(j.Roots), make: s.roots},
		{label: lang.T("browse.tab.operators"), count: len(s.lines), make: s.operators},
		{label: lang.T("browse.tab.tensors"), count: len(s.tensors),
			make: func() page { return s.tensorList(s.title("tab.tensors"), s.tensors, s.tensorIndex) }},
	}
	return b, s
}

// learn takes over looks at elements.
func (s *shown) learn(looks []result.Look) {
	s.looks = map[string]*result.Look{}
	for i := range looks {
		s.looks[looks[i].Tensor] = &looks[i]
	}
}

// error is what the chart shows of an operator: the relative distance of its outputs, or of recordings of
// statistics the largest relative difference.
func (s *shown) error(i int) float64 {
	l := &s.lines[i]
	switch {
	case l.Diverged:
		return math.Inf(1)
	case !math.IsNaN(l.Distance):
		return l.Distance
	}
	worst := math.NaN()
	for k := range l.Operator.Outputs {
		if rec := s.j.Row(&l.Operator.Outputs[k]).Recorded; rec != nil {
			for _, d := range differences(rec) {
				if math.IsNaN(worst) || d > worst {
					worst = d
				}
			}
		}
	}
	return worst
}

// differences are those of Max, Min, Mean and Norm, relative to the larger side; NaN where one side does not know it.
func differences(rec *result.Recorded) (d [4]float64) {
	for i, x := range result.Statistics {
		l, inLeft := x.In(rec.Left)
		r, inRight := x.In(rec.Right)
		size := max(math.Abs(l), math.Abs(r))
		switch {
		case !inLeft || !inRight:
			d[i] = math.NaN()
		case l == r || math.IsNaN(l) && math.IsNaN(r):
		case math.IsNaN(l-r) || math.IsInf(size, 0):
			d[i] = math.Inf(1)
		default:
			d[i] = math.Abs(l-r) / size
		}
	}
	return d
}

// verdict is what the verdict says, with links at its roots.
func (s *shown) verdict() page {
	t := report.Text{Lang: s.lang}
	roots := t.Roots(s.j)
	order := s.j.Prominent()
	var body []paragraph
	root, in := -1, false
	left := len(roots)
	for i, l := range t.Verdict(s.j) {
		if left == len(roots) && len(roots) > 0 && l.Label == roots[0].Label && l.Text() == roots[0].Text() {
			in = true
		}
		p := paragraph{label: l.Label, segments: l.Segments, target: nowhere}
		if i == 0 {
			p.draw = unlessAbove(l)
		}
		if in = in && left > 0; in {
			if l.Label != "" {
				root++
				p.head = true
			}
			if left--; root < len(order) && root >= 0 {
				p.target = s.operatorAt(s.j.Roots[order[root]].Operator)
			}
		} else if left == 0 && l.Label != "" {
			p.head, left = true, -1
		}
		body = append(body, p)
	}
	return newText(s.lang.T("browse.tab.verdict"), body)
}

// unlessAbove draws a headline where it is too long for the head of the screen, which shows it, too.
func unlessAbove(l report.Line) func(width, height int) [][]report.Segment {
	return func(width, _ int) [][]report.Segment {
		if columns(l.Text()) <= width+columns(l.Label) {
			return nil
		}
		return wrap(l.Segments, width)
	}
}

// operatorAt leads to the operator of a place.
func (s *shown) operatorAt(i int) target {
	op := s.j.Operators[i].Op
	return target{open: func() page { return s.operator(i) }, command: s.why(op.Name), place: i, name: strings.TrimSpace(op.Type + " " + op.Name)}
}

// named leads to an operator of a name, or nowhere.
func (s *shown) named(name string) target {
	if i, ok := s.at[name]; ok {
		return s.operatorAt(i)
	}
	return nowhere
}

// why is the command that says more of an operator.
func (s *shown) why(op string) string {
	left, graph, golden := run.Recheck(&s.j.Table.Meta)
	if left == "" {
		return sh.Line("precision", "report", s.path, "-n", "20", "-sort", "state")
	}
	words := []string{"precision", "why", op, "-lt", left}
	for _, o := range [][2]string{{"-g", graph}, {"-rt", golden}} {
		if o[1] != "" {
			words = append(words, o[0], o[1])
		}
	}
	return sh.Line(words...)
}

// Widths of columns whose cells are known to be short.
const (
	cosineWidth = 11
	numberWidth = 9
	mostCause   = 26
	mostType    = 20
)

// widest is how many columns n texts take at most, bounded.
func widest(n int, text func(i int) string, least, most int) int {
	w := least
	for i := range n {
		if w = max(w, columns(text(i))); w >= most {
			return most
		}
	}
	return w
}

// roots lists where errors begin, those that most inherit from first.
func (s *shown) roots() page {
	order := s.j.Prominent()
	op := func(row int) int { return s.j.Roots[order[row]].Operator }
	name := func(row int) string { return report.Clean(s.lines[op(row)].Operator.Op.Name) }
	typ := func(row int) string { return report.Clean(s.lines[op(row)].Operator.Op.Type) }
	card := func(row int) report.Card { return report.Text{Lang: s.lang}.Card(s.j, &s.j.Roots[order[row]]) }
	text := func(row int) string {
		c := card(row)
		if c.Kind != "" {
			return c.Kind
		}
		return strings.Join(c.Causes, s.lang.T("browse.and"))
	}
	t := s.title
	return &list{
		name: t("tab.roots"), n: len(order), names: name,
		columns: []column{
			{title: t("column.order"), width: 6, right: true, rank: 3},
			{title: t("column.type"), width: widest(len(order), typ, 4, mostType), rank: 2},
			{title: t("column.operator"), width: widest(len(order), name, 8, 200), name: true},
			{title: t("column.inherit"), width: 8, right: true, rank: 1},
			{title: t("column.said"), width: widest(len(order), text, 8, 90), rank: 4},
		},
		cells: func(row int) []report.Segment {
			r := &s.j.Roots[order[row]]
			style := report.Word(s.lang, s.j.Worst(r).Verdict).Style
			return []report.Segment{{Text: itoa(r.Operator + 1)}, {Text: typ(row), Style: style}, {Text: name(row), Style: style}, {Text: itoa(r.Inherited)}, {Text: text(row)}}
		},
		target: func(row int) target { return s.operatorAt(op(row)) },
	}
}

func (s *shown) title(key string) string { return s.lang.T("browse." + key) }

// operators lists the operators.
func (s *shown) operators() page {
	name := func(row int) string { return report.Clean(s.lines[row].Operator.Op.Name) }
	typ := func(row int) string { return report.Clean(s.lines[row].Operator.Op.Type) }
	states := map[string]bool{}
	for i := range s.lines {
		states[s.lines[i].StateWord(s.lang).Text] = true
	}
	stateWidth := 5
	for text := range states {
		stateWidth = max(stateWidth, columns(text))
	}
	t := s.title
	l := &list{
		name: t("tab.operators"), n: len(s.lines), names: name,
		index: s.opIndex,
		columns: []column{
			{title: t("column.order"), width: 6, right: true, rank: 6},
			{title: t("column.state"), width: stateWidth, rank: 0},
			{title: t("column.type"), width: widest(len(s.lines), typ, 4, mostType), rank: 4},
			{title: t("column.operator"), width: widest(len(s.lines), name, 8, 200), name: true},
			{title: t("column.cause"), width: mostCause, rank: 7},
			{title: t("column.cosine"), width: cosineWidth, right: true, rank: 1},
			{title: t("column.distance"), width: numberWidth, right: true, rank: 2},
			{title: t("column.largest"), width: numberWidth, right: true, rank: 5},
		},
		cells: func(row int) []report.Segment {
			l := &s.lines[row]
			cells := l.Cells(s.lang)
			out := report.CosineText(l.Out)
			if l.Diverged {
				out = "NaN"
			}
			return []report.Segment{{Text: itoa(row + 1), Style: report.Dim}, cells[0], {Text: cells[1].Text}, {Text: cells[2].Text, Style: cells[0].Style}, {Text: cells[3].Text},
				{Text: out}, {Text: cells[5].Text}, {Text: cells[6].Text}}
		},
		target: s.operatorAt,
		filters: []filter{{name: t("filter.all")},
			{t("filter.notgood"), func(row int) bool { return notGood(s.lines[row].Operator.State) }},
			{t("filter.roots"), func(row int) bool { return s.lines[row].Root }},
			{t("filter.compared"), func(row int) bool {
				return s.lines[row].Operator.State != verdict.StateUncompared && s.lines[row].Operator.State != verdict.StateDamaged
			}},
			{t("filter.uncompared"), func(row int) bool { return s.lines[row].Operator.State == verdict.StateUncompared }}},
	}
	for _, by := range report.Sorts() {
		o := order{name: s.lang.T("browse.sort." + by)}
		if number, text := report.SortKey(by); number != nil {
			o.number = func(row int) float64 { return number(&s.lines[row]) }
		} else if text != nil {
			o.text = func(row int) string { return text(&s.lines[row]) }
		}
		l.orders = append(l.orders, o)
	}
	if s.stats { // no elements were compared: what the statistics differ by
		l.columns = append(l.columns[:5:5], column{title: t("column.difference"), width: numberWidth + 2, right: true, rank: 1})
		cells := l.cells
		l.cells = func(row int) []report.Segment {
			return append(cells(row)[:5:5], report.Segment{Text: report.Figure(s.error(row))})
		}
		l.orders = append(l.orders[:4:4], order{name: t("sort.difference"), number: func(row int) float64 { return -s.error(row) }})
	}
	return l
}

func notGood(v verdict.State) bool {
	return v == verdict.StateSuspect || v == verdict.StateInherited || v == verdict.StateBad || v == verdict.StateDamaged
}

// tensor is the judged tensor of a place.
func (s *shown) tensor(p place) *verdict.Tensor {
	op := &s.j.Operators[p.op]
	if p.in {
		return &op.Inputs[p.slot]
	}
	return &op.Outputs[p.slot]
}

// tensorName is what a tensor is called: with the place in its call, of recordings.
func (s *shown) tensorName(t *verdict.Tensor) string {
	r := s.j.Row(t)
	if rec := r.Recorded; rec != nil && rec.Place != "" {
		return report.Clean(r.Op + ":" + rec.Place)
	}
	if name := r.Tensor(); name != "" {
		return report.Clean(name)
	}
	return report.Clean(r.Op)
}

func (s *shown) tensorList(name string, places []place, index *index) page {
	names := func(row int) string { return s.tensorName(s.tensor(places[row])) }
	row := func(i int) *result.Row { return s.j.Row(s.tensor(places[i])) }
	longest := 8
	for i := range s.lines {
		longest = max(longest, columns(report.Clean(s.lines[i].Operator.Op.Name))+16)
	}
	t := s.title
	stateWidth := 4
	for k := range s.j.Tensors {
		stateWidth = max(stateWidth, columns(report.Word(s.lang, verdict.Verdict(k)).Text))
	}
	l := &list{
		name: name, n: len(places), names: names, index: index,
		columns: []column{
			{title: t("column.state"), width: stateWidth},
			{title: t("column.tensor"), width: longest, name: true},
			{title: t("column.dtype"), width: 9, rank: 5},
			{title: t("column.shape"), width: 20, rank: 6},
			{title: t("column.cosine"), width: cosineWidth, right: true, rank: 1},
			{title: t("column.distance"), width: numberWidth, right: true, rank: 2},
			{title: t("column.largest"), width: numberWidth, right: true, rank: 4},
			{title: t("column.cause"), width: mostCause, rank: 3},
		},
		cells: func(i int) []report.Segment {
			x, r := s.tensor(places[i]), row(i)
			n := report.NumbersOf(r)
			return append(s.front(x, r), report.Segment{Text: report.CosineText(n.Cosine)}, report.Segment{Text: report.Figure(n.Distance)}, report.Segment{Text: report.Figure(n.Largest)}, report.Segment{Text: s.cause(x, r)})
		},
		target: func(i int) target { return s.tensorAt(places[i]) },
		orders: []order{{name: s.lang.T("browse.sort.order")},
			{name: s.lang.T("browse.sort.state"), number: func(i int) float64 { return -float64(s.tensor(places[i]).Verdict) }},
			{name: s.lang.T("browse.sort.name"), text: names},
			{name: s.lang.T("browse.sort.cosine"), number: func(i int) float64 { return report.NumbersOf(row(i)).Cosine }},
			{name: s.lang.T("browse.sort.distance"), number: func(i int) float64 { return -report.NumbersOf(row(i)).Distance }},
			{name: s.lang.T("browse.sort.largest"), number: func(i int) float64 { return -report.NumbersOf(row(i)).Largest }}},
		filters: []filter{{name: t("filter.all")},
			{t("filter.notgood"), func(i int) bool {
				v := s.tensor(places[i]).Verdict
				return v == verdict.Bad || v == verdict.Suspect || v == verdict.Damaged
			}},
			{t("filter.outputs"), func(i int) bool { return !places[i].in }},
			{t("filter.compared"), func(i int) bool { return s.tensor(places[i]).Verdict.Compared() }},
			{t("filter.uncompared"), func(i int) bool { return s.tensor(places[i]).Verdict == verdict.Uncompared }}},
	}
	if s.stats {
		l.columns = l.columns[:4:4]
		for k := range 4 {
			l.columns = append(l.columns, column{title: t("column.stat" + itoa(k)), width: numberWidth, right: true, rank: 3 - k/2})
		}
		l.columns = append(l.columns, column{title: t("column.cause"), width: mostCause, rank: 4})
		l.cells = func(i int) []report.Segment {
			x, r := s.tensor(places[i]), row(i)
			cells := s.front(x, r)
			d := [4]float64{math.NaN(), math.NaN(), math.NaN(), math.NaN()}
			if r.Recorded != nil {
				d = differences(r.Recorded)
			}
			for _, v := range d {
				cells = append(cells, report.Segment{Text: report.Figure(v)})
			}
			return append(cells, report.Segment{Text: s.cause(x, r)})
		}
		l.orders = append(l.orders[:3:3], order{name: t("sort.difference"), number: func(i int) float64 {
			worst := math.Inf(1)
			if rec := row(i).Recorded; rec != nil {
				for _, v := range differences(rec) {
					worst = min(worst, zero(-v))
				}
			}
			return worst
		}})
	}
	return l
}

// zero is a number, 0 for NaN.
func zero(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}

// front are the columns that tensors of all kinds have.
func (s *shown) front(x *verdict.Tensor, r *result.Row) []report.Segment {
	word := report.Word(s.lang, x.Verdict)
	return []report.Segment{word, {Text: s.tensorName(x), Style: word.Style}, {Text: dtypes(r)}, {Text: shapeOf(r)}}
}

// cause is why a tensor is not good, or has no verdict.
func (s *shown) cause(x *verdict.Tensor, r *result.Row) string {
	for _, c := range x.Causes {
		if !c.Waived {
			return report.CauseName(s.lang, c.Kind)
		}
	}
	if !x.Verdict.Compared() && len(r.Reasons) > 0 {
		return report.Clean(report.Sentence(s.lang, r.Reasons[0]))
	}
	return ""
}
