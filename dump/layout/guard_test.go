package layout

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"precision/testdata/workshop/guard"
)

// Kernels neither read nor write beyond the tiles, nor between rows.
func TestTransposeStaysInside(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 2000 {
		es := []int{1, 2, 4, 8}[rng.IntN(4)]
		rows, cols := 1+rng.IntN(40), 1+rng.IntN(40)
		sPitch, dPitch := (rows+rng.IntN(3))*es, (cols+rng.IntN(3))*es
		src, dst := guard.Bytes(t, (cols-1)*sPitch+rows*es), guard.Bytes(t, (rows-1)*dPitch+cols*es)
		for i := range src {
			src[i] = byte(rng.Uint32())
		}
		for i := range dst {
			dst[i] = 0xee
		}
		want := bytes.Clone(dst)
		for r := range rows {
			for c := range cols {
				copy(want[r*dPitch+c*es:][:es], src[c*sPitch+r*es:])
			}
		}
		if transpose(dst, dPitch, src, sPitch, rows, cols, es); !bytes.Equal(dst, want) {
			t.Fatalf("%d×%d elements of %d bytes, pitches %d and %d: wrong", rows, cols, es, sPitch, dPitch)
		}
	}
}
