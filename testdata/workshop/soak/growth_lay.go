package soak

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"precision/internal/must"
	"precision/testdata/workshop/dumptest"
)

// put writes a file and the folders above it.
func put(content []byte, path ...string) error {
	full := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		return err
	}
	return os.WriteFile(full, content, 0o600)
}

// putCalls writes calls as a recording of statistics.
func putCalls(level string, calls []string, dir string) error {
	return put([]byte(`{"task":"statistics","level":"`+level+`","framework":"pytorch","dump_data_dir":null,"data":{`+strings.Join(calls, ",\n")+"}}"), dir, "dump.json")
}

// layOffline is a chain of n operators as an offline model and in the style of ONNX, and the dump of one.
func layOffline(dir string, n int, _ *rand.Rand) (err error) {
	defer must.Catch(&err)
	graph := message(nil).text(1, "grown_1")
	var text strings.Builder
	text.WriteString("ir_version: 6\nproducer_name: \"GE\"\ngraph {\n")
	desc := message(nil).number(2, 1).nested(3, message(nil).number(1, 4)).text(4, "ND")
	for i := range n {
		op := message(nil).text(1, fmt.Sprint("op", i)).text(2, "Relu")
		fmt.Fprintf(&text, "  node {\n    output: \"op%d:0\" name: \"op%[1]d\" op_type: \"ge:Relu\"\n", i)
		if i > 0 {
			op = op.text(5, fmt.Sprintf("op%d:0", i-1)).nested(33, desc)
			fmt.Fprintf(&text, "    input: \"op%d:0\"\n", i-1)
		}
		fmt.Fprintf(&text, "    attribute { name: \"id\" i: %d type: INT }\n    attribute { name: \"output_desc_nums\" i: 1 type: INT }\n  }\n", i)
		graph = graph.nested(6, op.attr(10, "alpha", message(nil).number(3, 1)).nested(34, desc))
	}
	text.WriteString("  name: \"grown\"\n}\n")
	must.Do(put([]byte(text.String()), dir, "ge_onnx_00000001_graph_1_Build.pbtxt"))
	must.Do(put(om(message(nil).text(1, "grown").nested(7, graph)), dir, "model.om"))
	d := dumptest.Dump{OpName: "op1", Time: largeStart, Outputs: []dumptest.Tensor{{Type: dumptest.Float16, Format: dumptest.ND, Shape: []int64{1}, Data: dumptest.Halves([]float32{1})}}}
	must.Do(put(d.Bytes(), dir, "npu", fmt.Sprint("Relu.op1.1.2.", largeStart)))
	return goldenOf(dir, fmt.Sprintf("op1.0.%d.npy", largeStart), 1)
}

// layJob is a recording of eight calls for each of n steps, on two ranks.
func layJob(dir string, n int, rng *rand.Rand) error {
	for i := range n {
		for _, side := range []string{"npu", "golden"} {
			into := filepath.Join(dir, side, fmt.Sprint("step", i/2), fmt.Sprint("rank", i%2))
			if err := recordOf(into, len(callTypes), func(i int) (string, float64) { return callTypes[i], 0.5 + float64(rng.IntN(2))/64 }); err != nil {
				return err
			}
		}
	}
	return nil
}

// layForeach are recordings of two calls and of the gradients of one, of n tensors each, which noise sets apart.
func layForeach(dir string, n int, rng *rand.Rand) error {
	for _, side := range []string{"npu", "golden"} {
		list := func() string {
			var b strings.Builder
			for i := range n {
				norm := 4 * (1 + 1e-6*rng.NormFloat64())
				fmt.Fprintf(&b, `%s{"type":"torch.Tensor","dtype":"torch.float32","shape":[4,%d],"Max":2,"Min":0,"Mean":%d,"Norm":%g,"requires_grad":true}`, strings.Repeat(",", min(i, 1)), 4+i%3, i, norm)
			}
			return "[" + b.String() + "]"
		}
		calls := make([]string, 2)
		for i := range calls {
			calls[i] = fmt.Sprintf(`"Torch._foreach_mul.%d.forward":{"input_args":[%s,%s],"input_kwargs":{},"output":[%s]}`, i, list(), list(), list())
		}
		calls = append(calls, fmt.Sprintf(`"Torch._foreach_mul.1.backward":{"input":%s,"output":%s}`, list(), list()))
		if err := putCalls("L1", calls, filepath.Join(dir, side)); err != nil {
			return err
		}
	}
	return nil
}

// layModules are recordings of n modules that hold each other, or of as many side by side.
func layModules(nested bool) func(string, int, *rand.Rand) error {
	return func(dir string, n int, rng *rand.Rand) error {
		for _, side := range []string{"npu", "golden"} {
			calls := make([]string, n)
			var construct strings.Builder
			parent := "null"
			for i := range n {
				key := fmt.Sprintf("Module.layers.%d.Linear.forward.0", i)
				tensor := fmt.Sprintf(`{"type":"torch.Tensor","dtype":"torch.float32","shape":[4,4],"Max":2,"Min":0,"Mean":%g,"Norm":4,"requires_grad":false}`, rng.Float64())
				calls[i] = fmt.Sprintf(`"%s":{"input_args":[%s],"input_kwargs":{},"output":[%[2]s]}`, key, tensor)
				fmt.Fprintf(&construct, `%s"%s":%s`, strings.Repeat(",", min(i, 1)), key, parent)
				if nested {
					parent = fmt.Sprintf("%q", key)
				}
			}
			if err := putCalls("L0", calls, filepath.Join(dir, side)); err != nil {
				return err
			}
			if err := put([]byte("{"+construct.String()+"}"), dir, side, "construct.json"); err != nil {
				return err
			}
		}
		return nil
	}
}

