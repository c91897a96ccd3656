package browse

import (
	"context"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"precision/compare/job"
	"precision/compare/look"
	"precision/compare/oracle"
	"precision/internal/msg"
	"precision/internal/plainfile"
	"precision/run"
	"precision/run/explain"
)

// openBook reads a result and makes its pages.
func openBook(ctx context.Context, lang msg.Lang, path string) (*book, error) {
	if plainfile.IsFolder(path) {
		if run.Begins(filepath.Join(path, job.ResultFile)) == '{' {
			return openJob(ctx, lang, path)
		}
		found := newest(path)
		if found == "" {
			return nil, explain.Say("browse.err.folder", path)
		}
		path = found
	}
	switch job.SchemaOf(path) {
	case job.Schema:
		return openJob(ctx, lang, filepath.Dir(path))
	case oracle.Schema:
		return openCheck(ctx, lang, path)
	}
	return openTable(ctx, lang, path)
}

// newest is the newest result in a folder: a table or a check as JSON, or a table as csv where there is no JSON beside it; "" if there
// is none. Of a data folder it is that of the last comparison.
func newest(dir string) string {
	if results := filepath.Join(dir, "temp", "vector_compare"); plainfile.IsFolder(results) {
		dir = results
	}
	best := ""
	var when time.Time
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // what cannot be read holds no result one could show
		}
		name := d.Name()
		table := strings.HasPrefix(name, "result_") && strings.HasSuffix(name, ".csv")
		if !table && !strings.HasSuffix(name, ".json") {
			return nil
		}
		info, err := d.Info()
		if err != nil || !info.Mode().IsRegular() || info.ModTime().Before(when) || info.ModTime().Equal(when) && table {
			return nil
		}
		if beside := strings.TrimSuffix(path, ".csv") + ".json"; table && run.Begins(beside) == '{' || !table && !strings.HasPrefix(job.SchemaOf(path), "precision/") {
			return nil
		}
		best, when = path, info.ModTime()
		return nil
	})
	return best
}

// openTable reads a table that was saved, as the command report does.
func openTable(ctx context.Context, lang msg.Lang, path string) (*book, error) {
	r := run.Report{Path: path, Judging: run.Judging{Files: run.Files{Lang: lang}}}
	done, err := r.Run(ctx, func(run.Event) {})
	if err != nil {
		return nil, err
	}
	b, s := tableBook(lang, path, done.Judged)
	b.page = func() (string, error) { return run.PageOf(ctx, lang, path) }
	if m := &done.Table.Meta; !look.Drawn(done.Table) && len(done.Roots) > 0 && plainfile.IsFolder(m.Left.Dir) && plainfile.IsFolder(m.Right.Dir) {
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
