package job

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"io/fs"
	"os"
	"path/filepath"

	"precision/internal/plainfile"
)

// stamp is what a folder holds, from a look at its files and not into them.
type stamp struct {
	files int
	bytes int64
	sum   []byte
	own   []byte // what only this machine knows of them: change times and inodes
	size  map[string]int64
}

// stampOf looks at the plain files of a folder, and of those in it down to depth.
func stampOf(dir string, depth int) (stamp, error) {
	s := stamp{size: map[string]int64{}}
	sum, own := sha256.New(), sha256.New()
	err := s.add(dir, "", depth, sum, own)
	s.sum, s.own = sum.Sum(nil), own.Sum(nil)
	return s, err
}

func (s *stamp) add(dir, prefix string, depth int, sum, own hash.Hash) error {
	entries, err := os.ReadDir(dir) // by name
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := e.Info()
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			info, err = os.Stat(path)
		}
		switch {
		case err != nil: // it was removed, or is a link to nowhere
			continue
		case info.IsDir():
			if depth > 0 && e.IsDir() {
				if err := s.add(path, prefix+e.Name()+"/", depth-1, sum, own); err != nil {
					return err
				}
			}
			continue
		case !info.Mode().IsRegular():
			continue
		}
		name := prefix + e.Name()
		s.files++
		s.bytes += info.Size()
		s.size[name] = info.Size()
		mark(sum, name, info)
		own.Write(plainfile.Identity(info))
	}
	return nil
}

// mark adds a file to a sum.
func mark(sum hash.Hash, name string, info fs.FileInfo) {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], uint64(info.Size()))
	binary.LittleEndian.PutUint64(b[8:], uint64(info.ModTime().UnixNano()))
	sum.Write([]byte(name))
	sum.Write([]byte{0})
	sum.Write(b[:])
}

// both is the stamp of a pair and of the graphs that go with it.
func both(list ...[]byte) string {
	sum := sha256.New()
	for _, b := range list {
		sum.Write(b)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}
