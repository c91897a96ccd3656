// Release builds what people install, from a commit: static programs for five
// platforms, archives, .deb and .rpm packages, wheels for Python, the list of what is in them, release notes and check
// sums. It needs git and Go, nothing else.
//
//	go -C tools/release run . -out DIR [-commit HEAD] [-targets linux/amd64,…]
//
// A commit gives the same bytes wherever and whenever it is built with the same Go:
// programs are compiled in a clone of that commit, without the paths of the machine, and
// the time of everything is that of the commit.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	work "precision/internal/must"
)

// all are the platforms that programs are built for.
const all = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64"

func main() {
	out := flag.String("out", "", "`folder` that everything is written to; it must be empty or not there")
	commit := flag.String("commit", "HEAD", "`commit` to build")
	targets := flag.String("targets", all, "`platforms` to build for, separated by commas")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *out == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(ctx, *out, *commit, strings.Split(*targets, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// check and must end a release at the first thing that fails: a part of a release is none.
func check(err error)              { work.Do(err) }
func must[T any](v T, err error) T { return work.Get(v, err) }

// run builds a release of a commit of the repository that holds the current folder.
func run(ctx context.Context, out, commit string, targets []string) (err error) {
	defer work.Catch(&err)
	for _, t := range targets {
		if !slices.Contains(strings.Split(all, ","), t) {
			return fmt.Errorf("platform %q: expected some of %s", t, all)
		}
	}
	out = must(filepath.Abs(out))
	if entries, err := os.ReadDir(out); err == nil && len(entries) > 0 {
		return fmt.Errorf("%s is not empty", out)
	}
	temp := must(os.MkdirTemp("", "release"))
	defer os.RemoveAll(temp)
	src := checkout(ctx, filepath.Join(temp, "src"), commit)
	b := &build{source: src, work: temp, out: out}
	b.programs(ctx, targets)
	// What goes with every program: manual pages, completions, documents, licences.
	share := filepath.Join(temp, "share")
	b.pages(ctx, share)
	modules := b.modules(ctx)
	collect(share, src, modules)
	for _, t := range targets {
		b.archive(t, share)
		b.packages(t, share)
		b.wheel(t, share)
	}
	b.inventory(modules)
	b.notes()
	copyFile(filepath.Join(out, "Containerfile"), filepath.Join(src.dir, "tools", "release", "Containerfile"))
	sums(out)
	return nil
}
