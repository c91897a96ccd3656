package convert

import (
	"bytes"
	"context"

	"precision/dump"
	"precision/dump/dtype"
	"precision/dump/layout"
	"precision/internal/must"
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
func (w *work) custom(t *dump.Tensor, typ dtype.Type) *array {
	o := &w.c.o
	from := layout.AsStored(t.Format, len(t.Shape))
	if o.Custom == nil || from == *o.Format || !o.HasCustom(from, *o.Format) {
		return nil
	}
	if t.Bytes() > maxWhole {
		w.refuse(CodeConvert, nil, "%s: more than %d bytes for a custom conversion", partOf(t), int64(maxWhole))
	}
	a := w.array(t, typ, w.view(t, dump.CodeShape))
	c := Custom{From: from, To: *o.Format, Type: typ, Shape: t.Shape, Want: o.Shape, Group: int64(t.SubFormat)}
	if c.Want == nil {
		c.Want = t.OriginShape
	}
	if a.elems != nil {
		var data bytes.Buffer
		must.Do(a.elems.copyTo(&data))
		c.Data = data.Bytes()
	}
	out, err := o.Custom(w.ctx, c)
	w.need(partOf(t), CodeConvert, err)
	return w.ready(w.made(t, out.Data, out.Shape, out.Type.Bits()/8), out.Type, out.Type, false)
}

// CustomFunc converts a tensor; see [Options.Custom]. Several goroutines call it.
type CustomFunc func(ctx context.Context, c Custom) (*Custom, error)
