package recording

import (
	"precision/compare"
	"precision/compare/result"
)

// Columns are those of a table of recordings.
func Columns(opt compare.Options) result.Columns {
	return result.Columns{Recorded: true, Values: opt.Values()}
}
