package read

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"precision/graph"
	"precision/testdata/workshop/graphtest"
	pb "precision/testdata/workshop/graphtest/gepb"
)

// wireOf turns a text graph into its binary form.
func wireOf(t testing.TB, text []byte) []byte {
	t.Helper()
	var m pb.ModelDef
	if err := (prototext.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	data, err := proto.Marshal(&m)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestBinary(t *testing.T) {
	check := func(name string, text []byte) {
		want := graphtest.Describe(prototextModel(t, text))
		m, err := Read(context.Background(), bytes.NewReader(wireOf(t, text)), name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := graphtest.FirstDiff(want, graphtest.Describe(m)); diff != "" || m.Source != graph.SourceBinary || len(m.Warnings) > 0 {
			t.Errorf("%s: source %v, warnings %v: %s", name, m.Source, m.Warnings, diff)
		}
	}
	check("everything", []byte(graphtest.Everything))
	for _, name := range []string{"resnet50/ge_proto_00000062_Build.txt", "training/ge_proto_00000001_Build.txt"} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			data, err := os.ReadFile(graphtest.Real(t, name))
			if err != nil {
				t.Fatal(err)
			}
			check(name, data)
		})
	}
}

// msg builds messages of the wire format by hand.
type msg []byte

func (m msg) bytes(num protowire.Number, p ...byte) msg {
	return protowire.AppendBytes(protowire.AppendTag(m, num, protowire.BytesType), p)
}

func (m msg) str(num protowire.Number, s string) msg { return m.bytes(num, []byte(s)...) }

func (m msg) int(num protowire.Number, n uint64) msg {
	return protowire.AppendVarint(protowire.AppendTag(m, num, protowire.VarintType), n)
}

func TestBinaryErrors(t *testing.T) {
	root := msg(nil).str(1, "g")
	deep := msg(nil)
	for range 60 {
		op := msg(nil).bytes(10, msg(nil).bytes(2, msg(nil).bytes(13, deep...)...)...)
		deep = msg(nil).bytes(6, op...)
	}
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"cut off", msg(nil).bytes(7, root...)[:4], "offset 1: field 7 claims 3 bytes, 2 are left of the message"},
		{"cut off inside", msg(nil).bytes(7, 0x0a, 0x09, 'g'), "offset 3: field 1 claims 9 bytes, 1 are left of the message"},
		{"bad tag", msg(nil).bytes(7, append(root, 0x00)...), "offset 5: broken field tag"},
		{"huge claim", append(msg(nil).bytes(7, root...), 0x3a, 0xff, 0xff, 0xff, 0xff, 0x7f), "claims 34359738367 bytes, 0 are left"},
		{"deep", msg(nil).bytes(7, deep...), "messages nested deeper than 100"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &graph.Model{Path: "f"}
			err := readBinary(context.Background(), graph.NewBuilder(), m, c.data, 0)
			var e *graph.Error
			if !errors.As(err, &e) || !strings.Contains(e.Error(), "f:") || !strings.Contains(e.Error(), c.want) {
				t.Errorf("error %v, want %s", err, c.want)
			}
		})
	}
	if _, err := Read(context.Background(), strings.NewReader("\x00\x01\x02"), "x"); err == nil {
		t.Error("garbage was read")
	}
}

func TestBinaryOdd(t *testing.T) {
	// Unpacked numbers, unknown fields, a wrong wire type, a list of two kinds.
	list := msg(nil).int(3, 1).int(3, 2).str(2, "text")
	op := msg(nil).str(1, "o").str(2, "T").int(25, 5).int(25, 6).int(99, 1).int(5, 7).
		bytes(10, msg(nil).str(1, "k").bytes(2, msg(nil).bytes(1, list...)...)...).
		bytes(33, msg(nil).int(2, 28).bytes(3, msg(nil).bytes(1, 1, 2, 3)...)...)
	data := msg(nil).bytes(7, msg(nil).str(1, "g").bytes(6, op...)...)
	m := &graph.Model{}
	b := graph.NewBuilder()
	if err := readBinary(context.Background(), b, m, data, 0); err != nil {
		t.Fatal(err)
	}
	o := m.Graphs[0].Ops[0]
	if h := o.Hints(); len(h.SrcIndexes) != 2 || h.SrcIndexes[1] != 6 {
		t.Errorf("src_index %v", h.SrcIndexes)
	}
	if v := o.Attr("k"); len(v.Ints()) != 2 || v.Elem() != graph.KindInt {
		t.Errorf("list %v", v)
	}
	if d := o.InputDesc[0]; d.DType != "DT_INT4" || graph.FormatShape(d.Shape) != "[1,2,3]" {
		t.Errorf("descriptor %v", &d)
	}
	if len(b.Warnings()) != 3 {
		t.Errorf("warnings %v", b.Warnings())
	}
}

func FuzzBinary(f *testing.F) {
	f.Add(wireOf(f, []byte(graphtest.Everything)))
	f.Add([]byte(msg(nil).bytes(7, msg(nil).str(1, "g")...)))
	f.Fuzz(func(t *testing.T, data []byte) {
		m := &graph.Model{}
		if err := readBinary(context.Background(), graph.NewBuilder(), m, data, 0); err != nil {
			return
		}
		var p pb.ModelDef
		if err := proto.Unmarshal(data, &p); err == nil {
			_ = graphtest.Describe(m)
		}
	})
}
