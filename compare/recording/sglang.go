package recording

import (
	"cmp"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"precision/compare/engine"
	"precision/compare/result"
	"precision/dump"
	"precision/dump/msprobe"
	"precision/dump/torch"
	"precision/internal/order"
	"precision/internal/plainfile"
)

// SGLang's dumper (sglang.srt.debug_utils.dumper), which is used in Megatron and others, too, writes a file of torch.save for each tensor
// that a program hands to it:
//
//	[dump_<time>/]step=0___rank=1___dump_index=42___name=layer_start__hidden_states___layer_id=3.pt
//
// Older ones call the step forward_pass_id. A file holds the tensor, or a dict with it as value.

// keyed is a file of the dumper.
type keyed struct {
	path              string
	step, rank, index int
	// name is what the program called the tensor, with the other keys in their order.
	name string
}

// keyedName takes the name of a file apart.
func keyedName(file string) (k keyed, ok bool) {
	stem, ok := strings.CutSuffix(file, ".pt")
	if !ok || !strings.Contains(stem, "___") {
		return k, false
	}
	k.step, k.rank, k.index = -1, -1, -1
	var others []string
	for _, word := range strings.Split(stem, "___") {
		key, value, is := strings.Cut(word, "=")
		if !is {
			return k, false
		}
		n, err := strconv.Atoi(value)
		switch {
		case key == "name":
			k.name = value
		case key == "dump_index" && err == nil:
			k.index = n
		case (key == "step" || key == "forward_pass_id") && err == nil:
			k.step = n
		case key == "rank" && err == nil:
			k.rank = n
		default:
			others = append(others, word)
		}
	}
	for _, o := range others {
		k.name += "." + o
	}
	return k, k.name != "" && k.index >= 0
}

// findKeyed finds dumps of SGLang's dumper, one of each step and rank.
func findKeyed(path string) (list []found, err error) {
	type group struct{ step, rank int }
	groups := map[group][]keyed{}
	err = dump.Below(path, nil, func(dir string, entries []fs.DirEntry) bool {
		any := false
		for _, e := range entries {
			if k, ok := keyedName(e.Name()); ok && e.Type().IsRegular() {
				k.path, any = filepath.Join(dir, e.Name()), true
				g := group{k.step, k.rank}
				groups[g] = append(groups[g], k)
			}
		}
		return any
	})
	if err != nil {
		return nil, err
	}
	if len(groups) == 0 {
		return nil, fmt.Errorf("%s: found no files step=…___rank=…___dump_index=…___name=….pt here or below", path)
	}
	for g, files := range groups {
		list = append(list, found{step: g.step, rank: g.rank, load: func() (*side, error) { return loadKeyed(files) }})
	}
	order.Stable(list, func(a, b found) int { return cmp.Or(cmp.Compare(a.step, b.step), cmp.Compare(a.rank, b.rank)) })
	return list, nil
}

// loadKeyed lists the tensors in the order in which they were dumped. Each is a call of its own, as nothing tells what made it.
func loadKeyed(files []keyed) (*side, error) {
	order.Stable(files, func(a, b keyed) int { return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.path, b.path)) })
	s := &side{open: func(l *leaf) (*engine.SideTensor, error) { return openKeyed(l.DataName, l) }}
	add := s.adder()
	for _, k := range files {
		c := &msprobe.Call{Name: k.name, Parsed: msprobe.Name{Form: msprobe.API, Prefix: "dump", API: k.name, Direction: msprobe.Forward}}
		v := msprobe.Value{Section: msprobe.Output, Path: "0", Kind: msprobe.Tensor, Type: "torch.Tensor", DataName: k.path}
		f, err := torch.Open(k.path)
		var x *torch.Tensor
		if err == nil {
			x, err = valueIn(f)
			f.Close()
			err = plainfile.At(k.path, err)
		}
		if err != nil {
			s.damage(result.FileDamaged, c.Name, k.path, err)
		} else {
			setType(&v, x.Type, x.Shape)
		}
		c.Values = append(c.Values, v)
		add(c)
	}
	return s, nil
}

// valueIn is the tensor of a file of the dumper.
func valueIn(f *torch.OpenFile) (*torch.Tensor, error) {
	for _, t := range f.Tensors {
		if t.Name == "value" {
			return t, nil
		}
	}
	return f.Bare()
}

func openKeyed(path string, l *leaf) (*engine.SideTensor, error) {
	f, err := torch.Open(path)
	if err != nil {
		return nil, err
	}
	x, err := valueIn(f)
	var t *engine.Tensor
	if err == nil {
		t, err = readTensor(f, x, l)
	}
	return sideTensor(path, f.Close, t, err)
}
