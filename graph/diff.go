package graph

import (
	"strconv"
	"strings"

	"precision/graph/internal/uniq"
	catalogue "precision/op"
)

// Diff is what differs between two builds of a network.
type Diff struct {
	A, B    *Model
	Removed []OpRef // in A only
	Added   []OpRef // in B only
	// Fused are framework operators that the builds merge in different ways.
	Fused   []FusionDiff
	Changed []OpChange // operators of both builds with other types, layouts or shapes
	Same    int        // operators of both builds without a difference
}

// OpRef is an operator with the framework operators it belongs to: those it stands for or, for an inserted one, those
// it lies between.
type OpRef struct {
	Op       *Op
	Origins  []string
	Inserted bool
	From, To string // an inserted operator's framework tensor and the operator it goes to
}

// FusionDiff is a set of framework operators that A and B merge differently.
type FusionDiff struct {
	Origins []string
	A, B    []*Op
}

// differ compares two indexed models.
type differ struct {
	d     *Diff
	a, b  side
	union map[string]string // framework operator to its set
}

type side struct {
	x       *Index
	ops     []*Op // that stand for framework operators, in file order
	origins map[*Op][]string
}

// Compare finds what differs from a to b. Operators are matched by the framework operators they stand for; inserted
// ones, whose names count up from build to build, by what they lie between.
func Compare(a, b *Index) *Diff {
	c := &differ{d: &Diff{A: a.Model, B: b.Model}, a: newSide(a), b: newSide(b), union: map[string]string{}}
	c.fusion()
	c.inserted()
	return c.d
}

func newSide(x *Index) side {
	s := side{x: x, origins: make(map[*Op][]string, len(x.Ops))}
	for _, o := range x.Ops {
		names, stated := o.OriginNames()
		if isHelper(o) && len(names) == 0 || stated && len(names) == 0 {
			continue
		}
		if len(names) == 0 {
			names = []string{o.Name}
		}
		s.origins[o] = names
		s.ops = append(s.ops, o)
	}
	return s
}

// isHelper reports whether GE inserts operators of that type under running numbers.
func isHelper(o *Op) bool {
	if catalogue.Is(o.Type, catalogue.Moves|catalogue.Reshapes) {
		return strings.HasPrefix(o.Name, "trans_") || strings.Contains(o.Name, "trans_TransData_") || strings.Contains(o.Name, "trans_Cast_")
	}
	return catalogue.Is(o.Type, catalogue.Cleans) || catalogue.Is(o.Type, catalogue.Control) && catalogue.Is(o.Type, catalogue.Helper) && o.Type != "NetOutput"
}

func (c *differ) root(n string) string {
	for {
		p, ok := c.union[n]
		if !ok || p == n {
			return n
		}
		if pp, ok := c.union[p]; ok {
			c.union[n] = pp // halve the path
		}
		n = p
	}
}

func (c *differ) join(names []string) {
	r := c.root(names[0])
	for _, n := range names[1:] {
		if s := c.root(n); s != r {
			c.union[s] = r
		}
	}
}

// fusion matches the operators that stand for framework operators.
func (c *differ) fusion() {
	for _, s := range [...]*side{&c.a, &c.b} {
		for _, o := range s.ops {
			c.join(s.origins[o])
		}
	}
	type set struct{ a, b []*Op }
	sets := map[string]*set{}
	var order []*set
	get := func(names []string) *set {
		r := c.root(names[0])
		if sets[r] == nil {
			sets[r] = &set{}
			order = append(order, sets[r])
		}
		return sets[r]
	}
	for _, o := range c.a.ops {
		s := get(c.a.origins[o])
		s.a = append(s.a, o)
	}
	for _, o := range c.b.ops {
		s := get(c.b.origins[o])
		s.b = append(s.b, o)
	}
	for _, s := range order {
		c.matchSet(s.a, s.b)
	}
}

