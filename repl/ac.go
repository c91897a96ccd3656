package repl

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"precision/dump/overflow"
	"precision/repl/console"
	"precision/repl/workspace"
)

// acCmd is the command ac: it runs all checks and says what to look at first.
type acCmd struct {
	compare bool
	limit   int
}

var acCommand = &command{
	name: "ac",
	usage: both("ac [-c] [-l COUNT]",
		"ac [-c] [-l 个数]"),
	brief: both("run all checks and say what to look at first",
		"执行全部检查，给出首先要看的算子"),
	more: both("Results of the newest comparison, fusion passes, overflows, casts, similarity of two builds, verdict.",
		"依次为：最新比对结果、融合规则、溢出、类型转换、两次编译的相似度、结论。"),
	make: func(s *session) action { return &acCmd{limit: s.set.Limit} },
}

func (a *acCmd) define(o *options) {
	o.on(&a.compare, "c", "vector_compare", both("compare first, as vc does",
		"先执行比对，同 vc"))
	o.count(&a.limit, "l", "limit", both("how many operators, overflows and differences to show",
		"显示的算子、溢出和差异的个数"))
}

func (a *acCmd) run(ctx context.Context, s *session, words []string) int {
	if len(words) > 0 {
		return s.tooMany("ac", words)
	}
	if !workspace.IsDir(s.data.Root) {
		s.Fail("banner.nodata", s.data.Root)
		return exitNothing
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
	var tables []*resultTable
	if a.compare && step("ac.compare") {
		// It shows the summary itself.
		tables, code = (&vcCmd{step: s.set.Step, limit: a.limit}).compare(ctx, s)
	} else if step("ac.results") {
		tables, code = s.newestResults()
		switch {
		case len(tables) == 0 && code == exitOK:
			s.Warn("vcs.none", s.data.ResultsDir())
		case len(tables) > 0:
			text, _ := (&vcsCmd{threshold: s.set.CosSim, limit: a.limit}).show(s, tables)
			s.Print(text)
		}
	}
	f.tables = len(tables)
	f.choose(suspects(tables, s.set.CosSim, false))
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
	text, next := f.verdict(s)
	s.Print(s.Screen.Panel(s.Screen.Bold(s.T("ac.verdict")), text))
	for _, line := range next {
		s.PrintWhole(s.T("verdict.next") + s.Screen.Green(line) + "\n")
	}
	return code
}

// findings are what the checks found, for the verdict.
type findings struct {
	compared bool
	tables   int      // result tables that were read
	suspect  *suspect // the first bad operator of the framework
	inserted *suspect // one the graph compiler added, if it comes before that
	overflow *overflowed
	// noOverflow is the message for records of overflows without an operator.
	noOverflow string
	cast       string
}

// choose takes the first bad operators from a list in execution order.
func (f *findings) choose(list []suspect) {
	for i := range list {
		switch p := &list[i]; {
		case !p.op.inserted():
			f.suspect = p
			return
		case f.inserted == nil:
			f.inserted = p
		}
	}
}

// verdict says what to look at first and which command to type next: overflows
// before differences, as they are their cause; both before dangerous casts.
func (f *findings) verdict(s *session) (text string, next []string) {
	var b strings.Builder
	say := func(key string, args ...any) { b.WriteString(console.Clean(s.T(key, args...)) + "\n") }
	if o := f.overflow; o != nil {
		look := []string{o.name}
		switch o.advice {
		case overflow.AdviceUpstream:
			say("verdict.upstream", o.kind, o.name)
			switch n := len(o.producers); {
			case n == 0:
				say("verdict.noproducer", s.data.Path("npu", "debug_0", "graph"))
			case n == 1:
				look = o.producers
				say("verdict.producer", look[0])
			default:
				look = o.producers[:min(n, 3)]
				say("verdict.producers", strings.Join(o.producers, ", "))
			}
		case overflow.AdviceHere:
			say("verdict.here", o.kind, o.name)
		case overflow.AdviceInside:
			say("verdict.inside", o.kind, o.name)
		case overflow.AdviceIncomplete:
			say("verdict.incomplete", o.kind, o.name)
		default:
			say("verdict.unread", o.kind, o.name)
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
	if p := f.suspect; p != nil {
		f.first(s, say)
		next = append(next, "ni "+quoteWord(p.op.op))
		if l, r := s.pairOf(p); l != "" {
			next = append(next, "cp "+quoteWord(l)+" "+quoteWord(r))
		}
	}
	if p := f.inserted; p != nil {
		say("verdict.inserted", p.op.op)
		if f.suspect == nil {
			next = append(next, "ni "+quoteWord(p.op.op))
		}
	}
	if f.overflow == nil && f.suspect == nil && f.inserted == nil {
		switch {
		case f.tables == 0 && !f.compared:
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
		case f.tables > 0:
			say("verdict.good", s.set.CosSim)
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

// first says how the first bad operator is bad, and whether the error comes
// from its inputs.
func (f *findings) first(s *session, say func(string, ...any)) {
	p := f.suspect
	o := p.op
	how := fmt.Sprintf("%.6f", p.at.cosine)
	switch {
	case p.at.diverged():
		say("verdict.nan", o.op, p.at.slot)
	case math.IsNaN(p.at.cosine):
		say("verdict.scalar", o.op, p.at.slot, p.at.maxRel)
	default:
		say("verdict.first", o.op, p.at.slot, how)
	}
	good, bad := 0, 0
	for i := range o.inputs {
		switch c := &o.inputs[i]; {
		case c.diverged() || c.bad(s.set.CosSim):
			bad++
		case !math.IsNaN(c.cosine) || !math.IsNaN(c.maxRel):
			good++
		}
	}
	switch {
	case bad > 0 && len(o.inputs) == 1:
		say("verdict.inputbad")
	case bad > 0:
		say("verdict.inputsbad", bad, len(o.inputs))
	case good > 0 && len(o.inputs) == 1:
		say("verdict.inputgood")
	case good > 0:
		say("verdict.inputsgood", good, len(o.inputs))
	}
}

// pairOf names the dump tensor and the golden array of the first bad output,
// "" if one is not there.
func (s *session) pairOf(p *suspect) (mine, golden string) {
	folder := s.data.GoldenArrays()
	nodes, exact := s.search(p.op.op, "")
	if folder == nil || !exact || len(nodes) == 0 {
		return "", ""
	}
	x := nodes[0]
	files := x.files(s)
	ops := s.goldenOps(folder, x, false)
	if len(files) == 0 || p.at.slot >= len(ops) || ops[p.at.slot] == nil {
		return "", ""
	}
	newest := files[0]
	for _, f := range files {
		if f.leaf == newest.leaf {
			newest = f
		}
	}
	return fmt.Sprintf("%s.output.%d", newest.Name.File, p.at.slot), ops[p.at.slot].Newest().Name.File
}

// quoteWord quotes a word for a command line if it needs that.
func quoteWord(w string) string {
	if w != "" && !strings.ContainsAny(w, " \t;'\"\\") {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'"'"'`) + "'"
}
