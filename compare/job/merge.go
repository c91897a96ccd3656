package job

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"precision/internal/must"
	"precision/internal/plainfile"
	"precision/internal/whole"
)

// MergeError: the shards are not those of one whole run.
type MergeError struct {
	// Dir is the folder of the shard that does not fit, empty where shards are missing.
	Dir string
	// What differs: "plan", "options", "version", "journal"; Missing are the units that no
	// shard has, Shards the numbers of the shards that were not given.
	What    string
	Missing []string
	Shards  string
	Says    string
}

func (e *MergeError) Error() string {
	if e.Dir != "" {
		return fmt.Sprintf("%s: another %s than in the first folder: %s", e.Dir, e.What, e.Says)
	}
	text := fmt.Sprintf("%d units are in none of the folders: %s", len(e.Missing), strings.Join(e.Missing[:min(len(e.Missing), 5)], ", "))
	if len(e.Missing) > 5 {
		text += ", …"
	}
	if e.Shards != "" {
		text += "; the shards " + e.Shards + " are missing"
	}
	return text
}

// shardDir is a folder with a shard.
type shardDir struct {
	dir    string
	tables *whole.Folder
	plan   []byte
	head   journalHead
	index  *journalIndex
	says   shardSays
}

// Merge joins the folders of shards to the files of a whole run in s.Out.
func Merge(ctx context.Context, dirs []string, s Settings) (_ *Result, err error) {
	defer must.Catch(&err)
	tell := s.Tell
	if tell == nil {
		tell = func(Note) {}
	}
	var shards []shardDir
	for _, dir := range dirs {
		s := openShard(dir)
		defer s.tables.Close()
		if len(shards) > 0 {
			must.Do(shards[0].fits(s))
		}
		shards = append(shards, *s)
	}
	plan, err := readPlan(shards[0].plan)
	must.Not(err != nil, "%s: %w", filepath.Join(dirs[0], PlanFile), err)
	for _, dir := range dirs {
		a, err := os.Stat(dir)
		if b, none := os.Stat(s.Out); err == nil && none == nil && os.SameFile(a, b) {
			return nil, fmt.Errorf("%s: %w", s.Out, whole.ErrInput)
		}
	}
	out := must.Get(whole.OpenFolder(s.Out))
	defer out.Close()
	must.Do(out.Plain(JournalFile, PlanFile, ResultFile, PageFile, TableFolder))
	held := must.Get(lockFolder(ctx, out, tell))
	defer held.free()
	from := gather(plan, shards)
	must.Do(forget(out))
	for _, u := range plan.units() {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		s := from[u.name]
		e := s.index.done[u.name]
		must.Do(e.named(s.dir))
		for _, t := range e.Tables {
			must.Do(out.FillLater(TableFolder+"/"+t.Name, func(w io.Writer) error { return copyTable(s.tables, e, t, w) }))
		}
	}
	must.Do(out.Sync(TableFolder))
	must.Do(out.Fill(PlanFile, func(w io.Writer) error { _, err := w.Write(shards[0].plan); return err }))
	joinJournals(out, shards[0].head, plan.units(), func(unit string) (string, *journalIndex) {
		return from[unit].dir, from[unit].index
	})
	return plan.conclude(ctx, out, &s), nil
}

// gather finds the shard that has each unit.
func gather(plan *Plan, shards []shardDir) map[string]*shardDir {
	from := map[string]*shardDir{}
	var missing []string
	for _, u := range plan.units() {
		for i := range shards {
			if e := shards[i].index.done[u.name]; e != nil && e.Stamp == u.stamp {
				from[u.name] = &shards[i]
				break
			}
		}
		if from[u.name] == nil {
			missing = append(missing, u.name)
		}
	}
	if len(missing) == 0 {
		return from
	}
	e := &MergeError{Missing: missing}
	if n := shards[0].says.Shards; n > 0 {
		var absent []string
		for k := 1; k <= n; k++ {
			if !slices.ContainsFunc(shards, func(s shardDir) bool { return s.says.Shard == k && s.says.Shards == n }) {
				absent = append(absent, fmt.Sprintf("%d/%d", k, n))
			}
		}
		e.Shards = strings.Join(absent, ", ")
	}
	panic(must.Failure(e))
}

func openShard(dir string) *shardDir {
	s := &shardDir{dir: dir}
	s.plan = must.Get(plainfile.ReadFile(filepath.Join(dir, PlanFile), "what compare -all writes", mostFrame))
	s.index = must.Get(readJournal(dir, nil))
	s.head = s.index.head
	must.Not(s.index.good == 0, "%s: found no journal of a run, expected one", filepath.Join(dir, JournalFile))
	path := filepath.Join(dir, ShardFile)
	if text, err := plainfile.ReadFile(path, "the number of a shard", mostFrame); err == nil {
		err := json.Unmarshal(text, &s.says)
		must.Not(err != nil, "%s: %w", path, err)
	}
	s.tables = must.Get(whole.OpenFolder(dir))
	return s
}

// fits tells what keeps two shards from being of one run.
func (s *shardDir) fits(o *shardDir) error {
	differ := func(what, found, expected string) error {
		return &MergeError{Dir: o.dir, What: what, Says: fmt.Sprintf("found %s, expected %s", found, expected)}
	}
	switch {
	case o.head.Journal != s.head.Journal || o.head.Version != s.head.Version:
		return differ("version", fmt.Sprintf("%s, journal %d", o.head.Version, o.head.Journal), fmt.Sprintf("%s, journal %d", s.head.Version, s.head.Journal))
	case o.head.Options != s.head.Options:
		return differ("options", o.head.Options[:min(12, len(o.head.Options))], s.head.Options[:min(12, len(s.head.Options))])
	case !bytes.Equal(o.plan, s.plan):
		a, b := strings.Split(string(s.plan), "\n"), strings.Split(string(o.plan), "\n")
		for i := range a {
			if i >= len(b) || a[i] != b[i] {
				found := "its end"
				if i < len(b) {
					found = strings.TrimSpace(b[i])
				}
				return differ("plan, that is other inputs", found, strings.TrimSpace(a[i])+fmt.Sprintf(" in line %d", i+1))
			}
		}
		return differ("plan", "more", "its end")
	}
	return nil
}
