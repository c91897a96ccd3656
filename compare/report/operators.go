package report

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/internal/clean"
	"precision/internal/msg"
	"precision/internal/order"
)

// OperatorLine is an operator in one line of a list: what it is, its worst cause
// and the numbers that go with it. Numbers that are not known are NaN.
type OperatorLine struct {
	// Operator is the judged operator, Place its place in execution order.
	Operator *verdict.Operator
	Place    int
	// Root tells whether an error begins here.
	Root bool
	// Cause is the gravest cause of its outputs, empty if there is none.
	Cause verdict.Kind
	// In and Out are the smallest cosine similarities of inputs and outputs,
	// Distance the largest relative Euclidean distance of the outputs,
	// Largest their largest absolute error.
	In, Out, Distance, Largest float64
	// Diverged: NaN or Inf of the two sides disagree in an output.
	Diverged bool
}

// OperatorLines are the operators of a judged table, in execution order.
func OperatorLines(j *verdict.Judged) []OperatorLine {
	lines := make([]OperatorLine, len(j.Operators))
	for i := range j.Operators {
		op := &j.Operators[i]
		l := OperatorLine{Operator: op, Place: i, In: math.NaN(), Out: math.NaN(), Distance: math.NaN(), Largest: math.NaN()}
		l.Cause, _ = worstCause(op)
		for k := range op.Inputs {
			l.In = least(l.In, NumbersOf(j.Row(&op.Inputs[k])).Cosine)
		}
		for k := range op.Outputs {
			n := NumbersOf(j.Row(&op.Outputs[k]))
			l.Out, l.Distance, l.Largest = least(l.Out, n.Cosine), most(l.Distance, n.Distance), most(l.Largest, n.Largest)
			l.Diverged = l.Diverged || n.Diverged
		}
		lines[i] = l
	}
	for _, r := range j.Roots {
		lines[r.Operator].Root = true
	}
	return lines
}

// Numbers are the numbers of a row that lists show, NaN where they are not known. Diverged tells that NaN or Inf of
// the two sides disagree.
type Numbers struct {
	Cosine, Distance, Largest float64
	Diverged                  bool
}

// NumbersOf takes the numbers of a row from the facts or, where there are none,
// from its metrics.
func NumbersOf(r *result.Row) Numbers {
	n := Numbers{math.NaN(), math.NaN(), math.NaN(), false}
	if !r.Compared {
		return n
	}
	res := r.Result()
	if r.Saturated != nil { // what the judge goes by, too
		res = &r.Saturated.Result
	}
	if f := &res.Facts; f.Known {
		return Numbers{f.Cosine, f.Distance, f.MaxAbs, f.Disagree > 0}
	}
	v := &res.Values
	return Numbers{v[metric.CosineSimilarity].Float(), v[metric.RelativeEuclideanDistance].Float(), v[metric.MaxAbsoluteError].Float(),
		math.IsInf(v[metric.MaxAbsoluteError].Float(), 0) || res.Disagree > 0}
}

// least and most pass over NaN.
func least(a, b float64) float64 {
	if math.IsNaN(a) || b < a {
		return b
	}
	return a
}

func most(a, b float64) float64 {
	if math.IsNaN(a) || b > a {
		return b
	}
	return a
}

// sorts are the orders of lists of operators: by a number, the smallest first and none last, or by a text. One with neither is
// the order of execution. What is worst comes first.
var sorts = []struct {
	name   string
	number func(l *OperatorLine) float64
	text   func(l *OperatorLine) string
}{
	{name: "order"},
	{name: "state", number: func(l *OperatorLine) float64 {
		if l.Root {
			return -float64(l.Operator.State) - 0.5
		}
		return -float64(l.Operator.State)
	}},
	{name: "name", text: func(l *OperatorLine) string { return l.Operator.Op.Name }},
	{name: "type", text: func(l *OperatorLine) string { return l.Operator.Op.Type }},
	{name: "cosine", number: func(l *OperatorLine) float64 { return l.first(l.Out) }},
	{name: "drop", number: func(l *OperatorLine) float64 { return l.first(l.Out - l.In) }},
	{name: "distance", number: func(l *OperatorLine) float64 { return l.first(-l.Distance) }},
	{name: "largest", number: func(l *OperatorLine) float64 { return l.first(-l.Largest) }},
}

// first is a number to sort by, before all others where NaN or Inf disagree.
func (l *OperatorLine) first(v float64) float64 {
	if l.Diverged {
		return math.Inf(-1)
	}
	if math.IsInf(v, -1) {
		return -math.MaxFloat64
	}
	return v
}

