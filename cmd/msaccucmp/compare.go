package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"precision/cmd/msaccucmp/argparse"
	"precision/cmd/msaccucmp/compat"
	"precision/compare"
	"precision/compare/metric"
	"precision/compare/report"
	"precision/compare/result"
	"precision/compare/script"
	"precision/dump"
	"precision/dump/convert"
	"precision/graph/fusion"
	"precision/internal/each"
	"precision/internal/interrupt"
	"precision/internal/msg"
	"precision/internal/plainfile"
	"precision/internal/whole"
)

// compareArgs are the options of the compare sub-command.
type compareArgs struct {
	mine, golden           string
	rules, quant, closed   string
	out, scripts           string
	algorithms             []metric.Metric
	columns                []result.Column
	user                   *compare.UserScripts
	mapping, advisor, ffts bool
	overflow               bool
	rangeText, selectText  string
	ranged, selected       bool
	max                    int64
	op                     string
}

func (f *face) compare(ctx context.Context, v *argparse.Values) (int, error) {
	if v.Int("version") == 1 {
		f.log.warnf("The dump version 1 is no longer in use, the files are read as version 2.")
	}
	a := compareArgs{
		mine: v.Text("my_dump_path"), golden: v.Text("golden_dump_path"),
		rules: v.Text("fusion_rule_file"), quant: v.Text("quant_fusion_rule_file"), closed: v.Text("close_fusion_rule_file"),
		out: v.Text("output"), scripts: v.Text("custom_script_path"),
		mapping: v.Flag("mapping"), advisor: v.Flag("advisor"), ffts: v.Flag("ffts"), overflow: v.Flag("overflow_detection"),
		rangeText: v.Text("range"), selectText: v.Text("select"), ranged: v.Given("range"), selected: v.Given("select"),
		max: int64(v.Int("max_cmp_size")), op: v.Text("op_name"),
	}
	single := a.op != "" // as the old tool, which asks for its text
	if code, err := a.check(v, single); err != nil {
		return code, err
	}
	files := !a.mapping && plainfile.IsFile(a.mine) && plainfile.IsFile(a.golden)
	torch := files && bothEnd(a.mine, a.golden, ".h5")
	if v.Given("post_process") && !torch {
		return failed(exitParameter, "-p is for the comparison of two .h5 files")
	}
	if !a.mapping {
		switch {
		case torch:
			return f.compareTorch(ctx, &a, v)
		case files:
			return f.compareArrays(ctx, &a, v)
		}
		if a.rules != "" && !plainfile.IsFile(a.rules) {
			if _, err := os.ReadDir(a.rules); err != nil {
				return failed(exitPath, "the rule file: %w", err)
			}
			if single {
				return failed(exitParameter, "-op cannot be used with a folder of rule files")
			}
			return f.compareBatch(ctx, &a, v)
		}
	}
	return f.compareNetwork(ctx, &a, v, "")
}

// check makes the checks that need no file but the two sides, in the old
// tool's order.
func (a *compareArgs) check(v *argparse.Values, single bool) (int, error) {
	tensor := v.Given("output_tensor") || v.Given("input_tensor")
	switch {
	case a.ranged && a.rules == "":
		return failed(exitParameter, "-r needs the rule file -f")
	case a.ranged && single:
		return failed(exitParameter, "-r cannot be used with -op")
	case a.selected && a.rules == "":
		return failed(exitParameter, "-s needs the rule file -f")
	case a.selected && single:
		return failed(exitParameter, "-s cannot be used with -op")
	case a.ranged && a.selected:
		return failed(exitParameter, "-r and -s exclude each other")
	case a.max < 0:
		return failed(exitParameter, "-max is %d, expected 0 or more", a.max)
	}
	if a.mapping {
		switch {
		case single:
			return failed(exitParameter, "-map cannot be used with -op")
		case tensor:
			return failed(exitParameter, "-map cannot be used with -o or -i")
		case a.rules == "" && a.quant == "":
			return failed(exitParameter, "-map needs a rule file, -f or -q")
		}
		return exitOK, nil
	}
	switch {
	case tensor && !single:
		return failed(exitParameter, "-o and -i need -op")
	case (v.Given("topn") || v.Given("ignore_single_op_result") || v.Given("max_line")) && !single:
		return failed(exitParameter, "-n, -ml and --ignore_single_op_result need -op")
	}
	for _, path := range []string{a.mine, a.golden} {
		if path == "" {
			return failed(exitParameter, "a dump path is empty")
		}
		if _, err := os.Stat(path); err != nil {
			return failed(exitPath, "the dump path: %w", err)
		}
	}
	return exitOK, nil
}

