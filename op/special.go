package op

import "math"

// Functions of one number that package math has not, to some units of float64.

// digamma is the slope of the logarithm of the gamma function.
// ψ(x): reflection ψ(1−x) − π/tan(πx) below 0, the recurrence ψ(x+1) = ψ(x) + 1/x up to 12, and there the asymptotic
// series in Bernoulli numbers (DLMF 5.11.2), whose first term left out, at 12, is below 1e-16.
func digamma(x float64) float64 {
	if x <= 0 {
		if x == math.Floor(x) {
			return math.NaN()
		}
		return digamma(1-x) - math.Pi/math.Tan(math.Pi*(x-math.Floor(x)))
	}
	y := 0.0
	for ; x < 12; x++ {
		y -= 1 / x
	}
	s := 1 / (x * x)
	return y + math.Log(x) - 0.5/x - s*(1./12-s*(1./120-s*(1./252-s*(1./240-s*(1./132-s*(691./32760-s/12))))))
}

// trigamma is the slope of digamma.
// ψ′(x), as digamma: reflection π²/sin²(πx), recurrence by 1/x², and the series of DLMF 5.15.8.
func trigamma(x, _ float64) float64 {
	if x <= 0 {
		s := math.Sin(math.Pi * (x - math.Floor(x)))
		return math.Pi*math.Pi/(s*s) - trigamma(1-x, 0)
	}
	y := 0.0
	for ; x < 12; x++ {
		y += 1 / (x * x)
	}
	s := 1 / (x * x)
	return y + 1/x + s/2 + s/x*(1./6-s*(1./30-s*(1./42-s*(1./30-s*(5./66-s*(691./2730-s*7/6))))))
}

// scaledBessel is e^-|x|·I_n(x), n 0 or 1: its series up to 20, behind that the one for large numbers, whose terms fall to nothing
// before they rise.
func scaledBessel(n float64) func(x float64) float64 {
	return func(x float64) float64 {
		z, sum, term := math.Abs(x), 0.0, 1.0
		scale := math.Exp(-z) * math.Pow(z/2, n)
		next := func(k float64) float64 { return z * z / 4 / (k * (k + n)) }
		if z > 20 {
			scale = 1 / math.Sqrt(2*math.Pi*z)
			next = func(k float64) float64 { return ((2*k-1)*(2*k-1) - 4*n*n) / (8 * k * z) }
		}
		for k := 1.; math.Abs(term) > 1e-18*sum && k < 200; k++ {
			sum += term
			term *= next(k)
		}
		if n == 1 && x < 0 {
			scale = -scale
		}
		return scale * sum
	}
}

var i0e, i1e = scaledBessel(0), scaledBessel(1)

func i0(x float64) float64 { return grown(i0e(x), x) }
func i1(x float64) float64 { return grown(i1e(x), x) }

// grown is y·e^|x|.
func grown(y, x float64) float64 { h := math.Exp(math.Abs(x) / 2); return y * h * h }

// slopeOfI1 is I0(x) - I1(x)/x.
func slopeOfI1(x, y float64) float64 {
	if x == 0 {
		return 0.5
	}
	return i0(x) - y/x
}

// d/dx e^-|x|·I₁ = e^-|x|·(I₀ − I₁/x) − sign(x)·e^-|x|·I₁.
func slopeOfI1e(x, y float64) float64 {
	if x == 0 {
		return 0.5
	}
	return i0e(x) - y*(sign(x)+1/x)
}

// erfcx is e^(x²)·erfc(x).
// Above 25 the asymptotic series (DLMF 7.12.1), since erfc itself is subnormal from 26.6 on.
func erfcx(x float64) float64 {
	if x > 25 {
		s := 0.5 / (x * x)
		return (1 - s*(1-s*(3-s*(15-s*(105-945*s))))) / (x * math.Sqrt(math.Pi))
	}
	// x² in two parts, for its exponential has as many digits less as it is large.
	high := float64(float32(x))
	return math.Exp(high*high) * math.Exp((x-high)*(x+high)) * math.Erfc(x)
}

func logGamma(x float64) float64 { y, _ := math.Lgamma(x); return y }

// inverseErrorSlope is that of erfinv and, with the other sign, erfcinv.
// d/dx erfinv(x) = √π/2·e^(y²), y = erfinv(x).
func inverseErrorSlope(s float64) func(x, y float64) float64 {
	return func(_, y float64) float64 { return s * math.Sqrt(math.Pi) / 2 * math.Exp(y*y) }
}
