package report

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"precision/compare/result"
	"precision/compare/verdict"
	"precision/dump/dtype"
	"precision/internal/msg"
)

// claim finds the sentences that claim something about a verdict: each has to have a table of
// which it is so, and another that makes it false.
var claim = regexp.MustCompile(`certain:|likely:|\bagrees?\b|although|nothing wrong|no other operator|golden is wrong|computes what|shows nothing|explain this|could have given|all limits are met|did compute|nothing before|not this operator`)

// earned are the sentences of the catalogue, by key, with a table of which each is said and one of
// which it must not be; "calls" in front of tables of recordings.
func earned() map[string][][2]string {
	// network has an operator with two inputs, of which some were compared.
	network := func(compared int, out, check string) string {
		feeds := [...]string{"op data Data feed\n", "op w Const constant\n"}
		for i := range compared {
			feeds[i] += "out 0\n"
		}
		return feeds[0] + feeds[1] + "op op MatMulV2 in=data:0,w:0\nout 0 distance=0.9 " + out + "\n" + check
	}
	good := "op a Relu\nout 0\nop b Relu in=a:0\nout 0\n"
	chain := func(first, second string) string {
		return "op a Conv2D\nout 0 " + first + "\nop b MatMulV2 in=a:0 final\nout 0 " + second + "\n"
	}
	given := func(name string) string { // a few of its elements are others
		feeds := map[string]string{"data": "op data Data feed\nout 0", "w": "op w Const constant\nout 0"}
		feeds[name] += " distance=0.3 differ=4"
		return feeds["data"] + "\n" + feeds["w"] + "\nop op MatMulV2 in=data:0,w:0\nout 0 distance=0.3\n"
	}
	return map[string][][2]string{
		"report.good":       {{good, network(2, "", "")}, {good, "op a Relu\nout 0 missing=no-right-tensor:a|a\n"}},
		"report.suspect":    {{"op a Relu\nout 0\n" + chain("", "distance=0.05"), good}},
		"report.itself":     {{"meta left=x right=x why=same-sides:x\n" + good, good}},
		"report.root.alone": {{network(2, "", ""), chain("distance=0.9", "distance=0.9")}},
		"report.certain": {{network(2, "", ""), network(1, "", "")}, {network(2, "", "check ok"), network(0, "", "check ok")},
			{network(2, "", "check ok"), network(2, "", "check wrong")}},
		"report.certain.nan": {{network(2, "nan=1", ""), network(1, "nan=1", "")}, {network(2, "nan=1", ""), network(2, "", "")}},
		"report.certain.recomputed": {{network(2, "", "check wrong"), network(2, "", "check ok golden=wrong")},
			{network(2, "", "check wrong"), network(2, "", "check unknown")}},
		"report.certain.second": {{chain("distance=0.3", "distance=0.3 max=900"), chain("", "distance=0.9")}},
		"report.untold":         {{network(1, "", ""), network(2, "", "")}, {network(1, "", ""), network(0, "", "")}},
		"report.untold.all":     {{network(0, "", ""), network(1, "", "")}},
		"report.untold.nan":     {{network(1, "nan=1", ""), network(2, "nan=1", "")}},
		"report.followed": {{network(2, "", "check ok golden=differs"), network(2, "", "check ok golden=follows")},
			{network(2, "", "check ok golden=differs"), network(2, "", "check wrong golden=differs")}, {network(2, "", "check ok golden=differs"), network(2, "", "check ok")}},
		"report.followed.golden": {{network(2, "", "check ok golden=wrong"), network(2, "", "check ok golden=differs")},
			{network(2, "", "check ok golden=wrong"), network(2, "", "check unknown golden=wrong")}},
		"report.followed.array": {{network(2, "", "check unknown golden=wrong"), network(2, "", "check ok golden=wrong")},
			{network(2, "", "check unknown golden=wrong"), network(2, "", "check unknown golden=differs")}},
		"reason.golden-used": {{network(2, "", "check ok golden=differs why=golden-used:reader"), network(2, "", "check ok golden=differs")}},
		"report.likely":      {{chain("", "distance=0.05"), network(2, "", "")}},

		"report.certain.source": {{"op x Relu\nout 0\nop y Relu in=x:0\nout 0\nop a RandomUniform\nout 0 distance=0.9\n", network(2, "", "")}},
		"report.untold.second": {{"op a Conv2D\nout 0 distance=0.3\nop c Const constant\nop b MatMulV2 in=a:0,c:0\nout 0 distance=0.3 max=900\n",
			chain("distance=0.3", "distance=0.3 max=900")}},
		"report.root.given.weight": {{given("w"), network(2, "", "")}},
		"report.root.given.input":  {{given("data"), network(2, "", "")}},
		"report.likely.law":        {{"op data Data feed\nout 0\nop a Reshape in=data:0\nout 0 distance=1e-4 hi=99\n", "op data Data feed\nout 0\nop a Conv2D in=data:0\nout 0 distance=1e-4 hi=99\n"}},
		"report.region.edge":       {{"op a Conv2D\nout 0\nop b MatMulV2 in=a:0 amiss=0\nout 0 distance=0.9\n", chain("distance=0.9", "distance=0.9")}},
		"report.likely.other":      {{"op data Data feed\nout 0\nop a Cast in=data:0\nout 0 distance=0.5 sat=12\nop b Relu in=a:0\nout 0 distance=0.5\n", chain("distance=0.9", "distance=0.9")}},

		"report.suspect.differs":    {{"calls a 4/4 4.004/4", "calls a 4/4 9/4"}, {"calls a 4/4 4.004/4", "calls a 4/4 4/4"}},
		"report.suspect.not-finite": {{"calls a 4/4 4/4\nb 4/4:a 4/4\nc 4.05/4 NaN/NaN", "calls a 4/4 4/4"}, {"calls a 4/4 4/4\nb 4/4:a 4/4\nc 4.05/4 NaN/NaN", "calls a 4/4 NaN/4"}},
		"report.cause.differs":      {{"calls a 4/4 4.004/4", "calls a 9/4 9/4"}, {"calls a 4/4 4.004/4", "calls a 4/4 4/4"}},
		"report.cause.differs-some": {{"calls a 4/4 #1/#2", "calls a 4/4 #1/#1"}, {"calls a 4/4 #1/#2", "calls a 9/4 #1/#2"}},
		"report.root.begin-other":   {{"calls a 4.05/4 #1/#1\nb #1/#1:a 9/4", "calls a 4/4 #1/#1\nb #1/#1:a 9/4"}},
		"report.root.begin":         {{"calls a 4.05/4 9/4", "calls a 4/4 9/4"}, {"calls a 4.05/4 9/4", "calls a 4/4 9/4\nb 9/4:a 9/4"}},
		"report.root.begin-fed":     {{"calls a 4/4 4/4\nb 9/4:a 9/4", "calls a 4/4 9/4\nb 9/4:a 9/4"}},
	}
}

