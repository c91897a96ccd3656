package torch

import (
	"fmt"
	"math"
	"math/bits"

	"precision/internal/must"
)

// machine runs a pickle as far as tensors need it. It knows the operations that
// build plain values, and calls nothing: what REDUCE asks for is looked up in
// the table of calls, whose entries are Go functions over values.
type machine struct {
	part string // of the archive, for messages
	code []byte
	at   int
	op   int // where the current operation starts

	stack []any
	memo  map[uint64]any
	// left is the memory that values may still take, in bytes.
	left int64
	// short tells that the code ended before the pickle did.
	short bool
	// any tells that values of any class are taken as they lie there (object.go).
	any bool
	// find looks up the storage of a persistent id.
	find func(m *machine, id tuple) *storage
}

// What values take in memory, roughly and rather too much.
const (
	costValue = 48
	costMemo  = 96
	costItem  = 32
)

// bad and refuse end the reading.
func (m *machine) bad(found, expected string) {
	must.Do(&FormatError{m.part, int64(m.op), found, expected})
}

func (m *machine) refuse(format string, args ...any) {
	must.Do(&UnsupportedError{m.part, int64(m.op), fmt.Sprintf(format, args...)})
}

// spend accounts for memory.
func (m *machine) spend(bytes int64) {
	if m.left -= bytes; m.left < 0 {
		m.bad("more values than a file of this size needs", "tensors and containers of them")
	}
}

// take returns the next n bytes of the code.
func (m *machine) take(n uint64) []byte {
	if left := uint64(len(m.code) - m.at); n > left {
		m.short = true
		m.bad(fmt.Sprintf("%d bytes to the end of the pickle", left), fmt.Sprintf("%d", n))
	}
	b := m.code[m.at : m.at+int(n)]
	m.at += int(n)
	return b
}

// number reads an unsigned number of n bytes.
func (m *machine) number(n uint64) (v uint64) {
	b := m.take(n)
	for i := len(b) - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return v
}

// kept takes n bytes that a value keeps.
func (m *machine) kept(n uint64) []byte {
	b := m.take(n)
	m.spend(int64(len(b)))
	return b
}

// line reads to the end of a line.
func (m *machine) line() string {
	const most = 1 << 10
	for i := m.at; i < len(m.code) && i < m.at+most; i++ {
		if m.code[i] == '\n' {
			s := string(m.code[m.at:i])
			m.at = i + 1
			return s
		}
	}
	m.short = len(m.code)-m.at < most
	m.bad("no end of line", "the name of a module or class")
	return ""
}

func (m *machine) push(v any) {
	m.stack = append(m.stack, v)
	m.spend(costValue)
}

// top is the value on the top of the stack.
func (m *machine) top() any {
	if len(m.stack) == 0 {
		m.bad("an empty stack", "a value")
	}
	v := m.stack[len(m.stack)-1]
	if _, ok := v.(marker); ok {
		m.bad("a mark", "a value")
	}
	return v
}

func (m *machine) pop() any {
	v := m.top()
	m.stack[len(m.stack)-1] = nil
	m.stack = m.stack[:len(m.stack)-1]
	return v
}

// items takes the values above the last mark off the stack.
func (m *machine) items() []any {
	for i := len(m.stack) - 1; i >= 0; i-- {
		if _, ok := m.stack[i].(marker); ok {
			items := append([]any(nil), m.stack[i+1:]...)
			clear(m.stack[i:])
			m.stack = m.stack[:i]
			m.spend(costItem * int64(len(items)))
			return items
		}
	}
	m.bad("no mark on the stack", "one below the items")
	return nil
}

// last takes the n last values off the stack.
func (m *machine) last(n int) []any {
	items := make([]any, n)
	for i := n - 1; i >= 0; i-- {
		items[i] = m.pop()
	}
	m.spend(costItem * int64(n))
	return items
}

// remember puts the top of the stack into the memo.
func (m *machine) remember(at uint64) {
	if m.memo == nil {
		m.memo = map[uint64]any{}
	}
	m.memo[at] = m.top()
	m.spend(costMemo)
}

