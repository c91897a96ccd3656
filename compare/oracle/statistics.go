package oracle

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"precision/compare/result"
	"precision/dump/dtype"
	"precision/dump/monitor"
	"precision/dump/msprobe"
	"precision/internal/each"
	"precision/internal/must"
	catalogue "precision/op"
)

// What statistics tell where no elements were recorded. Max, Min, Mean and Norm of arguments say
// where results have to lie; a result within is not known to be right. And whatever else was
// recorded, they tell where numbers that are none came from.

// interval is a range of numbers.
type interval struct{ lo, hi float64 }

var anything = interval{math.Inf(-1), math.Inf(1)}

// corners is the range of a function of two numbers that is monotonic in each.
// Its extremes are at the corners of the two ranges; NaN at one (∞ − ∞) leaves everything possible.
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

// formulaRange is where a function of one number, that is a formula, lies over a range: its values
// at the ends and in between. What may lie between two of these where it rises before and falls
// behind is allowed for by its slope.
func formulaRange(row *catalogue.Row, k *invocation, x interval) interval {
	f, out := k.slope(row), interval{math.Inf(1), math.Inf(-1)}
	take := func(y float64) { out.lo, out.hi = min(out.lo, y), max(out.hi, y) }
	// Activations bend near 0, where the steps are small.
	// A step is 1/16, within which an activation with a slope of about 1 rises by as little.
	const steps, near = 2048, 64.0
	points := []float64{x.lo}
	for i := range steps + 1 {
		lo, hi := max(x.lo, -near), min(x.hi, near)
		if p := lo + (hi-lo)*float64(i)/steps; p >= x.lo && p <= x.hi && p > points[len(points)-1] {
			points = append(points, p)
		}
	}
	// Where the slope changes its sign there is an extreme between, no further off than the larger
	// slope times the step.
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

// within is the range of an argument, without which nothing can be claimed.
func (a *argument) within() interval {
	x, ok := a.rangeOf()
	unclaimed(!ok)
	return x
}

// unclaimed ends the making of a claim where there is none.
func unclaimed(bad bool) { refuseIf(bad, NoStatistics) }

// claim is what the arguments of a call say of its results.
type claim struct {
	each interval // of the elements
	norm float64  // the most that it may be; Inf where that is not known
	all  bool     // of all results of the type of the arguments, not of the first alone
	full bool     // nothing but zeros is no likely result
}

// statisticsOnly says what there is to say of a result that has statistics and no elements: claim, if known, is what the arguments of
// the call allow.
func (c *recordedCall) statisticsOnly(r *recorded, f *Finding, claim claim, known bool) {
	out := r.flat[f.Index]
	have, finite := out.rangeOf()
	if !finite || !known || f.Index != 0 && !claim.all {
		unknown(f, because(NoElements, "output "+itoa(f.Index)), statisticsLeft(out))
		return
	}
	p := precisionFor(out.v.Elem)
	// The numbers of a device are off by some units, those of a CPU in its narrow types by some of
	// these. 16 units: the last rounding, some operations of functions, and a CPU that rounds
	// between them.
	slack := func(x float64) float64 { return 16*max(p.v, u32)*abs(x) + 2*p.t }
	norm, normed := out.v.Norm.Value()
	lo, hi := claim.each.lo-slack(claim.each.lo), claim.each.hi+slack(claim.each.hi)
	wrong := func(name string, x, least, most float64) {
		f.Verdict, f.Found = Wrong, x
		f.Reasons = append(f.Reasons, because(OutOfRange, name, x, least, most))
	}
	// A norm of n elements, each of which is off by the slack, is off by √n of it.
	switch n := math.Sqrt(float64(max(f.Elements, 1))); {
	case have.hi > hi || have.hi < lo:
		wrong("Max", have.hi, claim.each.lo, claim.each.hi)
	case have.lo > hi || have.lo < lo:
		wrong("Min", have.lo, claim.each.lo, claim.each.hi)
	case normed && norm > claim.norm*(1+n*16*max(p.v, u32))+n*2*p.t:
		wrong("Norm", norm, 0, claim.norm)
	case c.kept(r, f):
	case claim.full && have.hi == 0 && have.lo == 0 && f.Elements > 1:
		f.Verdict = Suspect
		f.Reasons = append(f.Reasons, because(AllZero))
	case claim.each == anything:
		unknown(f, because(NoElements, "output "+itoa(f.Index)), because(Finite))
	default:
		unknown(f, because(NoElements, "output "+itoa(f.Index)), because(InRange))
	}
}

// statisticsLeft is what is left to say of a result of which no range is known.
func statisticsLeft(out *argument) result.Reason {
	switch hi, ok := out.v.Max.Value(); {
	case !ok:
		return because(NoStatistics)
	case notNumber(out.v) == "":
		return because(Finite)
	default:
		return because(Holds, notNumber(out.v), hi)
	}
}

// kept holds what keeps all elements of its arguments, in any order, to their statistics, and tells
// if that was to be said. Reshapes, permutations, casts and whatever has the law "elements" in its
// row keep count, extremes, sum and sum of squares; a cast rounds the extremes. Only dumps of
// statistics are looked at, since statistics beside elements may be of parts.
func (c *recordedCall) kept(r *recorded, f *Finding) bool {
	row := catalogue.Of(c.Parsed.API)
	form := ""
	if call := row.Calls[""]; call != nil {
		form = call.Form
	}
	if c.of.header.Task != "statistics" || row.Law != "elements" && form != "cast" && form != "reshape" && form != "permute" {
		return false
	}
	unit := u32
	// sizes are the number of elements of some tensors, their extremes, their sum and the sum of
	// their squares.
	sizes := func(list []*argument) (s [5]float64, ok bool) {
		s[1], s[2] = math.Inf(1), math.Inf(-1)
		for _, a := range list {
			x, known := statsOf(a)
			n := float64(elementsOfArgument(a))
			if _, ranged := a.rangeOf(); !known || !ranged || n <= 0 {
				return s, false
			}
			unit = max(unit, precisionFor(a.v.Elem).v)
			s[0], s[1], s[2], s[3], s[4] = s[0]+n, min(s[1], x[1]), max(s[2], x[0]), s[3]+n*x[2], s[4]+x[3]*x[3]
		}
		return s, len(list) > 0
	}
	var in []*argument
	for _, a := range r.args {
		a.each(func(a *argument) { in = append(in, a) })
	}
	x, ok := sizes(in)
	y, ok2 := sizes(r.flat)
	if !ok || !ok2 || x[0] != y[0] || f.Index != 0 {
		return false
	}
	// The recorder adds up in the type or in float32, in any order, and a cast rounds.
	rounding := 0.0
	if in[0].v.Elem != r.flat[0].v.Elem {
		rounding = unit
	}
	sum := (4 + 2*math.Log2(x[0])) * unit
	norm, other := math.Sqrt(x[4]), math.Sqrt(y[4])
	for _, s := range []struct {
		name              string
		was, is, distance float64
	}{
		{"Max", x[2], y[2], rounding * abs(x[2])}, {"Min", x[1], y[1], rounding * abs(x[1])},
		{"Mean", x[3] / x[0], y[3] / x[0], 2 * sum * norm / math.Sqrt(x[0])}, {"Norm", norm, other, 2 * sum * norm},
	} {
		if abs(s.is-s.was) > s.distance+2*precisionFor(r.flat[0].v.Elem).t {
			f.Verdict, f.Found, f.Expected = Wrong, s.is, s.was
			f.Reasons = append(f.Reasons, because(NotKept, s.name, s.was, s.is))
			return true
		}
	}
	return false
}

// claim is what the arguments allow, false if nothing is known of that.
func (c *recordedCall) claim(r *recorded) (claim, bool) {
	made, err := must.Of(func() claim {
		unclaimed(c.Parsed.Form != msprobe.API || c.Parsed.Direction == msprobe.Forward && c.unfilled())
		if c.Parsed.Direction != msprobe.Forward {
			return c.claimBack()
		}
		return c.claimForward(r)
	})
	return made, err == nil
}

// lies is the claim that elements are in a range.
func lies(x interval) claim { return claim{each: x, norm: math.Inf(1)} }

// claimForward is what there is to say of results.
func (c *recordedCall) claimForward(r *recorded) claim {
	fn, base, _, swapped := called(c.Parsed.Prefix, c.Parsed.API, c.of.header.Framework)
	unclaimed(fn == nil)
	args, _ := bind(fn, r, swapped)
	for _, name := range fn.params {
		args[name].each(func(a *argument) {
			unclaimed(a.v.Elem == dtype.Float64 || a.v.Placements() != nil || strings.HasSuffix(a.v.Type, "AsyncCollectiveTensor"))
		})
	}
	k := &invocation{Call: &Call{}, args: args, params: fn.params}
	row := catalogue.Of(base)
	if each, err := must.Of(func() interval { return c.allowedRange(k, base) }); err == nil {
		if row.Formula != nil && row.Traits&catalogue.Exact == 0 { // steps of it may cancel, and functions are off near 0
			off := 16 * u32 * max(row.Near, 1)
			each = interval{each.lo - off, each.hi + off}
		}
		return lies(each)
	}
	unclaimed(c.of.header.Task != "statistics") // those of elements that were recorded may be of parts of tensors
	switch {
	case row.Within != "":
		p, dropped := args["dropout_p"].number()
		unclaimed(dropped && p != 0 || k.has("divisor_override"))
		return lies(args[row.Within].within().and(0))
	case row.Traits&(catalogue.Moves|catalogue.Selects) != 0:
		return c.hull(k, r, row.Traits&catalogue.Moves == 0)
	case row.Traits&catalogue.Product != 0:
		return productClaim(k, base)
	case row.Does == "layer_norm" || row.Does == "rms_norm":
		return normClaim(k, args["input"])
	}
	unclaimed(row.Does != "sum" || !args["input"].tensor())
	x := args["input"].within()
	n, m := elementsOfArgument(args["input"]), elementsOfArgument(r.flat[0])
	unclaimed(m <= 0 || n%m != 0)
	// Of n numbers between the least and the largest, the sum is between n times these; it is
	// off by what they add up to rounds to. How many elements went into each of the result.
	times := float64(n / m)
	off := times * (times + 4) * u32 * max(abs(x.lo), abs(x.hi))
	if p := precisionFor(args["input"].v.Elem); p.v > u32 { // sums of a CPU in a narrow type
		off = math.Inf(1)
	}
	return lies(interval{times*x.lo - off, times*x.hi + off})
}

// and is a range with a further number.
func (x interval) and(v float64) interval { return interval{min(x.lo, v), max(x.hi, v)} }

// hull is where elements lie that are taken from arguments, or put in their places: 0, or a number
// that is an argument. Those of some functions may have the other sign.
func (c *recordedCall) hull(k *invocation, r *recorded, signs bool) claim {
	out := interval{0, 0}
	known := false
	for _, name := range k.params {
		a := k.args[name]
		unclaimed((name == "reduce" || name == "accumulate") && !a.none() || a.isText()) // which add, and words
		a.each(func(a *argument) {
			x, ok := a.rangeOf()
			unclaimed(!ok && !(a.v.Known && discrete(a.v.Elem)) || a.v.Elem != r.flat[0].v.Elem && !discrete(a.v.Elem))
			if ok {
				out, known = out.and(x.lo).and(x.hi), true
			}
		})
		if x, ok := a.number(); ok && !a.tensor() {
			out = out.and(x)
		}
	}
	if signs {
		out = out.and(-out.lo).and(-out.hi)
	}
	unclaimed(!known || strings.Contains(c.Parsed.API, "add"))
	return claim{each: out, norm: math.Inf(1), all: true}
}

// productClaim is what sums of products of two tensors may come to: no more than the product of
// their norms (Cauchy and Schwarz), of an element and, but for convolutions, of all of them. |Σ
// a·b| ≤ ‖a‖·‖b‖, and ‖A·B‖_F ≤ ‖A‖_F·‖B‖_F. Products of two tensors that hold something and give
// zeros alone are suspect (full).
func productClaim(k *invocation, base string) claim {
	var factors []*argument
	bias := interval{}
	for _, name := range k.params {
		switch a := k.args[name]; {
		case a.none():
		case name == "bias":
			bias = a.within()
		case a.tensor():
			factors = append(factors, a)
		default:
			unclaimed(a.v == nil && slices.ContainsFunc(a.list, (*argument).tensor))
		}
	}
	unclaimed(len(factors) != 2 || len(k.args) > 0 && (k.has("beta") || k.has("alpha") || k.has("scale")))
	most, full := 1.0, true
	for _, a := range factors {
		s, ok := statsOf(a)
		a.within()
		unclaimed(!ok)
		most, full = most*s[3], full && s[3] > 0
	}
	// Sums are in float32 at least, or in the type of a CPU; products of half a million terms in
	// float32 are off by 4 %.
	most *= 1.05
	c := lies(interval{-most + bias.lo, most + bias.hi})
	if bias == (interval{}) {
		if c.full = full; catalogue.Of(base).Does == "linear" {
			c.norm = most
		}
	}
	return c
}

// normClaim is where the rows of a norm lie: of n numbers with a mean square of 1 none is beyond
// the root of n.
// |x̂| ≤ √n as mean(x̂²) ≤ 1, so that |y| ≤ √n·max|w| + max|b|; 5 % for roundings in narrow types.
func normClaim(k *invocation, input *argument) claim {
	weight, bias, n := interval{1, 1}, interval{}, elementsOfArgument(input)
	if a := k.args["weight"]; !a.none() {
		weight, n = a.within(), elementsOfArgument(a)
	}
	if a := k.args["bias"]; !a.none() {
		bias = a.within()
	}
	input.within()
	unclaimed(n <= 0)
	most := 1.05 * math.Sqrt(float64(n)) * max(abs(weight.lo), abs(weight.hi)) // a CPU rounds on the way in a narrow type
	return lies(interval{-most + min(bias.lo, 0)*1.05, most + max(bias.hi, 0)*1.05})
}

// claimBack is what there is to say of gradients: those of products are not all zero where nothing
// that they are made of is.
func (c *recordedCall) claimBack() claim {
	forward := c.forward()
	row := catalogue.Of(c.Parsed.API)
	unclaimed(forward == nil || row.Traits&catalogue.Product == 0 || row.Does == "scaled_dot_product_attention")
	for _, list := range [][]msprobe.Value{c.Values, forward.Values} {
		for i := range list {
			v := &list[i]
			s, ok := statsOf(&argument{v: v})
			unclaimed(v.Section != msprobe.Output && v.Kind == msprobe.Tensor && (!ok || s[3] == 0))
		}
	}
	return claim{each: anything, norm: math.Inf(1), all: true, full: true}
}

// allowedRange is where the elements of the first result of a function of one place, or of two,
// have to lie.
func (c *recordedCall) allowedRange(k *invocation, base string) (out interval) {
	row := catalogue.Of(base)
	if row.Range != [2]float64{} {
		return interval{row.Range[0], row.Range[1]}
	}
	x := k.args["input"].within()
	if row.Formula != nil && len(row.Formula.Operands) == 1 {
		out = formulaRange(row, k, x)
	} else if f := ranges[base]; f != nil {
		out = f(k, x)
	} else {
		f, alpha := pairRanges[base], 1.0
		unclaimed(f == nil)
		z := k.args["other"].within()
		if slices.Contains(k.params, "alpha") && k.has("alpha") {
			alpha, _ = k.args["alpha"].number()
		}
		unclaimed(math.IsNaN(alpha))
		out = f(alpha, x, z)
		// Sums are off by what their terms are rounded to, however small they get.
		widest := max(abs(x.lo), abs(x.hi)) + abs(alpha)*max(abs(z.lo), abs(z.hi))
		if base == "add" || base == "sub" {
			p := precisionFor(k.args["input"].v.Elem)
			out.lo, out.hi = out.lo-4*max(p.v, u32)*widest, out.hi+4*max(p.v, u32)*widest
		}
	}
	unclaimed(out == anything || math.IsNaN(out.lo) || math.IsNaN(out.hi))
	return out
}

// Where numbers that are none came from
//
// In the order of the calls of a rank, step after step: a call that gives NaN or Inf, and took
// none, made it; what it took is of the last call that gave as many elements of it; and what no
// recorded call gave was there before. Masks of -Inf are none, but a product that gives it
// overflowed.

// notNumber is what the extremes of a tensor tell that it holds: NaN, Inf, -Inf or nothing of
// these.
func notNumber(v *msprobe.Value) string {
	hi, _ := v.Max.Value()
	lo, _ := v.Min.Value()
	switch {
	case v.Kind != msprobe.Tensor && v.Kind != msprobe.Array || v.Known && discrete(v.Elem):
	case v.Max.Kind == msprobe.Float && math.IsNaN(hi), v.Min.Kind == msprobe.Float && math.IsNaN(lo):
		return "NaN"
	case math.IsInf(hi, 1):
		return "Inf"
	case math.IsInf(lo, -1):
		return "-Inf"
	}
	return ""
}

// origins is what is known of NaN and Inf on a rank so far.
type origins struct {
	at   map[int64]string // the call that left it last, by the number of elements of the tensor
	last string
}

// leaves notes that a call left a tensor with NaN or Inf.
func (s *origins) leaves(v *msprobe.Value, call string) {
	if n, ok := v.Elements(); ok {
		s.at[n] = call
	}
	s.last = call
}

// takes is the first tensor that a call reads which holds NaN or Inf, nil if there is none; masked
// tells that some hold -Inf, and given is an argument that is NaN itself.
func (c *recordedCall) takes() (first, given *msprobe.Value, masked bool) {
	for i := range c.Values {
		v := &c.Values[i]
		switch {
		case v.Section == msprobe.Output, c.Parsed.Unfilled(v.Section, v.Path, c.Argument), catalogue.Is(c.Parsed.API, catalogue.Shaped) && v.Path == "0":
		case v.Kind == msprobe.Scalar || v.Kind == msprobe.Bare:
			if x, ok := v.Value.Value(); ok && math.IsNaN(x) && given == nil {
				given = v
			} else if ok && math.IsInf(x, 0) {
				masked = true
			}
		case notNumber(v) == "-Inf":
			masked = true
		case notNumber(v) != "" && first == nil:
			first = v
		}
	}
	return first, given, masked
}

// gives tells whether a result of a call holds NaN or Inf.
func (c *recordedCall) gives() bool {
	return slices.ContainsFunc(c.Values, func(v msprobe.Value) bool {
		return v.Section == msprobe.Output && notNumber(&v) != "" && notNumber(&v) != "-Inf"
	})
}

// trace tells of the outputs of calls that hold NaN or Inf where these came from.
func (r *recordedCalls) trace(from *origins, tell func(c *recordedCall, output int, why result.Reason)) {
	for _, c := range r.calls {
		first, given, masked := c.takes()
		if first == nil && given == nil && c.NaN != msprobe.Yes && !slices.ContainsFunc(c.Values, func(v msprobe.Value) bool { return notNumber(&v) != "" }) {
			continue
		}
		kind, args := c.cause(from, first, given, tell)
		output := -1
		for i := range c.Values {
			v := &c.Values[i]
			if v.Section != msprobe.Output {
				if (first != nil || given != nil) && v.Section == msprobe.Input && v.Path == "0" && catalogue.Is(c.Parsed.API, catalogue.Mends|catalogue.Fills) {
					from.leaves(v, c.name)
				}
				continue
			}
			output++
			what := notNumber(v)
			switch {
			case what == "", c.unfilled():
				continue
			case what == "-Inf" && (masked || kind != MadeHere || !catalogue.Is(c.Parsed.API, catalogue.Product)):
				continue // a mask, or the logarithm of 0
			case what == "Inf" && kind == MadeHere && masked:
				// An infinity that was given on purpose: calls behind it have it from there.
			case kind == MadeHere || args[len(args)-1] != c.name || output > 0:
				tell(c, output, because(kind, append([]any{what}, args...)...))
			}
			from.leaves(v, c.name)
		}
		if c.NaN == msprobe.Yes && from.last == "" {
			tell(c, 0, because(FoundFirst))
			from.last = c.name
		}
	}
}

// cause is why a call gives NaN or Inf, if it does: the kind of the reason, with its arguments
// behind the first.
func (c *recordedCall) cause(from *origins, first, given *msprobe.Value, tell func(c *recordedCall, output int, why result.Reason)) (result.Kind, []any) {
	back := c.forward()
	switch {
	case first != nil:
		place := first.Section.String() + "." + first.Path
		n, _ := first.Elements()
		by := cmp.Or(from.at[n], from.last, c.name)
		if by == c.name {
			tell(c, 0, because(HeldBefore, notNumber(first), place))
		}
		from.leaves(first, by)
		return CameFrom, []any{place, by}
	case given != nil:
		place := given.Section.String() + "." + given.Path
		if c.gives() || catalogue.Is(c.Parsed.API, catalogue.Mends|catalogue.Fills) {
			tell(c, 0, because(GivenAs, "NaN", place))
		}
		return CameFrom, []any{place, c.name}
	case c.meets != nil:
		for _, other := range c.meets.calls {
			if other == nil || other == c {
				continue
			}
			if v, _, _ := other.takes(); v != nil {
				return CameRank, []any{other.of.from.Rank, other.name}
			}
		}
	case back != nil && back != c:
		if v, _, _ := back.takes(); v != nil || back.gives() {
			return CameFrom, []any{"forward", back.name}
		}
	case c.Parsed.Form == msprobe.Module && from.last != "" && len(c.of.inside[c.Name]) > 0:
		return CameFrom, []any{"parts", from.last}
	}
	return MadeHere, nil
}

// sources has findings say where NaN and Inf came from: what made them is suspect, and wrong where
// the inputs allow none.
func sources(opened []*recordedCalls, findings []Finding) []Finding {
	type rank struct {
		mode string
		rank int
	}
	at := map[string]int{}
	for i := range findings {
		if _, ok := at[findings[i].Op]; !ok {
			at[findings[i].Op] = i
		}
	}
	of := map[rank]*origins{}
	inOrder := slices.Clone(opened)
	slices.SortStableFunc(inOrder, func(a, b *recordedCalls) int { return a.from.Step - b.from.Step })
	for _, r := range inOrder {
		k := rank{r.from.Mode, r.from.Rank}
		if of[k] == nil {
			of[k] = &origins{at: map[int64]string{}}
		}
		r.trace(of[k], func(c *recordedCall, output int, why result.Reason) {
			i, ok := at[c.name]
			for ok && i < len(findings) && findings[i].Op == c.name && findings[i].Index != output {
				i++
			}
			if !ok || i == len(findings) || findings[i].Op != c.name {
				if r.header.Task == "tensor" {
					return // what has no result to judge is no finding
				}
				i = len(findings)
				findings = append(findings, c.blank(nil, output))
			}
			findings[i].cameFrom(c, why)
		})
	}
	return findings
}

// cameFrom has a finding say where the NaN or Inf of its output came from.
func (f *Finding) cameFrom(c *recordedCall, why result.Reason) {
	follows := why.Kind == CameFrom || why.Kind == CameRank
	if f.Verdict == Unknown {
		f.Reasons = slices.DeleteFunc(f.Reasons, func(r result.Reason) bool { return r.Kind == Holds })
	} else if follows {
		return // it was judged by its elements
	}
	claim, known := c.claim(recordedOf(c.Call))
	_, _, masked := c.takes() // a row of nothing but -Inf has no softmax
	switch {
	case follows || f.Verdict != Unknown:
	case why.Kind == MadeHere && known && !masked && (f.Index == 0 || claim.all) && max(abs(claim.each.lo), abs(claim.each.hi)) < precisionFor(f.DType).max:
		f.Verdict, f.Reasons = Wrong, []result.Reason{because(OutOfRange, "Max", why.Args[0], claim.each.lo, claim.each.hi)}
	default:
		f.Verdict, f.Reasons = Suspect, nil
	}
	f.Reasons = append(f.Reasons, why)
}

// jumps are calls whose results are far larger than at the steps before, on a rank: the first of
// each step.
func jumps(opened []*recordedCalls) (out []remark) {
	type series struct {
		calls []*recordedCall
		sizes []float64
	}
	of := map[string]*series{}
	inOrder := slices.Clone(opened)
	slices.SortStableFunc(inOrder, func(a, b *recordedCalls) int { return a.from.Step - b.from.Step })
	for _, r := range inOrder {
		if r.from.Step < 0 {
			return nil
		}
		for _, c := range r.calls {
			for i := range c.Values {
				v := &c.Values[i]
				if v.Section != msprobe.Output || v.Kind != msprobe.Tensor || v.Known && discrete(v.Elem) {
					continue
				}
				if size, ok := v.Norm.Value(); ok {
					key := strings.Join([]string{r.from.Mode, itoa(r.from.Rank), c.Name, v.Path}, "\x00")
					if of[key] == nil {
						of[key] = &series{}
					}
					of[key].calls, of[key].sizes = append(of[key].calls, c), append(of[key].sizes, size)
				}
			}
		}
	}
	first := map[int]remark{}
	for _, key := range slices.Sorted(maps.Keys(of)) {
		s := of[key]
		at, median := spikeOf(s.sizes)
		if at < 0 {
			continue
		}
		c := s.calls[at]
		if was, ok := first[c.of.from.Step]; !ok || cmp.Or(c.order-was.on.order, c.of.from.Rank-was.on.of.from.Rank) < 0 {
			first[c.of.from.Step] = remark{c, because(SpikeAt, c.of.from.Step, s.sizes[at], s.sizes[at]/median, at)}
		}
	}
	for _, step := range slices.Sorted(maps.Keys(first)) {
		out = append(out, first[step])
	}
	return out
}

// Monitors: what the statistics of a training tell step by step
//
// A series is held against its own history, which says what is usual: the median and the quartiles
// of the steps before. What happens first in the order of a step is what is said; what lies behind
// it at the same step, or takes it on, follows.

const (
	// leastHistory is how many steps there have to be before.
	leastHistory = 3
	// spikeMedian is the least multiple of the median that a spike is, and spikeFew what is added
	// to it for a history of one step: of few steps little is known of how far they spread.
	// spikeSpread is how many times as far as the quartiles are apart it lies beyond the upper one.
	// Of numbers that spread as logarithms do with a deviation of 0.5, as norms of gradients do, 1
	// in 10⁵ is a spike by that (TestSpikesOfNoise).
	spikeMedian, spikeFew, spikeSpread = 4, 48, 10
	// longestHistory is how many steps are looked back.
	longestHistory = 128
)

// spikeOf is the first place where numbers spike, with the median of those before; -1 if they do
// not.
// limit = max(q3 + 10·(q3 − q1), (4 + 48/n)·median) of the n ≤ 128 steps before: 20 times the
// median after 3 steps, 4.4 times after 120. Steps without a number are passed over.
func spikeOf(x []float64) (at int, median float64) {
	var before []float64
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		if n := len(before); n >= leastHistory {
			sorted := slices.Clone(before[max(0, n-longestHistory):])
			slices.Sort(sorted)
			n = len(sorted)
			median := sorted[n/2]
			limit := max(sorted[n*3/4]+spikeSpread*(sorted[n*3/4]-sorted[n/4]), (spikeMedian+spikeFew/float64(n))*median)
			if median > 0 && v > limit {
				return i, median
			}
		}
		before = append(before, v)
	}
	return -1, 0
}

