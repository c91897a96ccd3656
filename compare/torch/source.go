package torch

import (
	"fmt"
	"io"
	"slices"

	"precision/dump/dtype"
	"precision/dump/h5"
	"precision/dump/layout"
)

// wholeBytes is the largest tensor that is held in memory: every pass over it
// is then free, and strides cost nothing. The larger ones are read again for
// every pass. 16 MiB a side bound a worker to 32. Tests set it to 0.
var wholeBytes int64 = 16 << 20

// windowBytes is how much of a larger tensor is read ahead when its strides are
// no mere order of axes.
const windowBytes = 1 << 20

// elements yields the elements of a tensor in the order they are compared in.
type elements interface {
	// ReadTile fills dst with n elements from element first on.
	ReadTile(dst []byte, first, n int64) error
}

// source is a tensor ready to be read.
type source struct {
	// fresh starts reading the elements, for one goroutine.
	fresh func() elements
	typ   dtype.Type
	shape []int64
	count int64
}

// open finds the dataset of t and prepares reading it; strided says whether
// its strides count.
func (s *side) open(t *tensor, strided bool) (*source, error) {
	obj, err := s.h5.Lookup(t.path)
	if err != nil {
		return nil, err
	}
	d, ok := obj.(*h5.Dataset)
	if !ok {
		return nil, fmt.Errorf("%s is a %T, expected a dataset", t.path, obj)
	}
	size := int64(d.Type.Bits() / 8)
	if !d.Type.Readable() || size == 0 {
		if _, err := d.ReadAt(make([]byte, 1), 0); err != nil && err != io.EOF {
			return nil, err // tells what is not supported
		}
		return nil, fmt.Errorf("elements of type %s cannot be compared", d.Type)
	}
	if err := d.Backed(); err != nil {
		return nil, err
	}
	src := &source{typ: d.Type, shape: d.Shape, count: d.Len()}
	var stored io.ReaderAt = d
	if size := d.Size(); size > 0 && size <= wholeBytes {
		if b, err := d.ReadAll(); err == nil {
			stored = memory(b)
		}
	}
	src.fresh = func() elements { return plain{stored, size} }
	if strided && reorders(t.stride, d.Shape, d.Len()) {
		src.fresh, err = newStrided(stored, size, t.stride, d.Shape)
	}
	return src, err
}

// plain reads elements as they are stored.
type plain struct {
	r    io.ReaderAt
	size int64
}

func (p plain) ReadTile(dst []byte, first, n int64) error {
	return readFull(p.r, dst[:n*p.size], first*p.size)
}

func readFull(r io.ReaderAt, dst []byte, at int64) error {
	n, err := r.ReadAt(dst, at)
	if n == len(dst) {
		return nil
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("byte %d: %w", at+int64(n), err)
}

// memory is a tensor in memory.
type memory []byte

func (m memory) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off > int64(len(m)) {
		return 0, io.EOF
	}
	n := copy(p, m[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// reorders tells whether a Stride attribute can be followed and means another
// order than the stored one. It can when there is a stride for every dimension
// and the elements it leads to are all among the stored ones.
func reorders(stride, shape []int64, count int64) bool {
	if len(stride) != len(shape) || count == 0 {
		return false
	}
	last, same, next := int64(0), true, int64(1)
	for i := len(shape) - 1; i >= 0; i-- {
		d, s := shape[i]-1, stride[i]
		if s < 0 || (d > 0 && s > (count-1-last)/d) {
			return false
		}
		last += d * s
		same = same && (d == 0 || s == next)
		next *= shape[i]
	}
	return !same
}

// newStrided reads the elements of a stored tensor by strides.
func newStrided(r io.ReaderAt, size int64, stride, shape []int64) (fresh func() elements, err error) {
	if _, ok := r.(memory); !ok {
		if v, ok := permutation(stride, shape); ok {
			reader, err := layout.NewReader(r, 0, int(size), v)
			return func() elements { return reader.Clone() }, err
		}
	}
	return func() elements { return &strided{r: r, size: size, stride: stride, shape: shape} }, nil
}

// permutation turns strides into a reordering of axes, if that is what they
// are: a large tensor can then be read in strips.
func permutation(stride, shape []int64) (layout.View, bool) {
	axes := make([]int, len(shape))
	for i := range axes {
		axes[i] = i
	}
	slices.SortStableFunc(axes, func(a, b int) int {
		if stride[a] != stride[b] {
			return int(max(-1, min(1, stride[b]-stride[a])))
		}
		return int(max(-1, min(1, shape[b]-shape[a])))
	})
	stored := make([]int64, len(shape))
	order := make([]int, len(shape))
	for i, axis := range axes {
		stored[i], order[axis] = shape[axis], i
	}
	next := int64(1)
	for i := len(axes) - 1; i >= 0; i-- {
		if stored[i] != 1 && stride[axes[i]] != next {
			return layout.View{}, false
		}
		next *= stored[i]
	}
	v, err := layout.Contiguous(stored)
	if err == nil {
		v, err = v.Transpose(order)
	}
	return v, err == nil
}

// strided follows strides element by element.
type strided struct {
	r             io.ReaderAt
	size          int64
	stride, shape []int64
	index         []int64
	window        []byte
	start         int64 // the byte the window starts at
}

func (s *strided) ReadTile(dst []byte, first, n int64) error {
	if s.index == nil {
		s.index = make([]int64, len(s.shape))
	}
	at := int64(0)
	for i, rest := len(s.shape)-1, first; i >= 0; i-- {
		s.index[i] = rest % s.shape[i]
		rest /= s.shape[i]
		at += s.index[i] * s.stride[i]
	}
	for ; n > 0; n-- {
		e, err := s.element(at * s.size)
		if err != nil {
			return err
		}
		dst = dst[copy(dst, e):]
		for i := len(s.shape) - 1; i >= 0; i-- {
			s.index[i]++
			at += s.stride[i]
			if s.index[i] < s.shape[i] {
				break
			}
			at -= s.index[i] * s.stride[i]
			s.index[i] = 0
		}
	}
	return nil
}

func (s *strided) element(at int64) ([]byte, error) {
	if m, ok := s.r.(memory); ok {
		if at+s.size > int64(len(m)) {
			return nil, io.ErrUnexpectedEOF
		}
		return m[at : at+s.size], nil
	}
	if at < s.start || at+s.size > s.start+int64(len(s.window)) {
		s.window = slices.Grow(s.window[:0], windowBytes)[:windowBytes]
		n, err := s.r.ReadAt(s.window, at)
		s.window, s.start = s.window[:n], at
		if int64(n) < s.size {
			s.window = s.window[:0]
			if err == nil || err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, fmt.Errorf("byte %d: %w", at, err)
		}
	}
	return s.window[at-s.start:][:s.size], nil
}
