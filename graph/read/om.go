package read

import (
	"archive/zip"
	"context"
	"encoding/binary"
	"io"
	"path"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"precision/graph"
	"precision/internal/must"
)

const (
	omMagic         = "IMOD"
	omHeaderSize    = 256
	omTypeFlow      = 3
	omPartModel     = 0
	omPartFlowSub   = 7
	omVersionModels = 0x20000000 // from here on the header tells the number of models
	maxPartitions   = 4096
	maxModels       = 4096
	maxFlowDepth    = 4
	maxModelDef     = 2 << 30 // protobuf's own limit
)

// omReader reads an offline model, or one inside another.
type omReader struct {
	ctx   context.Context // a model is read in one go, so its end is the reader's
	r     io.ReaderAt
	size  int64
	base  int64 // file offset of r
	path  string
	depth int
	wide  bool // sizes of 64 bits
}

// fault ends the reading at a place of the file where something is bad.
func (o *omReader) fault(bad bool, off int64, format string, args ...any) {
	if bad {
		must.Do(&graph.Error{Path: o.path, Offset: o.base + off, Msg: graph.Messagef(format, args...)})
	}
}

func (o *omReader) bytes(off, n int64, what any) []byte {
	o.fault(off < 0 || n < 0 || off > o.size || n > o.size-off, off, "%s needs %d bytes, the file has %d from here", what, n, max(0, o.size-off))
	p := make([]byte, n)
	_, err := o.r.ReadAt(p, off)
	o.fault(err != nil, off, "%s: %v", what, err)
	return p
}

// readOM reads an offline model. Its graphs are those of all models inside; the attributes of the models behind the
// first are kept in SubModels.
func readOM(ctx context.Context, r io.ReaderAt, size int64, path string) (*graph.Model, error) {
	m := &graph.Model{Path: path, Source: graph.SourceOM}
	b := graph.NewBuilder()
	if err := (&omReader{ctx: ctx, r: r, size: size, path: path}).read(b, m); err != nil {
		return nil, err
	}
	m.Warnings = b.Warnings()
	return m, nil
}

// omHeader is the header of an offline model file.
type omHeader struct {
	length     int64 // bytes behind the header
	models     int   // sub models of a dynamic model, at least 1
	partitions []omPartition
}

// omPartition is one piece of an offline model file.
type omPartition struct {
	typ    int   // 0 model definition, 1 weights, 2 task info, 3 kernels, 6 flow model, 7 flow sub model, …
	offset int64 // in the file
	size   int64 // bytes
}

func (o *omReader) header() *omHeader {
	p, le := o.bytes(0, omHeaderSize, graph.Term("header")), binary.LittleEndian
	o.fault(string(p[:4]) != omMagic, 0, "magic %q, expected \"IMOD\"", string(p[:4]))
	n := le.Uint32(p[4:])
	o.fault(n != omHeaderSize, 4, "header of %d bytes, expected %d", n, omHeaderSize)
	h := &omHeader{length: int64(le.Uint32(p[76:])), models: 1}
	if n := le.Uint64(p[184:]); n != 0 {
		o.fault(n > 1<<62, 184, "length %d", n)
		h.length, o.wide = int64(n), true
	}
	o.wide = o.wide || p[82] == omTypeFlow
	if n := le.Uint32(p[156:]); n > 1 && le.Uint32(p[8:]) >= omVersionModels {
		o.fault(n > maxModels, 156, "%d models, at most %d expected", n, maxModels)
		h.models = int(n)
	}
	o.fault(p[80] != 0, 80, "model is encrypted")
	o.fault(h.length > o.size-omHeaderSize, omHeaderSize, "header announces %d bytes, the file has %d", h.length, o.size-omHeaderSize)
	return h
}

// partitions reads the partition table at off and returns the offset behind the data it describes.
func (o *omReader) partitions(h *omHeader, off int64) int64 {
	le := binary.LittleEndian
	head, entry := int64(4), int64(12)
	if o.wide {
		head, entry = 8, 24
	}
	n := int64(le.Uint32(o.bytes(off, head, graph.Term("partition table"))))
	o.fault(n > maxPartitions, off, "%d partitions, at most %d expected", n, maxPartitions)
	p := o.bytes(off+head, n*entry, graph.Messagef("table of %d partitions", n))
	data := off + head + n*entry
	for i := range n {
		e := p[i*entry:]
		part := omPartition{typ: int(le.Uint32(e)), offset: o.base + data}
		size := uint64(le.Uint32(e[8:]))
		if o.wide {
			size = le.Uint64(e[16:])
		}
		o.fault(size > uint64(o.size-data), off+head+i*entry, "partition %d of type %d claims %d bytes, the file has %d from its start", i, part.typ, size, o.size-data)
		part.size = int64(size)
		h.partitions = append(h.partitions, part)
		data += part.size
	}
	return data
}

