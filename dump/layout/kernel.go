package layout

import "encoding/binary"

//go:generate go -C ../../tools/gen run ./layout/amd64 -out ../../dump/layout/transpose_amd64.s -stubs ../../dump/layout/transpose_amd64.go -pkg layout
//go:generate go -C ../../tools/gen run ./layout/arm64 -out ../../dump/layout/transpose_arm64.s

// The loops below move elements of 1, 2, 4, 8 or 16 bytes; pitches are in bytes.
// Narrow elements travel several to a 64-bit word: byte order does not matter
// as long as loads and stores agree on it, and little-endian keeps element 0 in
// the low bits.

var le = binary.LittleEndian

// copyRows copies rows runs of n bytes each, pitch apart in src, to adjoining
// places in dst. 32 bytes is one channel block of most device layouts.
func copyRows(dst, src []byte, pitch, rows, n int) {
	switch n {
	case 16:
		for i := range rows {
			*(*[16]byte)(dst[i*16:]) = *(*[16]byte)(src[i*pitch:])
		}
	case 32:
		for i := range rows {
			*(*[32]byte)(dst[i*32:]) = *(*[32]byte)(src[i*pitch:])
		}
	case 64:
		for i := range rows {
			*(*[64]byte)(dst[i*64:]) = *(*[64]byte)(src[i*pitch:])
		}
	default:
		for i := range rows {
			copy(dst[i*n:i*n+n], src[i*pitch:i*pitch+n])
		}
	}
}

// strided copies n elements, pitch apart in src, to adjoining places in dst.
func strided(dst, src []byte, pitch, n, es int) {
	switch es {
	case 1:
		for i := range dst[:n] {
			dst[i] = src[i*pitch]
		}
	case 2:
		i := 0
		for ; i+4 <= n; i += 4 {
			s := i * pitch
			w := uint64(le.Uint16(src[s:])) |
				uint64(le.Uint16(src[s+pitch:]))<<16 |
				uint64(le.Uint16(src[s+2*pitch:]))<<32 |
				uint64(le.Uint16(src[s+3*pitch:]))<<48
			le.PutUint64(dst[i*2:], w)
		}
		for ; i < n; i++ {
			le.PutUint16(dst[i*2:], le.Uint16(src[i*pitch:]))
		}
	case 4:
		for i := range n {
			le.PutUint32(dst[i*4:], le.Uint32(src[i*pitch:]))
		}
	case 8:
		for i := range n {
			le.PutUint64(dst[i*8:], le.Uint64(src[i*pitch:]))
		}
	case 16:
		for i := range n {
			*(*[16]byte)(dst[i*16:]) = *(*[16]byte)(src[i*pitch:])
		}
	}
}

// transposeStrip is how many columns are moved before the next few rows: their
// lines of dst and the part of src they share stay in the first-level cache.
const transposeStrip = 64

// transpose sets element (r, c) of dst, rows dPitch apart and columns adjoining,
// from element (r, c) of src, rows adjoining and columns sPitch apart.
func transpose(dst []byte, dPitch int, src []byte, sPitch, rows, cols, es int) {
	for c := 0; c < cols; c += transposeStrip {
		n := min(transposeStrip, cols-c)
		d, s := dst[c*es:], src[c*sPitch:]
		if !transposeVector(d, dPitch, s, sPitch, rows, n, es) {
			transposeTile(d, dPitch, s, sPitch, rows, n, es)
		}
	}
}

func transposeTile(dst []byte, dPitch int, src []byte, sPitch, rows, cols, es int) {
	r := 0
	switch es {
	case 1:
		for ; r+8 <= rows; r += 8 {
			transpose8(dst[r*dPitch:], dPitch, src[r:], sPitch, cols)
		}
	case 2:
		for ; r+4 <= rows; r += 4 {
			transpose4x16(dst[r*dPitch:], dPitch, src[r*2:], sPitch, cols)
		}
	case 4:
		for ; r+2 <= rows; r += 2 {
			transpose2x32(dst[r*dPitch:], dPitch, src[r*4:], sPitch, cols)
		}
	}
	for ; r < rows; r++ {
		strided(dst[r*dPitch:], src[r*es:], sPitch, cols, es)
	}
}

