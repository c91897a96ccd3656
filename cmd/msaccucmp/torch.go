package main

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"precision/cmd/msaccucmp/argparse"
	"precision/cmd/msaccucmp/compat"
	"precision/compare"
	"precision/compare/metric"
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
	}{{a.rules != "", "-f"}, {a.quant != "", "-q"}, {a.scripts != "", "-c"}, {a.op != "", "-op"}, {a.mapping, "-map"}} {
		if option.given {
			return failed(exitParameter, "%s cannot be used with .h5 files", option.name)
		}
	}
	if v.Int("version") != 2 {
		return failed(exitParameter, "-v %d cannot be used with .h5 files", v.Int("version"))
	}
	if err := f.setAlgorithms(ctx, a, v); err != nil {
		return compat.ExitCode(err), err
	}
	post := v.Int("post_process") == 1
	if post && !slices.Contains(a.algorithms, metric.CosineSimilarity) {
		return failed(exitParameter, "-p goes by %s, which is not among the algorithms", metric.CosineSimilarity)
	}
	opt := compare.Options{Numerics: metric.Reference, TableOnly: true, Metrics: a.algorithms, MaxElements: a.max}
	if err := opt.Validate(); err != nil {
		return compat.ExitCode(err), err
	}
	files, err := torch.Open(a.mine, a.golden)
	if err != nil {
		return compat.ExitCode(err), err
	}
	defer files.Close()
	out, err := compare.Run(ctx, files, opt)
	if err != nil {
		return compat.ExitCode(err), err
	}
	table, columns := out.Table, torch.Columns(&opt)
	for _, w := range files.Warnings {
		f.log.warnf("%v", w)
	}
	a.out = cmp.Or(a.out, ".")
	if err := convert.Folder(a.out); err != nil {
		return dump.Code(err), err
	}
	path := filepath.Join(a.out, "result_"+f.now().Format("20060102150405")+".csv")
	if path, err = report.WriteNewFile(path, columns, table.Rows); err != nil {
		return compat.ExitCode(err), err
	}
	if post {
		folder := strings.TrimSuffix(path, filepath.Ext(path)) + "_filtered"
		if err := report.WriteFile(filepath.Join(folder, "filtered_result.csv"), columns, table.Rows, torch.Suspicious); err != nil {
			return compat.ExitCode(err), err
		}
		warnings, err := files.WriteTensors(ctx, table, folder)
		for _, w := range warnings {
			f.log.warnf("%v", w)
		}
		if err != nil {
			return compat.ExitCode(err), err
		}
	}
	f.log.infof("The comparison result have been written to \"'%s'\".", path)
	if table.Compared() == 0 {
		return exitNoDump, errors.New("no tensors of the two files could be compared")
	}
	if a.advisor {
		advisor := compat.NewAdvisor(nil)
		for i := range table.Rows {
			advisor.Add(&table.Rows[i])
		}
		if err := f.writeAdvice(a, "", advisor); err != nil {
			return compat.ExitCode(err), err
		}
	}
	return exitOK, nil
}
