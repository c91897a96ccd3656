// Package brotli stands for the module of this name, which the Parquet library asks for and the program has no use for:
// tables are written with Snappy and none is read. Its dictionary and encoders are 0.8 MB of a program.
package brotli

import (
	"errors"
	"io"
)

var errAbsent = errors.New("brotli is not part of this program")

// WriterOptions are those of the module.
type WriterOptions struct{ Quality, LGWin int }

// Writer writes nothing.
type Writer struct{}

// NewWriterOptions makes a Writer.
func NewWriterOptions(io.Writer, WriterOptions) *Writer { return &Writer{} }

func (*Writer) Write([]byte) (int, error) { return 0, errAbsent }
func (*Writer) Close() error              { return errAbsent }

// Reset changes nothing.
func (*Writer) Reset(io.Writer) {}

// Reader reads nothing.
type Reader struct{}

// NewReader makes a Reader.
func NewReader(io.Reader) *Reader { return &Reader{} }

func (*Reader) Read([]byte) (int, error) { return 0, errAbsent }

// Reset changes nothing.
func (*Reader) Reset(io.Reader) error { return nil }
