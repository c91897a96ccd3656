//go:build (amd64 || arm64) && !noasm

package dtype

// perRound is the number of elements a kernel widens in one go.
const perRound = 32

// inRounds runs a kernel over the whole rounds of dst and returns how many
// elements that were.
func inRounds(dst []float32, src []byte, size int, kernel func(dst *float32, src *byte, rounds int)) int {
	rounds := len(dst) / perRound
	if !vectors || rounds == 0 {
		return 0
	}
	n := rounds * perRound
	_ = src[n*size-1] // the kernel checks no bounds
	kernel(&dst[0], &src[0], rounds)
	return n
}

func float16To32(dst []float32, src []byte) {
	n := inRounds(dst, src, 2, float16Rounds)
	float16s(dst[n:], src[2*n:])
}

func float16To64(dst []float64, src []byte) {
	n := by32(dst, src, false)
	float16s(dst[n:], src[2*n:])
}

func bfloat16To64(dst []float64, src []byte) {
	n := by32(dst, src, true)
	bfloat16s(dst[n:], src[2*n:])
}

// by32 widens by way of float32, which holds every half and every bfloat16, and returns how many elements
// that were. It names the kernels, as memory that is handed to one by its address would be allocated.
func by32(dst []float64, src []byte, bfloat16 bool) (n int) {
	var some [8 * perRound]float32
	for ; vectors && len(dst)-n >= len(some); n += len(some) {
		_ = src[2*(n+len(some))-1] // the kernels check no bounds
		if bfloat16 {
			bfloat16Rounds(&some[0], &src[2*n], len(some)/perRound)
		} else {
			float16Rounds(&some[0], &src[2*n], len(some)/perRound)
		}
		for i, v := range some {
			dst[n+i] = float64(v)
		}
	}
	return n
}

func bfloat16To32(dst []float32, src []byte) {
	n := inRounds(dst, src, 2, bfloat16Rounds)
	bfloat16s(dst[n:], src[2*n:])
}

func int8To32(dst []float32, src []byte) {
	n := inRounds(dst, src, 1, int8Rounds)
	int8s(dst[n:], src[n:])
}

func uint8To32(dst []float32, src []byte) {
	n := inRounds(dst, src, 1, uint8Rounds)
	uint8s(dst[n:], src[n:])
}
