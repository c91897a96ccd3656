package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"precision/internal/plainfile"
	"precision/internal/whole"
	"precision/testdata/workshop/soak"
)

var errDisk = errors.New("input/output error of the disk")

// TestDiskFails lets one step of writing fail, of all that commands write: making,
// writing, syncing, closing or naming a file. The command says so and leaves nothing
// half.
func TestDiskFails(t *testing.T) {
	defer whole.Inject(nil)
	saved := filepath.Join(t.TempDir(), "saved.json")
	network := []string{"-lt", sample + "/npu", "-g", sampleGraph}
	if code, _, stderr := precision(t, slices.Concat([]string{"compare", "-rt", sample + "/golden", "-out", t.TempDir(), "-json", saved}, network)...); code != exitOK {
		t.Fatal(stderr)
	}
	commands := map[string][]string{
		"compare": slices.Concat([]string{"compare", "-rt", sample + "/golden", "-out", "OUT", "-json", "OUT/v.json", "-html", "OUT/r.html", "-junit", "OUT/j.xml", "-sarif", "OUT/s.sarif"}, network),
		"check":   slices.Concat([]string{"check", "-out", "OUT", "-json", "OUT/c.json"}, network),
		"report":  {"report", saved, "-html", "OUT/r.html", "-junit", "OUT/j.xml", "-sarif", "OUT/s.sarif", "-json", "OUT/v.json"},
		"graph":   {"graph", sampleGraph, "-json", "OUT/g.json"},
		"draw":    {"graph", sampleGraph, "-root", "block2/conv", "-svg", "OUT/g.svg", "-dot", "OUT/g.dot"},
		"atc":     {"atc", "--mode=5", "--om=" + sampleGraph, "--json=OUT/g.json"},
	}
	steps := map[string]int{}
	for name, words := range commands { // how many steps it has
		n := 0
		whole.Inject(func(_ whole.Step, _ string, bytes int) (int, error) { n++; return bytes, nil })
		if code, _, stderr := precision(t, within(words, t.TempDir())...); code != exitOK || n == 0 {
			t.Fatalf("%s: exit status %d, %d steps of writing, %s", name, code, n, stderr)
		}
		steps[name] = n
	}
	names := []string{"compare", "check", "report", "graph", "draw", "atc"}
	trials(t, 2, func(seed uint64) (string, error) {
		rng := rand.New(rand.NewPCG(seed, 3))
		name := names[rng.IntN(len(names))]
		at, n := rng.IntN(steps[name]), 0
		failed := whole.Step("")
		whole.Inject(func(step whole.Step, _ string, bytes int) (int, error) {
			if n++; n-1 == at {
				failed = step
				return bytes / 2, errDisk
			}
			return bytes, nil
		})
		out := t.TempDir()
		code, _, stderr := precision(t, within(commands[name], out)...)
		whole.Inject(nil)
		what := fmt.Sprintf("seed %d: %s, step %d (%s)", seed, name, at, failed)
		if code != exitError || !strings.Contains(stderr, errDisk.Error()) {
			return what, fmt.Errorf("exit status %d, %q", code, stderr)
		}
		return what, soak.Sound(out)
	})
}

func within(words []string, out string) []string {
	words = slices.Clone(words)
	for i, w := range words {
		words[i] = strings.ReplaceAll(w, "OUT", out)
	}
	return words
}

// TestInputsFail lets the disk fail below one input of a comparison, or the file end
// early: that becomes rows with the reason, and other rows stay.
func TestInputsFail(t *testing.T) {
	defer plainfile.Inject(nil)
	compare := func(t *testing.T) (rows map[string][]string, code int, stderr string) {
		out := t.TempDir()
		code, _, stderr = precision(t, "compare", "-lt", sample+"/npu", "-rt", sample+"/golden", "-g", sampleGraph, "-out", out)
		rows = map[string][]string{}
		tables, _ := filepath.Glob(filepath.Join(out, "*.csv"))
		for _, path := range tables {
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			all, err := csv.NewReader(f).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range all[1:] {
				rows[row[2]+"|"+row[5]+"|"+row[7]] = row
			}
		}
		return rows, code, stderr
	}
	whole, code, stderr := compare(t)
	if code != exitOK || len(whole) == 0 {
		t.Fatal(code, stderr)
	}
	var files []string
	for _, dir := range []string{sample + "/npu", sample + "/golden"} {
		filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				files = append(files, path)
			}
			return err
		})
	}
	trials(t, 2, func(seed uint64) (string, error) {
		rng := rand.New(rand.NewPCG(seed, 4))
		file := files[rng.IntN(len(files))]
		info, err := os.Stat(file)
		if err != nil {
			return file, err
		}
		at, fault := rng.Int64N(info.Size()), errDisk
		if rng.IntN(3) == 0 {
			fault = nil // it ends early
		}
		full, _ := filepath.Abs(file)
		var asked atomic.Bool
		plainfile.Inject(func(path string, from int64, wanted int) (int, error) {
			if path, _ = filepath.Abs(path); path != full || from+int64(wanted) <= at {
				return wanted, nil
			}
			asked.Store(true)
			return int(max(0, min(int64(wanted), at-from))), fault
		})
		rows, code, stderr := compare(t)
		plainfile.Inject(nil)
		what := fmt.Sprintf("seed %d: %s fails at %d (%v)", seed, filepath.Base(file), at, fault)
		if !asked.Load() {
			return what, nil // padding, which nobody reads
		}
		if code != exitOK || len(rows) == 0 {
			return what, fmt.Errorf("exit status %d, %d rows, %s", code, len(rows), stderr)
		}
		// Without the file the same rows are others.
		plainfile.Inject(func(path string, from int64, wanted int) (int, error) {
			if path, _ = filepath.Abs(path); path == full {
				return 0, errDisk
			}
			return wanted, nil
		})
		without, _, _ := compare(t)
		plainfile.Inject(nil)
		told := false
		for key, row := range whole {
			got := rows[key]
			if slices.Equal(got[min(1, len(got)):], row[1:]) {
				continue
			}
			if lost := without[key]; slices.Equal(lost[min(1, len(lost)):], row[1:]) {
				return what, fmt.Errorf("the row of another operator changed:\n%q\n%q", row, got)
			}
		}
		for _, row := range rows {
			reason := row[len(row)-1]
			told = told || strings.Contains(reason, filepath.Base(file)) && (fault == nil || strings.Contains(reason, errDisk.Error()))
		}
		if !told {
			return what, fmt.Errorf("no row tells of it")
		}
		return what, nil
	})
}
