package report

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"precision/compare/result"
	"precision/compare/verdict"
	"precision/internal/msg"
	"precision/testdata/workshop/msgtest"
)

// randomSentences is a network in the language of parseTable: operators that differ, inherit or were
// not compared, inputs that were lost, NaN, and what recomputing them may say.
func randomSentences(r *rand.Rand) string {
	var b strings.Builder
	types := []string{"Relu", "Conv2D", "Add", "SoftmaxV2", "Exp", "LayerNorm", "ArgMaxD"}
	names := []string{"data", "w"}
	off := map[string]float64{}
	b.WriteString("op data Data feed\n" + []string{"", "out 0\n"}[r.IntN(2)] + "op w Const constant\n" + []string{"", "out 0\n"}[r.IntN(2)])
	n := 2 + r.IntN(8)
	for i := range n {
		name := fmt.Sprintf("n%d", i)
		var in []string
		worst := 0.0
		for range r.IntN(3) {
			from := names[max(0, len(names)-1-r.IntN(4))]
			in, worst = append(in, from+":0"), max(worst, off[from])
		}
		fmt.Fprintf(&b, "op %s %s", name, types[r.IntN(len(types))])
		if len(in) > 0 {
			fmt.Fprintf(&b, " in=%s", strings.Join(in, ","))
		}
		if r.IntN(4) == 0 && len(in) > 0 {
			fmt.Fprintf(&b, " uncompared=%d", r.IntN(len(in)))
		}
		if r.IntN(12) == 0 && len(in) > 0 {
			fmt.Fprintf(&b, " amiss=%d", r.IntN(len(in)))
		}
		if i == n-1 || r.IntN(8) == 0 {
			b.WriteString(" final")
		}
		b.WriteByte('\n')
		mine := worst
		switch r.IntN(5) {
		case 0:
			mine = []float64{0.01, 0.05, 0.3, 0.9}[r.IntN(4)]
		case 1:
			mine = worst / 3
		}
		off[name], names = mine, append(names, name)
		switch r.IntN(8) {
		case 0:
			fmt.Fprintf(&b, "out 0 missing=no-right-tensor:%s|x\n", name)
		case 1:
			fmt.Fprintf(&b, "out 0 distance=%g nan=%d\n", mine, r.IntN(3))
		case 2:
			fmt.Fprintf(&b, "out 0 distance=%g max=%g\n", mine, 900*mine)
		default:
			fmt.Fprintf(&b, "out 0 distance=%g\n", mine)
		}
		if r.IntN(6) == 0 {
			b.WriteString("out 1 distance=0\n")
		}
		switch r.IntN(9) {
		case 0:
			b.WriteString("check wrong\n")
		case 1:
			b.WriteString("check unknown\n")
		case 2:
			b.WriteString("check ok golden=differs\n")
		case 3:
			b.WriteString("check ok golden=wrong\n")
		case 4:
			b.WriteString("check ok golden=follows\n")
		}
	}
	return b.String()
}

// facts answers questions about a table from its rows alone.
type facts struct {
	rows  map[string]*result.Row // outputs and inputs by name
	ops   map[string]*result.Operator
	table *result.Table
}

func factsOf(table *result.Table) facts {
	f := facts{map[string]*result.Row{}, map[string]*result.Operator{}, table}
	for i := range table.Rows {
		f.rows[result.TensorName(table.Rows[i].Op, table.Rows[i].Role, table.Rows[i].Slot)] = &table.Rows[i]
	}
	for i := range table.Rows {
		// What was not compared where it was made was seen where it was taken.
		if r := &table.Rows[i]; r.Role == result.Input && r.Compared {
			made := result.TensorName(r.Facts.Producer.Op, result.Output, r.Facts.Producer.Index)
			if there := f.rows[made]; there == nil || !there.Compared {
				f.rows[made] = r
			}
		}
	}
	for i := range table.Ops {
		f.ops[table.Ops[i].Name] = &table.Ops[i]
	}
	return f
}

// limits tells of a tensor whether it was compared and whether it keeps the limits: distance, and NaN.
func (f facts) limits(name string) (compared, kept bool) {
	row := f.rows[name]
	if row == nil || !row.Compared {
		return false, false
	}
	facts := &row.Result().Facts
	return true, facts.Distance <= 0.2 && facts.Disagree == 0
}

// off tells whether an input is known to differ at all, as recorded or where it was made.
func (f facts) off(op string, slot int) bool {
	from := f.ops[op].Inputs[slot]
	for _, name := range []string{result.TensorName(op, result.Input, slot), result.TensorName(from.Op, result.Output, from.Index)} {
		if row := f.rows[name]; row != nil && row.Compared && (row.Result().Facts.Distance > 0 || row.Result().Facts.Disagree > 0) {
			return true
		}
	}
	return false
}

// input is the same of an input: as the operator recorded it, or else where it was made.
func (f facts) input(op string, slot int) (compared, kept bool) {
	if compared, kept = f.limits(result.TensorName(op, result.Input, slot)); compared {
		return compared, kept
	}
	from := f.ops[op].Inputs[slot]
	return f.limits(result.TensorName(from.Op, result.Output, from.Index))
}

