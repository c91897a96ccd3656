package main

import (
	"bufio"
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/term"

	compared "precision/compare/report"
	"precision/compare/verdict"
	"precision/console"
	"precision/dump/checkpoint"
	"precision/internal/clean"
	"precision/internal/must"
	"precision/internal/whole"
	"precision/preflight"
	"precision/preflight/config"
	"precision/preflight/manifest"
	"precision/preflight/report"
	"precision/preflight/trainlog"
	"precision/run"
	"precision/run/explain"
)

// preflightCommand compares what two trainings begin with, and how they go.
func preflightCommand(ctx context.Context, e env, args []string) (int, error) {
	misusedIf(len(args) == 0, "err.preflight.which")
	switch {
	case args[0] == "manifest":
		return manifestCommand(ctx, e, args[1:])
	case args[0] == "diff":
		return diffCommand(ctx, e, args[1:])
	case isHelp(args[0]):
		e.helpFor("preflight", nil, flag.ErrHelp)
	}
	return exitUsage, explain.Say("err.preflight.what", args[0])
}

func manifestCommand(ctx context.Context, e env, args []string) (int, error) {
	set, text := e.options("preflight manifest")
	out := set.String("out", "", text("out"))
	hashes := set.String("hash", "md5", text("hash"))
	o := manifest.Options{}
	set.IntVar(&o.Workers, "workers", 0, text("workers"))
	set.StringVar(&o.Journal, "journal", "", text("journal"))
	words := e.words("preflight.manifest", set, args)
	misusedIf(len(words) != 1, "err.preflight.folder", len(words), strings.Join(words, ", "))
	misusedIf(o.Workers < 0, "err.preflight.workers", o.Workers)
	var err error
	o.Hashes, err = manifest.ParseHashes(*hashes)
	misusedIf(err != nil, "err.preflight.hash", *hashes)
	if o.Journal == "" && *out != "" {
		o.Journal = *out + ".journal"
	}
	if kind, err := preflight.Detect(*out); err != nil || kind != preflight.Manifest { // a list that was made before is made anew
		misused(whole.Apart([]string{*out, o.Journal}, words[0]))
	}
	o.Skip = []string{*out}
	o.Progress = counting(e)
	var sum *manifest.Summary
	write := func(w io.Writer) (err error) {
		sum, err = manifest.Write(ctx, w, words[0], o)
		return err
	}
	if *out == "" {
		to := bufio.NewWriter(e.stdout)
		if err = write(to); err == nil {
			err = to.Flush()
		}
	} else {
		err = whole.Fill(*out, 0o600, write)
	}
	if o.Progress != nil {
		fmt.Fprint(e.stderr, "\r\x1b[K")
	}
	must.Do(err)
	if o.Journal != "" {
		must.Do(manifest.Done(o.Journal))
	}
	lang := e.language()
	said := lang.T("preflight.manifest.wrote", sum.Files, sum.Bytes)
	if sum.Reused > 0 {
		said += lang.T("preflight.manifest.reused", sum.Reused)
	}
	fmt.Fprintln(e.stderr, said)
	for _, err := range sum.Unread {
		fmt.Fprintln(e.stderr, lang.T("preflight.unread", clean.Line(err.Error())))
	}
	if sum.UnreadCount > 0 {
		return exitError, explain.Say("err.preflight.unread", sum.UnreadCount, sum.Files)
	}
	return exitOK, nil
}

// counting tells on a terminal how far a manifest is; there is no end to measure
// it by until the walk is over.
func counting(e env) func(int, int64) {
	if f := terminal(e.stderr); f == nil || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return func(files int, bytes int64) {
		if files%64 == 0 {
			fmt.Fprint(e.stderr, "\r"+e.language().T("preflight.manifest.wrote", files, bytes))
		}
	}
}

// diffFlags are the options of preflight diff.
type diffFlags struct {
	as, format, ignore, json, html, mapping string

	patterns expressions
	floor    float64
	most     int
	gate     run.Gate
}

// expressions is an option that may be given several times.
type expressions []trainlog.Expression

func (l *expressions) String() string { return "" }

func (l *expressions) Set(text string) error {
	one, err := trainlog.ParseExpression(text)
	*l = append(*l, one)
	return err
}

