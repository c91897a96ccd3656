package h5

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
)

func dataset(tb testing.TB, f *File, path string) *Dataset {
	tb.Helper()
	o, err := f.Lookup(path)
	if err != nil {
		tb.Fatal(err)
	}
	d, ok := o.(*Dataset)
	if !ok {
		tb.Fatalf("%s: %T", path, o)
	}
	return d
}

// TestClaims reads datasets whose shapes the file cannot back.
func TestClaims(t *testing.T) {
	f := openBytes(t, fixture(t, "sparse_earliest.h5"))
	for _, c := range []struct {
		path string
		at   int64
		want []byte
	}{
		{"chunked", 999, []byte{9, 1, 9}},
		{"chunked", 1<<40 - 2, []byte{9, 9}},
		{"contiguous", 1<<42 - 3, []byte{0, 0, 0}},
		{"wide", 1<<39 + 77 - 1, []byte{0, 1, 0}},
		{"wide", 1 << 38, []byte{0, 0}},
		{"compact", 1, []byte{0, 1, 0, 2}},
	} {
		d := dataset(t, f, c.path)
		p := make([]byte, len(c.want))
		if _, err := d.ReadAt(p, c.at); err != nil || !bytes.Equal(p, c.want) {
			t.Errorf("%s at %d: %x %v, want %x", c.path, c.at, p, err, c.want)
		}
		if c.path == "compact" {
			continue
		}
		if _, err := d.ReadAll(); !errors.Is(err, ErrLimit) {
			t.Errorf("%s: %v, want %v", c.path, err, ErrLimit)
		}
	}
	if p, err := dataset(t, f, "zeros").ReadAll(); err != nil || !bytes.Equal(p, make([]byte, 4000000)) {
		t.Errorf("zeros: %v", err)
	}
	// Chunks are held whole, so larger ones are refused before any is read.
	wide := dataset(t, f, "wide")
	wide.layout.chunk = []int64{1 << 14, 1 << 14}
	if err := wide.checkLayout(); !errors.Is(err, ErrLimit) {
		t.Errorf("a chunk of 256 MB: %v", err)
	}
}

