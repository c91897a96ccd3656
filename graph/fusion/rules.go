package fusion

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"precision/graph"
)

// Rules are the fusion rules of a model: which operators of the network as it runs stand for which operators
// of the framework's network. Operators of all graphs are pooled.
type Rules struct {
	Path   string   // of the model
	Groups []*Group // by Index
	Ops    []*Op    // by ID, file order for equal ids
	// InputNodes names the operators of type Data in file order.
	InputNodes []string
	Warnings   []graph.Warning
	rest       int // warnings that were not kept

	byName  map[string]*Op // first of a name
	inGraph map[opKey]*Op  // operators whose name occurs in several graphs
	calls   *graph.Calls
	fed     []*Op // what the inputs of Ops name, one after the other
	ordered sync.Once
	turns   []int32 // by place, see Turn
	// While groups form: what they are found by, and of names that occur twice the groups that have them; room for groups
	// and outputs to come, and what outputs look like.
	byKey   map[groupKey]*Group
	members map[member]bool
	room    []Group
	taken   []Output
	looks   map[looks]*Tensor
}

// Absent is an operator that an input names and no graph has.
type Absent struct{ Name, Input, Of string }

// Missing are the first operators that inputs name and no graph has: in a whole graph there are none.
func (r *Rules) Missing(most int) (list []Absent) {
	seen := map[string]bool{}
	for _, op := range r.Ops {
		if op.Op == nil {
			continue
		}
		for i, e := range op.Op.Inputs {
			if i < len(op.Inputs) && op.Inputs[i].Text == e.Text && r.fed[int(op.fedAt)+i] != nil {
				continue
			}
			name := e.Producer()
			if e.IsEmpty() || e.Index < graph.ControlIndex || r.byName[name] != nil || seen[name] || len(list) == most {
				continue
			}
			seen[name] = true
			list = append(list, Absent{name, e.Text, op.Op.Name})
		}
	}
	return list
}

// member is the name of an operator in a group.
type member struct {
	group *Group
	name  string
}

type opKey struct {
	graph *graph.Graph
	name  string
}

// Group is a set of operators that together stand for the same framework operators.
type Group struct {
	Index    int // order of first appearance in the file, from 0
	Relation Relation
	// Ops are ordered by the first appearance of their original names, then by file order.
	Ops []*Op

	one   [1]*Op                    // room for Ops
	cells atomic.Pointer[[2]string] // NPU side and golden side, of several operators once they were asked for
}

// Relation says how many operators of each side a group connects, NPU side first where the names of this
// field do: N:1 is one NPU operator fused from several.
type Relation uint8

const (
	OneToOne   Relation = iota // 1:1
	ManyToOne                  // N:1, several framework operators fused into one
	OneToMany                  // 1:N, one framework operator split
	ManyToMany                 // N:N
	L1Fusion                   // operators sharing data in the L1 buffer
)

func (r Relation) String() string {
	if names := [...]string{"1:1", "N:1", "1:N", "N:N", "L1"}; int(r) < len(names) {
		return names[r]
	}
	return "Relation(" + strconv.Itoa(int(r)) + ")"
}

// Op is an operator as fusion rules see it: that of the graph, of which what stands here has another meaning.
type Op struct {
	*graph.Op
	Name string // without _lxslice suffixes
	// OriginNames lists the framework operators it stands for: its own name when the graph does not say, one
	// empty name when the graph says there is none.
	OriginNames []string
	HasOrigin   bool   // the graph says which framework operators it stands for
	L1          string // id of the L1 fusion group, "" for none
	MultiOp     bool   // one of several results of a split framework operator
	// Filtered marks an operator between a quantiser and its dequantiser; its tensors have no counterpart.
	Filtered bool
	Inputs   []graph.Edge // connected data inputs; names without _lxslice suffixes
	Outputs  []Output
	Group    *Group

	place int32 // in Rules.Ops, from 1; 0 for an operator that is not among them
	fedAt int32 // where its inputs begin in Rules.fed
}

// Place returns the operator's place in [Rules.Ops], -1 for one that is not among them.
func (o *Op) Place() int { return int(o.place) - 1 }

// Output is what the graph says about the framework tensor an output stands for.
type Output struct {
	OriginName  string // framework operator, "" when unknown
	OriginIndex int64  // its output; -1 when the graph has no outputs to count
	stated      bool   // the graph names the framework operator itself
	*Tensor
}

// Tensor is what a framework tensor and the output that stands for it look like. Outputs that look alike share it.
type Tensor struct {
	Layout string // of the framework tensor, "" when unknown
	Shape  []int64
	DType  string
}

