package repl

import (
	"context"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"precision/internal/whole"
	"precision/repl/array"
)

// decodeBytes is the size of the largest tensor that is decoded without being
// asked for, in bytes: what is written in about the time it takes to read it.
const decodeBytes = 256 << 20

// decoded writes a tensor as .npy into a folder below temp/decode, for other
// programs, and returns its path. An array that is there already and newer than
// the tensor is left as it is. Of a tensor that is too large, or when nothing
// can be written, the path is "".
func (s *session) decoded(ctx context.Context, a *array.Array, name string, folder ...string) string {
	if a.Type.Bytes(a.Len()) > decodeBytes {
		return ""
	}
	path := filepath.Join(append([]string{s.data.DecodeDir()}, append(folder, inside(shortName(a, name))+".npy")...)...)
	if upToDate(path, a) {
		return path
	}
	if err := whole.Fill(path, 0o600, func(w io.Writer) error { return a.WriteNpy(ctx, w) }); err != nil {
		if ctx.Err() == nil && !s.reportedDecode {
			s.reportedDecode = true
			s.Warn("decode.failed", err)
		}
		return ""
	}
	return path
}

// inside is the name of a tensor as a path that stays below the folder it is joined to: the path of a dataset within an
// HDF5 file is data, and one of its groups may be called "..".
func inside(name string) string {
	return filepath.FromSlash(path.Clean("/" + strings.ReplaceAll(name, `\`, "_")))
}

// shortName is name, or that of the file as it is on the disk where name is too
// long for a file: such dumps are renamed when they are recorded.
func shortName(a *array.Array, name string) string {
	const longest = 240 // of 255, and endings follow
	if len(name) <= longest || a.Part == "" || a.Dataset {
		return name
	}
	return filepath.Base(a.Path) + "." + a.Part
}

// upToDate reports whether the file at path was made after the tensor was
// written. Of HDF5 files that is never sure: another one may have been the
// newest then.
func upToDate(path string, a *array.Array) bool {
	if a.Dataset {
		return false
	}
	made, err := os.Stat(path)
	if err != nil {
		return false
	}
	source, err := os.Stat(a.Path)
	return err == nil && made.ModTime().After(source.ModTime())
}
