package run

import (
	"errors"
	"flag"
	"strconv"
	"strings"

	"precision/compare/verdict"
	"precision/internal/msg"
	"precision/internal/spell"
)

// Gate is the option -gate, or -gate=strict.
type Gate verdict.Gate

func (g *Gate) String() string {
	switch {
	case g.Strict:
		return "strict"
	case g.On:
		return "true"
	}
	return ""
}

// IsBoolFlag lets -gate stand without a value.
func (g *Gate) IsBoolFlag() bool { return true }

func (g *Gate) Set(value string) error {
	switch value {
	case "true":
		g.On = true
	case "strict":
		g.On, g.Strict = true, true
	case "false":
		g.On, g.Strict = false, false
	default:
		return errors.New("usage.gate")
	}
	return nil
}

// WrongOption says in a language what package flag found of a set of options, nil for none.
func WrongOption(l msg.Lang, err error, set *flag.FlagSet) string {
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "flag provided but not defined: "); ok {
		var names []string
		if set != nil {
			set.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
		}
		if near := spell.Nearest(strings.TrimLeft(name, "-"), names); near != "" && len(strings.TrimLeft(name, "-")) > 1 { // a letter is near all letters
			return l.T("usage.near", name, near)
		}
		return l.T("usage.nooption", name)
	}
	if name, ok := strings.CutPrefix(text, "flag needs an argument: "); ok {
		return l.T("usage.novalue", name)
	}
	for _, start := range []string{"invalid value ", "invalid boolean value "} {
		rest, ok := strings.CutPrefix(text, start)
		quoted, err := strconv.QuotedPrefix(rest)
		if !ok || err != nil {
			continue
		}
		name, key, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(rest[len(quoted):], " for "), "flag "), ": ")
		switch {
		case strings.HasPrefix(key, "usage."):
			return l.T("usage.value", name, quoted, l.T(key))
		case start == "invalid value " && (key == "parse error" || key == "value out of range"):
			return l.T("usage.value", name, quoted, l.T("usage.number"))
		case key == "parse error" || strings.HasPrefix(key, "strconv.ParseBool"):
			return l.T("usage.value", name, quoted, l.T("usage.switch"))
		}
		return l.T("usage.wrong", name, quoted, key)
	}
	return text
}
