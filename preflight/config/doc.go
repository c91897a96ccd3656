// Package config reads the configuration of a training run, whatever it is
// written in, as keys with values, and compares two of them.
//
// A nested key is a path, model.layers[0].size. Values are numbers, texts,
// booleans or nothing, and compared as such: 1e-3 is 0.001, True is true. Keys
// are compared as they are, then without regard to case, hyphens and
// underscores, then by what people call the same thing (learning_rate is lr),
// and last by the end of the path where it is the only one: a nested YAML file
// can be held against a command line.
package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"precision/internal/each"
	"precision/internal/lazy"
	"precision/internal/must"
	"precision/internal/plainfile"
)

// Format is what a configuration is written in.
type Format string

// The formats.
const (
	YAML   Format = "yaml"
	JSON   Format = "json"
	TOML   Format = "toml"
	INI    Format = "ini"
	Python Format = "python" // assignments, and add_argument of argparse
	Shell  Format = "shell"  // command lines and scripts: options, variables
	Env    Format = "env"    // NAME=value lines, as env prints them
)

// format is one of them, with the ends of names that tell it, and who reads it.
type format struct {
	name Format
	ends string
	read func(*entries, string)
}

// formats are all formats.
var formats = []format{
	{YAML, ".yaml .yml", (*entries).yaml},
	{JSON, ".json", (*entries).json},
	{TOML, ".toml", (*entries).toml},
	{INI, ".ini .cfg .conf", (*entries).ini},
	{Python, ".py", (*entries).python},
	{Shell, ".sh .bash .cmd", (*entries).shell},
	{Env, ".env", (*entries).env},
}

// Formats are all formats.
func Formats() []Format { return each.Of(formats, func(f format) Format { return f.name }) }

// Limits of what is read: a configuration is written by people, and what is
// larger is none.
const (
	MaxBytes   = 16 << 20
	MaxEntries = 200_000
	MaxDepth   = 100
	nested     = "found values nested too deeply, expected a configuration"
	// Of TOML and INI, whose libraries look for each key among all before it: of 20 000 keys, as many as these bytes
	// hold, that takes a second or two, and of those of MaxBytes hours.
	MaxSquare = 128 << 10
)

// File is a configuration that was read.
type File struct {
	Path    string
	Format  Format
	Entries []Entry
}

// Entry is a key with its value.
type Entry struct {
	// Key is the path of the key, Line where it stands, 0 where that is not known.
	Key   string `json:"key"`
	Line  int    `json:"line,omitempty"`
	Value Value  `json:"value"`
}

// IsZero tells that there is none, as of a key that only the other side has.
func (e Entry) IsZero() bool { return e == Entry{} }

// Open reads a configuration; without a format it is known by the name of the
// file and what is in it.
func Open(path string, format Format) (*File, error) {
	text, err := plainfile.ReadFile(path, "a configuration", MaxBytes)
	if err != nil {
		return nil, err
	}
	if format == "" {
		if format = Detect(path, text); format == "" {
			return nil, &NoFormatError{path}
		}
	}
	f := &File{Path: path, Format: format}
	if f.Entries, err = Parse(text, format); err != nil {
		return nil, fmt.Errorf("%s: read as %s: %w", path, format, err)
	}
	if len(f.Entries) == 0 {
		return nil, fmt.Errorf("%s: read as %s: found no key with a value", path, format)
	}
	return f, nil
}

// Parse reads a configuration from a text.
func Parse(text []byte, format Format) (_ []Entry, err error) {
	defer must.Catch(&err)
	list := &entries{at: map[string]int{}}
	for _, f := range formats {
		if f.name == format {
			f.read(list, strings.TrimPrefix(string(text), "\ufeff"))
		}
	}
	return list.list, nil
}

var (
	iniLine    = lazy.Regexp(`(?m)^\s*\[[^\]\n,"]+\]\s*$`)
	yamlLine   = lazy.Regexp(`(?m)^\s*(- )?["']?[A-Za-z_][\w .-]*["']?:(\s|$)`)
	envLine    = lazy.Regexp(`(?m)^(export\s+)?[A-Za-z_]\w*=`)
	pythonLine = lazy.Regexp(`(?m)^\s*([A-Za-z_][\w.]*\s*=[^=]|(import|from|class|def)\s|.*add_argument\()`)
	optionWord = lazy.Regexp(`(^|\s)--?[A-Za-z][\w-]*`)
)

// Detect tells the format of a configuration by its name and what it begins
// with; "" if it is none that is known.
func Detect(path string, front []byte) Format {
	text := strings.TrimSpace(strings.TrimPrefix(string(front), "\ufeff"))
	first, _, _ := strings.Cut(text, "\n")
	known := Format("")
	for _, f := range formats {
		if ext := strings.ToLower(filepath.Ext(path)); ext != "" && slices.Contains(strings.Fields(f.ends), ext) {
			known = f.name
		}
	}
	switch {
	case (known == "" || known == INI) && strings.HasPrefix(text, "{"):
		return JSON // also fusion_switch.cfg
	case known != "":
		return known
	case strings.HasPrefix(first, "#!") && strings.Contains(first, "python"):
		return Python
	case strings.HasPrefix(first, "#!"):
		return Shell
	case iniLine().MatchString(text):
		return INI
	case envLine().MatchString(text) && !strings.Contains(text, " = ") && !optionWord().MatchString(text):
		return Env
	case optionWord().MatchString(first) || optionWord().MatchString(text) && strings.Contains(text, "\\\n"):
		return Shell
	case pythonLine().MatchString(text) && !yamlLine().MatchString(text):
		return Python
	case yamlLine().MatchString(text):
		return YAML
	case optionWord().MatchString(text):
		return Shell
	}
	return ""
}

// entries collects the entries of a file, of every key the last, which is that of a program that reads it.
type entries struct {
	list         []Entry
	at           map[string]int
	count, bytes int
}

// add adds an entry; of more than [MaxEntries], which YAML makes of few lines, it ends the reading.
func (e *entries) add(key string, line int, v Value) {
	e.bytes += len(key) + len(v.Source)
	must.Not(e.count >= MaxEntries || e.bytes > 4*MaxBytes, "found more than %d values, expected a configuration", MaxEntries)
	e.count++
	i, again := e.at[key]
	if !again {
		i = len(e.list)
		e.at[key], e.list = i, append(e.list, Entry{})
	}
	e.list[i] = Entry{key, line, v}
}

// join appends a key to a path.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// NoFormatError: a file is in none of the formats.
type NoFormatError struct{ Path string }

func (e *NoFormatError) Error() string { return e.Path + ": found no format of a configuration" }