// elsewhere are sentences that tests in other files make false, by key.
var elsewhere = map[string][2]string{
	"report.after.agrees":   {"../verdict/after_test.go", "TestAfter"},
	"report.loss.ranks":     {"lost_test.go", "TestLossTexts"},
	"reason.weights-unseen": {"../verdict/premise_test.go", "TestPremises"},
	"report.after.same":     {"../verdict/after_test.go", "TestAfter"},
}

// said is what is told of a table.
func said(t *testing.T, table string) string {
	t.Helper()
	parsed := &result.Table{}
	if calls, ok := strings.CutPrefix(table, "calls "); ok {
		parsed = parseCalls(t, calls)
	} else {
		parsed = parseTable(t, table)
	}
	return Render(Text{Lang: msg.English}.Verdict(verdict.Judge(parsed, verdict.Options{})), 12, func(_ Style, text string) string { return text })
}

// parseCalls reads calls of a recording, a line each: its name, the norms of what goes in and of what
// comes out on either side, and what feeds it: a 4/4 9/4, b 9/4:a 9/4.
func parseCalls(t *testing.T, text string) *result.Table {
	table := &result.Table{Meta: result.Meta{Recorded: true, Pairing: result.Pairing{How: result.Aligned}}}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		op := "Functional." + words[0] + ".0.forward"
		table.Ops = append(table.Ops, result.Operator{Name: op, Type: "linear", Outputs: 1, Order: len(table.Ops), Dumped: true})
		for i, word := range words[1:] {
			value, from, _ := strings.Cut(word, ":")
			left, right, _ := strings.Cut(value, "/")
			of := func(text string) *result.Said {
				if sum, ok := strings.CutPrefix(text, "#"); ok {
					return &result.Said{Class: "torch.Tensor", Sum: sum}
				}
				norm, err := strconv.ParseFloat(text, 64)
				if err != nil {
					t.Fatal(err)
				}
				return &result.Said{Class: "torch.Tensor", Known: result.KnownMax | result.KnownMin | result.KnownMean | result.KnownNorm,
					Stats: result.Stats{Max: norm / 2, Min: -norm / 2, Mean: norm / 10, Norm: norm}}
			}
			operand := result.Operand{DType: dtype.Float32, Shape: []int64{16}}
			r := result.Row{Op: op, Type: "linear", Role: result.Input, Left: operand, Right: operand, Shape: []int64{16},
				Recorded: &result.Recorded{Left: of(left), Right: of(right), Both: 4, Place: "input.0"}}
			if left == right {
				r.Recorded.Same = 4
			}
			if value[0] == '#' {
				r.Recorded.Hashed, r.Recorded.HashSame = true, left == right
			}
			if from != "" {
				r.Facts.Producer = result.Port{Op: "Functional." + from + ".0.forward"}
				r.Recorded.Golden = r.Facts.Producer
			}
			if i == len(words)-2 {
				r.Role, r.Recorded.Place = result.Output, "output.0"
			}
			table.Rows = append(table.Rows, r)
		}
	}
	return table
}

