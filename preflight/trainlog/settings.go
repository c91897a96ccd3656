package trainlog

import (
	"errors"
	"slices"
	"strings"

	"precision/internal/lazy"
	"precision/internal/order"
	"precision/preflight/python"
)

// Setting is what a log says that its training was started with: an argument or an entry of its configuration.
type Setting struct{ Name, Value string }

// Changed is a setting that the logs have with different values; a side without it has none.
type Changed struct {
	Name string  `json:"name"`
	A    *string `json:"a"`
	B    *string `json:"b"`
	// Place tells that it is where things are: a path, a port, a rank, a name of the run. Two trainings that are to be the
	// same may differ in it.
	Place bool `json:"place,omitempty"`
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
	// A name of 48 letters and more has no dots behind it.
	blockLine = lazy.Regexp(`^\s*([\w./-]+ \.{2,}|[\w./-]{47,} \.?) ?(.*)$`)
	// What is printed as Python prints an object: OpenRLHF's arguments, NeMo-RL's configuration.
	objectName = lazy.Regexp(`^(?:Namespace|MasterConfig)\(\w+=`)
	// What an engine says that it runs with, whatever it was asked for: vLLM's fields, SGLang's object.
	engineLine = lazy.Regexp(`(?:LLM engine \(v[^()]*\) with config: |\bserver_args=ServerArgs\()(\w+=.*)$`)
	placeName  = lazy.Regexp(`(?i)^engine\.(?:model|tokenizer|served_model_name)$|(?:^|[._])(?:(?:local_|global_|node_)?rank|port|.*_port|.*addr(?:ess)?|host(?:name)?|.*(?:dir|path|file|folder|url)|save|load|(?:experiment|project|run|group)_name|.*timestamp|hydra)$`)
)

// settings reads the blocks of settings of a log.
type settings struct {
	list   []Setting
	block  bool            // inside Megatron's
	text   strings.Builder // a dictionary as Python prints it, from its beginning on
	taken  bool            // one was read
	engine bool            // and one of an engine
	failed bool
}

// take takes a line if it belongs to a block. Of one that is torn nothing is taken that would fill a block by itself.
func (s *settings) take(line string, torn bool) bool {
	if strings.Contains(line, " LLM engine (v") || strings.Contains(line, "server_args=ServerArgs(") {
		if m := engineLine().FindStringSubmatch(line); m != nil {
			if !s.engine && !torn { // others are replicas
				s.engine = s.object("engine", strings.TrimSuffix(strings.TrimSpace(m[1]), ")")+")")
			}
			return true
		}
	}
	if len(line) > 0 && line[0] != '-' && line[0] != '(' && line[0] != '[' && line[0] != '{' && line[0] != 'N' && line[0] != 'M' && !s.block && s.text.Len() == 0 {
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
			name, _, _ := strings.Cut(m[1], " ")
			s.add(name, m[2])
		}
		return true
	case objectName().MatchString(line):
		if _, fields, _ := strings.Cut(line, "("); !s.taken {
			s.taken = s.object("", fields)
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

// object reads the fields of a printed object up to its bracket; one that is cut off tells nothing.
func (s *settings) object(name, fields string) bool {
	items, err := python.Arguments(fields)
	if err != nil {
		return false
	}
	s.items(name, items)
	return true
}

// dictionary reads the dictionary if its last line has come.
func (s *settings) dictionary() {
	text := s.text.String()
	v, err := python.Read(text)
	switch {
	case errors.Is(err, python.ErrShort) && len(text) <= mostBlock:
		return
	case err != nil || len(text) > mostBlock:
		s.failed = true
	default:
		s.items("", v.Items)
		s.taken = true
	}
	s.text.Reset()
}

// items takes entries that have names, and those of dictionaries and objects in them.
func (s *settings) items(name string, list []python.Item) {
	for _, item := range list {
		if !item.Named {
			continue
		}
		key := item.Name
		if name != "" {
			key = name + "." + key
		}
		named := func(i python.Item) bool { return i.Named }
		switch {
		case item.Kind == python.Dict, item.Kind == python.Call && slices.ContainsFunc(item.Items, named):
			s.items(key, item.Items)
		case item.Kind == python.List:
			s.add(key, strings.Join(strings.Fields(item.Source), " "))
		case item.Kind == python.Text:
			text := item.Source // with its escapes
			if text[0] == '\'' || text[0] == '"' {
				text = text[1 : len(text)-1]
			}
			if text != "" {
				s.add(key, text)
			}
		default:
			s.add(key, item.Source)
		}
	}
}

// ofEngine tells whether an engine said it of itself.
func ofEngine(s Setting) bool { return strings.HasPrefix(s.Name, "engine.") }

// changed are the settings that differ, in the order of the first log. Where only one of the logs has a block, its settings tell nothing.
func changed(a, b *Log) (list []Changed) {
	both := map[bool]bool{}
	for _, engine := range []bool{false, true} {
		of := func(s Setting) bool { return ofEngine(s) == engine }
		both[engine] = slices.ContainsFunc(a.Settings, of) && slices.ContainsFunc(b.Settings, of)
	}
	list = []Changed{}
	at := map[string]*string{}
	for i, s := range b.Settings {
		at[s.Name] = &b.Settings[i].Value
	}
	seen := map[string]bool{}
	for i, s := range a.Settings {
		other := at[s.Name]
		if seen[s.Name] = true; both[ofEngine(s)] && (other == nil || *other != s.Value) {
			list = append(list, Changed{s.Name, &a.Settings[i].Value, other, place(s.Name)})
		}
	}
	for i, s := range b.Settings {
		if both[ofEngine(s)] && !seen[s.Name] {
			list = append(list, Changed{s.Name, nil, &b.Settings[i].Value, place(s.Name)})
		}
	}
	order.Stable(list, func(a, b Changed) int { return order.FalseFirst(a.Place, b.Place) })
	return list
}

func place(name string) bool { return placeName().MatchString(name) }