// transpose2x32 moves two rows of 4-byte elements.
func transpose2x32(dst []byte, dPitch int, src []byte, sPitch, cols int) {
	d0, d1 := dst[:cols*4], dst[dPitch:dPitch+cols*4]
	c := 0
	for ; c+2 <= cols; c += 2 {
		a, b := le.Uint64(src), le.Uint64(src[sPitch:])
		le.PutUint64(d0[c*4:], a&0xffffffff|b<<32)
		le.PutUint64(d1[c*4:], a>>32|b&^0xffffffff)
		src = src[min(2*sPitch, len(src)):]
	}
	if c < cols {
		w := le.Uint64(src)
		le.PutUint32(d0[c*4:], uint32(w))
		le.PutUint32(d1[c*4:], uint32(w>>32))
	}
}

// transpose4x16 moves four rows of 2-byte elements.
func transpose4x16(dst []byte, dPitch int, src []byte, sPitch, cols int) {
	const even = 0x0000ffff0000ffff
	d0, d1 := dst[:cols*2], dst[dPitch:dPitch+cols*2]
	d2, d3 := dst[2*dPitch:2*dPitch+cols*2], dst[3*dPitch:3*dPitch+cols*2]
	c := 0
	for ; c+4 <= cols; c += 4 {
		s := c * sPitch
		// Word x holds column x, its four rows in lanes 0 to 3.
		w0, w1 := le.Uint64(src[s:]), le.Uint64(src[s+sPitch:])
		w2, w3 := le.Uint64(src[s+2*sPitch:]), le.Uint64(src[s+3*sPitch:])
		// Exchange odd lanes of 16 bits, then the upper half for the lower.
		t0, t1 := w0&even|w1&even<<16, w0>>16&even|w1&^even
		t2, t3 := w2&even|w3&even<<16, w2>>16&even|w3&^even
		le.PutUint64(d0[c*2:], t0&0xffffffff|t2<<32)
		le.PutUint64(d1[c*2:], t1&0xffffffff|t3<<32)
		le.PutUint64(d2[c*2:], t0>>32|t2&^0xffffffff)
		le.PutUint64(d3[c*2:], t1>>32|t3&^0xffffffff)
	}
	for ; c < cols; c++ {
		w := le.Uint64(src[c*sPitch:])
		le.PutUint16(d0[c*2:], uint16(w))
		le.PutUint16(d1[c*2:], uint16(w>>16))
		le.PutUint16(d2[c*2:], uint16(w>>32))
		le.PutUint16(d3[c*2:], uint16(w>>48))
	}
}

// transpose8 moves eight rows of bytes.
func transpose8(dst []byte, dPitch int, src []byte, sPitch, cols int) {
	const (
		even8  = 0x00ff00ff00ff00ff
		even16 = 0x0000ffff0000ffff
	)
	c := 0
	for ; c+8 <= cols; c += 8 {
		var w [8]uint64
		for i := range w {
			w[i] = le.Uint64(src[(c+i)*sPitch:])
		}
		for i := 0; i < 8; i += 2 {
			a, b := w[i], w[i+1]
			w[i], w[i+1] = a&even8|b&even8<<8, a>>8&even8|b&^even8
		}
		for _, i := range [4]int{0, 1, 4, 5} {
			a, b := w[i], w[i+2]
			w[i], w[i+2] = a&even16|b&even16<<16, a>>16&even16|b&^even16
		}
		for i := range 4 {
			a, b := w[i], w[i+4]
			w[i], w[i+4] = a&0xffffffff|b<<32, a>>32|b&^0xffffffff
		}
		for i := range w {
			le.PutUint64(dst[i*dPitch+c:], w[i])
		}
	}
	for ; c < cols; c++ {
		w := le.Uint64(src[c*sPitch:])
		for i := range 8 {
			dst[i*dPitch+c] = byte(w >> (8 * i))
		}
	}
}
