package main

import (
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"precision/internal/man"
	"precision/internal/msg"
	"precision/internal/must"
	"precision/internal/whole"
)

// manCommand prints a manual page, or writes all of them. Pages are made of the tables
// that parse options and print help, so they say what the program does.
func manCommand(_ context.Context, e env, args []string) (int, error) {
	set, text := e.options("man")
	out := set.String("out", "", text("out"))
	words := append(e.words("man", set, args), "")
	name := words[0]
	misusedIf(len(words) > 2 || *out != "" && name != "", "cli.unexpected", words[max(0, len(words)-2)])
	if *out != "" {
		must.Do(writePages(*out))
		return exitOK, nil
	}
	p, ok := page(name, e.language())
	misusedIf(!ok, "cli.man.none", name)
	must.Do(p.Write(e.stdout))
	return exitOK, nil
}

// writePages writes the pages of all commands, as folders of manual pages are laid out.
func writePages(dir string) error {
	for lang, sub := range map[msg.Lang]string{msg.English: "man1", msg.Chinese: filepath.Join("zh_CN", "man1")} {
		folder := filepath.Join(dir, sub)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		for _, name := range append([]string{""}, pageNames()...) {
			p, _ := page(name, lang)
			if err := whole.Fill(filepath.Join(folder, p.Name+".1"), 0o644, func(w io.Writer) error { return p.Write(w) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// pageNames are the commands with a page of their own, in the order of help.
func pageNames() (list []string) {
	for _, c := range slices.Concat(commands(false), commands(true)) {
		list = append(list, c.name)
	}
	return list
}

// page is the page of a command, or of the program if name is "".
func page(name string, lang msg.Lang) (man.Page, bool) {
	if name == "" {
		return programPage(lang), true
	}
	if c, ok := named(name); ok && c.run != nil {
		return commandPage(c, c.brief(lang), lang), true
	}
	return shellPage(name, lang)
}

// commandPage is the page of a sub-command, from what its help would print.
func commandPage(c command, brief string, lang msg.Lang) man.Page {
	var options []man.Item
	e := env{stdout: io.Discard, stderr: io.Discard, lang: lang.String(), describe: func(set *flag.FlagSet) {
		options = optionItems(set, lang)
	}}
	c.do(context.Background(), e, []string{"-h"})
	more := ""
	if key := "cli." + c.name + ".more"; lang.Has(key) {
		more = lang.T(key)
	}
	return assemble(c.name, brief, synopsis(lang.T("cli."+c.name+".usage")), more, options, lang)
}

func optionItems(set *flag.FlagSet, lang msg.Lang) (items []man.Item) {
	if set == nil {
		return nil
	}
	set.VisitAll(func(f *flag.Flag) {
		value, text := flagText(f, lang)
		items = append(items, man.Item{Term: "-" + f.Name, Value: value, Text: text})
	})
	return items
}

// synopsis is a usage text without the word in front of it, line by line.
func synopsis(usage string) []string {
	_, usage, _ = strings.Cut(strings.Replace(usage, "：", ": ", 1), ": ")
	lines := strings.Split(usage, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return lines
}

// assemble puts a page of a command together with what all have.
func assemble(name, brief string, usage []string, more string, options []man.Item, lang msg.Lang) man.Page {
	return man.Page{Name: "precision-" + name, Brief: brief, Source: "precision", Title: lang.T("man.name"), Sections: []man.Section{
		{Title: lang.T("man.synopsis"), Lines: usage},
		{Title: lang.T("man.description"), Text: more},
		{Title: lang.T("man.options"), Items: options},
		{Title: lang.T("man.exit"), Items: keyed("man.status.", statuses, lang)},
		{Title: lang.T("man.also"), Text: lang.T("man.see")},
	}}
}

// programPage is the page precision(1).
func programPage(lang msg.Lang) man.Page {
	items := func(list []command) (items []man.Item) {
		for _, c := range list {
			items = append(items, man.Item{Term: c.name, Text: c.brief(lang)})
		}
		return items
	}
	var see []string
	for _, name := range pageNames() {
		see = append(see, "precision-"+name+"(1)")
	}
	p := commandPage(command{name: "shell", run: shellCommand}, lang.T("cli.intro"), lang)
	return man.Page{Name: "precision", Brief: strings.TrimRight(lang.T("cli.intro"), ".。"), Source: "precision", Title: lang.T("man.name"), Sections: []man.Section{
		p.Sections[0],
		{Title: lang.T("man.commands"), Text: lang.T("cli.foot"), Items: items(commands(false))},
		{Title: lang.T("man.shell"), Items: items(commands(true))},
		p.Sections[2],
		{Title: lang.T("man.exit"), Items: keyed("man.status.", statuses, lang)},
		{Title: lang.T("man.environment"), Items: keyed("man.env.", variables, lang)},
		{Title: lang.T("man.files"), Items: []man.Item{
			{Term: "precision_data", Text: lang.T("man.file.data")},
			{Term: "~/.config/precision/precision.toml", Text: lang.T("man.file.settings")},
		}},
		{Title: lang.T("man.also"), Text: strings.Join(see, ", ")},
	}}
}

// Exit statuses and variables are those of the whole program.
var (
	statuses  = []string{"0", "1", "2", "3", "130"}
	variables = []string{"NO_COLOR", "CLICOLOR_FORCE", "LC_ALL, LC_MESSAGES, LANG", "COLUMNS", "PAGER", "XDG_CONFIG_HOME", "XDG_STATE_HOME",
		"PRECISION_TOOL_DATA", "PRECISION_TOOL_DUMP, PRECISION_TOOL_OVERFLOW", "PRECISION_TOOL_DEBUG_ID"}
)

// keyed are items whose texts stand under a prefix and their names.
func keyed(prefix string, keys []string, lang msg.Lang) (list []man.Item) {
	for _, k := range keys {
		list = append(list, man.Item{Term: k, Text: lang.T(prefix + k)})
	}
	return list
}
