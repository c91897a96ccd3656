package h5

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/dump/dtype"
)

// fixture returns a file of testdata, decompressed if it is kept so.
func fixture(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if errors.Is(err, os.ErrNotExist) {
		if b, err = os.ReadFile(filepath.Join("testdata", name+".gz")); err == nil {
			var z *gzip.Reader
			if z, err = gzip.NewReader(bytes.NewReader(b)); err == nil {
				b, err = io.ReadAll(z)
			}
		}
	}
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func openBytes(tb testing.TB, b []byte) *File {
	tb.Helper()
	f, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// expected is what h5py saw, see testdata/make.py.
type expected struct {
	Attrs map[string]json.RawMessage
	Names []string // of a group
	Shape []int64  // of a dataset
	Type  string
	Data  string
	Error string
	Named bool
}

// digest is the form bytes have in expectations.
func digest(b []byte) string {
	if len(b) <= 64 {
		return hex.EncodeToString(b)
	}
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func typeName(t dtype.Type) string {
	if t == dtype.Undefined {
		return "undefined"
	}
	return t.String()
}

// TestFixtures compares every object, attribute and element of the files h5py
// wrote with what h5py reads.
func TestFixtures(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json*")
	if err != nil || len(files) < 8 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		name, _, _ := strings.Cut(filepath.Base(path), ".")
		t.Run(name, func(t *testing.T) {
			var want map[string]expected
			if err := json.Unmarshal(fixture(t, name+".json"), &want); err != nil {
				t.Fatal(err)
			}
			f := openBytes(t, fixture(t, name+".h5"))
			check(t, f.Root(), want["/"])
			seen := map[string]bool{"/": true}
			var order []string
			err := f.Walk(func(path string, o Object, err error) error {
				w, ok := want[path]
				if w.Named && err != nil && strings.Contains(err.Error(), "no group and no dataset") {
					seen[path] = true
					return nil
				}
				if err != nil {
					t.Errorf("%s: %v", path, err)
					return nil
				}
				if !ok {
					t.Errorf("%s: not expected", path)
					return nil
				}
				if o.Path() != path {
					t.Errorf("path %s in the walk, %s from the object", path, o.Path())
				}
				seen[path] = true
				order = append(order, path)
				check(t, o, w)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for path := range want {
				if !seen[path] {
					t.Errorf("%s: missing", path)
				}
			}
			if !slices.IsSortedFunc(order, byParts) {
				t.Error("walk out of order")
			}
		})
	}
}

// byParts orders paths name by name.
func byParts(a, b string) int { return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/")) }

// unread are the objects of the files that h5py reads and this package refuses.
var unread = []struct{ path, why string }{
	{"/fletcher/*", "filter 3 (fletcher32)"}, {"/all/*", "filter 3 (fletcher32)"}, {"/edges*", "filter 3 (fletcher32)"},
	{"/odd/*e[3567]", "bytes"}, {"/odd/bit[sf]*", "bytes"}, {"/typed", "stored by itself"}, {"/chunked", "filter 3 (fletcher32)"},
}

func check(t *testing.T, o Object, want expected) {
	t.Helper()
	path := o.Path()
	checkAttrs(t, o, want.Attrs)
	switch o := o.(type) {
	case *Group:
		names, err := o.Names()
		if err != nil || !slices.Equal(names, want.Names) {
			t.Errorf("%s: names %.200q %v, want %.200q", path, names, err, want.Names)
		}
	case *Dataset:
		for _, u := range unread {
			if ok, _ := filepath.Match(u.path, path); ok {
				want.Error = u.why
			}
		}
		if typeName(o.Type) != want.Type && want.Error == "" {
			t.Errorf("%s: type %s, want %s", path, typeName(o.Type), want.Type)
			return
		}
		if !slices.Equal(o.Shape, want.Shape) && o.Type != dtype.Undefined {
			t.Errorf("%s: shape %v, want %v", path, o.Shape, want.Shape)
		}
		got, err := o.ReadAll()
		if want.Type == "undefined" || want.Error != "" {
			var u *UnsupportedError
			if !errors.As(err, &u) || !strings.Contains(err.Error(), want.Error) {
				t.Errorf("%s: %v, want an UnsupportedError with %q", path, err, want.Error)
			}
			return
		}
		if err != nil {
			t.Error(err)
			return
		}
		if digest(got) != want.Data {
			t.Errorf("%s: elements %.64x %s, want %s", path, got, digest(got), want.Data)
		}
		if int64(len(got)) != o.Size() {
			t.Errorf("%s: %d bytes, size %d", path, len(got), o.Size())
		}
		checkReadAt(t, o, got)
	}
}

// checkReadAt compares pieces with the whole.
func checkReadAt(t *testing.T, d *Dataset, all []byte) {
	t.Helper()
	for _, step := range []int{3, 7, 100, 1 << 16} {
		if len(all) > 2000*step {
			continue
		}
		for from := 0; from < len(all); from += step {
			p := make([]byte, step)
			n, err := d.ReadAt(p, int64(from))
			if err != nil && (err != io.EOF || from+step <= len(all)) {
				t.Fatal(err)
			}
			if want := all[from:min(from+step, len(all))]; !bytes.Equal(p[:n], want) {
				t.Fatalf("%s: %x at %d, want %x", d.Path(), p[:n], from, want)
			}
		}
	}
	if n, err := d.ReadAt(make([]byte, 1), d.Size()); n != 0 || err != io.EOF {
		t.Errorf("%s: %d bytes, %v at the end", d.Path(), n, err)
	}
	if got, err := io.ReadAll(io.NewSectionReader(d, 0, d.Size())); err != nil || !bytes.Equal(got, all) {
		t.Errorf("%s: stream differs: %v", d.Path(), err)
	}
}

// checkAttrs looks for the attributes that h5py saw; what is in those of integers is TestAttributeValues.
func checkAttrs(t *testing.T, o Object, want map[string]json.RawMessage) {
	t.Helper()
	list, err := o.Attrs()
	if err != nil || len(list) != len(want) {
		t.Errorf("%s: %d attributes, want %d, %v", o.Path(), len(list), len(want), err)
	}
	for name := range want {
		if _, err := o.Attr(name); err != nil {
			t.Error(err)
		}
	}
	if _, err := o.Attr("no such"); !errors.Is(err, ErrNotFound) {
		t.Errorf("%s: attribute that is not there: %v", o.Path(), err)
	}
}

func TestAttributeValues(t *testing.T) {
	f := openBytes(t, fixture(t, "attributes_earliest.h5"))
	o, err := f.Lookup("/kinds")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		ints []int64 // nil: an error
	}{
		{"i1", []int64{0, -128, 127}},
		{"i2", []int64{0, -32768, 32767}},
		{"le_i4", []int64{0, -1 << 31, 1<<31 - 1}},
		{"i8", []int64{0, -1 << 63, 1<<63 - 1}},
		{"le_u1", []int64{0, 0, 255}},
		{"u2", []int64{0, 0, 65535}},
		{"u4", []int64{0, 0, 1<<32 - 1}},
		{"u8", nil},
		{"f8", nil},
	} {
		a, err := o.Attr(c.name)
		if err != nil {
			t.Fatal(err)
		}
		ints, err := a.Ints()
		if !slices.Equal(ints, c.ints) || (err == nil) != (c.ints != nil) {
			t.Errorf("%s: %v %v, want %v", c.name, ints, err, c.ints)
		}
		if _, err := a.Int(); err == nil {
			t.Errorf("%s: one integer", c.name)
		}
	}
	if a, err := f.Root().Attr("root"); err != nil {
		t.Fatal(err)
	} else if n, err := a.Int(); n != 1 || err != nil {
		t.Error(n, err)
	}
}

func TestLinks(t *testing.T) {
	f := openBytes(t, fixture(t, "links_earliest.h5"))
	for path, want := range map[string]byte{"/a/b/x": 1, "hard": 1, "/a/./c//y": 2} {
		o, err := f.Lookup(path)
		if err != nil {
			t.Error(err)
			continue
		}
		if b, err := o.(*Dataset).ReadAll(); err != nil || !bytes.Equal(b, []byte{want}) {
			t.Errorf("%s: %v %v, want %d", path, b, err, want)
		}
	}
	for _, path := range []string{"/no", "/a/b/x/z"} {
		if _, err := f.Lookup(path); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", path, err)
		}
	}
	var u *UnsupportedError
	if _, err := f.Lookup("/soft"); !errors.As(err, &u) {
		t.Errorf("soft link: %v", err)
	}
}

func TestCycle(t *testing.T) {
	f := openBytes(t, fixture(t, "cycle_earliest.h5"))
	var got []string
	err := f.Walk(func(path string, o Object, err error) error {
		if err != nil {
			path += " " + map[bool]string{true: "cycle", false: err.Error()}[errors.Is(err, ErrCycle)]
		}
		got = append(got, path)
		return nil
	})
	want := []string{"/a", "/a/b", "/a/b/up cycle", "/a/b/x", "/a/root cycle"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q %v, want %q", got, err, want)
	}
}

// TestUnsupported opens files in other versions of the format than the library's default.
func TestUnsupported(t *testing.T) {
	for file, want := range map[string]string{
		"links_latest": `superblock version 3, which h5py writes only when asked (libver="latest"`,
		"small":        "offsets of 4",
	} {
		b := fixture(t, file+".h5")
		var u *UnsupportedError
		if _, err := Open(bytes.NewReader(b), int64(len(b))); !errors.As(err, &u) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", file, err, want)
		}
	}
	// A group that keeps the order of creation in a file of the default format.
	b := fixture(t, "links_earliest.h5")
	b = append(b[:96], append([]byte("OHDR\x02"), b[101:]...)...)
	if _, err := Open(bytes.NewReader(b), int64(len(b))); err == nil || !strings.Contains(err.Error(), "track_order") {
		t.Error(err)
	}
}

// TestUserBlock: a file may begin with what is none of the format, which an error names.
func TestUserBlock(t *testing.T) {
	for _, n := range []int{512, 1024, 2048} {
		b := append(make([]byte, n), fixture(t, "links_earliest.h5")...)
		var u *UnsupportedError
		if _, err := Open(bytes.NewReader(b), int64(len(b))); !errors.As(err, &u) || !strings.Contains(u.Feature, fmt.Sprintf("user block of %d bytes", n)) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// TestLinksOutside: the links of a heap may lead to other files.
func TestLinksOutside(t *testing.T) {
	f := openBytes(t, fixture(t, "densesmall_earliest.h5"))
	var u *UnsupportedError
	if _, err := f.Lookup("/outside/2"); !errors.As(err, &u) {
		t.Errorf("external link: %v", err)
	}
	if b, err := dataset(t, f, "/outside/3").ReadAll(); err != nil || !bytes.Equal(b, []byte{1}) {
		t.Error(b, err)
	}
}

func TestWalkStops(t *testing.T) {
	f := openBytes(t, fixture(t, "torch_earliest.h5"))
	stop := errors.New("stop")
	n := 0
	err := f.Walk(func(string, Object, error) error {
		if n++; n == 3 {
			return stop
		}
		return nil
	})
	if err != stop || n != 3 {
		t.Error(n, err)
	}
}
