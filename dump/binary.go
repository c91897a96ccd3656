package dump

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"precision/dump/layout"
	"precision/internal/each"
	"precision/internal/must"
	"precision/internal/protofield"
)

// readBinary reads a device dump: the header length, the header, and where the
// payload lies.
func (f *File) readBinary(s *source) {
	f.Form = Binary
	s.not(s.size <= minDump, CodeSize, -1, "the file has %d bytes, a dump has more than %d", s.size, minDump)
	length := uint64At(s.head, 0)
	if length > uint64(s.size-minDump) {
		is := stranger(s.head)
		s.not(is != "", CodeInvalid, 0, "%s, no device dump; compare takes files of named tensors", is)
		s.not(true, CodeInvalid, 0, "the header claims %d bytes, the file has %d after the length", length, s.size-minDump)
	}
	s.not(length > maxHeader, CodeInvalid, 0, "the header claims %d bytes, expected at most %d", length, maxHeader)
	header := s.bytes(minDump, int64(length))
	if at, why := scanHeader(header); why != nil {
		must.Do(&Error{Path: s.path, Code: CodeInvalid, Offset: int64(minDump + at), Text: "not a dump header", Err: why})
	}
	if err := f.fromHeader(header); err != nil {
		must.Do(&Error{Path: s.path, Code: CodeInvalid, Offset: minDump, Text: "not a dump header", Err: err})
	}
	f.readSlices()
	f.place(minDump+int64(length), f.generalLast())
	f.settle()
}

// stranger names a file of another kind by its first bytes, which make the length of a header that no file has.
func stranger(head []byte) string {
	switch {
	case strings.HasPrefix(string(head), "PK\x03\x04"):
		return "a zip archive, as numpy.savez and torch.save write"
	case len(head) > 2 && head[0] == 0x80 && head[1] >= 2 && head[1] <= 5:
		return "a pickle of Python, which is not run"
	}
	return ""
}

// maxMessages bounds how many parts a header may have: a few bytes make an
// empty part on the wire, hundreds in memory.
const maxMessages = 1 << 17

// scanHeader checks the wire format of a header and how many parts it has. It
// returns where the header goes wrong and how.
func scanHeader(b []byte) (at int, err error) {
	parts := 0
	var scan func(b []byte, base, depth int) (int, error)
	scan = func(b []byte, base, depth int) (int, error) {
		for at := 0; at < len(b); {
			num, typ, n := protowire.ConsumeTag(b[at:])
			if n < 0 {
				return base + at, protowire.ParseError(n)
			}
			m := protowire.ConsumeFieldValue(num, typ, b[at+n:])
			if m < 0 {
				return base + at, fmt.Errorf("field %d: %w", num, protowire.ParseError(m))
			}
			if typ == protowire.BytesType {
				if parts++; parts > maxMessages {
					return base + at, fmt.Errorf("more than %d parts", maxMessages)
				}
				if depth == 0 && (num == 3 || num == 4) { // outputs and inputs
					body, _ := protowire.ConsumeBytes(b[at+n:])
					if at, err := scan(body, base+at+n+m-len(body), 1); err != nil {
						return at, err
					}
				}
			}
			at += n + m
		}
		return 0, nil
	}
	return scan(b, 0, 0)
}

// text is a text of a header as a valid string.
func text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// fromHeader takes over what a header says. Its fields are those of the dump format, by their numbers; what stands nowhere is 0.
func (f *File) fromHeader(header []byte) error {
	// operand is a tensor with what is told of it in the words of the device.
	type operand struct {
		Tensor
		format        int32
		shape, origin []uint64
	}
	var inputs, outputs []operand
	blob := func(to *[]Blob) func(protofield.Value) error {
		return func(v protofield.Value) error {
			var b Blob
			err := v.Read(protofield.Fields{1: &b.Kind, 3: &b.Size})
			*to = append(*to, b)
			return err
		}
	}
	err := protofield.Message(header).Read(protofield.Fields{
		3: func(v protofield.Value) error {
			t := operand{}
			err := v.Read(protofield.Fields{1: (*int32)(&t.Type), 2: &t.format, 3: protofield.Fields{1: &t.shape}, 4: protofield.Fields{4: (*int32)(&t.OriginFormat)},
				6: &t.Size, 7: protofield.Fields{1: &t.origin}, 8: &t.SubFormat, 9: &t.Address})
			outputs = append(outputs, t)
			return err
		},
		4: func(v protofield.Value) error {
			t := operand{Tensor: Tensor{Input: true}}
			err := v.Read(protofield.Fields{1: (*int32)(&t.Type), 2: &t.format, 3: protofield.Fields{1: &t.shape},
				5: &t.Size, 6: protofield.Fields{1: &t.origin}, 7: &t.SubFormat, 8: &t.Address, 11: &t.InputType})
			inputs = append(inputs, t)
			return err
		},
		5: blob(&f.Buffers),
		6: &f.OpName,
		7: func(v protofield.Value) error {
			var a Attr
			err := v.Read(protofield.Fields{1: &a.Name, 2: &a.Value})
			f.Attrs = append(f.Attrs, Attr{text(a.Name), text(a.Value)})
			return err
		},
		8: blob(&f.Spaces),
	})
	f.OpName = text(f.OpName)
	for _, list := range [...]struct {
		of []operand
		to *[]Tensor
	}{{inputs, &f.Inputs}, {outputs, &f.Outputs}} {
		for i := range list.of {
			t := &list.of[i]
			t.Index = i
			f.describe(&t.Tensor, t.format, t.shape, t.origin)
			*list.to = append(*list.to, t.Tensor)
		}
	}
	return err
}

// describe sets format and shapes. Exception dumps put the whole format word
// of the device into the format.
func (f *File) describe(t *Tensor, format int32, shape, origin []uint64) {
	t.Format = layout.Format(format)
	if format > 0xff {
		var groups int32
		if t.Format, groups = layout.SplitWord(format); t.SubFormat == 0 {
			t.SubFormat = groups
		}
	}
	t.OriginShape, _ = dims(origin)
	var known bool
	if t.Shape, known = dims(shape); known {
		return
	}
	// Producers cast -1, an unknown dim, to unsigned.
	t.Shape = []int64{t.Stored()}
	f.warnf(0, "%s: shape %v has unknown dims, read as flat", t.label(), signed(shape))
}

// dims takes over a shape; nil, false if a dim is not known.
func dims(shape []uint64) ([]int64, bool) {
	if len(shape) == 0 {
		return nil, true
	}
	out := signed(shape)
	for _, d := range out {
		if d < 0 {
			return nil, false
		}
	}
	return out, true
}

func signed(shape []uint64) []int64 {
	return each.Of(shape, func(d uint64) int64 { return int64(d) })
}
