package result

import "strings"

// Moves tells whether what an operator, a function or a module does is to move elements: it
// copies, selects, reorders, repeats, pads or casts them and computes none. Its outputs have
// the same bits wherever it runs. typ is the type of a GE or MindSpore kernel, a function of
// PyTorch, torch_npu or MindSpore in any of its spellings (view, transpose_, __getitem__, view.default)
// or the class of a module.
func Moves(typ string) bool { return moving[base(typ)] }

// base is a function without its overload, the marks of an operator of Python and those of one
// that works in place or is private.
func base(name string) string {
	name, _, _ = strings.Cut(name, ".")
	return strings.Trim(name, "_")
}

var moving = map[string]bool{}

func init() {
	for _, list := range []string{
		// functions: casts and copies
		`to type type_as to_copy npu_dtype_cast npu_format_cast npu_format_cast_like clone contiguous detach cpu npu cuda half float double bfloat16
		int long short char byte bool requires_grad alias lift_fresh copy deepcopy cast astype view_as_real view_as_complex real data numpy tensor as_tensor`,
		// of shapes and axes
		`reshape view reshape_as view_as unsafe_view flatten ravel squeeze unsqueeze unflatten expand_dims transpose swapaxes swapdims t numpy_T T mT permute
		movedim moveaxis npu_confusion_transpose expand expand_as broadcast_to broadcast_tensors repeat tile repeat_interleave flip fliplr flipud roll
		rot90 as_strided unfold pixel_shuffle pixel_unshuffle channel_shuffle`,
		// of parts
		`cat concat concatenate stack hstack vstack dstack split split_with_sizes tensor_split chunk unbind unstack narrow select slice getitem setitem
		index index_select index_put index_copy index_fill take take_along_dim gather scatter gather_nd masked_select masked_scatter select_scatter slice_scatter triu tril diagonal diag
		diag_embed pad constant_pad_nd embedding one_hot meshgrid`,
		// of numbers alone
		`full new_full full_like fill zeros zeros_like new_zeros zero ones ones_like new_ones arange eye empty empty_like new_empty empty_strided`,
		// modules
		`Embedding Identity Flatten Unflatten PixelShuffle PixelUnshuffle ChannelShuffle ZeroPad1d ZeroPad2d ZeroPad3d ConstantPad1d ConstantPad2d ConstantPad3d
		ReflectionPad1d ReflectionPad2d ReplicationPad1d ReplicationPad2d`,
		// kernels
		`TransData Transpose TransposeD Reshape Cast FlattenV2 Squeeze ExpandDims Unsqueeze IdentityN TensorMove ReverseV2 ReverseV2D
		DepthToSpace SpaceToDepth SpaceToBatch BatchToSpace Slice SliceD StridedSlice StridedSliceD Split SplitD SplitV SplitVD Unpack Gather GatherV2 GatherV2D GatherNd
		Pad PadD PadV3 PadV3D Tile TileD BroadcastTo BroadcastToD ReadSelect Concat ConcatD ConcatV2 ConcatV2D Pack Stack Unstack StridedRead StridedWrite
		ConfusionTransposeD`,
	} {
		for _, name := range strings.Fields(list) {
			moving[name] = true
		}
	}
}
