package verdict

import (
	"math"

	"precision/compare/result"
	catalogue "precision/op"
)

// Conditioning: what an operator makes of errors in its inputs
//
// The judge asks whether an output's error is larger than its inputs' errors
// explain. That depends on the operator: a transposition hands errors on as they
// are, a difference of near numbers enlarges them relative to what is left, an
// exponential turns absolute errors into relative ones, and a comparison may
// flip. For every type there is a class that predicts, to first order, the root
// mean square and the largest error of the output from those of the inputs, both
// absolute, in two sizes: what is typical of noise, and what is possible at
// most where that can be bounded from the few numbers that are known. Types not
// listed hand relative errors on.

// spread is the size of an error: root mean square and largest, absolute.
type spread struct{ rms, max float64 }

// operand is an input or the output as a prediction sees it.
type operand struct {
	count    float64 // elements
	err      spread
	rms      float64 // golden root mean square
	magnOf   float64 // largest golden magnitude
	smallest float64 // smallest golden magnitude, 0 if that is not known
	dev      float64 // golden deviation
	exact    bool    // not one element differs
	unit     float64 // unit roundoff of the coarser dtype
	step     float64 // of whole numbers, where they are multiplied by their scales; else 0
}

// relative is the error over the root mean square.
func (o *operand) relative() float64 {
	if o.err.rms == 0 {
		return 0
	}
	return o.err.rms / o.rms
}

// relativeMax is the largest error over the root mean square.
func (o *operand) relativeMax() float64 {
	if o.err.max == 0 {
		return 0
	}
	return o.err.max / o.rms
}

// prediction is what the inputs' errors make of the output.
type prediction struct {
	typical, bound spread
	// tame is false where nothing can be said.
	tame bool
	// sharp: the bound is exact, so that a second root needs no margin.
	sharp bool
}

// class predicts the error of an output.
type class func(in []operand, out *operand) prediction

// classes are the ways in which errors go through an operator, by the word and the argument
// that the catalogue has for it.
var classes = map[string]func(argument float64) class{
	"summed": summed, "exponential": exponential,
	"averaged": always(averaged), "multiplied": always(multiplied), "squared": always(squared), "totalled": always(totalled), "totalledfirst": always(totalledFirst),
	"normalised": always(normalised), "rooted": always(rooted), "divided": always(divided), "inverted": always(inverted), "chosen": always(chosen),
	"moved": always(moved), "quantised": always(quantised), "wild": always(unbounded),
}

func always(c class) func(float64) class { return func(float64) class { return c } }

// hands tells whether elements come out as they went in, but for the sign.
func hands(row *catalogue.Row) bool { return row.Traits&(catalogue.Moves|catalogue.Selects) != 0 }

// classOf is the class of an operator type, for the output of a row.
func (j *judge) classOf(kind *catalogue.Row, row *result.Row) class {
	if kind.Traits&(catalogue.Rounds|catalogue.Quantises) != 0 && counted(row.Left.DType) && !j.counts(row) {
		return quantised
	}
	if word, argument := catalogue.Call(kind.Error); word != "" {
		if word == "quantised" && !counted(row.Left.DType) {
			return handed // scales, and numbers with a point, whose rounding is that of their type
		}
		return classes[word](argument)
	}
	if hands(kind) {
		return moved
	}
	return handed
}

// sum adds errors: squares of the root mean squares, largest ones plainly.
func sum(in []operand) (s spread) {
	for i := range in {
		s.rms = math.Hypot(s.rms, in[i].err.rms)
		s.max += in[i].err.max
	}
	return s
}

func (s spread) times(f float64) spread { return spread{s.rms * f, s.max * f} }

// moved hands elements on: all, some, or one of several. What is left of many
// elements may be the worst of them, so an error can stand in fewer elements
// than before: n_in/n_out times as dense, and no larger than the largest.
func moved(in []operand, out *operand) prediction {
	var s spread
	for i := range in {
		o := &in[i]
		dense := 1.0
		if o.count > out.count && out.count > 0 {
			dense = math.Sqrt(o.count / out.count)
		}
		s.rms = max(s.rms, min(o.err.max, dense*o.err.rms))
		s.max = max(s.max, o.err.max)
	}
	return prediction{typical: s, bound: s, tame: true, sharp: true}
}