// event is what happens to a series first.
type event struct {
	at     *monitor.Series
	index  int // in the list of series
	step   int64
	number bool // it is no number
	why    result.Reason
	ratio  float64
	found  float64
	median float64
}

// order compares events by when in a step they happen; ranks do not tell them apart.
func (e *event) order(o *event) int {
	return cmp.Or(cmp.Compare(e.step, o.step), e.at.Phase()-o.at.Phase(), cmp.Compare(e.at.Micro, o.at.Micro), e.at.Order-o.at.Order)
}

// seriesName is what a series is called in findings.
func seriesName(s *monitor.Series) string {
	return "rank" + strconv.Itoa(s.Rank) + "/" + s.Metric + "/" + s.Name
}

// CheckMonitors judges what monitors recorded, a finding for each series, in the order of ranks and
// steps. A series is unknown where nothing happens to it: statistics alone never say that a tensor
// is right.
func CheckMonitors(d *monitor.Data) []Finding {
	list := slices.Clone(d.Series)
	slices.SortStableFunc(list, func(a, b *monitor.Series) int {
		return cmp.Or(a.Rank-b.Rank, a.Phase()-b.Phase(), cmp.Compare(a.Metric, b.Metric), a.Order-b.Order, cmp.Compare(a.Micro, b.Micro))
	})
	has := map[string]bool{} // a number at some step of some rank, so that a tensor is expected
	for _, s := range list {
		for i := range s.Points {
			if !math.IsNaN(s.Points[i].Size()) {
				has[peersOf(s)] = true
			}
		}
	}
	findings := make([]Finding, len(list))
	var events []*event
	for i, s := range list {
		f := &findings[i]
		*f = newFinding(seriesName(s), s.Metric, int64(i), int(s.Micro))
		if s.Again > 0 {
			f.Reasons = append(f.Reasons, because(StepsAgain, s.Again))
		}
		for k := range s.Points {
			f.History = append(f.History, Past{s.Points[k].Step, s.Points[k].Size()})
		}
		e := eventOf(s, has[peersOf(s)], d.Dump)
		switch {
		case e != nil:
			e.index = i
			events = append(events, e)
		case !has[peersOf(s)]:
			unknown(f, because(NoStatistics))
		case d.Dump:
			unknown(f, because(Finite))
		case len(s.Points) <= leastHistory:
			unknown(f, because(FewSteps, len(s.Points)))
		default:
			unknown(f, because(Steady, len(s.Points)))
		}
	}
	slices.SortStableFunc(events, func(a, b *event) int { return a.order(b) })
	peers := map[string]int{}
	for _, e := range events {
		peers[peersOf(e.at)+" "+strconv.FormatInt(e.step, 10)]++
	}
	var first causes
	for _, e := range events {
		f := &findings[e.index]
		f.Ratio, f.Found, f.Expected = e.ratio, e.found, e.median
		f.Reasons = append(f.Reasons, e.why)
		if cause := first.of(e); cause != nil {
			f.Verdict = Unknown
			f.Reasons = append(f.Reasons, because(Behind, cause.step, findings[cause.index].Op))
			continue
		}
		f.Verdict = Suspect
		if ranks := ranksOf(list, e.at); ranks > 1 {
			f.Reasons = append(f.Reasons, because(OnRanks, peers[peersOf(e.at)+" "+strconv.FormatInt(e.step, 10)], ranks))
		}
	}
	parted(list, findings)
	return findings
}

