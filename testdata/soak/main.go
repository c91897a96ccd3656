// Soak runs the fuzz targets and the campaigns of internal/soak for as long as
// there is time: damaged inputs, kills, full disks and random networks. Run it
// from the top folder:
//
//	go run ./testdata/soak -for 10h
//	go run ./testdata/soak -fuzz 10s            every fuzz target for ten seconds, then no campaign
//	go run ./testdata/soak -for 1h -seed 4711   campaigns from another seed on
//
// It ends at the first finding and says how to see it again.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

func main() {
	long := flag.Duration("for", 0, "how long campaigns and fuzz targets run in all")
	each := flag.Duration("fuzz", 0, "run every fuzz target so long, once")
	seed := flag.Uint64("seed", uint64(time.Now().Unix()), "the first seed of the campaigns")
	match := flag.String("match", "", "only the fuzz targets whose package/name match")
	flag.Parse()
	if err := run(*long, *each, *seed, *match); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

func run(long, each time.Duration, seed uint64, match string) error {
	if long == 0 && each == 0 {
		return errors.New("how long? -for 1h, or -fuzz 10s")
	}
	only, err := regexp.Compile(match)
	if err != nil {
		return err
	}
	targets, err := find()
	if err != nil {
		return err
	}
	var total tally
	if long == 0 {
		err := total.fuzz(targets, only, each)
		total.print()
		return err
	}
	if each == 0 {
		each = 30 * time.Second
	}
	end := time.Now().Add(long)
	for time.Now().Before(end) {
		const round = 500 // mutants, and a tenth as many kills and networks
		if err := total.campaign(seed, round); err != nil {
			return err
		}
		seed += round
		if err := total.fuzz(targets, only, each); err != nil {
			return err
		}
		total.print()
	}
	return nil
}

// tally counts what was done.
type tally struct {
	mutants, execs int
	start          time.Time
}

func (t *tally) print() {
	fmt.Printf("soak: %d mutants, %d executions of fuzz targets, %v\n", t.mutants, t.execs, time.Since(t.start).Round(time.Second))
}

func (t *tally) campaign(seed uint64, n int) error {
	if t.start.IsZero() {
		t.start = time.Now()
	}
	args := []string{"test", "-count=1", "-timeout=0", "-run=^(TestMutants|TestKilled|TestDiskFull|TestMetamorphic)$", "./cmd/precision",
		"-args", "-soak.seed=" + strconv.FormatUint(seed, 10), "-soak.n=" + strconv.Itoa(n)}
	t.mutants += n
	out, err := exec.Command("go", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// target is a fuzz target of a package.
type target struct{ folder, name string }

var isTarget = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)

// find lists the fuzz targets below the current folder.
func find() ([]target, error) {
	var list []target
	err := filepath.WalkDir(".", func(path string, e os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range isTarget.FindAllSubmatch(text, -1) {
			list = append(list, target{filepath.ToSlash(filepath.Dir(path)), string(m[1])})
		}
		return err
	})
	if err == nil && len(list) == 0 {
		err = errors.New("there are no fuzz targets below the current folder")
	}
	return list, err
}

var execs = regexp.MustCompile(`execs: (\d+)`)

// fuzz runs every target for a while.
func (t *tally) fuzz(targets []target, only *regexp.Regexp, each time.Duration) error {
	if t.start.IsZero() {
		t.start = time.Now()
	}
	for _, g := range targets {
		if !only.MatchString(g.folder + "/" + g.name) {
			continue
		}
		args := []string{"test", "-run=^$", "-fuzz=^" + g.name + "$", "-fuzztime=" + each.String(), "-fuzzminimizetime=1s", "./" + g.folder}
		out, err := exec.Command("go", args...).CombinedOutput()
		n := 0
		if all := execs.FindAllSubmatch(out, -1); all != nil {
			n, _ = strconv.Atoi(string(all[len(all)-1][1]))
		}
		t.execs += n
		fmt.Printf("%-28s %-18s %9d executions\n", g.folder, g.name, n)
		// The end of the time can fall into an execution; that is no finding.
		if err != nil && !(strings.Contains(string(out), "context deadline exceeded") && !strings.Contains(string(out), "testdata/fuzz")) {
			return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	return nil
}
