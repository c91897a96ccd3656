package write

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/reflect/protoreflect"

	"precision/graph"
	"precision/graph/fusion"
	"precision/graph/read"
	"precision/internal/scan"
	"precision/testdata/workshop/graphtest"
	pb "precision/testdata/workshop/graphtest/gepb"
)

func writeJSON(t testing.TB, m *graph.Model) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := JSON(context.Background(), &b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// removed are the fields atc leaves out, by name.
var removed = map[string]bool{"output": true, "data_offset": true, "data": true, "workspace": true, "workspace_bytes": true,
	"memory_size": true, "weight_size": true, "size": true, "bt": true, "quantize_factor": true}

// atcTree renders a message the way atc does, by reflection over the schema: the expectation for our writer.
func atcTree(m protoreflect.Message) map[string]any {
	out := map[string]any{}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		name := string(f.Name())
		if removed[name] || !m.Has(f) || strings.HasPrefix(name, "cmps_") {
			continue
		}
		v := m.Get(f)
		switch {
		case f.IsMap():
			var entries []any
			v.Map().Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
				e := map[string]any{"key": k.String()}
				if inner := v.Message(); inner.WhichOneof(inner.Descriptor().Oneofs().Get(0)) != nil {
					e["value"] = nil
					if tree := atcTree(inner); len(tree) > 0 {
						e["value"] = tree
					}
				}
				entries = append(entries, e)
				return true
			})
			sort.Slice(entries, func(a, b int) bool {
				return entries[a].(map[string]any)["key"].(string) < entries[b].(map[string]any)["key"].(string)
			})
			out[name] = entries
		case f.IsList():
			var l []any
			for i := range v.List().Len() {
				l = append(l, atcScalar(f, v.List().Get(i), true))
			}
			out[name] = l
		case f.Kind() == protoreflect.MessageKind:
			if tree := atcTree(v.Message()); len(tree) > 0 {
				out[name] = tree
			}
		default:
			out[name] = atcScalar(f, v, false)
		}
	}
	return out
}

func atcScalar(f protoreflect.FieldDescriptor, v protoreflect.Value, repeated bool) any {
	switch f.Kind() {
	case protoreflect.MessageKind:
		return atcTree(v.Message())
	case protoreflect.EnumKind:
		if d := f.Enum().Values().ByNumber(v.Enum()); d != nil {
			return string(d.Name())
		}
		return json.Number(strconv.Itoa(int(v.Enum())))
	case protoreflect.BytesKind:
		if repeated {
			return dropInvalid(string(v.Bytes()))
		}
		// C escapes as Go's ASCII quoting has them, except for the octal forms.
		var b strings.Builder
		for _, c := range v.Bytes() {
			switch {
			case strings.ContainsRune("\"'\\", rune(c)) && c < 0x80:
				b.WriteString("\\" + string(rune(c)))
			case c == '\n':
				b.WriteString(`\n`)
			case c == '\r':
				b.WriteString(`\r`)
			case c == '\t':
				b.WriteString(`\t`)
			case c < 0x20 || c >= 0x7f:
				oct := "00" + strconv.FormatInt(int64(c), 8)
				b.WriteString("\\" + oct[len(oct)-3:])
			default:
				b.WriteByte(c)
			}
		}
		return b.String()
	case protoreflect.StringKind:
		return dropInvalid(v.String())
	case protoreflect.BoolKind:
		return v.Bool()
	case protoreflect.FloatKind:
		if repeated {
			if math.IsInf(v.Float(), 0) || math.IsNaN(v.Float()) {
				return nil
			}
			return v.Float()
		}
		if s := formatG(v.Float()); len(s) <= 9 {
			return s
		}
		return v.Float()
	}
	return json.Number(v.String())
}

