package dump

import (
	"encoding/binary"

	"precision/dump/dtype"
	"precision/dump/layout"
	"precision/internal/must"
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
func (f *File) readNano(s *source) {
	f.Form, f.OpName = Nano, f.Name.OpName
	length := uint64At(s.head, 0)
	s.not(length > uint64(s.size-minDump), CodeInvalid, 0, "the head claims %d bytes, the file has %d after the length", length, s.size-minDump)
	s.not(length > maxHeader, CodeInvalid, 0, "the head claims %d bytes, expected at most %d", length, maxHeader)
	s.not(length < nanoStart-minDump, CodeMalformed, 0, "the head claims %d bytes, it has at least %d", length, nanoStart-minDump)
	head := s.bytes(0, minDump+int64(length))
	p := &nanoParser{f: f, b: head[:len(head):len(head)], at: nanoStart}
	if err := must.Try(func() {
		p.block(nanoInputs, func() { f.Inputs = append(f.Inputs, p.record(true, len(f.Inputs))) })
		p.block(nanoOutputs, func() { f.Outputs = append(f.Outputs, p.record(false, len(f.Outputs))) })
	}); err != nil {
		must.Do(&Error{Path: s.path, Code: CodeMalformed, Offset: int64(p.at), Text: "not a compact dump", Err: err})
	}
	end := f.place(int64(len(head)), false)
	s.not(end != f.Size, CodeSize, end, "the payload ends here, expected the end of the file %d bytes further on", f.Size-end)
	f.settle()
}

// nanoParser is at position at of the head b.
type nanoParser struct {
	f  *File
	b  []byte
	at int
}

// take returns the next n bytes.
func (p *nanoParser) take(n int) []byte {
	must.Not(n > len(p.b)-p.at, "found %d bytes, expected %d", len(p.b)-p.at, n)
	p.at += n
	return p.b[p.at-n : p.at]
}

func (p *nanoParser) u32() uint32 { return binary.LittleEndian.Uint32(p.take(4)) }
func (p *nanoParser) i32() int32  { return int32(p.u32()) }
func (p *nanoParser) u64() uint64 { return binary.LittleEndian.Uint64(p.take(8)) }

// begins takes the tag and the length of what follows, if the tag is the one
// expected, and returns where it ends. A part that is not there takes nothing.
func (p *nanoParser) begins(tag uint32, limit int) (end int, ok bool) {
	if limit-p.at < 8 || binary.LittleEndian.Uint32(p.b[p.at:]) != tag {
		return 0, false
	}
	length := binary.LittleEndian.Uint32(p.b[p.at+4:])
	must.Not(uint64(length) > uint64(limit-p.at-8), "tag %d claims %d bytes, there are %d", tag, length, limit-p.at-8)
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
	for n := p.u32(); n > 0; n-- {
		record()
	}
	p.b, p.at = whole, end
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
	must.Not(uint64(length) > uint64(len(p.b)-p.at), "%s: %d bytes of shapes are claimed, there are %d", t.label(), length, len(p.b)-p.at)
	end := p.at + int(length)
	shape, origin := p.dims(nanoShape, end), p.dims(nanoOrigin, end)
	p.begins(nanoOriginal, end) // the name of the framework's operator
	p.at = end
	var known bool
	if t.Type, known = dtype.FromGE(int64(code)); !known {
		t.Type = -1
		p.f.warnf(0, "%s: element type %d is not known", t.label(), code)
	}
	p.f.describe(&t, format, shape, origin)
	return t
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
