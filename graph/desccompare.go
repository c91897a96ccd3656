package graph

import (
	"slices"
	"strconv"
	"strings"

	catalogue "precision/op"
)

// PortChange is a property of an input or output that differs between two operators.
type PortChange struct {
	Input bool
	Index int // -1 when the numbers of inputs or outputs differ
	Field Field
	A, B  string // "" where there is none
}

// Field is a property of an input or output.
type Field string

// The properties that are compared.
const (
	FieldDType  Field = "dtype"
	FieldLayout Field = "layout"
	FieldShape  Field = "shape"
	FieldCount  Field = "count" // how many inputs or outputs there are
	FieldType   Field = "type"  // of the operator itself
)

// compareDescs lists where the descriptors of two operators differ.
func compareDescs(a, b *Op) []PortChange {
	out := compareSide(nil, true, a.InputDesc, b.InputDesc)
	return compareSide(out, false, a.OutputDesc, b.OutputDesc)
}

func compareSide(out []PortChange, input bool, a, b []TensorDesc) []PortChange {
	if len(a) != len(b) {
		out = append(out, PortChange{input, -1, FieldCount, strconv.Itoa(len(a)), strconv.Itoa(len(b))})
	}
	for i := range min(len(a), len(b)) {
		x, y := &a[i], &b[i]
		if x.DType != y.DType {
			out = append(out, PortChange{input, i, FieldDType, x.DType, y.DType})
		}
		if x.Layout != y.Layout {
			out = append(out, PortChange{input, i, FieldLayout, x.Layout, y.Layout})
		}
		if !slices.Equal(x.Shape, y.Shape) {
			out = append(out, PortChange{input, i, FieldShape, FormatShape(x.Shape), FormatShape(y.Shape)})
		}
	}
	return out
}

// graphBase is a graph's name without the time it was made at, which differs from run to run.
func graphBase(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); {
		j := i
		for j < len(name) && name[j] >= '0' && name[j] <= '9' {
			j++
		}
		if j-i == 14 {
			b.WriteByte('*')
		} else {
			b.WriteString(name[i:j])
		}
		if j < len(name) {
			b.WriteByte(name[j])
			j++
		}
		i = j
	}
	return b.String()
}

// PairGraphs pairs the graphs of two models: by session and graph number where both have one that occurs once, then by
// name without its time, then by position when both have equally many left. The rest stays without partner.
func PairGraphs(a, b []*Graph) (out [][2]*Graph) {
	partner := make([]int, len(a))
	taken := make([]bool, len(b))
	for i := range partner {
		partner[i] = -1
	}
	by := func(key func(*Graph) string) {
		countA, countB := map[string]int{}, map[string]int{}
		at := map[string]int{}
		for i, g := range a {
			if k := key(g); k != "" && partner[i] < 0 {
				countA[k]++
			}
		}
		for i, g := range b {
			if k := key(g); k != "" && !taken[i] {
				countB[k]++
				at[k] = i
			}
		}
		for i, g := range a {
			if k := key(g); partner[i] < 0 && countA[k] == 1 && countB[k] == 1 {
				partner[i], taken[at[k]] = at[k], true
			}
		}
	}
	by(func(g *Graph) string { return g.Name })
	by(func(g *Graph) string { return graphBase(g.Name) })
	by(func(g *Graph) string { return g.Attrs.Get("_session_graph_id").Text() })
	var restA, restB []int
	for i, p := range partner {
		if p < 0 {
			restA = append(restA, i)
		}
	}
	for i, t := range taken {
		if !t {
			restB = append(restB, i)
		}
	}
	if len(restA) == len(restB) {
		for k, i := range restA {
			partner[i] = restB[k]
		}
	}
	for i, p := range partner {
		if p >= 0 {
			out = append(out, [2]*Graph{a[i], b[p]})
		}
	}
	return out
}

// OpChange is an operator of both sides whose descriptors differ: that of A, with what is known of it, and that of B.
type OpChange struct {
	OpRef
	B       *Op
	Changes []PortChange
}

// Precision reports whether an element type differs.
func (c *OpChange) Precision() bool {
	return slices.ContainsFunc(c.Changes, func(p PortChange) bool { return p.Field == FieldDType })
}

// Similarity compares two graphs of one network operator by operator.
type Similarity struct {
	OnlyA     []*Op
	OnlyB     []*Op
	Different []OpChange
	Compared  int // operators on both sides
	Similar   int // of these, equal in number, types, layouts and shapes of inputs and outputs
}

// Similar compares a with b by operator names; helper operators such as TransData and Cast are left out.
func Similar(a, b *Graph) *Similarity {
	s := &Similarity{}
	inB := make(map[string]*Op, len(b.Ops))
	for _, o := range b.Ops {
		if !catalogue.Is(o.Type, catalogue.Helper) {
			inB[o.Name] = o
		}
	}
	seen := make(map[string]bool, len(a.Ops))
	for _, o := range a.Ops {
		if catalogue.Is(o.Type, catalogue.Helper) {
			continue
		}
		seen[o.Name] = true
		p := inB[o.Name]
		if p == nil {
			s.OnlyA = append(s.OnlyA, o)
			continue
		}
		s.Compared++
		changes := compareDescs(o, p)
		if len(changes) == 0 {
			s.Similar++
			continue
		}
		names, _ := o.OriginNames()
		s.Different = append(s.Different, OpChange{OpRef{Op: o, Origins: names}, p, changes})
	}
	for _, o := range b.Ops {
		if !catalogue.Is(o.Type, catalogue.Helper) && !seen[o.Name] {
			s.OnlyB = append(s.OnlyB, o)
		}
	}
	return s
}
