package convert

import (
	"bytes"
	"context"
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"precision/dump/dtype"
	"precision/dump/layout"
	"precision/dump/npy"
	"precision/testdata/workshop/dumptest"
)

// tensor is an output of a dump for a test.
type tensor struct {
	t           dtype.Type
	f           layout.Format
	shape, orig []int64
	group       int
	data        []byte
}

// made is a dump for a test.
type made struct {
	op              string
	outputs         []tensor
	buffers, spaces [][]byte
}

func (m made) bytes() []byte {
	d := dumptest.Dump{OpName: m.op, Buffers: m.buffers, Spaces: m.spaces}
	for _, x := range m.outputs {
		t := dumptest.Tensor{Type: int(x.t), Format: int(x.f), Shape: x.shape, Origin: x.orig, Group: x.group, Data: x.data}
		d.Outputs = append(d.Outputs, t)
	}
	return d.Bytes()
}

// put writes a dump and returns its path.
func (m made) put(t testing.TB, dir, name string) string {
	t.Helper()
	return putFile(t, filepath.Join(dir, name), m.bytes())
}

func putFile(t testing.TB, path string, b []byte) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// one is a dump of one output.
func one(x tensor) made { return made{op: "net/op", outputs: []tensor{x}} }

// run converts and expects that to be possible.
func run(t testing.TB, o Options, files ...string) *Report {
	t.Helper()
	r, err := Convert(context.Background(), files, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// listing is the names of the files in a folder.
func listing(t testing.TB, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, filepath.Base(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

// array is a numpy array that was written.
func readArray(t testing.TB, path string) (*npy.Header, []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	h, err := npy.Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return h, b[h.Offset:]
}

// numbers are n different values of two bytes.
func numbers(n int64) []byte {
	var b []byte
	for i := range n {
		b = binary.LittleEndian.AppendUint16(b, uint16(i*7+1))
	}
	return b
}

func count(shape []int64) int64 {
	n, err := layout.Count(shape)
	if err != nil {
		panic(err)
	}
	return n
}

func formatOf(f layout.Format) *layout.Format { return &f }

func codes(r *Report) []int {
	var all []int
	for _, f := range r.Files {
		for _, x := range f.Failures {
			all = append(all, x.Code)
		}
	}
	return all
}

// Written counts the files that were written.
func (r *Report) Written() int {
	n := 0
	for _, f := range r.Files {
		n += len(f.Written)
	}
	return n
}
