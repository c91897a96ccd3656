package argparse

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"precision/internal/lazy"
)

// Type converts the text of a value.
type Type struct {
	// Name is what messages call it: "invalid NAME value".
	Name string
	// Convert returns the value as Python would print it, and false when the text is not of
	// the type.
	Convert func(text string) (string, bool)
}

// Int is a decimal number as Python writes them in text: blanks around it, a
// sign and single underscores between digits are allowed.
var Int = &Type{Name: "int", Convert: parseInt}

// maxDigits is the number of digits from which on Python refuses to convert.
const maxDigits = 4300

var integer = lazy.Regexp(`^([+-]?)(\d+(?:_\d+)*)$`)

func parseInt(text string) (string, bool) {
	m := integer().FindStringSubmatch(strings.TrimFunc(text, pythonSpace))
	if m == nil {
		return "", false
	}
	digits := strings.ReplaceAll(m[2], "_", "")
	n, ok := new(big.Int).SetString(m[1]+digits, 10)
	if !ok || len(digits) > maxDigits {
		return "", false
	}
	return n.String(), true
}

// pythonSpace is what str.strip removes.
func pythonSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

// repr is a value of an option as Python's repr writes it.
func (o *Option) repr(value string) string {
	if o.Type == Int {
		return value
	}
	return repr(value)
}

// repr is a text as Python's repr writes it.
func repr(s string) string {
	quote := "'"
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = `"`
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\udc%02x`, s[i]) // how Python holds a byte that is not UTF-8
		case string(r) == quote || r == '\\':
			b.WriteString(`\` + string(r))
		case strings.ContainsRune("\n\r\t", r):
			b.WriteString(strings.Trim(strconv.Quote(string(r)), `"`))
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		i += n
	}
	return quote + b.String() + quote
}

// Values is what a command line said.
type Values struct {
	// Command is the sub-command, empty if there was none.
	Command string

	options map[string]*Option
	given   map[string][]string
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
	o := v.option(key)
	if given := v.given[key]; len(given) > 0 {
		return given[0]
	}
	text, _ := o.Default.(string)
	return text
}

// Int is the value of an option of type [Int], its default, or 0. Numbers that
// do not fit become the nearest one that does.
func (v *Values) Int(key string) int {
	n, _ := strconv.Atoi(v.Text(key)) // which gives the nearest one
	return n
}

// List are the values of an option that takes many.
func (v *Values) List(key string) []string {
	v.option(key)
	return v.given[key]
}

func (v *Values) option(key string) *Option {
	o := v.options[key]
	if o == nil {
		panic("argparse: no option is stored under " + strconv.Quote(key))
	}
	return o
}
