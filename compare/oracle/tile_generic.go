//go:build !amd64 || noasm

package oracle

// vectors is false where there is no kernel.
var vectors = false

// tile6x16 adds a·b to c: a is k columns of 6 numbers, b is k rows of 16, and c
// 6 rows of 16, without gaps. It stands for the kernel that is not there.
func tile6x16(k int, a, b, c *float32) { panic("no vector kernel") }
