package convert

import (
	"errors"
	"slices"

	"precision/dump"
	"precision/dump/layout"
	"precision/internal/nd"
)

// plan is how a tensor gets from its layout to another one: through a view of
// its elements or, for weights in FRACTAL_Z, through a packing.
type plan struct {
	view    layout.View
	packing *layout.Packing
	unpack  bool    // from FRACTAL_Z, not to it
	dims    []int64 // of the unpacked weight
}

// planner plans for one tensor.
type planner struct {
	*work
	t        *dump.Tensor
	from, to layout.Format
	want     []int64 // the shape the tensor is meant to have; may be empty
	explicit bool    // the user gave it
	group    int
}

func (w *work) plan(t *dump.Tensor) *plan {
	o := &w.c.o
	p := &planner{work: w, t: t, from: layout.AsStored(t.Format, len(t.Shape)), to: *o.Format, want: t.OriginShape, group: int(t.SubFormat)}
	if len(o.Shape) > 0 {
		p.want, p.explicit = o.Shape, true
	}
	if p.from != t.Format {
		w.r.warnf("%s: %s of shape %v is taken for ND", partOf(t), t.Format, t.Shape)
	}
	if p.from == p.to {
		return &plan{view: w.view(t, dump.CodeInvalid)}
	}
	old, ours := layout.Supported(p.from, p.to)
	if !ours || o.Compat && !old {
		p.refuse(CodeFormat, nil, "%s: no conversion from %s to %s", partOf(t), p.from, p.to)
	}
	grouped := p.group >= 2
	switch {
	case p.to == layout.FractalZ:
		return p.pack()
	case grouped && o.Compat:
		p.refuse(CodeConvert, nil, "%s: %s with %d groups to %s", partOf(t), p.from, p.group, p.to)
	case p.from == layout.FractalNZ:
		return p.fractalNZ()
	case grouped && p.from == layout.FractalZ:
		return p.unpackGroups()
	}
	p.group = 0 // there is no trace of groups in other layouts
	if p.from == layout.FractalZ || p.from == layout.FractalZ3D {
		return p.fractalZ()
	}
	return p.blocked()
}

// viewed is the way through a view, if there is one.
func (p *planner) viewed(v layout.View, err error) *plan {
	p.need(partOf(p.t), CodeConvert, err)
	return &plan{view: v}
}

// pack plans the way to FRACTAL_Z. No shape applies to the result: its dims
// are blocks.
func (p *planner) pack() *plan {
	c0 := int64(layout.DefaultBlock)
	if !p.c.o.Compat && p.t.Type.Bits() == 8 {
		c0 = 32 // of a cube for 8-bit elements
	}
	packing, err := layout.NewPacking(p.from, p.t.Shape, p.group, layout.DefaultBlock, c0)
	p.need(partOf(p.t), CodeConvert, err)
	return &plan{packing: packing}
}

// unpackGroups plans the way of a weight of several groups from FRACTAL_Z. The
// stored shape tells in which order the original shape has its axes.
func (p *planner) unpackGroups() *plan {
	for _, f := range []layout.Format{p.to, layout.NCHW, layout.NHWC, layout.HWCN} {
		dims, err := layout.PermuteDims(p.want, f, p.to)
		if err != nil || len(p.t.Shape) != 4 {
			continue
		}
		packing, err := layout.NewPacking(p.to, dims, p.group, p.t.Shape[2], p.t.Shape[3])
		if err == nil && slices.Equal(packing.Shape(), p.t.Shape) {
			return &plan{packing: packing, unpack: true, dims: dims}
		}
	}
	p.refuse(CodeConvert, nil, "%s: shape %v of FRACTAL_Z with %d groups does not fit original shape %v", partOf(p.t), p.t.Shape, p.group, p.want)
	return nil
}

// fractalNZ plans the way from FRACTAL_NZ, which needs the original shape.
func (p *planner) fractalNZ() *plan {
	if err := layout.CheckNZ(p.t.Shape, p.want); err != nil {
		code := CodeConvert
		if nz := (*layout.NZShapeError)(nil); errors.As(err, &nz) {
			code = CodeParameter
		}
		p.need(partOf(p.t), code, err)
	}
	return p.viewed(layout.Restore(p.from, p.to, p.t.Shape, p.want, 0))
}

// fractalZ plans the way from FRACTAL_Z, where height and width are known from
// the original shape only.
func (p *planner) fractalZ() *plan {
	want, fits := p.fit(p.to)
	if len(p.want) == 0 {
		p.refuse(CodeConvert, nil, "%s: %s needs an original shape", partOf(p.t), p.from)
	}
	if !fits && !p.explicit && !p.c.o.Compat {
		p.refuse(CodeConvert, nil, "%s: original shape %v does not fit %s of shape %v", partOf(p.t), p.want, p.from, p.t.Shape)
	}
	if fits {
		return p.viewed(layout.Restore(p.from, p.to, p.t.Shape, want, 0))
	}
	made := p.viewed(layout.Convert(p.from, p.to, p.t.Shape, p.want, 0))
	if !p.explicit { // more is stored than the shape needs
		p.r.warnf("%s: original shape %v is smaller than %s of shape %v, the rest is cut off", partOf(p.t), p.want, p.from, p.t.Shape)
	}
	return made
}

// fit brings the wanted shape to the axis order of a layout in which the tensor
// can have it.
func (p *planner) fit(to layout.Format) ([]int64, bool) {
	want, _, ok := layout.FitOriginal(p.from, to, p.t.Shape, p.want, 0)
	return want, ok
}

// blocked plans the way between plain layouts and from those with blocks of
// channels. Their padding is cut off where the wanted shape shows it, in
// whatever axis order it is given.
func (p *planner) blocked() *plan {
	to := p.to
	if p.from == layout.NDC1HWC0 && to == layout.ND {
		to = layout.NCDHW // what ND means for five dims
	}
	if p.c.o.Compat && p.from == layout.NDC1HWC0 && p.to == layout.NCDHW && len(p.want) < 2 {
		p.refuse(CodeConvert, nil, "%s: %s to %s needs an original shape", partOf(p.t), p.from, p.to)
	}
	all := p.viewed(layout.Restore(p.from, to, p.t.Shape, nil, 0))
	if len(p.want) == 0 {
		return all
	}
	cut, sliceErr := all.view.SliceLike(p.want)
	if sliceErr == nil && p.trims(to, cut) {
		return &plan{view: cut}
	}
	if want, ok := p.fit(to); ok {
		return p.viewed(layout.Restore(p.from, to, p.t.Shape, want, 0))
	}
	if p.explicit && sliceErr == nil {
		return &plan{view: cut}
	}
	if sliceErr != nil || !slices.Equal(cut.Dims, all.view.Dims) {
		p.r.warnf("%s: shape %v does not go with %s of shape %v, the padding stays", partOf(p.t), p.want, p.from, p.t.Shape)
	}
	return all
}

// trims tells whether a view cut by position is the wanted shape and lacks
// nothing but padding.
func (p *planner) trims(to layout.Format, cut layout.View) bool {
	n := max(len(cut.Dims), len(p.want))
	if !slices.Equal(nd.WithOnes(cut.Dims, n), nd.WithOnes(p.want, n)) {
		return false
	}
	_, err := layout.Restore(p.from, to, p.t.Shape, cut.Dims, 0)
	return err == nil
}
