package soak

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"precision/internal/must"
	"precision/testdata/workshop/dumptest"
)

// Random is a small network of random operators with what a device and a
// framework computed, written in any of the forms that say the same.
type Random struct {
	ops []randomOp
}

type randomOp struct {
	name, kind     string
	inputs         []int
	half           bool   // the device stores float16
	layout         string // that of the form if it is empty
	shape          []int64
	device, golden []float32
}

var kinds = []string{"Relu", "Add", "Mul", "Sub", "Sigmoid", "BiasAdd"}

// NewRandom makes the network of a seed: a chain with branches, device values with
// the noise of rounding, and one operator that is wrong by more.
func NewRandom(seed uint64) *Random {
	rng := rand.New(rand.NewPCG(seed, 2))
	n := 2 + rng.IntN(8)
	wrong := rng.IntN(2 * n) // none in half of the networks
	r := &Random{}
	for i := range n {
		o := randomOp{name: fmt.Sprintf("block%d/op%d", rng.IntN(3), i), kind: kinds[rng.IntN(len(kinds))], half: rng.IntN(2) == 0,
			shape: []int64{1 + rng.Int64N(2), 1 + rng.Int64N(20), 1 + rng.Int64N(6), 1 + rng.Int64N(6)}}
		if i == 0 {
			o.kind = "Data"
		} else {
			o.inputs = append(o.inputs, i-1)
			if rng.IntN(3) == 0 {
				o.inputs = append(o.inputs, rng.IntN(i))
			}
		}
		for range o.shape[0] * o.shape[1] * o.shape[2] * o.shape[3] {
			g := float32(rng.NormFloat64())
			d := g * (1 + float32(rng.NormFloat64())*1e-4)
			if i == wrong {
				d += float32(rng.NormFloat64())
			}
			if rng.IntN(200) == 0 && i == wrong {
				d = float32(math.NaN())
			}
			o.golden, o.device = append(o.golden, g), append(o.device, d)
		}
		r.ops = append(r.ops, o)
	}
	return r
}

// Form is one way to write a network.
type Form struct {
	// Layout is that of device dumps: NCHW, NC1HWC0 or FRACTAL_Z.
	Layout string
	// BigEndian golden arrays.
	BigEndian bool
	// Order is in which order files are made; nil is that of the network.
	Order *rand.Rand
	// Unrelated files lie beside the recordings.
	Unrelated bool
	// Slices cuts outputs by channels, each part in a file of its own, as FFTS+ leaves them.
	Slices bool
	// Swapped writes as device what is golden, and the other way round.
	Swapped bool
}

