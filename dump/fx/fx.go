package fx

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
	"precision/internal/order"
)

// Recording is the folder of one token of one rank.
type Recording struct {
	Dir string
	// Token and Rank are -1 where the folders above do not tell.
	Token, Rank int
}

// Find lists the recordings below a path by rank and token. It is an error if there
// are none.
func Find(path string) (all []Recording, err error) {
	err = dump.Below(path, nil, func(dir string, entries []fs.DirEntry) bool {
		found := slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
			_, ok := ParseName(e.Name())
			return ok && !e.IsDir()
		})
		if found {
			place := dump.PlaceOf(dir)
			all = append(all, Recording{dir, place.Step, place.Rank})
		}
		return found
	})
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no recording of FX: found no files <node>-<function>.OUTPUT.0.<time>.npy here or below", path)
	}
	order.Stable(all, func(a, b Recording) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Token, b.Token), cmp.Compare(a.Dir, b.Dir))
	})
	return all, nil
}

// Name is what the name of a file tells.
type Name struct {
	// Node is that of the graph, Function what it calls.
	Node, Function string
	Output         bool
	Index          int
	// Time is a date with the time, as text: it has more digits than a number.
	Time string
}

// ParseName takes the name of a file apart.
func ParseName(file string) (n Name, ok bool) {
	const most = 4096 // longer than any name a file system allows
	stem, isArray := strings.CutSuffix(file, ".npy")
	if !isArray || len(file) > most {
		return n, false
	}
	at := strings.LastIndex(stem, ".OUTPUT.")
	if n.Output = at >= 0; !n.Output {
		if at = strings.LastIndex(stem, ".INPUT."); at < 0 {
			return n, false
		}
	}
	rest := strings.Split(stem[at+1:], ".")
	if len(rest) != 3 {
		return n, false
	}
	index, err := strconv.ParseUint(rest[1], 10, 31)
	if _, bad := strconv.ParseFloat(rest[2], 64); err != nil || bad != nil {
		return n, false
	}
	n.Index, n.Time = int(index), rest[2]
	n.Node, n.Function, ok = strings.Cut(stem[:at], "-")
	return n, ok && n.Node != "" && n.Function != ""
}

// Node is a node that ran.
type Node struct {
	Name, Function string
	// Tensors are the inputs in ascending order, then the outputs.
	Tensors []Tensor
}

// Tensor is a file of a node.
type Tensor struct {
	Output bool
	Index  int
	File   string
}

// Load lists the nodes of a recording in the order they ran in. Where a node was
// recorded several times the last one counts.
func Load(r Recording) (list []*Node, err error) {
	entries, err := os.ReadDir(r.Dir)
	if err != nil {
		return nil, err
	}
	type key struct{ node, function string }
	type file struct {
		Name
		path string
	}
	files := make([]file, 0, len(entries))
	for _, e := range entries {
		if n, ok := ParseName(e.Name()); ok && !e.IsDir() {
			files = append(files, file{n, filepath.Join(r.Dir, e.Name())})
		}
	}
	order.Stable(files, func(a, b file) int {
		return cmp.Or(cmp.Compare(len(a.Time), len(b.Time)), cmp.Compare(a.Time, b.Time), cmp.Compare(a.path, b.path))
	})
	nodes := map[key]*Node{}
	for _, f := range files {
		k := key{f.Node, f.Function}
		n := nodes[k]
		if n == nil {
			n = &Node{Name: f.Node, Function: f.Function}
			nodes[k] = n
			list = append(list, n)
		}
		x := Tensor{f.Output, f.Index, f.path}
		if at := slices.IndexFunc(n.Tensors, func(y Tensor) bool { return y.Output == x.Output && y.Index == x.Index }); at >= 0 {
			n.Tensors[at] = x
			continue
		}
		n.Tensors = append(n.Tensors, x)
	}
	for _, n := range list {
		order.Stable(n.Tensors, func(a, b Tensor) int {
			return cmp.Or(order.FalseFirst(a.Output, b.Output), cmp.Compare(a.Index, b.Index))
		})
	}
	return list, nil
}
