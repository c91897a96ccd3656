// Package op is the catalogue of operators: what an operator is, one row each.
//
// Whoever needs to know something of an operator by its type asks here: the judge how errors go
// through it, the comparison which integers are places, the reader of recordings what a function
// does to memory. What a trait means for them is theirs; which operators have it is in
// operators.txt, and nowhere else. To add an operator is to add a row, or a name to a row.
package op

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

//go:embed operators.txt
var text string

// Trait is something that is so of an operator or is not.
type Trait uint64

const (
	// Constant operators hold weights, literals and state, Feed ones bring the inputs of the network;
	// no kernel computes either.
	Constant Trait = 1 << iota
	Feed
	// Control operators move no data of their own and leave no dump.
	Control
	// Cleans tells of control operators that stand between others and lead from none to the next.
	Cleans
	// Helper operators are inserted by compilers; their number and names depend on the compilation.
	Helper
	// Reshapes: only gives a tensor another shape, address or name. Without a dump it ran no kernel.
	Reshapes
	// Moves: copies, selects, reorders, repeats, pads or casts elements and computes none. Outputs have
	// the same bits wherever it runs.
	Moves
	// Straight: keeps all elements in their order.
	Straight
	// Turns: moves, and gives the elements of a tensor in another order and the same shape.
	Turns
	// Selects: outputs are elements of inputs, or differ from these in the sign.
	Selects
	// Exact: selects or rounds correctly, so that it gives the same bits on every device.
	Exact
	// Either: gives the larger or the smaller of two numbers, and the gradient to the one that it gave.
	Either
	// Approximate: computed by way of an exponential, which devices and libraries take from polynomials or
	// tables: float32 results of one library on a CPU were found 26 to 44 roundoffs off.
	Approximate
	// Halved: its open kernels take functions in float16 without being asked: swish its exponential where shapes are
	// dynamic, fast_gelu all of it (TBE's impl_mode high_performance).
	Halved
	// Steep: small errors may come out large: steep functions, comparisons, quotients, and norms over a batch, in which what is the same in all of it
	// cancels.
	Steep
	// Product: sums of products, on the matrix unit where there is one.
	Product
	// Rounds: rounds to whole numbers, or to those of another type.
	Rounds
	// Quantises: integer outputs are numbers in steps: what goes in times a scale, rounded.
	Quantises
	// Random: no input explains the results.
	Random
	// Copies: takes rows of a table, which are rounded once and not computed.
	Copies
	// Masks: puts what is given to it in some places and makes no number.
	Masks
	// Allocates: results are memory as it is.
	Allocates
	// Fills: writes all of the first argument without reading it; Mends writes a part of it.
	Fills
	Mends
	// Shaped: of the first argument its shape and its type are taken, and no element is read.
	Shaped
	// Carves: hands out a part of memory.
	Carves
	// Scales: multiplies the first argument by beta; by 0 it is not read.
	Scales
	// Returns: returns its argument itself where there is nothing to do.
	Returns
	// Cancels: is computed as a difference that loses digits near 0, as exp(x) - 1 is.
	Cancels
	// Shares: what ranks run together and what gives all of them the same.
	Shares
	// Channels: the function that a kernel is bound to has the channels in axis 1.
	Channels
	// Activation: is put behind other operators, or left out there, by mistake; Alone: is all that modules of
	// many names do.
	Activation
	Alone
	// Targets: whole numbers that it takes are the classes that are right.
	Targets
	// Kinked: the slope of what it computes jumps somewhere; of a formula that follows. See [Row.IsKinked].
	Kinked
)

var traits = map[string]Trait{"constant": Constant, "feed": Feed, "control": Control, "cleans": Cleans, "helper": Helper, "reshapes": Reshapes,
	"moves": Moves, "straight": Straight, "turns": Turns, "selects": Selects, "exact": Exact, "either": Either, "approximate": Approximate, "halved": Halved, "steep": Steep, "product": Product,
	"rounds": Rounds, "quantises": Quantises, "random": Random, "copies": Copies, "masks": Masks, "allocates": Allocates, "fills": Fills,
	"mends": Mends, "shaped": Shaped, "carves": Carves, "scales": Scales, "returns": Returns, "cancels": Cancels, "shares": Shares, "channels": Channels, "activation": Activation, "alone": Alone, "targets": Targets, "kinked": Kinked}

