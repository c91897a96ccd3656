// Soak runs the fuzz targets and the campaigns of testdata/workshop/soak for as long as
// there is time: damaged inputs, kills, full disks and random networks. Run it
// from the top folder:
//
//	go run ./testdata/soak -for 10h
//	go run ./testdata/soak -fuzz 10s                    every fuzz target for ten seconds, then no campaign
//	go run ./testdata/soak -mutants 10000 -seed 1       campaigns once: 10 000 mutants, 1000 kills and full disks, 200 networks
//	go run ./testdata/soak -mutants 1 -seed 4711        one of them again
//	go run ./testdata/soak -mutants 100 -only 'precision graph'   of some commands only
//	go run ./testdata/soak -for 1h -mutants 0           fuzz targets only
//	go run ./testdata/soak -costs -seed 1               inputs of three sizes that no command may outgrow
//	go run ./testdata/soak -damage 1500 -seed 1         recordings damaged so that a verdict could get better by it
//	go run ./testdata/soak -damage 1 -seed 4711 -keep DIR    one of them again, with what is left of it
//	go run ./testdata/soak -damage 500 -match 'graph.*, compare'  of one kind, command or recording
//	go run ./testdata/soak -corpus -cache DIR           choose inputs for testdata/fuzz from what -cache DIR kept
//
// Some targets write files, and then wait for the disk: TMPDIR=/dev/shm spares them that.
//
// Programs are built once, at the start. It goes on after a finding, says
// how to see it again, and ends with exit status 1 if there was one. Inputs that
// failed are in testdata/fuzz of their package.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"precision/internal/must"
	"regexp"
	"syscall"
	"time"
)

type options struct {
	long, each time.Duration
	seed       uint64
	mutants    int
	parallel   int
	match      *regexp.Regexp
	cache      string
	only       string
	corpus     bool
	damage     int
	costs      bool
	real, keep string
}

func main() {
	var o options
	flag.DurationVar(&o.long, "for", 0, "how long campaigns and fuzz targets run in all")
	flag.DurationVar(&o.each, "fuzz", 0, "run every fuzz target so long; without -for once, with it in every round (30s)")
	flag.Uint64Var(&o.seed, "seed", uint64(time.Now().Unix()), "the first seed of the campaigns")
	flag.IntVar(&o.mutants, "mutants", -1, "mutants, and a tenth as many kills and full disks: once, or with -for in every round (500)")
	flag.StringVar(&o.only, "only", "", "campaigns only over commands whose names begin like this, as: precision compare")
	flag.IntVar(&o.parallel, "parallel", 0, "how many processes a fuzz target has (one a core)")
	flag.StringVar(&o.cache, "cache", "", "folder that keeps what fuzzing found worth keeping (a temporary one)")
	flag.BoolVar(&o.corpus, "corpus", false, "fill testdata/fuzz of the targets from the folder of -cache, and end")
	flag.IntVar(&o.damage, "damage", 0, "so many damaged recordings, none of which may be judged better than it was")
	flag.BoolVar(&o.costs, "costs", false, "inputs of three sizes, of which no command may cost more than they grow")
	flag.StringVar(&o.real, "real", "../shared/real", "further recordings for -damage, where that folder is")
	flag.StringVar(&o.keep, "keep", "", "folder that keeps what -damage made")
	match := flag.String("match", "", "only the fuzz targets whose package/name match, or the damage whose kind, command and recording do")
	flag.Parse()
	var err error
	if o.match, err = regexp.Compile(*match); err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		err = run(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (err error) {
	defer must.Catch(&err)
	switch {
	case o.corpus && o.cache == "":
		return errors.New("-corpus from where? -cache DIR")
	case o.long == 0 && o.each == 0 && o.mutants <= 0 && o.damage <= 0 && !o.costs && !o.corpus:
		return errors.New("how long? -for 1h, -fuzz 10s, -mutants 1000, -damage 100 or -costs")
	case o.long > 0 && o.mutants < 0:
		o.mutants = 500
	}
	once := o.each
	if o.each == 0 {
		o.each = 30 * time.Second
	}
	work := must.Get(os.MkdirTemp("", "soak-"))
	defer os.RemoveAll(work)
	if o.cache == "" {
		o.cache = work
	}
	if o.cache, err = filepath.Abs(o.cache); err != nil { // targets run in folders of their own
		return err
	}
	t := tally{start: time.Now(), findings: map[string]bool{}}
	if o.costs {
		must.Do(t.costs(ctx, o, work))
		if o.long == 0 && once == 0 && o.mutants <= 0 && o.damage <= 0 {
			return t.end()
		}
	}
	if o.damage > 0 {
		must.Do(t.damage(ctx, o, work))
		if o.long == 0 && once == 0 && o.mutants <= 0 {
			return t.end()
		}
	}
	if o.long == 0 && !o.corpus && o.mutants > 0 {
		must.Do(t.campaign(ctx, o, work))
		if once == 0 {
			return t.end()
		}
	}
	targets := must.Get(find(o.match))
	if o.corpus {
		return corpus(ctx, targets, o, work)
	}
	must.Do(build(ctx, targets, work))
	if o.long == 0 {
		t.fuzz(ctx, targets, o)
		return t.end()
	}
	ctx, cancel := context.WithTimeout(ctx, o.long)
	defer cancel()
	for ctx.Err() == nil {
		if o.mutants > 0 {
			must.Do(t.campaign(ctx, o, work))
			o.seed += uint64(o.mutants)
		}
		t.fuzz(ctx, targets, o)
		t.print()
	}
	return t.end()
}
