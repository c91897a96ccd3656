package oracle

import (
	"math"
	"slices"
	"strings"
)

// Determinants, inverses and solutions of linear systems. They are computed in float64; the bound
// is that of any elimination with pivots, or by Cholesky's method, in the working arithmetic: its
// factors are those of A + E with |E| ≤ g(n)·|L||U| (Higham, Accuracy and Stability of Numerical
// Algorithms, theorems 9.3 to 9.4, 10.3 and 14.1), and what E changes is taken to first order,
// which is said to be no bound where it is more than a tenth.

// eliminated is a matrix that is factored: row by row.
type eliminated struct {
	n         int
	inverse   []float64
	size      []float64 // |L||U|
	sign, log float64   // of the determinant
	relative  float64   // what the determinant may be off, without the unit roundoff
}

// eliminate factors a square matrix with pivots; it refuses one that is singular.
// PA = LU with the largest pivot of each column. relative is the trace of |A⁻¹|·|L||U|, which
// bounds, times the unit, how much det(A + E)/det(A) is off 1. The product |L||U| is put back into
// the order of the rows of A.
func eliminate(a []float64, n int) *eliminated {
	u, l, order := slices.Clone(a), make([]float64, n*n), inOrder(n)
	e := &eliminated{n: n, sign: 1, size: make([]float64, n*n)}
	for c := range n {
		at := c
		for r := c; r < n; r++ {
			if abs(u[r*n+c]) > abs(u[at*n+c]) {
				at = r
			}
		}
		pivot := u[at*n+c]
		refuseIf(pivot == 0 || math.IsNaN(pivot) || math.IsInf(pivot, 0), Unsupported, "a singular matrix")
		if at != c {
			e.sign = -e.sign
			order[at], order[c] = order[c], order[at]
			for i := range n {
				u[at*n+i], u[c*n+i] = u[c*n+i], u[at*n+i]
				l[at*n+i], l[c*n+i] = l[c*n+i], l[at*n+i]
			}
		}
		l[c*n+c] = 1
		e.sign *= math.Copysign(1, pivot)
		e.log += math.Log(abs(pivot))
		for r := c + 1; r < n; r++ {
			f := u[r*n+c] / pivot
			l[r*n+c], u[r*n+c] = f, 0
			for i := c + 1; i < n; i++ {
				u[r*n+i] -= f * u[c*n+i]
			}
		}
	}
	size := times(absolute(l), absolute(u), n, n, n)
	for r, p := range order { // as the rows of A stand
		copy(e.size[p*n:][:n], size[r*n:][:n])
	}
	// The columns of the inverse, those of the unit matrix in the order of the rows.
	e.inverse = make([]float64, n*n)
	for c, p := range order {
		for r := range n {
			// Forward with L, whose diagonal is 1, then back with U.
			x := toNumber(r == c)
			for i := range r {
				x -= l[r*n+i] * e.inverse[i*n+p]
			}
			e.inverse[r*n+p] = x
		}
		for r := n - 1; r >= 0; r-- {
			x := e.inverse[r*n+p]
			for i := r + 1; i < n; i++ {
				x -= u[r*n+i] * e.inverse[i*n+p]
			}
			e.inverse[r*n+p] = x / u[r*n+r]
		}
	}
	for r := range n {
		for i := range n {
			e.relative += abs(e.inverse[r*n+i]) * e.size[i*n+r]
		}
	}
	return e
}

// off is what a solution X may be off: units times |A⁻¹|·|L||U|·|X|, n columns.
// gamma(3n+2): a factorisation and two substitutions of n steps each. Beyond a
// tenth first order says nothing, and nothing is bounded.
func (e *eliminated) off(x []float64, columns int, unit float64) []float64 {
	b := times(absolute(e.inverse), times(e.size, absolute(x), e.n, e.n, columns), e.n, e.n, columns)
	for i := range b {
		if b[i] *= 2 * gamma(float64(3*e.n+2), unit); e.relative*gamma(float64(3*e.n+2), unit) > 0.1 {
			b[i] = math.Inf(1)
		}
	}
	return b
}

// times is the product of an m×k and a k×n matrix.
func times(a, b []float64, m, k, n int) []float64 {
	out := make([]float64, m*n)
	for r := range m {
		for i := range k {
			if f := a[r*k+i]; f != 0 {
				for c := range n {
					out[r*n+c] += f * b[i*n+c]
				}
			}
		}
	}
	return out
}

func absolute(x []float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = abs(v)
	}
	return y
}

// mirrored is the transpose of a square matrix.
func mirrored(a []float64, n int) []float64 {
	out := make([]float64, n*n)
	for i := range a {
		out[i%n*n+i/n] = a[i]
	}
	return out
}

