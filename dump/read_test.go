package dump

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"precision/dump/dtype"
	"precision/dump/layout"
	"precision/dump/npy"
	"precision/testdata/workshop/dumptest"
)

const anyName = "Add.x.1.2.1630000000000000"

func readAs(name string, b []byte) (*File, error) {
	return readHeader(bytes.NewReader(b), int64(len(b)), name)
}

// binaryDump puts n bytes behind a dump.
func binaryDump(d dumptest.Dump, n int) []byte { return append(d.Bytes(), make([]byte, n)...) }

// The worked example of the dump format.
func TestWorkedExample(t *testing.T) {
	raw := []byte("\x25\x00\x00\x00\x00\x00\x00\x00\x0a\x032.0\x10\x80\xe4\xd6\xf5\xa9\xff\xfb\x02\x1a\x10" +
		"\x08\x02\x10\x02\x1a\x03\x0a\x01\x02\x30\x04\x3a\x03\x0a\x01\x02\x32\x03a/b\x00\x3c\x00\xc0")
	f, err := readAs(anyName, raw)
	if err != nil {
		t.Fatal(err)
	}
	if f.OpName != "a/b" || len(f.Inputs) != 0 || len(f.Outputs) != 1 || f.Form != Binary {
		t.Fatalf("%+v", f)
	}
	o := f.Outputs[0]
	if o.Type != dtype.Float16 || o.Format != layout.ND || !slices.Equal(o.Shape, []int64{2}) ||
		!slices.Equal(o.OriginShape, []int64{2}) || o.Size != 4 || o.Offset != 45 || o.Err != nil || o.Elements() != 2 || o.Bytes() != 4 {
		t.Errorf("%+v", o)
	}
	var v [2]float32
	dtype.Widen32(o.Type, v[:], raw[o.Offset:])
	if v != [2]float32{1, -2} {
		t.Errorf("values %v", v)
	}
}

// Every field of the header, written by hand with the numbers of the format.
func TestFieldNumbers(t *testing.T) {
	num := func(b []byte, field protowire.Number, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
	}
	msg := func(b []byte, field protowire.Number, body []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), body)
	}
	unpacked := num(num(nil, 1, 3), 1, 5) // dims one by one
	var in, out, original, space, buffer, attr []byte
	original = num(num(num(msg(nil, 1, []byte("orig/op")), 2, 7), 3, 2), 4, 1)
	for i, field := range []uint64{1, 29, 0, 0, 60, 0, 4, 77, 78, 9, 2} { // OpInput 1..11
		if field != 0 {
			in = num(in, protowire.Number(i+1), field)
		}
	}
	in = msg(msg(in, 3, unpacked), 6, unpacked)
	for i, field := range []uint64{2, 3, 0, 0, 0, 30, 0, 5, 87, 0, 88, 11} { // OpOutput 1..12
		if field != 0 {
			out = num(out, protowire.Number(i+1), field)
		}
	}
	out = msg(msg(msg(out, 3, unpacked), 7, unpacked), 4, original)
	out = msg(out, 10, num(num(nil, 1, 1), 2, 2)) // dim_range
	buffer = num(num(nil, 1, 0), 3, 16)
	space = num(num(num(nil, 1, 0), 3, 8), 4, 6)
	attr = msg(msg(nil, 1, []byte("name")), 2, []byte("{not json"))
	var h []byte
	h = msg(h, 1, []byte("2.0"))
	h = num(h, 2, 99)
	h = msg(h, 3, out) // outputs ahead of inputs: only the payload has a fixed order
	h = msg(h, 4, in)
	h = msg(h, 5, buffer)
	h = msg(h, 6, []byte("scope/op\xff"))
	h = msg(h, 7, attr)
	h = msg(h, 8, space)
	h = msg(h, 9, []byte("dfx"))
	h = msg(h, 1000, []byte("a field of the future"))
	raw := append(binary.LittleEndian.AppendUint64(nil, uint64(len(h))), h...)
	start := int64(len(raw))
	raw = append(raw, make([]byte, 60+30+16+8)...)
	f, err := readAs(anyName, raw)
	if err != nil {
		t.Fatal(err)
	}
	i, o := f.Inputs[0], f.Outputs[0]
	wantIn := Tensor{Input: true, Type: dtype.Float32, Format: layout.FractalNZ, SubFormat: 4, Size: 60, Address: 77, InputType: 2, Offset: start}
	wantOut := Tensor{Type: dtype.Float16, Format: layout.NC1HWC0, SubFormat: 5, Size: 30, Address: 87,
		OriginFormat: layout.NHWC, Offset: start + 60}
	for _, c := range []struct{ got, want Tensor }{{i, wantIn}, {o, wantOut}} {
		for _, shape := range [][]int64{c.got.Shape, c.got.OriginShape} {
			if !slices.Equal(shape, []int64{3, 5}) {
				t.Errorf("%s: shape %v", c.got.label(), shape)
			}
		}
		c.got.Shape, c.got.OriginShape = nil, nil
		if got, want := c.got, c.want; got.Err != nil || !sameTensor(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	}
	if f.Buffers[0] != (Blob{Size: 16, Offset: start + 90}) || f.Spaces[0] != (Blob{Size: 8, Offset: start + 106}) {
		t.Errorf("buffers %+v spaces %+v", f.Buffers, f.Spaces)
	}
	if f.OpName != "scope/op\uFFFD" || f.Attrs[0] != (Attr{"name", "{not json"}) || f.Slices != nil {
		t.Errorf("%+v", f)
	}
	if len(f.Warnings) != 1 || !strings.Contains(f.Warnings[0].Text, "slices") {
		t.Errorf("warnings %v", f.Warnings)
	}
}

