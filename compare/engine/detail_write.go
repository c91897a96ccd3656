package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"precision/compare/result"
	"precision/dump/dtype"
	"precision/dump/npy"
	"precision/internal/must"
	"precision/internal/whole"
)

// detailWriter writes the files of one tensor.
type detailWriter struct {
	pair  *detailPair
	opt   DetailOptions
	names *detailNames
	files []string
}

func newDetailWriter(p *detailPair, d DetailOptions, out string) *detailWriter {
	return &detailWriter{pair: p, opt: d, names: newDetailNames(out, d.Op, p.left.Path, d.Input, d.Slot)}
}

// write writes everything and returns what there is to tell. What is not the
// fault of the dumps has the code of an output that cannot be written.
func (w *detailWriter) write(ctx context.Context) *DetailResult {
	r, err := must.Of(func() *DetailResult { return w.writeFiles(ctx) })
	var coded *Error
	if err != nil && ctx.Err() == nil && !errors.As(err, &coded) {
		err = &Error{Fault: FaultWrite, Err: err}
	}
	return must.Get(r, err)
}

func (w *detailWriter) writeFiles(ctx context.Context) *DetailResult {
	w.names.removeOld()
	byAbs, byRel := &ranking{limit: w.opt.TopN, by: element.absRank}, &ranking{limit: w.opt.TopN, by: element.relRank}
	if w.pair.boolean { // there are no errors to rank by: the first elements
		byAbs.by, byRel.by = nil, nil
	}
	limits := [4]float64{math.Inf(1), 0, math.Inf(1), 0} // smallest and largest absolute, then relative error
	var lines *whole.File
	var line []byte
	place := newPlace(w.pair.shape)
	defer func() {
		if lines != nil {
			lines.Discard()
		}
	}()
	begin := func(first int64) {
		commit(lines)
		lines = w.create("_"+strconv.FormatInt(first, 10), ".csv")
		lines.WriteString(w.pair.header())
	}
	w.pair.tiles(ctx, func(first int64, x, y []float64) {
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
				begin(e.index)
			}
			place.at(e.index)
			line = w.pair.appendLine(line[:0], e, place, false)
			must.Get(lines.Write(line))
		}
	})
	if lines == nil && !w.opt.SkipElements { // no elements: a file with the header alone
		begin(0)
	}
	commit(lines)
	w.writeArray(ctx)
	result := &DetailResult{}
	for _, t := range []struct {
		name string
		r    *ranking
		into *string
	}{{partAbsolute, byAbs, &result.Absolute}, {partRelative, byRel, &result.Relative}} {
		*t.into = w.writeTop(t.name, t.r.sorted())
	}
	w.writeSummary(limits)
	if list := w.names.write(); list != "" {
		w.files = append(w.files, list)
	}
	slices.Sort(w.files)
	result.Files = w.files
	return result
}

// create starts the file with that end of its name.
func (w *detailWriter) create(part, suffix string) *whole.File {
	f, err := whole.CreateOwn(w.names.path(part, suffix), 0o600)
	faulty(FaultPath, "", err)
	w.files = append(w.files, f.Path())
	return f
}

func commit(f *whole.File) {
	if f != nil {
		must.Do(f.Commit())
	}
}

func (w *detailWriter) writeSummary(limits [4]float64) {
	f := w.create(partSummary, ".txt")
	defer f.Discard()
	p := w.pair
	fmt.Fprintf(f, "TotalCount:%d\nNPUDump:%s\nGroundTruth:%s\nFormat:%s\n", p.leftData.count, p.leftName, p.rightName, p.axes)
	if p.leftData.count == 0 {
		limits = [4]float64{math.NaN(), math.NaN(), math.NaN(), math.NaN()}
	}
	for i, name := range []string{"MinAbsoluteError", "MaxAbsoluteError", "MinRelativeError", "MaxRelativeError"} {
		if p.boolean {
			fmt.Fprintf(f, "%s:-\n", name)
		} else {
			fmt.Fprintf(f, "%s:%s\n", name, appendValue(nil, limits[i], false))
		}
	}
	commit(f)
}

// writeTop writes a list of largest errors and returns it padded for a
// terminal.
func (w *detailWriter) writeTop(name string, list []element) string {
	f := w.create(name, ".csv")
	defer f.Discard()
	f.WriteString(w.pair.header())
	rows := [][]string{cellsOf(w.pair.header())}
	place := newPlace(w.pair.shape)
	for _, e := range list {
		place.at(e.index)
		line := w.pair.appendLine(nil, e, place, true)
		must.Get(f.Write(line))
		rows = append(rows, cellsOf(string(line)))
	}
	commit(f)
	return padColumns(rows)
}

// writeArray writes the prepared left side as a numpy array. Types numpy does
// not have are widened to one it has.
func (w *detailWriter) writeArray(ctx context.Context) {
	f := w.create("", ".npy")
	defer f.Discard()
	o := w.pair.leftData
	typ, _ := o.typ.Array() // which all have that can be read
	if o.count == 0 {
		typ = dtype.Float64 // what numpy makes of no elements
	}
	shape := w.pair.shape
	switch {
	case w.pair.scalar:
		shape = nil
	case len(shape) == 0:
		shape = []int64{1}
	}
	from := o.open()
	must.Do(npy.Copy(ctx, f, o.typ, typ, shape, func(dst []byte, first, n int64) error {
		if err := from.ReadTile(dst, first, n); err != nil {
			return &Error{Fault: FaultBadDump, Text: w.pair.left.Path, Err: err}
		}
		if o.big {
			o.swap(dst)
		}
		return nil
	}))
	commit(f)
}

// Detail compares one tensor of one operator element by element and writes the
// result to files in out. Errors are *[Error] or from package dump.
func Detail(ctx context.Context, opt Folders, d DetailOptions, out string) (_ *DetailResult, err error) {
	defer must.Catch(&err)
	must.Do(opt.Validate())
	e := newEngine(&opt)
	prepare := e.detailDirect
	if opt.Rules != nil {
		prepare = e.detailRule
	}
	p := prepare(&d)
	defer p.close()
	written := newDetailWriter(p, d, out).write(ctx)
	if opt.Overflow && opt.Rules != nil && !(opt.Left.Device() && opt.Right.Device()) {
		for _, t := range p.left.tensors(true, true) {
			if t.Type != dtype.Float16 || t.Err != nil {
				continue
			}
			if yes, err := p.left.overflows(ctx, t, e.opt.dialect(), new(Worker)); err == nil && yes {
				written.Overflow = append(written.Overflow, result.TensorName(d.Op, role(t.Input), t.Index))
			}
		}
	}
	return written, nil
}
