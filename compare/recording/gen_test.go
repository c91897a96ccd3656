package recording_test

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A generator of recordings: random networks that are computed, forward, backward
// and with a step of the optimizer, and that record themselves as msprobe does. A run can be
// given one fault; what is wrong with it is then known.

// setup is how a run is recorded and on what it runs.
type setup struct {
	level   string // L0, L1, mix
	summary string // statistics, md5, xor
	dtype   string // float32, bfloat16, float16
	// noise is how much every computed element is off, relative, as on another device.
	noise float64
	// other is what another run had: "data", "weights", those of another "step".
	other string
}

// fault is what goes wrong: a kind of [faults] at a step of the network.
type fault struct {
	kind string
	step int
}

// tensor is a value of the network.
type tensor struct {
	shape []int
	v     []float64
	ints  bool
	grad  []float64
	needs bool // a gradient
	dtype string
}

func (t *tensor) like() *tensor { return &tensor{shape: t.shape, v: make([]float64, len(t.v))} }

// network computes and records.
type network struct {
	setup
	fault   fault
	random  *rand.Rand // what the network is: the same on both sides
	noisy   *rand.Rand
	entries []string
	number  map[string]int
	parents map[string]string
	inside  []string // modules around
	tape    []func()
	steps   int
	// able are the steps where a kind of fault is possible, name what is recorded
	// there: function and modules, innermost first.
	able  map[string][]int
	name  map[int][]string
	last  []string // what the latest recorded call is called
	hit   bool
	back  bool    // the fault shows in the first backward call
	watch string  // the name at the fault
	wrong *tensor // the fault shows at the first call that gets it
	names []string
	owner []parameter
	// again leads from calls to those that computed the same once more.
	again map[string]string
}

// recompute records the calls from entry number first on once more, before their
// gradients are computed.
func (n *network) recompute(first, last int) {
	n.again = map[string]string{}
	for i := first; i < last; i++ {
		name := n.names[i]
		api := strings.Join(strings.Split(name, ".")[:2], ".")
		n.again[name] = fmt.Sprintf("%s.%d.forward", api, n.number[api])
		n.number[api]++
		n.entries = append(n.entries, strings.Replace(n.entries[i], name, n.again[name], 1))
		n.names = append(n.names, n.again[name])
	}
}

type parameter struct {
	module, name string
	t            *tensor
}

func (n *network) roundTo(v float64) float64 {
	switch n.dtype {
	case "bfloat16":
		b := math.Float32bits(float32(v))
		if v != v {
			return v
		}
		b += 0x7fff + b>>16&1
		return float64(math.Float32frombits(b &^ 0xffff))
	case "float16":
		if v == 0 || v != v {
			return v
		}
		_, e := math.Frexp(v)
		u := math.Ldexp(1, max(e-11, -24))
		return math.RoundToEven(v/u) * u
	}
	return float64(float32(v))
}

// finish rounds what was computed.
func (n *network) finish(t *tensor, exact bool) *tensor {
	for i, v := range t.v {
		if n.noise > 0 && !exact && !t.ints {
			v *= 1 + n.noise*(2*n.noisy.Float64()-1)
		}
		if !t.ints {
			v = n.roundTo(v)
		}
		t.v[i] = v
	}
	if t.dtype == "" {
		t.dtype = n.dtype
	}
	return t
}

func (n *network) text(t *tensor) string {
	if t == nil {
		return "null"
	}
	hi, lo, sum, norm := math.Inf(-1), math.Inf(1), 0.0, 0.0
	var raw []byte
	for _, v := range t.v {
		if v != v || hi != hi {
			hi, lo = math.NaN(), math.NaN()
		} else {
			hi, lo = max(hi, v), min(lo, v)
		}
		sum += v
		norm += v * v
		if t.ints {
			raw = append(raw, byte(int(v)), byte(int(v)>>8), 0, 0, 0, 0, 0, 0)
			continue
		}
		b := math.Float32bits(float32(v))
		raw = append(raw, byte(b), byte(b>>8), byte(b>>16), byte(b>>24))
	}
	number := func(v float64) string {
		switch {
		case v != v:
			return "NaN"
		case math.IsInf(v, 0):
			return strings.TrimPrefix(strings.Replace(fmt.Sprint(v), "Inf", "Infinity", 1), "+")
		}
		text := fmt.Sprintf("%.17g", n.roundTo(v))
		if !strings.ContainsAny(text, ".e") {
			text += ".0"
		}
		return text
	}
	shape, _ := json.Marshal(t.shape)
	if t.shape == nil {
		shape = []byte("[]")
	}
	stats := fmt.Sprintf(`"Max": %s, "Min": %s, "Mean": %s, "Norm": %s`, number(hi), number(lo), number(sum/float64(len(t.v))), number(math.Sqrt(norm)))
	dtype := "torch." + t.dtype
	if t.ints {
		dtype = "torch.int64"
		stats = fmt.Sprintf(`"Max": %d, "Min": %d, "Mean": null, "Norm": null`, int(hi), int(lo))
	}
	switch n.summary {
	case "md5":
		stats += fmt.Sprintf(`, "requires_grad": false, "md5": "%08x"`, crc32.ChecksumIEEE(raw))
	case "xor":
		var x [8]byte
		for i, b := range raw {
			x[i%8] ^= b
		}
		stats = fmt.Sprintf(`"md5": "0x%x"`, x)
	}
	return fmt.Sprintf(`{"type": "torch.Tensor", "dtype": "%s", "shape": %s, %s}`, dtype, shape, stats)
}

