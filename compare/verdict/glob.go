package verdict

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Glob matches a name against a pattern in which a star stands for any text
// and a question mark for one character. Other characters stand for
// themselves.
func Glob(pattern, name string) bool {
	star, from := -1, 0 // the last star, and where the text after it was last tried
	p, n := 0, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, n
			p++
			continue
		case p < len(pattern) && pattern[p] == '?':
			_, size := utf8.DecodeRuneInString(name[n:])
			p, n = p+1, n+size
			continue
		case p < len(pattern) && pattern[p] == name[n]:
			p, n = p+1, n+1
			continue
		case star < 0:
			return false
		}
		_, size := utf8.DecodeRuneInString(name[from:])
		from += size
		p, n = star+1, from
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// globs finds, of many patterns, those that may match a name, without a look at each: a profile may hold thousands
// of waivers, and a table as many tensors. A pattern is known by the longest text in it without stars and question marks.
type globs struct {
	exact, part map[string][]int
	lengths     []int // of the keys of part
	rest        []int
}

const (
	// fewGlobs are so few that a look at each is cheaper.
	fewGlobs = 16
	// longestPart bounds how many lengths of parts there are, each of which costs a walk over a name.
	longestPart = 24
)

// newGlobs takes n patterns; nil for few. An empty one matches all.
func newGlobs(n int, pattern func(i int) string) *globs {
	if n <= fewGlobs {
		return nil
	}
	g := &globs{exact: map[string][]int{}, part: map[string][]int{}}
	for i := range n {
		p := pattern(i)
		if p != "" && !strings.ContainsAny(p, "*?") {
			g.exact[p] = append(g.exact[p], i)
			continue
		}
		longest := ""
		for part := range strings.FieldsFuncSeq(p, func(r rune) bool { return r == '*' || r == '?' }) {
			if len(part) > len(longest) {
				longest = part
			}
		}
		if longest == "" {
			g.rest = append(g.rest, i)
			continue
		}
		longest = longest[max(0, len(longest)-longestPart):] // what tells names apart stands at the end
		g.part[longest] = append(g.part[longest], i)
		g.lengths = append(g.lengths, len(longest))
	}
	slices.Sort(g.lengths)
	g.lengths = slices.Compact(g.lengths)
	return g
}

// of are the numbers of the patterns that may match a name, in order.
func (g *globs) of(name string) []int {
	list := append(slices.Clone(g.rest), g.exact[name]...)
	for _, n := range g.lengths {
		for at := 0; at+n <= len(name); at++ {
			list = append(list, g.part[name[at:at+n]]...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
