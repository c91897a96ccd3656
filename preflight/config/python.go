package config

import (
	"strings"

	"precision/internal/lazy"
	"precision/internal/must"
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
	for _, s := range statements(text) {
		for len(open) > 0 && s.indent <= open[len(open)-1].indent {
			open = open[:len(open)-1]
		}
		if m := scope().FindStringSubmatch(s.text); m != nil {
			open = append(open, level{s.indent, m[1]})
			continue
		}
		path := ""
		for _, l := range open {
			path = join(path, l.name)
		}
		if at := argument().FindStringIndex(s.text); at != nil {
			e.argument(s.text[at[1]:], strings.Contains(s.text[at[0]:at[1]], "DEFINE"), s.line)
			continue
		}
		m := assignment().FindStringSubmatch(s.text)
		if m == nil || m[2] == "" {
			continue
		}
		key := subscript().ReplaceAllString(m[1], ".$1")
		p := &literals{text: m[2]}
		p.assign(e, join(path, key), s.line)
	}
}

// argument adds the default of an option that argparse or absl has.
func (e *entries) argument(call string, flags bool, line int) {
	p := &literals{text: call}
	name, def, known := "", plain("None"), false
	for n := 0; ; n++ {
		p.blanks()
		if p.done() || p.peek() == ')' {
			break
		}
		start := p.at
		key := p.word()
		p.blanks()
		if key != "" && p.peek() == '=' && !strings.HasPrefix(p.text[p.at:], "==") {
			p.at++
		} else {
			p.at, key = start, ""
		}
		v := p.scalar()
		switch {
		case key == "" && v.Kind == Text && (strings.HasPrefix(v.Source, "--") || name == "" && !flags || flags && n == 0):
			name = strings.TrimLeft(v.Source, "-")
		case key == "" && flags && n == 1, key == "default":
			def, known = v, true
		case key == "dest" && v.Kind == Text:
			name = v.Source
		case key == "action" && v.Source == "store_true" && !known:
			def = plain("False")
		}
		p.blanks()
		if p.peek() != ',' {
			break
		}
		p.at++
	}
	if name != "" {
		e.add(strings.ReplaceAll(name, "-", "_"), line, def)
	}
}

// literals reads Python literals.
type literals struct {
	text  string
	at    int
	depth int
	loop  bool // a comprehension was met, which is no list of values
}

func (p *literals) done() bool { return p.at >= len(p.text) }

func (p *literals) peek() byte {
	if p.done() {
		return 0
	}
	return p.text[p.at]
}

func (p *literals) blanks() {
	for !p.done() && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

func (p *literals) word() string {
	start := p.at
	for !p.done() && (p.text[p.at] == '_' || isAlnum(p.text[p.at])) {
		p.at++
	}
	return p.text[start:p.at]
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// assign adds the value that stands here, and those in it.
func (p *literals) assign(e *entries, key string, line int) {
	p.depth++
	defer func() { p.depth-- }()
	must.Do(deep(p.depth))
	p.blanks()
	start, before := p.at, len(e.list)
	end := map[byte]byte{'{': '}', '[': ']', '(': ')'}[p.peek()]
	dict := strings.HasPrefix(p.text[p.at:], "dict(")
	if dict {
		p.at += len("dict")
		end = ')'
	}
	if end != 0 {
		switch ok := p.many(e, key, line, end) && p.over(); {
		case ok && (dict || len(e.list) > before):
			return
		case ok:
			e.add(key, line, Value{Expr, tight(p.text[start:p.at])})
			return
		}
		e.list, p.at = e.list[:before], start
	}
	e.add(key, line, p.scalar())
}

// over tells whether a value ends here: at a comma, a bracket or the end.
func (p *literals) over() bool {
	p.blanks()
	return p.done() || strings.IndexByte(",)]}:", p.peek()) >= 0
}

// many reads what stands between brackets: values, key: value, or key=value. It
// is false where there is anything else.
func (p *literals) many(e *entries, key string, line int, end byte) bool {
	p.at++
	for n := 0; ; n++ {
		p.blanks()
		if p.done() {
			return false
		}
		if p.peek() == end {
			p.at++
			return true
		}
		below, start := place(key, n), p.at
		if end == ')' {
			if name := p.word(); name != "" {
				if p.blanks(); p.peek() == '=' {
					p.at++
					below = join(key, name)
					start = p.at
				}
			}
		}
		p.at = start
		if end == '}' {
			name := p.scalar()
			if p.blanks(); p.peek() == ':' {
				p.at++
				below = join(key, name.Source)
			} else {
				p.at = start // a set
			}
		}
		p.loop = false
		if p.assign(e, below, line); p.loop {
			return false
		}
		p.blanks()
		switch p.peek() {
		case ',':
			p.at++
		case end:
		default:
			return false
		}
	}
}

// scalar reads a value that is not taken apart.
func (p *literals) scalar() Value {
	p.blanks()
	start := p.at
	if v, ok := p.quoted(); ok {
		if p.over() {
			return v
		}
		p.at = start
	}
	source := p.expression()
	if _, ok := number(source); ok || source == "None" || source == "True" || source == "False" {
		return plain(source)
	}
	if strings.Contains(source, " for ") {
		p.loop = true
	}
	return Value{Expr, source}
}

// quoted reads texts; several side by side are one.
func (p *literals) quoted() (Value, bool) {
	var b strings.Builder
	found := false
	for {
		p.blanks()
		start := p.at
		prefix := strings.ToLower(p.word())
		if p.done() || p.peek() != '"' && p.peek() != '\'' || strings.Trim(prefix, "rbu") != "" {
			p.at = start
			return Value{Text, b.String()}, found
		}
		end := quoteEnd(p.text, p.at)
		raw := p.text[p.at:end]
		p.at, found = end, true
		marks := 1
		if len(raw) >= 6 && (strings.HasPrefix(raw, `"""`) || strings.HasPrefix(raw, "'''")) {
			marks = 3
		}
		if len(raw) < 2*marks {
			return Value{}, false
		}
		raw = raw[marks : len(raw)-marks]
		if !strings.Contains(prefix, "r") {
			raw = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\"`, `"`, `\'`, `'`).Replace(raw)
		}
		b.WriteString(raw)
	}
}

// expression is the source up to where a value ends.
func (p *literals) expression() string {
	start, depth := p.at, 0
	for ; !p.done(); p.at++ {
		switch c := p.peek(); c {
		case '"', '\'':
			p.at = quoteEnd(p.text, p.at) - 1
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth == 0 {
				return strings.TrimSpace(p.text[start:p.at])
			}
			depth--
		case ',', ':':
			if depth == 0 && (c == ',' || p.depth > 0) {
				return strings.TrimSpace(p.text[start:p.at])
			}
		}
	}
	return strings.TrimSpace(p.text[start:p.at])
}
