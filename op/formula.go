package op

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/scanner"

	"precision/internal/each"
)

// Formula is what a function computes of the numbers in one place, as a row says it: an expression of its parameters
// with + - * / and ^, comparisons (1 or 0), where(condition,a,b) and the functions of [elementary]. What else there is
// to know of the function follows from it: its value and slope ([Formula.Slope]), its bound by any arithmetic that
// keeps one ([Compile]), whether it rounds at all ([Formula.Exact]).
type Formula struct {
	Params []Param
	// Operands are the parameters that are tensors, or numbers in their place, in their order.
	Operands []int
	// Exact formulas choose, compare, negate or cut off, and never round; Keeps is set for those whose result is as
	// rounded as their operand is.
	Exact, Keeps bool
	root         *node
}

// Param is a parameter of a function.
type Param struct {
	Name string
	// Default is its value where it is not given; Number is set for those that have one, and are no tensors.
	// Optional ones are tensors or numbers.
	Default          float64
	Number, Optional bool
	// Words are the texts that it may be, 0 for the first.
	Words []string
}

// A tree of operations, the leaves numbers and parameters.
type node struct {
	op   string // number, param, an operator or a function
	x    float64
	at   int
	args []*node
}

// elementary are the functions of one number that formulas are made of, with their slopes; exact ones do not round.
// Slopes are 0 at steps. Their own error is for the arithmetic that computes them to know.
var elementary = map[string]struct {
	f     func(x float64) float64
	slope func(x, y float64) float64
	exact bool
}{
	"exp": {math.Exp, func(x, y float64) float64 { return y }, false}, "expm1": {math.Expm1, func(x, y float64) float64 { return y + 1 }, false},
	"log": {math.Log, func(x, y float64) float64 { return 1 / x }, false}, "log1p": {math.Log1p, func(x, y float64) float64 { return 1 / (1 + x) }, false},
	"sqrt": {math.Sqrt, func(x, y float64) float64 { return 0.5 / y }, false}, "tanh": {math.Tanh, func(x, y float64) float64 { return 1 - y*y }, false},
	"rsqrt":   {func(x float64) float64 { return 1 / math.Sqrt(x) }, func(x, y float64) float64 { return -0.5 * y * y * y }, false},
	"sigmoid": {func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, func(x, y float64) float64 { return y * (1 - y) }, false},
	// log(1 + e^x) without overflow
	"softplus": {func(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }, func(x, y float64) float64 { return 1 / (1 + math.Exp(-x)) }, false},
	"sin":      {math.Sin, func(x, y float64) float64 { return math.Cos(x) }, false}, "cos": {math.Cos, func(x, y float64) float64 { return -math.Sin(x) }, false},
	"tan": {math.Tan, func(x, y float64) float64 { return 1 + y*y }, false}, "sinh": {math.Sinh, func(x, y float64) float64 { return math.Cosh(x) }, false},
	"cosh": {math.Cosh, func(x, y float64) float64 { return math.Sinh(x) }, false}, "asin": {math.Asin, func(x, y float64) float64 { return 1 / math.Sqrt(1-x*x) }, false},
	"acos": {math.Acos, func(x, y float64) float64 { return -1 / math.Sqrt(1-x*x) }, false}, "atan": {math.Atan, func(x, y float64) float64 { return 1 / (1 + x*x) }, false},
	"asinh": {math.Asinh, func(x, y float64) float64 { return 1 / math.Sqrt(1+x*x) }, false}, "acosh": {math.Acosh, func(x, y float64) float64 { return 1 / math.Sqrt(x*x-1) }, false},
	"atanh":  {math.Atanh, func(x, y float64) float64 { return 1 / (1 - x*x) }, false},
	"erf":    {math.Erf, func(x, y float64) float64 { return 2 / math.Sqrt(math.Pi) * math.Exp(-x*x) }, false},
	"erfc":   {math.Erfc, func(x, y float64) float64 { return -2 / math.Sqrt(math.Pi) * math.Exp(-x*x) }, false},
	"lgamma": {logGamma, func(x, y float64) float64 { return digamma(x) }, false}, "digamma": {digamma, trigamma, false},
	"erfinv": {math.Erfinv, inverseErrorSlope(1), false}, "erfcinv": {math.Erfcinv, inverseErrorSlope(-1), false},
	"erfcx": {erfcx, func(x, y float64) float64 { return 2*x*y - 2/math.Sqrt(math.Pi) }, false},
	"i0":    {i0, func(x, y float64) float64 { return i1(x) }, false}, "i1": {i1, slopeOfI1, false},
	"i0e": {i0e, func(x, y float64) float64 { return i1e(x) - sign(x)*y }, false}, "i1e": {i1e, slopeOfI1e, false},
	"abs": {math.Abs, func(x, y float64) float64 { return float64(sign(x)) }, true}, "sign": {sign, flat, true},
	"floor": {math.Floor, flat, true}, "ceil": {math.Ceil, flat, true}, "trunc": {math.Trunc, flat, true}, "rint": {math.RoundToEven, flat, true},
	"isnan": {func(x float64) float64 { return truth(x != x) }, flat, true}, "isinf": {func(x float64) float64 { return truth(math.IsInf(x, 0)) }, flat, true},
}

