package dump

import "fmt"

// Warning tells of something that was passed over or repaired.
type Warning struct {
	// Path is the file it is about.
	Path string
	// Code is the exit code msaccucmp.py would have ended with, 0 when it
	// would have gone on.
	Code int
	// Text says what was found and what was done.
	Text string
	// Format and Args are what Text is made of, for those who say it in another language;
	// Format is empty where it is not made so.
	Format string
	Args   []any

	more int // how many it stands for, of a list that has enough
}

// Warnf makes a warning about a file.
func Warnf(path string, code int, format string, args ...any) Warning {
	return Warning{Path: path, Code: code, Text: fmt.Sprintf(format, args...), Format: format, Args: args}
}

func (w Warning) String() string { return w.Path + ": " + w.Text }

// Error is String: a warning can be told as an error is.
func (w Warning) Error() string { return w.String() }

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
	last.Format, last.Args = "%d more warnings like these", []any{last.more}
	last.Text = fmt.Sprintf(last.Format, last.Args...)
	return list
}
