//go:build (amd64 || arm64) && !noasm

package layout

// transposeVector does what transposeTile does in vector registers, 16 bytes of
// rows at a time. It reports false if it did nothing: no such instructions, or
// too few rows or columns. Rows and columns that do not fill a block are moved
// once more together with their neighbours.
func transposeVector(dst []byte, dPitch int, src []byte, sPitch, rows, cols, es int) bool {
	if !vectors || es > 8 {
		return false
	}
	k := 16 / es
	wide, narrow := blockColumns(es)
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
