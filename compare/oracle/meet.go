package oracle

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"precision/dump"
	"precision/graph"
)

// Member is what one rank recorded of an operator that several ran together.
type Member struct {
	Rank int
	// Op is the operator in the graph of the rank, nil without a graph; Type is its type.
	Op    *graph.Op
	Type  string
	Entry *dump.Entry
	// Before is the recording of an earlier step, nil without one: where old data come from.
	Before *dump.Entry
}

// How the ranks of a group were found.
const (
	GroupAll       = "all"       // all that have the operator
	GroupAttribute = "attribute" // the graph names the group of all ranks
	GroupShapes    = "shapes"    // the shapes tell how many belong together
	GroupValues    = "values"    // of the groups there may be the one whose values fit
)

// Why there is no verdict on a meeting.
const (
	WhyOneRank  = "one-rank"  // only one rank recorded it
	WhyBadDump  = "bad-dump"  // a recording cannot be read: rank, error
	WhyType     = "type"      // nothing is known of operators of the type: type
	WhyShapes   = "shapes"    // the shapes of the ranks do not go together
	WhyInPlace  = "in-place"  // the recorded inputs have the addresses of the outputs
	WhyAgree    = "agree"     // all ranks have the same, which the inputs do not give: some ranks may not have been recorded
	WhyGroups   = "groups"    // no way to put the ranks into groups gives what they have
	WhyNoSender = "no-sender" // nothing that was sent has the shape of what was received: rank
)

// What is wrong with the outputs of ranks; see the package job.
const (
	MetOwnInput = "own-input"
	MetLeftOut  = "left-out"
	MetTwice    = "twice"
	MetStale    = "stale"
	MetMean     = "mean"
	MetSum      = "sum"
	MetSwapped  = "swapped"
	MetDiffers  = "differs"
	MetBeyond   = "beyond"
)

// MetFault is what is wrong with an output of one rank.
type MetFault struct {
	Kind         string
	Rank, Output int
	// Other is the rank whose input it is about, -1 where no one's.
	Other int
	// Elements of Of are wrong; at the worst Expected should be, Found is, and Bound is allowed.
	Elements, Of           int64
	Expected, Found, Bound float64
}

// Meeting is what was found of an operator that ranks ran together.
type Meeting struct {
	// Verdict is OK, Wrong or Unknown; Why and Args say of the latter why.
	Verdict Verdict
	Why     string
	Args    []string
	// Groups are the ranks that met, How they were found.
	Groups    [][]int
	How       string
	Reduction string
	Faults    []MetFault
}

// IsCollective tells whether operators of a type are run by ranks together.
func IsCollective(typ string) bool { return isCollective(typ) }

// IsTransfer tells whether the type is that of one end of a transfer between two ranks.
func IsTransfer(typ string) bool { return typ == "HcomSend" || typ == "HcomReceive" }

// CheckMeeting judges what ranks recorded of an operator: is each output what the
// inputs of its group give, whatever the order of sums. Members have different ranks. Memory depends on a
// few slabs of a tensor, not on the number of ranks. Prototypes: hcom_ops.h.
func CheckMeeting(ctx context.Context, members []Member) (Meeting, error) {
	slices.SortStableFunc(members, func(a, b Member) int { return cmp.Compare(a.Rank, b.Rank) })
	m := &meeting{ctx: ctx, keep: len(members) <= mostOpen}
	for i := range members {
		m.ends = append(m.ends, &end{Member: members[i]})
	}
	defer m.close()
	err := m.check()
	if err != nil && ctx.Err() != nil {
		return m.Meeting, context.Cause(ctx)
	}
	if err != nil {
		m.unknown(WhyBadDump, itoa(m.rank), err.Error())
	}
	return m.Meeting, nil
}

// mostOpen is how many recordings are open at once; of more ranks each is opened when it
// is needed.
const mostOpen = 200

// meeting is a check in the making.
type meeting struct {
	Meeting
	ctx  context.Context
	ends []*end
	keep bool
	rank int // that was looked at last
	kind string
	root int // of a broadcast, where no graph names it
}

// end is the recording of a rank.
type end struct {
	Member
	file      *dump.Reader
	ins, outs []*operand
}

// open opens the recording of an end.
func (m *meeting) open(i int) (*end, error) {
	e := m.ends[i]
	m.rank = e.Rank
	if err := m.ctx.Err(); err != nil {
		return nil, err
	}
	if e.file != nil {
		return e, nil
	}
	file, ins, outs, err := openEnd(e.Entry, e.Op)
	if err != nil {
		return nil, err
	}
	e.file, e.ins, e.outs = file, ins, outs
	return e, nil
}

