package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"precision/cmd/msaccucmp/argparse"
	"precision/cmd/msaccucmp/compat"
	"precision/compare/engine"
	"precision/compare/metric"
	"precision/compare/report"
	"precision/compare/result"
	"precision/compare/script"
	"precision/dump"
	"precision/dump/convert"
	"precision/graph/fusion"
	"precision/internal/interrupt"
	"precision/internal/msg"
	"precision/internal/must"
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
	user                   *engine.UserScripts
	mapping, advisor, ffts bool
	overflow               bool
	rangeText, selectText  string
	ranged, selected       bool
	max                    int64
	op                     string
}

func (f *face) compare(ctx context.Context, v *argparse.Values) int {
	if v.Int("version") == 1 {
		f.log.warnf("The dump version 1 is no longer in use, the files are read as version 2.")
	}
	a := compareArgs{
		mine: v.Text("my_dump_path"), golden: v.Text("golden_dump_path"),
		rules: v.Text("fusion_rule_file"), quant: v.Text("quant_fusion_rule_file"), closed: v.Text("close_fusion_rule_file"),
		out: v.Text("output"), scripts: v.Text("custom_script_path"),
		mapping: v.Given("mapping"), advisor: v.Given("advisor"), ffts: v.Given("ffts"), overflow: v.Given("overflow_detection"),
		rangeText: v.Text("range"), selectText: v.Text("select"), ranged: v.Given("range"), selected: v.Given("select"),
		max: int64(v.Int("max_cmp_size")), op: v.Text("op_name"),
	}
	single := a.op != "" // as the old tool, which asks for its text
	a.check(v, single)
	files := !a.mapping && plainfile.IsFile(a.mine) && plainfile.IsFile(a.golden)
	torch := files && strings.HasSuffix(a.mine, ".h5") && strings.HasSuffix(a.golden, ".h5")
	compat.Refuse(v.Given("post_process") && !torch, compat.CodeParameter, "-p is for the comparison of two .h5 files")
	if !a.mapping {
		switch {
		case torch:
			return f.compareTorch(ctx, &a, v)
		case files:
			return f.compareArrays(ctx, &a, v)
		}
		if a.rules != "" && !plainfile.IsFile(a.rules) {
			_, err := os.ReadDir(a.rules)
			compat.Refuse(err != nil, compat.CodePath, "the rule file: %w", err)
			compat.Refuse(single, compat.CodeParameter, "-op cannot be used with a folder of rule files")
			return f.compareBatch(ctx, &a, v)
		}
	}
	return f.compareNetwork(ctx, &a, v, "")
}

// check makes the checks that need no file but the two sides, in the old
// tool's order.
func (a *compareArgs) check(v *argparse.Values, single bool) {
	tensor := v.Given("output_tensor") || v.Given("input_tensor")
	compat.Refuse(a.ranged && a.rules == "", compat.CodeParameter, "-r needs the rule file -f")
	compat.Refuse(a.ranged && single, compat.CodeParameter, "-r cannot be used with -op")
	compat.Refuse(a.selected && a.rules == "", compat.CodeParameter, "-s needs the rule file -f")
	compat.Refuse(a.selected && single, compat.CodeParameter, "-s cannot be used with -op")
	compat.Refuse(a.ranged && a.selected, compat.CodeParameter, "-r and -s exclude each other")
	compat.Refuse(a.max < 0, compat.CodeParameter, "-max is %d, expected 0 or more", a.max)
	if a.mapping {
		compat.Refuse(single, compat.CodeParameter, "-map cannot be used with -op")
		compat.Refuse(tensor, compat.CodeParameter, "-map cannot be used with -o or -i")
		compat.Refuse(a.rules == "" && a.quant == "", compat.CodeParameter, "-map needs a rule file, -f or -q")
		return
	}
	compat.Refuse(tensor && !single, compat.CodeParameter, "-o and -i need -op")
	compat.Refuse((v.Given("topn") || v.Given("ignore_single_op_result") || v.Given("max_line")) && !single, compat.CodeParameter, "-n, -ml and --ignore_single_op_result need -op")
	for _, path := range []string{a.mine, a.golden} {
		compat.Refuse(path == "", compat.CodeParameter, "a dump path is empty")
		_, err := os.Stat(path)
		compat.Refuse(err != nil, compat.CodePath, "the dump path: %w", err)
	}
}

