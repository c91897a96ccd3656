package metric

//go:generate go -C ../../tools/gen run ./metric/amd64 -out ../../compare/metric/kernels_amd64.s -stubs ../../compare/metric/kernels_amd64.go -pkg metric
//go:generate go -C ../../tools/gen run ./metric/arm64 -out ../../compare/metric/kernels_arm64.s

// level is a set of kernels.
type level uint8

const (
	levelGo level = iota
	levelAVX2
	levelAVX512
	levelNEON
)

// active is the best level that this machine has. Tests change it.
var active = levels[len(levels)-1]
