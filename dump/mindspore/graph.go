package mindspore

import (
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"precision/internal/plainfile"
	"precision/internal/protofield"
)

// Port is an output of a kernel.
type Port struct {
	Kernel string
	Output int
}

// mostGraph bounds the file of a graph.
const mostGraph = 256 << 20

// Feeds are what the graph beside a recording (rank_0/graphs/ms_output_trace_code_graph_0.pb) says feeds the inputs of
// its kernels, in their order; a zero Port is a parameter or a constant. nil if there is no such graph that can be read.
func Feeds(r *Recording) map[string][]Port {
	if r.Graph == "" {
		return nil
	}
	path := filepath.Join(r.Dir, "..", "..", "..", "graphs", "ms_output_trace_code_graph_"+r.Graph+".pb")
	f, size, err := plainfile.Open(path, "a graph")
	if err != nil {
		return nil
	}
	defer f.Close()
	if size > mostGraph {
		return nil
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return nil
	}
	return feedsOf(data)
}

// node is one of a graph: what goes in by name, its own name, its type, and what it is called with its scope.
type node struct {
	inputs          []string
	name, typ, full string
}

// feedsOf reads a graph of MindSpore (anf_ir.proto): a model, whose field 4 is the graph, whose fields 1 are nodes and
// 5 constants.
func feedsOf(data []byte) map[string][]Port {
	nodes, constants := map[string]*node{}, map[string]int{}
	var order []*node
	err := protofield.Walk(data, func(num protowire.Number, graph protofield.Value) error {
		if num != 4 {
			return nil
		}
		return graph.Walk(func(num protowire.Number, f protofield.Value) error {
			switch num {
			case 1:
				n := &node{}
				if err := f.Walk(n.field); err != nil {
					return err
				}
				nodes[n.name] = n
				order = append(order, n)
			case 5:
				name, value := "", -1
				err := f.Walk(func(num protowire.Number, f protofield.Value) error {
					switch num {
					case 1:
						name = string(f.Bytes)
					case 2:
						return f.Walk(func(num protowire.Number, f protofield.Value) error {
							if num == 3 && f.Number < 1<<16 {
								value = int(f.Number)
							}
							return nil
						})
					}
					return nil
				})
				constants[name] = value
				return err
			}
			return nil
		})
	})
	if err != nil {
		return nil
	}
	feeds := map[string][]Port{}
	// expand lists what an input is made of: a tuple is what is in it.
	var expand func(name string, depth int) []Port
	expand = func(name string, depth int) []Port {
		n := nodes[name]
		switch {
		case n == nil || depth > 64 || n.typ == "Load":
			return []Port{{}}
		case n.typ == "UpdateState":
			return nil
		case n.typ == "Depend" && len(n.inputs) > 0:
			return expand(n.inputs[0], depth+1)
		case n.typ == "MakeTuple":
			var list []Port
			for _, in := range n.inputs {
				list = append(list, expand(in, depth+1)...)
			}
			return list
		case n.typ == "TupleGetItem" && len(n.inputs) > 1:
			at := constants[n.inputs[1]]
			if of := expand(n.inputs[0], depth+1); len(of) > 1 && at >= 0 && at < len(of) {
				return of[at : at+1]
			} else if len(of) == 1 && of[0].Kernel != "" && at >= 0 {
				return []Port{{of[0].Kernel, at}}
			}
			return []Port{{}}
		}
		return []Port{{kernelName(n.full), 0}}
	}
	for _, n := range order {
		switch n.typ {
		case "Load", "UpdateState", "Depend", "MakeTuple", "TupleGetItem":
			continue
		}
		var list []Port
		for _, in := range n.inputs {
			list = append(list, expand(in, 0)...)
		}
		feeds[kernelName(n.full)] = list
	}
	return feeds
}

// kernelName is what files call the kernel of a node.
func kernelName(full string) string { return strings.ReplaceAll(full, "/", "_") }

func (n *node) field(num protowire.Number, f protofield.Value) error {
	switch num {
	case 1:
		return f.Walk(func(num protowire.Number, f protofield.Value) error {
			if num == 1 {
				n.inputs = append(n.inputs, string(f.Bytes))
			}
			return nil
		})
	case 2:
		n.name = string(f.Bytes)
	case 3:
		n.typ = string(f.Bytes)
	case 8:
		n.full = string(f.Bytes)
	}
	return nil
}

// inputOf is the place of an input among those of its kernel, by its path; -1 if it is not known.
func inputOf(path string) int {
	at, err := strconv.Atoi(path)
	if err != nil {
		return -1
	}
	return at
}

// Fed is what feeds an input of a kernel by a graph; false if that is not known.
func Fed(feeds map[string][]Port, kernel, path string) (Port, bool) {
	list, at := feeds[kernel], inputOf(path)
	if at < 0 || at >= len(list) || list[at].Kernel == "" {
		return Port{}, false
	}
	return list[at], true
}
