package metric

import (
	"math"

	"precision/internal/kernel"
)

// The divergence in float32 lanes, twice as many a vector as of float64.
//
// Summed as it is written, Σ p·ln(p/q) is made of terms of both signs that nearly
// cancel, so that it wants float64. With q̂ = c·q, where c is near Σp/Σq, and
// g(t) = t - 1 - ln t, which is not negative,
//
//	Σ p·ln(p/q̂) = G - Σq̂ + Σp   where G = Σ p·g(q̂/p)
//
// and so the divergence of p/Σp and q/Σq is G/P - g(Q̂/P), with P = Σp, Q̂ = Σq̂. No
// term of G cancels another, and g is flat about 1, so that what rounding does to Q̂/P
// hardly matters.
//
// Errors, with u = 2^-24: the share p is rounded twice, when the smallest element is
// taken off and when scaled, as is q̂. That makes the divergence that of shares off by
// 2u each: at most 4u·Σ(p/P)·(1 + |ln(p/q)|), and no more than u times that in practice,
// as roundings are not all one way. A term of G is good to some 8u of itself, where p and q̂
// share an exponent, and to 8u of p + q̂ where not. Lanes add up to [kernel.NarrowRows]
// of them before float64 takes over: 8u of G at most. Up to wideFrom
// all that stays below a few 10^-7, half a unit of the last of six decimals; a larger divergence is
// computed once more in float64 (see exactRun.next). TestNarrowDivergence holds it against 200 bits.

// wideFrom is the divergence from which on six decimals ask for float64.
const wideFrom = 0.5

// narrowScale is klScale of both sides in float32, c being multiplied into the side y.
type narrowScale [kernel.NarrowScales][kernel.NarrowLanes]float32

// newNarrowScale tells whether float32 can hold the shares of all elements.
func newNarrowScale(s *exactSums, kx, ky *klScale) (narrowScale, bool) {
	if kx.unit != 1 || ky.unit != 1 {
		return narrowScale{}, false
	}
	fits := func(k *klScale) bool {
		return k.inverse == 0 || k.inverse > 0x1p-126 && k.inverse < 0x1p100
	}
	if !fits(kx) || !fits(ky) {
		return narrowScale{}, false
	}
	// What is raised to the floor does not count here: c need only be near.
	n := float64(s.n)
	p := max((s.x.mean-kx.lo)*kx.inverse*n, n*epsilon32)
	q := max((s.y.mean-ky.lo)*ky.inverse*n, n*epsilon32)
	c := p / q
	if !(c > 0x1p-20 && c < 0x1p20) {
		return narrowScale{}, false
	}
	var k narrowScale
	for i, f := range [kernel.NarrowScales]float64{
		kernel.NarrowLoX: kx.lo, kernel.NarrowInverseX: kx.inverse, kernel.NarrowFloorX: epsilon32,
		kernel.NarrowLoY: ky.lo, kernel.NarrowInverseY: ky.inverse * c, kernel.NarrowFloorY: epsilon32 * c,
	} {
		for j := range k[i] {
			k[i][j] = float32(f)
		}
	}
	return k, true
}

// narrowSums are G, P and Q̂ of a stretch.
type narrowSums struct{ g, p, q float64 }

func (s *narrowSums) add(t narrowSums) {
	s.g += t.g
	s.p += t.p
	s.q += t.q
}

// divergence is that of p/Σp and q/Σq.
func (s *narrowSums) divergence() float64 {
	w := (s.q - s.p) / s.p
	kl := s.g/s.p - (w - math.Log1p(w))
	if kl < epsilon64 {
		return 0 // a divergence is not negative
	}
	return kl
}

