package dump

import (
	"fmt"
	"strings"
	"testing"
)

// brief tells what a name says, without what it does not have.
func brief(n Name) string {
	if n.Kind == Foreign {
		return "foreign"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s:", n.Kind)
	text := func(label, v string) {
		if v != "" {
			fmt.Fprintf(&b, " %s=%s", label, v)
		}
	}
	number := func(label string, v int64) {
		if v >= 0 {
			fmt.Fprintf(&b, " %s=%d", label, v)
		}
	}
	text("type", n.OpType)
	text("op", n.OpName)
	number("index", n.Index)
	number("task", n.Task)
	number("stream", n.Stream)
	fmt.Fprintf(&b, " time=%d", n.Time)
	if !n.HasTime {
		b.WriteString("?")
	}
	number("tasktype", n.TaskType)
	number("context", n.Context)
	number("thread", n.Thread)
	number("slice", n.Slice)
	return b.String()
}

func TestParseName(t *testing.T) {
	for name, want := range map[string]string{
		// The forms of device dumps.
		"Conv2D.scope_op.3.1.1630000000000001":          "device dump: type=Conv2D op=scope_op task=3 stream=1 time=1630000000000001",
		"Relu.old_form.7.1630000000000000":              "device dump: type=Relu op=old_form task=7 time=1630000000000000",
		"Relu.x.5.1630000000000300.0.1.2.3":             "device dump: type=Relu op=x task=5 time=1630000000000300 tasktype=0 context=1 thread=2",
		"Relu.x.5.1.1630000000000300.4.33.1.0":          "device dump: type=Relu op=x task=5 stream=1 time=1630000000000300 tasktype=4 context=33 thread=1",
		"Mul.m_lxslice12.6.1.1630000000000100.4.44.0.0": "device dump: type=Mul op=m_lxslice12 task=6 stream=1 time=1630000000000100 tasktype=4 context=44 thread=0 slice=12",
		"Add.a.9.6.1.1630000000000100":                  "device dump: type=Add op=a task=6 stream=1 time=1630000000000100",
		"Add.a.9.6.1.1630000000000100.FFTSPLUS.4.5.0":   "device dump: type=Add op=a task=6 stream=1 time=1630000000000100 tasktype=4 context=4 thread=5",
		"Add.a.6.1.1630000000000100.9.4.5.0":            "device dump: type=Add op=a task=6 stream=1 time=1630000000000100 tasktype=9 context=4 thread=5",
		"Add.a.6.1.1630000000000100.0":                  "device dump: type=Add op=a task=6 stream=1 time=1630000000000100",
		"Add.a.6.1.1630000000000100.1.4.5.0.2":          "device dump: type=Add op=a task=6 stream=1 time=1630000000000100 tasktype=1 context=4 thread=5",
		"Add.a-b_C9.0.0.1630000000000100":               "device dump: type=Add op=a-b_C9 task=0 stream=0 time=1630000000000100",
		"Add.网络@a:b.0.0.1630000000000100":               "device dump: type=Add op=网络@a:b task=0 stream=0 time=1630000000000100",
		"Relu.short_time.9.1.1234":                      "device dump: type=Relu op=short_time task=9 stream=1 time=1234?",
		"Relu.short_time.9.1234":                        "device dump: type=Relu op=short_time task=9 time=1234?",
		"Relu.short_time.9.1234.1.2.3.4":                "device dump: type=Relu op=short_time task=9 time=1234? tasktype=1 context=2 thread=3",
		"ConcatV2D.concatv2.0.0.550288648":              "device dump: type=ConcatV2D op=concatv2 task=0 stream=0 time=550288648?",
		"Add.a.99999999999999999999.1.1630000000000100": "device dump: type=Add op=a task=9223372036854775807 stream=1 time=1630000000000100",
		"Opdebug.Node_OpDebug.2.7.1630000000000100":     "overflow record: type=Opdebug op=Node_OpDebug task=2 stream=7 time=1630000000000100",
		"OpDebug.Node_Opdebug.2.7.1630000000000100":     "overflow record: type=OpDebug op=Node_Opdebug task=2 stream=7 time=1630000000000100",
		"Opdebug.Node_OpDebug.2.7.1630000000000100.2.1.0.3": "overflow record: type=Opdebug op=Node_OpDebug task=2 stream=7 time=1630000000000100 " +
			"tasktype=2 context=1 thread=0",
		"Add.a.5.20210901120000123":              "exception dump: type=Add op=a task=5 time=20210901120000123",
		"exception_info.7.5.20210901120000123":   "exception dump: task=5 stream=7 time=20210901120000123",
		"Add.a.5.1.1630000000000100.csv":         "statistics: type=Add op=a task=5 stream=1 time=1630000000000100",
		"Add.a.5.1.1630000000000100.1.2.3.4.csv": "statistics: type=Add op=a task=5 stream=1 time=1630000000000100 tasktype=1 context=2 thread=3",
		// Golden files.
		"conv1.0.1630000000000100.npy":           "numpy array: op=conv1 index=0 time=1630000000000100",
		"scope.conv.1_x.12.1630000000000100.npy": "numpy array: op=scope.conv.1_x index=12 time=1630000000000100",
		"conv1.0.123.npy":                        "numpy array: op=conv1 index=0 time=123?",
		"7.0.1630000000000100.npy":               "numpy array: op=7 index=0 time=1630000000000100",
		"my op.0.1630000000000100.npy":           "numpy array: op=my op index=0 time=1630000000000100",
		"x.input.0.1630000000000100.npy":         "numpy array: op=x.input index=0 time=1630000000000100",
		"input.0.5.npy":                          "numpy array: op=input index=0 time=5?",
		"conv1.0.1630000000000100.pb":            "standard golden: op=conv1 index=0 time=1630000000000100",
		"conv1.0.1630000000000100.quant":         "quantised golden: op=conv1 index=0 time=1630000000000100",
		// What converters write.
		"Add.a.5.1.1630000000000100.output.0.npy":                     "converted tensor: type=Add op=a index=0 task=5 stream=1 time=1630000000000100",
		"Add.a.5.1.1630000000000100.input.12.NCHW.npy":                "converted tensor: type=Add op=a index=12 task=5 stream=1 time=1630000000000100",
		"Add.a.5.1.1630000000000100.input.1.6.npy":                    "converted tensor: type=Add op=a index=1 task=5 stream=1 time=1630000000000100",
		"Add.a.5.1.1630000000000100.output.0.1x3x4.npy":               "converted tensor: type=Add op=a index=0 task=5 stream=1 time=1630000000000100",
		"Add.a.5.1.1630000000000100.output.0.1_3.float16.NC1HWC0.bin": "converted tensor: type=Add op=a index=0 task=5 stream=1 time=1630000000000100",
		"Add.a.5.1.1630000000000100.l1buffer.0.bin":                   "converted tensor: type=Add op=a index=0 task=5 stream=1 time=1630000000000100",
		"Add.a.5.1.1630000000000100.space.2.bin":                      "converted tensor: type=Add op=a index=2 task=5 stream=1 time=1630000000000100",
		"Add.a.5.1.1630000000000100.output.0.pt":                      "converted tensor: type=Add op=a index=0 task=5 stream=1 time=1630000000000100",
		"Opdebug.Node_OpDebug.5.1.1630000000000100.output.0.json":     "converted tensor: type=Opdebug op=Node_OpDebug index=0 task=5 stream=1 time=1630000000000100",
		"x.npy.output.0.npy":                                          "converted tensor: index=0 time=0?",
		// Foreign files.
		"": "foreign", "notes.md": "foreign", "readme": "foreign", "a.npy": "foreign", "a.0.npy": "foreign", "a.b.1630000000000100.npy": "foreign",
		".0.1630000000000100.npy": "foreign", "0.1630000000000100.npy": "foreign", ".npy": "foreign", "npy": "foreign",
		"Add.x.1.2.txt": "foreign", "Add.x.1.2.3.4.5.6.7.8.9": "foreign", "Add.x.1.1630000000000100.tmp": "foreign",
		"Add.x.1.1630000000000100.1.2": "foreign", "Add.x.1630000000000100": "foreign", "Add..1.1630000000000100": "foreign",
		".x.1.1630000000000100": "foreign", "Add.x.1..1630000000000100": "foreign", "Add.x.1.1630000000000100.FFTSPLUS.1.2": "foreign",
		"Add.x.-1.1.1630000000000100": "foreign", "graph.json": "foreign", "a\nb.x.1.1.1630000000000100": "foreign",
		"mapping.csv": "foreign", "result_20210901120000.csv": "foreign", "ge_proto_00000012_graph_1_Build.txt": "foreign",
	} {
		n := ParseName(name)
		if got := brief(n); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", name, got, want)
		}
		if (n.Kind == Foreign) != (n.Reason != "") || n.File != name {
			t.Errorf("%s: %+v", name, n)
		}
	}
}

