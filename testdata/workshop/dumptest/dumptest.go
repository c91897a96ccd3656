// Package dumptest makes device dump files and golden arrays for tests and
// for the sample network. It writes the header straight in protobuf wire
// format, with the field numbers of the dump format, so that the reader under
// test is not its own oracle.
package dumptest

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// Element types and layouts by their numbers in the dump header.
const (
	Float32 = 1
	Float16 = 2
	Int8    = 3
	Int32   = 7

	NCHW       = 0
	NHWC       = 1
	ND         = 2
	NC1HWC0    = 3
	FractalZ   = 4
	HWCN       = 16
	FractalNZ  = 29
	NCDHW      = 30
	NDC1HWC0   = 32
	FractalZ3D = 33
)

// Tensor is an entry of a dump: what the header says and the payload bytes.
type Tensor struct {
	Type, Format  int
	Shape, Origin []int64
	// Group counts the groups of a grouped convolution.
	Group   int
	Address uint64
	// Kind is the type of an input, as dumps of exceptions tell it.
	Kind int
	Data []byte
	// Claim overrides the size in the header when it is not zero.
	Claim uint64
}

// Dump is a whole file.
type Dump struct {
	OpName          string
	Time            uint64
	Inputs, Outputs []Tensor
	// Buffers and Spaces are the bytes of L1 buffers and of workspaces.
	Buffers, Spaces [][]byte
	// Attr is the value of an attribute in the header; FFTS+ tells there, as JSON,
	// how it cut the operator. There is none where it and its name are "".
	Attr, AttrName string
	// Message is what a dump of an exception says.
	Message string
}

// Bytes is the file: header length, header, payload.
func (d Dump) Bytes() []byte {
	var h []byte
	h = protowire.AppendTag(h, 1, protowire.BytesType)
	h = protowire.AppendString(h, "2.0")
	h = appendNumber(h, 2, d.Time)
	for _, t := range d.Outputs {
		h = appendNested(h, 3, t.header(6))
	}
	for _, t := range d.Inputs {
		h = appendNested(h, 4, appendNumber(t.header(5), 11, uint64(t.Kind)))
	}
	sizes := func(field protowire.Number, list [][]byte) {
		for _, b := range list {
			h = appendNested(h, field, appendNumber(nil, 3, uint64(len(b))))
		}
	}
	sizes(5, d.Buffers)
	h = appendNested(h, 6, []byte(d.OpName))
	if d.Attr+d.AttrName != "" {
		attr := appendNested(nil, 1, []byte(cmp.Or(d.AttrName, "op_attr")))
		h = appendNested(h, 7, appendNested(attr, 2, []byte(d.Attr)))
	}
	sizes(8, d.Spaces)
	if d.Message != "" {
		h = appendNested(h, 9, []byte(d.Message))
	}
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(h)))
	out = append(out, h...)
	for _, t := range d.Inputs {
		out = append(out, t.Data...)
	}
	for _, t := range d.Outputs {
		out = append(out, t.Data...)
	}
	for _, b := range slices.Concat(d.Buffers, d.Spaces) {
		out = append(out, b...)
	}
	return out
}

// header is the entry's message; inputs and outputs have another number for the
// size and the fields behind it.
func (t Tensor) header(size protowire.Number) []byte {
	var b []byte
	b = appendNumber(b, 1, uint64(t.Type))
	b = appendNumber(b, 2, uint64(t.Format))
	b = appendNested(b, 3, dims(t.Shape))
	claim := t.Claim
	if claim == 0 {
		claim = uint64(len(t.Data))
	}
	b = appendNumber(b, size, claim)
	b = appendNested(b, size+1, dims(t.Origin))
	b = appendNumber(b, size+2, uint64(t.Group))
	return appendNumber(b, size+3, t.Address)
}

func appendNumber(b []byte, field protowire.Number, v uint64) []byte {
	if v == 0 {
		return b
	}
	b = protowire.AppendTag(b, field, protowire.VarintType)
	return protowire.AppendVarint(b, v)
}

func appendNested(b []byte, field protowire.Number, body []byte) []byte {
	b = protowire.AppendTag(b, field, protowire.BytesType)
	return protowire.AppendBytes(b, body)
}

func dims(shape []int64) []byte {
	var packed []byte
	for _, d := range shape {
		packed = protowire.AppendVarint(packed, uint64(d))
	}
	if packed == nil {
		return nil
	}
	return appendNested(nil, 1, packed)
}

// Write puts the dump at path, making folders as needed.
func (d Dump) Write(path string) error { return write(path, d.Bytes()) }

func write(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}

// WriteNpy writes a golden array of little-endian elements; descr is numpy's
// type text such as "<f4".
func WriteNpy(path, descr string, shape []int64, data []byte) error {
	text := make([]string, len(shape))
	for i, d := range shape {
		text[i] = fmt.Sprint(d)
	}
	tuple := "(" + strings.Join(text, ", ")
	if len(shape) == 1 {
		tuple += ","
	}
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s), }", descr, tuple)
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	out := []byte("\x93NUMPY\x01\x00")
	out = binary.LittleEndian.AppendUint16(out, uint16(len(header)))
	out = append(out, header...)
	return write(path, append(out, data...))
}

// Floats encodes values as float32.
func Floats(values []float32) []byte {
	var out []byte
	for _, v := range values {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
	}
	return out
}

// Halves encodes values as float16, rounding to nearest even.
func Halves(values []float32) []byte {
	var out []byte
	for _, v := range values {
		out = binary.LittleEndian.AppendUint16(out, half(v))
	}
	return out
}

// half rounds a float32 to IEEE binary16.
func half(v float32) uint16 {
	b := math.Float32bits(v)
	sign := uint16(b >> 16 & 0x8000)
	abs := math.Abs(float64(v))
	switch {
	case v != v:
		return sign | 0x7e00
	case abs >= 65520:
		return sign | 0x7c00
	case abs < math.Ldexp(1, -14):
		return sign | uint16(math.RoundToEven(math.Ldexp(abs, 24)))
	}
	frac, exp := math.Frexp(abs) // abs = frac * 2^exp, frac in [0.5, 1)
	mantissa := uint16(math.RoundToEven(math.Ldexp(frac, 11)))
	if mantissa == 2048 {
		mantissa, exp = 1024, exp+1
	}
	return sign | uint16(exp+14)<<10 | (mantissa - 1024)
}

// Int32s encodes values as int32.
func Int32s(values []int32) []byte {
	var out []byte
	for _, v := range values {
		out = binary.LittleEndian.AppendUint32(out, uint32(v))
	}
	return out
}
