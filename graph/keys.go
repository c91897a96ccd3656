package graph

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
