package scan

import "unicode/utf8"

// CUnescape appends p to dst with C escapes replaced: \n and friends, up to three octal digits, \x with
// up to two hex digits, \u and \U. bad is the index of the byte after a backslash that starts no known
// escape, -1 when there is none; the escape is then kept as it is.
func CUnescape(dst, p []byte) (out []byte, bad int) {
	bad = -1
	for i := 0; i < len(p); i++ {
		c := p[i]
		if c != '\\' {
			dst = append(dst, c)
			continue
		}
		i++
		if i == len(p) {
			return append(dst, '\\'), bad
		}
		switch c = p[i]; c {
		case 'n':
			c = '\n'
		case 't':
			c = '\t'
		case 'r':
			c = '\r'
		case 'a':
			c = '\a'
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'v':
			c = '\v'
		case '\\', '"', '\'', '?':
		case '0', '1', '2', '3', '4', '5', '6', '7':
			n := 0
			k := i
			for ; k < len(p) && k < i+3 && p[k] >= '0' && p[k] <= '7'; k++ {
				n = n*8 + int(p[k]-'0')
			}
			i = k - 1
			c = byte(n)
		case 'x', 'X':
			n, k := 0, i+1
			for ; k < len(p) && k < i+3 && isHex(p[k]); k++ {
				n = n*16 + hexDigit(p[k])
			}
			if k == i+1 {
				if bad < 0 {
					bad = i
				}
				dst = append(dst, '\\')
				break
			}
			i = k - 1
			c = byte(n)
		case 'u', 'U':
			want := 4
			if c == 'U' {
				want = 8
			}
			n, k := 0, i+1
			for ; k < len(p) && k < i+1+want && isHex(p[k]); k++ {
				n = n*16 + hexDigit(p[k])
			}
			if k != i+1+want || n > utf8.MaxRune {
				if bad < 0 {
					bad = i
				}
				dst = append(dst, '\\')
				break
			}
			i = k - 1
			dst = utf8.AppendRune(dst, rune(n))
			continue
		default:
			if bad < 0 {
				bad = i
			}
			dst = append(dst, '\\')
		}
		dst = append(dst, c)
	}
	return dst, bad
}

func hexDigit(c byte) int {
	switch {
	case c <= '9':
		return int(c - '0')
	case c <= 'F':
		return int(c-'A') + 10
	}
	return int(c-'a') + 10
}
