package main

import (
	"context"
	"io"
	"path/filepath"

	"precision/cmd/msaccucmp/compat"
	"precision/compare"
	"precision/compare/report"
	"precision/internal/whole"
)

// writeMapping writes the table of which files would be compared.
func (f *face) writeMapping(ctx context.Context, a *compareArgs, opt *compare.Folders) (int, error) {
	rows, err := compare.Mapping(ctx, *opt)
	if err != nil {
		return compat.ExitCode(err), err
	}
	path := filepath.Join(a.out, "mapping_"+f.now().Format("20060102150405")+".csv")
	path, err = whole.FillNew(path, 0o600, func(w io.Writer) error { return report.WriteMapping(w, rows, opt.Sequence) })
	if err != nil {
		return exitPath, err
	}
	f.log.infof("The mapping table has been written to \"'%s'\".", path)
	return exitOK, nil
}

// writeAdvice writes the advisor's summary beside the table and logs it. In a
// batch every model has its own.
func (f *face) writeAdvice(a *compareArgs, name string, advisor *compat.Advisor) error {
	advice := advisor.Advice()
	path := filepath.Join(a.out, name+"advisor_summary.txt")
	if err := whole.WriteOwn(path, []byte(advice.String()), 0o600); err != nil {
		return err
	}
	f.log.infof("Detection Type: %s", advice.Detection)
	f.log.infof("Operator Index: %s", advice.Operator)
	f.log.infof("Expert Advice: %s", advice.Text)
	return nil
}
