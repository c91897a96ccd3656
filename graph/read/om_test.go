package read

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"precision/graph"
	"precision/testdata/workshop/graphtest"
	pb "precision/testdata/workshop/graphtest/gepb"
)

// part is a partition of an offline model under construction.
type part struct {
	typ  uint32
	data []byte
}

// omFile builds an offline model file; each group of parts is one model.
func omFile(wide bool, modelType byte, models ...[]part) []byte {
	le := binary.LittleEndian
	h := make([]byte, omHeaderSize)
	copy(h, "IMOD")
	le.PutUint32(h[4:], omHeaderSize)
	le.PutUint32(h[8:], 0x20000000)
	h[82] = modelType
	le.PutUint32(h[156:], uint32(len(models)))
	var body []byte
	for _, parts := range models {
		body = le.AppendUint32(body, uint32(len(parts)))
		if wide {
			body = le.AppendUint32(body, 0)
		}
		for _, p := range parts {
			body = le.AppendUint32(body, p.typ)
			if wide {
				body = le.AppendUint64(le.AppendUint64(le.AppendUint32(body, 0), 12345), uint64(len(p.data)))
			} else {
				body = le.AppendUint32(le.AppendUint32(body, 12345), uint32(len(p.data)))
			}
		}
		for _, p := range parts {
			body = append(body, p.data...)
		}
	}
	if wide {
		le.PutUint64(h[184:], uint64(len(body)))
	} else {
		le.PutUint32(h[76:], uint32(len(body)))
	}
	return append(h, body...)
}

func modelWire(t testing.TB, name string) []byte {
	return wireOf(t, []byte(`name: "`+name+`" graph { name: "`+name+`" op { name: "x" type: "Data" } } attr { key: "of" value { s: "`+name+`" } }`))
}

func TestOM(t *testing.T) {
	weights := bytes.Repeat([]byte{7}, 1000)
	flowSub := msg(nil).str(1, "inner").str(2, "NPU").int(9, 5).bytes(3, omFile(true, 0, []part{{1, weights}, {0, modelWire(t, "inner")}})...)
	for _, c := range []struct {
		name   string
		data   []byte
		graphs string
		subs   int
	}{
		{"wide", omFile(true, 0, []part{{8, []byte("xyz")}, {0, modelWire(t, "a")}, {1, weights}}), "a", 0},
		{"narrow", omFile(false, 1, []part{{0, modelWire(t, "a")}, {1, weights}}), "a", 0},
		{"several", omFile(true, 0, []part{{0, modelWire(t, "root")}}, []part{{0, modelWire(t, "s1")}, {1, weights}},
			[]part{{1, nil}, {0, modelWire(t, "s2")}}), "root s1 s2", 2},
		{"several narrow", omFile(false, 0, []part{{0, modelWire(t, "root")}}, []part{{0, modelWire(t, "s1")}}), "root s1", 1},
		{"flow", omFile(true, omTypeFlow, []part{{0, modelWire(t, "root")}, {6, []byte("?")}, {7, flowSub}}), "root inner", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Read(context.Background(), bytes.NewReader(c.data), "f.om")
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, g := range m.Graphs {
				names = append(names, g.Name)
				if at := int(g.Line); !bytes.HasPrefix(c.data[at:], []byte("\x0a"+string(rune(len(g.Name)))+g.Name)) {
					t.Errorf("graph %s is not at offset %d", g.Name, at)
				}
			}
			if got := strings.Join(names, " "); got != c.graphs || len(m.SubModels) != c.subs || m.Source != graph.SourceOM || len(m.Warnings) > 0 {
				t.Errorf("graphs %s, %d sub models, source %v, warnings %v", got, len(m.SubModels), m.Source, m.Warnings)
			}
			for i, sub := range m.SubModels {
				if want := names[i+1]; sub.Name != want || sub.Attrs.Get("of").Text() != want {
					t.Errorf("sub model %d is %q", i, sub.Name)
				}
			}
		})
	}
}

