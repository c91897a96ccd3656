package job

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"precision/compare/engine"
	"precision/compare/report"
	"precision/internal/must"
	"precision/internal/whole"
)

// For engines that spread work over machines a unit is cut further, so that one rank with a large
// recording does not keep one machine busy while the others are done. Pieces are compared anywhere and in any order; what came of them
// is bytes, of which [Plan.Assemble] makes the tables of the unit.

// Piece is a stretch of the operator groups of a unit: number At of Of equal ones, from 0.
type Piece struct {
	Unit string `json:"unit"`
	At   int    `json:"at"`
	Of   int    `json:"of"`
	// Bytes is about what it reads.
	Bytes int64 `json:"bytes"`
}

// mostPieces bounds into how many a unit is cut: each lists the folders and reads the graph anew.
const mostPieces = 64

// Pieces cuts the units into pieces of about most bytes.
func (p *Plan) Pieces(most int64) (list []Piece) {
	for i := range p.Parts {
		x := &p.Parts[i]
		n := int(min((x.Bytes+most-1)/max(most, 1), mostPieces))
		n = max(n, 1)
		for k := range n {
			list = append(list, Piece{x.Name, k, n, x.Bytes / int64(n)})
		}
	}
	for i := range p.Meetings {
		m := &p.Meetings[i]
		list = append(list, Piece{m.Name, 0, 1, m.Bytes})
	}
	return list
}

// Compare compares a piece with the workers of a pool, and returns what Assemble takes. There is nothing of a unit that cannot be
// opened, and nothing of a meeting, which is computed when it is assembled. An error is that
// of the context, or of a piece that is none of this plan.
func (p *Plan) Compare(ctx context.Context, piece Piece, pool *engine.Pool) (_ []byte, err error) {
	defer must.Catch(&err)
	must.Not(piece.Of < 1 || piece.At < 0 || piece.At >= piece.Of, "%s: found piece %d of %d", piece.Unit, piece.At, piece.Of)
	u, known := p.named()[piece.Unit]
	must.Not(!known, "%s: no unit of this plan", piece.Unit)
	x := u.part
	if x == nil {
		return nil, nil
	}
	r := &runner{Plan: p, ctx: ctx, pool: pool}
	o, err := r.open(ctx, x)
	if err != nil {
		return nil, context.Cause(ctx) // the unit is opened once more when it is assembled, and says why not
	}
	part := &stretch{Source: o.Source, at: piece.At, of: piece.Of}
	must.Get(pool.Run(ctx, part, o.Options))
	var b, frame bytes.Buffer
	for _, g := range part.found {
		frame.Reset()
		must.Do(g.encode(&frame))
		must.Do(writeFrame(&b, frame.Bytes()))
	}
	return b.Bytes(), nil
}

// Assemble computes one unit in a folder that is its own, taking the rows of its groups from what Compare returned. Groups that
// no piece has are compared here. Its journal is written last: without one a folder is of an attempt that did not end.
// [Gathering.Take] takes it from there.
func (p *Plan) Assemble(ctx context.Context, name string, pieces [][]byte, out string, pool *engine.Pool) (err error) {
	defer must.Catch(&err)
	u, known := p.named()[name]
	must.Not(!known, "%s: no unit of this plan", name)
	dir := must.Get(whole.OpenFolder(out))
	defer dir.Close()
	r := &runner{Plan: p, ctx: ctx, dir: dir, pool: pool, given: map[int]engine.Found{}}
	for _, piece := range pieces {
		// A damaged frame ends a piece; what it held is compared again.
		scanFrames(bytes.NewReader(piece), int64(len(piece)), func(content []byte) error {
			g, err := decodeGroup(content)
			if err == nil {
				r.given[g.group] = g.found
			}
			return err
		})
	}
	e := must.Get(u.run(ctx, r))
	head, text := encoded(p.head()), encoded(e)
	return dir.Fill(JournalFile, func(w io.Writer) error {
		if err := writeFrame(w, head); err != nil {
			return err
		}
		return writeFrame(w, text)
	})
}

// stretch is a source of some of the groups of another, which keeps what was found.
type stretch struct {
	engine.Source
	at, of int
	mu     sync.Mutex
	found  []loggedGroup
}

// Groups are those of the stretch.
func (s *stretch) Groups() []engine.Group {
	all := s.Source.Groups()
	lo, hi := len(all)*s.at/s.of, len(all)*(s.at+1)/s.of
	list := all[lo:hi:hi]
	for i, g := range list {
		list[i] = func(ctx context.Context, w *engine.Worker) engine.Found {
			found := g(ctx, w)
			if found.Err == nil {
				s.mu.Lock()
				s.found = append(s.found, loggedGroup{lo + i, found})
				s.mu.Unlock()
			}
			return found
		}
	}
	return list
}

// encode writes the content of a frame: the head in JSON, and the rows.
func (g *loggedGroup) encode(b *bytes.Buffer) error {
	head := groupHead{Group: g.group}
	if g.found.Failed != nil {
		head.Failed = g.found.Failed.Error()
	}
	text, err := json.Marshal(head)
	if err != nil {
		return err
	}
	b.Write(text)
	b.WriteByte('\n')
	return report.EncodeRows(b, g.found.Rows)
}

// decodeGroup reads what encode wrote.
func decodeGroup(content []byte) (*loggedGroup, error) {
	head, text, _ := bytes.Cut(content, []byte{'\n'})
	var h groupHead
	if err := json.Unmarshal(head, &h); err != nil {
		return nil, err
	}
	rows, err := report.DecodeRows(text)
	if err != nil {
		return nil, err
	}
	g := &loggedGroup{h.Group, engine.Found{Rows: rows}}
	if h.Failed != "" {
		g.found.Failed = errors.New(h.Failed)
	}
	return g, nil
}
