package dump

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/dump/dtype"
	"precision/dump/layout"
)

const nanoName = "Op.name_of_op.3.4.550288648"

// nanoDump builds a compact dump from the words of its head behind the
// version, and n bytes of payload.
func nanoDump(n int, words ...uint32) []byte {
	head := []byte{}
	for _, w := range words {
		head = binary.LittleEndian.AppendUint32(head, w)
	}
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(head)+8))
	b = binary.LittleEndian.AppendUint32(b, nanoMagic)
	b = binary.LittleEndian.AppendUint32(b, 0)
	return append(append(b, head...), make([]byte, n)...)
}

// nanoInput is a record without shapes: type, format, kind of address,
// address, offset, size, length of the shapes.
func nanoInput(typ, size uint32) []uint32 {
	return []uint32{typ, 2, 0, 7, 0, 9, 0, size, 0, 0}
}

func nanoBlock(tag uint32, records ...[]uint32) []uint32 {
	body := slices.Concat(records...)
	return append([]uint32{tag, uint32(4*len(body) + 4), uint32(len(records))}, body...)
}

func TestNanoRecordedSample(t *testing.T) {
	f, err := openHeader(filepath.Join("testdata", "ConcatV2D.concatv2.0.0.550288648"))
	if err != nil {
		t.Fatal(err)
	}
	if f.Form != Nano || f.OpName != "concatv2" || len(f.Inputs) != 2 || len(f.Outputs) != 1 || len(f.Warnings) != 0 {
		t.Fatalf("%+v", f)
	}
	end := f.Size
	for i := range f.Outputs {
		end -= int64(f.Outputs[i].Size)
	}
	for i := range f.Inputs {
		end -= int64(f.Inputs[i].Size)
		if f.Inputs[i].Err != nil || f.Inputs[i].Offset < 16 {
			t.Errorf("%+v", f.Inputs[i])
		}
	}
	if f.Inputs[0].Offset != end {
		t.Errorf("the payload starts at %d, want %d", f.Inputs[0].Offset, end)
	}
	_, err = openHeader(filepath.Join("testdata", "ConcatV2D.extra.0.0.550288648"))
	if Code(err) != CodeSize {
		t.Errorf("four bytes too many: %v", err)
	}
}

// A file that a device made, too large to keep here: PRECISION_REAL names a
// folder with nano/ConcatV2D….
func TestNanoRealFile(t *testing.T) {
	dir := os.Getenv("PRECISION_REAL")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "real")
	}
	path := filepath.Join(dir, "nano", "ConcatV2D.concatv2.0.0.550288648")
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no real dump: %v", err)
	}
	f, err := openHeader(path)
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		shape []int64
		at    int64
	}{{[]int64{1, 14652}, 332}, {[]int64{1, 30}, 332 + 29304}, {[]int64{1, 14682}, 332 + 29304 + 60}}
	for i, x := range append(slices.Clone(f.Inputs), f.Outputs...) {
		if x.Type != dtype.Float16 || !slices.Equal(x.Shape, want[i].shape) || !slices.Equal(x.OriginShape, want[i].shape) ||
			x.Offset != want[i].at || x.Err != nil {
			t.Errorf("%+v", x)
		}
	}
	if f.Inputs[0].Format != layout.NHWC {
		t.Errorf("%+v", f.Inputs[0])
	}
}

func TestNanoRecords(t *testing.T) {
	output := func(words ...uint32) []uint32 {
		return append([]uint32{9, 3, 0, 5, 1, 1, 7, 0, 9, 0, 24, 0}, append([]uint32{uint32(4 * len(words))}, words...)...)
	}
	raw := nanoDump(4+24, slices.Concat(
		nanoBlock(nanoInputs, nanoInput(2, 4)),
		// A shape of (1, 3), no original shape, a name, and a tag of the future.
		nanoBlock(nanoOutputs, output(0, 16, 1, 0, 3, 0, 2, 4, 0x65646362, 77, 0)),
	)...)
	f, err := readAs(nanoName, raw)
	if err != nil {
		t.Fatal(err)
	}
	in, out := f.Inputs[0], f.Outputs[0]
	if in.Type != dtype.Int8 || in.Size != 4 || !slices.Equal(in.Shape, nil) || in.Address != 7 || in.Err != nil {
		t.Errorf("%+v", in)
	}
	if out.Type != dtype.Int64 || out.Format != layout.NC1HWC0 || !slices.Equal(out.Shape, []int64{1, 3}) || out.OriginShape != nil ||
		out.OriginFormat != layout.NHWC || out.Offset != in.Offset+4 || out.Err != nil {
		t.Errorf("%+v", out)
	}
	if f.OpName != "name_of_op" {
		t.Errorf("operator %q", f.OpName)
	}
}

func TestNanoTypes(t *testing.T) {
	for code, want := range map[uint32]int{0: 0, 30: 0, 28: 0, 27: 0, 13: CodeType, 5: CodeType, 400: CodeType, 1 << 31: CodeType} {
		f, err := readAs(nanoName, nanoDump(16, nanoBlock(nanoInputs, nanoInput(code, 16))...))
		if err != nil {
			t.Fatal(err)
		}
		if got := Code(f.Inputs[0].Err); got != want {
			t.Errorf("type %d: %v", code, f.Inputs[0].Err)
		}
	}
}

// A file that is cut within the payload keeps the tensors before the cut; one
// with bytes too many is of the wrong size.
func TestNanoSizes(t *testing.T) {
	raw := nanoDump(8, nanoBlock(nanoInputs, nanoInput(2, 4), nanoInput(2, 4))...)
	f, err := readAs(nanoName, raw[:len(raw)-1])
	if err != nil || f.Inputs[0].Err != nil || Code(f.Inputs[1].Err) != CodeInvalid {
		t.Errorf("cut: %+v, %v", f, err)
	}
	if _, err := readAs(nanoName, append(raw, 0)); Code(err) != CodeSize {
		t.Errorf("a byte too many: %v", err)
	}
}

func TestNanoDamage(t *testing.T) {
	good := nanoDump(4, nanoBlock(nanoInputs, nanoInput(2, 4))...)
	patch := func(at int, v uint32) []byte {
		b := slices.Clone(good)
		binary.LittleEndian.PutUint32(b[at:], v)
		return b
	}
	for name, c := range map[string]struct {
		b    []byte
		code int
		want string
	}{
		"head too long":      {patch(0, 1<<20), CodeInvalid, "claims 1048576"},
		"head too short":     {patch(0, 7), CodeMalformed, "at least 8"},
		"block too long":     {patch(20, 1<<20), CodeMalformed, "tag 4 claims"},
		"records not there":  {patch(24, 1<<31), CodeMalformed, "found 0 bytes"},
		"shapes too long":    {patch(64, 1<<31), CodeMalformed, "shapes"},
		"unknown block":      {patch(16, 77), CodeSize, "payload ends"},
		"nothing but a head": {nanoDump(3), CodeSize, "payload ends"},
	} {
		f, err := readAs(nanoName, c.b)
		if f != nil || Code(err) != c.code || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v %v, want code %d and %q", name, f, err, c.code, c.want)
		}
	}
	for n := 13; n < len(good); n++ {
		if _, err := readAs(nanoName, good[:n]); err == nil && n < len(good)-4 {
			t.Errorf("%d of %d bytes are read", n, len(good))
		}
	}
}
