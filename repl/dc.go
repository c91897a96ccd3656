package repl

import (
	"context"
	"fmt"
	"os"
	"strings"

	"precision/dump"
	"precision/dump/convert"
	"precision/dump/layout"
)

// dcCmd is the command dc: it converts dumps into arrays.
type dcCmd struct {
	name, format, out, kind string
}

func newDC(s *session) action { return &dcCmd{kind: "npy"} }

func (d *dcCmd) define(o *options) {
	o.text(&d.name, "n", "name")
	o.text(&d.format, "f", "format")
	o.text(&d.out, "o", "output")
	o.text(&d.kind, "t", "type")
}

func (d *dcCmd) run(ctx context.Context, s *session, words []string) int {
	switch {
	case len(words) > 0:
		return s.tooMany("dc", words)
	case d.name == "":
		s.fail("need.name", "dc", s.t("dc.usage"))
		return exitError
	}
	o := convert.Options{Out: d.out, Workers: s.set.Workers}
	if o.Out == "" {
		o.Out = s.data.path("temp", "decode", "dump_convert")
	}
	var ok bool
	if o.Type, ok = convert.ParseType(d.kind); !ok {
		s.fail("dc.type", d.kind)
		return exitError
	}
	if d.format != "" {
		f, ok := layout.Parse(d.format)
		if !ok { // nchw
			f, ok = layout.Parse(strings.ToUpper(d.format))
		}
		if !ok {
			s.fail("dc.format", d.format)
			return exitError
		}
		o.Format = &f
	}
	files, code := d.find(s)
	if len(files) == 0 {
		return code
	}
	o.Single = len(files) == 1
	bar := s.bar("dc")
	if len(files) > 1 {
		o.Progress = bar.Set
	}
	report, err := convert.Convert(ctx, files, o)
	bar.Done()
	var out strings.Builder
	if report != nil {
		for _, f := range report.Files {
			var b strings.Builder
			fmt.Fprintf(&b, "SrcFile: %s\n", clean(f.Path))
			for _, w := range f.Written {
				fmt.Fprintf(&b, " - %s\n", s.scr.green(w.Path))
			}
			for _, fail := range f.Failures {
				text := strings.TrimPrefix(fail.Err.Error(), f.Path+": ") // SrcFile names it
				if part := fail.Part.String(); !strings.Contains(text, part) {
					text = part + ": " + text
				}
				fmt.Fprintf(&b, " - %s\n", s.scr.red(clean(text)))
				code = exitError
			}
			for _, w := range f.Warnings {
				fmt.Fprintf(&b, " - %s\n", s.scr.yellow(w.Text))
			}
			out.WriteString(s.scr.panel("", b.String()))
		}
		for _, e := range report.Errors {
			s.fail("error", e)
			code = exitError
		}
	}
	s.page(out.String())
	if err != nil {
		return s.failed(ctx, err)
	}
	return code
}

// find resolves the name: an existing file or folder, the name of a dump file
// or the beginning of one, an operator.
func (d *dcCmd) find(s *session) (files []string, code int) {
	if _, err := os.Stat(d.name); err == nil {
		src, err := convert.Files(d.name, false)
		if err != nil {
			s.fail("error", err)
			return nil, exitError
		}
		for _, w := range src.Warnings {
			s.warn("error", w)
		}
		return src.Files, exitOK
	}
	key, operator := strings.ReplaceAll(d.name, "/", "_"), dump.Normalise(d.name)
	var exact, begin []string
	s.eachDump(func(e *dump.Entry) {
		switch {
		case e.Name.File == key || dump.Normalise(e.Name.OpName) == operator:
			exact = append(exact, e.Path)
		case strings.HasPrefix(e.Name.File, key):
			begin = append(begin, e.Path)
		}
	})
	if len(exact) == 0 {
		exact = begin
	}
	if len(exact) == 0 {
		s.fail("dc.none", d.name)
		return nil, exitNothing
	}
	return exact, exitOK
}
