package recording

import (
	"path/filepath"
	"strconv"
	"strings"

	"precision/compare/engine"
	"precision/compare/result"
	"precision/dump/atb"
	"precision/dump/dtype"
	"precision/dump/msprobe"
	"precision/dump/stats"
	"precision/internal/nd"
)

// findATB finds what ATB's probe recorded: a round is a step, a device a rank.
func findATB(path string) ([]found, error) {
	return listed(path, atb.Find, func(r atb.Recording) found {
		return found{step: r.Round, rank: r.Device, bytes: fileSize(filepath.Join(r.Dir, stats.File)), load: func() (*side, error) { return loadATB(r) }}
	})
}

// loadATB reads a round. Operations are modules, as they are made of others; kernels
// are functions.
func loadATB(r atb.Recording) (*side, error) {
	t, err := atb.Load(r)
	if err != nil {
		return nil, err
	}
	type file struct {
		op *atb.Op
		x  *atb.Tensor
	}
	files := map[string]file{}
	s := &side{parent: map[string]string{}, summed: dtype.Float64}
	s.open = func(l *leaf) (*engine.SideTensor, error) {
		f := files[l.DataName]
		return openATB(t, f.op, f.x)
	}
	for _, e := range t.Remarks {
		s.damage(result.FileDamaged, "", r.Dir, e)
	}
	add := s.adder()
	for _, op := range t.Ops {
		c := &msprobe.Call{Name: op.Path, Parsed: msprobe.Name{Form: msprobe.Module, API: op.Names, Class: op.Type, Direction: msprobe.Forward, Number: op.IDs[len(op.IDs)-1]}}
		if strings.HasSuffix(op.Type, "Kernel") {
			c.Parsed.Form = msprobe.API
		}
		for i := range op.Tensors {
			x := &op.Tensors[i]
			v := msprobe.Value{Section: msprobe.Input, Kind: msprobe.Tensor, Type: "atb.Tensor", Path: strconv.Itoa(x.Slot)}
			if x.Output {
				v.Section = msprobe.Output
			}
			if row := t.Row(x); row != nil {
				row.Tell(&v)
			}
			if x.File != "" {
				v.DataName = op.Path + "/" + v.Section.String() + "." + v.Path
				files[v.DataName] = file{op, x}
				if err := fromFile(&v, x.File); err != nil {
					s.damage(result.FileDamaged, v.DataName, x.File, err)
				}
			}
			c.Values = append(c.Values, v)
		}
		for _, p := range op.Params {
			c.Values = append(c.Values, msprobe.Param(p.Key, p.JSON))
		}
		s.parent[op.Path] = op.Parent
		add(c)
	}
	s.grain, s.significant = t.Precision()
	t.Forget()
	return s, nil
}

// fromFile takes the type and shape of a file, if the table does not have the tensor.
func fromFile(v *msprobe.Value, path string) error {
	if v.Shape != nil {
		return nil
	}
	h, err := atb.HeaderOf(path)
	if err != nil {
		return err
	}
	setType(v, h.Type, h.Dims)
	return nil
}

func openATB(t *atb.Tree, op *atb.Op, x *atb.Tensor) (*engine.SideTensor, error) {
	o, err := t.Open(op, x)
	if err != nil {
		return nil, err
	}
	r, err := o.Reader()
	if err != nil {
		o.Close()
		return nil, err
	}
	return &engine.SideTensor{
		Tensor: engine.Tensor{Type: o.Type, Shape: o.Dims, Count: nd.Size(o.Dims), Open: func() engine.Elements { return r.Clone() }},
		File:   x.File, Close: o.Close,
	}, nil
}
