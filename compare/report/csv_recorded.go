package report

import (
	"strconv"

	"precision/compare/result"
	"precision/internal/clean"
)

// recordedHeader are the columns of recordings of calls.
var recordedHeader = []string{
	"Place", "Paired", "LeftMax", "LeftMin", "LeftMean", "LeftNorm", "RightMax", "RightMin", "RightMean", "RightNorm",
	"LeftSum", "RightSum", "LeftValue", "RightValue",
}

// appendRecorded adds the cells of these columns; NaN stands in a column of
// numbers for what was not recorded.
func appendRecorded(cells []string, r *result.Recorded) []string {
	if r == nil {
		r = &result.Recorded{Left: &result.Said{}, Right: &result.Said{}}
	}
	cells = append(cells, textCell(r.Place), textCell(string(r.How)))
	for _, s := range []*result.Said{r.Left, r.Right} {
		for _, x := range []struct {
			bit int32
			v   float64
		}{{result.KnownMax, s.Stats.Max}, {result.KnownMin, s.Stats.Min}, {result.KnownMean, s.Stats.Mean}, {result.KnownNorm, s.Stats.Norm}} {
			switch {
			case s.Has(x.bit):
				cells = append(cells, strconv.FormatFloat(x.v, 'g', -1, 64))
			case s.Class == "":
				cells = append(cells, "NaN")
			default:
				cells = append(cells, "")
			}
		}
	}
	return append(cells, clean.Cell(r.Left.Sum), clean.Cell(r.Right.Sum), clean.Cell(r.Left.Value), clean.Cell(r.Right.Value))
}
