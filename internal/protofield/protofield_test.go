package protofield

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// TestWalk: every kind of field, a message within a message, and one of which only the beginning is at hand.
func TestWalk(t *testing.T) {
	inner := protowire.AppendString(protowire.AppendTag(nil, 7, protowire.BytesType), "inside")
	b := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 300)
	b = protowire.AppendFixed32(protowire.AppendTag(b, 2, protowire.Fixed32Type), 1<<31)
	b = protowire.AppendFixed64(protowire.AppendTag(b, 3, protowire.Fixed64Type), 1<<63)
	b = protowire.AppendBytes(protowire.AppendTag(b, 4, protowire.BytesType), nil)
	b = protowire.AppendBytes(protowire.AppendTag(b, 5, protowire.BytesType), inner)
	want := []Value{1: {Number: 300}, 2: {Number: 1 << 31}, 3: {Number: 1 << 63}, 4: {Bytes: []byte{}}, 5: {Bytes: inner, Size: int64(len(inner))}, 7: {Bytes: []byte("inside"), Size: 6}}
	seen := 0
	var take func(num protowire.Number, v Value) error
	take = func(num protowire.Number, v Value) error {
		seen++
		if w := want[num]; v.Number != w.Number || v.Size != w.Size || !bytes.Equal(v.Bytes, w.Bytes) || (v.Bytes == nil) != (w.Bytes == nil) {
			t.Errorf("field %d holds %+v, expected %+v", num, v, w)
		}
		if num == 5 {
			return v.Walk(take)
		}
		return nil
	}
	if err := Message(b).Walk(take); err != nil || seen != 6 {
		t.Errorf("%d fields, %v", seen, err)
	}
	if err := Message(b[:len(b)-1]).Walk(func(protowire.Number, Value) error { return nil }); !errors.Is(err, Err) {
		t.Errorf("a message that is cut: %v", err)
	}
	last := Value{}
	cut := Value{Bytes: b[:len(b)-2], Size: int64(len(b))}
	if err := cut.Walk(func(_ protowire.Number, v Value) error { last = v; return nil }); err != nil || last.Size != int64(len(inner)) || len(last.Bytes) != len(inner)-2 {
		t.Errorf("the beginning of a message: %v, %+v", err, last)
	}
}

// TestRead: each kind of destination gets what its field holds, and what a function returns ends the reading.
func TestRead(t *testing.T) {
	inner := protowire.AppendString(protowire.AppendTag(nil, 7, protowire.BytesType), "inside")
	b := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 300)
	b = protowire.AppendVarint(protowire.AppendTag(b, 2, protowire.VarintType), 1<<63)
	b = protowire.AppendString(protowire.AppendTag(b, 3, protowire.BytesType), "first")
	b = protowire.AppendString(protowire.AppendTag(b, 3, protowire.BytesType), "second")
	b = protowire.AppendBytes(protowire.AppendTag(b, 5, protowire.BytesType), inner)
	b = protowire.AppendVarint(protowire.AppendTag(b, 6, protowire.VarintType), 0)
	b = protowire.AppendVarint(protowire.AppendTag(b, 9, protowire.VarintType), 1<<64-5)
	b = protowire.AppendBytes(protowire.AppendTag(b, 10, protowire.BytesType), []byte("\x03\x80\x01"))
	b = protowire.AppendVarint(protowire.AppendTag(b, 10, protowire.VarintType), 7)
	number, unsigned, last, text, seen, absent := int64(0), uint64(0), "", "", false, false
	short, half, dims := int32(0), uint32(0), []uint64(nil)
	var list []string
	if err := Message(b).Read(Fields{1: &number, 2: &unsigned, 3: &last, 5: Fields{7: &text}, 6: &seen, 8: &absent}); err != nil ||
		number != 300 || unsigned != 1<<63 || last != "second" || text != "inside" || !seen || absent {
		t.Errorf("%d %d %q %q %v %v, %v", number, unsigned, last, text, seen, absent, err)
	}
	if err := Message(b).Read(Fields{9: &short, 2: &half, 10: &dims}); err != nil || short != -5 || half != 0 || !slices.Equal(dims, []uint64{3, 128, 7}) {
		t.Errorf("%d %d %d, %v", short, half, dims, err)
	}
	if err := Message([]byte("\x52\x01\x80")).Read(Fields{10: &dims}); err != Err {
		t.Errorf("packed numbers that are cut: %v", err)
	}
	if err := Message(b).Read(Fields{3: &list, 6: func(Value) error { return Err }}); len(list) != 2 || err != Err {
		t.Errorf("%q, %v", list, err)
	}
}

// FuzzWalk: fields lie one behind the other in the message, and a message whose fields all were given is one that ends with the last.
func FuzzWalk(f *testing.F) {
	f.Add([]byte("\x08\x01\x12\x02\x08\x01\x1d\x00\x00\x00\x00\x21\x00\x00\x00\x00\x00\x00\x00\x00\x2b\x2c"), uint16(0))
	f.Add([]byte("\x12\x05\x08"), uint16(4))
	f.Fuzz(func(t *testing.T, b []byte, more uint16) {
		m := Value{Bytes: b, Size: int64(len(b)) + int64(more)}
		left, fields, cut := len(b), 0, false
		err := m.Walk(func(num protowire.Number, v Value) error {
			fields++
			// Bytes reach to the end of the message's memory: what lies behind a field becomes less.
			if behind := len(b) - (cap(b) - cap(v.Bytes)) - len(v.Bytes); v.Bytes != nil && (behind < 0 || behind >= left) {
				t.Fatalf("field %d ends %d bytes before the end, behind one that ends %d before it", num, behind, left)
			} else if v.Bytes != nil {
				left = behind
			}
			if cut || !num.IsValid() || v.Size < int64(len(v.Bytes)) || v.Bytes == nil && v.Size != 0 {
				t.Fatalf("field %d: %d of %d bytes, behind one that was cut: %t", num, len(v.Bytes), v.Size, cut)
			}
			cut = v.Size > int64(len(v.Bytes))
			return nil
		})
		if err != nil && !errors.Is(err, Err) || 2*fields > len(b) {
			t.Fatalf("%v, %d fields in %d bytes", err, fields, len(b))
		}
		if more == 0 && cut {
			t.Fatal("cut, although all bytes are there")
		}
	})
}