// unknown is the Tensor of which nothing is known.
var unknown Tensor

// New derives the fusion rules of a model. Ops that cannot be used give a [*graph.Error] with the
// place of the operator.
func New(m *graph.Model) (*Rules, error) {
	if m.Source == graph.SourceTensorFlow {
		return nil, &graph.Error{Path: m.Path, Offset: -1, Msg: graph.Messagef("a graph of TensorFlow, expected the graph that GE made of it (ge_proto_*_Build.txt)")}
	}
	m.Own() // operators tell their graph
	n := 0
	for _, g := range m.Graphs {
		n += len(g.Ops)
	}
	r := newRules(m.Path, graph.NewCalls(m), n)
	if m.NoGraphs {
		return nil, &graph.Error{Path: m.Path, Offset: -1, Msg: graph.Messagef(`no "graph" in the model`)}
	}
	for _, g := range m.Graphs {
		if g.NoOps {
			return nil, m.FaultAt(g.Line, graph.Messagef(`no "op" in graph %q`, g.Name))
		}
		ops := make([]Op, len(g.Ops))
		for i, o := range g.Ops {
			if err := r.from(&ops[i], m, o); err != nil {
				return nil, err
			}
			r.add(&ops[i])
		}
		r.fillOrigins()
	}
	r.sort()
	r.finish()
	r.filterQuantized()
	r.countRest()
	return r, nil
}

// newRules are those of so many operators, without any yet.
func newRules(path string, calls *graph.Calls, ops int) *Rules {
	return &Rules{Path: path, calls: calls, Ops: make([]*Op, 0, ops), byKey: make(map[groupKey]*Group, ops), byName: make(map[string]*Op, ops),
		members: map[member]bool{}, looks: map[looks]*Tensor{}}
}

// from makes op the operator that o of a graph is.
func (r *Rules) from(op *Op, m *graph.Model, o *graph.Op) (fault error) {
	switch {
	case o.Name == "":
		return m.FaultAt(o.Line, graph.Messagef("op without name"))
	case o.Type == "":
		return m.FaultAt(o.Line, graph.Messagef("op %q without type", o.Name))
	}
	get := func(a graph.Attrs, key string) *graph.Value {
		v, ok := a.Lookup(key)
		if !ok {
			return nil
		}
		switch v.Kind() {
		case graph.KindMissing:
			fault = m.FaultAt(o.Line, graph.Messagef("op %q: attribute %s without value", o.Name, key))
		case graph.KindInvalid:
			fault = m.FaultAt(o.Line, graph.Messagef("op %q: attribute %s: %s", o.Name, key, v.Problem()))
		}
		return v
	}
	// What groups are made of must be what it is said to be: another kind of value
	// is no group, and not an operator that stands alone.
	of := func(want graph.Kind, key string) *graph.Value {
		v := get(o.Attrs, key)
		if kind := v.Kind(); v != nil && kind > graph.KindInvalid && kind != want {
			fault = m.FaultAt(o.Line, graph.Messagef("op %q: attribute %s: found %s, expected %s", o.Name, key, kind, want))
		}
		if elem := v.Elem(); want == graph.KindList && elem != graph.KindEmpty && elem != graph.KindString {
			fault = m.FaultAt(o.Line, graph.Messagef("op %q: attribute %s: found a list of %s, expected one of %s", o.Name, key, elem, graph.KindString))
		}
		return v
	}
	*op = Op{Op: o, Name: cutSlices(o.Name)}
	if v := of(graph.KindList, graph.AttrOriginOps); v != nil {
		op.HasOrigin = true
		op.OriginNames = v.Strings()
		if len(op.OriginNames) == 0 {
			op.OriginNames = []string{""}
		}
	} else {
		op.OriginNames = []string{op.Name}
	}
	op.L1 = of(graph.KindString, graph.AttrL1Group).Text()
	op.MultiOp = get(o.Attrs, graph.AttrMultiOp).Bool()
	op.Inputs = connected(o.Inputs)
	for i := range o.OutputDesc {
		d := &o.OutputDesc[i]
		if d.Attrs == nil {
			continue
		}
		if op.Outputs == nil {
			op.Outputs = r.outputs(len(o.OutputDesc) - i)
		}
		out, looks := Output{OriginIndex: int64(i)}, Tensor{DType: d.DType}
		out.OriginName = get(d.Attrs, graph.AttrOriginName).Text()
		if name, index, ok := fxTensor(get(d.Attrs, graph.AttrFXName).Text()); ok && out.OriginName == "" {
			out.OriginName, out.OriginIndex = name, index
		}
		out.stated = out.OriginName != ""
		if n, ok := get(d.Attrs, graph.AttrOriginIndex).Int(); ok {
			out.OriginIndex = n
		}
		looks.Layout = get(d.Attrs, graph.AttrOriginFormat).Text()
		if format := get(d.Attrs, graph.AttrFormat).Text(); looks.Layout == "" {
			looks.Layout = format
		}
		looks.Shape = get(d.Attrs, graph.AttrShape).Ints()
		out.Tensor = r.shared(looks)
		op.Outputs = append(op.Outputs, out)
	}
	if fault == nil && !op.HasOrigin {
		op.fillOrigin(op.Name)
	}
	return fault
}

