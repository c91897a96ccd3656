package dumptest

// The functions here put a framework array into a device layout, element by
// element from the definition of the layout: slow, obvious, and independent of
// the code that reads them back.

func ceil(a, b int64) int64 { return (a + b - 1) / b }

// ToNC1HWC0 stores (N, C, H, W) as (N, C1, H, W, c0), zero padded.
func ToNC1HWC0(v []float32, shape []int64, c0 int64) ([]float32, []int64) {
	n, c, h, w := shape[0], shape[1], shape[2], shape[3]
	c1 := ceil(c, c0)
	out := make([]float32, n*c1*h*w*c0)
	for i := range n * c * h * w {
		x, y, ch, b := i%w, i/w%h, i/(w*h)%c, i/(w*h*c)
		out[(((b*c1+ch/c0)*h+y)*w+x)*c0+ch%c0] = v[i]
	}
	return out, []int64{n, c1, h, w, c0}
}

// ToFractalZ stores (N, C, H, W) as (C1*H*W, N1, 16, c0), zero padded.
func ToFractalZ(v []float32, shape []int64, c0 int64) ([]float32, []int64) {
	n, c, h, w := shape[0], shape[1], shape[2], shape[3]
	c1, n1 := ceil(c, c0), ceil(n, 16)
	out := make([]float32, c1*h*w*n1*16*c0)
	for i := range n * c * h * w {
		x, y, ch, b := i%w, i/w%h, i/(w*h)%c, i/(w*h*c)
		row := (ch/c0*h+y)*w + x
		out[((row*n1+b/16)*16+b%16)*c0+ch%c0] = v[i]
	}
	return out, []int64{c1 * h * w, n1, 16, c0}
}

// ToFractalNZ stores (..., R, C) as (..., C1, R1, 16, c0), zero padded.
func ToFractalNZ(v []float32, shape []int64, c0 int64) ([]float32, []int64) {
	lead := int64(1)
	for _, d := range shape[:len(shape)-2] {
		lead *= d
	}
	r, c := shape[len(shape)-2], shape[len(shape)-1]
	r1, c1 := ceil(r, 16), ceil(c, c0)
	out := make([]float32, lead*c1*r1*16*c0)
	for i := range lead * r * c {
		col, row, b := i%c, i/c%r, i/(c*r)
		out[(((b*c1+col/c0)*r1+row/16)*16+row%16)*c0+col%c0] = v[i]
	}
	stored := append([]int64(nil), shape[:len(shape)-2]...)
	return out, append(stored, c1, r1, 16, c0)
}

// Transpose permutes the axes: axis i of the result is axis perm[i] of v.
func Transpose(v []float32, shape []int64, perm ...int) ([]float32, []int64) {
	dims := make([]int64, len(perm))
	for i, p := range perm {
		dims[i] = shape[p]
	}
	stride := make([]int64, len(shape))
	s := int64(1)
	for i := len(shape) - 1; i >= 0; i-- {
		stride[i] = s
		s *= shape[i]
	}
	out := make([]float32, len(v))
	for i := range out {
		rest, at := int64(i), int64(0)
		for k := len(dims) - 1; k >= 0; k-- {
			at += rest % dims[k] * stride[perm[k]]
			rest /= dims[k]
		}
		out[i] = v[at]
	}
	return out, dims
}