func sameTensor(a, b Tensor) bool {
	a.Shape, a.OriginShape, b.Shape, b.OriginShape = nil, nil, nil, nil
	return a.OriginFormat == b.OriginFormat && a.Type == b.Type && a.Format == b.Format && a.SubFormat == b.SubFormat && a.Size == b.Size &&
		a.Address == b.Address && a.InputType == b.InputType &&
		a.Offset == b.Offset && a.Input == b.Input && a.Index == b.Index
}

// One tensor as the header describes it, and what becomes of it.
func TestTensorRules(t *testing.T) {
	const minusOne = -1
	type tensor = dumptest.Tensor
	for name, c := range map[string]struct {
		out     tensor
		payload int
		shape   []int64
		code    int // of Err
		format  layout.Format
		groups  int32
	}{
		"plain":                {out: tensor{Type: 1, Shape: []int64{2, 3}, Claim: 24}, payload: 24, shape: []int64{2, 3}},
		"padded":               {out: tensor{Type: 3, Shape: []int64{5}, Claim: 32}, payload: 32, shape: []int64{5}},
		"scalar":               {out: tensor{Type: 1, Claim: 4}, payload: 4, shape: nil},
		"absent":               {out: tensor{}, shape: []int64{0}},
		"absent but typed":     {out: tensor{Type: 1}, shape: []int64{0}},
		"zero dim":             {out: tensor{Type: 2, Shape: []int64{0, 3}}, shape: []int64{0, 3}},
		"undefined is flat":    {out: tensor{Shape: []int64{2, 3}, Claim: 24}, payload: 24, shape: []int64{24}},
		"undefined, no bytes":  {out: tensor{Shape: []int64{2, 3}}, shape: []int64{2, 3}, code: CodeShape},
		"unknown dim":          {out: tensor{Type: 2, Shape: []int64{minusOne, 3}, Claim: 10}, payload: 10, shape: []int64{5}},
		"unknown dim, no size": {out: tensor{Type: 2, Shape: []int64{minusOne, 3}}, shape: []int64{0}},
		"12 bits":              {out: tensor{Type: 29, Shape: []int64{12}, Claim: 2}, payload: 2, shape: []int64{12}},
		"13 bits, one byte":    {out: tensor{Type: 29, Shape: []int64{13}, Claim: 1}, payload: 1, shape: []int64{13}, code: CodeShape},
		"int4":                 {out: tensor{Type: 28, Shape: []int64{3}, Claim: 2}, payload: 2, shape: []int64{3}},
		"short":                {out: tensor{Type: 1, Shape: []int64{4}, Claim: 15}, payload: 15, shape: []int64{4}, code: CodeShape},
		"text":                 {out: tensor{Type: 13, Shape: []int64{4}, Claim: 15}, payload: 15, shape: []int64{4}, code: CodeType},
		"future type":          {out: tensor{Type: 99, Shape: []int64{4}, Claim: 15}, payload: 15, shape: []int64{4}, code: CodeType},
		"negative type":        {out: tensor{Type: -5, Claim: 15}, payload: 15, shape: nil, code: CodeType},
		"cut":                  {out: tensor{Type: 1, Shape: []int64{4}, Claim: 16}, payload: 15, shape: []int64{4}, code: CodeInvalid},
		"size beyond all":      {out: tensor{Type: 1, Shape: []int64{4}, Claim: math.MaxUint64}, payload: 16, shape: []int64{4}, code: CodeInvalid},
		"undefined beyond all": {out: tensor{Claim: math.MaxUint64}, payload: 16, shape: []int64{math.MaxInt64}, code: CodeInvalid},
		"shape beyond all":     {out: tensor{Type: 1, Shape: []int64{1 << 62, 1 << 62}, Claim: 16}, payload: 16, shape: []int64{1 << 62, 1 << 62}, code: CodeShape},
		"bytes beyond all":     {out: tensor{Type: 1, Shape: []int64{1 << 62}, Claim: 16}, payload: 16, shape: []int64{1 << 62}, code: CodeShape},
		"beyond all but zero":  {out: tensor{Type: 1, Shape: []int64{1 << 62, 1 << 62, 0}}, shape: []int64{1 << 62, 1 << 62, 0}},
		"format word":          {out: tensor{Type: 1, Claim: 4, Format: 4 | 32<<8}, payload: 4, format: layout.FractalZ, groups: 32},
		"format word, groups":  {out: tensor{Type: 1, Claim: 4, Format: 4 | 32<<8, Group: 2}, payload: 4, format: layout.FractalZ, groups: 2},
		"format 255":           {out: tensor{Type: 1, Claim: 4, Format: 255}, payload: 4, format: layout.Max},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := readAs(anyName, binaryDump(dumptest.Dump{Outputs: []tensor{c.out}}, c.payload))
			if err != nil {
				t.Fatal(err)
			}
			o := &f.Outputs[0]
			if !slices.Equal(o.Shape, c.shape) || Code(o.Err) != c.code || o.Format != c.format || o.SubFormat != c.groups {
				t.Errorf("got shape %v code %d format %v groups %d: %v", o.Shape, Code(o.Err), o.Format, o.SubFormat, o.Err)
			}
			if o.Err == nil && uint64(o.Bytes()) > o.Size {
				t.Errorf("%d bytes of elements in %d", o.Bytes(), o.Size)
			}
			var e *Error
			if o.Err != nil && (!errors.As(o.Err, &e) || e.Path != anyName || e.Offset != o.Offset) {
				t.Errorf("%#v", o.Err)
			}
		})
	}
}

