package layout

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// oracle returns, for every element of the logical tensor in order, the index
// of the stored element it comes from, by walking the stored tensor dimension
// by dimension and asking where each element belongs. It is the definition of
// the layouts, written with no regard for strides.
func oracle(from, to Format, stored, want []int64) []int64 {
	dst := make([]int64, mustCount(want))
	for i := range dst {
		dst[i] = -1
	}
	for off := range mustCount(stored) {
		at := unravel(off, stored)
		for _, pos := range logical(from, stored, at, to, want) {
			if i, ok := ravel(pos, want); ok {
				dst[i] = off
			}
		}
	}
	return dst
}

// logical returns the place of a stored element in the wanted tensor, if it has
// one. It may lie in the padding.
func logical(from Format, s, at []int64, to Format, want []int64) [][]int64 {
	order := to.Letters()
	if to == ND {
		order = "NCDHW"
	}
	dim := func(x byte) int64 {
		if i := slices.Index([]byte(order), x); i >= 0 {
			return want[i]
		}
		return 1
	}
	m := map[byte]int64{}
	switch from {
	case NC1HWC0, NC1HWC0C04:
		m = map[byte]int64{'N': at[0], 'C': at[1]*s[4] + at[4], 'H': at[2], 'W': at[3]}
	case NHWC1C0:
		m = map[byte]int64{'N': at[0], 'H': at[1], 'W': at[2], 'C': at[3]*s[4] + at[4]}
	case C1HWNC0:
		m = map[byte]int64{'C': at[0]*s[4] + at[4], 'H': at[1], 'W': at[2], 'N': at[3]}
	case C1HWNCoC0:
		if at[4] != at[5] {
			return nil
		}
		m = map[byte]int64{'C': at[0]*s[5] + at[5], 'H': at[1], 'W': at[2], 'N': at[3]}
	case NDC1HWC0:
		m = map[byte]int64{'N': at[0], 'D': at[1], 'C': at[2]*s[5] + at[5], 'H': at[3], 'W': at[4]}
	case FractalZ, FractalZ3D:
		h, w, d := dim('H'), dim('W'), dim('D')
		c1 := s[0] / (h * w * d)
		r := at[0]
		m['W'], r = r%w, r/w
		m['H'], r = r%h, r/h
		m['C'], r = r%c1*s[3]+at[3], r/c1
		m['D'] = r
		m['N'] = at[1]*s[2] + at[2]
	case FractalZC04:
		k, h, w := at[0]*s[3]+at[3], dim('H'), dim('W')
		m = map[byte]int64{'C': k % 4, 'W': k / 4 % w, 'H': k / 4 / w, 'N': at[1]*s[2] + at[2]}
		if m['H'] >= h {
			return nil // fills up the last block
		}
	case FractalNZ:
		k := len(s) - 4
		pos := append(slices.Clone(at[:k]), at[k+1]*s[k+2]+at[k+2], at[k]*s[k+3]+at[k+3])
		return [][]int64{pos}
	default:
		for i, x := range []byte(from.Letters()) {
			m[x] = at[i]
		}
	}
	pos := make([]int64, len(order))
	for i := range order {
		pos[i] = m[order[i]]
	}
	return [][]int64{pos}
}

func mustCount(dims []int64) int64 {
	n, err := Count(dims)
	if err != nil {
		panic(err)
	}
	return n
}

func unravel(i int64, dims []int64) []int64 {
	at := make([]int64, len(dims))
	for k := len(dims) - 1; k >= 0; k-- {
		at[k] = i % dims[k]
		i /= dims[k]
	}
	return at
}

func ravel(at, dims []int64) (int64, bool) {
	i := int64(0)
	for k, d := range dims {
		if at[k] >= d {
			return 0, false
		}
		i = i*d + at[k]
	}
	return i, true
}

// sample is a stored tensor and the logical shape it holds.
type sample struct {
	from, to     Format
	stored, want []int64
}

func (s sample) String() string { return fmt.Sprintf("%v %v to %v %v", s.from, s.stored, s.to, s.want) }

func ceil(a, b int64) int64 { return (a + b - 1) / b }

