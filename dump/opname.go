package dump

import "strings"

const (
	sliceMark    = "_lxslice"
	subgraphMark = "sgt_graph_"
)

// Normalise makes an operator's name comparable with the one in a file's name:
// of dots, slashes, backslashes and blanks it makes underscores, as producers
// do.
func Normalise(name string) string {
	if !strings.ContainsAny(name, "./\\ ") {
		return name
	}
	return string(normalised(nil, name))
}

// normalised appends the normalised name.
func normalised(to []byte, name string) []byte {
	to = append(to, name...)
	for i, c := range to {
		switch c {
		case '.', '/', '\\', ' ':
			to[i] = '_'
		}
	}
	return to
}

// operator reduces the name that FFTS+ gave to a slice to that of the operator
// that was cut. With rules, slices are cut out of the middle of the name;
// without, a slice that is not at the end makes the name one of nobody, false.
func operator(name string, rules bool) (string, bool) {
	if rules && strings.Contains(name, sliceMark) {
		return cutSlices(name), true
	}
	if !rules {
		name = cutLastSlice(name)
	}
	if strings.Contains(name, "_"+strings.TrimSuffix(subgraphMark, "_")) {
		name = afterSubgraph(name)
	}
	return name, !strings.Contains(name, sliceMark)
}

// cutSlices deletes every slice mark that has a number.
func cutSlices(name string) string {
	var b strings.Builder
	for {
		i := strings.Index(name, sliceMark)
		if i < 0 {
			return b.String() + name
		}
		end := i + len(sliceMark)
		if n := Digits(name[end:]); n > 0 {
			b.WriteString(name[:i])
			name = name[end+n:]
			continue
		}
		b.WriteString(name[:end])
		name = name[end:]
	}
}

// cutLastSlice cuts off the first slice mark that has a number if that is the
// end of the name.
func cutLastSlice(name string) string {
	mark := sliceMark[1:]
	for at := 0; ; {
		i := strings.Index(name[at:], mark)
		if i < 0 {
			return name
		}
		start, end := at+i, at+i+len(mark)
		n := Digits(name[end:])
		switch {
		case n == 0:
			at = end
		case end+n == len(name) && start > 0:
			return name[:start-1]
		default:
			return name
		}
	}
}

// afterSubgraph is what follows the last sub-graph mark that has a number,
// without the separator; the whole name if nothing does.
func afterSubgraph(name string) string {
	for end := len(name); ; {
		i := strings.LastIndex(name[:end], subgraphMark)
		if i < 0 {
			return name
		}
		after := i + len(subgraphMark)
		switch n := Digits(name[after:]); {
		case n == 0:
			end = after - 1
		case after+n >= len(name)-1:
			return name
		default:
			return name[after+n+1:]
		}
	}
}

// sliceNumber is the number of the last slice mark in a name, -1 without one.
func sliceNumber(name string) int64 {
	i := strings.LastIndex(name, sliceMark)
	if i < 0 {
		return -1
	}
	if n := Digits(name[i+len(sliceMark):]); n > 0 {
		return number(name[i+len(sliceMark):][:n])
	}
	return -1
}

// quantMarks are parts of the names of operators that quantise or undo it.
var quantMarks = []string{"_quant_layer", "_dequant_layer", "AscendQuant", "AscendWeightQuant", "AscendDequant", "AntiQuant",
	"_quant", "_dequant"}

// quantised tells whether an operator's name has such a part, whole: what
// follows is not a letter.
func quantised(name string) bool {
	for _, mark := range quantMarks {
		for rest := name; ; {
			i := strings.Index(rest, mark)
			if i < 0 {
				break
			}
			rest = rest[i+len(mark):]
			if rest == "" || !letter(rest[0]) {
				return true
			}
		}
	}
	return false
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
