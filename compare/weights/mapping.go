package weights

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"precision/compare/result"
	"precision/dump/msprobe"
	"precision/internal/order"
)

// mapping pairs tensors as a mapping file says: names of the left side with those of the right, or parts of them.
type mapping struct {
	file *msprobe.Mapping
	used map[int]bool // lines that named something of both sides
}

// join makes mates of the parts that the file names, and tells which of them are kernels of TensorFlow beside a tensor that is none, by the
// word they are called. A name is that of the file, or what it is called here; one that is part of a name ends where a word does, and is
// replaced once. An entry for the whole of a name comes first, then the longer part; all that fit come after each of them alone.
func (m *mapping) join(a, b []*part) (kernels map[*part]string) {
	if m == nil || m.file == nil {
		return nil
	}
	m.used = map[int]bool{}
	right := map[string]*part{}
	for _, names := range []func(*part) string{func(p *part) string { return p.t.Name }, func(p *part) string { return p.name }} {
		seen := map[string]bool{}
		for _, p := range b {
			name := names(p)
			switch {
			case right[name] == nil && !seen[name]:
				right[name] = p
			case seen[name]: // a tensor that is taken apart: its name is that of no part
				delete(right, name)
			}
			seen[name] = true
		}
	}
	entries := slices.Clone(m.file.Cells)
	order.Stable(entries, func(x, y msprobe.NamePair) int { return len(y.Left) - len(x.Left) })
	kernels = map[*part]string{}
	for _, p := range a {
		for _, aim := range aims(p, entries) {
			q := right[aim.name]
			if q == nil {
				q = right[Name(aim.name)]
			}
			if q == nil || q.mate != nil {
				continue
			}
			p.mate, q.mate = q, p
			for _, line := range aim.lines {
				m.used[line] = true
			}
			for _, x := range []*part{p, q} {
				if word := kernel(x, x.mate); word != "" {
					kernels[x] = word
				}
			}
			break
		}
	}
	return kernels
}

// kernel is the word by which a part is a kernel of TensorFlow beside another framework's weight, "" if it is none. Some files of Keras number
// the weights of a layer.
func kernel(p, other *part) string {
	_, word := last(p.t.Name)
	_, theirs := last(other.t.Name)
	switch _, err := strconv.Atoi(word); {
	case strings.HasSuffix(word, "kernel") && foreign[theirs] == "":
		return word
	case err == nil && theirs == "weight" && strings.Contains(p.t.Name, "/"):
		return "kernel"
	}
	return ""
}

// aim is a name that a part may have on the other side, by some lines of the file.
type aim struct {
	name  string
	lines []int
}

func aims(p *part, entries []msprobe.NamePair) (list []aim) {
	for _, e := range entries {
		if e.Left == p.t.Name || e.Left == p.name {
			return []aim{{e.Right, []int{e.Line}}}
		}
	}
	for _, name := range slices.Compact([]string{p.t.Name, p.name}) {
		all := aim{name: name}
		for _, e := range entries {
			if one, ok := replaced(name, e); ok {
				list = append(list, spelt(one, e.Line)...)
			}
			if more, ok := replaced(all.name, e); ok {
				all.name, all.lines = more, append(all.lines, e.Line)
			}
		}
		if len(all.lines) > 1 {
			list = append(list, spelt(all.name, all.lines...)...)
		}
	}
	return list
}

// spelt are a name, and what PyTorch calls a tensor of that name.
func spelt(name string, lines ...int) []aim {
	head, word := last(name)
	list := []aim{{name, lines}}
	if other := strings.ReplaceAll(head, "/", ".") + cmp.Or(foreign[word], word); other != name {
		list = append(list, aim{other, lines})
	}
	return list
}

// replaced puts the right name of an entry in the place of its left one, between the ends of words.
func replaced(name string, e msprobe.NamePair) (string, bool) {
	for from := 0; ; {
		i := strings.Index(name[from:], e.Left)
		if i < 0 {
			return name, false
		}
		i += from
		end := i + len(e.Left)
		if (i == 0 || strings.IndexByte("./", name[i-1]) >= 0) && (end == len(name) || strings.IndexByte("./", name[end]) >= 0) {
			return name[:i] + e.Right + name[end:], true
		}
		from = i + 1
	}
}

// unused tells of the lines that nothing on both sides goes by.
func (m *mapping) unused() []result.Reason {
	if m.file == nil {
		return nil
	}
	n, first := 0, ""
	for _, e := range m.file.Cells {
		if !m.used[e.Line] {
			if n++; n == 1 {
				first = e.Left + ": " + e.Right
			}
		}
	}
	if n == 0 {
		return nil
	}
	return []result.Reason{result.Because(result.MappingUnused, strconv.Itoa(n), strconv.Itoa(len(m.file.Cells)), m.file.File, first)}
}
