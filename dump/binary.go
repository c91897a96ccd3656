package dump

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"precision/dump/dtype"
	"precision/dump/layout"
	"precision/dump/pb"
	"precision/internal/each"
)

// readBinary reads a device dump: the header length, the header, and where the
// payload lies.
func (f *File) readBinary(s *source) *Error {
	f.Form = Binary
	if s.size <= minDump {
		return errorf(s.path, CodeSize, -1, "the file has %d bytes, a dump has more than %d", s.size, minDump)
	}
	length := uint64At(s.head, 0)
	if length > uint64(s.size-minDump) {
		if is := stranger(s.head); is != "" {
			return errorf(s.path, CodeInvalid, 0, "%s, no device dump; compare takes files of named tensors", is)
		}
		return errorf(s.path, CodeInvalid, 0, "the header claims %d bytes, the file has %d after the length", length, s.size-minDump)
	}
	if length > maxHeader {
		return errorf(s.path, CodeInvalid, 0, "the header claims %d bytes, expected at most %d", length, maxHeader)
	}
	header, err := s.bytes(minDump, int64(length))
	if err != nil {
		return err
	}
	if at, why := scanHeader(header); why != nil {
		return &Error{Path: s.path, Code: CodeInvalid, Offset: int64(minDump + at), Text: "not a dump header", Err: why}
	}
	m := &pb.DumpData{}
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(header, m); err != nil {
		return &Error{Path: s.path, Code: CodeInvalid, Offset: minDump, Text: "not a dump header", Err: err}
	}
	f.fromHeader(m)
	f.readSlices()
	f.place(minDump+int64(length), f.generalLast())
	f.settle()
	return nil
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

// text turns bytes of a header into a valid string.
func text(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

func (f *File) fromHeader(m *pb.DumpData) {
	f.OpName = text(m.OpName)
	f.Inputs, f.Outputs = slices.Grow(f.Inputs, len(m.Input)), slices.Grow(f.Outputs, len(m.Output))
	for i, in := range m.Input {
		t := Tensor{
			Input: true, Index: i, Type: dtype.Type(in.DataType), Size: in.Size, Address: in.Address, InputType: in.InputType,
		}
		f.describe(&t, in.Format, in.SubFormat, in.Shape.GetDim(), in.OriginalShape.GetDim())
		f.Inputs = append(f.Inputs, t)
	}
	for i, out := range m.Output {
		t := Tensor{
			Index: i, Type: dtype.Type(out.DataType), Size: out.Size, Address: out.Address, OriginFormat: layout.Format(out.OriginalOp.GetFormat()),
		}
		f.describe(&t, out.Format, out.SubFormat, out.Shape.GetDim(), out.OriginalShape.GetDim())
		f.Outputs = append(f.Outputs, t)
	}
	for _, b := range m.Buffer {
		f.Buffers = append(f.Buffers, Blob{Kind: b.BufferType, Size: b.Size})
	}
	for _, w := range m.Space {
		f.Spaces = append(f.Spaces, Blob{Kind: w.Type, Size: w.Size})
	}
	for _, a := range m.Attr {
		f.Attrs = append(f.Attrs, Attr{text(a.Name), text(a.Value)})
	}
}

// describe sets format and shapes. Exception dumps put the whole format word
// of the device into the format.
func (f *File) describe(t *Tensor, format, sub int32, shape, origin []uint64) {
	t.Format, t.SubFormat = layout.Format(format), sub
	if format > 0xff {
		var groups int32
		if t.Format, groups = layout.SplitWord(format); sub == 0 {
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
