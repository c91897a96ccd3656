package recording

import (
	"slices"
	"strconv"
	"strings"

	"precision/compare/result"
	"precision/dump/msprobe"
)

// mapper pairs calls as a mapping file of msprobe says.
type mapper struct {
	*msprobe.Mapping
	// join makes a pair that a file names, of functions by an entry of it.
	join func(a, b *call, by *msprobe.APIPair)
	// used are the lines of the file that named something of both sides.
	used map[int]bool
}

// aim is what a call of the left side is called on the right.
type aim struct {
	key   string
	lines []int
	api   *msprobe.APIPair
}

// align pairs the calls that the file names. It comes before all other ways.
func (m *mapper) align(left, right *side) {
	ms, _, migrated := across(left, right)
	m.join = func(a, b *call, by *msprobe.APIPair) {
		switch {
		case !migrated || by == nil || !by.Bare():
			joinMapped(a, b)
		case ms == left:
			standFor([]*call{a}, b)
		default:
			standFor([]*call{b}, a)
		}
	}
	switch {
	case m.Data != nil:
		m.tensors(left, right)
	case m.Cells != nil:
		for _, p := range m.Cells {
			// They are each other's between two frameworks without being told.
			m.used[p.Line] = m.used[p.Line] || migrated && (p.Left == "Cell" && p.Right == "Module" || p.Left == "Module" && p.Right == "Cell")
		}
		m.calls(left, right, m.cell, func(c *call) []string { return keysOf(c, cellName(c)) })
	case m.APIs != nil:
		m.calls(left, right, m.function, func(c *call) []string { return keysOf(c, functionNames(c)...) })
	case m.Layers != nil:
		walk := m.layers(left)
		m.calls(left, right, walk, func(c *call) []string { return keysOf(c, right.paths(c)...) })
	}
}

// keysOf adds to names what sort of entry they are: only such of one sort are a pair.
func keysOf(c *call, names ...string) []string {
	for i := range names {
		if names[i] != "" {
			names[i] += "/" + c.Parsed.Direction.String()
			if c.Parsed.Form == msprobe.ParametersGrad {
				names[i] += "parameters_grad"
			}
		}
	}
	return names
}

// group are calls that belong together, in the order of either side.
type group struct {
	left, right []*call
	aims        []aim
}

// calls pairs calls by the names that aims gives those of the left side; keys are the
// names of one of the right side. Of several of one name those in the same order are
// pairs, where there is a choice those of equal content, size and number.
func (m *mapper) calls(left, right *side, aims func(*call) []aim, keys func(*call) []string) {
	groups := map[string]*group{}
	for _, c := range right.calls {
		for _, key := range keys(c) {
			if key == "" {
				continue
			}
			g := groups[key]
			if g == nil {
				g = &group{}
				groups[key] = g
			}
			if n := len(g.right); n == 0 || g.right[n-1] != c {
				g.right = append(g.right, c)
			}
		}
	}
	var order []*group
	for _, c := range left.calls {
		for _, a := range aims(c) {
			g := groups[keysOf(c, a.key)[0]]
			if g == nil {
				continue
			}
			if len(g.left) == 0 {
				order = append(order, g)
			}
			g.left, g.aims = append(g.left, c), append(g.aims, a)
			break
		}
	}
	for _, g := range order {
		mine, theirs := tensorsOf(g.left), tensorsOf(g.right)
		weight := func(i, j int) float64 {
			a, b := g.left[i], g.right[j]
			w := 0.1
			if a.pair != nil || b.pair != nil {
				return 0
			}
			if sameSize(a, b) {
				w = 1
			}
			w += common(mine[i], theirs[j]) / 2
			if a.Parsed.Number == b.Parsed.Number {
				w += 0.01
			}
			return w
		}
		for _, p := range longest(len(g.left), len(g.right), weight) {
			a, b, by := g.left[p[0]], g.right[p[1]], &g.aims[p[0]]
			m.join(a, b, by.api)
			for _, line := range by.lines {
				m.used[line] = true
			}
			if by.api != nil {
				b.move(by.api, a)
			}
		}
	}
}

// mostCells bounds the table that longest fills: 16 MB.
const mostCells = 16 << 20

