package op

import (
	"strings"
	"testing"
)

// What moves elements is known in every spelling; what computes is not taken for it.
func TestMoves(t *testing.T) {
	for _, name := range []string{"view", "view.default", "__getitem__", "transpose_", "_unsafe_view", "TransData", "reshape", "Flatten", "npu_format_cast", "contiguous", "expand", "permute", "cat"} {
		if !Is(name, Moves) {
			t.Errorf("%s is not known to move", name)
		}
	}
	for _, name := range []string{"", "linear", "relu", "add", "__add__", "softmax", "MatMul", "Relu", "sum", "Linear", "layer_norm", "MaxPool"} {
		if Is(name, Moves) {
			t.Errorf("%s is taken for movement", name)
		}
	}
}

// A primitive is known by its class where its function is not.
func TestPrimitives(t *testing.T) {
	for name, want := range map[string]string{"bn_train.BatchNorm": "batch_norm", "matmul.MatMul": "linear", "view.default": "reshape"} {
		if got := Of(name).Does; got != want {
			t.Errorf("%s: %q, not %q", name, got, want)
		}
	}
}

// A spelling that has a row of its own does not get the one of the name without its marks.
func TestSpellings(t *testing.T) {
	for name, want := range map[string]Trait{"copy_": Moves | Fills, "copy": Moves, "normal_": Random | Fills, "normal": Random, "__setitem__": Moves | Mends, "setitem": Moves} {
		if got := Of(name).Traits; got != want {
			t.Errorf("%s: %b, not %b", name, got, want)
		}
	}
}

// Every row can be read, and says no two things that exclude each other.
func TestRows(t *testing.T) {
	list, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		r, err := e.read()
		if err != nil {
			t.Fatal(err)
		}
		if r.Traits&(Constant|Feed|Control) != 0 && (r.Error != "" || r.Traits&(Moves|Product|Steep) != 0) {
			t.Errorf("%v is computed by a kernel, and by none", r.Names)
		}
		if r.Traits&Moves != 0 && (r.Error != "" || r.Traits&(Product|Selects|Approximate) != 0) {
			t.Errorf("%v moves and computes", r.Names)
		}
		if r.Traits&Approximate != 0 && r.Traits&Exact != 0 {
			t.Errorf("%v is exact and approximate", r.Names)
		}
		if len(r.Names) == 0 {
			t.Errorf("a row without names: %+v", r)
		}
	}
}

// A row that cannot be read is an error with its line.
func TestBadRows(t *testing.T) {
	for text, want := range map[string]string{
		"Add | steep\nMul | stepe":          "line 2: \"stepe\" is no trait",
		"Add | moves\nSub\nAdd Mul | steep": "line 3: Add is in line 1, too",
		"Gather | indices=one":              "line 1: ",
		"add | call=sum":                    "line 1: \"sum\" is no form with parameters",
		"add | call=(input)":                "line 1: \"(input)\" is no form with parameters",
		"Add | error=":                      "line 1: \"error=\" is no trait",
	} {
		list, err := parse(text)
		for _, e := range list {
			if err == nil {
				_, err = e.read()
			}
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, not %s", text, err, want)
		}
	}
}

// Later versions of a kernel, and those without an attribute in place of an input, are to the judge what the first one is.
func TestVersions(t *testing.T) {
	for name, same := range map[string]string{"SqueezeV2": "Squeeze", "UnsqueezeV3": "Unsqueeze", "CastD": "Cast", "SliceDV2": "Slice", "PadV2": "Pad", "MaxPool3D": "MaxPool",
		"AvgPool3DD": "AvgPool", "Conv3DTransposeD": "Conv2DTranspose", "Conv3DBackpropInput": "Conv2DBackpropInput", "ClipByValueV2": "ClipByValue"} {
		if a, b := Of(name), Of(same); a.Traits != b.Traits || a.Error != b.Error {
			t.Errorf("%s is %b %q, %s %b %q", name, a.Traits, a.Error, same, b.Traits, b.Error)
		}
	}
}

// TestKinks: functions whose gradient chooses, under the names of functions and modules, and some whose slope is steady.
func TestKinks(t *testing.T) {
	for _, name := range strings.Fields("relu ReLU relu_ relu6 leaky_relu LeakyReLU hardtanh Hardtanh hardswish Hardswish prelu abs clamp maximum max amax max_pool2d MaxPool2d MaxPool1d adaptive_max_pool2d l1_loss L1Loss threshold hardshrink softshrink") {
		if !Of(name).IsKinked() {
			t.Errorf("the slope of %s has no jump", name)
		}
	}
	for _, name := range strings.Fields("gelu GELU silu tanh Tanh sigmoid exp linear Linear softmax layer_norm LayerNorm add mul avg_pool2d softplus view nothing mse_loss conv2d") {
		if Of(name).IsKinked() {
			t.Errorf("the slope of %s has a jump", name)
		}
	}
}
