package graph

import (
	"strings"
	"testing"
)

func FuzzParseFileName(f *testing.F) {
	for _, name := range []string{"ge_proto_00000062_graph_1_Build.txt", "ge_onnx_00000003_aclop_graph_0_PreRunBegin.pbtxt", "ge_proto_1_Build.txt.json", "ge_proto_-1_.txt"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		file, ok := ParseFileName(name)
		if ok != (file.Number >= 0) || file.Path != name {
			t.Fatalf("%q is %+v, %v", name, file, ok)
		}
	})
}

func FuzzParseEdge(f *testing.F) {
	for _, text := range []string{"a/b:0", "a:b:12", "a:-1", "", ":", "a:99999999999", "a:2147483648"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e := ParseEdge(text)
		if e.Text != text || e.Index < NoIndex || e.Index > NoIndex && !strings.Contains(text, ":") {
			t.Fatalf("%q is %+v", text, e)
		}
		if producer := e.Producer(); len(producer) > len(text) {
			t.Fatalf("%q comes from %q", text, producer)
		}
	})
}
