package convert

import (
	"archive/zip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"precision/dump"
	"precision/dump/dtype"
	"precision/dump/layout"
	"precision/dump/npy"
)

const plainName = "Op.x.1.1.1630000000000000"

// What elements of each type become.
func TestTypes(t *testing.T) {
	f32 := func(v ...float32) (b []byte) {
		for _, x := range v {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
		return b
	}
	f64 := func(v ...float64) (b []byte) {
		for _, x := range v {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		}
		return b
	}
	nan32, nan64 := math.Float32frombits(0x7fc00000), math.Float64frombits(0x7ff8000000000000)
	inf := math.Inf(1)
	for _, c := range []struct {
		name   string
		in     tensor
		compat bool
		typ    dtype.Type
		shape  []int64
		want   []byte
		code   int
	}{
		{"bf16 keeps the bits of NaN", tensor{t: dtype.BFloat16, shape: []int64{2}, data: []byte{0x80, 0x3f, 0xa1, 0xff}}, true,
			dtype.Float32, []int64{2}, []byte{0, 0, 0x80, 0x3f, 0, 0, 0xa1, 0xff}, 0},
		{"hifloat8", tensor{t: dtype.HiFloat8, shape: []int64{8}, data: []byte{0x08, 0x10, 0x18, 0x8f, 0xef, 0x80, 0x01, 0x6e}}, true,
			dtype.Float64, []int64{8}, f64(1, 2, 0.5, -1.875, -inf, nan64, math.Ldexp(1, -22), 32768), 0},
		{"e5m2", tensor{t: dtype.Float8E5M2, shape: []int64{3}, data: []byte{0xfc, 0x7d, 0x3c}}, true, dtype.Float64, []int64{3}, f64(-inf, nan64, 1), 0},
		{"e4m3", tensor{t: dtype.Float8E4M3FN, shape: []int64{3}, data: []byte{0xff, 0x7e, 0x80}}, true, dtype.Float64, []int64{3}, f64(nan64, 448, math.Copysign(0, -1)), 0},
		{"e4m3, ours", tensor{t: dtype.Float8E4M3FN, shape: []int64{2}, data: []byte{0xff, 0x7e}}, false, dtype.Float32, []int64{2}, f32(nan32, 448), 0},
		{"e8m0, ours", tensor{t: dtype.Float8E8M0, shape: []int64{2}, data: []byte{127, 0}}, false, dtype.Float32, []int64{2}, f32(1, math.Float32frombits(1<<22)), 0},
		{"e8m0", tensor{t: dtype.Float8E8M0, shape: []int64{2}, data: []byte{127, 0}}, true, 0, nil, nil, dump.CodeType},
		{"bits that fill no byte", tensor{t: dtype.Uint1, shape: []int64{12}, data: []byte{0xa0, 0x9f}}, true,
			dtype.Uint8, []int64{12}, []byte{1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 1}, 0},
		{"int4, ours", tensor{t: dtype.Int4, shape: []int64{3}, data: []byte{0x8f, 0x07}}, false, dtype.Int8, []int64{3}, []byte{0xff, 0xf8, 7}, 0},
		{"float4, ours", tensor{t: dtype.Float4E2M1, shape: []int64{2}, data: []byte{0x97}}, false, dtype.Float32, []int64{2}, f32(6, -0.5), 0},
		{"bool as it is", tensor{t: dtype.Bool, shape: []int64{3}, data: []byte{0, 1, 7}}, true, dtype.Bool, []int64{3}, []byte{0, 1, 7}, 0},
		{"complex32, ours", tensor{t: dtype.Complex32, shape: []int64{1}, data: []byte{0, 0x3c, 0, 0xc0}}, false, dtype.Complex64, []int64{1}, f32(1, -2), 0},
		{"quantised, ours", tensor{t: dtype.QInt16, shape: []int64{1}, data: []byte{1, 2}}, false, dtype.Int16, []int64{1}, []byte{1, 2}, 0},
		{"handle", tensor{t: dtype.Resource, shape: []int64{1}, data: []byte{1, 2, 3, 4, 5, 6, 7, 8}}, true, dtype.Int64, []int64{1}, []byte{1, 2, 3, 4, 5, 6, 7, 8}, 0},
		{"scalar", tensor{t: dtype.Int8, data: []byte{5}}, true, dtype.Int8, []int64{1}, []byte{5}, 0},
		{"scalar, ours", tensor{t: dtype.Int8, data: []byte{5}}, false, dtype.Int8, nil, []byte{5}, 0},
		{"empty", tensor{t: dtype.Int8, shape: []int64{0, 3}}, true, dtype.Float64, []int64{0, 3}, nil, 0},
		{"empty, ours", tensor{t: dtype.Int8, shape: []int64{0, 3}}, false, dtype.Int8, []int64{0, 3}, nil, 0},
		{"bytes without a type, none", tensor{shape: []int64{2, 3}}, true, dtype.Float64, []int64{0}, nil, 0},
		{"bytes without a type, none, ours", tensor{shape: []int64{2, 3}}, false, 0, nil, nil, dump.CodeShape},
		{"text", tensor{t: dtype.String, shape: []int64{1}, data: []byte("abc")}, true, 0, nil, nil, dump.CodeType},
		{"text, ours", tensor{t: dtype.String, shape: []int64{1}, data: []byte("abc")}, false, dtype.Uint8, []int64{3}, []byte("abc"), 0},
		{"short", tensor{t: dtype.Float32, shape: []int64{3}, data: make([]byte, 8)}, true, 0, nil, nil, 0},
		{"short, ours", tensor{t: dtype.Float32, shape: []int64{3}, data: make([]byte, 8)}, false, 0, nil, nil, dump.CodeShape},
		{"part of an element", tensor{t: dtype.Float32, shape: []int64{3}, data: make([]byte, 7)}, true, 0, nil, nil, CodeUnknown},
		{"padding", tensor{t: dtype.Int8, shape: []int64{2}, data: []byte{1, 2, 3, 4}}, true, dtype.Int8, []int64{2}, []byte{1, 2}, 0},
	} {
		dir := t.TempDir()
		c.in.f = layout.ND
		r := run(t, Options{Out: dir, Compat: c.compat}, one(c.in).put(t, t.TempDir(), plainName))
		f := r.Files[0]
		if f.Code != c.code {
			t.Errorf("%s: code %d, want %d: %v", c.name, f.Code, c.code, f.Failures)
		}
		if c.typ == 0 {
			if len(f.Failures) != 1 || len(listing(t, dir)) > 1 {
				t.Errorf("%s: failures %v, files %v", c.name, f.Failures, listing(t, dir))
			}
			continue
		}
		if len(f.Written) != 1 {
			t.Errorf("%s: %v", c.name, f.Failures)
			continue
		}
		if h, got := readArray(t, f.Written[0].Path); h.Type != c.typ || !slices.Equal(h.Shape, c.shape) || string(got) != string(c.want) {
			t.Errorf("%s: %s %v % x, want %s %v % x", c.name, h.Type, h.Shape, got, c.typ, c.shape, c.want)
		}
	}
}

// Every type is written in full, in the type that arrays hold it in; the drop-in
// refuses with code 21 those that the old tool does not read.
func TestEveryType(t *testing.T) {
	const n = 16
	for _, typ := range dtype.All() {
		if !typ.Readable() {
			continue
		}
		in := tensor{t: typ, f: layout.ND, shape: []int64{n}, data: make([]byte, typ.Bytes(n))}
		for i := range in.data {
			in.data[i] = byte(i*37 + 3)
		}
		want := make([]float64, n*typ.Parts())
		dtype.Widen64(typ, want, in.data)
		for _, compat := range []bool{false, true} {
			dir := t.TempDir()
			f := run(t, Options{Out: dir, Compat: compat}, one(in).put(t, t.TempDir(), plainName)).Files[0]
			as, ok := typ.Array()
			if compat {
				as, ok = typ.Reference()
			}
			if !ok {
				if f.Code != dump.CodeType || len(f.Written) > 0 {
					t.Errorf("%s: code %d, %d files, want %d and none", typ.Wire(), f.Code, len(f.Written), dump.CodeType)
				}
				continue
			}
			if f.Code != 0 || len(f.Written) != 1 {
				t.Errorf("%s: code %d, %d files", typ.Wire(), f.Code, len(f.Written))
				continue
			}
			h, raw := readArray(t, f.Written[0].Path)
			got := make([]float64, n*typ.Parts())
			dtype.Widen64(h.Type, got, raw)
			if h.Type != as || !slices.EqualFunc(got, want, func(x, y float64) bool { return x == y || x != x && y != y }) {
				t.Errorf("%s as %s: %v, want %s %v", typ.Wire(), h.Type, got, as, want)
			}
		}
	}
}

// One tensor does not take the others with it.
func TestOthersStay(t *testing.T) {
	good := tensor{t: dtype.Int8, f: layout.ND, shape: []int64{2}, data: []byte{1, 2}}
	bad := tensor{t: dtype.String, f: layout.ND, shape: []int64{1}, data: []byte("x")}
	short := tensor{t: dtype.Int32, f: layout.ND, shape: []int64{9}, data: []byte{1, 2, 3, 4}}
	dir := t.TempDir()
	in := made{outputs: []tensor{good, bad, short, good}}.put(t, t.TempDir(), plainName)
	r := run(t, Options{Out: dir, Compat: true, Single: true}, in)
	if got := fmt.Sprint(listing(t, dir)); got != "["+plainName+".output.0.npy "+plainName+".output.3.npy]" || r.Code() != dump.CodeType {
		t.Errorf("files %s, code %d", got, r.Code())
	}
	// A dump that was cut has nothing for msaccucmp.py, but for us.
	whole := made{outputs: []tensor{good, good}}.bytes()
	in = putFile(t, filepath.Join(t.TempDir(), plainName), whole[:len(whole)-1])
	for _, compat := range []bool{false, true} {
		r := run(t, Options{Out: t.TempDir(), Compat: compat}, in)
		if want := map[bool]int{false: 1, true: 0}[compat]; r.Written() != want || r.Code() != dump.CodeInvalid {
			t.Errorf("compat %v: %d written, code %d", compat, r.Written(), r.Code())
		}
	}
}

func TestNames(t *testing.T) {
	x := tensor{t: dtype.BFloat16, f: layout.NC1HWC0, shape: []int64{1, 1, 2, 1, 16}, orig: []int64{1, 3, 2, 1}, data: numbers(32)}
	m := made{op: "net/block/op", outputs: []tensor{x}, buffers: [][]byte{{1}}, spaces: [][]byte{[]byte("log\x00\n")}}
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{}, "N.l1buffer.0.bin N.output.0.npy N.space.0.bin"},
		{Options{Type: Bin}, "N.l1buffer.0.bin N.output.0.1_1_2_1_16.float32.NC1HWC0.bin N.space.0.bin"},
		{Options{Type: Bin, Compat: true}, "N.l1buffer.0.bin N.output.0.32.bfloat16.NC1HWC0.bin N.space.0.bin"},
		{Options{Type: MSNpy}, "Op.op.1.1.1630000000000000.output.0.NC1HWC0.npy N.l1buffer.0.bin N.space.0.bin"},
		{Options{Type: PT}, "N.l1buffer.0.bin N.output.0.pt N.space.0.bin"},
		{Options{Format: formatOf(layout.NCHW)}, "N.l1buffer.0.bin N.output.0.1x3x2x1.npy N.space.0.bin"},
		{Options{Format: formatOf(layout.NCHW), Compat: true}, "N.output.0.1x3x2x1.npy"},
		{Options{Format: formatOf(layout.NCHW), Compat: true, Type: Bin}, "N.output.0.1_3_2_1.bfloat16.NCHW.bin"},
		{Options{Format: formatOf(layout.NCHW), Compat: true, Type: PT}, "N.output.0.1x3x2x1.pt"},
		{Options{Format: formatOf(layout.NHWC), Compat: true, Type: MSNpy}, "Op.op.1.1.1630000000000000.output.0.NHWC.npy"},
		{Options{Format: formatOf(layout.ND), Compat: true, Type: MSNpy}, "Op.op.1.1.1630000000000000.output.0.NC1HWC0.npy"},
	} {
		dir := t.TempDir()
		c.o.Out, c.o.Single = dir, true
		r := run(t, c.o, m.put(t, t.TempDir(), plainName))
		if got := strings.ReplaceAll(strings.Join(listing(t, dir), " "), plainName, "N"); got != c.want {
			t.Errorf("%+v: %s, want %s", c.o, got, c.want)
		}
		for _, w := range r.Files[0].Written {
			info, err := os.Stat(w.Path)
			if err != nil {
				t.Error(err)
			} else if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
				t.Errorf("%s: mode %o", w.Path, info.Mode().Perm())
			}
			if strings.HasSuffix(w.Path, ".log") {
				if b, _ := os.ReadFile(w.Path); string(b) != "log\n" {
					t.Errorf("log %q", b)
				}
			}
		}
	}
}