func (m *machine) recall(at uint64) {
	v, ok := m.memo[at]
	if !ok {
		m.bad(fmt.Sprintf("a reference to value %d", at), "one that was remembered before")
	}
	m.push(v)
}

// run executes one pickle and returns its value. It stops behind it.
func (m *machine) run() any {
	m.stack, m.memo = m.stack[:0], nil
	for {
		m.op = m.at
		op := byte(m.number(1))
		switch {
		case op == opStop:
			v := m.pop()
			if len(m.stack) > 0 {
				m.bad(fmt.Sprintf("%d values left at the end", len(m.stack)), "none")
			}
			return v
		case numberSizes[op] > 0: // an operation with a number
			m.numbered(op, m.number(uint64(numberSizes[op])))
		default:
			m.step(op)
		}
	}
}

// step executes one operation.
func (m *machine) step(op byte) {
	switch op {
	case opNone:
		m.push(nil)
	case opTrue, opFalse:
		m.push(op == opTrue)
	case opMark:
		m.push(marker{})
	case opEmptyTuple:
		m.push(tuple{})
	case opEmptyList:
		m.push(&list{})
	case opEmptyDict:
		m.push(&dict{})
	case opFloat:
		m.push(math.Float64frombits(bits.ReverseBytes64(m.number(8)))) // big-endian
	case opTuple:
		m.push(tuple(m.items()))
	case opTuple1, opTuple2, opTuple3:
		m.push(tuple(m.last(int(op-opTuple1) + 1)))
	case opMemoize:
		m.remember(uint64(len(m.memo)))
	case opAppend, opAppends, opSetItem, opSetItems:
		m.fill(op)
	case opGlobal:
		module := m.line()
		m.global(name{module, m.line()})
	case opStackGlobal:
		items := m.last(2)
		module, ok := items[0].(string)
		class, ok2 := items[1].(string)
		if !ok || !ok2 {
			m.bad(describe(items[0])+" and "+describe(items[1]), "the names of a module and a class")
		}
		m.global(name{module, class})
	case opPersID:
		id := m.pop()
		t, ok := id.(tuple)
		if !ok {
			m.bad("a persistent id that is "+describe(id), "a tuple")
		}
		m.push(m.find(m, t))
	case opReduce:
		items := m.last(2)
		m.push(m.call(items[0], items[1]))
	case opBuild:
		m.build()
	default:
		if m.any && makes[op] {
			m.make(op)
			return
		}
		m.refuse("operation %s, which no tensor needs", opName(op))
	}
}

// numbered executes an operation that a number follows.
func (m *machine) numbered(op byte, v uint64) {
	switch op {
	case opProto:
		if v < 2 || v > 5 {
			m.refuse("pickle protocol %d, PyTorch writes 2 to 5", v)
		}
	case opFrame: // says how much to read ahead
	case opInt1, opInt2:
		m.push(int64(v))
	case opInt4:
		m.push(int64(int32(v)))
	case opLong1:
		m.push(whole(m.kept(v)))
	case opUnicode, opUnicode1, opUnicode8, opString, opString1:
		m.push(string(m.kept(v)))
	case opPut1, opPut4:
		m.remember(v)
	default: // opGet1, opGet4
		m.recall(v)
	}
}

// whole decodes a number in two's complement.
func whole(b []byte) any {
	if len(b) > 8 {
		return append(long(nil), b...)
	}
	if len(b) == 0 {
		return int64(0)
	}
	v := int64(int8(b[len(b)-1]))
	for i := len(b) - 2; i >= 0; i-- {
		v = v<<8 | int64(b[i])
	}
	return v
}

// fill adds items to a list or a dict.
func (m *machine) fill(op byte) {
	var items []any
	switch op {
	case opAppend:
		items = m.last(1)
	case opSetItem:
		items = m.last(2)
	default:
		items = m.items()
	}
	into := m.top()
	l, isList := into.(*list)
	d, isDict := into.(*dict)
	_, own := into.(*object) // a container of a class of its own
	appends := op == opAppend || op == opAppends
	switch {
	case own:
	case appends && !isList:
		m.bad(describe(into), "a list to append to")
	case appends:
		l.items = append(l.items, items...)
	case !isDict:
		m.bad(describe(into), "a dict to set items of")
	case len(items)%2 != 0:
		m.bad(fmt.Sprintf("%d keys and values", len(items)), "an even number")
	default:
		for i := 0; i < len(items); i += 2 {
			d.keys, d.values = append(d.keys, items[i]), append(d.values, items[i+1])
		}
	}
}

