package job

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"precision/internal/plainfile"
	"precision/internal/whole"
)

// A frame is a piece of a file that is written as it grows: its length, a sum of its
// bytes, the bytes. What a run that was killed left half written is found by the sum
// and cut off; what is before it counts.
const (
	frameHead = 8
	mostFrame = 1 << 30
)

// frames is a file of frames that is being written.
type frames struct {
	file *os.File
	buf  bytes.Buffer
}

// add appends a frame. It is with the system when add returns, and so outlives the program.
func (f *frames) add(content []byte) error {
	f.buf.Reset()
	writeFrame(&f.buf, content)
	_, err := f.file.Write(f.buf.Bytes())
	return err
}

func (f *frames) close() error { return f.file.Close() }

// readFrames hands the frames of a file to take, in order, until one is damaged or cut
// short. good is how many bytes came before; cut tells that something is behind them.
func readFrames(path string, take func(content []byte) error) (good int64, cut bool, err error) {
	file, size, err := plainfile.Open(path, "a file of this program")
	if err != nil {
		return 0, false, err
	}
	defer file.Close()
	return scanFrames(bufio.NewReaderSize(file, 1<<16), size, take)
}

// scanFrames is readFrames of what has size bytes.
func scanFrames(in io.Reader, size int64, take func(content []byte) error) (good int64, cut bool, err error) {
	for {
		var head [frameHead]byte
		switch _, err := io.ReadFull(in, head[:]); {
		case err == io.EOF:
			return good, false, nil
		case err == io.ErrUnexpectedEOF:
			return good, true, nil
		case err != nil: // not to be taken for an end: what is behind would be cut off
			return good, false, err
		}
		n := int64(binary.LittleEndian.Uint32(head[:4]))
		if n > mostFrame || good+frameHead+n > size {
			return good, true, nil
		}
		content := make([]byte, n)
		_, err := io.ReadFull(in, content)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return good, false, err
		}
		if err != nil || crc32.ChecksumIEEE(content) != binary.LittleEndian.Uint32(head[4:]) {
			return good, true, nil
		}
		if err := take(content); err != nil {
			return good, true, err
		}
		good += frameHead + n
	}
}

// openFrames goes on with a file behind its good frames, or begins one.
func openFrames(dir *whole.Folder, name string, good int64) (*frames, error) {
	file, err := dir.Update(name)
	if err != nil {
		return nil, err
	}
	if err = file.Truncate(good); err == nil {
		_, err = file.Seek(good, io.SeekStart)
	}
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", dir.Path(name), err)
	}
	return &frames{file: file}, nil
}

// errOther ends the reading of frames that are of another run.
var errOther = errors.New("of another run")

// writeFrame writes one frame.
func writeFrame(to io.Writer, content []byte) error {
	var head [frameHead]byte
	binary.LittleEndian.PutUint32(head[:4], uint32(len(content)))
	binary.LittleEndian.PutUint32(head[4:], crc32.ChecksumIEEE(content))
	_, err := to.Write(head[:])
	if err == nil {
		_, err = to.Write(content)
	}
	return err
}
