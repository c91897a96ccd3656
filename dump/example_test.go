package dump_test

import (
	"fmt"
	"log"

	"precision/dump"
	"precision/dump/dtype"
)

// The tensors of a recording, and the first value of each.
func ExampleOpenFile() {
	r, err := dump.OpenFile("testdata/ConcatV2D.concatv2.0.0.550288648")
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	fmt.Println(r.Form, "of", r.OpName)
	for _, list := range [][]dump.Tensor{r.Inputs, r.Outputs} {
		for _, t := range list {
			if t.Err != nil {
				fmt.Println(t.Err)
				continue
			}
			raw := make([]byte, t.Type.Bytes(1))
			if _, err := r.ReadAt(raw, t.Offset); err != nil {
				log.Fatal(err)
			}
			var first [1]float32
			dtype.Widen32(t.Type, first[:], raw)
			fmt.Println(t.Type, t.Format, t.Shape, first[0])
		}
	}
	// Output:
	// compact device dump of concatv2
	// float16 NHWC [2 3] -0.6479492
	// int32 ND [4] 2
	// float32 ND [3 2] -0.7973087
}

// Several recordings of one operator: the newest counts.
func ExampleScan() {
	f, err := dump.Scan("../testdata/cases/npu_vs_npu_names/in/npu", dump.Options{})
	if err != nil {
		log.Fatal(err)
	}
	op := f.Op("twice")
	fmt.Println(f.Kind, len(f.Ops), "operators")
	fmt.Println(len(op.Files), "files of", op.Key, "the newest", op.Newest().Name.Time)
	for _, w := range f.Warnings {
		fmt.Println(w.Text)
	}
	// Output:
	// device dump 4 operators
	// 2 files of twice the newest 1630000000000900
	// a renamed file without a line in mapping.csv, passed over
	// line 2: found "broken", expected a new name, a comma and the real name
	// passed over: expected type.name.task.[stream.]time
}
