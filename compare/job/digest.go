package job

import (
	"math"
	"slices"
	"strconv"

	"precision/compare/report"
	"precision/compare/result"
	"precision/compare/verdict"
)

// Digest is what is kept of a part when its tables are written.
type Digest struct {
	// Failed says why the part could not be compared; nothing else is set then.
	Failed string `json:"failed,omitempty"`
	// Verdict is that of the table, Counts its operators by state: uncompared, good,
	// suspect, inherited, bad, damaged.
	Verdict string `json:"verdict"`
	Counts  []int  `json:"operators,omitempty"`
	// Compared of Expected outputs have values.
	Compared int `json:"compared"`
	Expected int `json:"expected"`
	Rows     int `json:"rows"`
	// Roots are where errors begin, in execution order; Others counts those beyond mostRoots.
	Roots  []Root `json:"roots,omitempty"`
	Others int    `json:"more_roots,omitempty"`
	// Premise is what does not hold, so that none of it can be judged; nil where all does.
	Premise *Premise `json:"premise,omitempty"`
	// Piece is what it tells of other ranks and steps, of recordings of calls. Its roots are
	// those of Roots.
	Piece *verdict.Piece `json:"piece,omitempty"`
	// Behind is what takes the place of all this if nobody is to blame for what an earlier step left behind,
	// see [verdict.Piece]. Only the whole job tells.
	Behind *Digest `json:"behind,omitempty"`
	// Lost is what the verdict does without; Damaged what was recorded and cannot be
	// believed, the first of as many as Lost counts.
	Lost    []verdict.Loss  `json:"lost,omitempty"`
	Damaged []result.Damage `json:"damaged,omitempty"`
	// Itself: both sides are one recording, which shows nothing.
	Itself bool `json:"itself,omitempty"`
	// Warnings are what to know of the comparison.
	Warnings []string `json:"warnings,omitempty"`
	// Graph is the graph that pairs come from, Pairing how they were found.
	Graph   string `json:"graph,omitempty"`
	Pairing string `json:"pairing,omitempty"`
	// Together says what became of ranks that were to be put together, that dtypes differ, and of those that one run of a process is
	// compared with.
	Together []result.Reason `json:"together,omitempty"`
	// After is what became here of the roots of an earlier verdict.
	After []AfterRoot `json:"after,omitempty"`
	// Peers are the tensors that ranks may have in common, by sums of their elements.
	Peers []Peer `json:"peers,omitempty"`
}

// Root is where an error of a part begins.
type Root struct {
	Op     string `json:"op"`
	Type   string `json:"type,omitempty"`
	Output int    `json:"output"`
	// Verdict is that of the output, Order the place of the operator in execution order.
	Verdict   string `json:"verdict"`
	Order     int    `json:"order"`
	Certainty string `json:"certainty"`
	// Kind is that of [verdict.Root]: wrong, differs, golden, input or weight.
	Kind string `json:"kind,omitempty"`
	// Cause is the gravest one: what was measured and what is allowed.
	Cause     string        `json:"cause,omitempty"`
	Value     result.Number `json:"value"`
	Limit     result.Number `json:"limit"`
	Inherited int           `json:"inherited,omitempty"`
	// Argument is what it begins with, nil where that is no argument of a call. Places are other calls that have the same fault.
	Argument *Argument `json:"argument,omitempty"`
	Places   []string  `json:"places,omitempty"`
	// Into are the operators that ranks run together and that its error arrives at.
	Into []string `json:"into,omitempty"`
}

// Argument is an argument of a call that differs, with its values on either side; none is "nothing".
type Argument struct {
	Place string `json:"place"`
	Left  string `json:"left"`
	Right string `json:"right"`
}

// mostRoots, mostWarnings and mostDamaged bound what is kept of a part.
const (
	mostRoots    = 20
	mostWarnings = 10
	mostDamaged  = 10
)

// digestOf keeps what matters of a judged table.
func digestOf(j *verdict.Judged) *Digest {
	m := &j.Table.Meta
	d := &Digest{Verdict: j.Verdict.String(), Counts: j.Counts[:], Compared: j.Coverage.Compared, Expected: j.Coverage.Expected,
		Rows: len(j.Table.Rows), Graph: m.Graph, Pairing: string(m.Pairing.How), Itself: m.Pairing.OfItself(),
		Lost: j.Losses, Damaged: j.Damaged[:min(len(j.Damaged), mostDamaged)]}
	if p := slices.IndexFunc(j.Premises, func(p verdict.Premise) bool { return p.Broken }); p >= 0 && j.Verdict == verdict.Inconclusive {
		d.Premise = &Premise{Kind: j.Premises[p].Kind, Reason: j.Premises[p].Reason}
	}
	for i := range j.Roots {
		if i == mostRoots {
			d.Others = len(j.Roots) - i
			break
		}
		d.Roots = append(d.Roots, rootOf(j, &j.Roots[i]))
	}
	for i := range j.Operators {
		if op := &j.Operators[i]; isShared(op.Op.Type) {
			for _, k := range op.From {
				if k < len(d.Roots) {
					d.Roots[k].Into = append(d.Roots[k].Into, op.Op.Name)
				}
			}
		}
	}
	if len(j.Pieces) == 1 {
		d.Piece = &j.Pieces[0]
		d.Piece.Roots = d.Piece.Roots[:min(len(d.Piece.Roots), len(d.Roots))]
	}
	for _, why := range m.Pairing.Why {
		switch why.Kind {
		case result.Unsharded, result.NotUnsharded, result.CallsElsewhere, result.DTypesMixed:
			d.Together = append(d.Together, why)
		}
	}
	d.Warnings = m.Warnings
	if extra := len(m.Warnings) - mostWarnings; extra > 0 {
		d.Warnings = append(m.Warnings[:mostWarnings:mostWarnings], "… "+strconv.Itoa(extra))
	}
	return d
}

func rootOf(j *verdict.Judged, r *verdict.Root) Root {
	op := &j.Operators[r.Operator]
	out := j.Worst(r)
	root := Root{Op: op.Op.Name, Type: op.Op.Type, Output: out.Slot, Verdict: out.Verdict.String(), Order: op.Op.Order,
		Certainty: r.Certainty.String(), Kind: string(r.Kind), Inherited: r.Inherited, Value: result.Number(math.NaN()), Limit: result.Number(math.NaN())}
	if len(r.Causes) > 0 {
		c := r.Causes[0]
		root.Cause, root.Value, root.Limit = string(c.Kind), result.Number(c.Value), result.Number(c.Limit)
	}
	if r.Begin != nil {
		if row := &j.Table.Rows[r.Begin.Row]; row.Op == op.Op.Name && row.Recorded != nil && row.Recorded.Argument {
			root.Argument = &Argument{row.Recorded.Place, report.SummaryText(row.Recorded.Left), report.SummaryText(row.Recorded.Right)}
		}
	}
	root.Places = r.Places
	return root
}

// Tensor is the output that a root is about.
func (r *Root) Tensor() string { return result.TensorName(r.Op, result.Output, r.Output) }

// Peer is a tensor whose elements ranks may share: a weight that an operator reads.
type Peer struct {
	Tensor string `json:"tensor"`
	// Sum is a hash of the elements.
	Sum string `json:"sum"`
}
