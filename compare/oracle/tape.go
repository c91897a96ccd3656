package oracle

import (
	"maps"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"

	"precision/internal/each"
	"precision/internal/must"
	catalogue "precision/op"
)

// Programs: functions whose gradients follow from what they compute. A formula of the numbers in
// one place can be derived as text (formula.go); a quantile, a p-norm or a triangular system
// cannot. Such a function is written once, forward, as Go that puts steps on a tape, and reverse
// accumulation (Linnainmaa, 1970; Griewank and Walther, Evaluating Derivatives, 2008) goes back
// over them.
//
// Each step keeps its value, its bound, where its operands are, and the slopes in them, which have
// bounds, too. So the result of a program has a bound by the rules of [arith], and so has the
// gradient of every operand: a sum over all ways from the operand to the results, each a product of
// slopes.
//
// The trick that keeps programs short is that a tensor of a program does not hold numbers but
// places on the tape. Everything that moves elements (transpose, cut, gather, reshape) works on
// places as it works on numbers, costs no step, and needs no gradient of its own: what was moved is
// added up where it came from. [mover] makes a form of that alone.
//
// The price is memory, some hundred bytes a step, and time; so programs are for functions whose
// tensors are small, and where one is common a form computes the result faster, with the tape for
// its gradients alone ([derive]).
//
// Behind the tape stand steps: kernels whose rows in the catalogue say their formulas
// ([invocation.bySteps]).

// tape is what a function computes, number by number. A program is written once, as what goes
// forward; the gradients follow from the steps it took. Its tensors hold places on the tape in
// place of numbers, so that whatever moves elements moves these: below 0 of what was given, from 0
// on of steps.
type tape struct {
	*invocation
	a       arith
	sums    float64 // unit roundoff of sums
	y, b    []float64
	given   map[string]*dense // the operands by their names, 0, 1, … in a list
	numbers map[float64]float64
	read    map[string]func(x []float64) float64 // formulas by their texts
	steps   []taped
	summed  int // terms of all sums
	// backwards is set where the gradients are asked for.
	backwards bool
}

// taped is a number made of others: with the slopes in two of them, or as the sum of all.
type taped struct {
	v      num
	from   [2]int
	slopes [2]num
	all    []float64
}

// mostSteps bounds the steps of a program, each of which takes some hundred bytes, and mostAdded
// what its sums are of:
// running sums are of ever more.
const (
	mostSteps = 1 << 19
	mostAdded = 1 << 24
)

// program adds a form that is a program, with the operands that have gradients in their order; #
// are all of a list.
func program(form string, operands []string, run func(t *tape) []*dense) {
	fresh := func(k *invocation, c *Call) *tape {
		other := *k
		other.Call = c
		return &tape{invocation: &other, a: c.arith(), sums: c.sumUnit(), given: map[string]*dense{}, numbers: map[float64]float64{},
			read: map[string]func(x []float64) float64{}}
	}
	f := function{forward: func(k *invocation) []Reading {
		t, r := fresh(k, k.Call), Reading{}
		for _, v := range run(t) {
			r.Out = append(r.Out, t.values(v))
		}
		return []Reading{r}
	}}
	if operands != nil {
		f.nodes = [][]string{operands}
		f.backward = func(k *invocation, g []Values) gradients {
			c := *k.Call
			c.outs = k.results
			t := fresh(k, &c)
			t.backwards = true
			out := run(t)
			sum := t.back(out, g)
			all := gradients{}
			for name, v := range t.given {
				all[name] = func() Values { return t.gradient(v, sum) }
			}
			return all
		}
	}
	define(form, f)
}

// at is a number on the tape.
func (t *tape) at(p float64) num {
	if i := int(p); i >= 0 {
		return t.steps[i].v
	} else {
		return num{t.y[-i-1], t.b[-i-1]}
	}
}

