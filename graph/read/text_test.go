package read

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

	"precision/graph"
	"precision/internal/scan"
	"precision/testdata/workshop/graphtest"
	pb "precision/testdata/workshop/graphtest/gepb"
)

// prototextModel is the oracle: the same text read by the protobuf library.
func prototextModel(t testing.TB, data []byte) *graph.Model {
	t.Helper()
	var m pb.ModelDef
	if err := (prototext.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	return graphtest.FromPB(&m)
}

func checkText(t *testing.T, data []byte) *graph.Model {
	t.Helper()
	m, err := readText(bytes.NewReader(data), "graph.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := graphtest.FirstDiff(graphtest.Describe(prototextModel(t, data)), graphtest.Describe(m)); diff != "" {
		t.Error(diff)
	}
	return m
}

func TestTextEverything(t *testing.T) {
	m := checkText(t, []byte(graphtest.Everything))
	if len(m.Warnings) != 0 {
		t.Errorf("warnings: %v", m.Warnings)
	}
	if got := m.Graphs[0].Ops[0].Line; got != 9 {
		t.Errorf("op at line %d, want 9", got)
	}
}

// TestTextPieces reads the same text through windows that end anywhere.
func TestTextPieces(t *testing.T) {
	want := graphtest.Describe(checkText(t, []byte(graphtest.Everything)))
	for name, r := range map[string]io.Reader{
		"bytes": iotest.OneByteReader(strings.NewReader(graphtest.Everything)),
		"half":  iotest.HalfReader(strings.NewReader(graphtest.Everything)),
		"eof":   iotest.DataErrReader(strings.NewReader(graphtest.Everything)),
	} {
		m, err := readText(r, name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := graphtest.FirstDiff(want, graphtest.Describe(m)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	// Tokens and blobs larger than the window, at every alignment to it.
	long := strings.Repeat("x\\n", scan.WindowSize/2)
	for pad := range 12 {
		text := strings.Repeat(" ", scan.WindowSize-100+pad*17) + `attr{key:"k" value{s:"` + long + `"}} attr{key:"b" value{bt:"` + long + `"}}`
		m, err := readText(strings.NewReader(text), "long")
		if err != nil {
			t.Fatal(err)
		}
		if s := m.Attrs.Get("k").Text(); s != strings.Repeat("x\n", scan.WindowSize/2) {
			t.Fatalf("pad %d: long text has %d bytes", pad, len(s))
		}
		if n := m.Attrs.Get("b").Len(); n != scan.WindowSize {
			t.Fatalf("pad %d: blob of %d bytes, want %d", pad, n, scan.WindowSize)
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
		t.Errorf("graphs after unknown fields: %s", graphtest.Describe(m))
	}
	if len(m.Warnings) != 3 || m.Warnings[0].Line != 3 || !strings.Contains(m.Warnings[0].String(), "new_field") {
		t.Errorf("warnings: %v", m.Warnings)
	}
}

// TestTextBare: graphs of torchair have their operators at the top.
func TestTextBare(t *testing.T) {
	const text = "name: \"graph_1\"\ninput: \"a:0\"\nop {\n  name: \"a\"\n  type: \"Data\"\n}\nop {\n  name: \"b\"\n  type: \"Abs\"\n  input: \"a:0\"\n  output_desc {\n    attr {\n" +
		"      key: \"_fx_tensor_name\"\n      value {\n        s: \"abs_1-aten.abs.default.OUTPUT.0\"\n      }\n    }\n  }\n}\nattr {\n  key: \"k\"\n  value {\n    i: 7\n  }\n}\n"
	m, err := readText(strings.NewReader(text), "dynamo_original_graph_1.txt")
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Graphs) != 1 || len(m.Graphs[0].Ops) != 2 || m.Graphs[0].Name != "graph_1" || m.Graphs[0].Ops[1].Inputs[0].Text != "a:0" || len(m.Graphs[0].Attrs) != 1 {
		t.Fatalf("%+v", m)
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
			var e *graph.Error
			if !errors.As(err, &e) {
				t.Fatalf("error %v, want a *graph.Error", err)
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
			data, err := os.ReadFile(graphtest.Real(t, name))
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
			data = graphtest.Big(t, 16<<20)
		} else {
			var err error
			if data, err = os.ReadFile(graphtest.Real(t, name)); err != nil {
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
	f.Add([]byte(graphtest.Everything))
	f.Add([]byte("graph { op { name: \"a\" attr { key: \"k\" value { list { s: \"x\" i: 1 } } } } }"))
	f.Add([]byte("graph <\n  op: [{ name: 'a' }, <id: 3>]\n>"))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, errA := readText(bytes.NewReader(data), "fuzz")
		b, errB := readText(iotest.OneByteReader(bytes.NewReader(data)), "fuzz")
		if (errA == nil) != (errB == nil) || errA != nil && errA.Error() != errB.Error() {
			t.Fatalf("whole: %v\nbytes: %v", errA, errB)
		}
		if errA == nil {
			if diff := graphtest.FirstDiff(graphtest.Describe(a), graphtest.Describe(b)); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}
