package choice

import (
	"slices"

	"precision/internal/nd"
	catalogue "precision/op"
)

// What depends on a choice that fell otherwise is followed element by element
// where an operator's type says which elements an element is made of, and taken
// for all of the output where they are mixed.

// Follow makes the mask of an output of a shape from those of the inputs, nil where
// nothing depends. shapes are those of the inputs.
func (c *Call) Follow(shapes [][]int64, masks []*Mask, out []int64) (sum *Mask) {
	for k, m := range masks {
		if m == nil {
			continue
		}
		if m.Mixed {
			sum = Join(sum, &Mask{Mixed: true})
		}
		switch {
		case m.Count() == 0:
		case shapes[k] == nil || int64(len(m.Bits)) != nd.Size(shapes[k]):
			sum = Join(sum, &Mask{Mixed: true})
		default:
			sum = Join(sum, c.follow(k, shapes, m, out))
		}
	}
	return sum
}

// Join is the mask of what depends on either.
func Join(a, b *Mask) *Mask {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	sum := &Mask{Mixed: a.Mixed || b.Mixed, Bits: slices.Clone(a.Bits)}
	switch {
	case len(a.Bits) == 0:
		sum.Bits = b.Bits
	case len(b.Bits) == len(a.Bits):
		for i, set := range b.Bits {
			sum.Bits[i] = sum.Bits[i] || set
		}
	case len(b.Bits) > 0:
		return &Mask{Mixed: true}
	}
	return sum
}

func (c *Call) follow(k int, shapes [][]int64, m *Mask, out []int64) *Mask {
	in, all := shapes[k], &Mask{Mixed: true}
	made := &Mask{Bits: make([]bool, nd.Size(out))}
	switch row := catalogue.Of(c.Type); {
	case row.Traits&catalogue.Straight != 0 && nd.Size(in) == nd.Size(out):
		copy(made.Bits, m.Bits)
	case row.Spread == "element":
		place := spread(in, out)
		if place == nil {
			return all
		}
		for i := range made.Bits {
			made.Bits[i] = m.Bits[place(int64(i))]
		}
	case row.Spread == "transpose":
		perm := c.attributes("perm")
		if len(perm) != len(in) || len(out) != len(in) {
			return all
		}
		steps := make([]int64, len(in))
		for d, step := range nd.Strides(in) {
			for i, p := range perm {
				if p == int64(d) {
					steps[i] = step
				}
			}
		}
		for i := range made.Bits {
			at := nd.Restep(int64(i), out, steps)
			if at >= int64(len(m.Bits)) {
				return all
			}
			made.Bits[i] = m.Bits[at]
		}
	case row.Spread == "lookup" && k == 1 && len(in) <= len(out) && slices.Equal(in, out[:len(in)]) && c.attribute(0, "axis") == 0 && c.attribute(0, "batch_dims") == 0:
		row := nd.Size(out[len(in):])
		for i := range made.Bits {
			made.Bits[i] = m.Bits[int64(i)/row]
		}
	case (row.Spread == "rows" || row.Spread == "slice") && (k == 0 || row.Traits&catalogue.Product == 0):
		depth := c.kept(in, out)
		if depth == 0 {
			return all
		}
		inner, outer := nd.Size(in[depth:]), nd.Size(out[depth:])
		for i, b := range m.Bits {
			if b {
				row := int64(i) / inner
				for j := row * outer; j < (row+1)*outer; j++ {
					made.Bits[j] = true
				}
			}
		}
	default:
		return all
	}
	return made
}

// kept is how many leading axes an operator keeps apart: those before the first
// that it works along, or whose size changes.
func (c *Call) kept(in, out []int64) int {
	depth := 0
	for depth < min(len(in), len(out)) && in[depth] == out[depth] {
		depth++
	}
	last := len(in) - 1
	axes := c.attributes("axes")
	if len(axes) == 0 {
		for _, key := range []string{"begin_norm_axis", "dimension", "axis", "dim", "concat_dim", "split_dim"} {
			if a := c.attribute(1<<40, key); a != 1<<40 {
				axes = append(axes, a)
			}
		}
	}
	for _, a := range axes {
		if d, ok := axisOf(a, len(in)); ok {
			last = min(last, d)
		}
	}
	if catalogue.Of(c.Type).Spread == "slice" {
		return depth
	}
	return min(depth, max(last, 0))
}

func (c *Call) attributes(key string) []int64 {
	if c.Op == nil {
		return nil
	}
	return c.Op.Attr(key).Ints()
}