func TestPT(t *testing.T) {
	for _, compat := range []bool{false, true} {
		dir := t.TempDir()
		in := one(tensor{t: dtype.BFloat16, f: layout.NHWC, shape: []int64{1, 1, 2, 2}, data: []byte{1, 0, 2, 0, 3, 0, 4, 0}}).put(t, t.TempDir(), plainName)
		run(t, Options{Out: dir, Type: PT, Compat: compat, Format: formatOf(layout.NCHW)}, in)
		z, err := zip.OpenReader(filepath.Join(dir, plainName+".output.0.1x2x1x2.pt"))
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		f, err := z.Open("archive/data/0")
		if err != nil {
			t.Fatal(err)
		}
		want := "\x01\x00\x03\x00\x02\x00\x04\x00" // PyTorch has bfloat16
		if compat {
			want = "\x00\x00\x01\x00\x00\x00\x03\x00\x00\x00\x02\x00\x00\x00\x04\x00"
		}
		if got, err := io.ReadAll(f); err != nil || string(got) != want {
			t.Errorf("compat %v: % x, want % x (%v)", compat, got, want, err)
		}
	}
}

// A folder that is converted into itself gives the same results every time.
func TestIntoItself(t *testing.T) {
	long := "Op." + strings.Repeat("n", 220) + ".1.1.1630000000000001"
	for _, typ := range []Type{Npy, Bin, MSNpy, PT} {
		dir := t.TempDir()
		data := numbers(4)
		for _, name := range []string{"Op.scope_a.1.1.1630000000000000", "Op.old.1.1630000000000000", "123", long} {
			one(tensor{dtype.Float32, layout.ND, []int64{2}, nil, 0, data}).put(t, dir, name)
		}
		one(tensor{dtype.String, layout.ND, []int64{2}, nil, 0, data}).put(t, dir, "Op.bad.9.1.1630000000000000")
		var before []string
		for i := range 3 {
			s, err := Files(dir, true)
			if err != nil || len(s.Files) != 5 {
				t.Fatalf("type %d, %d: %v, %v", typ, i, s.Files, err)
			}
			r, err := Convert(t.Context(), s.Files, Options{Type: typ, Out: dir, Compat: true})
			if err != nil || r.Code() != dump.CodeType || r.Written() != 4 {
				t.Fatalf("type %d, %d: code %d, %d written, %v", typ, i, r.Code(), r.Written(), err)
			}
			now := listing(t, dir)
			if i > 0 && !slices.Equal(now, before) {
				t.Errorf("type %d: %v, then %v", typ, before, now)
			}
			before = now
		}
	}
}

