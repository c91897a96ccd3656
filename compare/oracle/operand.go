package oracle

import (
	"encoding/binary"
	"io"
	"slices"
	"strings"
	"sync"

	"precision/dump"
	"precision/dump/dtype"
	"precision/dump/layout"
	"precision/graph"
	"precision/internal/must"
)

// Operands: recorded tensors, read from their files in the axis order of the framework, whatever
// layout the device has stored them in. Elements are widened to float32 or float64 as they are
// read, a tile at a time, and kept once they are asked for in any order.

// operand is a recorded tensor, read in the axis order of the framework. This
// file is the only one that knows of files and layouts.
type operand struct {
	name  string // input 0, output 1
	typ   dtype.Type
	axes  string // letters of the framework's layout, "NCHW"; "" when it has none
	shape []int64
	block []int64 // size of the blocks of the stored layout along each axis, 0 for none; nil if it has none

	src  io.ReaderAt
	base int64
	view layout.View
	rd   *layout.Reader

	f32 []float32 // all elements, once held
	// packed is set where f32 is all there is.
	packed bool
	f64    []float64 // the same for types that do not fit float32
	room   *room     // for what is read, once something was

	// part tells that the file holds more than the tensor: it was cut when it was recorded.
	part bool

	// rounded is the type that the numbers were rounded to where they are kept in
	// a wider one; else 0.
	rounded dtype.Type

	// address is where the tensor was on the device, 0 if the dump does not say.
	address uint64
}

// openOperand plans how a recorded tensor is read. desc is what the graph says of it and may be
// nil. Stored tiles are read through a view with strides in the framework's order, without the
// padding; only grouped FRACTAL_Z has no strides and is unpacked.
func openOperand(r *dump.Reader, t *dump.Tensor, desc *graph.TensorDesc) (*operand, error) {
	return must.Of(func() *operand { return planned(r, t, desc) })
}

func planned(r *dump.Reader, t *dump.Tensor, desc *graph.TensorDesc) *operand {
	name := "output "
	if t.Input {
		name = "input "
	}
	o := &operand{name: name + itoa(t.Index), typ: t.Type, src: r, base: t.Offset, address: t.Address}
	refuseIf(t.Err != nil, BadTensor, o.name, t.Err)
	refuseIf(!computes(t.Type) || t.Type.Bits()%8 != 0 || t.BigEndian, BadType, o.name, t.Type.String())
	origin, axes := t.OriginShape, layout.ND
	if desc != nil {
		if origin == nil {
			origin = desc.Attr("origin_shape").Ints()
		}
		if f, ok := layout.Parse(desc.Attr("origin_format").Text()); ok {
			axes = f
		}
	}
	o.plan(t, desc, origin, axes)
	rd, err := layout.NewReader(r, t.Offset, t.Type.Bits()/8, o.view)
	refuseIf(err != nil, BadLayout, o.name, err)
	o.rd = rd
	refuseIf(len(o.shape) > maxRank, BadLayout, o.name, "rank "+itoa(len(o.shape)))
	hollow(o.shape)
	if f := layout.AsStored(axes, len(o.shape)); len(f.Letters()) == len(o.shape) {
		o.axes = f.Letters()
	}
	return o
}

// turned is a matrix with its axes exchanged; of scales in pairs (…, pairs, …, 2) these are the
// first two. What is no matrix stays as it is.
func (o *operand) turned() *operand {
	n := len(o.shape)
	if n < 2 {
		return o
	}
	order, last := inOrder(n), n-1
	if (o.typ == dtype.Float8E8M0 || o.typ == dtype.Uint8) && n > 2 && o.shape[last] == 2 {
		last--
	}
	order[last-1], order[last] = last, last-1
	if o.packed || !slices.Equal(o.view.Dims, o.shape) { // not read through strides along these axes
		d := held(transpose(o, order))
		t := inMemory(o.name, o.typ, d.shape)
		t.rounded, t.address, t.part = o.rounded, o.address, o.part
		copy(t.f64, d.y)
		for i := range t.f32 {
			t.f32[i] = float32(d.y[i])
		}
		return t
	}
	t := *o
	t.view = must.Get(o.view.Transpose(order))
	t.shape, t.axes, t.block, t.f32, t.f64 = t.view.Dims, "", nil, nil, nil
	t.rd = must.Get(layout.NewReader(o.src, o.base, o.typ.Bits()/8, t.view))
	return &t
}

