// Package array reads the numbers of one recorded tensor for people: their
// statistics, some of them, all of them as text, and how two tensors differ.
//
// Tensors are read in tiles, so memory does not depend on their size, and the
// tiles of large ones by several goroutines. Results do not depend on how many.
package array

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync/atomic"

	"precision/dump"
	"precision/dump/dtype"
	"precision/dump/layout"
	"precision/dump/torch"
	"precision/internal/each"
	"precision/internal/must"
)

// Array is a tensor of a file that is open for reading its elements. They are
// numbered in C order of Shape, as stored: the layout of a device dump is not
// undone.
type Array struct {
	// Path is the file, Name what the tensor is called: the file's own name
	// for an array, <dump>.output.0 for a tensor of a dump, the path within the
	// file for a dataset of HDF5.
	Path, Name string
	// Part is which tensor of the file it is, as output.0 or the path of a
	// dataset; "" if the file holds just one.
	Part string
	// Dataset: the file is one of HDF5.
	Dataset bool

	Type  dtype.Type
	Shape []int64
	// Format is the layout of a device dump, "" for other arrays.
	Format string
	// Restored is the layout that Restore brought the elements to, else "".
	Restored string

	tensor dump.Tensor
	source source
	count  int64
	view   layout.View
	// viewed: the elements are not stored in the order of Shape, so that they
	// are read through the view.
	viewed bool
	// once has each element that is shown several times only once; nil unless all are shown times.
	once  *Array
	times int64
	// excess: it shows so many more elements than are stored that not all are read.
	excess *torch.ExcessError
}

// tooMany is why the elements are not read one by one, nil if they are.
func (a *Array) tooMany() error {
	if a.excess != nil {
		return fmt.Errorf("%s: %s: %w", a.Path, a.Name, a.excess)
	}
	return nil
}

// source is where elements are read.
type source interface {
	io.ReaderAt
	io.Closer
}

// Open opens the tensors of a file, inputs first: those of a dump or of a file
// of PyTorch, or the one of an array. bad tells of tensors that cannot be read. The caller closes all
// arrays; the file is open once for all of them.
func Open(path string) (arrays []*Array, bad []error, err error) {
	file, err := dump.OpenFile(path)
	if err != nil {
		if isTorch(path) { // which is no dump by any reading: its first bytes make a header of exabytes
			return openTorch(path)
		}
		return nil, nil, err
	}
	s := share(file)
	defer s.Close()
	for _, t := range append(slices.Clone(file.Inputs), file.Outputs...) {
		a, err := must.Of(func() *Array { return s.open(file, t) })
		if err != nil {
			bad = append(bad, err)
			continue
		}
		arrays = append(arrays, a)
	}
	return arrays, bad, nil
}

// Tensor opens one input or output of a dump, or the array in a file.
func Tensor(path string, input bool, index int) (_ *Array, err error) {
	defer must.Catch(&err)
	file := must.Get(dump.OpenFile(path))
	s := share(file)
	defer s.Close()
	list := file.Outputs
	if input {
		list = file.Inputs
	}
	must.Not(index < 0 || index >= len(list), "%s: no %s %d, it has %d", path, dump.SideOf(input), index, len(list))
	return s.open(file, list[index]), nil
}

// shared is a file that is closed when all who have it have closed it.
type shared struct {
	source
	users atomic.Int32
}

func share(file source) *shared {
	s := &shared{source: file}
	s.users.Store(1)
	return s
}

func (s *shared) Close() error {
	if s.users.Add(-1) > 0 {
		return nil
	}
	return s.source.Close()
}

// open is a tensor of the file that is shared.
func (s *shared) open(file *dump.Reader, t dump.Tensor) *Array {
	path := file.Path
	must.Do(t.Err)
	must.Not(!t.Type.Readable(), "%s: %s %d: elements of type %s cannot be read", path, dump.SideOf(t.Input), t.Index, t.Type)
	a := &Array{Path: path, Name: filepath.Base(path), Type: t.Type, Shape: t.Shape, tensor: t}
	if file.Form != dump.Numpy {
		a.Part = fmt.Sprintf("%s.%d", dump.SideOf(t.Input), t.Index)
		a.Name += "." + a.Part
		a.Format = t.Format.String()
	}
	a.count = t.Elements()
	a.viewed = t.Fortran && len(t.Shape) > 1
	var err error
	a.view, err = t.View()
	must.Not(err != nil, "%s: %s %d: %w", path, dump.SideOf(t.Input), t.Index, err)
	s.users.Add(1)
	a.source = s
	return a
}

// Close closes the file.
func (a *Array) Close() error { return a.source.Close() }

// Len is the number of elements. An element of a complex type is one.
func (a *Array) Len() int64 { return a.count }

// Numbers is the number of reals: twice Len for complex types.
func (a *Array) Numbers() int64 { return a.Len() * int64(a.Type.Parts()) }

// tile is how many elements are read at a time: enough to hide the cost of a
// call, little enough for the second-level cache. A multiple of 8, so that
// tiles of packed types start at whole bytes.
const tile = 32 << 10

