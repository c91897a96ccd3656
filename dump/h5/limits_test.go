package h5

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"weak"

	"precision/internal/must"
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
	m, _ := wide.h.find(msgLayout)
	binary.LittleEndian.PutUint32(m.data[11:], 1<<16) // version, class, rank, address, chunk
	if err := must.Try(wide.init); !errors.Is(err, ErrLimit) {
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
			_, err := a.Ints()
			note(err)
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

var small = []string{"torch_earliest", "types_earliest", "links_earliest", "cycle_earliest", "deep"}

// TestTruncated cuts files off anywhere: an error, not a crash. Only files
// whose superblock does not know their length could still be opened.
func TestTruncated(t *testing.T) {
	for _, name := range small {
		b := fixture(t, name+".h5")
		for n := 0; n < len(b); n += max(97, len(b)/100) {
			if _, err := Open(bytes.NewReader(b[:n]), int64(n)); err == nil {
				t.Fatalf("%s: %d of %d bytes opened", name, n, len(b))
			}
			// The reader itself may know less than the stated size.
			f, err := Open(bytes.NewReader(b[:n]), int64(len(b)))
			if err == nil {
				err = touch(f)
			}
			if err == nil && n < len(b)/2 {
				t.Fatalf("%s: %d of %d bytes read without an error", name, n, len(b))
			}
		}
	}
}

// TestDamaged sets bytes to telling values: whatever comes out, no crash and no endless loop.
func TestDamaged(t *testing.T) {
	for _, name := range []string{"links_earliest", "cycle_earliest"} {
		b := fixture(t, name+".h5")
		for i := range b {
			for _, v := range []byte{0, 1, b[i] ^ 0x80, b[i] + 1, 0xff} {
				bad := bytes.Clone(b)
				bad[i] = v
				if f, err := Open(bytes.NewReader(bad), int64(len(bad))); err == nil {
					touch(f)
				}
			}
		}
	}
}

// TestDamagedHeaps is TestDamaged for heaps of links and the trees that lead to them, and points all records at one link.
func TestDamagedHeaps(t *testing.T) {
	b := fixture(t, "densesmall_earliest.h5")
	for _, sig := range []string{"FRHP", "FHDB", "BTHD", "BTLF"} {
		from := bytes.Index(b, []byte(sig))
		for i := from; i < from+150; i++ {
			for _, v := range []byte{0, 1, b[i] ^ 0x80, b[i] + 1, 0xff} {
				bad := bytes.Clone(b)
				bad[i] = v
				touch(openBytes(t, bad))
			}
		}
	}
	leaf := bytes.Index(b, []byte("BTLF")) + 6
	for i := range 8 {
		copy(b[leaf+11*(i+1):], b[leaf:leaf+11])
	}
	if err := touch(openBytes(t, b)); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("records of one link: %v", err)
	}
	copy(b[leaf+4:], []byte{0, 0, 0, 0, 0, 0xff, 0xff})
	if err := touch(openBytes(t, b)); err == nil {
		t.Error("a link as long as all of them")
	}
}

