package recording

import (
	"errors"
	"fmt"
	"path/filepath"

	"precision/compare"
	"precision/compare/result"
	"precision/dump"
	"precision/dump/dtype"
	"precision/dump/mindspore"
	"precision/dump/msprobe"
	"precision/dump/stats"
)

// findMindSpore finds what MindSpore recorded kernel by kernel.
func findMindSpore(path string) ([]found, error) {
	all, err := mindspore.Find(path)
	if err != nil {
		return nil, err
	}
	list := make([]found, len(all))
	for i, r := range all {
		list[i] = found{mode: r.Label(), step: r.Step, rank: r.Rank, bytes: fileSize(filepath.Join(r.Dir, stats.File)), load: func() (*side, error) { return loadMindSpore(r) }}
	}
	return list, nil
}

// loadMindSpore reads an iteration. A run of a kernel is a call.
func loadMindSpore(r mindspore.Recording) (*side, error) {
	it, err := mindspore.Load(r)
	if err != nil {
		return nil, err
	}
	list := it.Calls()
	s := &side{summed: dtype.Float32, widened: list.Widened}
	s.open = func(l *leaf) (*compare.SideTensor, error) { return openArray(list.Files[l.DataName], l) }
	for _, e := range it.Remarks {
		if bad := (*mindspore.ValueError)(nil); errors.As(e, &bad) {
			s.damage(result.FileDamaged, bad.Name, bad.File, bad.Err)
			continue
		}
		s.damage(result.FileDamaged, "", r.Dir, e)
	}
	add := s.adder()
	for _, c := range list.Calls {
		add(c)
	}
	for _, c := range s.calls {
		c.state, c.gap = c.Parsed.Class == mindspore.State, list.Gaps[c.at]
	}
	s.grain, s.significant = it.Precision()
	return s, nil
}

// fromArray takes the type and shape of an array of numpy.
func fromArray(v *msprobe.Value, path string) error {
	f, err := dump.OpenFile(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if len(f.Outputs) != 1 {
		return fmt.Errorf("%s: found %d tensors, expected an array", path, len(f.Outputs))
	}
	t := &f.Outputs[0]
	setType(v, t.Type, t.Shape)
	return nil
}