// eachMatrix calls f with each square matrix of a tensor. 512 rows at most, and in all no more
// multiplications than a matrix product may have: the reference is plain elimination.
func (k *invocation) eachMatrix(x *operand, f func(at int, a []float64, n int)) {
	r := len(x.shape)
	refuseIf(r < 2 || x.shape[r-1] != x.shape[r-2] || x.shape[r-1] == 0 || discrete(x.numeric()), ShapesDiffer, x.shape)
	n := int(x.shape[r-1])
	refuseIf(n > 1<<9 || float64(count(x.shape))*float64(n) > mostMultiplied, TooLarge, n, 1<<9)
	d := held(x).y
	for i := range len(d) / (n * n) {
		f(i, d[i*n*n:][:n*n], n)
	}
}

// withErrors is the result and, for functions that return it as the other one, the number of an
// error of each matrix, which is 0. Only what succeeded comes here, since singular matrices are
// refused.
func (k *invocation) withErrors(out *dense) []Reading {
	list := []Values{out}
	if strings.HasSuffix(k.name, "_ex") && len(k.outs) == 2 {
		lead := out.shape[:max(len(out.shape)-2, 0)]
		list = append(list, zeros(lead...))
	}
	return outputs(list...)
}

func linearForms() {
	// cholesky_solve is two triangular systems, by L and by its transpose.
	for form, params := range map[string][]string{"triangular_solve": {"b", "A"}, "cholesky_solve": {"B", "L"}} {
		program(form, params, func(t *tape) []*dense {
			b, a := t.in(params[0]), t.in(params[1])
			if form == "triangular_solve" {
				x := t.solved(a, b, t.bool("upper", true), t.bool("transpose", false), t.bool("unitriangular", false))
				return []*dense{x, a}
			}
			upper := t.bool("upper", false)
			delete(t.given, "L") // PyTorch gives its gradient as that of a full matrix
			return []*dense{t.solved(a, t.solved(a, b, upper, upper, false), upper, !upper, false)}
		})
	}
	// The first results are as many as the function has; factors that some return beside them are
	// not computed.
	define("determinant", function{forward: func(k *invocation) []Reading {
		x := k.tensor("input")
		lead := append([]int64{}, x.shape[:max(len(x.shape)-2, 0)]...)
		det, sign, logs := bounded(lead...), bounded(lead...), bounded(lead...)
		k.eachMatrix(x, func(at int, a []float64, n int) {
			e := eliminate(a, n)
			// The product of n pivots adds n + 2 roundings. A bound of a tenth and more leaves the
			// sign open.
			off := 2 * e.relative * gamma(float64(n+2), k.unit())
			sign.y[at], logs.y[at] = e.sign, e.log
			if det.y[at] = e.sign * math.Exp(e.log); off > 0.1 {
				off = math.Inf(1)
				sign.b[at] = 2
			}
			det.b[at], logs.b[at] = off*abs(det.y[at])+float64(2*n)*0x1p-52*abs(det.y[at]), off+k.unit()*(abs(e.log)+float64(n))
		})
		sign.exact = true
		switch {
		case strings.Contains(k.name, "slogdet"):
			return outputs(sign, logs)
		case k.name == "logdet":
			return outputs(k.computed("s,l)=l+log(s)", sign, logs))
		}
		return outputs(det)
	}})
	// inverse and solve are A⁻¹·B, the first with B = 1.
	solved := func(k *invocation, x *operand, columns func(n int) int, of func(at, n, columns int, e *eliminated) []float64, shape []int64) []Reading {
		out := &dense{shape: shape, y: make([]float64, 0, count(shape))}
		k.eachMatrix(x, func(at int, a []float64, n int) {
			e := eliminate(a, n)
			y := of(at, n, columns(n), e)
			out.y, out.b = append(out.y, y...), append(out.b, e.off(y, columns(n), k.unit())...)
		})
		return k.withErrors(out)
	}
	// torch.linalg.inv: column j solves A·x = e_j.
	define("inverse", function{forward: func(k *invocation) []Reading {
		x := k.tensor("input")
		return solved(k, x, func(n int) int { return n }, func(_, _, _ int, e *eliminated) []float64 { return e.inverse }, x.shape)
	}})
	// torch.linalg.solve: B is a matrix of right sides, or a vector of one for each A.
	define("solve", function{forward: func(k *invocation) []Reading {
		x, b := k.tensor("input"), k.tensor("other")
		refuseIf(!k.bool("left", true), Unsupported, "left")
		lead := len(x.shape) - 2
		refuseIf(lead < 0 || len(b.shape) <= lead || len(b.shape) > lead+2 || !slices.Equal(b.shape[:lead+1], x.shape[:lead+1]), ShapesDiffer, x.shape, b.shape)
		wide, d := int(count(b.shape[lead+1:])), held(b).y
		return solved(k, x, func(int) int { return wide }, func(at, n, columns int, e *eliminated) []float64 {
			return times(e.inverse, d[at*n*columns:][:n*columns], n, n, columns)
		}, b.shape)
	}})
	// A = L·Lᵀ, or UᵀU, of which only the triangle that is asked for is read.
	define("cholesky", function{forward: func(k *invocation) []Reading {
		x := k.tensor("input")
		out, upper := &dense{shape: x.shape}, k.bool("upper", false)
		k.eachMatrix(x, func(_ int, a []float64, n int) {
			l := make([]float64, n*n)
			for r := range n {
				for c := range r + 1 {
					s := a[r*n+c]
					if upper {
						s = a[c*n+r]
					}
					for i := range c {
						s -= l[r*n+i] * l[c*n+i]
					}
					if refuseIf(r == c && !(s > 0), Unsupported, "a matrix that is not positive definite"); r == c {
						l[r*n+c] = math.Sqrt(s)
					} else {
						l[r*n+c] = s / l[c*n+c]
					}
				}
			}
			// To first order L changes by L·Φ(L⁻¹·E·L⁻ᵀ), Φ the lower half with half of the
			// diagonal.
			e := eliminate(l, n)
			size, back := times(absolute(l), mirrored(absolute(l), n), n, n, n), absolute(e.inverse)
			inner := times(times(back, size, n, n, n), mirrored(back, n), n, n, n)
			g := 2 * gamma(float64(n+2), k.unit())
			for i := range inner {
				if refuseIf(g*inner[i] > 0.1, Unsupported, "a matrix that is nearly singular"); i%n > i/n {
					inner[i] = 0
				}
			}
			b := times(absolute(l), inner, n, n, n)
			for i := range b {
				b[i] *= g
			}
			if upper {
				l, b = mirrored(l, n), mirrored(b, n)
			}
			out.y, out.b = append(out.y, l...), append(out.b, b...)
		})
		return k.withErrors(out)
	}})
	define("matrix_power", function{forward: formulaFor(func(k *invocation) Values {
		x, n := k.tensor("input"), k.int("n", 1)
		// By n−1 products; kernels may square instead, in fewer roundings.
		refuseIf(!within(n, 1, 64), Unsupported, "n")
		var v Values = x
		for range n - 1 {
			v = held(k.product(v, x))
		}
		return v
	})})
	define("multi_dot", function{forward: formulaFor(func(k *invocation) Values {
		list := k.tensors("tensors")
		refuseIf(len(list) < 2, InputCount, len(list), 2)
		for _, x := range list {
			refuseIf(count(x.shape) == 0, ShapesDiffer, x.shape)
		}
		var v Values = list[0]
		for _, x := range list[1:] {
			v = k.matmul(v, x)
		}
		return v
	})})
	// (a₁, a₂, …) ⊗ (b₁, b₂, …) has the axes aᵢ·bᵢ: an outer product of (a₁, 1, a₂, 1, …) and (1,
	// b₁, 1, b₂, …).
	define("kron", function{forward: formulaFor(func(k *invocation) Values {
		a, b := k.pair("input", "other")
		r := max(len(a.shape), len(b.shape))
		var s, t, out []int64
		for i := range r {
			x, y := int64(1), int64(1)
			if at := i - r + len(a.shape); at >= 0 {
				x = a.shape[at]
			}
			if at := i - r + len(b.shape); at >= 0 {
				y = b.shape[at]
			}
			s, t, out = append(s, x, 1), append(t, 1, y), append(out, x*y)
		}
		refuseIf(count(out) > maxDense, TooLarge, count(out), maxDense)
		return reshape(held(elementsOf(mulKernel(k.unit()), nil, discrete(k.outType()), []Values{reshape(a, s), reshape(b, t)})), out)
	})})
	// x^(N−1) … x⁰ a row, or increasing; linalg.vander is always increasing. A power by
	// multiplications has a rounding a step.
	define("vander", function{forward: formulaFor(func(k *invocation) Values {
		x := k.tensor("input")
		refuseIf(len(x.shape) == 0, ShapesDiffer, x.shape)
		n := k.int("N", x.shape[len(x.shape)-1])
		up := k.bool("increasing", strings.HasPrefix(k.name, "linalg"))
		refuseIf(!within(n, 1, 1<<16), BadArgument, "N", n, "a small number")
		d, whole := held(x), discrete(x.typ)
		return &formula{shape: append(slices.Clone(x.shape), n), exact: whole, f: func(i int64, _ []int64) (float64, float64) {
			p := i % n
			if !up {
				p = n - 1 - p
			}
			y := math.Pow(d.y[i/n], float64(p))
			return y, gamma(float64(p+1), k.unit()) * abs(y) * toNumber(!whole && p > 1)
		}}
	})})
	program("vecdot", []string{"input", "other"}, func(t *tape) []*dense { return []*dense{t.rowsOfTwo("input", "other", -1, t.dot)} })
	// Norms of vectors, or of matrices where two axes are given or left; those by singular values
	// are not computed.
	define("linalg_norm", function{forward: func(k *invocation) []Reading {
		x := k.tensor("input")
		axes, keep := k.reducedAxes(len(x.shape))
		matrix := strings.HasSuffix(k.name, "matrix_norm")
		if matrix && !k.has("dim") {
			axes = []int{len(x.shape) - 2, len(x.shape) - 1}
		}
		a := k.args["ord"]
		none := a.none() || a.isText() && a.text() == "fro"
		if p, ok := a.number(); ok && !none && (matrix || len(axes) == 2 || !k.has("dim") && len(x.shape) == 2) {
			if len(axes) != 2 { // all of them
				axes = []int{0, 1}
			}
			refuseIf(p != 1 && p != -1 && !math.IsInf(p, 0) || axes[0] < 0, Unsupported, "ord")
			// ±1 sums the magnitudes of columns, ±inf of rows, and takes the largest or smallest
			// sum.
			along, over := axes[0], axes[1]
			if math.IsInf(p, 0) {
				along, over = over, along
			}
			size := k.computed("x)=abs(x)", k.converted(x))
			sums := held(k.reduced(size, []int{along}, true, false, func(c *Call, n int64) func(x, e []float64) (float64, float64) { return sumOf(c.sumUnit(), n, 1) }))
			v := k.reduced(sums, []int{over}, true, false, func(*Call, int64) func(x, e []float64) (float64, float64) {
				return func(x, e []float64) (float64, float64) {
					if p > 0 {
						return slices.Max(x), slices.Max(e)
					}
					return slices.Min(x), slices.Max(e)
				}
			})
			return outputs(k.asRecorded(v, 0))
		}
		refuseIf(a.isText() && !none, Unsupported, "ord")
		c := k.with(map[string]*argument{"keepdim": intArgument(int64(toNumber(keep)))})
		if none {
			c.args["ord"] = numberArgument(2)
		}
		if matrix && !k.has("dim") {
			c.args["dim"] = &argument{list: []*argument{intArgument(-2), intArgument(-1)}}
		}
		return forms["norm"].forward(c)
	}})
}

