package read

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"precision/graph"
	"precision/testdata/workshop/graphtest"
)

// jsonEverything says in JSON what the first operator of the text test says, in odd orders and shapes.
const jsonEverything = `{"version": 1, "graph": [{"op": [{"type": "Cast", "name": "trans\u005fCast_0", "id": 9007199254740993,
 "input": ["img:0", "", "early:-1"], "unknown": [{"a": [1, {"b": null}]}, true], "stream_id": 2,
 "attr": [
  {"value": {"s": "a\\\"b\\345\\216\\237\\n"}, "key": "s"},
  {"key": "raw", "value": {"s": "not \\qn escape"}},
  {"key": "i", "value": {"i": -3}},
  {"key": "f", "value": {"f": "0.05"}}, {"key": "f2", "value": {"f": 0.123456789}}, {"key": "inf", "value": {"f": "inf"}},
  {"key": "b", "value": {"b": false}},
  {"key": "null", "value": null}, {"key": "none"}, {"key": "empty", "value": {}},
  {"key": "strs", "value": {"list": {"s": ["a\\n", "b"], "val_type": "VT_LIST_STRING"}}},
  {"key": "ints", "value": {"list": {"val_type": "VT_LIST_INT", "i": [1, 2]}}},
  {"key": "floats", "value": {"list": {"f": [1, 2.5, "nan"]}}},
  {"key": "bools", "value": {"list": {"b": [true, false]}}},
  {"key": "nothing", "value": {"list": {"val_type": "VT_LIST_STRING"}}},
  {"key": "lli", "value": {"list_list_int": {"list_list_i": [{"list_i": [1, 2]}, {}]}}},
  {"key": "td", "value": {"td": {"dtype": "DT_INT8", "shape": {"dim": [4]}}}},
  {"key": "t", "value": {"t": {"desc": {"layout": "ND"}}}},
  {"key": "func", "value": {"func": {"name": "GraphOptions", "attr": [{"key": "a", "value": {"s": "1"}}]}}},
  {"key": "g", "value": {"g": {"name": "inner", "op": [{"name": "x", "dst_index": [5]}]}}},
  {"key": "wrong", "value": {"i": "7"}}
 ],
 "input_desc": [{"shape": {"dim": [2, 8]}, "layout": "NHWC", "device_type": "NPU"}, {"layout": "FORMAT_RESERVED"}],
 "output_desc": [{"dtype": "DT_FLOAT16", "attr": [{"key": "shape_range", "value": null}]}, {}],
 "dst_index": [-1, 0], "dst_name": ["late", "head/relu"], "has_out_attr": true
}], "name": "g"}]}`

