package convert

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"precision/dump"
	"precision/dump/checkpoint"
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
	out := must.Get(create(path))
	defer out.discard()
	must.Do(npy.Copy(ctx, out, t.Type, typ, t.Shape, elements.ReadTile))
	return out.commit()
}