// SortKey is what an order of [Sorts] goes by: a number, smallest first and NaN last, or a text. Neither is the order of
// execution.
func SortKey(by string) (number func(*OperatorLine) float64, text func(*OperatorLine) string) {
	for _, s := range sorts {
		if s.name == by {
			return s.number, s.text
		}
	}
	return nil, nil
}

// Sorts names the orders that [SortOperators] knows.
func Sorts() (names []string) {
	for _, s := range sorts {
		names = append(names, s.name)
	}
	return names
}

// SortOperators sorts a list by a name of [Sorts], what is worst first; equal ones
// stay in execution order.
func SortOperators(lines []OperatorLine, by string) error {
	if !slices.Contains(Sorts(), by) {
		return &SortError{by}
	}
	number, text := SortKey(by)
	order.Stable(lines, func(a, b OperatorLine) int {
		order := 0
		switch {
		case number != nil:
			order = numberOrder(number(&a), number(&b))
		case text != nil:
			order = cmp.Compare(text(&a), text(&b))
		}
		return cmp.Or(order, cmp.Compare(a.Place, b.Place))
	})
	return nil
}

// numberOrder puts NaN behind numbers.
func numberOrder(a, b float64) int {
	if x, y := math.IsNaN(a), math.IsNaN(b); x != y {
		if x {
			return 1
		}
		return -1
	}
	return cmp.Compare(a, b)
}

// SortError: operators are not sorted by what was asked for.
type SortError struct{ By string }

func (e *SortError) Error() string { return e.In(msg.English) }

// In says it in a language.
func (e *SortError) In(l msg.Lang) string {
	return l.T("report.order-unknown", e.By, strings.Join(Sorts(), l.T("report.and")))
}

// OperatorHeader are the titles of the columns of [OperatorLine.Cells].
func OperatorHeader(lang msg.Lang) (titles []string) {
	s := speaker{lang}
	for _, c := range []string{"state", "type", "name", "cause", "cosine", "distance", "largest"} {
		titles = append(titles, s.say("column."+c))
	}
	return titles
}

// StateWord is the state of the operator as a word, in its style.
func (l *OperatorLine) StateWord(lang msg.Lang) Segment {
	state := Word(lang, l.Operator.State)
	if l.Root {
		state.Text = speaker{lang}.say("word.root", state.Text)
	}
	return state
}

// Cells are the columns of the line: state, type, name, worst cause, cosine of
// inputs and outputs, distance and largest error.
func (l *OperatorLine) Cells(lang msg.Lang) []Segment {
	op := l.Operator
	state := l.StateWord(lang)
	cause := ""
	if l.Cause != "" {
		cause = CauseName(lang, l.Cause)
	}
	out := CosineText(l.Out)
	if l.Diverged {
		out = "NaN"
	}
	cosine := Segment{out, Plain}
	if len(op.Inputs) > 0 || !math.IsNaN(l.In) {
		cosine.Text = CosineText(l.In) + " → " + out
	}
	return []Segment{state, {clean.Line(op.Op.Type), Plain}, {clean.Line(op.Op.Name), Strong}, {cause, state.Style}, cosine, {Figure(l.Distance), Plain}, {Figure(l.Largest), Plain}}
}

// yielding are the columns of [OperatorLine.Cells] that give way where a line is too wide, the first one first: type, largest error,
// cause and distance.
var yielding = []int{1, 6, 3, 5}

// RenderOperators writes operators in columns under titles, as many as fit into width columns of a terminal; all
// if that is 0. paint gives a piece of text its style; nil leaves all plain.
func RenderOperators(lang msg.Lang, lines []OperatorLine, width int, paint func(Style, string) string) string {
	if paint == nil {
		paint = func(_ Style, text string) string { return text }
	}
	var titles []Segment
	for _, t := range OperatorHeader(lang) {
		titles = append(titles, Segment{t, Dim})
	}
	rows := [][]Segment{titles}
	for i := range lines {
		rows = append(rows, lines[i].Cells(lang))
	}
	widths := make([]int, len(titles))
	for _, cells := range rows {
		for i, c := range cells {
			widths[i] = max(widths[i], Width(c.Text))
		}
	}
	hidden := map[int]bool{}
	for _, i := range yielding {
		total := -2
		for k, w := range widths {
			if !hidden[k] {
				total += w + 2
			}
		}
		if width == 0 || total <= width {
			break
		}
		hidden[i] = true
	}
	var b strings.Builder
	for _, cells := range rows {
		blanks := 0
		for i, c := range cells {
			if hidden[i] {
				continue
			}
			if c.Text != "" {
				b.WriteString(strings.Repeat(" ", blanks) + paint(c.Style, c.Text))
				blanks = 0
			}
			blanks += widths[i] - Width(c.Text) + 2
		}
		b.WriteByte('\n')
	}
	return b.String()
}