// matchSet compares the operators of one set of connected framework operators.
func (c *differ) matchSet(a, b []*Op) {
	// Operators for the same framework operators correspond; of several the one of equal type and name first.
	var restA []*Op
	pairs := map[*Op]*Op{}
	paired := map[*Op]bool{}
	for level := range 3 {
		key := func(s *side, o *Op) string {
			k := strings.Join(s.origins[o], "\x00")
			if level < 2 {
				k += "\x00\x00" + o.Type
			}
			if level < 1 {
				k += "\x00\x00" + o.Name
			}
			return k
		}
		open := map[string][]*Op{}
		for _, o := range b {
			if !paired[o] {
				k := key(&c.b, o)
				open[k] = append(open[k], o)
			}
		}
		for _, o := range a {
			if pairs[o] != nil {
				continue
			}
			k := key(&c.a, o)
			if l := open[k]; len(l) > 0 {
				pairs[o], open[k] = l[0], l[1:]
				paired[l[0]] = true
			}
		}
	}
	for _, o := range a {
		if p := pairs[o]; p != nil {
			c.compare(OpRef{Op: o, Origins: c.a.origins[o]}, p)
		} else {
			restA = append(restA, o)
		}
	}
	var restB []*Op
	for _, o := range b {
		if !paired[o] {
			restB = append(restB, o)
		}
	}
	switch {
	case len(restA) > 0 && len(restB) > 0:
		f := FusionDiff{A: restA, B: restB}
		var origins uniq.Names
		for _, s := range []struct {
			ops []*Op
			of  *side
		}{{restA, &c.a}, {restB, &c.b}} {
			for _, o := range s.ops {
				for _, n := range s.of.origins[o] {
					origins.Add(n)
				}
			}
		}
		f.Origins = origins.List
		c.d.Fused = append(c.d.Fused, f)
	default:
		for _, o := range restA {
			c.d.Removed = append(c.d.Removed, OpRef{Op: o, Origins: c.a.origins[o]})
		}
		for _, o := range restB {
			c.d.Added = append(c.d.Added, OpRef{Op: o, Origins: c.b.origins[o]})
		}
	}
}

func (c *differ) compare(a OpRef, b *Op) {
	changes := compareDescs(a.Op, b)
	if a.Op.Type != b.Type {
		changes = append([]PortChange{{Index: -1, Field: FieldType, A: a.Op.Type, B: b.Type}}, changes...)
	}
	if len(changes) == 0 {
		c.d.Same++
		return
	}
	c.d.Changed = append(c.d.Changed, OpChange{a, b, changes})
}

// inserted matches the operators no framework operator stands behind.
func (c *differ) inserted() {
	byPlace := map[string][]OpRef{}
	for _, r := range c.b.inserted() {
		k := r.place()
		byPlace[k] = append(byPlace[k], r)
	}
	for _, r := range c.a.inserted() {
		k := r.place()
		if l := byPlace[k]; len(l) > 0 {
			byPlace[k] = l[1:]
			c.compare(r, l[0].Op)
			continue
		}
		c.d.Removed = append(c.d.Removed, r)
	}
	for _, r := range c.b.inserted() { // again, for file order
		k := r.place()
		if l := byPlace[k]; len(l) > 0 && l[0].Op == r.Op {
			byPlace[k] = l[1:]
			c.d.Added = append(c.d.Added, r)
		}
	}
}

func (r OpRef) place() string { return r.Op.Type + "\x00" + r.From + "\x00" + r.To }

func (s *side) inserted() (out []OpRef) {
	for _, o := range s.x.Ops {
		if s.origins[o] != nil {
			continue
		}
		r := OpRef{Op: o, Inserted: true, From: s.before(o), To: s.after(o)}
		for _, n := range []string{r.From, r.To} {
			if n != "" {
				r.Origins = append(r.Origins, n)
			}
		}
		out = append(out, r)
	}
	return out
}

// maxHops bounds the walk through inserted operators.
const maxHops = 16

// before returns the framework tensor that reaches an inserted operator.
func (s *side) before(o *Op) string {
	for range maxHops {
		ports := s.x.Sources(o, 0)
		if len(ports) == 0 {
			return ""
		}
		o = ports[0].Op
		if names := s.origins[o]; names != nil {
			return names[len(names)-1] + ":" + strconv.Itoa(ports[0].Index)
		}
	}
	return ""
}

// after returns the framework operator an inserted operator feeds.
func (s *side) after(o *Op) string {
	for range maxHops {
		ports := s.x.Sinks(o, 0)
		if len(ports) == 0 {
			for _, next := range s.x.ControlConsumers(o) {
				if names := s.origins[next]; names != nil {
					return names[0]
				}
			}
			return ""
		}
		o = ports[0].Op
		if names := s.origins[o]; names != nil {
			return names[0] + ":" + strconv.Itoa(ports[0].Index)
		}
	}
	return ""
}

// Empty reports whether the builds do not differ.
func (d *Diff) Empty() bool { return len(d.Removed)+len(d.Added)+len(d.Fused)+len(d.Changed) == 0 }
