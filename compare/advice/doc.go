// Package advice turns a verdict into what to do next: for every root the steps
// to try, with lines to paste, files for the options that take one, and where a
// root is only a region the operators to record. It judges nothing and says
// nothing; package report/steps has its words.
//
// Names of options and forms of files are those of the public documents of CANN:
// modify_mixlist, keep_dtype, fusion_switch_file and op_precision_mode of the
// ATC and TensorFlow adapter pages, acl.json and dump_config of the pages on
// collecting dumps.
package advice

import (
	"slices"
	"strings"

	"precision/compare/verdict"
)

// Step is something to try.
type Step string

// The steps. Each has a text advice.STEP in package report/steps.
const (
	Overflow      Step = "overflow"
	Float32       Step = "fp32"
	Epsilon       Step = "epsilon"
	Mask          Step = "mask"
	LossScale     Step = "loss-scale"
	Unwritten     Step = "unwritten"
	Fusion        Step = "fusion"
	PrecisionMode Step = "precision-mode"
	HF32          Step = "hf32"
	Inputs        Step = "inputs"
	Attributes    Step = "attributes"
	Formats       Step = "formats"
	Twice         Step = "twice"
	Raise         Step = "report"
	Complex       Step = "complex"
	Weights       Step = "weights"
	Golden        Step = "golden"
	// Record is the step for a root that is a region.
	Record Step = "record"
)

// Remedies are, for each cause of a verdict or kind of wrong, what to try, in
// this order.
var Remedies = map[string][]Step{
	"nan": {Overflow, Float32, Epsilon}, "inf": {Overflow, Float32, Epsilon}, "saturated": {Overflow, Float32, Mask}, "underflow": {Float32, LossScale},
	"zeros": {Unwritten, Fusion}, "integers": {Inputs, Float32}, "scalar": {PrecisionMode, Float32},
	"cosine": {Fusion, PrecisionMode, Float32}, "distance": {Fusion, PrecisionMode, Float32}, "tolerance": {PrecisionMode, Float32},
	"unexplained": {Fusion, Attributes, Raise}, "jump-distance": {PrecisionMode, Float32, Fusion}, "jump-largest": {Unwritten, Twice, Fusion},
	"law": {Twice, Raise}, "imaginary": {Complex},
	"low-precision": {PrecisionMode, Float32}, "low-accumulation": {PrecisionMode, Float32}, "coarse-type": {HF32, Float32}, "stale": {Twice, Raise}, "repeated": {Raise}, "passed-through": {Fusion, Raise},
	"scale": {Fusion}, "offset": {Fusion}, "affine": {Fusion}, "slice-offset": {Fusion}, "slice-scale": {Fusion}, "row-scale": {Unwritten, PrecisionMode},
	"slope": {Fusion}, "activation-missing": {Fusion}, "activation-added": {Fusion}, "axes-permuted": {Formats}, "layout-misread": {Formats}, "blocks-transposed": {Formats}, "bits-misread": {Formats, Raise}, "stride-ignored": {Attributes, Raise}, "stride-doubled": {Attributes, Raise}, "inverted-mask": {Attributes, Fusion},
	"unwritten": {Unwritten, Raise}, "border": {Attributes}, "lanes": {Unwritten}, "region": {Twice, Raise}, "bit-flip": {Twice}, "random-elements": {Twice}, "missing-bias": {Fusion}, "missing-terms": {Unwritten, Raise}, "wrong-epsilon": {Attributes, Epsilon}, "wrong-attribute": {Attributes, Fusion}, "swapped-operands": {Fusion, Raise}, "wrong-weight": {Formats, Raise},
}

// Elsewhere is what to try where a check has shown that the device computed what graph and
// inputs say, so that nothing on the device is to be changed.
var Elsewhere = map[verdict.RootKind][]Step{verdict.RootDiffers: {Weights, Attributes}, verdict.RootGolden: {Golden}}

// Where is where a line is pasted.
type Where string

// The places of lines.
const (
	// A file that a line refers to is a place, too.
	TF2     Where = "TensorFlow 2"
	TF1     Where = "TensorFlow 1"
	ATC     Where = "ATC"
	PyTorch Where = "PyTorch"
	Command Where = "$"
)