// sumNarrowGo adds elements, a multiple of kernel.NarrowLanes, as the kernels do, to the last bit:
// element i goes into lane i mod NarrowLanes, and after NarrowRows rows the lanes, the upper half
// behind the lower, are added to out.
func sumNarrowGo(out *narrowLanes, k *narrowScale, x, y []float32) {
	const lanes = kernel.NarrowLanes
	for len(x) > 0 {
		n := min(len(x), lanes*kernel.NarrowRows)
		var g, p, q [lanes]float32
		for i := range n {
			a, b := k.shares(x[i], y[i])
			j := i % lanes
			g[j] += narrowTerm(a, b)
			p[j] += a
			q[j] += b
		}
		for j := range lanes {
			out[0][j%(lanes/2)] += float64(g[j])
			out[1][j%(lanes/2)] += float64(p[j])
			out[2][j%(lanes/2)] += float64(q[j])
		}
		x, y = x[n:], y[n:]
	}
}

// narrowLanes are the sums g, p and q by lanes.
type narrowLanes [3][kernel.NarrowLanes / 2]float64

func (v *narrowLanes) sums() narrowSums {
	var s [3]float64
	for i := range s {
		for _, f := range v[i] {
			s[i] += f
		}
	}
	return narrowSums{s[0], s[1], s[2]}
}

// sumNarrow is sumKL in float32 lanes.
func sumNarrow(s *narrowSums, k *narrowScale, x, y []float32) {
	y = y[:len(x)]
	n := len(x) &^ (kernel.NarrowLanes - 1)
	var lanes narrowLanes
	if active == levelGo || n == 0 {
		sumNarrowGo(&lanes, k, x[:n], y[:n])
	} else {
		narrowKernel(&lanes, k, &x[0], &y[0], n)
	}
	*s = lanes.sums()
	for i, v := range x[n:] {
		p, q := k.shares(v, y[n+i])
		s.g += float64(narrowTerm(p, q))
		s.p += float64(p)
		s.q += float64(q)
	}
}

// shares are p and q̂ of two elements.
func (k *narrowScale) shares(x, y float32) (p, q float32) {
	p = float32(float32(x-k[kernel.NarrowLoX][0]) * k[kernel.NarrowInverseX][0])
	q = float32(float32(y-k[kernel.NarrowLoY][0]) * k[kernel.NarrowInverseY][0])
	if floor := k[kernel.NarrowFloorX][0]; !(p > floor) {
		p = floor
	}
	if floor := k[kernel.NarrowFloorY][0]; !(q > floor) {
		q = floor
	}
	return p, q
}

// narrowTerm is p·g(q/p). With q' = q·2^e next to p (see package internal/kernel) and
// s = (p-q')/(p+q'), which is -tanh of half the logarithm of q'/p,
//
//	p·g(q'/p) = s·((p-q') + 2p·s²·A(s²)),   A(z) = 1/3 + z/5 + z²/7 + …
//	p·g(q/p)  = p·g(q'/p) + p·e·ln 2 + (q-q')
//
// Every step is rounded to float32 by itself, products that are added to once.
func narrowTerm(p, q float32) float32 {
	bits := math.Float32bits(q)
	e := (math.Float32bits(p) + kernel.NarrowHalf - bits) & kernel.NarrowExponent
	near := math.Float32frombits(bits + e)
	d := p - near
	s := d / (p + near)
	z := float32(s * s)
	a := fma32(kernel.NarrowSeries[2], z, kernel.NarrowSeries[1])
	a = fma32(a, z, kernel.NarrowSeries[0])
	a = fma32(a, float32(z*float32(p+p)), d)
	rest := fma32(float32(float32(int32(e))*kernel.NarrowLn2), p, q-near)
	return fma32(a, s, rest)
}

// fma32 is a·b + c, rounded once. The product is exact in float64; the sum is rounded
// there to odd, so that the second rounding is that of the true sum.
func fma32(a, b, c float32) float32 {
	product, add := float64(a)*float64(b), float64(c)
	sum := product + add
	t := sum - product
	lost := (product - (sum - t)) + (add - t)
	if bits := math.Float64bits(sum); lost != 0 && bits&1 == 0 {
		if (lost > 0) == (sum > 0) {
			bits++
		} else {
			bits--
		}
		sum = math.Float64frombits(bits)
	}
	return float32(sum)
}