// A cut payload spoils the tensors it cuts and none other.
func TestTruncatedPayload(t *testing.T) {
	one := dumptest.Tensor{Type: 1, Shape: []int64{4}, Data: make([]byte, 16)}
	raw := dumptest.Dump{
		Inputs: []dumptest.Tensor{one, one}, Outputs: []dumptest.Tensor{one, {Type: 1}}, Spaces: [][]byte{make([]byte, 4)},
	}.Bytes()
	start := len(raw) - 52
	for size := start; size <= len(raw); size++ {
		f, err := readAs(anyName, raw[:size])
		if err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		have := size - start
		got := []bool{f.Inputs[0].Err == nil, f.Inputs[1].Err == nil, f.Outputs[0].Err == nil, f.Spaces[0].Err == nil}
		want := []bool{have >= 16, have >= 32, have >= 48, have >= 52}
		if !slices.Equal(got, want) {
			t.Errorf("%d bytes of payload: usable %v, want %v", have, got, want)
		}
		if f.Outputs[1].Err != nil {
			t.Errorf("%d bytes of payload: an empty tensor has %v", have, f.Outputs[1].Err)
		}
	}
	f, _ := readAs(anyName, raw[:start+20])
	if msg := f.Inputs[1].Err.Error(); !strings.Contains(msg, "input 1: found 4 bytes, expected 16") || !strings.Contains(msg, "offset "+strconv.Itoa(start+16)) {
		t.Error(msg)
	}
}

// Sizes that wrap around must not bring a tensor back into the file.
func TestSizesWrapAround(t *testing.T) {
	f, err := readAs(anyName, binaryDump(dumptest.Dump{Inputs: []dumptest.Tensor{
		{Type: 3, Shape: []int64{1}, Claim: math.MaxUint64 - 3}, {Type: 3, Shape: []int64{8}, Claim: 8},
	}}, 16))
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Inputs {
		if Code(f.Inputs[i].Err) != CodeInvalid {
			t.Errorf("input %d: %v", i, f.Inputs[i].Err)
		}
	}
}

