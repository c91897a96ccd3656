package read

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"precision/graph/write"
	"precision/testdata/workshop/graphtest"
)

func BenchmarkReadText(b *testing.B) {
	for _, name := range []string{"resnet50/ge_proto_00000062_Build.txt", "training/ge_proto_00000001_Build.txt", "big"} {
		b.Run(filepath.Base(name), func(b *testing.B) {
			var data []byte
			if name == "big" {
				data = graphtest.Big(b, 100<<20)
			} else {
				var err error
				if data, err = os.ReadFile(graphtest.Real(b, name)); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := Read(context.Background(), bytes.NewReader(data), name); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkReadForms reads one graph in the forms other than text.
func BenchmarkReadForms(b *testing.B) {
	text, err := os.ReadFile(graphtest.Real(b, "resnet50/ge_proto_00000062_Build.txt"))
	if err != nil {
		b.Fatal(err)
	}
	m, err := Read(context.Background(), bytes.NewReader(text), "text")
	if err != nil {
		b.Fatal(err)
	}
	var j bytes.Buffer
	if err := write.JSON(context.Background(), &j, m); err != nil {
		b.Fatal(err)
	}
	onnx, err := os.ReadFile(graphtest.Real(b, "training/ge_onnx_00000001_graph_11_Build.pbtxt"))
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name string
		data []byte
	}{{"json", j.Bytes()}, {"wire", wireOf(b, text)}, {"onnx", onnx}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.data)))
			for b.Loop() {
				if _, err := Read(context.Background(), bytes.NewReader(c.data), c.name); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
