package main

import (
	"fmt"
	"sort"
	"strings"

	"precision/testdata/workshop/dumptest"
)

var wireTypes = map[int]string{dumptest.Float32: "DT_FLOAT", dumptest.Float16: "DT_FLOAT16", dumptest.Int32: "DT_INT32"}

// printer writes protobuf text the way GE dumps it.
type printer struct {
	strings.Builder
	depth int
}

func (p *printer) line(format string, args ...any) {
	p.WriteString(strings.Repeat("  ", p.depth))
	fmt.Fprintf(p, format, args...)
	p.WriteByte('\n')
}

func (p *printer) block(name string, body func()) {
	p.line("%s {", name)
	p.depth++
	body()
	p.depth--
	p.line("}")
}

// attrs writes a map of attributes, sorted by key; a value is the text inside
// the value block, lines apart.
func (p *printer) attrs(values map[string]string) {
	var keys []string
	for k := range values {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		p.block("attr", func() {
			p.line("key: %q", k)
			p.block("value", func() {
				for l := range strings.Lines(values[k]) {
					p.line("%s", strings.TrimRight(l, "\n"))
				}
			})
		})
	}
}

func stringList(values []string) string {
	text := "list {\n"
	for _, v := range values {
		text += fmt.Sprintf("  s: %q\n", v)
	}
	return text + "  val_type: VT_LIST_STRING\n}"
}

func intList(values ...int64) string {
	text := "list {\n"
	for _, v := range values {
		text += fmt.Sprintf("  i: %d\n", v)
	}
	return text + "  val_type: VT_LIST_INT\n}"
}

func (p *printer) desc(field string, t *port) {
	_, shape, origin := t.stored()
	p.block(field, func() {
		p.line("dtype: %s", wireTypes[t.dtype])
		p.block("shape", func() {
			for _, d := range shape {
				p.line("dim: %d", d)
			}
		})
		p.line("layout: %q", t.layout)
		attrs := map[string]string{
			"origin_format": fmt.Sprintf("s: %q", t.device.axes),
			"origin_shape":  intList(origin...),
		}
		if t.golden != "" && field == "output_desc" {
			attrs["_datadump_origin_name"] = fmt.Sprintf("s: %q", t.golden)
			attrs["_datadump_origin_output_index"] = fmt.Sprintf("i: %d", t.goldenIndex)
			attrs["_datadump_origin_format"] = fmt.Sprintf("s: %q", t.device.axes)
		}
		p.attrs(attrs)
		p.line("has_out_attr: true")
		p.line("device_type: \"NPU\"")
	})
}

// graph is the text dump of the model after the build stage.
func (n *network) graph() string {
	p := &printer{}
	p.block("graph", func() {
		p.line("name: %q", "sample_net_1")
		p.line("input: %q", "x:0")
		for id, o := range n.ops {
			p.block("op", func() {
				p.line("name: %q", o.name)
				p.line("type: %q", o.kind)
				for _, in := range o.inputs {
					p.line("input: %q", in+":0")
				}
				attrs := map[string]string{}
				for k, v := range o.attrs {
					attrs[k] = v
				}
				if o.originals != nil {
					attrs["_datadump_original_op_names"] = stringList(o.originals)
				}
				p.attrs(attrs)
				p.line("has_out_attr: true")
				if id > 0 {
					p.line("id: %d", id)
				}
				for i := range o.inputs {
					p.desc("input_desc", n.input(o, i))
				}
				p.desc("output_desc", &o.port)
			})
		}
		p.attrs(map[string]string{"_session_graph_id": `s: "0_1"`})
	})
	return p.String()
}
