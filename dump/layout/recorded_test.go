package layout

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// dumped is what a recorded dump file says of one tensor.
type dumped struct {
	format           Format
	stored, original []int64
	group, size      int
	data             []byte
}

// readDump reads the tensors of a dump file by "input.0", "output.0" and so on.
func readDump(t *testing.T, path string) map[string]dumped {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := binary.LittleEndian.Uint64(file)
	header, payload := file[8:8+n], file[8+n:]
	var in, out []dumped
	fields(t, header, func(num protowire.Number, b []byte, _ uint64) {
		switch num {
		case 3:
			out = append(out, readTensor(t, b, 6, 7, 8))
		case 4:
			in = append(in, readTensor(t, b, 5, 6, 7))
		}
	})
	m := map[string]dumped{}
	add := func(kind string, all []dumped) {
		for i, d := range all {
			d.data, payload = payload[:d.size], payload[d.size:]
			m[fmt.Sprintf("%s.%d", kind, i)] = d
		}
	}
	add("input", in)
	add("output", out)
	return m
}

func readTensor(t *testing.T, b []byte, size, original, sub protowire.Number) (d dumped) {
	fields(t, b, func(num protowire.Number, b []byte, v uint64) {
		switch num {
		case 2:
			d.format = Format(v)
		case 3:
			d.stored = readShape(t, b)
		case size:
			d.size = int(v)
		case original:
			d.original = readShape(t, b)
		case sub:
			d.group = int(v)
		}
	})
	return d
}

func readShape(t *testing.T, b []byte) (dims []int64) {
	fields(t, b, func(_ protowire.Number, b []byte, v uint64) {
		if b == nil {
			dims = append(dims, int64(v))
		}
		for len(b) > 0 {
			v, n := protowire.ConsumeVarint(b)
			dims, b = append(dims, int64(v)), b[n:]
		}
	})
	return dims
}

// fields calls f for every varint and bytes field of a message.
func fields(t *testing.T, b []byte, f func(num protowire.Number, b []byte, v uint64)) {
	t.Helper()
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		b = b[n:]
		switch typ {
		case protowire.VarintType:
			v, n := protowire.ConsumeVarint(b)
			f(num, nil, v)
			b = b[n:]
		case protowire.BytesType:
			v, n := protowire.ConsumeBytes(b)
			f(num, v, 0)
			b = b[n:]
		default:
			b = b[protowire.ConsumeFieldValue(num, typ, b):]
		}
	}
}

// readNpy returns the item size, shape and data of a version 1 .npy file.
func readNpy(t *testing.T, path string) (es int, shape []int64, data []byte) {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := 10 + int(binary.LittleEndian.Uint16(file[8:]))
	m := regexp.MustCompile(`'descr': '[<|][a-z](\d+)'.*'shape': \(([^)]*)\)`).FindSubmatch(file[:n])
	if m == nil {
		t.Fatalf("%s: %q", path, file[:n])
	}
	es, _ = strconv.Atoi(string(m[1]))
	for _, s := range strings.FieldsFunc(string(m[2]), func(r rune) bool { return r == ',' || r == ' ' }) {
		d, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		shape = append(shape, d)
	}
	return es, shape, file[n:]
}

// convertOld does what the recorded tool did with one tensor.
func convertOld(d dumped, to Format, shape []int64, es int) ([]int64, []byte, error) {
	from, want := AsStored(d.format, len(d.stored)), d.original
	if shape != nil {
		want = shape
	}
	data := d.data
	var v View
	var err error
	if to == FractalZ && from != to {
		p, err := NewPacking(from, d.stored, d.group, DefaultBlock, DefaultBlock)
		if err != nil {
			return nil, nil, err
		}
		data = make([]byte, p.Stored()*int64(es))
		if err := p.Pack(data, d.data, es); err != nil {
			return nil, nil, err
		}
		v, err = Contiguous(p.Shape())
		if err != nil {
			return nil, nil, err
		}
	} else {
		if from == FractalNZ && from != to {
			if err := CheckNZ(d.stored, want); err != nil {
				return nil, nil, err
			}
		}
		if v, err = Convert(from, to, d.stored, want, d.group); err != nil {
			return nil, nil, err
		}
	}
	if from != to {
		if s, err := v.SliceLike(want); err == nil {
			v = s
		} else if !errors.As(err, new(*SliceError)) {
			return nil, nil, err
		}
	}
	out := make([]byte, v.Len()*int64(es))
	return v.Dims, out, v.Gather(out, data, es, 0, v.Len())
}

