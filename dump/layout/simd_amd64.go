//go:build amd64 && !noasm

package layout

import "golang.org/x/sys/cpu"

// vectors is a variable for tests to switch off.
var vectors = cpu.X86.HasAVX2

// blockColumns are how many columns the wide and the narrow kernels move at a
// time, the rows being 16 bytes.
func blockColumns(es int) (wide, narrow int) {
	narrow = min(16/es, 8)
	if es == 8 {
		return 2 * narrow, 2 * narrow // there is no narrow kernel
	}
	return 2 * narrow, narrow
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
