package torch

import (
	"encoding/binary"
	"fmt"
	"math"
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
	find func(m *machine, id tuple) (*storage, error)
}

// What values take in memory, roughly and rather too much.
const (
	costValue = 48
	costMemo  = 96
	costItem  = 32
)

func (m *machine) bad(found, expected string) error {
	return &FormatError{m.part, int64(m.op), found, expected}
}

func (m *machine) refuse(format string, args ...any) error {
	return &UnsupportedError{m.part, int64(m.op), fmt.Sprintf(format, args...)}
}

// spend accounts for memory.
func (m *machine) spend(bytes int64) error {
	if m.left -= bytes; m.left < 0 {
		return m.bad("more values than a file of this size needs", "tensors and containers of them")
	}
	return nil
}

// take returns the next n bytes of the code.
func (m *machine) take(n uint64) ([]byte, error) {
	if left := uint64(len(m.code) - m.at); n > left {
		m.short = true
		return nil, m.bad(fmt.Sprintf("%d bytes to the end of the pickle", left), fmt.Sprintf("%d", n))
	}
	b := m.code[m.at : m.at+int(n)]
	m.at += int(n)
	return b, nil
}

// number reads an unsigned number of n bytes.
func (m *machine) number(n uint64) (v uint64, err error) {
	b, err := m.take(n)
	for i := len(b) - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return v, err
}

// line reads to the end of a line.
func (m *machine) line() (string, error) {
	const most = 1 << 10
	for i := m.at; i < len(m.code) && i < m.at+most; i++ {
		if m.code[i] == '\n' {
			s := string(m.code[m.at:i])
			m.at = i + 1
			return s, nil
		}
	}
	m.short = len(m.code)-m.at < most
	return "", m.bad("no end of line", "the name of a module or class")
}

func (m *machine) push(v any) error {
	m.stack = append(m.stack, v)
	return m.spend(costValue)
}

func (m *machine) pop() (any, error) {
	if len(m.stack) == 0 {
		return nil, m.bad("an empty stack", "a value")
	}
	v := m.stack[len(m.stack)-1]
	if _, ok := v.(marker); ok {
		return nil, m.bad("a mark", "a value")
	}
	m.stack[len(m.stack)-1] = nil
	m.stack = m.stack[:len(m.stack)-1]
	return v, nil
}

// items takes the values above the last mark off the stack.
func (m *machine) items() ([]any, error) {
	for i := len(m.stack) - 1; i >= 0; i-- {
		if _, ok := m.stack[i].(marker); ok {
			items := append([]any(nil), m.stack[i+1:]...)
			clear(m.stack[i:])
			m.stack = m.stack[:i]
			return items, m.spend(costItem * int64(len(items)))
		}
	}
	return nil, m.bad("no mark on the stack", "one below the items")
}

// last takes the n last values off the stack.
func (m *machine) last(n int) ([]any, error) {
	items := make([]any, n)
	for i := n - 1; i >= 0; i-- {
		v, err := m.pop()
		if err != nil {
			return nil, err
		}
		items[i] = v
	}
	return items, m.spend(costItem * int64(n))
}

// remember puts the top of the stack into the memo.
func (m *machine) remember(at uint64) error {
	v, err := m.pop()
	if err != nil {
		return err
	}
	m.stack = append(m.stack, v)
	if m.memo == nil {
		m.memo = map[uint64]any{}
	}
	m.memo[at] = v
	return m.spend(costMemo)
}

func (m *machine) recall(at uint64) error {
	v, ok := m.memo[at]
	if !ok {
		return m.bad(fmt.Sprintf("a reference to value %d", at), "one that was remembered before")
	}
	return m.push(v)
}

// run executes one pickle and returns its value. It stops behind it.
func (m *machine) run() (any, error) {
	m.stack, m.memo = m.stack[:0], nil
	for {
		m.op = m.at
		b, err := m.take(1)
		if err != nil {
			return nil, err
		}
		if b[0] == opStop {
			v, err := m.pop()
			if err == nil && len(m.stack) > 0 {
				err = m.bad(fmt.Sprintf("%d values left at the end", len(m.stack)), "none")
			}
			return v, err
		}
		if err := m.step(b[0]); err != nil {
			return nil, err
		}
	}
}

