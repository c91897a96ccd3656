package convert

import (
	"io"

	"precision/dump"
	"precision/dump/dtype"
	"precision/dump/layout"
	"precision/internal/must"
)

// stored prepares a tensor to be written in the layout it has.
func (w *work) stored(t *dump.Tensor) *array {
	if w.c.o.Compat && t.Type == dtype.Undefined && t.Size == 0 && dump.Code(t.Err) == dump.CodeShape {
		// Of bytes without a type msaccucmp.py takes the number for the shape,
		// even if there are none.
		empty := *t
		empty.Shape, empty.Err = []int64{0}, nil
		t = &empty
	}
	typ, err := w.readable(t)
	if !w.c.o.Compat && dump.Code(err) == dump.CodeType {
		return w.raw(t)
	}
	must.Do(err)
	a := w.array(t, typ, w.view(t, dump.CodeShape))
	if w.c.o.Compat && len(a.shape) == 0 {
		a.shape = []int64{1}
	}
	return a
}

// view is the order in which the elements of a tensor are stored.
func (w *work) view(t *dump.Tensor, code int) layout.View {
	v, err := t.View()
	w.need(partOf(t), code, err)
	return v
}

// raw prepares the bytes of a tensor that cannot be decoded.
func (w *work) raw(t *dump.Tensor) *array {
	v := must.Get(layout.Contiguous([]int64{int64(t.Size)}))
	w.r.warnf("%s: elements of type %s cannot be decoded, its %d bytes are written", partOf(t), t.Type.Wire(), t.Size)
	return w.open(w.f, t.Offset, 1, v, dtype.Uint8, dtype.Uint8, false)
}

// readable tells what type the elements of a tensor are written as, or why
// they cannot be.
func (w *work) readable(t *dump.Tensor) (dtype.Type, error) {
	typ, ok := writtenType(t.Type, w.c.o.Compat)
	if t.Type == dtype.BFloat16 && w.c.o.Type == PT && !w.c.o.Compat {
		typ = dtype.BFloat16 // PyTorch has it
	}
	code := dump.Code(t.Err)
	switch {
	case code == dump.CodeInvalid: // the bytes are not there
		return 0, t.Err
	case !ok:
		return 0, errorf(w.f.Path, dump.CodeType, nil, "%s: elements of type %s cannot be converted", partOf(t), t.Type.Wire())
	case code == dump.CodeShape:
		return 0, &failure{w.shortCode(t), t.Err}
	}
	return typ, t.Err
}

// shortCode is the exit code of msaccucmp.py for a tensor with too few bytes:
// none, as it fails only in writing, unless the bytes are no whole elements or
// there is a layout to convert to.
func (w *work) shortCode(t *dump.Tensor) int {
	bits := uint64(t.Type.Bits())
	switch {
	case bits >= 8 && t.Size%(bits/8) != 0:
		return CodeUnknown
	case w.c.o.Format == nil:
		return 0
	case layout.AsStored(t.Format, len(t.Shape)) == *w.c.o.Format:
		return dump.CodeInvalid
	}
	return CodeConvert
}

// array prepares the elements of a tensor that a view selects.
func (w *work) array(t *dump.Tensor, typ dtype.Type, v layout.View) *array {
	if bits := t.Type.Bits(); bits < 8 {
		u := &unpacked{src: w.f, base: t.Offset, t: t.Type, typ: typ, n: t.Elements()}
		return w.open(u, 0, typ.Bits()/8, v, typ, typ, false)
	}
	return w.open(w.f, t.Offset, t.Type.Bits()/8, v, t.Type, typ, t.BigEndian)
}

// open prepares elements of size bytes that lie at base of src.
func (w *work) open(src io.ReaderAt, base int64, size int, v layout.View, stored, typ dtype.Type, bigEndian bool) *array {
	r, err := layout.NewReader(src, base, size, v)
	if err != nil {
		w.refuse(CodeConvert, err, "elements of type %s", stored.Wire())
	}
	r.Inherit(w.scratch.reader)
	return w.ready(r, stored, typ, bigEndian)
}

// ready makes an array of what a reader reads. Without elements msaccucmp.py
// writes float64.
func (w *work) ready(r *layout.Reader, stored, typ dtype.Type, bigEndian bool) *array {
	a := &array{typ: typ, named: typ, shape: r.View().Dims, elems: &elements{ctx: w.ctx, r: r, stored: stored, typ: typ, bigEndian: bigEndian}}
	if w.c.o.Compat {
		if stored == dtype.BFloat16 {
			a.named = stored
		}
		if r.Len() == 0 {
			a.typ, a.elems = dtype.Float64, nil
		}
	}
	return a
}

// formatted prepares a tensor to be written in the layout that was asked for.
func (w *work) formatted(t *dump.Tensor) *array {
	typ := must.Get(w.readable(t))
	if w.c.o.Compat && !t.Format.Known() {
		w.refuse(CodeFormat, nil, "%s: layout %s has no name there", partOf(t), t.Format)
	}
	if a := w.custom(t, typ); a != nil {
		return a
	}
	p := w.plan(t)
	if p.packing != nil {
		return w.packed(t, typ, p)
	}
	return w.array(t, typ, p.view)
}

// maxWhole bounds the tensors that have to be in memory as a whole: weights,
// the largest of which have some hundred MB.
const maxWhole = 2 << 30

// packed moves a weight to or from FRACTAL_Z as a whole.
func (w *work) packed(t *dump.Tensor, typ dtype.Type, p *plan) (a *array) {
	size := int64(t.Type.Bits() / 8)
	if size == 0 {
		size = int64(typ.Bits() / 8)
	}
	from, to := p.packing.Len(), p.packing.Stored()
	if p.unpack {
		from, to = to, from
	}
	if to > maxWhole/size || from > maxWhole/size {
		w.refuse(CodeConvert, nil, "%s: %d elements of %s in FRACTAL_Z: more than %d bytes", partOf(t), max(from, to), t.Type, int64(maxWhole))
	}
	w.c.whole.Lock()
	if err := must.Try(func() { a = w.move(t, typ, p, from, to, size) }); err != nil {
		w.c.whole.Unlock()
		must.Do(err)
	}
	a.release = w.c.whole.Unlock
	return a
}

// move moves a weight of so many elements of so many bytes. Elements that share
// bytes are taken apart before.
func (w *work) move(t *dump.Tensor, typ dtype.Type, p *plan, from, to, size int64) *array {
	src, dst := make([]byte, from*size), make([]byte, to*size)
	in, base, stored := io.ReaderAt(w.f), t.Offset, t.Type
	if t.Type.Bits() < 8 {
		in, base, stored = &unpacked{src: w.f, base: t.Offset, t: t.Type, typ: typ, n: t.Elements()}, 0, typ
	}
	if n, err := in.ReadAt(src, base); n < len(src) {
		w.refuse(dump.CodeInvalid, err, "%s: read %d bytes, expected %d", partOf(t), n, len(src))
	}
	move, dims := p.packing.Pack, p.packing.Shape()
	if p.unpack {
		move, dims = p.packing.Unpack, p.dims
	}
	w.need(partOf(t), CodeConvert, move(dst, src, int(size)))
	return w.ready(w.made(t, dst, dims, int(size)), stored, typ, t.BigEndian)
}

// made reads the elements of a tensor that were moved to memory.
func (w *work) made(t *dump.Tensor, data []byte, dims []int64, size int) *layout.Reader {
	v, err := layout.Contiguous(dims)
	w.need(partOf(t), CodeConvert, err)
	r, err := layout.NewBytesReader(data, size, v)
	w.need(partOf(t), CodeConvert, err)
	return r
}
