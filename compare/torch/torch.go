// Package torch compares the tensors of two PyTorch runs recorded as HDF5
// files: mine, recorded on an NPU, and golden, recorded on a GPU or a CPU.
//
// Such a file holds a dataset for every tensor, at
// /operator/order/direction/…/name. The order is a number that counts the
// operator calls of the run, the direction is input or output. Attributes of
// the dataset tell the element type (DataType), the device (DeviceType), what
// kind of value it is (Type, of which 0 is a plain tensor) and the strides
// (Stride) of a tensor that was recorded as it lay in memory.
//
// The calls of an operator are paired by their place among the calls of that
// operator, the tensors of a call by their path. A pair that cannot be compared
// is a row that says why; only files that cannot be used at all are an error.
package torch

import (
	"fmt"

	"precision/compare/engine"
	"precision/compare/result"
	"precision/internal/must"
	"precision/internal/plainfile"
)

// fail makes an error with its fault. A wrapped error is the last argument.
func fail(fault engine.Fault, format string, args ...any) error {
	return &engine.Error{Fault: fault, Err: fmt.Errorf(format, args...)}
}

// Files are a source of pairs: the tensors of two recordings.
type Files struct {
	// Left and Right are the paths of the files.
	Left, Right string
	// Warnings tell of objects in the files that were left out.
	Warnings []error

	left, right *side
	match       *matching
}

// Open reads what is in two files and pairs it. Errors are [*engine.Error], with
// FaultPath for a path that cannot be opened, FaultParse for a file that is not
// HDF5 or is damaged, FaultBadDump for a left file that holds no tensors or is not
// from an NPU, and FaultNames when no dataset of a file is named as such files
// name them.
func Open(left, right string) (*Files, error) {
	f := &Files{Left: left, Right: right}
	if err := f.open(); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (f *Files) open() (err error) {
	defer must.Catch(&err)
	f.left = must.Get(openSide(f.Left))
	f.right = must.Get(openSide(f.Right))
	must.Do(checkLeft(f.left))
	if len(f.right.calls) == 0 && f.right.misnamed > 0 {
		return misnamed(f.right)
	}
	f.Warnings = append(append(f.Warnings, f.left.warnings...), f.right.warnings...)
	f.match = newMatching(f.left, f.right)
	f.match.run()
	return nil
}

// Close closes the files.
func (f *Files) Close() {
	for _, s := range []*side{f.left, f.right} {
		if s != nil {
			s.file.Close()
		}
	}
}

// Table says what is compared with what.
func (f *Files) Table() *result.Table {
	t := &result.Table{}
	t.Meta.Left = result.Side{Dir: f.Left, Kind: "torch"}
	t.Meta.Right = result.Side{Dir: f.Right, Kind: "torch"}
	t.Meta.Pairing.How = result.Aligned
	for _, w := range f.Warnings {
		t.Meta.Warnings = append(t.Meta.Warnings, w.Error())
	}
	for i, c := range f.left.calls {
		t.Ops = append(t.Ops, result.Operator{Name: c.folder, Type: c.op, Index: int(c.order), Order: i, Dumped: true})
	}
	return t
}

// Columns are those of the table as csv: its rows name datasets by their paths, in
// Left.File and Right.File.
func Columns(opt *engine.Options) result.Columns {
	return result.Columns{Datasets: true, Values: opt.Values()}
}

func checkLeft(s *side) error {
	if s.tensors == 0 {
		if s.misnamed > 0 {
			return misnamed(s)
		}
		return fail(engine.FaultBadDump, "%s holds no tensors", s.path)
	}
	if s.device != deviceNPU {
		return fail(engine.FaultBadDump, "%s is from device type %s, expected %s", s.path, s.device, deviceNPU)
	}
	return nil
}

func misnamed(s *side) error {
	return fail(engine.FaultNames, "%s: none of %d datasets is named /operator/order/input or output/…, the first is %s",
		s.path, s.misnamed, s.firstMisnamed)
}

// openFile opens a regular file.
func openFile(path string) (*plainfile.File, int64, error) {
	f, size, err := plainfile.Open(path, "a file of recordings")
	if err != nil {
		return nil, 0, fail(engine.FaultPath, "%w", err)
	}
	return f, size, nil
}
