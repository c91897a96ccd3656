package repl

import (
	"context"
	"fmt"
	"precision/compare/report"
	"precision/compare/verdict"
	"slices"
	"strings"

	"precision/console"
	"precision/dump/overflow"
	"precision/internal/plainfile"
)

// acCmd is the command ac: it runs all checks and says what to look at first.
type acCmd struct {
	compare, html bool
	limit         int
}

var acCommand = &command{
	name: "ac",
	make: func(s *session) action { return &acCmd{limit: s.set.Limit} },
}

func (a *acCmd) define(o *options) {
	o.on(&a.compare, "c", "vector_compare")
	o.count(&a.limit, "l", "limit")
	o.on(&a.html, "html", "report")
}

func (a *acCmd) run(ctx context.Context, s *session, _ []string) int {
	if !plainfile.IsFolder(s.data.Root) {
		return s.Lack("banner.nodata", s.data.Root)
	}
	code := exitOK
	var f findings
	f.compared = a.compare
	step := func(key string) bool {
		if ctx.Err() == nil {
			s.Print(s.Screen.Bold(s.T(key)) + "\n")
		}
		return ctx.Err() == nil
	}
	var tables []*judged
	if a.compare && step("ac.compare") {
		// It shows the summary itself.
		tables, code = (&vcCmd{step: s.set.Step, limit: a.limit, check: true, html: a.html}).compare(ctx, s)
	} else if step("ac.results") {
		tables, code = s.newestResults()
		switch {
		case len(tables) == 0 && code == exitOK:
			s.Warn("vcs.none", s.data.ResultsDir())
		case len(tables) > 0:
			for _, t := range tables {
				s.Print(s.tableHead(t) + s.verdictText(t, a.limit))
			}
		}
	}
	if a.compare && !s.data.HasGolden() && len(s.data.IDs()) > 0 && step("ac.check") {
		// Without golden data the operators' own inputs are what there is.
		code = max(code, (&checkCmd{step: s.set.Step}).run(ctx, s, nil))
	}
	f.tables = tables
	if step("ac.fusion") {
		code = max(code, s.fusions())
	}
	if step("ac.overflow") {
		var failed int
		f.overflow, f.noOverflow, failed = s.overflows(ctx, a.limit)
		code = max(code, failed)
	}
	if step("ac.casts") {
		f.cast = s.casts()
	}
	if step("ac.similar") {
		s.similarity(a.limit)
	}
	if ctx.Err() != nil {
		s.Fail("interrupted")
		return exitInterrupted
	}
	if a.html && (!a.compare || f.overflow != nil) { // with what overflowed, which vc does not know
		for _, t := range tables {
			code = max(code, s.page(ctx, t, f.overflow))
		}
	}
	text, next := f.verdict(s, a.limit)
	s.Print(s.Screen.Panel(s.Screen.Bold(s.T("ac.verdict")), text))
	for _, line := range next {
		s.PrintWhole(s.T("verdict.next") + s.Screen.Green(line) + "\n")
	}
	return code
}

// findings are what the checks found, for the verdict.
type findings struct {
	compared bool
	tables   []*judged // result tables that were read
	overflow *overflowed
	// noOverflow is the message for records of overflows without an operator.
	noOverflow string
	cast       string
}

// verdict says what to look at first and which command to type next: overflows
// before differences, as they are their cause; both before dangerous casts.
func (f *findings) verdict(s *session, most int) (text string, next []string) {
	var b strings.Builder
	say := func(key string, args ...any) { b.WriteString(console.Clean(s.T(key, args...)) + "\n") }
	if o := f.overflow; o != nil {
		look := []string{o.name}
		say(o.verdict(), o.kind, o.name)
		switch n := len(o.producers); {
		case o.advice != overflow.AdviceUpstream:
		case n == 0:
			say("verdict.noproducer", s.data.Path("npu", "debug_0", "graph"))
		case n == 1:
			look = o.producers
			say("verdict.producer", look[0])
		default:
			look = o.producers[:min(n, 3)]
			say("verdict.producers", strings.Join(o.producers, s.T("report.and")))
		}
		if o.record > 0 {
			say("verdict.later", o.record, o.of, o.record)
		}
		if _, exact := s.search(look[0], ""); exact {
			for _, name := range look {
				next = append(next, "ni "+quoteWord(name))
			}
		} else if o.advice != overflow.AdviceNoTensors {
			next = append(next, "pt "+quoteWord(o.dump))
		}
	} else if f.noOverflow != "" {
		say(f.noOverflow)
	}
	for _, t := range f.tables {
		text := report.Text{Lang: s.Lang, Most: most}
		b.WriteString(report.Render(append([]report.Line{text.Headline(t.Judged)}, text.Roots(t.Judged)...), labelColumns, s.Screen.Paint))
		for i := range t.Roots[:min(len(t.Roots), 3)] {
			next = append(next, s.nextFor(t, &t.Roots[i])...)
		}
	}
	if f.overflow == nil && len(next) == 0 {
		switch {
		case len(f.tables) == 0 && !f.compared:
			say("verdict.nothing")
			runs := 0
			for _, id := range s.data.IDs() {
				if len(s.dumpsOf(id).Leaves) > 0 {
					runs++
				}
			}
			if runs > 1 || runs == 1 && s.data.HasGolden() {
				next = append(next, "ac -c")
			} else {
				say("verdict.capture", s.data.NPUDir(), s.data.GoldenDir())
			}
		}
		if f.cast != "" {
			say("verdict.cast")
			next = append(next, "ni "+quoteWord(f.cast))
		}
	}
	seen := map[string]bool{}
	next = slices.DeleteFunc(next, func(line string) bool {
		twice := seen[line]
		seen[line] = true
		return twice
	})
	if b.Len() == 0 {
		say("verdict.unknown")
	}
	return b.String(), next
}

// nextFor are the commands to go on with at a root: look at it, and hold its worst
// output against golden.
func (s *session) nextFor(t *judged, r *verdict.Root) []string {
	op := &t.Operators[r.Operator]
	next := []string{"ni " + quoteWord(op.Op.Name)}
	if left, right := s.pairOf(op.Op.Name, t.Row(t.Worst(r)).Slot); len(op.Outputs) > 0 && left != "" && t.Table.Meta.Right.Kind != verdict.KindNPU {
		next = append(next, "cp "+quoteWord(left)+" "+quoteWord(right))
	}
	return next
}

// pairOf names the dump tensor and the golden array of an output, "" if one is
// not there.
func (s *session) pairOf(op string, slot int) (left, right string) {
	folder := s.data.GoldenArrays()
	nodes, exact := s.search(op, "")
	if folder == nil || !exact || len(nodes) == 0 {
		return "", ""
	}
	x := nodes[0]
	files := x.files(s)
	ops := s.goldenOps(folder, x, false)
	if len(files) == 0 || slot >= len(ops) || ops[slot] == nil {
		return "", ""
	}
	newest := files[0]
	for _, f := range files {
		if f.leaf == newest.leaf {
			newest = f
		}
	}
	return fmt.Sprintf("%s.output.%d", newest.Name.File, slot), ops[slot].Newest().Name.File
}

// quoteWord quotes a word for a command line if it needs that.
func quoteWord(w string) string {
	if w != "" && !strings.ContainsAny(w, " \t;'\"\\") {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'"'"'`) + "'"
}