func TestOMErrors(t *testing.T) {
	good := omFile(true, 0, []part{{0, modelWire(t, "a")}, {1, []byte("weights")}})
	edit := func(f func(p []byte) []byte) []byte { return f(bytes.Clone(good)) }
	nested := modelWire(t, "a")
	file := omFile(true, omTypeFlow, []part{{0, nested}})
	for range 6 {
		file = omFile(true, omTypeFlow, []part{{0, nested}, {7, msg(nil).bytes(3, file...)}})
	}
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"short", good[:100], "header needs 256 bytes, the file has 100"},
		{"truncated", good[:len(good)-3], "header announces"},
		{"header size", edit(func(p []byte) []byte { p[4] = 8; return p }), "header of 264 bytes"},
		{"encrypted", edit(func(p []byte) []byte { p[80] = 1; return p }), "encrypted"},
		{"many partitions", edit(func(p []byte) []byte { p[256], p[258] = 0, 1; return p }), "65536 partitions, at most 4096 expected"},
		{"table too long", edit(func(p []byte) []byte { p[256], p[257] = 0, 16; return p }), "table of 4096 partitions needs 98304 bytes"},
		{"partition too long", edit(func(p []byte) []byte { p[264+16+7] = 0x7f; return p }), "partition 0 of type 0 claims"},
		{"many models", edit(func(p []byte) []byte { p[158] = 1; return p }), "65537 models"},
		{"missing model", edit(func(p []byte) []byte { p[156] = 2; return p }), "partition table needs 8 bytes"},
		{"no definition", omFile(true, 0, []part{{1, []byte("weights")}}), "no model definition among 1 partitions"},
		{"broken definition", omFile(true, 0, []part{{1, []byte("1234")}, {0, []byte("\x3a\x09x")}}), "offset 317: field 7 claims 9 bytes"},
		{"deep flow", file, "models nested deeper than 4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Read(context.Background(), bytes.NewReader(c.data), "f.om")
			var e *graph.Error
			if !errors.As(err, &e) || !strings.HasPrefix(e.Error(), "f.om:offset ") || !strings.Contains(e.Error(), c.want) {
				t.Errorf("error %v, want %s", err, c.want)
			}
		})
	}
}

// encodedKey is the stored form of a compressed attribute key.
func encodedKey(n int) string {
	k := []byte{0}
	for {
		k = append(k, byte(n%127)+1)
		if n /= 127; n == 0 {
			return string(k)
		}
	}
}

func TestOMCompressed(t *testing.T) {
	names := make([][]byte, 200)
	useText := make([]bool, 200)
	for i := range names {
		names[i] = []byte{'n', byte('0' + i/100), byte('0' + i/10%10), byte('0' + i%10)}
	}
	names[5], names[130], names[131], names[132] = []byte("pass_name"), []byte("_datadump_original_op_names"), []byte("index"), []byte("\x00\x02")
	useText[5], useText[130] = true, true
	str := func(l ...[]byte) *pb.AttrDef {
		return &pb.AttrDef{Value: &pb.AttrDef_List{List: &pb.AttrDef_ListValue{S: l}}}
	}
	ints := func(l ...int64) *pb.AttrDef {
		return &pb.AttrDef{Value: &pb.AttrDef_List{List: &pb.AttrDef_ListValue{I: l, ValType: 2}}}
	}
	num := func(n int64) *pb.AttrDef { return &pb.AttrDef{Value: &pb.AttrDef_I{I: n}} }
	m := &pb.ModelDef{
		Graph: []*pb.GraphDef{{Name: "g", Op: []*pb.OpDef{{Name: "o", Type: "T",
			Attr: map[string]*pb.AttrDef{encodedKey(5): num(1), encodedKey(130): ints(0, 2), encodedKey(131): num(1),
				encodedKey(132): num(3), encodedKey(199): num(4), encodedKey(200): num(5), "plain": num(6)},
			OutputDesc: []*pb.TensorDescriptor{{Attr: map[string]*pb.AttrDef{encodedKey(7): num(8)}}}}}}},
		Attr: map[string]*pb.AttrDef{graph.KeyCompress: num(1), graph.KeyNameTable: str(names...), graph.KeyValueTable: str([]byte("a"), []byte("Pass"), []byte("b")),
			graph.KeyTextTable: {Value: &pb.AttrDef_List{List: &pb.AttrDef_ListValue{B: useText}}}},
	}
	data, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read(context.Background(), bytes.NewReader(omFile(true, 0, []part{{0, data}})), "f.om")
	if err != nil {
		t.Fatal(err)
	}
	o := got.Graphs[0].Ops[0]
	for key, want := range map[string]string{"pass_name": "Pass", "_datadump_original_op_names": "[a,b]", "index": "1",
		encodedKey(132): "3", "n199": "4", encodedKey(200): "5", "plain": "6"} {
		if v := o.Attr(key); v.String() != want {
			t.Errorf("%q is %v, want %s", key, v, want)
		}
	}
	if v := o.Attr("_datadump_original_op_names"); v.Elem() != graph.KindString {
		t.Errorf("list of %v", v.Elem())
	}
	if v, _ := o.OutputDesc[0].Attr("n007").Int(); v != 8 {
		t.Errorf("descriptor attribute is %d", v)
	}
	m.Attr[graph.KeyCompress] = num(0)
	if data, err = proto.Marshal(m); err != nil {
		t.Fatal(err)
	}
	if got, err = Read(context.Background(), bytes.NewReader(omFile(true, 0, []part{{0, data}})), "f.om"); err != nil || got.Graphs[0].Ops[0].Attr("pass_name") != nil {
		t.Errorf("an uncompressed model was decoded: %v", err)
	}
}

