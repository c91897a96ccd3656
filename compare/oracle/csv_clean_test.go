package oracle

import (
	"encoding/csv"
	"strings"
	"testing"

	"precision/compare/result"
)

// The table of check is no way around the writer of tables.
func TestTableIsClean(t *testing.T) {
	f := Finding{Op: "=cmd|' /C calc'!A0\x1b[31m\u202e", Type: "@x\x00\nb", Rank: -1, Reasons: []result.Reason{result.Because(result.Text, "+evil")}}
	var b strings.Builder
	if err := WriteCSV(&b, []Finding{f}, func(r result.Reason) string { return r.Args[0] }); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil || len(rows) != 2 || strings.ContainsAny(b.String(), "\x1b\x00\u202e") {
		t.Fatalf("%q, %v", b.String(), err)
	}
	for _, cell := range rows[1] {
		if cell != "" && strings.ContainsAny(cell[:1], "=+@") || strings.Contains(cell, "\n") {
			t.Errorf("a cell is %q", cell)
		}
	}
}
