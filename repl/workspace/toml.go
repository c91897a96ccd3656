package workspace

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"
)

// tomlValue is a value of a settings file with the line it stands on.
type tomlValue struct {
	value any // string, float64, bool or []string
	line  int
}

// maxSettings bounds the size of a settings file in bytes.
const maxSettings = 1 << 20

// maxListLines bounds the lines of a list.
const maxListLines = 1000

// readToml reads the part of TOML that settings need: lines "key = value" with
// strings, numbers, booleans and lists of strings, [tables], whose names go in
// front of their keys with a dot, and comments. Errors name file and line.
func readToml(path string) (map[string]tomlValue, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxSettings {
		return nil, fmt.Errorf("%s: %d bytes, expected settings of at most %d", path, info.Size(), maxSettings)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	values, err := parseToml(string(data))
	if err != nil {
		return nil, fmt.Errorf("%s:%w", path, err)
	}
	return values, nil
}

// parseToml is readToml of a text; errors begin with the number of the line.
func parseToml(text string) (map[string]tomlValue, error) {
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("1: not UTF-8 text")
	}
	values := map[string]tomlValue{}
	table := ""
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		n := i + 1
		line := strings.TrimSpace(lines[i])
		if n == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if line == "" || line[0] == '#' {
			continue
		}
		if line[0] == '[' {
			name, rest, ok := strings.Cut(line[1:], "]")
			if !ok || strings.TrimSpace(name) == "" || !onlyComment(rest) {
				return nil, fmt.Errorf("%d: found %q, expected [table]", n, line)
			}
			table = strings.TrimSpace(name) + "."
			continue
		}
		key, rest, ok := strings.Cut(line, "=")
		if key = strings.TrimSpace(key); !ok || key == "" {
			return nil, fmt.Errorf("%d: found %q, expected key = value", n, line)
		}
		text := strings.TrimSpace(rest)
		value, rest, err := tomlScalarOrList(text)
		for errors.Is(err, errOpenList) && i+1 < min(len(lines), n+maxListLines) { // it goes on in the next line
			i++
			text += "\n" + lines[i]
			if strings.ContainsRune(lines[i], ']') || i+1 == len(lines) {
				value, rest, err = tomlScalarOrList(text)
			}
		}
		if err == nil && !onlyComment(rest) {
			err = fmt.Errorf("found %q behind the value", strings.TrimSpace(rest))
		}
		if err != nil {
			return nil, fmt.Errorf("%d: %s: %w", n, key, err)
		}
		key = table + strings.Trim(key, `"'`)
		if old, twice := values[key]; twice {
			return nil, fmt.Errorf("%d: %s is already set in line %d", n, key, old.line)
		}
		values[key] = tomlValue{value, n}
	}
	return values, nil
}

func onlyComment(s string) bool {
	s = strings.TrimSpace(s)
	return s == "" || s[0] == '#'
}

func tomlScalarOrList(s string) (any, string, error) {
	if !strings.HasPrefix(s, "[") {
		return tomlScalar(s)
	}
	list := []string{}
	for s = skipComments(s[1:]); ; {
		if s == "" {
			return nil, "", errOpenList
		}
		if strings.HasPrefix(s, "]") {
			return list, s[1:], nil
		}
		v, rest, err := tomlScalar(s)
		if err != nil {
			return nil, "", err
		}
		text, ok := v.(string)
		if !ok {
			return nil, "", fmt.Errorf("found %v in a list, expected strings", v)
		}
		list = append(list, text)
		s = skipComments(rest)
		switch {
		case strings.HasPrefix(s, ","):
			s = skipComments(s[1:])
		case s != "" && s[0] != ']':
			return nil, "", fmt.Errorf("found %q in a list, expected a comma or ]", s[:1])
		}
	}
}

// errOpenQuote is a text whose closing quote is not there.
var errOpenQuote = errors.New("unfinished quotation")

// errOpenList is a list whose end is not there.
var errOpenList = errors.New("a list without ] at its end")

// skipComments returns s from its first character that is neither blank nor in a
// comment.
func skipComments(s string) string {
	for s = strings.TrimSpace(s); strings.HasPrefix(s, "#"); s = strings.TrimSpace(s) {
		_, s, _ = strings.Cut(s, "\n")
	}
	return s
}

func tomlScalar(s string) (any, string, error) {
	switch {
	case s == "" || s[0] == '#':
		return nil, "", fmt.Errorf("no value")
	case s[0] == '\'':
		if text, rest, ok := strings.Cut(s[1:], "'"); ok {
			return text, rest, nil
		}
		return nil, "", errOpenQuote
	case s[0] == '"':
		for i := 1; i < len(s); i++ {
			switch s[i] {
			case '\\':
				i++
			case '"':
				text, err := strconv.Unquote(s[:i+1])
				if err != nil {
					return nil, "", fmt.Errorf("bad escape in %s", s[:i+1])
				}
				return text, s[i+1:], nil
			}
		}
		return nil, "", errOpenQuote
	}
	end := strings.IndexAny(s, " \t\r\n,]#")
	if end < 0 {
		end = len(s)
	}
	word, rest := s[:end], s[end:]
	switch word {
	case "true":
		return true, rest, nil
	case "false":
		return false, rest, nil
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(word, "_", ""), 64)
	if err != nil {
		return nil, "", fmt.Errorf("found %s, expected a number, true, false or a text in quotes", word)
	}
	return f, rest, nil
}
