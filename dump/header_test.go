package dump

import (
	"io"
	"path/filepath"
)

// openHeader is [OpenFile] for tests that look at the header only.
func openHeader(path string) (*File, error) {
	r, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	r.Close()
	return r.File, nil
}

// readHeader is openHeader for a file in memory. The path gives the name and
// stands in errors.
func readHeader(r io.ReaderAt, size int64, path string) (*File, error) {
	return read(r, size, path, ParseName(filepath.Base(path)))
}