// Long names are hashed as RFC 4122 says; the check value is known.
func TestLongNames(t *testing.T) {
	if got := shorten(strings.Repeat("A", 260) + ".npy"); got != "4188f4b0825235689b095455462041f0.npy" {
		t.Error(got)
	}
	for name, short := range map[string]bool{strings.Repeat("a", 254): false, strings.Repeat("a", 255): true, strings.Repeat("é", 127): false, strings.Repeat("é", 128): true} {
		if got := shorten(name); (got != name) != short {
			t.Errorf("%d bytes become %q", len(name), got)
		}
	}
	in := one(tensor{t: dtype.Int8, f: layout.ND, shape: []int64{1}, data: []byte{1}}).put(t, t.TempDir(), "Op."+strings.Repeat("n", 230)+".1.1.1630000000000000")
	for compat, rows := range map[bool]int{false: 1, true: 2} {
		dir := t.TempDir()
		for range 2 {
			if r := run(t, Options{Out: dir, Compat: compat, Single: true}, in); r.Code() != 0 {
				t.Fatal(r.Files[0].Failures)
			}
		}
		b, err := os.ReadFile(filepath.Join(dir, dump.MappingFile))
		if err != nil || strings.Count(string(b), "\n") != rows {
			t.Errorf("compat %v: %q %v", compat, b, err)
		}
		m, warnings := dump.ReadMapping(dir)
		if len(m) != 1 || warnings != nil {
			t.Errorf("%v %v", m, warnings)
		}
	}
}

