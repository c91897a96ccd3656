package argparse

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"precision/internal/each"
)

// width leaves two columns of a terminal free on the right; helpColumn is where help texts start.
const (
	width      = 80 - 2
	helpColumn = 24
)

func (p *Parser) commandNames() string {
	names := each.Of(p.Commands, func(c Command) string { return c.Name })
	return "{" + strings.Join(names, ",") + "}"
}

// value is what stands for the option's value, with a blank before it.
func (o *Option) value() string {
	name := cmp.Or(o.Metavar, strings.ToUpper(o.Key()))
	if o.Metavar == "" && len(o.Choices) > 0 {
		name = "{" + strings.Join(o.Choices, ",") + "}"
	}
	switch o.Takes {
	case None:
		return ""
	case Many:
		return " " + name + " [" + name + " ...]"
	}
	return " " + name
}

// parts are the pieces of the usage text between which a line may end.
func (p *Parser) parts() (parts []string) {
	group := ""
	for _, o := range p.all() {
		text := o.Names[0] + o.value()
		switch last := len(parts) - 1; {
		case o.Group != "" && o.Group == group:
			parts[last] = strings.TrimSuffix(parts[last], "]") + " | " + text + "]"
		case o.Required && o.Group == "":
			parts = append(parts, strings.SplitN(text, " ", 2)...)
		default:
			parts = append(parts, "["+text+"]")
		}
		group = o.Group
	}
	if len(p.Commands) > 0 {
		parts = append(parts, p.commandNames(), "...")
	}
	return parts
}

// Usage is the usage text, which ends with a newline.
func (p *Parser) Usage() string {
	head := "usage: " + p.Prog
	return fill(head, strings.Repeat(" ", len(head)+1), p.parts())
}

// fill puts words behind head, in lines of at most width columns; lines after
// the first begin with indent.
func fill(head, indent string, words []string) string {
	var b strings.Builder
	b.WriteString(head)
	column := utf8.RuneCountInString(head)
	fresh := strings.TrimSpace(head) == ""
	for _, w := range words {
		n := utf8.RuneCountInString(w)
		switch {
		case fresh:
		case column+1+n > width:
			b.WriteString("\n" + indent)
			column = len(indent)
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(w)
		column += n
		fresh = false
	}
	b.WriteByte('\n')
	return b.String()
}

// Help is the help text, which ends with a newline.
func (p *Parser) Help() string {
	var b strings.Builder
	b.WriteString(p.Usage())
	if p.About != "" {
		b.WriteString("\n" + fill("", "", strings.Fields(p.About)))
	}
	if len(p.Commands) > 0 {
		b.WriteString("\ncommands:\n")
		for _, c := range p.Commands {
			item(&b, c.Name, c.About)
		}
	}
	b.WriteString("\noptions:\n")
	for _, o := range p.all() {
		names := each.Of(o.Names, func(n string) string { return n + o.value() })
		item(&b, strings.Join(names, ", "), o.About)
	}
	return b.String()
}

// item is a term and its explanation in two columns, below each other if the
// term is too wide.
func item(b *strings.Builder, term, about string) {
	indent := strings.Repeat(" ", helpColumn)
	head := fmt.Sprintf("  %-*s", helpColumn-2, term)
	switch {
	case about == "":
		b.WriteString("  " + term + "\n")
		return
	case 2+len(term) > helpColumn-2:
		b.WriteString("  " + term + "\n")
		head = indent
	}
	// The head fills its column, so the first word needs no blank before it.
	words := strings.Fields(about)
	b.WriteString(fill(head+words[0], indent, words[1:]))
}
