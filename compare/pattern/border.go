package pattern

import (
	"math"
	"slices"
	"strings"
)

// Border is an error along the edges of an image only: of what a convolution or pooling takes
// for the numbers outside.
const Border Kind = "border"

// Margin belongs to Border.
type Margin struct {
	Axes  []int   `json:"axes"`
	Width int64   `json:"width"` // elements from the nearest edge
	Share float64 `json:"share"` // of the elements in the margin, those beyond
	Of    float64 `json:"of"`    // of the tensor, the margin
}

const marginMost = 4

// border looks at how far the elements beyond are from the nearest edge of H and W (the last
// two axes where axes have no names). All but half a percent must be near, and at least
// 16, where by chance a share Of of them would be.
func border(l *look) []Finding {
	axes := l.imageAxes()
	if len(axes) == 0 || l.beyond < 16 || l.everywhere() {
		return nil
	}
	edge := func(at []int64) int64 {
		d := int64(math.MaxInt64)
		for _, a := range axes {
			d = min(d, at[a], l.shape[a]-1-at[a])
		}
		return d
	}
	var count [marginMost + 1]int64
	var square [marginMost + 1]float64
	l.eachBeyond(func(_ int, e float64, at []int64) {
		d := min(edge(at), marginMost)
		count[d]++
		square[d] += e * e
	})
	near, in := int64(0), 0.0
	for w := range int64(marginMost) {
		near += count[w]
		in += square[w]
		if near < l.beyond-l.beyond/200 {
			continue
		}
		m := Margin{Axes: axes, Width: w + 1}
		inner, all := 1.0, 1.0
		for _, a := range axes {
			all *= float64(l.shape[a])
			inner *= float64(max(0, l.shape[a]-2*(w+1)))
		}
		m.Of = 1 - inner/all
		m.Share = float64(near) / (m.Of * float64(len(l.Want)))
		if m.Of > 0.6 || float64(l.beyond)*-math.Log(m.Of) < 14 || m.Share < 0.05 || l.oneEdge(axes) {
			return nil
		}
		return []Finding{{Kind: Border, Args: m, Explained: in / l.sumBeyond, Left: l.worst, Elements: near}}
	}
	return nil
}

// imageAxes are H and W.
func (l *look) imageAxes() []int {
	k := len(l.shape)
	axes := []int{k - 2, k - 1}
	if len(l.Axes) == k {
		h, w := strings.IndexByte(l.Axes, 'H'), strings.IndexByte(l.Axes, 'W')
		if h < 0 || w < 0 {
			return nil
		}
		axes = []int{h, w}
	} else if k < 3 {
		return nil
	}
	for _, a := range axes {
		if l.shape[a] < 6 {
			return nil
		}
	}
	return axes
}

// oneEdge reports whether the errors stay on one side of the image: a region says more.
func (l *look) oneEdge(axes []int) bool {
	r := l.region()
	return slices.ContainsFunc(axes, func(a int) bool { return r.To[a]-r.From[a] < l.shape[a]-marginMost })
}
