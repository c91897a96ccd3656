package h5

import (
	"bytes"
	"io"
	"testing"
)

// FuzzRead opens and reads whatever comes. Reading in one go and in pieces must agree. Minimising
// inputs of this size takes the fuzzer long; -fuzzminimizetime=10x helps.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"links_earliest", "cycle_earliest", "densesmall_earliest"} {
		f.Add(fixture(f, name+".h5"))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		touch(file)
		file.Walk(func(path string, o Object, failed error) error {
			d, ok := o.(*Dataset)
			if failed != nil || !ok || d.Size() > 1<<16 {
				return nil
			}
			all, err := d.ReadAll()
			if err != nil {
				return nil
			}
			parts, err := io.ReadAll(io.NewSectionReader(d, 0, d.Size()))
			if err != nil || !bytes.Equal(all, parts) {
				t.Errorf("%s: %x in one go, %x in pieces, %v", path, all, parts, err)
			}
			return nil
		})
	})
}

// FuzzChunks is FuzzRead for files with chunks, which are too large to change as
// a whole: it changes a few bytes of one of them.
func FuzzChunks(f *testing.F) {
	var files [][]byte
	for _, name := range []string{"chunks_earliest", "types_earliest", "deep"} {
		files = append(files, fixture(f, name+".h5"))
	}
	f.Add(uint8(0), uint32(100), []byte{1})
	f.Add(uint8(1), uint32(5000), []byte{0xff, 0xff})
	f.Add(uint8(2), uint32(2000), []byte("TREE"))
	f.Fuzz(func(t *testing.T, which uint8, at uint32, change []byte) {
		b := bytes.Clone(files[int(which)%len(files)])
		copy(b[int(at)%len(b):], change)
		if file, err := Open(bytes.NewReader(b), int64(len(b))); err == nil {
			touch(file)
		}
	})
}
