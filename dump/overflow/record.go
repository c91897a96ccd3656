package overflow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"precision/dump"
)

// Magic starts a tagged record.
const Magic = 0x5A5A5A5A

// oldSize is the size of an old record. A tagged one is stored in as many
// bytes, most of which are not used.
const oldSize = 2048

// None is the context and the thread of an operator that has none.
const None = 65535

// Exit codes of msaccucmp.py for records.
const (
	CodeRecord = 4  // no record could be made of the file
	CodeMany   = 17 // more than one record in a file
	CodeType   = 35 // a detector that is not known, or none of the three has anything
	CodeStatus = 36 // the detector reports no overflow
)

// Detector is the part of the device that noticed an overflow.
type Detector uint8

const (
	// In old records.
	DHAAtomicAdd Detector = iota
	L2AtomicAdd
	AICore
	// In tagged records, by their numbers there.
	AIC
	AIV
	AICPU
	SDMA
)

func (d Detector) String() string {
	return [...]string{"DHA Atomic Add", "L2 Atomic Add", "AI Core", "AIC", "AIV", "AICPU", "SDMA"}[d]
}

// Record is a decoded payload.
type Record struct {
	// Tagged tells the two forms apart. The numbers after it are those of the
	// tagged form.
	Tagged           bool
	Version, Valid   uint32
	AccType          uint32 // the number of the detector, from AIC on
	Reserved, Length uint32
	// Blocks holds the three detectors of an old record in the order of the
	// enumeration, or the one of a tagged record. It is empty for a detector
	// that is not known.
	Blocks []Block
	// Words holds the fields of an unknown detector, as far as Length says.
	Words []uint64
	// Warnings tell what is odd about a record that was decoded all the same.
	Warnings []string
	more     int // warnings beside those
}

// Block is what one detector says.
type Block struct {
	Detector Detector
	// Stream and Task tell which operator it was.
	Stream, Task uint64
	// Context and Thread are those of FFTS+, None without it. Old records have
	// none.
	Context, Thread uint64
	// Fields holds everything but the status, in the order of the record.
	Fields []Field
	// Status is one word, or the four of an AI Core in a record of version 1.
	Status []uint64
}

// Field is a number with its name. Addresses are written in hexadecimal.
type Field struct {
	Name    string
	Value   uint64
	Address bool
}

// Overflow reports whether the detector noticed something. Four words of
// status count whatever is in them, as no meaning of theirs is published.
func (b *Block) Overflow() bool { return len(b.Status) > 1 || len(b.Status) == 1 && b.Status[0] != 0 }

// Detected returns the blocks that noticed something.
func (r *Record) Detected() (found []*Block) {
	for i := range r.Blocks {
		if r.Blocks[i].Overflow() {
			found = append(found, &r.Blocks[i])
		}
	}
	return found
}

// check tells why there is no overflow in a record, as [*Error].
func (r *Record) check() error {
	switch {
	case len(r.Detected()) > 0:
		return nil
	case r.Tagged:
		return &Error{Code: CodeStatus, Offset: -1, Text: fmt.Sprintf("the status of %s is 0, expected what overflowed", r.Blocks[0].Detector)}
	}
	return &Error{Code: CodeType, Offset: -1, Text: "the status of all three detectors is 0, expected what overflowed"}
}

// Error tells what is wrong with a payload.
type Error struct {
	// Code is the exit code msaccucmp.py has for the like.
	Code int
	// Offset is the place in the payload in bytes, -1 when it has none.
	Offset int64
	Text   string
}

func (e *Error) Error() string {
	if e.Offset < 0 {
		return e.Text
	}
	return fmt.Sprintf("byte %d of the record: %s", e.Offset, e.Text)
}

// Decode decodes a payload. The error is an [*Error]. A detector that is not
// known gives an error of CodeType and a record all the same, with what there
// is in Words.
func Decode(payload []byte) (*Record, error) {
	if len(payload) < 4 {
		return nil, &Error{dump.CodeInvalid, 0, fmt.Sprintf("found %d bytes, expected at least 4", len(payload))}
	}
	if binary.LittleEndian.Uint32(payload) == Magic {
		return decodeTagged(payload)
	}
	if len(payload) != oldSize {
		return nil, &Error{dump.CodeInvalid, 0, fmt.Sprintf("found %d bytes, expected %d for a record without a tag", len(payload), oldSize)}
	}
	return decodeOld(payload), nil
}

var identification = []string{"model_id", "stream_id", "task_id", "task_type", "pc_start", "para_base"}

// address tells which fields are written in hexadecimal.
var address = map[string]bool{"pc_start": true, "para_base": true, "kernel_code": true, "src_addr": true, "dst_addr": true}

// oldBlock is where an old record has a detector's fields.
type oldBlock struct {
	detector Detector
	at       int // of the identification
	more     []string
	moreAt   int // of the fields named more, the status after them
}

var oldBlocks = []oldBlock{
	{DHAAtomicAdd, 0, nil, 512},
	{L2AtomicAdd, 128, nil, 768},
	{AICore, 256, []string{"kernel_code", "block_idx"}, 1024},
}

func decodeOld(payload []byte) *Record {
	r := &Record{}
	for _, o := range oldBlocks {
		b := Block{Detector: o.detector, Context: None, Thread: None}
		b.add(payload[o.at:], identification)
		rest := payload[o.moreAt:]
		b.add(rest, o.more)
		b.Status = words(rest[8*len(o.more):], 1)
		r.Blocks = append(r.Blocks, b)
	}
	return r
}