// cursor reads the tiles of an array in one goroutine.
type cursor struct {
	a    *Array
	raw  []byte
	nums []float64
	read *layout.Reader // only for elements that are stored in another order
}

func (a *Array) cursor() *cursor {
	c := &cursor{a: a, nums: make([]float64, tile*a.Type.Parts())}
	if a.viewed {
		r, err := layout.NewReader(a.source, a.tensor.Offset, a.Type.Bits()/8, a.view)
		if err != nil {
			must.Do(fmt.Errorf("%s: %w", a.Path, err))
		}
		c.read = r
	}
	return c
}

// elements reads n elements from first on, a multiple of 8, as numbers. The
// result is valid until the next call. n is at most tile.
func (c *cursor) elements(first, n int64) []float64 {
	v := c.nums[:dtype.Widen64(c.a.Type, c.nums, c.bytes(first, n))]
	return v[:min(int64(len(v)), n*int64(c.a.Type.Parts()))]
}

// bytes reads n elements from first on, a multiple of 8, as little-endian
// bytes. The result is valid until the next call. n is at most tile.
func (c *cursor) bytes(first, n int64) []byte {
	a := c.a
	size := a.Type.Bytes(n)
	if int64(cap(c.raw)) < size {
		c.raw = make([]byte, max(size, a.Type.Bytes(min(tile, a.Len()))))
	}
	raw := c.raw[:size]
	must.Do(c.ReadTile(raw, first, n))
	return raw
}

// ReadTile fills raw with n elements from first on, as bytes reads them.
func (c *cursor) ReadTile(raw []byte, first, n int64) error {
	a := c.a
	if c.read != nil {
		if err := c.read.ReadTile(raw, first, n); err != nil {
			return fmt.Errorf("%s: elements %d to %d: %w", a.Path, first, first+n, err)
		}
	} else if k, err := a.source.ReadAt(raw, a.tensor.Offset+a.Type.Bytes(first)); k < len(raw) {
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("%s: elements %d to %d: %w", a.Path, first, first+n, err)
	}
	if a.tensor.BigEndian {
		dtype.Swap(a.Type, raw)
	}
	return nil
}

// tiles calls do for every tile of n elements, from several goroutines; make
// gives each of them its own state. The tiles' numbers count from 0. It stops
// where the work of a tile ends with an error, and when ctx is cancelled.
func tiles(ctx context.Context, n int64, workers int, worker func() func(number int, first, count int64)) error {
	show := progressOf(ctx)
	until, end := context.WithCancelCause(ctx)
	defer end(nil)
	fail := func(err error) {
		if err != nil {
			end(err)
		}
	}
	var done atomic.Int64
	each.Number(until, int((n+tile-1)/tile), workers, nil, func() func(int) {
		var do func(number int, first, count int64)
		fail(must.Try(func() { do = worker() }))
		return func(k int) {
			first := int64(k) * tile
			count := min(tile, n-first)
			fail(must.Try(func() { do(k, first, count) }))
			show(done.Add(count), n)
		}
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	return context.Cause(until)
}

type progressKey struct{}

// WithProgress lets long work of this package tell how far it has come: show gets
// the number of elements that are done and of all. It may be called from several
// goroutines at once.
func WithProgress(ctx context.Context, show func(done, total int64)) context.Context {
	return context.WithValue(ctx, progressKey{}, show)
}

func progressOf(ctx context.Context) func(done, total int64) {
	if show, ok := ctx.Value(progressKey{}).(func(done, total int64)); ok {
		return show
	}
	return func(int64, int64) {}
}

// plain are the layouts of framework tensors that a device layout can have come
// from.
var plain = []layout.Format{layout.NCHW, layout.NHWC, layout.HWCN, layout.ND, layout.NCDHW, layout.NDHWC}

// Restore undoes the layout of a device dump: from then on the elements are
// those of the framework's tensor of the wanted shape, without the padding. It
// returns the layout whose axes fit the shape, and changes nothing if there is
// none; of several that which the dump says the tensor had is taken, and
// nothing is changed if it does not say.
func (a *Array) Restore(want []int64) (to string, ok bool) {
	if a.Format == "" || a.viewed || slices.Equal(a.Shape, want) {
		return "", false
	}
	var fits []layout.Format
	var views []layout.View
	for _, f := range plain {
		v, err := layout.Restore(a.tensor.Format, f, a.tensor.Shape, want, int(a.tensor.SubFormat))
		if err == nil && slices.Equal(v.Dims, want) {
			fits, views = append(fits, f), append(views, v)
		}
	}
	i := 0
	switch {
	case len(fits) == 0:
		return "", false
	case len(fits) > 1:
		if i = slices.Index(fits, a.tensor.OriginFormat); i < 0 {
			return "", false
		}
	}
	a.view, a.viewed = views[i], true
	a.Restored = fits[i].String()
	a.Shape, a.count = slices.Clone(want), views[i].Len()
	return a.Restored, true
}