// outputs is an empty list with room for n outputs.
func (r *Rules) outputs(n int) []Output {
	if cap(r.taken)-len(r.taken) < n {
		r.taken = make([]Output, 0, max(n, len(r.Ops)/8, 64))
	}
	at := len(r.taken)
	r.taken = r.taken[:at+n]
	return r.taken[at : at : at+n]
}

// shared is a Tensor that looks like t: a network has few of them, and lists of dimensions that are equal mostly are the same.
func (r *Rules) shared(t Tensor) *Tensor {
	key := looks{t.Layout, t.DType, unsafe.SliceData(t.Shape), len(t.Shape)}
	kept := r.looks[key]
	if kept == nil {
		kept = &t
		r.looks[key] = kept
	}
	return kept
}

type looks struct {
	layout, dtype string
	shape         *int64
	dims          int
}

// fxTensor takes the name of a tensor of FX apart, mm-aten.mm.default.OUTPUT.0, as the files of one are named.
func fxTensor(s string) (name string, index int64, ok bool) {
	i := strings.LastIndexByte(s, '.')
	if i <= 0 {
		return "", 0, false
	}
	index, err := strconv.ParseInt(s[i+1:], 10, 31)
	return s[:i], index, err == nil && index >= 0
}

// connected are the data inputs that something feeds, under the names of whole operators: a part of all where nothing
// has to be left out or renamed, as in most operators.
func connected(all []graph.Edge) []graph.Edge {
	n := 0
	for n < len(all) && !all[n].IsEmpty() && !all[n].IsControl() && !strings.Contains(all[n].Text, sliceMark) {
		n++
	}
	list := all[:n:n]
	for _, e := range all[n:] {
		if e.IsEmpty() || e.IsControl() {
			continue
		}
		if strings.Contains(e.Text, sliceMark) {
			e = graph.ParseEdge(cutSlices(e.Text))
		}
		list = append(list, e)
	}
	return list
}

// fillOrigin gives every output without origin the framework operator name.
func (o *Op) fillOrigin(name string) {
	for i := range o.Outputs {
		o.Outputs[i].OriginName = cmp.Or(o.Outputs[i].OriginName, name)
	}
	if len(o.Outputs) == 0 {
		o.Outputs = []Output{{OriginName: name, OriginIndex: -1, Tensor: &unknown}}
	}
}

// fillOrigins does so for operators that alone stand for one framework operator.
func (r *Rules) fillOrigins() {
	for _, g := range r.Groups {
		if len(g.Ops) != 1 {
			continue
		}
		if names := g.Ops[0].OriginNames; len(names) == 1 && names[0] != "" && g.Ops[0].L1 == "" {
			g.Ops[0].fillOrigin(names[0])
		}
	}
}

const sliceMark = "_lxslice"

// cutSlices removes every _lxslice and its number: slices of one operator count as that operator.
func cutSlices(name string) string {
	i := strings.Index(name, sliceMark)
	if i < 0 {
		return name
	}
	var b strings.Builder
	for ; i >= 0; i = strings.Index(name, sliceMark) {
		j := i + len(sliceMark)
		for j < len(name) && name[j] >= '0' && name[j] <= '9' {
			j++
		}
		if j == i+len(sliceMark) { // no number: part of the name
			b.WriteString(name[:j])
		} else {
			b.WriteString(name[:i])
		}
		name = name[j:]
	}
	b.WriteString(name)
	return b.String()
}

// groupKey is equal for operators of one group only.
type groupKey struct {
	kind keyKind
	text string
}

// keyKind keeps apart what groups are found by.
type keyKind uint8

const (
	byOrigin  keyKind = iota // the framework operator, or the operator's own name
	byOrigins                // several framework operators
	byL1                     // the L1 fusion group
)