func TestSlicing(t *testing.T) {
	for name, want := range map[string]Slicing{
		"Relu.x.5.1.1630000000000300.4.33.1.0": Auto, "Relu.x_lxslice0.5.1.1630000000000300.4.33.1.0": Manual,
		"Relu.x_lxslice0.5.1.1630000000000300.0.33.1.0": Whole, "Relu.x.5.1.1630000000000300": Whole,
		"Add.a.9.6.1.1630000000000100.FFTSPLUS.4.5.0": Auto,
	} {
		if n := ParseName(name); n.Slicing() != want {
			t.Errorf("%s: %d, want %d", name, n.Slicing(), want)
		}
	}
}

func TestOperatorOfSlice(t *testing.T) {
	for _, c := range []struct {
		name  string
		rules bool
		want  string // - if the name is nobody's
	}{
		{"conv", false, "conv"},
		{"conv_lxslice0", false, "conv"},
		{"conv_lxslice12", false, "conv"},
		{"conv-lxslice12", false, "conv"},
		{"conv_lxslice12_x", false, "-"},
		{"conv_lxslice_x", false, "-"},
		{"a_lxslice1_b_lxslice2", false, "-"},
		{"a_sgt_graph_0_b", false, "b"},
		{"a_sgt_graph_0_b_sgt_graph_11_c_d", false, "c_d"},
		{"a_sgt_graph_0", false, "a_sgt_graph_0"},
		{"a_sgt_graph_0_b_sgt_graph_11", false, "a_sgt_graph_0_b_sgt_graph_11"},
		{"a_sgt_graph_x_b", false, "a_sgt_graph_x_b"},
		{"a_sgt_graph_0_b_lxslice3", false, "b"},
		{"a_sgt_graph_0_b_lxslice3_c", false, "-"},
		{"conv_lxslice12_x", true, "conv_x"},
		{"a_lxslice1_b_lxslice22", true, "a_b"},
		{"a_lxslice_b_lxslice2", true, "a_lxslice_b"},
		{"a_sgt_graph_0_b_lxslice3", true, "a_sgt_graph_0_b"},
		{"a_sgt_graph_0_b", true, "b"},
		{"lxslice3", false, "lxslice3"},
	} {
		got, ok := operator(c.name, c.rules)
		if !ok {
			got = "-"
		}
		if got != c.want {
			t.Errorf("%s, rules %t: %q, want %q", c.name, c.rules, got, c.want)
		}
	}
}