// summed is a sum, or a function that changes no faster than slope times its
// argument: |f(x+e)-f(x)| <= slope·|e|.
func summed(slope float64) class {
	return func(in []operand, out *operand) prediction {
		s := sum(in).times(slope)
		worst := s
		worst.rms = 0
		for i := range in { // errors of two inputs may go together
			worst.rms += slope * in[i].err.rms
		}
		return prediction{typical: s, bound: worst, tame: true}
	}
}

// multiplied: relative errors add; at most every error meets the largest element
// of the other side.
func multiplied(in []operand, out *operand) prediction {
	p := handed(in, out)
	if len(in) == 2 {
		a, b := &in[0], &in[1]
		most := func(x, y float64) float64 { return a.magnOf*y + b.magnOf*x + x*y }
		p.typical.max = max(p.typical.max, most(a.err.max, b.err.max))
		both := min(a.err.max*b.err.rms, b.err.max*a.err.rms) // the root mean square of a product is not that of the factors
		p.bound = spread{max(p.bound.rms, a.magnOf*b.err.rms+b.magnOf*a.err.rms+both), max(p.bound.max, most(a.err.max, b.err.max))}
	}
	return p
}

// squared: (x+e)² - x² = 2xe + e².
func squared(in []operand, out *operand) prediction {
	if len(in) == 0 {
		return prediction{}
	}
	x := &in[0]
	most := func(e float64) float64 { return 2*x.magnOf*e + e*e }
	return prediction{tame: true,
		typical: spread{2*x.relative()*out.rms + x.err.rms*x.err.rms, most(x.err.max)},
		bound:   spread{most(x.err.rms) + x.err.max*x.err.rms, most(x.err.max)}}
}

// evenDivisors is how many times the smallest divisor their root mean square may be for one relative error to stand
// for all: normal numbers that keep away from zero have less.
const evenDivisors = 16

// divided: relative errors add, as long as the divisor stays away from zero.
func divided(in []operand, out *operand) prediction {
	if len(in) != 2 {
		return handed(in, out)
	}
	a, b := &in[0], &in[1]
	by, tame := inverse(b)
	if !tame {
		return prediction{}
	}
	// (a+e)/(b+f) - a/b = e/(b+f) - (a/b)·f/(b+f)
	worst := func(e float64) float64 { return e/(b.smallest-b.err.max) + out.magnOf*by }
	// Where divisors are of many sizes, what is left is made by the smallest, and these have the largest relative errors.
	rel := (a.relative() + b.relative()) * max(1, b.rms/(evenDivisors*b.smallest))
	return prediction{tame: true,
		typical: spread{min(2*rel*out.rms, max(worst(a.err.rms), 2*(a.relative()+b.relative())*out.rms)), worst(a.err.max)},
		bound:   spread{worst(a.err.rms), worst(a.err.max)}}
}

// inverse bounds the relative error of 1/x; tame is false if x may get near
// zero.
func inverse(x *operand) (relative float64, tame bool) {
	if x.err.max == 0 {
		return 0, true
	}
	if x.smallest <= 2*x.err.max {
		return 0, false
	}
	return x.err.max / (x.smallest - x.err.max), true
}

// inverted are functions of one argument that are steep near zero.
func inverted(in []operand, out *operand) prediction {
	if len(in) == 0 {
		return prediction{}
	}
	x := &in[0]
	rel, tame := inverse(x)
	if !tame {
		return prediction{}
	}
	scale := max(out.magnOf, 1) // the logarithm's slope has no magnitude of its own
	return prediction{tame: true,
		typical: spread{max(x.relative()*out.rms, min(rel, 4*x.relative())*scale), rel * scale},
		bound:   spread{rel * scale, rel * scale}}
}

// rooted: |√(x+e) - √x| <= e/√x, and <= √e.
func rooted(in []operand, out *operand) prediction {
	if len(in) == 0 {
		return prediction{}
	}
	x := &in[0]
	p := handed(in, out)
	worst := math.Sqrt(x.err.max)
	if x.smallest > 0 {
		worst = min(worst, x.err.max/math.Sqrt(x.smallest))
	}
	p.typical.max = max(p.typical.max, worst)
	p.bound = spread{max(p.bound.rms, worst), max(p.bound.max, worst)}
	return p
}

