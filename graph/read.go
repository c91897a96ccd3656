package graph

import (
	"bufio"
	"bytes"
	"io"
	"os"
)

// Open reads the graph file at path. The kind of file is found from its content: protobuf text form or JSON.
//
// A file that cannot be opened gives the error of the operating system; one that cannot be understood gives
// an *[Error] with path, place and code.
func Open(path string) (*Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f, path)
}

// Read reads a graph from r; name stands for it in errors and warnings. See [Open].
func Read(r io.Reader, name string) (*Model, error) {
	b := bufio.NewReaderSize(r, sniffLen)
	head, err := b.Peek(sniffLen)
	if err != nil && err != io.EOF {
		return nil, &Error{Path: name, Offset: int64(len(head)), Code: CodeRuleFile, Msg: "read: " + err.Error()}
	}
	if bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) {
		b.Discard(3)
		head = head[3:]
	}
	switch sniff(head) {
	case SourceJSON:
		return readJSON(b, name, false)
	case SourceText:
		return readText(b, name)
	}
	if len(bytes.TrimSpace(head)) == 0 {
		return nil, &Error{Path: name, Offset: 0, Code: CodeRuleFile, Msg: "file is empty, expected a GE graph"}
	}
	return nil, &Error{Path: name, Offset: 0, Code: CodeRuleFile,
		Msg: "neither a text graph nor JSON"}
}

const sniffLen = 4096

// sniff tells the kind of file from its first bytes.
func sniff(head []byte) Source {
	p := bytes.TrimLeft(head, " \t\r\n\f\v")
	if len(p) == 0 {
		return SourceUnknown
	}
	switch {
	case bytes.HasPrefix(head, []byte("IMOD")):
		return SourceOM
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return SourceOM2
	}
	for _, c := range head[:min(len(head), 512)] {
		if c < ' ' && class[c]&clsSpace == 0 {
			return SourceBinary
		}
	}
	switch c := p[0]; {
	case c == '{' || c == '[' && !bytes.Contains(p[:min(len(p), 64)], []byte(".")):
		return SourceJSON
	default:
		return SourceText
	}
}
