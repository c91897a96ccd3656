package read

import (
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	pb "precision/testdata/workshop/graphtest/gepb"
)

// TestSchema holds the list of fields to the published one: numbers, names, types, and nothing left out.
func TestSchema(t *testing.T) {
	seen := map[*message]bool{}
	var check func(m *message, d protoreflect.MessageDescriptor)
	check = func(m *message, d protoreflect.MessageDescriptor) {
		if seen[m] {
			return
		}
		seen[m] = true
		fields := d.Fields()
		for i := range fields.Len() {
			want := fields.Get(i)
			f := m.named([]byte(want.Name()))
			if f == nil || f != m.numbered(int(want.Number())) {
				t.Errorf("%s: field %d %s is not in the schema", m.name, want.Number(), want.Name())
				continue
			}
			if f.kind == kindSkipped {
				continue
			}
			if many := want.Cardinality() == protoreflect.Repeated; f.many != many {
				t.Errorf("%s.%s: repeated %v, want %v", m.name, f.name, f.many, many)
			}
			kinds := map[protoreflect.Kind][]kind{
				protoreflect.StringKind: {kindText}, protoreflect.BytesKind: {kindText, kindBlob}, protoreflect.Int64Kind: {kindInt},
				protoreflect.Uint32Kind: {kindInt}, protoreflect.BoolKind: {kindBool}, protoreflect.FloatKind: {kindFloat},
				protoreflect.EnumKind: {kindWord}, protoreflect.MessageKind: {kindMessage},
			}[want.Kind()]
			ok := false
			for _, k := range kinds {
				ok = ok || f.kind == k
			}
			if !ok {
				t.Errorf("%s.%s: kind %d, want that of %v", m.name, f.name, f.kind, want.Kind())
			}
			if f.kind == kindMessage {
				check(f.message, want.Message())
			}
		}
	}
	check(modelDef, (&pb.ModelDef{}).ProtoReflect().Descriptor())
	if len(seen) != 14 {
		t.Errorf("%d messages were compared, the schema has 14", len(seen))
	}
}

// TestNames: every field is found by its name, and no other text is taken for one.
func TestNames(t *testing.T) {
	for _, m := range []*message{modelDef, graphDef, opDef, tensorDescriptor, attrDef, listValue, onnxAttrs} {
		for _, f := range m.fields {
			for _, p := range [][]byte{[]byte(f.name), append(make([]byte, 0, 40), f.name...)} {
				if m.named(p) != f {
					t.Errorf("%s: %s is not found", m.name, f.name)
				}
				p[len(p)-1] ^= 1
				if g := m.named(p); g != nil && g.name != string(p) {
					t.Errorf("%s: %s is taken for %s", m.name, p, g.name)
				}
			}
		}
		if m.named(nil) != nil || m.named([]byte("x")) != nil {
			t.Errorf("%s: a field without name", m.name)
		}
	}
}
