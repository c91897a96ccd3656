package metric

import "testing"

// eachLevel runs f with every set of kernels that this machine has.
func eachLevel(t *testing.T, f func(*testing.T)) {
	best := active
	defer func() { active = best }()
	for _, l := range levels {
		active = l
		t.Run(l.String(), f)
	}
}

func (l level) String() string { return [...]string{"Go", "AVX2", "AVX512", "NEON"}[l] }