// step executes one operation.
func (m *machine) step(op byte) error {
	if size := numberSizes[op]; size > 0 { // an operation with a number
		v, err := m.number(uint64(size))
		if err != nil {
			return err
		}
		return m.numbered(op, v)
	}
	switch op {
	case opNone:
		return m.push(nil)
	case opTrue, opFalse:
		return m.push(op == opTrue)
	case opMark:
		return m.push(marker{})
	case opEmptyTuple:
		return m.push(tuple{})
	case opEmptyList:
		return m.push(&list{})
	case opEmptyDict:
		return m.push(&dict{})
	case opFloat:
		b, err := m.take(8)
		if err != nil {
			return err
		}
		return m.push(math.Float64frombits(binary.BigEndian.Uint64(b)))
	case opTuple:
		items, err := m.items()
		if err != nil {
			return err
		}
		return m.push(tuple(items))
	case opTuple1, opTuple2, opTuple3:
		items, err := m.last(int(op-opTuple1) + 1)
		if err != nil {
			return err
		}
		return m.push(tuple(items))
	case opMemoize:
		return m.remember(uint64(len(m.memo)))
	case opAppend, opAppends, opSetItem, opSetItems:
		return m.fill(op)
	case opGlobal:
		module, err := m.line()
		if err != nil {
			return err
		}
		class, err := m.line()
		if err != nil {
			return err
		}
		return m.global(name{module, class})
	case opStackGlobal:
		items, err := m.last(2)
		if err != nil {
			return err
		}
		module, ok := items[0].(string)
		class, ok2 := items[1].(string)
		if !ok || !ok2 {
			return m.bad(describe(items[0])+" and "+describe(items[1]), "the names of a module and a class")
		}
		return m.global(name{module, class})
	case opPersID:
		id, err := m.pop()
		if err != nil {
			return err
		}
		t, ok := id.(tuple)
		if !ok {
			return m.bad("a persistent id that is "+describe(id), "a tuple")
		}
		s, err := m.find(m, t)
		if err != nil {
			return err
		}
		return m.push(s)
	case opReduce:
		items, err := m.last(2)
		if err != nil {
			return err
		}
		return m.call(items[0], items[1])
	case opBuild:
		return m.build()
	}
	if m.any && makes[op] {
		return m.make(op)
	}
	return m.refuse("operation %s, which no tensor needs", opName(op))
}

// numbered executes an operation that a number follows.
func (m *machine) numbered(op byte, v uint64) error {
	switch op {
	case opProto:
		if v < 2 || v > 5 {
			return m.refuse("pickle protocol %d, PyTorch writes 2 to 5", v)
		}
		return nil
	case opFrame: // says how much to read ahead
		return nil
	case opInt1, opInt2:
		return m.push(int64(v))
	case opInt4:
		return m.push(int64(int32(v)))
	case opLong1:
		b, err := m.take(v)
		if err != nil {
			return err
		}
		if err := m.spend(int64(v)); err != nil {
			return err
		}
		return m.push(whole(b))
	case opUnicode, opUnicode1, opUnicode8, opString, opString1:
		b, err := m.take(v)
		if err != nil {
			return err
		}
		if err := m.spend(int64(v)); err != nil {
			return err
		}
		return m.push(string(b))
	case opPut1, opPut4:
		return m.remember(v)
	}
	return m.recall(v) // opGet1, opGet4
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
func (m *machine) fill(op byte) (err error) {
	var items []any
	switch op {
	case opAppend:
		items, err = m.last(1)
	case opSetItem:
		items, err = m.last(2)
	default:
		items, err = m.items()
	}
	if err != nil {
		return err
	}
	into, err := m.pop()
	if err != nil {
		return err
	}
	m.stack = append(m.stack, into)
	if _, ok := into.(*object); ok {
		return nil // a container of a class of its own
	}
	if op == opAppend || op == opAppends {
		l, ok := into.(*list)
		if !ok {
			return m.bad(describe(into), "a list to append to")
		}
		l.items = append(l.items, items...)
		return nil
	}
	d, ok := into.(*dict)
	switch {
	case !ok:
		return m.bad(describe(into), "a dict to set items of")
	case len(items)%2 != 0:
		return m.bad(fmt.Sprintf("%d keys and values", len(items)), "an even number")
	}
	for i := 0; i < len(items); i += 2 {
		d.keys, d.values = append(d.keys, items[i]), append(d.values, items[i+1])
	}
	return nil
}

// build gives a value the state that its class keeps beside its content. That
// of an OrderedDict, the versions of modules, says nothing of tensors.
func (m *machine) build() error {
	items, err := m.last(2)
	if err != nil {
		return err
	}
	if o, ok := items[0].(*object); ok {
		o.state = items[1]
		return m.push(o)
	}
	if _, ok := items[0].(*dict); !ok && !m.any {
		return m.refuse("a state for %s, which no tensor needs", describe(items[0]))
	}
	return m.push(items[0])
}