// randomSample makes up a tensor of the given layouts. The block is C0.
func randomSample(r *rand.Rand, from, to Format, c0, limit int64) sample {
	dim := func() int64 { return 1 + r.Int64N(limit) }
	l := map[byte]int64{'N': dim(), 'C': dim(), 'D': dim(), 'H': dim(), 'W': dim()}
	if r.IntN(3) == 0 {
		l['C'] += c0
	}
	if r.IntN(4) == 0 {
		l['N'] += 16
	}
	s := sample{from: from, to: to}
	n, c, d, h, w := l['N'], l['C'], l['D'], l['H'], l['W']
	c1, n1 := ceil(c, c0), ceil(n, 16)
	switch from {
	case NC1HWC0:
		s.stored = []int64{n, c1, h, w, c0}
	case NC1HWC0C04:
		s.stored = []int64{n, ceil(c, 4), h, w, 4}
	case NHWC1C0:
		s.stored = []int64{n, h, w, c1, c0}
	case C1HWNC0:
		s.stored = []int64{c1, h, w, n, c0}
	case C1HWNCoC0:
		s.stored = []int64{c1, h, w, n, c0, c0}
	case NDC1HWC0:
		s.stored = []int64{n, d, c1, h, w, c0}
	case FractalZ:
		s.stored = []int64{c1 * h * w, n1, 16, c0}
	case FractalZC04:
		c = 1 + r.Int64N(4)
		l['C'] = c
		s.stored = []int64{ceil(h*w*4, 16), n1, 16, 16}
	case FractalZ3D:
		s.stored = []int64{d * c1 * h * w, n1, 16, c0}
	case FractalNZ:
		for range r.IntN(4) {
			s.stored = append(s.stored, 1+r.Int64N(3))
		}
		s.want = append(slices.Clone(s.stored), h, c)
		s.stored = append(s.stored, c1, ceil(h, 16), 16, c0)
		return s
	default:
		for _, x := range []byte(from.Letters()) {
			s.stored = append(s.stored, l[x])
		}
	}
	order := to.Letters()
	if to == ND {
		order = "NCDHW"
	}
	for _, x := range []byte(order) {
		s.want = append(s.want, l[x])
	}
	return s
}

// pairs lists the layout pairs that a View converts.
func pairs() [][2]Format {
	var out [][2]Format
	for from := range Format(50) {
		for to := range Format(50) {
			if _, ours := Supported(from, to); ours && from != to && to != FractalZ {
				out = append(out, [2]Format{from, to})
			}
		}
	}
	return out
}

// offsets lists the stored index of every element of a View.
func offsets(t *testing.T, v View) []int64 {
	t.Helper()
	out := make([]int64, v.Len())
	for i := range out {
		o, err := v.Offset(int64(i))
		if err != nil {
			t.Fatal(err)
		}
		out[i] = o
	}
	return out
}

func TestRestoreOracle(t *testing.T) {
	r, times := rand.New(rand.NewPCG(1, 2)), 2
	if os.Getenv("SEEDS") != "" {
		times = 4
	}
	for _, p := range pairs() {
		t.Run(p[0].String()+"_"+p[1].String(), func(t *testing.T) {
			for _, c0 := range []int64{16, 32, 8, 4} {
				for range times {
					s := randomSample(r, p[0], p[1], c0, 7)
					v, err := Restore(s.from, s.to, s.stored, s.want, 0)
					if err != nil {
						t.Fatalf("%v: %v", s, err)
					}
					if !slices.Equal(v.Dims, s.want) {
						t.Fatalf("%v: dims %v", s, v.Dims)
					}
					got, want := offsets(t, v), oracle(s.from, s.to, s.stored, s.want)
					if !slices.Equal(got, want) {
						t.Fatalf("%v: wrong elements", s)
					}
					if m := slices.Max(got); m+1 != v.Extent() || m >= v.Stored() || v.Stored() != mustCount(s.stored) {
						t.Fatalf("%v: greatest offset %d, extent %d, stored %d", s, m, v.Extent(), v.Stored())
					}
				}
			}
		})
	}
}

