package result

import (
	"slices"
	"strconv"

	"precision/compare/metric"
)

// Class sorts reasons for summaries.
type Class uint8

// The classes of reasons a row can carry.
const (
	Remark        Class = iota // the row was compared; something to know about it
	NoDump                     // the operator has no dump on the left side
	NoGolden                   // the right side has no such tensor
	Unreadable                 // a file or a tensor in it cannot be read
	ShapeDiffers               // shapes or element counts do not fit
	NoConverter                // no way from the dump's layout to the golden one
	NotInGraph                 // the graph does not tell which tensor it is
	TypeUnsupport              // element type without numeric values
	Skipped                    // left out on purpose
	Empty                      // no elements
	Silent                     // both sides say nothing that could agree
	Chance                     // depends on choices between near equals that differ
	classCount
)

var classNames = [...]string{
	Remark: "remark", NoDump: "no-dump", NoGolden: "no-golden", Unreadable: "unreadable", ShapeDiffers: "shape",
	NoConverter: "layout", NotInGraph: "not-in-graph", TypeUnsupport: "dtype", Skipped: "skipped", Empty: "empty", Silent: "silent", Chance: "choices",
}

// String is the name of the class in JSON and in message keys.
func (c Class) String() string {
	if c < classCount {
		return classNames[c]
	}
	return "unknown"
}

// Reason is one thing to know about a row: a kind and its arguments. A face
// says it in a language; nothing in the program reads a sentence back.
type Reason struct {
	Kind Kind `json:"kind"`
	// Args are the names, numbers and shapes the kind speaks of, in the order
	// its comment gives.
	Args []string `json:"args,omitempty"`
}

// Because makes a reason.
func Because(kind Kind, args ...string) Reason { return Reason{Kind: kind, Args: args} }

// Arg is an argument, "" where a table that is read again has fewer.
func (r Reason) Arg(i int) string {
	if i < len(r.Args) {
		return r.Args[i]
	}
	return ""
}

// Equal tells whether two reasons say the same.
func (r Reason) Equal(o Reason) bool { return r.Kind == o.Kind && slices.Equal(r.Args, o.Args) }

// Classes lists all classes.
func Classes() []Class {
	list := make([]Class, classCount)
	for i := range list {
		list[i] = Class(i)
	}
	return list
}

// Kind is what a reason says. Its text is its name in JSON and in messages.
type Kind string

