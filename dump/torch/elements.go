package torch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"precision/dump/dtype"
)

// chunk is the number of elements that are converted at a time.
const chunk = 1 << 14

// copyElements copies n elements of type t as PyTorch keeps them.
func copyElements(w io.Writer, r io.Reader, t dtype.Type, n int64) error {
	_, kept, _ := t.TorchStorage()
	convert := converter(t, kept)
	in, out := t.Bits()/8, kept.Bits()/8
	src := make([]byte, int(min(n, chunk))*in)
	dst := src
	if in != out {
		dst = make([]byte, int(min(n, chunk))*out)
	}
	for done := int64(0); done < n; {
		count := min(n-done, chunk)
		s, d := src[:int(count)*in], dst[:int(count)*out]
		if got, err := io.ReadFull(r, s); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return fmt.Errorf("found %d bytes, expected %d for %d elements of %s: %w", done*int64(in)+int64(got), n*int64(in), n, t, err)
		}
		if convert != nil {
			if bad := convert(d, s); bad >= 0 {
				return &RangeError{done + int64(bad), binary.LittleEndian.Uint64(s[8*bad:])}
			}
		}
		if _, err := w.Write(d); err != nil {
			return err
		}
		done += count
	}
	return nil
}

// converter returns what turns elements into those kept, nil if they are the
// same. The function returns the index of an element that does not fit, or -1.
func converter(t, kept dtype.Type) func(dst, src []byte) int {
	in, out := t.Bits()/8, kept.Bits()/8
	switch {
	case t.IsBool():
		// PyTorch takes bytes other than 0 and 1 for undefined.
		return func(dst, src []byte) int {
			for i, b := range src {
				if b != 0 {
					b = 1
				}
				dst[i] = b
			}
			return -1
		}
	case !t.IsInteger() || t.Signed() || !kept.Signed():
		return nil
	case in < out: // the upper bytes of a number without sign are zeros
		return func(dst, src []byte) int {
			for i := range len(src) / in {
				d := dst[i*out : i*out+out]
				clear(d[copy(d, src[i*in:i*in+in]):])
			}
			return -1
		}
	}
	return func(_, src []byte) int {
		for i := in - 1; i < len(src); i += in {
			if src[i] >= 0x80 {
				return i / in
			}
		}
		return -1
	}
}
