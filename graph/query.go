package graph

import (
	"cmp"
	"slices"
	"strings"

	"precision/graph/internal/uniq"
	"precision/internal/order"
)

// Kernel returns the name of the operator's kernel, "" if the graph does not say. Releases differ in the attribute
// that holds it.
func (o *Op) Kernel() string {
	for _, key := range [...]string{o.Name + "_kernelname", "_kernelname", "_tbe_kernel_name_for_load", "_tbe_kernel_name"} {
		if t := o.Attr(key).Text(); t != "" {
			return t
		}
	}
	return ""
}

// KernelLib returns the library the operator is compiled by, such as AIcoreEngine.
func (o *Op) KernelLib() string { return o.Attr("_ge_attr_op_kernel_lib_name").Text() }

// Passes returns the graph fusion passes that produced the operator, oldest first.
func (o *Op) Passes() []string { return nonEmpty(o.Attr("pass_name").Strings()) }

// UBPasses returns the unified-buffer fusion passes that produced the operator.
func (o *Op) UBPasses() []string {
	return append(nonEmpty(o.Attr("pass_name_ub").Strings()), nonEmpty(o.Attr("_single_op_ub_pass_name").Strings())...)
}

func nonEmpty(l []string) []string {
	if len(l) == 1 && l[0] == "" {
		return nil
	}
	return slices.Clip(l)
}

// OriginNames returns the framework operators merged into this one, in order and without repetition. stated is false
// when the graph does not say; an operator with stated true and no names was inserted.
func (o *Op) OriginNames() (names []string, stated bool) {
	v, ok := o.Attrs.Lookup(AttrOriginOps)
	if !ok {
		return nil, false
	}
	if l := v.Strings(); len(l) == 1 && l[0] != "" {
		return l, true
	}
	var unique uniq.Names
	for _, n := range v.Strings() {
		if n != "" {
			unique.Add(n)
		}
	}
	return unique.List, true
}

// Query selects operators. Each text must occur in what it names, upper and lower case apart; an empty text selects
// all.
type Query struct {
	Name   string
	Type   string
	Pass   string // some graph or unified-buffer fusion pass
	Kernel string
}

// Empty reports whether the query selects everything.
func (q Query) Empty() bool { return q == Query{} }

// Match reports whether the query selects o.
func (q Query) Match(o *Op) bool {
	if !strings.Contains(o.Name, q.Name) || !strings.Contains(o.Type, q.Type) {
		return false
	}
	if q.Kernel != "" && !strings.Contains(o.Kernel(), q.Kernel) {
		return false
	}
	has := func(p string) bool { return strings.Contains(p, q.Pass) }
	return q.Pass == "" || slices.ContainsFunc(o.Passes(), has) || slices.ContainsFunc(o.UBPasses(), has)
}

// Select returns the operators of all graphs that a query selects, in file order.
func (m *Model) Select(q Query) (out []*Op) {
	for o := range m.Ops() {
		if q.Match(o) {
			out = append(out, o)
		}
	}
	return out
}

// Count is a name and how often it occurs.
type Count struct {
	Name string
	N    int
}

// tally counts names in first-seen order.
type tally struct {
	counts []Count
	at     map[string]int
}

func (t *tally) add(name string) {
	if t.at == nil {
		t.at = map[string]int{}
	}
	i, ok := t.at[name]
	if !ok {
		i = len(t.counts)
		t.at[name] = i
		t.counts = append(t.counts, Count{Name: name})
	}
	t.counts[i].N++
}

// byCount sorts by falling count, then by name; what has none comes last.
func (t *tally) byCount() []Count {
	order.Stable(t.counts, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.N, a.N), order.FalseFirst(a.Name == "", b.Name == ""), cmp.Compare(a.Name, b.Name))
	})
	return t.counts
}

// TypeCounts counts operators by type, types in first-seen order.
func TypeCounts(ops []*Op) []Count {
	var t tally
	for _, o := range ops {
		t.add(o.Type)
	}
	return t.counts
}

// DumpName returns the name as dump files spell it: slashes, backslashes, dots and blanks become underscores.
func DumpName(name string) string {
	if !strings.ContainsAny(name, "/\\. ") {
		return name
	}
	return strings.Map(func(r rune) rune {
		switch r {
		case '/', '\\', '.', ' ':
			return '_'
		}
		return r
	}, name)
}

// Search finds operators by name. Those of exactly that name win; otherwise all whose name contains the text, or
// whose name as dump files spell it is the text, are candidates. A graph name that the model has restricts the search.
func (x *Index) Search(name, graph string) (ops []*Op, exact bool) {
	var only *Graph
	if graph != "" {
		only = x.Graph(graph)
	}
	for _, o := range x.Ops {
		if only != nil && o.Graph != only {
			continue
		}
		switch {
		case o.Name == name:
			if !exact {
				ops, exact = nil, true
			}
			ops = append(ops, o)
		case !exact && (strings.Contains(o.Name, name) || DumpName(o.Name) == name):
			ops = append(ops, o)
		}
	}
	return ops, exact
}