func bothEnd(a, b, suffix string) bool {
	return strings.HasSuffix(a, suffix) && strings.HasSuffix(b, suffix)
}

// compareNetwork compares two folders. name, if any, comes in front of the
// result's file name.
func (f *face) compareNetwork(ctx context.Context, a *compareArgs, v *argparse.Values, name string) (int, error) {
	single := a.op != ""
	if a.advisor {
		if a.ranged || a.selected || single {
			f.log.warnf("-advisor is switched off: it needs the whole network.")
			a.advisor = false
		} else if name == "" {
			a.overflow = true
		}
	}
	var detail *compare.DetailOptions
	if single {
		d, err := detailOptions(v)
		if err != nil {
			return compat.ExitCode(err), err
		}
		detail = d
	}
	if err := f.setAlgorithms(ctx, a, v); err != nil {
		return compat.ExitCode(err), err
	}
	for _, path := range []string{a.rules, a.quant, a.closed} {
		if path != "" && !plainfile.IsFile(path) {
			return failed(exitPath, "%s: no such rule file", path)
		}
	}
	if single {
		if err := detail.Validate(); err != nil {
			return compat.ExitCode(err), err
		}
	}
	a.out = cmp.Or(a.out, ".")
	if err := convert.Folder(a.out); err != nil {
		if plainfile.IsFile(a.out) && !single {
			return exitOpen, err // the old tool takes it for a folder until it opens the table
		}
		return dump.Code(err), err
	}
	opt, err := f.openSides(a)
	if err != nil {
		return compat.ExitCode(err), err
	}
	if opt.Rules, err = readRules(ctx, a); err != nil {
		return compat.ExitCode(err), err
	}
	if err := f.choose(a, opt); err != nil {
		return compat.ExitCode(err), err
	}
	switch {
	case single:
		return f.writeDetail(ctx, a, opt, detail)
	case a.mapping:
		return f.writeMapping(ctx, a, opt)
	}
	return f.writeTable(ctx, a, opt, name)
}

// setAlgorithms reads -alg in either of its forms, -a and -c.
func (f *face) setAlgorithms(ctx context.Context, a *compareArgs, v *argparse.Values) error {
	params, err := compat.CheckAlgorithmOptions(v.Text("algorithm_options"))
	if err != nil {
		return err
	}
	var user func(string) bool
	if a.scripts != "" {
		if a.user, err = f.openScripts(ctx, a.scripts, params); err != nil {
			return err
		}
		user = func(name string) bool { _, ok := a.user.Algorithm(name); return ok }
	}
	text := v.Text("algorithm")
	if list := v.Ints("algorithm"); len(list) > 0 {
		names := each.Of(list, strconv.Itoa)
		text = strings.Join(names, ",")
	}
	columns, unknown, err := compat.ParseAlgorithms(text, user)
	for _, name := range unknown {
		f.log.warnf("There is no algorithm %q, it is left out.", name)
	}
	a.columns, a.algorithms = columns, compat.MetricsOf(columns)
	return err
}

// openScripts loads the user's scripts once, so that one that cannot work is
// told of before the comparison begins.
func (f *face) openScripts(ctx context.Context, dir string, params map[string]map[string]string) (*compare.UserScripts, error) {
	scripts, err := script.Open(dir)
	if err != nil {
		return nil, err
	}
	warnings, err := scripts.Check(ctx)
	for _, w := range append(scripts.Warnings, warnings...) {
		f.log.warnf("%v", w)
	}
	if err != nil {
		return nil, &compat.Error{Code: exitParameter, Err: err}
	}
	return &compare.UserScripts{Scripts: scripts, Params: params}, nil
}

// openSides lists both folders and checks that they go together.
func (f *face) openSides(a *compareArgs) (*compare.Folders, error) {
	scan := dump.Options{Rules: a.rules != "" || a.quant != "", Slices: a.ffts}
	opt := &compare.Folders{Sequence: a.ranged || a.selected, Options: compare.Options{Numerics: metric.Reference, TableOnly: true,
		Metrics: a.algorithms, ValueColumns: a.columns, Scripts: a.user, MaxElements: a.max, Overflow: a.overflow}}
	for _, side := range []struct {
		path   string
		folder **dump.Folder
	}{{a.mine, &opt.Left}, {a.golden, &opt.Right}} {
		folder, err := dump.Scan(side.path, scan)
		if err != nil {
			return nil, err
		}
		for _, w := range folder.Warnings {
			f.log.warnf("%s", w)
		}
		*side.folder = folder
	}
	return opt, compat.CheckScenario(opt.Left, opt.Right, a.rules != "", a.quant != "", a.closed != "")
}

