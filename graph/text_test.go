package graph

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"google.golang.org/protobuf/encoding/prototext"

	"precision/graph/pb"
)

// prototextModel is the oracle: the same text read by the protobuf library.
func prototextModel(t testing.TB, data []byte) *Model {
	t.Helper()
	var m pb.ModelDef
	if err := (prototext.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	return fromPB(&m)
}

func checkText(t *testing.T, data []byte) *Model {
	t.Helper()
	m, err := readText(bytes.NewReader(data), "graph.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := firstDiff(describe(prototextModel(t, data)), describe(m)); diff != "" {
		t.Error(diff)
	}
	return m
}

// everything has each field and each way of writing it that the text form allows.
const everything = `# a comment
name: 'model' version: 0x10
custom_version: "a" # between the pieces
  "b" 'c"d'
graph: <
  name: "g\303\244\x41\n\"'\\\?\u00e4\U0001F600"
  input: ["data:0", 'x:1'];
  output: "out:0",
  op {
    name: "data" type: "Data" input: "" id: 7 stream_id: -3 has_out_attr: true
    attr { key: "list_s" value { list { s: "a" s: "b" val_type: VT_LIST_STRING } } }
    attr { key: "list_i" value { list { i: [1, -2, 0x7f, 017] val_type: 2 } } }
    attr { key: "list_f" value { list { f: 1.5 f: inf f: -inf f: 1e10 f: .5 f: 3f val_type: VT_LIST_FLOAT } } }
    attr { key: "list_b" value { list { b: true b: false b: t b: 0 } } }
    attr { key: "list_bt" value { list { bt: "abc" bt: "\000\001\377" "\\" } } }
    attr { key: "list_dt" value { list { dt: 1 val_type: VT_LIST_DATA_TYPE } } }
    attr { key: "list_td" value { list { td { dtype: DT_BF16 attr { key: "x" value { i: 1 } } } td { } } } }
    attr { key: "list_t" value { list { t { desc { layout: "ND" } data: "1234" } } } }
    attr { key: "list_na" value { list { na { name: "f" attr { key: "k" value { list { s: "inner" } } } } } } }
    attr { key: "list_g" value { list { g { name: "inner" op { name: "o" } } } } }
    attr { key: "empty_list" value { list { } } }
    attr { key: "s" value { s: "\345\216\237" } }
    attr { key: "i" value { i: 9223372036854775807 } }
    attr { key: "neg" value { i: -9223372036854775808 } }
    attr { key: "f" value { f: 0.25 } }
    attr { key: "b" value { b: false } }
    attr { key: "bt" value { bt: "a\"b\\\n\001\0010" } }
    attr { key: "func" value { func { name: "options" attr { key: "a" value { s: "1" } } } } }
    attr { key: "td" value { td { name: "t" shape { dim: 1 dim: -1 } } } }
    attr { key: "t" value { t { desc { dtype: DT_FLOAT } data: "\377\376" 'x' } } }
    attr { key: "g" value { g { name: "sub" op { name: "p" input_desc { layout: "NCHW" } } } } }
    attr { key: "lli" value { list_list_int { list_list_i { list_i: 1 list_i: 2 } list_list_i { } } } }
    attr { key: "lli0" value { list_list_int { } } }
    attr { key: "llf" value { list_list_float { list_list_f { list_f: [1, 2.5] } } } }
    attr { key: "dt" value { dt: 27 } }
    attr { key: "expression" value { expression: "s0 * 2" } }
    attr { key: "none" value { } }
    attr <key: "angle" value <i: 5>>
    input_name: "x" src_name: "a" src_index: 1 dst_name: "b:c" dst_index: -1 input_i: 3 output_i: 4
    workspace: 5 workspace_bytes: 6 is_input_const: true is_input_const: false
    input_desc { name: "x" dtype: DT_FLOAT16 shape { dim: [1, 3, 224, 224] } layout: "FRACTAL_Z:32" device_type: "NPU"
      attr { key: "origin_shape" value { list { i: 1 i: 3 } } } has_out_attr: true size: 1 weight_size: 2
      reuse_input: true output_tensor: true input_tensor: true real_dim_cnt: 4 reuse_input_index: 1 data_offset: 64
      cmps_size: 1 cmps_tab: "x" cmps_tab_offset: 2 }
    output_desc { dtype: DT_UNDEFINED }
    output_desc { dtype: 28 shape { } }
    subgraph_name: "s1" subgraph_name: "s2"
  }
>
attr { key: "model" value { s: "" } }
`

func TestTextEverything(t *testing.T) {
	m := checkText(t, []byte(everything))
	if len(m.Warnings) != 0 {
		t.Errorf("warnings: %v", m.Warnings)
	}
	if got := m.Graphs[0].Ops[0].Line; got != 9 {
		t.Errorf("op at line %d, want 9", got)
	}
}

// TestTextPieces reads the same text through windows that end anywhere.
func TestTextPieces(t *testing.T) {
	want := describe(checkText(t, []byte(everything)))
	for name, r := range map[string]io.Reader{
		"bytes": iotest.OneByteReader(strings.NewReader(everything)),
		"half":  iotest.HalfReader(strings.NewReader(everything)),
		"eof":   iotest.DataErrReader(strings.NewReader(everything)),
	} {
		m, err := readText(r, name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := firstDiff(want, describe(m)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	// Tokens and blobs larger than the window, at every alignment to it.
	long := strings.Repeat("x\\n", windowSize/2)
	for pad := range 12 {
		text := strings.Repeat(" ", windowSize-100+pad*17) + `attr{key:"k" value{s:"` + long + `"}} attr{key:"b" value{bt:"` + long + `"}}`
		m, err := readText(strings.NewReader(text), "long")
		if err != nil {
			t.Fatal(err)
		}
		if s := m.Attrs.Get("k").Text(); s != strings.Repeat("x\n", windowSize/2) {
			t.Fatalf("pad %d: long text has %d bytes", pad, len(s))
		}
		if n := m.Attrs.Get("b").Len(); n != windowSize {
			t.Fatalf("pad %d: blob of %d bytes, want %d", pad, n, windowSize)
		}
	}
}

func TestTextUnknown(t *testing.T) {
	m, err := readText(strings.NewReader(`graph {
  name: "g"
  new_field { a: 1 b { c: "x" } d: [1, 2] e: [{x: 1}, {}] }
  op { name: "o" later: SOME_ENUM [type.googleapis.com/x.Y] { a: 1 } output_desc { dtype: DT_FUTURE layout: "ND" } }
}
graph { name: "h" }`), "g.txt")
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Graphs) != 2 || m.Graphs[1].Name != "h" || m.Graphs[0].Ops[0].OutputDesc[0].DType != "DT_FUTURE" {
		t.Errorf("graphs after unknown fields: %s", describe(m))
	}
	if len(m.Warnings) != 3 || m.Warnings[0].Line != 3 || !strings.Contains(m.Warnings[0].String(), "new_field") {
		t.Errorf("warnings: %v", m.Warnings)
	}
}

func TestTextErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"cut off", "graph {\n  name: \"a\"\n  op {\n    name: \"x\"\n", "5: file ends inside the message opened at line 3"},
		{"cut off in a string", "graph {\n  name: \"a", "2: file ends inside a string"},
		{"newline in a string", "graph {\n  name: \"a\n\"}", "2: string without closing quote"},
		{"wrong bracket", "graph {\n  op <\n }\n}", "3: found '}', expected a field name or '>' (message opened at line 2)"},
		{"no message", "graph: 5", "1: found '5', expected a message"},
		{"not a number", "graph { op { id: yes } }", `1: found "yes", expected an integer`},
		{"not a string", "graph { name: 5 }", `1: found '5', expected a quoted string`},
		{"bad escape", `graph { name: "\q" }`, `1: unknown escape \q in a string`},
		{"surplus", "graph { } }", "1: found '}', expected a field name"},
		{"bad list", "graph { input: [\"a\" \"b\"; ] }", `1: found ';', expected "," or "]" in a list`},
		{"deep", strings.Repeat("graph{op{attr{value{g{", 50), "1: messages nested deeper than 100"},
		{"deep unknown", strings.Repeat("x{", 200), "1: messages nested deeper than 100"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := readText(strings.NewReader(c.text), "f.txt")
			var e *Error
			if !errors.As(err, &e) || e.Code != CodeRuleFile {
				t.Fatalf("error %v, want an *Error with code 13", err)
			}
			if want := "f.txt:" + c.want; e.Error() != want {
				t.Errorf("got  %s\nwant %s", e, want)
			}
		})
	}
	fault := errors.New("disk on fire")
	_, err := readText(io.MultiReader(strings.NewReader("graph {"), iotest.ErrReader(fault)), "f.txt")
	if err == nil || !strings.Contains(err.Error(), "disk on fire") {
		t.Errorf("read error is lost: %v", err)
	}
}

