package recording

import (
	"strconv"

	"precision/compare/engine"
	"precision/compare/result"
	"precision/dump/fx"
	"precision/dump/msprobe"
)

// findFX finds arrays of the nodes of FX graphs: a token is a step.
func findFX(path string) ([]found, error) {
	return listed(path, fx.Find, func(r fx.Recording) found {
		return found{step: r.Token, rank: r.Rank, load: func() (*side, error) { return loadFX(r) }}
	})
}

// loadFX lists the nodes of a token. A node is a call.
func loadFX(r fx.Recording) (*side, error) {
	nodes, err := fx.Load(r)
	if err != nil {
		return nil, err
	}
	s := &side{open: func(l *leaf) (*engine.SideTensor, error) { return openArray(l.DataName, l) }}
	add := s.adder()
	for _, n := range nodes {
		c := &msprobe.Call{Name: n.Name + "-" + n.Function, Parsed: msprobe.Name{Form: msprobe.API, API: n.Function}}
		for _, x := range n.Tensors {
			v := msprobe.Value{Section: msprobe.Input, Kind: msprobe.Tensor, Type: "torch.Tensor", Path: strconv.Itoa(x.Index), DataName: x.File}
			if x.Output {
				v.Section = msprobe.Output
			}
			if err := fromArray(&v, x.File); err != nil {
				s.damage(result.FileDamaged, c.Name+"."+v.Section.String()+"."+v.Path, x.File, err)
			}
			c.Values = append(c.Values, v)
		}
		add(c)
	}
	return s, nil
}