// readRules reads the rule files and merges them.
func readRules(ctx context.Context, a *compareArgs) (*fusion.Rules, error) {
	var rules, quant, closed *fusion.Rules
	for _, r := range []struct {
		path string
		into **fusion.Rules
	}{{a.rules, &rules}, {a.quant, &quant}, {a.closed, &closed}} {
		if r.path == "" {
			continue
		}
		m, err := compat.ReadGraph(ctx, r.path)
		if err != nil {
			return nil, err
		}
		if *r.into, err = interrupt.Await(ctx, func() (*fusion.Rules, error) { return fusion.New(m) }); err != nil {
			return nil, err
		}
	}
	return fusion.Merge(rules, quant, closed), nil
}

// choose applies -r or -s.
func (f *face) choose(a *compareArgs, opt *compare.Folders) (err error) {
	switch {
	case a.ranged && a.rangeText != "":
		opt.Only, err = compat.ParseRange(a.rangeText, opt.Rules)
	case a.selected && a.selectText != "":
		var dropped []int64
		opt.Only, dropped, err = compat.ParseSelection(a.selectText, opt.Rules)
		for _, id := range dropped {
			f.log.warnf("The graph has no operator %d, it is left out.", id)
		}
	}
	return err
}

// writeTable compares and writes the result table, then the advice.
func (f *face) writeTable(ctx context.Context, a *compareArgs, opt *compare.Folders, name string) (int, error) {
	if name != "" {
		name += "_"
	}
	path := filepath.Join(a.out, name+"result_"+f.now().Format("20060102150405")+".csv")
	table, err := report.Create(path, opt.Columns())
	if err != nil {
		return compat.ExitCode(err), err
	}
	defer table.Discard()
	advisor := compat.NewAdvisor(opt.Rules)
	if a.closed != "" {
		advisor = compat.NewAdvisor(nil)
	}
	watch := func(r *result.Row) error {
		advisor.Add(r)
		if reason := report.Sentences(msg.English, r.Reasons); reason != "" {
			f.log.warnf("%s", reason)
		}
		return nil
	}
	out, err := compare.Run(ctx, opt, opt.Options, watch, table.Row)
	if err == nil {
		path, err = table.CommitNew()
	}
	if err != nil {
		if ctx.Err() != nil {
			return failed(exitInterrupted, "stopped after %d of %d operators, no result was written", out.Done, out.Groups)
		}
		return compat.ExitCode(err), err
	}
	f.log.infof("The comparison result have been written to \"'%s'\".", path)
	code := compat.ExitCode(out.Failed)
	if !met(out.Table) && (code == exitOK || code == exitNoDump) {
		text := "No operator of the two sides could be matched."
		if a.ranged || a.selected {
			f.log.warnf("%s", text)
		} else {
			err = errors.New(text) //lint:ignore ST1005 a sentence of the log
		}
		return exitNoDump, err
	}
	if a.advisor {
		if err := f.writeAdvice(a, name, advisor); err != nil {
			return compat.ExitCode(err), err
		}
	}
	return code, nil
}

// met tells whether the two sides have anything in common: a tensor that was looked for on the other side, whatever
// kept the two from being compared. Operators without a dump have no such row.
func met(t *result.Table) bool {
	return slices.ContainsFunc(t.Rows, func(r result.Row) bool { return r.Role != result.Whole })
}

// compareBatch compares every model below a run's folder with its graph. The
// exit code is the worst, not the last one's.
func (f *face) compareBatch(ctx context.Context, a *compareArgs, v *argparse.Values) (int, error) {
	runs, err := compat.FindBatch(ctx, a.mine, a.rules)
	if err != nil {
		return compat.ExitCode(err), err
	}
	worst := exitOK
	for _, r := range runs {
		if r.Warning != "" {
			f.log.warnf("%s", r.Warning)
		}
		one := *a
		one.mine, one.rules = r.Dir, r.Rules
		code, err := f.compareNetwork(ctx, &one, v, r.Name())
		if ctx.Err() != nil {
			return code, err
		}
		if err != nil {
			f.log.errorf("%s: %v", r.Dir, err)
		}
		worst = max(worst, code)
	}
	return worst, nil
}

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
