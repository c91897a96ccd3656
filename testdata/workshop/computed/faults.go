package computed

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// Faults are the faults of kernels.
//
//	scale    the result times 1.5      tail     the last elements are not written
//	stale    the middle third holds an earlier tensor's numbers
//	offset   a constant is added: a tenth of the largest element
//	bitflip  an exponent bit of one element
//	axis     the last two axes are exchanged
//	dropped  the bias, the second operand or the activation is left out
//	weight   blocks of the weight are read transposed
//	param    a wrong epsilon, padding, kind of pooling
//	nan      one NaN                   uninit   one element in 50 is random
//	acc16    sums in float16
//	shift    integers: the zero point is moved by 7; chosen indices: one too far
var Faults = []string{"scale", "tail", "stale", "offset", "bitflip", "axis", "dropped", "weight", "param", "nan", "uninit", "acc16", "shift"}

// Migrations are ways in which the framework computes something else than what
// graph and weights of the device say.
//
//	weight     another weight: scaled, transposed, of another checkpoint
//	bias       no bias, or another one
//	attribute  epsilon, axes, pads, transposition, slope, alignment of the graph
//	formula    another function of the same kind
var Migrations = []string{"weight", "bias", "attribute", "formula"}

// Goldens are faults of golden arrays: noise and a factor, the array of another
// run, the arrays of two operators exchanged.
var Goldens = []string{"wrong", "stale", "exchanged"}

// Premises are why two recordings are not of the same thing: other data, other
// weights, another step, one element of an input, one weight, two networks; or the dumps
// of the device hold the inputs of one step and the outputs of another.
var Premises = []string{"data", "weights", "step", "element", "weight", "exchanged", "mixed"}

// fault is one of a kernel.
type fault struct {
	kind    string
	rng     *rand.Rand
	earlier array
}

// scale changes the result before it is rounded.
func (f *fault) scale(y array, dtype string) {
	if f.kind != "scale" || dtype == flag {
		return
	}
	for i := range y.v {
		y.v[i] *= 1.5
		if !floats(dtype) {
			y.v[i] = math.Trunc(y.v[i])
		}
		if dtype == i8 {
			y.v[i] = min(max(y.v[i], -128), 127)
		}
	}
}

// written is y as it stands in memory.
func (f *fault) written(y array, dtype string) array {
	y = y.clone()
	n := len(y.v)
	float := floats(dtype)
	switch f.kind {
	case "tail":
		if k := len(y.shape); k == 4 && y.shape[1] >= 32 { // channels
			inner := product(y.shape[2:])
			for b := range y.shape[0] {
				for i := (y.shape[1] - 16) * inner; i < y.shape[1]*inner; i++ {
					y.v[b*y.shape[1]*inner+i] = 0
				}
			}
			break
		}
		for i := n - max(1, n/8); i < n; i++ {
			y.v[i] = 0
		}
	case "stale":
		for i := n / 3; i < 2*n/3 && len(f.earlier.v) > 0; i++ {
			y.v[i] = round(dtype, f.earlier.v[i%len(f.earlier.v)])
		}
	case "offset":
		most := 0.0
		for _, v := range y.v {
			if !math.IsInf(v, 0) && v == v {
				most = max(most, math.Abs(v))
			}
		}
		for i := range y.v {
			if float {
				y.v[i] = round(dtype, y.v[i]+most/10)
			}
		}
	case "axis":
		if len(y.shape) > 1 {
			y = flip(y).as(y.shape...)
		}
	case "bitflip":
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(i, j int) int {
			switch a, b := math.Abs(y.v[i]), math.Abs(y.v[j]); {
			case a < b:
				return -1
			case a > b:
				return 1
			}
			return 0
		})
		if float {
			at := order[n*9/10]
			y.v[at] = round(dtype, y.v[at]*16)
		}
	case "nan":
		if float {
			y.v[n/2] = math.NaN()
		}
	case "uninit":
		rms := 0.0
		for _, v := range y.v {
			if !math.IsInf(v, 0) && v == v {
				rms += v * v / float64(n)
			}
		}
		for range max(1, n/50) {
			if float {
				y.v[f.rng.IntN(n)] = round(dtype, 3*math.Sqrt(rms)*f.rng.NormFloat64())
			}
		}
	case "shift":
		switch dtype {
		case i8:
			for i, v := range y.v {
				y.v[i] = min(v+7, 127)
			}
		case i32:
			for i, v := range y.v {
				y.v[i] = v + 7
			}
		}
	}
	return y
}

