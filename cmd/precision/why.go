package main

import (
	"cmp"
	"context"
	"fmt"

	"precision/compare/report/checked"
	"precision/run"
)

// whyCommand tells what kind of wrong an operator is: the hypotheses that the
// numbers of its outputs bear out, with their evidence.
func whyCommand(ctx context.Context, e env, args []string) (int, error) {
	set, _ := e.options("why")
	text := e.optionText("check")
	var f checkFlags
	f.sides(e, set, text)
	words := e.words("why", set, args)
	misusedIf(len(words) == 0, "err.why.need")
	none(words[1:])
	if f.Path == "" {
		last, err := e.last()
		misusedIf(err != nil, "err.why.need")
		misusedIf(last.Left == "", "err.why.last", last.Result)
		f.Path, f.Graph, f.Golden = last.Left, cmp.Or(f.Graph, last.Graph), cmp.Or(f.Golden, last.Right)
	}
	misused(f.Validate())
	listen, stop := e.listener(summaryText{e.stdout, e.language()})
	found, err := f.Why(ctx, words[0], listen)
	stop()
	switch {
	case run.Unmatched(err):
		return exitNoMatch, err
	case err != nil:
		return exitError, err
	}
	out, flush := folded(e)
	defer flush()
	for i := range found.Findings {
		head, lines := checked.Why(e.language(), &found.Findings[i])
		fmt.Fprintln(out, head)
		for _, l := range lines {
			fmt.Fprintf(out, "  %s\n", l)
		}
	}
	return exitOK, nil
}