// compareNetwork compares two folders. name, if any, comes in front of the
// result's file name.
func (f *face) compareNetwork(ctx context.Context, a *compareArgs, v *argparse.Values, name string) int {
	single := a.op != ""
	if a.advisor {
		if a.ranged || a.selected || single {
			f.log.warnf("-advisor is switched off: it needs the whole network.")
			a.advisor = false
		} else if name == "" {
			a.overflow = true
		}
	}
	var detail *engine.DetailOptions
	if single {
		detail = detailOptions(v)
	}
	f.setAlgorithms(ctx, a, v)
	for _, path := range []string{a.rules, a.quant, a.closed} {
		compat.Refuse(path != "" && !plainfile.IsFile(path), compat.CodePath, "%s: no such rule file", path)
	}
	if single {
		must.Do(detail.Validate())
	}
	a.out = cmp.Or(a.out, ".")
	err := convert.Folder(a.out)
	compat.Refuse(err != nil && plainfile.IsFile(a.out) && !single, compat.CodeOpen, "%w", err) // the old tool takes it for a folder until it opens the table
	must.Do(err)
	opt := f.openSides(a)
	opt.Rules = readRules(ctx, a)
	f.choose(a, opt)
	switch {
	case single:
		return f.writeDetail(ctx, a, opt, detail)
	case a.mapping:
		return f.writeMapping(ctx, a, opt)
	}
	return f.writeTable(ctx, a, opt, name)
}

// setAlgorithms reads -alg in either of its forms, -a and -c.
func (f *face) setAlgorithms(ctx context.Context, a *compareArgs, v *argparse.Values) {
	params := compat.CheckAlgorithmOptions(v.Text("algorithm_options"))
	var user func(string) bool
	if a.scripts != "" {
		a.user = f.openScripts(ctx, a.scripts, params)
		user = func(name string) bool { _, ok := a.user.Algorithm(name); return ok }
	}
	text := v.Text("algorithm")
	if list := v.List("algorithm"); len(list) > 0 {
		text = strings.Join(list, ",")
	}
	columns, unknown, err := compat.ParseAlgorithms(text, user)
	for _, name := range unknown {
		f.log.warnf("There is no algorithm %q, it is left out.", name)
	}
	must.Do(err)
	a.columns, a.algorithms = columns, compat.MetricsOf(columns)
}

// openScripts loads the user's scripts once, so that one that cannot work is
// told of before the comparison begins.
func (f *face) openScripts(ctx context.Context, dir string, params map[string]map[string]string) *engine.UserScripts {
	scripts := must.Get(script.Open(dir))
	warnings, err := scripts.Check(ctx)
	for _, w := range append(scripts.Warnings, warnings...) {
		f.log.warnf("%v", w)
	}
	compat.Refuse(err != nil, compat.CodeParameter, "%w", err)
	return &engine.UserScripts{Scripts: scripts, Params: params}
}

// openSides lists both folders and checks that they go together.
func (f *face) openSides(a *compareArgs) *engine.Folders {
	scan := dump.Options{Rules: a.rules != "" || a.quant != "", Slices: a.ffts}
	opt := &engine.Folders{Sequence: a.ranged || a.selected, Options: engine.Options{Numerics: metric.Reference, TableOnly: true,
		Metrics: a.algorithms, ValueColumns: a.columns, Scripts: a.user, MaxElements: a.max, Overflow: a.overflow}}
	for _, side := range []struct {
		path   string
		folder **dump.Folder
	}{{a.mine, &opt.Left}, {a.golden, &opt.Right}} {
		folder := must.Get(dump.Scan(side.path, scan))
		for _, w := range folder.Warnings {
			f.log.warnf("%s", w)
		}
		*side.folder = folder
	}
	compat.CheckScenario(opt.Left, opt.Right, a.rules != "", a.quant != "", a.closed != "")
	return opt
}

// readRules reads the rule files and merges them.
func readRules(ctx context.Context, a *compareArgs) *fusion.Rules {
	var rules, quant, closed *fusion.Rules
	for _, r := range []struct {
		path string
		into **fusion.Rules
	}{{a.rules, &rules}, {a.quant, &quant}, {a.closed, &closed}} {
		if r.path == "" {
			continue
		}
		m := compat.ReadGraph(ctx, r.path)
		*r.into = must.Get(interrupt.Await(ctx, func() (*fusion.Rules, error) { return fusion.New(m) }))
	}
	return fusion.Merge(rules, quant, closed)
}

// choose applies -r or -s.
func (f *face) choose(a *compareArgs, opt *engine.Folders) {
	switch {
	case a.ranged && a.rangeText != "":
		opt.Only = compat.ParseRange(a.rangeText, opt.Rules)
	case a.selected && a.selectText != "":
		only, dropped, err := compat.ParseSelection(a.selectText, opt.Rules)
		for _, id := range dropped {
			f.log.warnf("The graph has no operator %d, it is left out.", id)
		}
		must.Do(err)
		opt.Only = only
	}
}

