package whole

import (
	"io"
	"io/fs"
	"os"
)

// Names that come from data, such as that of a text beside a recorded array, are written with these: a link
// that lies there is refused, as it may have come with the data.

// own refuses a link.
func own(path string) error {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return &LinkError{path}
	}
	return nil
}

// CreateOwn is [Create] for a name that comes from data.
func CreateOwn(path string, perm os.FileMode) (*File, error) {
	if err := own(path); err != nil {
		return nil, err
	}
	return Create(path, perm)
}

// WriteOwn is [Write] for a name that comes from data.
func WriteOwn(path string, content []byte, perm os.FileMode) error {
	if err := own(path); err != nil {
		return err
	}
	return Write(path, content, perm)
}

// FillOwn is [Fill] for a name that comes from data.
func FillOwn(path string, perm os.FileMode, write func(io.Writer) error) error {
	if err := own(path); err != nil {
		return err
	}
	return Fill(path, perm, write)
}
