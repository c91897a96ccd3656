package oracle

import (
	"math"
	"slices"

	"precision/dump/dtype"
	"precision/dump/msprobe"
	catalogue "precision/op"
)

// Of a call that only statistics were recorded of there is little to say, but this: what
// an element of the result is made of is known to lie between the recorded minima and
// maxima of the arguments, so that the result has to lie in a range, too. It is looked at
// for functions of the elements in one place only, as statistics may be those of parts
// of tensors; a result in its range is not known to be right.

// interval is a range of numbers.
type interval struct{ lo, hi float64 }

var anything = interval{math.Inf(-1), math.Inf(1)}

// corners is the range of a function of two numbers that is monotonic in each.
func corners(x, z interval, f func(a, b float64) float64) interval {
	out := interval{math.Inf(1), math.Inf(-1)}
	for _, a := range []float64{x.lo, x.hi} {
		for _, b := range []float64{z.lo, z.hi} {
			y := f(a, b)
			if math.IsNaN(y) {
				return anything
			}
			out.lo, out.hi = min(out.lo, y), max(out.hi, y)
		}
	}
	return out
}

// ranges are those of functions of one tensor that are no formulas, from the range of that.
var ranges = map[string]func(k *invocation, x interval) interval{
	"softmax":     func(*invocation, interval) interval { return interval{0, 1} },
	"log_softmax": func(*invocation, interval) interval { return interval{math.Inf(-1), 0} },
	"clone":       func(_ *invocation, x interval) interval { return x },
	"contiguous":  func(_ *invocation, x interval) interval { return x },
	"clamp": func(k *invocation, x interval) interval {
		lo, hi := k.args["min"], k.args["max"]
		if lo.tensor() || hi.tensor() {
			return anything
		}
		if v, ok := lo.number(); ok {
			x = interval{max(x.lo, v), max(x.hi, v)}
		}
		if v, ok := hi.number(); ok {
			x = interval{min(x.lo, v), min(x.hi, v)}
		}
		return x
	},
}

// formulaRange is where a function of one number, that is a formula, lies over a range: its values at the ends and in
// between. What may lie between two of these where it rises before and falls behind is allowed for by its slope.
func formulaRange(row *catalogue.Row, k *invocation, x interval) interval {
	if row.Range != [2]float64{} {
		return interval{row.Range[0], row.Range[1]}
	}
	f, out := k.slope(row), interval{math.Inf(1), math.Inf(-1)}
	take := func(y float64) { out.lo, out.hi = min(out.lo, y), max(out.hi, y) }
	// Activations bend near 0, where the steps are small.
	const steps, near = 2048, 64.0
	points := []float64{x.lo}
	for i := range steps + 1 {
		lo, hi := max(x.lo, -near), min(x.hi, near)
		if p := lo + (hi-lo)*float64(i)/steps; p >= x.lo && p <= x.hi && p > points[len(points)-1] {
			points = append(points, p)
		}
	}
	before, slope := f(points[0])
	take(before)
	for i, p := range append(points, x.hi)[1:] {
		y, s := f(p)
		if take(y); s*slope < 0 {
			off := max(abs(s), abs(slope)) * (p - points[i])
			take(max(before, y) + off)
			take(min(before, y) - off)
		}
		before, slope = y, s
	}
	if math.IsNaN(out.lo) || math.IsNaN(out.hi) {
		return anything // not defined in all of the range
	}
	return out
}

// pairRanges are those of functions of two tensors or numbers.
var pairRanges = map[string]func(alpha float64, x, z interval) interval{
	"add": func(k float64, x, z interval) interval {
		return corners(x, z, func(a, b float64) float64 { return a + k*b })
	},
	"sub": func(k float64, x, z interval) interval {
		return corners(x, z, func(a, b float64) float64 { return a - k*b })
	},
	"mul": func(_ float64, x, z interval) interval {
		return corners(x, z, func(a, b float64) float64 { return a * b })
	},
	"maximum": func(_ float64, x, z interval) interval { return corners(x, z, math.Max) },
	"minimum": func(_ float64, x, z interval) interval { return corners(x, z, math.Min) },
}

