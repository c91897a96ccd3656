package array

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"precision/dump"
	"precision/dump/dtype"
	"precision/dump/layout"
	"precision/dump/scaled"
	"precision/internal/must"
)

// mostScales bounds the scales of a tensor, which are held in memory.
const mostScales = 1 << 24

// Scaled is a tensor of numbers in steps times their scales, as float32, read as it is asked for. It closes numbers; scales are not
// needed afterwards.
func Scaled(numbers, scales *Array) (made *Array, err error) {
	err = must.Try(func() {
		fail := func(err error) { must.Do(fmt.Errorf("%s: %s: %w", numbers.Path, numbers.Name, err)) }
		if n := scales.Len(); n > mostScales || scales.Type.Parts() > 1 || numbers.Type.Parts() > 1 {
			fail(fmt.Errorf("%s has %d numbers of type %s, which are no scales", scales.Name, n, scales.Type))
		}
		typ, per := numbers.Type, int64(1)
		shape := slices.Clone(numbers.Shape)
		at, err := scaled.Places(shape, scales.Shape, scaled.Powers(typ, scales.Type))
		if unpacked, n := scaled.Packed(typ); (err != nil || typ == dtype.Uint8) && n > 1 && len(shape) > 0 && !numbers.viewed {
			typ, per = unpacked, n
			shape[len(shape)-1] *= n
			at, err = scaled.Places(shape, scales.Shape, scaled.Powers(typ, scales.Type))
		}
		if err != nil {
			fail(err)
		}
		s := &product{of: numbers, at: at, typ: typ, per: per}
		c := scales.cursor()
		for first := int64(0); first < scales.Len(); first += tile {
			s.by = append(s.by, c.elements(first, min(tile, scales.Len()-first))...)
		}
		if scaled.Powers(typ, scales.Type) {
			for i, x := range s.by {
				s.by[i] = scaled.Value(scales.Type, x)
			}
		}
		made = &Array{Path: numbers.Path, Name: numbers.Name + " × " + scales.Name, Part: "× " + scales.Name, Type: dtype.Float32, Shape: shape,
			Restored: "times " + scales.Name, source: s, count: numbers.count * per, tensor: dump.Tensor{Type: dtype.Float32, Shape: shape}}
		made.view = must.Get(layout.Contiguous(shape))
	})
	return made, err
}

// product is where the products of numbers and their scales are read, in whole float32. An element may hold several numbers, of another
// type.
type product struct {
	of  *Array
	typ dtype.Type
	per int64
	by  []float64
	at  func(i int64) int64
}

func (p *product) Close() error { return p.of.Close() }

func (p *product) ReadAt(b []byte, off int64) (done int, err error) {
	err = must.Try(func() {
		c, nums := p.of.cursor(), make([]float64, tile)
		for done+4 <= len(b) {
			first := (off + int64(done)) / 4
			skip := first % (8 * p.per)
			n := min(tile-skip, int64(len(b)-done)/4, p.of.Len()*p.per-first)
			if n <= 0 {
				must.Do(io.EOF)
			}
			raw := c.bytes((first-skip)/p.per, (skip+n+p.per-1)/p.per)
			for i, x := range nums[:dtype.Widen64(p.typ, nums, raw)][skip:min(skip+n, int64(len(nums)))] {
				binary.LittleEndian.PutUint32(b[done:], math.Float32bits(float32(x*p.by[p.at(first+int64(i))])))
				done += 4
			}
		}
	})
	return done, err
}
