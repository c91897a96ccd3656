package config

import (
	"errors"
	"strings"

	"precision/internal/lazy"
	"precision/internal/must"
	"precision/preflight/python"
)

// Python is read line by line for what a configuration has: assignments of
// literals, at the top, in classes and in functions, and the defaults of
// argparse and absl flags. Nothing is run: what is no literal is kept as it is
// written.

var (
	assignment = lazy.Regexp(`^([A-Za-z_][\w]*(?:\.[A-Za-z_]\w*|\[(?:"[^"\]]*"|'[^'\]]*'|\d+)\])*)\s*(?::[^=]+)?=([^=].*)?$`)
	subscript  = lazy.Regexp(`\[["']?([^"'\]]*)["']?\]`)
	scope      = lazy.Regexp(`^(?:class|def|async\s+def)\s+([A-Za-z_]\w*)`)
	argument   = lazy.Regexp(`\b(?:add_argument|DEFINE_\w+)\(`)
)

// level is a class or function that is open, with its indentation.
type level struct {
	indent int
	name   string
}

func (e *entries) python(text string) {
	var open []level
	for _, s := range python.Statements(text) {
		for len(open) > 0 && s.Indent <= open[len(open)-1].indent {
			open = open[:len(open)-1]
		}
		if m := scope().FindStringSubmatch(s.Text); m != nil {
			open = append(open, level{s.Indent, m[1]})
			continue
		}
		path := ""
		for _, l := range open {
			path = join(path, l.name)
		}
		if at := argument().FindStringIndex(s.Text); at != nil {
			args, err := python.Arguments(s.Text[at[1]:])
			tooDeep(err)
			e.argument(args, strings.Contains(s.Text[at[0]:at[1]], "DEFINE"), s.Line)
		} else if m := assignment().FindStringSubmatch(s.Text); m != nil && m[2] != "" {
			v, err := python.Read(m[2])
			tooDeep(err)
			e.literal(join(path, subscript().ReplaceAllString(m[1], ".$1")), s.Line, v)
		}
	}
}

// tooDeep ends the reading of what is nested too deeply; whatever else is no value is kept as it is written.
func tooDeep(err error) {
	if errors.Is(err, python.ErrDeep) {
		must.Do(err)
	}
}

// argument adds the default of an option that argparse or absl has.
func (e *entries) argument(args []python.Item, flags bool, line int) {
	name, def, known := "", plain("None"), false
	for n, a := range args {
		text := a.Kind == python.Text
		switch {
		case !a.Named && text && (strings.HasPrefix(a.Text, "--") || name == "" && !flags || flags && n == 0):
			name = strings.TrimLeft(a.Text, "-")
		case !a.Named && flags && n == 1, a.Name == "default":
			def, known = scalar(a.Value), true
		case a.Name == "dest" && text:
			name = a.Text
		case a.Name == "action" && a.Text == "store_true" && !known:
			def = plain("False")
		}
	}
	if name != "" {
		e.add(strings.ReplaceAll(name, "-", "_"), line, def)
	}
}

// literal adds a value, or those in it.
func (e *entries) literal(key string, line int, v python.Value) {
	dict := v.Kind == python.Call && v.Text == "dict"
	if !dict && v.Kind != python.List && v.Kind != python.Dict {
		e.add(key, line, scalar(v))
		return
	}
	for i, item := range v.Items {
		below := place(key, i)
		if item.Named {
			below = join(key, item.Name)
		}
		e.literal(below, line, item.Value)
	}
	if len(v.Items) == 0 && !dict {
		e.add(key, line, Value{Expr, tight(v.Source)})
	}
}

// scalar is a value that is not taken apart.
func scalar(v python.Value) Value {
	if v.Kind == python.Text {
		return Value{Source: v.Text}
	}
	if _, ok := number(v.Source); ok || v.Source == "None" || v.Source == "True" || v.Source == "False" {
		return plain(v.Source)
	}
	return Value{Expr, v.Source}
}
