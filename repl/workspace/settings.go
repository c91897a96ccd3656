package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"precision/graph"
	"precision/internal/each"
	"precision/internal/msg"
	"precision/internal/must"
	"precision/internal/plainfile"
	"precision/repl/capture"
)

// DefaultCosine is the cosine similarity below which a tensor is bad unless a
// setting or an option says otherwise.
const DefaultCosine = 0.98

// SettingsFile is the name of a settings file, in the data folder or in the
// folder precision of the user's configuration.
const SettingsFile = "precision.toml"

// defaultData is the folder of a session without another choice.
const defaultData = "precision_data"

// Settings are the choices a user makes once. Options on a command line come
// first, then precision.toml in the data folder, then that in the user's
// configuration folder, then the defaults.
type Settings struct {
	// Data is the data folder (key data).
	Data string
	// Lang is the language, en or zh (key lang); empty follows the environment.
	Lang string
	// CosSim is the cosine similarity below which a tensor is bad, Limit
	// how many operators a summary shows (keys cos_sim, limit).
	CosSim float64
	Limit  int
	// Rows is how many elements cp lists; Atol and Rtol are its tolerances
	// (keys rows, atol, rtol).
	Rows       int
	Atol, Rtol float64
	// Train: the dumps are of a training run, where the folder of a dump must
	// have the graph's name (key network, infer or train).
	Train bool
	// Step is the iteration that vc compares, empty for the first (key step).
	Step string
	// Workers is the number of workers, 0 for one a core (key workers).
	Workers int
	// Casts are the casts that ac shows (key casts, a list such as
	// "DT_FLOAT -> DT_INT32"); nil takes the built-in ones.
	Casts []graph.CastRule
	// Python is the program that runs capture scripts, empty for python3 or
	// python (key python); Capture is what they are made for (keys dump_step,
	// seed, op_debug_level, dump_ge_graph, dump_graph_level, prompt_timeout).
	Python  string
	Capture capture.Options
}

// Defaults are the settings without any file.
func Defaults() Settings {
	return Settings{Data: defaultData, CosSim: DefaultCosine, Limit: 3, Rows: 20, Atol: 0.001, Rtol: 0.001, Capture: capture.Defaults("")}
}

// Load reads a settings file over s. What is wrong with single keys is
// returned as warnings; the other keys count.
//
// user is the file of the user's own configuration. Another one, as that of a data
// folder, may have come from elsewhere: it can neither name programs to run nor
// another data folder.
func (s *Settings) Load(path, user string) (warnings []error, err error) {
	list, err := readSettings(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, v := range list {
		var err error
		if path != user && (v.key == "python" || v.key == "data") {
			err = fmt.Errorf("has no effect in the file of a data folder; it belongs in %s", user)
		} else {
			err = s.assign(v.key, v.value, filepath.Dir(path))
		}
		if err != nil {
			warnings = append(warnings, fmt.Errorf("%s:%d: %s: %w", path, v.line, v.key, err))
		}
	}
	return warnings, nil
}

func (s *Settings) assign(key string, v any, dir string) (err error) {
	defer must.Catch(&err)
	c := s.Capture
	c.Root = "/" // is that of the session, later
	count := map[string]*int{"limit": &s.Limit, "rows": &s.Rows, "workers": &s.Workers,
		"seed": &c.Seed, "op_debug_level": &c.OpDebugLevel, "dump_ge_graph": &c.GEGraph, "dump_graph_level": &c.GraphLevel}[key]
	tolerance := map[string]*float64{"atol": &s.Atol, "rtol": &s.Rtol}[key]
	switch {
	case count != nil:
		*count = countOf(v)
	case tolerance != nil:
		*tolerance = numberOf(v, 0, math.MaxFloat64)
	case key == "cos_sim":
		s.CosSim = numberOf(v, -1, 1)
	case key == "data":
		s.Data = textOf(v)
		if rest, ok := strings.CutPrefix(s.Data, "~/"); ok {
			if home, err := os.UserHomeDir(); err == nil {
				s.Data = filepath.Join(home, rest)
			}
		}
		if !filepath.IsAbs(s.Data) {
			s.Data = filepath.Join(dir, s.Data)
		}
	case key == "lang":
		name := textOf(v)
		_, ok := msg.ParseLang(name)
		must.Not(!ok, "found %q, expected en or zh", name)
		s.Lang = name
	case key == "network":
		name := textOf(v)
		must.Not(name != "infer" && name != "train", "found %q, expected infer or train", name)
		s.Train = name == "train"
	case key == "step":
		s.Step = stepOf(v)
	case key == "casts":
		list, ok := v.([]any)
		must.Not(!ok, "found %v, expected a list of texts", v)
		s.Casts = each.Of(list, func(v any) graph.CastRule {
			text, _ := v.(string)
			from, to, ok := strings.Cut(text, "->")
			must.Not(!ok, "found %v, expected \"FROM -> TO\"", v)
			return graph.CastRule{From: strings.TrimSpace(from), To: strings.TrimSpace(to), Level: graph.LevelDanger}
		})
	case key == "python":
		s.Python = textOf(v)
	case key == "dump_step":
		c.Step = stepOf(v)
	case key == "prompt_timeout":
		c.Timeout = time.Duration(countOf(v)) * time.Second
	default:
		must.Not(true, "there is no such setting")
	}
	must.Do(c.Check())
	c.Root = ""
	s.Capture = c
	return nil
}

func textOf(v any) string {
	text, ok := v.(string)
	must.Not(!ok, "found %v, expected a text in quotes", v)
	return text
}

// stepOf is an iteration, which may stand without quotes.
func stepOf(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	return strconv.Itoa(countOf(v))
}

func numberOf(v any, least, most float64) float64 {
	f, ok := number(v)
	must.Not(!ok || !(f >= least && f <= most), "found %v, expected a number from %g to %g", v, least, most)
	return f
}

func countOf(v any) int {
	f, ok := number(v)
	must.Not(!ok || f != math.Trunc(f) || f < 0 || f > 1<<30, "found %v, expected a whole number", v)
	return int(f)
}

// number is a number of a settings file, with or without a point.
func number(v any) (f float64, ok bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// ConfigFolder is where the user's settings and the history are, "" if the
// system does not say.
func ConfigFolder() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "precision")
}

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
func parseSettings(text []byte) (list []setting, err error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // editors of Windows begin files with it
	var values map[string]any
	var wrong *toml.DecodeError
	err = toml.Unmarshal(text, &values)
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
