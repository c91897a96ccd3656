package metric

import "math"

// scaled is the number m·2^e. Sums of squares are kept in this form, since the
// squares of float64 elements may overflow or vanish.
type scaled struct {
	m float64
	e int
}

func (a *scaled) add(b scaled) {
	switch {
	case b.m == 0:
		return
	case a.m == 0:
		*a = b
		return
	case a.e < b.e:
		a.m, a.e = math.Ldexp(a.m, a.e-b.e), b.e
	case a.e > b.e:
		b.m = math.Ldexp(b.m, b.e-a.e)
	}
	if s := a.m + b.m; finite(s) {
		a.m = s
		return
	}
	a.m, a.e = a.m/2+b.m/2, a.e+1
}

// mean is a/n: NaN for no elements.
func (a scaled) mean(n int64) scaled { return scaled{a.m / float64(n), a.e} }

func (a scaled) float() float64 { return math.Ldexp(a.m, a.e) }

// over is a/b.
func (a scaled) over(b scaled) scaled {
	fa, ea := math.Frexp(a.m)
	fb, eb := math.Frexp(b.m)
	return scaled{fa / fb, a.e - b.e + ea - eb}
}

func (a scaled) sqrt() scaled {
	if a.e%2 != 0 {
		a.m, a.e = a.m/2, a.e+1
	}
	return scaled{math.Sqrt(a.m), a.e / 2}
}

// moments are count, mean·2^e and sum of squared distances from the mean·4^e
// of elements. They merge without cancellation (Chan, Golub and LeVeque).
type moments struct {
	n        int64
	mean, m2 float64
	e        int
}

func (a *moments) add(b moments) {
	switch {
	case b.n == 0:
		return
	case a.n == 0:
		*a = b
		return
	}
	if e := max(a.e, b.e); a.e != b.e {
		a.rescale(e)
		b.rescale(e)
	}
	n := float64(a.n + b.n)
	delta := b.mean - a.mean
	a.m2 += b.m2 + delta*delta*(float64(a.n)/n)*float64(b.n)
	a.mean += delta * (float64(b.n) / n)
	a.n += b.n
}

func (a *moments) rescale(e int) {
	a.mean = math.Ldexp(a.mean, a.e-e)
	a.m2 = math.Ldexp(a.m2, 2*(a.e-e))
	a.e = e
}

// meanDeviation is NaN for no elements.
func (a moments) meanDeviation() (mean, deviation float64) {
	if a.n == 0 {
		return math.NaN(), math.NaN()
	}
	return math.Ldexp(a.mean, a.e), math.Ldexp(math.Sqrt(a.m2/float64(a.n)), a.e)
}
