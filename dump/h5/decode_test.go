package h5

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math"
	"reflect"
	"strings"
	"testing"

	"precision/dump/dtype"
	"precision/internal/nd"
)

// unhex turns hex digits in groups into bytes.
func unhex(tb testing.TB, s string) []byte {
	tb.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// testSource is a file of the given bytes, with addresses and lengths of eight.
func testSource(b []byte) *source {
	return &source{r: bytes.NewReader(b), size: int64(len(b)), offLen: 8, lenLen: 8, values: &globalHeap{}}
}

// TestOldLayouts decodes layout messages versions 1 and 2, which libraries
// before 1.6.3 wrote.
func TestOldLayouts(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     layout
	}{
		{"contiguous", "01 02 01 0000000000 8877000000000000 05000000 04000000",
			layout{class: layoutContiguous, addr: 0x7788, size: -1}},
		{"compact", "02 01 00 0000000000 03000000 03000000 010203",
			layout{class: layoutCompact, addr: undefined, size: -1, data: []byte{1, 2, 3}}},
		{"chunked", "01 03 02 0000000000 8877000000000000 05000000 06000000 04000000",
			layout{class: layoutChunked, addr: 0x7788, size: -1, chunk: []int64{5, 6}, elemSize: 4}},
		{"chunked without storage", "02 02 02 0000000000 ffffffffffffffff 05000000 08000000",
			layout{class: layoutChunked, addr: undefined, size: -1, chunk: []int64{5}, elemSize: 8}},
	} {
		b := unhex(t, c.in)
		s := testSource(b)
		l, err := s.layout(s.cursor(b, 0, "layout"))
		if err != nil || !reflect.DeepEqual(*l, c.want) {
			t.Errorf("%s: %+v %v, want %+v", c.name, l, err, c.want)
		}
	}
}

func TestFillMessages(t *testing.T) {
	for _, c := range []struct {
		name string
		typ  int
		in   string
		want string // hex; "!": an error
	}{
		{"old", msgOldFill, "04000000 01020304", "01020304"},
		{"old, none", msgOldFill, "00000000", ""},
		{"version 1", msgFill, "01 01 00 01 04000000 01020304", "01020304"},
		{"version 1, undefined", msgFill, "01 01 00 00 ffffffff", ""},
		{"version 2", msgFill, "02 01 00 01 04000000 01020304", "01020304"},
		{"version 2, undefined", msgFill, "02 01 00 00", ""},
		{"version 3", msgFill, "03 2a 04000000 01020304", "01020304"},
		{"version 3, undefined", msgFill, "03 0a", ""},
		{"other size", msgFill, "03 2a 02000000 0102", "!"},
		{"cut off", msgFill, "03 2a 04000000 0102", "!"},
		{"version 4", msgFill, "04 2a 04000000 01020304", "!"},
	} {
		m := message{typ: c.typ, data: unhex(t, c.in)}
		d := &Dataset{node: node{src: testSource(m.data), h: &header{msgs: []message{m}}}}
		d.Type, d.elem.stored = dtype.Int32, 4
		err := d.readFill()
		got := hex.EncodeToString(d.fill)
		if err != nil {
			got = "!"
		}
		if got != c.want {
			t.Errorf("%s: %s %v, want %s", c.name, got, err, c.want)
		}
	}
}

// TestSharedVersions follows the three forms of a reference to a datatype that
// stands in an object header of its own.
func TestSharedVersions(t *testing.T) {
	file := unhex(t, "01 00 0100 01000000 10000000 00000000"+ // object header
		"0300 0800 00 000000 1122334455667788") // datatype message
	for _, c := range []struct{ name, in string }{
		{"version 1", "01 00 000000000000 0000000000000000 0000000000000000"},
		{"version 2", "02 00 0000000000000000"},
		{"version 3", "03 02 0000000000000000"},
	} {
		s := testSource(file)
		m, err := s.resolve(message{typ: msgDatatype, flags: flagShared, data: unhex(t, c.in)})
		if err != nil || hex.EncodeToString(m.data) != "1122334455667788" || m.addr != 24 {
			t.Errorf("%s: %x at %d, %v", c.name, m.data, m.addr, err)
		}
		if _, err := s.resolve(message{typ: msgDataspace, flags: flagShared, data: unhex(t, c.in)}); err == nil {
			t.Errorf("%s: a dataspace found", c.name)
		}
	}
}

