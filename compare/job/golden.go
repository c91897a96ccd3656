package job

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"precision/dump"
	"precision/internal/lazy"
	"precision/internal/plainfile"
)

// The marks that stand for numbers in the path of the right side.
const (
	rankMark = "{rank}"
	stepMark = "{step}"
)

// hasMarks tells whether a path stands for one of each rank or step.
func hasMarks(path string) bool {
	return strings.Contains(path, rankMark) || strings.Contains(path, stepMark)
}

// golden finds the right side of parts.
type golden struct {
	path  string
	one   string // the folder of all
	marks bool
	list  []*goldenDir
}

// goldenDir is a folder of the right side with its place.
type goldenDir struct {
	dump.Place
	dir  string
	used bool
}

func findGolden(path string) *golden {
	g := &golden{path: path, marks: hasMarks(path)}
	if g.marks {
		return g
	}
	list, err := dump.Folders(path, mostFolders)
	ofSide(true, path, err)
	for _, dir := range list {
		g.list = append(g.list, &goldenDir{Place: dump.PlaceOf(dir), dir: dir})
	}
	if len(list) == 1 && !tells(path, list[0]) {
		g.one = list[0]
	}
	return g
}

// tells tells whether the folders below path, down to dir, name a rank or a step: the folders above
// path are not about this job.
func tells(path, dir string) bool {
	p := dump.PlaceOf(dir)
	return (p.Rank >= 0 || p.Step >= 0) && len(strings.Trim(strings.TrimPrefix(dir, path), "/\\")) > 0
}

// of is the folder that belongs to a part; without one, why and says tell what was looked for.
func (g *golden) of(x *Part) (dir, why, says string) {
	switch {
	case g.one != "":
		return g.one, "", ""
	case g.marks:
		path, says := expand(g.path, x)
		if path == "" {
			return "", AloneNoGolden, says
		}
		found, _, err := dump.Resolve(path)
		if err != nil {
			return "", AloneNoGolden, err.Error()
		}
		return found, "", ""
	}
	var best *goldenDir
	fits := -1
	for _, d := range g.list {
		if n := d.fits(x); n > fits || n >= 0 && n == fits && best.Time < d.Time {
			best, fits = d, n
		}
	}
	if best == nil {
		return "", AloneNoGolden, g.path
	}
	if x.Rank < 0 || x.Step < 0 {
		for _, d := range g.list {
			if d.fits(x) == fits && (x.Rank < 0 && d.Rank != best.Rank || x.Step < 0 && d.Step != best.Step) {
				return "", AloneAmbiguous, min(best.dir, d.dir) + ", " + max(best.dir, d.dir)
			}
		}
	}
	best.used = true
	return best.dir, "", ""
}

// fits tells how closely a folder is that of a part, -1 if it is that of another: what
// one of them does not tell fits all, and what neither tells fits best.
func (d *goldenDir) fits(x *Part) (n int) {
	for _, c := range [...]struct{ mine, its int }{{d.Rank, x.Rank}, {d.Step, x.Step}} {
		switch {
		case c.mine == c.its:
			n += 4
		case c.mine < 0 || c.its < 0:
		default:
			return -1
		}
	}
	for _, c := range [...]struct{ mine, its string }{{d.Model, x.Model}, {d.ModelID, x.ModelID}} {
		if c.mine != "" && c.mine == c.its {
			n++
		}
	}
	return n
}

// unused are the folders that belong to no part.
func (g *golden) unused() (list []*goldenDir) {
	for _, d := range g.list {
		if !d.used && g.one == "" {
			list = append(list, d)
		}
	}
	return list
}

// marked is a mark with what joins it to the text before: _rank{rank}.
var marked = map[string]func() *regexp.Regexp{
	rankMark: lazy.Regexp(`(?i)[_.-]?(?:rank[_-]?)?\{rank\}`),
	stepMark: lazy.Regexp(`(?i)[_.-]?(?:step[_-]?)?\{step\}`),
}

// expand puts the numbers of a part into a path. Where there is no such folder, that of
// the number 0 may also go without it: golden and golden_rank1 for golden_rank{rank}. An empty path
// is none; says is what was looked for.
func expand(path string, x *Part) (dir, says string) {
	forms := []string{path}
	for _, m := range []struct {
		mark string
		n    int
	}{{rankMark, x.Rank}, {stepMark, x.Step}} {
		var more []string
		for _, f := range forms {
			if !strings.Contains(f, m.mark) {
				more = append(more, f)
				continue
			}
			if m.n >= 0 {
				more = append(more, strings.ReplaceAll(f, m.mark, strconv.Itoa(m.n)))
			}
			if m.n == 0 {
				more = append(more, marked[m.mark]().ReplaceAllString(f, ""))
			}
		}
		forms = more
	}
	for _, f := range forms {
		if plainfile.IsFolder(f) {
			return f, ""
		}
	}
	return "", strings.Join(forms, ", ")
}

// strays are the folders that a path with marks stands for and that belong to no part:
// recordings of ranks or steps that the left side lacks.
func strays(path string, used map[string]bool) (list []Part) {
	quoted := strings.NewReplacer("[", "[[]", "*", "[*]", "?", "[?]", `\`, `\\`).Replace(path)
	found, _ := filepath.Glob(strings.NewReplacer(rankMark, "*", stepMark, "*").Replace(quoted))
	number := strings.NewReplacer(regexp.QuoteMeta(rankMark), `(?P<rank>\d+)`, regexp.QuoteMeta(stepMark), `(?P<step>\d+)`)
	form, err := regexp.Compile("^" + number.Replace(regexp.QuoteMeta(filepath.Clean(path))) + "$")
	if err != nil {
		return nil
	}
	for _, dir := range found {
		m := form.FindStringSubmatch(filepath.Clean(dir))
		if m == nil || used[filepath.Clean(dir)] || !plainfile.IsFolder(dir) {
			continue
		}
		x := Part{Step: -1, Rank: -1, Right: dir}
		for i, name := range form.SubexpNames() {
			n, err := strconv.Atoi(m[max(i, 0)])
			switch {
			case err != nil:
			case name == "rank":
				x.Rank = n
			case name == "step":
				x.Step = n
			}
		}
		list = append(list, x)
	}
	return list
}

// lone lists golden recordings that no part of the left side goes with.
func (p *Plan) lone() {
	if !hasMarks(p.Right) {
		return
	}
	used := map[string]bool{}
	for i := range p.Parts {
		if dir, _ := expand(p.Right, &p.Parts[i]); dir != "" {
			used[filepath.Clean(dir)] = true
		}
	}
	for _, x := range strays(p.Right, used) {
		if p.wanted(&x) {
			p.Alone = append(p.Alone, Alone{Why: AloneNoDump, Path: x.Right, Step: x.Step, Rank: x.Rank})
		}
	}
}
