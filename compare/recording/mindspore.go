package recording

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

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
	files := map[string]string{}
	s := &side{summed: dtype.Float32}
	s.open = func(l *leaf) (*compare.SideTensor, error) { return openArray(files[l.DataName], l) }
	for _, e := range it.Remarks {
		s.damage(result.FileDamaged, "", r.Dir, e)
	}
	// Where elements were kept, those of every tensor were.
	kept := slices.ContainsFunc(it.Kernels, func(k *mindspore.Kernel) bool {
		return slices.ContainsFunc(k.Tensors, func(x mindspore.Tensor) bool { return x.File != "" })
	})
	add := s.adder()
	for _, k := range it.Kernels {
		c := &msprobe.Call{Name: k.Name, Parsed: msprobe.Name{Form: msprobe.API, API: mindspore.Plain(k.Name), Class: k.Type, Number: k.Run}}
		for i := range k.Tensors {
			x := &k.Tensors[i]
			v := msprobe.Value{Section: msprobe.Input, Kind: msprobe.Tensor, Type: "mindspore.Tensor", Path: strconv.Itoa(x.Index)}
			if x.Output {
				v.Section = msprobe.Output
			}
			if x.Slot > 0 {
				v.Path += "." + strconv.Itoa(x.Slot)
			}
			if row := it.Row(x); row != nil {
				fromTable(&v, row)
			}
			if x.File != "" {
				v.DataName = fmt.Sprintf("%s#%d/%s.%s", k.Name, k.Run, v.Section, v.Path)
				files[v.DataName] = x.File
				if v.Shape == nil || !v.Known {
					if err := fromArray(&v, x.File, &x.Name); err != nil {
						s.damage(result.FileDamaged, v.DataName, x.File, err)
					}
				}
			}
			if x.File == "" && kept {
				name := fmt.Sprintf("%s#%d/%s.%s", k.Name, k.Run, v.Section, v.Path)
				s.damage(result.FileDamaged, name, r.Dir, fmt.Errorf("%s: no file for %s, expected one as for the others of the table", r.Dir, name))
			}
			c.Values = append(c.Values, v)
		}
		for _, a := range k.Args {
			c.Values = append(c.Values, param(a.Name, a.JSON))
		}
		add(c)
	}
	s.grain, s.significant = it.Precision()
	return s, nil
}

// fromArray takes the type and shape of an array of numpy; name, if not nil, may tell
// the type that the tensor had before it was widened.
func fromArray(v *msprobe.Value, path string, name *mindspore.Name) error {
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
	if name != nil && name.Typed {
		setType(v, name.DType, t.Shape)
	}
	return nil
}
