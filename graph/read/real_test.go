package read

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"precision/graph/internal/graphtest"
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
				if _, err := Read(bytes.NewReader(data), name); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
