package result

import "testing"

// What moves elements is known in every spelling; what computes is not taken for it.
func TestMoves(t *testing.T) {
	for _, name := range []string{"view", "view.default", "__getitem__", "transpose_", "_unsafe_view", "TransData", "reshape", "Flatten", "npu_format_cast", "contiguous", "expand", "permute", "cat"} {
		if !Moves(name) {
			t.Errorf("%s is not known to move", name)
		}
	}
	for _, name := range []string{"", "linear", "relu", "add", "__add__", "softmax", "MatMul", "Relu", "sum", "Linear", "layer_norm", "MaxPool"} {
		if Moves(name) {
			t.Errorf("%s is taken for movement", name)
		}
	}
}