func TestNormalise(t *testing.T) {
	for name, want := range map[string]string{"a": "a", "a/b.c d\\e": "a_b_c_d_e", "": "", "网/络": "网_络", "a@b:c": "a@b:c"} {
		if got := Normalise(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestQuantised(t *testing.T) {
	for name, want := range map[string]bool{
		"conv_quant_layer": true, "conv_quant": true, "conv_quant.0": true, "conv_quant_1": true, "a_weight_quant_b": true,
		"x_anti_quant_layer": true, "convAscendQuant": true, "fc_AscendWeightQuant_2": true, "AscendDequant": true, "q_dequant": true,
		"fcAntiQuant": true, "my_quantity": false, "my_quantity_quant": true, "quant": false, "conv": false, "AscendQuantity": false,
		"dequantise_x": false, "a_quantized": false,
	} {
		if got := quantised(name); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func FuzzParseName(f *testing.F) {
	for _, name := range []string{
		"Conv2D.scope_op.3.1.1630000000000001", "Add.a.9.6.1.1630000000000100.FFTSPLUS.4.5.0", "a.b.0.1630000000000100.npy",
		"Mul.m_lxslice12.6.1.1630000000000100.4.44.0.0", "x.npy.output.0.npy", "exception_info.7.5.20210901120000123",
	} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		n := ParseName(name)
		if (n.Kind == Foreign) != (n.Reason != "") {
			t.Fatalf("%+v", n)
		}
		if n.Kind == Offline && (n.OpName == "" || n.Task < 0) || n.Kind == Array && (n.OpName == "" || n.Index < 0) {
			t.Fatalf("%+v", n)
		}
		for _, rules := range []bool{false, true} {
			if op, _ := operator(n.OpName, rules); len(op) > len(n.OpName) {
				t.Fatalf("%q became %q", n.OpName, op)
			}
		}
		if once := Normalise(name); Normalise(once) != once {
			t.Fatalf("%q", once)
		}
	})
}