func dropInvalid(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r != utf8.RuneError {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// tree decodes JSON, with attribute maps sorted by key and floats that are not integers as float64.
func tree(t *testing.T, data []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var x any
	if err := d.Decode(&x); err != nil {
		t.Fatal(err)
	}
	return normal(x)
}

func normal(x any) any {
	switch x := x.(type) {
	case map[string]any:
		for k, v := range x {
			x[k] = normal(v)
			if l, ok := v.([]any); ok && k == "attr" {
				sort.SliceStable(l, func(a, b int) bool {
					return l[a].(map[string]any)["key"].(string) < l[b].(map[string]any)["key"].(string)
				})
			}
		}
	case []any:
		for i := range x {
			x[i] = normal(x[i])
		}
	case json.Number:
		if strings.ContainsAny(string(x), ".e") {
			f, _ := x.Float64()
			if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
				return json.Number(strconv.FormatInt(int64(f), 10))
			}
			return f
		}
	}
	return x
}

func treeDiff(path string, want, got any) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		for k := range w {
			if _, ok := g[k]; !ok {
				return path + "." + k + " is missing"
			}
			if d := treeDiff(path+"."+k, w[k], g[k]); d != "" {
				return d
			}
		}
		for k := range g {
			if _, ok := w[k]; !ok {
				return path + "." + k + " is too much"
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			break
		}
		for i := range w {
			if d := treeDiff(path+"["+strconv.Itoa(i)+"]", w[i], g[i]); d != "" {
				return d
			}
		}
		return ""
	}
	if reflect.DeepEqual(want, got) {
		return ""
	}
	a, _ := json.Marshal(want)
	b, _ := json.Marshal(got)
	return path + ": want " + scan.Clip(a) + " got " + scan.Clip(b)
}

func TestWriteJSONFromText(t *testing.T) {
	check := func(name string, text []byte) {
		var p pb.ModelDef
		if err := (prototext.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(text, &p); err != nil {
			t.Fatal(err)
		}
		m, err := read.Read(context.Background(), bytes.NewReader(text), name)
		if err != nil {
			t.Fatal(err)
		}
		out := writeJSON(t, m)
		want, err := json.Marshal(atcTree(p.ProtoReflect()))
		if err != nil {
			t.Fatal(err)
		}
		if d := treeDiff("", tree(t, want), tree(t, out)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if !keysSorted(t, out) {
			t.Errorf("%s: keys are not in alphabetical order", name)
		}
		// What was written is read again, and writes the same.
		again, err := read.Read(context.Background(), bytes.NewReader(out), name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(writeJSON(t, again), out) {
			t.Errorf("%s: reading and writing the JSON changes it", name)
		}
		a, errA := fusion.New(m)
		b, errB := fusion.New(again)
		if errA == nil && errB == nil {
			if diff := graphtest.FirstDiff(rulesText(a), rulesText(b)); diff != "" {
				t.Errorf("%s: rules from text and JSON: %s", name, diff)
			}
		} else if (errA == nil) != (errB == nil) {
			t.Errorf("%s: rules from text: %v; from JSON: %v", name, errA, errB)
		}
	}
	check("everything", []byte(graphtest.Everything))
	for _, name := range []string{"resnet50/ge_proto_00000062_Build.txt", "training/ge_proto_00000000_Build.txt",
		"training/ge_proto_00000001_Build.txt"} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			data, err := os.ReadFile(graphtest.Real(t, name))
			if err != nil {
				t.Fatal(err)
			}
			check(name, data)
		})
	}
}

// keysSorted reports whether the keys of every object come in order.
func keysSorted(t *testing.T, data []byte) bool {
	d := json.NewDecoder(bytes.NewReader(data))
	type level struct {
		object, isKey bool
		last          string
	}
	stack := []level{{}}
	for d.More() || len(stack) > 1 {
		tok, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		top := &stack[len(stack)-1]
		if top.object && top.isKey {
			if k, ok := tok.(string); ok {
				if k <= top.last && top.last != "" {
					return false
				}
				top.last, top.isKey = k, false
				continue
			}
		}
		if top.object {
			top.isKey = true
		}
		switch tok {
		case json.Delim('{'):
			stack = append(stack, level{object: true, isKey: true})
		case json.Delim('['):
			stack = append(stack, level{})
		case json.Delim('}'), json.Delim(']'):
			stack = stack[:len(stack)-1]
		}
	}
	return true
}

