package verdict

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"precision/compare/result"
	"precision/dump/dtype"
	"precision/internal/plainfile"
)

// builtin are the profiles the program carries: profiles/NAME.toml.
//
//go:embed profiles/*.toml
var builtin embed.FS

// Default is the profile in force when none is named.
var Default = sync.OnceValue(func() *Profile {
	p, err := Builtin("default")
	if err != nil {
		panic(err) // it is part of the program; a test reads all of them
	}
	return p
})

// BuiltinNames lists the profiles the program carries.
func BuiltinNames() []string {
	files, _ := fs.Glob(builtin, "profiles/*.toml")
	for i, f := range files {
		files[i] = strings.TrimSuffix(path.Base(f), ".toml")
	}
	slices.Sort(files)
	return files
}

// Builtin is a profile the program carries.
func Builtin(name string) (*Profile, error) {
	text, err := builtin.ReadFile("profiles/" + name + ".toml")
	if err != nil {
		return nil, &NoProfileError{name}
	}
	return ParseProfile(text, name)
}

// NoProfileError: the program carries no profile of that name.
type NoProfileError struct{ Name string }

func (e *NoProfileError) Error() string {
	return fmt.Sprintf("there is no profile %q, expected a file or one of %s", e.Name, strings.Join(BuiltinNames(), ", "))
}

// mostProfile is the largest profile that is read: a thousand rules take 100 KB.
const mostProfile = 4 << 20

// OpenProfile reads a profile file, or takes the built-in one of that name.
func OpenProfile(name string) (*Profile, error) {
	if slices.Contains(BuiltinNames(), name) {
		return Builtin(name)
	}
	text, err := plainfile.ReadFile(name, "a profile in TOML", mostProfile)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(name, `/\.`):
		return Builtin(name) // whose error tells the names
	case err != nil:
		return nil, err
	}
	return ParseProfile(text, name)
}

// profileFile is the form of a profile in TOML.
type profileFile struct {
	Name     string `toml:"name"`
	Date     any    `toml:"date"`
	Standard string `toml:"standard"`
	Rules    []struct {
		Match string   `toml:"match"`
		Type  any      `toml:"type"` // a name or a list of names
		DType string   `toml:"dtype"`
		Role  string   `toml:"role"`
		Cause string   `toml:"cause"`
		Limit any      `toml:"limit"`
		Abs   *float64 `toml:"atol"`
		Rel   *float64 `toml:"rtol"`
		Why   string   `toml:"why"`
	} `toml:"rule"`
	Waivers []struct {
		Tensor  string `toml:"tensor"`
		Cause   string `toml:"cause"`
		Reason  string `toml:"reason"`
		Owner   string `toml:"owner"`
		Expires any    `toml:"expires"`
	} `toml:"waiver"`
	Maps []struct {
		Left  any    `toml:"left"` // a name or a list of names
		Right any    `toml:"right"`
		Why   string `toml:"why"`
	} `toml:"map"`
}

