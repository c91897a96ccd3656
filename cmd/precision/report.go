package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
	"unicode"

	"precision/compare/report"
	"precision/compare/report/html"
	"precision/compare/verdict"
	"precision/internal/msg"
	"precision/internal/plainfile"
	"precision/repl/explain"
)

// reportFlags are the options of the report command.
type reportFlags struct {
	judge  judgeFlags
	sort   string
	number int
	lang   string
}

// reportCommand judges a saved table and says what it comes to.
func reportCommand(ctx context.Context, e env, args []string) (int, error) {
	set := flag.NewFlagSet("precision report", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	var f reportFlags
	text := e.optionText("report")
	f.judge.defineSaved(set, e.optionText("compare"))
	set.StringVar(&f.sort, "sort", "order", text("sort"))
	set.IntVar(&f.number, "n", 0, text("n"))
	set.StringVar(&f.lang, "lang", "", e.optionText("compare")("lang"))
	set.Usage = func() {}
	files, err := parseMixed(set, args)
	switch {
	case err != nil:
		return helpOr(e, "report", set, err)
	case len(files) != 1:
		return exitUsage, explain.Say("err.report.files", len(files), strings.Join(files, ", "))
	}
	if err := f.judge.given(set); err != nil {
		return exitUsage, err
	}
	if err := report.SortOperators(nil, f.sort); err != nil {
		return exitUsage, explain.Say("err.option", "-sort", err)
	}
	if f.number < 0 {
		return exitUsage, explain.Say("err.number", f.number)
	}
	if err := f.judge.apart(files[0]); err != nil {
		return exitUsage, err
	}
	return f.run(ctx, e, files[0])
}

func (f *reportFlags) run(ctx context.Context, e env, path string) (int, error) {
	show := summaryText{e.stdout, e.language()}
	if f.lang != "" {
		var ok bool
		if show.lang, ok = msg.ParseLang(f.lang); !ok {
			return exitUsage, explain.Say("err.lang", f.lang)
		}
	}
	saved, warnings, err := openAny(path)
	if err != nil {
		return exitError, err
	}
	for _, w := range warnings {
		e.warn(explain.Error(e.language(), w))
	}
	var own *verdict.Profile
	if saved.Hash != "" && !f.judge.set["profile"] {
		if own, err = saved.Profile(); err != nil {
			return exitError, explain.Say("err.profile", path, err)
		}
	}
	opts, err := f.judge.options(own)
	if err != nil {
		return exitUsage, err
	}
	if err := f.judge.fits(saved.Table, opts); err != nil {
		return exitError, err
	}
	judged := verdict.Judge(saved.Table, opts)
	trips := judged.Trips(f.judge.gates())
	if !f.judge.toStdout() {
		show.judged(report.Text{Lang: show.lang}, judged, trips, "")
	}
	if lines := report.OperatorLines(judged); f.number > 0 || f.judge.set["sort"] {
		if err := report.SortOperators(lines, f.sort); err != nil {
			return exitUsage, err
		}
		if f.number > 0 && f.number < len(lines) {
			lines = lines[:f.number]
		}
		fmt.Fprintf(e.stdout, "\n%s", report.RenderOperators(show.lang, lines, show.screen().Paint))
	}
	if err := f.judge.write(e.stdout, judged, html.Options{Lang: show.lang, NoLooks: f.judge.lookAgain(ctx, judged)}); err != nil {
		return exitError, err
	}
	return f.judge.status(judged, trips), nil
}

// openAny reads a table that was saved as JSON, as a page or as csv.
func openAny(path string) (*report.Saved, []error, error) {
	switch begins(path) {
	case '{':
		saved, err := report.OpenJSON(path)
		return saved, nil, err
	case '<':
		saved, err := openPage(path)
		return saved, nil, err
	}
	table, warnings, err := report.OpenCSV(path)
	return &report.Saved{Table: table}, warnings, err
}

// openPage reads the table that a page carries.
func openPage(path string) (*report.Saved, error) {
	file, _, err := plainfile.Open(path, "a report")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	saved, err := html.Read(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return saved, nil
}

// begins is the first character of a file that is no blank, 0 if there is none.
func begins(path string) rune {
	file, _, err := plainfile.Open(path, "a saved table")
	if err != nil {
		return 0
	}
	defer file.Close()
	from := bufio.NewReader(io.LimitReader(file, 4096))
	for {
		r, _, err := from.ReadRune()
		if err != nil {
			return 0
		}
		if r != '\ufeff' && !unicode.IsSpace(r) {
			return r
		}
	}
}

// schemaCommand prints the JSON Schema of what -json writes.
func schemaCommand(_ context.Context, e env, args []string) (int, error) {
	switch {
	case len(args) == 1 && isHelp(args[0]):
		return helpOr(e, "schema", nil, flag.ErrHelp)
	case len(args) > 0:
		return exitUsage, explain.Say("cli.unexpected", args[0])
	}
	if _, err := e.stdout.Write(report.JSONSchema); err != nil {
		return exitError, err
	}
	return exitOK, nil
}

// profileCommand prints a profile, by default the one in force when none is named.
func profileCommand(_ context.Context, e env, args []string) (int, error) {
	switch {
	case len(args) == 1 && isHelp(args[0]):
		return helpOr(e, "profile", nil, flag.ErrHelp)
	case len(args) == 0:
		args = []string{"default"}
	case len(args) > 1:
		return exitUsage, explain.Say("cli.unexpected", args[1])
	}
	p, err := verdict.OpenProfile(args[0])
	if err != nil {
		return exitError, err
	}
	if _, err := io.WriteString(e.stdout, p.Source); err != nil {
		return exitError, err
	}
	return exitOK, nil
}
