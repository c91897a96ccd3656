// Simulate says how long comparing a large job would take, by how many workers share the work and how it is given out.
// It moves no data: it is a model of workers that read at the rate they compare, a file system that is shared, slow machines, machines
// that fail, and recordings of different sizes. It prints the table of docs/scale.md.
//
//	go -C scale run ./simulate [-ranks 10000] [-gigabytes 100] [-disk 200] …
package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
)

var (
	ranks     = flag.Int("ranks", 10000, "ranks")
	steps     = flag.Int("steps", 3, "steps")
	gigabytes = flag.Float64("gigabytes", 100, "GB of a rank and step: its dumps and golden arrays together")
	spread    = flag.Float64("spread", 0.5, "spread of the sizes: standard deviation of their logarithm")
	together  = flag.Int("together", 100, "operators of a step that ranks run together, such as all-reduces")
	part      = flag.Float64("share", 0.05, "share of the bytes that is read again for them")
	files     = flag.Float64("files", 5000, "files of a rank and step, both sides")
	core      = flag.Float64("core", 2, "GB/s that a core compares")
	cores     = flag.Int("cores", 8, "cores of a worker")
	link      = flag.Float64("link", 3, "GB/s that a worker gets from the file system when it is alone")
	disk      = flag.Float64("disk", 200, "GB/s that the file system delivers to all")
	looks     = flag.Float64("looks", 500e3, "files that the file system looks up a second")
	looksOne  = flag.Float64("looks-one", 20e3, "files that a worker looks up a second")
	slow      = flag.Float64("slow", 0.02, "share of workers that are slow")
	slowBy    = flag.Float64("slow-by", 3, "how many times slower they are")
	between   = flag.Float64("between", 1000, "hours between failures of a worker")
	restart   = flag.Float64("restart", 300, "seconds until there is another worker in its place")
	piece     = flag.Float64("piece", 16, "GB of a piece")
	seed      = flag.Uint64("seed", 1, "seed of sizes, slow workers and failures")
)

const gb = 1e9

func main() {
	flag.Parse()
	table(os.Stdout)
}

// ways are the rows of the table for a number of workers.
func ways() []Way {
	return []Way{
		{Name: "a shard a worker", Shards: 1, Again: gb},
		{Name: "4 shards a worker", Shards: 4, Again: gb},
		{Name: fmt.Sprintf("pieces of %g GB", *piece), Piece: *piece * gb},
	}
}

func table(out io.Writer) {
	rng := rand.New(rand.NewPCG(*seed, 0))
	load := Skewed(rng, *ranks, *steps, *gigabytes*gb, *spread, *part, *together, *files)
	compared := *load
	compared.Files = 0
	fmt.Fprintf(out, "%d ranks, %d steps: %.2f PB in %.0f million files; a worker compares %.1f GB/s, the file system delivers %.0f GB/s\n\n", *ranks, *steps,
		load.Bytes()/1e15, load.Files/1e6, rate()/gb, *disk)
	fmt.Fprintf(out, "%8s %9s  %-18s %9s %9s %10s %6s %6s %7s %9s\n", "workers", "at least", "given out as", "compares", "of least", "with plans", "busy", "disk", "failed", "again")
	for n := 16; n <= 1024; n *= 2 {
		c := cluster(n)
		least := load.Bytes() / min(*disk*gb, float64(n)*rate())
		first := fmt.Sprintf("%8d %7.1f h", n, least/3600)
		for _, w := range ways() {
			o, all := Run(&compared, c, w, *seed), Run(load, c, w, *seed)
			fmt.Fprintf(out, "%18s  %-18s %7.1f h %9.2f %8.1f h %5.0f%% %5.0f%% %7d %6.0f GB\n", first, w.Name, o.Done/3600, o.Done/least, all.Done/3600, 100*o.Busy, 100*o.Disk,
				o.Failures, o.Again/gb)
			first = ""
		}
	}
}

// rate is what a worker compares.
func rate() float64 { return math.Min(*core*float64(*cores), *link) * gb }

func cluster(n int) Cluster {
	return Cluster{Workers: n, Rate: rate(), Slow: *slow, SlowBy: *slowBy, Disk: *disk * gb, Looks: *looks, LooksOne: *looksOne, Between: *between * 3600, Restart: *restart}
}
