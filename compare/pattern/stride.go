package pattern

// StrideIgnored are numbers taken one after another where every second, third … was meant, and StrideDoubled
// those taken too far apart.
const (
	StrideIgnored Kind = "stride-ignored"
	StrideDoubled Kind = "stride-doubled"
)

// Stride belongs to StrideIgnored and StrideDoubled: what is expected at i was recorded at i·By, or what is
// expected at i·By was recorded at i.
type Stride struct {
	Axes []int `json:"axes"` // one, or H and W
	By   int64 `json:"by"`
}

const (
	strideMost  = 4 // the largest stride that is tried: larger ones leave few elements in both orders
	stridePlace = 4 // places along an axis that both orders have, at least: of fewer any two slices exchanged are a stride
)

// strided tries strides along every axis and along both of an image. Only the elements that
// both orders have can tell, one in By along each axis: these must be right, and are what it explains.
func strided(l *look) (found []Finding) {
	sets := [][]int{}
	for a := range l.shape {
		sets = append(sets, []int{a})
	}
	if axes := l.imageAxes(); len(axes) == 2 {
		sets = append(sets, axes)
	}
	for _, axes := range sets {
		for by := int64(2); by <= strideMost && l.shape[axes[0]] >= stridePlace*by && l.shape[axes[len(axes)-1]] >= stridePlace*by; by++ {
			for _, kind := range []Kind{StrideIgnored, StrideDoubled} {
				m := l.stride(axes, by)
				if kind == StrideDoubled {
					m.from, m.to = m.to, m.from
				}
				f, ok := l.partly(m)
				found = append(found, l.told(ok, kind, Stride{axes, by}, f)...)
			}
		}
	}
	return found
}

// stride is the mapping of numbers taken one after another.
func (l *look) stride(axes []int, by int64) mapping {
	return mapping{
		from: func(i int64) int64 {
			out := i
			for _, a := range axes {
				c := i / l.step[a] % l.shape[a]
				if c%by != 0 {
					return -1
				}
				out -= (c - c/by) * l.step[a]
			}
			return out
		},
		to: func(j int64) int64 {
			out := j
			for _, a := range axes {
				c := j / l.step[a] % l.shape[a]
				if c*by >= l.shape[a] {
					return -1
				}
				out += (c*by - c) * l.step[a]
			}
			return out
		},
	}
}

// partly judges a mapping on the elements that it has a counterpart for, alone.
func (l *look) partly(m mapping) (fit, bool) {
	if l.At != nil {
		return fit{}, false
	}
	measure := func(pick []int) fit {
		var f fitter
		for _, p := range pick {
			i := m.from(int64(p))
			if i < 0 || i >= l.total || i == int64(p) {
				continue
			}
			if e, ok := l.error(p); ok && l.Want[i]-l.Want[i] == 0 {
				f.add(e, l.got[p]-l.Want[i], l.allowed(p), l.rounding(p), l.dense)
			}
		}
		return f.done()
	}
	// A first look at some, as most mappings are none.
	some := l.pick
	if n := len(some) / 4096; n > 1 {
		some = nil
		for i := 0; i < len(l.pick); i += n {
			some = append(some, l.pick[i])
		}
	}
	if f := measure(some); f.tried < 8 || 2*f.improved < f.tried {
		return f, false
	}
	f := measure(l.pick)
	ok := f.holds(0.9, 0, 2*strideMost*int64(len(l.shape)+1))
	f.explained *= min(1, float64(f.tried)/float64(max(1, l.affected()))*float64(len(l.Want))/float64(max(1, len(l.pick))))
	return f, ok
}
