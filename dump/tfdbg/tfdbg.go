// Package tfdbg reads what the debugger of TensorFlow 2 dumps (tf.debugging.experimental.enable_dump_debug_info): files
// tfdbg_events.* of records, each a DebugEvent. Tensors are left where they are in the files.
package tfdbg

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"precision/dump/dtype"
	"precision/dump/npy"
	"precision/internal/plainfile"
	"precision/internal/protofield"
	"precision/internal/tfrecord"
)

// prefix begins the names of the files; their endings say what events they hold.
const (
	prefix      = "tfdbg_events."
	ofTraces    = ".graph_execution_traces"
	ofGraphs    = ".graphs"
	ofFrames    = ".stack_frames"
	ofSources   = ".source_files"
	ofExecution = ".execution"
	ofMetadata  = ".metadata"
	// recorder begins the names of arrays that hold such a file as bytes, written beside the arrays of outputs by the
	// kit's recorder (repl/capture/tfdbg_ascend.py): how the graphs that ran were made.
	recorder, ofArrays = "precision_recorder.0.", ".npy"
)

// Is tells whether a file is one of the debugger's, by its name.
func Is(file string) bool {
	if !strings.HasPrefix(file, prefix) {
		return false
	}
	return slices.ContainsFunc([]string{ofTraces, ofGraphs, ofFrames, ofSources, ofExecution, ofMetadata}, func(end string) bool { return strings.HasSuffix(file, end) })
}

// OfRecorder tells whether a file is an array of the kit's recorder that says how a graph was made, by its name.
func OfRecorder(file string) bool {
	return strings.HasPrefix(file, recorder) && strings.HasSuffix(file, ofArrays)
}

// Trace is an output of an operator that ran in a graph.
type Trace struct {
	Op   string
	Slot int64
	// Time is when it was recorded, in microseconds since 1970; no two are the same.
	Time uint64
	Type dtype.Type
	// Shape, Offset and Size are of the elements in the file.
	Shape        []int64
	File         string
	Offset, Size int64
}

// Health counts what modes without values tell.
type Health struct {
	// Mode is the name of the mode, Tensors how many there are of how many operators.
	Mode         string
	Tensors, Ops int
	// Bad is how many held NaN or infinities, First the first of these in the order of
	// recording, with its numbers of both, -1 where the mode does not count them.
	Bad      int
	First    string
	NaN, Inf int64
}

// Recording is what a folder holds.
type Recording struct {
	Traces []Trace
	// Without is nil unless tensors were recorded without their values.
	Without *Health
	// Eager is how many operators ran outside of graphs: these have no names.
	Eager int
	// Version is that of the TensorFlow that wrote it.
	Version string
	// Damaged tells where a file ends too early or is not what was written; what stands before it
	// was read.
	Damaged []Damage

	created map[node]*created
	taken   map[node][]*created // what takes an output of a graph, in the order in which it was made
	graphs  map[string]string   // of an operator: the one it was made in last
	ran     map[string]string   // of an operator: the one it ran in last, where that was recorded
	unlike  map[string]bool     // operators of one name that several graphs make of other inputs
	outer   map[string]string   // the graph around one
	frames  map[string]frame
	sources []source // by number
	first   int64    // the first of the run that is read
}

// Damage is a place in a file.
type Damage struct {
	File   string
	Offset int64
	What   string
}

// node names an operator, or an output of one, in a graph.
type node struct{ graph, name string }

// created is what was said of an operator when its graph was made.
type created struct {
	typ     string
	inputs  []string // outputs, as name:output; ^name had to run before
	outputs uint64
	frames  []string // identifiers of stack frames, the outermost first
	at      int      // the place among all that were made
}

type frame struct{ file, line int64 }

// source is a file of the program; what is in it is kept of the user's.
type source struct {
	path  string
	lines []string
}

// event fields of DebugEvent.
const (
	wallTime   = 1
	metadata   = 3
	sourceFile = 4
	stackFrame = 6
	graphOp    = 7
	graph      = 8
	execution  = 9
	traced     = 10
)