// give puts numbers on the tape.
// The places are negative: −1 for the first number. 8 M numbers at most.
func (t *tape) give(v Values) *dense {
	d := held(v)
	refuseIf(len(t.y)+len(d.y) > maxDense, TooLarge, len(t.y)+len(d.y), maxDense)
	places := zeros(d.shape...)
	for i := range places.y {
		places.y[i] = float64(-len(t.y) - 1 - i)
	}
	t.y, t.b = append(t.y, d.y...), append(t.b, make([]float64, len(d.y))...)
	if d.b != nil {
		copy(t.b[len(t.b)-len(d.y):], d.b)
	}
	return places
}

// in is an operand, a tensor or a number.
// Asked for twice, it is the same places, so that gradients of both uses add up.
func (t *tape) in(name string) *dense {
	if t.given[name] == nil {
		t.given[name] = t.give(t.value(name))
	}
	return t.given[name]
}

// all is an operand that is a list of tensors, or one.
func (t *tape) all(name string) (list []*dense) {
	from := []*argument{t.args[name]}
	if !from[0].tensor() {
		t.tensors(name)
		from = from[0].list
	}
	for i, a := range from {
		v := t.give(t.valueOf(a, name))
		t.given[itoa(i)], list = v, append(list, v)
	}
	return list
}

// Number is the place of a number that is not given, or was rounded to the type of the result.
func (t *tape) Number(x float64) float64 {
	p, ok := t.numbers[x]
	if !ok {
		p = t.give(scalar(x)).y[0]
		t.numbers[x] = p
	}
	return p
}

// factor is a number argument, which is whole among whole numbers.
func (t *tape) factor(name string, missing float64) float64 {
	x := t.float(name, missing)
	if integers(t.Call) {
		x = math.Trunc(x)
	}
	return t.give(t.constant(x)).y[0]
}

// push puts a step on the tape, and gives its place. Steps and terms of sums are bounded.
func (t *tape) push(s taped) float64 {
	t.summed += len(s.all)
	refuseIf(len(t.steps) >= mostSteps || t.summed > mostAdded, TooLarge, max(len(t.steps), t.summed), mostSteps)
	t.steps = append(t.steps, s)
	return float64(len(t.steps) - 1)
}

// Combine is a step of two numbers; adding 0 and multiplying by 1 is none.
// max and min of numbers that no error exchanges are one of the two, at its own place.
func (t *tape) Combine(op string, p, q float64) float64 {
	x, z := t.at(p), t.at(q)
	number := func(place, x float64) bool { own, ok := t.numbers[x]; return ok && own == place }
	switch {
	case number(q, 0) && (op == "+" || op == "-"), number(q, 1) && (op == "*" || op == "/"):
		return p
	case number(p, 0) && op == "+", number(p, 1) && op == "*":
		return q
	case (op == "max" || op == "min") && abs(x.y-z.y) > x.b+z.b: // and no error makes it the other one
		if (x.y > z.y) == (op == "max") {
			return p
		}
		return q
	}
	y := t.a.Combine(op, x, z)
	dx, dz := t.a.slopes(op, x, z, y)
	return t.push(taped{v: y, from: [2]int{int(p), int(q)}, slopes: [2]num{dx, dz}})
}

// Apply is a step of one number.
func (t *tape) Apply(f func(x float64) float64, slope func(x, y float64) float64, exact bool, p float64) float64 {
	x := t.at(p)
	y := t.a.Apply(f, slope, exact, x)
	return t.push(taped{v: y, from: [2]int{int(p), int(p)}, slopes: [2]num{t.a.slopeAt(slope, exact, x, y)}})
}

func (t *tape) Value(p float64) float64 { return t.at(p).y }
func (t *tape) Sure(p float64) bool     { return t.at(p).b == 0 }

// Either is the first of two numbers that a comparison decides between which is not sure.
// Each may have all of the gradient or none.
func (t *tape) Either(p, q float64) float64 {
	half := num{0.5, 0.5}
	return t.push(taped{v: t.a.Either(t.at(p), t.at(q)), from: [2]int{int(p), int(q)}, slopes: [2]num{half, half}})
}

// Compare is 0 or 1, and has no gradient.
func (t *tape) Compare(f func(x, z float64) bool, p, q float64) float64 {
	return t.push(taped{v: t.a.Compare(f, t.at(p), t.at(q))})
}

