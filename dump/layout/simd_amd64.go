//go:build amd64 && !noasm

package layout

import "golang.org/x/sys/cpu"

//go:generate sh -c "cd _asm && go run . -out ../transpose_amd64.s -stubs ../transpose_amd64.go -pkg layout"

// useAVX2 is a variable for tests to switch off.
var useAVX2 = cpu.X86.HasAVX2

// transposeVector does what transposeTile does in vector registers, 16 bytes of
// rows at a time. It reports false if it did nothing: no such instructions, or
// too few rows or columns. Rows and columns that do not fill a block are moved
// once more together with their neighbours.
func transposeVector(dst []byte, dPitch int, src []byte, sPitch, rows, cols, es int) bool {
	if !useAVX2 || es > 8 {
		return false
	}
	k := 16 / es
	wide, narrow := 2*min(k, 8), min(k, 8)
	if es == 8 {
		narrow = wide // there is no narrow kernel
	}
	if cols < narrow {
		return false
	}
	if rows < k {
		return transposeFew(dst, dPitch, src, sPitch, rows, cols, es)
	}
	// The kernels check no bounds.
	_ = dst[(rows-1)*dPitch+cols*es-1]
	_ = src[(cols-1)*sPitch+rows*es-1]
	for r := 0; r < rows; r += k {
		r = min(r, rows-k)
		d, s := dst[r*dPitch:], src[r*es:]
		c := cols / wide
		if c > 0 {
			transposeWide(&d[0], dPitch, &s[0], sPitch, c, es)
		}
		c *= wide
		switch rest := cols - c; {
		case rest == 0:
		case rest > narrow && cols >= wide:
			c = cols - wide
			transposeWide(&d[c*es], dPitch, &s[c*sPitch], sPitch, 1, es)
		default:
			if rest > narrow {
				transposeNarrow(&d[c*es], dPitch, &s[c*sPitch], sPitch, 1, es)
			}
			c = cols - narrow
			transposeNarrow(&d[c*es], dPitch, &s[c*sPitch], sPitch, 1, es)
		}
	}
	return true
}

// transposeFew moves less than 16 bytes of rows through a buffer of 16, if src
// goes on behind the rows: most often there is padding.
func transposeFew(dst []byte, dPitch int, src []byte, sPitch, rows, cols, es int) bool {
	if rows*es < 4 || cols > transposeStrip || (cols-1)*sPitch+16 > len(src) {
		return false
	}
	var full [16 * transposeStrip]byte
	pitch := transposeStrip * es
	transposeVector(full[:], pitch, src, sPitch, 16/es, cols, es)
	for r := range rows {
		copy(dst[r*dPitch:][:cols*es], full[r*pitch:])
	}
	return true
}

func transposeWide(dst *byte, dPitch int, src *byte, sPitch, blocks, es int) {
	switch es {
	case 1:
		transpose8Wide(dst, dPitch, src, sPitch, blocks)
	case 2:
		transpose16Wide(dst, dPitch, src, sPitch, blocks)
	case 4:
		transpose32Wide(dst, dPitch, src, sPitch, blocks)
	case 8:
		transpose64Wide(dst, dPitch, src, sPitch, blocks)
	}
}

func transposeNarrow(dst *byte, dPitch int, src *byte, sPitch, blocks, es int) {
	switch es {
	case 1:
		transpose8Narrow(dst, dPitch, src, sPitch, blocks)
	case 2:
		transpose16Narrow(dst, dPitch, src, sPitch, blocks)
	case 4:
		transpose32Narrow(dst, dPitch, src, sPitch, blocks)
	case 8:
		transpose64Wide(dst, dPitch, src, sPitch, blocks)
	}
}