func TestGeneralTensorsComeLast(t *testing.T) {
	in := func(kind int) dumptest.Tensor {
		return dumptest.Tensor{Type: 3, Shape: []int64{4}, Data: make([]byte, 4), Kind: kind}
	}
	d := dumptest.Dump{Inputs: []dumptest.Tensor{in(InputGeneral), in(InputInput)}, Spaces: [][]byte{make([]byte, 2)}, Message: "aic error"}
	raw := d.Bytes()
	start := int64(len(raw) - 10)
	f, err := readAs(anyName, raw)
	if err != nil {
		t.Fatal(err)
	}
	if f.Inputs[1].Offset != start || f.Spaces[0].Offset != start+4 || f.Inputs[0].Offset != start+6 || len(f.Warnings) != 1 {
		t.Errorf("inputs at %d %d, space at %d, payload at %d, %v", f.Inputs[0].Offset, f.Inputs[1].Offset, f.Spaces[0].Offset, start, f.Warnings)
	}
	d.Spaces = nil // nothing to be confused with
	if f, err = readAs(anyName, d.Bytes()); err != nil || f.Inputs[0].Offset > f.Inputs[1].Offset || len(f.Warnings) != 0 {
		t.Errorf("%v %+v", err, f)
	}
}

func TestUnreadableFiles(t *testing.T) {
	good := dumptest.Dump{Outputs: []dumptest.Tensor{{Type: dumptest.Float32, Shape: []int64{1}, Data: make([]byte, 4)}}}.Bytes()
	length := func(n uint64) []byte {
		b := slices.Clone(good)
		binary.LittleEndian.PutUint64(b, n)
		return b
	}
	big := make([]byte, maxHeader+100)
	binary.LittleEndian.PutUint64(big, maxHeader+1)
	many := binary.LittleEndian.AppendUint64(nil, 2*(maxMessages+1))
	many = append(many, bytes.Repeat([]byte{0x22, 0}, maxMessages+1)...)
	nested := append(binary.LittleEndian.AppendUint64(nil, 4), 0x22, 2, 0x1a, 5) // an input whose shape is cut
	for name, c := range map[string]struct {
		name string
		b    []byte
		code int
		want string
	}{
		"empty":            {anyName, nil, CodeInvalid, "empty"},
		"one byte":         {anyName, good[:1], CodeSize, "1 bytes"},
		"eight bytes":      {anyName, good[:8], CodeSize, "8 bytes"},
		"header cut":       {anyName, good[:12], CodeInvalid, "the file has 4"},
		"header too long":  {anyName, length(1 << 40), CodeInvalid, "claims 1099511627776 bytes"},
		"negative length":  {anyName, length(math.MaxUint64), CodeInvalid, "claims 18446744073709551615"},
		"enormous header":  {anyName, big, CodeInvalid, "at most"},
		"not protobuf":     {anyName, []byte("\x04\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff"), CodeInvalid, "offset 8"},
		"nested":           {anyName, nested, CodeInvalid, "offset 10: not a dump header: field 3"},
		"many parts":       {anyName, many, CodeInvalid, "parts"},
		"text":             {anyName, []byte("just some text, much longer than 8"), CodeInvalid, "claims"},
		"array by name":    {"x.0.1630000000000000.npy", good, CodeInvalid, "numpy"},
		"array by content": {anyName, []byte(npy.Magic + "\x01\x00\xff\xff"), CodeInvalid, "header claims"},
	} {
		f, err := readAs(c.name, c.b)
		if f != nil || Code(err) != c.code || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), c.name) {
			t.Errorf("%s: %+v, code %d, %v; want code %d and %q", name, f, Code(err), err, c.code, c.want)
		}
	}
}

func TestEmptyHeader(t *testing.T) {
	f, err := readAs(anyName, make([]byte, 9))
	if err != nil || len(f.Inputs)+len(f.Outputs) != 0 {
		t.Errorf("%+v, %v", f, err)
	}
}