func (n *network) value(a any) string {
	switch a := a.(type) {
	case *tensor:
		return n.text(a)
	case int:
		return fmt.Sprintf(`{"type": "int", "value": %d}`, a)
	case bool:
		return fmt.Sprintf(`{"type": "bool", "value": %v}`, a)
	case float64:
		return fmt.Sprintf(`{"type": "float", "value": %v}`, a)
	case nil:
		return "null"
	}
	return fmt.Sprintf(`{"type": "str", "value": %q}`, a)
}

func (n *network) list(items []any) string {
	var out []string
	for _, a := range items {
		out = append(out, n.value(a))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// can notes that a kind of fault is possible here, and tells whether it is to happen.
func (n *network) can(kind string) bool {
	n.able[kind] = append(n.able[kind], n.steps)
	if n.fault.kind == kind && n.fault.step == n.steps {
		n.hit = true
		return true
	}
	return false
}

// functions is whether calls of functions are recorded.
func (n *network) functions() bool { return n.level != "L0" }

// call records a call of a function, whose inputs are in args. back gives the gradients
// of the tensors in args from that of the output.
func (n *network) call(api string, out *tensor, exact bool, args []any, kwargs map[string]any, back func(g *tensor) []*tensor) *tensor {
	n.steps++
	if !exact && n.can("rounding") {
		for i, v := range out.v { // accumulated in bfloat16
			out.v[i] = v * (1 + 0.004*(2*n.noisy.Float64()-1))
		}
	}
	if !exact && n.can("scaled") {
		for i := range out.v { // another definition
			out.v[i] *= 1.05
		}
	}
	if !exact && n.can("element") && len(out.v) > 4 {
		out.v[len(out.v)/2] += 0.5 + math.Abs(out.v[0])
	}
	if !exact && n.can("nan") {
		out.v[len(out.v)/2] = math.NaN()
	}
	if out.ints && n.can("off by one") {
		out.v[len(out.v)/2]++
	}
	n.finish(out, exact)
	count := n.number[api]
	n.number[api]++
	name := fmt.Sprintf("%s.%d.forward", api, count)
	if n.functions() {
		n.last = []string{name}
		var kw []string
		for _, k := range slices.Sorted(mapKeys(kwargs)) {
			kw = append(kw, fmt.Sprintf("%q: %s", k, n.value(kwargs[k])))
		}
		n.enter(name, fmt.Sprintf(`{"input_args": %s, "input_kwargs": {%s}, "output": [%s]}`, n.list(args), strings.Join(kw, ", "), n.text(out)))
	} else {
		n.last = []string{n.around()}
	}
	if n.hit && n.watch == "" && (n.wrong == nil || slices.Contains(args, any(n.wrong))) {
		n.watch = n.last[0]
	}
	step := n.steps
	if back == nil {
		return out
	}
	out.needs = true
	module := n.around()
	n.tape = append(n.tape, func() {
		if out.grad == nil {
			return
		}
		g := &tensor{shape: out.shape, v: out.grad, dtype: n.dtype}
		n.finish(g, true)
		grads := back(g)
		k := 0
		var list []any
		at := n.steps
		n.steps = step
		wrong := n.can("gradient")
		for _, a := range args {
			t, ok := a.(*tensor)
			if !ok {
				list = append(list, nil)
				continue
			}
			var d *tensor
			if k < len(grads) {
				d = grads[k]
			}
			k++
			if d == nil || t.ints {
				list = append(list, nil)
				continue
			}
			if wrong {
				for i := range d.v {
					d.v[i] *= 0.5
				}
			}
			n.finish(d, exact)
			list = append(list, d)
			t.add(d)
		}
		n.steps = at
		name := fmt.Sprintf("%s.%d.backward", api, count)
		if again, ok := n.again[fmt.Sprintf("%s.%d.forward", api, count)]; ok {
			name = strings.TrimSuffix(again, "forward") + "backward"
		}
		if n.functions() {
			n.parents[name] = strings.Replace(module, ".forward.", ".backward.", 1)
			n.entries = append(n.entries, fmt.Sprintf(`%q: {"input": [%s], "output": %s}`, name, n.text(g), n.list(list)))
			n.names = append(n.names, name)
		} else {
			name = strings.Replace(module, ".forward.", ".backward.", 1)
		}
		if (wrong || n.back) && n.watch == "" {
			n.watch = name
		}
	})
	return out
}

func mapKeys(m map[string]any) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// add adds to the gradient; the sum of several is rounded and not recorded.
func (t *tensor) add(d *tensor) {
	if t.grad == nil {
		t.grad = make([]float64, len(t.v))
	}
	for i, v := range d.v {
		t.grad[i] = float64(float32(t.grad[i] + v))
	}
}

func (n *network) enter(name, text string) {
	n.parents[name] = n.around()
	n.entries = append(n.entries, fmt.Sprintf("%q: %s", name, text))
	n.names = append(n.names, name)
}

func (n *network) around() string {
	if len(n.inside) == 0 {
		return ""
	}
	return n.inside[len(n.inside)-1]
}

// view is a step that is not recorded.
func (n *network) view(x *tensor, shape []int, index func(i int) int) *tensor {
	out := &tensor{shape: shape, v: make([]float64, len(x.v)), dtype: x.dtype, needs: true}
	for i := range out.v {
		out.v[i] = x.v[index(i)]
	}
	n.tape = append(n.tape, func() {
		if out.grad == nil {
			return
		}
		d := x.like()
		for i, g := range out.grad {
			d.v[index(i)] += g
		}
		x.add(d)
	})
	return out
}

// module runs f as a module, with the parameters it has.
func (n *network) module(path, class string, x *tensor, parameters map[string]*tensor, f func(x *tensor) *tensor) *tensor {
	if n.level == "L1" {
		for _, k := range sortedNames(parameters) {
			n.own("", k, parameters[k])
		}
		return f(x)
	}
	key := path + "." + class
	count := n.number[key]
	n.number[key]++
	name := fmt.Sprintf("Module.%s.forward.%d", key, count)
	back := fmt.Sprintf("Module.%s.backward.%d", key, count)
	n.parents[name] = n.around()
	n.parents[back] = strings.Replace(n.around(), ".forward.", ".backward.", 1)
	var params []string
	for _, k := range sortedNames(parameters) {
		params = append(params, fmt.Sprintf("%q: %s", k, n.text(parameters[k])))
		n.own("Module."+key, k, parameters[k])
	}
	in := n.text(x)
	entered := x
	x = n.view(x, x.shape, func(i int) int { return i })
	x.ints = entered.ints
	if n.wrong == entered {
		n.wrong = x
	}
	var gout string
	entry := x
	n.tape = append(n.tape, func() {
		if entry.grad == nil && !entry.ints {
			return
		}
		grad := "null"
		if entry.grad != nil {
			grad = n.text(&tensor{shape: entry.shape, v: entry.grad, dtype: n.dtype})
		}
		n.entries = append(n.entries, fmt.Sprintf(`%q: {"input": [%s], "output": [%s]}`, back, gout, grad))
		n.names = append(n.names, back)
	})
	n.inside = append(n.inside, name)
	y := f(x)
	n.inside = n.inside[:len(n.inside)-1]
	left := y
	y = n.view(y, y.shape, func(i int) int { return i })
	y.ints, y.dtype = left.ints, left.dtype
	end := y
	n.tape = append(n.tape, func() {
		gout = "null"
		if end.grad != nil {
			gout = n.text(&tensor{shape: end.shape, v: end.grad, dtype: n.dtype})
		}
	})
	text := fmt.Sprintf(`{"input_args": [%s], "input_kwargs": {}, "parameters": {%s}, "output": [%s]}`, in, strings.Join(params, ", "), n.text(y))
	n.entries = append(n.entries, fmt.Sprintf("%q: %s", name, text))
	n.names = append(n.names, name)
	return y
}

func sortedNames(m map[string]*tensor) []string {
	var list []string
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

func (n *network) own(module, name string, t *tensor) {
	if t.ints || slices.ContainsFunc(n.owner, func(p parameter) bool { return p.t == t }) {
		return
	}
	n.owner = append(n.owner, parameter{module, name, t})
}

// write writes the recording and returns its folder.
func (n *network) write(t testing.TB) string {
	dir := filepath.Join(t.TempDir(), "step0", "rank0")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	text := dumpOf(n.level, n.entries)
	construct, _ := json.Marshal(n.parents)
	if n.level == "L1" {
		construct = []byte("{}")
	}
	for name, data := range map[string][]byte{"dump.json": []byte(text), "construct.json": construct} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
