package recording

import (
	"fmt"
	"slices"
	"strings"

	"precision/compare/engine"
	"precision/dump"
	"precision/dump/dtype"
	"precision/dump/layout"
	"precision/dump/torch"
	"precision/internal/must"
	"precision/internal/plainfile"
)

// openFile opens the elements of a tensor in a file of PyTorch or numpy.
func openFile(path string, l *leaf) (*engine.SideTensor, error) {
	if strings.HasSuffix(path, ".npy") {
		return openArray(path, l)
	}
	f, err := torch.Open(path)
	if err != nil {
		return nil, err
	}
	x, err := f.Bare()
	var t *engine.Tensor
	if err == nil {
		t, err = readTensor(f, x, l)
	}
	return sideTensor(path, f.Close, t, err)
}

// sideTensor is a tensor of an open file, which is closed if there is none.
func sideTensor(path string, shut func() error, t *engine.Tensor, err error) (*engine.SideTensor, error) {
	if err != nil {
		shut()
		return nil, plainfile.At(path, err)
	}
	return &engine.SideTensor{Tensor: *t, File: path, Close: shut}, nil
}

// readTensor is a tensor of a file, as it was recorded.
func readTensor(f *torch.OpenFile, x *torch.Tensor, l *leaf) (*engine.Tensor, error) {
	shape := l.Shape
	if l.filed != nil {
		shape = l.filed
	}
	if x.Type != l.Elem || !slices.Equal(x.Shape, shape) {
		return nil, fmt.Errorf("found %s %v, recorded %s %v", x.Type, x.Shape, l.Elem, shape)
	}
	r, err := x.Reader(f)
	if err != nil {
		return nil, err
	}
	return &engine.Tensor{Type: x.Type, Shape: l.Shape, Count: x.Elements(), BigEndian: x.BigEndian, Open: func() engine.Elements { return r.Clone() }}, nil
}

// openArray opens an array of numpy, as MindSpore's recordings have them.
func openArray(path string, l *leaf) (*engine.SideTensor, error) {
	f, err := dump.OpenFile(path)
	if err != nil {
		return nil, err
	}
	t, err := arrayOf(f, l)
	return sideTensor(path, f.Close, t, err)
}

func arrayOf(f *dump.Reader, l *leaf) (_ *engine.Tensor, err error) {
	defer must.Catch(&err)
	must.Not(len(f.Outputs) != 1, "found %d tensors, expected an array", len(f.Outputs))
	x := &f.Outputs[0]
	if x.Err != nil {
		return nil, x.Err
	}
	v := must.Get(x.View())
	if x.Type == dtype.Float16 && l.Elem == dtype.Float32 {
		x.Type = l.Elem // as it was found to be, see mindspore.Calls
	}
	// A file may hold a type widened; one of fewer digits is not what was recorded.
	narrowed := x.Type.IsFloat() && l.Elem.IsFloat() && x.Type.Bits() < l.Elem.Bits()
	if n, ok := l.Elements(); !ok || n != v.Len() || x.Type.Bits()%8 != 0 || narrowed {
		return nil, fmt.Errorf("found %d elements of %s, recorded %s %v", v.Len(), x.Type, l.DType, l.Shape)
	}
	r := must.Get(layout.NewReader(f, x.Offset, x.Type.Bits()/8, v))
	return &engine.Tensor{Type: x.Type, Shape: l.Shape, Count: v.Len(), BigEndian: x.BigEndian, Open: func() engine.Elements { return r.Clone() }}, nil
}
