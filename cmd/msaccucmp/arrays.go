package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"precision/cmd/msaccucmp/argparse"
	"precision/cmd/msaccucmp/compat"
	"precision/compare"
	"precision/compare/metric"
	"precision/compare/report"
	"precision/dump"
	"precision/dump/convert"
	"precision/internal/msg"
	"precision/internal/whole"
)

const exitFileType = 24

// compareArrays compares two plain files and tells the result in the log.
func (f *face) compareArrays(ctx context.Context, a *compareArgs, v *argparse.Values) (int, error) {
	if err := f.setAlgorithms(ctx, a, v); err != nil {
		return compat.ExitCode(err), err
	}
	_, code, err := f.arrays(ctx, a.mine, a.golden, a.algorithms)
	return code, err
}

func (f *face) arrays(ctx context.Context, mine, golden string, metrics []metric.Metric) (*compare.ArrayResult, int, error) {
	f.log.infof("The my output dump file is '%s'.", mine)
	f.log.infof("The ground truth file is '%s'.", golden)
	r, err := compare.Arrays(ctx, mine, golden, metric.Reference, metrics)
	if err != nil {
		return nil, compat.ExitCode(err), err
	}
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
	return r, exitOK, nil
}

// fileMetrics are those of file_compare: no divergence, no deviation.
var fileMetrics = []metric.Metric{metric.CosineSimilarity, metric.MaxAbsoluteError, metric.AccumulatedRelativeError,
	metric.RelativeEuclideanDistance, metric.MeanAbsoluteError, metric.RootMeanSquareError, metric.MaxRelativeError, metric.MeanRelativeError}

// fileCompare compares two .npy files and writes the result to a file.
func (f *face) fileCompare(ctx context.Context, v *argparse.Values) (int, error) {
	mine, golden, out := v.Text("my_dump_path"), v.Text("golden_dump_path"), v.Text("output")
	for _, path := range []string{mine, golden} {
		if !strings.HasSuffix(path, ".npy") {
			return failed(exitFileType, "%s: only .npy files are compared", path)
		}
		if _, err := os.Stat(path); err != nil {
			return exitPath, err
		}
	}
	if err := convert.Folder(out); err != nil {
		return dump.Code(err), err
	}
	r, code, err := f.arrays(ctx, mine, golden, fileMetrics)
	if err != nil {
		return code, err
	}
	path := filepath.Join(out, "file_result_"+f.now().Format("20060102150405")+".txt")
	path, err = whole.FillNew(path, 0o600, func(w io.Writer) error {
		_, err := io.WriteString(w, r.Report())
		return err
	})
	if err != nil {
		return failed(exitPath, "%w", err)
	}
	f.log.infof("The file compare result have been written to \"'%s'\".", path)
	return exitOK, nil
}
