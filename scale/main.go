// Command scale compares a whole job, many ranks and steps, on an engine: as a pipeline of Apache
// Beam, which runs on one machine with Beam's own runner, prism, and by Beam's flags on Flink, Spark or Dataflow. What it writes
// is, byte for byte, what precision compare -all writes when it is given the same absolute paths.
//
//	scale -lt JOB_DUMP -rt JOB_GOLDEN -out DIR [--runner=prism]
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"precision/compare/job"
	"precision/internal/build"
	"precision/internal/msg"
)

var (
	left    = flag.String("lt", "", "`folder` of the job's recordings, where all workers see it")
	right   = flag.String("rt", "", "`folder` of the golden recordings; {rank} and {step} in it stand for numbers")
	graph   = flag.String("g", "", "graph, or `folder` of graphs; without it those beside the dumps")
	out     = flag.String("out", "", "output `folder`, where all workers can write")
	ranks   = flag.String("ranks", "", "`list` of ranks, such as 0-7,16")
	steps   = flag.String("steps", "", "`list` of steps")
	models  = flag.String("models", "", "`list` of models")
	profile = flag.String("profile", "", "profile of the verdict: a name or a `file`")
	piece   = flag.Int64("piece", 256<<20, "about how many `bytes` are compared as one piece")
	workers = flag.Int("workers", 1, "comparisons that a worker process runs at a time within a piece")
	lang    = flag.String("lang", "en", "language of the page: en or zh")
	version = flag.String("version", "", "`version` of precision whose files these are to be; without it that of this build, which is the same where both are built from one clean commit")
)

func main() {
	flag.Parse()
	beam.Init() // which does not return in a worker
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second one ends the program
	c, err := read()
	if err == nil {
		var r *job.Result
		if r, err = c.submit(ctx, onEngine(beamx.Run)); err == nil {
			fmt.Printf("%s: %s\n", filepath.Join(c.Out, job.ResultFile), r.Verdict)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

// read reads the flags.
func read() (config, error) {
	if *left == "" || *right == "" || *out == "" {
		return config{}, errors.New("-lt, -rt and -out are needed")
	}
	if *jobopts.Async {
		return config{}, errors.New("-async: this program draws the job together when the engine is done, and has to wait for it")
	}
	language, ok := msg.ParseLang(*lang)
	if !ok {
		return config{}, fmt.Errorf("-lang %q: expected en or zh", *lang)
	}
	return config{Left: absolute(*left), Right: absolute(*right), Graph: absolute(*graph), Out: absolute(*out), Ranks: *ranks, Steps: *steps, Models: *models,
		Profile: *profile, Piece: *piece, Workers: *workers, Version: cmp.Or(*version, build.Version()), Lang: language}, nil
}

// absolute is a path that means the same in every worker.
func absolute(path string) string {
	if path == "" {
		return ""
	}
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}
