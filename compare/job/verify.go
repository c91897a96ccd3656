package job

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"precision/internal/plainfile"
)

// contents are the hashes of what folders hold: of files that are read from their beginning to their end
// those of the bytes that were read, of others those of the bytes that are there.
type contents struct {
	read sync.Map // path to [sha256.Size]byte
	dirs once[string, []byte]
}

// watch hashes what is read from now on, until the function is called that it returns.
func (c *contents) watch() (end func()) {
	plainfile.Watch(func(path string, sum [sha256.Size]byte) { c.read.Store(path, sum) })
	return func() { plainfile.Watch(nil) }
}

// of is the hash of the plain files in a folder, and of those below it down to where recordings keep
// tensors, or of a file.
func (c *contents) of(path string) ([]byte, error) {
	return c.dirs.of(path, func() ([]byte, error) {
		sum := sha256.New()
		err := filepath.WalkDir(path, func(at string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := os.Stat(at)
			if err != nil || !info.Mode().IsRegular() {
				return nil // as stamps have it
			}
			name, _ := filepath.Rel(path, at)
			one, err := c.file(at)
			fmt.Fprintf(sum, "%q %x\n", filepath.ToSlash(name), one)
			return err
		})
		return sum.Sum(nil), err
	})
}

func (c *contents) file(path string) (sum [sha256.Size]byte, err error) {
	if known, ok := c.read.Load(path); ok {
		return known.([sha256.Size]byte), nil
	}
	f, _, err := plainfile.Open(path, "a plain file")
	if err != nil {
		return sum, err
	}
	defer f.Close()
	all := sha256.New()
	_, err = io.Copy(all, f)
	return [sha256.Size]byte(all.Sum(nil)), err
}

// verifies tells what the inputs of a unit hold, "" where they cannot be read; nil unless that was asked for.
func (r *runner) verifies() func(unit) string {
	if !r.Verify {
		return nil
	}
	return func(u unit) string {
		var list [][]byte
		for _, path := range append(slices.Clip(u.folders), r.Graph, r.Quant, r.Closed) {
			if path == "" {
				continue
			}
			sum, err := r.contents.of(path)
			if err != nil {
				return ""
			}
			list = append(list, sum)
		}
		return both(list...)
	}
}
