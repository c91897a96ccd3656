package read

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"precision/graph"
	"precision/graph/internal/scan"
)

// Open reads the graph file at path. The kind of file is found from its content: a text graph, the JSON that atc
// prints, an offline model, a binary model definition or an ONNX-style dump.
//
// A file that cannot be opened gives the error of the operating system; one that cannot be understood gives
// an *[Error] with path, place and code.
func Open(path string) (*graph.Model, error) {
	m, err := open(path)
	if err != nil {
		return nil, err
	}
	return m.Own(), nil
}

func open(path string) (*graph.Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.IsDir() {
		return nil, &os.PathError{Op: "open", Path: path, Err: errors.New("is a directory, expected a graph file")}
	}
	if st.Mode().IsRegular() {
		head := make([]byte, min(sniffLen, st.Size()))
		if _, err := f.ReadAt(head, 0); err == nil {
			if src := sniff(head); container(src) {
				return readContainer(src, f, st.Size(), path)
			}
		}
	}
	return read(f, path)
}

// Read reads a graph from r; name stands for it in errors and warnings. See [Open].
func Read(r io.Reader, name string) (*graph.Model, error) {
	m, err := read(r, name)
	if err != nil {
		return nil, err
	}
	return m.Own(), nil
}

func read(r io.Reader, name string) (*graph.Model, error) {
	b := bufio.NewReaderSize(r, sniffLen)
	head, err := b.Peek(sniffLen)
	if err != nil && err != io.EOF {
		return nil, &graph.Error{Path: name, Offset: int64(len(head)), Fault: graph.FaultRead, Msg: "read: " + err.Error()}
	}
	if bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) {
		b.Discard(3)
		head = head[3:]
	}
	switch src := sniff(head); {
	case src == graph.SourceJSON:
		return readJSON(b, name, false)
	case src == graph.SourceText:
		return readText(b, name)
	case src == graph.SourceONNX:
		return readONNX(b, name)
	case container(src):
		data, err := io.ReadAll(b)
		if err != nil {
			return nil, &graph.Error{Path: name, Offset: int64(len(data)), Fault: graph.FaultRead, Msg: "read: " + err.Error()}
		}
		return readContainer(src, bytes.NewReader(data), int64(len(data)), name)
	}
	return nil, &graph.Error{Path: name, Offset: 0, Msg: "file is empty, expected a GE graph"}
}

// container reports whether a source must be read as a whole or at places, not as a stream.
func container(s graph.Source) bool {
	return s == graph.SourceBinary || s == graph.SourceOM || s == graph.SourceOM2
}

func readContainer(src graph.Source, r io.ReaderAt, size int64, path string) (*graph.Model, error) {
	switch src {
	case graph.SourceOM:
		return readOM(r, size, path)
	case graph.SourceOM2:
		return readOM2(r, size, path)
	}
	if size > maxModelDef {
		return nil, &graph.Error{Path: path, Offset: 0, Fault: graph.FaultLimit, Msg: fmt.Sprintf("binary model definition of %d bytes", size)}
	}
	data := make([]byte, size)
	if _, err := r.ReadAt(data, 0); err != nil && err != io.EOF {
		return nil, &graph.Error{Path: path, Offset: 0, Fault: graph.FaultRead, Msg: "read: " + err.Error()}
	}
	m := &graph.Model{Path: path, Source: graph.SourceBinary}
	b := graph.NewBuilder()
	if err := readBinary(b, m, data, 0); err != nil {
		return nil, err
	}
	if m.Graphs == nil {
		return nil, &graph.Error{Path: path, Offset: 0, Msg: "no graph in it; neither text, JSON nor a GE model"}
	}
	m.Warnings = b.Warnings
	return m, nil
}

const sniffLen = 4096

// sniff tells the kind of file from its first bytes.
func sniff(head []byte) graph.Source {
	p := bytes.TrimLeft(head, " \t\r\n\f\v")
	if len(p) == 0 {
		return graph.SourceUnknown
	}
	switch {
	case bytes.HasPrefix(head, []byte("IMOD")):
		return graph.SourceOM
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return graph.SourceOM2
	}
	for _, c := range head[:min(len(head), 512)] {
		if c < ' ' && scan.Class[c]&scan.ClsSpace == 0 {
			return graph.SourceBinary
		}
	}
	switch c := p[0]; {
	case c == '{' || c == '[' && !bytes.Contains(p[:min(len(p), 64)], []byte(".")):
		return graph.SourceJSON
	case bytes.HasPrefix(p, []byte("ir_version")), bytes.HasPrefix(p, []byte("producer_name")),
		nodeGraph(p):
		return graph.SourceONNX
	default:
		return graph.SourceText
	}
}

// nodeGraph recognises graph { node { …, an ONNX graph without the usual lines before it.
func nodeGraph(p []byte) bool {
	words := bytes.Fields(p[:min(len(p), 64)])
	return len(words) > 3 && string(words[0]) == "graph" && string(words[1]) == "{" && string(words[2]) == "node"
}
