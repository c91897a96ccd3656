package repl

import (
	"cmp"
	"context"

	"precision/dump/overflow"
	"precision/run"
)

// page writes the report of a table beside it, with the overflow to look at first, if there is one.
func (s *session) page(ctx context.Context, t *judged, found *overflowed) int {
	files := run.Files{Beside: []string{".html"}, Lang: s.Lang, Records: found.lines(s)}
	written, err := files.Write(t.Judged, false, "", t.path)
	if err != nil {
		return s.Failed(ctx, err)
	}
	s.Say("page.done", written[0])
	return exitOK
}

// lines say in a report what overflowed first.
func (o *overflowed) lines(s *session) []string {
	if o == nil {
		return nil
	}
	key := map[overflow.Message]string{overflow.AdviceUpstream: "verdict.upstream", overflow.AdviceHere: "verdict.here",
		overflow.AdviceInside: "verdict.inside", overflow.AdviceIncomplete: "verdict.incomplete"}[o.advice]
	key = cmp.Or(key, "verdict.unread")
	return []string{s.T(key, o.kind, o.name)}
}