// The kinds, with their arguments. op is the operator the row is about.
const (
	NoLeftDump      Kind = "no-left-dump"      // op, type
	NoLeftOp        Kind = "no-left-op"        // op: only the right side has it
	NoRightOp       Kind = "no-right-op"       // op: only the left side has it
	NoRightTensor   Kind = "no-right-tensor"   // op, tensor
	NoLeftTensor    Kind = "no-left-tensor"    // op, tensor
	BadLeftDump     Kind = "bad-left-dump"     // op, type, error
	TinyLeftDump    Kind = "tiny-left-dump"    // op, type, error: shorter than a header
	BadTensor       Kind = "bad-tensor"        // op, error
	BadFile         Kind = "bad-file"          // op, path, error
	BadDump         Kind = "bad-dump"          // error
	NoTensor        Kind = "no-tensor"         // op, path: the golden file holds none
	FewOutputs      Kind = "few-outputs"       // op, path, outputs, the one the graph names
	ShapesDiffer    Kind = "shapes-differ"     // op, left shape, right shape
	ShapeOf         Kind = "shape-of"          // op, left shape, right shape, tensor: of two dumps
	CountsDiffer    Kind = "counts-differ"     // op, role, left count, right count: numbers of tensors
	NoSuchTensors   Kind = "no-such-tensors"   // op, role: neither side has any
	NoShape         Kind = "no-shape"          // op, shape: the dump's shape is none
	NoRightShape    Kind = "no-right-shape"    // op, shape: the golden shape is none
	FewElements     Kind = "few-elements"      // op, elements, shape, elements it needs
	ElementsOfShape Kind = "elements-of-shape" // op, elements, shape: one does not fit the other
	BadView         Kind = "bad-view"          // op, error: shapes that no view can be made of
	NZNoShape       Kind = "nz-no-shape"       // op, largest shape: FRACTAL_NZ without an original shape
	NZShape         Kind = "nz-shape"          // op, target shape, largest shape
	LayoutUnknown   Kind = "layout-unknown"    // name of the golden layout
	LayoutNone      Kind = "layout-none"       // op, layout, target layout
	LayoutNoneFor   Kind = "layout-none-for"   // op, layout, shape, target layout, shape
	LayoutFailed    Kind = "layout-failed"     // op, error
	ConverterFailed Kind = "converter-failed"  // op, error of a user's conversion
	GraphSilent     Kind = "graph-silent"      // op, error
	GraphInput      Kind = "graph-input"       // op, error: the graph has no such input
	GraphEntry      Kind = "graph-entry"       // error
	GraphProducer   Kind = "graph-producer"    // name the fusion rules do not have
	GraphUnlike     Kind = "graph-unlike"      // what the header of the dump is by the graph: so are most of them
	DTypeUnknown    Kind = "dtype-unknown"     // op, dtype, its number
	InnerOnly       Kind = "inner-only"        // op: every operator of the group is an inner one
	NoFusedDump     Kind = "no-fused-dump"     // no operator of the L1 group has a dump
	NoTensors       Kind = "no-tensors"        // op, path: the dump has none to compare
	NoOutputs       Kind = "no-outputs"        // op, path: and inputs cannot be matched by name
	SlicesMissing   Kind = "slices-missing"    // op, slices, files
	SliceCompared   Kind = "slice-compared"    // slice, of, axis, shape: of the right tensor, which is whole
	AxesUnknown     Kind = "axes-unknown"      // op, left shape, right shape: nothing tells the order of axes
	AxesFound       Kind = "axes-found"        // left shape, right shape: the elements tell the order of axes
	StorageOrder    Kind = "storage-order"     // left shape, right shape: compared in storage order
	FrontOnly       Kind = "front-only"        // left shape, right shape: only the front part is compared
	SameNonFinite   Kind = "same-non-finite"   // elements, of: left out, the same NaN or Inf on both sides
	ScriptFailed    Kind = "script-failed"     // error of a user's algorithm
	ScriptSays      Kind = "script-says"       // message of a user's algorithm
	RealPartOnly    Kind = "real-part-only"    // op: the right side is complex, its imaginary part was left out
	// LeftRealPartOnly, op: the left side is complex, its imaginary part was left out.
	LeftRealPartOnly Kind = "left-real-part-only"
	NoteScalar       Kind = "note-scalar"      // a scalar has no cosine
	NoteScalarOld    Kind = "note-scalar-old"  // the same in reference numerics
	NoteAllZero      Kind = "note-all-zero"    // path: no element but 0
	NoteInfinite     Kind = "note-infinite"    // path: the divergence is infinite
	NoteBoolean      Kind = "note-boolean"     // metric, not defined for booleans
	NoteDifference   Kind = "note-difference"  // metric, needs differences of booleans
	NoteNoMaximum    Kind = "note-no-maximum"  // metric, the maximum of no elements
	NoteEmpty        Kind = "note-empty"       // no elements
	NoteNotFinite    Kind = "note-not-finite"  // elements: none is finite, and they agree
	NoteDisagree     Kind = "note-disagree"    // elements, of, first place, left value, right value: NaN or Inf disagree
	NoteZeroGolden   Kind = "note-zero-golden" // elements, of, largest error: differ where golden is 0
	ChoicesDiffer    Kind = "choices-differ"   // choices that differ, of, explained: by scores closer than their error
	ChoicesLeave     Kind = "choices-leave"    // elements left out, of: they depend on choices that differ
	NoteRounded      Kind = "note-rounded"     // elements, of: 64-bit integers compared with fractions as float64
	NoMatch          Kind = "no-match"         // name: the right recording has no partner for it
	NoLeftMatch      Kind = "no-left-match"    // name: the left recording has no partner for it
	NoLeftType       Kind = "no-left-type"     // op, name: the recording does not tell its element type
	NoRightType      Kind = "no-right-type"    // op, name
	TypesDiffer      Kind = "types-differ"     // op, left dtype, left name, right dtype, right name
	ElementsDiffer   Kind = "elements-differ"  // op, left elements, right elements: of two recordings
	NonFinite        Kind = "non-finite"       // an imported table has nan: which side is not known
	LeftNonFinite    Kind = "left-non-finite"  // only the left side holds NaN or Inf
	RightNonFinite   Kind = "right-non-finite" // only the right side does
	BothNonFinite    Kind = "both-non-finite"  // both sides do
	// of recordings of calls
	NoRightCall   Kind = "no-right-call"   // call: the right side has none like it
	NoLeftCall    Kind = "no-left-call"    // call: the left side has none like it
	MadeNonFinite Kind = "made-non-finite" // place, value: made of finite inputs by a call that one side alone has
	NaNFlagged    Kind = "nan-flagged"     // call that one side alone has: the first in which its device found NaN or infinities that the next pair has on this side alone
	NoRightValue  Kind = "no-right-value"  // place: the right call has no such value
	NoLeftValue   Kind = "no-left-value"   // place: the left call has no such value
	RightDefault  Kind = "right-default"   // place: the right call does not give it, and takes its default
	LeftDefault   Kind = "left-default"    // place: the left call does not give it
	CallAligned   Kind = "call-aligned"    // left call, right call: paired by what they do and not by name
	CallRepeated  Kind = "call-repeated"   // call that is run again for its gradients
	ValueWithheld Kind = "value-withheld"  // place, left class or shape, right one: an output that one side alone hands out, or a value before it is spread over an axis
	ModuleEnds    Kind = "module-ends"     // place: given by a module of another class that ends at another step
	MasksAlike    Kind = "masks-alike"     // place: flags of what counts on one side, numbers to add to scores on the other
	SortsDiffer   Kind = "sorts-differ"    // place, left class, right class: a tensor and something else
	DTypesDiffer  Kind = "dtypes-differ"   // left dtype, right dtype
	NoStatistics  Kind = "no-statistics"   // place: the recordings say nothing of it that both sides have
	NoNumber      Kind = "no-number"       // error: a statistic is a text, or a truth value
	StaleFile     Kind = "stale-file"      // path, from, to, recorded from, recorded to: not what the recording says of it
	StaleValue    Kind = "stale-value"     // path, Mean, Norm or md5, that of the file, recorded one
	ChecksumLate  Kind = "checksum-late"   // place: nothing else differs, and the recorder may have taken it when the tensor had changed
	ScalesUnknown Kind = "scales-unknown"  // place: quantised numbers and their scales differ, and statistics do not tell whether their products do
	TimesScales   Kind = "times-scales"    // place: quantised numbers and their scales differ, and were compared as their products
	Unfilled      Kind = "unfilled"        // place: memory that nothing had been written to
	OtherGradient Kind = "other-gradient"  // place: of another step of the function, or of the call that made the argument that one side's call returned itself
	PartOfSum     Kind = "part-of-sum"     // place: ranks, or parts of a batch, hold parts of what is summed over them later
	NoFile        Kind = "no-file"         // place: one side has a file of its elements, the other has none though it has files of others
	NoElements    Kind = "no-elements"     // error: statistics are all there is
	// of a whole table: how its pairs were found
	PairedByName      Kind = "paired-by-name"      // operators covered by names, by the graph: names were taken
	PairedByGraph     Kind = "paired-by-graph"     // operators covered by the graph, by names: the graph was taken
	OtherRecordings   Kind = "other-recordings"    // side, folder, recording taken, its operators, the others
	SeveralOfOperator Kind = "several-of-operator" // side, folder, operators with several files, the newest of each taken
	BatchDiffers      Kind = "batch-differs"       // pairs, of, left batch, right batch
	ShapesMostly      Kind = "shapes-mostly"       // pairs whose shapes differ, of
	SameSides         Kind = "same-sides"          // path: both sides are one recording
	CallsAligned      Kind = "calls-aligned"       // calls that were paired by what they do, of
	CallsNamed        Kind = "calls-named"         // left call, right call: the first of those
	CallsReordered    Kind = "calls-reordered"     // calls that the sides made in another order
	BlocksPaired      Kind = "blocks-paired"       // blocks of calls, the first, calls in them of the left side, of the right
	CallsUnpaired     Kind = "calls-unpaired"      // calls of the left side without a partner, of the right
	CallsApart        Kind = "calls-apart"         // calls of the left side, of the right: more than a tenth differ, so that pairs were sought between those that occur once
	CallsRepeated     Kind = "calls-repeated"      // calls made while gradients were computed, of both sides; of these without a partner
	StructureOnly     Kind = "structure-only"      // calls that have a partner, the first on the left without one, on the right
	UpdatesUnrecorded Kind = "updates-unrecorded"  // parameters that change between steps by ways that are not recorded, the first
	// ExchangesUnrecorded: ranks, none of which recorded a call by which it exchanges anything
	ExchangesUnrecorded Kind = "exchanges-unrecorded"
	RecordingStopped    Kind = "recording-stopped"    // side, call: it compared itself with another recording and stopped there
	RanksUnpaired       Kind = "ranks-unpaired"       // side, recordings that only this side has
	ProcessesUnpaired   Kind = "processes-unpaired"   // processes without a rank of the left side, of the right, of which none tells whose partner it is
	FrameworkAlone      Kind = "framework-alone"      // calls that one framework alone has, the first
	FloatsWidened       Kind = "floats-widened"       // tensors called float16 whose files hold float32
	DTypesMixed         Kind = "dtypes-mixed"         // tensors whose dtypes differ, left dtype, right dtype, the first
	GradientsRenumbered Kind = "gradients-renumbered" // backward calls of modules that a recorder counted as they came, the first and the one it is
	ChecksumsLate       Kind = "checksums-late"       // tensors of which only the checksum differs, the first
	BatchReordered      Kind = "batch-reordered"      // given data of which only the checksum differs, as does what is made of it; the first
	MemoryUnfilled      Kind = "memory-unfilled"      // values that are memory which nothing was written to, the call of the first
	IntegersRounded     Kind = "integers-rounded"     // tensors of integers that a recorder took by way of float32 and that hold numbers beyond it, the first
	NormsDiffer         Kind = "norms-differ"         // tensors whose norms and means alone differ, by the order in which each side adds up
	ValuesUnderway      Kind = "values-underway"      // results of collectives that had no values yet when they were recorded, the first
	InputsUnrecorded    Kind = "inputs-unrecorded"    // no call has a tensor that goes in
	OutputsUnrecorded   Kind = "outputs-unrecorded"   // no call has one that comes out
	CallsElsewhere      Kind = "calls-elsewhere"      // calls of the one recording of the right side that other ranks make
	Unsharded           Kind = "unsharded"            // recording, ranks, tensors that were put together of their slices, of, the first
	NotUnsharded        Kind = "not-unsharded"        // recording, ranks: no tensor of them is a slice of one of the other side
	MappingUnused       Kind = "mapping-unused"       // entries of a mapping file that name nothing of both sides, of, file, the first
	RecordingCut        Kind = "recording-cut"        // what is wrong with the file of the calls
	FileDamaged         Kind = "file-damaged"         // what is wrong with another file of a recording
	// of a golden output that does not follow from golden inputs
	GoldenAttribute Kind = "golden-attribute" // attribute, its value in the graph, value under which the golden output follows
	GoldenForm      Kind = "golden-form"      // form of the operator that the device has, form that golden has
	GoldenWithout   Kind = "golden-without"   // -: it follows without the bias
	GoldenAlone     Kind = "golden-alone"     // -: it follows without the second operand
	GoldenUsed      Kind = "golden-used"      // operator whose golden output follows from it: the framework did compute it
	GoldenUnused    Kind = "golden-unused"    // operator whose golden output follows from what it should be, not from it
	GoldenEquals    Kind = "golden-equals"    // operator whose output it equals but for rounding
	GoldenPlaces    Kind = "golden-places"    // elements that do not follow, of those looked at
	GoldenScaled    Kind = "golden-scaled"    // factor: it is what it should be times that

	// of the premises of a table
	InputsDiffer   Kind = "inputs-differ"   // input, elements that differ, of: it is other data
	InputsApart    Kind = "inputs-apart"    // input, relative distance in percent: the same
	InputsRecorded Kind = "inputs-said"     // input, its largest element on the left, on the right, its smallest on the left, on the right: other data
	TokensSampled  Kind = "tokens-sampled"  // input: the tokens that a model that writes text was given next are others
	InputsScaled   Kind = "inputs-scaled"   // input, factor: the same
	InputsSummed   Kind = "inputs-sums"     // input, its checksum on the left, on the right: other data of the same extremes
	GivenDiffers   Kind = "given-differs"   // input or weight, elements that differ, of
	GivenApart     Kind = "given-apart"     // input or weight, relative distance in percent
	GivenScaled    Kind = "given-scaled"    // input or weight, factor
	GivenNear      Kind = "given-near"      // input or weight, relative distance in percent: more than rounding, and what takes it agrees
	OperatorsAlone Kind = "operators-alone" // operators of the left side without a partner, of, of the right side, of
	OrderDiffers   Kind = "order-differs"   // inputs that another call makes on the other side, of, the first, what makes it on the left, on the right
	WeightsDiffer  Kind = "weights-differ"  // weights that differ, of, relative distance in percent of half of them
	StepDiffers    Kind = "step-differs"    // the same, where they are nearly the same
	RanksExchanged Kind = "ranks-exchanged" // rank of the left side, the one of the right side that was given the same
	RowsUnseen     Kind = "rows-unseen"     // an attention that the sides compute by other calls, and whose mask may leave rows nothing to see
	Inconsistent   Kind = "inconsistent"    // outputs that do not follow from the inputs recorded with them, of
	Torn           Kind = "torn"            // inputs that are not what the operators that made them recorded as outputs, of
	Cancelled      Kind = "cancelled"       // sums whose terms cancel to rounding, the first, operators that follow from these alone
	WeightsApart   Kind = "weights-apart"   // weights with which golden outputs do not follow from golden inputs, of: weights of the left side
	HintTurned     Kind = "hint-turned"     // tensor, axis, how many further the slices of the left side are
	HintOrder      Kind = "hint-order"      // tensor, axis: the left side has the slices of the right one in another order
	HintPadded     Kind = "hint-padded"     // side, tensor, axis, the first slice that is zero on this side alone
	HintFlipped    Kind = "hint-flipped"    // tensor: transposed
	HintOther      Kind = "hint-other"      // tensor, the one whose numbers of the right side the left one has
	HintZeros      Kind = "hint-zeros"      // side, tensors that are zero on this side alone, of
	HintStale      Kind = "hint-stale"      // side, weight, the input of an earlier step that has the same there
	HintMoved      Kind = "hint-moved"      // weight: the same numbers in other places, for all that statistics say
	HintFed        Kind = "hint-fed"        // input, what feeds it on the left, on the right
	HintSum        Kind = "hint-sum"        // side, tensor, the one that is added on this side
	// of weights, and of other tensors that were stored under names
	WeightStep       Kind = "weight-step"       // relative distance in percent, equal elements in percent: of another step
	WeightNear       Kind = "weight-near"       // the same: of another training that began alike, or scaled
	WeightQuantised  Kind = "weight-quantised"  // levels a row
	WeightElsewhere  Kind = "weight-elsewhere"  // the weight of the left side that it equals
	WeightConstant   Kind = "weight-constant"   // number that all its elements are
	WeightTransposed Kind = "weight-transposed" // -
	WeightUnlike     Kind = "weight-unlike"     // -: it has nothing to do with that of the left side
	WeightPermuted   Kind = "weight-permuted"   // -: of an expert that is numbered otherwise, as the router knows
	WeightRotated    Kind = "weight-rotated"    // -: in another basis of the hidden states, which computes the same
	StoredShape      Kind = "stored-shape"      // left shape, right shape
	StoredDiffers    Kind = "stored-differs"    // elements that differ, of, tensors that are equal, of

	WeightsUnseen Kind = "weights-unseen" // operators that take a weight which was not compared: all of them differ

	Text Kind = "text" // sentence of a table that was imported
)

