package h5

import (
	"fmt"
	"math"
)

// dataspace is the shape of a dataset or attribute. A scalar has no
// dimensions, a null dataspace has no elements.
type dataspace struct {
	dims []int64
	null bool
}

// dataspace decodes a dataspace message, versions 1 and 2.
func (s *source) dataspace(c *cursor) (*dataspace, error) {
	version := c.version(1, 2)
	rank := c.u8()
	flags := c.u8()
	d := &dataspace{}
	if version == 1 {
		c.skip(5)
	} else {
		switch kind := c.u8(); kind {
		case 0, 1: // scalar, simple
		case 2:
			d.null = true
		default:
			c.pos--
			c.fail(fmt.Sprintf("dataspace type %d", kind), "0 to 2")
		}
	}
	if c.err == nil && rank > maxRank {
		c.fail(fmt.Sprintf("%d dimensions", rank), fmt.Sprintf("at most %d", maxRank))
	}
	if c.err != nil {
		return nil, c.err
	}
	for range rank {
		n := c.length()
		if c.err == nil && n > math.MaxInt64 {
			c.fail(fmt.Sprintf("dimension %d", n), "less than 2^63")
		}
		d.dims = append(d.dims, int64(n))
	}
	if flags&1 != 0 {
		c.skip(rank * c.lenLen) // how large it may become
	}
	if d.null {
		d.dims = []int64{0}
	}
	return d, c.err
}
