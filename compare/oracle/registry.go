package oracle

import (
	"slices"
	"strings"
	"sync"

	catalogue "precision/op"
)

// Reading is one way to understand what the graph says of an operator.
type Reading struct {
	// Name and Args tell it from others; Name is empty where there is but one.
	Name string
	Args []string
	// Out are the outputs by this reading; nil where one is not computed.
	Out []Values
}

// title is the name with its arguments.
func (r Reading) title() string { return strings.Join(append([]string{r.Name}, r.Args...), " ") }

// builder turns a call into the outputs that its operator should have.
type builder func(c *Call) []Reading

// elementwise is what a type contributes to fused kernels: the Values of an
// operator from those of its operands, the first of which is the result of the
// part before.
type elementwise struct {
	operands int // how many, the first included
	build    func(c *Call, in []Values) Values
	// keeps is set for functions that leave rounded numbers rounded, so that
	// rounding before them makes no difference.
	keeps bool
}

var (
	builders = map[string]builder{}
	parts    = map[string]elementwise{} // by the words of kernel names
	// rowParts are those that are rows.
	rowParts = sync.OnceValue(partsOfRows)
)

// partsOfRows are the kernels that are functions of the numbers in one place.
func partsOfRows() map[string]elementwise {
	all := map[string]elementwise{}
	for _, row := range catalogue.All() {
		if p, ok := asPart(row); ok {
			for _, name := range row.Names {
				if !isKernel(name) {
					continue
				}
				all[snake(name)], all[strings.ToLower(name)] = p, p
			}
		}
	}
	return all
}

// isKernel tells names of kernels from those of functions.
func isKernel(name string) bool { return name[0] >= 'A' && name[0] <= 'Z' }

// fusedPart is the part of fused kernels that goes by a name.
func fusedPart(name string) (elementwise, bool) {
	if p, ok := parts[name]; ok {
		return p, true
	}
	p, ok := rowParts()[name]
	return p, ok
}

// register adds operator types.
func register(build builder, types ...string) {
	for _, t := range types {
		builders[t] = build
	}
}

// one makes a builder of a function for operators with one reading.
func one(build func(c *Call) []Values) builder {
	return func(c *Call) []Reading {
		out := build(c)
		return []Reading{{Out: out}}
	}
}

// single is one for operators with one output.
func single(build func(c *Call) Values) builder {
	return one(func(c *Call) []Values {
		v := build(c)
		return []Values{v}
	})
}

// registerPart adds element-wise operator types, alone and as parts of fused
// kernels.
func registerPart(p elementwise, types ...string) {
	register(single(func(c *Call) Values {
		in := c.all()
		if len(in) != p.operands {
			panic(refuse(InputCount, len(in), p.operands))
		}
		return p.build(c, in)
	}), types...)
	for _, t := range types {
		parts[snake(t)], parts[strings.ToLower(t)] = p, p
	}
}

// snake is how kernel names spell an operator type: LeakyRelu is leaky_relu.
func snake(t string) string {
	var b strings.Builder
	for i, r := range t {
		if r >= 'A' && r <= 'Z' {
			if i > 0 && !(t[i-1] >= 'A' && t[i-1] <= 'Z') {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Types lists the operator types that can be recomputed.
func Types() []string {
	var out []string
	for t := range builders {
		out = append(out, t)
	}
	for _, row := range catalogue.All() {
		if f, _ := kernelFunction(row); f != nil {
			out = append(out, slices.DeleteFunc(slices.Clone(row.Names), func(name string) bool { return !isKernel(name) })...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func containsFold(s, part string) bool { return strings.Contains(strings.ToLower(s), part) }
