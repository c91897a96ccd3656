package mindspore

import (
	"path/filepath"
	"strconv"
	"strings"

	"precision/internal/lazy"
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

// Feeds are what the graph beside a recording (rank_0/graphs/ms_output_trace_code_graph_0.pb, or its text, .ir) says feeds
// the inputs of its kernels, in their order; a zero Port is a parameter or a constant. nil if there is no such graph that
// can be read. What lies there as the order of execution is not taken: it has other kernels than those that ran, and
// kernels of a CPU ran in another order in each of 78 recordings.
func Feeds(r *Recording) map[string][]Port {
	if r.Graph == "" {
		return nil
	}
	for _, form := range []struct {
		ext  string
		read func([]byte) *nodes
	}{{".pb", protoNodes}, {".ir", textNodes}} {
		path := filepath.Join(r.Dir, "..", "..", "..", "graphs", "ms_output_trace_code_graph_"+r.Graph+form.ext)
		data, err := plainfile.ReadFile(path, "a graph", mostGraph)
		if err != nil {
			continue
		}
		if n := form.read(data); n != nil {
			return n.feeds()
		}
	}
	return nil
}

// node is one of a graph: what goes in by name, its own name, its type, and what it is called with its scope.
type node struct {
	inputs          []string
	name, typ, full string
}

// nodes are those of a graph in its order and by their names, and the constants that are whole numbers.
type nodes struct {
	order     []*node
	named     map[string]*node
	constants map[string]int
}

func (g *nodes) add(n *node) {
	g.named[n.name] = n
	g.order = append(g.order, n)
}

// mostConstant bounds what may be the place of an element of a tuple.
const mostConstant = 1 << 16

// protoNodes reads a graph of MindSpore (anf_ir.proto): a model, whose field 4 is the graph, whose fields 1 are nodes and
// 5 constants.
func protoNodes(data []byte) *nodes {
	g := &nodes{named: map[string]*node{}, constants: map[string]int{}}
	err := protofield.Message(data).Read(protofield.Fields{4: protofield.Fields{
		1: func(v protofield.Value) error {
			n := &node{}
			err := v.Read(protofield.Fields{1: protofield.Fields{1: &n.inputs}, 2: &n.name, 3: &n.typ, 8: &n.full})
			if err == nil {
				g.add(n)
			}
			return err
		},
		5: func(v protofield.Value) error {
			name, value := "", -1
			err := v.Read(protofield.Fields{1: &name, 2: protofield.Fields{3: func(v protofield.Value) error {
				if v.Number < mostConstant {
					value = int(v.Number)
				}
				return nil
			}}})
			g.constants[name] = value
			return err
		},
	}})
	if err != nil {
		return nil
	}
	return g
}

// textNodes reads the text of a graph of MindSpore, whose nodes are lines such as
//
//	%7(equiv_33_CNode_64) = TupleGetItem(%6, I64(0)) …
//
// with a line "# Fullname with scope: (Default/…)" somewhere before the next one. Of nodes in several graphs, which call
// each other and have the same names, nothing is known.
func textNodes(data []byte) *nodes {
	g := &nodes{named: map[string]*node{}, constants: map[string]int{}}
	text := string(data)
	var at [][]int // of the heads of nodes, as regexp has them
	from := 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimLeft(line, " "), "%") {
			if m := definition().FindStringSubmatchIndex(line); m != nil {
				for i := range m {
					m[i] += from
				}
				at = append(at, m)
			}
		}
		from += len(line)
	}
	for i, m := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		n := &node{name: text[m[2]:m[3]], typ: text[m[4]:m[5]], inputs: arguments(text[m[1]:end])}
		if _, full, ok := strings.Cut(text[m[1]:end], "# Fullname with scope: ("); ok {
			n.full, _, _ = strings.Cut(full, ")")
		}
		if g.named[n.name] != nil {
			return nil
		}
		g.add(n)
		for _, in := range n.inputs {
			if v, is := strings.CutPrefix(in, "I64("); is {
				if at, err := strconv.Atoi(strings.TrimSuffix(v, ")")); err == nil && at < mostConstant {
					g.constants[in] = at
				}
			}
		}
	}
	if len(g.order) == 0 {
		return nil
	}
	return g
}

