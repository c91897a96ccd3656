package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"precision/cmd/msaccucmp/argparse"
	"precision/compare"
	"precision/compare/report"
	"precision/compare/torch"
	"precision/dump"
	"precision/dump/convert"
)

// compareTorch compares two PyTorch recordings.
func (f *face) compareTorch(ctx context.Context, a *compareArgs, v *argparse.Values) (int, error) {
	for _, option := range []struct {
		given bool
		name  string
	}{{a.rules != "", "-f"}, {a.quant != "", "-q"}, {a.scripts != "", "-c"}, {v.Given("op_name"), "-op"}, {a.mapping, "-map"}} {
		if option.given {
			return failed(exitParameter, "%s cannot be used with .h5 files", option.name)
		}
	}
	if v.Int("version") != 2 {
		return failed(exitParameter, "-v %d cannot be used with .h5 files", v.Int("version"))
	}
	if err := f.setAlgorithms(ctx, a, v); err != nil {
		return compare.ExitCode(err), err
	}
	table, err := torch.Compare(ctx, a.mine, a.golden, torch.Options{Metrics: a.algorithms, MaxElements: a.max, PostProcess: v.Int("post_process") == 1})
	if err != nil {
		return compare.ExitCode(err), err
	}
	for _, w := range table.Warnings {
		f.log.warnf("%v", w)
	}
	if a.out == "" {
		a.out = "."
	}
	if err := convert.Folder(a.out); err != nil {
		return dump.Code(err), err
	}
	path := filepath.Join(a.out, "result_"+f.now().Format("20060102150405")+".csv")
	if err := report.WriteFile(path, table.Columns(), table.Rows, nil); err != nil {
		return compare.ExitCode(err), err
	}
	if v.Int("post_process") == 1 {
		folder := strings.TrimSuffix(path, filepath.Ext(path)) + "_filtered"
		if err := report.WriteFile(filepath.Join(folder, "filtered_result.csv"), table.Columns(), table.Rows, torch.Suspicious); err != nil {
			return compare.ExitCode(err), err
		}
		warnings, err := table.WriteTensors(ctx, folder)
		for _, w := range warnings {
			f.log.warnf("%v", w)
		}
		if err != nil {
			return compare.ExitCode(err), err
		}
	}
	f.log.infof("The comparison result have been written to \"'%s'\".", path)
	if !table.Matched() {
		return exitNoDump, errors.New("no tensors of the two files could be compared")
	}
	return exitOK, nil
}