func flat(x, y float64) float64 { return 0 }

// It is 0 for both zeros, with their sign, and NaN for NaN.
func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

var comparisons = map[string]func(x, z float64) bool{
	"<": func(x, z float64) bool { return x < z }, "<=": func(x, z float64) bool { return x <= z }, ">": func(x, z float64) bool { return x > z },
	">=": func(x, z float64) bool { return x >= z }, "==": func(x, z float64) bool { return x == z }, "!=": func(x, z float64) bool { return x != z },
}

// Arithmetic computes with numbers of some kind: with their bounds, or with a slope.
type Arithmetic[T any] interface {
	Number(x float64) T
	Value(x T) float64
	// Combine is x + y, x - y, x * y, x / y, x ^ y, max or min.
	Combine(op string, x, y T) T
	// Apply is a function, given as its value and slope, that does not round if it is exact.
	Apply(f func(x float64) float64, slope func(x, y float64) float64, exact bool, x T) T
	// Compare tells 1 or 0, and Sure whether that cannot be otherwise; Either is the first, where it may be the second.
	Compare(f func(x, z float64) bool, x, y T) T
	Sure(condition T) bool
	Either(x, y T) T
}

// Compile makes a function of a formula: of its parameters in their order.
func Compile[T any, A Arithmetic[T]](f *Formula, a A) func(x []T) T { return compile[T](f.root, a) }

// A node becomes a closure over those of its arguments; numbers are made once. where computes only the branch that is
// taken, or both where the condition is not sure.
func compile[T any, A Arithmetic[T]](n *node, a A) func(x []T) T {
	args := each.Of(n.args, func(arg *node) func(x []T) T { return compile[T](arg, a) })
	switch n.op {
	case "number":
		c := a.Number(n.x)
		return func([]T) T { return c }
	case "param":
		return func(x []T) T { return x[n.at] }
	case "where":
		return func(x []T) T {
			c, yes, no := args[0](x), args[1], args[2]
			if a.Value(c) == 0 {
				yes, no = no, yes
			}
			if a.Sure(c) {
				return yes(x)
			}
			return a.Either(yes(x), no(x))
		}
	}
	if test := comparisons[n.op]; test != nil {
		return func(x []T) T { return a.Compare(test, args[0](x), args[1](x)) }
	}
	if e, is := elementary[n.op]; is {
		return func(x []T) T { return a.Apply(e.f, e.slope, e.exact, args[0](x)) }
	}
	if x, z := n.args[0], n.args[1]; x.op == "param" && z.op == "number" { // as of a rectifier: two calls less for each element
		at, c := x.at, a.Number(z.x)
		return func(x []T) T { return a.Combine(n.op, x[at], c) }
	}
	return func(x []T) T { return a.Combine(n.op, args[0](x), args[1](x)) }
}

// dual is a number with its slope.
type dual struct{ y, d float64 }

type slopes struct{}

func (slopes) Number(x float64) dual { return dual{x, 0} }
func (slopes) Value(x dual) float64  { return x.y }
func (slopes) Apply(f func(x float64) float64, slope func(x, y float64) float64, exact bool, x dual) dual {
	y := f(x.y)
	if x.d == 0 {
		return dual{y, 0}
	}
	return dual{y, slope(x.y, y) * x.d}
}
func (slopes) Compare(f func(x, z float64) bool, x, z dual) dual { return dual{truth(f(x.y, z.y)), 0} }
func (slopes) Sure(dual) bool                                    { return true }
func (slopes) Either(x, _ dual) dual                             { return x }

