package main

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"precision/cmd/msaccucmp/argparse"
	"precision/cmd/msaccucmp/compat"
	"precision/compare/engine"
	"precision/compare/metric"
	"precision/compare/report"
	"precision/compare/torch"
	"precision/dump/convert"
	"precision/internal/must"
)

// compareTorch compares two PyTorch recordings.
func (f *face) compareTorch(ctx context.Context, a *compareArgs, v *argparse.Values) int {
	for _, option := range []struct {
		given bool
		name  string
	}{{a.rules != "", "-f"}, {a.quant != "", "-q"}, {a.scripts != "", "-c"}, {a.op != "", "-op"}, {a.mapping, "-map"}} {
		compat.Refuse(option.given, compat.CodeParameter, "%s cannot be used with .h5 files", option.name)
	}
	compat.Refuse(v.Int("version") != 2, compat.CodeParameter, "-v %d cannot be used with .h5 files", v.Int("version"))
	f.setAlgorithms(ctx, a, v)
	post := v.Int("post_process") == 1
	compat.Refuse(post && !slices.Contains(a.algorithms, metric.CosineSimilarity), compat.CodeParameter, "-p goes by %s, which is not among the algorithms", metric.CosineSimilarity)
	opt := engine.Options{Numerics: metric.Reference, TableOnly: true, Metrics: a.algorithms, MaxElements: a.max}
	must.Do(opt.Validate())
	files := must.Get(torch.Open(a.mine, a.golden))
	defer files.Close()
	out := must.Get(engine.Run(ctx, files, opt))
	table, columns := out.Table, torch.Columns(&opt)
	for _, w := range files.Warnings {
		f.log.warnf("%v", w)
	}
	a.out = cmp.Or(a.out, ".")
	must.Do(convert.Folder(a.out))
	path := filepath.Join(a.out, "result_"+f.now().Format("20060102150405")+".csv")
	path = must.Get(report.WriteNewFile(path, columns, table.Rows))
	if post {
		folder := strings.TrimSuffix(path, filepath.Ext(path)) + "_filtered"
		must.Do(report.WriteFile(filepath.Join(folder, "filtered_result.csv"), columns, table.Rows, torch.Suspicious))
		warnings, err := files.WriteTensors(ctx, table, folder)
		for _, w := range warnings {
			f.log.warnf("%v", w)
		}
		must.Do(err)
	}
	f.log.infof("The comparison result have been written to \"'%s'\".", path)
	compat.Refuse(table.Compared() == 0, compat.CodeNoDump, "no tensors of the two files could be compared")
	if a.advisor {
		advisor := compat.NewAdvisor(nil)
		for i := range table.Rows {
			advisor.Add(&table.Rows[i])
		}
		f.writeAdvice(a, "", advisor)
	}
	return exitOK
}
