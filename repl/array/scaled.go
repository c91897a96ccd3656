package array

import (
	"fmt"
	"io"

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
		var by []float64
		c := scales.cursor()
		for first := int64(0); first < scales.Len(); first += tile {
			by = append(by, c.elements(first, min(tile, scales.Len()-first))...)
		}
		p, err := scaled.Of(scaled.Tensor{Type: numbers.Type, Shape: numbers.Shape}, scaled.Tensor{Type: scales.Type, Shape: scales.Shape}, by, false)
		if err == nil && p.Len() != numbers.Len() && numbers.viewed {
			err = fmt.Errorf("%s holds several numbers an element, in another order than they are stored in", numbers.Name)
		}
		if err != nil {
			fail(err)
		}
		made = &Array{Path: numbers.Path, Name: numbers.Name + " × " + scales.Name, Part: "× " + scales.Name, Type: dtype.Float32, Shape: p.Shape,
			Restored: "times " + scales.Name, source: &product{of: numbers, values: p}, count: p.Len(), tensor: dump.Tensor{Type: dtype.Float32, Shape: p.Shape}}
		made.view = must.Get(layout.Contiguous(p.Shape))
	})
	return made, err
}

// product is where the products of numbers and their scales are read, in whole float32.
type product struct {
	of     *Array
	values *scaled.Product
}

func (p *product) Close() error { return p.of.Close() }

func (p *product) ReadAt(b []byte, off int64) (done int, err error) {
	err = must.Try(func() {
		c := p.of.cursor()
		for done+4 <= len(b) {
			first := (off + int64(done)) / 4
			n := min(tile, int64(len(b)-done)/4, p.values.Len()-first)
			if n <= 0 {
				must.Do(io.EOF)
			}
			must.Do(p.values.Read(b[done:done+int(4*n)], first, c.ReadTile))
			done += int(4 * n)
		}
	})
	return done, err
}
