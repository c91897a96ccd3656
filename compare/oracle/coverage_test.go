package oracle

import (
	"slices"
	"testing"

	catalogue "precision/op"
)

// sameAs are operator types that have the prototype of another one.
var sameAs = map[string]string{
	"AccumulateNV2": "AddN", "ApplyAdam": "ApplyAdamD", "ArgMaxV2": "ArgMax", "ArgMinV2": "ArgMin", "AvgPoolV2": "AvgPool",
	"BatchMatMulV3": "BatchMatMulV2", "BroadcastTo": "BroadcastToD", "CastD": "Cast", "ClipByValueV2": "ClipByValue", "ConcatV2D": "ConcatD",
	"DepthwiseConv2DNative": "DepthwiseConv2D", "ExpandD": "BroadcastToD", "ExpandDimsV2": "ExpandDims", "FastGeluV2": "FastGelu",
	"Flatten": "Reshape", "FlattenV2": "Reshape", "Gather": "GatherV2D", "ResourceGather": "GatherV2D", "Inv": "Reciprocal", "InvGrad": "ReciprocalGrad",
	"LayerNormV4": "LayerNormV3", "LogSoftmax": "LogSoftmaxV2", "MatMul": "MatMulV2", "MatMulV3": "MatMulV2", "MaxPoolV2": "MaxPool",
	"MaxPoolV3": "MaxPool", "MemcpyAsync": "Identity", "PadV2D": "PadV2", "PadV3": "PadV2", "PadV3D": "PadV2", "PadD": "PadV2", "PreventGradient": "Identity",
	"ReluV2": "Relu", "SelectV2": "Select", "SliceDV2": "SliceD", "Softmax": "SoftmaxV2", "SqueezeV2": "Squeeze", "SqueezeV3": "Squeeze",
	"Stack": "Pack", "StopGradient": "Identity", "StridedSliceV2": "StridedSlice", "TopK": "TopKD", "TopKV2": "TopKD", "TopKV2D": "TopKD",
	"Unsqueeze": "ExpandDims", "UnsqueezeV2": "ExpandDims", "UnsqueezeV3": "ExpandDims",
}

// planar are the three-dimensional forms of operators that are one formula in
// any number of dimensions, of which Conv3D has recorded values.
var planar = map[string]bool{
	"AvgPool3D": true, "AvgPool3DD": true, "MaxPool3D": true, "Conv3DTranspose": true, "Conv3DTransposeD": true,
	"Conv3DBackpropInput": true, "Conv3DBackpropInputD": true, "Conv3DBackpropFilter": true, "Conv3DBackpropFilterD": true,
}

// TestEveryType holds every operator type against recorded values, its own or
// those of the type it is another name of.
func TestEveryType(t *testing.T) {
	byType := map[string][]*recordedCase{}
	for _, c := range recordedCases(t) {
		byType[c.Type] = append(byType[c.Type], c)
	}
	for _, name := range recomputable() {
		if byType[name] != nil || planar[name] {
			continue
		}
		same := byType[sameAs[name]]
		if same == nil && catalogue.Of(name).As != nil {
			continue // see TestTwins
		}
		if same == nil {
			t.Errorf("%s has no recorded values", name)
		}
		for _, c := range same {
			if name == "SelectV2" && c.Note != "" {
				continue // conditions of the first axis are Select's alone
			}
			renamed := *c
			renamed.Type = name
			for _, f := range CheckOp(renamed.op(t), renamed.dump(t, nil), Settings{}) {
				if f.Verdict != OK {
					t.Errorf("%s as %v: %v, %v", name, c, f.Verdict, f.Reasons)
				}
			}
		}
	}
}

// recomputable are the operator types that can be recomputed.
func recomputable() []string {
	var out []string
	for _, row := range catalogue.All() {
		if f, _ := kernelFunction(row); f != nil || row.Kernel != "" {
			out = append(out, slices.DeleteFunc(slices.Clone(row.Names), func(name string) bool { return !isKernel(name) })...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
