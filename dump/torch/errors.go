package torch

import "fmt"

// A FormatError tells where a file is not what PyTorch writes.
type FormatError struct {
	// Part is the member of the archive, such as data.pkl; empty for the file
	// itself.
	Part string
	// Offset counts bytes from the start of the part, -1 for a place that is
	// not known.
	Offset int64
	// Found and Expected say what is wrong.
	Found, Expected string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("%sfound %s, expected %s", place(e.Part, e.Offset), e.Found, e.Expected)
}

// Pos is where it was found out. The file is not known here, and a place within a member of
// the archive is none in the file.
func (e *FormatError) Pos() (string, int64) {
	if e.Part != "" {
		return "", -1
	}
	return "", e.Offset
}

// An UnsupportedError names what a file holds beyond tensors: a call that is not
// known, an operation of pickle that no tensor needs, a kind of tensor that has
// no plain elements. Nothing of it was executed.
type UnsupportedError struct {
	Part   string
	Offset int64
	What   string
}

func (e *UnsupportedError) Error() string {
	return place(e.Part, e.Offset) + e.What
}

func place(part string, offset int64) string {
	s := ""
	if part != "" {
		s = part + ": "
	}
	if offset >= 0 {
		s += fmt.Sprintf("offset %d: ", offset)
	}
	return s
}

// quoted cuts a text of a file to what a message can carry.
func quoted(s string) string {
	const most = 80
	if len(s) > most {
		return fmt.Sprintf("%q…", s[:most])
	}
	return fmt.Sprintf("%q", s)
}
