package parquet

import (
	"io"
	"math"

	"precision/compare/oracle"
	"precision/compare/result"
	"precision/compare/verdict"
)

// CheckForm names the columns of a check in the file, under the key "precision".
const CheckForm = "precision/check-table/1"

// WriteCheck writes what a check found as Parquet, a row an output. word is the verdict, say puts reasons into words.
func WriteCheck(w io.Writer, findings []oracle.Finding, word string, say func(result.Reason) string) error {
	t := newWriter(w, checkColumns(say), [2]string{"precision", CheckForm}, [2]string{"verdict", word})
	for i := range findings {
		if err := t.write(&findings[i]); err != nil {
			return err
		}
	}
	return t.close()
}

func checkColumns(say func(result.Reason) string) []column[*oracle.Finding] {
	type finding = *oracle.Finding
	number := func(name string, of func(finding) float64, known func(finding) bool) column[finding] {
		return real(name, func(f finding) (float64, bool) { return of(f), known(f) })
	}
	looked := func(f finding) bool { return f.Worst != nil }
	list := []column[finding]{
		count("step", func(f finding) (int64, bool) {
			step, _ := verdict.PlaceOf(f.Op)
			return int64(step), step >= 0
		}),
		count("rank", func(f finding) (int64, bool) {
			rank := f.Rank
			if rank < 0 {
				_, rank = verdict.PlaceOf(f.Op)
			}
			return int64(rank), rank >= 0
		}),
		count("order", func(f finding) (int64, bool) { return f.ID, true }),
		text("op", func(f finding) string { return f.Op }),
		text("type", func(f finding) string { return f.Type }),
		text("tensor", func(f finding) string { return result.TensorName(f.Op, result.Output, f.Index) }),
		text("role", func(finding) string { return result.Output.String() }),
		count("slot", func(f finding) (int64, bool) { return int64(f.Index), true }),
		text("dtype", func(f finding) string {
			if f.Shape == nil {
				return ""
			}
			return f.DType.String()
		}),
		counts("shape", func(f finding) []int64 { return f.Shape }),
		text("verdict", func(f finding) string { return f.Verdict.String() }),
		text("pattern", func(f finding) string { return f.Pattern }),
		texts("patterns", func(f finding) (list []string) {
			for _, p := range f.Patterns {
				list = append(list, string(p.Kind))
			}
			return list
		}),
		text("reason", func(f finding) (s string) {
			for i, r := range f.Reasons {
				if i > 0 {
					s += "; "
				}
				s += say(r)
			}
			return s
		}),
		number("ratio", func(f finding) float64 { return f.Ratio }, func(f finding) bool { return !math.IsNaN(f.Ratio) }),
		counts("place", func(f finding) []int64 { return f.Worst }),
		number("expected", func(f finding) float64 { return f.Expected }, looked),
		number("found", func(f finding) float64 { return f.Found }, looked),
		number("bound", func(f finding) float64 { return f.Bound }, looked),
		number("largest", func(f finding) float64 { return f.Largest }, func(f finding) bool { return f.Looked > 0 }),
		count("elements", func(f finding) (int64, bool) { return f.Elements, f.Shape != nil }),
		count("looked_at", func(f finding) (int64, bool) { return f.Looked, f.Shape != nil }),
		count("beyond", func(f finding) (int64, bool) { return f.Beyond, f.Looked > 0 }),
	}
	for _, c := range []struct {
		name string
		of   func(*oracle.Split) float64
	}{
		{"local", func(s *oracle.Split) float64 { return s.Local }},
		{"inherited", func(s *oracle.Split) float64 { return s.Inherited }},
		{"local_share", func(s *oracle.Split) float64 { return s.LocalShare }},
		{"inherited_share", func(s *oracle.Split) float64 { return s.InheritedShare }},
		{"amplification", func(s *oracle.Split) float64 { return s.Amplification }},
	} {
		list = append(list, real(c.name, func(f finding) (float64, bool) {
			if f.Split == nil {
				return 0, false
			}
			v := c.of(f.Split)
			return v, !math.IsNaN(v)
		}))
	}
	return list
}