// Row is what an operator is. Its zero value is an operator that nothing is known of.
type Row struct {
	// Names are its types, functions and classes.
	Names []string
	// Traits are those that it has.
	Traits Trait
	// Does is what it does, in one word for all frameworks; empty where it has no counterpart in others.
	Does string
	// Error is the class of how the errors of inputs go into outputs, as summed(0.25); Law what outputs keep
	// of inputs (elements, ones, mean, sum); Summands what is added up in it (terms, total, mean, factors, argument, ones, rootslope, inverseslope).
	Error, Law, Summands string
	// Domain are the numbers that its function is defined for (nonnegative, positive, logarithm, nonzero, divisor,
	// power); Overflow how it gets beyond what a type holds (product, square, exponential).
	Domain, Overflow string
	// Spread is which elements of an output one of an input goes into: element (in the same place), transpose,
	// rows (along the axes it works on), slice, lookup.
	Spread string
	// Choice is how it chooses by its inputs' values: arg(output), ranked, compared, suppressed, pooled, or by
	// an input that is positive(input), beyond zero and six(input), or a truth(input).
	Choice string
	// Indices are the inputs that it takes as indices or ids, Weights the arguments that are weights when they are
	// given by position.
	Indices, Weights []int
	// Updates are, by output, the inputs that MindSpore's kernel writes its results to, -1 for none: it hands out buffers that nobody fills.
	Updates []int
	// Formula is what a function computes, of the numbers in one place. Rounded says that B, the bound of its error, is
	// units of (|y| + Near·min(|x|, 1)) however it is computed, and of (|y| + Near) below 0 where it Cancels; else B
	// follows from each step. With Ends, Low is the value at -Inf, where the formula has none. Back is the gradient of
	// the operand, of it (x), the result (y) and its gradient (g), where that is not the slope times g.
	Formula       *Formula
	Back          *Formula
	Rounded, Ends bool
	Near, Low     float64
	// Range is where the results lie; [0, 0] where that follows from the formula, or is not known.
	Range [2]float64
	// Within is the parameter between whose least and largest element, or 0, results lie.
	Within string
	// Calls are how a function is called, by the namespace where it has parameters of its own (Functional), else "".
	Calls map[string]*Signature
	// Kernel is the form that the engine computes a kernel by; empty where that is a function (As), or not known.
	Kernel string
	// Steps are what a call of the form steps makes of its arguments, name=step each.
	Steps []string
	// MindSpore is what functions and primitives of MindSpore under these names are: a function of PyTorch with its parameters
	// in MindSpore's order, function'parameter for gradients, or a kernel of CANN; by the class (Tensor) whose method has
	// other parameters, else "".
	MindSpore map[string]*Signature
	// Module is what a class of modules calls: the function, and those of its arguments that the module keeps to itself.
	Module *Signature
	// Pairs are the calls, one or a sequence, that others write in place of it: they do the same on another device.
	Pairs [][]string
	// Absent are parameters of functions of PyTorch that are these numbers where they are not given: what a formula does not
	// tell. NaN is the inverse root of the last axis of the first argument (rsqrt).
	Absent map[string]float64
	// As is the function that a kernel computes, nil where it has a form of its own or none.
	As *Binding
	// Chosen is the output with the places that it chose: -1 for all, -2 for none.
	Chosen int
}

// None is the value of Chosen for operators that choose no places.
const None = -2

var unknown = Row{Chosen: None}

// Of is the row of a type, a function in any of its spellings (view, transpose_, __getitem__, view.default) or
// the class of a module; an empty one for others.
func Of(name string) *Row {
	rows := rows()
	if e := rows[name]; e != nil {
		return e.known()
	}
	head, _, dotted := strings.Cut(name, ".")
	if head = strings.Trim(head, "_"); len(head) < len(name) {
		if e := rows[head]; e != nil {
			return e.known()
		}
	}
	if dotted { // a primitive of MindSpore: matmul.MatMul
		if e := rows[name[strings.LastIndexByte(name, '.')+1:]]; e != nil {
			return e.known()
		}
	}
	return &unknown
}

// Is tells whether an operator has one of some traits.
func Is(name string, any Trait) bool { return Of(name).Traits&any != 0 }

// Kernel tells whether a kernel computes an operator, which then leaves a dump.
func Kernel(name string) bool { return !Is(name, Constant|Feed|Control) }

// IsKinked tells whether the slope of what an operator computes jumps somewhere, as that of relu at 0: its gradient chooses, and
// those of two inputs that are a roundoff apart may have nothing in common.
func (r *Row) IsKinked() bool {
	return r.Traits&Kinked != 0 || r.Module != nil && Is(r.Module.Form, Kinked)
}

// PicksPlaces tells whether an output holds places that an operator chose.
func (r *Row) PicksPlaces(output int) bool { return r.Chosen == output || r.Chosen == -1 }

// TakesPlaces tells whether an input holds indices or ids.
func (r *Row) TakesPlaces(input int) bool { return slices.Contains(r.Indices, input) }

var rows = sync.OnceValue(func() map[string]*entry {
	byName, err := parse(text)
	if err != nil {
		panic(err) // a fault of operators.txt, which tests find
	}
	return byName
})

// known is a row of operators.txt.
func (e *entry) known() *Row {
	r, err := e.read()
	if err != nil {
		panic(err) // as above
	}
	return r
}

// All are the rows of the catalogue.
func All() []*Row { return With("") }

// With are the rows whose traits have a word in them, which alone are read: reading all takes a tenth of the time of a small
// recording.
func With(word string) []*Row {
	seen, list := map[*entry]bool{}, []*Row(nil)
	for _, e := range rows() {
		if !seen[e] && strings.Contains(e.traits, word) {
			seen[e], list = true, append(list, e.known())
		}
	}
	slices.SortFunc(list, func(a, b *Row) int { return strings.Compare(a.Names[0], b.Names[0]) })
	return list
}