// definition is the head of a line that defines a node, up to its arguments: its name and its type.
var definition = lazy.Regexp(`^ *(%\d+)\([^\n]*?\) = (\w+)\(`)

// arguments cuts what stands before the bracket that closes at its commas outside of others.
func arguments(text string) (list []string) {
	depth, start, quoted := 0, 0, false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
		case strings.IndexByte("([{<", c) >= 0:
			depth++
		case depth == 0 && (c == ',' || c == ')'):
			if arg := strings.TrimSpace(text[start:i]); arg != "" {
				list = append(list, arg)
			}
			if start = i + 1; c == ')' {
				return list
			}
		case strings.IndexByte(")]}>", c) >= 0:
			depth--
		}
	}
	return nil
}

// feeds is [Feeds].
func (g *nodes) feeds() map[string][]Port {
	feeds, made := map[string][]Port{}, map[string][]Port{}
	unknown := []Port{{}}
	room := 4 * mostPorts
	for _, n := range g.order {
		room += usualPorts * len(n.inputs)
	}
	// expand lists what inputs are made of: a tuple is what is in it. Tuples of tuples may hold far more than the graph.
	var expand func(names []string, depth int) []Port
	tell := func(name string, depth int) []Port {
		n := g.named[name]
		switch {
		case n == nil || depth > mostNested || n.typ == "Load":
			return unknown
		case n.typ == "UpdateState":
			return nil
		case n.typ == "Depend" && len(n.inputs) > 0:
			return expand(n.inputs[:1], depth+1)
		case n.typ == "MakeTuple":
			return expand(n.inputs, depth+1)
		case n.typ == "TupleGetItem" && len(n.inputs) > 1:
			at, known := g.constants[n.inputs[1]]
			if !known {
				return unknown
			}
			if of := expand(n.inputs[:1], depth+1); len(of) > 1 && at >= 0 && at < len(of) {
				return of[at : at+1]
			} else if len(of) == 1 && of[0].Kernel != "" && at >= 0 {
				return []Port{{of[0].Kernel, at}}
			}
			return unknown
		}
		return []Port{{kernelName(n.full), 0}}
	}
	expand = func(names []string, depth int) (list []Port) {
		for _, name := range names {
			of, known := made[name]
			if !known {
				made[name] = unknown // what is made of itself is
				of = tell(name, depth)
				made[name] = of
			}
			if len(names) == 1 {
				return of
			}
			if len(list)+len(of) > min(mostPorts, room) {
				return unknown
			}
			list = append(list, of...)
		}
		room -= len(list)
		return list
	}
	for _, n := range g.order {
		switch n.typ {
		case "Load", "UpdateState", "Depend", "MakeTuple", "TupleGetItem":
			continue
		}
		feeds[kernelName(n.full)] = expand(n.inputs, 0)
	}
	return feeds
}

const (
	// mostNested is how deep tuples are followed.
	mostNested = 1 << 16
	// mostPorts is how many ports are told of a node, usualPorts how many an input of one stands for on average.
	mostPorts  = 1 << 14
	usualPorts = 16
)

// kernelName is what files call the kernel of a node.
func kernelName(full string) string { return strings.ReplaceAll(full, "/", "_") }

// Fed is what feeds an input of a kernel by a graph; false if that is not known.
func Fed(feeds map[string][]Port, kernel, path string) (Port, bool) {
	list := feeds[kernel]
	at, err := strconv.Atoi(path)
	if err != nil || at < 0 || at >= len(list) || list[at].Kernel == "" {
		return Port{}, false
	}
	return list[at], true
}
