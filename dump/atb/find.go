package atb

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"precision/dump"
	"precision/dump/stats"
	"precision/internal/order"
)

// Recording is one round of one process: the folder with statistic.csv and the
// operations.
type Recording struct {
	Dir string
	// Device, Process and Round are the numbers in the names of the folders, -1
	// where these do not tell.
	Device, Process, Round int
}

// maxRounds bounds how many rounds of one folder are listed.
const maxRounds = 1 << 16

// Find lists the rounds below a path by device, process and round. The path may be
// the folder of a round, that of a process, data, atb_dump_data, or the one above.
// It is an error if there are none.
func Find(path string) (all []Recording, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s: not a folder", path)
	}
	r := Recording{Device: -1, Process: -1, Round: -1}
	if full, err := filepath.Abs(path); err == nil {
		r.process(filepath.Base(full))
		if round, ok := dump.Small(filepath.Base(full)); ok && r.process(filepath.Base(filepath.Dir(full))) {
			r.Round = round
		}
	}
	if err := find(path, r, 0, &all); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no recording of ATB: found no %s of it and no folders <number>_<operation> here or in folders <device>_<process>/<round> below", path, stats.File)
	}
	order.Stable(all, func(a, b Recording) int {
		return cmp.Or(cmp.Compare(a.Device, b.Device), cmp.Compare(a.Process, b.Process), cmp.Compare(a.Round, b.Round), cmp.Compare(a.Dir, b.Dir))
	})
	return all, nil
}

// process takes the name of the folder of a process; false if it is none.
func (r *Recording) process(name string) bool {
	device, process, ok := strings.Cut(name, "_")
	if !ok {
		return false
	}
	p, ok := dump.Small(process)
	d, known := dump.Small(device)
	if device == "-1" { // the recorder could not tell
		d, known = -1, true
	}
	if ok && known {
		r.Device, r.Process = d, p
	}
	return ok && known
}

func find(dir string, r Recording, depth int, all *[]Recording) error {
	if isRound(dir) {
		r.Dir = dir
		*all = append(*all, r)
		if len(*all) > maxRounds {
			return fmt.Errorf("%s: more than %d rounds", dir, maxRounds)
		}
		return nil
	}
	if depth == 4 {
		return nil
	}
	for _, name := range dump.Subfolders(dump.List(dir)) {
		below := r
		round, ok := dump.Small(name)
		switch {
		case name == "atb_dump_data" || name == "data" || below.process(name):
		case ok && r.Process >= 0:
			below.Round = round
		default:
			continue
		}
		if err := find(filepath.Join(dir, name), below, depth+1, all); err != nil {
			return err
		}
	}
	return nil
}

// isRound tells the folder of a round by what is in it: the table, or operations
// with tensors.
func isRound(dir string) bool {
	if _, tree, ok := stats.Is(filepath.Join(dir, stats.File)); ok && tree {
		return true
	}
	found := false
	walk(dir, func(_ []step, path string, entries []fs.DirEntry) bool {
		found = slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
			if !e.IsDir() || e.Name() != before && e.Name() != after {
				return false
			}
			files, err := os.ReadDir(filepath.Join(path, e.Name()))
			return err == nil && slices.ContainsFunc(files, func(f fs.DirEntry) bool { _, _, ok := tensorFile(f.Name()); return ok })
		})
		return !found
	})
	return found
}

// The folders of tensors in that of an operation.
const (
	before = "before"
	after  = "after"
)

// step is a part of the path of an operation: 2_Prefill_layer.
type step struct {
	id   int
	name string
}

// stepOf reads the name of a folder of an operation.
func stepOf(folder string) (step, bool) {
	id, name, ok := strings.Cut(folder, "_")
	n, isNumber := dump.Small(id)
	return step{n, name}, ok && isNumber && name != ""
}

// Limits of the tree of a recording.
const (
	maxDepth = 32
	maxOps   = 1 << 20
)

// walk visits the folders of operations, parents first, until visit returns false.
// Links are not followed. More than anybody records is passed over.
func walk(dir string, visit func(path []step, dir string, entries []fs.DirEntry) bool) {
	count := 0
	var down func(path []step, dir string) bool
	down = func(path []step, dir string) bool {
		entries := dump.List(dir)
		if len(path) > 0 && !visit(path, dir, entries) {
			return false
		}
		for _, name := range dump.Subfolders(entries) {
			s, ok := stepOf(name)
			if !ok || len(path) == maxDepth {
				continue
			}
			if count++; count > maxOps || !down(append(path[:len(path):len(path)], s), filepath.Join(dir, name)) {
				return false
			}
		}
		return true
	}
	down(nil, dir)
}

// tensorFile reads the name of a file of a tensor: intensor0.bin,
// outtensor1_hidden.bin.
func tensorFile(name string) (output bool, slot int, ok bool) {
	stem, isBin := strings.CutSuffix(name, ".bin")
	rest, in := strings.CutPrefix(stem, "intensor")
	if !in {
		if rest, output = strings.CutPrefix(stem, "outtensor"); !output {
			return false, 0, false
		}
	}
	n, _, _ := strings.Cut(rest, "_")
	slot, ok = dump.Small(n)
	return output, slot, ok && isBin
}
