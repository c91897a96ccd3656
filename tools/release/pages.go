package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"precision/cmd/msaccucmp/argparse"
	"precision/internal/man"
)

// pages writes manual pages and completions, which the program makes itself.
func (b *build) pages(ctx context.Context, share string) {
	program := b.host(ctx, "precision")
	must(output(exec.CommandContext(ctx, program, "man", "-out", filepath.Join(share, "man"))))
	dropin := must(os.Create(filepath.Join(share, "man", "man1", "msaccucmp.1")))
	check(dropinPage().Write(dropin))
	check(dropin.Close())
	folder := filepath.Join(share, "completions")
	check(os.MkdirAll(folder, 0o755))
	for _, shell := range []string{"bash", "zsh", "fish"} {
		f := must(os.Create(filepath.Join(folder, "precision."+shell)))
		cmd := exec.CommandContext(ctx, program, "completion", shell)
		cmd.Stdout = f
		if err := cmd.Run(); err != nil {
			check(fmt.Errorf("precision completion %s: %w", shell, err))
		}
		check(f.Close())
	}
}

// dropinPage is the page of msaccucmp, from the table of its options.
func dropinPage() man.Page {
	parser := argparse.Msaccucmp(nil)
	p := man.Page{Name: "msaccucmp", Brief: parser.About, Source: "precision", Title: "NAME"}
	p.Brief = cmp.Or(p.Brief, "compare, convert and check dumps, as CANN's msaccucmp.py does")
	var usage []string
	for _, c := range parser.Commands {
		usage = append(usage, parser.Prog+" "+c.Name+" [options]")
	}
	p.Sections = append(p.Sections, man.Section{Title: "SYNOPSIS", Lines: usage})
	for _, c := range parser.Commands {
		s := man.Section{Title: "OPTIONS OF " + strings.ToUpper(c.Name), Text: c.About}
		for _, o := range c.Options {
			s.Items = append(s.Items, man.Item{Term: strings.Join(o.Names, ", "), Value: valueOf(&o), Text: o.About})
		}
		p.Sections = append(p.Sections, s)
	}
	p.Sections = append(p.Sections, man.Section{Title: "SEE ALSO", Text: "precision(1); docs/differences.md lists where results differ from those of msaccucmp.py"})
	return p
}

// valueOf stands for the value of an option, as help has it.
func valueOf(o *argparse.Option) string {
	switch {
	case o.Takes == argparse.None:
		return ""
	case o.Metavar != "":
		return o.Metavar
	case len(o.Choices) > 0:
		all := make([]string, len(o.Choices))
		for i, c := range o.Choices {
			all[i] = fmt.Sprint(c)
		}
		return strings.Join(all, "|")
	}
	return strings.ToUpper(o.Key())
}

// copyFile copies a file, for everybody to read.
func copyFile(to, from string) {
	check(os.MkdirAll(filepath.Dir(to), 0o755))
	out := must(os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644))
	defer out.Close()
	each(from, func(in io.Reader, _ int64) { must(io.Copy(out, in)) })
	check(out.Close())
}
