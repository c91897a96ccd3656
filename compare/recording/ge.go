package recording

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"precision/compare/engine"
	"precision/compare/result"
	"precision/dump"
	"precision/dump/dtype"
	"precision/dump/layout"
	"precision/dump/msprobe"
	"precision/dump/stats"
	"precision/internal/must"
	"precision/internal/order"
)

// findStats finds what GE records with dump_data=stats: a table for each operator.
func findStats(path string) ([]found, error) {
	return findGE(path, "tables of GE (dump_data=stats)", ".csv", dump.Statistics, dump.Offline, dump.Array)
}

// findDumps finds dumps of a device: the other side of statistics.
func findDumps(path string) ([]found, error) {
	return findGE(path, "device dumps", "", dump.Offline)
}

// findGE finds folders <device>/<model>/<model id>/<step> with files of a kind, whose
// names end in a certain way, and without files of others.
func findGE(path, what, end string, kind dump.Kind, others ...dump.Kind) (list []found, err error) {
	err = dump.Below(path, nil, func(dir string, entries []fs.DirEntry) bool {
		has := func(end string, kinds ...dump.Kind) bool {
			return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
				return !e.IsDir() && strings.HasSuffix(e.Name(), end) && slices.Contains(kinds, dump.ParseName(e.Name()).Kind)
			})
		}
		is := has(end, kind) && !has("", others...)
		if is {
			list = append(list, foundGE(dir, entries))
		}
		return is
	})
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: no %s here or below", path, what)
	}
	order.Stable(list, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.mode, b.mode), cmp.Compare(a.step, b.step), cmp.Compare(a.rank, b.rank))
	})
	return list, nil
}

// foundGE is the recording in a folder; its step and device are in the names above.
func foundGE(dir string, entries []fs.DirEntry) found {
	f := found{step: -1, rank: -1, load: func() (*side, error) { return loadGE(dir, entries) }}
	full, err := filepath.Abs(dir)
	if err != nil {
		return f
	}
	parts := strings.Split(filepath.ToSlash(full), "/")
	if len(parts) < 4 {
		return f
	}
	parts = parts[len(parts)-4:]
	device, err := strconv.Atoi(parts[0])
	step, bad := strconv.Atoi(parts[3])
	if err == nil && bad == nil {
		f.rank, f.step, f.mode = device, step, parts[1]
	}
	return f
}

// record is a file of an operator.
type record struct {
	name dump.Name
	path string
}

// geDigits is how many significant digits a device writes of a statistic.
const geDigits = 6

// loadGE reads the tables, or the headers of the dumps, of a folder. A file is a
// call.
func loadGE(dir string, entries []fs.DirEntry) (*side, error) {
	s := &side{summed: dtype.Float32, significant: geDigits}
	var files []record
	mapping, warnings := dump.ReadMapping(dir)
	for _, w := range warnings {
		s.damage(result.FileDamaged, "", dir, errors.New(w.String()))
	}
	for _, e := range entries {
		if n := mapping.Name(e.Name()); !e.IsDir() && (n.Kind == dump.Statistics || n.Kind == dump.Offline) {
			files = append(files, record{n, filepath.Join(dir, e.Name())})
		}
	}
	order.Stable(files, func(a, b record) int {
		return cmp.Or(cmp.Compare(a.name.Time, b.name.Time), cmp.Compare(a.name.File, b.name.File))
	})
	places := map[string]geTensor{}
	s.open = func(l *leaf) (*engine.SideTensor, error) { return places[l.DataName].open() }
	add := s.adder()
	for i := range files {
		f := &files[i]
		c := &msprobe.Call{Name: dump.Normalise(f.name.OpName), Parsed: msprobe.Name{Form: msprobe.API, API: dump.Normalise(f.name.OpName), Class: f.name.OpType}}
		var err error
		if f.name.Kind == dump.Statistics {
			err = s.tables(c, f.path)
		} else {
			err = s.dumped(c, f.path, places)
		}
		if err != nil {
			s.damage(result.FileDamaged, c.Name, f.path, err)
			if len(c.Values) == 0 {
				continue
			}
		}
		add(c)
	}
	return s, nil
}

// tables reads the table of an operator.
func (s *side) tables(c *msprobe.Call, path string) error {
	seen := map[string]bool{}
	in, err := stats.Table(path, func(row *stats.Row) error {
		v := msprobe.Value{Section: msprobe.Input, Kind: msprobe.Tensor, Type: "Tensor", Path: row.Slot}
		if row.Output {
			v.Section = msprobe.Output
		}
		row.Tell(&v)
		if key := v.Section.String() + row.Slot; !seen[key] {
			seen[key] = true
			c.Values = append(c.Values, v)
		}
		return nil
	}, func(bad error) { s.damage(result.FileDamaged, "", path, bad) })
	if in == nil && err == nil { // listed, and not there
		err = fs.ErrNotExist
	}
	return err
}

// dumped reads the header of a dump.
func (s *side) dumped(c *msprobe.Call, path string, places map[string]geTensor) error {
	f, err := dump.OpenFile(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for _, list := range [][]dump.Tensor{f.Inputs, f.Outputs} {
		for i := range list {
			t := &list[i]
			if t.Err != nil {
				s.damage(result.FileDamaged, c.Name, path, t.Err)
				continue
			}
			v := msprobe.Value{Section: msprobe.Output, Kind: msprobe.Tensor, Type: "Tensor", Path: strconv.Itoa(t.Index)}
			if t.Input {
				v.Section = msprobe.Input
			}
			setType(&v, t.Type, t.Shape)
			v.DataName = path + "/" + v.Section.String() + v.Path
			places[v.DataName] = geTensor{path, t.Input, t.Index}
			c.Values = append(c.Values, v)
		}
	}
	return nil
}

// geTensor is where a tensor of a dump is.
type geTensor struct {
	path  string
	input bool
	index int
}

// open opens the tensor as it is stored: a device takes its statistics so.
func (g geTensor) open() (*engine.SideTensor, error) {
	f, err := dump.OpenFile(g.path)
	if err != nil {
		return nil, err
	}
	t, err := g.tensor(f)
	if err != nil {
		f.Close()
		return nil, err
	}
	return &engine.SideTensor{Tensor: *t, File: g.path, Close: f.Close}, nil
}

func (g geTensor) tensor(f *dump.Reader) (_ *engine.Tensor, err error) {
	defer must.Catch(&err)
	list := f.Outputs
	if g.input {
		list = f.Inputs
	}
	must.Not(g.index >= len(list), "%s: found %d tensors, expected one with the index %d", g.path, len(list), g.index)
	x := &list[g.index]
	if x.Err != nil {
		return nil, x.Err
	}
	bits := x.Type.Bits()
	must.Not(bits <= 0 || bits%8 != 0, "%s: found elements of %s, expected whole bytes", g.path, x.Type)
	v := must.Get(layout.Contiguous(x.Shape))
	r := must.Get(layout.NewReader(f, x.Offset, bits/8, v))
	return &engine.Tensor{Type: x.Type, Shape: x.Shape, Count: v.Len(), Open: func() engine.Elements { return r.Clone() }}, nil
}
