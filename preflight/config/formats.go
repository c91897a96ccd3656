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
func (e *entries) yaml(text []byte) error {
	d := yaml.NewDecoder(bytes.NewReader(text))
	for n := 0; ; n++ {
		var doc yaml.Node
		err := d.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		path := ""
		if n > 0 {
			path = "document" + strconv.Itoa(n+1)
		}
		if err := e.node(path, &doc, 0); err != nil {
			return err
		}
	}
}

func (e *entries) node(path string, n *yaml.Node, depth int) error {
	if depth > MaxDepth {
		return fmt.Errorf("line %d: %w", n.Line, errDeep)
	}
	switch n.Kind {
	case yaml.DocumentNode:
		for _, c := range n.Content {
			if err := e.node(path, c, depth+1); err != nil {
				return err
			}
		}
	case yaml.AliasNode:
		return e.node(path, n.Alias, depth+1)
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			if key.Tag == "!!merge" {
				if err := e.merge(path, value, depth+1); err != nil {
					return err
				}
				continue
			}
			if err := e.node(join(path, key.Value), value, depth+1); err != nil {
				return err
			}
		}
		if len(n.Content) == 0 {
			return e.add(path, n.Line, Value{Kind: Expr, Source: "{}"})
		}
	case yaml.SequenceNode:
		for i, c := range n.Content {
			if err := e.node(path+"["+strconv.Itoa(i)+"]", c, depth+1); err != nil {
				return err
			}
		}
		if len(n.Content) == 0 {
			return e.add(path, n.Line, Value{Kind: Expr, Source: "[]"})
		}
	case yaml.ScalarNode:
		v := plain(n.Value)
		if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
			v = Value{Kind: Text, Source: n.Value}
		} else if n.Value == "" {
			v = Value{Kind: Null}
		}
		return e.add(path, n.Line, v)
	}
	return nil
}

// merge adds what << takes over; the keys of the mapping itself stand behind it
// or are put there by [entries.last] in file order, where << stands first by
// custom.
func (e *entries) merge(path string, n *yaml.Node, depth int) error {
	if n.Kind == yaml.SequenceNode {
		for _, c := range slices.Backward(n.Content) { // of several the first wins
			if err := e.node(path, c, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	return e.node(path, n, depth+1)
}

// json reads a JSON file token by token, so that lines are known and keys that
// stand twice are met twice.
func (e *entries) json(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err := e.jsonValue(d, text, "", 0)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("found more behind the value, expected one JSON value")
		}
	}
	if err != nil {
		return fmt.Errorf("line %d: %w", lineAt(text, d.InputOffset()), err)
	}
	return nil
}

func lineAt(text []byte, offset int64) int {
	return 1 + bytes.Count(text[:min(int(offset), len(text))], []byte("\n"))
}

func (e *entries) jsonValue(d *json.Decoder, text []byte, path string, depth int) error {
	if depth > MaxDepth {
		return errDeep
	}
	token, err := d.Token()
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	line := lineAt(text, d.InputOffset())
	switch t := token.(type) {
	case json.Delim:
		return e.jsonMany(d, text, path, t, line, depth)
	case json.Number:
		f, err := t.Float64()
		if err != nil && f == 0 {
			return err
		}
		return e.add(path, line, Value{Kind: Number, Source: t.String(), Number: f})
	case string:
		return e.add(path, line, Value{Kind: Text, Source: t})
	case bool:
		return e.add(path, line, Value{Kind: Bool, Source: strconv.FormatBool(t), Bool: t})
	}
	return e.add(path, line, Value{Kind: Null, Source: "null"})
}

func (e *entries) jsonMany(d *json.Decoder, text []byte, path string, open json.Delim, line, depth int) error {
	n := 0
	for ; d.More(); n++ {
		below := path + "[" + strconv.Itoa(n) + "]"
		if open == '{' {
			key, err := d.Token()
			if err != nil {
				return err
			}
			below = join(path, fmt.Sprint(key))
		}
		if err := e.jsonValue(d, text, below, depth+1); err != nil {
			return err
		}
	}
	if n == 0 && path != "" {
		if err := e.add(path, line, Value{Kind: Expr, Source: map[json.Delim]string{'{': "{}", '[': "[]"}[open]}); err != nil {
			return err
		}
	}
	_, err := d.Token() // the end
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return err
}

func (e *entries) toml(text []byte) error {
	var all map[string]any
	if err := toml.Unmarshal(text, &all); err != nil {
		var at *toml.DecodeError
		if errors.As(err, &at) {
			row, _ := at.Position()
			return fmt.Errorf("line %d: %w", row, err)
		}
		return err
	}
	return e.any("", all, 0)
}

// any adds a value that a library has read.
func (e *entries) any(path string, value any, depth int) error {
	if depth > MaxDepth {
		return errDeep
	}
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if err := e.any(join(path, key), v[key], depth+1); err != nil {
				return err
			}
		}
		return nil
	case []any:
		for i, x := range v {
			if err := e.any(path+"["+strconv.Itoa(i)+"]", x, depth+1); err != nil {
				return err
			}
		}
		return nil
	case string:
		return e.add(path, 0, Value{Kind: Text, Source: v})
	case bool:
		return e.add(path, 0, Value{Kind: Bool, Source: strconv.FormatBool(v), Bool: v})
	case int64:
		return e.add(path, 0, Value{Kind: Number, Source: strconv.FormatInt(v, 10), Number: float64(v)})
	case float64:
		return e.add(path, 0, Value{Kind: Number, Source: strconv.FormatFloat(v, 'g', -1, 64), Number: v})
	}
	return e.add(path, 0, Value{Kind: Text, Source: fmt.Sprint(value)})
}

func (e *entries) ini(text []byte) error {
	file, err := ini.LoadSources(ini.LoadOptions{AllowBooleanKeys: true, SkipUnrecognizableLines: false, IgnoreContinuation: true, UnescapeValueCommentSymbols: true}, text)
	if err != nil {
		return err
	}
	for _, section := range file.Sections() {
		path := section.Name()
		if path == ini.DefaultSection {
			path = ""
		}
		for _, key := range section.Keys() {
			// Value, not String: references to other keys are not followed.
			if err := e.add(join(path, key.Name()), 0, plain(key.Value())); err != nil {
				return err
			}
		}
	}
	return nil
}

// env reads lines NAME=value, as env prints them and as .env files have them.
// Other lines, as those of functions a shell exports, are left out.
func (e *entries) env(text string) error {
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
		if err := e.add(name, n, v); err != nil {
			return err
		}
	}
	return nil
}