// sum adds numbers in any order.
// It is one step with as many sources as there are terms: each has a slope of 1.
func (t *tape) sum(list ...float64) float64 {
	switch len(list) {
	case 0:
		return t.Number(0)
	case 1:
		return list[0]
	}
	terms := each.Of(list, t.at)
	return t.push(taped{v: total(terms, t.sums), all: slices.Clone(list)})
}

func (t *tape) add(p, q float64) float64 { return t.Combine("+", p, q) }
func (t *tape) sub(p, q float64) float64 { return t.Combine("-", p, q) }
func (t *tape) mul(p, q float64) float64 { return t.Combine("*", p, q) }
func (t *tape) div(p, q float64) float64 { return t.Combine("/", p, q) }

// do applies a formula of the catalogue's language to numbers.
// The language of op/formula.go: "x,z)=x*z", parameters first.
func (t *tape) do(text string, x ...float64) float64 { return t.formulaOf(text)(x) }

// formulaOf is a formula, read once.
func (t *tape) formulaOf(text string) func(x []float64) float64 {
	if t.read[text] == nil {
		f, err := catalogue.Read(text)
		must.Do(err)
		t.read[text] = catalogue.Compile[float64](f, t)
	}
	return t.read[text]
}

// row applies a formula to each number of a row and others.
func (t *tape) row(text string, row []float64, others ...float64) []float64 {
	f, x, out := t.formulaOf(text), append([]float64{0}, others...), make([]float64, len(row))
	for i, p := range row {
		x[0] = p
		out[i] = f(x)
	}
	return out
}

// single is a tensor of one number.
func (t *tape) single(p float64) *dense {
	return &dense{shape: []int64{}, y: []float64{p}, exact: true}
}

// each applies a formula to the numbers in one place of tensors.
// They are repeated to each other's shapes by numpy's rules.
func (t *tape) each(text string, in ...*dense) *dense {
	f := t.formulaOf(text)
	var shapes [][]int64
	for _, v := range in {
		shapes = append(shapes, v.shape)
	}
	shape, ok := broadcastShape(shapes...)
	refuseIf(!ok, ShapesDiffer, shapeText(shapes...))
	n := count(shape)
	refuseIf(n > maxDense, TooLarge, n, maxDense)
	all := make([][]float64, len(in))
	for i, v := range in {
		w, _ := broadcast(v, shape)
		all[i] = held(w).y
	}
	out, x := t.blank(shape), make([]float64, len(in))
	for i := range out.y {
		for j := range in {
			x[j] = all[j][i]
		}
		out.y[i] = f(x)
	}
	return out
}

// blank is a tensor of places to be filled.
func (t *tape) blank(shape []int64) *dense {
	n := count(shape)
	refuseIf(n > maxDense, TooLarge, n, maxDense)
	return zeros(shape...)
}

// filled is a tensor of one number.
func (t *tape) filled(shape []int64, x float64) *dense {
	v, p := t.blank(shape), t.Number(x)
	for i := range v.y {
		v.y[i] = p
	}
	return v
}

// move is what a function that moves elements makes of places.
func move(v Values) *dense { return held(v) }

// along applies a function to the rows of some axes, all if there are none; it gives some numbers
// for each row, as many as a row has to stay in place. A row has n numbers; keep leaves axes of one
// element.
func (t *tape) along(v *dense, axes []int, keep bool, f func(row []float64) []float64) *dense {
	in, kept, n := lastAxes(v, axes)
	d := move(in)
	shape, rows := []int64{}, []int64{}
	for i, size := range v.shape {
		if slices.Contains(kept, i) {
			shape, rows = append(shape, size), append(rows, size)
		} else if keep {
			shape = append(shape, 1)
		}
	}
	var out []float64
	for r := range count(rows) {
		out = append(out, f(d.y[r*n:][:n])...)
	}
	if n > 0 && int64(len(out)) == count(v.shape) && (n > 1 || keep) {
		return move(backAxes(&dense{shape: in.Shape(), y: out, exact: true}, len(v.shape), kept, axes))
	}
	refuseIf(int64(len(out)) != count(shape), ShapesDiffer, v.shape, shape)
	return &dense{shape: shape, y: out, exact: true}
}