// Renamed recordings have their real names.
func TestRenamed(t *testing.T) {
	dir := t.TempDir()
	x := tensor{t: dtype.Int8, f: layout.ND, shape: []int64{1}, data: []byte{1}}
	files := []string{one(x).put(t, dir, "123"), one(tensor{t: dtype.Uint8, f: layout.ND, shape: []int64{2048}, data: make([]byte, 2048)}).put(t, dir, "124")}
	putFile(t, filepath.Join(dir, dump.MappingFile), []byte("123,Op.real.1.1.1630000000000000\n124,Opdebug.Node_OpDebug.1.1.1630000000000000\n"))
	for compat, want := range map[bool]string{
		false: "[Op.real.1.1.1630000000000000.output.0.npy Opdebug.Node_OpDebug.1.1.1630000000000000.output.0.json]",
		true:  "[123.output.0.npy 124.output.0.json]",
	} {
		out := t.TempDir()
		run(t, Options{Out: out, Compat: compat}, files...)
		if got := fmt.Sprint(listing(t, out)); got != want {
			t.Errorf("compat %v: %s, want %s", compat, got, want)
		}
	}
}

// No recording overwrites the results of another one.
func TestCollisions(t *testing.T) {
	dir := t.TempDir()
	m := one(tensor{t: dtype.Int8, f: layout.ND, shape: []int64{1}, data: []byte{1}})
	a := m.put(t, dir, "Op.a.1.1.1630000000000000")
	b := m.put(t, dir, "Op.b.1.1.1630000000000000")
	c := m.put(t, filepath.Join(dir, "sub"), "Op.a.1.1.1630000000000000")
	out := t.TempDir()
	r := run(t, Options{Out: out, Type: MSNpy, Compat: true}, a, b, c)
	want := "[Op.b.1.1.1630000000000000.output.0.ND.npy Op.op.1.1.1630000000000000.output.0.ND.npy " + FailedList + "]"
	if got := fmt.Sprint(listing(t, out)); got != want || fmt.Sprint(codes(r)) != "[45]" || len(r.Files[1].Warnings) != 1 {
		t.Errorf("%s, codes %v, warnings %v", got, codes(r), r.Files[1].Warnings)
	}
}

