package engine

import (
	"context"
	"encoding/binary"
	"errors"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/compare/script"
	"precision/dump"
	"precision/dump/dtype"
	"precision/dump/layout"
	"precision/internal/must"
	"precision/internal/nd"
)

// Scripts of the user's own add columns and replace layout conversions. They
// see whole arrays, so unlike everything else here they need memory for both
// sides of a pair.

// helper is the worker's own Python process, started when first needed.
func (e *engine) helper(ctx context.Context, s *Worker) (*script.Helper, error) {
	if s.helper == nil {
		h, err := e.opt.Scripts.NewHelper(ctx)
		if err != nil {
			return nil, err
		}
		s.helper = h
	}
	return s.helper, nil
}

// runScripts fills the columns of user algorithms.
func (e *engine) runScripts(ctx context.Context, row *result.Row, p *pairing, leftPath, rightPath string, s *Worker) error {
	if e.opt.Scripts == nil {
		return nil
	}
	var left, right *script.Array
	for _, c := range e.opt.ValueColumns {
		if c.Script == "" {
			continue
		}
		if left == nil {
			var err error
			if left, right, err = p.arrays(ctx, s); err != nil {
				return err
			}
			left.File, right.File = leftPath, rightPath
		}
		if row.Custom == nil {
			row.Custom = map[string]string{}
		}
		h, err := e.helper(ctx, s)
		if err != nil {
			return err
		}
		text, messages, err := h.Compare(c.Script, left, right, e.opt.Scripts.Params[c.Script])
		var call *script.CallError
		switch {
		case errors.As(err, &call):
			text = "NaN"
			row.Add(result.Because(result.ScriptFailed, err.Error()))
		case err != nil:
			return err
		}
		row.Custom[c.Script] = text
		for _, m := range messages {
			row.Add(result.Because(result.ScriptSays, m))
		}
	}
	return nil
}

// arrays reads both sides as flat float32 arrays, the form in which the old
// tool hands tensors to algorithms.
func (p *pairing) arrays(ctx context.Context, s *Worker) (left, right *script.Array, err error) {
	whole := *p
	whole.wide, whole.parts = false, 1
	t := whole.newTiler(s, false)
	left = &script.Array{Type: dtype.Float32, Shape: []int64{p.count}, Data: make([]byte, 0, 4*p.count)}
	right = &script.Array{Type: dtype.Float32, Shape: []int64{p.count}, Data: make([]byte, 0, 4*p.count)}
	for at := int64(0); at < p.count; at += metric.TileLen {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		n := min(metric.TileLen, p.count-at)
		if err := t.fill32(s.x32[:n], s.y32[:n], at); err != nil {
			return nil, nil, err
		}
		left.Data, _ = binary.Append(left.Data, binary.LittleEndian, s.x32[:n]) // of plain numbers, which cannot fail
		right.Data, _ = binary.Append(right.Data, binary.LittleEndian, s.y32[:n])
	}
	return left, right, nil
}

// convertByScript brings a tensor to the golden layout with a user's
// conversion, if there is one for the pair. The result is a tensor in memory.
func (e *engine) convertByScript(ctx context.Context, left *dumpFile, t *dump.Tensor, g rightShape, s *Worker) (_ *memoryTensor, err error) {
	defer must.Catch(&err)
	if e.opt.Scripts == nil {
		return nil, nil
	}
	st := storedOf(t)
	target, unknown := must.Of(func() layout.Format { return targetLayout(g, st.format) })
	format := layout.AsStored(st.format, len(st.shape))
	if unknown != nil || format == target || format == layout.ND || oldScalarLike(st.shape) {
		return nil, nil
	}
	c, ok := e.opt.Scripts.Conversion(format.String(), target.String())
	if !ok {
		return nil, nil
	}
	h := must.Get(e.helper(ctx, s))
	array := &script.Array{Type: t.Type, Shape: st.shape, File: left.Path}
	raw := make([]byte, t.Type.Bytes(st.elements))
	must.Do(readFull(left, raw, t.Offset))
	if array.Data = raw; t.Type.Numpy() == "" {
		array.Type, array.Data = dtype.Float32, dtype.AppendAs(nil, dtype.Float32, t.Type, raw, st.elements)
	}
	out := must.Get(h.Convert(c, array, g.rule, int64(st.group)))
	n, _ := nd.Count(out.Shape...)
	return &memoryTensor{data: out.Data, typ: out.Type, st: stored{format: target, shape: out.Shape, elements: n}}, nil
}

// memoryTensor is a tensor that a script made.
type memoryTensor struct {
	data []byte
	typ  dtype.Type
	st   stored
}
