package h5

import (
	"bytes"
	"compress/zlib"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
)

// windowed makes all chunks large for a test.
func windowed(t testing.TB, limit int64) {
	before := wholeChunk
	wholeChunk = limit
	t.Cleanup(func() { wholeChunk = before })
}

// Large chunks read through a window have the bytes of whole ones: from front to
// back, from anywhere, and by several readers at a time.
func TestWindows(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	chunked := 0
	for _, name := range []string{"chunks_earliest", "chunks_latest", "types_earliest", "types_latest", "manychunks_latest", "small", "sparse_latest", "v18"} {
		b := fixture(t, name+".h5")
		err := openBytes(t, b).Walk(func(path string, o Object, err error) error {
			whole, ok := o.(*Dataset)
			if !ok || err != nil || whole.layout == nil || whole.layout.class != layoutChunked {
				return nil
			}
			want, err := whole.ReadAll()
			if err != nil {
				return nil // of a type or filter that is not read, or without bytes behind it
			}
			chunked++
			windowed(t, 0)
			defer func() { wholeChunk = cacheBytes }()
			d := dataset(t, openBytes(t, b), path)
			if got, err := d.ReadAll(); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s %s: elements differ, %v", name, path, err)
			}
			if got, err := io.ReadAll(io.NewSectionReader(d, 0, d.Size())); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s %s: elements in pieces differ, %v", name, path, err)
			}
			var all sync.WaitGroup
			for range 4 {
				seed := rng.Uint64()
				all.Add(1)
				go func() {
					defer all.Done()
					rng := rand.New(rand.NewPCG(seed, 1))
					for range 20 {
						if len(want) == 0 {
							return
						}
						at := rng.Int64N(int64(len(want)))
						p := make([]byte, 1+rng.Int64N(int64(len(want))-at))
						if _, err := d.ReadAt(p, at); err != nil || !bytes.Equal(p, want[at:at+int64(len(p))]) {
							t.Errorf("%s %s: %d bytes at %d differ, %v", name, path, len(p), at, err)
							return
						}
					}
				}()
			}
			all.Wait()
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if chunked < 20 {
		t.Errorf("%d chunked datasets", chunked)
	}
}

// Damage in a chunk is found through the window, too: by the checksum of the
// stored bytes, or by deflate.
func TestWindowsFindDamage(t *testing.T) {
	clean := fixture(t, "chunks_latest.h5")
	damaged := 0
	for at := len(clean) / 4; at < len(clean); at += len(clean)/40 + 1 {
		b := bytes.Clone(clean)
		b[at] ^= 0x55
		read := func() map[string]bool {
			bad := map[string]bool{}
			f, err := open(bytes.NewReader(b), int64(len(b)), false)
			if err != nil {
				return bad
			}
			f.Walk(func(path string, o Object, err error) error {
				if d, ok := o.(*Dataset); ok {
					if _, err := d.ReadAll(); err != nil && !errors.As(err, new(*UnsupportedError)) {
						bad[path] = true
					}
				}
				return nil
			})
			return bad
		}
		windowed(t, cacheBytes)
		want := read()
		wholeChunk = 0
		got := read()
		for path := range want {
			damaged++
			if !got[path] {
				t.Errorf("byte %d: %s is read through a window, but not as a whole", at, path)
			}
		}
	}
	t.Logf("%d damaged datasets", damaged)
}

// A chunk takes no more memory than its windows, however large it claims to be.
func TestWindowMemory(t *testing.T) {
	windowed(t, 1<<16)
	f := openBytes(t, fixture(t, "sparse_latest.h5"))
	d := dataset(t, f, "zeros")
	p := make([]byte, 4096)
	read := func() {
		for at := int64(0); at < d.Size(); at += int64(len(p)) {
			if _, err := d.ReadAt(p[:min(int64(len(p)), d.Size()-at)], at); err != nil {
				t.Fatal(err)
			}
		}
	}
	read() // opens the places
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	read()
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > uint64(d.Size()) {
		t.Errorf("%d bytes of memory for %d of elements", n, d.Size())
	}
}

// Whoever reads from front to back is told that nothing is behind a shape.
func TestBacked(t *testing.T) {
	for _, libver := range []string{"earliest", "latest"} {
		f := openBytes(t, fixture(t, "sparse_"+libver+".h5"))
		for path, ok := range map[string]bool{"chunked": false, "contiguous": false, "wide": false, "zeros": true, "compact": true} {
			if err := dataset(t, f, path).Backed(); (err == nil) != ok || !ok && !errors.Is(err, ErrLimit) {
				t.Errorf("%s %s: %v", libver, path, err)
			}
		}
	}
}

// A bomb, a large chunk of few bytes, costs some windows of memory, read in
// order and from several places at once.
func TestWindowBomb(t *testing.T) {
	const size = 48 << 20
	var stored bytes.Buffer
	z := zlib.NewWriter(&stored)
	plane := make([]byte, 1<<16)
	for at := 0; at < size; at += len(plane) {
		for i := range plane {
			plane[i] = byte(at / (size / 4)) // the number of the byte in its element
		}
		z.Write(plane)
	}
	z.Close()
	src := &source{r: bytes.NewReader(stored.Bytes()), size: int64(stored.Len())}
	s := &chunkStore{
		d:    &Dataset{node: node{src: src}, filters: &pipeline{steps: []filter{{id: filterShuffle, values: []uint32{4}}, {id: filterDeflate}}}},
		g:    &grid{bytes: size},
		refs: []chunkRef{{stored: int64(stored.Len())}},
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c, err := s.stream(0)
	if err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 128<<10)
	for off := int64(0); off < size/2; off += int64(len(p)) {
		for _, at := range []int64{off, off + size/2} { // two readers
			if err := c.read(p, at); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(p[:8], []byte{0, 1, 2, 3, 0, 1, 2, 3}) || !bytes.Equal(p[len(p)-4:], []byte{0, 1, 2, 3}) {
				t.Fatalf("at %d: % x", at, p[:8])
			}
		}
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 {
		t.Errorf("%d bytes of memory for a file of %d", n, stored.Len())
	}
	if err := c.read(p[:4], size-3); err == nil {
		t.Error("read behind the end")
	}
}
