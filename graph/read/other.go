package read

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"

	"precision/graph"
	"precision/internal/lazy"
)

// magic are the first bytes of files that are often taken for a graph.
var magic = []struct {
	start string
	is    graph.Other
}{
	{"\x93NUMPY", graph.OtherNumpy},
	{"\x89HDF\r\n\x1a\n", graph.OtherHDF5},
	{"PK\x03\x04", graph.OtherZip},
	{"\x7fELF", graph.OtherBinary},
	{"MZ", graph.OtherBinary},
	{"%PDF", graph.OtherBinary},
	{"\x1f\x8b", graph.OtherBinary},
	{"\x89PNG", graph.OtherBinary},
}

// graphList is the member that every graph in JSON has.
var graphList = lazy.Regexp(`"graph"\s*:\s*\[`)

// explain adds to the error of a file what the file is, if that is no graph. head is how the
// file begins, size how long it is, -1 if that is not known.
func explain(err error, head []byte, size int64, path string) error {
	var fault *graph.Error
	if err == nil || !errors.As(err, &fault) || fault.Fault != graph.FaultContent {
		return err
	}
	if is := other(head, size); is != "" {
		return &graph.NotGraphError{Path: path, Is: is, Err: err}
	}
	return err
}

// other tells what a file is that could not be read as a graph, "" if it may be a damaged
// one.
func other(head []byte, size int64) graph.Other {
	for _, m := range magic {
		if bytes.HasPrefix(head, []byte(m.start)) {
			return m.is
		}
	}
	switch sniff(head) {
	case graph.SourceBinary:
		if deviceDump(head, size) {
			return graph.OtherDump
		}
	case graph.SourceJSON:
		named := bytes.Contains(head, []byte(`"graph"`))
		if !graphList().Match(head) && (named || json.Valid(head)) { // "graph" is something else, or it is a short file without
			return graph.OtherJSON
		}
	case graph.SourceText:
		if !fieldFirst(head) {
			return graph.OtherText
		}
	}
	return ""
}

// deviceDump reports whether bytes begin like a dump: the length of a header, and a
// protobuf message of that length.
func deviceDump(head []byte, size int64) bool {
	if len(head) < 9 {
		return false
	}
	n := binary.LittleEndian.Uint64(head)
	field, wire := head[8]>>3, head[8]&7
	return n > 0 && n < 1<<24 && (size < 0 || int64(n) <= size-8) && field >= 1 && field <= 15 && (wire == 0 || wire == 2)
}

// fieldFirst reports whether a text begins with a field of a GE model: name: or graph {.
func fieldFirst(text []byte) bool {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		end := bytes.IndexAny(line, ":{ \t")
		if end < 0 {
			return false
		}
		rest := bytes.TrimLeft(line[end:], " \t")
		return modelDef.named(line[:end]) != nil && len(rest) > 0 && (rest[0] == ':' || rest[0] == '{')
	}
	return false
}