// rangeOf is what was recorded of a tensor of floating point, or a number; false if
// that is not known, or not finite.
func (a *argument) rangeOf() (interval, bool) {
	if a == nil || a.v == nil {
		return anything, false
	}
	if !a.tensor() {
		x, ok := a.number()
		return interval{x, x}, ok && !math.IsNaN(x) && !math.IsInf(x, 0)
	}
	hi, ok := a.v.Max.Value()
	lo, ok2 := a.v.Min.Value()
	finite := ok && ok2 && lo <= hi && !math.IsInf(lo, 0) && !math.IsInf(hi, 0)
	return interval{lo, hi}, finite && a.v.Known && !discrete(a.v.Elem) && computes(a.v.Elem)
}

// statisticsOnly says what there is to say of a call whose results have statistics and
// no elements.
func (c *recordedCall) statisticsOnly(r *recorded, f *Finding) {
	out := r.flat[f.Index]
	reason := because(NoElements, "output "+itoa(f.Index))
	have, ok := out.rangeOf()
	allowed, known := c.allowedRange(r)
	if !ok || !known || f.Index != 0 {
		unknown(f, reason)
		return
	}
	p := precisionFor(out.v.Elem)
	// The numbers of a device are off by some units, those of a CPU in its narrow types
	// by some of these.
	slack := func(x float64) float64 { return 16*max(p.v, u32)*abs(x) + 2*p.t }
	for _, s := range []struct {
		name string
		x    float64
	}{{"Max", have.hi}, {"Min", have.lo}} {
		if s.x > allowed.hi+slack(allowed.hi) || s.x < allowed.lo-slack(allowed.lo) {
			f.Verdict, f.Found = Wrong, s.x
			f.Reasons = append(f.Reasons, because(OutOfRange, s.name, s.x, allowed.lo, allowed.hi))
			return
		}
	}
	unknown(f, reason, because(InRange))
}

// allowedRange is where the elements of the first result have to lie.
func (c *recordedCall) allowedRange(r *recorded) (interval, bool) {
	if c.Parsed.Direction != msprobe.Forward || c.Parsed.Form != msprobe.API {
		return anything, false
	}
	fn, base, _, swapped := called(c.Parsed.Prefix, c.Parsed.API, c.of.header.Framework)
	if fn == nil {
		return anything, false
	}
	args, _, err := bind(fn, r, swapped)
	if err != nil {
		return anything, false
	}
	k := &invocation{Call: &Call{}, args: args, params: fn.params}
	x, ok := args["input"].rangeOf()
	if !ok || args["input"].v.Elem == dtype.Float64 {
		return anything, false
	}
	out := anything
	if row := catalogue.Of(base); row.Formula != nil && len(row.Formula.Operands) == 1 {
		list, err := attempt(func() interval { return formulaRange(row, k, x) })
		if out = list; err != nil {
			return anything, false
		}
	} else if f := ranges[base]; f != nil {
		out = f(k, x)
	} else if f := pairRanges[base]; f != nil {
		z, ok := args["other"].rangeOf()
		alpha := 1.0
		if slices.Contains(fn.params, "alpha") && k.has("alpha") {
			alpha, _ = args["alpha"].number()
		}
		if !ok || math.IsNaN(alpha) {
			return anything, false
		}
		out = f(alpha, x, z)
		// Sums are off by what their terms are rounded to, however small they get.
		widest := max(abs(x.lo), abs(x.hi)) + abs(alpha)*max(abs(z.lo), abs(z.hi))
		if base == "add" || base == "sub" {
			p := precisionFor(args["input"].v.Elem)
			out.lo, out.hi = out.lo-4*max(p.v, u32)*widest, out.hi+4*max(p.v, u32)*widest
		}
	}
	return out, out != anything && !math.IsNaN(out.lo) && !math.IsNaN(out.hi)
}
