package soak

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

// deadly are the scenarios that are killed.
func (c *Campaign) deadly() (list []*scenario) {
	for _, program := range []string{"precision", "msaccucmp"} {
		for _, s := range c.scenarios[program] {
			if s.kill {
				list = append(list, s)
			}
		}
	}
	return list
}

// Kill starts a command and kills it at three moments that the seed picks, within
// the time a whole run takes. What is there then is whole; the next run removes what
// was left behind. It returns what was killed.
func (c *Campaign) Kill(seed uint64) (what string, err error) {
	rng := rand.New(rand.NewPCG(seed, 1))
	list := c.deadly()
	s := list[rng.IntN(len(list))]
	what = fmt.Sprintf("seed %d: %s %s killed", seed, s.program, s.name)
	t, err := c.trial(s, fmt.Sprint("k", seed), "", nil)
	if err != nil {
		return what, err
	}
	defer t.remove()
	for range 3 {
		at := time.Duration(rng.Int64N(int64(s.takes))) + time.Millisecond
		if _, err := t.run(at); err != nil {
			return what, fmt.Errorf("after %v: %w", at, err)
		}
	}
	if _, err := t.run(0); err != nil {
		return what, fmt.Errorf("the run after it: %w", err)
	}
	return what, nil
}

// Full runs a command whose files may only have so many blocks of 512 bytes, which
// the seed picks: it fails, says so and leaves nothing half, or makes all it makes
// otherwise. It needs the shell sh.
func (c *Campaign) Full(seed uint64) (what string, err error) {
	rng := rand.New(rand.NewPCG(seed, 2))
	list := c.deadly()
	s := list[rng.IntN(len(list))]
	blocks := rng.IntN(1 << rng.IntN(9)) // few ones more often
	what = fmt.Sprintf("seed %d: %s %s with %d blocks", seed, s.program, s.name, blocks)
	t, err := c.trial(s, fmt.Sprint("f", seed), "", nil)
	if err != nil {
		return what, err
	}
	defer t.remove()
	t.blocks = &blocks
	e, err := t.run(0)
	if err != nil {
		return what, err
	}
	if e.code != 0 { // refused
		if e.stderr == "" && e.stdout == "" {
			return what, fmt.Errorf("exit status %d without a word", e.code)
		}
		return what, nil
	}
	if made := t.made(); made != s.made {
		return what, fmt.Errorf("exit status 0, and it made %s in place of %s: %.500s", made, s.made, e.stderr)
	}
	return what, nil
}

// made lists how many files of each sort the command wrote; their names hold the time.
func (t *trial) made() string {
	sorts := map[string]int{}
	for _, w := range t.s.writes {
		filepath.WalkDir(filepath.Join(t.dir, filepath.FromSlash(w)), func(path string, e os.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				sorts[filepath.Ext(path)]++
			}
			return nil
		})
	}
	return fmt.Sprint(sorts)
}
