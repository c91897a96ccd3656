package workspace

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/pelletier/go-toml/v2"

	"precision/internal/plainfile"
)

// setting is a value of a settings file with the line of its key.
type setting struct {
	key   string
	value any // as package toml has it: string, int64, float64, bool, []any …
	line  int
}

// maxSettings bounds the size of a settings file in bytes.
const maxSettings = 1 << 20

// readSettings reads the keys of a settings file in the order of their lines. A
// table is a key, too. Errors name file and line.
func readSettings(path string) ([]setting, error) {
	text, err := plainfile.ReadFile(path, "settings in TOML", maxSettings)
	if err != nil {
		return nil, err
	}
	list, err := parseSettings(text)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", path, err)
	}
	return list, nil
}

// parseSettings is readSettings of a text; errors begin with the number of the line.
func parseSettings(text []byte) ([]setting, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // editors of Windows begin files with it
	var values map[string]any
	var wrong *toml.DecodeError
	err := toml.Unmarshal(text, &values)
	if errors.As(err, &wrong) {
		line, column := wrong.Position()
		return nil, fmt.Errorf("%d:%d: %w", line, column, err)
	}
	if err != nil {
		return nil, fmt.Errorf("1: %w", err)
	}
	// Read into nothing, every key is one too many, and its place is told.
	decoder := toml.NewDecoder(bytes.NewReader(text))
	var unknown *toml.StrictMissingError
	if !errors.As(decoder.DisallowUnknownFields().Decode(&struct{}{}), &unknown) {
		return nil, nil
	}
	var list []setting
	seen := map[string]bool{}
	for i := range unknown.Errors {
		e := &unknown.Errors[i]
		name := e.Key()[0]
		if line, _ := e.Position(); !seen[name] {
			list = append(list, setting{name, values[name], line})
		}
		seen[name] = true
	}
	return list, nil
}