// Read lists what the files of a folder hold.
func Read(dir string, files []string) (*Recording, error) {
	r := &Recording{created: map[node]*created{}, taken: map[node][]*created{}, graphs: map[string]string{}, ran: map[string]string{}, unlike: map[string]bool{}, outer: map[string]string{}, frames: map[string]frame{}}
	files = slices.Clone(files)
	slices.Sort(files)
	names := map[string]string{} // one text for a name
	health := map[string]bool{}
	last := uint64(0)
	for _, file := range files {
		path := filepath.Join(dir, file)
		if strings.HasSuffix(file, ofSources) || OfRecorder(file) {
			r.first = int64(len(r.sources)) // of a run, whose frames come next
		}
		err := r.walk(path, func(rec tfrecord.Record) error {
			err := protofield.Value{Bytes: rec.Head, Size: rec.Size}.Walk(func(num protowire.Number, v protofield.Value) error {
				switch num {
				case wallTime:
					last = max(last+1, uint64(max(math.Float64frombits(v.Number), 0)*1e6))
				case metadata:
					return v.Read(protofield.Fields{1: &r.Version})
				case sourceFile:
					return r.source(v)
				case stackFrame:
					return r.frame(v)
				case graphOp:
					return r.op(v)
				case graph:
					return r.graph(v)
				case execution:
					r.Eager++
				case traced:
					return r.trace(v, path, rec, last, names, health)
				}
				return nil
			})
			if errors.Is(err, protofield.Err) {
				r.Damaged = append(r.Damaged, Damage{path, rec.Offset, "a record is no event of TensorFlow's debugger"})
				err = nil
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if r.Without != nil {
		r.Without.Ops = len(health)
	}
	return r, nil
}

// walk gives the records of a file; one that is damaged ends it.
func (r *Recording) walk(path string, take func(tfrecord.Record) error) error {
	f, size, err := plainfile.Open(path, "events of TensorFlow's debugger")
	if err != nil {
		return err
	}
	defer f.Close()
	begin := int64(0)
	if OfRecorder(filepath.Base(path)) {
		h, err := npy.Read(f, size)
		if err == nil && (h.Type != dtype.Uint8 || len(h.Shape) != 1) {
			err = fmt.Errorf("found %s of shape %v, expected uint8 of one axis", h.Type, h.Shape)
		}
		if err != nil {
			r.Damaged = append(r.Damaged, Damage{path, 0, err.Error()})
			return nil
		}
		begin = h.Offset
	}
	err = tfrecord.Walk(bufio.NewReaderSize(io.NewSectionReader(f, begin, size-begin), 1<<20), take)
	if bad := (*tfrecord.Error)(nil); errors.As(err, &bad) {
		r.Damaged = append(r.Damaged, Damage{path, begin + bad.Offset, bad.What})
		return nil
	}
	return err
}

func (r *Recording) source(v protofield.Value) error {
	var s source
	err := v.Read(protofield.Fields{1: &s.path, 3: func(v protofield.Value) error {
		if !library(s.path) {
			s.lines = append(s.lines, string(v.Bytes))
		}
		return nil
	}})
	r.sources = append(r.sources, s)
	return err
}

func (r *Recording) frame(v protofield.Value) error {
	id, file, line := "", int64(0), int64(0)
	err := v.Read(protofield.Fields{1: &id, 2: protofield.Fields{1: &file, 2: &line}})
	r.frames[id] = frame{r.first + file, line}
	return err
}

// op reads a GraphOpCreation.
func (r *Recording) op(v protofield.Value) error {
	var n node
	c := &created{at: len(r.created)}
	err := v.Read(protofield.Fields{1: &c.typ, 2: &n.name, 4: &n.graph, 6: &c.inputs, 7: &c.outputs, 8: protofield.Fields{2: &c.frames}})
	if _, twice := r.created[n]; twice || err != nil {
		return err
	}
	if before := r.created[node{r.graphs[n.name], n.name}]; before != nil && (before.typ != c.typ || !slices.Equal(before.inputs, c.inputs)) {
		r.unlike[n.name] = true
	}
	r.created[n], r.graphs[n.name] = c, n.graph
	for _, in := range c.inputs {
		if of := r.taken[node{n.graph, in}]; len(of) == 0 || of[len(of)-1] != c {
			r.taken[node{n.graph, in}] = append(of, c)
		}
	}
	return nil
}

// graph reads a DebuggedGraph.
func (r *Recording) graph(v protofield.Value) error {
	id, outer := "", ""
	err := v.Read(protofield.Fields{1: &id, 6: &outer})
	r.outer[id] = outer
	return err
}

// before ends the name of a variable whose value is that of steps before, at least in part: no operator of the recording.
const before = " before"

// Port is an output of an operator.
type Port struct {
	Op   string
	Slot int64
}

// Operators are those of the graphs, whether they ran or not.
func (r *Recording) Operators() iter.Seq[string] { return maps.Keys(r.graphs) }

// where is the graph of an operator; none where several make it in other ways and the recording does not tell which ran.
func (r *Recording) where(op string) string {
	if ran := r.ran[op]; r.created[node{ran, op}] != nil {
		return ran
	}
	if r.unlike[op] {
		return ""
	}
	return r.graphs[op]
}

// Made is the type of an operator and what goes into it; nothing where the recording does not tell. An operator of
// that name which was recorded of another graph is none of its inputs: its name has its own graph before it. Behind what
// reads a variable stands what was written to it before, by operators of the same graph that have no outputs; where none
// of these wrote all of it, the variable is one of before, which is not recorded. Behind an argument of a function within
// another one stands the graph of the function, by its identifier.
func (r *Recording) Made(op string) (typ string, inputs []Port) {
	graph := r.where(op)
	c := r.created[node{graph, op}]
	if c == nil {
		return "", nil
	}
	if c.typ == "Placeholder" && r.outer[r.outer[graph]] != "" {
		return "_Arg", []Port{{Op: graph}} // of a function that another one calls, with what is not told
	}
	add := func(names []string) {
		for _, name := range names {
			if from, slot, _ := strings.Cut(name, ":"); !strings.HasPrefix(name, "^") {
				n, _ := strconv.ParseInt(slot, 10, 32)
				if r.where(from) != graph {
					from = graph + "/" + from
				}
				inputs = append(inputs, Port{from, n})
			}
		}
	}
	add(c.inputs)
	if (c.typ == "ReadVariableOp" || c.typ == "ResourceGather") && len(c.inputs) > 0 {
		whole := false
		for _, w := range r.taken[node{graph, c.inputs[0]}] {
			if w.outputs == 0 && w.at < c.at {
				whole = whole || w.typ == "AssignVariableOp"
				add(slices.DeleteFunc(slices.Clone(w.inputs), func(in string) bool { return in == c.inputs[0] }))
			}
		}
		if !whole {
			inputs[0].Op += before
		}
	}
	return c.typ, inputs
}

// The modes of which the tensors are values: all but these are counts.
const fullTensor = 7

var modes = map[uint64]string{1: "NO_TENSOR", 2: "CURT_HEALTH", 3: "CONCISE_HEALTH", 4: "FULL_HEALTH", 5: "SHAPE", 6: "FULL_NUMERICS", 8: "REDUCE_INF_NAN_THREE_SLOTS"}

func (r *Recording) trace(v protofield.Value, path string, rec tfrecord.Record, at uint64, names map[string]string, health map[string]bool) error {
	t := Trace{File: path, Time: at}
	mode, data, graph := uint64(0), []byte(nil), ""
	one := func(name []byte) string {
		known, ok := names[string(name)]
		if !ok {
			known = string(name)
			names[known] = known
		}
		return known
	}
	err := v.Walk(func(num protowire.Number, v protofield.Value) error {
		switch num {
		case 1:
			graph = one(v.Bytes)
		case 2:
			t.Op = one(v.Bytes)
		case 3:
			t.Slot = int64(v.Number)
		case 4:
			mode = v.Number
		case 5:
			var err error
			data, err = r.tensor(&t, v, rec)
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.ran[t.Op] = graph
	if mode != fullTensor {
		r.count(&t, mode, data)
		health[t.Op] = true
		return nil
	}
	if t.Type != dtype.Undefined {
		r.Traces = append(r.Traces, t)
	}
	return nil
}

// tensor reads a TensorProto up to its elements, of which it gives those at hand.
func (r *Recording) tensor(t *Trace, v protofield.Value, rec tfrecord.Record) (data []byte, err error) {
	err = v.Walk(func(num protowire.Number, v protofield.Value) error {
		switch num {
		case 1:
			t.Type, _ = dtype.FromTensorFlow(v.Number)
		case 2:
			return v.Read(protofield.Dims(&t.Shape))
		case 4:
			// The bytes are part of the record's: how far in, their place in memory tells.
			t.Offset, t.Size, data = rec.Offset+int64(cap(rec.Head)-cap(v.Bytes)), v.Size, v.Bytes
		}
		return nil
	})
	return data, err
}

// count adds up what a mode without values tells of a tensor, in elements of float32 or float64.
func (r *Recording) count(t *Trace, mode uint64, data []byte) {
	if r.Without == nil {
		r.Without = &Health{Mode: modes[mode], NaN: -1, Inf: -1}
	}
	h := r.Without
	h.Tensors++
	at := func(i int) float64 {
		switch {
		case t.Type == dtype.Float32 && 4*i+4 <= len(data):
			return float64(math.Float32frombits(uint32(le(data[4*i:], 4))))
		case t.Type == dtype.Float64 && 8*i+8 <= len(data):
			return math.Float64frombits(le(data[8*i:], 8))
		}
		return 0
	}
	nan, inf, bad := int64(-1), int64(-1), false
	switch mode {
	case 2: // tensor, whether there is any
		bad = at(1) != 0
	case 3: // tensor, elements, -Inf, Inf, NaN
		inf, nan = int64(at(2)+at(3)), int64(at(4))
	case 4: // tensor, device, type, rank, elements, -Inf, Inf, NaN
		inf, nan = int64(at(5)+at(6)), int64(at(7))
	}
	if !bad && nan <= 0 && inf <= 0 {
		return
	}
	h.Bad++
	if h.First == "" {
		h.First, h.NaN, h.Inf = fmt.Sprintf("%s:%d", t.Op, t.Slot), nan, inf
	}
}

func le(b []byte, n int) (v uint64) {
	for i := range n {
		v |= uint64(b[i]) << (8 * i)
	}
	return v
}

// Lines are the lines of the program that made an operator, the innermost first, without those of
// TensorFlow and Keras; none where they are not known.
func (r *Recording) Lines(op string) (lines []string) {
	c := r.created[node{r.where(op), op}]
	if c == nil {
		return nil
	}
	for _, id := range slices.Backward(c.frames) {
		f, known := r.frames[id]
		if !known || f.file < 0 || f.file >= int64(len(r.sources)) || library(r.sources[f.file].path) {
			continue
		}
		file := &r.sources[f.file]
		line := fmt.Sprintf("%s:%d", file.path, f.line)
		if 0 < f.line && f.line <= int64(len(file.lines)) {
			line += ": " + strings.TrimSpace(file.lines[f.line-1])
		}
		lines = append(lines, line)
	}
	return lines
}

// library tells files of TensorFlow, of Keras and of what these run Python through.
func library(path string) bool {
	path = filepath.ToSlash(path)
	for _, part := range []string{"/tensorflow/", "/tensorflow_core/", "/keras/", "/tf_keras/", "/wrapt/", "__autograph_generated_file"} {
		if strings.Contains(path, part) && (strings.Contains(path, "/site-packages/") || strings.Contains(path, "/dist-packages/") || part[0] == '_') {
			return true
		}
	}
	return strings.HasPrefix(filepath.Base(path), "<")
}
