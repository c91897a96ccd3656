package verdict

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// glob matches a name against a pattern in which a star stands for any text
// and a question mark for one character. Other characters stand for
// themselves.
func glob(pattern, name string) bool {
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
// of waivers, and a table as many tensors. Patterns are known by what stands before their first star or
// question mark, or behind the last, whichever is longer.
type globs struct {
	exact, front, back map[string][]int
	fronts, backs      []int // how long the keys are
	rest               []int
}

// fewGlobs are so few that a look at each is cheaper.
const fewGlobs = 16

// newGlobs takes n patterns; nil for few. An empty one matches all.
func newGlobs(n int, pattern func(i int) string) *globs {
	if n <= fewGlobs {
		return nil
	}
	g := &globs{exact: map[string][]int{}, front: map[string][]int{}, back: map[string][]int{}}
	for i := range n {
		p := pattern(i)
		first, last := strings.IndexAny(p, "*?"), strings.LastIndexAny(p, "*?")
		switch {
		case p == "":
			g.rest = append(g.rest, i)
		case first < 0:
			g.exact[p] = append(g.exact[p], i)
		case first > 0 && first >= len(p)-last-1:
			g.front[p[:first]] = append(g.front[p[:first]], i)
			g.fronts = append(g.fronts, first)
		case last+1 < len(p):
			g.back[p[last+1:]] = append(g.back[p[last+1:]], i)
			g.backs = append(g.backs, len(p)-last-1)
		default:
			g.rest = append(g.rest, i)
		}
	}
	for _, lengths := range []*[]int{&g.fronts, &g.backs} {
		slices.Sort(*lengths)
		*lengths = slices.Compact(*lengths)
	}
	return g
}

// of are the numbers of the patterns that may match a name, in order.
func (g *globs) of(name string) []int {
	list := append(slices.Clone(g.rest), g.exact[name]...)
	for _, n := range g.fronts {
		if n <= len(name) {
			list = append(list, g.front[name[:n]]...)
		}
	}
	for _, n := range g.backs {
		if n <= len(name) {
			list = append(list, g.back[name[len(name)-n:]]...)
		}
	}
	slices.Sort(list)
	return list
}
