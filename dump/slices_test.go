package dump

import (
	"slices"
	"strings"
	"testing"

	"precision/testdata/workshop/dumptest"
)

// cutOut is an output that threads computed in pieces.
var cutOut = dumptest.Tensor{Type: 1, Shape: []int64{4, 6}, Data: make([]byte, 96)}

func withAttr(t *testing.T, name, value string, outputs ...dumptest.Tensor) *File {
	t.Helper()
	f, err := readAs(name, dumptest.Dump{Outputs: outputs, AttrName: "thread", Attr: value}.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

const byThread = `{"threadMode": 1, "slice_instance_num": 2, "outputCutList": [[2, 1]], "other": {"x": []},
	"output_tensor_slice": [[[{"lower": 0, "higher": 2}, {"lower": 0, "higher": 6}]], [[{"lower": 2, "higher": 5}, {"lower": 0, "higher": 6}]]]}`

func TestSlicesByThread(t *testing.T) {
	for _, c := range []struct {
		name, value string
		want        []int64
		warning     string
	}{
		{"Relu.x.5.1.1640000000000000.4.33.0.0", byThread, []int64{2, 6}, ""},
		{"Relu.x.5.1.1640000000000000.4.33.1.0", byThread, []int64{3, 6}, ""},
		{"Relu.x.5.1.1640000000000000.4.33.2.0", byThread, []int64{4, 6}, "thread 2 of 2"},
		{"Relu.x.5.1.1640000000000000", byThread, []int64{4, 6}, "thread -1 of 2"},
		{"Relu.x.5.1.1640000000000000.4.33.0.0", strings.Replace(byThread, `"threadMode": 1`, `"threadMode": false`, 1), []int64{4, 6}, ""},
		{"Relu.x.5.1.1640000000000000.4.33.0.0", strings.Replace(byThread, `"lower": 0`, `"lower": 3`, 1), []int64{4, 6}, "does not fit"},
		{"Relu.x.5.1.1640000000000000.4.33.0.0", strings.Replace(byThread, `"higher": 2`, `"higher": 5`, 1), []int64{4, 6}, "does not fit"},
		{"Relu.x.5.1.1640000000000000.4.33.0.0", strings.Replace(byThread, `"threadMode"`, `"mode"`, 1), []int64{4, 6}, "no key threadMode"},
		{"Relu.x.5.1.1640000000000000.4.33.0.0", strings.Replace(byThread, "1,", "7,", 1), []int64{4, 6}, "threadMode is 7"},
		{"Relu.x.5.1.1640000000000000.4.33.0.0", "plain text", []int64{4, 6}, "tells nothing"},
		{"Relu.x.5.1.1640000000000000.4.33.0.0", "", []int64{4, 6}, "tells nothing"},
	} {
		f := withAttr(t, c.name, c.value, cutOut)
		if got := f.Outputs[0]; !slices.Equal(got.Shape, c.want) || got.Err != nil {
			t.Errorf("%s %s: %v %v, want %v", c.name, c.value, got.Shape, got.Err, c.want)
		}
		if c.warning == "" && len(f.Warnings) > 0 || c.warning != "" && (len(f.Warnings) != 1 || !strings.Contains(f.Warnings[0].Text, c.warning)) {
			t.Errorf("%s %s: warnings %v, want %q", c.name, c.value, f.Warnings, c.warning)
		}
	}
}

func TestSlicesDoNotMatchTensors(t *testing.T) {
	f := withAttr(t, "Relu.x.5.1.1640000000000000.4.33.0.0", byThread, cutOut, cutOut)
	if len(f.Warnings) != 1 || f.Warnings[0].Code != CodeSlices || !slices.Equal(f.Outputs[1].Shape, []int64{4, 6}) {
		t.Errorf("%v %+v", f.Warnings, f.Outputs)
	}
	if f.Slices == nil || f.Slices.Count != 2 || !f.Slices.Auto || !slices.Equal(f.Slices.OutputCut[0], []int64{2, 1}) || len(f.Slices.Output) != 2 {
		t.Errorf("%+v", f.Slices)
	}
}