// Write writes dumps to npu, arrays to golden and the graph to the file graph, an
// offline model if its name ends with .om. An empty path writes nothing of that sort.
func (r *Random) Write(f Form, npu, golden, graph string) (err error) {
	defer must.Catch(&err)
	order := make([]int, len(r.ops))
	for i := range order {
		order[i] = i
	}
	if f.Order != nil {
		f.Order.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	for _, i := range order {
		o := &r.ops[i]
		if npu != "" {
			d := dumptest.Dump{OpName: o.name, Time: uint64(1000 + i), Outputs: []dumptest.Tensor{r.tensor(i, f)}}
			for _, in := range o.inputs {
				d.Inputs = append(d.Inputs, r.tensor(in, f))
			}
			if f.Slices && o.storedAs(f) == "" && o.shape[1] > 1 {
				must.Do(r.writeSlices(i, d, npu))
			} else {
				name := fmt.Sprintf("%s.%s.%d.1.%d", o.kind, strings.ReplaceAll(o.name, "/", "_"), i, 1000+i)
				must.Do(d.Write(filepath.Join(npu, name)))
			}
		}
		if golden != "" {
			data, descr := dumptest.Floats(o.golden), "<f4"
			if f.BigEndian {
				descr = ">f4"
				for at := 0; at < len(data); at += 4 {
					slices.Reverse(data[at : at+4])
				}
			}
			name := fmt.Sprintf("%s.0.%d.npy", strings.ReplaceAll(o.name, "/", "_"), 1000+i)
			must.Do(dumptest.WriteNpy(filepath.Join(golden, name), descr, o.shape, data))
		}
	}
	for _, dir := range []string{npu, golden} {
		if !f.Unrelated || dir == "" {
			continue
		}
		for name, text := range map[string]string{"README.md": "notes", ".hidden": "\x00", "train.log": "step 1\n", "notes.npy.txt": "x"} {
			must.Do(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		must.Do(os.MkdirAll(filepath.Join(dir, "plots"), 0o700))
	}
	switch {
	case graph == "":
		return nil
	case filepath.Ext(graph) == ".om":
		return os.WriteFile(graph, om(r.wire(f)), 0o600)
	}
	return os.WriteFile(graph, []byte(r.graph(f)), 0o600)
}

// storedAs is the layout of an operator's output on the device, empty for NCHW.
func (o *randomOp) storedAs(f Form) string {
	if o.layout != "" {
		return o.layout
	}
	return f.Layout
}

// writeSlices writes the dump of an operator with its output cut in two by
// channels. The parts have the inputs whole.
func (r *Random) writeSlices(i int, d dumptest.Dump, npu string) error {
	o := &r.ops[i]
	whole := d.Outputs[0]
	n, c, rest := o.shape[0], o.shape[1], o.shape[2]*o.shape[3]
	size := int64(len(whole.Data)) / (n * c * rest)
	from := int64(0)
	for k, to := range []int64{(c + 1) / 2, c} {
		part := whole
		part.Shape = []int64{n, to - from, o.shape[2], o.shape[3]}
		part.Origin, part.Data = part.Shape, nil
		for b := range n {
			part.Data = append(part.Data, whole.Data[(b*c+from)*rest*size:(b*c+to)*rest*size]...)
		}
		d.Outputs = []dumptest.Tensor{part}
		d.Attr = `{"threadMode": 0, "slice_instance_num": 2, "outputCutList": [[1, 2, 1, 1]]}`
		name := fmt.Sprintf("%s.%s_lxslice%d.%d.1.%d.4.%d.0.0", o.kind, strings.ReplaceAll(o.name, "/", "_"), k, i, 1000+i, 30+i)
		if err := d.Write(filepath.Join(npu, name)); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// tensor is the output of an operator as a dump stores it.
func (r *Random) tensor(i int, f Form) dumptest.Tensor {
	o := &r.ops[i]
	values := o.device
	if f.Swapped {
		values = o.golden
	}
	t := dumptest.Tensor{Type: dumptest.Float32, Format: dumptest.NCHW, Shape: o.shape, Origin: o.shape}
	switch o.storedAs(f) {
	case "NHWC":
		t.Format = dumptest.NHWC
		values, t.Shape = dumptest.Transpose(values, o.shape, 0, 2, 3, 1)
	case "FRACTAL_NZ":
		t.Format = dumptest.FractalNZ
		values, t.Shape = dumptest.ToFractalNZ(values, o.shape, 16)
	case "NC1HWC0":
		t.Format = dumptest.NC1HWC0
		values, t.Shape = dumptest.ToNC1HWC0(values, o.shape, 16)
	case "FRACTAL_Z":
		t.Format = dumptest.FractalZ
		values, t.Shape = dumptest.ToFractalZ(values, o.shape, 16)
	}
	if o.half {
		t.Type, t.Data = dumptest.Float16, dumptest.Halves(values)
	} else {
		t.Data = dumptest.Floats(values)
	}
	return t
}

// graph is the network as GE writes it.
func (r *Random) graph(f Form) string {
	var b strings.Builder
	desc := func(field string, i int) {
		t := r.tensor(i, f)
		o := &r.ops[i]
		typ, layout := "DT_FLOAT", o.storedAs(f)
		if o.half {
			typ = "DT_FLOAT16"
		}
		if layout == "" {
			layout = "NCHW"
		}
		fmt.Fprintf(&b, "    %s {\n      dtype: %s\n      shape {\n", field, typ)
		for _, d := range t.Shape {
			fmt.Fprintf(&b, "        dim: %d\n", d)
		}
		fmt.Fprintf(&b, "      }\n      layout: %q\n", layout)
		attr := func(key, value string) {
			fmt.Fprintf(&b, "      attr {\n        key: %q\n        value {\n          %s\n        }\n      }\n", key, value)
		}
		if field == "output_desc" {
			attr("_datadump_origin_format", `s: "NCHW"`)
			attr("_datadump_origin_name", fmt.Sprintf("s: %q", o.name))
			attr("_datadump_origin_output_index", "i: 0")
		}
		attr("origin_format", `s: "NCHW"`)
		list := ""
		for _, d := range o.shape {
			list += fmt.Sprintf(" i: %d", d)
		}
		attr("origin_shape", "list {"+list+" val_type: VT_LIST_INT }")
		b.WriteString("    }\n")
	}
	b.WriteString("graph {\n  name: \"random_1\"\n")
	for i := range r.ops {
		o := &r.ops[i]
		fmt.Fprintf(&b, "  op {\n    name: %q\n    type: %q\n", o.name, o.kind)
		for _, in := range o.inputs {
			fmt.Fprintf(&b, "    input: \"%s:0\"\n", r.ops[in].name)
		}
		for _, in := range o.inputs {
			desc("input_desc", in)
		}
		desc("output_desc", i)
		b.WriteString("  }\n")
	}
	b.WriteString("}\n")
	return b.String()
}

// seedOf keeps a number of a seed apart from others.
func seedOf(seed uint64) *rand.Rand {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	return rand.New(rand.NewChaCha8(key))
}
