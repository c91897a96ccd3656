// Package tfrecord reads the framing of TensorFlow's record files, which event files of TensorBoard and of
// TensorFlow's debugger are made of: length, its checksum, the record, its checksum.
package tfrecord

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
)

const (
	headerSize = 12 // the length in 8 bytes and its checksum in 4
	footerSize = 4  // the checksum of the record
	// whole is how large a record may be to be held whole; of a larger one the beginning is.
	whole, beginning = 1 << 20, 64 << 10
)

// Record is one of a file.
type Record struct {
	// Offset is where its bytes begin in the file, Size how many there are.
	Offset, Size int64
	// Head are its bytes, or the first ones of a large record. They are those of the next record later on.
	Head []byte
}

// Error is a file that ends within a record, or holds other bytes than were written.
type Error struct {
	// Offset is where the record begins, Cut tells that the file ends in it.
	Offset int64
	Cut    bool
	What   string
}

func (e *Error) Error() string { return fmt.Sprintf("offset %d: %s", e.Offset, e.What) }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// masked is the checksum as it is stored: of data that holds checksums itself, the plain one would be bad.
func masked(crc uint32) uint32 { return (crc>>15 | crc<<17) + 0xa282ead8 }

// Checksum is the stored checksum of data, in TensorFlow's other files as well.
func Checksum(data []byte) uint32 { return masked(crc32.Checksum(data, castagnoli)) }

// Is tells whether a file may begin so: with a length and its checksum.
func Is(head []byte) bool {
	return len(head) >= headerSize && Checksum(head[:8]) == binary.LittleEndian.Uint32(head[8:headerSize])
}

// Walk gives the records of a file in their order, each after its checksum was found right. It ends with an [*Error]
// at the first that is not, with that of take, or nil.
func Walk(r io.Reader, take func(Record) error) error {
	at := int64(0)
	buf := make([]byte, beginning)
	var header [headerSize]byte
	for {
		n, err := io.ReadFull(r, header[:])
		switch {
		case err == io.EOF:
			return nil
		case err == io.ErrUnexpectedEOF:
			return &Error{at, true, fmt.Sprintf("the file ends after %d of %d bytes of a record's header", n, headerSize)}
		case err != nil:
			return err
		}
		if !Is(header[:]) {
			return &Error{at, false, "the checksum of a record's length is wrong"}
		}
		size := int64(binary.LittleEndian.Uint64(header[:]))
		if size < 0 {
			return &Error{at, false, "a record of more than 8 EiB"}
		}
		rec := Record{Offset: at + headerSize, Size: size}
		held := size
		if held > whole {
			held = beginning
		}
		if int64(len(buf)) < held {
			buf = make([]byte, held)
		}
		rec.Head = buf[:held]
		sum, got, err := sumOf(r, rec.Head, size)
		if err != nil {
			return err
		}
		if got < size+footerSize {
			return &Error{at, true, fmt.Sprintf("the file ends after %d of the %d bytes of a record", min(got, size), size)}
		}
		if sum.want != masked(sum.is) {
			return &Error{at, false, "the checksum of a record is wrong"}
		}
		if err := take(rec); err != nil {
			return err
		}
		at += headerSize + size + footerSize
	}
}

type sums struct{ is, want uint32 }

// sumOf reads a record of so many bytes, the first of them into head, and both checksums. got is how many bytes there were.
func sumOf(r io.Reader, head []byte, size int64) (s sums, got int64, err error) {
	n, err := io.ReadFull(r, head)
	got = int64(n)
	s.is = crc32.Update(0, castagnoli, head[:n])
	if got == int64(len(head)) && got < size {
		h := &hash{s.is}
		var more int64
		more, err = io.CopyBuffer(h, io.LimitReader(r, size-got), make([]byte, whole/4))
		got += more
		s.is = h.crc
	}
	if err == nil && got == size {
		var footer [footerSize]byte
		n, err = io.ReadFull(r, footer[:])
		got += int64(n)
		s.want = binary.LittleEndian.Uint32(footer[:])
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil // which got tells
	}
	return s, got, err
}

type hash struct{ crc uint32 }

func (h *hash) Write(p []byte) (int, error) {
	h.crc = crc32.Update(h.crc, castagnoli, p)
	return len(p), nil
}
