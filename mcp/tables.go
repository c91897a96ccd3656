package mcp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"precision/compare/job"
	"precision/compare/oracle"
	"precision/compare/report"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/internal/must"
	"precision/run"
)

// Kinds of results.
const (
	kindComparison = "comparison"
	kindCheck      = "check"
	kindJob        = "job"
)

// table is a result that questions are asked about: one of a comparison, a check or a job.
type table struct {
	// name is what clients call it: a path, or what compare and check gave it.
	name, kind string
	saved      bool // in a file, which may change
	// state tells it from what was at the path before.
	state string

	judged  *verdict.Judged
	lines   []report.OperatorLine
	byName  map[string]int          // operators
	low     []string                // their names, those of the framework too, a line each, in lower case
	looks   map[string]*result.Look // by tensor, guarded by mu
	checked *run.Checked
	job     *job.Saved

	mu     sync.Mutex
	sorted map[string][]report.OperatorLine
	uses   map[string][]int // operators that take the outputs of one
}

// tables keeps results in memory: those of this server by their names, and those of files as long as these stay the same.
type tables struct {
	f  *folders
	mu sync.Mutex
	// made are those of compare and check, numbered; opened those of files, the one asked for last at the end.
	made   []*table
	opened []*table
	last   *table
	// loading has one lock a path, so that two questions do not read a large table twice.
	loading map[string]*sync.Mutex
}

// Bounds of what is kept: results are large.
const (
	mostOpened = 4
	mostMade   = 16
	largeTable = 16 << 20
)

// keep keeps a result and gives it a name.
func (t *tables) keep(x *table, word string) *table {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.made = append(t.made, x)
	x.name = fmt.Sprintf("%s-%d", word, len(t.made))
	x.state = x.name
	if old := len(t.made) - mostMade - 1; old >= 0 {
		t.made[old] = nil
	}
	t.last = x
	return x
}

var errNoTable = errors.New("no table yet: name a saved table, or call compare or check first")

// open is the result of a name: what this server made, a file, or without a name the last one.
func (t *tables) open(ctx context.Context, name string) *table {
	t.mu.Lock()
	if name == "" {
		last := t.last
		t.mu.Unlock()
		if last == nil {
			must.Do(errNoTable)
		}
		if !last.saved {
			return last
		}
		return t.open(ctx, last.name) // the file may have changed
	}
	for i, x := range t.made {
		if x != nil && x.name == name {
			t.last = x
			t.mu.Unlock()
			return x
		}
		for _, word := range []string{"compare", "check", "job"} {
			if x == nil && name == fmt.Sprintf("%s-%d", word, i+1) {
				t.mu.Unlock()
				must.Not(true, "%s: no longer in memory; ask for it again", name)
			}
		}
	}
	t.mu.Unlock()
	path := t.f.path(name)
	info := must.Get(os.Stat(path))
	if info.IsDir() {
		if inner := filepath.Join(path, job.ResultFile); run.Begins(inner) == '{' {
			return t.open(ctx, inner)
		}
		must.Not(true, "%s: is a folder, expected a saved table: what precision compare -json wrote, its csv or page, or job.json; to compare or check recordings call compare or check", name)
	}
	state := fmt.Sprintf("%s %d %d", path, info.Size(), info.ModTime().UnixNano())
	t.mu.Lock()
	lock := t.loading[path]
	if lock == nil {
		lock = &sync.Mutex{}
		t.loading[path] = lock
	}
	t.mu.Unlock()
	lock.Lock()
	defer lock.Unlock()
	if x := t.find(state); x != nil {
		return x
	}
	x := read(ctx, path)
	if info.Size() > largeTable {
		debug.FreeOSMemory() // what reading left behind would be collected while questions are answered
	}
	x.name, x.state, x.saved = path, state, true
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := t.opened[:0]
	for _, old := range t.opened {
		if old.name != path {
			kept = append(kept, old)
		}
	}
	if t.opened = append(kept, x); len(t.opened) > mostOpened {
		t.opened = append([]*table{}, t.opened[1:]...)
	}
	t.last = x
	return x
}

// find is the opened table of a state, which is then the last one asked for.
func (t *tables) find(state string) *table {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, x := range t.opened {
		if x.state == state {
			t.opened = append(append(t.opened[:i:i], t.opened[i+1:]...), x)
			t.last = x
			return x
		}
	}
	return nil
}

