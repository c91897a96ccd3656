//go:build (!amd64 && !arm64) || noasm

package metric

// Without vector kernels the Go loops do all the work.

var levels = []level{levelGo}

func sumTile32(t *tileSums, x, y []float32) { sumTile(t, x, y) }
func sumTile64(t *tileSums, x, y []float64) { sumTile(t, x, y) }

func sumKL32(s *klSums, kx, ky *klScale, x, y []float32) { sumKLScalar(s, kx, ky, x, y) }
func sumKL64(s *klSums, kx, ky *klScale, x, y []float64) { sumKLScalar(s, kx, ky, x, y) }

func spreadAbout32(v []float32, mean float64) float64 { return spreadAbout(v, mean) }
func spreadAbout64(v []float64, mean float64) float64 { return spreadAbout(v, mean) }

func (r *referenceRun) reduceVector(p *referencePartial, x, y []float32) bool { return false }

func firstApart32(x, y []float32, by float64) int { return firstApart(x, y, by) }
func firstApart64(x, y []float64, by float64) int { return firstApart(x, y, by) }

func outside32(x, y []float32, within Tolerance) int64 { return outside(x, y, within) }
func outside64(x, y []float64, within Tolerance) int64 { return outside(x, y, within) }

func narrowKernel(*narrowLanes, *narrowScale, *float32, *float32, int) {}