// inside are faults of the arithmetic, which kernels look at themselves.
var inside = []string{"scale", "dropped", "weight", "param", "acc16"}

// split cuts KIND:OP.
func splitWrong(text string, kinds []string) (kind, op string, err error) {
	kind, op, _ = strings.Cut(text, ":")
	if !slices.Contains(kinds, kind) {
		err = fmt.Errorf("no kind %q: one of %s", kind, strings.Join(kinds, ", "))
	}
	return kind, op, err
}

// pick tries the candidates in the order of the seed until try accepts one. An
// operator that is named is the only candidate.
func (n *Network) pick(op string, ok func(*node) bool, try func(*node) bool) error {
	var list []*node
	for _, x := range n.nodes {
		if (op == "" || x.name == op) && ok(x) {
			list = append(list, x)
		}
	}
	rng := n.options.rng(2)
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	for _, x := range list {
		if try(x) {
			return nil
		}
	}
	return fmt.Errorf("no operator can be so wrong: of %d", len(list))
}

// compute runs both sides with what is wrong.
func (n *Network) compute() error {
	o := n.options
	for _, x := range n.nodes {
		if x.computed() {
			keep(n.device, x, n.runDevice(x, nil))
		}
	}
	n.sources(n.golden, n.nodes, nil)
	n.follow(n.golden, nil)
	switch {
	case o.Fault != "":
		return n.faulty()
	case o.Migration != "":
		return n.migrated()
	case o.Golden != "":
		return n.damaged()
	case o.Premise != "":
		return n.premised()
	}
	return nil
}

// follow computes a golden side from its sources; change may compute a node
// otherwise.
func (n *Network) follow(side map[string]array, change func(x *node) *node) {
	for _, x := range n.nodes {
		if !x.computed() {
			continue
		}
		y := x
		if change != nil {
			y = change(x)
		}
		keep(side, x, n.runGolden(side, y))
	}
}

// faulty has one kernel compute wrongly, and all behind it go on with that.
func (n *Network) faulty() error {
	kind, op, err := splitWrong(n.options.Fault, Faults)
	if err != nil {
		return err
	}
	n.answer.Class, n.answer.Expected = "fault", "bad"
	culprit := (*node)(nil)
	var wrong []array
	err = n.pick(op, func(x *node) bool { return x.computed() }, func(x *node) bool {
		if d := x.outputs[0].dtype; kind == "acc16" && !floats(d) {
			return false // sums of integers have an accumulator of their own
		}
		f := &fault{kind: kind, rng: n.options.rng(3), earlier: n.earlier(x)}
		ys := n.runDevice(x, nil)
		if slices.Contains(inside, kind) {
			ys = n.runDevice(x, f)
		} else {
			for i := range ys[:1] {
				ys[i] = f.written(ys[i], x.outputs[i].dtype)
			}
		}
		e := Effect{Kind: kind, Op: x.name, Type: x.kind, How: "the kernel", Accept: []string{"wrong"}}
		for i := range ys {
			changed, rel := differs(n.device[fmt.Sprintf("%s:%d", x.name, i)], ys[i])
			e.Changed += changed
			e.Relative = max(e.Relative, rel)
		}
		// What rounding could do as well is no fault that can be found; a summation in
		// float16 is seen by a check alone.
		limit := 0.05
		if kind == "acc16" {
			limit = 0.004
		}
		if e.Relative < limit {
			return false
		}
		e.Exceeds = true
		culprit, wrong = x, ys
		n.answer.Faults = append(n.answer.Faults, e)
		return true
	})
	if err != nil {
		return err
	}
	behind := false
	for _, x := range n.nodes {
		switch {
		case x == culprit:
			keep(n.device, x, wrong)
			behind = true
		case behind && x.computed():
			keep(n.device, x, n.runDevice(x, nil))
		}
	}
	return nil
}

// earlier is a tensor that was computed before x.
func (n *Network) earlier(x *node) array {
	var last array
	for _, y := range n.nodes {
		if y == x {
			break
		}
		if y.computed() && (narrow(y.outputs[0].dtype) || y.outputs[0].dtype == x.outputs[0].dtype) {
			if v := n.device[y.name+":0"]; len(v.v) > 8 {
				last = v
			}
		}
	}
	return last
}
