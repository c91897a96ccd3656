package pattern

import (
	"os"
	"strings"
	"testing"
)

// Every kind stands in both manuals.
func TestManual(t *testing.T) {
	kinds := []Kind{MissingBias, MissingOperand, LowAccumulation, WrongEpsilon, WrongAttribute, UnmaskedPadding, WrongWeight, SwappedOperands,
		MissingMaximum, OtherFormula, MissingTerms}
	for _, h := range hypotheses {
		kinds = append(kinds, h.kinds...)
	}
	for _, name := range []string{"../../docs/patterns.md", "../../docs/zh/patterns.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range kinds {
			if !strings.Contains(string(text), "`"+string(k)+"`") {
				t.Errorf("%s does not mention %s", name, k)
			}
		}
		for _, c := range []Cause{ZeroByZero, InfMinusInf, ZeroTimesInf, DividedByZero, FromOperand, ExpOverflow, SquareOverflow, Overflow} {
			if !strings.Contains(string(text), "`"+string(c)+"`") {
				t.Errorf("%s does not mention %s", name, c)
			}
		}
	}
}
