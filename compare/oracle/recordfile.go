package oracle

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"precision/compare/result"
	"precision/dump"
	"precision/dump/dtype"
	"precision/dump/layout"
	"precision/dump/msprobe"
	"precision/dump/torch"
	"precision/internal/plainfile"
)

// This file opens the tensors of a recording of calls: .pt files of PyTorch and
// arrays of MindSpore.

// files are the open files of a call.
type files struct {
	path   func(dataName string) (string, error)
	open   []io.Closer
	read   map[string]bool // by the data name
	sliced bool            // a file holds more than its tensor: parts of tensors were recorded
	device bool            // a tensor was on a device other than the CPU
}

func (f *files) close() {
	for _, c := range f.open {
		c.Close()
	}
}

// tensor opens a recorded tensor; name is for messages.
func (f *files) tensor(v *msprobe.Value, name string) (*operand, error) {
	n, ok := v.Elements()
	o := &operand{name: name, typ: v.Elem, shape: v.Shape}
	switch {
	case !v.Known || !computes(v.Elem):
		return nil, refuse(BadType, name, v.DType)
	case !ok || len(v.Shape) > maxRank:
		return nil, refuse(BadLayout, name, "rank "+itoa(len(v.Shape)))
	case v.DataName == "" && n == 0:
		return o, f.empty(o)
	case v.DataName == "":
		return nil, refuse(NoElements, name)
	}
	if f.read == nil {
		f.read = map[string]bool{}
	}
	f.read[v.DataName] = true
	path, err := f.path(v.DataName)
	if err != nil {
		return nil, refuse(BadTensor, name, err)
	}
	if strings.HasSuffix(path, ".npy") {
		err = f.array(o, path, n)
	} else {
		err = f.saved(o, path)
	}
	if err != nil {
		return nil, refuse(BadTensor, name, plainfile.At(path, err))
	}
	return o, nil
}

// glance looks at the files of a call that nothing was computed from: of text, or of what its
// formula does not take. What cannot be read of them is damaged all the same.
func (c *recordedCall) glance(f *files) {
	for i := range c.Values {
		v := &c.Values[i]
		if v.DataName == "" || f.read[v.DataName] {
			continue
		}
		path, err := f.path(v.DataName)
		if err == nil && strings.HasSuffix(path, ".npy") {
			var a *dump.Reader
			if a, err = dump.OpenFile(path); err == nil {
				a.Close()
			} else if dump.Code(err) == dump.CodeType {
				err = nil // no numbers, and whole
			}
		} else if err == nil {
			var t *torch.OpenFile
			if t, err = torch.Open(path); err == nil {
				t.Close()
			}
		}
		if err != nil && !errors.Is(err, msprobe.ErrNoTensors) {
			name := c.name + ":" + v.Section.String() + ":" + v.Path
			c.bad = append(c.bad, result.DamageOf(name, path, because(BadTensor, name, err), err))
		}
	}
}

// empty makes the tensor without elements that it takes no file for.
func (f *files) empty(o *operand) (err error) {
	if o.view, err = layout.Contiguous(o.shape); err != nil {
		return refuse(BadLayout, o.name, err)
	}
	o.src = strings.NewReader("")
	o.rd, err = layout.NewReader(o.src, 0, o.typ.Bits()/8, o.view)
	return err
}

// saved opens a file of torch.save.
func (f *files) saved(o *operand, path string) error {
	file, err := torch.Open(path)
	if err != nil {
		return err
	}
	f.open = append(f.open, file)
	t, err := file.Bare()
	if err != nil {
		return err
	}
	if t.Type != o.typ || !slices.Equal(t.Shape, o.shape) {
		return fmt.Errorf("found %s %v, recorded %s %v", t.Type, t.Shape, o.typ, o.shape)
	}
	if t.BigEndian {
		return errors.New("found big-endian elements, expected little-endian ones")
	}
	o.src, o.base = file, t.Start
	if o.view, err = t.View(); err != nil {
		return err
	}
	o.part = t.Part()
	f.sliced = f.sliced || o.part
	f.device = f.device || t.Device() != "" && t.Device() != "cpu"
	o.rd, err = layout.NewReader(o.src, o.base, o.typ.Bits()/8, o.view)
	return err
}

// array opens an array of numpy. MindSpore keeps bfloat16 as float32 there.
func (f *files) array(o *operand, path string, n int64) error {
	file, err := dump.OpenFile(path)
	if err != nil {
		return err
	}
	f.open = append(f.open, file)
	if len(file.Outputs) != 1 {
		return fmt.Errorf("found %d tensors, expected an array", len(file.Outputs))
	}
	t := &file.Outputs[0]
	if t.Err != nil {
		return t.Err
	}
	if o.view, err = t.View(); err != nil {
		return err
	}
	if t.Type == dtype.Float16 && o.typ == dtype.Float32 {
		t.Type = o.typ // as it was found to be, see mindspore.Calls
	}
	widened := t.Type == dtype.Float32 && o.typ == dtype.BFloat16
	if o.view.Len() != n || t.Type != o.typ && !widened || t.BigEndian {
		return fmt.Errorf("found %d elements of %s, recorded %s %v", o.view.Len(), t.Type, o.typ, o.shape)
	}
	if widened {
		o.rounded, o.typ = o.typ, t.Type
	}
	o.src, o.base = file, t.Offset
	o.rd, err = layout.NewReader(o.src, o.base, o.typ.Bits()/8, o.view)
	return err
}
