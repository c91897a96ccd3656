package repl

import (
	"context"
	"io"
	"strings"

	"precision/compare"
	"precision/compare/look"
	"precision/compare/report/html"
	"precision/dump/overflow"
	"precision/internal/whole"
)

// pageText is the help of the option that writes reports.
var pageText = both("write the report, a single page for the browser, next to each table",
	"在每个结果表旁写出报告，用浏览器打开即可查看")

// page writes the report of a table beside it. run, if not nil, is the
// comparison it comes from, whose elements are looked at once more; found is the
// overflow to look at first, if there is one.
func (s *session) page(ctx context.Context, t *judged, run *compare.Session, found *overflowed) int {
	o := html.Options{Lang: s.Lang, Records: found.lines(s)}
	if run != nil {
		if err := look.Take(ctx, run, t.Judged, look.Operators); err != nil {
			if ctx.Err() != nil {
				return s.Failed(ctx, err)
			}
			o.NoLooks = err.Error()
		}
	}
	if !compare.LaidOut(t.Table) {
		compare.LayOut(t.Table)
	}
	path := strings.TrimSuffix(strings.TrimSuffix(t.path, ".csv"), ".json") + ".html"
	if err := whole.Fill(path, 0o600, func(w io.Writer) error { return html.Write(w, t.Judged, o) }); err != nil {
		return s.Failed(ctx, err)
	}
	s.Say("page.done", path)
	return exitOK
}

// lines say in a report what overflowed first.
func (o *overflowed) lines(s *session) []string {
	if o == nil {
		return nil
	}
	key := map[overflow.Message]string{overflow.AdviceUpstream: "verdict.upstream", overflow.AdviceHere: "verdict.here",
		overflow.AdviceInside: "verdict.inside", overflow.AdviceIncomplete: "verdict.incomplete"}[o.advice]
	if key == "" {
		key = "verdict.unread"
	}
	return []string{s.T(key, o.kind, o.name)}
}