// total is the sum over some axes.
func (t *tape) total(v *dense, axes []int, keep bool) *dense {
	return t.along(v, axes, keep, func(row []float64) []float64 { return []float64{t.sum(row...)} })
}

// mean is the mean over some axes.
func (t *tape) mean(v *dense, axes []int, keep bool) *dense {
	s := t.total(v, axes, keep)
	return t.each("x,n)=x/n", s, t.single(t.Number(float64(len(v.y))/float64(max(len(s.y), 1)))))
}

// values are the numbers of a tensor of places: exact if no step made one.
func (t *tape) values(v *dense) Values {
	if v == nil {
		return nil
	}
	d := &dense{shape: v.shape, y: make([]float64, len(v.y)), b: make([]float64, len(v.y)), exact: true}
	for i, p := range v.y {
		x := t.at(p)
		d.y[i], d.b[i] = x.y, x.b
		d.exact = d.exact && p < 0 && x.b == 0
	}
	if d.exact {
		d.b = nil
	}
	return d
}

// adjoint is the gradient of a number, a sum of what comes from where it went.
type adjoint struct {
	y, size, off float64
	n            int
	made         bool // not just moved
}

// add adds a gradient that comes from one place that the number went to; made is set where it was
// computed and not just passed on.
func (s *adjoint) add(x num, made bool) {
	if x == exactNum(0) {
		return
	}
	s.y += x.y
	s.size += abs(x.y)
	s.off += x.b
	s.n++
	s.made = s.made || made
}

// n terms in any order: g(n + 1)·Σ|x| on top of what each is off by itself.
func (s *adjoint) num(u float64) num {
	if s.n <= 1 {
		return num{s.y, s.off}
	}
	return num{s.y, s.off + gamma(float64(s.n)+1, u)*s.size}
}

// back goes from the gradients of the results to those of all numbers that were given. Steps are
// visited from the last on, so that all that used a number has been added before it is passed on.
func (t *tape) back(out []*dense, g []Values) []adjoint {
	given, steps := make([]adjoint, len(t.y)), make([]adjoint, len(t.steps))
	at := func(p int) *adjoint {
		if p < 0 {
			return &given[-p-1]
		}
		return &steps[p]
	}
	for i, v := range g {
		if v == nil {
			continue
		}
		refuseIf(i >= len(out) || out[i] == nil || count(v.Shape()) != int64(len(out[i].y)), ShapesDiffer, v.Shape())
		d := held(v)
		for j, p := range out[i].y {
			at(int(p)).add(exactNum(d.y[j]), false)
		}
	}
	for i := len(t.steps) - 1; i >= 0; i-- {
		if steps[i].n == 0 {
			continue
		}
		s, x := &t.steps[i], steps[i].num(t.sums)
		for _, p := range s.all {
			at(int(p)).add(x, steps[i].made || steps[i].n > 1)
		}
		for j, d := range s.slopes {
			one := d == exactNum(1) || d == exactNum(-1)
			if d.y == 0 && d.b == 0 {
				continue
			}
			y := t.a.along(x, d)
			if one {
				y = num{d.y * x.y, x.b}
			}
			at(s.from[j]).add(y, !one || steps[i].made || steps[i].n > 1)
		}
	}
	return given
}

// gradient is that of an operand. 4 times the bound: PyTorch computes gradients by other formulas
// than the chain rule of these steps, with a few roundings more or in another order; what was only
// moved stays exact.
func (t *tape) gradient(v *dense, sum []adjoint) Values {
	d := &dense{shape: v.shape, y: make([]float64, len(v.y)), b: make([]float64, len(v.y)), exact: true}
	for i, p := range v.y {
		s := &sum[-int(p)-1]
		x := s.num(t.sums)
		if d.y[i], d.b[i] = x.y, 4*x.b+t.a.u*s.size; !s.made && s.n <= 1 {
			d.b[i] = 0
		} else {
			d.exact = false
		}
		if math.IsNaN(x.y) || math.IsNaN(x.b) {
			d.b[i] = math.Inf(1)
		}
	}
	if d.exact {
		d.b = nil
	}
	return d
}