// layUnlike are recordings of calls of which the two sides have none in common.
func layUnlike(dir string, n int, rng *rand.Rand) error {
	for _, side := range []string{"npu", "golden"} {
		if err := recordOf(filepath.Join(dir, side), n, func(i int) (string, float64) { return fmt.Sprint(side, rng.IntN(n)), rng.Float64() }); err != nil {
			return err
		}
	}
	return nil
}

// layATB is a round of n operations of ATB: a table, and files of one element that name others.
func layATB(dir string, n int, rng *rand.Rand) error {
	for _, side := range []string{"npu", "golden"} {
		round := filepath.Join(dir, side, "atb_dump_data", "data", "0_1", "0")
		var table strings.Builder
		table.WriteString("Device and PID,Execution Count,Op Name,Op Type,Op Id,Input/Output,Index,Dtype,Format,Shape,Max,Min,Mean,Norm,Tensor Path\n")
		for i := range n {
			fmt.Fprintf(&table, "0_1,0,L/A%d,A%[1]d,2_%[1]d,output,0,float,nd,1,1.000000,-1.000000,%f,1.000000,N/A\n", i, rng.Float64())
			object := "$Version=1.0\n$Object.Count=1\n$Object.Length=4\nformat=2\ndtype=0\ndims=1\n$Object.data=0,4\n$End=1\n\x00\x00\x00\x00"
			if i > 0 {
				object = fmt.Sprintf("$Version=1.0\n$Object.Count=0\n$Object.Length=0\nformat=2\ndtype=0\ndims=1\ndata=2_%d_outtensor0.bin\n$End=1\n", i-1)
			}
			if err := put([]byte(object), round, "2_L", fmt.Sprintf("%d_A%[1]d", i), "after", "outtensor0.bin"); err != nil {
				return err
			}
		}
		if err := put([]byte(table.String()), round, "statistic.csv"); err != nil {
			return err
		}
	}
	return nil
}

// h5 is an HDF5 file in the making, of groups of links and datasets of one float32: superblock 0 and
// object headers 1, which have no checksums.
type h5 []byte

func h5message(typ uint16, body []byte) []byte {
	body = append(body, make([]byte, -len(body)&7)...)
	b := binary.LittleEndian.AppendUint16(nil, typ)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(body)))
	return append(append(b, 0, 0, 0, 0), body...)
}

// object appends an object of messages and returns where it is.
func (h *h5) object(messages ...[]byte) (at int) {
	at = len(*h)
	size := 0
	for _, m := range messages {
		size += len(m)
	}
	le := binary.LittleEndian
	b := le.AppendUint16(append(*h, 1, 0), uint16(len(messages)))
	b = append(le.AppendUint32(le.AppendUint32(b, 1), uint32(size)), 0, 0, 0, 0)
	for _, m := range messages {
		b = append(b, m...)
	}
	*h = b
	return at
}

// group appends a group of names and where their objects are.
func (h *h5) group(names []string, at []int) int {
	none := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	messages := [][]byte{h5message(2, append([]byte{0, 0}, append(none, none...)...))}
	for i, name := range names {
		body := append([]byte{1, 0, byte(len(name))}, name...)
		messages = append(messages, h5message(6, binary.LittleEndian.AppendUint64(body, uint64(at[i]))))
	}
	return h.object(messages...)
}

// attribute is an attribute of one int64.
func h5attribute(name string, v int64) []byte {
	name += "\x00"
	le := binary.LittleEndian
	integer := []byte{0x10, 8, 0, 0, 8, 0, 0, 0, 0, 0, 64, 0}
	b := le.AppendUint16([]byte{3, 0}, uint16(len(name)))
	b = append(le.AppendUint16(le.AppendUint16(b, uint16(len(integer))), 4), 0)
	b = append(append(append(b, name...), integer...), 2, 0, 0, 0) // a scalar
	return h5message(12, le.AppendUint64(b, uint64(v)))
}

// layH5 are recordings of n calls in HDF5.
func layH5(dir string, n int, rng *rand.Rand) error {
	le := binary.LittleEndian
	for _, side := range []string{"npu", "golden"} {
		device := int64(10)
		if side == "golden" {
			device = 1
		}
		h := make(h5, 96)
		var names []string
		var at []int
		for i := range n {
			data := len(h)
			h = append(le.AppendUint32(h, 0x3f800000+uint32(rng.IntN(2))), 0, 0, 0, 0)
			place := le.AppendUint64(le.AppendUint64([]byte{3, 1}, uint64(data)), 4)
			set := h.object(h5message(1, le.AppendUint64([]byte{1, 1, 0, 0, 0, 0, 0, 0}, 1)),
				h5message(3, []byte{0x11, 0x20, 0x1f, 0, 4, 0, 0, 0, 0, 0, 32, 0, 23, 8, 0, 23, 127, 0, 0, 0}), h5message(8, place),
				h5attribute("DataType", 1), h5attribute("DeviceType", device), h5attribute("Type", 0))
			out := h.group([]string{"out"}, []int{set})
			order := h.group([]string{"output"}, []int{out})
			names, at = append(names, fmt.Sprint("Op", i)), append(at, h.group([]string{fmt.Sprint(i + 1)}, []int{order}))
		}
		root := h.group(names, at)
		copy(h, append([]byte("\x89HDF\r\n\x1a\n"), 0, 0, 0, 0, 0, 8, 8, 0, 4, 0, 16))
		for i := 24; i < 56; i++ {
			h[i] = 0xff
		}
		le.PutUint64(h[24:], 0)
		le.PutUint64(h[40:], uint64(len(h)))
		le.PutUint64(h[64:], uint64(root))
		if err := put(h, dir, side+".h5"); err != nil {
			return err
		}
	}
	return nil
}