// TestWriteJSONReal: what atc itself wrote comes out as it went in.
func TestWriteJSONReal(t *testing.T) {
	data, err := os.ReadFile(graphtest.Real(t, "json/model.json"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := read.Read(context.Background(), bytes.NewReader(data), "model.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := graphtest.FirstDiff(string(data), string(writeJSON(t, m))); diff != "" {
		t.Error(diff)
	}
	if data, err = os.ReadFile(graphtest.Real(t, "json/test.om.json")); err != nil {
		t.Fatal(err)
	}
	if m, err = read.Read(context.Background(), bytes.NewReader(data), "test.om.json"); err != nil {
		t.Fatal(err)
	}
	if d := treeDiff("", tree(t, data), tree(t, writeJSON(t, m))); d != "" {
		t.Error(d)
	}
}

func TestWriteJSONHabits(t *testing.T) {
	m, err := read.Read(context.Background(), strings.NewReader(`graph { name: "g" output: "x:0" op { name: "x" type: "T" workspace: 1
		attr { key: "weight_size" value { i: 0 } } attr { key: "lli" value { list_list_int { } } } attr { key: "bt" value { bt: "a" } }
		attr { key: "f" value { f: 0.05 } } attr { key: "long" value { f: -0.001234567 } } attr { key: "s" value { s: "a\"\345\216\237" } }
		attr { key: "list" value { list { s: "a\"\345\216\237\377" } } } attr { key: "none" }
		output_desc { size: 5 shape { } } } }`), "g")
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  "graph": [
    {
      "name": "g",
      "op": [
        {
          "attr": [
            {
              "key": "weight_size",
              "value": {
                "i": 0
              }
            },
            {
              "key": "lli",
              "value": null
            },
            {
              "key": "bt",
              "value": null
            },
            {
              "key": "f",
              "value": {
                "f": "0.05"
              }
            },
            {
              "key": "long",
              "value": {
                "f": -0.0012345670256763697
              }
            },
            {
              "key": "s",
              "value": {
                "s": "a\\\"\\345\\216\\237"
              }
            },
            {
              "key": "list",
              "value": {
                "list": {
                  "s": [
                    "a\"原\\xff"
                  ]
                }
              }
            },
            {
              "key": "none"
            }
          ],
          "name": "x",
          "output_desc": [
            {}
          ],
          "type": "T"
        }
      ]
    }
  ]
}`
	if diff := graphtest.FirstDiff(want, string(writeJSON(t, m))); diff != "" {
		t.Error(diff)
	}
	deep := strings.Repeat(`op { attr { key: "g" value { g { `, 8) + strings.Repeat("} } } } ", 8)
	if m, err = read.Read(context.Background(), strings.NewReader("graph { "+deep+" }"), "deep"); err != nil {
		t.Fatal(err)
	}
	if out := writeJSON(t, m); bytes.Count(out, []byte(`"op"`)) != 5 {
		t.Errorf("%d levels of ops are written", bytes.Count(out, []byte(`"op"`)))
	}
}

func BenchmarkWriteJSON(b *testing.B) {
	m, err := read.Open(context.Background(), graphtest.Real(b, "training/ge_proto_00000001_Build.txt"))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(writeJSON(b, m))))
	for b.Loop() {
		writeJSON(b, m)
	}
}

// rulesText renders fusion rules.
func rulesText(r *fusion.Rules) string {
	var b strings.Builder
	for _, g := range r.Groups {
		fmt.Fprintf(&b, "%d %v %q %q\n", g.Index, g.Relation, g.NPUNames(), g.GoldenNames())
		for _, o := range g.Ops {
			fmt.Fprintf(&b, "  %s %q id %d origin %q %v L1 %q multi %v filtered %v inner %v\n", o.Type, o.Name, o.ID, o.OriginNames,
				o.HasOrigin, o.L1, o.MultiOp, o.Filtered, o.Inner())
			for _, e := range o.Inputs {
				fmt.Fprintf(&b, "    < %s\n", e.Text)
			}
			for _, x := range o.Outputs {
				fmt.Fprintf(&b, "    > %q %d %q %v %s\n", x.OriginName, x.OriginIndex, x.Layout, x.Shape, x.DType)
			}
		}
	}
	fmt.Fprintf(&b, "inputs %q\n", r.InputNodes)
	for _, o := range r.Ops {
		fmt.Fprintf(&b, "%d %s\n", o.ID, o.Name)
	}
	return b.String()
}
