package console

const keyEsc = 27

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
