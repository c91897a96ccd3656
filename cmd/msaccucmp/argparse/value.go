package argparse

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Type converts the text of a value.
type Type struct {
	// Name is what messages call it: "invalid NAME value".
	Name string
	// Convert returns a string or an int, and false when the text is not of
	// the type.
	Convert func(text string) (any, bool)
}

// Int is a decimal number as Python writes them in text: blanks around it, a
// sign and single underscores between digits are allowed.
var Int = &Type{Name: "int", Convert: parseInt}

// maxDigits is the number of digits from which on Python refuses to convert.
const maxDigits = 4300

func parseInt(text string) (any, bool) {
	s := strings.TrimFunc(text, pythonSpace)
	digits := strings.TrimLeft(s, "+-")
	if len(s)-len(digits) > 1 || digits == "" {
		return nil, false
	}
	var plain strings.Builder
	if s[0] == '-' {
		plain.WriteByte('-')
	}
	for i, last := 0, byte('_'); i < len(digits); i++ {
		c := digits[i]
		if c == '_' && (last == '_' || i == len(digits)-1) || c != '_' && (c < '0' || c > '9') {
			return nil, false
		}
		if c != '_' {
			plain.WriteByte(c)
		}
		last = c
	}
	if plain.Len() > maxDigits+1 {
		return nil, false
	}
	if n, err := strconv.Atoi(plain.String()); err == nil {
		return n, true
	}
	return new(big.Int).SetString(plain.String(), 10)
}

// pythonSpace is what str.strip removes.
func pythonSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

// toInt narrows what [Int] returned; a number that does not fit becomes the
// nearest one that does.
func toInt(v any) (int, bool) {
	switch v := v.(type) {
	case int:
		return v, true
	case *big.Int:
		if v.Sign() < 0 {
			return math.MinInt, true
		}
		return math.MaxInt, true
	}
	return 0, false
}

// repr is the value as Python's repr writes it.
func repr(v any) string {
	switch v := v.(type) {
	case int:
		return strconv.Itoa(v)
	case *big.Int:
		return v.String()
	case string:
		return reprText(v)
	}
	return "None"
}

func reprText(s string) string {
	quote := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	const hex = "0123456789abcdef"
	var b strings.Builder
	escape := func(mark byte, r rune, digits int) {
		b.WriteByte('\\')
		b.WriteByte(mark)
		for digits--; digits >= 0; digits-- {
			b.WriteByte(hex[r>>(4*digits)&15])
		}
	}
	b.WriteRune(quote)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			escape('u', 0xdc00+rune(s[i]), 4) // how Python holds a byte that is not UTF-8
		case r == quote || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x100:
			escape('x', r, 2)
		case r < 0x10000:
			escape('u', r, 4)
		default:
			escape('U', r, 8)
		}
		i += n
	}
	b.WriteRune(quote)
	return b.String()
}

// Values is what a command line said.
type Values struct {
	// Command is the sub-command, empty if there was none.
	Command string

	options map[string]*Option
	given   map[string][]any
}

// Given reports whether an option was on the command line. Like all methods it
// takes the option's key and panics if the table has no such option.
func (v *Values) Given(key string) bool {
	v.option(key)
	_, ok := v.given[key]
	return ok
}

// Text is the value of an option that takes one, its default, or "". A value
// with a type is given in the form in which Python would print it.
func (v *Values) Text(key string) string {
	switch x := v.value(key).(type) {
	case nil:
		return ""
	case string:
		return x
	default:
		return repr(x)
	}
}

// Int is the value of an option of type [Int], its default, or 0. Numbers that
// do not fit become the nearest one that does.
func (v *Values) Int(key string) int {
	n, _ := toInt(v.value(key))
	return n
}

// Ints are the values of an option of type [Int] that takes many.
func (v *Values) Ints(key string) (all []int) {
	v.option(key)
	for _, x := range v.given[key] {
		if n, ok := toInt(x); ok {
			all = append(all, n)
		}
	}
	return all
}

// Flag reports whether a flag was given.
func (v *Values) Flag(key string) bool { return v.Given(key) }

func (v *Values) value(key string) any {
	if given := v.given[key]; len(given) > 0 {
		return given[0]
	}
	return v.option(key).Default
}

func (v *Values) option(key string) *Option {
	o := v.options[key]
	if o == nil {
		panic("argparse: no option is stored under " + strconv.Quote(key))
	}
	return o
}