func diffCommand(ctx context.Context, e env, args []string) (int, error) {
	set, text := e.options("preflight diff")
	var f diffFlags
	set.StringVar(&f.as, "as", "", text("as"))
	set.StringVar(&f.format, "format", "", text("format"))
	set.StringVar(&f.ignore, "ignore", "", text("ignore"))
	set.Var(&f.patterns, "pattern", text("pattern"))
	set.Float64Var(&f.floor, "floor", trainlog.DefaultFloor, text("floor"))
	set.StringVar(&f.json, "json", "", text("json"))
	set.StringVar(&f.html, "html", "", text("html"))
	set.StringVar(&f.mapping, "map", "", text("map"))
	set.IntVar(&f.most, "n", 20, text("n"))
	set.Var(&f.gate, "gate", text("gate"))
	words := e.words("preflight.diff", set, args)
	misusedIf(len(words) != 2, "err.preflight.files", len(words), strings.Join(words, ", "))
	misusedIf(f.format != "" && !slices.Contains(config.Formats(), config.Format(f.format)), "err.preflight.format", f.format, listed(config.Formats()))
	misusedIf(f.floor < 0 || f.floor != f.floor, "err.preflight.floor", f.floor)
	p := &run.Preflight{A: words[0], B: words[1], Format: config.Format(f.format), Patterns: f.patterns, Floor: f.floor, Strict: f.gate.Strict,
		Ignore: strings.FieldsFunc(f.ignore, func(c rune) bool { return c == ',' })}
	if p.Kind = f.kind(); p.Kind == "" && checkpoint.Holds(p.A) && checkpoint.Holds(p.B) {
		return f.weights(ctx, e, p.A, p.B)
	}
	misusedIf(f.mapping != "", "err.map.sides", f.mapping)
	misused(p.Find())
	misused(whole.Apart([]string{f.json, f.html}, words...))
	if f.run(ctx, e, p) {
		return exitBelow, nil
	}
	return exitOK, nil
}

// weights compares two checkpoints as compare does with the strict gate: they differ if one lacks a tensor, too.
func (f *diffFlags) weights(ctx context.Context, e env, a, b string) (int, error) {
	dir := must.Get(os.MkdirTemp("", "precision"))
	defer os.RemoveAll(dir)
	r := run.Compare{Table: filepath.Join(dir, "result.csv")}
	r.Left, r.Right, r.Mapping = a, b, f.mapping
	r.Files, r.Gate, r.Lang = run.Files{JSON: f.json, HTML: f.html, Stdout: e.stdout}, verdict.Gate{On: true, Strict: true}, e.language()
	show := e.show(r.Lang)
	listen, stop := e.listener(show)
	done, err := r.Run(ctx, listen)
	stop()
	if done != nil && !f.gate.On {
		done.Trips = slices.DeleteFunc(done.Trips, func(t verdict.Trip) bool { return t.Kind == verdict.TripItself })
	}
	return (&judgeFlags{}).finished(done, err, &r.Judging, func() { show.judged(compared.Text{Lang: show.lang}, done.Judged, done.Trips, "") })
}

// listed joins the names of kinds or formats.
func listed[T ~string](list []T) string {
	var all []string
	for _, one := range list {
		all = append(all, string(one))
	}
	return strings.Join(all, ", ")
}

// kind is what options say that both files are, empty if they do not.
func (f *diffFlags) kind() preflight.Kind {
	misusedIf(f.as != "" && !slices.Contains(preflight.Kinds(), preflight.Kind(f.as)), "err.preflight.as", f.as, listed(preflight.Kinds()))
	switch {
	case f.as != "":
		return preflight.Kind(f.as)
	case f.format != "":
		return preflight.Config
	case len(f.patterns) > 0:
		return preflight.Log
	}
	return ""
}

// run compares, writes what was asked for, and says what differs.
func (f *diffFlags) run(ctx context.Context, e env, p *run.Preflight) (differs bool) {
	listen, stop := e.listener(e.show(e.language()))
	done, err := p.Run(ctx, listen)
	stop()
	must.Do(err)
	if f.html != "" {
		page := report.Page{Lang: e.language(), A: p.A, B: p.B}
		must.Do(whole.Fill(f.html, 0o600, func(w io.Writer) error { return page.Write(w, done.Found) }))
	}
	json := func(w io.Writer) error { return report.JSON(w, done.Found) }
	switch f.json {
	case "-":
		must.Do(json(e.stdout))
		return done.Differs
	case "":
	default:
		must.Do(whole.Fill(f.json, 0o600, json))
	}
	screen := summaryText{e.stdout, e.language()}.screen()
	said := f.text(e, screen).Of(done.Found)
	must.Get(io.WriteString(e.stdout, screen.Hang(said, report.LabelWidth)))
	return done.Differs
}

// text renders for where standard output leads.
func (f *diffFlags) text(e env, screen *console.Screen) report.Text {
	return report.Text{Lang: e.language(), Width: cmp.Or(screen.Width, 100), Most: f.most, Paint: func(c report.Colour, text string) string {
		switch c {
		case report.Good:
			return screen.Green(text)
		case report.Bad:
			return screen.Red(text)
		case report.SideA:
			return screen.Blue(text)
		}
		return screen.Yellow(text)
	}}
}
