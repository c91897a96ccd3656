package torch

import (
	"archive/zip"
	"encoding/binary"
	"hash/crc32"
	"io"
)

// archive is a zip file with aligned, uncompressed content.
type archive struct {
	zip *zip.Writer
	out *counter
}

// counter knows where in the file the next byte goes.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

const (
	alignment = 64
	// localHeader is the size of a file header in a zip archive without name
	// and extra field.
	localHeader = 30
)

func newArchive(w io.Writer) *archive {
	out := &counter{w: w}
	return &archive{zip.NewWriter(out), out}
}

// header describes an entry whose content is aligned by an extra field, which
// PyTorch marks with FB. What was written before must be complete.
func (a *archive) header(name string) (*zip.FileHeader, error) {
	if err := a.zip.Flush(); err != nil {
		return nil, err
	}
	h := &zip.FileHeader{Name: "archive/" + name, Method: zip.Store}
	const mark = 4 // FB and the length of the padding
	pad := -(a.out.n + localHeader + int64(len(h.Name)) + mark) & (alignment - 1)
	h.Extra = binary.LittleEndian.AppendUint16([]byte("FB"), uint16(pad))
	for range pad {
		h.Extra = append(h.Extra, 'Z')
	}
	return h, nil
}

// add writes an entry.
func (a *archive) add(name string, content []byte) error {
	h, err := a.header(name)
	if err != nil {
		return err
	}
	h.CRC32 = crc32.ChecksumIEEE(content)
	h.CompressedSize64, h.UncompressedSize64 = uint64(len(content)), uint64(len(content))
	f, err := a.zip.CreateRaw(h)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return err
}

// stream starts the last entry, whose size and checksum are not known yet.
func (a *archive) stream(name string) (io.Writer, error) {
	h, err := a.header(name)
	if err != nil {
		return nil, err
	}
	return a.zip.CreateHeader(h)
}
