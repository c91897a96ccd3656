package compare

import (
	"bytes"
	"testing"

	"precision/compare/metric"
)

func TestNeutral(t *testing.T) {
	for in, want := range map[string]string{
		"conv1": "conv1", "": "", "=cmd|' /C calc'!A0": " =cmd|' /C calc'!A0", "@x": " @x", "+1": "+1", "-1.5e3": "-1.5e3",
		"-inf": "-inf", "-x": " -x", "%s": " %s", "a;=b": "a; =b", ";@": "; @", "\uff1dx": " \uff1dx",
		"(0.1;1.2),(-0.3;2.0)": "(0.1;1.2),(-0.3;2.0)", "\t=x": " \t=x",
	} {
		if got := Neutral(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func TestWriter(t *testing.T) {
	var out bytes.Buffer
	cols := Columns{MineAddress: true, Overflow: true, Metrics: []metric.Metric{metric.MaxAbsoluteError}}
	w := NewWriter(&out, cols)
	w.Header()
	w.Row(&Row{Index: 3, OpType: "Add", Mine: "=cmd", Golden: "a,b", Slot: -1,
		Reasons: []Reason{{Kind: NoMine, Text: `no "x"`}, {Kind: NoConverter, Text: "why", Quiet: true}}})
	w.Row(&Row{Index: 4, OpType: "Add", Mine: "s", Golden: "s", Op: "s", Input: true, Slot: 1, MineType: "float16", GoldenType: "float32",
		MineAddress: "0", Shape: []int64{1, 3}, Overflow: "NO"})
	w.Row(&Row{Index: 5, OpType: "Add", Mine: "s", Golden: "s", Op: "s", Slot: 0, Shape: []int64{}})
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	want := "Index,OpType,NPUDump,DataType,Address,GroundTruth,DataType,TensorIndex,Shape,OverFlow,MaxAbsoluteError,CompareFailReason\r\n" +
		"3,Add,\" =cmd\",NaN,NaN,\"a,b\",NaN,NaN,NaN,NaN,NaN,\"no \"\"x\"\",why\"\r\n" +
		"4,Add,s,float16,0,s,float32,s:input:1,\"[1,3]\",NO,NaN,\r\n" +
		"5,Add,s,NaN,NaN,s,NaN,s:output:0,[],NaN,NaN,\r\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	cols.OldFormat = true
	if got := cols.Cells(&Row{Reasons: []Reason{{Text: "why", Quiet: true}}, Slot: -1}); got[len(got)-1] != "" {
		t.Errorf("the old format gives the reason %q", got[len(got)-1])
	}
}
