package soak

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// Network is a recorded network: folders of dumps and golden arrays, and a graph.
type Network struct {
	NPU, Golden, Graph string
	files              []string
	// rows holds the table by key; changed, by file, the rows that are others
	// without the file.
	rows    map[string]string
	changed map[string]map[string]bool
}

// OpenNetwork compares a network as it is.
func OpenNetwork(p Program, npu, golden, graph, work string) (*Network, error) {
	n := &Network{NPU: npu, Golden: golden, Graph: graph, changed: map[string]map[string]bool{}}
	for _, dir := range []string{npu, golden} {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				n.files = append(n.files, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	n.files = append(n.files, graph)
	var err error
	if n.rows, err = n.compare(p, filepath.Join(work, "whole"), "", nil); err == nil && len(n.rows) == 0 {
		err = fmt.Errorf("%s: the comparison gives no rows", npu)
	}
	return n, err
}

// compare compares a copy of the network in which a file holds other bytes, or is
// not there if they are nil, and returns the rows by their keys.
func (n *Network) compare(p Program, dir, file string, content []byte) (map[string]string, error) {
	defer os.RemoveAll(dir)
	npu, golden, graph, out := filepath.Join(dir, "npu"), filepath.Join(dir, "golden"), filepath.Join(dir, filepath.Base(n.Graph)), filepath.Join(dir, "out")
	if err := copyTree(n.NPU, npu); err != nil {
		return nil, err
	}
	if err := copyTree(n.Golden, golden); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(n.Graph)
	if err == nil {
		err = os.WriteFile(graph, text, 0o600)
	}
	if err != nil {
		return nil, err
	}
	if file != "" {
		at := graph
		if rest, ok := strings.CutPrefix(file, n.NPU); ok {
			at = npu + rest
		} else if rest, ok := strings.CutPrefix(file, n.Golden); ok {
			at = golden + rest
		}
		if content == nil {
			err = os.Remove(at)
		} else {
			err = os.WriteFile(at, content, 0o600)
		}
		if err != nil {
			return nil, err
		}
	}
	e, err := p.run(0, "compare", "-lt", npu, "-rt", golden, "-g", graph, "-out", out)
	if err != nil {
		return nil, err
	}
	found, err := tables(out, false)
	if err != nil {
		return nil, err
	}
	rows := map[string]string{}
	switch {
	case len(found) == 0 && e.code == 0:
		return nil, fmt.Errorf("exit status 0 without a table")
	case len(found) > 1:
		return nil, fmt.Errorf("%d tables of one run", len(found))
	case len(found) == 0:
		return rows, nil
	}
	key := columns(found[0][0], "NPUDump", "GroundTruth", "TensorIndex")
	for _, row := range found[0][1:] {
		var k []string
		for _, c := range key {
			k = append(k, row[c])
		}
		// A path in a reason names the copy, which is another one each time.
		rows[strings.Join(k, "|")] = strings.ReplaceAll(strings.Join(row[1:], "|"), dir, "")
	}
	return rows, nil
}

func columns(titles []string, names ...string) []int {
	var at []int
	for _, name := range names {
		for i, t := range titles {
			if t == name {
				at = append(at, i)
				break
			}
		}
	}
	return at
}

// others are the rows that change when a file is not there: those that it may
// change when it is damaged.
func (n *Network) others(p Program, work, file string) (map[string]bool, error) {
	if m := n.changed[file]; m != nil {
		return m, nil
	}
	without, err := n.compare(p, filepath.Join(work, "without"), file, nil)
	if err != nil {
		return nil, fmt.Errorf("without %s: %w", filepath.Base(file), err)
	}
	m := map[string]bool{}
	for k, row := range n.rows {
		if without[k] != row {
			m[k] = true
		}
	}
	n.changed[file] = m
	return m, nil
}

// Mutant damages one file, which the seed picks, and compares. Rows that do not
// depend on the file must be as before.
func (n *Network) Mutant(p Program, seed uint64, work string) error {
	rng := rand.New(rand.NewPCG(seed, 0))
	file := n.files[rng.IntN(len(n.files))]
	if rng.IntN(8) == 0 {
		file = n.Graph
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	damaged, how := Mutate(rng, content)
	fail := func(err error) error {
		return fmt.Errorf("seed %d (%s of %s): %w", seed, how, filepath.Base(file), err)
	}
	rows, err := n.compare(p, filepath.Join(work, fmt.Sprint("m", seed)), file, damaged)
	if err != nil {
		return fail(err)
	}
	if file == n.Graph { // which says what belongs to what
		return nil
	}
	mine, err := n.others(p, work, file)
	if err != nil {
		return fail(err)
	}
	for k, row := range n.rows {
		if !mine[k] && rows[k] != row {
			return fail(fmt.Errorf("the row of another operator changed:\n%s\n%s", row, rows[k]))
		}
	}
	return nil
}
