package pattern

import "math"

// Clipped are numbers cut off at a limit that is not the type's.
const Clipped Kind = "clipped"

// Clip belongs to Clipped: what lies outside [Low, High] was recorded as the nearer of them.
// Elements are those at Low where less, or at High where more is expected. A side without any is not
// limited: -math.MaxFloat64 or math.MaxFloat64.
type Clip struct {
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	Elements int64   `json:"elements"`
}

// clipped takes the range of the recorded numbers for the limits. At least 4 elements must
// have been cut off; without the cut the range of the expected numbers is larger.
func clipped(l *look) []Finding {
	c := Clip{Low: math.Inf(1), High: math.Inf(-1)}
	for _, g := range l.got {
		if g-g == 0 {
			c.Low, c.High = min(c.Low, g), max(c.High, g)
		}
	}
	if !(c.Low < c.High) {
		return nil
	}
	low, high := 0, 0
	for p, w := range l.Want {
		if math.Abs(l.got[p]-w) <= l.allowed(p) {
			continue
		}
		if l.got[p] == c.High && w > c.High {
			high++
		} else if l.got[p] == c.Low && w < c.Low {
			low++
		}
	}
	if low == 0 {
		c.Low = -math.MaxFloat64
	}
	if high == 0 {
		c.High = math.MaxFloat64
	}
	if c.Elements = int64(low + high); c.Elements < 4 || c.Low == 0 && high == 0 { // a relu is told as such
		return nil
	}
	f := l.judge(func(p int) float64 { return min(max(l.Want[p], c.Low), c.High) })
	return l.told(f.holds(0.7, 1, 1), Clipped, c, f)
}
