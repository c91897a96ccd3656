package job

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"

	"precision/internal/whole"
)

// Gathering is an output folder that is held while other processes compute the units of its plan, each in a folder of its own.
type Gathering struct{ r *runner }

// Gather takes the output folder, which no other run may have, and goes on with its journal: what is finished there stays.
// Close gives it back.
func (p *Plan) Gather(ctx context.Context, s Settings) (*Gathering, error) {
	r, err := p.begin(ctx, s)
	if err != nil {
		return nil, err
	}
	return &Gathering{r}, nil
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
func (g *Gathering) Take(dir string) error {
	e, text, err := g.r.finished(dir)
	if err != nil || g.Done(e.Unit) {
		return err
	}
	if err := g.r.eachTable(dir, e, func(t tableFile, copied func(io.Writer) error) error {
		return g.r.dir.FillLater(TableFolder+"/"+t.Name, copied)
	}); err != nil {
		return err
	}
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
	return g.r.finish(ctx)
}

// Finished tells what keeps the unit in a folder from being one of this plan, whole, as Assemble wrote it; nil if nothing does.
func (p *Plan) Finished(dir string) error {
	e, _, err := p.finished(dir)
	if err != nil {
		return err
	}
	return p.eachTable(dir, e, func(_ tableFile, copied func(io.Writer) error) error { return copied(io.Discard) })
}

// eachTable hands on the tables of a unit, each with what copies it and sees that it is what was written.
func (p *Plan) eachTable(dir string, e *entry, take func(t tableFile, copied func(io.Writer) error) error) error {
	from, err := whole.OpenFolder(dir)
	if err != nil {
		return err
	}
	defer from.Close()
	for _, t := range e.Tables {
		if err := take(t, func(w io.Writer) error { return copyTable(from, e, t, w) }); err != nil {
			return err
		}
	}
	return nil
}

// finished reads the journal that Assemble wrote: the entry of its unit, and as the bytes that it is in the journal.
func (p *Plan) finished(dir string) (*entry, []byte, error) {
	var list [][]byte
	path := filepath.Join(dir, JournalFile)
	_, cut, err := readFrames(path, func(content []byte) error {
		list = append(list, content)
		return nil
	})
	if err == nil && (cut || len(list) != 2) {
		err = fmt.Errorf("%s: found %d whole entries, expected a head and a unit", path, len(list))
	}
	if err != nil {
		return nil, nil, err
	}
	var head journalHead
	var e entry
	if err = json.Unmarshal(list[0], &head); err == nil {
		err = json.Unmarshal(list[1], &e)
	}
	u, known := p.named()[e.Unit]
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	case head != p.head() || !known || e.Stamp != u.stamp || e.Seen != u.seen:
		return nil, nil, &MergeError{Dir: dir, What: "plan, that is other inputs or options", Says: fmt.Sprintf("found %s %s, expected %s", e.Unit, e.Stamp, u.stamp)}
	}
	return &e, list[1], e.named(dir)
}
