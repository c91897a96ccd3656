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
		if err := look.Take(ctx, look.Folders(run), t.Judged, look.Operators); err != nil {
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

// named finds what kind of wrong the roots of a comparison are. Elements that cannot be read again leave it as it
// is; the error is that of the context.
func named(ctx context.Context, again look.Again, t *judged, before ...look.Again) error {
	if look.Name(ctx, again, t.Judged, before...) != nil || look.Compared(ctx, again, t.Judged) != nil {
		return ctx.Err()
	}
	return nil
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
