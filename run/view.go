package run

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"precision/compare/job"
	"precision/compare/look"
	"precision/compare/oracle"
	"precision/compare/report/checked"
	"precision/compare/report/html"
	"precision/internal/msg"
	"precision/internal/must"
	"precision/internal/plainfile"
	"precision/run/explain"
)

// IsPage tells whether a file is a report: other pages may lie beside it.
func IsPage(path string) bool { return html.IsPage(plainfile.Front(path, 64<<10)) }

// OpenCheck reads what a check wrote as JSON.
func OpenCheck(path string) ([]oracle.Finding, oracle.Whole, error) {
	file, _, err := plainfile.Open(path, "a saved check")
	if err != nil {
		return nil, oracle.Whole{}, err
	}
	defer file.Close()
	findings, all, err := oracle.ReadJSON(file)
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return findings, all, err
}

// PageOf is the page of a result: a page itself, that of a job in its folder, and of a table or a check the one that lies beside
// it. Where that is older than the result or missing, it is made.
func PageOf(ctx context.Context, lang msg.Lang, path string) (_ string, err error) {
	defer must.Catch(&err)
	if plainfile.IsFolder(path) {
		path = filepath.Join(path, job.ResultFile)
	}
	schema := job.SchemaOf(path)
	beside := strings.TrimSuffix(path, filepath.Ext(path)) + ".html"
	if schema == job.Schema {
		beside = filepath.Join(filepath.Dir(path), job.PageFile)
	}
	switch {
	case Begins(path) == '<':
		return filepath.Abs(path)
	case Begins(beside) == '<' && (schema == job.Schema || !older(beside, path)): // a run of a job removes the page of the one before
	case schema == job.Schema:
		return "", explain.Say("err.view.file", beside)
	case schema == oracle.Schema:
		findings, all, err := OpenCheck(path)
		must.Do(err)
		must.Do(writeWhole(beside, func(w io.Writer) error {
			return checked.Write(w, findings, all.Coverage, checked.Options{Lang: lang, Left: path, Looks: all.Looks})
		}))
	default:
		r := Report{Path: path, Judging: Judging{Files: Files{Lang: lang, HTML: beside}, Pictures: look.Operators}}
		must.Get(r.Run(ctx, func(Event) {}))
	}
	return filepath.Abs(beside)
}

// older tells whether a file was written before another.
func older(path, than string) bool {
	a, err := os.Stat(path)
	if err != nil {
		return true
	}
	b, err := os.Stat(than)
	return err == nil && a.ModTime().Before(b.ModTime())
}
