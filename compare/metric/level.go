package metric

// level is a set of kernels.
type level uint8

const (
	levelGo level = iota
	levelAVX2
	levelAVX512
)

func (l level) String() string { return [...]string{"Go", "AVX2", "AVX512"}[l] }

// active is the best level that this machine has. Tests change it.
var active = levels[len(levels)-1]
