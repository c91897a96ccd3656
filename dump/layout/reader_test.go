package layout

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// strictReader fails the test on reads outside [lo, hi).
type strictReader struct {
	t      *testing.T
	data   []byte
	lo, hi int64
}

func (s *strictReader) ReadAt(p []byte, off int64) (int, error) {
	if off < s.lo || off+int64(len(p)) > s.hi {
		s.t.Fatalf("read of %d bytes at %d, the tensor is [%d, %d)", len(p), off, s.lo, s.hi)
	}
	return copy(p, s.data[off:]), nil
}

func TestReaderOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, p := range pairs() {
		t.Run(p[0].String()+"_"+p[1].String(), func(t *testing.T) {
			for i, c := range []struct{ c0, limit int64 }{{16, 6}, {32, 9}, {8, 14}} {
				sizes := []int64{2}
				if i == 0 {
					sizes = []int64{1, 2, 4, 8, 16}
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
					const base = 11
					data := fill(r, base+v.Extent()*es)
					want := slowGather(data[base:], int(es), offs)
					rd, err := NewReader(&strictReader{t, data, base, int64(len(data))}, base, int(es), v)
					if err != nil {
						t.Fatal(err)
					}
					for _, most := range []int64{DefaultWindow, 1, 100, 1000, 1 + r.Int64N(v.Extent()*es)} {
						rd.SetWindow(most)
						tile := 1 + r.Int64N(v.Len())
						if most > 64 {
							tile = max(tile, 40)
						}
						got := make([]byte, len(want))
						for at := int64(0); at < v.Len(); at += tile {
							n := min(tile, v.Len()-at)
							if err := rd.ReadTile(got[at*es:], at, n); err != nil {
								t.Fatalf("%v: %v", s, err)
							}
							if int64(len(rd.buf)) > max(most, 64) {
								t.Fatalf("%v: window of %d bytes, at most %d", s, len(rd.buf), most)
							}
						}
						if !bytes.Equal(got, want) {
							t.Fatalf("%v: tiles of %d, %d bytes an element, window %d: wrong", s, tile, es, most)
						}
						mem, err := NewBytesReader(data[base:], int(es), v)
						if err != nil {
							t.Fatal(err)
						}
						mem.SetWindow(most)
						for i := range 6 { // out of order
							rd := rd.Clone()
							if i%2 == 0 {
								rd = mem
							}
							at := r.Int64N(v.Len())
							n := r.Int64N(v.Len() - at)
							if err := rd.ReadTile(got, at, n); err != nil {
								t.Fatalf("%v: %v", s, err)
							}
							if !bytes.Equal(got[:n*es], want[at*es:(at+n)*es]) {
								t.Fatalf("%v: [%d, %d): wrong", s, at, at+n)
							}
						}
					}
				}
			}
		})
	}
}

// TestReaderReadsOnce pins that reading a tensor tile by tile reads its bytes
// about once and in few calls, where a window can hold what tiles share.
// SetWindow limits the window to n bytes, a few elements at the least.
func (r *Reader) SetWindow(n int64) {
	r.most = max(n, 64)
	r.group, r.groupLo, r.groupHi = nil, 0, 0
	if !r.mem {
		r.buf, r.lo, r.hi = nil, 0, 0
	}
}

// counting counts what is read.
type counting struct {
	io.ReaderAt
	reads, bytes int64
}

func (c *counting) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, off)
	c.reads++
	c.bytes += int64(n)
	return n, err
}

func TestReaderReadsOnce(t *testing.T) {
	const tile = 32768
	for _, c := range []struct {
		from, to     Format
		stored, want []int64
		window       int64
		reads        int64   // at most
		times        float64 // bytes read over bytes stored, at most
	}{
		{NC1HWC0, NCHW, []int64{1, 2, 256, 256, 16}, []int64{1, 32, 256, 256}, DefaultWindow, 2, 1},
		{NC1HWC0, NCHW, []int64{2, 128, 7, 7, 16}, []int64{2, 2048, 7, 7}, DefaultWindow, 9, 1.1},
		{NC1HWC0, NHWC, []int64{2, 4, 56, 56, 16}, []int64{2, 56, 56, 64}, DefaultWindow, 20, 1.01},
		{NC1HWC0, HWCN, []int64{2, 4, 56, 56, 16}, []int64{56, 56, 64, 2}, DefaultWindow, 4, 1.01},
		{FractalZ, NCHW, []int64{288, 8, 16, 16}, []int64{128, 512, 3, 3}, DefaultWindow, 1, 1},
		{FractalZ, NCHW, []int64{288, 8, 16, 16}, []int64{128, 512, 3, 3}, 256 << 10, 288 * 6, 1},
		{FractalNZ, ND, []int64{64, 8, 16, 16}, []int64{128, 1024}, DefaultWindow, 8, 1.01},
		{FractalNZ, ND, []int64{64, 128, 16, 16}, []int64{2048, 1024}, 512 << 10, 600, 1.01},
		// A channel block of 4 MiB through windows of 1 MiB: the rows held are
		// half a block, so it is read twice.
		{NC1HWC0, NCHW, []int64{1, 2, 512, 256, 16}, []int64{1, 32, 512, 256}, 2 << 20, 17, 2},
		{NHWC, NCHW, []int64{2, 56, 56, 64}, []int64{2, 64, 56, 56}, DefaultWindow, 2, 1},
	} {
		v, err := Restore(c.from, c.to, c.stored, c.want, 0)
		if err != nil {
			t.Fatal(err)
		}
		st := &counting{ReaderAt: bytes.NewReader(make([]byte, v.Stored()*2))}
		rd, err := NewReader(st, 0, 2, v)
		if err != nil {
			t.Fatal(err)
		}
		rd.SetWindow(c.window)
		dst := make([]byte, tile*2)
		for at := int64(0); at < v.Len(); at += tile {
			if err := rd.ReadTile(dst, at, min(tile, v.Len()-at)); err != nil {
				t.Fatal(err)
			}
		}
		if times := float64(st.bytes) / float64(v.Stored()*2); st.reads > c.reads || times > c.times {
			t.Errorf("%v %v to %v, window %d: %d reads, bytes read %.3f times", c.from, c.stored, c.to, c.window, st.reads, times)
		}
	}
}