// add appends the fields of the given names.
func (b *Block) add(src []byte, names []string) {
	for i, v := range words(src, len(names)) {
		b.Fields = append(b.Fields, Field{names[i], v, address[names[i]]})
		b.set(names[i], v)
	}
}

// set keeps a field that tells which operator it was.
func (b *Block) set(name string, v uint64) {
	switch name {
	case "stream_id":
		b.Stream = v
	case "task_id":
		b.Task = v
	case "context_id":
		b.Context = v
	case "thread_id":
		b.Thread = v
	}
}

func words(src []byte, n int) []uint64 {
	w := make([]uint64, n)
	for i := range w {
		w[i] = binary.LittleEndian.Uint64(src[8*i:])
	}
	return w
}

const taggedHeader = 24

// taggedFields are the fields of each detector, before the status.
var taggedFields = map[Detector][]string{
	AIC:   coreFields,
	AIV:   coreFields,
	AICPU: {"model_id", "stream_id", "task_id", "task_type", "context_id", "cpu_id", "thread_id"},
	SDMA:  {"model_id", "stream_id", "task_id", "task_type", "context_id", "thread_id", "src_addr", "dst_addr", "channel_id"},
}

var coreFields = []string{"model_id", "stream_id", "task_id", "task_type", "context_id", "thread_id", "pc_start", "para_base", "core_id", "block_id"}

func decodeTagged(payload []byte) (*Record, error) {
	if len(payload) < taggedHeader {
		return nil, &Error{dump.CodeInvalid, 0, fmt.Sprintf("found %d bytes, expected %d for the header of a tagged record", len(payload), taggedHeader)}
	}
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(payload[at:]) }
	r := &Record{Tagged: true, Version: u32(4), Valid: u32(8), AccType: u32(12), Reserved: u32(16), Length: u32(20)}
	body := payload[taggedHeader:]
	if r.Valid != 1 {
		r.warnf("the record is marked as not valid: found %d, expected 1", r.Valid)
	}
	if r.AccType > uint32(SDMA-AIC) {
		r.Words = words(body, int(min(uint64(r.Length), uint64(len(body)))/8))
		return r, &Error{CodeType, 12, fmt.Sprintf("found detector %d, expected %d (%s) to %d (%s)", r.AccType, 0, AIC, SDMA-AIC, SDMA)}
	}
	detector := AIC + Detector(r.AccType)
	names, status := taggedFields[detector], 1
	if r.Version == 1 && (detector == AIC || detector == AIV) {
		status = 4
	}
	need := 8 * (len(names) + status)
	if len(body) < need {
		return nil, &Error{dump.CodeInvalid, taggedHeader, fmt.Sprintf("found %d bytes, expected %d for the fields of %s", len(body), need, detector)}
	}
	if int64(r.Length) != int64(need) {
		r.warnf("the record claims %d bytes of fields, %s has %d", r.Length, detector, need)
	}
	b := Block{Detector: detector}
	b.add(body, names)
	b.Status = words(body[8*len(names):], status)
	r.Blocks = []Block{b}
	return r, nil
}

func (r *Record) warnf(format string, args ...any) {
	if len(r.Warnings) < dump.MostWarnings {
		r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
		return
	}
	r.more++
	r.Warnings = append(r.Warnings[:dump.MostWarnings], strconv.Itoa(r.more)+" more warnings like these")
}

// maxPayload bounds what is read of a record. Real ones have 2048 bytes.
const maxPayload = 1 << 16

// Read decodes the records of a file, one for each output. Real files have one,
// and so have those of [Tree.Converted].
// The error is a [*dump.Error] with the code of msaccucmp.py convert. Records
// that could be decoded are returned along with an error about another one; the
// record of an output that could not is nil.
func Read(e dump.Entry) (all []*Record, err error) {
	if debugName(filepath.Base(e.Path)) != "" {
		r, err := readConverted(e)
		if err != nil {
			return nil, err
		}
		return []*Record{r}, nil
	}
	f, err := e.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if len(f.Outputs) == 0 {
		return nil, &dump.Error{Path: e.Path, Code: dump.CodeInvalid, Offset: -1, Text: "the file has no output, expected one with a record"}
	}
	var first error
	for i := range f.Outputs {
		r, err := decode(f, &f.Outputs[i])
		all = append(all, r)
		if err != nil && first == nil {
			first = err
		}
	}
	return all, first
}

func decode(f *dump.Reader, t *dump.Tensor) (*Record, error) {
	fail := func(code int, offset int64, text string, err error) error {
		return &dump.Error{Path: f.Path, Code: code, Offset: offset, Text: text, Err: err}
	}
	if t.Offset+int64(min(t.Size, maxPayload)) > f.Size {
		return nil, fail(dump.CodeInvalid, t.Offset, fmt.Sprintf("output %d", t.Index), t.Err)
	}
	if t.Size > maxPayload {
		return nil, fail(dump.CodeInvalid, t.Offset, fmt.Sprintf("output %d: found %d bytes, expected %d for a record", t.Index, t.Size, oldSize), nil)
	}
	payload := make([]byte, t.Size)
	if n, err := f.ReadAt(payload, t.Offset); n < len(payload) {
		return nil, fail(dump.CodeInvalid, t.Offset, fmt.Sprintf("output %d: read %d bytes, expected %d", t.Index, n, len(payload)), err)
	}
	r, err := Decode(payload)
	if err != nil {
		e, _ := errors.AsType[*Error](err)
		return r, fail(e.Code, t.Offset+max(e.Offset, 0), fmt.Sprintf("output %d", t.Index), errors.New(e.Text))
	}
	return r, nil
}