func TestJSONEverything(t *testing.T) {
	want := `model "" 1 ""
graph "g" in [] out []
 op "trans_Cast_0" "Cast" id 9007199254740993 stream 2 sub [] has_out true
  input "img:0"
  input ""
  input "early:-1"
  names [] src [] [] dst ["late" "head/relu"] [-1 0]
  offsets [] [] workspace [] [] const []
  attr "b":
   b "false"
  attr "bools":
   list 0 [] [] [] [true false]
  attr "empty":
   none
  attr "f":
   f "0.05"
  attr "f2":
   f "0.12345679"
  attr "floats":
   list 0 [] [] [1 2.5 NaN] []
  attr "func":
   func "GraphOptions"
    attr "a":
     s "1"
  attr "g":
   graph "inner" in [] out []
    op "x" "" id 0 stream 0 sub [] has_out false
     names [] src [] [] dst [] [5]
     offsets [] [] workspace [] [] const []
  attr "i":
   i "-3"
  attr "inf":
   f "+Inf"
  attr "ints":
   list 2 [] [1 2] [] []
  attr "lli":
   list_list_int [[1 2] []]
  attr "none":
   none
  attr "nothing":
   list 1 [] [] [] []
  attr "null":
   none
  attr "raw":
   s "not \\qn escape"
  attr "s":
   s "a\"b原\n"
  attr "strs":
   list 1 ["a\\n" "b"] [] [] []
  attr "t":
   tensor 0
   desc "" "" [] "ND" "" size 0 0 0 0 0 flags false false false false
  attr "td":
   td "" "DT_INT8" [4] "" "" size 0 0 0 0 0 flags false false false false
  attr "wrong":
   invalid invalid: "i" is a string, expected a number
  input_desc "" "" [2 8] "NHWC" "NPU" size 0 0 0 0 0 flags false false false false
  input_desc "" "" [] "FORMAT_RESERVED" "" size 0 0 0 0 0 flags false false false false
  output_desc "" "DT_FLOAT16" [] "" "" size 0 0 0 0 0 flags false false false false
   attr "shape_range":
    none
  output_desc "" "" [] "" "" size 0 0 0 0 0 flags false false false false
`
	for name, text := range map[string]string{"indented": jsonEverything, "one line": strings.ReplaceAll(jsonEverything, "\n", "")} {
		m, err := readJSON(iotest.OneByteReader(strings.NewReader(text)), name, false)
		if err != nil {
			t.Fatal(err)
		}
		if diff := graphtest.FirstDiff(want, graphtest.Describe(m)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestJSONErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"cut off", "{\"graph\": [\n{\"op\": [", "2: file ends inside the value opened at line 2"},
		{"cut off in a string", `{"gra`, "1: file ends inside a string"},
		{"graph is an object", `{"graph": {}}`, `1: "graph" is an object, expected an array`},
		{"op is an object", `{"graph": [{"op": {}}]}`, `1: "op" is an object, expected an array`},
		{"array", `[1, 2]`, "1: model is an array, expected an object"},
		{"name", "{\"graph\": [{\"op\": [\n{\"name\": 5}]}]}", "2: name of an op is a number, expected a string"},
		{"id", `{"graph": [{"op": [{"id": "7"}]}]}`, "1: id of an op is a string, expected an integer"},
		{"id with a point", `{"graph": [{"op": [{"id": 1.5}]}]}`, "1: id of an op is 1.5, expected an integer"},
		{"attr", `{"graph": [{"op": [{"attr": {}}]}]}`, `1: "attr" of an op is an object, expected an array`},
		{"attr without key", "{\"graph\": [{\"op\": [{\"attr\": [\n{\"value\": null}]}]}]}", `2: attribute without "key"`},
		{"input", `{"graph": [{"op": [{"input": [null]}]}]}`, `1: element of "input" is null, expected a string`},
		{"output_desc", `{"graph": [{"op": [{"output_desc": [5]}]}]}`, `1: element of "output_desc" is a number, expected an object`},
		{"word", `{"graph": nothing}`, `1: "graph" is null, expected an array`},
		{"unknown word", `{"x": yes}`, `1: found "yes", expected a value`},
		{"number", `{"x": 1.2.3}`, `1: found "1.2.3", expected a number`},
		{"comma", `{"x": 1 "y": 2}`, `1: found a string, expected "," or '}' (value opened at line 1)`},
		{"surplus", "{}\n{}", "2: found an object after the end of the model"},
		{"escape", `{"a\q": 1}`, `1: string with unknown escape \q`},
		{"deep", `{"x":` + strings.Repeat("[", 1000), "1: values nested deeper than 300"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := readJSON(strings.NewReader(c.text), "f.json", false)
			var e *graph.Error
			if !errors.As(err, &e) {
				t.Fatalf("error %v, want a *graph.Error", err)
			}
			if want := "f.json:" + c.want; e.Error() != want {
				t.Errorf("got  %s\nwant %s", e, want)
			}
		})
	}
}

// TestJSONLoose checks that members no rule depends on may have any type.
func TestJSONLoose(t *testing.T) {
	m, err := readJSON(strings.NewReader(`{"name": 5, "attr": {}, "graph": [{"name": 5, "attr": 7, "op": [{"name": "a", "type": "T",
		"dst_name": "x", "stream_id": "y", "dst_index": [1, "z"], "input_desc": [{"shape": [], "layout": null}]}]}]}`), "f", false)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Warnings) != 9 || m.Graphs[0].Ops[0].Name != "a" {
		t.Errorf("%d warnings: %v", len(m.Warnings), m.Warnings)
	}
}

func TestRealJSON(t *testing.T) {
	for _, c := range []struct {
		name              string
		ops, nulls, attrs int
	}{
		{"json/model.json", 19, 62, 25},
		{"json/test.om.json", 132, 0, 31},
	} {
		t.Run(filepath.Base(c.name), func(t *testing.T) {
			data, err := os.ReadFile(graphtest.Real(t, c.name))
			if err != nil {
				t.Fatal(err)
			}
			m, err := readJSON(bytes.NewReader(data), c.name, false)
			if err != nil {
				t.Fatal(err)
			}
			nulls := strings.Count(graphtest.Describe(m), "none\n")
			if len(m.Graphs) != 1 || len(m.Graphs[0].Ops) != c.ops || nulls != bytes.Count(data, []byte(`"value": null`)) {
				t.Errorf("%d graphs, %d ops, %d empty values", len(m.Graphs), len(m.Graphs[0].Ops), nulls)
			}
			for _, o := range m.Graphs[0].Ops {
				n := 0
				for _, e := range o.Inputs {
					if !e.IsControl() {
						n++
					}
				}
				if o.Name == "" || o.Type == "" || n != len(o.InputDesc) {
					t.Errorf("op %q of type %q: %d data inputs, %d descriptors", o.Name, o.Type, n, len(o.InputDesc))
				}
			}
			if len(m.Warnings) != 0 {
				t.Errorf("warnings: %v", m.Warnings)
			}
		})
	}
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(jsonEverything))
	f.Add([]byte(`{"graph":[{"op":[{"name":"\ud83d\ude00","attr":[{"key":"k","value":{"list":{"i":[1,2]}}}]}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, errA := readJSON(bytes.NewReader(data), "fuzz", false)
		b, errB := readJSON(iotest.OneByteReader(bytes.NewReader(data)), "fuzz", false)
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
