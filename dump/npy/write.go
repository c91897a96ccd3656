package npy

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"precision/dump/dtype"
	"precision/internal/must"
	"precision/internal/nd"
)

// AppendHeader appends the header of a file in format 1.0 whose elements are
// little-endian in C order, padded so that they start at a multiple of 64
// bytes, as numpy writes it. The type must be one that numpy has.
func AppendHeader(b []byte, t dtype.Type, shape []int64) (_ []byte, err error) {
	defer must.Catch(&err)
	descr := t.Numpy()
	must.Not(descr == "", "numpy has no type for %s", t)
	must.Not(len(shape) > 0 && slices.Min(shape) < 0, "shape %v has a negative dim", shape)
	text := []byte("{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + nd.Tuple(shape) + ", }")
	for (len(Magic)+4+len(text)+1)%64 != 0 {
		text = append(text, ' ')
	}
	text = append(text, '\n')
	must.Not(len(shape) > maxDims || len(text) > math.MaxUint16, "a shape of %d dims, numpy has at most %d", len(shape), maxDims)
	b = append(b, Magic+"\x01\x00"...)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(text)))
	return append(b, text...), nil
}

// Write writes a whole file. data holds the elements, little-endian in C
// order; its length must be what the shape needs.
func Write(w io.Writer, t dtype.Type, shape []int64, data []byte) error {
	head, err := AppendHeader(nil, t, shape)
	if err != nil {
		return err
	}
	if want := t.Bytes(elements(shape)); want != int64(len(data)) {
		return fmt.Errorf("%d bytes of elements, expected %d for shape %v of %s", len(data), want, shape, t)
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// Copy writes a whole file of elements of type t as those of another type, see [dtype.Copy].
func Copy(ctx context.Context, w io.Writer, t, as dtype.Type, shape []int64, read func(dst []byte, first, n int64) error) (err error) {
	defer must.Catch(&err)
	must.Get(w.Write(must.Get(AppendHeader(nil, as, shape))))
	return dtype.Copy(ctx, w, elements(shape), t, as, read)
}
