package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"
	"gopkg.in/ini.v1"

	"precision/internal/must"
)

// yaml reads all documents of a YAML file. Aliases are followed, as far as
// MaxEntries and MaxDepth go.
func (e *entries) yaml(text string) {
	d := yaml.NewDecoder(strings.NewReader(text))
	for n := 1; ; n++ {
		var doc yaml.Node
		err := d.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return
		}
		must.Do(err)
		path := ""
		if n > 1 {
			path = "document" + strconv.Itoa(n)
		}
		e.node(path, &doc, 0)
	}
}

func (e *entries) node(path string, n *yaml.Node, depth int) {
	must.Not(depth > MaxDepth, "line %d: %s", n.Line, nested)
	switch n.Kind {
	case yaml.DocumentNode:
		for _, c := range n.Content {
			e.node(path, c, depth+1)
		}
	case yaml.AliasNode:
		e.node(path, n.Alias, depth+1)
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if key, value := n.Content[i], n.Content[i+1]; key.Tag == "!!merge" {
				e.merge(path, value, depth+1)
			} else {
				e.node(join(path, key.Value), value, depth+1)
			}
		}
		if len(n.Content) == 0 {
			e.add(path, n.Line, Value{Expr, "{}"})
		}
	case yaml.SequenceNode:
		for i, c := range n.Content {
			e.node(place(path, i), c, depth+1)
		}
		if len(n.Content) == 0 {
			e.add(path, n.Line, Value{Expr, "[]"})
		}
	case yaml.ScalarNode:
		v := Value{Source: n.Value} // which the library has trimmed, unless it is in quotes
		if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0 && n.Value == "" {
			v.Kind = Null
		}
		e.add(path, n.Line, v)
	}
}

// place is the path of an element of a list.
func place(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// merge adds what << takes over; the keys of the mapping itself stand behind it
// or are put there by [entries.add] in file order, where << stands first by
// custom.
func (e *entries) merge(path string, n *yaml.Node, depth int) {
	if n.Kind != yaml.SequenceNode {
		e.node(path, n, depth+1)
		return
	}
	for _, c := range slices.Backward(n.Content) { // of several the first wins
		e.node(path, c, depth+1)
	}
}

// json reads a JSON file token by token, so that lines are known and keys that
// stand twice are met twice.
func (e *entries) json(text string) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	counted, lines := 0, 1
	line := func() int { // counts on from where it was: of the whole text for each value is the square of its length
		end := int(d.InputOffset())
		lines += strings.Count(text[counted:end], "\n")
		counted = end
		return lines
	}
	token := func() json.Token {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return must.Get(token, err)
	}
	var value func(path string, depth int)
	value = func(path string, depth int) {
		must.Not(depth > MaxDepth, nested)
		t, at, n := token(), line(), 0
		open, many := t.(json.Delim)
		if !many {
			e.add(path, at, valueOf(t))
			return
		}
		for ; d.More(); n++ {
			below := place(path, n)
			if open == '{' {
				below = join(path, fmt.Sprint(token()))
			}
			value(below, depth+1)
		}
		if end := fmt.Sprint(open, token()); n == 0 && path != "" {
			e.add(path, at, Value{Expr, strings.ReplaceAll(end, " ", "")})
		}
	}
	err := must.Try(func() {
		value("", 0)
		_, err := d.Token()
		must.Not(!errors.Is(err, io.EOF), "found more behind the value, expected one JSON value")
	})
	if err != nil {
		must.Do(fmt.Errorf("line %d: %w", line(), err))
	}
}

// valueOf is a value that a library has read.
func valueOf(value any) Value {
	switch v := value.(type) {
	case nil:
		return plain("null")
	case string:
		return Value{Source: v}
	case float64:
		return plain(strconv.FormatFloat(v, 'g', -1, 64))
	}
	return plain(fmt.Sprint(value))
}

// short ends the reading of a text that is too long for what takes the square of its length.
func short(text string) {
	must.Not(len(text) > MaxSquare, "found %d bytes, expected a configuration of at most %d", len(text), MaxSquare)
}

func (e *entries) toml(text string) {
	short(text)
	var all map[string]any
	err := toml.Unmarshal([]byte(text), &all)
	if at, ok := errors.AsType[*toml.DecodeError](err); ok {
		row, _ := at.Position()
		err = fmt.Errorf("line %d: %w", row, err)
	}
	must.Do(err)
	e.any("", all, 0)
}

// any adds a value that a library has read, with what is in it.
func (e *entries) any(path string, value any, depth int) {
	must.Not(depth > MaxDepth, nested)
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			e.any(join(path, key), v[key], depth+1)
		}
	case []any:
		for i, x := range v {
			e.any(place(path, i), x, depth+1)
		}
	default:
		e.add(path, 0, valueOf(v))
	}
}

func (e *entries) ini(text string) {
	short(text)
	file := must.Get(ini.LoadSources(ini.LoadOptions{AllowBooleanKeys: true, IgnoreContinuation: true, UnescapeValueCommentSymbols: true}, []byte(text)))
	for _, section := range file.Sections() {
		path := section.Name()
		if path == ini.DefaultSection {
			path = ""
		}
		for _, key := range section.Keys() {
			e.add(join(path, key.Name()), 0, plain(key.Value())) // Value, not String: references to other keys are not followed
		}
	}
}

// env reads lines NAME=value, as env prints them and as .env files have them.
// Other lines, as those of functions a shell exports, are left out.
func (e *entries) env(text string) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\r\n")
		line = strings.TrimPrefix(strings.TrimLeft(line, " \t"), "export ")
		name, value, ok := strings.Cut(line, "=")
		if name = strings.TrimSpace(name); !ok || !envName().MatchString(name) {
			continue
		}
		value = strings.TrimSpace(value)
		if q := len(value) - 1; q > 0 && value[0] == value[q] && (value[0] == '"' || value[0] == '\'') {
			value = value[1:q]
		}
		e.add(name, n, Value{Source: value})
	}
}
