//go:build (amd64 || arm64) && !noasm

package metric

import "math"

func plainKL[T float32 | float64](s *klSums, kx, ky *klScale, x, y []T) { sumKL(s, kx, ky, x, y) }

// below is what kernels for float32 look for, which round differences to that type: one step below, and not 0, to
// which no difference rounds.
func below(by float64) float32 {
	return max(math.Nextafter32(float32(by), 0), math.SmallestNonzeroFloat32)
}
