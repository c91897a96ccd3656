//go:build arm64 && !noasm

package oracle

// levels are those of this processor, the fastest last.
var levels = []tileLevel{inGo, {"NEON", tileKernel[float32]{16, float32Tile16}, tileKernel[float64]{8, float64Tile8}}}

// float32Tile16 adds a·b to c: a is k columns of 6 numbers and b k rows of 16, without gaps, and c 6 rows of 16, ld numbers apart.
//
//go:noescape
func float32Tile16(k int, a, b, c *float32, ld int)

// float64Tile8 does it for float64, with rows of 8.
//
//go:noescape
func float64Tile8(k int, a, b, c *float64, ld int)
