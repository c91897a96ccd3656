package soak

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"precision/internal/must"
	"slices"
	"strings"
	"time"
)

// Campaign damages the inputs of commands, kills the commands and fills their disk.
type Campaign struct {
	// Programs are those under test, by name: precision, msaccucmp.
	Programs map[string]Program
	// Root is the top folder of the module, Work an empty one for trials.
	Root, Work string

	scenarios map[string][]*scenario // by program
}

// NewCampaign lays out the inputs of all commands whose program is there. Only
// those whose names begin with only are taken.
func NewCampaign(programs map[string]Program, root, work, only string) (_ *Campaign, err error) {
	defer must.Catch(&err)
	root = must.Get(filepath.Abs(root))
	c := &Campaign{Programs: programs, Root: root, Work: work, scenarios: map[string][]*scenario{}}
	list := must.Get(scenarios(root))
	for _, s := range list {
		if _, ok := programs[s.program]; ok && strings.HasPrefix(s.program+" "+s.name, only) {
			c.scenarios[s.program] = append(c.scenarios[s.program], s)
		}
	}
	must.Not(len(c.scenarios) == 0, "there is no command %q", only)
	return c, nil
}

// pick takes the scenario of a trial: one of precision three times of four.
func (c *Campaign) pick(rng *rand.Rand) *scenario {
	list := c.scenarios["precision"]
	if other := c.scenarios["msaccucmp"]; len(list) == 0 || len(other) > 0 && rng.IntN(4) == 0 {
		list = other
	}
	return list[rng.IntN(len(list))]
}

// trial is a folder in which a command runs: its inputs in "in", "out" for what it
// writes, and folders that must stay empty.
type trial struct {
	c      *Campaign
	s      *scenario
	dir    string
	before map[string]string
	blocks *int // the most a file may have, of 512 bytes
}

// folders of a trial.
var folders = []string{"in", "out", "home", "tmp"}

// trial lays out a scenario. content, if not nil, replaces the file; if file is
// given without content, the file is not there.
func (c *Campaign) trial(s *scenario, name, file string, content []byte) (_ *trial, err error) {
	defer must.Catch(&err)
	if err := c.prepare(s); err != nil {
		return nil, fmt.Errorf("%s %s, whole: %w", s.program, s.name, err)
	}
	t := &trial{c: c, s: s, dir: filepath.Join(c.Work, name)}
	for _, f := range folders {
		must.Do(os.MkdirAll(filepath.Join(t.dir, f), 0o700))
	}
	must.Do(copyTree(s.base, filepath.Join(t.dir, "in")))
	if file != "" {
		at := filepath.Join(t.dir, "in", filepath.FromSlash(file))
		err := os.Remove(at)
		if err == nil && content != nil {
			err = os.WriteFile(at, content, 0o600)
		}
		must.Do(err)
	}
	t.before, err = snapshot(t.dir)
	return t, err
}

// sound sees that what was written below a folder is whole.
func (t *trial) sound(dir string, orphans bool) error {
	now, err := snapshot(t.dir)
	if err != nil {
		return err
	}
	for path, is := range now {
		at := filepath.Join(t.dir, filepath.FromSlash(path))
		if is == t.before[path] || is == "folder" || !strings.HasPrefix(at, dir) {
			continue
		}
		if err := sound(at, orphans); err != nil {
			return err
		}
	}
	return nil
}

func (t *trial) remove() { os.RemoveAll(t.dir) }

// run runs the command, kills it after a while if kill is not 0, and sees what is
// there then.
func (t *trial) run(kill time.Duration) (ended, error) {
	p := t.c.Programs[t.s.program]
	p.Dir, p.blocks = t.dir, t.blocks
	p.Env = append(slices.Clone(p.Env), "HOME="+filepath.Join(t.dir, "home"), "XDG_CONFIG_HOME="+filepath.Join(t.dir, "home"),
		"XDG_STATE_HOME="+filepath.Join(t.dir, stateFolder), "TMPDIR="+filepath.Join(t.dir, "tmp"), "NO_COLOR=1", "TERM=dumb")
	stop := kill
	if stop == 0 {
		stop = t.s.serves
	}
	e, err := p.run(stop, t.s.args...)
	if err != nil {
		return e, err
	}
	for _, w := range t.s.writes {
		if dir := filepath.Join(t.dir, filepath.FromSlash(w)); exists(dir) {
			if err := t.sound(dir, kill > 0); err != nil {
				return e, err
			}
		}
	}
	return e, untouched(t.dir, t.before, t.s.writes)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// prepare fills the base folder of a scenario, and runs it once as it is.
func (c *Campaign) prepare(s *scenario) (err error) {
	defer must.Catch(&err)
	if s.base != "" {
		return nil
	}
	home := filepath.Join(c.Work, "base", s.program, strings.ReplaceAll(s.name, "/", "_"))
	base := filepath.Join(home, "in")
	must.Do(os.MkdirAll(base, 0o700))
	must.Do(s.inputs(base))
	for _, words := range s.first { // which make inputs
		p := c.Programs[s.program]
		p.Dir = home
		if e, err := p.run(0, words...); err != nil || e.code != 0 {
			return fmt.Errorf("%q: exit status %d, %w, %s", words, e.code, err, e.stderr)
		}
	}
	must.Do(filepath.WalkDir(base, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			rel, _ := filepath.Rel(base, path)
			if rel = filepath.ToSlash(rel); s.from == "" || strings.HasPrefix(rel, s.from) {
				s.files = append(s.files, rel)
			}
		}
		return err
	}))
	must.Not(len(s.files) == 0, "it has no inputs")
	s.base, s.changed = base, map[string]*dependent{}
	t := must.Get(c.trial(s, "time", "", nil))
	defer t.remove()
	start := time.Now()
	e := must.Get(t.run(0))
	s.takes, s.code, s.made = time.Since(start), e.code, t.made()
	s.rows, err = t.rows(e)
	if err == nil && s.table && len(s.rows) == 0 {
		err = fmt.Errorf("the table has no rows")
	}
	return err
}