// inMemory is a tensor whose elements are to be filled in, in float32 if its type fits that.
func inMemory(name string, typ dtype.Type, shape []int64) *operand {
	o := &operand{name: name, typ: typ, shape: shape, view: must.Get(layout.Contiguous(shape)), packed: true}
	if typ.FitsFloat32() {
		o.f32 = make([]float32, count(shape))
	} else {
		o.f64 = make([]float64, count(shape))
	}
	return o
}

// hollow refuses a tensor without elements that claims an axis longer than one with elements may
// be: much is made of the length of an axis, and no file bounds it.
func hollow(shape []int64) {
	most := slices.Max(append(slices.Clone(shape), 0))
	refuseIf(count(shape) == 0 && most > maxDense, TooLarge, most, maxDense)
}

// plan finds the view of the stored elements, and the shape. Blocked layouts need the original
// shape, from the dump or from the graph's origin_shape; of a plain one that differs from the
// framework's the axes are reordered; else the shapes must have as many elements.
func (o *operand) plan(t *dump.Tensor, desc *graph.TensorDesc, origin []int64, axes layout.Format) {
	refuseIf(slices.ContainsFunc(origin, func(d int64) bool { return d < 0 }), BadLayout, o.name, "shape "+graph.FormatShape(origin)+" is not known")
	from := layout.AsStored(t.Format, len(t.Shape))
	to, blocked := target(from, axes)
	switch {
	case blocked:
		group := t.SubFormat
		if desc != nil && group < 2 {
			if _, sub, ok := layout.ParseSub(desc.Layout); ok && sub > 1 {
				group = sub
			} else if n, ok := desc.Attr("_fe_group").Int(); ok && n > 1 && n < 1<<20 {
				group = int32(n)
			}
		}
		if from == layout.FractalZ && group >= 2 {
			o.unpack(t, to, origin, int64(group))
			return
		}
		v, err := layout.Restore(from, to, t.Shape, origin, int(group))
		refuseIf(err != nil, BadLayout, o.name, err)
		o.view, o.shape, o.block = v, v.Dims, blocks(from, to, t.Shape, len(v.Dims))
		return
	case from.Letters() != "" && from != axes && len(origin) == len(t.Shape):
		if v, err := layout.Restore(from, axes, t.Shape, origin, 0); err == nil {
			o.view, o.shape = v, v.Dims
			return
		}
	}
	v, err := t.View()
	refuseIf(err != nil, BadLayout, o.name, err)
	o.view, o.shape = v, t.Shape
	if origin != nil {
		n, err := layout.Count(origin)
		refuseIf(err != nil || n != v.Len(), BadLayout, o.name, "shape "+graph.FormatShape(origin)+" in "+graph.FormatShape(t.Shape))
		o.shape = origin
	}
}

// blocks are the sizes of the blocks of a stored layout along the axes it is read in. FRACTAL_NZ
// has tiles on the last two axes, FRACTAL_Z on N and C, NC1HWC0 and its kin on C: what patterns of
// errors are held against.
func blocks(from, to layout.Format, stored []int64, rank int) []int64 {
	n := len(stored)
	out := make([]int64, rank)
	letter := func(x string, size int64) {
		if i := strings.Index(to.Letters(), x); i >= 0 && len(to.Letters()) == rank {
			out[i] = size
		}
	}
	switch from {
	case layout.FractalNZ:
		if rank >= 2 && n >= 4 {
			out[rank-2], out[rank-1] = stored[n-2], stored[n-1]
		}
	case layout.FractalZ, layout.FractalZ3D:
		letter("N", stored[n-2])
		letter("C", stored[n-1])
	default:
		letter("C", stored[n-1])
	}
	return out
}