func TestRealOM(t *testing.T) {
	for name, want := range map[string]string{"om/root_model.om": "test_graph_cache", "om/flow_model.om": "root_graph graph1 graph2"} {
		path := graphtest.Real(t, name)
		m, err := Open(context.Background(), path)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, g := range m.Graphs {
			names = append(names, g.Name)
		}
		if got := strings.Join(names, " "); got != want || len(m.Warnings) > 0 {
			t.Errorf("%s: graphs %s, want %s; warnings %v", name, got, want, m.Warnings)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		o := &omReader{ctx: context.Background(), r: bytes.NewReader(data), size: int64(len(data)), path: path}
		h := o.header()
		for off := int64(omHeaderSize); h.models > 0; h.models-- {
			off = o.partitions(h, off)
		}
		for _, p := range h.partitions {
			if p.typ != omPartModel {
				continue
			}
			var x pb.ModelDef
			if err := proto.Unmarshal(data[p.offset:][:p.size], &x); err != nil {
				t.Fatal(err)
			}
			one := *m
			one.Graphs = one.Graphs[:len(one.Graphs)-len(m.SubModels)]
			if diff := graphtest.FirstDiff(graphtest.Describe(graphtest.FromPB(&x)), graphtest.Describe(&one)); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	}
}

func TestOM2(t *testing.T) {
	build := func(files map[string]string) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for name, text := range files {
			w, err := z.Create(name)
			if err != nil {
				t.Fatal(err)
			}
			w.Write([]byte(text))
		}
		z.Close()
		return b.Bytes()
	}
	data := build(map[string]string{
		"data/model_0/debug/ge_visual_00000000_graph_0.json": `{"graph": [{"name": "g0", "attr": {"_session_graph_id": "0_1"}, "op": [{"name": "x", "type": "Data",
			"attr": {"s": "a\\b", "i": 5, "f": 0.5, "b": true, "n": null, "l": [1, 2], "fl": [1, 2.5], "sl": ["x"], "ll": [[1], []], "v": {"i": 3}}}]}]}`,
		"data/model_1/debug/ge_visual_00000000_graph_0.json": `{"graph": [{"name": "g1", "op": []}]}`,
		"manifest.json": `{}`,
	})
	m, err := Read(context.Background(), bytes.NewReader(data), "f.om")
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Graphs) != 2 || m.Graphs[1].Name != "g1" || m.Source != graph.SourceOM2 || m.Graphs[0].Attrs.Get("_session_graph_id").Text() != "0_1" {
		t.Fatalf("%v: %s", m.Source, graphtest.Describe(m))
	}
	for key, want := range map[string]string{"s": `a\b`, "i": "5", "f": "0.5", "b": "true", "n": "", "l": "[1,2]", "fl": "[1,2.5]",
		"sl": "[x]", "ll": "[[1],[]]", "v": "3"} {
		if v := m.Graphs[0].Ops[0].Attr(key); v.String() != want {
			t.Errorf("%s is %v, want %s", key, v, want)
		}
	}
	for name, data := range map[string][]byte{"no graph": build(map[string]string{"x": ""}), "cut off": data[:len(data)/2]} {
		if _, err := Read(context.Background(), bytes.NewReader(data), name); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzOM(f *testing.F) {
	f.Add(omFile(true, 0, []part{{0, modelWire(f, "a")}, {1, []byte("w")}}))
	f.Add(omFile(false, 0, []part{{0, modelWire(f, "a")}}, []part{{0, modelWire(f, "b")}}))
	f.Add(omFile(true, omTypeFlow, []part{{0, modelWire(f, "a")}, {7, msg(nil).bytes(3, omFile(true, 0, []part{{0, modelWire(f, "b")}})...)}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := readOM(context.Background(), bytes.NewReader(data), int64(len(data)), "fuzz")
		if err == nil {
			_ = graphtest.Describe(m)
		}
	})
}
