package torch

import (
	"fmt"
	"io"

	"precision/compare/engine"
	"precision/dump/h5"
	"precision/dump/layout"
	"precision/internal/must"
)

// wholeBytes is the largest tensor that is held in memory: every pass over it
// is then free, and strides cost nothing. The larger ones are read again for
// every pass. 16 MiB a side bound a worker to 32. Tests set it to 0.
var wholeBytes int64 = 16 << 20

// open finds the dataset of t and prepares reading it; strided says whether
// its strides count.
func (s *side) open(t *tensor, strided bool) (_ *engine.Tensor, err error) {
	defer must.Catch(&err)
	obj := must.Get(s.h5.Lookup(t.path))
	d, ok := obj.(*h5.Dataset)
	must.Not(!ok, "%s is a %T, expected a dataset", t.path, obj)
	size := d.Type.Bits() / 8
	if !d.Type.Readable() || size == 0 {
		if _, err := d.ReadAt(make([]byte, 1), 0); err != nil && err != io.EOF {
			return nil, err // tells what is not supported
		}
		return nil, fmt.Errorf("elements of type %s cannot be compared", d.Type)
	}
	must.Do(d.Backed())
	v := must.Get(layout.Contiguous(d.Shape))
	if strided {
		v = reordered(v, t.stride)
	}
	r, err := layout.NewReader(d, 0, size, v)
	if bytes := d.Size(); bytes > 0 && bytes <= wholeBytes {
		if b, failed := d.ReadAll(); failed == nil {
			r, err = layout.NewBytesReader(b, size, v)
		}
	}
	return &engine.Tensor{Type: d.Type, Shape: append([]int64{}, d.Shape...), Count: d.Len(),
		Open: func() engine.Elements { return &ahead{from: r.Clone(), size: int64(size), count: d.Len()} }}, err
}

// reordered is a stored tensor by a Stride attribute, if that can be followed: there is a stride for every dimension, and the
// elements it leads to are all among the stored ones.
func reordered(v layout.View, stride []int64) layout.View {
	if w, err := layout.Strided(v.Dims, stride); err == nil && w.Extent() <= v.Len() {
		return w
	}
	return v
}