func (o *omReader) read(b *graph.Builder, m *graph.Model) (err error) {
	defer must.Catch(&err)
	h := o.header()
	if h.length != o.size-omHeaderSize {
		b.Warn(graph.Warning{Path: o.path, Offset: o.base, Msg: graph.Messagef("header announces %d bytes, the file has %d", h.length, o.size-omHeaderSize)})
	}
	off := int64(omHeaderSize)
	for range h.models {
		off = o.partitions(h, off)
	}
	defs := 0
	for i, part := range h.partitions {
		switch part.typ {
		case omPartModel:
			o.fault(part.size > maxModelDef, part.offset-o.base, "model definition of %d bytes", part.size)
			data := o.bytes(part.offset-o.base, part.size, graph.Term("model definition"))
			must.Do(addModel(o.ctx, b, m, data, part.offset))
			defs++
		case omPartFlowSub:
			o.flowModel(b, m, i, part)
		}
	}
	o.fault(defs == 0, omHeaderSize, "no model definition among %d partitions", len(h.partitions))
	return nil
}

// addModel reads a model definition into m, or as a sub model of it when m has one already.
func addModel(ctx context.Context, b *graph.Builder, m *graph.Model, data []byte, off int64) (err error) {
	defer must.Catch(&err)
	if m.Name == "" && m.Graphs == nil && m.Attrs == nil {
		return readBinary(ctx, b, m, data, off)
	}
	sub := &graph.Model{Path: m.Path, Source: m.Source}
	must.Do(readBinary(ctx, b, sub, data, off))
	m.SubModels = append(m.SubModels, sub)
	m.Graphs = append(m.Graphs, sub.Graphs...)
	return nil
}

// flowModel reads the offline model inside a flow sub model: a message of name, engine and the model.
func (o *omReader) flowModel(b *graph.Builder, m *graph.Model, i int, part omPartition) {
	off := part.offset - o.base
	o.fault(o.depth == maxFlowDepth, off, "models nested deeper than %d", maxFlowDepth)
	// Only the tags are needed, the model itself is read in place.
	end := off + part.size
	for pos := off; pos < end; {
		p := o.bytes(pos, min(20, end-pos), graph.Term("flow sub model"))
		num, typ, k := protowire.ConsumeTag(p)
		o.fault(k < 0, pos, "partition %d: broken field tag of a flow sub model", i)
		if typ != protowire.BytesType {
			v := protowire.ConsumeFieldValue(num, typ, p[k:])
			o.fault(v < 0, pos, "partition %d: broken field %d of a flow sub model", i, num)
			pos += int64(k + v)
			continue
		}
		n, k2 := protowire.ConsumeVarint(p[k:])
		start := pos + int64(k+k2)
		o.fault(k2 < 0 || n > uint64(end-start), pos, "partition %d: field %d of a flow sub model exceeds it", i, num)
		pos = start + int64(n)
		if num != 3 {
			continue
		}
		head, err := must.Of(func() []byte { return o.bytes(start, min(4, int64(n)), graph.Term("flow sub model")) })
		if err != nil || string(head) != omMagic {
			b.Warn(graph.Warning{Path: o.path, Offset: o.base + start, Msg: graph.Messagef("flow sub model is no offline model, skipped")})
			continue
		}
		inner := &omReader{ctx: o.ctx, r: io.NewSectionReader(o.r, start, int64(n)), size: int64(n), base: o.base + start, path: o.path, depth: o.depth + 1}
		must.Do(inner.read(b, m))
	}
}

// readOM2 reads the zip form of an offline model. Each model inside carries its graph as JSON for viewers,
// data/model_<k>/debug/ge_visual_*_graph_*.json, with attributes as plain objects.
func readOM2(ctx context.Context, r io.ReaderAt, size int64, name string) (_ *graph.Model, err error) {
	defer must.Catch(&err)
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, &graph.Error{Path: name, Offset: 0, Msg: graph.Messagef("zip: %v", err)}
	}
	var files []*zip.File
	for _, f := range z.File {
		if base := path.Base(f.Name); strings.HasPrefix(base, "ge_visual_") && strings.HasSuffix(base, ".json") {
			files = append(files, f)
		}
	}
	slices.SortStableFunc(files, func(a, b *zip.File) int { return strings.Compare(a.Name, b.Name) })
	if len(files) == 0 {
		return nil, &graph.Error{Path: name, Offset: 0, Msg: graph.Messagef("zip file without a ge_visual_*.json graph")}
	}
	var out *graph.Model
	for _, f := range files {
		m := must.Get(readOM2Graph(ctx, f, name))
		if out == nil {
			out = m
			continue
		}
		out.SubModels = append(out.SubModels, m)
		out.Graphs = append(out.Graphs, m.Graphs...)
		out.Warnings = append(out.Warnings, m.Warnings...)
	}
	out.Warnings = graph.FewWarnings(out.Warnings)
	return out, nil
}

// maxOM2Ratio bounds how much a zip entry may grow when unpacked: graphs shrink about twentyfold, bombs a
// thousandfold.
const maxOM2Ratio = 200

func readOM2Graph(ctx context.Context, f *zip.File, name string) (*graph.Model, error) {
	at := name + "!" + f.Name
	rc, err := f.Open()
	if err != nil {
		return nil, &graph.Error{Path: at, Offset: 0, Msg: graph.Messagef("zip: %v", err)}
	}
	defer rc.Close()
	limit := int64(min(f.CompressedSize64, 1<<40))*maxOM2Ratio + 1<<20
	m, err := readJSON(&stopping{ctx, io.LimitReader(rc, limit)}, at, true)
	if err != nil {
		return nil, err
	}
	m.Path, m.Source = name, graph.SourceOM2
	return m, nil
}
