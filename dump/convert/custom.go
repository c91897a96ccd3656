package convert

import (
	"context"
	"io"

	"precision/dump"
	"precision/dump/dtype"
	"precision/dump/layout"
)

// Custom is a tensor on its way through a conversion of the user's own, and
// what comes of it.
type Custom struct {
	From, To layout.Format
	Type     dtype.Type
	// Shape is that of Data; Want the shape the tensor is meant to have, nil if
	// that is not known.
	Shape, Want []int64
	Group       int64
	// Data holds the elements, little-endian in the order of Shape.
	Data []byte
}

// custom converts a tensor the user's way. It returns nil when there is no way
// of the user's for these layouts.
func (w *work) custom(t *dump.Tensor, typ dtype.Type) (*array, error) {
	o := &w.c.o
	from := layout.AsStored(t.Format, len(t.Shape))
	if o.Custom == nil || from == *o.Format || !o.HasCustom(from, *o.Format) {
		return nil, nil
	}
	if t.Bytes() > maxWhole {
		return nil, errorf(w.f.Path, CodeConvert, nil, "%s: more than %d bytes for a custom conversion", partOf(t), int64(maxWhole))
	}
	v, err := t.View()
	if err != nil {
		return nil, errorf(w.f.Path, dump.CodeShape, err, "%s", partOf(t))
	}
	a, err := w.array(t, typ, v)
	if err != nil {
		return nil, err
	}
	c := Custom{From: from, To: *o.Format, Type: typ, Shape: t.Shape, Want: o.Shape, Group: int64(t.SubFormat)}
	if c.Want == nil {
		c.Want = t.OriginShape
	}
	if a.elems != nil {
		if c.Data, err = io.ReadAll(a.elems); err != nil {
			return nil, err
		}
	}
	out, err := o.Custom(w.ctx, c)
	if err != nil {
		return nil, errorf(w.f.Path, CodeConvert, err, "%s", partOf(t))
	}
	if v, err = layout.Contiguous(out.Shape); err != nil {
		return nil, errorf(w.f.Path, CodeConvert, err, "%s", partOf(t))
	}
	r, err := layout.NewBytesReader(out.Data, out.Type.Bits()/8, v)
	if err != nil {
		return nil, errorf(w.f.Path, CodeConvert, err, "%s", partOf(t))
	}
	return w.ready(r, out.Type, out.Type, false), nil
}

// CustomFunc converts a tensor; see [Options.Custom]. Several goroutines call it.
type CustomFunc func(ctx context.Context, c Custom) (*Custom, error)
