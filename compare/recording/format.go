package recording

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"precision/dump"
	"precision/dump/msprobe"
	"precision/dump/stats"
)

// format is a way to record the calls of a program. A new one is an entry of
// formats: it says where its recordings are and reads one into a [side].
type format struct {
	// kind is what tables call such a side.
	kind string
	// find lists the recordings below a path, ordered by their numbers. It is an
	// error if there are none.
	find func(path string) ([]found, error)
}

// found is what one process recorded of one step.
type found struct {
	// mode tells parts of one recording apart that are not compared with each other;
	// mostly empty.
	mode string
	// step and rank are -1 where the recording does not tell.
	step, rank int
	// process is the number of a process without a rank, which is another in each run;
	// empty where the recording does not tell.
	process string
	// file tells two recordings of one process and step apart.
	file string
	// bytes is the size of the file of its calls, 0 where that is not known.
	bytes int64
	load  func() (*side, error)
	// others are further ranks of the step, which are to be put together with it.
	others []found
}

// formats are told apart by content: a path belongs to the first that finds
// something there.
var formats = []format{
	{"msprobe", findMsprobe},
	{"aclgraph", findACLGraph},
	{"atb", findATB},
	{"mindspore", findMindSpore},
	{"ge statistics", findStats},
	{"operator log", findLogs},
	{"sglang", findKeyed},
}

// listed are the recordings that find lists below a path.
func listed[R any](path string, find func(path string) ([]R, error), of func(r R) found) (list []found, err error) {
	all, err := find(path)
	for _, r := range all {
		list = append(list, of(r))
	}
	return list, err
}

// companions are no recordings of calls by themselves, but may be the other side of
// one.
var companions = []format{
	{"device dumps", findDumps},
}

// ofNodes are recordings of calls if both sides are; else they are the golden arrays
// of a graph.
var ofNodes = []format{
	{"fx", findFX},
}

// find finds the recordings below a path, and of what kind they are.
func find(path string, formats []format) ([]found, string, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, "", err
	}
	for _, f := range formats {
		if list, err := f.find(path); err == nil && len(list) > 0 {
			return list, f.kind, nil
		}
	}
	return nil, "", fmt.Errorf("%s: no recording of calls: found no %s of msprobe, no %s or tensors of ATB, MindSpore or ACLGraph, and no statistics of a device", path, msprobe.DumpFile, stats.File)
}

// findBoth finds the recordings below two paths. One of them may be of a sort that
// is none of calls itself.
func findBoth(left, right string) (lists [2][]found, kinds [2]string, err error) {
	paths := [2]string{left, right}
	var errs [2]error
	for i := range paths {
		lists[i], kinds[i], errs[i] = find(paths[i], formats)
	}
	if errs[0] != nil && errs[1] != nil {
		a, kind, err := find(left, ofNodes)
		if err == nil {
			if b, other, err := find(right, ofNodes); err == nil {
				return [2][]found{a, b}, [2]string{kind, other}, nil
			}
		}
	}
	for i := range paths {
		if errs[i] == nil || errs[1-i] != nil {
			continue
		}
		if list, kind, err := find(paths[i], companions); err == nil {
			lists[i], kinds[i], errs[i] = list, kind, nil
		}
	}
	return lists, kinds, cmp.Or(errs[0], errs[1])
}

// Places are what names of calls begin with where the recordings at or below a path are compared together:
// step0/rank1/, with proc/ for a process without a rank.
func Places(path string) (list []string) {
	found, _, _ := find(path, formats)
	for i := range found {
		list = append(list, found[i].label()+"/")
	}
	return list
}

// Is tells whether a path is a recording, or a folder above some.
func Is(path string) bool { return !bare(path) && is(path) }

func is(path string) bool {
	_, _, err := find(path, formats)
	return err == nil
}

// Are tells whether two paths are compared as recordings: one of them is one, or
// both are arrays of nodes.
func Are(left, right string) bool {
	leftBare, rightBare := bare(left), bare(right)
	if !leftBare && is(left) || !rightBare && is(right) {
		return true
	}
	if leftBare || rightBare {
		return false
	}
	for _, path := range []string{left, right} {
		if _, _, err := find(path, ofNodes); err != nil {
			return false
		}
	}
	return true
}

// Limits of the walk of bare.
const (
	bareDepth   = 8
	bareFolders = 64
)

// bare tells by one walk a folder with no recording in it or below, as most that are compared: each format
// would list all of it to find nothing. It has no file of a recording, no folder called as ATB calls
// its operations, and no more folders than those of a dump.
func bare(path string) bool {
	folders := 0
	var down func(dir string, depth int) bool
	down = func(dir string, depth int) bool {
		entries := dump.List(dir)
		if folders++; folders > bareFolders || depth > bareDepth || depth == 0 && len(entries) == 0 || slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
			return marks(e, depth > 0)
		}) {
			return false
		}
		return !slices.ContainsFunc(dump.Subfolders(entries), func(name string) bool { return !down(filepath.Join(dir, name), depth+1) })
	}
	return down(path, 0)
}

// marks tells whether an entry of a folder may belong to a recording. Below the first folder that is also so of
// files that only ATB writes.
func marks(e fs.DirEntry, below bool) bool {
	name := e.Name()
	if e.Type()&fs.ModeSymlink != 0 || name == msprobe.DumpFile || name == msprobe.DebugFile {
		return true
	}
	if e.IsDir() {
		number, _, joined := strings.Cut(name, "_")
		_, err := strconv.Atoi(number)
		return joined && err == nil || name == "before" || name == "after"
	}
	switch filepath.Ext(name) {
	case ".csv":
		return name != dump.MappingFile
	case ".npy":
		return slices.ContainsFunc([]string{".input.", ".output.", ".INPUT.", ".OUTPUT.", ".parameters_grad.", ".debug."}, func(word string) bool { return strings.Contains(name, word) })
	case ".bin":
		return below
	case ".log":
		return true
	}
	return strings.HasSuffix(name, ".pt")
}

// Bytes is the size of the files of calls below two paths.
func Bytes(left, right string) (sum int64) {
	lists, _, _ := findBoth(left, right)
	for _, list := range lists {
		for _, f := range list {
			sum += f.bytes
		}
	}
	return sum
}

// label names a recording by its step and rank.
func (r *found) label() string {
	var text strings.Builder
	if r.mode != "" {
		text.WriteString(r.mode + "/")
	}
	if r.step >= 0 {
		text.WriteString("step" + strconv.Itoa(r.step) + "/")
	}
	if r.rank < 0 {
		return text.String() + "proc"
	}
	return text.String() + "rank" + strconv.Itoa(r.rank)
}
