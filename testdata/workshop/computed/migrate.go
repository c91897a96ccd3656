package computed

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// attribute changes one that the graph shows, so that shapes stay; nil if the
// operator has none. It says what it changed.
func attribute(x *node, p part) (attrs, string) {
	a := p.attrs
	set := func(key string, v any) (attrs, string) {
		return a.with(key, v), fmt.Sprintf("%s %v, not %v", key, v, a[key])
	}
	if len(x.parts) > 1 { // fused kernels lost theirs
		return nil, ""
	}
	switch {
	case a["epsilon"] != nil:
		return set("epsilon", 0.2)
	case x.kind == "SoftmaxV2" && len(x.outputs[0].shape) > 1:
		return set("axes", []int{0})
	case (x.kind == "Conv2D" || x.kind == "DepthwiseConv2D") && a.ints("pads")[0] > 0:
		k := a.ints("pads")[0]
		return set("pads", []int{k - 1, k + 1, k - 1, k + 1})
	case x.kind == "MatMulV2" && a["transpose_x2"] != nil:
		return set("transpose_x2", !a.yes("transpose_x2")) // of square weights alone
	case a["negative_slope"] != nil:
		return set("negative_slope", a.num("negative_slope")+0.2)
	case a["align_corners"] != nil:
		return set("align_corners", !a.yes("align_corners"))
	case x.kind == "AscendQuant":
		return set("scale", a.num("scale")*1.25)
	case a["factor"] != nil:
		return set("factor", a.num("factor")+0.3)
	}
	return nil, ""
}

// formulas are functions that a framework may compute in place of others.
var formulas = map[string]string{
	"Sigmoid": "HardSigmoid", "Swish": "Gelu", "Gelu": "Relu", "Relu6": "LeakyRelu", "Relu": "Gelu", "Tanh": "Sigmoid",
	"ReduceMeanD": ".sum", "MaxPool": ".average", "LayerNorm": ".unbiased",
}

// migrated has the framework compute one operator otherwise.
func (n *Network) migrated() error {
	kind, op, err := splitWrong(n.options.Migration, Migrations)
	if err != nil {
		return err
	}
	n.answer.Class, n.answer.Expected = "migration", "bad"
	rng := n.options.rng(4)
	return n.pick(op, func(x *node) bool { return x.computed() && x.origin != "" }, func(x *node) bool {
		other := *x
		how, weight := "", ""
		var value array
		switch kind {
		case "weight", "bias":
			for k, in := range x.connected() {
				w := n.byName[strings.TrimSuffix(in, ":0")]
				if w == nil || !w.weight() || w.vary == nil || n.readers(in) > 1 || (len(w.value.shape) < 2) != (kind == "bias") || k == 0 && x.kind != "GatherV2D" {
					continue
				}
				weight, value, how = w.name, w.value.clone(), w.name
				ways := []string{"scaled by 1.5", "of another checkpoint", "transposed"}
				if kind == "bias" {
					ways = []string{"left out", "of another checkpoint"}
				}
				way := ways[rng.IntN(len(ways))]
				if s := value.shape; way == "transposed" && s[len(s)-1] != s[len(s)-2] {
					way = ways[0]
				}
				how += " " + way
				switch way {
				case "scaled by 1.5":
					for i := range value.v {
						value.v[i] *= 1.5
					}
				case "of another checkpoint":
					value = w.vary(rng)
				case "transposed":
					value = flip(value)
				case "left out":
					for i := range value.v {
						value.v[i] = 0
					}
				}
			}
		case "attribute":
			p := part{attrs: x.attrs}
			if len(x.parts) == 1 {
				p = x.parts[0]
			}
			a, said := attribute(x, p)
			if a == nil || x.kind == "MatMulV2" && n.tensors[x.inputs[1]].shape[0] != n.tensors[x.inputs[1]].shape[1] {
				return false
			}
			other.attrs, how = a, said
			if len(x.parts) == 1 {
				other.parts = []part{{x.kind, a, x.parts[0].from}}
			}
		case "formula":
			to := formulas[x.kind]
			if to == "" || len(x.parts) > 1 {
				return false
			}
			if how = to + ", not " + x.kind; strings.HasPrefix(to, ".") {
				other.attrs = x.attrs.with(to, true)
			} else {
				other.kind, other.attrs = to, x.attrs.with("negative_slope", 0.3)
			}
		}
		if how == "" {
			return false
		}
		side := map[string]array{}
		n.sources(side, n.nodes, func(y *node, v array) array {
			if y.name == weight {
				return value
			}
			return v
		})
		ok := true
		n.follow(side, func(y *node) *node {
			if y == x {
				return &other
			}
			return y
		})
		changed, rel := differs(n.golden[x.name+":0"], side[x.name+":0"])
		if rel < 0.1 || rel > 1e6 || float64(changed) < 0.02*float64(len(side[x.name+":0"].v)) {
			ok = false
		}
		if ok {
			n.golden = side
			n.answer.Faults = append(n.answer.Faults, Effect{Kind: kind, Op: x.name, Type: x.kind, How: how, Changed: changed, Relative: rel,
				Exceeds: true, Accept: []string{"ok", "unknown"}})
		}
		return ok
	})
}

