package job

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"

	"precision/internal/must"
	"precision/internal/whole"
)

// Gathering is an output folder that is held while other processes compute the units of its plan, each in a folder of its own.
type Gathering struct{ r *runner }

// Gather takes the output folder, which no other run may have, and goes on with its journal: what is finished there stays.
// Close gives it back.
func (p *Plan) Gather(ctx context.Context, s Settings) (*Gathering, error) {
	return must.Of(func() *Gathering { return &Gathering{p.begin(ctx, s)} })
}

// Close gives the folder back. What was taken stays in its journal, for another run to go on from.
func (g *Gathering) Close() { g.r.end() }

// Done tells whether the folder has a unit.
func (g *Gathering) Done(unit string) bool { return g.r.journal.has(unit) }

// Interrupted is the error of a run that ended before all units were there, because of err.
func (g *Gathering) Interrupted(err error) error {
	return &InterruptedError{Done: len(g.r.journal.done), Units: len(g.r.mine), Err: err}
}

// Take takes a unit from the folder where Assemble computed it. The folder stays as it is.
func (g *Gathering) Take(dir string) (err error) {
	defer must.Catch(&err)
	e, text := g.r.finished(dir)
	if g.Done(e.Unit) {
		return nil
	}
	eachTable(dir, e, func(t tableFile, copied func(io.Writer) error) {
		must.Do(g.r.dir.FillLater(TableFolder+"/"+t.Name, copied))
	})
	return g.r.journal.add(e.Unit, text)
}

// Conclude draws the units together, all of which must be there, and writes what they come to.
func (g *Gathering) Conclude(ctx context.Context) (*Result, error) {
	var missing []string
	for _, u := range g.r.mine {
		if !g.Done(u.name) {
			missing = append(missing, u.name)
		}
	}
	if len(missing) > 0 {
		return nil, &MergeError{Missing: missing}
	}
	return must.Of(func() *Result { return g.r.finish(ctx) })
}

// Finished tells what keeps the unit in a folder from being one of this plan, whole, as Assemble wrote it; nil if nothing does.
func (p *Plan) Finished(dir string) error {
	return must.Try(func() {
		e, _ := p.finished(dir)
		eachTable(dir, e, func(_ tableFile, copied func(io.Writer) error) { must.Do(copied(io.Discard)) })
	})
}

// eachTable hands on the tables of a unit, each with what copies it and sees that it is what was written.
func eachTable(dir string, e *entry, take func(t tableFile, copied func(io.Writer) error)) {
	from := must.Get(whole.OpenFolder(dir))
	defer from.Close()
	for _, t := range e.Tables {
		take(t, func(w io.Writer) error { return copyTable(from, e, t, w) })
	}
}

// finished reads the journal that Assemble wrote: the entry of its unit, and as the bytes that it is in the journal.
func (p *Plan) finished(dir string) (*entry, []byte) {
	var list [][]byte
	path := filepath.Join(dir, JournalFile)
	_, cut, err := readFrames(path, func(content []byte) error {
		list = append(list, content)
		return nil
	})
	must.Do(err)
	must.Not(cut || len(list) != 2, "%s: found %d whole entries, expected a head and a unit", path, len(list))
	var head journalHead
	var e entry
	err = cmp.Or(json.Unmarshal(list[0], &head), json.Unmarshal(list[1], &e))
	must.Not(err != nil, "%s: %w", path, err)
	u, known := p.named()[e.Unit]
	if head != p.head() || !known || e.Stamp != u.stamp || e.Seen != u.seen {
		must.Do(&MergeError{Dir: dir, What: "plan, that is other inputs or options", Says: fmt.Sprintf("found %s %s, expected %s", e.Unit, e.Stamp, u.stamp)})
	}
	must.Do(e.named(dir))
	return &e, list[1]
}
