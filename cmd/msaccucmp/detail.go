package main

import (
	"context"
	"fmt"
	"strconv"

	"precision/cmd/msaccucmp/argparse"
	"precision/cmd/msaccucmp/compat"
	"precision/compare"
)

// detailOptions reads the options that go with -op.
func detailOptions(v *argparse.Values) (*compare.DetailOptions, error) {
	d := &compare.DetailOptions{Op: v.Text("op_name"), TopN: v.Int("topn"), MaxLine: v.Int("max_line"),
		SkipElements: v.Flag("ignore_single_op_result")}
	if err := d.CheckMaxLine(); err != nil {
		return nil, err
	}
	text := v.Text("output_tensor")
	if v.Given("input_tensor") {
		d.Input, text = true, v.Text("input_tensor")
	}
	if text == "" && !v.Given("output_tensor") && !d.Input {
		return d, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || !digits.MatchString(text) {
		return nil, &compat.Error{Code: exitParameter, Err: fmt.Errorf("tensor index %q: expected a number", text)}
	}
	d.Slot = n
	return d, nil
}

// writeDetail compares one tensor element by element.
func (f *face) writeDetail(ctx context.Context, a *compareArgs, opt *compare.Folders, d *compare.DetailOptions) (int, error) {
	if opt.Rules == nil {
		f.log.warnf("There is no fusion rule file, the operator is looked up by its dump's name.")
	}
	r, err := compare.Detail(ctx, *opt, *d, a.out)
	if err != nil {
		return compat.ExitCode(err), err
	}
	for _, tensor := range r.Overflow {
		f.log.warnf("%s: overflow YES", tensor)
	}
	fmt.Fprintf(f.stdout, "\n\n%s\n\n%s", r.Absolute, r.Relative)
	for _, path := range r.Files {
		f.log.infof("The data has been written to \"'%s'\".", path)
	}
	return exitOK, nil
}
