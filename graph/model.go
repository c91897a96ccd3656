package graph

import (
	"cmp"
	"iter"
	"math"
	"strconv"
	"strings"

	"precision/dump/dtype"
	"precision/internal/nd"
)

// Source says what kind of file a model was read from.
type Source uint8

const (
	SourceUnknown    Source = iota
	SourceText              // ge_proto_*.txt, protobuf text form of a ModelDef
	SourceJSON              // JSON of atc --mode=1 or 5
	SourceBinary            // binary ModelDef
	SourceOM                // offline model container
	SourceOM2               // offline model, zip container
	SourceONNX              // ge_onnx_*.pbtxt; text attributes are usually stripped
	SourceTensorFlow        // GraphDef or SavedModel of TensorFlow, binary or text
)

var sourceNames = [...]string{"unknown", "text", "json", "binary", "om", "om2", "onnx", "tensorflow"}

func (s Source) String() string {
	if int(s) < len(sourceNames) {
		return sourceNames[s]
	}
	return "Source(" + strconv.Itoa(int(s)) + ")"
}

// Model is everything one graph file holds. Graphs are listed flat: first the root, then the sub
// graphs that operators call by name.
type Model struct {
	Path          string
	Source        Source
	Name          string
	Version       uint32
	CustomVersion string
	Graphs        []*Graph
	Attrs         Attrs
	Warnings      []Warning

	// SubModels are the further models of an offline model file, whose graphs are among Graphs.
	SubModels []*Model

	NoGraphs bool // JSON without the graph key
	owned    bool // operators know their graph
}

// Ops are the operators of all graphs, one graph after the other.
func (m *Model) Ops() iter.Seq[*Op] {
	return func(yield func(*Op) bool) {
		for _, g := range m.Graphs {
			for _, op := range g.Ops {
				if !yield(op) {
					return
				}
			}
		}
	}
}

// Graph is one graph of a model.
type Graph struct {
	Name    string
	Inputs  []string // entries op:0 of the Data operators
	Outputs []string // entries op:index
	Ops     []*Op    // file order
	Attrs   Attrs
	Line    int // line of the graph, or byte offset in a binary source

	NoOps bool // JSON without the op key
}

// Op is one operator.
type Op struct {
	Name     string
	Type     string
	ID       int64 // position after topological sorting; files omit 0
	StreamID int64
	// Inputs has one entry per data input slot, the empty one for an unconnected slot, then the
	// control inputs. It is the only complete list of edges.
	Inputs     []Edge
	InputDesc  []TensorDesc // one per data input slot
	OutputDesc []TensorDesc // one per output
	Attrs      Attrs
	// SubgraphNames lists the graphs an operator like PartitionedCall, If or While calls.
	SubgraphNames []string
	Line          int // line of the operator, or byte offset in a binary source

	Graph *Graph

	hints string // encoded Hints
	num   int32  // position among all operators of the model
}

// Own tells operators where they belong.
func (m *Model) Own() *Model {
	if m.owned {
		return m
	}
	m.owned = true
	n := int32(0)
	for _, g := range m.Graphs {
		for _, o := range g.Ops {
			o.Graph, o.num = g, n
			n++
		}
	}
	return m
}

// Attr returns the value of an attribute, or nil. All methods of [Value] accept nil.
func (o *Op) Attr(key string) *Value { return o.Attrs.Get(key) }

// Edge is one entry of an operator's input list.
type Edge struct {
	// Text is the entry as the file has it: producer:output, "" for an unconnected slot,
	// producer:-1 for a control edge. Malformed entries are kept too.
	Text string
	// Index is the producer's output, ControlIndex for a control edge, NoIndex for an
	// unconnected or malformed entry.
	Index int32
	split int32
}

const (
	ControlIndex = -1
	NoIndex      = -2
)