// writeTable compares and writes the result table, then the advice.
func (f *face) writeTable(ctx context.Context, a *compareArgs, opt *engine.Folders, name string) int {
	if name != "" {
		name += "_"
	}
	path := filepath.Join(a.out, name+"result_"+f.now().Format("20060102150405")+".csv")
	table := must.Get(report.Create(path, opt.Columns()))
	defer table.Discard()
	advisor := compat.NewAdvisor(nil)
	if opt.Rules != nil && a.closed == "" {
		advisor = compat.NewAdvisor(opt.Rules.InputNodes)
	}
	watch := func(r *result.Row) error {
		advisor.Add(r)
		if reason := report.Sentences(msg.English, r.Reasons); reason != "" {
			f.log.warnf("%s", reason)
		}
		return nil
	}
	out, err := engine.Run(ctx, opt, opt.Options, watch, table.Row)
	if err == nil {
		path, err = table.CommitNew()
	}
	if err != nil && ctx.Err() != nil {
		compat.Refuse(true, exitInterrupted, "stopped after %d of %d operators, no result was written", out.Done, out.Groups)
	}
	must.Do(err)
	f.log.infof("The comparison result have been written to \"'%s'\".", path)
	code := compat.ExitCode(out.Failed)
	if !met(out.Table) && (code == exitOK || code == compat.CodeNoDump) {
		text := "No operator of the two sides could be matched."
		compat.Refuse(!a.ranged && !a.selected, compat.CodeNoDump, "%s", text)
		f.log.warnf("%s", text)
		return compat.CodeNoDump
	}
	if a.advisor {
		f.writeAdvice(a, name, advisor)
	}
	return code
}

// met tells whether the two sides have anything in common: a tensor that was looked for on the other side, whatever
// kept the two from being compared. Operators without a dump have no such row.
func met(t *result.Table) bool {
	return slices.ContainsFunc(t.Rows, func(r result.Row) bool { return r.Role != result.Whole })
}

// compareBatch compares every model below a run's folder with its graph. The
// exit code is the worst, not the last one's.
func (f *face) compareBatch(ctx context.Context, a *compareArgs, v *argparse.Values) int {
	runs := compat.FindBatch(ctx, a.mine, a.rules)
	worst := exitOK
	for _, r := range runs {
		if r.Warning != "" {
			f.log.warnf("%s", r.Warning)
		}
		one := *a
		one.mine, one.rules = r.Dir, r.Rules
		code, err := coded(func() int { return f.compareNetwork(ctx, &one, v, r.Name()) })
		if ctx.Err() != nil {
			must.Do(err)
			return code
		}
		if err != nil {
			f.log.errorf("%s: %v", r.Dir, err)
		}
		worst = max(worst, code)
	}
	return worst
}

// detailOptions reads the options that go with -op.
func detailOptions(v *argparse.Values) *engine.DetailOptions {
	d := &engine.DetailOptions{Op: v.Text("op_name"), TopN: v.Int("topn"), MaxLine: v.Int("max_line"),
		SkipElements: v.Given("ignore_single_op_result")}
	must.Do(d.CheckMaxLine())
	text := v.Text("output_tensor")
	if v.Given("input_tensor") {
		d.Input, text = true, v.Text("input_tensor")
	}
	if text == "" && !v.Given("output_tensor") && !d.Input {
		return d
	}
	d.Slot = slot(text)
	return d
}

// writeDetail compares one tensor element by element.
func (f *face) writeDetail(ctx context.Context, a *compareArgs, opt *engine.Folders, d *engine.DetailOptions) int {
	if opt.Rules == nil {
		f.log.warnf("There is no fusion rule file, the operator is looked up by its dump's name.")
	}
	r := must.Get(engine.Detail(ctx, *opt, *d, a.out))
	for _, tensor := range r.Overflow {
		f.log.warnf("%s: overflow YES", tensor)
	}
	fmt.Fprintf(f.stdout, "\n\n%s\n\n%s", r.Absolute, r.Relative)
	for _, path := range r.Files {
		f.log.infof("The data has been written to \"'%s'\".", path)
	}
	return exitOK
}

// writeMapping writes the table of which files would be compared.
func (f *face) writeMapping(ctx context.Context, a *compareArgs, opt *engine.Folders) int {
	rows := must.Get(engine.Mapping(ctx, *opt))
	path := filepath.Join(a.out, "mapping_"+f.now().Format("20060102150405")+".csv")
	path, err := whole.FillNew(path, 0o600, func(w io.Writer) error { return report.WriteMapping(w, rows, opt.Sequence) })
	compat.Refuse(err != nil, compat.CodePath, "%w", err)
	f.log.infof("The mapping table has been written to \"'%s'\".", path)
	return exitOK
}

// writeAdvice writes the advisor's summary beside the table and logs it. In a
// batch every model has its own.
func (f *face) writeAdvice(a *compareArgs, name string, advisor *compat.Advisor) {
	advice := advisor.Advice()
	path := filepath.Join(a.out, name+"advisor_summary.txt")
	must.Do(whole.WriteOwn(path, []byte(advice.String()), 0o600))
	f.log.infof("Detection Type: %s", advice.Detection)
	f.log.infof("Operator Index: %s", advice.Operator)
	f.log.infof("Expert Advice: %s", advice.Text)
}
