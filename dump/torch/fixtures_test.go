package torch

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"precision/dump/dtype"
)

type index struct {
	Files map[string][]struct {
		Name, Type string
		Shape      []int64
		Values     []float64
	}
	Refused map[string]string
}

func fixtures(t testing.TB) (x index) {
	text, err := os.ReadFile("testdata/read/index.json")
	if err == nil {
		err = json.Unmarshal(text, &x)
	}
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestReadFiles(t *testing.T) {
	for file, want := range fixtures(t).Files {
		f, err := Open(filepath.Join("testdata/read", file))
		if err != nil {
			t.Error(err)
			continue
		}
		defer f.Close()
		if len(f.Tensors) != len(want) {
			t.Errorf("%s: %d tensors, want %d", file, len(f.Tensors), len(want))
			continue
		}
		for i, w := range want {
			x := f.Tensors[i]
			if x.Name != w.Name || x.Type.String() != w.Type || !slices.Equal(x.Shape, w.Shape) {
				t.Errorf("%s: %+v, want %+v", file, x, w)
			} else if got := numbers(t, f, x); !equal(got, w.Values) {
				t.Errorf("%s: %s is %v, want %v", file, x.Name, got, w.Values)
			}
		}
	}
}

func TestRefusedFiles(t *testing.T) {
	for file, why := range fixtures(t).Refused {
		f, err := Open(filepath.Join("testdata/read", file))
		if err == nil { // the tensor is known, but has no elements of its own
			_, err = f.Tensors[0].View()
		}
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %q", file, err, why)
		}
		var format *FormatError
		var unsupported *UnsupportedError
		if !errors.As(err, &format) && !errors.As(err, &unsupported) {
			t.Errorf("%s: %T", file, err)
		}
	}
}

// What this package writes it reads again.
func TestReadWritten(t *testing.T) {
	for _, v := range tensors() {
		b := write(t, v)
		f, err := Read(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatalf("%s%v: %v", v.typ, v.shape, err)
		}
		x, err := f.Bare()
		if err != nil || x.Type.Bytes(x.Elements()) != int64(len(v.kept)) || !bytes.Equal(b[x.Start:][:len(v.kept)], v.kept) {
			t.Errorf("%s%v: %+v %v", v.typ, v.shape, x, err)
		}
	}
}

