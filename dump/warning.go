package dump

import "strconv"

// Warning tells of something that was passed over or repaired.
type Warning struct {
	// Path is the file it is about.
	Path string
	// Code is the exit code msaccucmp.py would have ended with, 0 when it
	// would have gone on.
	Code int
	// Text says what was found and what was done.
	Text string

	more int // how many it stands for, of a list that has enough
}

func (w Warning) String() string { return w.Path + ": " + w.Text }

// MostWarnings is how many warnings a list holds; one more counts the others.
// A damaged file can have one on each of a million lines.
const MostWarnings = 100

// Warn appends a warning to a list, or where that has enough counts it in the last
// one, which keeps the first exit code of those it stands for.
func Warn(list []Warning, w Warning) []Warning {
	if len(list) < MostWarnings {
		return append(list, w)
	}
	if len(list) == MostWarnings || list[MostWarnings].more == 0 {
		list = append(list[:MostWarnings:MostWarnings], append([]Warning{{Path: w.Path}}, list[MostWarnings:]...)...)
	}
	last := &list[MostWarnings]
	last.more++
	if last.Code == 0 {
		last.Code = w.Code
	}
	last.Text = strconv.Itoa(last.more) + " more warnings like these"
	return list
}
