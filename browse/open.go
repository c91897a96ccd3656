package browse

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"precision/compare/look"
	"precision/internal/msg"
	"precision/run"
)

// openBook reads a result and makes its pages.
func openBook(ctx context.Context, lang msg.Lang, path string) (*book, error) {
	return openTable(ctx, lang, path)
}

// openTable reads a table that was saved, as the command report does.
func openTable(ctx context.Context, lang msg.Lang, path string) (*book, error) {
	r := run.Report{Path: path, Judging: run.Judging{Files: run.Files{Lang: lang}}}
	done, err := r.Run(ctx, func(run.Event) {})
	if err != nil {
		return nil, err
	}
	b, s := tableBook(lang, path, done.Judged)
	b.page = func() (string, error) { return pageOf(ctx, lang, path, done) }
	if m := &done.Table.Meta; !look.Drawn(done.Table) && len(done.Roots) > 0 && isFolder(m.Left.Dir) && isFolder(m.Right.Dir) {
		b.again = func() (func(), error) {
			again := r
			again.Pictures = look.Operators
			more, err := again.Run(ctx, func(run.Event) {})
			if err != nil {
				return nil, err
			}
			return func() { s.learn(more.Table.Looks) }, nil
		}
	}
	return b, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return path != "" && err == nil && info.IsDir()
}

// pageOf is the page of a table: the one that lies beside it, or a new one there.
func pageOf(ctx context.Context, lang msg.Lang, path string, done *run.Compared) (string, error) {
	if strings.EqualFold(filepath.Ext(path), ".html") {
		return filepath.Abs(path)
	}
	beside := strings.TrimSuffix(path, filepath.Ext(path)) + ".html"
	if run.Begins(beside) != '<' {
		r := run.Report{Path: path, Judging: run.Judging{Files: run.Files{Lang: lang, HTML: beside}, Pictures: look.Operators}}
		if _, err := r.Run(ctx, func(run.Event) {}); err != nil {
			return "", err
		}
	}
	return filepath.Abs(beside)
}