// exponential turns absolute errors into relative ones: e^(x+e) = e^x·e^e. The
// quotient of softmax has the error twice.
func exponential(times float64) class {
	return func(in []operand, out *operand) prediction {
		if len(in) == 0 {
			return prediction{}
		}
		x := &in[0]
		if times*x.err.max > 1 {
			return prediction{} // beyond first order nothing is left to predict
		}
		rel := math.Expm1(times * x.err.max)
		return prediction{tame: true,
			typical: spread{min(rel, 2*times*x.err.rms) * out.rms, rel * out.magnOf},
			bound:   spread{rel * out.rms, rel * out.magnOf}}
	}
}

// single is the unit roundoff of float32, which sums are kept in at the best.
const single = 1.0 / (1 << 24)

// averaged: the mean of part of the elements. It may be far smaller than they
// are, and is as exact as the sum before it: the last of n additions in a row rounds
// a number of about √n of the elements, all of them together n/2 or so.
func averaged(in []operand, out *operand) prediction {
	p := summed(1)(in, out)
	if len(in) > 0 {
		p.add(single * in[0].rms / 2)
	}
	return p
}

// add grants an error of its own to an operator.
func (p *prediction) add(e float64) {
	p.typical = spread{math.Hypot(p.typical.rms, e), p.typical.max + 3*e}
	p.bound = spread{p.bound.rms + e, p.bound.max + 3*e}
}

// totalled: a sum over part of the elements. Errors of the same sign add up.
func totalled(in []operand, out *operand) prediction {
	s := sum(in)
	n := 1.0
	if len(in) > 0 && out.count > 0 {
		n = max(1, in[0].count/out.count)
	}
	p := prediction{tame: true, bound: s.times(n),
		typical: spread{max(s.rms*math.Sqrt(n), handed(in, out).typical.rms), s.max * math.Sqrt(n)}}
	if len(in) > 0 && n > 1 {
		p.add(single * in[0].rms * n / 2) // see averaged
	}
	return p
}

// totalledFirst sums the elements of the first input, each times a number of about
// one, which the others give: gradients of a normalisation's scale and offset.
func totalledFirst(in []operand, out *operand) prediction {
	p := handed(in, out)
	if len(in) > 0 {
		q := totalled(in[:1], out)
		p.typical = spread{max(p.typical.rms, q.typical.rms), max(p.typical.max, q.typical.max)}
		p.bound = spread{max(p.bound.rms, q.bound.rms), max(p.bound.max, q.bound.max)}
	}
	return p
}

// normalised divides by the deviation of a row, which that of the whole tensor
// stands for.
func normalised(in []operand, out *operand) prediction {
	if len(in) == 0 {
		return prediction{}
	}
	x := &in[0]
	if x.dev <= 0 {
		return handed(in, out)
	}
	// The mean and the deviation are sums of all elements of a row, in float32 at best and in another
	// order on either side; where the mean is large, taking it off leaves few digits.
	own := (2 + math.Log2(max(1, x.count))) * single * max(1, x.rms/x.dev)
	if x.err.max == 0 {
		p := handed(in, out)
		p.typical.rms, p.typical.max = math.Hypot(p.typical.rms, own*out.rms), p.typical.max+own*out.magnOf
		p.bound = spread{p.bound.rms + 4*own*out.rms, p.bound.max + 4*own*out.magnOf}
		return p
	}
	rel := x.err.rms / x.dev
	if rel > 0.1 {
		return prediction{}
	}
	typical := spread{math.Hypot(rel, own) * out.rms, (x.err.max/x.dev + own) * max(out.rms, 1)}
	return prediction{typical: typical, bound: typical.times(4), tame: true}
}

// chosen picks elements by a condition: when that differs nothing can be said.
func chosen(in []operand, out *operand) prediction {
	if len(in) == 3 {
		if !in[0].exact {
			return prediction{}
		}
		return moved(in[1:], out)
	}
	return prediction{}
}

// unbounded enlarges errors without limit.
func unbounded([]operand, *operand) prediction { return prediction{} }

// handed hands relative errors on, as products of matrices and convolutions do
// to within a small factor.
func handed(in []operand, out *operand) prediction {
	var rms, most float64
	for i := range in {
		rms = math.Hypot(rms, in[i].relative())
		most = max(most, in[i].relativeMax())
	}
	s := spread{rms * out.rms, max(most*out.rms, rms*out.magnOf)}
	return prediction{typical: s, bound: s.times(2), tame: true}
}
