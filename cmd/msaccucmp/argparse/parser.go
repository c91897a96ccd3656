// Package argparse reads command lines the way Python 3.11's argparse module
// does, so that a program written against argparse can be replaced without
// touching the scripts that call it.
//
// Options may have single-dash long names (-out) beside single-letter ones
// (-o). An argument is looked up, in this order: as the exact name of an
// option; as NAME=VALUE; as a single letter with its value glued on (-o0) or
// as the beginning of a name (--out, -adv). The last two together must have
// one reading only. Whatever looks like a negative number is a value, and so
// is everything after "--".
//
// A [Parser] is a table. [Parser.Parse] returns [Values], or an [Exit].
package argparse

import "strings"

// Parser describes the command line of a program or of one sub-command.
// Every parser has the option -h, --help in front of its own.
type Parser struct {
	// Prog is the name in messages: "prog", or "prog command".
	Prog string
	// About is a line or two of help.
	About string
	// Options in the order of the usage text.
	Options []Option
	// Commands, if there are any, come as the first word that is not an
	// option; what follows that word is theirs. None has to be given.
	Commands []Command
}

// Command is a sub-command. The name of its parser is the outer one's and its
// own.
type Command struct {
	Name, About string
	Options     []Option
}

// Option describes an option.
type Option struct {
	// Names with their dashes. Results are stored under the first name that
	// begins with two dashes, else under the first, without the dashes, other
	// dashes as underscores: my_dump_path.
	Names []string
	// Takes says what follows the name.
	Takes Takes
	// Type converts values; nil leaves them as they are.
	Type *Type
	// Choices, if there are any, are the only values allowed, in the form Type
	// gives them.
	Choices []string
	// Default is the value when the option is not given: a string in the form Type gives it, or nil for none.
	Default any
	// Required options must be given.
	Required bool
	// Group, if not empty, is shared by options that exclude each other. They
	// follow each other in the table.
	Group string
	// Metavar stands for the value in usage and help; by default the choices,
	// else the key in capitals.
	Metavar string
	// About is the help text.
	About string

	help bool
}

// Takes says how many words an option takes.
type Takes uint8

const (
	One  Takes = iota // one value
	Many              // one value or more
	None              // a flag
)

// Key is the name results are stored under.
func (o *Option) Key() string {
	name := o.Names[0]
	for _, n := range o.Names {
		if strings.HasPrefix(n, "--") {
			name = n
			break
		}
	}
	return strings.ReplaceAll(strings.TrimLeft(name, "-"), "-", "_")
}

// name is how messages call the option.
func (o *Option) name() string { return strings.Join(o.Names, "/") }

var helpOption = Option{Names: []string{"-h", "--help"}, Takes: None, About: "print this help and exit", help: true}

// all is the table with the option for help.
func (p *Parser) all() []*Option {
	all := make([]*Option, 0, len(p.Options)+1)
	all = append(all, &helpOption)
	for i := range p.Options {
		all = append(all, &p.Options[i])
	}
	return all
}

// command finds a sub-command and makes its parser; nil if there is none of
// that name.
func (p *Parser) command(name string) *Parser {
	for _, c := range p.Commands {
		if c.Name == name {
			return &Parser{Prog: p.Prog + " " + c.Name, About: c.About, Options: c.Options}
		}
	}
	return nil
}