// A header that does not fit the first read.
func TestLongHeader(t *testing.T) {
	output := dumptest.Tensor{Type: 3, Shape: []int64{3}, Data: make([]byte, 3)}
	raw := dumptest.Dump{OpName: strings.Repeat("n", 3*firstRead), Outputs: []dumptest.Tensor{output}}.Bytes()
	f, err := readAs(anyName, raw)
	if err != nil || len(f.OpName) != 3*firstRead || f.Outputs[0].Offset != int64(len(raw)-3) {
		t.Errorf("%v", err)
	}
	// The file shrank after its size was taken.
	_, err = readHeader(bytes.NewReader(raw[:firstRead+10]), int64(len(raw)), anyName)
	if Code(err) != CodeInvalid {
		t.Errorf("%v", err)
	}
	if _, err = readHeader(bytes.NewReader(raw[:10]), int64(len(raw)), anyName); Code(err) != CodeInvalid {
		t.Errorf("%v", err)
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, anyName)
	d := dumptest.Dump{OpName: "a/x", Inputs: []dumptest.Tensor{{Type: dumptest.Int32, Shape: []int64{2}, Data: dumptest.Int32s([]int32{5, -6})}}}
	if err := d.Write(path); err != nil {
		t.Fatal(err)
	}
	r, err := OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, r.Inputs[0].Size)
	if _, err := r.ReadAt(b, r.Inputs[0].Offset); err != nil || !bytes.Equal(b, dumptest.Int32s([]int32{5, -6})) {
		t.Errorf("% x %v", b, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if f, err := openHeader(path); err != nil || f.OpName != "a/x" || f.Name.OpName != "x" || f.Path != path {
		t.Errorf("%+v %v", f, err)
	}
	for _, bad := range []string{filepath.Join(dir, "none"), dir} {
		if _, err := openHeader(bad); Code(err) != CodePath || strings.Count(err.Error(), bad) != 1 {
			t.Errorf("%v", err)
		}
	}
	if _, err := openHeader(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v is not ErrNotExist", err)
	}
}

func TestNumpyFile(t *testing.T) {
	var b bytes.Buffer
	if err := npy.Write(&b, dtype.Float16, []int64{2, 3}, make([]byte, 12)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.b.0.1630000000000000.npy", "12345"} {
		f, err := readAs(name, b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		o := f.Outputs[0]
		if f.Form != Numpy || len(f.Inputs) != 0 || o.Type != dtype.Float16 || o.Format != layout.Reserved || o.Size != 12 ||
			o.Offset != int64(b.Len()-12) || !slices.Equal(o.Shape, []int64{2, 3}) || o.BigEndian || o.Fortran {
			t.Errorf("%+v", f)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(anyName, dumptest.Dump{OpName: "a", Inputs: []dumptest.Tensor{{Type: 2, Shape: []int64{2}, Data: make([]byte, 4)}}}.Bytes())
	f.Add("a.b.1.1.1630000000000000.4.1.1.0", dumptest.Dump{
		Outputs: []dumptest.Tensor{{Type: 1, Shape: []int64{2}, Data: make([]byte, 8)}},
		Attr:    `{"threadMode":1,"output_tensor_slice":[[[{"lower":0,"higher":1}]],[[{"lower":1,"higher":2}]]]}`,
	}.Bytes())
	if b, err := os.ReadFile("testdata/ConcatV2D.concatv2.0.0.550288648"); err == nil {
		f.Add("ConcatV2D.concatv2.0.0.550288648", b)
	} else {
		f.Fatal(err)
	}
	var arr bytes.Buffer
	if err := npy.Write(&arr, dtype.Int8, []int64{3}, make([]byte, 3)); err != nil {
		f.Fatal(err)
	}
	f.Add("a.0.1.npy", arr.Bytes())
	f.Fuzz(func(t *testing.T, name string, b []byte) {
		file, err := readAs(name, b)
		if (file == nil) == (err == nil) {
			t.Fatalf("%v and %v", file, err)
		}
		if err != nil {
			return
		}
		for _, list := range [][]Tensor{file.Inputs, file.Outputs} {
			for i := range list {
				x := &list[i]
				if x.Offset < 0 || x.Offset > int64(len(b)) || x.Index != i {
					t.Fatalf("%+v", x)
				}
				if x.Err != nil {
					continue
				}
				if x.Bytes() < 0 || uint64(x.Bytes()) > x.Size || x.Size > uint64(int64(len(b))-x.Offset) {
					t.Fatalf("%+v needs %d bytes of %d", x, x.Bytes(), len(b))
				}
				want := x.Elements() * int64(x.Type.Parts())
				if n := dtype.Widen32(x.Type, make([]float32, want), b[x.Offset:][:x.Bytes()]); int64(n) != want {
					t.Fatalf("%+v: %d numbers, want %d", x, n, want)
				}
			}
		}
	})
}
