package torch

import "fmt"

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
