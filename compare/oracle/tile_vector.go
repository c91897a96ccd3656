//go:build amd64 && !noasm

package oracle

import "golang.org/x/sys/cpu"

// vectors is a variable for tests to switch off.
var vectors = cpu.X86.HasAVX2 && cpu.X86.HasFMA
