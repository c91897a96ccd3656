package man

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

var page = Page{Name: "x-y", Brief: "does it", Source: "x 1.0", Title: "NAME", Sections: []Section{
	{Title: "SYNOPSIS", Lines: []string{"x y -a [FILE]", ".hidden 'quoted'"}},
	{Title: "EMPTY"},
	{Title: "DESCRIPTION", Text: "One line\nand the next.\n\n中文，\n不断。\n\nbash:  put  this\nzsh:   there\n\n.looks like a request \\n ~"},
	{Title: "OPTIONS", Items: []Item{{Term: "-a", Text: "'all'"}, {Term: "-json", Value: "FILE", Text: "to FILE"}}},
}}

// TestWrite: what stands in a page is text, never a request, and keeps its characters.
func TestWrite(t *testing.T) {
	var b strings.Builder
	if err := page.Write(&b); err != nil {
		t.Fatal(err)
	}
	want := `.TH "X\-Y" 1 "" "x 1.0"
.nh
.ad l
.SH "NAME"
x\-y \- does it
.SH "SYNOPSIS"
.nf
x y \-a [FILE]
\&.hidden \(aqquoted\(aq
.fi
.SH "DESCRIPTION"
One line
and the next.
.PP
中文，不断。
.PP
.nf
bash:  put  this
zsh:   there
.fi
.PP
\&.looks like a request \en \(ti
.SH "OPTIONS"
.TP
\fB\-a\fR
\(aqall\(aq
.TP
\fB\-json\fR \fIFILE\fR
to FILE
`
	if b.String() != want {
		t.Errorf("got\n%s", b.String())
	}
}

// TestGroff: groff, where it is installed, shows the characters that were given and
// has nothing to complain of.
func TestGroff(t *testing.T) {
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("no groff")
	}
	var b strings.Builder
	if err := page.Write(&b); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(groff, "-k", "-Tutf8", "-man", "-ww", "-P-c")
	var complaints strings.Builder
	cmd.Stdin, cmd.Stderr = strings.NewReader(b.String()), &complaints
	out, err := cmd.Output()
	if err != nil || complaints.Len() > 0 {
		t.Fatalf("%v: %s", err, complaints.String())
	}
	out = regexp.MustCompile(".\x08").ReplaceAll(out, nil) // bold is a character over itself
	for _, want := range []string{"x y -a [FILE]", ".hidden 'quoted'", "One line and the next.", "bash:  put  this", `.looks like a request \n ~`, "-json FILE"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
}
