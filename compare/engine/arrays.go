package engine

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/dump"
	"precision/dump/dtype"
	"precision/dump/layout"
	"precision/internal/must"
	"precision/internal/nd"
	"precision/internal/plainfile"
)

// ArrayResult is the outcome of comparing two array files.
type ArrayResult struct {
	Metrics []metric.Metric
	Result  metric.Result
	// Reasons are the notes on the values.
	Reasons []result.Reason
}

// Lines are the table of the values: names, then values, each column as wide
// as the wider of the two and a blank.
func (r *ArrayResult) Lines() [2]string {
	var names, values strings.Builder
	for _, m := range r.Metrics {
		name, value := m.String(), r.Result.Values[m].Text(m)
		width := max(len(name), len(value))
		fmt.Fprintf(&names, "%-*s ", width, name)
		fmt.Fprintf(&values, "%-*s ", width, value)
	}
	return [2]string{names.String(), values.String()}
}

// Report lists the values a line each, as the file of file_compare has them.
func (r *ArrayResult) Report() string {
	var b strings.Builder
	for _, m := range r.Metrics {
		fmt.Fprintf(&b, "%s: %s\n", m, r.Result.Values[m].Text(m))
	}
	return b.String()
}

// Arrays compares two array files, .npy or, by their ending, .txt with numbers
// between blanks. Their shapes must be the same. Errors are *[Error], or
// that of the context.
func Arrays(ctx context.Context, leftPath, rightPath string, numerics metric.Numerics, metrics []metric.Metric) (_ *ArrayResult, err error) {
	defer must.Catch(&err)
	left := must.Get(openArray(leftPath))
	defer left.Close()
	right := must.Get(openArray(rightPath))
	defer right.Close()
	wrong(!slices.Equal(left.Shape, right.Shape), FaultShapes, "%s has the shape %s, %s has %s", leftPath, shapeText(left.Shape), rightPath, shapeText(right.Shape))
	cfg := metric.Config{Numerics: numerics, Metrics: metrics, Scalar: nd.Single(left.Shape)}
	if numerics == metric.Reference {
		cfg.Scalar = oldScalarLike(left.Shape)
		cfg.Boolean = left.Type == dtype.Bool && right.Type == dtype.Bool
	}
	spare := newCrewOf(max(1, runtime.GOMAXPROCS(0)-1), nil) // besides this goroutine
	pair, worker := newPairing(left.operand(), right.operand(), left.Count, cfg), &Worker{crew: spare}
	values, err := pair.compute(ctx, worker)
	var lost result.Kind
	if err == nil {
		lost, err = pair.imaginaryLeftOut(ctx, worker)
	}
	if err != nil {
		must.Do(ctx.Err())
		faulty(FaultBadDump, sideOf(err, leftPath, rightPath), err)
	}
	r := &ArrayResult{Metrics: metrics, Result: values}
	if lost != "" {
		r.Reasons = append(r.Reasons, result.Because(lost, map[result.Kind]string{result.RealPartOnly: rightPath, result.LeftRealPartOnly: leftPath}[lost]))
	}
	for _, n := range values.Notes {
		r.Reasons = append(r.Reasons, result.NoteReason(n, leftPath, rightPath))
	}
	return r, nil
}

func openArray(path string) (t *SideTensor, err error) {
	defer must.Catch(&err)
	if strings.HasSuffix(path, ".txt") {
		return openNumbers(path)
	}
	f, err := dump.OpenFile(path)
	faulty(arrayFault(err), "", err)
	if f.Form != dump.Numpy {
		f.Close()
		return nil, faultf(FaultBadDump, "%s: found a %s, expected a numpy array", path, f.Form)
	}
	t, err = onlyTensor(f)
	faulty(FaultBadDump, "", err)
	return t, nil
}

// arrayFault tells a path that cannot be opened from whatever is wrong with a
// file's content.
func arrayFault(err error) Fault {
	if dump.Code(err) == dump.CodePath {
		return FaultPath
	}
	return FaultBadDump
}

// openNumbers reads a text file of numbers: lines of equal length make a
// matrix, a single line or column a vector.
func openNumbers(path string) (_ *SideTensor, err error) {
	defer must.Catch(&err)
	file, _, err := plainfile.Open(path, "a file of numbers")
	faulty(FaultPath, "", err)
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<26)
	var data []byte
	var rows, columns int64
	for number := 1; lines.Scan(); number++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		wrong(rows > 0 && int64(len(fields)) != columns, FaultBadDump, "%s:%d: %d numbers, the lines before have %d", path, number, len(fields), columns)
		for _, s := range fields {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil && !math.IsInf(v, 0) { // as most are numbers, nothing is boxed for them
				return nil, faultf(FaultBadDump, "%s:%d: found %q, expected a number", path, number, s)
			}
			data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
		}
		rows, columns = rows+1, int64(len(fields))
	}
	faulty(FaultBadDump, path, lines.Err())
	// A single line or column is a vector, a single number a scalar.
	shape := []int64{rows, columns}
	switch {
	case rows == 0:
		shape = []int64{0}
	case rows == 1 && columns == 1:
		shape = []int64{}
	case rows == 1 || columns == 1:
		shape = []int64{rows * columns}
	}
	v, err := layout.Contiguous(shape)
	faulty(FaultBadDump, path, err)
	o, err := viewOperand(bytes.NewReader(data), 0, dtype.Float64, false, v)
	faulty(FaultBadDump, path, err)
	return &SideTensor{Tensor: o.tensor(shape), Close: func() error { return nil }}, nil
}