// The result does not depend on the number of workers, and lists stay or go.
func TestLists(t *testing.T) {
	dir := t.TempDir()
	good := one(tensor{t: dtype.Int8, f: layout.NCHW, shape: []int64{1, 1, 1, 1}, data: []byte{1}})
	var files []string
	for i := range 40 {
		name := fmt.Sprintf("Op.n%02d.1.1.1630000000000000", i)
		if i%7 == 3 {
			files = append(files, putFile(t, filepath.Join(dir, name), []byte("not a dump at all")))
		} else {
			m := good
			if i%5 == 0 {
				m = made{outputs: []tensor{good.outputs[0], {t: dtype.Int8, f: layout.ND, shape: []int64{1}, data: []byte{1}}}}
			}
			files = append(files, m.put(t, dir, name))
		}
	}
	var first string
	for _, workers := range []int{1, 4} {
		out := t.TempDir()
		calls := 0
		r := run(t, Options{Out: out, Workers: workers, Compat: true, Format: formatOf(layout.NHWC), Progress: func(done, total int) {
			if calls++; done != calls || total != 40 {
				t.Errorf("progress %d of %d at call %d", done, total, calls)
			}
		}}, files...)
		list, err := os.ReadFile(filepath.Join(out, FailedList))
		if err != nil || calls != 40 {
			t.Fatal(err, calls)
		}
		text := string(list) + fmt.Sprint(codes(r), r.Code(), listing(t, out))
		for _, f := range r.Files {
			text += fmt.Sprint(f.Path, len(f.Written))
		}
		if first == "" {
			first = text
		} else if text != first {
			t.Errorf("with %d workers\n%s\nelse\n%s", workers, text, first)
		}
		if !strings.HasPrefix(string(list), files[0]+",output:1\n"+files[3]+"\n") {
			t.Errorf("list %s", list)
		}
		lines := strings.Count(string(list), "\n")
		run(t, Options{Out: out, Compat: true, Format: formatOf(layout.NHWC)}, files...)
		if again, _ := os.ReadFile(filepath.Join(out, FailedList)); strings.Count(string(again), "\n") != 2*lines {
			t.Error("the list does not grow")
		}
		run(t, Options{Out: out, Format: formatOf(layout.NHWC)}, files...)
		if again, _ := os.ReadFile(filepath.Join(out, FailedList)); strings.Count(string(again), "\n") != lines {
			t.Error("the list of an earlier run stays")
		}
		if run(t, Options{Out: out}, files[1]); slices.Contains(listing(t, out), FailedList) {
			t.Error("the list of an earlier run stays, without failures")
		}
	}
}

