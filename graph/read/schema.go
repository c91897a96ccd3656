package read

import (
	"encoding/binary"
	"strconv"

	"precision/graph"
)

// message is one message of the schema: its fields, and what to do where it begins and ends.
type message struct {
	name    string // as warnings call it
	fields  []*field
	onFault onFault
	quiet   bool // unknown fields are passed over without a warning

	begin func(a *assembler, place int) // place is a line, or an offset in a binary source
	end   func(a *assembler)

	byNumber []*field
	table    [nameSlots]*field // by slot of the name
	factor   uint64            // that gives each name a slot of its own
}

// onFault says what a JSON value of the wrong type makes of the message it stands in.
type onFault uint8

const (
	passOver onFault = iota // it is passed over, with a warning
	ignore                  // it is passed over
	spoil                   // the attribute value around it becomes invalid, which matters if somebody asks for it
)

// kind is the type of a field.
type kind uint8

const (
	kindSkipped kind = iota // known, and nothing of it is kept
	kindText
	kindInt
	kindBool
	kindFloat
	kindBlob // only the number of bytes is kept
	kindWord // an enum: its name or its number
	kindMessage
)

// field is one field of a message: its number in the binary form, its name in the others, and where its value goes.
// Exactly one of the functions is set, that of its kind; words have two.
type field struct {
	number int
	name   string
	head   uint64 // of the name
	kind   kind
	many   bool
	// must marks what fusion rules are taken from: a JSON value of another type is an error.
	must bool
	// loose marks a list in whose place an object or a text is one of nothing that is known.
	loose   bool
	escaped bool       // atc C-escapes the text before it escapes it for JSON
	say     graph.Term // what warnings about JSON call the field
	quoted  graph.Term // name in quotes

	text    func(a *assembler, p []byte)
	int     func(a *assembler, n int64)
	bool    func(a *assembler, b bool)
	float   func(a *assembler, f float32)
	blob    func(a *assembler, n int64)
	message *message
	done    func(a *assembler) // the message has ended
	start   func(a *assembler) // JSON: the list begins, and what an earlier one of the same key held is void
}

// called sets what warnings about JSON call the field.
func (f *field) called(say graph.Term) *field { f.say = say; return f }

// strict marks a field whose type in JSON must be right.
func (f *field) strict() *field { f.must = true; return f }

// orNames marks a list that msaccucmp.py only walks through: in its place it takes an object or a text, too, whose
// keys and characters describe nothing.
func (f *field) orNames() *field { f.loose = true; return f }

// from sets what is to be done where the JSON list of a field starts.
func (f *field) from(start func(*assembler)) *field { f.start = start; return f }

// element is what warnings call an element of a JSON list.
func (f *field) element() thing {
	if f.must || f.message == attrEntry {
		return thing{f.quoted, true}
	}
	return thing{f.say, true}
}

const nameSlots = 1 << nameBits

const nameBits = 7

// set gives a message its fields and prepares the look-up.
func (m *message) set(fields ...*field) {
	m.fields = fields
	for _, f := range fields {
		f.head, f.quoted = head([]byte(f.name)), graph.Term(strconv.Quote(f.name))
		for len(m.byNumber) <= f.number {
			m.byNumber = append(m.byNumber, nil)
		}
		if f.number > 0 {
			m.byNumber[f.number] = f
		}
	}
	m.factor = 0x9e3779b97f4a7c15
	for !m.fill() {
		m.factor *= 0xd1342543de82ef95 // odd, so the product stays odd
	}
}

// fill puts the fields into the table; false if two meet.
func (m *message) fill() bool {
	m.table = [nameSlots]*field{}
	for _, f := range m.fields {
		s := &m.table[m.slot(f.head, len(f.name))]
		if *s != nil {
			return false
		}
		*s = f
	}
	return true
}

// slot is a hash of the head of a name and its length, without collisions among the fields of one message.
func (m *message) slot(head uint64, n int) uint64 {
	return (head + uint64(n)) * m.factor >> (64 - nameBits)
}

