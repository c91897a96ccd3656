package whole

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"precision/internal/must"
)

// mostLinks bounds how many links may follow each other.
const mostLinks = 40

// resolve follows the symbolic links of a path that is to be written, also one
// whose end is not there yet. The end must not be a folder.
func resolve(path string) (_ string, err error) {
	defer must.Catch(&err)
	if info, err := os.Stat(path); err == nil {
		must.Not(info.IsDir(), "%s: is a folder, expected a file to write", path)
		return filepath.EvalSymlinks(path)
	}
	for to, n := path, 0; ; n++ {
		info, err := os.Lstat(to)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return to, nil
		}
		next := must.Get(os.Readlink(to))
		must.Not(n == mostLinks, "%s: more than %d links in a row", path, mostLinks)
		if !filepath.IsAbs(next) {
			next = filepath.Join(filepath.Dir(to), next)
		}
		to = next
	}
}

// inPlace opens what cannot be replaced by a rename: a device, a pipe, and the
// file that standard output or standard error go to. It is nil for other files.
func inPlace(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil
	}
	for _, std := range []*os.File{os.Stdout, os.Stderr} {
		if own, err := std.Stat(); err == nil && os.SameFile(own, info) {
			return std, nil
		}
	}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil, nil
	case mode.IsDir():
		return nil, fmt.Errorf("%s: is a folder, expected a file to write", path)
	case mode&(fs.ModeCharDevice|fs.ModeNamedPipe) == 0:
		return nil, fmt.Errorf("%s: is a %s, expected a file to write", path, sort(mode))
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("write: %w", err)
	}
	return f, nil
}

// sort names what is neither a file nor to be written in place.
func sort(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "block device"
	}
	return "special file"
}

// closeInPlace closes what inPlace opened; the standard streams stay open.
func closeInPlace(f *os.File) error {
	if f == os.Stdout || f == os.Stderr {
		return nil
	}
	return f.Close()
}
