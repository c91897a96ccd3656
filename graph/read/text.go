package read

import (
	"io"

	"precision/graph"
	"precision/internal/scan"
)

// textReader reads protobuf text form: it names fields and braces messages.
type textReader struct {
	*scan.Text
	path string
	to   *assembler
}

// readText reads the text form of a ModelDef, or of a GraphDef, as torchair writes its graphs (dynamo_original_*.txt): its
// operators are at the top. The file is streamed: only the model is kept.
func readText(r io.Reader, path string) (*graph.Model, error) {
	m := &graph.Model{Path: path, Source: graph.SourceText}
	t := newTextReader(r, m)
	t.message(modelDef)
	t.to.endModel()
	return t.to.finish(t.Err)
}

func newTextReader(r io.Reader, m *graph.Model) *textReader {
	t := &textReader{Text: scan.NewText(r), path: m.Path}
	t.to = newAssembler(graph.NewBuilder(), m, t)
	return t
}

func (t *textReader) warning(msg graph.Message) graph.Warning {
	return graph.Warning{Path: t.path, Line: t.Line(), Offset: t.Offset(), Msg: msg}
}

func (t *textReader) refuse(msg graph.Message) { t.Failf(msg.Format, msg.Args...) }

// message reads the fields of the message just entered.
func (t *textReader) message(m *message) {
	to := t.to
	for {
		name := t.Next()
		if name == nil {
			return
		}
		f := m.named(name)
		if f == nil && m == modelDef && string(name) == "op" {
			of := modelDef.named([]byte("graph"))
			to.begin(graphDef, t.Line())
			to.graph.graph.Name = to.model.Name
			defer to.end(of)
			m = graphDef
			f = m.named(name)
		}
		if f == nil {
			t.unknown(m, name)
			continue
		}
		for list, ok := t.Value(); ok; ok = list && t.More() {
			switch f.kind {
			case kindMessage:
				if t.Message() {
					to.begin(f.message, t.Open[t.Depth])
					t.message(f.message)
					to.end(f)
				}
			case kindText:
				f.text(to, t.Str())
			case kindInt:
				f.int(to, t.Int())
			case kindBool:
				f.bool(to, t.Bool())
			case kindFloat:
				f.float(to, t.Float())
			case kindBlob:
				f.blob(to, t.Blob())
			case kindWord:
				f.text(to, t.Enum())
			default:
				t.SkipValue()
			}
		}
	}
}

func (t *textReader) unknown(m *message, name []byte) {
	if !m.quiet {
		t.to.Warn(t.warning(graph.Messagef("unknown field %q in %s skipped", scan.Clip(name), graph.Term(m.name))))
	}
	t.Skip()
}
