package pattern

import "math"

// Numbers that are none.
const (
	NaN    Kind = "nan"    // NaN (and perhaps Inf) where a number is expected
	Inf    Kind = "inf"    // Inf, and no NaN, where a number is expected
	Finite Kind = "finite" // a number where NaN or Inf is expected
)

// Cause is where NaN or Inf come from, judged by the operands at the same places.
type Cause string

// Causes. The empty one: the operands do not tell.
const (
	ZeroByZero     Cause = "0/0"
	InfMinusInf    Cause = "inf-inf"
	ZeroTimesInf   Cause = "0*inf"
	DividedByZero  Cause = "x/0"
	FromOperand    Cause = "operand"         // an operand is NaN or Inf there
	ExpOverflow    Cause = "exp-overflow"    // exactly where e^x leaves the type
	SquareOverflow Cause = "square-overflow" // exactly where x² leaves the type
	Overflow       Cause = "overflow"        // exactly where the largest operands are
)

// NonFinite belongs to NaN, Inf and Finite.
type NonFinite struct {
	NaN    int64   `json:"nan"`
	Inf    int64   `json:"inf"`
	Hidden int64   `json:"hidden"` // numbers for NaN or Inf
	First  []int64 `json:"first"`
	Region Region  `json:"region"`

	Cause     Cause   `json:"cause,omitempty"`
	Operand   string  `json:"operand,omitempty"`   // name of the operand the cause was seen in
	Share     float64 `json:"share,omitempty"`     // of the elements, those the cause explains
	Threshold float64 `json:"threshold,omitempty"` // for overflows: the least operand at an element concerned
}

func nonFinite(l *look) (found []Finding) {
	if l.nan+l.inf > 0 {
		a := NonFinite{NaN: l.nan, Inf: l.inf}
		l.describe(&a, l.lost)
		l.blame(&a)
		kind := NaN
		if l.nan == 0 {
			kind = Inf
		}
		found = append(found, Finding{Kind: kind, Args: a, Explained: 1, Elements: l.nan + l.inf})
	}
	if l.hidden > 0 {
		a := NonFinite{Hidden: l.hidden}
		l.describe(&a, func(p int) (float64, bool) {
			g, w := l.got[p], l.Want[p]
			return 0, w-w != 0 && g-g == 0 && !l.saturates(g, w) && !(l.zeroed > 0 && w != w && g == 0)
		})
		found = append(found, Finding{Kind: Finite, Args: a, Explained: 1, Elements: l.hidden})
	}
	return found
}

// lost keeps the elements that are NaN or Inf for a number.
func (l *look) lost(p int) (float64, bool) {
	g, w := l.got[p], l.Want[p]
	return 0, g-g != 0 && g != w && !(g != g && w != w) && !l.saturates(g, w) && !l.overflowsRightly(p)
}

func (l *look) describe(a *NonFinite, keep func(int) (float64, bool)) {
	a.Region = l.locate(keep)
	l.each(keep, func(_ int, _ float64, at []int64) {
		if a.First == nil {
			a.First = append([]int64(nil), at...)
		}
	})
}

// blame looks for the cause in the operands: first one that the two of an element
// make together, then a threshold that separates what was lost from what was not.
func (l *look) blame(a *NonFinite) {
	var fit []Tensor
	for _, t := range l.Operands {
		if n := len(t.Values); n > 0 && (n == len(l.Want) || n == 1) {
			fit = append(fit, t)
		}
	}
	at := func(t Tensor, p int) float64 { return t.Values[p%len(t.Values)] }
	lost := float64(a.NaN + a.Inf)
	counts := map[Cause]float64{}
	for p := range l.Want {
		if _, ok := l.lost(p); !ok || len(fit) == 0 {
			continue
		}
		x, y := at(fit[0], p), at(fit[len(fit)-1], p)
		counts[together(x, y, len(fit) > 1, l.got[p])]++
	}
	for _, c := range []Cause{FromOperand, ZeroByZero, InfMinusInf, ZeroTimesInf, DividedByZero} {
		if s := counts[c] / lost; s >= 0.5 && s > a.Share {
			a.Cause, a.Share = c, s
		}
	}
	for _, t := range fit {
		if a.Cause == "" && len(t.Values) == len(l.Want) {
			l.separates(a, t)
		}
	}
}

// together is what IEEE arithmetic makes of two operands to give got.
func together(x, y float64, two bool, got float64) Cause {
	nan := got != got
	switch {
	case x != x || two && y != y:
		return FromOperand
	case !two && math.IsInf(x, 0):
		return FromOperand
	case !two:
		return ""
	case nan && x == 0 && y == 0:
		return ZeroByZero
	case nan && math.IsInf(x, 0) && math.IsInf(y, 0):
		return InfMinusInf
	case nan && (x == 0 && math.IsInf(y, 0) || y == 0 && math.IsInf(x, 0)):
		return ZeroTimesInf
	case !nan && (math.IsInf(x, 0) || math.IsInf(y, 0)):
		return FromOperand
	case !nan && y == 0 && x != 0:
		return DividedByZero
	}
	return ""
}

// separates looks for a threshold: every element lost has a larger operand than every
// one that was not. Where a row is lost as a whole, as by a softmax, its largest counts.
func (l *look) separates(a *NonFinite, t Tensor) {
	for _, size := range []func(float64) float64{func(v float64) float64 { return v }, math.Abs} {
		low, high := math.Inf(1), math.Inf(-1) // least of the lost, largest of the others
		row := l.shape[len(l.shape)-1]
		if l.At != nil || row < 2 {
			row = 1
		}
		peak, bad := math.Inf(-1), false
		least, largest := math.Inf(1), math.Inf(-1)
		for p := range l.Want {
			v := size(t.Values[p])
			_, is := l.lost(p)
			if is {
				least = min(least, v)
			} else {
				largest = max(largest, v)
			}
			peak, bad = max(peak, v), bad || is
			if int64(p+1)%row == 0 {
				if bad {
					low = min(low, peak)
				} else {
					high = max(high, peak)
				}
				peak, bad = math.Inf(-1), false
			}
		}
		if least > largest {
			low, high = least, largest
		}
		if low > high && low-low == 0 && !math.IsInf(high, -1) {
			a.Cause, a.Operand, a.Share, a.Threshold = Overflow, t.Name, 1, low
			limit := l.num.limit()
			exp, root := math.Log(limit), math.Sqrt(limit)
			isExp, isSquare := low >= exp && high <= exp, low >= root && high <= root
			if isExp && !isSquare {
				a.Cause = ExpOverflow
			} else if isSquare && !isExp {
				a.Cause = SquareOverflow
			}
			return
		}
	}
}
