package config

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Kind is what a value is.
type Kind uint8

// The kinds of values.
const (
	Null Kind = iota
	Bool
	Number
	Text
	// Expr is an expression of a program that is not evaluated; it is compared
	// as it is written, without blanks.
	Expr
)

// Value is the value of a key.
type Value struct {
	Kind Kind
	// Source is how the value is written; Number and Bool what it means.
	Source string
	Number float64
	Bool   bool
}

// MarshalText writes the value as it is written.
func (v Value) MarshalText() ([]byte, error) { return []byte(v.Source), nil }

// plain reads a value as people write it, where the format does not say what it
// is: numbers, booleans and nothing are known by their looks.
func plain(text string) Value {
	text = strings.TrimSpace(text)
	v := Value{Kind: Text, Source: text}
	switch strings.ToLower(text) {
	case "null", "none", "~", "nil":
		v.Kind = Null
		return v
	case "true", "yes", "on":
		v.Kind, v.Bool = Bool, true
		return v
	case "false", "no", "off":
		v.Kind = Bool
		return v
	}
	if f, ok := number(text); ok {
		v.Kind, v.Number = Number, f
	}
	return v
}

// number reads a number as YAML, Python and shells write them: 1_000, 0x10, .5,
// 1e-3, .inf, nan.
func number(text string) (float64, bool) {
	if text == "" || len(text) > 400 {
		return 0, false
	}
	switch strings.ToLower(strings.TrimPrefix(text, "+")) {
	case ".inf", "inf", "infinity":
		return math.Inf(1), true
	case "-.inf", "-inf", "-infinity":
		return math.Inf(-1), true
	case ".nan", "nan":
		return math.NaN(), true
	}
	if c := text[0]; c != '+' && c != '-' && c != '.' && (c < '0' || c > '9') {
		return 0, false
	}
	clean := strings.ReplaceAll(text, "_", "")
	if n, err := strconv.ParseInt(clean, 0, 64); err == nil && !octal(clean) {
		return float64(n), true
	}
	if strings.ContainsAny(clean, "pPxX") {
		return 0, false
	}
	f, err := strconv.ParseFloat(clean, 64)
	if err != nil && !math.IsInf(f, 0) {
		return 0, false
	}
	return f, true
}

// octal: 010 is ten to most who write it; only 0o10 is eight.
func octal(text string) bool {
	text = strings.TrimLeft(text, "+-")
	return len(text) > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9'
}

// Same tells whether two values mean the same. Numbers are compared by value;
// a text that reads as a number or a boolean is one, as a command line has only
// texts.
func (v Value) Same(w Value) bool {
	v, w = v.plain(), w.plain()
	if v.Kind == Expr || w.Kind == Expr {
		return tight(v.Source) == tight(w.Source)
	}
	if v.Kind != w.Kind {
		return false
	}
	switch v.Kind {
	case Null:
		return true
	case Bool:
		return v.Bool == w.Bool
	case Number:
		if x, ok := whole(v); ok && v.Number == w.Number {
			if y, ok := whole(w); ok { // beyond 2^53 floats do not tell integers apart
				return x.Cmp(y) == 0
			}
		}
		return v.Number == w.Number || v.Number != v.Number && w.Number != w.Number
	}
	return v.Source == w.Source
}

// whole is an integer as it is written.
func whole(v Value) (*big.Int, bool) {
	if v.Number > -1<<53 && v.Number < 1<<53 {
		return nil, false
	}
	return new(big.Int).SetString(strings.ReplaceAll(v.Source, "_", ""), 10)
}

// plain takes a text for what it reads as.
func (v Value) plain() Value {
	if v.Kind == Text {
		return plain(v.Source)
	}
	return v
}

// tight is an expression without blanks.
func tight(text string) string { return strings.Join(strings.Fields(text), "") }

// Path tells whether the value is a path of a file system: those of two machines
// differ for no reason that matters.
func (v Value) Path() bool {
	s := v.Source
	return v.Kind == Text && (strings.HasPrefix(s, "/") || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../") || strings.HasPrefix(s, "~/")) &&
		!strings.ContainsAny(s, " \n") && !strings.Contains(s, "://")
}