// longest is the common subsequence of the greatest weight, as pairs of places.
// Sequences too long for a table are cut into parts of the same share.
func longest(n, m int, weight func(i, j int) float64) [][2]int {
	if n == 0 || m == 0 {
		return nil
	}
	if (n+1)*(m+1) > mostCells {
		list := longest(n/2, m/2, weight)
		for _, p := range longest(n-n/2, m-m/2, func(i, j int) float64 { return weight(i+n/2, j+m/2) }) {
			list = append(list, [2]int{p[0] + n/2, p[1] + m/2})
		}
		return list
	}
	const up, left, both = 1, 2, 3
	step := make([]byte, (n+1)*(m+1))
	last, next := make([]float64, m+1), make([]float64, m+1)
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			best, how := last[j], byte(up)
			if next[j+1] > best {
				best, how = next[j+1], left
			}
			if w := weight(i, j); w > 0 && last[j+1]+w >= best {
				best, how = last[j+1]+w, both
			}
			next[j], step[i*(m+1)+j] = best, how
		}
		last, next = next, last
		next[m] = 0
	}
	var list [][2]int
	for i, j := 0, 0; i < n && j < m; {
		switch step[i*(m+1)+j] {
		case both:
			list = append(list, [2]int{i, j})
			i, j = i+1, j+1
		case up:
			i++
		default:
			j++
		}
	}
	return list
}

// tensorsOf are what is said of the tensors of each of the calls.
func tensorsOf(calls []*call) []map[identity]bool {
	list := make([]map[identity]bool, len(calls))
	for n, c := range calls {
		list[n] = make(map[identity]bool, len(c.leaves))
		for i := range c.leaves {
			if l := &c.leaves[i]; l.tensor() {
				list[n][l.sameness()] = true
			}
		}
	}
	return list
}

// common is the share of the tensors of a call that another one has too, wherever they
// stand.
func common(a, b map[identity]bool) float64 {
	same := 0
	for x := range a {
		if b[x] {
			same++
		}
	}
	return float64(same) / float64(max(len(a), 1))
}

func joinMapped(a, b *call) {
	join(a, b)
	a.how, b.how = byMap, byMap
}

// cellName is {path}.{Class}, empty for what is no module.
func cellName(c *call) string {
	if n := &c.Parsed; n.Form == msprobe.Module || n.Form == msprobe.ParametersGrad {
		return n.API + "." + n.Class
	}
	return ""
}

// bareCell is a name of a cell mapping without Cell and Module.
func bareCell(s string) string {
	return strings.TrimPrefix(strings.TrimPrefix(s, "Cell."), "Module.")
}

// cell gives what a module may be called on the right: by an entry for the whole of its
// name, by one for a part of it, or by all of these.
func (m *mapper) cell(c *call) (list []aim) {
	name := cellName(c)
	if name == "" {
		return nil
	}
	all := aim{key: name}
	for _, p := range m.Cells {
		from, to := bareCell(p.Left), bareCell(p.Right)
		if from == name {
			list = slices.Insert(list, 0, aim{key: to, lines: []int{p.Line}})
		} else if strings.Contains(name, from) {
			list = append(list, aim{key: strings.Replace(name, from, to, 1), lines: []int{p.Line}})
			all.key, all.lines = strings.Replace(all.key, from, to, 1), append(all.lines, p.Line)
		}
	}
	if len(all.lines) > 1 {
		list = append(list, all)
	}
	return list
}

// functionNames are what an API mapping may call a function or module.
func functionNames(c *call) []string {
	switch n := &c.Parsed; n.Form {
	case msprobe.API:
		return []string{n.Prefix + "." + n.API}
	case msprobe.Module, msprobe.ParametersGrad:
		return []string{n.Prefix + "." + n.API + "." + n.Class, n.API + "." + n.Class}
	}
	return nil
}

func (m *mapper) function(c *call) (list []aim) {
	names := functionNames(c)
	for i := range m.APIs {
		if p := &m.APIs[i]; slices.Contains(names, p.Left) {
			list = append(list, aim{key: p.Right, lines: []int{p.Line}, api: p})
		}
	}
	return list
}

// noPartner marks the place of a value that has no partner.
const noPartner = " (right)"

