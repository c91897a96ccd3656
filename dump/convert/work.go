package convert

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"precision/dump"
	"precision/dump/dtype"
	"precision/dump/layout"
	"precision/dump/npy"
	"precision/dump/overflow"
	"precision/internal/must"
)

// scratch is the memory that a worker keeps from tensor to tensor.
type scratch struct {
	reader *layout.Reader
}

// work is one recording being converted.
type work struct {
	c       *converter
	ctx     context.Context
	j       *job
	r       *FileReport
	f       *dump.Reader
	scratch *scratch
}

// recordPrefix begins the names of overflow records.
const recordPrefix = "Opdebug.Node_OpDebug."

func (w *work) all() {
	o := &w.c.o
	if w.refused() {
		return
	}
	if w.isRecord() {
		for i := range w.f.Outputs {
			w.record(&w.f.Outputs[i])
		}
		return
	}
	if o.Format != nil && (o.Input != nil || o.Output != nil) {
		w.chosen()
		return
	}
	for i := range w.f.Inputs {
		w.tensor(&w.f.Inputs[i])
	}
	for i := range w.f.Outputs {
		w.tensor(&w.f.Outputs[i])
	}
	if o.Format != nil && o.Compat {
		if n := len(w.f.Buffers) + len(w.f.Spaces); n > 0 {
			w.r.warnf("%d buffers and work spaces are not written with a layout", n)
		}
		return
	}
	for i := range w.f.Buffers {
		w.buffer(i)
	}
	for i := range w.f.Spaces {
		w.space(i)
	}
}

// refused tells whether msaccucmp.py takes nothing from the recording. Of a
// payload that was cut it does not.
func (w *work) refused() bool {
	if !w.c.o.Compat {
		return false
	}
	if w.f.Form == dump.Nano && strings.Count(w.f.Name.File, ".") < 4 {
		w.r.fail(Part{}, dump.CodeInvalid, errorf(w.f.Path, dump.CodeInvalid, nil, "a compact dump's name has five fields and more"))
		return true
	}
	var err error
	for _, t := range w.f.Inputs {
		if err == nil && dump.Code(t.Err) == dump.CodeInvalid {
			err = t.Err
		}
	}
	for _, t := range w.f.Outputs {
		if err == nil && dump.Code(t.Err) == dump.CodeInvalid {
			err = t.Err
		}
	}
	for _, b := range append(w.f.Buffers[:len(w.f.Buffers):len(w.f.Buffers)], w.f.Spaces...) {
		if err == nil {
			err = b.Err
		}
	}
	if err != nil {
		code := dump.CodeInvalid
		if w.f.Form == dump.Nano {
			code = dump.CodeSize // a compact dump has exactly the bytes it tells of
		}
		w.r.fail(Part{}, code, err)
	}
	return err != nil
}

// isRecord tells whether the recording is one of an overflow.
func (w *work) isRecord() bool {
	if w.c.o.Compat && w.c.o.Format != nil {
		return false
	}
	return strings.HasPrefix(w.j.entry.Name.File, recordPrefix) || strings.HasPrefix(w.j.name, recordPrefix) ||
		!w.c.o.Compat && w.j.entry.Name.Kind == dump.Debug
}

// chosen converts the tensor that was asked for.
func (w *work) chosen() {
	list, group, at := w.f.Outputs, Output, w.c.o.Output
	if at == nil {
		list, group, at = w.f.Inputs, Input, w.c.o.Input
	}
	if *at < 0 || *at >= len(list) {
		err := errorf(w.f.Path, CodeIndex, nil, "%s %d was asked for, the file has %d", group, *at, len(list))
		w.r.fail(Part{group, *at}, CodeIndex, err)
		return
	}
	w.tensor(&list[*at])
}

func partOf(t *dump.Tensor) Part {
	if t.Input {
		return Part{Input, t.Index}
	}
	return Part{Output, t.Index}
}

// tensor writes one tensor.
func (w *work) tensor(t *dump.Tensor) {
	p, o := partOf(t), &w.c.o
	if o.Format == nil {
		w.try(p, func() { w.plain(t) })
		return
	}
	if !w.try(p, func() { w.save(p, w.formatted(t), *o.Format, true) }) && o.Type == MSNpy && t.Err == nil && w.ctx.Err() == nil &&
		w.try(p, func() { w.plain(t) }) {
		w.r.warnf("%s keeps its layout %s", p, t.Format)
	}
}

// try writes a part, or records why it was not written.
func (w *work) try(p Part, write func()) bool {
	err := must.Try(write)
	if err != nil {
		w.failed(p, err)
	}
	return err == nil
}

// refuse ends the writing of a part.
func (w *work) refuse(code int, err error, format string, args ...any) {
	must.Do(errorf(w.f.Path, code, err, format, args...))
}

// need ends the writing of a part of which something failed.
func (w *work) need(p Part, code int, err error) {
	if err != nil {
		w.refuse(code, err, "%s", p)
	}
}