// ParseEdge splits an input entry at its last colon; operator names may contain colons.
func ParseEdge(text string) Edge {
	e := Edge{Text: text, Index: NoIndex, split: -1}
	i := strings.LastIndexByte(text, ':')
	if i < 0 {
		return e
	}
	e.split = int32(i)
	digits := text[i+1:]
	if digits == "-1" {
		e.Index = ControlIndex
		return e
	}
	if digits == "" || len(digits) > 10 {
		return e
	}
	n := int64(0)
	for j := 0; j < len(digits); j++ {
		c := digits[j]
		if c < '0' || c > '9' {
			return e
		}
		n = n*10 + int64(c-'0')
	}
	if n <= math.MaxInt32 {
		e.Index = int32(n)
	}
	return e
}

// Producer returns the name before the last colon, or the whole text when there is none.
func (e Edge) Producer() string {
	if e.split < 0 {
		return e.Text
	}
	return e.Text[:e.split]
}

// IsData reports whether the entry names an output of a producer.
func (e Edge) IsData() bool { return e.Index >= 0 }

// IsControl reports whether the entry is a control edge.
func (e Edge) IsControl() bool { return e.Index == ControlIndex }

// IsEmpty reports whether the entry is an unconnected input slot.
func (e Edge) IsEmpty() bool { return e.Text == "" }

// TensorDesc describes one input or output of an operator.
type TensorDesc struct {
	DType  string  // "DT_FLOAT16"; "" means undefined; an unknown number as digits
	Layout string  // "NC1HWC0", "FRACTAL_Z:32"; "" when absent
	Shape  []int64 // dimensions; -1 unknown, a single -2 unknown rank; empty for a scalar
	Attrs  Attrs
	Size   int64 // bytes

	extra *DescExtra // shared by equal descriptors, nil when all is zero
}

// DescExtra holds the fields of a tensor descriptor that matter to few readers.
type DescExtra struct {
	Name            string
	DeviceType      string // "NPU", "CPU"
	WeightSize      int64  // bytes
	RealDimCnt      int64
	ReuseInputIndex int64
	DataOffset      int64
	HasOutAttr      bool
	ReuseInput      bool
	OutputTensor    bool
	InputTensor     bool
}

// Extra returns the rarely used fields.
func (d *TensorDesc) Extra() DescExtra {
	if d.extra == nil {
		return DescExtra{}
	}
	return *d.extra
}

// Attr returns the value of an attribute, or nil. All methods of [Value] accept nil.
func (d *TensorDesc) Attr(key string) *Value { return d.Attrs.Get(key) }

// Type returns the element type; false for a name or number that is not known.
func (d *TensorDesc) Type() (dtype.Type, bool) {
	if d.DType == "" {
		return dtype.Undefined, true
	}
	return dtype.FromWire(d.DType)
}

// String renders type, layout and shape: "DT_FLOAT16 NCHW [1,3,224,224]".
func (d *TensorDesc) String() string {
	return cmp.Or(d.DType, "DT_UNDEFINED") + " " + cmp.Or(d.Layout, "-") + " " + FormatShape(d.Shape)
}

// FormatShape renders dimensions as "[1,3,224,224]", a scalar as "[]".
func FormatShape(shape []int64) string { return "[" + nd.Text(shape, ",") + "]" }

// Attribute keys that more than one room asks for.
const (
	AttrOriginOps    = "_datadump_original_op_names"   // framework operators an operator stands for
	AttrMultiOp      = "_datadump_is_multiop"          // one of several results of a split framework operator
	AttrL1Group      = "_L1_fusion_sub_graph_no"       // operators that share data in the L1 buffer
	AttrOriginName   = "_datadump_origin_name"         // framework operator an output stands for
	AttrOriginIndex  = "_datadump_origin_output_index" // its output
	AttrFXName       = "_fx_tensor_name"               // node of FX and its output, of graphs of torchair: mm-aten.mm.default.OUTPUT.0
	AttrOriginFormat = "_datadump_origin_format"       // its layout
	AttrFormat       = "origin_format"
	AttrShape        = "origin_shape"
	AttrParentIndex  = "_parent_node_index" // input or output of the caller, at Data and NetOutput of a called graph
)

// Tables of a model whose attributes are compressed.
const (
	KeyCompress   = "om_compress_version"
	KeyNameTable  = "attr_name_enum"
	KeyValueTable = "attr_value_enum"
	KeyTextTable  = "attrs_use_string_value"
)