// ordered are the places of a row in the order of their numbers.
func (t *tape) ordered(row []float64) []float64 {
	list := slices.Clone(row)
	sort.SliceStable(list, func(i, j int) bool {
		x, z := t.at(list[i]).y, t.at(list[j]).y
		return x < z || math.IsNaN(z) && !math.IsNaN(x)
	})
	return list
}

// with is an invocation with other arguments in place of some.
func (k *invocation) with(args map[string]*argument) *invocation {
	other := *k
	other.args = maps.Clone(k.args)
	maps.Copy(other.args, args)
	return &other
}

// Kernels that are formulas and sums of products, which their rows say step by step.

// bySteps makes the outputs of a row of steps, each a name (a number for an output), = and one of
//
//	a*b+c               a formula of what was given or made before
//	.md,nd->.mn(x,w)    sums of products by the labels of axes, a dot being all in front
//	softmax:x           a function of [madeBy]
//
// What is made under a name?given is made where that was given, or under name!given where it was
// not; @name=number says what an argument has to be. Arguments that no step takes are refused, but
// for 0.
func (k *invocation) bySteps(steps []string) []Reading {
	made, out, used := map[string]Values{}, make([]Values, len(k.outs)), map[string]bool{}
	of := func(list string) (in []Values) {
		for _, name := range strings.Split(list, ",") {
			used[name] = true
			switch v := made[name]; {
			case v != nil:
				in = append(in, v)
			case k.args[name].tensor():
				in = append(in, k.tensor(name))
			default:
				k.required(name)
				in = append(in, k.constant(k.float(name, 0)))
			}
		}
		return in
	}
	for _, step := range steps {
		name, text, _ := strings.Cut(step, "=")
		if name[0] == '@' { // is this number or refused
			k.only(must.Get(strconv.ParseFloat(text, 64)), name[1:])
			used[name[1:]] = true
			continue
		}
		if at := strings.IndexAny(name, "?!"); at > 0 {
			if used[name[at+1:]] = true; k.has(name[at+1:]) != (name[at] == '?') {
				for _, other := range namesIn(text) {
					used[other] = true
				}
				continue
			}
			name = name[:at]
		}
		if labels, rest, ok := strings.Cut(text, "->"); ok {
			to, list, _ := strings.Cut(strings.TrimSuffix(rest, ")"), "(")
			made[name] = k.labelled(strings.Split(labels, ","), to, of(list)...)
		} else if how, list, ok := strings.Cut(text, ":"); ok {
			made[name] = madeBy[how](k, of(list))
		} else {
			names := strings.Join(namesIn(text), ",")
			made[name] = k.computed(names+")="+text, of(names)...)
		}
		if i := int(name[0] - '0'); i >= 0 && i < len(out) && k.outs[i] != nil {
			out[i] = k.asRecorded(made[name], i)
		}
	}
	for name, a := range k.args {
		if x, ok := a.number(); !used[name] && !a.none() && !(ok && x == 0) {
			panic(refusal(Unsupported, k.shown(name)))
		}
	}
	return outputs(out...)
}

