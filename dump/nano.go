package dump

import (
	"encoding/binary"
	"fmt"

	"precision/dump/dtype"
	"precision/dump/layout"
)

// A compact dump begins with the length of its head (uint64), a magic number
// and a version (uint32 each). The head holds a block of inputs and a block of
// outputs: tag, length in bytes, number of records (uint32 each), the records.
const (
	nanoMagic    = 0x5a5a5a5a
	nanoStart    = 16
	nanoInputs   = 4 // tags of the blocks
	nanoOutputs  = 5
	nanoShape    = 0 // tags of what may follow a record
	nanoOrigin   = 1
	nanoOriginal = 2
)

// isNano looks for the magic number of a compact dump.
func isNano(head []byte, size int64) bool {
	return size > 12 && binary.LittleEndian.Uint32(head[8:]) == nanoMagic
}

// readNano reads a compact dump. Its head and payload must fill the file.
func (f *File) readNano(s *source) *Error {
	f.Form, f.OpName = Nano, f.Name.OpName
	length := uint64At(s.head, 0)
	if length > uint64(s.size-minDump) {
		return errorf(s.path, CodeInvalid, 0, "the head claims %d bytes, the file has %d after the length", length, s.size-minDump)
	}
	if length > maxHeader {
		return errorf(s.path, CodeInvalid, 0, "the head claims %d bytes, expected at most %d", length, maxHeader)
	}
	if length < nanoStart-minDump {
		return errorf(s.path, CodeMalformed, 0, "the head claims %d bytes, it has at least %d", length, nanoStart-minDump)
	}
	head, err := s.bytes(0, minDump+int64(length))
	if err != nil {
		return err
	}
	p := &nanoParser{f: f, b: head[:len(head):len(head)], at: nanoStart}
	p.block(nanoInputs, func() { f.Inputs = append(f.Inputs, p.record(true, len(f.Inputs))) })
	p.block(nanoOutputs, func() { f.Outputs = append(f.Outputs, p.record(false, len(f.Outputs))) })
	if p.err != nil {
		return &Error{Path: s.path, Code: CodeMalformed, Offset: int64(p.at), Text: "not a compact dump", Err: p.err}
	}
	if end := f.place(int64(len(head)), false); end != f.Size {
		return errorf(s.path, CodeSize, end, "the payload ends here, expected the end of the file %d bytes further on", f.Size-end)
	}
	f.settle()
	return nil
}

// nanoParser is at position at of the head b. After an error it reads zeros
// and stays where it is.
type nanoParser struct {
	f   *File
	b   []byte
	at  int
	err error
}

// take returns the next n bytes, zeros if there are not as many.
func (p *nanoParser) take(n int) []byte {
	if p.err == nil && n <= len(p.b)-p.at {
		p.at += n
		return p.b[p.at-n : p.at]
	}
	if p.err == nil {
		p.err = fmt.Errorf("found %d bytes, expected %d", len(p.b)-p.at, n)
	}
	return make([]byte, min(n, 8))
}

func (p *nanoParser) u32() uint32 { return binary.LittleEndian.Uint32(p.take(4)) }
func (p *nanoParser) i32() int32  { return int32(p.u32()) }
func (p *nanoParser) u64() uint64 { return binary.LittleEndian.Uint64(p.take(8)) }

// begins takes the tag and the length of what follows, if the tag is the one
// expected, and returns where it ends. A part that is not there takes nothing.
func (p *nanoParser) begins(tag uint32, limit int) (end int, ok bool) {
	if p.err != nil || limit-p.at < 8 || binary.LittleEndian.Uint32(p.b[p.at:]) != tag {
		return 0, false
	}
	length := binary.LittleEndian.Uint32(p.b[p.at+4:])
	if uint64(length) > uint64(limit-p.at-8) {
		p.err = fmt.Errorf("tag %d claims %d bytes, there are %d", tag, length, limit-p.at-8)
		return 0, false
	}
	p.at += 8
	return p.at + int(length), true
}

// block reads the records of a block, which must fit into it.
func (p *nanoParser) block(tag uint32, record func()) {
	end, ok := p.begins(tag, len(p.b))
	if !ok {
		return
	}
	whole := p.b
	p.b = whole[:end]
	for n := p.u32(); n > 0 && p.err == nil; n-- {
		record()
	}
	if p.b = whole; p.err == nil {
		p.at = end
	}
}

// record reads an input or an output.
func (p *nanoParser) record(input bool, index int) Tensor {
	t := Tensor{Input: input, Index: index}
	code, format := p.i32(), p.i32()
	p.i32() // kind of address
	if !input {
		p.i32() // output of the framework's operator
		p.i32() // its type
		t.OriginFormat = layout.Format(p.i32())
	}
	t.Address = p.u64()
	p.u64() // offset on the device
	t.Size = p.u64()
	length := p.u32()
	if p.err == nil && uint64(length) > uint64(len(p.b)-p.at) {
		p.err = fmt.Errorf("%s: %d bytes of shapes are claimed, there are %d", t.label(), length, len(p.b)-p.at)
	}
	if p.err != nil {
		return t
	}
	end := p.at + int(length)
	shape, origin := p.dims(nanoShape, end), p.dims(nanoOrigin, end)
	p.begins(nanoOriginal, end) // the name of the framework's operator
	if p.err == nil {
		p.at = end
	}
	var known bool
	if t.Type, known = p.geType(code); !known {
		p.f.warnf(0, "%s: element type %d is not known", t.label(), code)
	}
	p.f.describe(&t, format, shape, origin)
	return t
}

// geType translates a type number; -1, false for one that is not known.
func (p *nanoParser) geType(code int32) (dtype.Type, bool) {
	if t, ok := dtype.FromGE(int64(code)); ok {
		return t, true
	}
	return -1, false
}

// dims reads a shape that may be there.
func (p *nanoParser) dims(tag uint32, limit int) (d []uint64) {
	end, ok := p.begins(tag, limit)
	if !ok {
		return nil
	}
	for p.at+8 <= end {
		d = append(d, p.u64())
	}
	p.at = end
	return d
}
