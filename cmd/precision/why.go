package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"

	"precision/compare/oracle"
	"precision/compare/oracle/tell"
	patterns "precision/compare/pattern/tell"
	"precision/run/explain"
)

// whyCommand tells what kind of wrong an operator is: the hypotheses that the
// numbers of its outputs bear out, with their evidence.
func whyCommand(ctx context.Context, e env, args []string) (int, error) {
	set := flag.NewFlagSet("precision why", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	text := e.optionText("check")
	var f checkFlags
	set.StringVar(&f.mine, "lt", "", text("lt"))
	set.StringVar(&f.graph, "g", "", text("g"))
	set.StringVar(&f.golden, "rt", "", text("rt"))
	set.BoolVar(&f.full, "full", false, text("full"))
	set.Usage = func() {}
	// The operator may stand before or behind the options.
	op := ""
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		op, args = args[0], args[1:]
	}
	if err := set.Parse(args); err != nil {
		return helpOr(e, "why", set, err)
	}
	if op == "" && set.NArg() == 1 {
		op = set.Arg(0)
	} else if set.NArg() > 0 {
		return exitUsage, explain.Say("err.argument", set.Arg(0))
	}
	if op == "" || f.mine == "" {
		return exitUsage, explain.Say("err.why.need")
	}
	c := f.request(e)
	if err := c.Validate(); err != nil {
		return exitUsage, err
	}
	c.Only = func(name string) bool { return name == op }
	show := checkText{summaryText{e.stdout, e.language()}}
	tell, stop := e.listener(show.summaryText)
	found, err := c.Run(ctx, tell)
	stop()
	switch {
	case err != nil && ctx.Err() != nil:
		return exitInterrupted, err
	case err != nil:
		return exitError, withOptions(err)
	case len(found.Findings) == 0:
		return exitNoMatch, explain.Say("err.why.none", op)
	}
	out, flush := folded(e)
	defer flush()
	show.w = out
	for i := range found.Findings {
		show.why(&found.Findings[i])
	}
	return exitOK, nil
}

// why tells all there is to say of an output.
func (t checkText) why(f *oracle.Finding) {
	tr := t.lang.T
	name := fmt.Sprintf("%s:output:%d", f.Op, f.Index)
	if f.Rank >= 0 {
		name = tr("check.rank", f.Rank, name)
	}
	fmt.Fprintln(t.w, tr("why.output", name, f.Type, f.Shape, tell.Verdict(t.lang, f.Verdict)))
	for _, r := range f.Reasons {
		fmt.Fprintf(t.w, "  %s\n", tell.Reason(t.lang, r))
	}
	if f.Worst != nil {
		fmt.Fprintf(t.w, "  %s\n", tr("check.where", patterns.Place(f.Worst), f.Expected, f.Found, f.Ratio))
	}
	if s := f.Split; s != nil {
		fmt.Fprintf(t.w, "  %s\n", tr("why.split", s.Local, 100*s.LocalShare, s.Inherited, 100*s.InheritedShare))
		if s.Sensitive {
			fmt.Fprintf(t.w, "  %s\n", tr("why.sensitive", s.Amplification))
		}
	}
	if f.Pattern == "acc16" {
		fmt.Fprintf(t.w, "  %s\n", patterns.Kind(t.lang, f.Pattern))
	}
	for _, p := range f.Patterns {
		line := patterns.Kind(t.lang, string(p.Kind))
		if p.Explained > 0 {
			line += tr("why.explains", 100*p.Explained, p.Elements)
		} else {
			line += tr("why.concerns", p.Elements)
		}
		fmt.Fprintf(t.w, "  %s\n", line)
		if evidence := patterns.Evidence(t.lang, &p); evidence != "" {
			fmt.Fprintf(t.w, "    %s\n", evidence)
		}
	}
	if f.Verdict == oracle.Wrong && len(f.Patterns) == 0 && f.Pattern == "" {
		fmt.Fprintf(t.w, "  %s\n", tr("why.none"))
	}
}