// target is the plain layout that a blocked one is read in.
// Four or five letters, NCHW or NCDHW where the graph has none of that length.
func target(from, axes layout.Format) (to layout.Format, blocked bool) {
	named, fallback := 4, layout.NCHW
	switch from {
	case layout.FractalNZ:
		return layout.ND, true
	case layout.NC1HWC0, layout.NC1HWC0C04, layout.NHWC1C0, layout.C1HWNC0, layout.C1HWNCoC0, layout.FractalZ, layout.FractalZC04:
	case layout.NDC1HWC0, layout.FractalZ3D:
		named, fallback = 5, layout.NCDHW
	default:
		return from, false
	}
	if len(axes.Letters()) == named {
		return axes, true
	}
	return fallback, true
}

// unpack reads the filter of a grouped convolution, whose layout has no strides.
func (o *operand) unpack(t *dump.Tensor, to layout.Format, origin []int64, group int64) {
	refuseIf(len(t.Shape) != 4, BadLayout, o.name, "FRACTAL_Z "+graph.FormatShape(t.Shape))
	p, err := layout.NewPacking(to, origin, int(group), t.Shape[2], t.Shape[3])
	refuseIf(err != nil, BadLayout, o.name, err)
	refuseIf(!slices.Equal(p.Shape(), t.Shape), BadLayout, o.name, "FRACTAL_Z "+shapeText(p.Shape(), t.Shape))
	refuseIf(p.Stored() > maxHeld, TooLarge, p.Stored(), maxHeld)
	size := t.Type.Bits() / 8
	stored, plain := make([]byte, t.Type.Bytes(p.Stored())), make([]byte, t.Type.Bytes(p.Len()))
	_, err = io.ReadFull(io.NewSectionReader(o.src, o.base, int64(len(stored))), stored)
	refuseIf(err != nil, BadTensor, o.name, err)
	err = p.Unpack(plain, stored, size)
	refuseIf(err != nil, BadLayout, o.name, err)
	o.f32, o.packed = make([]float32, p.Len()), true
	dtype.Widen32(o.typ, o.f32, plain)
	o.shape = origin
	o.view = must.Get(layout.Contiguous(origin))
}

// transposed is the same tensor with its axes reordered, read through a view of
// its own; nil where the axes of the view are not those of the shape, or nothing
// changes.
func (o *operand) transposed(perm []int) *operand {
	same := true
	shape := make([]int64, len(perm))
	for i, k := range perm {
		shape[i] = o.shape[k]
		same = same && i == k
	}
	if same || o.f32 != nil || o.f64 != nil || !slices.Equal(o.view.Dims, o.shape) {
		return nil
	}
	v, err := o.view.Transpose(perm)
	if err != nil {
		return nil
	}
	rd, err := layout.NewReader(o.src, o.base, o.typ.Bits()/8, v)
	if err != nil {
		return nil
	}
	return &operand{name: o.name, typ: o.typ, shape: shape, src: o.src, base: o.base, view: v, rd: rd, address: o.address}
}

// numeric is the type that the numbers were rounded to.
func (o *operand) numeric() dtype.Type {
	if o.rounded != 0 {
		return o.rounded
	}
	return o.typ
}

func (o *operand) Shape() []int64 { return o.shape }
func (o *operand) Exact() bool    { return true }
func (o *operand) fast() bool     { return o.typ.FitsFloat32() }

// tile is how many elements are read at once.
const tile = 1 << 15

func (o *operand) Range32(lo int64, y []float32) {
	if o.f32 != nil {
		copy(y, o.f32[lo:])
		return
	}
	o.read(lo, int64(len(y)), func(at int64, raw []byte, n int64) { dtype.Widen32(o.typ, y[at:at+n], raw) })
}

func (o *operand) Range(lo int64, y, b []float64) {
	clear(b)
	switch {
	case o.f32 != nil:
		for i, x := range o.f32[lo : lo+int64(len(y))] {
			y[i] = float64(x)
		}
	case o.f64 != nil:
		copy(y, o.f64[lo:])
	default:
		o.read(lo, int64(len(y)), func(at int64, raw []byte, n int64) { dtype.Widen64(o.typ, y[at:at+n], raw) })
	}
}