// Sum, product and quotient rule; x^z has z·x^(z−1) and y·log x. Of equal numbers max and min take the second's
// slope.
func (slopes) Combine(op string, x, z dual) dual {
	switch op {
	case "+":
		return dual{x.y + z.y, x.d + z.d}
	case "-":
		return dual{x.y - z.y, x.d - z.d}
	case "*":
		return dual{x.y * z.y, part(x.d, z.y) + part(z.d, x.y)}
	case "/":
		return dual{x.y / z.y, part(x.d, 1/z.y) - part(z.d, x.y/z.y/z.y)}
	case "^":
		y := math.Pow(x.y, z.y)
		return dual{y, part(x.d, z.y*math.Pow(x.y, z.y-1)) + part(z.d, y*math.Log(x.y))}
	case "max":
		if x.y > z.y {
			return dual{math.Max(x.y, z.y), x.d}
		}
		return dual{math.Max(x.y, z.y), z.d}
	}
	if x.y < z.y {
		return dual{math.Min(x.y, z.y), x.d}
	}
	return dual{math.Min(x.y, z.y), z.d}
}

// part is a slope times a factor, which may be infinite or none where there is no slope.
func part(d, factor float64) float64 {
	if d == 0 {
		return 0
	}
	return d * factor
}

// Slope makes a function of the value of a formula and of its slope in the first operand; the other parameters are
// fixed. One goroutine at a time may call it.
func (f *Formula) Slope(fixed []float64) func(x float64) (y, slope float64) {
	run := Compile[dual](f, slopes{})
	at := make([]dual, len(f.Params))
	for i, x := range fixed {
		at[i].y = x
	}
	return func(x float64) (float64, float64) {
		at[f.Operands[0]] = dual{x, 1}
		r := run(at)
		return r.y, r.d
	}
}

// Tensors are the names of the operands.
func (f *Formula) Tensors() (names []string) {
	for _, at := range f.Operands {
		names = append(names, f.Params[at].Name)
	}
	return names
}

// Function is what a formula makes of its first operand, the other parameters being as they are by default. One
// goroutine at a time may call it.
func (f *Formula) Function() func(x float64) float64 {
	fixed := each.Of(f.Params, func(p Param) float64 { return p.Default })
	of := f.Slope(fixed)
	return func(x float64) float64 {
		y, _ := of(x)
		return y
	}
}

// Read reads parameters)=expression. A parameter name:value is a number, name?value a tensor that may be left out, name{word/word}
// one of some texts.
func Read(text string) (f *Formula, err error) {
	head, body, ok := strings.Cut(text, ")=")
	if !ok {
		return nil, fmt.Errorf("%q is no formula", text)
	}
	f = &Formula{}
	names := map[string]int{}
	for _, p := range strings.Split(head, ",") {
		name, value, number := strings.Cut(p, ":")
		param := Param{Name: name, Number: number}
		if short, value, ok := strings.Cut(name, "?"); ok {
			param.Name, param.Optional = short, true
			if param.Default, err = strconv.ParseFloat(value, 64); err != nil {
				return nil, err
			}
		}
		if number {
			if param.Default, err = strconv.ParseFloat(value, 64); err != nil {
				return nil, err
			}
		}
		if short, words, ok := strings.Cut(name, "{"); ok {
			param.Name, param.Words, param.Number = short, strings.Split(strings.TrimSuffix(words, "}"), "/"), true
		}
		names[param.Name] = len(f.Params)
		f.Params = append(f.Params, param)
	}
	r := &reader{names: names}
	r.Init(strings.NewReader(body))
	r.Mode = scanner.ScanIdents | scanner.ScanFloats | scanner.ScanInts
	r.Error = func(*scanner.Scanner, string) {}
	r.next()
	f.root = r.sum(0)
	if r.token != "" && r.err == nil {
		r.err = fmt.Errorf("%q behind a formula", r.token)
	}
	if r.err != nil {
		return nil, fmt.Errorf("%s: %w", body, r.err)
	}
	used := map[int]bool{}
	f.Exact, f.Keeps = true, true
	f.root.look(f, used)
	for i, p := range f.Params {
		if used[i] && !p.Number {
			f.Operands = append(f.Operands, i)
		}
	}
	if len(f.Operands) == 0 {
		return nil, fmt.Errorf("%s: no operand", body)
	}
	return f, nil
}

// Fixed is the formula with numbers in place of some parameters, without what comparing these decides: a rectifier whose
// slope is 0 has no product left that could round. Parameters and operands keep their places.
func (f *Formula) Fixed(numbers map[int]float64) *Formula {
	g := &Formula{Params: f.Params, Operands: f.Operands, Exact: true, Keeps: true, root: f.root.fixed(numbers)}
	g.root.look(g, map[int]bool{})
	return g
}

