package recording

import (
	"strings"

	"precision/compare/engine"
	"precision/compare/result"
	"precision/dump/aclgraph"
	"precision/dump/dtype"
	"precision/dump/msprobe"
	"precision/dump/torch"
)

// findACLGraph finds tensors of graphs that PyTorch programs were captured as.
func findACLGraph(path string) ([]found, error) {
	return listed(path, aclgraph.Find, func(r aclgraph.Recording) found {
		return found{mode: r.Mode, step: r.Step, rank: r.Rank, load: func() (*side, error) { return loadACLGraph(r) }}
	})
}

// loadACLGraph lists the files of a recording; types and shapes are in them.
func loadACLGraph(r aclgraph.Recording) (*side, error) {
	calls, err := aclgraph.Load(r)
	if err != nil {
		return nil, err
	}
	s := &side{open: func(l *leaf) (*engine.SideTensor, error) { return openFile(l.DataName, l) }}
	s.unordered = true
	add := s.adder()
	for i := range calls {
		from := &calls[i]
		c := &msprobe.Call{Name: from.Name.String(), Parsed: from.Name}
		for _, x := range from.Tensors {
			v := msprobe.Value{Section: x.Section, Path: x.Path, Kind: msprobe.Tensor, Type: "torch.Tensor", DataName: x.File}
			if err := fromElements(&v, x.File); err != nil {
				s.damage(result.FileDamaged, c.Name+"."+v.Section.String()+"."+v.Path, x.File, err)
			}
			c.Values = append(c.Values, v)
		}
		add(c)
		s.unordered = s.unordered && from.Named
	}
	s.arrange()
	return s, nil
}

// fromElements takes the type and shape of a file of PyTorch or numpy.
func fromElements(v *msprobe.Value, path string) error {
	if strings.HasSuffix(path, ".npy") {
		return fromArray(v, path)
	}
	f, err := torch.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	x, err := f.Bare()
	if err != nil {
		return err
	}
	setType(v, x.Type, x.Shape)
	return nil
}

// setType gives a value a type and a shape.
func setType(v *msprobe.Value, t dtype.Type, shape []int64) {
	if v.DType, v.Elem, v.Known, v.Shape = t.String(), t, true, shape; shape == nil {
		v.Shape = []int64{}
	}
}