func TestReaderErrors(t *testing.T) {
	v, err := Restore(NC1HWC0, NCHW, []int64{1, 1, 4, 4, 16}, []int64{1, 3, 4, 4}, 0)
	if err != nil {
		t.Fatal(err)
	}
	flat, err := Contiguous([]int64{100})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []View{v, flat} {
		rd, err := NewReader(bytes.NewReader(make([]byte, 60)), 4, 2, v)
		if err != nil {
			t.Fatal(err)
		}
		dst := make([]byte, 200)
		err = rd.ReadTile(dst, 0, v.Len())
		if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "offset 4") {
			t.Errorf("short file: %v", err)
		}
		for _, x := range []struct{ first, n int64 }{{-1, 1}, {0, -1}, {0, 101}, {v.Len(), 1}, {1 << 62, 1 << 62}, {5, 1<<63 - 1}} {
			if err := rd.ReadTile(dst, x.first, x.n); !errors.Is(err, ErrRange) {
				t.Errorf("tile %v: %v", x, err)
			}
		}
		if err := rd.ReadTile(dst[:5], 0, 3); !errors.Is(err, ErrRange) {
			t.Errorf("small dst: %v", err)
		}
		if err := rd.ReadTile(nil, v.Len(), 0); err != nil {
			t.Errorf("empty tile: %v", err)
		}
		for _, es := range []int{0, -1, 3, 32} {
			if _, err := NewReader(nil, 0, es, v); !errors.Is(err, ErrElemSize) {
				t.Errorf("element size %d: %v", es, err)
			}
			if err := v.Gather(nil, nil, es, 0, 0); !errors.Is(err, ErrElemSize) {
				t.Errorf("element size %d: %v", es, err)
			}
		}
		if _, err := NewBytesReader(make([]byte, 20), 2, v); !errors.Is(err, ErrRange) {
			t.Errorf("small tensor: %v", err)
		}
	}
}

func BenchmarkReader(b *testing.B) {
	const tile = 32768
	for _, c := range []struct {
		from, to     Format
		stored, want []int64
		es           int64
	}{
		{ND, ND, []int64{8, 256, 56, 56}, nil, 2},
		{NC1HWC0, NCHW, []int64{8, 1, 224, 224, 16}, []int64{8, 3, 224, 224}, 2},
		{NC1HWC0, NCHW, []int64{1, 2, 1024, 1024, 16}, []int64{1, 32, 1024, 1024}, 2},
		{NC1HWC0, NCHW, []int64{8, 16, 56, 56, 16}, []int64{8, 256, 56, 56}, 2},
		{NC1HWC0, NCHW, []int64{8, 128, 7, 7, 16}, []int64{8, 2048, 7, 7}, 2},
		{NC1HWC0, NCHW, []int64{1, 4, 512, 512, 16}, []int64{1, 64, 512, 512}, 2},
		{NC1HWC0, NHWC, []int64{8, 16, 56, 56, 16}, []int64{8, 56, 56, 256}, 2},
		{FractalNZ, ND, []int64{64, 128, 16, 16}, []int64{2048, 1024}, 2},
		{FractalZ, NCHW, []int64{32 * 9, 32, 16, 16}, []int64{512, 512, 3, 3}, 2},
		{FractalZ, NCHW, []int64{64 * 9, 64, 16, 16}, []int64{1024, 1024, 3, 3}, 2},
		{NHWC, NCHW, []int64{8, 56, 56, 256}, []int64{8, 256, 56, 56}, 2},
	} {
		v, err := Restore(c.from, c.to, c.stored, c.want, 0)
		if err != nil {
			b.Fatal(err)
		}
		src := fill(rand.New(rand.NewPCG(1, 1)), v.Stored()*c.es)
		rd, err := NewReader(bytes.NewReader(src), 0, int(c.es), v)
		if err != nil {
			b.Fatal(err)
		}
		dst := make([]byte, tile*c.es)
		b.Run(fmt.Sprintf("%v%v_%v/%d", c.from, c.stored, c.to, c.es*8), func(b *testing.B) {
			b.SetBytes(v.Len() * c.es)
			var plain, tiled int64
			for b.Loop() {
				t0 := nanotime()
				for at := int64(0); at < v.Len(); at += tile {
					n := min(tile, v.Len()-at)
					copy(dst, src[at*c.es:(at+n)*c.es])
				}
				t1 := nanotime()
				for at := int64(0); at < v.Len(); at += tile {
					if err := rd.ReadTile(dst, at, min(tile, v.Len()-at)); err != nil {
						b.Fatal(err)
					}
				}
				plain, tiled = plain+t1-t0, tiled+nanotime()-t1
			}
			b.ReportMetric(float64(plain)/float64(tiled), "×copy")
			b.ReportMetric(float64(v.Len()*c.es)*float64(b.N)/float64(tiled), "GB/s")
		})
	}
}
