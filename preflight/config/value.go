package config

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Kind is how a value is written.
type Kind uint8

// The kinds of values.
const (
	Plain Kind = iota
	Null       // nothing is written
	// Expr is an expression of a program that is not evaluated; it is compared
	// as it is written, without blanks.
	Expr
)

// Value is the value of a key.
type Value struct {
	Kind   Kind
	Source string // as it is written
}

// MarshalText writes the value as it is written.
func (v Value) MarshalText() ([]byte, error) { return []byte(v.Source), nil }

// plain is a value as people write it, where the format does not say what it
// is: numbers, booleans and nothing are known by their looks.
func plain(text string) Value { return Value{Source: strings.TrimSpace(text)} }

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
// a text that reads as a number or a boolean is one, in quotes or not, as a
// command line has only texts.
func (v Value) Same(w Value) bool {
	if v.Kind == Expr || w.Kind == Expr {
		return tight(v.Source) == tight(w.Source)
	}
	a, b := v.means(), w.means()
	x, ok1 := a.(float64)
	y, ok2 := b.(float64)
	if !ok1 || !ok2 {
		return a == b
	}
	if math.Abs(x) >= 1<<53 && x == y { // floats do not tell such integers apart
		i, ok1 := new(big.Int).SetString(strings.ReplaceAll(v.Source, "_", ""), 10)
		j, ok2 := new(big.Int).SetString(strings.ReplaceAll(w.Source, "_", ""), 10)
		return !ok1 || !ok2 || i.Cmp(j) == 0
	}
	return x == y || x != x && y != y
}

// means is what a value reads as: nil, a boolean, a number or a text.
func (v Value) means() any {
	if v.Kind == Null {
		return nil
	}
	text := strings.TrimSpace(v.Source)
	switch strings.ToLower(text) {
	case "null", "none", "~", "nil":
		return nil
	case "true", "yes", "on":
		return true
	case "false", "no", "off":
		return false
	}
	if f, ok := number(text); ok {
		return f
	}
	return text
}

// tight is an expression without blanks.
func tight(text string) string { return strings.Join(strings.Fields(text), "") }

// Path tells whether the value is a path of a file system: those of two machines
// differ for no reason that matters.
func (v Value) Path() bool {
	s := v.Source
	return v.Kind != Expr && (strings.HasPrefix(s, "/") || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../") || strings.HasPrefix(s, "~/")) &&
		!strings.ContainsAny(s, " \n") && !strings.Contains(s, "://")
}
