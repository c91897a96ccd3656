package repl

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"precision/dump"
	"precision/graph"
	"precision/internal/order"
	"precision/internal/spell"
)

// fuzzy finds operators whose names have the letters of text in its order,
// upper and lower case alike: "b1scl" finds "block1/scale". Separators are what
// file names of dumps make of them. Those in which the letters stand closest
// together come first. There are at most limit.
func (s *session) fuzzy(text string, limit int) (ops []*graph.Op) {
	type hit struct {
		op     *graph.Op
		spread int
	}
	var hits []hit
	seen := map[string]bool{}
	key := func(name string) string { return strings.ToLower(graph.DumpName(name)) }
	text = key(text)
	for _, id := range s.data.IDs() {
		for _, f := range s.graphsOf(id).Files {
			for _, op := range f.Index.Ops {
				if spread, ok := spread(key(op.Name), text); ok && !seen[op.Name] {
					seen[op.Name] = true
					hits = append(hits, hit{op, spread})
				}
			}
		}
	}
	order.Stable(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.spread, b.spread), cmp.Compare(len(a.op.Name), len(b.op.Name)))
	})
	for _, h := range hits[:min(len(hits), limit)] {
		ops = append(ops, h.op)
	}
	return ops
}

// unknown tells that nothing is of a name, and which comes close to it.
func (s *session) unknown(key, name string) int {
	s.Fail(key, name)
	s.mean(name)
	return exitNothing
}

// mean tells which operator or recording a name that is not there comes close to.
func (s *session) mean(name string) {
	var names []string
	for _, id := range s.data.IDs() {
		for _, f := range s.graphsOf(id).Files {
			for _, op := range f.Index.Ops {
				names = append(names, op.Name)
			}
		}
	}
	s.data.EachDump(func(e *dump.Entry) { names = append(names, e.Name.OpName, e.Name.File) })
	if g := s.data.GoldenArrays(); g != nil {
		for _, op := range g.Ops {
			names = append(names, op.Newest().Name.File)
		}
	}
	if near := spell.Nearest(name, names); near != "" {
		s.Info("mean", near)
	}
}

// spread is the number of bytes from the first to the last letter of text in
// name, in its order; false if they are not there.
func spread(name, text string) (int, bool) {
	first, at := -1, 0
	for _, r := range text {
		i := strings.IndexRune(name[at:], r)
		if i < 0 {
			return 0, false
		}
		if first < 0 {
			first = at + i
		}
		_, size := utf8.DecodeRuneInString(name[at+i:])
		at += i + size
	}
	if first < 0 {
		return 0, false
	}
	return at - first, true
}