func TestHeapIDs(t *testing.T) {
	file := make([]byte, 64)
	copy(file[16:], "abcdef")
	for _, c := range []struct {
		name, id string
		idLen    int
		want     string // "!": an error
	}{
		{"tiny", "23 61626364 0000", 7, "abcd"},
		{"tiny extended", "20 02 616263 00000000000000000000000000000000", 21, "abc"},
		{"huge by place", "10 1200000000000000 0300000000000000", 17, "cde"},
		{"huge beyond the file", "10 3f00000000000000 0200000000000000", 17, "!"},
		{"unknown type", "30 000000000000", 7, "!"},
		{"unknown version", "40 000000000000", 7, "!"},
		{"tiny cut off", "27 6162", 7, "!"},
		{"managed without blocks", "00 00000000 0000", 7, "!"},
	} {
		s := testSource(file)
		h := &fractalHeap{src: s, idLen: c.idLen, offsetLen: 4, lengthLen: 2, hugeDirect: c.idLen > 16, root: undefined,
			start: 512, width: 4, hugeTree: undefined}
		b, _, err := h.object(unhex(t, c.id))
		got := string(b)
		if err != nil {
			got = "!"
		}
		if got != c.want {
			t.Errorf("%s: %q %v, want %q", c.name, got, err, c.want)
		}
	}
}

// TestFletcher32 has the published values of the checksum over little-endian
// words, with the bytes of each word in the other order as HDF5 takes them.
func TestFletcher32(t *testing.T) {
	pairs := func(s string) []byte {
		b := []byte(s)
		if len(b)%2 != 0 {
			b = append(b, 0)
		}
		for i := 0; i < len(b); i += 2 {
			b[i], b[i+1] = b[i+1], b[i]
		}
		return b
	}
	for in, want := range map[string]uint32{"abcde": 0xf04fc729, "abcdef": 0x56502d2a, "abcdefgh": 0xebe19591} {
		if got := fletcher32(pairs(in)); got != want {
			t.Errorf("%q: %#08x, want %#08x", in, got, want)
		}
	}
	if got, want := fletcher32([]byte{1, 2, 3}), fletcher32([]byte{1, 2, 3, 0}); got != want {
		t.Errorf("odd length: %#08x, want %#08x", got, want)
	}
}

func TestUnshuffle(t *testing.T) {
	for _, c := range []struct {
		size     int
		in, want string
	}{
		{2, "abcABC", "aAbBcC"},
		{4, "aeimbfjncgkodhlp", "abcdefghijklmnop"},
		{3, "adbecfxy", "abcdefxy"}, // the rest stays
		{1, "abc", "abc"},
		{8, "abc", "abc"},
	} {
		if got := string(unshuffle([]byte(c.in), c.size)); got != c.want {
			t.Errorf("%d %s: %s, want %s", c.size, c.in, got, c.want)
		}
	}
}

func TestElements(t *testing.T) {
	for _, c := range []struct {
		dims []int64
		want int64
		ok   bool
	}{
		{nil, 1, true},
		{[]int64{2, 3}, 6, true},
		{[]int64{math.MaxInt64, 0, math.MaxInt64}, 0, true},
		{[]int64{1 << 31, 1 << 31}, 1 << 62, true},
		{[]int64{1 << 32, 1 << 31}, 0, false},
		{[]int64{math.MaxInt64}, math.MaxInt64, true},
		{[]int64{-1}, 0, false},
	} {
		if n, ok := nd.Count(c.dims...); n != c.want || ok != c.ok {
			t.Errorf("%v: %d %v, want %d %v", c.dims, n, ok, c.want, c.ok)
		}
	}
}

// TestErrorText shows what an error tells.
func TestErrorText(t *testing.T) {
	b := make([]byte, 600)
	copy(b[512:], superblockSignature)
	b[520] = 9
	_, err := Open(bytes.NewReader(b), int64(len(b)))
	const want = "hdf5: offset 0x208: superblock: found version 9, expected 0 to 3"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	b = fixture(t, "links_earliest.h5")
	for at := range len(b) - 8 {
		if string(b[at:at+4]) == "SNOD" {
			binary.LittleEndian.PutUint16(b[at+6:], 60000)
		}
	}
	err = touch(openBytes(t, b))
	const part = "symbol table node: found 2400008 bytes"
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("%v, want %s", err, part)
	}
}