// read reads what a file holds.
func read(ctx context.Context, path string) *table {
	switch schema := job.SchemaOf(path); {
	case strings.HasPrefix(schema, strings.TrimRight(job.Schema, "0123456789")): // which says if it is another version
		saved := must.Get(job.OpenJSON(path))
		x := &table{}
		// Its ranks and steps where errors begin are one table, if they are still there.
		if j, err := job.Open(path, nil); err == nil {
			x = ofJudged(j)
		}
		x.kind, x.job = kindJob, saved
		return x
	case schema == oracle.Schema:
		must.Not(true, "%s: is what precision check wrote, which cannot be asked about; call check on the recording", path)
	}
	done := must.Get((&run.Report{Path: path}).Run(ctx, func(run.Event) {}))
	return ofJudged(done.Judged)
}

// ofJudged prepares a judged table for questions.
func ofJudged(j *verdict.Judged) *table {
	x := &table{kind: kindComparison, judged: j, lines: report.OperatorLines(j), byName: make(map[string]int, len(j.Operators)), looks: map[string]*result.Look{}}
	for i := range j.Operators {
		op := j.Operators[i].Op
		x.byName[op.Name] = i
		x.low = append(x.low, strings.ToLower(strings.Join(append([]string{op.Name}, op.Framework...), "\n")))
	}
	for i := range j.Table.Looks {
		x.looks[j.Table.Looks[i].Tensor] = &j.Table.Looks[i]
	}
	return x
}

// ofChecked prepares a check for questions.
func ofChecked(c *run.Checked) *table {
	x := &table{kind: kindCheck, checked: c, byName: map[string]int{}}
	for i := range c.Findings {
		x.low = append(x.low, strings.ToLower(c.Findings[i].Op))
		if _, ok := x.byName[c.Findings[i].Op]; !ok {
			x.byName[c.Findings[i].Op] = i
		}
	}
	return x
}

// comparison is the judged table; the error of another says what to ask instead.
func (x *table) comparison() *verdict.Judged {
	must.Not(x.kind == kindCheck, "%s: is a check, which has operators and why; this question is for comparisons", x.name)
	must.Not(x.judged == nil, "%s: is a whole job whose tables are not beside it", x.name)
	return x.judged
}

// operator is the place of an operator by its name, or by a part of it that no other has.
func (x *table) operator(name string) int {
	if i, ok := x.byName[name]; ok {
		return i
	}
	if op, _, _, err := result.ParseTensor(name); err == nil {
		if i, ok := x.byName[op]; ok {
			return i
		}
		name = op
	}
	var near []string
	at := -1
	low := strings.ToLower(name)
	for i, names := range x.low {
		if low == "" || !strings.Contains(names, low) {
			continue
		}
		own := x.nameOf(i)
		if len(near) == 0 || near[len(near)-1] != own { // a check has an operator once an output
			near, at = append(near, own), x.byName[own]
		}
	}
	must.Not(len(near) == 0, "no operator %q in %s: operators lists them, its argument name finds parts of names", clip(name, 200), x.name)
	one(near, name)
	return at
}

// nameOf is the name of an operator, or of that of a finding.
func (x *table) nameOf(i int) string {
	if x.judged != nil {
		return x.judged.Operators[i].Op.Name
	}
	return x.checked.Findings[i].Op
}

// look is what was seen of a tensor, nil if nothing was.
func (x *table) look(tensor string) *result.Look {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.looks[tensor]
}

// sortedBy are the operators in an order, kept for the next page.
func (x *table) sortedBy(order string) []report.OperatorLine {
	if order == "" {
		return x.lines
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if list := x.sorted[order]; list != nil {
		return list
	}
	list := slices.Clone(x.lines)
	err := report.SortOperators(list, order)
	must.Not(err != nil, "sort: %w", err)
	x.sorted = map[string][]report.OperatorLine{order: list} // one is enough for pages, and all would be large
	return list
}

// mostLooks bounds the looks that are kept beside those of the table.
const mostLooks = 256

func (x *table) keepLook(l *result.Look) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.looks) < mostLooks+len(x.judged.Table.Looks) {
		x.looks[l.Tensor] = l
	}
}

// usersOf are the operators that take an output of one.
func (x *table) usersOf(i int) []int {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.uses == nil {
		x.uses = map[string][]int{}
		for k := range x.judged.Operators {
			seen := map[string]bool{}
			for _, p := range x.judged.Operators[k].Op.Inputs {
				if p.Op != "" && !seen[p.Op] {
					seen[p.Op] = true
					x.uses[p.Op] = append(x.uses[p.Op], k)
				}
			}
		}
	}
	return x.uses[x.judged.Operators[i].Op.Name]
}

// stamp is the time in names of files.
func stamp() string { return time.Now().Format("20060102150405") }