// TestConvertOracle checks the shapes before slicing, and that the elements
// kept later are the same as Restore's.
func TestConvertOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, p := range pairs() {
		for _, c0 := range []int64{16, 32, 8} {
			s := randomSample(r, p[0], p[1], c0, 6)
			v, err := Convert(s.from, s.to, s.stored, s.want, 0)
			if err != nil {
				t.Fatalf("%v: %v", s, err)
			}
			full := s.want
			if s.from == FractalNZ && len(full) > 3 {
				k := len(full) - 2
				full = append([]int64{mustCount(full[:k])}, full[k:]...)
			}
			switch s.from {
			case NC1HWC0, NC1HWC0C04, NHWC1C0, C1HWNC0, C1HWNCoC0, NDC1HWC0:
				last := s.stored[len(s.stored)-1]
				full = slices.Clone(full)
				if s.from != NDC1HWC0 || s.to != NCDHW && s.to != ND {
					i := slices.Index([]byte(s.to.Letters()), 'C')
					full[i] = ceil(full[i], last) * last
				}
			}
			if !slices.Equal(v.Dims, full) {
				t.Fatalf("%v: dims %v, want %v", s, v.Dims, full)
			}
			if s.from != FractalNZ && s.from != FractalZC04 {
				if v, err = v.SliceLike(s.want); err != nil {
					t.Fatalf("%v: %v", s, err)
				}
			}
			if !slices.Equal(offsets(t, v), oracle(s.from, s.to, s.stored, s.want)) {
				t.Fatalf("%v: wrong elements after slicing", s)
			}
		}
	}
}

// TestSupportedOld pins the converter table of msaccucmp.py.
func TestSupportedOld(t *testing.T) {
	old := map[string]bool{}
	for from := range Format(50) {
		for to := range Format(50) {
			o, ours := Supported(from, to)
			if o && !ours {
				t.Errorf("%v to %v: lost", from, to)
			}
			if o && from != to {
				old[from.String()+" "+to.String()] = true
			}
		}
	}
	for _, s := range []string{
		"NCHW NHWC", "NCHW FRACTAL_Z", "NHWC NCHW", "NHWC HWCN", "NHWC FRACTAL_Z", "HWCN NCHW", "HWCN NHWC", "HWCN FRACTAL_Z",
		"NC1HWC0 NCHW", "NC1HWC0 NHWC", "NC1HWC0 HWCN", "FRACTAL_Z NCHW", "FRACTAL_Z HWCN",
		"FRACTAL_NZ NCHW", "FRACTAL_NZ NHWC", "FRACTAL_NZ ND", "NDC1HWC0 ND", "NDC1HWC0 NCDHW",
	} {
		if !old[s] {
			t.Errorf("%s missing", s)
		}
		delete(old, s)
	}
	for s := range old {
		t.Errorf("%s was not in the old table", s)
	}
}

func TestRestoreErrors(t *testing.T) {
	for _, c := range []struct {
		from, to     Format
		stored, want []int64
		group        int
		err          error
	}{
		{NC1HWC0, CN, []int64{1, 1, 2, 2, 16}, []int64{1, 3}, 0, ErrNoConverter},
		{ND, NCHW, []int64{1, 2, 3, 4}, []int64{1, 2, 3, 4}, 0, ErrNoConverter},
		{NCHW, FractalZ, []int64{1, 2, 3, 4}, nil, 0, ErrNoConverter},
		{NC1HWC0, NCHW, []int64{1, 1, 2, 2}, nil, 0, ErrShapeShort},
		{NC1HWC0, NCHW, []int64{1, 1, 2, 2, 16}, []int64{1, 17, 2, 2}, 0, ErrExceeds},
		{NC1HWC0, NCHW, []int64{1, 2, 2, 2, 16}, []int64{1, 16, 2, 2}, 0, ErrMismatch},
		{NC1HWC0, NCHW, []int64{1, 1, 2, 2, 16}, []int64{1, 3, 1, 2}, 0, ErrMismatch},
		{NC1HWC0, NCHW, []int64{1, 1, 2, 2, 16}, []int64{1, 3}, 0, ErrMismatch},
		{NC1HWC0, NCHW, []int64{1, 1, -2, 2, 16}, nil, 0, ErrBadDim},
		{NC1HWC0, NCHW, []int64{1, 1, 2, 2, 16}, []int64{1, -3, 2, 2}, 0, ErrBadDim},
		{NC1HWC0, NCHW, []int64{1 << 40, 1 << 40, 2, 2, 16}, nil, 0, ErrTooBig},
		{FractalZ, NCHW, []int64{4, 1, 16, 16}, nil, 0, ErrShapeShort},
		{FractalZ, NCHW, []int64{4, 1, 16, 16}, []int64{2, 3, 2}, 0, ErrShapeShort},
		{FractalZ, NCHW, []int64{4, 1, 16, 16}, []int64{2, 3, 2, 2}, 2, ErrGrouped},
		{FractalZ, NCHW, []int64{4, 1, 16, 16}, []int64{2, 3, 0, 2}, 0, ErrMismatch},
		{FractalZ, NCHW, []int64{5, 1, 16, 16}, []int64{2, 3, 2, 2}, 0, ErrMismatch},
		{FractalZ, NCHW, []int64{4, 1, 16, 16}, []int64{17, 3, 2, 2}, 0, ErrExceeds},
		{FractalZ, NCHW, []int64{4, 1, 16, 16}, []int64{2, 3, 1 << 40, 1 << 40}, 0, ErrMismatch},
		{FractalNZ, ND, []int64{2, 2, 16, 16}, nil, 0, ErrShapeShort},
		{FractalNZ, ND, []int64{2, 2, 16}, []int64{2, 2}, 0, ErrShapeShort},
		{FractalNZ, ND, []int64{2, 2, 16, 16}, []int64{16, 30}, 0, ErrMismatch},
		{FractalNZ, ND, []int64{3, 2, 2, 16, 16}, []int64{2, 20, 30}, 0, ErrMismatch},
		{C1HWNCoC0, HWCN, []int64{1, 2, 2, 1, 16, 8}, []int64{2, 2, 3, 1}, 0, ErrMismatch},
	} {
		_, err := Restore(c.from, c.to, c.stored, c.want, c.group)
		if !errors.Is(err, c.err) {
			t.Errorf("%v %v to %v %v: %v, want %v", c.from, c.stored, c.to, c.want, err, c.err)
		}
	}
}