func (n *Network) readers(tensor string) int {
	count := 0
	for _, x := range n.nodes {
		for _, in := range x.inputs {
			if in == tensor {
				count++
			}
		}
	}
	return count
}

// damaged has the golden array of one operator be another; what follows on the
// golden side was computed from the right one.
func (n *Network) damaged() error {
	kind, op, err := splitWrong(n.options.Golden, Goldens)
	if err != nil {
		return err
	}
	n.answer.Class, n.answer.Expected = "golden", "bad"
	rng := n.options.rng(5)
	float := func(x *node) bool {
		return x.computed() && x.origin != "" && floats(x.outputs[0].dtype) && len(n.golden[x.name+":0"].v) > 8
	}
	return n.pick(op, float, func(x *node) bool {
		at := x.name + ":0"
		was := n.golden[at]
		is := was.clone()
		effect := Effect{Kind: kind, Op: x.name, Type: x.kind, Accept: []string{"ok", "unknown"}, Exceeds: true}
		var second *node
		switch kind {
		case "wrong":
			for i := range is.v {
				is.v[i] *= 1.3 + 0.5*rng.NormFloat64()
			}
			effect.How = "noise and a factor"
		case "stale":
			side := map[string]array{}
			n.sources(side, n.nodes, func(y *node, v array) array {
				if y.kind == "Data" {
					return y.vary(rng)
				}
				return v
			})
			n.follow(side, nil)
			is = side[at]
			effect.How = "of other data"
		case "exchanged":
			for _, y := range n.nodes {
				if y != x && float(y) && slices.Equal(y.outputs[0].shape, x.outputs[0].shape) {
					if _, rel := differs(was, n.golden[y.name+":0"]); rel > 0.5 {
						second = y
					}
				}
			}
			if second == nil {
				return false
			}
			is = n.golden[second.name+":0"]
			effect.How = "exchanged with " + second.name
		}
		changed, rel := differs(was, is)
		if rel < 0.3 || rel > 1e6 || changed < len(was.v)/4 {
			return false
		}
		effect.Changed, effect.Relative = changed, rel
		n.golden[at] = is
		n.answer.Faults = append(n.answer.Faults, effect)
		if second != nil {
			n.golden[second.name+":0"] = was
			other := effect
			other.Op, other.Type, other.How = second.name, second.kind, "exchanged with "+x.name
			n.answer.Faults = append(n.answer.Faults, other)
		}
		return true
	})
}

// premised has the golden side be another run.
func (n *Network) premised() error {
	kind, op, err := splitWrong(n.options.Premise, Premises)
	if err != nil {
		return err
	}
	n.answer.Class, n.answer.Expected = "premise", "inconclusive"
	rng := n.options.rng(6)
	effect := Effect{Kind: kind, How: "the other run"}
	if kind == "mixed" {
		n.mixed = map[string]array{}
		n.sources(n.mixed, n.nodes, func(x *node, v array) array {
			if x.kind == "Data" {
				return x.vary(rng)
			}
			return v
		})
		for _, x := range n.nodes {
			if x.computed() {
				keep(n.mixed, x, x.run(&context{device: true, fused16: n.options.Fused16}, n.in(n.mixed, x)))
			}
		}
		n.answer.Faults = append(n.answer.Faults, effect)
		return nil
	}
	var chosen *node
	find := func(ok func(x *node) bool) error {
		return n.pick(op, ok, func(x *node) bool { chosen = x; return true })
	}
	switch kind {
	case "element":
		n.answer.Expected = "bad"
		err = find(func(x *node) bool { return x.kind == "Data" })
	case "weight":
		n.answer.Expected = "bad"
		err = find(func(x *node) bool {
			return x.weight() && x.vary != nil && len(x.value.shape) > 1 && n.readers(x.name+":0") == 1
		})
	}
	if err != nil {
		return err
	}
	side := map[string]array{}
	n.sources(side, n.nodes, func(x *node, v array) array {
		weights := x.weight() && x.vary != nil
		switch {
		case kind == "data" && x.kind == "Data", kind == "weights" && weights, kind == "exchanged" && (weights || x.kind == "Data"):
			return x.vary(rng)
		case kind == "step" && weights:
			for i := range v.v {
				v.v[i] *= 1 + 0.02*rng.NormFloat64()
			}
		case x == chosen && kind == "element":
			fresh, at := x.vary(rng), rng.IntN(len(v.v))
			for i := range v.v { // the first from there that another draw changes
				if k := (at + i) % len(v.v); fresh.v[k] != v.v[k] {
					at = k
					break
				}
			}
			v.v[at] = fresh.v[at]
			if x.outputs[0].dtype == f32 {
				v.v[at] = math.Float64frombits(math.Float64bits(3 + v.v[at]))
			}
			effect.How = fmt.Sprintf("element %d of %d", at, len(v.v))
		case x == chosen:
			return x.vary(rng)
		}
		return v
	})
	n.follow(side, nil)
	n.golden = side
	effect.Exceeds = true
	if chosen != nil {
		effect.Op, effect.Type = chosen.name, chosen.kind
		for _, x := range n.nodes {
			if x.computed() && slices.Contains(x.inputs, chosen.name+":0") {
				effect.Accept = append(effect.Accept, x.name)
			}
		}
	}
	n.answer.Faults = append(n.answer.Faults, effect)
	return nil
}
