package console

import (
	"os"
	"unicode/utf8"

	"golang.org/x/term"
)

const keyEsc = 27

// keys are what is typed while a command or a search runs, one key at a time.
type keys struct {
	c     *Console
	typed string // read and not taken yet
}

// next waits for a key: a character, or the bytes of a special key. It is "" if there is
// no terminal to read from.
func (k *keys) next() (key string) {
	if k.typed == "" {
		k.typed = k.c.readKeys()
	}
	if k.typed == "" {
		return ""
	}
	_, n := utf8.DecodeRuneInString(k.typed)
	if k.typed[0] == keyEsc {
		n = escapeLen([]byte(k.typed))
	}
	key, k.typed = k.typed[:n], k.typed[n:]
	return key
}

// readKeys reads what is typed without waiting for Enter, "" if that cannot be done:
// one key mostly, of which special ones are several bytes.
func (c *Console) readKeys() string {
	in := c.Stdin.(*os.File)
	old, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return ""
	}
	defer term.Restore(int(in.Fd()), old)
	var key [256]byte
	n, err := in.Read(key[:])
	if err != nil {
		return ""
	}
	return string(key[:n])
}

// escapeLen is the length of an escape sequence: ESC [ … final, ESC O letter,
// ESC and another byte, or ESC alone.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 1
	}
	switch b[1] {
	case '[':
		for i := 2; i < len(b); i++ {
			// ESC [ [ A is F1 on a Linux console.
			if b[i] >= '@' && b[i] <= '~' && !(i == 2 && b[i] == '[') {
				return i + 1
			}
		}
		return len(b)
	case 'O':
		return min(3, len(b))
	case keyEsc:
		return 1
	}
	return 2
}
