package pattern

import "math"

// fit is how well a prediction meets what was recorded.
type fit struct {
	explained       float64 // see the package comment
	left            float64 // largest |r| over what is allowed
	tried, improved int64   // elements that count; those whose error at least halves
	sharp           int64   // those whose error falls to a sixteenth
	seen, contrary  int64   // all elements; those of them that it takes twice as far from what was recorded
	floor           float64 // the share of the error that rounding leaves under the best hypothesis
}

// fitter collects a fit element by element.
type fitter struct {
	fit
	before, after, outside float64
	rounding               float64 // squared
}

// add takes in an element whose error was e and is r under the hypothesis; allowed is
// what rounding and noise explain, rounding what the rounding of the element alone does.
func (f *fitter) add(e, r, allowed, rounding float64, dense bool) {
	if r-r != 0 {
		r = 2 * e
	}
	a, b := math.Abs(e), math.Abs(r)
	if x := b / allowed; x > f.left {
		f.left = x
	}
	f.seen++
	if b > 2*(a+rounding) {
		f.contrary++
	}
	if dense && a > rounding || a > allowed {
		f.tried++
		f.before += e * e
		f.after += r * r
		f.rounding += rounding * rounding / 3
		if b <= a/2 {
			f.improved++
		}
		if b <= a/16 {
			f.sharp++
		}
		return
	}
	f.outside += r*r - e*e
}

// contraryByChance is the share of elements that noise as large as a fifth of the change lets seem
// contrary: those whose noise undoes two thirds of it or more, beyond three standard deviations, and as many where the change is small.
const contraryByChance = 0.05

func (f *fitter) done() fit {
	if f.before > 0 {
		f.explained = min(1, 1-(f.after+max(0, f.outside))/f.before)
		f.floor = f.rounding / f.before
	}
	// What leaves many small numbers behind explains no more than it leaves: a few large ones hold most of the
	// squared error. Noise that happens to undo a change makes some seem contrary.
	if against := float64(f.contrary) / float64(max(1, f.seen)); against > contraryByChance {
		f.explained = min(f.explained, 1-against)
	}
	if f.explained != f.explained || math.IsInf(f.explained, 0) {
		f.explained = 0
	}
	return f.fit
}

// judge measures a prediction, made for places in Want, on the elements picked.
func (l *look) judge(predict func(p int) float64) fit {
	return l.judgeOn(l.pick, predict)
}

func (l *look) judgeOn(pick []int, predict func(p int) float64) fit {
	var f fitter
	for p, e := range l.errors(pick) {
		f.add(e, l.got[p]-predict(p), l.allowed(p), l.rounding(p), l.dense)
	}
	return f.done()
}

// holds reports whether a fit explains at least the share least, and so many elements
// that chance is ruled out. free is the number of parameters fitted to the data, and
// candidates the number of predictions among which this is the best.
//
// An unrelated prediction halves the error of less than p = 0.4 of the elements, and leaves a
// sixteenth of that of less than p = 0.08. That it does so for h of m has a probability below
// exp(-m·KL(h/m‖p)) (Chernoff); the limit is e^-14 / candidates. The second way lets few
// elements speak that are met exactly.
func (f fit) holds(least float64, free, candidates int64) bool {
	if !(f.explained >= least) || f.improved*2 <= f.tried {
		return false
	}
	limit := 14 + math.Log(float64(max(1, candidates)))
	return against(f.improved-2*free, f.tried-2*free, 0.4) > limit || against(f.sharp-2*free, f.tried-2*free, 0.08) > limit
}

// against is m·KL(h/m‖p), or 0 where h/m is no more than p.
func against(h, m int64, p float64) float64 {
	if m <= 0 || h <= 0 || float64(h) <= p*float64(m) {
		return 0
	}
	q := min(float64(h)/float64(m), 1)
	kl := q * math.Log(q/p)
	if q < 1 {
		kl += (1 - q) * math.Log((1-q)/(1-p))
	}
	return float64(m) * kl
}

// resembles reports whether what was recorded has the shape of a prediction: correlation
// at least 0.7 over the elements of the rehearsal. A factor near 0 comes near to any small
// numbers without that.
func (l *look) resembles(predict func(p int) float64) bool {
	var c correlation
	for _, p := range l.trials() {
		c.add(l.got[p], predict(p))
	}
	return c.value() >= 0.7
}

// correlation collects pairs of numbers.
type correlation struct{ n, sx, sy, sxx, syy, sxy float64 }

func (c *correlation) add(x, y float64) {
	c.n++
	c.sx += x
	c.sy += y
	c.sxx += x * x
	c.syy += y * y
	c.sxy += x * y
}

// value is the correlation, or 1 where one side is constant.
func (c *correlation) value() float64 {
	xy, xx, yy := c.sxy-c.sx*c.sy/c.n, c.sxx-c.sx*c.sx/c.n, c.syy-c.sy*c.sy/c.n
	if !(xx > 1e-12*c.sxx) || !(yy > 1e-12*c.syy) {
		return 1
	}
	return xy / math.Sqrt(xx*yy)
}

// explainsFarLessThan reports whether a hypothesis with more parameters is worth them: it leaves
// less than a quarter of what this one leaves.
func (f fit) explainsFarLessThan(other fit) bool {
	return 1-other.explained < (1-f.explained)/4 && 1-f.explained > 2*f.floor
}

// finding makes a finding of a fit of the elements picked; counts are of the whole tensor.
func (l *look) finding(kind Kind, args any, f fit) Finding {
	return Finding{Kind: kind, Args: args, Explained: f.explained, Left: f.left, Elements: l.affected(), floor: f.floor}
}

// told is a finding in a list, none where it does not hold.
func (l *look) told(holds bool, kind Kind, args any, f fit) []Finding {
	if !holds {
		return nil
	}
	return []Finding{l.finding(kind, args, f)}
}

// affected is how many elements are beyond, or differ where none is beyond.
func (l *look) affected() int64 {
	if l.dense {
		return l.different
	}
	return l.beyond
}
