package layout

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
)

// fill returns n bytes without pattern.
func fill(r *rand.Rand, n int64) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// slowGather picks the elements one by one.
func slowGather(src []byte, es int, offs []int64) []byte {
	dst := make([]byte, 0, len(offs)*es)
	for _, o := range offs {
		dst = append(dst, src[o*int64(es):(o+1)*int64(es)]...)
	}
	return dst
}

// Gather copies elements of a stored tensor that is in memory, as a [Reader] with all of it at hand does.
func (v View) Gather(dst, src []byte, elemSize int, first, n int64) error {
	r, err := NewBytesReader(src, elemSize, v)
	if err != nil {
		return err
	}
	return r.ReadTile(dst, first, n)
}

func TestGatherOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, p := range pairs() {
		t.Run(p[0].String()+"_"+p[1].String(), func(t *testing.T) {
			for i, c := range []struct{ c0, limit int64 }{{16, 6}, {32, 11}, {8, 20}, {5, 9}} {
				sizes := []int{2}
				if i == 0 || os.Getenv("SEEDS") != "" {
					sizes = []int{1, 2, 4, 8, 16}
				}
				if p[0] == C1HWNCoC0 || len(p[1].Letters()) == 5 {
					c.limit = min(c.limit, 6)
				}
				s := randomSample(r, p[0], p[1], c.c0, c.limit)
				v, err := Restore(s.from, s.to, s.stored, s.want, 0)
				if err != nil {
					t.Fatalf("%v: %v", s, err)
				}
				offs := oracle(s.from, s.to, s.stored, s.want)
				for _, es := range sizes {
					src := fill(r, v.Extent()*int64(es))
					want := slowGather(src, es, offs)
					for _, tile := range []int64{v.Len(), 1, 7, 64, 1 + r.Int64N(v.Len())} {
						if tile == 1 && v.Len() > 3000 {
							continue
						}
						got := make([]byte, len(want)+1)
						got[len(want)] = 0xa5
						for at := int64(0); at < v.Len(); at += tile {
							n := min(tile, v.Len()-at)
							if err := v.Gather(got[at*int64(es):], src, es, at, n); err != nil {
								t.Fatalf("%v: %v", s, err)
							}
						}
						if !bytes.Equal(got[:len(want)], want) {
							t.Fatalf("%v: tiles of %d, %d bytes an element: wrong", s, tile, es)
						}
						if got[len(want)] != 0xa5 {
							t.Fatalf("%v: wrote past the end", s)
						}
					}
				}
			}
		})
	}
}

// TestTranspose goes through all block remainders of the kernels.
func TestTranspose(t *testing.T) {
	t.Run("vector", testTranspose)
	if vectors {
		defer func() { vectors = true }()
		vectors = false
		t.Run("generic", testTranspose)
	}
}

func testTranspose(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, es := range []int{1, 2, 4, 8, 16} {
		for rows := 1; rows <= 34; rows++ {
			for _, cols := range []int{1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 131} {
				sPitch := (rows + r.IntN(3)) * es
				dPitch := (cols + r.IntN(3)) * es
				src := fill(r, int64((cols-1)*sPitch+rows*es+r.IntN(20)))
				dst := make([]byte, (rows-1)*dPitch+cols*es)
				want := bytes.Clone(dst)
				for i := range rows {
					for j := range cols {
						copy(want[i*dPitch+j*es:][:es], src[j*sPitch+i*es:])
					}
				}
				transpose(dst, dPitch, src, sPitch, rows, cols, es)
				if !bytes.Equal(dst, want) {
					t.Fatalf("%d×%d elements of %d bytes: wrong", rows, cols, es)
				}
			}
		}
	}
}

func BenchmarkGather(b *testing.B) {
	const tile = 32768
	for _, c := range []struct {
		from, to     Format
		stored, want []int64
		es           int
	}{
		{NC1HWC0, NCHW, []int64{8, 16, 56, 56, 16}, []int64{8, 256, 56, 56}, 2},
		{NC1HWC0, NCHW, []int64{8, 128, 7, 7, 16}, []int64{8, 2048, 7, 7}, 2},
		{NC1HWC0, NCHW, []int64{4, 4, 128, 128, 16}, []int64{4, 64, 128, 128}, 2},
		{NC1HWC0, NCHW, []int64{8, 1, 224, 224, 16}, []int64{8, 3, 224, 224}, 2},
		{NC1HWC0, NCHW, []int64{8, 16, 56, 56, 16}, []int64{8, 256, 56, 56}, 4},
		{NC1HWC0, NCHW, []int64{8, 8, 56, 56, 32}, []int64{8, 256, 56, 56}, 1},
		{NC1HWC0, NCHW, []int64{8, 16, 56, 56, 16}, []int64{8, 256, 56, 56}, 8},
		{NC1HWC0, NHWC, []int64{8, 16, 56, 56, 16}, []int64{8, 56, 56, 256}, 2},
		{NC1HWC0, HWCN, []int64{8, 16, 56, 56, 16}, []int64{56, 56, 256, 8}, 2},
		{FractalNZ, ND, []int64{64, 128, 16, 16}, []int64{2048, 1024}, 2},
		{FractalZ, NCHW, []int64{16 * 9, 16, 16, 16}, []int64{256, 256, 3, 3}, 2},
		{NHWC, NCHW, []int64{8, 56, 56, 256}, []int64{8, 256, 56, 56}, 2},
		{NCHW, NHWC, []int64{8, 256, 56, 56}, []int64{8, 56, 56, 256}, 2},
		{NCHW, NHWC, []int64{4, 64, 128, 128}, []int64{4, 128, 128, 64}, 4},
		{HWCN, NCHW, []int64{3, 3, 256, 256}, []int64{256, 256, 3, 3}, 2},
	} {
		v, err := Restore(c.from, c.to, c.stored, c.want, 0)
		if err != nil {
			b.Fatal(err)
		}
		src := fill(rand.New(rand.NewPCG(1, 1)), v.Stored()*int64(c.es))
		dst := make([]byte, tile*c.es)
		b.Run(fmt.Sprintf("%v%v_%v/%d", c.from, c.stored, c.to, c.es*8), func(b *testing.B) {
			b.SetBytes(v.Len() * int64(c.es))
			var plain, gather int64
			for b.Loop() {
				t0 := nanotime()
				for at := int64(0); at < v.Len(); at += tile {
					n := min(tile, v.Len()-at)
					copy(dst, src[at*int64(c.es):(at+n)*int64(c.es)])
				}
				t1 := nanotime()
				for at := int64(0); at < v.Len(); at += tile {
					if err := v.Gather(dst, src, c.es, at, min(tile, v.Len()-at)); err != nil {
						b.Fatal(err)
					}
				}
				plain, gather = plain+t1-t0, gather+nanotime()-t1
			}
			b.ReportMetric(float64(plain)/float64(gather), "×copy")
			b.ReportMetric(float64(v.Len()*int64(c.es))*float64(b.N)/float64(gather), "GB/s")
		})
	}
}
