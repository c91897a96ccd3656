package engine

import (
	"fmt"
	"io"
	"strings"

	"precision/compare/result"
	"precision/dump"
	"precision/internal/nd"
)

// FFTS+ runs an operator in slices, each of which leaves a file. The slices of
// one operator are read as one dump: outputs are joined along the axis they
// were cut on, inputs are those of the first slice.

func mergeSlices(op *dump.Op) (*dumpFile, error) {
	var parts []*dump.Reader
	closeAll := func() error {
		var first error
		for _, p := range parts {
			if err := p.Close(); first == nil {
				first = err
			}
		}
		return first
	}
	for i := range op.Files {
		r, err := op.Files[i].Open()
		if err != nil {
			closeAll()
			return nil, err
		}
		parts = append(parts, r)
	}
	first := parts[0]
	if first.Slices == nil || !anyCut(first.Slices.OutputCut) {
		// Nothing says how to join them: the newest slice stands alone.
		last := parts[len(parts)-1]
		parts = parts[:len(parts)-1]
		closeAll()
		return &dumpFile{Reader: last, op: op.Key}, nil
	}
	merged := &sliced{first: first}
	file := *first.File
	file.Path = slicesPath(file.Path)
	file.Outputs = append([]dump.Tensor(nil), file.Outputs...)
	for i := range file.Outputs {
		axis := cutAxis(first.Slices.OutputCut, i)
		if axis < 0 {
			continue
		}
		if err := merged.join(&file.Outputs[i], parts, i, axis); err != nil {
			closeAll()
			return nil, err
		}
	}
	f := &dumpFile{Reader: &dump.Reader{File: &file, ReaderAt: merged}, op: op.Key, close: closeAll, merged: true}
	if want := first.Slices.Count; want > 0 && want != len(parts) {
		missing := result.Because(result.SlicesMissing, op.Key, count(want), count(len(parts)))
		f.remark = &missing
	}
	return f, nil
}

