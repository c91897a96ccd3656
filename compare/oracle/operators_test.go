package oracle

import (
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"precision/dump"
	"precision/dump/dtype"
	"precision/graph"
	"precision/graph/read"
	"precision/testdata/workshop/dumptest"
)

// recordedCase is an operator as testdata/operators.py wrote it.
type recordedCase struct {
	Type, Note, Kernel string
	Attrs              map[string]any
	Names              []string
	Inputs, Outputs    []*recordedTensor
}

type recordedTensor struct {
	Name          string
	DType, Format int
	Layout        string
	Shape, Origin []int64
	Axes, Hex     string
}

func recordedCases(t testing.TB) []*recordedCase {
	file, err := os.Open("testdata/operators.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var cases []*recordedCase
	d := json.NewDecoder(text)
	d.UseNumber()
	if err := d.Decode(&cases); err != nil {
		t.Fatal(err)
	}
	for _, line := range casesIn(t, "testdata/operators.txt") {
		cases = append(cases, line.operator(t))
	}
	return cases
}

// operator is a line of operators.txt: inputs in their order, attributes by name, and the format of what has four axes.
func (c *callCase) operator(t testing.TB) *recordedCase {
	k := &recordedCase{Type: c.Name, Attrs: map[string]any{}}
	var format string
	for name, v := range c.Kwargs {
		x, ok := v.attribute(nil)
		if !ok {
			t.Fatalf("%s: %s is no attribute", c.Name, name)
		}
		if name == "format" {
			format = x.(string)
			continue
		}
		k.Attrs[name] = x
	}
	add := func(to *[]*recordedTensor, v caseValue) {
		d, ok := v.recorded()
		if !ok && !v.None {
			t.Fatalf("%s: an input or output is no tensor", c.Name)
		}
		if d != nil {
			if at := slices.Index([]string{"NCHW", "NHWC"}, format); at >= 0 && len(d.Shape) == 4 {
				d.Format, d.Layout, d.Axes = at, format, format
			}
		}
		*to = append(*to, d)
	}
	for _, v := range c.Args {
		add(&k.Inputs, v)
	}
	for _, v := range c.Outputs {
		add(&k.Outputs, v)
	}
	return k
}

func (c *recordedCase) String() string { return strings.TrimSpace(c.Type + " " + c.Note) }

// attrText renders an attribute of a graph file. A number with a point or an
// exponent is a fraction.
func attrText(v any) string {
	one := func(v any) (string, string) {
		switch v := v.(type) {
		case bool:
			return fmt.Sprintf("b: %v", v), "BOOL"
		case string:
			return fmt.Sprintf("s: %q", v), "STRING"
		case json.Number:
			if strings.ContainsAny(string(v), ".eE") {
				return "f: " + string(v), "FLOAT"
			}
			return "i: " + string(v), "INT"
		}
		return fmt.Sprintf("i: %v", v), "INT"
	}
	list, ok := v.([]any)
	if !ok {
		text, _ := one(v)
		return text
	}
	items, kind := "", "INT"
	for _, item := range list {
		text, k := one(item)
		items, kind = items+" "+text, k
	}
	return "list {" + items + " val_type: VT_LIST_" + kind + " }"
}

// op is the operator as a graph has it.
func (c *recordedCase) op(t testing.TB) *graph.Op {
	var b strings.Builder
	fmt.Fprintf(&b, "graph { name: \"g\" op { name: \"op\" type: %q\n", c.Type)
	for i, in := range c.Inputs {
		if in == nil {
			b.WriteString(" input: \"\"\n")
		} else {
			fmt.Fprintf(&b, " input: \"in%d:0\"\n", i)
		}
	}
	keys := []string{}
	for k := range c.Attrs {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		fmt.Fprintf(&b, " attr { key: %q value { %s } }\n", k, attrText(c.Attrs[k]))
	}
	if len(c.Names) > 0 { // keys are sorted, values are their places
		names, places := slices.Clone(c.Names), make([]any, len(c.Names))
		sort.Strings(names)
		keys := make([]any, len(names))
		for i, n := range names {
			keys[i], places[i] = n, slices.Index(c.Names, n)
		}
		fmt.Fprintf(&b, " attr { key: \"_input_name_key\" value { %s } }\n attr { key: \"_input_name_value\" value { %s } }\n", attrText(keys), attrText(places))
	}
	if c.Kernel != "" {
		fmt.Fprintf(&b, " attr { key: \"op_kernelname\" value { s: %q } }\n", c.Kernel)
	}
	desc := func(field string, d *recordedTensor) {
		if d == nil {
			fmt.Fprintf(&b, " %s { layout: \"FORMAT_RESERVED\" }\n", field)
			return
		}
		fmt.Fprintf(&b, " %s { layout: %q attr { key: \"origin_format\" value { s: %q } } }\n", field, d.Layout, d.Axes)
	}
	for _, in := range c.Inputs {
		desc("input_desc", in)
	}
	for _, out := range c.Outputs {
		desc("output_desc", out)
	}
	b.WriteString(" } }\n")
	m, err := read.Read(t.Context(), strings.NewReader(b.String()), "graph.txt")
	if err != nil {
		t.Fatalf("%v: %v\n%s", c, err, b.String())
	}
	return m.Graphs[0].Ops[0]
}

func (d *recordedTensor) tensor(t testing.TB) dumptest.Tensor {
	data, err := hex.DecodeString(d.Hex)
	if err != nil {
		t.Fatal(err)
	}
	return dumptest.Tensor{Type: d.DType, Format: d.Format, Shape: d.Shape, Origin: d.Origin, Data: data}
}

// dump is what a device recorded of the operator; change may spoil it.
func (c *recordedCase) dump(t testing.TB, change func(d *dumptest.Dump)) *dump.Reader {
	d := dumptest.Dump{OpName: "op", Time: 1}
	for _, in := range c.Inputs {
		if in != nil {
			d.Inputs = append(d.Inputs, in.tensor(t))
		}
	}
	for _, out := range c.Outputs {
		d.Outputs = append(d.Outputs, out.tensor(t))
	}
	if change != nil {
		change(&d)
	}
	path := filepath.Join(t.TempDir(), c.Type+".op.1.1.1614717261785536")
	if err := d.Write(path); err != nil {
		t.Fatal(err)
	}
	r, err := dump.OpenFile(path)
	if err != nil {
		t.Fatalf("%v: %v", c, err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// TestOperators finds nothing wrong with outputs that numpy computed and rounded
// once, whether everything is recomputed or not.
func TestOperators(t *testing.T) {
	for i, c := range recordedCases(t) {
		t.Run(fmt.Sprintf("%03d %v", i, c), func(t *testing.T) {
			op := c.op(t)
			for _, full := range []bool{false, true} {
				for _, f := range CheckOp(op, c.dump(t, nil), Settings{Full: full}) {
					if f.Verdict != OK {
						t.Errorf("full %v: output %d is %v, ratio %g at %v: expected %g ± %g, found %g; %v", full, f.Index, f.Verdict, f.Ratio, f.Worst,
							f.Expected, f.Bound, f.Found, f.Reasons)
					}
					if f.Looked != f.Elements {
						t.Errorf("full %v: output %d: looked at %d of %d", full, f.Index, f.Looked, f.Elements)
					}
				}
			}
		})
	}
}

// channelTypes have one number a channel and no attribute that counts axes.
var channelTypes = strings.Fields("BiasAdd BiasAddGrad Scale BNInfer BNInference BatchNorm BNTrainingReduce BNTrainingUpdate BNTrainingUpdateGrad BNTrainingReduceGrad AscendDequant")

// TestChannelsLast: where the channels are is what the layout says. The cases whose images are NCHW are as right in NHWC.
func TestChannelsLast(t *testing.T) {
	turned := 0
	for i, c := range recordedCases(t) {
		if !slices.Contains(channelTypes, c.Type) {
			continue
		}
		for _, list := range [][]*recordedTensor{c.Inputs, c.Outputs} {
			for _, d := range list {
				if d == nil || d.Axes != "NCHW" || d.Layout != "NCHW" || len(d.Shape) != 4 {
					continue
				}
				turned++
				d.channelsLast(t)
			}
		}
		if _, ok := c.Attrs["data_format"]; ok {
			c.Attrs["data_format"] = "NHWC"
		}
		for _, f := range CheckOp(c.op(t), c.dump(t, nil), Settings{Full: true}) {
			if f.Verdict != OK {
				t.Errorf("%d %v: output %d is %v, ratio %g: %v", i, c, f.Index, f.Verdict, f.Ratio, f.Reasons)
			}
		}
	}
	if turned == 0 {
		t.Error("no case has images")
	}
}

// channelsLast turns an image from NCHW to NHWC.
func (d *recordedTensor) channelsLast(t *testing.T) {
	raw, err := hex.DecodeString(d.Hex)
	if err != nil {
		t.Fatal(err)
	}
	n, c, plane := d.Shape[0], d.Shape[1], d.Shape[2]*d.Shape[3]
	size := int64(dtype.Type(d.DType).Bits() / 8)
	out := make([]byte, 0, len(raw))
	for i := range n * plane * c {
		from := (i/(plane*c)*c+i%c)*plane + i/c%plane
		out = append(out, raw[from*size:][:size]...)
	}
	d.Shape = []int64{n, d.Shape[2], d.Shape[3], c}
	d.Origin, d.Axes, d.Layout, d.Format, d.Hex = d.Shape, "NHWC", "NHWC", 1, hex.EncodeToString(out)
}

// TestGroupedFilter: with two groups that hold the same, each has the gradient of the filter of one.
func TestGroupedFilter(t *testing.T) {
	twice := func(d *recordedTensor, axis int) {
		run := len(d.Hex)
		for _, n := range d.Shape[:axis] {
			run /= int(n)
		}
		var b strings.Builder
		for at := 0; at < len(d.Hex); at += run {
			b.WriteString(strings.Repeat(d.Hex[at:at+run], 2))
		}
		d.Shape = slices.Clone(d.Shape)
		d.Shape[axis] *= 2
		d.Origin, d.Hex = d.Shape, b.String()
	}
	for _, c := range recordedCases(t) {
		if c.Type != "Conv2DBackpropFilterD" {
			continue
		}
		twice(c.Inputs[0], 1)
		twice(c.Inputs[1], 1)
		twice(c.Outputs[0], 0)
		c.Attrs["groups"] = json.Number("2")
		if f := CheckOp(c.op(t), c.dump(t, nil), Settings{Full: true})[0]; f.Verdict != OK || f.Looked != f.Elements {
			t.Errorf("%v of two groups: %v, ratio %g: %v", c, f.Verdict, f.Ratio, f.Reasons)
		}
		if f := CheckOp(c.op(t), c.dump(t, func(d *dumptest.Dump) { spoil(t, c, d, 0) }), Settings{})[0]; f.Verdict != Wrong {
			t.Errorf("%v of two groups with a wrong element: %v", c, f.Verdict)
		}
		return
	}
	t.Error("no case")
}

// TestOneElement finds a single wrong element in each output of each operator,
// wherever it is: the largest one with a bit of its exponent flipped, or, of
// integers, the first one changed.
func TestOneElement(t *testing.T) {
	for i, c := range recordedCases(t) {
		for k, out := range c.Outputs {
			t.Run(fmt.Sprintf("%03d %v %d", i, c, k), func(t *testing.T) {
				op := c.op(t)
				at := 0
				r := c.dump(t, func(d *dumptest.Dump) { at = spoil(t, c, d, k) })
				f := CheckOp(op, r, Settings{})[k]
				if f.Verdict != Wrong || f.Ratio <= 1 || f.Beyond != 1 {
					t.Errorf("%v, ratio %g, %d beyond: element %d of %v was changed; %v", f.Verdict, f.Ratio, f.Beyond, at, out.Shape, f.Reasons)
				}
			})
		}
	}
}

// spoil changes one element of output k, which is not padding, and returns where.
func spoil(t *testing.T, c *recordedCase, d *dumptest.Dump, k int) int {
	out := &d.Outputs[k]
	typ := dtype.Type(out.Type)
	size := typ.Bits() / 8
	n := len(out.Data) / size
	values := make([]float64, n)
	dtype.Widen64(typ, values, out.Data)
	// Which stored elements are data is told by reading them.
	path := filepath.Join(t.TempDir(), "Op.op.1.1.1614717261785536")
	if err := d.Write(path); err != nil {
		t.Fatal(err)
	}
	r, err := dump.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	op := c.op(t)
	o, err := openOperand(r, &r.Outputs[k], descAt(op.OutputDesc, k))
	if err != nil {
		t.Fatal(err)
	}
	best := int64(0)
	for i := range o.view.Len() {
		off, err := o.view.Offset(i)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 || math.Abs(values[off]) > math.Abs(values[best]) && !math.IsInf(values[off], 0) {
			best = off
		}
	}
	last := int(best)*size + size - 1 // sign and upper exponent bits
	switch typ {
	case dtype.Float16, dtype.Float32, dtype.Float64, dtype.BFloat16:
		out.Data[last] ^= 0x10
	case dtype.Bool:
		out.Data[last] ^= 1
	default:
		out.Data[int(best)*size] ^= 4
	}
	return int(best)
}
