//go:build (!amd64 && !arm64) || noasm

package metric

// Without vector kernels the Go loops do all the work.
var (
	levels   = []level{levelGo}
	vector32 = [1]kernels[float32]{}
	vector64 = [1]kernels[float64]{}
)

func plainKL[T float32 | float64](s *klSums, kx, ky *klScale, x, y []T) { sumKLScalar(s, kx, ky, x, y) }

func (r *referenceRun) reduceVector(p *referencePartial, x, y []float32) bool { return false }

func narrowKernel(*narrowLanes, *narrowScale, *float32, *float32, int) {}