// pieces are the parts of a sentence between its arguments.
func pieces(text string) (list []string) {
	for _, p := range regexp.MustCompile(`%(\[\d\])?[sdv]|%%|\{[^}]*\}`).Split(text, -1) {
		if strings.TrimSpace(p) != "" {
			list = append(list, p)
		}
	}
	return list
}

// Every sentence that claims something is gone when what it claims is not so. A sentence that is added
// to the catalogue needs a table of either kind.
func TestSentencesAreEarned(t *testing.T) {
	tables := earned()
	for key, text := range msg.English.Under("report.", "reason.") {
		if !claim.MatchString(text) || strings.HasPrefix(key, "reason.note-") { // these are remarks on numbers
			continue
		}
		if at, ok := elsewhere[key]; ok {
			if source, err := os.ReadFile(at[0]); err != nil || !strings.Contains(string(source), "func "+at[1]+"(") {
				t.Errorf("%s: no %s in %s: %v", key, at[1], at[0], err)
			}
			continue
		}
		cases := tables[key]
		if len(cases) == 0 {
			t.Errorf("%s claims something, and nothing makes it false: %s", key, text)
			continue
		}
		says := func(table string) (bool, string) {
			got := said(t, table)
			return !slices.ContainsFunc(pieces(text), func(p string) bool { return !strings.Contains(got, p) }), got
		}
		for i, c := range cases {
			if is, got := says(c[0]); !is {
				t.Errorf("%s %d: %q is not said of\n%s\nbut\n%s", key, i, text, c[0], got)
			}
			if is, got := says(c[1]); is {
				t.Errorf("%s %d: %q is said of\n%s\n%s", key, i, text, c[1], got)
			}
		}
	}
	for key := range tables {
		if text := msg.English.Under(key)[key]; text == "" {
			t.Errorf("there is no sentence %s", key)
		}
	}
}

// A side that is zero alone, in all that goes in or nearly everywhere, may be a call for warming up; a call
// that makes zeros of numbers is none.
func TestWarmUp(t *testing.T) {
	const hint = "is it a call for warming up?"
	for table, want := range map[string]bool{
		"calls a 0/4 0/4\nb 0/4:a 0/4":            true,
		"calls a 4/0 4/0\nb 4/0:a 4/0":            true,
		"calls a 0/4 3/4\nb 3/4:a 3/4\nc 3/4 3/4": true,
		"calls a 4/4 0/4\nb 0/4:a 0/4":            false,
		"calls a 0/0 0/0\nb 0/0:a 0/0":            false,
		"calls a 9/4 9/4\nb 9/4:a 9/4":            false,
		"calls a 4/4 4/4\nb 4/4:a 4/4":            false,
	} {
		if got := said(t, table); strings.Contains(got, hint) != want {
			t.Errorf("%s\n%s", table, got)
		}
	}
}
