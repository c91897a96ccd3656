package array

import (
	"bytes"
	"fmt"
	"io"

	"precision/dump"
	"precision/dump/h5"
	"precision/dump/layout"
	"precision/internal/must"
	"precision/internal/plainfile"
)

// heldBytes is the largest dataset that is held in memory while it is open.
// Chunks of larger ones are decoded again for every pass.
const heldBytes = 16 << 20

// Dataset opens a dataset of an HDF5 file, such as a PyTorch dump, by its path
// within the file. The elements are those stored, whatever strides the dump
// says the tensor had.
func Dataset(path, name string) (a *Array, err error) {
	file, size, err := plainfile.Open(path, "an HDF5 file")
	if err != nil {
		return nil, err
	}
	if err := must.Try(func() { a = dataset(file, size, name) }); err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %s: %w", path, name, err)
	}
	return a, nil
}

func dataset(file *plainfile.File, size int64, name string) *Array {
	obj := must.Get(must.Get(h5.Open(file, size)).Lookup(name))
	d, ok := obj.(*h5.Dataset)
	if !ok {
		must.Do(fmt.Errorf("found a %T, expected a dataset", obj))
	}
	if !d.Type.Readable() {
		if _, err := d.ReadAt(make([]byte, 1), 0); err != io.EOF {
			must.Do(err) // tells what is not supported
		}
		must.Do(fmt.Errorf("elements of type %s cannot be read", d.Type))
	}
	must.Do(d.Backed())
	a := &Array{Path: file.Name(), Name: name, Part: name, Dataset: true, Type: d.Type, Shape: d.Shape, count: d.Len()}
	a.tensor = dump.Tensor{Type: d.Type, Shape: d.Shape}
	a.view = must.Get(layout.Contiguous(d.Shape))
	held := &elements{ReaderAt: d, file: file}
	if d.Size() <= heldBytes {
		if b, err := d.ReadAll(); err == nil {
			held.ReaderAt = bytes.NewReader(b)
		}
	}
	a.source = held
	return a
}

// elements are the elements of a dataset of an open file.
type elements struct {
	io.ReaderAt
	file *plainfile.File
}

func (e *elements) Close() error { return e.file.Close() }
