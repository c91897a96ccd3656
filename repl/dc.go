package repl

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"precision/console"
	"precision/dump"
	"precision/dump/convert"
	"precision/dump/layout"
)

// dcCmd is the command dc: it converts dumps into arrays.
type dcCmd struct {
	name, format, out, kind string
}

var dcCommand = &command{
	name:  "dc",
	named: true,
	make:  func(s *session) action { return &dcCmd{kind: "npy"} },
}

func (d *dcCmd) define(o *options) {
	o.text(&d.name, "n", "name", tensors)
	o.text(&d.format, "f", "format", oneOf("NCHW", "NHWC", "HWCN", "ND", "NCDHW", "NDHWC"))
	o.text(&d.out, "o", "output", paths)
	o.text(&d.kind, "t", "type", oneOf("npy", "bin", "msnpy", "pt"))
}

func (d *dcCmd) run(ctx context.Context, s *session, _ []string) int {
	o := convert.Options{Out: d.out, Workers: s.set.Workers}
	if o.Out == "" {
		o.Out = s.data.Path("temp", "decode", "dump_convert")
	}
	var ok bool
	if o.Type, ok = convert.ParseType(d.kind); !ok {
		return s.Fail("dc.type", d.kind)
	}
	if d.format != "" {
		f, ok := layout.Parse(d.format)
		if !ok { // nchw
			f, ok = layout.Parse(strings.ToUpper(d.format))
		}
		if !ok {
			return s.Fail("dc.format", d.format)
		}
		o.Format = &f
	}
	files, code := d.find(s)
	if len(files) == 0 {
		return code
	}
	o.Single = len(files) == 1
	var out strings.Builder
	var err error
	for _, b := range s.apart(files, o.Out) {
		o.Out = b.out
		bar := s.Bar("dc")
		if o.Progress = nil; len(b.files) > 1 {
			o.Progress = bar.Set
		}
		var report *convert.Report
		report, err = convert.Convert(ctx, b.files, o)
		bar.Done()
		if report != nil {
			text, failed := d.report(s, report)
			out.WriteString(text)
			code = max(code, failed)
		}
		if err != nil {
			break
		}
	}
	s.Page(out.String())
	if err != nil {
		return s.Failed(ctx, err)
	}
	return code
}

// report renders what was written of each file.
func (d *dcCmd) report(s *session, report *convert.Report) (text string, code int) {
	var out strings.Builder
	for _, f := range report.Files {
		var b strings.Builder
		fmt.Fprintf(&b, "SrcFile: %s\n", console.Clean(f.Path))
		for _, w := range f.Written {
			fmt.Fprintf(&b, " - %s\n", s.Screen.Green(w.Path))
		}
		for _, fail := range f.Failures {
			text := strings.TrimPrefix(fail.Err.Error(), f.Path+": ") // SrcFile names it
			if part := fail.Part.String(); !strings.Contains(text, part) {
				text = part + ": " + text
			}
			fmt.Fprintf(&b, " - %s\n", s.Screen.Red(console.Clean(text)))
			code = exitError
		}
		for _, w := range f.Warnings {
			fmt.Fprintf(&b, " - %s\n", s.Screen.Yellow(w.Text))
		}
		out.WriteString(s.Screen.Panel("", b.String()))
	}
	for _, e := range report.Errors {
		s.Fail("error", e)
		code = exitError
	}
	return out.String(), code
}

// batch are files that are converted into one folder.
type batch struct {
	out   string
	files []string
}

// apart gives dumps of the same file name, of several devices, steps or debug
// ids, folders of their own below out: the first of a name stays in out.
func (s *session) apart(files []string, out string) (list []batch) {
	seen := map[string]bool{}
	at := map[string]int{}
	for _, f := range files {
		to := out
		if name := filepath.Base(f); seen[name] {
			to = filepath.Join(append([]string{out}, s.runOf(filepath.Dir(f))...)...)
		} else {
			seen[name] = true
		}
		i, ok := at[to]
		if !ok {
			i = len(list)
			at[to] = i
			list = append(list, batch{out: to})
		}
		list[i].files = append(list[i].files, f)
	}
	return list
}

// runOf is where a folder of dumps is: its debug id and path in the newest run,
// or the path itself of others.
func (s *session) runOf(dir string) []string {
	if id, l := s.data.LeafAt(dir); l != nil {
		if rel, err := filepath.Rel(s.dumpsOf(id).Run, dir); err == nil {
			return []string{id.Name, rel}
		}
	}
	return []string{filepath.Base(dir)}
}

// below are the dumps in the folders below a folder that holds none itself.
func (d *dcCmd) below(s *session) (files []string, code int) {
	folders := s.data.DumpFolders(d.name)
	for _, dir := range folders {
		src, err := convert.Files(dir, false)
		if err != nil {
			s.Warn("error", err)
			continue
		}
		for _, w := range src.Warnings {
			s.Warn("error", w)
		}
		for _, f := range src.Files {
			files = append(files, filepath.Join(dir, filepath.Base(f))) // the path that tells of which run it is
		}
	}
	if len(files) == 0 {
		return nil, s.Lack("dc.empty", d.name)
	}
	s.Info("dc.below", d.name, len(files), len(folders))
	return files, exitOK
}

// find resolves the name: an existing file or folder, the name of a dump file
// or the beginning of one, an operator.
func (d *dcCmd) find(s *session) (files []string, code int) {
	if _, err := os.Stat(d.name); err == nil {
		src, err := convert.Files(d.name, false)
		if err != nil {
			return nil, s.Fail("error", err)
		}
		for _, w := range src.Warnings {
			s.Warn("error", w)
		}
		if len(src.Files) > 0 {
			return src.Files, exitOK
		}
		return d.below(s)
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
		return nil, s.unknown("dc.none", d.name)
	}
	return exact, exitOK
}
