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

// Walk gives the fields of a message in the order they stand in, until take fails.
func Walk(b []byte, take func(protowire.Number, Value) error) error {
	return Value{Bytes: b, Size: int64(len(b))}.Walk(take)
}

// Walk gives the fields of a message that is the value of a field, as far as its bytes are at hand.
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
