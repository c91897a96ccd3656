package read

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"precision/graph"
	"precision/graph/describe"
	"precision/graph/fusion"
	tongue "precision/internal/msg"
	"precision/testdata/workshop/graphtest"
)

// TestFaultsSpeak damages graphs of every form at every byte: what is said of them in English is
// the error's own text, and in Chinese there is no English but names and what stands in the file.
func TestFaultsSpeak(t *testing.T) {
	sentence := regexp.MustCompile(`\b[a-z]+,? [a-z]+,? [a-z]+\b`)
	quoted := regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'[^']*'`)
	said := map[string]bool{}
	check := func(form string, e *graph.Error) {
		if english := describe.Error(tongue.English, e); english != e.Error() {
			t.Errorf("%s: %q in English, the error says %q", form, english, e.Error())
		}
		if said[e.Msg.Text] {
			return
		}
		said[e.Msg.Text], said[e.Msg.Format] = true, true
		if e.Msg.Format == "op %q: attribute %s: %s" {
			return // what is wrong with a value is kept with it as text
		}
		chinese := describe.Error(tongue.Chinese, e)
		if found := sentence.FindString(quoted.ReplaceAllString(chinese, "")); found != "" || chinese == e.Error() {
			t.Errorf("%s: English in %q", form, chinese)
		}
	}
	try := func(form string, data []byte) {
		m, err := Read(context.Background(), bytes.NewReader(data), "g")
		var e *graph.Error
		if err != nil {
			if !errors.As(err, &e) {
				t.Fatalf("%s: %T: %v", form, err, err)
			}
			check(form, e)
			return
		}
		list := m.Warnings
		if r, err := fusion.New(m); errors.As(err, &e) {
			check(form, e)
		} else if err == nil {
			list = append(list, r.Warnings...)
		}
		for _, w := range list {
			check(form, &graph.Error{Path: w.Path, Line: w.Line, Offset: w.Offset, Msg: w.Msg})
		}
	}
	const bad = "{}[]\":,x0.\x00\xff"
	wire := wireOf(t, []byte(graphtest.CallGraph))
	for form, data := range map[string][]byte{
		"text": []byte(graphtest.Everything), "called": []byte(graphtest.CallGraph), "json": []byte(jsonEverything), "onnx": []byte(onnxText), "wire": wire,
		"om": omFile(true, 0, []part{{0, wire}}), "flow": omFile(true, omTypeFlow, []part{{omPartFlowSub, wire}}), "numpy": []byte("\x93NUMPY" + strings.Repeat(" ", 64)),
	} {
		for i := range data {
			if i%4 == 0 {
				try(form, data[:i])
			}
			damaged := bytes.Clone(data)
			damaged[i] = bad[i%len(bad)]
			try(form, damaged)
		}
	}
	for _, text := range []string{
		`op { name: "a" }`, `graph { op { type: "T" } }`, `graph { op { name: "a" type: "T" bogus: 1 attr { key: "_datadump_original_op_names" value { i: 1 } } } }`,
		`graph { op { name: "a" type: "T" attr { key: "_datadump_original_op_names" value { list { i: 1 } } } } }`,
		`{"graph": [{"op": {}}]}`, `{"graph": [{"op": [{"name": "a", "type": 5}]}]}`, `{"graph": [{"op": [{"name": "a", "type": "T", "src_name": [{}], "id": 1.5}]}]}`,
		`{"graph": []}`, `{}`, `{"graph": [{}]}`,
	} {
		try(text, []byte(text))
	}
	if len(said) < 100 {
		t.Errorf("only %d messages", len(said))
	}
}
