package compare

import (
	"cmp"
	"container/heap"
	"context"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"precision/dump/dtype"
	"precision/dump/npy"
	"precision/internal/whole"
)

// detailWriter writes the files of one tensor.
type detailWriter struct {
	pair   *detailPair
	opt    DetailOptions
	out    string
	prefix string
	files  []string
	long   [][2]string // new and intended names
}

// element is a pair of values with its errors.
type element struct {
	index    int64
	x, y     float64
	abs, rel float64
}

func newElement(index int64, x, y float64) element {
	d := math.Abs(x - y)
	if x == y {
		d = 0 // two equal infinities
	}
	return element{index, x, y, d, d / math.Abs(y)}
}

// write writes everything and returns what there is to tell.
func (w *detailWriter) write(ctx context.Context) (*DetailResult, error) {
	if err := w.removeOld(); err != nil {
		return nil, err
	}
	byAbs := &ranking{limit: w.opt.TopN, by: func(e element) float64 { return rank(e.abs) }}
	byRel := &ranking{limit: w.opt.TopN, by: func(e element) float64 { return rank(e.rel) }}
	if w.pair.boolean { // there are no errors to rank by: the first elements
		byAbs.by = func(element) float64 { return 0 }
		byRel.by = byAbs.by
	}
	limits := [4]float64{math.Inf(1), 0, math.Inf(1), 0} // smallest and largest absolute, then relative error
	var lines *whole.File
	var line []byte
	err := w.pair.tiles(ctx, func(first int64, x, y []float64) error {
		for i := range x {
			e := newElement(first+int64(i), x[i], y[i])
			byAbs.add(e)
			byRel.add(e)
			a, r := zeroed(e.abs), zeroed(e.rel)
			limits = [4]float64{min(limits[0], a), max(limits[1], a), min(limits[2], r), max(limits[3], r)}
			if w.opt.SkipElements {
				continue
			}
			if e.index%int64(w.opt.MaxLine) == 0 {
				if err := commit(lines); err != nil {
					return err
				}
				var err error
				if lines, err = w.create("_"+strconv.FormatInt(e.index, 10), ".csv"); err != nil {
					return err
				}
				lines.WriteString(w.header())
			}
			line = w.appendLine(line[:0], e, false)
			if _, err := lines.Write(line); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && lines == nil && !w.opt.SkipElements { // no elements: a file with the header alone
		if lines, err = w.create("_0", ".csv"); err == nil {
			lines.WriteString(w.header())
		}
	}
	if err != nil {
		if lines != nil {
			lines.Discard()
		}
		return nil, err
	}
	if err := commit(lines); err != nil {
		return nil, err
	}
	if err := w.writeArray(); err != nil {
		return nil, err
	}
	result := &DetailResult{}
	for _, t := range []struct {
		name string
		r    *ranking
		into *string
	}{{"_absolute_error_topn", byAbs, &result.Absolute}, {"_relative_error_topn", byRel, &result.Relative}} {
		var err error
		if *t.into, err = w.writeTop(t.name, t.r.sorted()); err != nil {
			return nil, err
		}
	}
	if err := w.writeSummary(limits); err != nil {
		return nil, err
	}
	if err := w.writeNames(); err != nil {
		return nil, err
	}
	slices.Sort(w.files)
	result.Files = w.files
	return result, nil
}

func commit(f *whole.File) error {
	if f == nil {
		return nil
	}
	return f.Commit()
}

// zeroed is an error as the summary counts it: what is not finite is 0.
func zeroed(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// rank orders errors: an infinite one first of all, one that could not be
// computed last.
func rank(v float64) float64 {
	if math.IsNaN(v) {
		return -1
	}
	return v
}

// removeOld removes the files of an earlier run for the same tensor.
func (w *detailWriter) removeOld() error {
	for _, pattern := range []string{"_*.csv", "_*.npy", "_summary.txt"} {
		old, err := filepath.Glob(filepath.Join(w.out, globText(w.prefix)+pattern))
		if err != nil {
			return err
		}
		for _, path := range old {
			if err := os.Remove(path); err != nil {
				return &CodeError{Code: codeDelete, Err: err}
			}
		}
	}
	return nil
}

// globText makes a name stand for itself in a pattern.
func globText(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(name)
}

// longest is the length from which on file names are replaced.
const longest = 255

// create starts the file with that end of its name. A name that is too long is
// replaced by one made from the dump file's, or by a hash.
func (w *detailWriter) create(part, suffix string) (*whole.File, error) {
	name := w.prefix + part + suffix
	if len(name) >= longest {
		intended := name
		direction := "_output_"
		if w.opt.Input {
			direction = "_input_"
		}
		flat := strings.NewReplacer(".", "_", "/", "_").Replace(w.pair.sourceFolder)
		if name = flat + fmt.Sprint(direction, w.opt.Slot) + part + suffix; len(name) >= longest {
			sum := md5.Sum([]byte(intended))
			name = hex.EncodeToString(sum[:]) + suffix
		}
		w.long = append(w.long, [2]string{name, intended})
	}
	path := filepath.Join(w.out, name)
	w.files = append(w.files, path)
	return whole.Create(path, 0o600)
}

func (w *detailWriter) writeNames() error {
	if len(w.long) == 0 {
		return nil
	}
	var b strings.Builder
	for _, n := range w.long {
		fmt.Fprintf(&b, "%s,%s\n", n[0], n[1])
	}
	path := filepath.Join(w.out, "simple_op_mapping.csv")
	w.files = append(w.files, path)
	return whole.Write(path, []byte(b.String()), 0o600)
}

func (w *detailWriter) header() string {
	return "Index," + w.pair.axes + ",NPUDump,GroundTruth,AbsoluteError,RelativeError\n"
}

// appendLine appends a line: index, coordinates, and four values, each with a
// tab before the comma and at the end. In the lists of largest errors every
// value has its tab, and what is not finite is a dash.
func (w *detailWriter) appendLine(b []byte, e element, top bool) []byte {
	b = strconv.AppendInt(b, e.index, 10)
	b = append(b, ',')
	b = appendCoordinates(b, e.index, w.pair.shape)
	value := func(v float64, boolean bool) {
		b = append(b, ',')
		switch {
		case boolean && v != 0:
			b = append(b, "True"...)
		case boolean:
			b = append(b, "False"...)
		case top && (math.IsNaN(v) || math.IsInf(v, 0)):
			b = append(b, '-')
		default:
			b = appendValue(b, v)
		}
		b = append(b, '\t')
	}
	value(e.x, w.pair.boolean)
	value(e.y, w.pair.boolean)
	if w.pair.boolean {
		b = append(b, ",-\t,-"...)
		if top {
			b = append(b, '\t')
		}
		return append(b, '\n')
	}
	value(e.abs, false)
	if !top && (math.IsNaN(e.rel) || math.IsInf(e.rel, 0)) {
		return append(b, ",-\n"...)
	}
	value(e.rel, false)
	return append(b, '\n')
}

func appendValue(b []byte, v float64) []byte {
	switch {
	case math.IsNaN(v):
		return append(b, "nan"...)
	case math.IsInf(v, 1):
		return append(b, "inf"...)
	case math.IsInf(v, -1):
		return append(b, "-inf"...)
	}
	return strconv.AppendFloat(b, v, 'f', 6, 64)
}

// appendCoordinates appends the place of an element, row-major, in a shape that
// is padded to four axes.
func appendCoordinates(b []byte, index int64, shape []int64) []byte {
	dims := shape
	for len(dims) < 4 {
		dims = append(slices.Clip(dims), 1)
	}
	rest := int64(1)
	for _, d := range dims {
		rest *= max(d, 1)
	}
	for i, d := range dims {
		if i > 0 {
			b = append(b, ' ')
		}
		rest /= max(d, 1)
		b = strconv.AppendInt(b, index/rest, 10)
		index %= rest
	}
	return b
}

// writeTop writes a list of largest errors and returns it padded for a
// terminal.
func (w *detailWriter) writeTop(name string, list []element) (string, error) {
	f, err := w.create(name, ".csv")
	if err != nil {
		return "", err
	}
	defer f.Discard()
	f.WriteString(w.header())
	rows := [][]string{strings.Split(strings.TrimSuffix(w.header(), "\n"), ",")}
	for _, e := range list {
		line := w.appendLine(nil, e, true)
		if _, err := f.Write(line); err != nil {
			return "", err
		}
		rows = append(rows, strings.Split(strings.ReplaceAll(strings.TrimSuffix(string(line), "\n"), "\t", ""), ","))
	}
	return padColumns(rows), f.Commit()
}

// padColumns makes columns equally wide, a tab between them.
func padColumns(rows [][]string) string {
	widths := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, c := range r {
			widths[i] = max(widths[i], len(c))
		}
	}
	var b strings.Builder
	for _, r := range rows {
		for i, c := range r {
			if i > 0 {
				b.WriteByte('\t')
			}
			fmt.Fprintf(&b, "%-*s", widths[i], c)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (w *detailWriter) writeSummary(limits [4]float64) error {
	f, err := w.create("_summary", ".txt")
	if err != nil {
		return err
	}
	defer f.Discard()
	p := w.pair
	fmt.Fprintf(f, "TotalCount:%d\nNPUDump:%s\nGroundTruth:%s\nFormat:%s\n", p.left.count, p.mineName, p.goldenName, p.axes)
	if p.left.count == 0 {
		limits = [4]float64{}
	}
	for i, name := range []string{"MinAbsoluteError", "MaxAbsoluteError", "MinRelativeError", "MaxRelativeError"} {
		if p.boolean {
			fmt.Fprintf(f, "%s:-\n", name)
		} else {
			fmt.Fprintf(f, "%s:%.6f\n", name, limits[i])
		}
	}
	return f.Commit()
}

// writeArray writes the prepared left side as a numpy array. Types numpy does
// not have are widened to float32.
func (w *detailWriter) writeArray() error {
	f, err := w.create("", ".npy")
	if err != nil {
		return err
	}
	defer f.Discard()
	o := w.pair.left
	typ := o.typ
	widen := typ.Numpy() == ""
	if widen {
		typ = dtype.Float32
	}
	shape := w.pair.shape
	if len(shape) == 0 {
		shape = []int64{1}
	}
	head, err := npy.AppendHeader(nil, typ, shape)
	if err != nil {
		return err
	}
	if _, err := f.Write(head); err != nil {
		return err
	}
	const step = 1 << 15
	raw, wide := make([]byte, o.bytes(step)), make([]float32, step)
	for at, from := int64(0), o.open(); at < o.count; at += step {
		n := min(step, o.count-at)
		b := raw[:o.bytes(n)]
		if err := from.ReadTile(b, at, n); err != nil {
			return err
		}
		if o.big {
			o.swap(b)
		}
		if widen {
			dtype.Widen32(o.typ, wide[:n], b)
			b = appendFloats(nil, wide[:n])
		}
		if _, err := f.Write(b); err != nil {
			return err
		}
	}
	return f.Commit()
}

// ranking keeps the elements with the largest errors; of equal ones the first.
// It is a heap with the least wanted element on top.
type ranking struct {
	limit int
	by    func(element) float64
	kept  []element
}

func (r *ranking) compare(a, b element) int {
	if c := cmp.Compare(r.by(b), r.by(a)); c != 0 {
		return c
	}
	return cmp.Compare(a.index, b.index)
}

func (r *ranking) Len() int           { return len(r.kept) }
func (r *ranking) Less(i, j int) bool { return r.compare(r.kept[i], r.kept[j]) > 0 }
func (r *ranking) Swap(i, j int)      { r.kept[i], r.kept[j] = r.kept[j], r.kept[i] }
func (r *ranking) Push(x any)         { r.kept = append(r.kept, x.(element)) }
func (r *ranking) Pop() any {
	last := r.kept[len(r.kept)-1]
	r.kept = r.kept[:len(r.kept)-1]
	return last
}

func (r *ranking) add(e element) {
	switch {
	case len(r.kept) < r.limit:
		heap.Push(r, e)
	case r.compare(e, r.kept[0]) < 0:
		r.kept[0] = e
		heap.Fix(r, 0)
	}
}

// sorted lists the kept elements, the largest error first.
func (r *ranking) sorted() []element {
	list := slices.Clone(r.kept)
	slices.SortFunc(list, r.compare)
	return list
}