// Past is the size of a tensor at a step, NaN where it had none.
type Past struct {
	Step int64
	Size float64
}

// peersOf is what the series of ranks have in common.
func peersOf(s *monitor.Series) string {
	return strings.Join([]string{s.Metric, s.Stage, s.Name, strconv.FormatInt(s.Micro, 10)}, "\x00")
}

func ranksOf(list []*monitor.Series, of *monitor.Series) int {
	ranks := map[int]bool{}
	for _, s := range list {
		if s.Metric == of.Metric {
			ranks[s.Rank] = true
		}
	}
	return len(ranks)
}

// eventOf is the first step at which a series has no number although it should, spikes, or becomes
// 0; nil if there is none.
func eventOf(s *monitor.Series, has, dump bool) (first *event) {
	sizes := make([]float64, len(s.Points))
	before, nonzero := 0, true
	for i := range s.Points {
		p := &s.Points[i]
		sizes[i] = p.Size()
		switch {
		case p.NaNs > 0:
			first = &event{at: s, step: p.Step, number: true, why: because(NaNAt, p.Step, p.NaNs), ratio: nan, found: nan, median: nan}
		case math.IsInf(sizes[i], 0):
			first = &event{at: s, step: p.Step, number: true, why: because(InfAt, p.Step), ratio: nan, found: sizes[i], median: nan}
		case math.IsNaN(sizes[i]) && has:
			first = &event{at: s, step: p.Step, number: true, why: because(NothingAt, p.Step), ratio: nan, found: nan, median: nan}
		case sizes[i] == 0 && before >= leastHistory && nonzero && !dump:
			first = &event{at: s, step: p.Step, why: because(ZeroAt, p.Step, before), ratio: nan, found: 0, median: nan}
		}
		if first != nil {
			break
		}
		before++
		nonzero = nonzero && sizes[i] > 0
	}
	if dump {
		return first
	}
	if at, median := spikeOf(sizes[:before]); at >= 0 {
		first = &event{at: s, step: s.Points[at].Step, ratio: sizes[at] / median, found: sizes[at], median: median}
		first.why = because(SpikeAt, first.step, sizes[at], sizes[at]/median, at)
	}
	return first
}