// Only comparisons of numbers and where on them are decided; x + 0 and x·1 are left to the arithmetic.
func (n *node) fixed(numbers map[int]float64) *node {
	if x, ok := numbers[n.at]; n.op == "param" && ok {
		return &node{op: "number", x: x}
	}
	out := &node{op: n.op, x: n.x, at: n.at}
	for _, a := range n.args {
		out.args = append(out.args, a.fixed(numbers))
	}
	number := func(i int) bool { return out.args[i].op == "number" }
	if test := comparisons[n.op]; test != nil && number(0) && number(1) {
		return &node{op: "number", x: truth(test(out.args[0].x, out.args[1].x))}
	}
	if n.op == "where" && number(0) {
		if out.args[0].x != 0 {
			return out.args[1]
		}
		return out.args[2]
	}
	return out
}

// chunk is how many numbers [Formula.Columns] takes through one step: few enough that steps find them in the cache.
const chunk = 1024

// Columns makes a function that computes a formula whose parameters but the operands are fixed ([Formula.Fixed]) for many
// numbers at once: y of the columns of x, which are in the order of the operands. It calls nothing for a number where
// there is a loop for all, and allocates nothing when it runs; one goroutine may use it at a time.
func (f *Formula) Columns() func(x [][]float32, y []float32) {
	of := f.root.column(f)
	part := make([][]float32, len(f.Operands))
	return func(x [][]float32, y []float32) {
		for lo := 0; lo < len(y); lo += chunk {
			hi := min(lo+chunk, len(y))
			for i := range part {
				part[i] = x[i][lo:hi]
			}
			copy(y[lo:hi], of(part))
		}
	}
}

// Each node keeps one column of a chunk; + − * / and ^ go through float64 and are rounded once.
func (n *node) column(f *Formula) func(x [][]float32) []float32 {
	switch n.op {
	case "param":
		if at := slices.Index(f.Operands, n.at); at >= 0 {
			return func(x [][]float32) []float32 { return x[at] }
		}
		return repeated(f.Params[n.at].Default)
	case "number":
		return repeated(n.x)
	}
	args, in := make([]func(x [][]float32) []float32, len(n.args)), make([][]float32, len(n.args))
	for i, a := range n.args {
		args[i] = a.column(f)
	}
	var step func(y []float32)
	switch e, elementary := elementary[n.op]; {
	case n.op == "where":
		step = func(y []float32) {
			for i, c := range in[0] {
				if y[i] = in[1][i]; c == 0 {
					y[i] = in[2][i]
				}
			}
		}
	case n.op == "max":
		step = func(y []float32) {
			z := in[1][:len(y)]
			for i, v := range in[0][:len(y)] {
				y[i] = max(v, z[i])
			}
		}
	case n.op == "min":
		step = func(y []float32) {
			z := in[1][:len(y)]
			for i, v := range in[0][:len(y)] {
				y[i] = min(v, z[i])
			}
		}
	case elementary:
		step = func(y []float32) {
			for i, v := range in[0] {
				y[i] = float32(e.f(float64(v)))
			}
		}
	default:
		of := comparisons[n.op]
		step = func(y []float32) {
			for i, v := range in[0] {
				switch v, z := float64(v), float64(in[1][i]); {
				case of != nil:
					y[i] = float32(truth(of(v, z)))
				default:
					y[i] = float32(slopes{}.Combine(n.op, dual{y: v}, dual{y: z}).y)
				}
			}
		}
	}
	y := make([]float32, chunk)
	return func(x [][]float32) []float32 {
		for i, of := range args {
			in[i] = of(x)
		}
		y := y[:len(x[0])]
		step(y)
		return y
	}
}

func repeated(v float64) func(x [][]float32) []float32 {
	y := slices.Repeat([]float32{float32(v)}, chunk)
	return func(x [][]float32) []float32 { return y[:len(x[0])] }
}

// Kinked tells whether the slope of a formula jumps somewhere: where something is cut off, compared, or changes its sign. Of one
// operand, where it may be two ways to compute the same, that is looked at.
func (f *Formula) Kinked() bool {
	if f == nil || !f.root.kinked(f) {
		return false
	}
	if len(f.Operands) != 1 {
		return true
	}
	const near, steady = 1.0 / (1 << 20), 1.0 / (1 << 10)
	slope := f.Slope(each.Of(f.Params, func(p Param) float64 { return p.Default }))
	for x := -8.0; x <= 8; x += 0.5 { // where functions of networks have their jumps
		_, below := slope(x - near)
		if _, above := slope(x + near); math.Abs(above-below) > steady {
			return true
		}
	}
	return false
}

