package argparse

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"precision/internal/each"
	"precision/internal/lazy"
	"precision/internal/must"
)

// Parse reads the words after the program's name.
func (p *Parser) Parse(args []string) (*Values, error) {
	return must.Of(func() *Values {
		v, extras := p.parseKnown(args)
		p.fail(len(extras) > 0, nil, "unrecognized arguments: %s", strings.Join(extras, " "))
		return v
	})
}

// parseKnown reads the command line and returns the words that nobody takes.
func (p *Parser) parseKnown(args []string) (*Values, []string) {
	r := &reading{p: p, args: args, options: p.all(), values: &Values{options: map[string]*Option{}, given: map[string][]string{}}}
	for _, o := range r.options {
		r.values.options[o.Key()] = o
	}
	r.classify()
	r.consume()
	if r.inner != nil {
		return r.inner, append(r.extras, r.innerExtras...)
	}
	r.missing()
	return r.values, r.extras
}

// fail ends the reading of a bad command line, because of an option, nil for none.
func (p *Parser) fail(bad bool, o *Option, format string, args ...any) {
	if !bad {
		return
	}
	if o != nil {
		format = "argument " + o.name() + ": " + format
	}
	must.Do(&Exit{Stderr: p.Usage() + p.Prog + ": error: " + fmt.Sprintf(format, args...) + "\n", Code: 2})
}

// word is an argument with the meaning it got before anything is consumed.
type word struct {
	kind   kind
	option *Option // nil when no option has that name
	// spelled is the name of the option as the table has it.
	spelled string
	// glued is the value in the same argument, if there is one.
	glued    string
	hasGlued bool
}

type kind uint8

const (
	isValue  kind = iota
	isOption      // by its dash; whether it is known is another matter
	isDashes      // the first --
)

// reading is the state of one Parse.
type reading struct {
	p       *Parser
	args    []string
	options []*Option
	words   []word
	values  *Values
	extras  []string
	seen    []*Option

	inner       *Values // of the sub-command
	innerExtras []string
}

// classify gives every argument its meaning. It looks at each alone: whether
// an argument is an option does not depend on what comes before it, except
// for "--".
func (r *reading) classify() {
	for i, arg := range r.args {
		if arg == "--" {
			r.words = append(r.words, word{kind: isDashes})
			r.words = append(r.words, make([]word, len(r.args)-i-1)...)
			return
		}
		r.words = append(r.words, r.meaning(arg))
	}
}

func (r *reading) meaning(arg string) word {
	if len(arg) < 2 || arg[0] != '-' {
		return word{}
	}
	if o := r.named(arg); o != nil {
		return word{kind: isOption, option: o, spelled: arg}
	}
	if name, value, ok := strings.Cut(arg, "="); ok {
		if o := r.named(name); o != nil {
			return word{isOption, o, name, value, true}
		}
	}
	found := r.abbreviated(arg)
	names := each.Of(found, func(w word) string { return w.spelled })
	r.p.fail(len(found) > 1, nil, "ambiguous option: %s could match %s", arg, strings.Join(names, ", "))
	switch {
	case len(found) == 1:
		return found[0]
	case negativeNumber().MatchString(arg) || strings.Contains(arg, " "):
		return word{}
	}
	return word{kind: isOption}
}

func (r *reading) named(name string) *Option {
	for _, o := range r.options {
		if slices.Contains(o.Names, name) {
			return o
		}
	}
	return nil
}

// abbreviated finds the readings of an argument that is no exact name. After
// two dashes the part before = may be the beginning of a name. After one dash
// the whole may be, or the first letter is an option and the rest its value.
func (r *reading) abbreviated(arg string) (found []word) {
	short, rest := "", ""
	prefix, value, hasValue := arg, "", false
	if strings.HasPrefix(arg, "--") {
		prefix, value, hasValue = strings.Cut(arg, "=")
	} else {
		_, n := utf8.DecodeRuneInString(arg[1:])
		short, rest = arg[:1+n], arg[1+n:]
	}
	for _, o := range r.options {
		for _, name := range o.Names {
			switch {
			case name == short:
				found = append(found, word{isOption, o, name, rest, true})
			case strings.HasPrefix(name, prefix):
				found = append(found, word{isOption, o, name, value, hasValue})
			}
		}
	}
	return found
}

// negativeNumber is what looks like a value although it begins with a dash.
var negativeNumber = lazy.Regexp(`^-(?:\d+|\d*\.\d+)$`)

