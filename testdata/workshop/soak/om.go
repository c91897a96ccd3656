package soak

import (
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"
)

// message is a protobuf message under construction; fields are written as they
// come, so that the reader under test is not its own oracle.
type message []byte

func (m message) text(field protowire.Number, s string) message {
	return protowire.AppendString(protowire.AppendTag(m, field, protowire.BytesType), s)
}

func (m message) number(field protowire.Number, n int64) message {
	return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), uint64(n))
}

func (m message) nested(field protowire.Number, body message) message {
	return protowire.AppendBytes(protowire.AppendTag(m, field, protowire.BytesType), body)
}

// attr is an entry of a map of attributes.
func (m message) attr(field protowire.Number, key string, value message) message {
	return m.nested(field, message(nil).text(1, key).nested(2, value))
}

// listOfInts is the number of VT_LIST_INT.
const listOfInts = 2

// wire is the network as GE keeps it in an offline model: ModelDef in protobuf.
func (r *Random) wire(f Form) message {
	desc := func(i int, output bool) message {
		t := r.tensor(i, f)
		o := &r.ops[i]
		typ, layout := int64(1), o.storedAs(f) // DT_FLOAT
		if o.half {
			typ = 2 // DT_FLOAT16
		}
		if layout == "" {
			layout = "NCHW"
		}
		var shape, origin message
		for _, d := range t.Shape {
			shape = shape.number(1, d)
		}
		for _, d := range o.shape {
			origin = origin.number(3, d)
		}
		d := message(nil).number(2, typ).nested(3, shape).text(4, layout)
		if output {
			d = d.attr(5, "_datadump_origin_format", message(nil).text(2, "NCHW")).
				attr(5, "_datadump_origin_name", message(nil).text(2, o.name)).
				attr(5, "_datadump_origin_output_index", message(nil).number(3, 0))
		}
		return d.attr(5, "origin_format", message(nil).text(2, "NCHW")).
			attr(5, "origin_shape", message(nil).nested(1, origin.number(20, listOfInts)))
	}
	graph := message(nil).text(1, "random_1")
	for i := range r.ops {
		o := &r.ops[i]
		op := message(nil).text(1, o.name).text(2, o.kind)
		for _, in := range o.inputs {
			op = op.text(5, r.ops[in].name+":0")
		}
		for _, in := range o.inputs {
			op = op.nested(33, desc(in, false))
		}
		graph = graph.nested(6, op.nested(34, desc(i, true)))
	}
	return message(nil).text(1, "random").nested(7, graph)
}

// om is an offline model file of one model: a header of 256 bytes, a table of
// partitions, the graph and some weights.
func om(model []byte) []byte {
	const header, table = 256, 4 + 4 + 2*24
	le := binary.LittleEndian
	weights := []byte("weights")
	b := make([]byte, header, header+table+len(model)+len(weights))
	copy(b, "IMOD")
	le.PutUint32(b[4:], header)
	le.PutUint32(b[8:], 0x20000000)
	copy(b[84:], "random")
	le.PutUint32(b[156:], 1)
	le.PutUint64(b[184:], uint64(table+len(model)+len(weights)))
	b = le.AppendUint32(le.AppendUint32(b, 2), 0)
	for _, p := range []struct {
		kind uint32 // 0 is the graph, 1 its weights
		at   int
		size int
	}{{0, 0, len(model)}, {1, len(model), len(weights)}} {
		b = le.AppendUint32(le.AppendUint32(b, p.kind), 0)
		b = le.AppendUint64(le.AppendUint64(b, uint64(p.at)), uint64(p.size))
	}
	return append(append(b, model...), weights...)
}
