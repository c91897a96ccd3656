package result

import (
	"slices"
	"time"
)

// Table is what a comparison found.
type Table struct {
	Meta Meta
	// Ops are the operators of the network, of the graph or, without one, of
	// the left side. Rows name them by Row.Op.
	Ops []Operator
	// Rows are in the order of their Index.
	Rows []Row
	// Checks are an oracle's words on outputs, if it was asked.
	Checks []Check
	// Looks are looks at the elements of tensors that matter, if they were
	// taken.
	Looks []Look
}

// Compared counts the rows that have values.
func (t *Table) Compared() int {
	n := 0
	for i := range t.Rows {
		if t.Rows[i].Compared {
			n++
		}
	}
	return n
}

// Meta says what was compared with what, when and how.
type Meta struct {
	// Damaged is what was recorded and cannot be believed and has no row of its own that
	// says so: a recording cut short, a file in the way. Rows say theirs by a reason of the
	// class Unreadable.
	Damaged []Damage
	// Hints are what a look at elements found of how the sides are to be compared.
	Hints []Reason
	// Numerics are "exact" or "reference".
	Numerics string
	// Metrics are the names of the selected metrics, in order.
	Metrics []string
	// Time is when the comparison began.
	Time time.Time
	// Version is that of the program.
	Version string
	// Graph is the path of the graph, empty without one.
	Graph string
	// GraphHow is how the graph was found: "given", or why it was taken.
	GraphHow string
	Pairing  Pairing `column:""`
	// Unordered: Facts.Order is not the place in execution order, as in a table
	// that was imported and has no column for it.
	Unordered bool
	// Weighed is what was found of weights that only the left side has.
	Weighed Weighed `column:"weights_differ,weights_weighed"`
	// Recorded: the sides are recordings of calls, whose rows have a Recorded.
	Recorded bool
	// Stored: the sides are tensors that were stored under names, of which none is made of another.
	Stored bool
	// Partial: a range or a selection left operators out on purpose.
	Partial bool
	// Imported: the table was read from csv, which cannot show that it is whole.
	Imported bool
	// Strangers counts operators of the left side that the graph does not have, or has as another
	// type, of Dumped.
	Strangers, Dumped int
	// Strange are the names of the first of them.
	Strange []string
	// Warnings are what a user should know of the inputs, first things first.
	Warnings []string
	// Left and Right are the two sides.
	Left, Right Side
}

// Weighed tells of weights that only the left side has whether the framework had them, too:
// with Differ of so many, golden outputs do not follow from golden inputs.
type Weighed struct{ Differ, Of int }

// Side is one side of a comparison.
type Side struct {
	// Dir is the folder its tensors were read from.
	Dir string
	// Kind is the kind of recording: "npu", "numpy", "quantised", "torch" …
	Kind string
	// Recording is the recording that was taken of several, empty if there
	// was one only; Others are those that were passed over.
	Recording string
	Others    []string
}

// How pairs were found.
type How string

const (
	ByGraph How = "graph"   // the graph says which golden tensor each belongs to
	ByName  How = "names"   // operators of the same name; outputs only against arrays
	Aligned How = "aligned" // sequences of calls were aligned
	Mapped  How = "mapping" // calls of other names that do the same
	ByHand  How = "given"   // the user named the pair
)

// Pairing says how tensors of the two sides were brought together.
type Pairing struct {
	How How `column:"pairing"`
	// Why tells what to know of the pairs: that another way than the one asked
	// for was taken and what either covers, which recordings were passed over,
	// that the batches of the sides differ.
	Why []Reason `part:"pairing_why"`
	// Covered counts operators with a compared output, per way that was tried.
	Covered map[How]int `part:"pairing_covered" column:"how,operators"`
	// Paired counts pairs of recordings of calls, one for each step and rank, Unpaired those of
	// either side that have no partner.
	Paired, Unpaired int
	// Reordered counts pairs of calls that the two sides made in another order:
	// sums of their results may be rounded otherwise.
	Reordered int
	// Mapped counts pairs of calls of other names that do the same: they need not round
	// alike.
	Mapped int
}

