// Package plainfile opens files that are nothing but files: a named pipe would keep its reader waiting for ever, and a device
// has no end.
package plainfile

import (
	"io/fs"
	"os"
)

// Open opens the plain file at path and returns its size in bytes. A folder, pipe, socket or device is an error that
// names path and what was found; it is not opened.
func Open(path, expected string) (*os.File, int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	if what := kind(info.Mode()); what != "" {
		return nil, 0, &os.PathError{Op: "open", Path: path, Err: &KindError{what, expected}}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// KindError is what a path is that is no plain file, and what was expected.
type KindError struct{ Is, Expected string }

func (e *KindError) Error() string { return "is a " + e.Is + ", expected " + e.Expected }

// kind names what is no plain file, "" for one.
func kind(m fs.FileMode) string {
	switch {
	case m.IsRegular():
		return ""
	case m.IsDir():
		return "directory"
	case m&fs.ModeNamedPipe != 0:
		return "named pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	}
	return "device"
}
