package h5

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"

	"precision/internal/must"
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

func TestFillMessages(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     string // hex; "!": an error
	}{
		{"version 1", "01 01 00 01 04000000 01020304", "01020304"},
		{"version 1, undefined", "01 01 00 00 ffffffff", ""},
		{"version 2", "02 01 00 01 04000000 01020304", "01020304"},
		{"version 2, undefined", "02 01 00 00", ""},
		{"version 3", "03 2a 04000000 01020304", "01020304"},
		{"version 3, undefined", "03 0a", ""},
		{"other size", "03 2a 02000000 0102", "!"},
		{"cut off", "03 2a 04000000 0102", "!"},
		{"version 4", "04 2a 04000000 01020304", "!"},
	} {
		d := &Dataset{elem: element{size: 4}}
		err := must.Try(func() { d.readFill(&cursor{b: unhex(t, c.in)}) })
		got := hex.EncodeToString(d.fill)
		if err != nil {
			got = "!"
		}
		if got != c.want {
			t.Errorf("%s: %s %v, want %s", c.name, got, err, c.want)
		}
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

// TestErrorText shows what an error tells.
func TestErrorText(t *testing.T) {
	b := make([]byte, 600)
	copy(b, "\x89HDF\r\n\x1a\n\x09")
	_, err := Open(bytes.NewReader(b), int64(len(b)))
	const want = "hdf5: offset 0x8: superblock: found version 9, expected 0 to 3"
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
