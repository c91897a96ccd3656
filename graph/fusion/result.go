package fusion

import (
	"io"
	"strconv"
	"strings"

	"precision/graph"
	"precision/internal/plainfile"
	"precision/internal/scan"
)

// Stats tells which fusion passes fired while one graph was compiled.
type Stats struct {
	GraphID string // "<session>_<graph>" or the graph number, "" when the file does not say
	Graph   []PassStats
	UB      []PassStats
}

// PassStats counts what one fusion pass did.
type PassStats struct {
	Name   string
	Match  int64 // places where the pattern occurred
	Effect int64 // places that were fused
}

// OpenResult reads the fusion statistics (fusion_result.json) at path.
func OpenResult(path string) ([]Stats, error) {
	f, _, err := plainfile.Open(path, "a file of fusion statistics")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadResult(f, path)
}

// ReadResult reads fusion statistics; name stands for r in errors. Releases write one object, several objects
// one after another, an array of objects, or one object with a key for each graph. Passes keep their order. Errors
// are *[graph.Error].
func ReadResult(r io.Reader, name string) (out []Stats, err error) {
	j := scan.NewJSON(r, scan.MaxToken)
	for n := 0; ; n++ {
		c := j.Peek()
		if c == ',' && n > 0 {
			j.Pos++
			continue
		}
		if c == 0 && j.Pos >= j.End {
			if n == 0 && j.Err == nil {
				j.Failf("file is empty, expected fusion statistics")
			}
			break
		}
		if c == '[' {
			j.Enter('[', "statistics")
			for j.Elem() {
				out = fusionObject(j, out)
			}
		} else {
			out = fusionObject(j, out)
		}
		if j.Err != nil {
			break
		}
	}
	if j.Err != nil {
		return nil, graph.AtFault(name, j.Err)
	}
	return out, nil
}

const fusionKey = "session_and_graph_id"

// fusionObject reads one object: the statistics of a graph, or of several under their keys.
func fusionObject(j *scan.JSON, out []Stats) []Stats {
	if !j.Enter('{', "statistics of a graph") {
		return out
	}
	var s Stats
	plain, keyed := false, false
	for key := j.Key(); key != nil; key = j.Key() {
		switch k := string(key); {
		case k == fusionKey || k == "graphId":
			plain = true
			if j.Peek() == '"' {
				s.GraphID = string(j.Str())
			} else {
				s.GraphID = string(j.Word())
			}
		case k == "graph_fusion":
			plain = true
			s.Graph = passStats(j, s.Graph)
		case k == "ub_fusion":
			plain = true
			s.UB = passStats(j, s.UB)
		case strings.HasPrefix(k, fusionKey+"_") && j.Peek() == '{':
			keyed = true
			n := len(out)
			out = fusionObject(j, out)
			for i := n; i < len(out); i++ {
				if out[i].GraphID == "" {
					out[i].GraphID = k[len(fusionKey)+1:]
				}
			}
		default:
			j.Skip()
		}
	}
	if plain || !keyed {
		out = append(out, s)
	}
	return out
}

func passStats(j *scan.JSON, out []PassStats) []PassStats {
	if !j.Enter('{', "passes") {
		return out
	}
	for key := j.Key(); key != nil; key = j.Key() {
		p := PassStats{Name: string(key)}
		if c := j.Peek(); c != '{' {
			j.Failf("counts of pass %s is %s, expected %s", p.Name, scan.DescribeJSON(c), scan.DescribeJSON('{'))
		}
		if !j.Enter('{', "counts") {
			return out
		}
		for key := j.Key(); key != nil; key = j.Key() {
			switch string(key) {
			case "match_times":
				p.Match = count(j)
			case "effect_times":
				p.Effect = count(j)
			default:
				j.Skip()
			}
		}
		out = append(out, p)
	}
	return out
}

// count reads a number, which may be written as text.
func count(j *scan.JSON) int64 {
	var w []byte
	if j.Peek() == '"' {
		w = j.Str()
	} else {
		w = j.Word()
	}
	n, err := strconv.ParseInt(string(w), 10, 64)
	if err != nil {
		j.Failf("count %q is not a number", scan.Clip(w))
	}
	return n
}
