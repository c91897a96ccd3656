package engine

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"precision/dump"
	"precision/graph"
	"precision/graph/fusion"
	"precision/graph/read"
	"precision/internal/plainfile"
)

// Inputs is where a job finds its folders and graphs. A program that has listed or
// read some of them already hands in what it has, so that nothing is read twice.
type Inputs interface {
	// Scan lists the recordings in a folder; rules tells that a graph says which
	// operators there are. See dump.Scan.
	Scan(dir string, rules bool) (*dump.Folder, error)
	// Graph reads a graph. See read.Open.
	Graph(path string) (*graph.Model, error)
	// Graphs reads the final graphs below a folder. See read.OpenFolder.
	Graphs(dir string) ([]graph.Candidate, []graph.Warning, error)
	// GraphsIn reads the graphs among the files of a folder. See read.OpenNamed.
	GraphsIn(dir string) []graph.Candidate
	// Rules derives the fusion structure of a graph. See fusion.New.
	Rules(m *graph.Model) (*fusion.Rules, error)
}

// disk reads from the disk, a graph of a folder once.
type disk struct {
	ctx  context.Context // of the job that it serves
	read []graph.Candidate
}

func (*disk) Scan(dir string, rules bool) (*dump.Folder, error) {
	return dump.Scan(dir, dump.Options{Rules: rules})
}

func (d *disk) Graph(path string) (*graph.Model, error) {
	for _, c := range d.read {
		if c.Model.Path == path {
			return c.Model, nil
		}
	}
	return read.Open(d.ctx, path)
}

func (d *disk) Graphs(dir string) (found []graph.Candidate, warnings []graph.Warning, err error) {
	d.read, warnings, err = read.OpenFolder(d.ctx, dir)
	return d.read, warnings, err
}

func (d *disk) GraphsIn(dir string) []graph.Candidate { return read.OpenNamed(d.ctx, dir) }

func (*disk) Rules(m *graph.Model) (*fusion.Rules, error) { return fusion.New(m) }

// mostAbove is how many folders above the dumps are looked at: time, device,
// model, model id and step are made by a run, dump and the run itself by hand.
const mostAbove = 8

// GraphBeside looks for the graph of dumps when none was named: in a folder
// graph beside them or beside a folder above, and among the files of these
// folders that have a graph's name. The nearest folder with a graph that the dumps
// can belong to wins; ok is false if there is none, and found is then the nearest that is
// no graph of theirs, if any.
func GraphBeside(dumps *dump.Folder, in Inputs) (found graph.DumpMatch, ok bool) {
	dir := absolute(dumps.Dir)
	for range mostAbove {
		above := filepath.Dir(dir)
		var candidates []graph.Candidate
		if folder := filepath.Join(dir, "graph"); plainfile.IsFolder(folder) {
			candidates, _, _ = in.Graphs(folder)
		}
		if dir != absolute(dumps.Dir) { // that one may hold a hundred thousand dumps
			candidates = append(candidates, in.GraphsIn(dir)...)
		}
		if matches := GraphsOf(dumps, candidates); len(matches) > 0 {
			return matches[0], true
		}
		if len(candidates) > 0 && found.Model == nil {
			found.Candidate = candidates[0]
		}
		if above == dir {
			break
		}
		dir = above
	}
	return found, false
}

// GraphsOf returns the graphs that dumps can belong to, the best first: judged
// by the folders the dumps are in, <time>/<device>/<model>/<model id>/<step>,
// and by their operators.
func GraphsOf(left *dump.Folder, candidates []graph.Candidate) []graph.DumpMatch {
	if len(candidates) == 0 {
		return nil
	}
	d := graph.DumpFolder{Device: -1, Ops: make([]graph.DumpOp, 0, len(left.Ops))}
	if parts := strings.Split(filepath.ToSlash(filepath.Clean(left.Dir)), "/"); len(parts) >= 5 {
		d.Model = parts[len(parts)-3]
		if n, err := strconv.Atoi(parts[len(parts)-4]); err == nil {
			d.Device = n
		}
		if t, err := time.ParseInLocation("20060102150405", parts[len(parts)-5], time.Local); err == nil {
			d.Time = t
		}
	}
	for _, op := range left.Ops {
		d.Ops = append(d.Ops, graph.DumpOp{Type: op.Newest().Name.OpType, Name: op.Key})
	}
	return graph.MatchDump(d, candidates)
}