// TestDamagedElements: deflate must notice.
func TestDamagedElements(t *testing.T) {
	b := fixture(t, "chunks_earliest.h5")
	f := openBytes(t, b)
	for _, path := range []string{"/deflate/fixed", "/deflate/cube"} {
		d := dataset(t, f, path)
		r := d.store().refs[1]
		b[r.addr+uint64(r.stored)-6] ^= 0x10
		var fe *FormatError
		if _, err := dataset(t, f, path).ReadAll(); !errors.As(err, &fe) || fe.Offset != int64(r.addr) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// made is a file in the making.
type made struct{ b []byte }

func (m *made) put(v ...any) {
	for _, v := range v {
		m.b, _ = binary.Append(m.b, binary.LittleEndian, v)
	}
}

// superblock begins a file whose root group comes next.
func (m *made) superblock() {
	m.put([]byte("\x89HDF\r\n\x1a\n"), uint32(0), uint8(0), uint8(8), uint8(8), uint8(0), uint16(4), uint16(16), uint32(0),
		uint64(0), uint64(undefined), uint64(undefined), uint64(undefined),
		uint64(0), uint64(96), uint64(0), uint64(0), uint64(0))
}

// group adds the header of a group with its tree, heap and node of links.
func (m *made) group(to []uint64) {
	at := uint64(len(m.b))
	tree, heap, data := at+40, at+40+40, at+40+40+32
	node := data + uint64(8*len(to))
	m.put(uint8(1), uint8(0), uint16(1), uint32(1), uint32(24), uint32(0))
	m.put(uint16(msgSymbolTable), uint16(16), uint32(0), tree, heap)
	m.put([]byte("TREE"), uint8(0), uint8(0), uint16(1), uint64(undefined), uint64(undefined), uint64(0), node)
	m.put([]byte("HEAP"), uint32(0), uint64(8*len(to)), uint64(undefined), data)
	for i := range to {
		m.put([]byte(fmt.Sprintf("%07d\x00", i)))
	}
	m.put([]byte("SNOD"), uint8(1), uint8(0), uint16(len(to)))
	for i, to := range to {
		m.put(uint64(8*i), to, uint32(0), uint32(0), [16]byte{})
	}
}

func TestNested(t *testing.T) {
	var m made
	m.superblock()
	for range 2 * maxDepth {
		at := uint64(len(m.b))
		m.group([]uint64{at + 40 + 40 + 32 + 8 + 8 + 40})
	}
	n := 0
	err := openBytes(t, m.b).Walk(func(string, Object, error) error { n++; return nil })
	if !errors.Is(err, ErrLimit) || n != maxDepth {
		t.Errorf("%d objects, %v", n, err)
	}
}

// TestSharedStructures: many groups that use the same bytes may not make a walk
// read them for each.
func TestSharedStructures(t *testing.T) {
	// A root group with thousands of links to headers which all continue with the same large block.
	const block, links = 1 << 20, 20000
	var m made
	m.superblock()
	empty := len(m.b)
	m.group(make([]uint64, links))
	shared := uint64(len(m.b))
	to := make([]uint64, links)
	for i := range to {
		to[i] = shared + block + 40*uint64(i)
	}
	m.b = m.b[:empty]
	m.group(to)
	m.b = append(m.b, make([]byte, block)...)
	for range links {
		m.put(uint8(1), uint8(0), uint16(2), uint32(1), uint32(24), uint32(0))
		m.put(uint16(msgContinuation), uint16(16), uint32(0), shared, uint64(block))
	}
	n := 0
	err := openBytes(t, m.b).Walk(func(string, Object, error) error { n++; return nil })
	if !errors.Is(err, ErrLimit) || n == 0 || n > links/2 {
		t.Errorf("%d objects, %v", n, err)
	}
}

// TestNamesThatOverlap: many entries of a group that name the same long text may not make a copy each.
func TestNamesThatOverlap(t *testing.T) {
	const links, width = 10000, 1000
	var m made
	m.superblock()
	m.group(make([]uint64, links))
	// All names but the last are one text then, of which each entry takes another end.
	data := bytes.Index(m.b, []byte("0000000\x00"))
	for i := range 8*links - 1 {
		m.b[data+i] = 'a'
	}
	node := data + 8*links + 8
	for i := range links {
		binary.LittleEndian.PutUint64(m.b[node+40*i:], uint64(8*links-width+i%width))
	}
	var fe *FormatError
	if _, err := openBytes(t, m.b).Root().Names(); !errors.As(err, &fe) || fe.Found != "names that overlap" || len(err.Error()) > 200 {
		t.Errorf("names of one text: %.200v", err)
	}
	// Longer than any name, and the message does not hold it.
	for i := range links {
		binary.LittleEndian.PutUint64(m.b[node+40*i:], uint64(i))
	}
	if _, err := openBytes(t, m.b).Root().Names(); !errors.As(err, &fe) || fe.Found != "text without an end" || len(err.Error()) > 200 {
		t.Errorf("a name of 80 kB: %.200v", err)
	}
	long := append([]byte{1, 2}, append(binary.LittleEndian.AppendUint32(nil, 80000), make([]byte, 80008)...)...)
	if err := must.Try(func() { new(source).link(&cursor{b: long}) }); !errors.As(err, &fe) || fe.Found != "name of 80000 bytes" {
		t.Errorf("a link message with a name of 80 kB: %.200v", err)
	}
	// Twice the same name, of which an error shows the beginning.
	for i := range links {
		binary.LittleEndian.PutUint64(m.b[node+40*i:], uint64(8*links-8))
	}
	for i := range 2 {
		binary.LittleEndian.PutUint64(m.b[node+40*i:], uint64(8*links-width))
	}
	if _, err := openBytes(t, m.b).Root().Names(); !errors.As(err, &fe) || len(err.Error()) > 300 {
		t.Errorf("a long name twice: %.200v", err)
	}
}

// TestFiltersCounted: the library has at most 32 filters, as many as the mask of a chunk has bits.
func TestFiltersCounted(t *testing.T) {
	for _, n := range []int{32, 33} {
		b := append([]byte{1, byte(n)}, make([]byte, 6)...)
		for range n {
			b = append(b, filterShuffle, 0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0)
		}
		if err := must.Try(func() { filters(&cursor{b: b}) }); (err == nil) != (n == 32) {
			t.Errorf("%d filters: %v", n, err)
		}
	}
}

// TestDroppedChunks: what the cache gives up is not held by the list any more.
func TestDroppedChunks(t *testing.T) {
	s := dataset(t, openBytes(t, fixture(t, "chunks_earliest.h5")), "/deflate/fixed").store()
	s.held = cacheBytes
	held := weak.Make(&s.chunk(s.refs[0], true)[0])
	if s.chunk(s.refs[1], true); len(s.recent) != 1 {
		t.Fatal(len(s.recent))
	}
	if runtime.GC(); held.Value() != nil {
		t.Error("a chunk that was dropped is in memory")
	}
	runtime.KeepAlive(s)
}