// TestRecorded converts the dumps of recorded runs of msaccucmp.py convert and
// expects its files, shape and bytes.
func TestRecorded(t *testing.T) {
	files := 0
	for _, name := range []string{"fmt_all_targets", "fmt_fractal_z", "fmt_shape_option", "fmt_types", "fmt_dir"} {
		dir := filepath.Join("..", "..", "testdata", "cases", name)
		text, err := os.ReadFile(filepath.Join(dir, "cmd.json"))
		if err != nil {
			t.Fatal(err)
		}
		var cmd struct {
			Runs []struct {
				ID   string
				Args []string
			}
		}
		if err := json.Unmarshal(text, &cmd); err != nil {
			t.Fatal(err)
		}
		for _, run := range cmd.Runs {
			opt := map[string]string{}
			for i := 1; i+1 < len(run.Args); i += 2 {
				opt[run.Args[i]] = run.Args[i+1]
			}
			to, ok := Parse(opt["-f"])
			if !ok || opt["-t"] == "msnpy" { // names its files otherwise
				continue
			}
			var shape []int64
			if opt["-s"] != "" {
				for _, s := range strings.Split(opt["-s"], ",") {
					d, _ := strconv.ParseInt(s, 10, 64)
					shape = append(shape, d)
				}
			}
			saved, _ := filepath.Glob(filepath.Join(dir, "expected", run.ID, "files", "out", "*.npy"))
			for _, path := range saved {
				m := regexp.MustCompile(`^(.*)\.((?:in|out)put\.\d+)\.`).FindStringSubmatch(filepath.Base(path))
				if m == nil {
					t.Fatalf("%s: name not understood", path)
				}
				files++
				in := filepath.Join(dir, strings.Split(opt["-d"], ",")[0])
				if filepath.Base(in) != m[1] {
					if st, err := os.Stat(in); err != nil || !st.IsDir() {
						in = filepath.Dir(in)
					}
					in = filepath.Join(in, m[1])
				}
				d, ok := readDump(t, in)[m[2]]
				if !ok {
					t.Fatalf("%s: no %s", in, m[2])
				}
				es, dims, data := readNpy(t, path)
				gotDims, got, err := convertOld(d, to, shape, es)
				if err != nil {
					t.Errorf("%s %s %s: %v", name, run.ID, filepath.Base(path), err)
					continue
				}
				if fmt.Sprint(gotDims) != fmt.Sprint(dims) || !bytes.Equal(got, data) {
					t.Errorf("%s %s %s: shape %v, want %v, same bytes %v", name, run.ID, filepath.Base(path), gotDims, dims, bytes.Equal(got, data))
				}
			}
		}
	}
	if files < 30 {
		t.Errorf("only %d files checked", files)
	}
}

