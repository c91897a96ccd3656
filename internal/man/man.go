// Package man writes manual pages in roff, from what a program knows of its
// commands and options.
package man

import (
	"fmt"
	"io"
	"strings"

	"precision/internal/lazy"
)

// Page is a manual page of section 1.
type Page struct {
	// Name is that of the page, such as precision-compare; Brief a line about it.
	Name, Brief string
	// Source is what the foot of the page says: the program, and its version if that
	// is known.
	Source string
	// Title is the word of the section that holds Name and Brief: NAME, 名称.
	Title    string
	Sections []Section
}

// Section is a heading with what stands under it: lines as they are, then
// paragraphs, then items.
type Section struct {
	Title string
	// Lines are shown as they stand, one below the other.
	Lines []string
	// Text is paragraphs, parted by blank lines. A paragraph with two blanks in a row is
	// a table of its own and keeps its lines.
	Text  string
	Items []Item
}

// Item is a term and what it means.
type Item struct {
	Term string
	// Value stands behind the term in another face, such as FILE behind -json.
	Value string
	Text  string
}

// Write writes the page.
func (p Page) Write(w io.Writer) error {
	var b strings.Builder
	// The date is left out: pages of one version are the same whenever they are made.
	fmt.Fprintf(&b, ".TH %s 1 \"\" %s\n", quote(strings.ToUpper(p.Name)), quote(p.Source))
	b.WriteString(".nh\n.ad l\n") // names and paths are not parted
	fmt.Fprintf(&b, ".SH %s\n%s \\- %s\n", quote(p.Title), escape(p.Name), escape(p.Brief))
	for _, s := range p.Sections {
		s.write(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (s Section) write(b *strings.Builder) {
	if len(s.Lines) == 0 && s.Text == "" && len(s.Items) == 0 {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", quote(s.Title))
	if len(s.Lines) > 0 {
		asIs(b, s.Lines)
	}
	for i, paragraph := range strings.Split(strings.TrimSpace(s.Text), "\n\n") {
		if paragraph == "" {
			continue
		}
		if i > 0 {
			b.WriteString(".PP\n")
		}
		if lines := strings.Split(paragraph, "\n"); strings.Contains(paragraph, "  ") {
			asIs(b, lines)
		} else {
			b.WriteString(line(unbroken().ReplaceAllString(paragraph, "$1$2")))
		}
	}
	for _, i := range s.Items {
		term := "\\fB" + escape(i.Term) + "\\fR"
		if i.Value != "" {
			term += " \\fI" + escape(i.Value) + "\\fR"
		}
		fmt.Fprintf(b, ".TP\n%s\n%s", term, line(i.Text))
	}
}

// unbroken is a line break beside a character of a language without blanks, where it is
// none.
var unbroken = lazy.Regexp(`(\p{Han}|[，。；：、）])\n|\n(\p{Han})`)

// asIs writes lines that are not filled.
func asIs(b *strings.Builder, lines []string) {
	b.WriteString(".nf\n")
	for _, l := range lines {
		b.WriteString(line(l))
	}
	b.WriteString(".fi\n")
}

// line is text that is no request, with its line break. A quote, which would begin one,
// is escaped anyway.
func line(text string) string {
	text = "\n" + escape(text)
	return strings.ReplaceAll(text, "\n.", "\n"+`\&.`)[1:] + "\n"
}

// escape makes characters stand for themselves, those of a command line above all: a
// hyphen that can be copied, a straight quote.
var escape = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace

// quote is an argument of a request.
func quote(s string) string { return `"` + strings.ReplaceAll(escape(s), `"`, `\(dq`) + `"` }