// openEnd opens the tensors of a recording.
func openEnd(entry *dump.Entry, op *graph.Op) (file *dump.Reader, ins, outs []*operand, err error) {
	if file, err = entry.Open(); err != nil {
		return nil, nil, nil, err
	}
	var slots []int
	if op != nil {
		slots = connectedSlots(op)
	}
	for i := range file.Inputs {
		var desc *graph.TensorDesc
		if i < len(slots) {
			desc = descAt(op.InputDesc, slots[i])
		}
		o, err := openOperand(file, &file.Inputs[i], desc)
		if err != nil {
			file.Close()
			return nil, nil, nil, err
		}
		ins = append(ins, o)
	}
	for i := range file.Outputs {
		var desc *graph.TensorDesc
		if op != nil {
			desc = descAt(op.OutputDesc, i)
		}
		o, err := openOperand(file, &file.Outputs[i], desc)
		if err != nil {
			file.Close()
			return nil, nil, nil, err
		}
		outs = append(outs, o)
	}
	return file, ins, outs, nil
}

// done lets an end go where there are too many to keep.
func (m *meeting) done(e *end) {
	if !m.keep && e.file != nil {
		e.file.Close()
		e.file, e.ins, e.outs = nil, nil, nil
	}
}

func (m *meeting) close() {
	m.keep = false
	for _, e := range m.ends {
		m.done(e)
	}
}

func (m *meeting) unknown(why string, args ...string) {
	m.Verdict, m.Why, m.Args = Unknown, why, args
}

// with reads elements of an input or output of an end.
func (m *meeting) read(i int, output bool, tensor int, lo int64, into []float64) error {
	e, err := m.open(i)
	if err != nil {
		return err
	}
	defer m.done(e)
	o, err := e.tensor(output, tensor)
	if err != nil {
		return err
	}
	return o.Range(lo, into, nil)
}

func (e *end) tensor(output bool, i int) (*operand, error) {
	list := e.ins
	if output {
		list = e.outs
	}
	if i >= len(list) {
		return nil, refuse(NoInput, itoa(i))
	}
	return list[i], nil
}

// sizes are the numbers of elements of an input and an output of an end, -1 where it has
// none.
func (m *meeting) sizes(i, tensor int) (in, out int64, err error) {
	e, err := m.open(i)
	if err != nil {
		return 0, 0, err
	}
	defer m.done(e)
	in, out = -1, -1
	if tensor < len(e.ins) {
		in = e.ins[tensor].view.Len()
	}
	if tensor < len(e.outs) {
		out = e.outs[tensor].view.Len()
	}
	return in, out, nil
}

// check judges all outputs.
func (m *meeting) check() error {
	if len(m.ends) < 2 {
		m.unknown(WhyOneRank)
		return nil
	}
	m.kind = m.ends[0].Type
	if _, known := pieces[m.kind]; !known {
		m.unknown(WhyType, m.kind)
		return nil
	}
	first, err := m.open(0)
	if err != nil {
		return err
	}
	tensors, typ := len(first.outs), first.precision()
	m.done(first)
	m.Reduction = m.attribute("reduction")
	if m.Reduction == "" && reduces[m.kind] {
		m.Reduction = "sum"
	}
	if !reduces[m.kind] {
		m.Reduction = ""
	}
	m.Verdict = OK
	if tensors == 0 {
		m.unknown(WhyShapes)
		return nil
	}
	for t := range tensors {
		if err := m.tensor(t, typ); err != nil || m.Why != "" {
			return err
		}
	}
	return nil
}

func (e *end) precision() precisionOf {
	if len(e.outs) == 0 {
		return precisionOf{max: math.Inf(1), limit: math.Inf(1)}
	}
	return precisionFor(e.outs[0].typ)
}

// attribute is one of the operator, in lower case; empty if no graph tells.
func (m *meeting) attribute(key string) string {
	for _, e := range m.ends {
		if e.Op != nil {
			return strings.ToLower(e.Op.Attr(key).Text())
		}
	}
	return ""
}

func (m *meeting) number(key string) (int64, bool) {
	for _, e := range m.ends {
		if e.Op != nil {
			return e.Op.Attr(key).Int()
		}
	}
	return 0, false
}
