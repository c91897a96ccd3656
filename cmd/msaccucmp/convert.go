package main

import (
	"context"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"precision/cmd/msaccucmp/argparse"
	"precision/cmd/msaccucmp/compat"
	"precision/compare/script"
	"precision/dump"
	"precision/dump/convert"
	"precision/dump/layout"
	"precision/internal/must"
)

// convert writes dumps as arrays.
func (f *face) convert(ctx context.Context, v *argparse.Values) int {
	if v.Int("version") == 1 {
		f.log.warnf("The dump version 1 is no longer in use, the files are read as version 2.")
	}
	o := convert.Options{Out: v.Text("output"), Compat: true}
	o.Type, _ = convert.ParseType(v.Text("type"))
	formatted := v.Text("format") != ""
	if !v.Given("format") { // an empty one is none, and what goes with it is left out
		compat.Refuse(slices.ContainsFunc([]string{"shape", "output_tensor", "input_tensor", "custom_script_path"}, v.Given), compat.CodeParameter, "-s, -o, -i and -c need -f")
	}
	source, err := convert.Files(v.Text("dump_file"), true)
	if source != nil {
		for _, m := range source.Missing {
			f.log.errorf("%v", m)
		}
		for _, w := range source.Warnings {
			f.log.warnf("%s", w)
		}
	}
	if source != nil && source.Folder {
		must.Do(err) // an empty folder comes before everything else
	}
	if formatted {
		single := source != nil && source.Single
		formatOptions(&o, v, single)
		if source != nil && !single && (v.Given("shape") || v.Given("output_tensor") || v.Given("input_tensor")) {
			f.log.warnf("-s, -o and -i are for a single file, they are left out.")
		}
		if dir := v.Text("custom_script_path"); dir != "" {
			_, err := os.Stat(dir)
			compat.Refuse(err != nil, compat.CodePath, "the script folder: %w", err)
			scripts := f.openScripts(ctx, dir, nil)
			done := useConversions(&o, scripts.Scripts)
			defer done()
		}
	}
	must.Do(err)
	o.Single = source.Single
	report, err := convert.Convert(ctx, source.Files, o)
	if report != nil {
		f.logReport(report)
	}
	compat.Refuse(err != nil && ctx.Err() != nil, exitInterrupted, "%w", err)
	compat.Refuse(err != nil, dump.Code(err), "%w", err)
	return report.Code()
}

var digits = regexp.MustCompile(`^[0-9]+$`)

// slot reads the number of a tensor.
func slot(text string) int {
	n, err := strconv.Atoi(text)
	compat.Refuse(err != nil || !digits.MatchString(text), compat.CodeParameter, "tensor index %q: expected a number", text)
	return n
}

// formatOptions reads what goes with -f; -o, -i and -s count for a single file
// only.
func formatOptions(o *convert.Options, v *argparse.Values, single bool) {
	if single {
		for key, into := range map[string]**int{"input_tensor": &o.Input, "output_tensor": &o.Output} {
			if !v.Given(key) {
				continue
			}
			n := slot(v.Text(key))
			*into = &n
		}
		if v.Given("shape") {
			parts := strings.Split(v.Text("shape"), ",")
			for _, p := range parts {
				n, err := strconv.ParseInt(p, 10, 64)
				compat.Refuse(err != nil || n < 1 || len(parts) < 2, compat.CodeShapes, "shape %q: expected two or more positive numbers with commas between them", v.Text("shape"))
				o.Shape = append(o.Shape, n)
			}
		}
	}
	format, ok := layout.Parse(v.Text("format"))
	compat.Refuse(!ok || !format.Known() || format.String() != v.Text("format"), compat.CodeParameter, "there is no format %q", v.Text("format"))
	o.Format = &format
}

func (f *face) logReport(r *convert.Report) {
	for _, file := range r.Files {
		for _, w := range file.Warnings {
			f.log.warnf("%s", w)
		}
		for _, x := range file.Failures {
			f.log.errorf("%v", x.Err)
		}
		for _, x := range file.Written {
			f.log.infof("The data of %s has been written to %s.", file.Path, x.Path)
		}
	}
	for _, err := range r.Errors {
		f.log.errorf("%v", err)
	}
	if files, parts := r.Failed(); files > 0 {
		f.log.errorf("%d of %d files could not be converted in full, %d failures in all.", files, len(r.Files), parts)
	}
}

// useConversions lets the user's scripts convert before the built-in ways. Each
// worker that needs one has a Python process of its own; done ends them.
func useConversions(o *convert.Options, scripts *script.Scripts) (done func()) {
	o.Workers = runtime.GOMAXPROCS(0)
	helpers := make(chan *script.Helper, o.Workers)
	for range o.Workers {
		helpers <- nil
	}
	o.HasCustom = func(from, to layout.Format) bool {
		_, ok := scripts.Conversion(from.String(), to.String())
		return ok
	}
	o.Custom = func(ctx context.Context, c convert.Custom) (*convert.Custom, error) {
		h := <-helpers
		defer func() { helpers <- h }()
		if h == nil {
			var err error
			if h, err = scripts.NewHelper(ctx); err != nil {
				h = nil
				return nil, err
			}
		}
		conversion, _ := scripts.Conversion(c.From.String(), c.To.String())
		out, err := h.Convert(conversion, &script.Array{Type: c.Type, Shape: c.Shape, Data: c.Data}, c.Want, c.Group)
		if err != nil {
			return nil, err
		}
		c.Type, c.Shape, c.Data = out.Type, out.Shape, out.Data
		return &c, nil
	}
	return func() {
		for range o.Workers {
			if h := <-helpers; h != nil {
				h.Close()
			}
		}
	}
}
