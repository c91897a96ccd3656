package weights

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"precision/dump/checkpoint"
	"precision/internal/lazy"
	"precision/internal/nd"

	"gonum.org/v1/gonum/floats"
)

// Two changes of all weights leave what a network computes as it is: experts that are numbered otherwise, and hidden states that
// are rotated (QuaRot, SpinQuant). Both are told and neither is a difference.

var expertOf = lazy.Regexp(`^(.*)\.experts\.(\d+)\.(.*)$`)

// permutations finds layers whose experts stand in another order and whose router has its rows, and what it adds to its scores, in that order, too.
func (c *comparison) permutations() {
	moved := map[string]map[string]string{} // router → expert → expert whose weights it has
	broken := map[string]bool{}
	var list []*pair
	for _, p := range c.pairs {
		m, of := expertOf().FindStringSubmatch(p.Name), expertOf().FindStringSubmatch(p.Of)
		if m == nil || p.Kind != Elsewhere {
			continue
		}
		router := m[1] + ".gate."
		if of == nil || of[1] != m[1] || of[3] != m[3] || moved[router][m[2]] != "" && moved[router][m[2]] != of[2] {
			broken[router] = true
			continue
		}
		if moved[router] == nil {
			moved[router] = map[string]string{}
		}
		moved[router][m[2]] = of[2]
		list = append(list, p)
	}
	for router, from := range moved {
		known := !broken[router] && c.byName[router+"weight"] != nil
		moves := slices.Clone(list)
		for _, p := range c.pairs {
			if strings.HasPrefix(p.Name, router) {
				known = known && p.a != nil && p.b != nil && rowsMoved(p, from)
				moves = append(moves, p)
			}
		}
		for _, p := range moves {
			if known && strings.HasPrefix(p.Name, strings.TrimSuffix(router, "gate.")) {
				p.Kind = Permuted
			}
		}
	}
}

// rowsMoved reports whether row e of the right router is row from[e] of the left.
func rowsMoved(p *pair, from map[string]string) bool {
	a, b := p.a.whole(), p.b.whole()
	if a == nil || b == nil || len(a) != len(b) || len(p.a.shape) == 0 {
		return false
	}
	width, t := int(nd.Size(p.a.shape[1:])), p.narrow().Rounding()
	for e := range int(p.a.shape[0]) {
		f := e
		if name, ok := from[strconv.Itoa(e)]; ok {
			f, _ = strconv.Atoi(name)
		}
		for j := range width {
			if f >= int(p.a.shape[0]) || t.Round(a[f*width+j]) != t.Round(b[e*width+j]) {
				return false
			}
		}
	}
	return true
}

// rotation finds a network in another basis of its hidden states: with R·Rᵀ = 1, what writes to them is multiplied with R on its
// output side, what reads them on its input side, and the weights of the norms between, which a rotation does not pass, are multiplied into
// the next products and are ones. So embeddings keep their inner products, and so do rows of what reads and columns of
// what writes.
func (c *comparison) rotation() {
	embed := c.byName["model.embed_tokens.weight"]
	if embed == nil || embed.Kind != Unlike || !embed.sameAngles(false, nil) {
		return
	}
	var norms, products []*pair
	for _, p := range c.pairs {
		switch {
		case p.Kind == Same:
		case p.a == nil || p.b == nil:
			return
		case p.Kind == Constant && p.Value == 1 && len(p.a.shape) == 1:
			norms = append(norms, p)
		case len(p.a.shape) == 2:
			products = append(products, p)
		default:
			return
		}
	}
	for _, p := range products {
		if p == embed {
			continue
		}
		writes := strings.HasSuffix(p.Name, "o_proj.weight") || strings.HasSuffix(p.Name, "down_proj.weight")
		var fold []float64
		if !writes {
			if n := c.byName[normBefore(p.Name)]; n != nil && n.a != nil && slices.Contains(norms, n) {
				fold = n.a.whole()
			}
		}
		if !p.sameAngles(writes, fold) {
			return
		}
	}
	for _, p := range norms {
		p.Kind = Folded
	}
	for _, p := range products {
		p.Kind = Rotated
	}
}

// normBefore is the norm that a product's input comes from.
func normBefore(name string) string {
	at := layer(name)
	switch {
	case at == "":
		return "model.norm.weight"
	case strings.Contains(name, ".self_attn."):
		return at + ".input_layernorm.weight"
	}
	return at + ".post_attention_layernorm.weight"
}

// sameAngles reports whether some rows of both sides, or columns, have the same inner products, to what rounding to the element
// type leaves: each element is off by at most two units of roundoff, and errors add up as the root of their number.
func (p *pair) sameAngles(columns bool, fold []float64) bool {
	if len(p.a.shape) != 2 || !slices.Equal(p.a.shape, p.b.shape) {
		return false
	}
	a, b := p.a.whole(), p.b.whole()
	if a == nil || b == nil {
		return false
	}
	h, w := int(p.a.shape[0]), int(p.a.shape[1])
	if fold != nil && len(fold) != w {
		return false
	}
	n, length := min(h, 16), w
	if columns {
		n, length = min(w, 16), h
	}
	var x, y [][]float64
	for i := range n {
		u, v := make([]float64, length), make([]float64, length)
		for j := range length {
			at := i*(h/n)*w + j
			if columns {
				at = j*w + i*(w/n)
			}
			if u[j], v[j] = a[at], b[at]; fold != nil {
				u[j] *= fold[j]
			}
		}
		x, y = append(x, u), append(y, v)
	}
	unit := p.narrow().Unit()
	for i := range n {
		for j := range i + 1 {
			if math.Abs(floats.Dot(x[i], x[j])-floats.Dot(y[i], y[j])) > 8*unit*math.Sqrt(floats.Dot(x[i], x[i])*floats.Dot(x[j], x[j])) {
				return false
			}
		}
	}
	return true
}

var routerOf = lazy.Regexp(`\blayers\.(\d+)\.mlp\.gate\.weight$`)

// mostEqual bounds the rows before it that a row is listed as equal to: a router of zeros has as many pairs as experts squared.
const mostEqual = 64

// EqualRows are, by layer, the pairs of experts whose rows of the router's weight are equal: all their scores tie. layers is how many
// layers there are to name: those of the network, or those that have a router, in their order.
func EqualRows(s *checkpoint.Set, layers int) map[int][][2]int {
	var routers []*part
	for _, p := range parts(s) {
		if routerOf().MatchString(p.name) && len(p.shape) == 2 {
			routers = append(routers, p)
		}
	}
	number := func(p *part) int {
		n, _ := strconv.Atoi(routerOf().FindStringSubmatch(p.name)[1])
		return n
	}
	slices.SortStableFunc(routers, func(p, q *part) int { return number(p) - number(q) })
	ties := map[int][][2]int{}
	for i, p := range routers {
		if len(routers) != layers {
			i = number(p)
		}
		v, w := p.whole(), int(p.shape[1])
		seen := map[string][]int{}
		for e := 0; e < len(v)/max(w, 1); e++ {
			row := fmt.Sprint(v[e*w : e*w+w])
			for _, equal := range seen[row][:min(len(seen[row]), mostEqual)] {
				ties[i] = append(ties[i], [2]int{equal, e})
			}
			seen[row] = append(seen[row], e)
		}
	}
	return ties
}