// TestRecordedLayouts restores the device side of a recorded comparison to the
// shape and layout of its golden side, in all pairs the network has, also those
// msaccucmp.py refuses. The sides differ by a little noise.
func TestRecordedLayouts(t *testing.T) {
	dir := filepath.Join("..", "..", "testdata", "cases", "layout_all", "in")
	paths, err := filepath.Glob(filepath.Join(dir, "npu", "*"))
	if err != nil || len(paths) < 20 {
		t.Fatalf("%d dumps, %v", len(paths), err)
	}
	for _, path := range paths {
		name := strings.Split(filepath.Base(path), ".")[1]
		golden, err := filepath.Glob(filepath.Join(dir, "golden", name+".0.*.npy"))
		if err != nil || len(golden) != 1 {
			t.Fatalf("%s: %v, %v", name, golden, err)
		}
		_, want, goldenData := readNpy(t, golden[0])
		d := readDump(t, path)["output.0"]
		to := map[string]Format{"vol_ncdhw": NCDHW, "vol_nd": ND, "vol_ndhwc": NDHWC, "chwn": CHWN, "nz3_to_ND": ND, "int8_c32": NCHW}[name]
		if _, target, ok := strings.Cut(name, "_to_"); ok {
			to, _ = Parse(target)
		}
		es := d.size / int(mustCount(d.stored)) // int8, float16 or float32
		v, err := Restore(d.format, to, d.stored, want, d.group)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		data := make([]byte, v.Len()*int64(es))
		if err := v.Gather(data, d.data, es, 0, v.Len()); err != nil {
			t.Fatal(err)
		}
		var diff, norm float64
		for i := range int(v.Len()) {
			var a, b float64
			if es > 1 {
				b = float64(math.Float32frombits(binary.LittleEndian.Uint32(goldenData[4*i:])))
			}
			switch es {
			case 1:
				a, b = float64(int8(data[i])), float64(int8(goldenData[i]))
			case 2:
				a = half(binary.LittleEndian.Uint16(data[2*i:]))
			case 4:
				a = float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
			}
			diff, norm = diff+(a-b)*(a-b), norm+b*b
		}
		// The recorded relative distances are 0.02 and less, 0.06 for int8.
		if r := math.Sqrt(diff / norm); !(r < 0.07) {
			t.Errorf("%s: %v %v to %v %v: relative distance %g", name, d.format, d.stored, to, want, r)
		}
	}
}

// half returns the value of a float16.
func half(b uint16) float64 {
	m, e := float64(b&0x3ff), int(b>>10&0x1f)
	if e > 0 {
		m, e = m+1024, e-1
	}
	return math.Ldexp(m*(1-2*float64(b>>15)), e-24)
}

func TestFitOriginal(t *testing.T) {
	for _, c := range []struct {
		from, to               Format
		stored, original, want []int64
		origin                 Format
		ok                     bool
	}{
		{NC1HWC0, NCHW, []int64{2, 2, 3, 4, 16}, []int64{2, 20, 3, 4}, []int64{2, 20, 3, 4}, NCHW, true},
		{NC1HWC0, NHWC, []int64{2, 2, 3, 4, 16}, []int64{2, 20, 3, 4}, []int64{2, 3, 4, 20}, NCHW, true},
		{NC1HWC0, HWCN, []int64{2, 2, 3, 4, 16}, []int64{2, 20, 3, 4}, []int64{3, 4, 20, 2}, NCHW, true},
		{NC1HWC0, NCHW, []int64{2, 2, 3, 4, 16}, []int64{2, 3, 4, 20}, []int64{2, 20, 3, 4}, NHWC, true},
		{NC1HWC0, NCHW, []int64{1, 1, 7, 7, 32}, []int64{1, 7, 7, 32}, []int64{1, 32, 7, 7}, NHWC, true},
		{FractalZ, HWCN, []int64{18, 2, 16, 16}, []int64{18, 20, 3, 3}, []int64{3, 3, 20, 18}, NCHW, true},
		{NDC1HWC0, NCDHW, []int64{1, 2, 2, 3, 3, 16}, []int64{1, 2, 3, 3, 20}, []int64{1, 20, 2, 3, 3}, NDHWC, true},
		{NC1HWC0, NCHW, []int64{2, 2, 3, 4, 16}, []int64{2, 20, 4, 5}, nil, 0, false},
		{NC1HWC0, NCHW, []int64{2, 2, 3, 4, 16}, []int64{2, 20}, nil, 0, false},
		{NC1HWC0, ND, []int64{2, 2, 3, 4, 16}, []int64{2, 20, 3, 4}, nil, 0, false},
	} {
		want, origin, ok := FitOriginal(c.from, c.to, c.stored, c.original, 0)
		if fmt.Sprint(want) != fmt.Sprint(c.want) || origin != c.origin || ok != c.ok {
			t.Errorf("%v %v to %v, original %v: %v in %v, %v", c.from, c.stored, c.to, c.original, want, origin, ok)
		}
	}
}
