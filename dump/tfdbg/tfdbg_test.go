package tfdbg

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"
)

// framed is data as the one record of a file, with its length and checksums.
func framed(data []byte) []byte {
	sum := func(b []byte) uint32 {
		crc := crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
		return (crc>>15 | crc<<17) + 0xa282ead8
	}
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	out = binary.LittleEndian.AppendUint32(out, sum(out))
	return binary.LittleEndian.AppendUint32(append(out, data...), sum(data))
}

// FuzzRead: whatever an event of a file holds, elements lie within it, and there are no more traces than bytes.
func FuzzRead(f *testing.F) {
	made := filepath.Join("..", "..", "testdata", "frameworks", "made", "tfdbg")
	_ = filepath.WalkDir(made, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil || len(b) < 16 {
			return err
		}
		if n := binary.LittleEndian.Uint64(b); n <= uint64(len(b)-16) {
			f.Add(b[12 : 12+n])
		}
		return nil
	})
	f.Add([]byte("\x52\x00"))
	f.Fuzz(func(t *testing.T, event []byte) {
		dir := t.TempDir()
		files := []string{prefix + "1" + ofGraphs, prefix + "1" + ofTraces}
		for _, name := range files {
			if err := os.WriteFile(filepath.Join(dir, name), framed(event), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r, err := Read(dir, files)
		if err != nil {
			return
		}
		size := int64(len(event)) + 16
		if int64(len(r.Traces)) > size {
			t.Errorf("%d traces of %d bytes", len(r.Traces), size)
		}
		for _, x := range r.Traces {
			if x.Offset < 0 || x.Size < 0 || x.Offset+x.Size > size {
				t.Errorf("%d bytes at %d of a file of %d", x.Size, x.Offset, size)
			}
			r.Lines(x.Op)
		}
	})
}
