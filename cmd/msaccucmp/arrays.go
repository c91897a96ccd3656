package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"precision/cmd/msaccucmp/argparse"
	"precision/cmd/msaccucmp/compat"
	"precision/compare/engine"
	"precision/compare/metric"
	"precision/compare/report"
	"precision/dump/convert"
	"precision/internal/msg"
	"precision/internal/must"
	"precision/internal/whole"
)

// compareArrays compares two plain files and tells the result in the log.
func (f *face) compareArrays(ctx context.Context, a *compareArgs, v *argparse.Values) int {
	f.setAlgorithms(ctx, a, v)
	f.arrays(ctx, a.mine, a.golden, a.algorithms)
	return exitOK
}

func (f *face) arrays(ctx context.Context, mine, golden string, metrics []metric.Metric) *engine.ArrayResult {
	f.log.infof("The my output dump file is '%s'.", mine)
	f.log.infof("The ground truth file is '%s'.", golden)
	r := must.Get(engine.Arrays(ctx, mine, golden, metric.Reference, metrics))
	for _, line := range r.Lines() {
		f.log.infof("%s", line)
	}
	if len(r.Reasons) > 0 {
		var notes []string
		for _, reason := range r.Reasons {
			notes = append(notes, report.Sentence(msg.English, reason))
		}
		f.log.infof("['%s']", strings.Join(notes, "', '"))
	}
	return r
}

// fileMetrics are those of file_compare: no divergence, no deviation.
var fileMetrics = []metric.Metric{metric.CosineSimilarity, metric.MaxAbsoluteError, metric.AccumulatedRelativeError,
	metric.RelativeEuclideanDistance, metric.MeanAbsoluteError, metric.RootMeanSquareError, metric.MaxRelativeError, metric.MeanRelativeError}

// fileCompare compares two .npy files and writes the result to a file.
func (f *face) fileCompare(ctx context.Context, v *argparse.Values) int {
	mine, golden, out := v.Text("my_dump_path"), v.Text("golden_dump_path"), v.Text("output")
	for _, path := range []string{mine, golden} {
		compat.Refuse(!strings.HasSuffix(path, ".npy"), compat.CodeFileType, "%s: only .npy files are compared", path)
		_, err := os.Stat(path)
		compat.Refuse(err != nil, compat.CodePath, "%w", err)
	}
	must.Do(convert.Folder(out))
	r := f.arrays(ctx, mine, golden, fileMetrics)
	path := filepath.Join(out, "file_result_"+f.now().Format("20060102150405")+".txt")
	path, err := whole.FillNew(path, 0o600, func(w io.Writer) error {
		_, err := io.WriteString(w, r.Report())
		return err
	})
	compat.Refuse(err != nil, compat.CodePath, "%w", err)
	f.log.infof("The file compare result have been written to \"'%s'\".", path)
	return exitOK
}
