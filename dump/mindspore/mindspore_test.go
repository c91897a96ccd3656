package mindspore

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/dump/dtype"
)

// TestParseName: the names of all versions, of converters, and what is none.
func TestParseName(t *testing.T) {
	for _, c := range []struct {
		file string
		want Name
	}{
		{"Add.Default_network-Net_Add-op0.0.0.1700000000000000.output.0.DefaultFormat.npy", Name{Type: "Add", Op: "Default_network-Net_Add-op0", Task: "0", Stream: "0", Time: 1700000000000000, Output: true}},
		{"Conv2D.Conv2D-op12.3.7.17.input.1.0.DefaultFormat.bfloat16.npy", Name{Type: "Conv2D", Op: "Conv2D-op12", Task: "3", Stream: "7", Time: 17, Index: 1, DType: dtype.BFloat16, Typed: true}},
		{"Add.Add-op0.0.0.17.output.2.1.NCHW.npy", Name{Type: "Add", Op: "Add-op0", Task: "0", Stream: "0", Time: 17, Output: true, Index: 2, Slot: 1}},
		{"Parameter.layer.0.weight.0.0.17.output.0.DefaultFormat.float32.npy", Name{Type: "Parameter", Op: "layer.0.weight", Task: "0", Stream: "0", Time: 17, Output: true, DType: dtype.Float32, Typed: true}},
		{"Conv2D.conv1.3.7.1700000000000000.output.0.npy", Name{Type: "Conv2D", Op: "conv1", Task: "3", Stream: "7", Time: 1700000000000000, Output: true}},
	} {
		if got, ok := ParseName(c.file); !ok || got != c.want {
			t.Errorf("%s: %+v, %v\nexpected %+v", c.file, got, ok, c.want)
		}
	}
	for _, file := range []string{"", ".npy", "conv1.0.1700000000000000.npy", "Add.op.0.0.17.output.0.DefaultFormat.npy.txt", "Add.op.0.0.x.output.0.F.npy", "Add.op.0.0.17.outputs.0.F.npy",
		"Add.op.0.0.17.output.x.npy", "Add.op.0.0.17.output.0.F.nothing.npy", "Add..0.0.17.output.0.F.npy", "Functional.conv2d.0.forward.output.0.npy", "mm-aten.mm.default.OUTPUT.0.20240125031118787351.npy"} {
		if n, ok := ParseName(file); ok {
			t.Errorf("%q is taken for %+v", file, n)
		}
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestLoad: files and lines of one kernel are brought together run by run, whatever
// their order; renamed files and arguments are found; damaged lines leave the others.
func TestLoad(t *testing.T) {
	top := t.TempDir()
	dir := top + "/rank_3/Net/1/7"
	for _, file := range []string{
		"Add.Default_Add-op1.0.0.20.output.0.DefaultFormat.float32.npy",
		"Add.Default_Add-op1.0.0.19.input.0.DefaultFormat.float32.npy",
		"Add.Default_Add-op1.0.0.40.output.0.DefaultFormat.float32.npy",
		"Add.Default_Add-op1.0.0.39.input.0.DefaultFormat.float32.npy",
		"12345678901234567890123456789012.npy",
		"unrelated.txt",
	} {
		put(t, dir+"/"+file, "")
	}
	put(t, dir+"/mapping.csv", "12345678901234567890123456789012.npy,Mul.Default_Mul-op2.0.0.30.output.0.DefaultFormat.float16.npy\n")
	put(t, dir+"/Add.Default_Add-op1.json", `{"transpose_a": "False", "axis": 1}`)
	put(t, dir+"/Mul.Default_Mul-op2.json", `[`)
	put(t, dir+"/statistic.csv", "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value\n"+
		"Add,Default/Default_Add-op1,0,0,40,output,0,4,float32,\"(1,)\",4\n"+
		"Add,Default_Add-op1,0,0,20,output,0,4,float32,\"(1,)\",2\n"+
		"Add,Default_Add-op1,0,0,60,output,0,4,float32,\"(1,)\",6\n"+
		"Sub,Default_Sub-op3,0,0,50,output,0,4,float32,\"(1,)\"\n")
	put(t, top+"/rank_3/Net/constants/Parameter.data-1.0.0.17.output.0.DefaultFormat.npy", "")
	put(t, top+"/rank_3/graphs/ms_output_trace_code_graph_1.pb", "")
	all, err := Find(top)
	if err != nil || len(all) != 1 || all[0].Rank != 3 || all[0].Step != 7 || all[0].Label() != "Net/1" {
		t.Fatalf("%+v, %v", all, err)
	}
	it, err := Load(all[0])
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, k := range it.Kernels {
		fmt.Fprintln(&b, k.Type, k.Name, k.Run, k.Args)
		for i := range k.Tensors {
			x := &k.Tensors[i]
			fmt.Fprint(&b, "  ", x.Output, x.Index, " ", filepath.Base(x.File))
			if row := it.Row(x); row != nil {
				fmt.Fprint(&b, " ", row.Max)
			}
			fmt.Fprintln(&b)
		}
	}
	const want = `Add Default_Add-op1 0 [{axis 1} {transpose_a "False"}]
  false 0 Add.Default_Add-op1.0.0.19.input.0.DefaultFormat.float32.npy
  true 0 Add.Default_Add-op1.0.0.20.output.0.DefaultFormat.float32.npy 2
Mul Default_Mul-op2 0 []
  true 0 12345678901234567890123456789012.npy
Add Default_Add-op1 1 [{axis 1} {transpose_a "False"}]
  false 0 Add.Default_Add-op1.0.0.39.input.0.DefaultFormat.float32.npy
  true 0 Add.Default_Add-op1.0.0.40.output.0.DefaultFormat.float32.npy 4
Add Default_Add-op1 2 [{axis 1} {transpose_a "False"}]
  true 0 . 6
`
	if b.String() != want {
		t.Errorf("found\n%s\nexpected\n%s", b.String(), want)
	}
	if len(it.Remarks) != 2 || !strings.Contains(it.Remarks[0].Error(), "10 fields") || !strings.Contains(it.Remarks[1].Error(), "an object of JSON") {
		t.Errorf("remarks %v", it.Remarks)
	}
}

// TestFind: folders of other recordings, in which a converter left arrays, are none of
// MindSpore's.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	put(t, dir+"/Add.add.0.0.1700000000000000.output.0.npy", "")
	if _, err := Find(dir); err != nil {
		t.Error(err)
	}
	put(t, dir+"/Add.add.0.0.1700000000000000", "")
	if all, err := Find(dir); err == nil {
		t.Errorf("device dumps beside what was made of them are taken for %+v", all)
	}
	if all, err := Find(dir + "/Add.add.0.0.1700000000000000"); err == nil {
		t.Errorf("a file is taken for %+v", all)
	}
}

func FuzzParseName(f *testing.F) {
	f.Add("Add.Default_network-Net_Add-op0.0.0.1700000000000000.output.0.DefaultFormat.npy")
	f.Add("Conv2D.Conv2D-op12.3.7.17.input.1.0.DefaultFormat.bfloat16.npy")
	f.Fuzz(func(t *testing.T, file string) {
		if n, ok := ParseName(file); ok && (n.Op == "" || n.Type == "" || n.Index < 0) {
			t.Errorf("%q: %+v", file, n)
		}
	})
}

// TestTextFeeds: the text of a graph says the same as the graph does: through tuples, and with arguments over several
// lines that have brackets and commas of their own. What is cut says nothing of what is not there.
func TestTextFeeds(t *testing.T) {
	text := `# Total params: 1
%para1_w: <Ref[Tensor[Float32]], (4, 3), ref_key=w, is_parameter>  :  IsWeight: true

subgraph @kernel_graph0() {
  %0(CNode_1) = Load(%para1_w, UMonad[U]) cnode_attrs: {checkpoint: Bool(1)}
      : (<Ref[Tensor[Float32]], (4, 3)>, <UMonad, NoShape>) -> (<Tensor[Float32], (4, 3)>)
      # Fullname with scope: (Default/Load-op0)
  %1(parts, of it) = PrimFunc_Split(%para2_x, %0) {instance name: split} primitive_attrs: {output_names: (output), a: (1, 2)}
      # Fullname with scope: (Default/net/Split-op0)
  %2(CNode_3) = TupleGetItem(%1, I64(1)) cnode_attrs: {}
      # Fullname with scope: (Default/TupleGetItem-op0)
  %3(CNode_4) = Depend(%2, UMonad[U])
      # Fullname with scope: (Default/Depend-op0)
  %4(CNode_5) = MakeTuple(%3, %0)
      # Fullname with scope: (Default/MakeTuple-op0)
  %5(out) = PrimFunc_AddN(Tensor(shape=[2, 1], dtype=Float32, value=
[[ 1.0e+00],
 [ 2.0e+00]]), "a, )b", %4)
      # In file a.py:3~5, 1~2/        out = f(x)/
      # Fullname with scope: (Default/net/AddN-op0)
  Return(%5)
}
`
	dir := t.TempDir() + "/rank_0/Net/0/0"
	graph := filepath.Join(dir, "../../../graphs/ms_output_trace_code_graph_0.ir")
	for _, d := range []string{dir, filepath.Dir(graph)} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(graph, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	feeds := Feeds(&Recording{Dir: dir, Graph: "0"})
	if p, ok := Fed(feeds, "Default_net_AddN-op0", "2"); !ok || p != (Port{"Default_net_Split-op0", 1}) {
		t.Errorf("AddN is fed by %v, of %v", p, feeds)
	}
	for _, at := range []string{"0", "1", "3", "4"} {
		if p, ok := Fed(feeds, "Default_net_AddN-op0", at); ok {
			t.Errorf("input %s is no output of a kernel, and made by %v", at, p)
		}
	}
	for n := range text {
		textNodes([]byte(text[:n]))
	}
	if textNodes([]byte(text+text)) != nil || textNodes(nil) != nil {
		t.Error("two graphs of the same names, or none, say something")
	}
}

// TestNestedTuples: tuples of tuples that double at every level are not written out, nor is a tuple that holds itself; what
// is fed otherwise is told all the same.
func TestNestedTuples(t *testing.T) {
	var text strings.Builder
	line := func(n int, call string) {
		fmt.Fprintf(&text, "  %%%d(x) = %s\n      # Fullname with scope: (Default/node%d)\n", n, call, n)
	}
	line(0, "PrimFunc_Relu(%x)")
	for n := range 30 {
		line(n+1, fmt.Sprintf("MakeTuple(%%%d, %%%d)", n, n))
	}
	line(31, "PrimFunc_AddN(%30)")
	line(62, "MakeTuple(%62, %0)")
	line(63, "PrimFunc_AddN(%62)")
	line(64, "PrimFunc_Abs(%0)")
	line(65, "MakeTuple(%0, %0, %0)")
	line(66, "PrimFunc_AddN(%65, %0)")
	feeds := textNodes([]byte(text.String())).feeds()
	n := 0
	for _, list := range feeds {
		n += len(list)
	}
	relu := Port{"Default_node0", 0}
	if n > 1<<16 || !slices.Equal(feeds["Default_node64"], []Port{relu}) || !slices.Equal(feeds["Default_node66"], []Port{relu, relu, relu, relu}) {
		t.Errorf("%d ports, of Abs %v, of AddN %v", n, feeds["Default_node64"], feeds["Default_node66"])
	}
}

// TestFeeds: the graph beside a dump says what feeds kernels, through tuples and what only orders them; what is cut or no
// graph says nothing.
func TestFeeds(t *testing.T) {
	message := func(field byte, parts ...string) string {
		all := strings.Join(parts, "")
		return string([]byte{field<<3 | 2, byte(len(all))}) + all
	}
	node := func(name, typ, full string, inputs ...string) string {
		var parts []string
		for _, in := range inputs {
			parts = append(parts, message(1, message(1, in)))
		}
		return message(1, append(parts, message(2, name), message(3, typ), message(8, full))...)
	}
	graph := node("1", "Load", "Default/Load-op0", "w", "u") + node("2", "Split", "Default/net/Split-op0", "x", "1") +
		node("3", "TupleGetItem", "Default/TupleGetItem-op0", "2", "cst1") + node("4", "Depend", "Default/Depend-op0", "3", "u") +
		node("5", "MakeTuple", "Default/MakeTuple-op0", "4", "1") + node("6", "AddN", "Default/net/AddN-op0", "5") +
		message(5, message(1, "cst1"), message(2, "\x08\x05\x18\x01"))
	var data []byte
	data = append(data, 4<<3|2)
	data = append(binary.AppendUvarint(data, uint64(len(graph))), graph...)
	top := t.TempDir() + "/rank_0"
	dir := top + "/Net/0/0"
	for path, b := range map[string][]byte{top + "/graphs/ms_output_trace_code_graph_0.pb": data, dir + "/AddN.x.0.0.1.output.0.DefaultFormat.npy": nil} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	feeds := Feeds(&Recording{Dir: dir, Graph: "0"})
	if p, ok := Fed(feeds, "Default_net_AddN-op0", "0"); !ok || p != (Port{"Default_net_Split-op0", 1}) {
		t.Errorf("AddN is fed by %v, of %v", p, feeds)
	}
	if p, ok := Fed(feeds, "Default_net_AddN-op0", "1"); ok {
		t.Errorf("a parameter is made by %v", p)
	}
	for n := range data {
		protoNodes(data[:n])
	}
	if protoNodes(data[:len(data)-3]) != nil || Feeds(&Recording{Dir: dir, Graph: "1"}) != nil {
		t.Error("a damaged graph, or none, says something")
	}
}
