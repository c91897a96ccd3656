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
	"context"
	"fmt"
	"os"
	"runtime"

	"precision/compare"
	"precision/compare/metric"
	"precision/compare/result"
)

// Exit codes of msaccucmp that this comparison gives.
const (
	codePath      = 3
	codeParse     = 4
	codeParameter = 6
	codeInvalid   = 11
	codeName      = 48
)

// Options of a comparison. The zero Options compute all ten metrics with the
// digits of msaccucmp.
type Options struct {
	// Exact selects [metric.Exact] in place of [metric.Reference].
	Exact bool
	// Metrics are the columns, in order; by default those of [metric.Default].
	Metrics []metric.Metric
	// MaxElements bounds how many elements of a tensor reach the metrics; 0
	// takes all.
	MaxElements int64
	// PostProcess tells that suspicious rows will be asked for, which needs the
	// cosine similarity among the metrics.
	PostProcess bool
	// Workers is the number of goroutines; all cores by default. The result
	// does not depend on it.
	Workers int
	// Progress is told after every pair how many are done.
	Progress func(done, total int)
}

func (o *Options) numerics() metric.Numerics {
	if o.Exact {
		return metric.Exact
	}
	return metric.Reference
}

func (o *Options) validate() error {
	if o.MaxElements < 0 {
		return fail(codeParameter, "the largest number of elements is %d, expected 0 or more", o.MaxElements)
	}
	if o.Workers < 0 {
		return fail(codeParameter, "the number of workers is %d, expected 1 or more", o.Workers)
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if len(o.Metrics) == 0 {
		o.Metrics = metric.Default(o.numerics())
	}
	var seen [metric.Count]bool
	for _, m := range o.Metrics {
		if int(m) >= metric.Count {
			return fail(codeParameter, "there is no metric number %d", m)
		}
		if seen[m] {
			return fail(codeParameter, "%s is selected twice", m)
		}
		seen[m] = true
	}
	if o.PostProcess && !seen[metric.CosineSimilarity] {
		return fail(codeParameter, "post-processing goes by %s, which is not among the metrics", metric.CosineSimilarity)
	}
	return nil
}

// fail makes an error with an exit code. A wrapped error is the last argument.
func fail(code int, format string, args ...any) error {
	return &compare.CodeError{Code: code, Err: fmt.Errorf(format, args...)}
}

// Compare compares the tensors of two files. Errors are [*compare.CodeError]:
// 3 for a path that cannot be opened, 4 for a file that is not HDF5 or is
// damaged, 6 for options that make no sense, 11 for a file of mine that holds
// no tensors or is not from an NPU, 48 when no dataset of mine is named as
// such files name them. It ends with the context's error when that is done.
func Compare(ctx context.Context, minePath, goldenPath string, opt Options) (*Table, error) {
	if err := opt.validate(); err != nil {
		return nil, err
	}
	mine, err := openSide(minePath)
	if err != nil {
		return nil, err
	}
	defer mine.close()
	golden, err := openSide(goldenPath)
	if err != nil {
		return nil, err
	}
	defer golden.close()
	if err := checkMine(mine); err != nil {
		return nil, err
	}
	if len(golden.calls) == 0 && golden.misnamed > 0 {
		return nil, misnamed(golden)
	}
	t := &Table{opt: opt, minePath: minePath, goldenPath: goldenPath}
	t.Warnings = append(append(t.Warnings, mine.warnings...), golden.warnings...)
	m := newMatching(mine, golden)
	m.run()
	t.Rows = make([]result.Row, len(m.pairs))
	if err := t.compute(ctx, m); err != nil {
		return nil, err
	}
	t.sort()
	return t, nil
}

func checkMine(s *side) error {
	if s.tensors == 0 {
		if s.misnamed > 0 {
			return misnamed(s)
		}
		return fail(codeInvalid, "%s holds no tensors", s.path)
	}
	if s.device != deviceNPU {
		return fail(codeInvalid, "%s is from device type %s, expected %s", s.path, s.device, deviceNPU)
	}
	return nil
}

func misnamed(s *side) error {
	return fail(codeName, "%s: none of %d datasets is named /operator/order/input or output/…, the first is %s",
		s.path, s.misnamed, s.firstMisnamed)
}

// openFile opens a regular file.
func openFile(path string) (*os.File, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, fail(codePath, "%w", err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is a %s, expected a file", path, info.Mode().Type())
	}
	if err != nil {
		f.Close()
		return nil, 0, fail(codePath, "%w", err)
	}
	return f, info.Size(), nil
}
