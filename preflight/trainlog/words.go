package trainlog

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"precision/internal/lazy"
)

// What stands between a word and its number: "loss: 1", "loss = 1", "'loss': '1'",
// "loss is 1", "loss 1", "loss(1".
const (
	between = `["']?\s*(?:\([^)]{0,20}\)\s*)?(?:[:=]\s*|is\s+|\s)\s*["'\[(]?\s*(?:tensor\(|array\(|(?:np|numpy)\.float\d+\()?`
	numeral = `([-+]?(?:\d[\d_]*\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|nan\b|inf\b|infinity\b))`
)

// word is an expression for a quantity and its number. In front of it stands no
// letter, so that "val_loss" is not "loss"; in front of its last part may stand what of a policy's training has it: "actor/grad_norm".
func word(names string) func() *regexp.Regexp {
	return lazy.Regexp(`(?i)(?:^|[^\w/.-])(?:(?:actor|train|policy)/)?(?:` + names + `)` + between + numeral)
}

// quantities are found in this order; each at most once a line, and in none that has no part of its words.
var quantities = []struct {
	name  string
	parts []string
	find  func() *regexp.Regexp
}{
	{Scale, []string{"scal"}, word(`loss[ _-]?scale|loss[ _]scaler?|scale|cur[ _]scale|scaling[ _]factor`)},
	{Rate, []string{"lr", "learning"}, word(`(?:actor[ _-]?)?lr|learning[ _-]?rate|lr[ _-]?0|lr-pg_0`)},
	{Norm, []string{"norm"}, word(`(?:actor[ _-]?)?grad(?:ient)?s?[ _-]?norm|gnorm|global[ _-]?(?:grad[ _-]?)?norm|gradient[ _]global[ _]norm|total[ _]norm`)},
	{Loss, []string{"loss"}, word(`(?:(?:train(?:ing)?|total|lm|avg|mean|current|batch|step|pg|policy|actor)[ _-]?)?loss`)},
}

var (
	stepWord = lazy.Regexp(`(?i)(?:^|[^\w/.])(?:(?:global|current)?[ _-]?steps?|num[ _]updates|iterations?|iters?|batch)["']?\s*(?:[:=#]\s*|\s|\[|$)\s*["'\[(#]?\s*(\d{1,3}(?:,\d{3})+|\d{1,18})(?:[^\d.eE]|\.?$|\.\D)`)
	stepOf   = lazy.Regexp(`(?:^\s*|\[|\|)\s*(\d{1,18})\s*/\s*\d+`)
	// A metric in a progress bar of Keras.
	barMetric = lazy.Regexp(`- ([A-Za-z_][\w./-]*): ([-+]?\d[\d.]*(?:[eE][-+]?\d+)?)(?:\s|$)`)
	// What stands before a loss that is not that of the training.
	heldOut = lazy.Regexp(`(?i)(?:^|[^a-z])(?:val(?:id(?:ation)?)?|test(?:ing)?|eval(?:uation)?|dev)(?:[ _-]set)?\W{0,3}(?:average |avg |mean )?$`)
	// How a terminal is told to colour.
	escape    = lazy.Regexp(`\x1b\[[0-9;?]*[A-Za-z]`)
	epochWord = lazy.Regexp(`(?i)\bepoch["']?\s*[:=#]?\s*["'\[(]?\s*(\d+)`)
	// The words of frameworks for a step that was skipped.
	skipped = lazy.Regexp(`(?i)overflow.*reducing (?:loss scale )?to ` + numeral + `|attempted loss scale:?\s*` + numeral + `,\s*reducing to\s*` + numeral)
)

// line takes what a line says. A step without a value is in force for the lines
// behind it.
func (r *reading) line(text string) {
	if r.table(text) {
		return
	}
	// An expression takes microseconds a line, a part of its words a few nanoseconds: most lines of most logs have none.
	small := strings.ToLower(text)
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(small, part) })
	}
	find := func(words func() *regexp.Regexp, parts ...string) []string {
		if !has(parts...) {
			return nil
		}
		return words().FindStringSubmatch(text)
	}
	if m := find(skipped, "reducing"); m != nil {
		from, to := r.scale, m[1]
		if m[3] != "" {
			from, _ = parse(m[2])
			to = m[3]
		}
		if v, ok := parse(to); ok {
			r.drop(Drop{r.last, Number(from), Number(v)})
			r.scale = v
		}
		return
	}
	if strings.IndexByte(text, 0x1b) >= 0 {
		text = escape().ReplaceAllString(text, "")
	}
	var found []Point // Step is the place in quantities
	for i, q := range quantities {
		if !has(q.parts...) {
			continue
		}
		m := q.find().FindStringSubmatchIndex(text)
		for m != nil && q.name == Loss && heldOut().MatchString(text[:m[0]+1]) {
			text = text[:m[0]] + strings.Repeat(" ", m[1]-m[0]) + text[m[1]:]
			m = q.find().FindStringSubmatchIndex(text)
		}
		if m != nil {
			if v, ok := parse(text[m[2]:m[3]]); ok {
				found = append(found, Point{int64(i), v})
				// "loss scale" is no loss.
				text = text[:m[0]] + strings.Repeat(" ", m[1]-m[0]) + text[m[1]:]
			}
		}
	}
	epoch := ""
	if m := find(epochWord, "epoch"); m != nil {
		epoch = m[1]
	}
	n, ok := int64(0), false
	if m := find(stepWord, "step", "updates", "iter", "batch"); m != nil {
		n, ok = integer(m[1])
	} else if m := find(stepOf, "/"); m != nil && len(found) > 0 {
		n, ok = integer(m[1])
	}
	switch {
	case ok:
		r.step(n, epoch)
	case epoch != "" && len(found) > 0 && r.epoch != epoch && !r.named: // "Epoch 2, loss 0.5"
		r.begun++
		r.epoch = epoch
	case epoch != "" && len(found) == 0:
		// "Epoch 2/5" of Keras stands on a line of its own.
		if r.epoch != epoch {
			r.begun++
		}
		if r.epoch != epoch && r.epoch != "" {
			r.offset, r.local = max(r.last, 0), -1
		}
		r.epoch = epoch
	}
	if len(found) == 0 {
		return
	}
	if !ok && !r.named {
		for _, f := range found {
			if quantities[f.Step].name == Loss {
				r.last++ // lines with a loss are counted
			}
		}
		r.last = max(r.last, 0)
	}
	if stepOf().MatchString(text) {
		for _, m := range barMetric().FindAllStringSubmatch(text, -1) {
			if v, ok := parse(m[2]); ok && column(m[1]) == "" {
				r.value(m[1], v)
			}
		}
	}
	for _, f := range found {
		r.value(quantities[f.Step].name, f.Value)
	}
}