// changedRows runs a scenario with a file changed and returns the rows of its table,
// if it has one.
func (c *Campaign) changedRows(s *scenario, name, file string, content []byte) (map[string]string, error) {
	t, err := c.trial(s, name, file, content)
	if err != nil {
		return nil, err
	}
	defer t.remove()
	e, err := t.run(0)
	if err != nil {
		return nil, err
	}
	return t.rows(e)
}

// rows are those of the table that a run left, by their keys.
func (t *trial) rows(e ended) (map[string]string, error) {
	if !t.s.table {
		return nil, nil
	}
	found, err := tables(filepath.Join(t.dir, "out"), false)
	rows := map[string]string{}
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0 && e.code == 0:
		return nil, fmt.Errorf("exit status 0 without a table")
	case len(found) > 1:
		return nil, fmt.Errorf("%d tables of one run", len(found))
	case len(found) == 0:
		return rows, nil
	}
	key := columns(found[0][0], "NPUDump", "GroundTruth", "TensorIndex")
	for _, row := range found[0][1:] {
		var k []string
		for _, c := range key {
			k = append(k, row[c])
		}
		rows[strings.Join(k, "|")] = strings.Join(row[1:], "|")
	}
	return rows, nil
}

// mayChange tells whether a row may be another one when a file is damaged: it is one
// when the file is not there, when it is cut, or when the bytes of its second half
// are others. They are tried in this order.
func (c *Campaign) mayChange(s *scenario, file, row string, content []byte) (bool, error) {
	d := s.changed[file]
	if d == nil {
		d = &dependent{rows: map[string]bool{}}
		s.changed[file] = d
	}
	half := len(content) / 2
	for !d.rows[row] && d.tried < 3 {
		var other []byte
		switch d.tried {
		case 1:
			other = content[:half]
		case 2:
			other = slices.Clone(content)
			for i := range other[half:] {
				other[half+i] ^= 0x55
			}
		}
		rows, err := c.changedRows(s, "other", file, other)
		if err != nil {
			return false, fmt.Errorf("%s changed to find what depends on it (%d): %w", file, d.tried, err)
		}
		for k, row := range s.rows {
			if rows[k] != row {
				d.rows[k] = true
			}
		}
		d.tried++
	}
	return d.rows[row], nil
}

// dependent are the rows that depend on a file, as far as was tried.
type dependent struct {
	rows  map[string]bool
	tried int
}

// Mutant damages one input of one command, which the seed picks, and runs it. It
// returns what was done. Rows that do not depend on the file must be as before.
func (c *Campaign) Mutant(seed uint64) (what string, err error) {
	rng := rand.New(rand.NewPCG(seed, 0))
	s := c.pick(rng)
	if err := c.prepare(s); err != nil {
		return "", fmt.Errorf("%s %s, whole: %w", s.program, s.name, err)
	}
	file := s.files[rng.IntN(len(s.files))]
	if len(s.steers) > 0 && rng.IntN(4) == 0 {
		file = s.steers[rng.IntN(len(s.steers))]
	}
	content, err := os.ReadFile(filepath.Join(s.base, filepath.FromSlash(file)))
	if err != nil {
		return "", err
	}
	damaged, how := Mutate(rng, content)
	what = fmt.Sprintf("seed %d: %s %s, %s of %s", seed, s.program, s.name, how, file)
	rows, err := c.changedRows(s, fmt.Sprint("m", seed), file, damaged)
	if err != nil || !s.table || slices.Contains(s.steers, file) {
		return what, err
	}
	for k, row := range s.rows {
		if rows[k] == row {
			continue
		}
		if mine, err := c.mayChange(s, file, k, content); err != nil {
			return what, err
		} else if !mine {
			return what, fmt.Errorf("the row of another operator changed:\n%s\n%s", row, rows[k])
		}
	}
	return what, nil
}
