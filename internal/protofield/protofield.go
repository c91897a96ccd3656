// Package protofield walks the fields of protobuf messages of which no code is generated, by their numbers.
package protofield

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

// Value is what a field holds: a number, or bytes, which are not nil then.
type Value struct {
	Number uint64 // a varint, or the bits of a fixed number
	Bytes  []byte // part of the message; where that is larger than what was read, those at hand
	Size   int64  // how many bytes there are
}

// Err is of bytes that are no message.
var Err = errors.New("found no message of protobuf")

// Message is the value that a message would be.
func Message(b []byte) Value { return Value{Bytes: b, Size: int64(len(b))} }

// Walk gives the fields of a message that is the value of a field in the order they stand in, as far as its bytes are at hand,
// until take fails.
func (m Value) Walk(take func(protowire.Number, Value) error) error {
	b, size := m.Bytes, m.Size
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 || !num.IsValid() {
			return Err
		}
		b, size = b[n:], size-int64(n)
		var v Value
		switch typ {
		case protowire.VarintType:
			v.Number, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			v.Number, n = protowire.ConsumeFixed64(b)
		case protowire.Fixed32Type:
			var w uint32
			w, n = protowire.ConsumeFixed32(b)
			v.Number = uint64(w)
		case protowire.BytesType:
			var length uint64
			length, n = protowire.ConsumeVarint(b)
			if n < 0 || length > uint64(size-int64(n)) {
				return Err
			}
			b, size = b[n:], size-int64(n)
			v.Size = int64(length)
			n = int(min(v.Size, int64(len(b))))
			v.Bytes = b[:n]
		default:
			n = protowire.ConsumeFieldValue(num, typ, b)
		}
		if n < 0 {
			return Err
		}
		if err := take(num, v); err != nil {
			return err
		}
		if v.Size > int64(n) && typ == protowire.BytesType {
			return nil // what follows it was not read
		}
		b, size = b[n:], size-int64(n)
	}
	return nil
}

// Fields are the fields of a message that are wanted, with where they go: a *string, *[]string, *int32, *int64, *uint32, *uint64 or
// *[]uint64, a *bool that becomes true, a function, or the fields of the message that the value is. Of what comes twice the last counts.
type Fields map[protowire.Number]any

// Read reads the fields of a message that is the value of a field.
func (m Value) Read(fields Fields) error {
	return m.Walk(func(num protowire.Number, v Value) error {
		switch to := fields[num].(type) {
		case *string:
			*to = string(v.Bytes)
		case *[]string:
			*to = append(*to, string(v.Bytes))
		case *int32:
			*to = int32(v.Number)
		case *int64:
			*to = int64(v.Number)
		case *uint32:
			*to = uint32(v.Number)
		case *uint64:
			*to = v.Number
		case *[]uint64:
			return v.numbers(to)
		case *bool:
			*to = true
		case func(Value) error:
			return to(v)
		case Fields:
			return v.Read(to)
		}
		return nil
	})
}

// numbers adds the number that a value is, or those that it is packed of.
func (v Value) numbers(to *[]uint64) error {
	if v.Bytes == nil {
		*to = append(*to, v.Number)
	}
	for b := v.Bytes; len(b) > 0; {
		number, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return Err
		}
		*to, b = append(*to, number), b[n:]
	}
	return nil
}

// Dims are the fields of TensorFlow's TensorShapeProto.
func Dims(shape *[]int64) Fields {
	return Fields{2: func(v Value) error {
		dim := int64(0)
		err := v.Read(Fields{1: &dim})
		*shape = append(*shape, dim)
		return err
	}}
}
