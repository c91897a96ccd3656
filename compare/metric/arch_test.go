//go:build qemu

package metric

import (
	"testing"

	"precision/testdata/workshop/qemu"
)

// On arm64 there are other kernels, and compilers fuse multiplications with
// additions, which must not change a digit of Reference numerics.
func TestARM64(t *testing.T) {
	qemu.Test(t, "TestReference|TestExactSpecial|TestExactSmall|TestExactFirst|TestExactDivergence|TestKernel|TestFacts|TestTiles|TestNarrowKernels|TestFMA32|TestLog32|TestScalar")
}
