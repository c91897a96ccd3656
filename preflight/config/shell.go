package config

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"precision/internal/each"
	"precision/internal/lazy"
	"precision/internal/must"
)

var (
	envName = lazy.Regexp(`^[A-Za-z_][A-Za-z0-9_]*$`)
	option  = lazy.Regexp(`^--?[A-Za-z]`)
)

// launchers start the program whose options matter.
var launchers = map[string]bool{
	"python": true, "python2": true, "python3": true, "nohup": true, "env": true, "time": true, "bash": true, "sh": true, "sudo": true, "exec": true,
	"torchrun": true, "accelerate": true, "deepspeed": true, "mpirun": true, "horovodrun": true, "msrun": true,
}

// utilities have options that say nothing of a training.
var utilities = map[string]bool{
	"rm": true, "mkdir": true, "cp": true, "mv": true, "ls": true, "echo": true, "cat": true, "grep": true, "sed": true, "awk": true, "tee": true, "cd": true,
	"set": true, "chmod": true, "tail": true, "head": true, "kill": true, "pkill": true, "ulimit": true, "source": true, "ln": true, "find": true, "sleep": true,
	"pip": true, "pip3": true, "test": true, "[": true, "read": true, "wait": true, "tar": true, "printf": true, "exit": true, "touch": true,
}

// shell reads command lines: variables that are set, and the options of every
// command that has any. Nothing is expanded and nothing is run.
func (e *entries) shell(text string) {
	file := must.Get(syntax.NewParser().Parse(strings.NewReader(strings.ReplaceAll(text, "\r\n", "\n")), ""))
	seen := map[string]int{}
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.CallExpr:
			e.call(n, seen)
		case *syntax.DeclClause: // export, declare, local
			e.assigned(n.Args)
		}
		return true
	})
}

func (e *entries) assigned(list []*syntax.Assign) {
	for _, a := range list {
		if a.Name != nil && !a.Naked && a.Value != nil {
			e.add(a.Name.Value, int(a.Pos().Line()), word(a.Value))
		}
	}
}

// call adds the options of a command. Of several commands of one program the
// later ones have a number.
func (e *entries) call(c *syntax.CallExpr, seen map[string]int) {
	e.assigned(c.Assigns)
	words := each.Of(c.Args, word)
	i := slices.IndexFunc(words, isOption)
	if i < 0 || utilities[words[0].Source] {
		return
	}
	name := program(words)
	prefix := ""
	if seen[name]++; seen[name] > 1 || len(seen) > 1 {
		prefix = name
		if seen[name] > 1 {
			prefix += "#" + string(rune('0'+min(seen[name], 9)))
		}
	}
	for i < len(words) {
		line := int(c.Args[i].Pos().Line())
		key, value, joined := strings.Cut(strings.TrimLeft(words[i].Source, "-"), "=")
		several := words[i+1:]
		if next := slices.IndexFunc(several, isOption); next >= 0 {
			several = several[:next]
		}
		i += 1 + len(several)
		v := plain("true")
		switch {
		case joined:
			v = plain(value)
		case len(several) == 1:
			v = plain(several[0].Source)
		case len(several) > 1:
			v = Value{Expr, strings.Join(each.Of(several, func(v Value) string { return v.Source }), " ")}
		}
		e.add(join(prefix, key), line, v)
	}
}

func isOption(word Value) bool { return option().MatchString(word.Source) }

// program names the program of a command: the script behind python, not python.
func program(words []Value) string {
	for _, w := range words {
		base := w.Source[strings.LastIndex(w.Source, "/")+1:]
		if !launchers[strings.TrimRight(base, ".0123456789")] && !launchers[base] && !isOption(w) && !strings.Contains(w.Source, "=") {
			return base
		}
	}
	return words[0].Source
}

// word is a word of a command line without its quotes. What a shell would put
// in stays as it is written.
func word(w *syntax.Word) Value {
	var b strings.Builder
	var write func(parts []syntax.WordPart)
	write = func(parts []syntax.WordPart) {
		for _, p := range parts {
			switch p := p.(type) {
			case *syntax.Lit:
				b.WriteString(strings.ReplaceAll(p.Value, "\\\n", ""))
			case *syntax.SglQuoted:
				b.WriteString(p.Value)
			case *syntax.DblQuoted:
				write(p.Parts)
			default:
				syntax.NewPrinter().Print(&b, &syntax.Word{Parts: []syntax.WordPart{p}})
			}
		}
	}
	write(w.Parts)
	return Value{Source: b.String()}
}
