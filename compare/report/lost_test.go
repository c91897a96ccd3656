package report

import (
	"strings"
	"testing"

	"precision/compare/verdict"
	"precision/internal/msg"
)

// TestLossTexts: whatever is lost is said in both languages, with and without names.
func TestLossTexts(t *testing.T) {
	for _, lang := range []msg.Lang{msg.English, msg.Chinese} {
		for _, kind := range append(verdict.LossKinds(), verdict.LossParts, verdict.LossRanks) {
			for _, names := range [][]string{nil, {"a"}, {"a", "b", "c", "d", "e", "f", "g"}} {
				text := LossText(lang, &verdict.Loss{Kind: kind, Count: 9, Of: 20, Names: names})
				if strings.Contains(text, "%!") || strings.Contains(text, "report.") || len(names) == 1 && strings.Contains(text, " 9 more") {
					t.Errorf("%v %s: %s", lang, kind, text)
				}
			}
		}
	}
}