// move gives the values of a call the places of those of its partner that a mapping of
// functions names. A list without a value says that it has no partner; the gradients of
// a backward call are those of the outputs and arguments of the forward one.
func (c *call) move(p *msprobe.APIPair, partner *call) {
	for i := range c.leaves {
		l := &c.leaves[i]
		var list [2][]string
		back := c.Parsed.Direction == msprobe.Backward
		switch s := l.Section; {
		case s == msprobe.Parameters:
			list = p.Parameters
		case s == msprobe.Gradients:
			list = p.Gradients
		case (s == msprobe.Output) != back:
			list = p.Outputs
		case s == msprobe.Input || s == msprobe.Kwargs || s == msprobe.Output:
			list = p.Args
		}
		if list[1] == nil {
			continue
		}
		first, rest, deep := strings.Cut(l.path, ".")
		if deep {
			rest = "." + rest
		}
		k := slices.Index(list[1], first)
		if k < 0 {
			c.place(i, l.place+noPartner)
			continue
		}
		section := l.Section
		if section == msprobe.Kwargs {
			section = msprobe.Input
		}
		to := section.String() + "." + list[0][k] + rest
		if other := msprobe.Kwargs.String() + "." + list[0][k] + rest; section == msprobe.Input && partner.leaf(to, i) == nil && partner.leaf(other, i) != nil {
			to = other
		}
		c.place(i, to)
	}
}

// place puts a value at another place; its form may be that of others.
func (c *call) place(i int, to string) {
	f := *c.leaves[i].form
	f.place = to
	c.leaves[i].form = &f
}

// paths are the names of a call in the tree of modules: the path of a module, that of the
// module around it and the function, which may be a part of a longer name.
func (s *side) paths(c *call) []string {
	n := &c.Parsed
	if n.Form == msprobe.Module || n.Form == msprobe.ParametersGrad {
		return []string{n.API}
	}
	if n.Form != msprobe.API {
		return nil
	}
	around := ""
	if p := msprobe.ParseName(s.parent[c.Name]); p.Form == msprobe.Module {
		around = p.API + "."
	}
	list := []string{around + n.API}
	if i := strings.LastIndexByte(n.API, '.'); i >= 0 {
		list = append(list, around+n.API[i+1:])
	}
	return list
}

// layers gives the walk down the tree of modules that translates the path of a call.
func (m *mapper) layers(left *side) func(*call) []aim {
	classes := map[string]string{"": msprobe.TopLayer}
	note := func(name string) {
		if n := msprobe.ParseName(name); n.Form == msprobe.Module {
			classes[n.API] = n.Class
		}
	}
	for name, parent := range left.parent {
		note(name)
		note(parent)
	}
	for _, c := range left.calls {
		note(c.Name)
	}
	children := map[string][]msprobe.NamePair{}
	for _, l := range m.Layers {
		children[l.Class] = l.Children
	}
	return func(c *call) (list []aim) {
		for _, path := range left.paths(c) {
			var a aim
			var out []string
			for done, rest := "", path; rest != ""; {
				var step msprobe.NamePair // the longest that fits
				for _, p := range children[classes[done]] {
					if (rest == p.Left || strings.HasPrefix(rest, p.Left+".")) && len(p.Left) > len(step.Left) {
						step = p
					}
				}
				if step.Left == "" {
					step.Left, _, _ = strings.Cut(rest, ".")
					step.Right = step.Left
				} else {
					a.lines = append(a.lines, step.Line)
				}
				out = append(out, step.Right)
				rest = strings.TrimPrefix(rest[len(step.Left):], ".")
				done = strings.TrimSuffix(path[:len(path)-len(rest)], ".")
			}
			if a.key = strings.Join(out, "."); len(a.lines) > 0 {
				list = append(list, a)
			}
		}
		return list
	}
}

// unused tells of entries of the file that name nothing that both sides have.
func (m *mapper) unused() (why []result.Reason) {
	all := slices.Concat(m.Data, m.Cells)
	for i := range m.APIs {
		all = append(all, m.APIs[i].NamePair)
	}
	for _, l := range m.Layers {
		all = append(all, l.Children...)
	}
	n, first := 0, ""
	for _, p := range all {
		if !m.used[p.Line] {
			if n++; n == 1 {
				first = p.Left + ": " + p.Right
			}
		}
	}
	if n > 0 {
		why = append(why, result.Because(result.MappingUnused, strconv.Itoa(n), strconv.Itoa(len(all)), m.File, first))
	}
	return why
}
