package convert

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"precision/dump"
	"precision/dump/checkpoint"
	"precision/dump/dtype"
	"precision/dump/npy"
	"precision/internal/must"
	"precision/internal/plainfile"
)

// set writes the tensors of a file of named tensors, each as an array of numpy. It reports whether the file is one.
func (c *converter) set(ctx context.Context, j *job, r *FileReport) bool {
	if c.o.Compat || !checkpoint.IsFile(j.entry.Path) {
		return false
	}
	s, err := checkpoint.Open(j.entry.Path)
	if err != nil {
		r.fail(Part{}, dump.CodeInvalid, err)
		return true
	}
	defer s.Close()
	taken := map[string]bool{}
	for i, t := range s.Tensors {
		name := plainfile.Part(t.Name)
		if part := (Part{Output, i}); name == "" || taken[strings.ToLower(name)] {
			name = fmt.Sprintf("tensor.%d", i)
		} else if c.o.Type != Npy {
			r.fail(part, dump.CodeType, errorf(j.entry.Path, dump.CodeType, nil, "named tensors are written as npy alone"))
			return true
		}
		taken[strings.ToLower(name)] = true
		path := filepath.Join(c.o.Out, j.name+"."+name+".npy")
		if err := writeNamed(ctx, path, t); err != nil {
			r.fail(Part{Output, i}, dump.CodeInvalid, err)
			continue
		}
		r.Written = append(r.Written, Written{Path: path, Name: filepath.Base(path)})
	}
	return true
}

func writeNamed(ctx context.Context, path string, t *checkpoint.Tensor) (err error) {
	defer must.Catch(&err)
	elements := must.Get(t.Elements())
	typ, ok := writtenType(t.Type, false)
	if !ok {
		return errorf(t.File, dump.CodeType, nil, "tensor %s: elements of type %s cannot be converted", t.Name, t.Type)
	}
	var change func(dst, src []byte)
	switch {
	case dtype.SameForm(t.Type, typ):
	case typ == dtype.Float64:
		change = widen64(t.Type)
	default:
		change = widen32(t.Type)
	}
	head, out := must.Get(npy.AppendHeader(nil, typ, t.Shape)), must.Get(create(path))
	defer out.discard()
	out.Write(head)
	tile := int64(tileBytes / 16)
	wide := make([]byte, tile*int64(typ.Bits()/8))
	for first := int64(0); first < t.Len(); first += tile {
		must.Do(ctx.Err())
		n := min(tile, t.Len()-first)
		b := must.Get(elements.Bytes(first, n))
		if change != nil {
			dst := wide[:n*int64(typ.Bits()/8)]
			change(dst, b)
			b = dst
		}
		out.Write(b) // an error stays until commit
	}
	return out.commit()
}
