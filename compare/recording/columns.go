package recording

import (
	"precision/compare/engine"
	"precision/compare/result"
)

// Columns are those of a table of recordings.
func Columns(opt engine.Options) result.Columns {
	return result.Columns{Recorded: true, Values: opt.Values()}
}
