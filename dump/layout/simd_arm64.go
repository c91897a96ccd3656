//go:build arm64 && !noasm

package layout

// vectors is a variable for tests to switch off. All arm64 has them.
var vectors = true

// blockColumns are how many columns the kernels move at a time, the rows being
// 16 bytes. One kernel serves as the wide and as the narrow one.
func blockColumns(es int) (wide, narrow int) { return 16 / es, 16 / es }

// transpose8NEON moves 16 rows of blocks × 16 columns of 1-byte elements.
//
//go:noescape
func transpose8NEON(dst *byte, dPitch int, src *byte, sPitch int, blocks int)

// transpose16NEON moves 8 rows of blocks × 8 columns of 2-byte elements.
//
//go:noescape
func transpose16NEON(dst *byte, dPitch int, src *byte, sPitch int, blocks int)

// transpose32NEON moves 4 rows of blocks × 4 columns of 4-byte elements.
//
//go:noescape
func transpose32NEON(dst *byte, dPitch int, src *byte, sPitch int, blocks int)

// transpose64NEON moves 2 rows of blocks × 2 columns of 8-byte elements.
//
//go:noescape
func transpose64NEON(dst *byte, dPitch int, src *byte, sPitch int, blocks int)

func transposeWide(dst *byte, dPitch int, src *byte, sPitch, blocks, es int) {
	switch es {
	case 1:
		transpose8NEON(dst, dPitch, src, sPitch, blocks)
	case 2:
		transpose16NEON(dst, dPitch, src, sPitch, blocks)
	case 4:
		transpose32NEON(dst, dPitch, src, sPitch, blocks)
	case 8:
		transpose64NEON(dst, dPitch, src, sPitch, blocks)
	}
}

func transposeNarrow(dst *byte, dPitch int, src *byte, sPitch, blocks, es int) {
	transposeWide(dst, dPitch, src, sPitch, blocks, es)
}
