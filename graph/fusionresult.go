package graph

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// FusionStats tells which fusion passes fired while one graph was compiled.
type FusionStats struct {
	GraphID string // "<session>_<graph>" or the graph number, "" when the file does not say
	Graph   []PassStats
	UB      []PassStats
}

// PassStats counts what one fusion pass did.
type PassStats struct {
	Name       string
	Match      int64 // places where the pattern occurred
	Effect     int64 // places that were fused
	Repository int64 // fusions taken from the tuning repository, unified buffer only
}

// OpenFusionResult reads the fusion statistics (fusion_result.json) at path.
func OpenFusionResult(path string) ([]FusionStats, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadFusionResult(f, path)
}

// ReadFusionResult reads fusion statistics; name stands for r in errors. Releases write one object, several objects
// one after another, an array of objects, or one object with a key for each graph. Passes keep their order. Errors
// are *[Error].
func ReadFusionResult(r io.Reader, name string) ([]FusionStats, error) {
	j := &jsonScanner{window: *newWindow(r)}
	var out []FusionStats
	for n := 0; ; n++ {
		c := j.peek()
		if c == ',' && n > 0 {
			j.pos++
			continue
		}
		if c == 0 && j.pos >= j.end {
			if n == 0 && j.err == nil {
				j.failf("file is empty, expected fusion statistics")
			}
			break
		}
		if c == '[' {
			j.enter('[', "statistics")
			for j.elem() {
				out = j.fusionObject(out)
			}
		} else {
			out = j.fusionObject(out)
		}
		if j.err != nil {
			break
		}
	}
	if j.err == nil && j.window.err != nil {
		j.failf("read")
	}
	if j.err != nil {
		j.err.Path = name
		return nil, j.err
	}
	return out, nil
}

const fusionKey = "session_and_graph_id"

// fusionObject reads one object: the statistics of a graph, or of several under their keys.
func (j *jsonScanner) fusionObject(out []FusionStats) []FusionStats {
	if !j.enter('{', "statistics of a graph") {
		return out
	}
	var s FusionStats
	plain, keyed := false, false
	for key := j.key(); key != nil; key = j.key() {
		switch k := string(key); {
		case k == fusionKey || k == "graphId":
			plain = true
			if j.peek() == '"' {
				s.GraphID = string(j.str())
			} else {
				s.GraphID = string(j.word())
			}
		case k == "graph_fusion":
			plain = true
			s.Graph = j.passStats(s.Graph)
		case k == "ub_fusion":
			plain = true
			s.UB = j.passStats(s.UB)
		case strings.HasPrefix(k, fusionKey+"_") && j.peek() == '{':
			keyed = true
			n := len(out)
			out = j.fusionObject(out)
			for i := n; i < len(out); i++ {
				if out[i].GraphID == "" {
					out[i].GraphID = k[len(fusionKey)+1:]
				}
			}
		default:
			j.skip()
		}
	}
	if plain || !keyed {
		out = append(out, s)
	}
	return out
}

func (j *jsonScanner) passStats(out []PassStats) []PassStats {
	if !j.enter('{', "passes") {
		return out
	}
	for key := j.key(); key != nil; key = j.key() {
		p := PassStats{Name: string(key)}
		if !j.enter('{', "counts of pass "+p.Name) {
			return out
		}
		for key := j.key(); key != nil; key = j.key() {
			switch string(key) {
			case "match_times":
				p.Match = j.count()
			case "effect_times":
				p.Effect = j.count()
			case "repository_hit_times":
				p.Repository = j.count()
			default:
				j.skip()
			}
		}
		out = append(out, p)
	}
	return out
}

// count reads a number, which may be written as text.
func (j *jsonScanner) count() int64 {
	var w []byte
	if j.peek() == '"' {
		w = j.str()
	} else {
		w = j.word()
	}
	n, err := strconv.ParseInt(string(w), 10, 64)
	if err != nil {
		j.failf("count %s is not a number", strconv.Quote(clip(w)))
	}
	return n
}

// WriteFusionText writes the passes that took effect, or all if all is set, graph by graph.
func WriteFusionText(w io.Writer, stats []FusionStats, all bool) error {
	for _, s := range stats {
		id := s.GraphID
		if id == "" {
			id = "NONE"
		}
		if _, err := fmt.Fprintf(w, "GraphID: %s\n", id); err != nil {
			return err
		}
		for _, side := range []struct {
			title  string
			passes []PassStats
		}{{"Graph fusion", s.Graph}, {"UB fusion", s.UB}} {
			for _, p := range side.passes {
				if p.Effect == 0 && !all {
					continue
				}
				if _, err := fmt.Fprintf(w, "  %s  %s  effect %d of %d matches\n", side.title, p.Name, p.Effect, p.Match); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
