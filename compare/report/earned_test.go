package report

import (
	"strings"
	"testing"

	"precision/compare/verdict"
	"precision/internal/msg"
)

// Every sentence about how far a root is proven is gone when what it claims is not so.
func TestSentencesAreEarned(t *testing.T) {
	const agree, untold = "all its inputs were compared and agree", "not compared: op:input:1"
	const differs, golden = "the framework computed something else", "golden is wrong"
	// network has an operator with two inputs, of which some were compared.
	network := func(compared int, out, check string) string {
		feeds := [...]string{"op data Data feed\n", "op w Const constant\n"}
		for i := range compared {
			feeds[i] += "out 0\n"
		}
		return feeds[0] + feeds[1] + "op op MatMulV2 in=data:0,w:0\nout 0 distance=0.9 " + out + "\n" + check
	}
	for _, c := range []struct{ sentence, so, not string }{
		{agree, network(2, "", ""), network(1, "", "")},
		{agree, network(2, "", "check ok"), network(0, "", "check ok")},
		{agree, network(2, "", "check ok"), network(2, "", "check wrong")},
		{untold, network(1, "", ""), network(2, "", "")},
		{"look there first: op:input:1", network(1, "", "check ok golden=differs"), network(1, "", "check wrong")},
		{"its inputs that were compared agree", network(1, "", ""), network(0, "", "")},
		{"none of its inputs was compared", network(0, "", ""), network(1, "", "")},
		{"none of its inputs that were compared has NaN", network(1, "nan=1", ""), network(2, "nan=1", "")},
		{"none of its inputs has NaN", network(2, "nan=1", ""), network(1, "nan=1", "")},
		{differs, network(2, "", "check ok golden=differs"), network(2, "", "check ok golden=follows")},
		{differs, network(2, "", "check ok golden=differs"), network(2, "", "check wrong golden=differs")},
		{differs, network(2, "", "check ok golden=differs"), network(2, "", "check ok")},
		{golden, network(2, "", "check ok golden=wrong"), network(2, "", "check ok golden=differs")},
		{"recomputing it from its own inputs gives a different result", network(2, "", "check wrong"), network(2, "", "check ok golden=wrong")},
		{"which this operator has", network(2, "", "check unknown golden=wrong"), network(2, "", "check ok golden=wrong")},
		{golden, network(2, "", "check unknown golden=wrong"), network(2, "", "check unknown golden=differs")},
		{"certain: ", network(2, "", "check ok golden=differs"), network(1, "", "check ok golden=differs")},
	} {
		said := func(network string) string {
			j := verdict.Judge(parseTable(t, network), verdict.Options{})
			return Render(Text{Lang: msg.English}.Verdict(j), 12, func(_ Style, text string) string { return text })
		}
		if text := said(c.so); !strings.Contains(text, c.sentence) {
			t.Errorf("%q is not said of\n%s\nbut\n%s", c.sentence, c.so, text)
		}
		if text := said(c.not); strings.Contains(text, c.sentence) {
			t.Errorf("%q is said of\n%s\n%s", c.sentence, c.not, text)
		}
	}
}