func TestBadFolders(t *testing.T) {
	dir := t.TempDir()
	in := one(tensor{t: dtype.Int8, f: layout.ND, shape: []int64{1}, data: []byte{1}}).put(t, dir, plainName)
	for _, out := range []string{in, filepath.Join(in, "deeper")} {
		if _, err := Convert(context.Background(), []string{in}, Options{Out: out}); dump.Code(err) != dump.CodePath {
			t.Errorf("%s: %v", out, err)
		}
	}
	out := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(filepath.Join(out, plainName+".output.0.npy"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := run(t, Options{Out: out}, in)
	if fmt.Sprint(codes(r)) != "[19]" {
		t.Errorf("%v", r.Files[0].Failures)
	}
	if r := run(t, Options{Out: dir}, filepath.Join(dir, "gone")); r.Code() != dump.CodePath {
		t.Errorf("%v", r.Files[0].Failures)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	dir, out := t.TempDir(), t.TempDir()
	var files []string
	for i := range 9 {
		m := one(tensor{t: dtype.Int8, f: layout.ND, shape: []int64{1}, data: []byte{1}})
		files = append(files, m.put(t, dir, fmt.Sprintf("Op.n%d.1.1.1630000000000000", i)))
	}
	r, err := Convert(ctx, files, Options{Out: out, Workers: 1, Progress: func(done, _ int) {
		if done == 3 {
			stop()
		}
	}})
	if !errors.Is(err, context.Canceled) || len(r.Files) != 3 || len(listing(t, out)) != 3 {
		t.Errorf("%v, %d files, %v", err, len(r.Files), listing(t, out))
	}
}

// Arrays are dumps, too.
func TestArrays(t *testing.T) {
	dir := t.TempDir()
	head := func(descr, order, shape string) []byte {
		text := "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }"
		text += strings.Repeat(" ", 117-len(text)) + "\n"
		return append([]byte(npy.Magic+"\x01\x00v\x00"), text...)
	}
	fortran := putFile(t, filepath.Join(dir, "fortran.npy"), append(head("<i2", "True", "(2, 3)"), 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0))
	big := putFile(t, filepath.Join(dir, "big.npy"), append(head(">c8", "False", "(1,)"), 0x3f, 0x80, 0, 0, 0xc0, 0, 0, 1))
	r := run(t, Options{Out: dir}, fortran, big)
	if r.Code() != 0 {
		t.Fatal(r.Files[0].Failures, r.Files[1].Failures)
	}
	if h, got := readArray(t, filepath.Join(dir, "fortran.npy.output.0.npy")); h.Fortran || string(got) != "\x01\x00\x03\x00\x05\x00\x02\x00\x04\x00\x06\x00" {
		t.Errorf("%+v % x", h, got)
	}
	if h, got := readArray(t, filepath.Join(dir, "big.npy.output.0.npy")); h.BigEndian || string(got) != "\x00\x00\x80\x3f\x01\x00\x00\xc0" {
		t.Errorf("%+v % x", h, got)
	}
	if r := run(t, Options{Out: dir, Compat: true}, big); r.Code() != 0 {
		t.Errorf("msaccucmp: code %d", r.Code())
	}
}

// A large tensor is never in memory as a whole.
func TestMemory(t *testing.T) {
	dir := t.TempDir()
	const n = 24 << 20
	for _, typ := range []dtype.Type{dtype.Int8, dtype.Float8E5M2, dtype.Uint1} {
		size := typ.Bytes(n)
		head := one(tensor{t: typ, f: layout.ND, shape: []int64{n}, data: nil})
		head.outputs[0].data = make([]byte, size)
		in := head.put(t, dir, plainName)
		head.outputs[0].data = nil
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := run(t, Options{Out: dir, Compat: true}, in)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; r.Written() != 1 || used > 6<<20 {
			t.Errorf("%s: %d written with %d bytes of memory", typ, r.Written(), used)
		}
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"b", "a", "mapping.csv", FailedList, "Op.x.1.1.1630000000000000.output.0.npy", "sub/c"} {
		putFile(t, filepath.Join(dir, name), nil)
	}
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		spec     string
		compat   bool
		want     string
		single   bool
		code     int
		problems int
	}{
		{"$/a", true, "[a]", true, 0, 0},
		{"$", true, "[Op.x.1.1.1630000000000000.output.0.npy a b]", false, 0, 0},
		{"$", false, "[a b]", false, 0, 1},
		{"$/b, $/a ,$/b,", true, "[b a]", false, 0, 0},
		{"$/b,$/gone", true, "[b]", true, 0, 1},
		{"$/sub,$/gone", true, "[sub/c]", false, 0, 1},
		{"$/sub,$/a,$/b", true, "[a b]", false, 0, 1},
		{"$/gone", true, "[]", false, dump.CodePath, 0},
		{"$/gone,$/gone2", true, "[]", false, dump.CodePath, 2},
		{"$/empty", true, "[]", false, CodeParameter, 0},
	} {
		s, err := Files(strings.ReplaceAll(c.spec, "$", dir), c.compat)
		if dump.Code(err) != c.code {
			t.Errorf("%s: %v, want code %d", c.spec, err, c.code)
		}
		if s == nil {
			s = &Source{}
		}
		names := []string{}
		for _, f := range s.Files {
			rel, err := filepath.Rel(real, f)
			if err != nil {
				t.Error(err)
			}
			names = append(names, filepath.ToSlash(rel))
		}
		if fmt.Sprint(names) != c.want || s.Single != c.single || len(s.Missing)+len(s.Warnings) != c.problems {
			t.Errorf("%s: %v, single %v, missing %v, warnings %v, want %s", c.spec, names, s.Single, s.Missing, s.Warnings, c.want)
		}
	}
}
