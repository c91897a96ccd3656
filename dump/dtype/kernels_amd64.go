//go:build amd64 && !noasm

package dtype

import "golang.org/x/sys/cpu"

// vectors is a variable for tests to switch off. Processors with AVX2 have had
// F16C all along.
var vectors = cpu.X86.HasAVX2 && cpu.X86.HasFMA