// ParseProfile reads a profile; file stands in errors, which are file:line.
func ParseProfile(text []byte, file string) (*Profile, error) {
	var f profileFile
	d := toml.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, profileError(file, err)
	}
	lines := tableLines(text)
	p := &Profile{Name: f.Name, Standard: f.Standard, Source: string(text)}
	at := func(table string, i int, format string, args ...any) error {
		line := 1
		if list := lines[table]; i < len(list) {
			line = list[i]
		}
		return fmt.Errorf("%s:%d: %s", file, line, fmt.Sprintf(format, args...))
	}
	if p.Name == "" {
		return nil, at("", 0, "a profile without a name, expected name = \"…\"")
	}
	date, err := day(f.Date)
	if err != nil {
		return nil, at("", 0, "date: %v", err)
	}
	if !date.IsZero() {
		p.Date = date.Format(time.DateOnly)
	}
	for i, r := range f.Rules {
		rule := Rule{Match: r.Match, DType: r.DType, Role: r.Role, Cause: Kind(r.Cause), Why: r.Why}
		var err error
		if rule.Types, err = names(r.Type); err != nil {
			return nil, at("rule", i, "type: %v", err)
		}
		if r.Abs != nil {
			rule.Abs = *r.Abs
		}
		if r.Rel != nil {
			rule.Rel = *r.Rel
		}
		if (r.Abs != nil || r.Rel != nil) && rule.Cause != Tolerance {
			return nil, at("rule", i, "atol and rtol belong to the cause %s, found %s", Tolerance, rule.Cause)
		}
		switch v := r.Limit.(type) {
		case nil:
			return nil, at("rule", i, "a rule without a limit, expected a number or \"off\"")
		case float64:
			rule.Limit = v
		case int64:
			rule.Limit = float64(v)
		case string:
			if v != "off" {
				return nil, at("rule", i, "the limit is %q, expected a number or \"off\"", v)
			}
			rule.Off = true
		default:
			return nil, at("rule", i, "the limit is %v, expected a number or \"off\"", v)
		}
		if rule.Role != "" && rule.Role != "input" && rule.Role != "output" {
			return nil, at("rule", i, "the role is %q, expected input or output", rule.Role)
		}
		if rule.DType != "" {
			if t, ok := dtype.Parse(rule.DType); !ok || t.String() != rule.DType {
				return nil, at("rule", i, "there is no dtype %q, expected one as float16 or int32", rule.DType)
			}
		}
		if err := rule.check(); err != nil {
			return nil, at("rule", i, "%v", err)
		}
		p.Rules = append(p.Rules, rule)
	}
	for i, w := range f.Waivers {
		waiver := Waiver{Tensor: w.Tensor, Cause: Kind(w.Cause), Reason: w.Reason, Owner: w.Owner}
		if l := lines["waiver"]; i < len(l) {
			waiver.Line = l[i]
		}
		switch {
		case w.Tensor == "":
			return nil, at("waiver", i, "a waiver without a tensor, expected one as conv1:output:0, stars allowed")
		case w.Cause != "" && waiver.Cause != Missing && waiver.Cause.Place() < 0:
			return nil, at("waiver", i, "there is no cause %q, expected one of %s, %s", w.Cause, kindList(), Missing)
		case strings.TrimSpace(w.Reason) == "":
			return nil, at("waiver", i, "a waiver without a reason, expected reason = \"…\"")
		case w.Cause == "" && Glob(w.Tensor, "a:output:0") && Glob(w.Tensor, "b/c:output:0"):
			return nil, at("waiver", i, "a waiver of every tensor, %q, and every cause excuses whatever goes wrong, expected names or a cause", w.Tensor)
		}
		var err error
		if waiver.Expires, err = day(w.Expires); err != nil {
			return nil, at("waiver", i, "expires: %v", err)
		}
		p.Waivers = append(p.Waivers, waiver)
	}
	for i, m := range f.Maps {
		left, err := names(m.Left)
		if err != nil {
			return nil, at("map", i, "left: %v", err)
		}
		right, err := names(m.Right)
		if err != nil {
			return nil, at("map", i, "right: %v", err)
		}
		if len(left) == 0 || len(right) == 0 || len(left) > 1 && len(right) > 1 {
			return nil, at("map", i, "found %d calls on the left and %d on the right, expected one on one of the sides, as left = \"npu_rms_norm\", right = \"RMSNorm\"", len(left), len(right))
		}
		p.Maps = append(p.Maps, result.Map{Left: left, Right: right})
	}
	p.index()
	return p, nil
}

// names reads a name or a list of names; nil is none.
func names(v any) ([]string, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case string:
		return []string{v}, nil
	case []any:
		var list []string
		for _, e := range v {
			name, ok := e.(string)
			if !ok {
				return nil, fmt.Errorf("found %v, expected an operator type", e)
			}
			list = append(list, name)
		}
		return list, nil
	}
	return nil, fmt.Errorf("found %v, expected an operator type or a list of them", v)
}

// day reads a date, given as a TOML date or a string; nil is none.
func day(v any) (time.Time, error) {
	switch v := v.(type) {
	case nil:
		return time.Time{}, nil
	case toml.LocalDate:
		return v.AsTime(time.UTC), nil
	case time.Time:
		return v, nil
	case string:
		if t, err := time.Parse(time.DateOnly, v); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("found %v, expected a date as 2026-12-31", v)
}

// profileError gives an error of the TOML library a line.
func profileError(file string, err error) error {
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) && len(strict.Errors) > 0 {
		e := &strict.Errors[0]
		line, _ := e.Position()
		return fmt.Errorf("%s:%d: unknown key %q", file, line, strings.Join(e.Key(), "."))
	}
	var wrong *toml.DecodeError
	if errors.As(err, &wrong) {
		line, _ := wrong.Position()
		return fmt.Errorf("%s:%d: %s", file, line, strings.TrimPrefix(wrong.Error(), "toml: "))
	}
	return fmt.Errorf("%s: %w", file, err)
}

// tableLines are the lines at which the tables of a name begin, in order.
func tableLines(text []byte) map[string][]int {
	lines := map[string][]int{}
	var p unstable.Parser
	p.Reset(text)
	line, counted := 1, 0 // Parser.Shape counts from the beginning each time
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind != unstable.ArrayTable {
			continue
		}
		key := e.Key()
		if key.Next() {
			n := key.Node()
			name := string(n.Data)
			line += bytes.Count(text[counted:n.Raw.Offset], []byte{'\n'})
			counted = int(n.Raw.Offset)
			lines[name] = append(lines[name], line)
		}
	}
	return lines
}
