package config

import (
	"bytes"
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
)

// yaml reads all documents of a YAML file. Aliases are followed, as far as
// MaxEntries and MaxDepth go.
func (e *entries) yaml(text []byte) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	for n := 0; e.err == nil; n++ {
		var doc yaml.Node
		err := d.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			e.fail(err)
			return
		}
		path := ""
		if n > 0 {
			path = "document" + strconv.Itoa(n+1)
		}
		e.node(path, &doc, 0)
	}
}

func (e *entries) node(path string, n *yaml.Node, depth int) {
	if depth > MaxDepth {
		e.fail(fmt.Errorf("line %d: %w", n.Line, errDeep))
	}
	if e.err != nil { // aliases of aliases would go on for ever
		return
	}
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
			e.add(path, n.Line, Value{Kind: Expr, Source: "{}"})
		}
	case yaml.SequenceNode:
		for i, c := range n.Content {
			e.node(path+"["+strconv.Itoa(i)+"]", c, depth+1)
		}
		if len(n.Content) == 0 {
			e.add(path, n.Line, Value{Kind: Expr, Source: "[]"})
		}
	case yaml.ScalarNode:
		v := plain(n.Value)
		if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
			v = Value{Kind: Text, Source: n.Value}
		} else if n.Value == "" {
			v = Value{Kind: Null}
		}
		e.add(path, n.Line, v)
	}
}

// merge adds what << takes over; the keys of the mapping itself stand behind it
// or are put there by [entries.last] in file order, where << stands first by
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
func (e *entries) json(text []byte) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	e.jsonValue(d, text, "", 0)
	if e.err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			e.fail(errors.New("found more behind the value, expected one JSON value"))
		}
	}
	if e.err != nil {
		e.err = fmt.Errorf("line %d: %w", lineAt(text, d.InputOffset()), e.err)
	}
}

func lineAt(text []byte, offset int64) int {
	return 1 + bytes.Count(text[:min(int(offset), len(text))], []byte("\n"))
}

// token is the next token, nil behind an error.
func (e *entries) token(d *json.Decoder) json.Token {
	token, err := d.Token()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		e.fail(err)
	}
	return token
}

func (e *entries) jsonValue(d *json.Decoder, text []byte, path string, depth int) {
	if depth > MaxDepth {
		e.fail(errDeep)
		return
	}
	token := e.token(d)
	line := lineAt(text, d.InputOffset())
	switch t := token.(type) {
	case json.Delim:
		e.jsonMany(d, text, path, t, line, depth)
	case json.Number:
		f, err := t.Float64()
		if err != nil && f == 0 {
			e.fail(err)
		}
		e.add(path, line, Value{Kind: Number, Source: t.String(), Number: f})
	case string:
		e.add(path, line, Value{Kind: Text, Source: t})
	case bool:
		e.add(path, line, Value{Kind: Bool, Source: strconv.FormatBool(t), Bool: t})
	default:
		e.add(path, line, Value{Kind: Null, Source: "null"})
	}
}

func (e *entries) jsonMany(d *json.Decoder, text []byte, path string, open json.Delim, line, depth int) {
	n := 0
	for ; e.err == nil && d.More(); n++ {
		below := path + "[" + strconv.Itoa(n) + "]"
		if open == '{' {
			below = join(path, fmt.Sprint(e.token(d)))
		}
		if e.err == nil {
			e.jsonValue(d, text, below, depth+1)
		}
	}
	if n == 0 && path != "" {
		e.add(path, line, Value{Kind: Expr, Source: map[json.Delim]string{'{': "{}", '[': "[]"}[open]})
	}
	if e.err == nil {
		e.token(d) // the end
	}
}

func (e *entries) toml(text []byte) {
	var all map[string]any
	err := toml.Unmarshal(text, &all)
	if at, ok := errors.AsType[*toml.DecodeError](err); ok {
		row, _ := at.Position()
		err = fmt.Errorf("line %d: %w", row, err)
	}
	if err != nil {
		e.fail(err)
	}
	e.any("", all, 0)
}

// any adds a value that a library has read.
func (e *entries) any(path string, value any, depth int) {
	if depth > MaxDepth {
		e.fail(errDeep)
		return
	}
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			e.any(join(path, key), v[key], depth+1)
		}
	case []any:
		for i, x := range v {
			e.any(path+"["+strconv.Itoa(i)+"]", x, depth+1)
		}
	case string:
		e.add(path, 0, Value{Kind: Text, Source: v})
	case bool:
		e.add(path, 0, Value{Kind: Bool, Source: strconv.FormatBool(v), Bool: v})
	case int64:
		e.add(path, 0, Value{Kind: Number, Source: strconv.FormatInt(v, 10), Number: float64(v)})
	case float64:
		e.add(path, 0, Value{Kind: Number, Source: strconv.FormatFloat(v, 'g', -1, 64), Number: v})
	default:
		e.add(path, 0, Value{Kind: Text, Source: fmt.Sprint(value)})
	}
}

func (e *entries) ini(text []byte) {
	file, err := ini.LoadSources(ini.LoadOptions{AllowBooleanKeys: true, SkipUnrecognizableLines: false, IgnoreContinuation: true, UnescapeValueCommentSymbols: true}, text)
	if err != nil {
		e.fail(err)
		return
	}
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
		v := plain(value)
		if q := len(value) - 1; q > 0 && value[0] == value[q] && (value[0] == '"' || value[0] == '\'') {
			v = Value{Kind: Text, Source: value[1:q]}
		}
		e.add(name, n, v)
	}
}