// causes are the first events that others follow from: no number of any before; a spike of one at
// the same step, or, of moments and parameters, of any before. What ranks exchange stands beside
// the layers, of which one is to be named, too. Each has two places: what ranks exchange is in the
// second.
type causes struct{ number, step, ever [2]*event }

// of is the event that another one follows from, nil where there is none, and remembers it. Events
// come in their order.
func (c *causes) of(e *event) (cause *event) {
	beside := 0
	if e.at.Metric == "comm" {
		beside = 1
	}
	if c.step[0] != nil && c.step[0].step != e.step || c.step[1] != nil && c.step[1].step != e.step {
		c.step = [2]*event{}
	}
	candidates := []*event{c.step[0]}
	if e.number {
		candidates = append(candidates, c.number[0])
	} else if e.at.Phase() >= 6 {
		candidates = append(candidates, c.ever[0])
	}
	if beside == 1 || e.at.Phase() > 5 {
		candidates = append(candidates, c.step[1])
	}
	if beside == 1 && e.number {
		candidates = append(candidates, c.number[1])
	}
	for _, b := range candidates {
		if b != nil && b.order(e) != 0 && (e.number || !b.number) {
			cause = b
			break
		}
	}
	remember := func(at *[2]*event) {
		if at[beside] == nil {
			at[beside] = e
		}
	}
	remember(&c.step)
	if e.number {
		remember(&c.number)
	} else {
		remember(&c.ever)
	}
	return cause
}