// head returns the first eight bytes of a name as a number.
func head(name []byte) uint64 {
	if cap(name) >= 8 {
		h := binary.LittleEndian.Uint64(name[:8])
		if n := len(name); n < 8 {
			h &= 1<<(8*n) - 1
		}
		return h
	}
	h := uint64(0)
	for i, c := range name {
		h |= uint64(c) << (8 * i)
	}
	return h
}

// named returns the field of that name, nil if the message has none.
func (m *message) named(name []byte) *field {
	h := head(name)
	f := m.table[m.slot(h, len(name))]
	if f == nil || f.head != h || len(f.name) != len(name) || len(name) > 8 && f.name[8:] != string(name[8:]) {
		return nil
	}
	return f
}

// numbered returns the field of that number, nil if the message has none.
func (m *message) numbered(n int) *field {
	if n < len(m.byNumber) {
		return m.byNumber[n]
	}
	return nil
}

// Fields whose values go to one place.

func text(number int, name string, at func(*assembler) *string) *field {
	return textTo(number, name, func(a *assembler, p []byte) { *at(a) = a.Intern(p) })
}

func texts(number int, name string, at func(*assembler) *[]string) *field {
	f := textTo(number, name, func(a *assembler, p []byte) { l := at(a); *l = append(*l, a.Intern(p)) })
	f.many = true
	return f
}

func number(num int, name string, at func(*assembler) *int64) *field {
	return intTo(num, name, func(a *assembler, n int64) { *at(a) = n })
}

func numbers(num int, name string, at func(*assembler) *[]int64) *field {
	f := intTo(num, name, func(a *assembler, n int64) { l := at(a); *l = append(*l, n) })
	f.many = true
	return f
}

func flag(number int, name string, at func(*assembler) *bool) *field {
	return &field{number: number, name: name, say: graph.Term(name), kind: kindBool, bool: func(a *assembler, b bool) { *at(a) = b }}
}

func flags(number int, name string, at func(*assembler) *[]bool) *field {
	return &field{number: number, name: name, say: graph.Term(name), kind: kindBool, many: true,
		bool: func(a *assembler, b bool) { l := at(a); *l = append(*l, b) }}
}

// Fields whose values need more than that.

func textTo(number int, name string, put func(*assembler, []byte)) *field {
	return &field{number: number, name: name, say: graph.Term(name), kind: kindText, text: put}
}

func intTo(number int, name string, put func(*assembler, int64)) *field {
	return &field{number: number, name: name, say: graph.Term(name), kind: kindInt, int: put}
}

func messageTo(number int, name string, m *message, done func(*assembler)) *field {
	return &field{number: number, name: name, say: graph.Term(name), kind: kindMessage, message: m, done: done}
}

func messagesTo(number int, name string, m *message, done func(*assembler)) *field {
	f := messageTo(number, name, m, done)
	f.many = true
	return f
}

func skipped(number int, name string) *field { return &field{number: number, name: name} }

// listOf is a field of a list: its elements are taken if the list consists of that kind.
func listOf(f *field) *field {
	f.many = true
	f.say = graph.Term("list." + f.name)
	return f
}

// keyed is an attribute map: a list of entries of key and value.
func keyed(number int, say graph.Term) *field {
	f := messagesTo(number, "attr", attrEntry, nil)
	f.say = say
	return f
}

// elements returns the list that is read if it takes elements of a kind, nil if it consists of another.
func (a *assembler) elements(k graph.Kind) *graph.List {
	if l := a.list; l.Is(k) {
		return l
	}
	return nil
}

// word is an enum, of which files hold the name or the number.
func word(num int, name string, put func(*assembler, []byte), number func(*assembler, int64)) *field {
	return &field{number: num, name: name, say: graph.Term(name), kind: kindWord, text: put, int: number}
}

func listed(f *field) *field { f.many = true; return f }
