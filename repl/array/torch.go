package array

import (
	"errors"
	"fmt"
	"path/filepath"

	"precision/dump"
	"precision/dump/layout"
	"precision/dump/torch"
	"precision/internal/plainfile"
)

// isTorch tells whether a file may be one of torch.save.
func isTorch(path string) bool { return torch.Is(plainfile.Front(path, torch.MagicSize)) }

// openTorch opens the tensors of a file of torch.save.
func openTorch(path string) (arrays []*Array, bad []error, err error) {
	file, err := torch.Open(path)
	if err != nil {
		return nil, nil, err
	}
	if len(file.Tensors) == 0 {
		_, err := file.Bare() // says what it is instead
		file.Close()
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	shared := share(file)
	defer shared.Close()
	for i, t := range file.Tensors {
		a := &Array{Path: path, Name: filepath.Base(path), Type: t.Type, Shape: t.Shape, count: t.Elements()}
		a.tensor = dump.Tensor{Type: t.Type, Shape: t.Shape, Offset: t.Start, BigEndian: t.BigEndian}
		if t.Name != "" {
			a.Part = partName(t.Name, i)
			a.Name += "." + a.Part
		}
		a.view, err = t.View()
		if errors.As(err, &a.excess) {
			a.view, err = layout.Strided(t.Shape, t.Stride)
		}
		if err != nil {
			bad = append(bad, fmt.Errorf("%s: %s: %w", path, a.Name, err))
			continue
		}
		a.viewed = !a.view.IsContiguous()
		if once, times := t.Once(); times > 1 {
			b := *a
			b.Shape, b.count = once.Shape, once.Elements()
			if b.view, err = once.View(); err == nil {
				b.excess, b.viewed = nil, !b.view.IsContiguous()
				a.once, a.times = &b, times
			}
		}
		a.source = shared
		shared.users.Add(1)
		arrays = append(arrays, a)
	}
	return arrays, bad, nil
}

// partName is the name of a tensor as a part of a file's name and on a screen:
// the keys that it is made of may be any text.
func partName(name string, number int) string {
	if part := plainfile.Part(name); part != "" || name == "" {
		return part
	}
	return fmt.Sprintf("tensor.%d", number)
}