// Line is a line to paste. TYPE and NAME stand for the operator's type and the
// name the framework has for it, until [Fill] puts them in.
type Line struct {
	Where Where  `json:"where"`
	Text  string `json:"text"`
}

// Names of the files that lines refer to.
const (
	MixlistFile   = "mixlist.json"
	KeepDTypeFile = "keep_dtype.cfg"
	FusionFile    = "fusion_switch.cfg"
	PrecisionFile = "op_precision.ini"
	ACLFile       = "acl.json"
)

// Lines are the lines of steps that have some.
var Lines = map[Step][]Line{
	Float32: {
		{MixlistFile, `{"black-list": {"to-add": ["TYPE"]}}`},
		{TF2, `npu.global_options().modify_mixlist = "mixlist.json"   # with precision_mode allow_mix_precision`},
		{TF1, `custom_op.parameter_map["modify_mixlist"].s = tf.compat.as_bytes("mixlist.json")`},
		{TF2, `with npu.keep_dtype_scope(): ...   # around NAME`},
		{ATC, `--keep_dtype=keep_dtype.cfg`},
	},
	PrecisionMode: {
		{PrecisionFile, "[ByOpType]\nTYPE=high_precision"},
		{TF2, `npu.global_options().op_precision_mode = "op_precision.ini"`},
		{TF1, `custom_op.parameter_map["op_precision_mode"].s = tf.compat.as_bytes("op_precision.ini")`},
		{TF2, `npu.global_options().precision_mode = "must_keep_origin_dtype"`},
		{ATC, `--op_precision_mode=op_precision.ini --precision_mode=must_keep_origin_dtype`},
	},
	Fusion: {
		{FusionFile, `{"Switch": {"GraphFusion": {"ALL": "off"}, "UBFusion": {"ALL": "off"}}}`},
		{TF2, `npu.global_options().fusion_switch_file = "fusion_switch.cfg"`},
		{TF1, `custom_op.parameter_map["fusion_switch_file"].s = tf.compat.as_bytes("fusion_switch.cfg")`},
		{ATC, `--fusion_switch_file=fusion_switch.cfg`},
	},
	Overflow: {
		{TF2, `npu_tf_config.npu_device_dump_config(npu_device, action="overflow")`},
		{TF1, `custom_op.parameter_map["enable_dump_debug"].b = True`},
		{TF1, `custom_op.parameter_map["dump_debug_mode"].s = tf.compat.as_bytes("all")`},
	},
	HF32: {
		{ATC, `--allow_hf32=false`},
		{PyTorch, `torch.npu.matmul.allow_hf32 = False`},
		{PyTorch, `torch.npu.conv.allow_hf32 = False`},
	},
	Twice: {{Command, `precision compare -lt RUN_1 -rt RUN_2`}},
}

// InFile tells whether the line is what is in a file, which [For] gives as a whole.
func (l Line) InFile() bool { return strings.Contains(string(l.Where), ".") }

// Fill puts an operator into a line.
func (l Line) Fill(typ, name string) Line {
	l.Text = strings.NewReplacer("TYPE", typ, "NAME", name).Replace(l.Text)
	return l
}

// Kinds are the causes of a root and the kinds of wrong that its tensor was found
// to have, the most telling first.
func Kinds(j *verdict.Judged, r *verdict.Root) (kinds []string) {
	op := &j.Operators[r.Operator]
	add := func(k string) {
		if k != "" && !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	tensors := map[string]bool{}
	for i := range op.Outputs {
		tensors[j.Row(&op.Outputs[i]).Tensor()] = true
	}
	for i := range j.Table.Looks {
		if l := &j.Table.Looks[i]; tensors[l.Tensor] {
			for _, p := range l.Patterns {
				add(string(p.Kind))
			}
		}
	}
	for i := range j.Table.Checks {
		if c := &j.Table.Checks[i]; c.Op == op.Op.Name {
			add(c.Pattern)
		}
	}
	for _, c := range r.Causes {
		if !c.Waived {
			add(string(c.Kind))
		}
	}
	return kinds
}