// behind are all operators that an operator takes something from, however far back.
func (f facts) behind(op string, seen map[string]bool) {
	for _, from := range f.ops[op].Inputs {
		if !seen[from.Op] {
			seen[from.Op] = true
			f.behind(from.Op, seen)
		}
	}
}

// What sentences claim of random tables is held against their rows: what was compared, what keeps the
// limits, and what lies before and behind an operator.
func TestSentencesAreTrue(t *testing.T) {
	said := map[string]int{}
	known := map[string]*regexp.Regexp{}
	for key, text := range msg.English.Under("report.") {
		known[key] = msgtest.Sentence(text)
	}
	has := func(text, key string) bool {
		is := known[key].MatchString(text)
		if is {
			said[key]++
		}
		return is
	}
	for seed := range uint64(1000) {
		source := randomSentences(rand.New(rand.NewPCG(seed, 41)))
		table := parseTable(t, source)
		j := verdict.Judge(table, verdict.Options{})
		f := factsOf(table)
		s := Text{Lang: msg.English}
		fail := func(why string) {
			t.Helper()
			t.Errorf("seed %d: %s\n%s\n%s", seed, why, source, Render(s.Verdict(j), 12, func(_ Style, text string) string { return text }))
		}
		headline := s.Headline(j)
		head := headline.Text()
		worst := 0
		for i := range table.Rows {
			if r := &table.Rows[i]; r.Role == result.Output && !f.ops[r.Op].Feed && !f.ops[r.Op].Constant {
				if compared, kept := f.limits(result.TensorName(r.Op, r.Role, r.Slot)); compared && !kept {
					worst++
				}
			}
		}
		if (has(head, "report.good") || has(head, "report.suspect") || has(head, "report.suspect.other")) && worst > 0 {
			fail("outputs do not keep limits")
		}
		if n := regexp.MustCompile(`nothing wrong in (\d+)`).FindStringSubmatch(head); n != nil {
			count := map[string]bool{}
			for name, row := range f.rows {
				if compared, _ := f.limits(name); compared && row.Role == result.Output {
					count[row.Op] = true
				}
			}
			if got, _ := strconv.Atoi(n[1]); got > len(count) {
				fail(fmt.Sprintf("%d operators were compared", len(count)))
			}
		}
		// The line of coverage counts what was compared, and not what an oracle alone spoke of.
		made, of := 0, 0
		for i := range table.Rows {
			if r := &table.Rows[i]; r.Role == result.Output && !f.ops[r.Op].Feed && !f.ops[r.Op].Constant {
				of++
				if f.rows[result.TensorName(r.Op, r.Role, r.Slot)].Compared {
					made++
				}
			}
		}
		if line := msg.English.T("report.coverage", made, of); !strings.Contains(Render(s.Verdict(j), 12, nil), line) {
			fail("not " + line)
		}
		for i := range j.Roots {
			r := &j.Roots[i]
			op := j.Operators[r.Operator].Op
			text := ""
			for _, l := range s.root(j, r) {
				text += l.Text() + "\n"
			}
			compared, kept, nan, off := 0, 0, 0, 0
			for slot, from := range op.Inputs {
				c, k := f.input(op.Name, slot)
				made, fine := f.limits(result.TensorName(from.Op, result.Output, from.Index))
				if c {
					compared++
				}
				if f.off(op.Name, slot) || slices.ContainsFunc(j.Roots, func(r verdict.Root) bool { return j.Operators[r.Operator].Op.Name == from.Op }) {
					off++
				}
				if k && (!made || fine) {
					kept++
				}
				if row := f.rows[result.TensorName(op.Name, result.Input, slot)]; row != nil && row.Compared && row.Result().Facts.Disagree > 0 {
					nan++
				}
			}
			all := len(op.Inputs)
			switch {
			case has(text, "report.certain") && (compared < all || kept < all):
				fail("an input of " + op.Name + " was not compared, or is wrong")
			case has(text, "report.certain.source") && all > 0:
				fail(op.Name + " has inputs")
			case has(text, "report.certain.nan") && (compared < all || nan > 0):
				fail("an input of " + op.Name + " was not compared, or has NaN")
			case has(text, "report.certain.second") && (compared < all || off == 0):
				fail("an input of " + op.Name + " was not compared, or none is wrong")
			case has(text, "report.untold") && !has(text, "report.untold.second") && !has(text, "report.untold.nan") && (compared == all || kept < compared):
				fail("all inputs of " + op.Name + " were compared, or one is wrong")
			case has(text, "report.untold.all"):
				before := map[string]bool{}
				f.behind(op.Name, before)
				for name := range before {
					if c, k := f.limits(result.TensorName(name, result.Output, 0)); compared > 0 || c && !k {
						fail("an input of " + op.Name + " was compared, or " + name + " is wrong")
					}
				}
			}
			if has(text, "report.likely") && text != "" {
				for k := range op.Outputs {
					if c, ok := f.limits(result.TensorName(op.Name, result.Output, k)); c && !ok {
						fail("an output of " + op.Name + " does not keep limits")
					}
				}
			}
			if has(text, "report.root.alone") {
				for name := range f.ops {
					before := map[string]bool{}
					f.behind(name, before)
					at := slices.IndexFunc(j.Operators, func(o verdict.Operator) bool { return o.Op.Name == name })
					if c, k := f.limits(result.TensorName(name, result.Output, 0)); before[op.Name] && at >= 0 && c && !k && len(j.Operators[at].From) == 0 && !slices.ContainsFunc(j.Roots, func(r verdict.Root) bool { return r.Operator == at }) {
						fail(name + " takes from " + op.Name + " and is wrong")
					}
				}
			}
			if has(text, "report.root.reaches") {
				for _, name := range r.Reaches {
					agrees := name != op.Name && len(f.ops[name].Inputs) > 0
					for slot := range max(1, f.ops[name].Outputs) {
						row := f.rows[result.TensorName(name, result.Output, slot)]
						agrees = agrees && row != nil && row.Compared && row.Result().Facts.Distance == 0 && row.Result().Facts.Disagree == 0 && row.Result().Facts.MaxAbs == 0
					}
					if agrees && !slices.ContainsFunc(j.Roots, func(r verdict.Root) bool { return j.Operators[r.Operator].Op.Name == name }) {
						fail("the network's output " + name + " agrees")
					}
				}
			}
		}
		if t.Failed() {
			break
		}
	}
	if len(said) < 11 {
		t.Errorf("of eleven sentences these were said: %v", said)
	}
}

