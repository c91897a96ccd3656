package torch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// global is a class or function of a pickle, stored what a persistent id
// stands for, call a call.
type (
	global string
	stored struct{ id any }
	call   struct {
		what global
		args []any
	}
	mark struct{}
)

// unpickle reads a pickle of protocol 2, as far as tensors need it: a second
// reading of the format to hold the writer against.
func unpickle(b []byte) (any, error) {
	var stack []any
	pop := func() any {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		return v
	}
	line := func() string {
		s, rest, _ := strings.Cut(string(b), "\n")
		b = []byte(rest)
		return s
	}
	take := func(n int) []byte {
		v := b[:n]
		b = b[n:]
		return v
	}
	for len(b) > 0 {
		switch op := take(1)[0]; op {
		case 0x80:
			if v := take(1)[0]; v != 2 {
				return nil, fmt.Errorf("protocol %d", v)
			}
		case 'c':
			module := line()
			stack = append(stack, global(module+" "+line()))
		case '(':
			stack = append(stack, mark{})
		case 't':
			i := len(stack) - 1
			for stack[i] != any(mark{}) {
				i--
			}
			stack = append(stack[:i:i], append([]any{}, stack[i+1:]...))
		case ')':
			stack = append(stack, []any{})
		case 'X':
			stack = append(stack, string(take(int(binary.LittleEndian.Uint32(take(4))))))
		case 'K':
			stack = append(stack, int64(take(1)[0]))
		case 'M':
			stack = append(stack, int64(binary.LittleEndian.Uint16(take(2))))
		case 'J':
			stack = append(stack, int64(int32(binary.LittleEndian.Uint32(take(4)))))
		case 0x8a:
			if n := take(1)[0]; n != 8 {
				return nil, fmt.Errorf("a number of %d bytes", n)
			}
			stack = append(stack, int64(binary.LittleEndian.Uint64(take(8))))
		case 'Q':
			stack = append(stack, stored{pop()})
		case 'R':
			args := pop().([]any)
			stack = append(stack, call{pop().(global), args})
		case 0x89:
			stack = append(stack, false)
		case '.':
			if len(stack) != 1 || len(b) != 0 {
				return nil, fmt.Errorf("%d values and %d bytes left", len(stack), len(b))
			}
			return stack[0], nil
		default:
			return nil, fmt.Errorf("opcode %#x", op)
		}
	}
	return nil, errors.New("no end")
}
