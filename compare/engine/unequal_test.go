package engine

import (
	"context"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"precision/compare/report"
	"precision/compare/verdict"
	"precision/internal/msg"
	"precision/testdata/workshop/dumptest"
)

// One element of a thousand integers differs. Of ids that float64 does not hold that is
// bad, as no noise moves them; of small ones, which may be indices, it is within the limit
// and told.
func TestUnequalIntegersAreTold(t *testing.T) {
	for _, c := range []struct {
		from, off uint64
		verdict   verdict.Verdict
		told      string
	}{
		{1 << 60, 0, verdict.Good, ""},
		{1 << 60, 7, verdict.Bad, "1 of 1000 elements differ, none allowed, first in element 517"},
		{0, 0, verdict.Good, ""},
		{0, 7, verdict.Good, "op1:output:0 in 1 of 1000 elements, within the limit"},
	} {
		dir := t.TempDir()
		for op := range 3 {
			for _, side := range []string{"a", "b"} {
				var b []byte
				for i := range uint64(1000) {
					v := c.from + 3*i
					if op == 1 && side == "a" && i == 517 {
						v += c.off
					}
					b = binary.LittleEndian.AppendUint64(b, v)
				}
				if err := dumptest.WriteNpy(filepath.Join(dir, side, fmt.Sprintf("op%d.0.163000000000000%d.npy", op, op)), "<i8", []int64{1000}, b); err != nil {
					t.Fatal(err)
				}
			}
		}
		s, err := Job{Left: dir + "/a", Right: dir + "/b"}.Open(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		out, err := s.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		j := verdict.Judge(out.Table, verdict.Options{})
		text := report.Render(report.Text{Lang: msg.English}.Verdict(j), 12, func(_ report.Style, text string) string { return text })
		if j.Verdict != c.verdict || !strings.Contains(text, c.told) || c.told == "" && strings.Contains(text, "elements") {
			t.Errorf("from %d, off by %d: %v\n%s", c.from, c.off, j.Verdict, text)
		}
	}
}
