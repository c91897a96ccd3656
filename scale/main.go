// Command scale compares a whole job, many ranks and steps, on an engine: as a pipeline of Apache
// Beam, which runs on one machine with Beam's own runner, prism, and by Beam's flags on Flink, Spark or Dataflow. What it writes
// is, byte for byte, what precision compare -all writes when it is given the same absolute paths.
//
//	scale -lt JOB_DUMP -rt JOB_GOLDEN -out DIR [--runner=prism]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

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
	version = flag.String("version", "(built from source)", "`version` of precision whose files these are to be")
	keep    = flag.Bool("keep", false, "keep the folders of single ranks below DIR/stage")
)

func main() {
	flag.Parse()
	beam.Init()
	if err := submit(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func submit(ctx context.Context) error {
	if *left == "" || *right == "" || *out == "" {
		return errors.New("-lt, -rt and -out are needed")
	}
	language, ok := msg.ParseLang(*lang)
	if !ok {
		return fmt.Errorf("-lang %q: expected en or zh", *lang)
	}
	c := config{Left: absolute(*left), Right: absolute(*right), Graph: absolute(*graph), Out: absolute(*out), Ranks: *ranks, Steps: *steps, Models: *models,
		Profile: *profile, Piece: *piece, Workers: *workers, Keep: *keep, Version: *version, Lang: language}
	if err := c.job().Validate(); err != nil {
		return err // before an engine says it in its own words
	}
	p, s := beam.NewPipelineWithRoot()
	c.pipeline(s)
	return beamx.Run(ctx, p)
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