func (o *Op) groupKey() groupKey {
	switch {
	case o.L1 != "":
		return groupKey{byL1, o.L1}
	case len(o.OriginNames) > 1:
		var b strings.Builder
		for _, n := range o.OriginNames {
			b.WriteString(strconv.Itoa(len(n)))
			b.WriteByte(':')
			b.WriteString(n)
		}
		return groupKey{byOrigins, b.String()}
	case len(o.OriginNames) == 1 && o.OriginNames[0] != "":
		return groupKey{byOrigin, o.OriginNames[0]}
	}
	return groupKey{byOrigin, o.Name}
}

// add puts op into its group. A second operator of the same name in a group is dropped.
func (r *Rules) add(op *Op) {
	key := op.groupKey()
	g := r.byKey[key]
	if g == nil {
		if len(r.room) == cap(r.room) {
			r.room = make([]Group, 0, max(cap(r.Ops)-len(r.Ops), 1))
		}
		r.room = append(r.room, Group{Index: len(r.Groups)})
		g = &r.room[len(r.room)-1]
		g.Ops = g.one[:0]
		r.byKey[key] = g
		r.Groups = append(r.Groups, g)
	}
	op.Group = g
	if first := r.byName[op.Name]; first == nil {
		r.byName[op.Name] = op
	} else {
		// Inputs name operators of their own graph, so both must be found again.
		if r.inGraph == nil {
			r.inGraph = map[opKey]*Op{}
		}
		for _, o := range []*Op{first, op} {
			if k := (opKey{o.Graph, o.Name}); r.inGraph[k] == nil {
				r.inGraph[k] = o
			}
		}
		r.members[member{first.Group, op.Name}] = true
		if r.members[member{g, op.Name}] {
			return
		}
		r.members[member{g, op.Name}] = true
	}
	g.Ops = append(g.Ops, op)
	r.Ops = append(r.Ops, op)
	if op.Type == "Data" {
		r.InputNodes = append(r.InputNodes, op.Name)
	}
}

func (r *Rules) sort() {
	slices.SortStableFunc(r.Ops, func(a, b *Op) int { return cmp.Compare(a.ID, b.ID) })
}

// finish sets relations, places, what inputs name, and the order of operators inside groups, to which no operator comes any more.
func (r *Rules) finish() {
	r.byKey, r.members, r.room, r.taken, r.looks = nil, nil, nil, nil, nil
	n := 0
	for i, o := range r.Ops {
		o.place, o.fedAt = int32(i+1), int32(n)
		n += len(o.Inputs)
	}
	r.fed = make([]*Op, 0, n)
	for _, o := range r.Ops {
		for _, e := range o.Inputs {
			r.fed = append(r.fed, r.producer(o.Graph, e.Producer()))
		}
	}
	for _, g := range r.Groups {
		if len(g.Ops) > 1 {
			rank := map[string]int{}
			for _, o := range g.Ops {
				if t := o.originText(); rank[t] == 0 {
					rank[t] = len(rank) + 1
				}
			}
			if len(rank) > 1 {
				slices.SortStableFunc(g.Ops, func(a, b *Op) int { return rank[a.originText()] - rank[b.originText()] })
			}
		}
		first := g.Ops[0]
		switch {
		case len(g.Ops) == 1 && len(first.OriginNames) > 1:
			g.Relation = ManyToOne
		case len(g.Ops) == 1:
			g.Relation = OneToOne
		case first.L1 != "":
			g.Relation = L1Fusion
		case len(first.OriginNames) == 1:
			g.Relation = OneToMany
		default:
			g.Relation = ManyToMany
		}
	}
}

// Op returns the operator of that name, the first in file order if several graphs have one. nil if there is
// none. The name is compared without _lxslice suffixes.
func (r *Rules) Op(name string) *Op {
	if o, ok := r.byName[name]; ok {
		return o
	}
	return r.byName[cutSlices(name)]
}

// producer returns the operator that an input of an operator of g names: the one of its own graph if there is one.
func (r *Rules) producer(g *graph.Graph, name string) *Op {
	if o, ok := r.inGraph[opKey{g, name}]; ok {
		return o
	}
	return r.byName[name]
}

// LastID returns the id of the last operator in id order, 0 without operators.
func (r *Rules) LastID() int64 {
	if len(r.Ops) == 0 {
		return 0
	}
	return r.Ops[len(r.Ops)-1].ID
}

// note keeps a warning, up to a bound.
func (r *Rules) note(w graph.Warning) {
	if len(r.Warnings) >= graph.MaxWarnings {
		r.rest++
		return
	}
	r.Warnings = append(r.Warnings, w)
}

// countRest says how many warnings were not kept.
func (r *Rules) countRest() {
	if r.rest > 0 {
		r.Warnings = append(r.Warnings, graph.Warning{Path: r.Path, Offset: -1, Msg: graph.MoreWarnings(r.rest)})
		r.rest = 0
	}
}