// pack makes an archive of members by name.
func pack(t testing.TB, members ...string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(members); i += 2 {
		content := []byte(members[i+1])
		w, err := z.CreateRaw(&zip.FileHeader{Name: "x/" + members[i], Method: zip.Store, CRC32: crc32.ChecksumIEEE(content),
			CompressedSize64: uint64(len(content)), UncompressedSize64: uint64(len(content))})
		if err != nil {
			t.Fatal(err)
		}
		w.Write(content)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// peak runs f and returns how far the heap grew meanwhile.
func peak(f func()) (most uint64) {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before := m.HeapAlloc
	done := make(chan bool)
	go func() { f(); close(done) }()
	for {
		select {
		case <-done:
			return most
		case <-time.After(time.Millisecond):
			if runtime.ReadMemStats(&m); m.HeapAlloc > before {
				most = max(most, m.HeapAlloc-before)
			}
		}
	}
}

// Pickles that would take any amount of memory, or time, are cut off: an error,
// and at most twice the file and 64 MB.
func TestBombs(t *testing.T) {
	le := binary.LittleEndian
	prolog := "\x80\x02"
	nested := prolog + "]q\x00" // each list holds the one before twice
	for i := range 60 {
		nested += fmt.Sprintf("](h%ch%ceq%c", i, i, i+1)
	}
	keys := prolog + "X" + string(le.AppendUint32(nil, 1<<20)) + strings.Repeat("k", 1<<20) + "q\xff]q\x00"
	for i := range 60 { // the same, with a key of a megabyte at each step
		keys += fmt.Sprintf("}(h\xffh%cK\x01h%cuq%c", i, i, i+1)
	}
	var many []string
	for i := range 200000 {
		many = append(many, fmt.Sprint("data/", i), "")
	}
	own := prolog + "]q\x00h\x00a." // a list that holds itself
	for what, b := range map[string][]byte{
		"empty lists":        pack(t, "data.pkl", prolog+strings.Repeat("]", 20<<20)),
		"tuples":             pack(t, "data.pkl", prolog+"("+strings.Repeat(")", 4<<20)+"t."),
		"memo":               pack(t, "data.pkl", prolog+"N"+strings.Repeat("r\x00\x01\x00\x00", 2<<20)+"."),
		"lists of lists":     pack(t, "data.pkl", nested+"."),
		"keys of keys":       pack(t, "data.pkl", keys+"."),
		"a list of itself":   pack(t, "data.pkl", own),
		"deep":               pack(t, "data.pkl", prolog+strings.Repeat("](", 1000)+strings.Repeat("e", 1000)+"."),
		"many members":       pack(t, many...),
		"a long directory":   append(pack(t, "data.pkl", prolog+"N."), make([]byte, 1<<20)...),
		"a claimed length":   pack(t, "data.pkl", prolog+"X\xff\xff\xff\xff"),
		"a claimed length 8": pack(t, "data.pkl", prolog+"\x8d\xff\xff\xff\xff\xff\xff\xff\xff"),
		"legacy":             append([]byte(legacyMagic+"\x80\x02M\xe9\x03.\x80\x02}.\x80\x02"), bytes.Repeat([]byte("]"), 20<<20)...),
	} {
		var err error
		most := peak(func() { _, err = Read(bytes.NewReader(b), int64(len(b))) })
		if err == nil {
			t.Errorf("%s: no error", what)
		}
		if limit := 2*uint64(len(b)) + 64<<20; most > limit {
			t.Errorf("%s: %d MB for a file of %d MB", what, most>>20, len(b)>>20)
		}
		if err != nil && len(err.Error()) > 500 {
			t.Errorf("%s: a message of %d bytes", what, len(err.Error()))
		}
	}
}

func TestHostileArchives(t *testing.T) {
	good := func(extra string) string { // a pickle of one float32
		p := pickle("FloatStorage", []int64{1}, 1)
		return string(p) + extra
	}
	le := binary.LittleEndian
	for what, c := range map[string]struct {
		file []byte
		text string
	}{
		"storage missing":    {pack(t, "data.pkl", good("")), `without a member data/0`},
		"storage too short":  {pack(t, "data.pkl", good(""), "data/0", "abc"), "found 3 bytes, expected 4"},
		"storage too long":   {pack(t, "data.pkl", good(""), "data/0", "abcdefgh"), "found 8 bytes, expected 4"},
		"member twice":       {pack(t, "data.pkl", good(""), "data/0", "abcd", "data/0", "abce"), "two members"},
		"byte order":         {pack(t, "data.pkl", good(""), "data/0", "abcd", "byteorder", "mixed"), `found "mixed"`},
		"other protocol":     {pack(t, "data.pkl", "\x80\x07N."), "protocol 7"},
		"opcode":             {pack(t, "data.pkl", "\x80\x02\xff."), "operation 0xff"},
		"object":             {pack(t, "data.pkl", "\x80\x02)\x81."), "operation NEWOBJ"},
		"call of a number":   {pack(t, "data.pkl", "\x80\x02K\x01)R."), "call of a whole number"},
		"call of a class":    {pack(t, "data.pkl", "\x80\x02ctorch\nTensor\n)R."), `call of "torch.Tensor"`},
		"name":               {pack(t, "data.pkl", "\x80\x02cbuiltins\neval\n."), `"builtins.eval"`},
		"name off the stack": {pack(t, "data.pkl", "\x80\x04\x8c\x05posix\x8c\x06system\x93."), `"posix.system"`},
		"name in torch":      {pack(t, "data.pkl", "\x80\x02ctorch\nload\n."), `"torch.load"`},
		"unhashable key":     {pack(t, "data.pkl", "\x80\x02}]]s."), "as key"},
		"empty stack":        {pack(t, "data.pkl", "\x80\x02."), "an empty stack"},
		"mark on the stack":  {pack(t, "data.pkl", "\x80\x02(."), "a mark"},
		"no mark":            {pack(t, "data.pkl", "\x80\x02t."), "no mark"},
		"memo":               {pack(t, "data.pkl", "\x80\x02h\x05."), "reference to value 5"},
		"two values":         {pack(t, "data.pkl", "\x80\x02NN."), "1 values left"},
		"no end":             {pack(t, "data.pkl", "\x80\x02N"), "to the end of the pickle"},
		"bare storage":       {pack(t, "data.pkl", "\x80\x02(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x01tQ.", "data/0", "abcd"), "a storage without a tensor"},
		"not torch":          {[]byte("hello, this is text"), "a file of torch.save"},
		"empty":              {nil, "a file of torch.save"},
		"legacy, cut":        {[]byte(legacyMagic), "to the end of the pickle"},
		"legacy, protocol":   {[]byte(legacyMagic + "\x80\x02K\x01.\x80\x02N."), "number of the protocol"},
		"legacy, stray key":  {append([]byte(legacyMagic+"\x80\x02M\xe9\x03.\x80\x02}.\x80\x02N.\x80\x02]X\x01\x00\x00\x00aa."), le.AppendUint64(nil, 4)...), "which no tensor has"},
	} {
		f, err := Read(bytes.NewReader(c.file), int64(len(c.file)))
		if err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, %v, want %q", what, f, err, c.text)
		}
	}
}

// A tensor may claim any shape and stride: one that leaves its storage is
// refused, one that stays inside is read in tiles.
func TestHostileShapes(t *testing.T) {
	for _, c := range []struct {
		shape, stride []int64
		offset        int64
		ok            bool
	}{
		{[]int64{4}, []int64{1}, 0, true}, {[]int64{4}, []int64{1}, 1, false}, {[]int64{5}, []int64{1}, 0, false},
		{[]int64{1 << 40}, []int64{0}, 3, true}, {[]int64{1 << 40}, []int64{0}, 4, false},
		{[]int64{1 << 40, 1 << 40}, []int64{0, 0}, 0, false}, {[]int64{2}, []int64{1 << 62}, 0, false},
		{[]int64{2, 2}, []int64{3, 1}, 0, false}, {[]int64{2, 2}, []int64{2, 1}, 0, true}, {[]int64{0}, []int64{1}, 1 << 60, true},
		{[]int64{1}, []int64{1 << 62}, 3, true},
	} {
		p := pickler{opProto, 2}
		p.global("torch._utils", "_rebuild_tensor_v2")
		p.op(opMark)
		p.op(opMark)
		p.text("storage")
		p.global("torch", "FloatStorage")
		p.text("0")
		p.text("cpu")
		p.number(4)
		p.op(opTuple)
		p.op(opPersID)
		p.number(c.offset)
		p.tuple(c.shape)
		p.tuple(c.stride)
		p.op(opTuple)
		p.op(opReduce)
		p.op(opStop)
		b := pack(t, "data.pkl", string(p), "data/0", "0123456789abcdef")
		f, err := Read(bytes.NewReader(b), int64(len(b)))
		if (err == nil) != c.ok {
			t.Errorf("%v by %v from %d: %v", c.shape, c.stride, c.offset, err)
		} else if err == nil {
			r, err := f.Tensors[0].Reader(bytes.NewReader(b))
			var excess *ExcessError
			if err != nil {
				if !errors.As(err, &excess) || excess.Shown != 1<<40 || excess.Stored != 1 {
					t.Error(err)
				}
			} else if n := min(r.Len(), 100); r.ReadTile(make([]byte, 400), r.Len()-n, n) != nil {
				t.Errorf("%v by %v cannot be read", c.shape, c.stride)
			}
		}
	}
}

func FuzzFile(f *testing.F) {
	paths, _ := filepath.Glob("testdata/read/*.pt")
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		checkFile(t, b)
	})
}

