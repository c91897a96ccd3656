package soak

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"precision/internal/must"
	"precision/testdata/workshop/dumptest"
)

// Large is a network of any number of operators in a chain with branches, for
// measuring what the program takes of memory and time. Its text is the same each
// time.
type Large struct {
	Ops int // operators
}

// largeKinds are the types of operators that follow each other in a layer.
var largeKinds = [...]string{"MatMulV2", "BiasAdd", "LayerNorm", "Gelu", "Add", "TransData", "SoftmaxV2", "Mul"}

// largeStart is the time of the first recording, in microseconds.
const largeStart = 1_630_000_000_000_000

// name is that of operator i; slash stands between its parts.
func (l Large) name(i int, slash string) string {
	return fmt.Sprintf("model%sencoder%slayer_%d%s%s", slash, slash, i/len(largeKinds), slash, largeKinds[i%len(largeKinds)])
}

// inserted tells whether operator i stands for none of the framework.
func (l Large) inserted(i int) bool { return largeKinds[i%len(largeKinds)] == "TransData" }

// Graph writes the network as GE does, some 780 bytes an operator.
func (l Large) Graph(w io.Writer) error {
	b := bufio.NewWriterSize(w, 1<<20)
	b.WriteString("name: \"large\"\ngraph {\n  name: \"large_1\"\n")
	for i := range l.Ops {
		fmt.Fprintf(b, "  op {\n    name: %q\n    type: %q\n", l.name(i, "/"), largeKinds[i%len(largeKinds)])
		inputs := 0
		for _, from := range [...]int{i - 1, i - 5} {
			if from >= 0 && inputs <= i%2 {
				fmt.Fprintf(b, "    input: \"%s:0\"\n", l.name(from, "/"))
				inputs++
			}
		}
		fmt.Fprintf(b, "    attr {\n      key: \"_datadump_original_op_names\"\n      value {\n        list {\n")
		if !l.inserted(i) {
			fmt.Fprintf(b, "          s: %q\n", l.name(i, "/"))
		}
		b.WriteString("          val_type: VT_LIST_STRING\n        }\n      }\n    }\n")
		fmt.Fprintf(b, "    id: %d\n    stream_id: %d\n", i, i%3)
		for range inputs {
			l.desc(b, "input_desc", i, "")
		}
		origin := ""
		if !l.inserted(i) {
			origin = l.name(i, "/")
		}
		l.desc(b, "output_desc", i, origin)
		b.WriteString("  }\n")
	}
	b.WriteString("}\n")
	return b.Flush()
}

func (l Large) desc(b *bufio.Writer, field string, i int, origin string) {
	fmt.Fprintf(b, "    %s {\n      dtype: DT_FLOAT16\n      shape {\n        dim: %d\n        dim: 768\n      }\n      layout: \"ND\"\n", field, 1+i%13)
	if origin != "" {
		fmt.Fprintf(b, "      attr {\n        key: \"_datadump_origin_name\"\n        value {\n          s: %q\n        }\n      }\n", origin)
	}
	b.WriteString("    }\n")
}

// Record writes what a device and a framework computed of the first n operators:
// a dump and an array each, of one element.
func (l Large) Record(npu, golden string, n int) (err error) {
	defer must.Catch(&err)
	for _, dir := range []string{npu, golden} {
		must.Do(os.MkdirAll(dir, 0o700))
	}
	values := []float32{1.5}
	for i := range min(n, l.Ops) {
		d := dumptest.Dump{OpName: l.name(i, "/"), Time: uint64(largeStart + i), Outputs: []dumptest.Tensor{{Type: dumptest.Float16,
			Format: dumptest.ND, Shape: []int64{1}, Data: dumptest.Halves(values)}}}
		name := fmt.Sprintf("%s.%s.%d.%d.%d", largeKinds[i%len(largeKinds)], l.name(i, "_"), i%1000, i%3, largeStart+i)
		must.Do(d.Write(filepath.Join(npu, name)))
		if l.inserted(i) {
			continue
		}
		name = fmt.Sprintf("%s.0.%d.npy", l.name(i, "_"), largeStart+i)
		must.Do(dumptest.WriteNpy(filepath.Join(golden, name), "<f4", []int64{1}, dumptest.Floats(values)))
	}
	return nil
}
