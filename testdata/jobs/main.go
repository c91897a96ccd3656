//go:build linux

// Jobs measures what comparing a whole job costs: against one run for each rank, and from one rank to many. It makes
// small jobs, runs the program on them and prints the tables of docs/jobs.md.
//
//	go run ./testdata/jobs [-ranks 64] [-most 256] [-size 65536] PRECISION
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"precision/testdata/workshop/jobtest"
)

var (
	ranks = flag.Int("ranks", 64, "ranks of the job that is held against single runs")
	most  = flag.Int("most", 256, "ranks of the largest job")
	size  = flag.Int("size", 65536, "elements of a tensor")
	write = flag.Int("make", 0, "make a job of so many ranks in the folder that is named, and nothing else")
)

// cost is what a program took.
type cost struct {
	cpu    time.Duration
	memory int64 // bytes
}

func main() {
	log.SetFlags(0)
	flag.Parse()
	if flag.NArg() != 1 {
		log.Fatal("usage: jobs [options] PRECISION")
	}
	if *write > 0 {
		if err := (jobtest.Job{Ranks: *write, Steps: 1, Size: *size}).Write(flag.Arg(0)); err != nil {
			log.Fatal(err)
		}
		return
	}
	work, err := os.MkdirTemp("", "jobs")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(work)
	single(work)
	linear(work)
}

// made is a job of some ranks. A process of its own makes it: what a process holds counts
// as the memory of those that it starts.
func made(work string, ranks int) string {
	dir := filepath.Join(work, fmt.Sprint("job", ranks))
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	if text, err := exec.Command(os.Args[0], "-make", fmt.Sprint(ranks), "-size", fmt.Sprint(*size), dir).CombinedOutput(); err != nil {
		log.Fatalf("%v: %s", err, text)
	}
	return dir
}

func graph(dir string) string { return filepath.Join(dir, "ge_proto_00000001_graph_1_Build.txt") }

func whole(dir, out string) []string {
	return []string{"compare", "-lt", filepath.Join(dir, "npu"), "-rt", filepath.Join(dir, "golden"), "-g", graph(dir), "-all", "-out", out}
}

// run runs the program.
func run(args ...string) cost {
	c := exec.Command(flag.Arg(0), args...)
	var said bytes.Buffer
	c.Stderr = &said
	if err := c.Run(); err != nil {
		log.Fatalf("%v: %s", err, said.String())
	}
	state := c.ProcessState
	spent := cost{cpu: state.UserTime() + state.SystemTime()}
	if u, ok := state.SysUsage().(*syscall.Rusage); ok {
		spent.memory = u.Maxrss << 10
	}
	return spent
}

// single holds a job against a run for each of its ranks, three times in turn; the least of
// each counts.
func single(work string) {
	dir := made(work, *ranks)
	var all, each cost
	for k := range 3 {
		out := filepath.Join(work, "out")
		os.RemoveAll(out)
		a := run(whole(dir, out)...)
		var sum cost
		for r := range *ranks {
			c := run("compare", "-lt", filepath.Join(dir, jobtest.Dir(0, r)), "-rt", filepath.Join(dir, jobtest.Golden(0, r)), "-g", graph(dir), "-out", out, "-json", filepath.Join(out, "one.json"))
			sum.cpu += c.cpu
			sum.memory = max(sum.memory, c.memory)
		}
		if k == 0 || a.cpu < all.cpu {
			all = a
		}
		if k == 0 || sum.cpu < each.cpu {
			each = sum
		}
	}
	fmt.Printf("%d ranks of %d elements a tensor, CPU time and largest memory\n", *ranks, *size)
	fmt.Printf("  in one job     %6.2f s  %4d MB\n", all.cpu.Seconds(), all.memory>>20)
	fmt.Printf("  a run each     %6.2f s  %4d MB   the job takes %.2f of it\n\n", each.cpu.Seconds(), each.memory>>20, all.cpu.Seconds()/each.cpu.Seconds())
}

// linear is a table of jobs of more and more ranks.
func linear(work string) {
	fmt.Println("ranks   CPU time   a rank    memory")
	for n := 1; n <= *most; n *= 4 {
		dir := made(work, n)
		var least cost
		for k := range 3 {
			out := filepath.Join(work, "out")
			os.RemoveAll(out)
			if c := run(whole(dir, out)...); k == 0 || c.cpu < least.cpu {
				least = c
			}
		}
		fmt.Printf("%5d   %6.2f s  %5.1f ms   %4d MB\n", n, least.cpu.Seconds(), least.cpu.Seconds()*1000/float64(n), least.memory>>20)
	}
	fmt.Println()
}