// valued is a line that has values beside its words, as no header has.
var valued = lazy.Regexp(`(?:^|[\s,"])[-+.]?\d`)

// table takes a line of a csv table, whose first line names its columns.
func (r *reading) table(text string) bool {
	between := ","
	for _, other := range []string{"\t", ";"} {
		if !strings.Contains(text, between) {
			between = other
		}
	}
	if !strings.Contains(text, between) || strings.ContainsAny(text, ":={}") {
		return false
	}
	cells := strings.Split(text, between)
	for i := range cells {
		cells[i] = strings.Trim(cells[i], " \t\"")
	}
	if r.log.Lines == 1 && r.header == nil && !valued().MatchString(text) {
		titles := slices.Clone(cells)
		for i, c := range cells {
			if cells[i] = column(c); cells[i] == Loss {
				r.header = cells
			}
		}
		// The table of epochs that Keras writes: every column but that of the epoch is a metric.
		if i := slices.Index(titles, "epoch"); r.header != nil && i >= 0 && !slices.Contains(cells, "step") {
			r.log.ByEpoch = true
			for k, title := range titles {
				cells[k] = cmp.Or(cells[k], title)
			}
			cells[i] = "step"
		}
		return r.header != nil
	}
	if len(cells) != len(r.header) {
		return false
	}
	for i, c := range cells {
		if n, ok := integer(c); ok && r.header[i] == "step" {
			r.step(n, "")
		}
	}
	if !r.named {
		r.last++
	}
	for i, c := range cells {
		if v, ok := parse(c); ok && r.header[i] != "" && r.header[i] != "step" {
			r.value(r.header[i], v)
		}
	}
	return true
}

// column is what the title of a column means, "" for nothing that is looked for.
func column(title string) string {
	line := strings.ToLower(title) + " 1"
	if stepWord().MatchString(line) {
		return "step"
	}
	for _, q := range quantities {
		if q.find().MatchString(line) {
			return q.name
		}
	}
	return ""
}

func integer(text string) (int64, bool) {
	n, err := strconv.ParseInt(strings.ReplaceAll(strings.TrimSpace(text), ",", ""), 10, 64)
	return n, err == nil && n >= 0 && n < 1<<60
}

func parse(text string) (float64, bool) {
	v, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	if err != nil && v == 0 {
		return 0, false
	}
	return v, true
}

// Expression finds a quantity in a line.
type Expression struct {
	// Name is that of the series, or step; empty where the groups of the
	// expression have names.
	Name string
	Find *regexp.Regexp
}

// ParseExpression reads NAME=EXPRESSION, whose first group is the number, or an
// expression with groups that have names, as (?P<step>\d+) .* (?P<loss>\S+).
func ParseExpression(text string) (Expression, error) {
	name, source, ok := strings.Cut(text, "=")
	if !ok || !regexp.MustCompile(`^\w+$`).MatchString(name) {
		name, source = "", text
	}
	find, err := regexp.Compile(source)
	if err != nil {
		return Expression{}, err
	}
	e := Expression{name, find}
	named := strings.Join(find.SubexpNames(), "") != ""
	if name == "" && !named || find.NumSubexp() == 0 {
		return e, fmt.Errorf(`found %q, expected NAME=EXPRESSION with a group for the number, as loss=loss is (\S+), or named groups, as (?P<loss>\S+)`, text)
	}
	return e, nil
}

// expressions takes what expressions find in a line.
func (r *reading) expressions(text string, given []Expression) {
	type one struct {
		name string
		v    float64
	}
	var found []one
	for _, e := range given {
		m := e.Find.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		for i, group := range e.Find.SubexpNames() {
			name := group
			if i == 1 && e.Name != "" {
				name = e.Name
			}
			if i == 0 || name == "" {
				continue
			}
			if n, ok := integer(m[i]); ok && name == "step" {
				r.step(n, "")
			} else if v, ok := parse(m[i]); ok && name != "step" {
				found = append(found, one{name, v})
			}
		}
	}
	if len(found) > 0 && !r.named {
		r.last++
	}
	for _, f := range found {
		r.value(f.name, f.v)
	}
}