// slicesPath names all slices at once: the first four fields of the file name
// and a star.
func slicesPath(path string) string {
	dir, name := "", path
	if i := strings.LastIndexAny(path, `/\`); i >= 0 {
		dir, name = path[:i+1], path[i+1:]
	}
	fields := strings.SplitN(name, ".", 5)
	if len(fields) < 5 {
		return path
	}
	return dir + strings.Join(fields[:4], ".") + ".*"
}

func anyCut(cuts [][]int64) bool {
	for i := range cuts {
		if cutAxis(cuts, i) >= 0 {
			return true
		}
	}
	return false
}

// cutAxis is the first axis that tensor i was cut on, -1 if none.
func cutAxis(cuts [][]int64, i int) int {
	if i < len(cuts) {
		for axis, n := range cuts[i] {
			if n != 1 {
				return axis
			}
		}
	}
	return -1
}

// joinedBase is where the joined tensors begin in the address space of a
// sliced dump; real files end far below.
const joinedBase = 1 << 60

// sliced reads the first slice at its own offsets and the joined tensors
// behind joinedBase.
type sliced struct {
	first  *dump.Reader
	joined []joined
	end    int64
}

// joined is a tensor put together from slices along an axis: row i of it is
// row i of the first slice, then of the second, and so on.
type joined struct {
	at, size int64
	row      int64 // bytes of a joined row
	parts    []piece
}

type piece struct {
	r    io.ReaderAt
	base int64 // where the elements begin in the slice's file
	at   int64 // where its share begins in a row
	row  int64 // bytes of its share
}

func (s *sliced) join(t *dump.Tensor, files []*dump.Reader, output, axis int) error {
	j := joined{at: joinedBase + s.end}
	shape := append([]int64(nil), t.Shape...)
	if axis >= len(shape) {
		return &dump.Error{Path: files[0].Path, Code: dump.CodeShape, Offset: -1,
			Text: fmt.Sprintf("output %d is cut on axis %d, its shape is %s", output, axis, shapeText(shape))}
	}
	inner, fits := nd.Count(shape[axis+1:]...)
	above, _ := nd.Count(shape[:axis]...)
	if !fits {
		return &dump.Error{Path: files[0].Path, Code: dump.CodeShape, Offset: -1, Text: "the shape " + shapeText(shape) + " is too large"}
	}
	shape[axis] = 0
	for i, f := range files {
		if len(f.Outputs) != len(files[0].Outputs) {
			return &dump.Error{Path: f.Path, Code: dump.CodeInvalid, Offset: -1,
				Text: fmt.Sprintf("%d outputs, the first slice has %d", len(f.Outputs), len(files[0].Outputs))}
		}
		p := &f.Outputs[output]
		if p.Err != nil {
			return p.Err
		}
		if len(p.Shape) != len(shape) || p.Type != t.Type {
			return &dump.Error{Path: f.Path, Code: dump.CodeShape, Offset: -1,
				Text: fmt.Sprintf("output %d is %s %s, that of the first slice %s %s", output, p.Type, shapeText(p.Shape), t.Type, shapeText(t.Shape))}
		}
		for i, d := range p.Shape {
			if i != axis && d != shape[i] {
				return &dump.Error{Path: f.Path, Code: dump.CodeShape, Offset: -1,
					Text: fmt.Sprintf("output %d has the shape %s, that of the first slice is %s", output, shapeText(p.Shape), shapeText(t.Shape))}
			}
		}
		n, _ := nd.Count([]int64{p.Shape[axis], inner}...)
		share := p.Type.Bytes(n)
		// Where the rows of a packed type end within a byte the next one begins there.
		if ragged := int64(p.Type.Bits()) * n % 8; share < 0 || ragged != 0 && (above != 1 || i < len(files)-1) {
			return &dump.Error{Path: f.Path, Code: dump.CodeShape, Offset: -1,
				Text: fmt.Sprintf("output %d: slices of %d elements of type %s cannot be joined, expected whole bytes", output, n, p.Type)}
		}
		j.parts = append(j.parts, piece{r: f, base: p.Offset, at: j.row, row: share})
		j.row += share
		shape[axis] += p.Shape[axis]
	}
	n, ok := nd.Count(shape...)
	if !ok {
		return &dump.Error{Path: files[0].Path, Code: dump.CodeShape, Offset: -1, Text: "the joined shape " + shapeText(shape) + " is too large"}
	}
	if j.size = t.Type.Bytes(n); j.size < 0 {
		return &dump.Error{Path: files[0].Path, Code: dump.CodeShape, Offset: -1, Text: fmt.Sprintf("elements of type %s have no size", t.Type)}
	}
	s.end += j.size
	s.joined = append(s.joined, j)
	t.Shape, t.Offset, t.Size = shape, j.at, uint64(j.size)
	return nil
}

// ReadAt implements io.ReaderAt over the whole address space.
func (s *sliced) ReadAt(dst []byte, off int64) (int, error) {
	if off < joinedBase {
		return s.first.ReadAt(dst, off)
	}
	for i := range s.joined {
		if j := &s.joined[i]; off >= j.at && off < j.at+j.size {
			return j.readAt(dst, off-j.at)
		}
	}
	return 0, io.EOF
}

func (j *joined) readAt(dst []byte, off int64) (int, error) {
	done := 0
	for len(dst) > 0 {
		if off >= j.size {
			return done, io.EOF
		}
		row, in := off/j.row, off%j.row
		p := &j.parts[0]
		for i := range j.parts {
			if q := &j.parts[i]; q.at <= in && q.row > 0 {
				p = q
			}
		}
		n := min(int64(len(dst)), p.at+p.row-in)
		got, err := p.r.ReadAt(dst[:n], p.base+row*p.row+in-p.at)
		done += got
		if int64(got) < n {
			return done, err
		}
		dst, off = dst[n:], off+n
	}
	return done, nil
}

// dumpFile is an open dump.
type dumpFile struct {
	*dump.Reader
	op     string         // the operator's name to show
	close  func() error   // replaces that of the reader
	merged bool           // several slices read as one
	remark *result.Reason // something to know about the file
}

// Close closes the file, or all slices.
func (f *dumpFile) Close() error {
	if f.close != nil {
		return f.close()
	}
	return f.Reader.Close()
}