// kinds gives the class of every kind, and whether the old tool keeps it to
// itself: its cell is empty where ours says why.
var kinds = map[Kind]struct {
	class Class
	quiet bool
}{
	NoLeftDump: {NoDump, false}, NoLeftOp: {NoDump, false}, NoLeftTensor: {NoDump, false}, NoFusedDump: {NoDump, false},
	NoRightOp: {NoGolden, false}, NoRightTensor: {NoGolden, false}, NoMatch: {NoGolden, false}, NoLeftMatch: {NoDump, false}, FewOutputs: {NoGolden, true},
	BadLeftDump: {Unreadable, false}, TinyLeftDump: {Unreadable, true}, BadTensor: {Unreadable, false}, BadFile: {Unreadable, false},
	BadDump: {Unreadable, false}, NoTensor: {Unreadable, false}, FewElements: {Unreadable, false},
	ShapesDiffer: {ShapeDiffers, false}, ShapeOf: {ShapeDiffers, false}, CountsDiffer: {ShapeDiffers, false}, NoShape: {ShapeDiffers, false},
	NoRightShape: {ShapeDiffers, true}, ElementsOfShape: {ShapeDiffers, true}, BadView: {ShapeDiffers, true},
	NZNoShape: {ShapeDiffers, false}, NZShape: {ShapeDiffers, false}, ElementsDiffer: {ShapeDiffers, false},
	LayoutUnknown: {NoConverter, false}, LayoutNone: {NoConverter, true}, LayoutNoneFor: {NoConverter, false}, LayoutFailed: {NoConverter, true},
	AxesUnknown:     {NoConverter, false},
	ConverterFailed: {NoConverter, false},
	GraphSilent:     {NotInGraph, false}, GraphInput: {NotInGraph, true}, GraphEntry: {NotInGraph, false}, GraphProducer: {NotInGraph, false},
	DTypeUnknown: {TypeUnsupport, false}, NoLeftType: {TypeUnsupport, false}, NoRightType: {TypeUnsupport, false}, TypesDiffer: {TypeUnsupport, false},
	InnerOnly: {Skipped, false}, Text: {Skipped, false},
	NoSuchTensors: {Empty, false}, NoTensors: {Empty, true}, NoOutputs: {Empty, false},
	GraphUnlike: {}, SlicesMissing: {}, SliceCompared: {}, AxesFound: {}, StorageOrder: {}, FrontOnly: {}, SameNonFinite: {}, ScriptFailed: {}, ScriptSays: {}, RealPartOnly: {},
	LeftRealPartOnly: {},
	NoteScalar:       {}, NoteScalarOld: {}, NoteAllZero: {}, NoteInfinite: {}, NoteBoolean: {}, NoteDifference: {}, NoteNoMaximum: {},
	NoteEmpty: {}, NoteNotFinite: {}, NoteDisagree: {}, NoteZeroGolden: {}, NoteRounded: {}, ChoicesDiffer: {}, ChoicesLeave: {},
	NoRightCall: {NoGolden, false}, NoLeftCall: {NoDump, false}, MadeNonFinite: {}, NaNFlagged: {}, NoRightValue: {NoGolden, false}, NoLeftValue: {NoDump, false}, RightDefault: {}, LeftDefault: {},
	SortsDiffer: {TypeUnsupport, false}, ValueWithheld: {Silent, false}, ModuleEnds: {Silent, false}, MasksAlike: {Silent, false}, NoStatistics: {Silent, false}, NoNumber: {Unreadable, false}, CallAligned: {}, DTypesDiffer: {}, StaleFile: {}, StaleValue: {}, NoFile: {}, NoElements: {},
	ChecksumLate: {}, TimesScales: {}, ScalesUnknown: {Silent, false}, ChecksumsLate: {}, GradientsRenumbered: {}, BatchReordered: {}, Unfilled: {Skipped, false}, OtherGradient: {Skipped, false}, PartOfSum: {Skipped, false}, MemoryUnfilled: {}, IntegersRounded: {}, NormsDiffer: {}, ValuesUnderway: {}, InputsUnrecorded: {}, OutputsUnrecorded: {}, CallsElsewhere: {}, Unsharded: {}, NotUnsharded: {},
	CallsAligned: {}, CallsNamed: {}, CallsReordered: {}, BlocksPaired: {}, CallsUnpaired: {}, CallRepeated: {}, CallsRepeated: {}, StructureOnly: {}, RecordingStopped: {}, UpdatesUnrecorded: {}, ExchangesUnrecorded: {}, CallsApart: {}, RanksUnpaired: {}, ProcessesUnpaired: {}, FrameworkAlone: {}, FloatsWidened: {}, DTypesMixed: {}, RecordingCut: {}, FileDamaged: {}, MappingUnused: {},
	PairedByName: {}, PairedByGraph: {}, OtherRecordings: {}, SeveralOfOperator: {}, BatchDiffers: {}, ShapesMostly: {}, SameSides: {},
	GoldenAttribute: {}, GoldenForm: {}, GoldenWithout: {}, GoldenAlone: {}, GoldenUsed: {}, GoldenUnused: {}, GoldenEquals: {}, GoldenPlaces: {},
	GoldenScaled:   {},
	OperatorsAlone: {}, OrderDiffers: {}, InputsDiffer: {}, InputsApart: {}, InputsRecorded: {}, InputsSummed: {}, TokensSampled: {}, InputsScaled: {}, GivenNear: {}, GivenDiffers: {}, GivenApart: {}, GivenScaled: {}, WeightsDiffer: {}, StepDiffers: {}, RanksExchanged: {}, RowsUnseen: {}, WeightsUnseen: {}, WeightsApart: {}, Cancelled: {}, Inconsistent: {}, Torn: {}, HintTurned: {}, HintOrder: {}, HintPadded: {}, HintFlipped: {}, HintOther: {}, HintStale: {}, HintMoved: {}, HintFed: {}, HintSum: {}, HintZeros: {},
	WeightStep: {}, WeightNear: {}, WeightQuantised: {}, WeightElsewhere: {}, WeightConstant: {}, WeightTransposed: {}, WeightUnlike: {}, WeightPermuted: {}, WeightRotated: {}, StoredShape: {}, StoredDiffers: {},
	NonFinite: {}, LeftNonFinite: {}, RightNonFinite: {}, BothNonFinite: {},
}