// parted finds ranks whose reduced gradients, moments or parameters were equal at all steps before
// and are not at one. Replicas must have the same after an all_reduce; series are compared to the
// bit.
func parted(list []*monitor.Series, findings []Finding) {
	of := map[string][]int{}
	for i, s := range list {
		if s.Phase() >= 5 || s.Phase() == 0 {
			of[peersOf(s)] = append(of[peersOf(s)], i)
		}
	}
	for i, s := range list {
		peers := of[peersOf(s)]
		if len(peers) < 2 || peers[0] != i {
			continue
		}
		step, odd := partsAt(list, peers)
		for _, k := range odd {
			f := &findings[k]
			if f.Verdict == Unknown && len(f.Reasons) > 0 && f.Reasons[len(f.Reasons)-1].Kind != Behind {
				f.Verdict, f.Reasons = Suspect, nil
			}
			f.Reasons = append(f.Reasons, because(PeersPart, step, len(peers)))
		}
	}
}

// partsAt is the first step at which series that were the same part, with those that are not what
// most are: all if there are two.
func partsAt(list []*monitor.Series, peers []int) (step int64, odd []int) {
	for at := 0; ; at++ {
		count := map[float64]int{}
		for _, k := range peers {
			if at >= len(list[k].Points) {
				return 0, nil
			}
			p := &list[k].Points[at]
			if p.Step != list[peers[0]].Points[at].Step || math.IsNaN(p.Size()) {
				return 0, nil
			}
			count[p.Size()]++
		}
		if len(count) == 1 {
			continue
		}
		if at == 0 {
			return 0, nil // they were never the same
		}
		for _, k := range peers {
			if 2*count[list[k].Points[at].Size()] <= len(peers) {
				odd = append(odd, k)
			}
		}
		return list[peers[0]].Points[at].Step, odd
	}
}