// failure is an error with the exit code that msaccucmp.py has for it.
type failure struct {
	old int
	err error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// failed records that a part was not written.
func (w *work) failed(p Part, err error) {
	if w.ctx.Err() != nil {
		err = errorf(w.f.Path, CodeUnknown, w.ctx.Err(), "%s: interrupted", p)
	}
	code := dump.Code(err)
	if f, ok := errors.AsType[*failure](err); ok {
		code, err = w.c.code(f.old, f.err), f.err
	}
	w.r.fail(p, code, err)
}

// plain writes a tensor in the layout it has.
func (w *work) plain(t *dump.Tensor) {
	if o := &w.c.o; o.Compat && (o.Type == Bin || o.Type == MSNpy) && !t.Format.Known() {
		w.refuse(CodeFormat, nil, "%s: layout %s has no name there", partOf(t), t.Format)
	}
	w.save(partOf(t), w.stored(t), t.Format, false)
}

// save writes an array.
func (w *work) save(p Part, a *array, format layout.Format, formatted bool) {
	defer w.keep(a)
	name := w.c.tensorName(w.j, p, a, format, formatted)
	w.put(p, name, func(out *output) {
		switch w.c.o.Type {
		case PT:
			must.Do(writePT(out, a))
			return
		case Bin:
		default:
			head, err := npy.AppendHeader(nil, a.typ, a.shape)
			w.need(p, dump.CodeShape, err)
			out.Write(head) // an error stays until commit
		}
		if a.elems != nil {
			must.Do(a.elems.copyTo(out))
		}
	})
}

// keep hands the buffers of an array on to the next.
func (w *work) keep(a *array) {
	if a.release != nil {
		a.release()
	} else if a.elems != nil {
		w.scratch.reader = a.elems.r
	}
}

// put writes a file of the given name.
func (w *work) put(p Part, name string, fill func(*output)) {
	short := shorten(name)
	done := Written{Path: filepath.Join(w.c.o.Out, short), Name: name}
	out := must.Get(create(done.Path))
	defer out.discard()
	if err := must.Try(func() { fill(out) }); err != nil {
		var coded *dump.Error
		if failed := out.Flush(); failed != nil { // it was the writing
			must.Do(errorf(done.Path, CodeWrite, cause(failed), "not written"))
		} else if !errors.As(err, &coded) {
			w.need(p, CodeUnknown, err)
		}
		must.Do(err)
	}
	must.Do(out.commit())
	w.r.Written = append(w.r.Written, done)
	if short != name {
		w.j.long = append(w.j.long, done)
	}
}

// record writes an overflow record as JSON.
func (w *work) record(t *dump.Tensor) {
	p := partOf(t)
	w.try(p, func() {
		record, err := overflow.Decode(w.payload(t))
		if err != nil {
			var e *overflow.Error
			code := CodeUnknown
			if errors.As(err, &e) {
				code = e.Code
			}
			if record == nil || w.c.o.Compat {
				w.need(p, code, err)
			}
			w.r.warnf("%v", errorf(w.f.Path, code, err, "%s", p))
		}
		for _, text := range record.Warnings {
			w.r.warnf("%s: %s", p, text)
		}
		name := w.j.name + ".output." + strconv.Itoa(t.Index) + ".json"
		w.put(p, name, func(out *output) { must.Get(out.Write(record.JSON())) })
	})
}

// maxRecord is more than any overflow record has.
const maxRecord = 64 << 10

func (w *work) payload(t *dump.Tensor) []byte {
	if dump.Code(t.Err) == dump.CodeInvalid {
		must.Do(t.Err)
	}
	if t.Size > maxRecord {
		w.refuse(dump.CodeInvalid, nil, "%s: found %d bytes, expected 2048 for an overflow record", partOf(t), t.Size)
	}
	b := make([]byte, t.Size)
	if n, err := w.f.ReadAt(b, t.Offset); n < len(b) {
		w.refuse(dump.CodeInvalid, err, "%s: read %d bytes, expected %d", partOf(t), n, len(b))
	}
	return b
}

// buffer writes a buffer of the operator.
func (w *work) buffer(i int) {
	b := &w.f.Buffers[i]
	kind := "l1buffer"
	if b.Kind != 0 {
		if kind = "Nonebuffer"; !w.c.o.Compat {
			kind = fmt.Sprintf("buffer%d", b.Kind)
		}
	}
	w.bytes(Part{Buffer, i}, b, w.j.name+"."+kind+"."+strconv.Itoa(i)+".bin")
}

// space writes a work space.
func (w *work) space(i int) {
	w.bytes(Part{Space, i}, &w.f.Spaces[i], w.j.name+".space."+strconv.Itoa(i)+".bin")
}

// bytes writes the bytes of a buffer or work space.
func (w *work) bytes(p Part, b *dump.Blob, name string) {
	w.try(p, func() {
		must.Do(b.Err)
		w.put(p, name, func(out *output) {
			from := io.NewSectionReader(w.f, b.Offset, int64(b.Size))
			must.Do(dtype.Copy(w.ctx, out, int64(b.Size), dtype.Uint8, dtype.Uint8, func(dst []byte, _, _ int64) error {
				_, err := io.ReadFull(from, dst)
				w.need(p, dump.CodeInvalid, err)
				return nil
			}))
		})
	})
}
