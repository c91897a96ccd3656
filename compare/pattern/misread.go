package pattern

import "strings"

// LayoutMisread is a device layout taken for the plain one, or the other way round.
const LayoutMisread Kind = "layout-misread"

// Misread belongs to LayoutMisread.
type Misread struct {
	Layout string `json:"layout"` // the device layout: NC1HWC0, FRACTAL_NZ or FRACTAL_Z
	Block  int64  `json:"block"`
	// Raw: the recorded numbers are the blocks as they lie in memory, taken for rows. Else
	// rows were taken for blocks.
	Raw bool `json:"raw"`
}

// digit is a part of an axis: all of it, the number of its block, or the place in the block.
type digit struct {
	axis  int
	size  int64 // how many there are
	scale int64 // how far one goes along the axis
}

// blocked is a device layout, outermost digit first.
type blocked []digit

// deviceLayouts are those the shape allows.
func (l *look) deviceLayouts() map[string]blocked {
	k := len(l.shape)
	out := map[string]blocked{}
	whole := func(a int) digit { return digit{a, l.shape[a], 1} }
	outer := func(a int, b int64) digit { return digit{a, (l.shape[a] + b - 1) / b, b} }
	inner := func(a int, b int64) digit { return digit{a, b, 1} }
	if k == 4 {
		n, c, h, w := 0, 1, 2, 3
		if i := strings.IndexByte(l.Axes, 'C'); i == 3 {
			c, h, w = 3, 1, 2
		}
		b := l.block(c)
		out["NC1HWC0"] = blocked{whole(n), outer(c, b), whole(h), whole(w), inner(c, b)}
		out["FRACTAL_Z"] = blocked{outer(c, b), whole(h), whole(w), outer(n, 16), inner(n, 16), inner(c, b)}
	}
	if k >= 2 {
		b := l.block(k - 1)
		var z blocked
		for a := range k - 2 {
			z = append(z, whole(a))
		}
		out["FRACTAL_NZ"] = append(z, outer(k-1, b), outer(k-2, 16), inner(k-2, 16), inner(k-1, b))
	}
	return out
}

// place is where the element with flat index j lies in the device layout.
func (d blocked) place(l *look, j int64) int64 {
	out := int64(0)
	for _, g := range d {
		i := j / l.step[g.axis] % l.shape[g.axis]
		out = out*g.size + i/g.scale%g.size
	}
	return out
}

// element is what lies at a place of the device layout; negative for padding.
func (d blocked) element(l *look, i int64) int64 {
	var at [8]int64
	for k := len(d) - 1; k >= 0; k-- {
		g := d[k]
		at[g.axis] += i % g.size * g.scale
		i /= g.size
	}
	if i > 0 {
		return -1
	}
	out := int64(0)
	for a, d := range l.shape {
		if at[a] >= d {
			return -1
		}
		out += at[a] * l.step[a]
	}
	return out
}

// layoutMisread tries every device layout the shape allows, in both directions.
func layoutMisread(l *look) (found []Finding) {
	if len(l.shape) > 8 {
		return nil
	}
	for name, d := range l.deviceLayouts() {
		place := func(j int64) int64 { return d.place(l, j) }
		element := func(i int64) int64 { return d.element(l, i) }
		for _, raw := range []bool{true, false} {
			m := mapping{from: element, to: place}
			if !raw {
				m = mapping{from: place, to: element}
			}
			block := d[len(d)-1].size
			found = append(found, l.mapped(LayoutMisread, Misread{name, block, raw}, m, 6)...)
		}
	}
	return found
}