// read reads elements [lo, lo+n) in tiles.
// Memory is borrowed from a pool with the first read and given back with the call.
func (o *operand) read(lo, n int64, use func(at int64, raw []byte, n int64)) {
	size := int64(o.typ.Bits() / 8)
	if o.room == nil {
		o.room = rooms.Get().(*room)
		o.rd.Inherit(&o.room.of)
	}
	raw := grow(o.room.raw, int(min(n, tile)*size))
	o.room.raw = raw
	for at := int64(0); at < n; at += tile {
		k := min(tile, n-at)
		err := o.rd.ReadTile(raw, lo+at, k)
		refuseIf(err != nil, BadTensor, o.name, err)
		use(at, raw[:k*size], k)
	}
}

// room is what an operand is read into: a tile, and the buffers of a reader that nothing is read
// by.
type room struct {
	raw []byte
	of  layout.Reader
}

// rooms are kept from one operand to the next.
var rooms = sync.Pool{New: func() any { return new(room) }}

// fewPlaces is the share of elements below which they are read one by one.
const fewPlaces = 1000

// spare holds memory of operands that are done with.
var spare = sync.Pool{New: func() any { return new([]float32) }}

func take32(n int) []float32 {
	s := spare.Get().(*[]float32)
	return grow(*s, n)
}

// take32 is memory until the call is released.
func (c *Call) take32(n int) []float32 {
	s := take32(n)
	kept := s[:0]
	c.taken = append(c.taken, &kept)
	return s
}

// release gives back what was kept of the operands. Nothing may use them after.
func (c *Call) release() {
	for _, list := range [][]*operand{c.slots, c.outs} {
		for _, o := range list {
			if o != nil {
				o.release()
			}
		}
	}
	for _, s := range c.taken {
		spare.Put(s)
	}
	c.taken = nil
}

// release gives back what was kept of an operand.
func (o *operand) release() {
	if o.f32 != nil && !o.packed {
		s := o.f32[:0]
		o.f32 = nil
		spare.Put(&s)
	}
	if o.room != nil {
		o.room.of.Inherit(o.rd)
		rooms.Put(o.room)
		o.room = nil
	}
}

// hold keeps all elements, if they are not too many.
func (o *operand) hold() bool {
	n := o.view.Len()
	switch {
	case o.f32 != nil || o.f64 != nil:
	case n > maxHeld || !o.fast() && n > maxHeld/2:
		return false
	case o.fast():
		all := take32(int(n))
		o.Range32(0, all)
		o.f32 = all
	default:
		all := make([]float64, n)
		o.Range(0, all, nil)
		o.f64 = all
	}
	return true
}

// A thousandth of the elements and fewer are read one by one; for more the tensor is held, if it is
// not too large.
func (o *operand) At(idx []int64, y, b []float64) {
	clear(b)
	held, few := o.f32 != nil || o.f64 != nil, int64(len(idx))*fewPlaces < o.view.Len()
	if held = held || !few && o.hold(); held {
		for i, k := range idx {
			if o.f32 != nil {
				y[i] = float64(o.f32[k])
			} else {
				y[i] = o.f64[k]
			}
		}
		return
	}
	size := int64(o.typ.Bits() / 8)
	raw := make([]byte, size)
	for i, k := range idx {
		off, err := o.view.Offset(k)
		n := 0
		if err == nil {
			n, err = o.src.ReadAt(raw, o.base+off*size)
		}
		refuseIf(n < len(raw), BadTensor, o.name, err)
		dtype.Widen64(o.typ, y[i:i+1], raw)
	}
}

// words reads the elements of a tensor of 64-bit integers, all their bits.
func (o *operand) words() []uint64 {
	n := o.view.Len()
	refuseIf(o.typ.Bits() != 64 || n > maxHeld, BadType, o.name, o.typ.String())
	out := make([]uint64, n)
	o.read(0, n, func(at int64, raw []byte, n int64) {
		for i := range n {
			out[at+i] = binary.LittleEndian.Uint64(raw[8*i:])
		}
	})
	return out
}