// OfItself tells that both sides were one recording, which says nothing of either.
func (p *Pairing) OfItself() bool {
	return slices.ContainsFunc(p.Why, func(r Reason) bool { return r.Kind == SameSides })
}

// Alone names the recordings of either side that have no partner on the other.
func (p *Pairing) Alone() (names []string) {
	for _, r := range p.Why {
		switch r.Kind {
		case RanksUnpaired:
			names = append(names, r.Arg(1))
		case ProcessesUnpaired:
			names = append(names, r.Args...)
		}
	}
	return names
}

// Operator is a node of the network.
type Operator struct {
	Name, Type string
	// Index is the number of its group, Order its place in execution order.
	Index, Order int
	// Framework are the operators it was made from; none for an inserted one.
	Framework []string
	// Inserted: the graph compiler added it, it has no counterpart.
	Inserted bool
	// Constant: a weight, literal or variable; Feed: an input of the network.
	// Neither is computed by a kernel.
	Constant, Feed bool
	// Inner: its outputs stay inside a group, no framework operator has them.
	Inner bool
	// NoKernel: it moves no data of its own and leaves no dump (NetOutput,
	// control operators).
	NoKernel bool
	// Skipped: outputs are in another scale than any golden tensor, as those of
	// a quantiser, and are not compared.
	Skipped bool
	// Dumped: the left side has a recording of it.
	Dumped bool
	// Inputs are what feeds it, by input slot; an empty Op is not connected
	// or not known.
	Inputs []Port `column:"op,output" part:"inputs"`
	// Outputs is how many outputs the graph gives it.
	Outputs int
	// Final are outputs of the network; Leaves are the outputs that leave it, none where
	// all do. Of recordings of calls, which know no network, the last ones have Leaves alone.
	Final bool
	// Behind tells that what comes before may show here by a way that was not recorded: it holds what
	// others made, as a parameter behind the step, or one of its inputs is missing on both sides.
	Behind bool
	// Begins tells of what ranks run together that it was not waited for: what it gives may have been
	// on its way when it was recorded.
	Begins bool
	Leaves []int64
	// X and Y are its place in a picture of the network, the centre of its
	// box; all 0 where none was laid out.
	X, Y int
	// Uses are other operators that take part in it beside what feeds it: the
	// forward call of a backward one, the calls inside a module.
	Uses []string
	// Meets is what ranks run together here, the same text for all that take part in a
	// step; empty for what a rank does by itself.
	Meets string
	// Lines are the lines of the user's program that made it, the innermost first, one in a line of text, where a
	// side tells them.
	Lines string
	// Steps is how many calls a block has on the side that has more, where the sides compute the same by other calls; 0 for
	// a call. Lost is how many times larger than a result the numbers are that calls of it add up.
	Steps int
	Lost  float64
	// Made tell what a call that one side alone has gave, as [Said.Print] does.
	Made []int64
	// Gives are the tensors that go in and out of a call that one side alone has, as its recording tells of them.
	Gives []Given
	// Scope is the path of the module that a call was made in, or that a module's call is of:
	// encoder.layers.0.attention; of calls that compute gradients, behind backward.
	Scope string
}

// Given is a tensor of a call that has no partner: where it stands in its call, and which of its statistics are known.
type Given struct {
	Place string
	Shape []int64
	Known int32
	Stats Stats
}

// Map says that calls of one side do what other calls of the other side do: a fused
// function and those it stands for, a Cell and a Module.
type Map struct {
	// Left and Right name calls: a function as NPU.npu_rms_norm or npu_rms_norm, or
	// the class of a module as RMSNorm. Of several they are made in this order, maybe
	// with others between them. Either side may be the one on the left.
	Left, Right []string
}

// MappingRow is a line of the mapping table: a tensor of the left side and the
// files that would be compared. What is not known is empty.
type MappingRow struct {
	Index    int
	Sequence int64
	Type     string
	// Left and Right are operator names, Tensor is the name of the tensor.
	Left, Right string
	Tensor      string
	LeftPath    string
	RightPath   string
}
