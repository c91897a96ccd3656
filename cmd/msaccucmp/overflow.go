package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"precision/cmd/msaccucmp/argparse"
	"precision/dump"
	"precision/dump/convert"
	"precision/dump/overflow"
	"precision/internal/whole"
)

// overflow reports the first operators that overflowed: their records as JSON,
// their tensors as arrays, and a summary.
func (f *face) overflow(ctx context.Context, v *argparse.Values) (int, error) {
	out := v.Text("output")
	tree, err := overflow.Find(v.Text("dump_path"))
	if err != nil {
		return dump.Code(err), err
	}
	for _, w := range tree.Warnings {
		f.log.warnf("%s", w)
	}
	if err := os.MkdirAll(out, 0o700); err != nil {
		return failed(exitPath, "the output folder: %w", err)
	}
	if len(tree.Records) == 0 {
		f.log.infof("There is no record of an overflow in %s.", tree.Dir)
		return exitOK, nil
	}
	events := overflow.Analyse(tree, overflow.Options{Top: v.Int("top_n"), Oldest: true, LastOnly: true})
	for i := range events {
		if err := f.writeEvent(ctx, &events[i], out); err != nil {
			return dump.Code(err), err
		}
	}
	if overflow.Usable(events) {
		text := overflow.Summary(events, nil)
		path := filepath.Join(out, overflow.SummaryName(f.now()))
		if err := whole.Write(path, []byte(text), 0o600); err != nil {
			return convert.CodeWrite, err
		}
		// The file is what scripts read; the log explains the status as well.
		for line := range strings.Lines(overflow.Summary(events, &overflow.Explained{Language: overflow.English})) {
			f.log.infof("%s", strings.TrimRight(line, "\n"))
		}
		f.log.infof("The summary has been written to %s.", path)
	}
	return overflow.Code(events), nil
}

// writeEvent writes the records of an event as JSON and the tensors of its
// operators as arrays. A record of which nothing is known is not written.
func (f *face) writeEvent(ctx context.Context, e *overflow.Event, out string) error {
	for _, w := range e.Warnings {
		f.log.warnf("%s", w)
	}
	if e.Err != nil {
		f.log.errorf("%v", e.Err)
	}
	if e.Err == nil || dump.Code(e.Err) != overflow.CodeRecord {
		for i, r := range e.Records {
			if r == nil {
				continue
			}
			path := filepath.Join(out, fmt.Sprintf("%s.output.%d.json", e.Entry.Name.File, i))
			if err := whole.Write(path, r.JSON(), 0o600); err != nil {
				return &dump.Error{Path: path, Code: convert.CodeWrite, Offset: -1, Err: err}
			}
		}
	}
	for k := range e.Ops {
		op := &e.Ops[k]
		report, err := convert.Convert(ctx, []string{op.Entry.Path}, convert.Options{Out: out, Compat: true, Single: true})
		if err != nil {
			return err
		}
		f.logReport(report)
		for _, file := range report.Files {
			for _, w := range file.Written {
				for i := range op.Tensors {
					if t := &op.Tensors[i]; t.File == w.Name {
						t.File = filepath.Base(w.Path)
					}
				}
			}
		}
	}
	return nil
}