func (n *node) kinked(f *Formula) bool {
	switch n.op {
	case "where", "max", "min", "abs", "sign":
		return !n.constant(f)
	}
	return slices.ContainsFunc(n.args, func(a *node) bool { return a.kinked(f) })
}

// look finds what a formula uses, and whether it rounds.
func (n *node) look(f *Formula, used map[int]bool) (number bool) {
	number = true
	for _, a := range n.args {
		number = a.look(f, used) && number
	}
	switch n.op {
	case "param":
		used[n.at] = true
		return f.Params[n.at].Number
	case "number", "where", "max", "min", "abs":
		return number
	case "*":
		f.Exact = f.Exact && number
		if !n.args[0].constant(f) && !n.args[1].constant(f) {
			f.Keeps = false
		}
		return number
	}
	if number { // of parameters alone
		return true
	}
	if n.op == "-" && n.args[0].op == "number" && n.args[0].x == 0 {
		return false // the other sign
	}
	if comparisons[n.op] == nil {
		f.Keeps = false
		f.Exact = f.Exact && elementary[n.op].exact
	} else if n == f.root {
		f.Keeps = false
	}
	return false
}

// constant tells of a part of a formula that no operand is in.
func (n *node) constant(f *Formula) bool {
	return !slices.ContainsFunc(n.args, func(a *node) bool { return !a.constant(f) }) && (n.op != "param" || f.Params[n.at].Number)
}

// reader reads expressions by precedence.
type reader struct {
	scanner.Scanner
	token string
	kind  rune
	names map[string]int
	err   error
}

func (r *reader) next() {
	r.kind = r.Scan()
	r.token = r.TokenText()
	if strings.Contains("<>=!", r.token) && r.token != "" && r.Peek() == '=' {
		r.Scan()
		r.token += "="
	}
}

var levels = [][]string{{"<", "<=", ">", ">=", "==", "!="}, {"+", "-"}, {"*", "/"}, {"^"}}

func (r *reader) sum(level int) *node {
	if level == len(levels) {
		return r.atom()
	}
	x := r.sum(level + 1)
	for slices.Contains(levels[level], r.token) && r.err == nil {
		op := r.token
		r.next()
		x = &node{op: op, args: []*node{x, r.sum(level + 1)}}
	}
	return x
}

func (r *reader) atom() *node {
	token, kind := r.token, r.kind
	r.next()
	switch {
	case r.err != nil:
	case token == "-":
		if x := r.sum(len(levels) - 1); x.op == "number" {
			return &node{op: "number", x: -x.x}
		} else {
			return &node{op: "-", args: []*node{{op: "number"}, x}}
		}
	case token == "(":
		x := r.sum(0)
		r.expect(")")
		return x
	case kind == scanner.Float || kind == scanner.Int:
		x, err := strconv.ParseFloat(token, 64)
		r.err = err
		return &node{op: "number", x: x}
	case kind == scanner.Ident && token == "inf":
		return &node{op: "number", x: math.Inf(1)}
	case kind == scanner.Ident && r.token == "(":
		n := &node{op: token}
		for r.token != ")" && r.err == nil {
			r.next()
			n.args = append(n.args, r.sum(0))
			if r.token != "," && r.token != ")" {
				r.err = fmt.Errorf("%q in place of , or )", r.token)
			}
		}
		r.next()
		want := 1
		if _, is := elementary[token]; !is {
			want = map[string]int{"max": 2, "min": 2, "where": 3}[token]
		}
		if len(n.args) != want && r.err == nil {
			r.err = fmt.Errorf("%s of %d", token, len(n.args))
		}
		return n
	case kind == scanner.Ident:
		at, ok := r.names[token]
		if !ok {
			r.err = fmt.Errorf("%s is no parameter", token)
		}
		return &node{op: "param", at: at}
	default:
		r.err = fmt.Errorf("%q is no expression", token)
	}
	return &node{op: "number"}
}

func (r *reader) expect(token string) {
	if r.token != token && r.err == nil {
		r.err = fmt.Errorf("%q in place of %s", r.token, token)
	}
	r.next()
}