// consume goes through the words from left to right.
func (r *reading) consume() {
	for i := 0; i < len(r.words); {
		if r.words[i].kind == isOption {
			i = r.consumeOption(i)
			continue
		}
		if len(r.p.Commands) > 0 && r.commandAt(i) {
			r.runCommand(r.args[i:])
			return
		}
		for ; i < len(r.words) && r.words[i].kind != isOption; i++ {
			r.extras = append(r.extras, r.args[i])
		}
	}
}

// commandAt reports whether the words from i on are a sub-command and what
// belongs to it.
func (r *reading) commandAt(i int) bool {
	for i < len(r.words) && r.words[i].kind == isDashes {
		i++
	}
	return i < len(r.words) && r.words[i].kind == isValue
}

func (r *reading) runCommand(args []string) {
	inner := r.p.command(args[0])
	if inner == nil {
		names := each.Of(r.p.Commands, func(c Command) string { return repr(c.Name) })
		r.p.fail(true, &Option{Names: []string{r.p.commandNames()}}, "invalid choice: %s (choose from %s)", repr(args[0]), strings.Join(names, ", "))
	}
	r.inner, r.innerExtras = inner.parseKnown(args[1:])
	r.inner.Command = args[0]
}

// occurrence is an option with the words it takes.
type occurrence struct {
	option *Option
	args   []string
}

// consumeOption takes the option at word i, the flags glued to it and its
// values, and returns the next word.
func (r *reading) consumeOption(i int) int {
	w := r.words[i]
	if w.option == nil {
		r.extras = append(r.extras, r.args[i])
		return i + 1
	}
	var all []occurrence
	next := i + 1
	// Flags of one letter can be written together: -ab for -a -b. argparse
	// goes about it like this for all single-dash flags, so -flag=a is -flag -a.
	for w.hasGlued && w.option.Takes == None {
		r.p.fail(strings.HasPrefix(w.spelled, "--") || w.glued == "", w.option, "ignored explicit argument %s", repr(w.glued))
		all = append(all, occurrence{option: w.option})
		_, n := utf8.DecodeRuneInString(w.glued)
		name := "-" + w.glued[:n]
		o := r.named(name)
		r.p.fail(o == nil, w.option, "ignored explicit argument %s", repr(w.glued))
		w = word{isOption, o, name, w.glued[n:], len(w.glued) > n}
	}
	if w.hasGlued {
		all = append(all, occurrence{w.option, []string{w.glued}})
	} else {
		n := r.count(w.option, next)
		all = append(all, occurrence{w.option, r.args[next : next+n]})
		next += n
	}
	for _, o := range all {
		r.take(o)
	}
	return next
}

// count is the number of words from i on that an option takes.
func (r *reading) count(o *Option, i int) int {
	n := 0
	for i+n < len(r.words) && r.words[i+n].kind == isValue {
		n++
	}
	if o.Takes == None {
		return 0
	}
	r.p.fail(n == 0 && o.Takes == Many, o, "expected at least one argument")
	r.p.fail(n == 0, o, "expected one argument")
	if o.Takes == Many {
		return n
	}
	return 1
}

// take converts and stores the values of an option. The last one given wins.
func (r *reading) take(occ occurrence) {
	o := occ.option
	values := each.Of(occ.args, func(text string) string {
		if o.Type == nil {
			return text
		}
		v, ok := o.Type.Convert(text)
		r.p.fail(!ok, o, "invalid %s value: %s", o.Type.Name, repr(text))
		return v
	})
	for _, v := range values {
		r.p.fail(len(o.Choices) > 0 && !slices.Contains(o.Choices, v), o, "invalid choice: %s (choose from %s)", o.repr(v), strings.Join(each.Of(o.Choices, o.repr), ", "))
	}
	if o.Group != "" {
		// argparse names the first of the others in the order of the table.
		for _, other := range r.options {
			r.p.fail(other != o && other.Group == o.Group && slices.Contains(r.seen, other), o, "not allowed with argument %s", other.name())
		}
	}
	r.seen = append(r.seen, o)
	if o.help {
		must.Do(&Exit{Stdout: r.p.Help()})
	}
	r.values.given[o.Key()] = values
}

// missing checks that required options are there.
func (r *reading) missing() {
	var names []string
	for _, o := range r.options {
		if o.Required && !slices.Contains(r.seen, o) {
			names = append(names, o.name())
		}
	}
	r.p.fail(len(names) > 0, nil, "the following arguments are required: %s", strings.Join(names, ", "))
}
