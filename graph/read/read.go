package read

import (
	"bufio"
	"bytes"
	"context"
	"io"

	"precision/graph"
	"precision/internal/plainfile"
	"precision/internal/scan"
)

// Open reads the graph file at path. The kind of file is found from its content: a text graph, the JSON that atc
// prints, an offline model, a binary model definition or an ONNX-style dump.
//
// A file that cannot be opened, and what is no plain file, gives an [fs.PathError]; one that cannot be understood gives
// a [*graph.Error] with path, place and kind of fault. Reading stops when ctx ends, with its error.
func Open(ctx context.Context, path string) (*graph.Model, error) {
	f, size, err := plainfile.Open(path, "a graph file")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, min(sniffLen, size))
	if _, err := f.ReadAt(head, 0); err == nil {
		if src := sniff(head); container(src) {
			m, err := readContainer(ctx, src, f, size, path)
			return finish(ctx, m, explain(err, head, size, path))
		}
	}
	return Read(ctx, f, path)
}

// Read reads a graph from r; name stands for it in errors and warnings. See [Open].
func Read(ctx context.Context, r io.Reader, name string) (*graph.Model, error) {
	m, err := read(ctx, &stopping{ctx, r}, name)
	return finish(ctx, m, err)
}

// finish makes a model ready for use. What went wrong after ctx ended is that it did.
func finish(ctx context.Context, m *graph.Model, err error) (*graph.Model, error) {
	switch {
	case err == nil:
		return m.Own(), nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return nil, err
}

// stopping is a reader that ends with its context.
type stopping struct {
	ctx context.Context
	r   io.Reader
}

func (s *stopping) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.Read(p)
}

func read(ctx context.Context, r io.Reader, name string) (*graph.Model, error) {
	b := bufio.NewReaderSize(r, sniffLen)
	head, err := b.Peek(sniffLen)
	if err != nil && err != io.EOF {
		return nil, broken(name, len(head), err)
	}
	if bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) {
		b.Discard(3)
		head = head[3:]
	}
	head = bytes.Clone(head) // the reader goes on in the same memory
	if of := tensorflowText(bytes.TrimLeft(head, " \t\r\n")); of != nil {
		return readTensorFlow(b, name, of)
	}
	m, err := readAs(ctx, sniff(head), b, name)
	return m, explain(err, head, -1, name)
}

// readAs reads a graph of a kind that is known.
func readAs(ctx context.Context, src graph.Source, r io.Reader, name string) (*graph.Model, error) {
	switch {
	case src == graph.SourceJSON:
		return readJSON(r, name, false)
	case src == graph.SourceText:
		return readText(r, name)
	case src == graph.SourceONNX:
		return readONNX(r, name)
	case container(src):
		data, err := io.ReadAll(io.LimitReader(r, maxModelDef+1))
		if err != nil {
			return nil, broken(name, len(data), err)
		}
		return readContainer(ctx, src, bytes.NewReader(data), int64(len(data)), name)
	}
	return nil, &graph.Error{Path: name, Offset: 0, Msg: graph.Messagef("file is empty, expected a GE graph")}
}

// broken is a file whose reading broke off behind n bytes.
func broken(name string, n int, err error) error {
	return &graph.Error{Path: name, Offset: int64(n), Fault: graph.FaultRead, Msg: graph.Messagef("read: %v", err)}
}

// container reports whether a source must be read as a whole or at places, not as a stream.
func container(s graph.Source) bool {
	return s == graph.SourceBinary || s == graph.SourceOM || s == graph.SourceOM2
}

func readContainer(ctx context.Context, src graph.Source, r io.ReaderAt, size int64, path string) (*graph.Model, error) {
	switch src {
	case graph.SourceOM:
		return readOM(ctx, r, size, path)
	case graph.SourceOM2:
		return readOM2(ctx, r, size, path)
	}
	if size > maxModelDef {
		return nil, &graph.Error{Path: path, Offset: 0, Fault: graph.FaultLimit, Msg: graph.Messagef("binary model definition of %d bytes", size)}
	}
	data := make([]byte, size)
	if _, err := r.ReadAt(data, 0); err != nil && err != io.EOF {
		return nil, broken(path, 0, err)
	}
	if of := tensorflowBinary(data[:min(len(data), sniffLen)]); of != nil {
		return readTensorFlowBinary(ctx, data, path, of)
	}
	m := &graph.Model{Path: path, Source: graph.SourceBinary}
	b := graph.NewBuilder()
	if err := readBinary(ctx, b, m, data, 0); err != nil {
		return nil, err
	}
	if m.Graphs == nil {
		return nil, &graph.Error{Path: path, Offset: 0, Msg: graph.Messagef("no graph in it; neither text, JSON nor a GE model")}
	}
	m.Warnings = b.Warnings()
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
