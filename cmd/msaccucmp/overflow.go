package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"precision/cmd/msaccucmp/argparse"
	"precision/cmd/msaccucmp/compat"
	"precision/dump"
	"precision/dump/convert"
	"precision/dump/overflow"
	"precision/internal/must"
	"precision/internal/whole"
)

// overflow reports the first operators that overflowed: their records as JSON,
// their tensors as arrays, and a summary.
func (f *face) overflow(ctx context.Context, v *argparse.Values) int {
	out := v.Text("output")
	tree := must.Get(overflow.Find(v.Text("dump_path")))
	for _, w := range tree.Warnings {
		f.log.warnf("%s", w)
	}
	must.Do(convert.Folder(out))
	if len(tree.Records) == 0 {
		f.log.infof("There is no record of an overflow in %s.", tree.Dir)
		return exitOK
	}
	events := overflow.Analyse(tree, overflow.Options{Top: v.Int("top_n"), Oldest: true, LastOnly: true})
	w := &eventWriter{face: f, out: out, owner: map[string]string{}, reports: map[string]*convert.Report{}}
	for i := range events {
		w.event(ctx, &events[i])
		compat.Refuse(ctx.Err() != nil, exitInterrupted, "%w", ctx.Err())
	}
	if overflow.Usable(events) {
		text := overflow.Summary(events, false)
		path := filepath.Join(out, overflow.SummaryName(f.now()))
		path, err := whole.FillNew(path, 0o600, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		})
		compat.Refuse(err != nil, convert.CodeWrite, "%w", err)
		// The file is what scripts read; the log explains the status as well.
		for line := range strings.Lines(overflow.Summary(events, true)) {
			f.log.infof("%s", strings.TrimRight(line, "\n"))
		}
		f.log.infof("The summary has been written to %s.", path)
	}
	return cmp.Or(overflow.Code(events), w.code)
}

// eventWriter writes what belongs to the events: records as JSON, the tensors
// of operators as arrays.
type eventWriter struct {
	*face
	out string
	// owner tells which file the results under a name are of.
	owner map[string]string
	// reports holds the operators that were converted, by path: several records
	// can be about the same one.
	reports map[string]*convert.Report
	// code is that of the first thing that could not be written.
	code int
}

// failed logs what could not be written. It ends nothing: the summary and the
// other files are still of use.
func (w *eventWriter) failed(code int, err error) {
	if err != nil {
		w.log.errorf("%v", err)
	}
	if w.code == exitOK {
		w.code = code
	}
}

// own takes a name for the results of a file. Steps and devices have folders of
// their own, in which files can have the same name.
func (w *eventWriter) own(name, path string) bool {
	if other, ok := w.owner[name]; ok && other != path {
		w.failed(convert.CodeExists, fmt.Errorf("%s: not written, it would overwrite the results of %s", path, other))
		return false
	}
	w.owner[name] = path
	return true
}

// event writes what belongs to an event. A record of which nothing is known is
// not written.
func (w *eventWriter) event(ctx context.Context, e *overflow.Event) {
	for _, x := range e.Warnings {
		w.log.warnf("%s", x)
	}
	for _, b := range e.Missing {
		w.log.warnf("%s: no dump of the operator with task %d and stream %d", e.Entry.Path, b.Task, b.Stream)
	}
	if e.Err != nil {
		w.log.errorf("%v", e.Err)
	}
	known := e.Err == nil || dump.Code(e.Err) != overflow.CodeRecord
	if known && w.own(e.Entry.Name.File, e.Entry.Path) {
		for i, r := range e.Records {
			if r == nil {
				continue
			}
			path := filepath.Join(w.out, fmt.Sprintf("%s.output.%d.json", e.Entry.Name.File, i))
			if err := whole.WriteOwn(path, r.JSON(), 0o600); err != nil {
				w.failed(convert.CodeWrite, err)
			}
		}
	}
	for i := range e.Ops {
		if op := &e.Ops[i]; op.Others > 0 {
			w.log.warnf("%s: %d dumps fit the record, took %s", e.Entry.Path, op.Others+1, op.Entry.Path)
		}
		w.operator(ctx, &e.Ops[i])
	}
}

// operator writes the tensors of an operator, and notes which got another name
// than they were to have.
func (w *eventWriter) operator(ctx context.Context, op *overflow.Op) {
	path := op.Entry.Path
	report, done := w.reports[path]
	if !done && w.own(filepath.Base(path), path) {
		var err error
		report, err = convert.Convert(ctx, []string{path}, convert.Options{Out: w.out, Compat: true, Single: true})
		if report != nil {
			w.logReport(report)
			w.failed(report.Code(), nil)
		}
		if err != nil && ctx.Err() == nil {
			w.failed(dump.Code(err), err)
		}
		w.reports[path] = report
	}
	if report == nil {
		return
	}
	for _, file := range report.Files {
		for _, x := range file.Written {
			for i := range op.Tensors {
				if t := &op.Tensors[i]; t.File == x.Name {
					t.File = filepath.Base(x.Path)
				}
			}
		}
	}
}
