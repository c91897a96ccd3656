package plainfile

import "errors"

// Error is what is wrong with the content of a file.
type Error struct {
	Path string
	Err  error
}

// At is an error of what a file holds, with its path; nil for nil.
func At(path string, err error) error {
	if err == nil {
		return nil
	}
	return &Error{path, err}
}

func (e *Error) Error() string { return e.Path + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Pos is where it was found out: the offset is that of the error within, -1 if it has none.
func (e *Error) Pos() (file string, offset int64) {
	var at interface {
		error
		Pos() (string, int64)
	}
	if errors.As(e.Err, &at) {
		_, offset = at.Pos()
		return e.Path, offset
	}
	return e.Path, -1
}