// randomCall is a call of a recording: by how much what goes into it and what it makes are off, and which
// call feeds it, -1 for none.
type randomCall struct {
	in, out float64
	from    int
}

// randomCalls are calls in the language of parseCalls.
func randomCalls(r *rand.Rand) (text string, calls []randomCall) {
	var b strings.Builder
	sizes := []float64{1e-5, 1e-3, 0.01, 0.5}
	for i := range 2 + r.IntN(5) {
		c := randomCall{from: r.IntN(i+1) - 1}
		switch {
		case c.from >= 0 && r.IntN(8) > 0:
			c.in = calls[c.from].out
		case r.IntN(8) == 0:
			c.in = sizes[r.IntN(4)]
		}
		switch r.IntN(6) {
		case 0:
			c.out = sizes[r.IntN(4)]
		case 1:
		default:
			c.out = c.in
		}
		fmt.Fprintf(&b, "n%d %g/4", i, 4*(1+c.in))
		if c.from >= 0 {
			fmt.Fprintf(&b, ":n%d", c.from)
		}
		fmt.Fprintf(&b, " %g/4\n", 4*(1+c.out))
		calls = append(calls, c)
	}
	return b.String(), calls
}

// The same of calls: that no call before explains a difference, and that what goes into one agrees, are
// said only where no row tells otherwise.
func TestSentencesOfCallsAreTrue(t *testing.T) {
	said := map[string]int{}
	for seed := range uint64(3000) {
		source, calls := randomCalls(rand.New(rand.NewPCG(seed, 43)))
		j := verdict.Judge(parseCalls(t, source), verdict.Options{})
		s := Text{Lang: msg.English}
		fail := func(why string) {
			t.Helper()
			t.Fatalf("seed %d: %s\n%s\n%s", seed, why, source, Render(s.Verdict(j), 12, func(_ Style, text string) string { return text }))
		}
		// explained tells that what a call is off by came with what a call before made.
		explained := func(at int) bool {
			c := calls[at]
			return c.from >= 0 && calls[c.from].out > 0 && c.in > 0 && c.out <= c.in
		}
		headline := s.Headline(j)
		if head := headline.Text(); strings.Contains(head, "which no call before explains") {
			said["headline"]++
			for i := range j.Roots {
				if explained(j.Roots[i].Operator) {
					fail("a call before explains it")
				}
			}
		}
		for i := range j.Roots {
			r := &j.Roots[i]
			at := r.Operator
			c := calls[at]
			for _, l := range s.root(j, r) {
				text := l.Text()
				for _, phrase := range []string{"it differs, by", "it begins with", "all its inputs were compared and agree", "although what feeds it agrees", "no other compared operator"} {
					if strings.Contains(text, phrase) {
						said[phrase]++
					}
				}
				switch {
				case strings.Contains(text, "which no call before explains") && explained(at):
					fail("a call before explains it")
				case strings.Contains(text, "it begins with") && c.in == 0:
					fail("its input agrees")
				case strings.Contains(text, "all its inputs were compared and agree") && c.in > 0:
					fail("its input differs")
				case strings.Contains(text, "although what feeds it agrees") && (c.from < 0 || calls[c.from].out > 0):
					fail("what feeds it differs")
				}
			}
		}
	}
	if len(said) < 6 {
		t.Errorf("of six sentences these were said: %v", said)
	}
}
