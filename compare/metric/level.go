package metric

//go:generate go run ./internal/gen -out kernels_amd64.s -stubs kernels_amd64.go -pkg metric
//go:generate go run ./internal/genneon

// level is a set of kernels.
type level uint8

const (
	levelGo level = iota
	levelAVX2
	levelAVX512
	levelNEON
)

func (l level) String() string { return [...]string{"Go", "AVX2", "AVX512", "NEON"}[l] }

// active is the best level that this machine has. Tests change it.
var active = levels[len(levels)-1]
