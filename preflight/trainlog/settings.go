package trainlog

import (
	"slices"
	"strings"

	"precision/internal/lazy"
)

// Setting is what a log says that its training was started with: an argument or an entry of its configuration.
type Setting struct{ Name, Value string }

// Changed is a setting that the logs have with different values; a side without it has none.
type Changed struct {
	Name, A, B string
	InA, InB   bool
	// Place tells that it is where things are: a path, a port, a rank, a name of the run. Two trainings that are to be the
	// same may differ in it.
	Place bool
}

const (
	// mostSettings bounds how many are kept, mostBlock the text of a configuration.
	mostSettings = 10_000
	mostBlock    = 1 << 20
)

var (
	// What starters of many processes put before a line: (TaskRunner pid=123, ip=…), [rank0]:, [default0]:.
	processMark = lazy.Regexp(`^(?:\([^()]*pid=\d+[^()]*\)\s?|\[(?:rank|default|\d)[^\]]*\]:\s?)+`)
	// Megatron's block, which slime prints, too.
	blockBegin = lazy.Regexp(`^-{3,}\s*(?:\w+ )?arguments -{3,}$`)
	blockEnd   = lazy.Regexp(`^-{3,}\s*end of (?:\w+ )?arguments -{3,}$`)
	blockLine  = lazy.Regexp(`^\s*([\w./-]+) \.{2,} ?(.*)$`)
	placeName  = lazy.Regexp(`(?i)(?:^|[._])(?:(?:local_|global_|node_)?rank|port|.*_port|.*addr(?:ess)?|host(?:name)?|.*(?:dir|path|file|folder|url)|save|load|(?:experiment|project|run|group)_name|.*timestamp|hydra)$`)
)

// settings reads the blocks of settings of a log.
type settings struct {
	list   []Setting
	block  bool            // inside Megatron's
	text   strings.Builder // a dictionary as Python prints it, from its beginning on
	taken  bool            // one was read
	failed bool
}

// take takes a line if it belongs to a block.
func (s *settings) take(line string) bool {
	if len(line) > 0 && line[0] != '-' && line[0] != '(' && line[0] != '[' && line[0] != '{' && !s.block && s.text.Len() == 0 {
		return false
	}
	line = strings.TrimRight(line, " \t\r")
	line = line[len(processMark().FindString(line)):]
	switch {
	case s.text.Len() > 0:
		s.text.WriteString(line + "\n")
		if strings.HasSuffix(line, "}") || s.text.Len() > mostBlock {
			s.dictionary()
		}
		return true
	case s.block:
		if blockEnd().MatchString(strings.TrimSpace(line)) {
			s.block, s.taken = false, true
		} else if m := blockLine().FindStringSubmatch(line); m != nil {
			s.add(m[1], m[2])
		}
		return true
	case s.taken:
		return false
	case blockBegin().MatchString(strings.TrimSpace(line)):
		s.block = true
		return true
	case strings.HasPrefix(line, "{'") && !s.failed && strings.Count(line, "{") > strings.Count(line, "}"):
		s.text.WriteString(line + "\n")
		return true
	}
	return false
}

func (s *settings) add(name, value string) {
	if len(s.list) < mostSettings {
		s.list = append(s.list, Setting{name, strings.TrimSpace(value)})
	}
}

// dictionary reads the dictionary if its last line has come.
func (s *settings) dictionary() {
	text := s.text.String()
	p := &python{text: text}
	p.value("", s.add)
	switch {
	case p.bad || len(text) > mostBlock:
		s.failed, s.list = true, nil
	case p.short:
		s.list = nil
		return
	default:
		s.taken = true
	}
	s.text.Reset()
}

// python reads a literal of Python: dictionaries, lists, texts, numbers and names.
type python struct {
	text       string
	at         int
	bad, short bool
}

func (p *python) blank() byte {
	for p.at < len(p.text) && strings.IndexByte(" \t\n", p.text[p.at]) >= 0 {
		p.at++
	}
	if p.at == len(p.text) {
		p.short = true
		return 0
	}
	return p.text[p.at]
}

// value reads a value, whose settings have names that begin with name, and gives its text.
func (p *python) value(name string, add func(name, value string)) string {
	from := p.at
	switch c := p.blank(); {
	case p.short:
		return ""
	case c == '{':
		p.at++
		for p.more('}') {
			key := strings.Trim(p.value("", nil), `'"`)
			if p.blank() != ':' {
				p.bad = p.bad || !p.short
				return ""
			}
			p.at++
			full := key
			if name != "" {
				full = name + "." + key
			}
			value := p.value(full, add)
			if n := len(value); n > 1 && (value[0] == '\'' || value[0] == '"') {
				value = value[1 : n-1]
			}
			if add != nil && value != "" {
				add(full, value)
			}
		}
		return ""
	case c == '[' || c == '(':
		p.at++
		for p.more(map[byte]byte{'[': ']', '(': ')'}[c]) {
			p.value(name, nil)
		}
		return strings.Join(strings.Fields(p.text[from:p.at]), " ")
	case c == '\'' || c == '"':
		start := p.at
		for p.at++; p.at < len(p.text) && p.text[p.at] != c; p.at++ {
			if p.text[p.at] == '\\' {
				p.at++
			}
		}
		if p.at >= len(p.text) {
			p.short = true
			return ""
		}
		p.at++
		return p.text[start:p.at]
	}
	start := p.at
	for p.at < len(p.text) && strings.IndexByte(",:]})\n", p.text[p.at]) < 0 {
		p.at++
	}
	p.bad = p.bad || p.at == start
	return strings.TrimSpace(p.text[start:p.at])
}

// more tells whether another element comes before the end, and passes what stands between them.
func (p *python) more(end byte) bool {
	if p.bad {
		return false
	}
	c := p.blank()
	if c == ',' {
		p.at++
		c = p.blank()
	}
	if c == end {
		p.at++
		return false
	}
	return !p.short
}

// changed are the settings that differ, in the order of the first log.
func changed(a, b *Log) (list []Changed) {
	if len(a.Settings) == 0 || len(b.Settings) == 0 {
		return nil
	}
	other := map[string]string{}
	for _, s := range b.Settings {
		other[s.Name] = s.Value
	}
	seen := map[string]bool{}
	for _, s := range a.Settings {
		value, ok := other[s.Name]
		if seen[s.Name] = true; !ok || value != s.Value {
			list = append(list, Changed{s.Name, s.Value, value, true, ok, place(s.Name)})
		}
	}
	for _, s := range b.Settings {
		if !seen[s.Name] {
			list = append(list, Changed{s.Name, "", s.Value, false, true, place(s.Name)})
		}
	}
	slices.SortStableFunc(list, func(a, b Changed) int {
		switch {
		case a.Place == b.Place:
			return 0
		case b.Place:
			return -1
		}
		return 1
	})
	return list
}

func place(name string) bool { return placeName().MatchString(name) }
