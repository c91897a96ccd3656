//go:build amd64 && !noasm

package oracle

import "golang.org/x/sys/cpu"

// levels are those of this processor, the fastest last.
var levels = func() []tileLevel {
	list := []tileLevel{inGo}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		list = append(list, tileLevel{"AVX2", tileKernel[float32]{16, float32Tile16}, tileKernel[float64]{8, float64Tile8}})
		if cpu.X86.HasAVX512F {
			list = append(list, tileLevel{"AVX-512", tileKernel[float32]{32, float32Tile32}, tileKernel[float64]{16, float64Tile16}})
		}
	}
	return list
}()
