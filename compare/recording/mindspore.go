package recording

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"precision/compare/engine"
	"precision/compare/result"
	"precision/dump"
	"precision/dump/dtype"
	"precision/dump/mindspore"
	"precision/dump/msprobe"
	"precision/dump/stats"
)

// findMindSpore finds what MindSpore recorded kernel by kernel.
func findMindSpore(path string) ([]found, error) {
	return listed(path, mindspore.Find, func(r mindspore.Recording) found {
		return found{mode: r.Label(), step: r.Step, rank: r.Rank, bytes: fileSize(filepath.Join(r.Dir, stats.File)), load: func() (*side, error) { return loadMindSpore(r) }}
	})
}

// loadMindSpore reads an iteration. A run of a kernel is a call.
func loadMindSpore(r mindspore.Recording) (*side, error) {
	it, err := mindspore.Load(r)
	if err != nil {
		return nil, err
	}
	list := it.Calls()
	s := &side{summed: dtype.Float32, widened: list.Widened}
	s.open = func(l *leaf) (*engine.SideTensor, error) { return openArray(list.Files[l.DataName], l) }
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
	s.feeds = mindspore.Feeds(&r)
	s.grain, s.significant = it.Precision()
	return s, nil
}

// byGraph tells what feeds inputs whose content does not: by the graph beside a dump.
func (s *side) byGraph() {
	if s.feeds == nil {
		return
	}
	index := map[string]*call{}
	for _, c := range s.calls {
		if c.kernel() && !c.state {
			index[c.Name] = c
		}
	}
	for name := range index { // of a kernel that ran several times nobody knows which run it was
		if first, _, again := strings.Cut(name, "#"); again {
			delete(index, name)
			delete(index, first)
		}
	}
	for _, c := range s.calls {
		if index[c.Name] != c {
			continue
		}
		for i := range c.leaves {
			l := &c.leaves[i]
			if l.role != result.Input || l.from.call > 0 {
				continue
			}
			fed, ok := mindspore.Fed(s.feeds, c.Name, l.path)
			if !ok {
				continue
			}
			from := index[fed.Kernel]
			if from == nil || from.at >= c.at {
				continue
			}
			if out := from.leaf("output."+strconv.Itoa(fed.Output), 0); out != nil {
				l.from = place{int32(from.at + 1), out.slot}
			}
		}
	}
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