// build gives a value the state that its class keeps beside its content. That
// of an OrderedDict, the versions of modules, says nothing of tensors.
func (m *machine) build() {
	items := m.last(2)
	switch v := items[0].(type) {
	case *object:
		v.state = items[1]
	case *dict:
	default:
		if !m.any {
			m.refuse("a state for %s, which no tensor needs", describe(v))
		}
	}
	m.push(items[0])
}

// Opcodes of pickle (Python's pickletools lists them): those that tensors and
// containers of them need.
const (
	opProto       = 0x80
	opFrame       = 0x95
	opStop        = '.'
	opMark        = '('
	opNone        = 'N'
	opTrue        = 0x88
	opFalse       = 0x89
	opInt1        = 'K'
	opInt2        = 'M'
	opInt4        = 'J'
	opLong1       = 0x8a // with a length of one byte
	opFloat       = 'G'
	opUnicode     = 'X' // with a length of four bytes
	opUnicode1    = 0x8c
	opUnicode8    = 0x8d
	opString      = 'T' // texts of Python 2
	opString1     = 'U'
	opEmptyTuple  = ')'
	opTuple       = 't'
	opTuple1      = 0x85
	opTuple2      = 0x86
	opTuple3      = 0x87
	opEmptyList   = ']'
	opAppend      = 'a'
	opAppends     = 'e'
	opEmptyDict   = '}'
	opSetItem     = 's'
	opSetItems    = 'u'
	opPut1        = 'q'
	opPut4        = 'r'
	opGet1        = 'h'
	opGet4        = 'j'
	opMemoize     = 0x94
	opGlobal      = 'c'
	opStackGlobal = 0x93
	opPersID      = 'Q'
	opReduce      = 'R'
	opBuild       = 'b'
	// of values of any class
	opNewObj    = 0x81
	opNewObjEx  = 0x92
	opEmptySet  = 0x8f
	opAddItems  = 0x90
	opFrozenSet = 0x91
	opPop       = '0'
	opBytes1    = 'C'
	opBytes4    = 'B'
	opBytes8    = 0x8e
	opByteArray = 0x96
)

// numberSizes are the bytes of the little-endian number that follows an opcode.
var numberSizes = [256]uint8{
	opProto: 1, opFrame: 8, opInt1: 1, opInt2: 2, opInt4: 4, opLong1: 1,
	opUnicode: 4, opUnicode1: 1, opUnicode8: 8, opString: 4, opString1: 1,
	opPut1: 1, opPut4: 4, opGet1: 1, opGet4: 4,
}

// refused are the names of opcodes that a reader of tensors has no use for; the
// first ones make objects of any class.
var refused = map[byte]string{
	'i': "INST", 'o': "OBJ", 0x81: "NEWOBJ", 0x92: "NEWOBJ_EX", 0x82: "EXT1", 0x83: "EXT2", 0x84: "EXT4", 'P': "PERSID",
	'0': "POP", '1': "POP_MARK", '2': "DUP", 'F': "FLOAT", 'I': "INT", 'L': "LONG", 0x8b: "LONG4", 'S': "STRING", 'V': "UNICODE",
	'B': "BINBYTES", 'C': "SHORT_BINBYTES", 0x8e: "BINBYTES8", 0x96: "BYTEARRAY8", 0x97: "NEXT_BUFFER", 0x98: "READONLY_BUFFER",
	'd': "DICT", 'l': "LIST", 'g': "GET", 'p': "PUT", 0x8f: "EMPTY_SET", 0x90: "ADDITEMS", 0x91: "FROZENSET",
}

func opName(op byte) string {
	if s, ok := refused[op]; ok {
		return fmt.Sprintf("%s (%#02x)", s, op)
	}
	return fmt.Sprintf("%#02x", op)
}