// Class sorts the kind; one that is not known is a remark.
func (k Kind) Class() Class { return kinds[k].class }

// Otherwise tells of a reason why a golden output does not follow that it is another attribute
// or form of the operator, and not its weight.
func (k Kind) Otherwise() bool {
	return k == GoldenAttribute || k == GoldenForm || k == GoldenWithout || k == GoldenAlone
}

// Quiet tells whether the old tool's table does not show the reason.
func (k Kind) Quiet() bool { return kinds[k].quiet }

// Kinds lists all kinds in alphabetical order.
func Kinds() []Kind {
	list := make([]Kind, 0, len(kinds))
	for k := range kinds {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

// NoteReason turns what the metric core has to say of a pair into a reason.
// left and right are the names of the two tensors, which notes about one of
// them name.
func NoteReason(n metric.Note, left, right string) Reason {
	side := left
	if n.Side == metric.Golden {
		side = right
	}
	count := func(n int64) string { return strconv.FormatInt(n, 10) }
	switch n.Kind {
	case metric.NoteScalar:
		if n.Numerics == metric.Reference {
			return Because(NoteScalarOld)
		}
		return Because(NoteScalar)
	case metric.NoteAllZero:
		return Because(NoteAllZero, side)
	case metric.NoteInfinite:
		return Because(NoteInfinite, side)
	case metric.NoteBoolean:
		return Because(NoteBoolean, n.Metric.String())
	case metric.NoteBooleanDifference:
		return Because(NoteDifference, n.Metric.String())
	case metric.NoteNoMaximum:
		return Because(NoteNoMaximum, n.Metric.String())
	case metric.NoteEmpty:
		return Because(NoteEmpty)
	case metric.NoteNothingFinite:
		return Because(NoteNotFinite, count(n.Count))
	case metric.NoteDisagree:
		return Because(NoteDisagree, count(n.Count), count(n.Of), count(n.Index), short(n.X), short(n.Y))
	case metric.NoteZeroGolden:
		return Because(NoteZeroGolden, count(n.Count), count(n.Of), short(n.Largest))
	case metric.NoteRounded:
		return Because(NoteRounded, count(n.Count), count(n.Of))
	}
	return Because(Text, "note "+strconv.Itoa(int(n.Kind))+" about "+n.Metric.String())
}

// short writes v with as many digits as float32 values need to be told apart.
func short(v float64) string { return strconv.FormatFloat(v, 'g', 9, 64) }