// Quote adds to findings what msprobe's tools claim of them, with whether what was recorded bears
// it out, and gives the claims about what has no finding. A claim changes no verdict.
func Quote(findings []Finding, claims []monitor.Claim) (others []monitor.Claim) {
	of := map[string][]int{} // outputs of a call, or a series of each stage and micro batch
	for i := range findings {
		name := findings[i].Op
		if step, rest, ok := strings.Cut(name, "/"); ok && strings.HasPrefix(step, "step") {
			name = rest
		}
		of[name] = append(of[name], i)
	}
	type told struct {
		finding int
		holds   bool
	}
	steps, first := map[told]int{}, map[told]monitor.Claim{}
	for _, c := range claims {
		name := "rank" + strconv.Itoa(c.Rank) + "/"
		if name += c.Metric + "/" + c.Name; c.Metric == "" {
			name = "rank" + strconv.Itoa(c.Rank) + "/" + c.Name
		}
		list := of[name]
		if list == nil && c.Metric == "" {
			list = of[c.Name] // of a recording of one rank
		}
		if len(list) == 0 || slices.ContainsFunc(list, func(i int) bool { return findings[i].Op != findings[list[0]].Op }) { // or of several steps
			others = append(others, c)
			continue
		}
		at := list[0]
		switch {
		case c.Metric != "":
			bearing := slices.IndexFunc(list, func(i int) bool { return findings[i].bears(&c) })
			t := told{list[max(bearing, 0)], bearing >= 0}
			if steps[t]++; steps[t] == 1 || c.Step < first[t].Step {
				first[t] = c
			}
		case c.Sources != nil:
			ranks := each.Of(c.Sources, strconv.Itoa)
			findings[at].Reasons = append(findings[at].Reasons, because(ClaimSource, c.Rule, strings.Join(ranks, ", ")))
		default:
			findings[at].Reasons = append(findings[at].Reasons, because(ClaimCall, c.Rule))
		}
	}
	for i := range findings {
		for _, t := range []told{{i, true}, {i, false}} {
			if n, c := steps[t], first[t]; n > 0 {
				kind := ClaimAlone
				if t.holds {
					kind = ClaimHolds
				}
				findings[i].Reasons = append(findings[i].Reasons, because(kind, c.Rule, c.Of, c.Step, n))
			}
		}
	}
	return others
}

// Last is the last reason of a finding but for what others claim.
func (f *Finding) Last() result.Reason {
	for i := len(f.Reasons) - 1; i > 0; i-- {
		switch f.Reasons[i].Kind {
		case ClaimHolds, ClaimAlone, ClaimCall, ClaimSource:
		default:
			return f.Reasons[i]
		}
	}
	return f.Reasons[0]
}

// bears tells whether a finding is of what a rule claims: no number at a step, unlike at others, or
// something that begins at that step.
func (f *Finding) bears(c *monitor.Claim) bool {
	none, some := false, false
	for _, p := range f.History {
		finite := !math.IsNaN(p.Size) && !math.IsInf(p.Size, 0)
		none, some = none || p.Step == c.Step && !finite, some || finite
	}
	return none && some || slices.ContainsFunc(f.Reasons, func(r result.Reason) bool {
		switch r.Kind {
		case NaNAt, InfAt, NothingAt:
			step, err := strconv.ParseInt(r.Args[0], 10, 64)
			return err == nil && c.Step >= step
		case SpikeAt, ZeroAt, PeersPart:
			return r.Args[0] == strconv.FormatInt(c.Step, 10)
		}
		return false
	})
}
