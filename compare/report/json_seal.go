package report

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
)

// seal ends a table with the checksum of all that stands before it. A block that is lost can leave JSON, whose missing
// columns are those of zeros. No other program writes this line so: who writes a table in another form breaks no seal.
func seal(sum uint32) string { return fmt.Sprintf(", \"crc32\": \"%08x\" }\n", sum) }

var sealLength = len(seal(0))

// sealed reads a table and sees that it is as it was written.
type sealed struct {
	from io.Reader
	sum  uint32 // of all but the tail
	tail []byte // the last bytes that were read, as many as a seal has
}

func (s *sealed) Read(p []byte) (int, error) {
	n, err := s.from.Read(p)
	// What cannot be the end any more goes first, so that nothing of the size of p is kept.
	if n >= sealLength {
		s.sum = crc32.Update(s.sum, crc32.IEEETable, s.tail)
		s.sum = crc32.Update(s.sum, crc32.IEEETable, p[:n-sealLength])
		s.tail = append(s.tail[:0], p[n-sealLength:n]...)
		return n, err
	}
	if s.tail = append(s.tail, p[:n]...); len(s.tail) > sealLength {
		more := len(s.tail) - sealLength
		s.sum = crc32.Update(s.sum, crc32.IEEETable, s.tail[:more])
		s.tail = append(s.tail[:0], s.tail[more:]...)
	}
	return n, err
}

// broken is an error if there is a seal, and it is that of other bytes. It is asked at the end.
func (s *sealed) broken() error {
	start, _, _ := bytes.Cut([]byte(seal(0)), []byte("00000000"))
	if !bytes.HasPrefix(s.tail, start) || string(s.tail) == seal(s.sum) {
		return nil
	}
	return fmt.Errorf("found the checksum %08x, expected %s: it is not as it was written", s.sum, bytes.Trim(s.tail[len(start):], "\" }\n"))
}
