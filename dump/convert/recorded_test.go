package convert

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"precision/dump"
	"precision/dump/layout"
	"precision/testdata/workshop/recorded"
)

// differences are the recorded runs in which we do better.
var differences = map[string]string{
	"fmt_all_targets/NCHW":        "NHWC and HWCN to NCHW cut by the original shape in another axis order",
	"fmt_all_targets/NHWC":        "HWCN to NHWC cut by the original shape in another axis order",
	"fmt_all_targets/HWCN":        "NHWC and NC1HWC0 to HWCN cut by the original shape in another axis order",
	"fmt_dir/main":                "NHWC to NCHW cut by the original shape in another axis order",
	"fmt_dir/list":                "NHWC to NCHW cut by the original shape in another axis order",
	"fmt_fractal_z/with_original": "HWCN to FRACTAL_Z cut by the original shape, which has no meaning for blocks",
	"fmt_types/npy":               "NHWC to NCHW cut by the original shape in another axis order",
	"fmt_types/bin":               "NHWC to NCHW cut by the original shape in another axis order",
	"fmt_types/msnpy":             "NHWC to NCHW cut by the original shape in another axis order",
}

// runConvert is a small face: it calls the package as a command line says, and
// returns the exit code of msaccucmp.py.
func runConvert(t *testing.T, args []string) int {
	t.Helper()
	opt := map[string]string{}
	for i := 1; i+1 < len(args); i += 2 {
		opt[args[i]] = args[i+1]
	}
	o := Options{Compat: true, Out: opt["-out"], Workers: 2}
	if opt["-d"] == "" || strings.Contains(opt["-d"], " ") || opt["-o"] != "" && opt["-i"] != "" {
		return 2
	}
	if v := opt["-v"]; v != "" && v != "1" && v != "2" {
		return 2
	}
	if s := opt["-t"]; s != "" {
		var ok bool
		if o.Type, ok = ParseType(s); !ok {
			return 2
		}
	}
	if opt["-f"] == "" && opt["-s"]+opt["-o"]+opt["-i"]+opt["-c"] != "" {
		return CodeParameter
	}
	source, err := Files(opt["-d"], true)
	if err != nil {
		return dump.Code(err)
	}
	if o.Single = source.Single; opt["-f"] != "" {
		f, ok := layout.Parse(opt["-f"])
		if !ok {
			return CodeParameter
		}
		o.Format = &f
		if source.Single {
			for option, to := range map[string]**int{"-i": &o.Input, "-o": &o.Output} {
				if opt[option] == "" {
					continue
				}
				n, err := strconv.Atoi(opt[option])
				if err != nil {
					return CodeParameter
				}
				*to = &n
			}
			if s := opt["-s"]; s != "" {
				for _, d := range strings.Split(s, ",") {
					n, err := strconv.ParseInt(d, 10, 64)
					if err != nil || n < 1 {
						return 23
					}
					o.Shape = append(o.Shape, n)
				}
				if len(o.Shape) < 2 {
					return 23
				}
			}
		}
	}
	r, err := Convert(context.Background(), source.Files, o)
	if err != nil {
		return dump.Code(err)
	}
	for _, f := range r.Files {
		for _, x := range f.Failures {
			t.Logf("%s %s: code %d, %v", filepath.Base(f.Path), x.Part, x.Code, x.Err)
		}
		for _, x := range f.Warnings {
			t.Log(x)
		}
	}
	return r.Code()
}

// Every recorded conversion is repeated: same files, same bytes, same code.
func TestRecorded(t *testing.T) {
	cases, err := recorded.Load("../../testdata/cases")
	if err != nil {
		t.Fatal(err)
	}
	runs := 0
	for _, c := range cases {
		var work string
		for _, run := range c.Runs {
			if run.Kind != "convert" {
				continue
			}
			runs++
			t.Run(c.Name+"/"+run.ID, func(t *testing.T) {
				if !run.Continue || work == "" {
					work = filepath.Join(t.TempDir(), "case")
					if err := c.Copy(work); err != nil {
						t.Fatal(err)
					}
				}
				before, err := recorded.Tree(work)
				if err != nil {
					t.Fatal(err)
				}
				t.Chdir(work)
				code := runConvert(t, run.Args)
				after, err := recorded.Tree(work)
				if err != nil {
					t.Fatal(err)
				}
				want, err := c.Expected(run)
				if err != nil {
					t.Fatal(err)
				}
				err = want.Check(code, before, after, work)
				reason, differs := differences[c.Name+"/"+run.ID]
				switch {
				case err != nil && !differs:
					t.Error(err)
				case err == nil && differs:
					t.Errorf("no difference any more: %s", reason)
				}
			})
		}
	}
	if runs < 50 {
		t.Errorf("only %d runs were found", runs)
	}
}