// Whoever reads from front to back is told that nothing is behind a shape.
func TestBacked(t *testing.T) {
	f := openBytes(t, fixture(t, "sparse_earliest.h5"))
	for path, ok := range map[string]bool{"chunked": false, "contiguous": false, "wide": false, "zeros": true, "compact": true} {
		if err := dataset(t, f, path).Backed(); (err == nil) != ok || !ok && !errors.Is(err, ErrLimit) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestNested(t *testing.T) {
	f := openBytes(t, fixture(t, "nested.h5"))
	n := 0
	err := f.Walk(func(string, Object, error) error { n++; return nil })
	if !errors.Is(err, ErrLimit) || n != maxDepth {
		t.Errorf("%d objects, %v", n, err)
	}
}

// touch opens, walks and reads as much as small files can hold.
func touch(f *File) error {
	var first error
	note := func(err error) {
		if err != nil && first == nil {
			first = err
		}
	}
	_, err := f.Root().Attrs()
	note(err)
	note(f.Walk(func(path string, o Object, err error) error {
		note(err)
		if o == nil {
			return nil
		}
		list, err := o.Attrs()
		note(err)
		for _, a := range list {
			_, err := a.Floats()
			if err != nil {
				_, err = a.Strings()
			}
			note(err)
			if a.Len() < 0 {
				note(errors.New("negative length"))
			}
		}
		switch o := o.(type) {
		case *Group:
			_, err := o.Names()
			note(err)
		case *Dataset:
			p := make([]byte, 1000)
			for _, at := range []int64{1, o.Size() / 2, o.Size() - 500} {
				if _, err := o.ReadAt(p, max(at, 0)); err != nil && err != io.EOF {
					note(err)
				}
			}
			if o.Size() <= 1<<20 {
				_, err = o.ReadAll()
				note(err)
			}
		}
		return nil
	}))
	return first
}

var small = []string{"torch_latest", "torch_earliest", "types_latest", "types_earliest", "links_earliest", "links_latest",
	"cycle_earliest", "cycle_latest", "small", "tiny_latest", "userblock", "unread", "shared", "tracked", "v18", "deep"}

// TestTruncated cuts files off anywhere: an error, not a crash. Only files
// whose superblock does not know their length could still be opened.
func TestTruncated(t *testing.T) {
	for _, name := range small {
		b := fixture(t, name+".h5")
		for n := 0; n < len(b); n += 97 {
			if _, err := Open(bytes.NewReader(b[:n]), int64(n)); err == nil {
				t.Fatalf("%s: %d of %d bytes opened", name, n, len(b))
			}
			// The reader itself may know less than the stated size.
			f, err := open(bytes.NewReader(b[:n]), int64(len(b)), false)
			if err == nil {
				err = touch(f)
			}
			if err == nil && n < len(b)/2 {
				t.Fatalf("%s: %d of %d bytes read without an error", name, n, len(b))
			}
		}
	}
}

// TestDamaged sets bytes to telling values with checksums ignored: whatever
// comes out, no crash and no endless loop. With checksums heeded, damage to
// what has one must be noticed.
func TestDamaged(t *testing.T) {
	for _, name := range []string{"links_earliest", "links_latest", "cycle_latest", "shared"} {
		b := fixture(t, name+".h5")
		for i := range b {
			for _, v := range []byte{0, 1, b[i] ^ 0x80, b[i] + 1, 0xff} {
				bad := bytes.Clone(b)
				bad[i] = v
				if f, err := open(bytes.NewReader(bad), int64(len(bad)), false); err == nil {
					touch(f)
				}
			}
		}
	}
	b := fixture(t, "links_latest.h5")
	at := bytes.Index(b, []byte("OHDR"))
	b[at+20] ^= 1
	var fe *FormatError
	if _, err := Open(bytes.NewReader(b), int64(len(b))); !errors.As(err, &fe) || fe.Offset != int64(at) {
		t.Errorf("damaged object header: %v", err)
	}
}

// TestDamagedElements: deflate, fletcher32 and sizes must notice.
func TestDamagedElements(t *testing.T) {
	b := fixture(t, "chunks_earliest.h5")
	f := openBytes(t, b)
	for _, path := range []string{"/deflate/fixed", "/fletcher/fixed", "/all/fixed"} {
		d := dataset(t, f, path)
		s, err := d.store()
		if err != nil {
			t.Fatal(err)
		}
		r := s.refs[1]
		b[r.addr+uint64(r.stored)-6] ^= 0x10
		var fe *FormatError
		if _, err := dataset(t, f, path).ReadAll(); !errors.As(err, &fe) || fe.Offset != int64(r.addr) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestSharedStructures: many groups that use the same bytes may not make a walk
// read them for each.
func TestSharedStructures(t *testing.T) {
	// An object header that is one large attribute, and a root group with
	// thousands of hard links to headers which all continue with that block.
	const attrLen = 1 << 20
	le := binary.LittleEndian
	var b []byte
	put := func(v ...any) {
		for _, v := range v {
			b, _ = binary.Append(b, le, v)
		}
	}
	put([]byte(superblockSignature), uint32(0), uint8(0), uint8(8), uint8(8), uint8(0), uint16(4), uint16(16), uint32(0),
		uint64(0), uint64(undefined), uint64(undefined), uint64(undefined),
		uint64(0), uint64(96), uint64(0), uint64(0), uint64(0))
	const links = 20000
	const linkLen = 8 + 24 // message head, link message
	rootLen := links * linkLen
	block := 96 + 16 + rootLen // the shared block
	headers := block + attrLen // then the headers, 16 + 24 bytes each
	put(uint8(1), uint8(0), uint16(links), uint32(1), uint32(rootLen), uint32(0))
	for i := range links {
		put(uint16(msgLink), uint16(24), uint8(0), [3]byte{}, uint8(1), uint8(0), uint8(5))
		put([]byte{byte('a' + i/8000), byte('0' + i/800%10), byte('0' + i/80%10), byte('0' + i/8%10), byte('0' + i%8)})
		put(uint64(headers+40*i), uint64(0))
	}
	b = append(b, make([]byte, attrLen)...)
	for range links {
		put(uint8(1), uint8(0), uint16(2), uint32(1), uint32(24), uint32(0))
		put(uint16(msgContinuation), uint16(16), uint8(0), [3]byte{}, uint64(block), uint64(attrLen))
	}
	f := openBytes(t, b)
	n := 0
	err := f.Walk(func(string, Object, error) error { n++; return nil })
	if !errors.Is(err, ErrLimit) || n == 0 || n > links/2 {
		t.Errorf("%d objects, %v", n, err)
	}
}
