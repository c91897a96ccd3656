package plainfile

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
)

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

// NameError: a name that was found in data is none of a file in a folder.
type NameError struct{ Name string }

func (e *NameError) Error() string {
	const most = 80
	name := e.Name
	if len(name) > most {
		name = name[:most] + "…"
	}
	return fmt.Sprintf("found the file name %q, expected one without a path", name)
}

// CheckName refuses a name that was found in data, a recording, a list of names, a journal, and is not simply that
// of a file in a folder: it would lead elsewhere, on this system or on another. Every such
// name goes through here before it becomes part of a path.
func CheckName(name string) error {
	if strings.ContainsAny(name, "/\\\x00") || name == "." || !filepath.IsLocal(name) {
		return &NameError{name}
	}
	return nil
}

// Part makes a text, such as the name of a tensor, a part of a file's name; empty where it is too long for that.
func Part(text string) string {
	const longest = 120
	if len(text) > longest {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:`, r) || !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, text)
}
