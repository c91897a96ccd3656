package mindspore

import (
	"cmp"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"precision/dump"
	"precision/dump/stats"
	"precision/internal/order"
)

// Recording is what one rank recorded of one iteration of a graph.
type Recording struct {
	Dir string
	// Net and Graph are the names of the folders above, empty where these do not
	// tell. Rank and Step are the numbers of the rank and the iteration, or -1.
	Net, Graph string
	Rank, Step int
}

// Find lists the recordings below a path, by net, graph, iteration and rank. It is
// an error if there are none.
func Find(path string) (all []Recording, err error) {
	err = dump.Below(path, []string{"constants"}, func(dir string, entries []fs.DirEntry) bool {
		found := is(dir, entries)
		if found {
			all = append(all, recordingOf(dir))
		}
		return found
	})
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no recording of MindSpore: found no %s and no files type.name.task.stream.time.output.0.format.npy here or below", path, stats.File)
	}
	order.Stable(all, func(a, b Recording) int {
		return cmp.Or(cmp.Compare(a.Net, b.Net), cmp.Compare(a.Graph, b.Graph), cmp.Compare(a.Step, b.Step), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Dir, b.Dir))
	})
	return all, nil
}

// is tells the folder of a recording: one with tensors or a table, and without
// recordings of another sort, beside which such files are what a converter made.
func is(dir string, entries []fs.DirEntry) bool {
	if !slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		if e.IsDir() {
			return false
		}
		if e.Name() == stats.File {
			merged, tree, ok := stats.Is(filepath.Join(dir, stats.File))
			return ok && merged && !tree
		}
		_, ok := ParseName(e.Name())
		return ok
	}) {
		return false // of most folders this is all that is looked at
	}
	return !slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		switch dump.ParseName(e.Name()).Kind {
		case dump.Offline, dump.Exception, dump.Array, dump.Standard, dump.Quant, dump.Debug:
			return !e.IsDir()
		}
		return false
	})
}

// recordingOf reads the names of the folders above: rank_0/Net/graph/iteration.
func recordingOf(dir string) Recording {
	r := Recording{Dir: dir, Rank: -1, Step: -1}
	full, err := filepath.Abs(dir)
	if err != nil {
		return r
	}
	parts := strings.Split(filepath.ToSlash(full), "/")
	at := func(back int) string {
		if back >= len(parts) {
			return ""
		}
		return parts[len(parts)-1-back]
	}
	step, ok := dump.Small(at(0))
	if !ok {
		return r
	}
	rank, ok := dump.Small(strings.TrimPrefix(at(3), "rank_"))
	if !ok {
		return r
	}
	r.Step, r.Rank, r.Net, r.Graph = step, rank, at(2), at(1)
	return r
}

// Label names the graph among several.
func (r *Recording) Label() string {
	if r.Net == "" {
		return ""
	}
	if n, err := strconv.Atoi(r.Graph); err == nil {
		return r.Net + "/" + strconv.Itoa(n)
	}
	return r.Net + "/" + r.Graph
}