// solved is the solution of a triangular system A·X = B, row by row.
// x_i = (b_i − Σ a_ij·x_j)/a_ii, substituted from the first row on for a lower matrix, from the
// last for an upper one, the other way round for the transpose; with unit the diagonal counts as 1
// and is not looked at. Leading axes are repeated to each other. Errors go along on the tape, so
// that they grow as the condition of the system lets them.
func (t *tape) solved(a, b *dense, upper, turn, unit bool) *dense {
	n := len(a.shape)
	refuseIf(n < 2 || len(b.shape) < 2, ShapesDiffer, a.shape, b.shape)
	lead, ok := broadcastShape(a.shape[:n-2], b.shape[:len(b.shape)-2])
	m, c := a.shape[n-1], b.shape[len(b.shape)-1]
	refuseIf(!ok || a.shape[n-2] != m || b.shape[len(b.shape)-2] != m, ShapesDiffer, a.shape, b.shape)
	x := t.spreadTo(a, append(slices.Clone(lead), m, m))
	out := &dense{shape: append(slices.Clone(lead), m, c), exact: true}
	out.y = slices.Clone(t.spreadTo(b, out.shape))
	down := upper == turn // from the first row on
	for l := range count(lead) {
		at := func(i, j int64) float64 {
			if turn {
				i, j = j, i
			}
			return x[(l*m+i)*m+j]
		}
		for s := range m {
			i := s
			if !down {
				i = m - 1 - s
			}
			for col := range c {
				terms := []float64{out.y[(l*m+i)*c+col]}
				for r := range s {
					j := r
					if !down {
						j = m - 1 - r
					}
					terms = append(terms, t.sub(t.Number(0), t.mul(at(i, j), out.y[(l*m+j)*c+col])))
				}
				v := t.sum(terms...)
				if !unit {
					v = t.div(v, at(i, i))
				}
				out.y[(l*m+i)*c+col] = v
			}
		}
	}
	return out
}