// FuzzPickle puts the pickle into a sound archive, which mutations of the whole
// file rarely leave.
func FuzzPickle(f *testing.F) {
	paths, _ := filepath.Glob("testdata/read/*.pt")
	for _, p := range paths {
		z, err := zip.OpenReader(p)
		if err != nil {
			continue // the format before zip
		}
		for _, m := range z.File {
			if strings.HasSuffix(m.Name, "data.pkl") {
				if r, err := m.Open(); err == nil {
					b, _ := io.ReadAll(r)
					f.Add(b)
				}
			}
		}
		z.Close()
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		checkFile(t, pack(t, "data.pkl", string(b), "data/0", strings.Repeat("0123456789abcdef", 3), "data/1", "x"))
	})
}

// checkFile holds a file that was read to what it says: its tensors lie in the
// file and can be read.
func checkFile(t *testing.T, b []byte) {
	f, err := Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		if len(err.Error()) > 2000 {
			t.Errorf("a message of %d bytes", len(err.Error()))
		}
		return
	}
	for _, x := range f.Tensors {
		v, err := x.View()
		if err != nil {
			continue
		}
		if end := x.Start + v.Extent()*int64(x.Type.Bits()/8); v.Len() > 0 && (x.Start < 0 || end > int64(len(b))) {
			t.Fatalf("%+v lies outside a file of %d bytes", x, len(b))
		}
		r, err := x.Reader(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		n := min(r.Len(), 50)
		if err := r.ReadTile(make([]byte, n*int64(r.ElemSize())), 0, n); err != nil {
			t.Fatal(err)
		}
		dtype.Widen32(x.Type, nil, nil)
	}
}

func BenchmarkRead(b *testing.B) {
	file, err := os.ReadFile("testdata/read/rows.pt")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Read(bytes.NewReader(file), int64(len(file))); err != nil {
			b.Fatal(err)
		}
	}
}
