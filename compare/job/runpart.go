package job

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"
	"time"

	"precision/compare/engine"
	"precision/compare/look"
	"precision/compare/recording"
	"precision/compare/report"
	"precision/compare/result"
	"precision/compare/sides"
	"precision/compare/verdict"
	"precision/internal/must"
)

// open opens a part.
func (r *runner) open(ctx context.Context, x *Part) (*sides.Opened, error) {
	return r.request(x).Open(ctx)
}

// request says what is opened of a part.
func (r *runner) request(x *Part) sides.Request {
	q := sides.Request{Calls: x.Calls}
	q.Job = engine.Job{Left: x.Left, Right: x.Right, Graph: r.Graph, Quant: r.Quant, Closed: r.Closed, Options: r.Options, Inputs: r.in}
	q.Tolerance = r.profile().ToleranceFor
	if r.Unshard != nil && x.Rank >= 0 {
		u := *r.Unshard
		u.Rank, u.Ranks = x.Rank, r.ranks()
		q.Unshard = &u
	}
	q.With.Maps, q.With.Mapping = r.profile().Maps, r.Mapping
	if r.After != nil {
		q.With.Pairs = recording.Known(r.After.Table)
	}
	switch {
	case x.Rank < 0:
		q.With.Unshard = r.Unshard
	case slices.ContainsFunc(r.Parts, func(y Part) bool { return y.Right == x.Right && y.Left != x.Left }):
		q.With.OfMany = true
	}
	return q
}

// check recomputes the operators of a part. One part at a time does, with all workers, so that memory is
// that of one check.
func (r *runner) check(ctx context.Context, x *Part, o *sides.Opened, t *result.Table, opts verdict.Options) error {
	r.checking.Lock()
	defer r.checking.Unlock()
	checks, ok, err := r.request(x).Recompute(ctx, o, t, verdict.Doubted(t, opts), r.Options.Workers, nil)
	if t.Check(checks); err == nil && !ok {
		err = errUnchecked
	}
	return err
}

// errUnchecked: there is nothing that operators of a part could be recomputed by.
var errUnchecked = errors.New("no graph of these dumps and no recording of calls, so that nothing can be recomputed")

// ranks is how many ranks the job has, counted from 0, recordings without a golden one
// included.
func (p *Plan) ranks() (n int) {
	for _, list := range [][]Part{p.Parts, p.extra} {
		for i := range list {
			n = max(n, list[i].Rank+1)
		}
	}
	return n
}

// part compares a part, writes its tables and keeps its digest. What is wrong with its
// inputs is in the digest; errors are of the context and of the output folder.
func (r *runner) part(ctx context.Context, x *Part) (*entry, error) {
	e := &entry{Unit: x.Name, Stamp: x.Stamp, Seen: x.seen}
	o, err := r.open(ctx, x)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		e.Digest = &Digest{Failed: err.Error()}
		r.progress(x.Bytes)
		return e, nil
	}
	log := openRowLog(r.dir, x.Name, r.rowStamp(x))
	maps.Copy(log.have, r.given)
	err = must.Try(func() { r.compare(ctx, x, o, log, e) })
	log.close(err == nil && e.Digest.Failed == "")
	return e, err
}

// failed notes why a part could not be compared, if there is an error, which is that of the run if this was ended.
func (e *entry) failed(ctx context.Context, err error) bool {
	if err == nil {
		return false
	}
	if stopped(ctx, err) {
		must.Do(err)
	}
	e.Digest = &Digest{Failed: err.Error()}
	return true
}

// compare is part of one that is open.
func (r *runner) compare(ctx context.Context, x *Part, o *sides.Opened, log *rowLog, e *entry) {
	reported := int64(0)
	o.Options.Progress = func(done, total int) {
		now := x.Bytes / int64(total) * int64(done)
		r.progress(now - reported)
		reported = now
	}
	out, err := r.pool.Run(ctx, logged{o.Source, log}, o.Options)
	failed := e.failed(ctx, err)
	r.progress(x.Bytes - reported)
	if failed {
		return
	}
	table := out.Table
	table.Meta.Time = time.Time{} // the same inputs give the same bytes, whenever
	opts := r.judging(x)
	if r.Check && e.failed(ctx, r.check(ctx, x, o, table, opts)) {
		return
	}
	judged := must.Get(look.Judge(ctx, o.Session, table, opts))
	e.Digest = digestOf(judged)
	if r.Unshard != nil && x.Calls && x.Rank >= 0 {
		e.Digest.Together = append(e.Digest.Together, result.Because(result.NotUnsharded, x.Name, "1"))
	}
	if opts.Later && e.Digest.Piece != nil && len(judged.Roots) > 0 {
		opts.Behind = true
		behind := digestOf(verdict.Judge(table, opts))
		e.Digest.Behind = &Digest{Verdict: behind.Verdict, Counts: behind.Counts, Roots: behind.Roots, Others: behind.Others}
		e.Digest.Piece.Behind = behind.Piece
	}
	if r.goOn(x, e.Digest, judged); e.Digest.Failed == "" {
		e.Digest.Peers = must.Get(r.weights(ctx, o.Session, table))
		e.Tables = r.write(x, o, judged)
	}
}

// later tells whether the job has an earlier step of the same rank.
func (p *Plan) later(x *Part) bool {
	return slices.ContainsFunc(p.Parts, func(y Part) bool { return y.Rank == x.Rank && y.Step < x.Step })
}

// rowStamp is what the rows of a part depend on.
func (r *runner) rowStamp(x *Part) []byte {
	return fmt.Append(nil, journalForm, r.Version, r.options, x.Stamp, x.seen)
}

// summed counts and hashes what is written.
type summed struct {
	bytes int64
	sum   hash.Hash
}

func (s *summed) Write(p []byte) (int, error) {
	s.bytes += int64(len(p))
	return s.sum.Write(p)
}

// write writes the tables of a part, and its page while it is judged if all pages are asked for.
func (r *runner) write(x *Part, o *sides.Opened, j *verdict.Judged) (files []tableFile) {
	for i, write := range []func(io.Writer) error{
		func(w io.Writer) error { return report.WriteRows(w, o.Columns, j.Table.Rows, nil) },
		func(w io.Writer) error { return report.WriteJSON(w, j) },
	} {
		name, sum := x.Name+tableExts[i], &summed{sum: sha256.New()}
		must.Do(r.dir.FillLater(TableFolder+"/"+name, func(w io.Writer) error { return write(io.MultiWriter(w, sum)) }))
		files = append(files, tableFile{name, sum.bytes, hex.EncodeToString(sum.sum.Sum(nil))})
	}
	if r.AllPages && r.PartPage != nil {
		must.Do(r.dir.FillLater(pageName(x), func(w io.Writer) error { return r.PartPage(w, j) }))
		r.paged.Store(x.Name, true)
	}
	return files
}