func TestRealText(t *testing.T) {
	for _, name := range []string{"resnet50/ge_proto_00000062_Build.txt", "training/ge_proto_00000000_Build.txt",
		"training/ge_proto_00000001_Build.txt"} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			data, err := os.ReadFile(realFile(t, name))
			if err != nil {
				t.Fatal(err)
			}
			if m := checkText(t, data); len(m.Warnings) != 0 {
				t.Errorf("warnings: %v", m.Warnings)
			}
		})
	}
}

// TestKept holds the reader to at most one byte kept for three bytes read.
func TestKept(t *testing.T) {
	for _, name := range []string{"many", "resnet50/ge_proto_00000062_Build.txt"} {
		var data []byte
		if name == "many" {
			data = bigText(t, 16<<20)
		} else {
			var err error
			if data, err = os.ReadFile(realFile(t, name)); err != nil {
				t.Fatal(err)
			}
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		m, err := readText(bytes.NewReader(data), name)
		if err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		kept := float64(int64(after.HeapAlloc)-int64(before.HeapAlloc)) / float64(len(data))
		t.Logf("%s: %d bytes of text, %.3f bytes kept per byte read", name, len(data), kept)
		if kept > 1.0/3 {
			t.Errorf("%s: %.3f bytes kept per byte read, want at most 1/3", name, kept)
		}
		runtime.KeepAlive(m)
		runtime.KeepAlive(data)
	}
}

func FuzzText(f *testing.F) {
	f.Add([]byte(everything))
	f.Add([]byte("graph { op { name: \"a\" attr { key: \"k\" value { list { s: \"x\" i: 1 } } } } }"))
	f.Add([]byte("graph <\n  op: [{ name: 'a' }, <id: 3>]\n>"))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, errA := readText(bytes.NewReader(data), "fuzz")
		b, errB := readText(iotest.OneByteReader(bytes.NewReader(data)), "fuzz")
		if (errA == nil) != (errB == nil) || errA != nil && errA.Error() != errB.Error() {
			t.Fatalf("whole: %v\nbytes: %v", errA, errB)
		}
		if errA == nil {
			if diff := firstDiff(describe(a), describe(b)); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}