func TestRestoreRanks(t *testing.T) {
	for _, c := range []struct {
		from, to           Format
		stored, want, dims []int64
	}{
		{NC1HWC0, NCHW, []int64{2, 63, 1, 1, 16}, []int64{2, 1000}, []int64{2, 1000}},
		{NC1HWC0, NHWC, []int64{2, 63, 1, 1, 16}, []int64{2, 1000}, []int64{2, 1000}},
		{NC1HWC0, NCHW, []int64{1, 1, 3, 4, 16}, []int64{3, 4}, []int64{3, 4}},
		{NC1HWC0, NCHW, []int64{1, 1, 3, 4, 16}, []int64{1, 1, 3, 3, 4}, []int64{1, 1, 3, 3, 4}},
		{NC1HWC0, NCHW, []int64{1, 1, 1, 1, 16}, []int64{1}, []int64{1}},
		{NC1HWC0, NCHW, []int64{1, 1, 3, 4, 16}, nil, []int64{1, 16, 3, 4}},
		{FractalNZ, ND, []int64{2, 1, 16, 16}, []int64{30}, []int64{30}},
		{FractalNZ, ND, []int64{1, 1, 16, 32}, []int64{2, 3}, []int64{2, 3}},
		{FractalNZ, ND, []int64{2, 3, 1, 1, 16, 16}, []int64{2, 3, 4, 5}, []int64{2, 3, 4, 5}},
		{NC1HWC0, NC1HWC0, []int64{1, 2, 3}, []int64{9}, []int64{1, 2, 3}},
		{NC1HWC0, NCHW, []int64{0, 1, 3, 4, 16}, []int64{0, 3, 3, 4}, []int64{0, 3, 3, 4}},
	} {
		v, err := Restore(c.from, c.to, c.stored, c.want, 0)
		if err != nil || !slices.Equal(v.Dims, c.dims) {
			t.Errorf("%v %v to %v %v: %v, %v", c.from, c.stored, c.to, c.want, v.Dims, err)
		}
	}
}

// TestC04 refuses filters that do not fit FRACTAL_Z_C04.
func TestC04(t *testing.T) {
	stored := []int64{13, 4, 16, 16} // 7×7 positions of 4 channels, 64 outputs
	if v, err := Restore(FractalZC04, NCHW, stored, []int64{64, 3, 7, 7}, 0); err != nil || v.Len() != 64*3*49 {
		t.Fatalf("%v, %v", v.Dims, err)
	}
	for _, want := range [][]int64{{64, 5, 7, 7}, {80, 3, 7, 7}, {40, 3, 7, 7}, {64, 3, 7, 8}, {64, 3, 5, 5}, {64, 3, 7}, nil} {
		if _, err := Restore(FractalZC04, NCHW, stored, want, 0); err == nil {
			t.Errorf("%v fits %v", want, stored)
		}
	}
	for _, stored := range [][]int64{{13, 4, 16}, {13, 4, 16, 6}, {13, 4, 16, 0}, {1 << 62, 4, 16, 1 << 40}} {
		if _, err := Restore(FractalZC04, NCHW, stored, []int64{64, 3, 7, 7}, 0); err == nil {
			t.Errorf("%v accepted", stored)
		}
	}
}
