package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"precision/compare/job"
	"precision/compare/look"
	"precision/compare/report"
	"precision/compare/report/html"
	"precision/compare/report/parquet"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/internal/msg"
	"precision/internal/must"
	"precision/internal/whole"
	"precision/run/explain"
)

// Judging says what a table is judged by and where the verdict is written.
type Judging struct {
	// Profile is the name of a profile or a file; empty takes that of a saved table, or the default one.
	Profile string
	// Threshold, if not nil, is the limit of the cosine similarity in place of the profile's.
	Threshold *float64
	// Baseline and After are results saved as JSON: of what was known before, and of what this one goes on from.
	Baseline, After string
	// Gate is what does not let a verdict pass.
	Gate verdict.Gate
	// State is the folder that keeps the last result; empty keeps none.
	State string
	// Pictures is how many operators are looked at for a page; none if it is 0.
	Pictures int
	Files
}

// Files are the forms in which a verdict is written; "-" is Stdout.
type Files struct {
	JSON, JUnit, SARIF, HTML, Parquet string
	// Explorer and NodeData are the network and its errors for model-explorer.
	Explorer, NodeData string
	// Beside are endings of names: these forms go next to the table, too.
	Beside []string
	Stdout io.Writer
	Lang   msg.Lang
	// Records are lines on overflows for the page.
	Records []string
}

// ToStdout tells whether one of the forms goes to stdout, where nothing else is said then.
func (f *Files) ToStdout() bool {
	return slices.Contains(f.paths(), "-")
}

// paths are where the forms go.
func (f *Files) paths() []string {
	return []string{f.JSON, f.JUnit, f.SARIF, f.HTML, f.Parquet, f.Explorer, f.NodeData}
}

// Write writes the forms. unseen is why elements were not looked at, table where the table is.
func (f *Files) Write(j *verdict.Judged, strict bool, unseen, table string) (_ []string, err error) {
	defer must.Catch(&err)
	paths, written := f.paths(), []string(nil)
	page := html.Options{Lang: f.Lang, NoLooks: unseen, Records: f.Records}
	forms := [...]struct {
		ending string
		write  func(io.Writer, *verdict.Judged) error
	}{{".json", report.WriteJSON}, {".xml", report.JUnit{Lang: f.Lang, Strict: strict}.Write}, {".sarif", report.SARIF{Lang: f.Lang}.Write},
		{".html", func(w io.Writer, j *verdict.Judged) error { return html.Write(w, j, page) }}, {".parquet", parquet.Write}, {".graph.json", report.WriteExplorerGraph}, {".nodes.json", report.WriteNodeData}}
	for i, form := range forms {
		if slices.Contains(f.Beside, form.ending) {
			paths[i] = strings.TrimSuffix(strings.TrimSuffix(table, ".csv"), ".json") + form.ending
		}
	}
	if paths[3] != "" {
		look.LayOut(j.Table)
	}
	for i, path := range paths {
		switch path {
		case "":
		case "-":
			must.Do(forms[i].write(f.Stdout, j))
		default:
			must.Do(writeWhole(path, func(w io.Writer) error { return forms[i].write(w, j) }))
			written = append(written, path)
		}
	}
	return written, nil
}

// writeWhole writes a file that appears whole or not at all.
func writeWhole(path string, write func(w io.Writer) error) error {
	out, err := whole.Create(path, 0o600)
	if err != nil {
		return err
	}
	defer out.Discard()
	if err := write(out); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return out.Commit()
}

// apart sees that none of the files that are written is an input.
func (o *Judging) apart(inputs ...string) error {
	return whole.Apart(o.paths(), append(inputs, o.Profile, o.Baseline, o.After)...)
}

// Standards opens what the judge needs. own is the profile to take where none is named, nil for the default one.
func (o *Judging) Standards(own *verdict.Profile) (opts verdict.Options, err error) {
	defer must.Catch(&err)
	opts.Profile = own
	if own == nil || o.Profile != "" {
		opts.Profile, err = verdict.OpenProfile(cmp.Or(o.Profile, "default"))
		explain.Refuse(err != nil, "err.option", "-profile", err)
	}
	if o.Threshold != nil {
		opts.Profile, err = opts.Profile.WithLimit(verdict.Cosine, *o.Threshold)
		explain.Refuse(err != nil, "err.option", "-threshold", err)
	}
	if o.Baseline != "" {
		saved, err := report.OpenJSON(o.Baseline)
		explain.Refuse(err != nil, "err.option", "-baseline", err)
		opts.Baseline = saved.Table
	}
	if o.After != "" {
		opts.After, err = job.Open(o.After, opts.Profile)
		explain.Refuse(err != nil, "err.option", "-after", err)
	}
	return opts, nil
}

// fits refuses an earlier result that is none for a table.
func (o *Judging) fits(t *result.Table, opts verdict.Options) error {
	if opts.After != nil {
		err := verdict.FitAfter(opts.After, t, opts.Part)
		if e := (*verdict.AfterError)(nil); errors.As(err, &e) {
			return unfit("err.after."+string(e.Fault), o.After, e.Tensor, e.Then, e.Now, e.Common, e.All)
		} else if err != nil {
			return err
		}
	}
	if opts.Baseline == nil {
		return nil
	}
	err := verdict.FitBaseline(opts.Baseline, t, opts)
	if e := (*verdict.BaselineError)(nil); errors.As(err, &e) {
		return unfit("err.baseline."+string(e.Fault), o.Baseline, e.Tensor, e.Then, e.Now, e.Compared, e.Expected)
	}
	return err
}

// unfit says why an earlier result does not fit: a tensor of another shape, or too little in common.
func unfit(key, path, tensor string, then, now []int64, some, all int) error {
	if tensor != "" {
		return explain.Say(key, path, tensor, result.ShapeText(then), result.ShapeText(now))
	}
	return explain.Say(key, path, some, all)
}

// lookAt looks at the elements of a comparison: what kind of wrong its roots are, and pictures for a page. What
// kept it from that is no failure of the comparison; it is said in the page.
func (o *Judging) lookAt(ctx context.Context, j *verdict.Judged, again, before look.Again) (unseen string) {
	if err := must.Try(func() {
		must.Do(look.Name(ctx, again, j, before))
		must.Do(look.Compared(ctx, again, j))
		if o.Pictures > 0 {
			must.Do(look.Take(ctx, again, j, o.Pictures))
		}
	}); err != nil {
		return err.Error()
	}
	return ""
}