// madeBy are functions of steps, most of them along the last axis.
var madeBy = map[string]func(k *invocation, in []Values) Values{
	"kept":    func(k *invocation, in []Values) Values { return &rounded{in[0], precisionFor(leaf(in[1]).numeric())} }, // as it may be rounded to the type of another
	"softmax": func(k *invocation, in []Values) Values { return k.softmax(in[0], lastOne(in[0]), false) },
	"first":   func(k *invocation, in []Values) Values { a, _ := k.halved(in[0], lastOne(in[0])[0], true); return a },
	"second":  func(k *invocation, in []Values) Values { _, b := k.halved(in[0], lastOne(in[0])[0], true); return b },
	"join":    func(k *invocation, in []Values) Values { return joined(lastOne(in[0])[0], in...) },
	"taken":   func(k *invocation, in []Values) Values { return takenAlong(in[0], in[1], lastOne(in[1])[0]) },
	"like":    func(k *invocation, in []Values) Values { return sized(in[0], in[1].Shape()) },
	// what is put in places of rows that are as long as those of another and 0 elsewhere
	"put": func(k *invocation, in []Values) Values {
		at, v, s := numbers(in[1]), held(in[0]), in[2].Shape()
		per, n := in[1].Shape()[lastOne(in[1])[0]], s[lastOne(in[2])[0]]
		refuseIf(len(at) != len(v.y) || int64(len(at)) != count(s)/max(n, 1)*per, ShapesDiffer, v.shape, in[1].Shape(), s)
		d := bounded(s...)
		for i, p := range at {
			refuseIf(p < 0 || p >= float64(n), OutsideCache, "indices", p, n)
			to := int64(i)/per*n + int64(p)
			if d.y[to] += v.y[i]; v.b != nil {
				d.b[to] += v.b[i]
			}
		}
		return d
	},
}

// lastOne is the last axis, which there has to be.
func lastOne(v Values) []int {
	n := len(v.Shape())
	refuseIf(n == 0, ShapesDiffer, v.Shape())
	return []int{n - 1}
}

// namesIn are the names of numbers in a formula.
func namesIn(text string) (names []string) {
	word := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || r == '.' }
	seen := map[string]bool{"": true, "inf": true}
	for at := 0; at < len(text); {
		end := at
		for end < len(text) && word(rune(text[end])) {
			end++
		}
		if name := text[at:end]; !seen[name] && !unicode.IsDigit(rune(name[0])) && (end == len(text) || text[end] != '(') {
			seen[name], names = true, append(names, name)
		}
		at = end + 1
	}
	return names
}

// labelled are sums of products by the labels of axes; a 1 of the result is an axis of one. A tensor
// whose labels stay as they are is that tensor, exactly.
func (k *invocation) labelled(labels []string, to string, in ...Values) Values {
	lead := 0
	for i, x := range in {
		if rest, ok := strings.CutPrefix(labels[i], "."); ok {
			refuseIf(len(x.Shape()) < len(rest), ShapesDiffer, x.Shape())
			lead = max(lead, len(x.Shape())-len(rest))
		}
	}
	refuseIf(lead > 8, ShapesDiffer, in[0].Shape())
	front := "ABCDEFGH"[:lead]
	wide := strings.Replace(to, ".", front, 1)
	plain := strings.ReplaceAll(wide, "1", "")
	for i, x := range in {
		if rest, ok := strings.CutPrefix(labels[i], "."); ok {
			labels[i] = front[lead-(len(x.Shape())-len(rest)):] + rest
		}
	}
	v := in[0]
	if len(in) > 1 || labels[0] != plain || len(v.Shape()) != len(plain) {
		if v = k.asProduct(labels, plain, in); v == nil {
			v = k.newContraction(labels, plain, in...)
		}
	}
	shape, at := []int64{}, 0
	for _, l := range wide {
		n := int64(1)
		if l != '1' {
			n, at = v.Shape()[at], at+1
		}
		shape = append(shape, n)
	}
	return reshape(v, shape)
}

// asProduct is a product of matrices, those of either side turned where they have to be; nil where
// it is something else.
func (k *invocation) asProduct(labels []string, to string, in []Values) Values {
	if len(in) != 2 || len(to) < 2 || len(labels[0]) < 2 || len(labels[1]) < 2 {
		return nil
	}
	split := func(s string) (front, row, column string) { n := len(s); return s[:n-2], s[n-2 : n-1], s[n-1:] }
	front, m, n := split(to)
	fa, a0, a1 := split(labels[0])
	fb, b0, b1 := split(labels[1])
	turnA, turnB := a1 == m, b0 == n
	if turnA {
		a0, a1 = a1, a0
	}
	if turnB {
		b0, b1 = b1, b0
	}
	if a0 != m || b1 != n || a1 != b0 || !strings.HasSuffix(front, fa) || !strings.HasSuffix(front, fb) || fa != front && fb != front {
		return nil
	}
	return k.product(turned(in[0], turnA), turned(in[1], turnB))
}
